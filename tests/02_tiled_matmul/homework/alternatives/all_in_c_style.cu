// All tasks in the manner of C, with macros; names and comments are German.
// Anna, Kapitel 2.
#include "homework.cuh"

#define N_THREADS 256
#define RAND 2

__global__ void gleitend(const float *x, float *y, int n) {
    __shared__ float fenster[N_THREADS + 2 * RAND];
    const int anfang = blockIdx.x * N_THREADS - RAND;
    // Alle Wörter des Fensters, auch die des Randes, in einer Schleife
    for (int i = threadIdx.x; i < N_THREADS + 2 * RAND; i += N_THREADS) {
        int woher = anfang + i;
        fenster[i] = (woher >= 0 && woher < n) ? x[woher] : 0;
    }
    __syncthreads();
    int index = blockIdx.x * N_THREADS + threadIdx.x;
    if (index >= n) return;
    float *f = fenster + threadIdx.x;
    y[index] = f[0] + f[1] + f[2] + f[3] + f[4];
}

cudaError_t launch_moving_sum(const float *x, float *y, int n, cudaStream_t stream) {
    gleitend<<<(n + N_THREADS - 1) / N_THREADS, N_THREADS, 0, stream>>>(x, y, n);
    return cudaGetLastError();
}

#define K_TEIL 16

__global__ void atb(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float a_teil[K_TEIL][K_TEIL], b_teil[K_TEIL][K_TEIL];
    int tx = threadIdx.x, ty = threadIdx.y;
    int i = blockIdx.y * K_TEIL + ty, j = blockIdx.x * K_TEIL + tx;
    int i_laden = blockIdx.y * K_TEIL + tx;
    float summe = 0;
    for (int k0 = 0; k0 < K; k0 += K_TEIL) {
        // A liegt schon so, wie wir es brauchen: k von oben nach unten
        a_teil[ty][tx] = k0 + ty < K && i_laden < M ? A[(size_t)(k0 + ty) * M + i_laden] : 0.f;
        b_teil[ty][tx] = k0 + ty < K && j < N ? B[(size_t)(k0 + ty) * N + j] : 0.f;
        __syncthreads();
        for (int k = 0; k < K_TEIL; k++) summe += a_teil[k][ty] * b_teil[k][tx];
        __syncthreads();
    }
    if (i < M && j < N) C[(size_t)i * N + j] = summe;
}

cudaError_t launch_matmul_at_b(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream) {
    dim3 threads(K_TEIL, K_TEIL);
    dim3 blocks((N + K_TEIL - 1) / K_TEIL, (M + K_TEIL - 1) / K_TEIL);
    atb<<<blocks, threads, 0, stream>>>(A, B, C, M, N, K);
    return cudaGetLastError();
}

__global__ void abt(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float a_teil[32][32], b_teil[32][33];
    int tx = threadIdx.x, ty = threadIdx.y;
    int i0 = blockIdx.y * 32, j0 = blockIdx.x * 32;
    float oben = 0, unten = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        for (int r = ty; r < 32; r += 16) {
            a_teil[r][tx] = i0 + r < M && k0 + tx < K ? A[(size_t)(i0 + r) * K + k0 + tx] : 0.f;
            b_teil[r][tx] = j0 + r < N && k0 + tx < K ? B[(size_t)(j0 + r) * K + k0 + tx] : 0.f;
        }
        __syncthreads();
        for (int k = 0; k < 32; k++) {
            float b = b_teil[tx][k];
            oben += a_teil[ty][k] * b;
            unten += a_teil[ty + 16][k] * b;
        }
        __syncthreads();
    }
    int j = j0 + tx;
    if (j >= N) return;
    if (i0 + ty < M) C[(size_t)(i0 + ty) * N + j] = oben;
    if (i0 + ty + 16 < M) C[(size_t)(i0 + ty + 16) * N + j] = unten;
}

cudaError_t launch_matmul_a_bt(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream) {
    abt<<<dim3((N + 31) / 32, (M + 31) / 32), dim3(32, 16), 0, stream>>>(A, B, C, M, N, K);
    return cudaGetLastError();
}
