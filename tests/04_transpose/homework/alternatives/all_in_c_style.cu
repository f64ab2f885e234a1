// All tasks in the manner of C, with macros; names and comments are German.
// Anna, Kapitel 4.
#include "homework.cuh"

__global__ void drehen(const float *A, float *B, int rows, int cols) {
    __shared__ float kachel[16][17];
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i < rows && j < cols) kachel[threadIdx.y][threadIdx.x] = A[(size_t)i * cols + j];
    __syncthreads();
    int zeile = blockIdx.x * 16 + threadIdx.y;  // von B
    int quelle = blockIdx.y * 16 + threadIdx.x;  // Zeile von A
    if (zeile < cols && quelle < rows) B[(size_t)zeile * rows + (rows - 1 - quelle)] = kachel[threadIdx.x][threadIdx.y];
}

cudaError_t launch_rotate(const float *A, float *B, int rows, int cols, cudaStream_t stream) {
    dim3 threads(16, 16), blocks((cols + 15) / 16, (rows + 15) / 16);
    drehen<<<blocks, threads, 0, stream>>>(A, B, rows, cols);
    return cudaGetLastError();
}

// Zwei Kacheln tauschen. Nur Blöcke über der Diagonalen und auf ihr arbeiten.
__global__ void tauschen(float *A, int n) {
    __shared__ float oben[32][33], unten[32][33];
    const int zeile = blockIdx.y * 32, spalte = blockIdx.x * 32;
    if (spalte < zeile) return;
    const int tx = threadIdx.x;
    for (int ty = threadIdx.y; ty < 32; ty += 8) {
        if (zeile + ty < n && spalte + tx < n) oben[ty][tx] = A[(size_t)(zeile + ty) * n + spalte + tx];
        if (spalte != zeile && spalte + ty < n && zeile + tx < n) unten[ty][tx] = A[(size_t)(spalte + ty) * n + zeile + tx];
    }
    __syncthreads();
    for (int ty = threadIdx.y; ty < 32; ty += 8) {
        if (spalte + ty < n && zeile + tx < n) A[(size_t)(spalte + ty) * n + zeile + tx] = oben[tx][ty];
        if (spalte != zeile && zeile + ty < n && spalte + tx < n) A[(size_t)(zeile + ty) * n + spalte + tx] = unten[tx][ty];
    }
}

cudaError_t launch_transpose_in_place(float *A, int n, cudaStream_t stream) {
    int kacheln = (n + 31) / 32;
    tauschen<<<dim3(kacheln, kacheln), dim3(32, 8), 0, stream>>>(A, n);
    return cudaGetLastError();
}

// Ein Block nimmt einen Lauf von 128 Pixeln und höchstens 32 Kanälen.
#define PIXEL 128

__global__ void ebenen(const float *in, float *out, int pixels, int channels, int breite) {
    extern __shared__ float lauf[];  // [Pixel][Schritt]
    const int schritt = breite | 1;  // ungerade: 32 Bänke
    const int p0 = blockIdx.x * PIXEL, c0 = blockIdx.y * breite;
    const int p_zahl = min(PIXEL, pixels - p0), c_zahl = min(breite, channels - c0);
    in += (size_t)blockIdx.z * pixels * channels;
    out += (size_t)blockIdx.z * pixels * channels;
    for (int k = threadIdx.x; k < p_zahl * c_zahl; k += blockDim.x) {
        int p = k / c_zahl, c = k % c_zahl;
        lauf[p * schritt + c] = in[(size_t)(p0 + p) * channels + c0 + c];
    }
    __syncthreads();
    for (int c = 0; c < c_zahl; c++)
        for (int p = threadIdx.x; p < p_zahl; p += blockDim.x)
            out[(size_t)(c0 + c) * pixels + p0 + p] = lauf[p * schritt + c];
}

cudaError_t launch_nhwc_to_nchw(const float *in, float *out, int images, int pixels, int channels, cudaStream_t stream) {
    int breite = channels < 64 ? channels : 64;
    dim3 g((pixels + PIXEL - 1) / PIXEL, (channels + breite - 1) / breite, images);
    ebenen<<<g, PIXEL, PIXEL * (breite | 1) * sizeof(float), stream>>>(in, out, pixels, channels, breite);
    return cudaGetLastError();
}
