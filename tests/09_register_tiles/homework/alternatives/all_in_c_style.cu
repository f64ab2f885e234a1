// All tasks in the manner of C, with macros; names and comments are German.
// Anna, Kapitel 9.
#include "homework.cuh"

#define FAEDEN 128
#define JE 8

__global__ void naechste(const float *x, const float *levels, int *index, int n, int count) {
    __shared__ float stufe[MOST_LEVELS];
    for (int l = threadIdx.x; l < count; l += FAEDEN) stufe[l] = levels[l];
    __syncthreads();
    const int erste = blockIdx.x * FAEDEN * JE + threadIdx.x;
    float probe[JE], abstand[JE];
    int beste[JE];
    for (int e = 0; e < JE; e++) {
        const int i = erste + e * FAEDEN;
        probe[e] = i < n ? x[i] : 0;
        abstand[e] = 1e30f;
        beste[e] = -1;
    }
    for (int l = 0; l < count; l++) {
        const float s = stufe[l];
        for (int e = 0; e < JE; e++) {
            const float d = fabsf(probe[e] - s);
            if (d < abstand[e]) {
                abstand[e] = d;
                beste[e] = l;
            }
        }
    }
    for (int e = 0; e < JE; e++)
        if (erste + e * FAEDEN < n) index[erste + e * FAEDEN] = beste[e];
}

cudaError_t launch_nearest_level(const float *x, const float *levels, int *index, int n, int count, cudaStream_t stream) {
    const int bloecke = (n + FAEDEN * JE - 1) / (FAEDEN * JE);
    naechste<<<bloecke, FAEDEN, 0, stream>>>(x, levels, index, n, count);
    return cudaGetLastError();
}

// 64 x 64 Reisen je Block, 256 Threads, 4 x 4 je Thread
#define SEITE 64
#define TIEFE 16

__global__ void billigste(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float hin[TIEFE][SEITE + 4], flug[TIEFE][SEITE];
    const int t = threadIdx.x, tx = t % 16, ty = t / 16;
    const int i0 = blockIdx.y * SEITE, j0 = blockIdx.x * SEITE;
    const float nie = __int_as_float(0x7f800000);  // unendlich
    float preis[4][4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) preis[i][j] = nie;
    for (int k0 = 0; k0 < K; k0 += TIEFE) {
        for (int w = t; w < SEITE * TIEFE; w += 256) {
            int i = w / TIEFE, k = w % TIEFE;
            hin[k][i] = i0 + i < M && k0 + k < K ? A[(size_t)(i0 + i) * K + k0 + k] : nie;
        }
        for (int w = t; w < SEITE * TIEFE; w += 256) {
            int k = w / SEITE, j = w % SEITE;
            flug[k][j] = k0 + k < K && j0 + j < N ? B[(size_t)(k0 + k) * N + j0 + j] : nie;
        }
        __syncthreads();
        for (int k = 0; k < TIEFE; k++) {
            float a[4], b[4];
            for (int e = 0; e < 4; e++) a[e] = hin[k][ty + 16 * e];
            for (int e = 0; e < 4; e++) b[e] = flug[k][tx + 16 * e];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) preis[i][j] = fminf(preis[i][j], a[i] + b[j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const int r = i0 + ty + 16 * i, c = j0 + tx + 16 * j;
            if (r < M && c < N) C[(size_t)r * N + c] = preis[i][j];
        }
}

cudaError_t launch_cheapest(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream) {
    if (M == 0 || N == 0) return cudaSuccess;
    billigste<<<dim3((N + SEITE - 1) / SEITE, (M + SEITE - 1) / SEITE), 256, 0, stream>>>(A, B, C, M, N, K);
    return cudaGetLastError();
}
