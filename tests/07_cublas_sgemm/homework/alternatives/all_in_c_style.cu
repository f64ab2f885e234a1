// All tasks in the manner of C, with macros; names and comments are German.
// Anna, Kapitel 7.
#include "homework.cuh"

#define PRUEFE(aufruf)                                   \
    do {                                                 \
        cublasStatus_t status_ = (aufruf);               \
        if (status_ != CUBLAS_STATUS_SUCCESS) return status_; \
    } while (0)

#define PRUEFE_START() \
    do { if (cudaGetLastError() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED; } while (0)

__global__ void vorgabe(const float *bias, float *Y, int rows, int out) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < out) Y[(size_t)i * out + j] = bias[j];
}

cublasStatus_t launch_linear(cublasHandle_t handle, const float *X, const float *W, const float *bias, float *Y, int rows, int in, int out, cudaStream_t stream) {
    const float eins = 1;
    PRUEFE(cublasSetStream(handle, stream));
    vorgabe<<<dim3((out + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, stream>>>(bias, Y, rows, out);
    PRUEFE_START();
    // Y^T = W X^T; cuBLAS sieht W^T und X^T.
    PRUEFE(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, out, rows, in, &eins, W, in, X, in, &eins, Y, out));
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t launch_head_scores(cublasHandle_t handle, const float *Q, const float *K, float *S, int heads, int queries, int keys, int d, cudaStream_t stream) {
    const float faktor = 1 / sqrtf((float)d), null = 0;
    PRUEFE(cublasSetStream(handle, stream));
    return cublasSgemmStridedBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, keys, queries, d, &faktor, K, d, 0, Q, heads * d, d, &null, S, keys, (long long)queries * keys, heads);
}

// Quadrat der Länge jedes Punktes; ein Warp je Punkt
__global__ void laengen(const float *P, float *norm, int zahl, int d) {
    int lane = threadIdx.x % 32, i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (i >= zahl) return;
    float summe = 0;
    for (int k = lane; k < d; k += 32) {
        float w = P[(size_t)i * d + k];
        summe += w * w;
    }
    for (int s = 16; s > 0; s /= 2) summe += __shfl_xor_sync(0xffffffff, summe, s);
    if (lane == 0) norm[i] = summe;
}

__global__ void wurzeln(const float *norm_a, const float *norm_b, float *D, int m, int n) {
    int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
    if (i >= m || j >= n) return;
    float q = norm_a[i] + norm_b[j] - 2 * D[(size_t)i * n + j];
    D[(size_t)i * n + j] = q > 0 ? sqrtf(q) : 0;
}

cublasStatus_t launch_distances(cublasHandle_t handle, const float *A, const float *B, float *D, float *workspace, int m, int n, int d, cudaStream_t stream) {
    const float eins = 1, null = 0;
    PRUEFE(cublasSetStream(handle, stream));
    laengen<<<(m + 7) / 8, 256, 0, stream>>>(A, workspace, m, d);
    PRUEFE_START();
    laengen<<<(n + 7) / 8, 256, 0, stream>>>(B, workspace + m, n, d);
    PRUEFE_START();
    PRUEFE(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, d, &eins, B, d, A, d, &null, D, n));
    wurzeln<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8), 0, stream>>>(workspace, workspace + m, D, m, n);
    PRUEFE_START();
    return CUBLAS_STATUS_SUCCESS;
}
