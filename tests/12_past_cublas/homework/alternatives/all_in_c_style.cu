// All tasks in the manner of C, with macros; names and comments are German.
// Anna, Kapitel 12.
#include "homework.cuh"

#define T 32
#define H 8

__global__ void aehnlich(const float *A, float *S, int N, int K) {
    __shared__ float oben[T][T + 1], links[T][T + 1];
    int zeile = 0, nummer = blockIdx.x;
    while (nummer > zeile) nummer -= ++zeile;  // Zeile r hat r + 1 Kacheln
    const int r0 = zeile * T, c0 = nummer * T;
    const int tx = threadIdx.x, ty = threadIdx.y;
    float s[T / H] = {0};
    for (int k0 = 0; k0 < K; k0 += T) {
        for (int i = ty; i < T; i += H) {
            oben[i][tx] = r0 + i < N && k0 + tx < K ? A[(size_t)(r0 + i) * K + k0 + tx] : 0;
            links[i][tx] = c0 + i < N && k0 + tx < K ? A[(size_t)(c0 + i) * K + k0 + tx] : 0;
        }
        __syncthreads();
        for (int k = 0; k < T; k++)
            for (int e = 0; e < T / H; e++) s[e] += oben[ty + H * e][k] * links[tx][k];
        __syncthreads();
    }
    for (int e = 0; e < T / H; e++) {
        const int i = ty + H * e;
        oben[i][tx] = s[e];
        if (r0 + i < N && c0 + tx < N) S[(size_t)(r0 + i) * N + c0 + tx] = s[e];
    }
    if (zeile == nummer) return;  // der ganze Block
    __syncthreads();
    for (int i = ty; i < T; i += H)
        if (c0 + i < N && r0 + tx < N) S[(size_t)(c0 + i) * N + r0 + tx] = oben[tx][i];
}

cudaError_t launch_similarities(const float *A, float *S, int N, int K, cudaStream_t stream) {
    const unsigned kacheln = (N + T - 1) / T;
    aehnlich<<<kacheln * (kacheln + 1) / 2, dim3(T, H), 0, stream>>>(A, S, N, K);
    return cudaGetLastError();
}

__global__ void schicht(const float *X, const float *W, const float *bias, float *Y, int M, int N, int K, int slices, float *parts, int *arrived) {
    __shared__ float xs[T][T], ws[T][T];
    __shared__ bool letzter;
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int breite = (N + T - 1) / T;
    const int kachel = blockIdx.x / slices, scheibe = blockIdx.x % slices;
    const int r0 = kachel / breite * T, c0 = kachel % breite * T;
    // Scheibe s hat k von s K / slices bis (s + 1) K / slices
    const int von = (int)((long long)scheibe * K / slices), bis = (int)((scheibe + 1LL) * K / slices);
    float s[T / H] = {0};
    for (int k0 = von; k0 < bis; k0 += T) {
        for (int i = ty; i < T; i += H) {
            xs[i][tx] = r0 + i < M && k0 + tx < bis ? X[(size_t)(r0 + i) * K + k0 + tx] : 0;
            ws[i][tx] = k0 + i < bis && c0 + tx < N ? W[(size_t)(k0 + i) * N + c0 + tx] : 0;
        }
        __syncthreads();
        for (int k = 0; k < T; k++)
            for (int e = 0; e < T / H; e++) s[e] += xs[ty + H * e][k] * ws[k][tx];
        __syncthreads();
    }
    for (int e = 0; e < T / H; e++) {
        const int r = r0 + ty + H * e, c = c0 + tx;
        if (r < M && c < N) parts[((size_t)scheibe * M + r) * N + c] = s[e];
    }
    __threadfence();
    __syncthreads();
    if (tx == 0 && ty == 0) letzter = atomicAdd(&arrived[kachel], 1) == slices - 1;
    __syncthreads();
    if (!letzter) return;
    __threadfence();
    for (int e = 0; e < T / H; e++) {
        const int r = r0 + ty + H * e, c = c0 + tx;
        if (r >= M || c >= N) continue;
        float summe = 0;
        for (int p = 0; p < slices; p++) summe += parts[((size_t)p * M + r) * N + c];
        summe += bias[c];
        Y[(size_t)r * N + c] = summe > 0 ? summe : 0;
    }
    if (tx == 0 && ty == 0) arrived[kachel] = 0;
}

cudaError_t launch_sliced_layer(const float *X, const float *W, const float *bias, float *Y, int M, int N, int K, int slices, float *parts, int *arrived, cudaStream_t stream) {
    const unsigned kacheln = ((M + T - 1) / T) * ((N + T - 1) / T);
    schicht<<<kacheln * slices, dim3(T, H), 0, stream>>>(X, W, bias, Y, M, N, K, slices, parts, arrived);
    return cudaGetLastError();
}
