// All tasks in the manner of C, with macros; names and comments are German.
// Anna, Kapitel 6.
#include "homework.cuh"

__global__ void jacobi_step(int rows, const int *row_ptr, const int *col_index, const float *values, const float *b, const float *x, float *x_new) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float rest = b[row], diagonal = 0;
    for (int e = row_ptr[row]; e < row_ptr[row + 1]; e++) {
        if (col_index[e] == row)
            diagonal = values[e];
        else
            rest -= values[e] * x[col_index[e]];
    }
    x_new[row] = rest / diagonal;
}

cudaError_t launch_jacobi_step(int rows, const int *row_ptr, const int *col_index, const float *values, const float *b, const float *x, float *x_new, cudaStream_t stream) {
    jacobi_step<<<(rows + 127) / 128, 128, 0, stream>>>(rows, row_ptr, col_index, values, b, x, x_new);
    return cudaGetLastError();
}

// Ein Warp je Zeile
__global__ void symmetrisch(int rows, const int *row_ptr, const int *col_index, const float *values, const float *x, float *y) {
    const int lane = threadIdx.x % 32;
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (i >= rows) return;
    const float xi = x[i];
    float summe = 0;
    for (int e = row_ptr[i] + lane; e < row_ptr[i + 1]; e += 32) {
        const int j = col_index[e];
        const float a = values[e];
        summe += a * x[j];
        if (j != i) atomicAdd(y + j, a * xi);
    }
    for (int d = 16; d > 0; d /= 2) summe += __shfl_down_sync(0xffffffff, summe, d);
    if (lane == 0 && row_ptr[i] < row_ptr[i + 1]) atomicAdd(y + i, summe);
}

cudaError_t launch_symmetric_spmv(int rows, int nnz, const int *row_ptr, const int *col_index, const float *values, const float *x, float *y, cudaStream_t stream) {
    cudaError_t error = cudaMemsetAsync(y, 0, rows * sizeof(float), stream);
    if (error != cudaSuccess) return error;
    symmetrisch<<<(rows + 7) / 8, 256, 0, stream>>>(rows, row_ptr, col_index, values, x, y);
    return cudaGetLastError();
}

// Ein Warp hat 32 Spalten einer Zeile von C.
__global__ void spmm(int rows, int n, const int *row_ptr, const int *col_index, const float *values, const float *B, float *C) {
    const int lane = threadIdx.x;
    const int i = blockIdx.x * blockDim.y + threadIdx.y;
    const int j = blockIdx.y * 32 + lane;
    if (i >= rows) return;
    float summe = 0;
    const int ende = row_ptr[i + 1];
    for (int e0 = row_ptr[i]; e0 < ende; e0 += 32) {
        int spalte = 0;
        float wert = 0;
        if (e0 + lane < ende) {
            spalte = col_index[e0 + lane];
            wert = values[e0 + lane];
        }
        const int zahl = min(32, ende - e0);
        for (int k = 0; k < zahl; k++) {
            const int s = __shfl_sync(0xffffffff, spalte, k);
            const float w = __shfl_sync(0xffffffff, wert, k);
            if (j < n) summe += w * B[(size_t)s * n + j];
        }
    }
    if (j < n) C[(size_t)i * n + j] = summe;
}

cudaError_t launch_spmm(int rows, int cols, int n, int nnz, const int *row_ptr, const int *col_index, const float *values, const float *B, float *C, cudaStream_t stream) {
    spmm<<<dim3((rows + 3) / 4, (n + 31) / 32), dim3(32, 4), 0, stream>>>(rows, n, row_ptr, col_index, values, B, C);
    return cudaGetLastError();
}
