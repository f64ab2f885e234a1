// All tasks in the manner of C, with macros; names and comments are German.
// Anna, Kapitel 1. Makros, C-Stil, Zeiger.
#include "homework.cuh"

#define TEILER(a, b) (((a) - 1) / (b) + 1)

__global__ void skaliere(const float *X, int ldx, const float *s, float *Y, int n, int cols) {
    // ein Block je Zeile; der Faktor wird einmal geladen
    const float faktor = s[blockIdx.x];
    const float *zeile = X + (size_t)blockIdx.x * ldx;
    float *ziel = Y + (size_t)blockIdx.x * cols;
    int c = threadIdx.x;
    while (c < cols) {
        ziel[c] = faktor * zeile[c];
        c += blockDim.x;
    }
}

cudaError_t launch_scale_rows(const float *X, int ldx, const float *s, float *Y, int rows, int cols, cudaStream_t stream) {
    skaliere<<<rows, 128, 0, stream>>>(X, ldx, s, Y, rows, cols);
    return cudaGetLastError();
}

// Spaltenweise: Nachbarn auf x sind Nachbarn in einer Spalte.
#define A_(i, k) A[(i) + (size_t)(k) * M]
#define B_(k, j) B[(k) + (size_t)(j) * K]
#define C_(i, j) C[(i) + (size_t)(j) * M]

__global__ void __launch_bounds__(256) produkt(const float *__restrict__ A, const float *__restrict__ B,
                                               float *__restrict__ C, int M, int N, int K) {
    int i = threadIdx.x + blockIdx.x * 32;
    int j = threadIdx.y + blockIdx.y * 8;
    if (i < M && j < N) {
        float summe = 0;
        for (int k = 0; k < K; k++) summe += A_(i, k) * B_(k, j);
        C_(i, j) = summe;
    }
}

cudaError_t launch_matmul_by_columns(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream) {
    dim3 g(TEILER(M, 32), TEILER(N, 8)), b(32, 8);
    produkt<<<g, b, 0, stream>>>(A, B, C, M, N, K);
    return cudaGetLastError();
}

#undef A_
#undef B_
#undef C_

// vier Zeilen je Thread, untereinander
__global__ void grob(const float *A, const float *B, float *C, int M, int N, int K) {
    const int spalte = blockIdx.x * blockDim.x + threadIdx.x;
    const int zeile = 4 * (blockIdx.y * blockDim.y + threadIdx.y);
    if (spalte >= N || zeile >= M) return;
    const int uebrig = M - zeile < 4 ? M - zeile : 4;
    const float *a[4];
    for (int e = 0; e < 4; e++) a[e] = A + (size_t)(zeile + (e < uebrig ? e : 0)) * K;  // außerhalb: Zeile 0 noch einmal
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int k = 0; k < K; k++) {
        const float b = B[(size_t)k * N + spalte];
        s0 += a[0][k] * b;
        s1 += a[1][k] * b;
        s2 += a[2][k] * b;
        s3 += a[3][k] * b;
    }
    float *c = C + (size_t)zeile * N + spalte;
    switch (uebrig) {
        case 4: c[3 * (size_t)N] = s3;
        case 3: c[2 * (size_t)N] = s2;
        case 2: c[N] = s1;
        case 1: c[0] = s0;
    }
}

cudaError_t launch_matmul_coarsened(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream) {
    dim3 b(32, 4), g(TEILER(N, 32), TEILER(M, 16));
    grob<<<g, b, 0, stream>>>(A, B, C, M, N, K);
    return cudaGetLastError();
}
