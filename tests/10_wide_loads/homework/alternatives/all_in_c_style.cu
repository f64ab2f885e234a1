// All tasks in the manner of C, with macros; names and comments are German.
// Anna, Kapitel 10.
#include "homework.cuh"

__global__ void zeile_mal_x(const float *A, const float *x, float *y, int rows, int cols) {
    const int lane = threadIdx.x % 32;
    const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (r >= rows) return;
    const float *zeile = A + (size_t)r * cols;
    float summe = 0;
    if (cols % 4 == 0) {
        const float4 *z4 = (const float4 *)zeile, *x4 = (const float4 *)x;
        for (int c = lane; c < cols / 4; c += 32) {
            float4 a = z4[c], b = x4[c];
            summe += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
        }
    } else {
        for (int c = lane; c < cols; c += 32) summe += zeile[c] * x[c];
    }
    for (int d = 16; d > 0; d /= 2) summe += __shfl_down_sync(0xffffffff, summe, d);
    if (lane == 0) y[r] = summe;
}

cudaError_t launch_row_dots(const float *A, const float *x, float *y, int rows, int cols, cudaStream_t stream) {
    zeile_mal_x<<<(rows + 3) / 4, 128, 0, stream>>>(A, x, y, rows, cols);
    return cudaGetLastError();
}

// Kacheln von 64 Spalten, 16 Zeilen tief
__device__ float4 vier(const float *A, int N, int K, int k, int i) {
    if (k >= K) return make_float4(0, 0, 0, 0);
    const float *p = A + (size_t)k * N + i;
    if (N % 4 == 0) return i < N ? *(const float4 *)p : make_float4(0, 0, 0, 0);
    return make_float4(i < N ? p[0] : 0, i + 1 < N ? p[1] : 0, i + 2 < N ? p[2] : 0, i + 3 < N ? p[3] : 0);
}

__global__ void gram(const float *A, float *G, int N, int K) {
    __shared__ float4 links[16][16], rechts[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int i0 = blockIdx.y * 64, j0 = blockIdx.x * 64;
    float4 g[4];
    for (int e = 0; e < 4; e++) g[e] = make_float4(0, 0, 0, 0);
    for (int k0 = 0; k0 < K; k0 += 16) {
        links[ty][tx] = vier(A, N, K, k0 + ty, i0 + 4 * tx);
        rechts[ty][tx] = vier(A, N, K, k0 + ty, j0 + 4 * tx);
        __syncthreads();
        for (int k = 0; k < 16; k++) {
            const float4 a = links[k][ty], b = rechts[k][tx];
            const float as[4] = {a.x, a.y, a.z, a.w};
            for (int e = 0; e < 4; e++) {
                g[e].x += as[e] * b.x;
                g[e].y += as[e] * b.y;
                g[e].z += as[e] * b.z;
                g[e].w += as[e] * b.w;
            }
        }
        __syncthreads();
    }
    for (int e = 0; e < 4; e++) {
        const int i = i0 + 4 * ty + e, j = j0 + 4 * tx;
        if (i >= N) continue;
        float *p = G + (size_t)i * N + j;
        if (j < N) p[0] = g[e].x;
        if (j + 1 < N) p[1] = g[e].y;
        if (j + 2 < N) p[2] = g[e].z;
        if (j + 3 < N) p[3] = g[e].w;
    }
}

cudaError_t launch_gram(const float *A, float *G, int N, int K, cudaStream_t stream) {
    gram<<<dim3((N + 63) / 64, (N + 63) / 64), dim3(16, 16), 0, stream>>>(A, G, N, K);
    return cudaGetLastError();
}
