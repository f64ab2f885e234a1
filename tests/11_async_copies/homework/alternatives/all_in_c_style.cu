// All tasks in the manner of C, with macros; names and comments are German.
// Anna, Kapitel 11.
#include "homework.cuh"

#include <cuda_pipeline.h>

#define STUECK 128

__global__ void vergleichen(const float *x, const float *pattern, float *score, int positions, int length) {
    __shared__ float xs[2][2 * STUECK], ps[2][STUECK];
    const int t = threadIdx.x, erste = blockIdx.x * STUECK, woerter = positions + length - 1;
    const int stuecke = (length + STUECK - 1) / STUECK;
#define KOPIERE(ziel, feld, i, zahl) \
    __pipeline_memcpy_async(&(ziel), &(feld)[(i) < (zahl) ? (i) : (zahl) - 1], 4, (i) < (zahl) ? 0 : 4)
#define HOLE(p)                                                                    \
    do {                                                                           \
        const int i0 = (p) * STUECK;                                               \
        KOPIERE(ps[(p) % 2][t], pattern, i0 + t, length);                          \
        KOPIERE(xs[(p) % 2][t], x, erste + i0 + t, woerter);                       \
        KOPIERE(xs[(p) % 2][t + STUECK], x, erste + i0 + t + STUECK, woerter);     \
        __pipeline_commit();                                                       \
    } while (0)
    HOLE(0);
    float summe = 0;
    for (int p = 0; p < stuecke; p++) {
        __pipeline_wait_prior(0);  // mein Teil von Stück p ist da
        __syncthreads();           // alle Teile sind da, und alle sind mit Stück p - 1 fertig
        if (p + 1 < stuecke) HOLE(p + 1);
        for (int i = 0; i < STUECK; i++) summe += ps[p % 2][i] * xs[p % 2][t + i];
    }
    if (erste + t < positions) score[erste + t] = summe;
}

cudaError_t launch_match(const float *x, const float *pattern, float *score, int positions, int length, cudaStream_t stream) {
    vergleichen<<<(positions + STUECK - 1) / STUECK, STUECK, 0, stream>>>(x, pattern, score, positions, length);
    return cudaGetLastError();
}

// Ein Block geht einen Streifen von 128 Spalten und 64 Zeilen hinunter. Der Ring hat sechs Zeilen.
#define BREIT 128
#define HOCH 64
#define RING 6

__global__ void mitteln(const float *in, float *out, int rows, int cols) {
    __shared__ float ring[RING][BREIT + 2];
    const int t = threadIdx.x, c0 = blockIdx.x * BREIT, r0 = blockIdx.y * HOCH;
    const int ende = r0 + HOCH < rows ? r0 + HOCH : rows;
    // Zeile r kommt nach ring[(r + RING) % RING]; was außerhalb liegt, wird mit Nullen gefüllt
    auto hole = [&](int r) {
        if (r <= ende) {
            for (int s = t; s < BREIT + 2; s += BREIT) {
                const int c = c0 + s - 1;
                const bool drin = r >= 0 && r < rows && c >= 0 && c < cols;
                __pipeline_memcpy_async(&ring[(r + RING) % RING][s], drin ? &in[(size_t)r * cols + c] : in, 4, drin ? 0 : 4);
            }
        }
        __pipeline_commit();
    };
    for (int r = r0 - 1; r < r0 + 4; r++) hole(r);
    for (int r = r0; r < ende; r++) {
        // Zuletzt wurde Zeile r + 3 geholt; r + 1 muss da sein
        __pipeline_wait_prior(2);
        __syncthreads();
        hole(r + 4);  // dorthin, wo r - 2 war
        float summe = 0;
        for (int d = -1; d <= 1; d++) {
            const float *z = &ring[(r + d + RING) % RING][t];
            summe += z[0] + z[1] + z[2];
        }
        if (c0 + t < cols) out[(size_t)r * cols + c0 + t] = summe / 9;
    }
}

cudaError_t launch_blur(const float *in, float *out, int rows, int cols, cudaStream_t stream) {
    mitteln<<<dim3((cols + BREIT - 1) / BREIT, (rows + HOCH - 1) / HOCH), BREIT, 0, stream>>>(in, out, rows, cols);
    return cudaGetLastError();
}
