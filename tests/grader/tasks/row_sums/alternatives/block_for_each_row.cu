// A block for each row.
#include "homework.cuh"
// Ein Block von 64 Threads je Zeile, Baum im gemeinsamen Speicher
__global__ void zeilensummen(const float *A, float *sum, int rows, int cols) {
    __shared__ float teil[64];
    for (int zeile = blockIdx.x; zeile < rows; zeile += gridDim.x) {
        float s = 0;
        for (int c = threadIdx.x; c < cols; c += 64) s += A[(size_t)zeile * cols + c];
        teil[threadIdx.x] = s;
        __syncthreads();
        for (int halb = 32; halb > 0; halb /= 2) {
            if (threadIdx.x < halb) teil[threadIdx.x] += teil[threadIdx.x + halb];
            __syncthreads();
        }
        if (threadIdx.x == 0) sum[zeile] = teil[0];
        __syncthreads();
    }
}
cudaError_t launch_row_sums(const float *A, float *sum, int rows, int cols, cudaStream_t stream) {
    zeilensummen<<<rows, 64, 0, stream>>>(A, sum, rows, cols);
    return cudaGetLastError();
}
