// All tasks in the manner of C, with macros; names and comments are German.
// Lösung von Anna: jeder Thread nimmt mehrere Pixel, damit das Gitter nicht von n abhängt.
#include "homework.cuh"

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

static __global__ void negativ(const float *__restrict__ in, float *__restrict__ out, int n) {
    // Schrittweite = alle Threads des Gitters
    for (int index = blockDim.x * blockIdx.x + threadIdx.x; index < n; index += gridDim.x * blockDim.x)
        out[index] = 1.f - in[index];
}

cudaError_t launch_negative(const float *in, float *out, int n, cudaStream_t stream) {
    const int THREADS = 1024;
    negativ<<<CEIL_DIV(n, THREADS), THREADS, 0, stream>>>(in, out, n);
    cudaError_t error = cudaPeekAtLastError();
    if (error != cudaSuccess) cudaGetLastError();
    return error;
}

// Ein Block je Zeile, die Threads gehen die Zeile entlang.
static __global__ void spiegel(const float *__restrict__ in, float *__restrict__ out, int breite) {
    const float *links = in + (size_t)blockIdx.x * breite;
    float *rechts = out + (size_t)blockIdx.x * breite + breite - 1;
    for (int x = threadIdx.x; x < breite; x += blockDim.x) *(rechts - x) = *(links + x);
}

cudaError_t launch_mirror(const float *in, float *out, int width, int height, cudaStream_t stream) {
    int threads = width < 32 ? 32 : width > 256 ? 256 : CEIL_DIV(width, 32) * 32;
    spiegel<<<height, threads, 0, stream>>>(in, out, width);
    return cudaGetLastError();
}
