// All tasks in the manner of C, with macros; names and comments are German.
// Anna, Kapitel 3.
#include "homework.cuh"

#define WOERTER 8
#define ZEILEN 128

// Nach je 32 Wörtern bleibt eines frei.
#define PLATZ(w) ((w) + (w) / 32)

__global__ void saetze(const float *x, float *y, int n) {
    __shared__ float kachel[PLATZ(ZEILEN * WOERTER)];
    const int t = threadIdx.x;
    const size_t erstes = (size_t)blockIdx.x * ZEILEN * WOERTER;
    for (int w = t; w < ZEILEN * WOERTER; w += ZEILEN)
        if (erstes + w < (size_t)n * WOERTER) kachel[PLATZ(w)] = x[erstes + w];
    __syncthreads();
    const int satz = blockIdx.x * ZEILEN + t;
    if (satz >= n) return;
    float summe = 0;
    for (int j = 0; j < WOERTER; j++) summe += kachel[PLATZ(t * WOERTER + j)];
    y[satz] = summe;
}

cudaError_t launch_record_sums(const float *x, float *y, int n, cudaStream_t stream) {
    saetze<<<(n + ZEILEN - 1) / ZEILEN, ZEILEN, 0, stream>>>(x, y, n);
    return cudaGetLastError();
}

// Laufende Summen: ein Warp geht mit 32 Zeilen von links nach rechts. Lane i hat die Summe von Zeile i.
__global__ void laufend(const float *in, float *out, int rows, int cols) {
    __shared__ float kachel[32][33];
    const int lane = threadIdx.x;
    const int r0 = blockIdx.x * 32;
    float summe = 0;
    for (int c0 = 0; c0 < cols; c0 += 32) {
        for (int i = 0; i < 32; i++)
            kachel[i][lane] = r0 + i < rows && c0 + lane < cols ? in[(size_t)(r0 + i) * cols + c0 + lane] : 0.f;
        __syncwarp();
        for (int j = 0; j < 32 && c0 + j < cols; j++) {
            summe += kachel[lane][j];
            if (r0 + lane < rows) out[(size_t)(c0 + j) * rows + r0 + lane] = summe;
        }
        __syncwarp();
    }
}

cudaError_t launch_running_sums_turned(const float *in, float *out, int rows, int cols, cudaStream_t stream) {
    laufend<<<(rows + 31) / 32, 32, 0, stream>>>(in, out, rows, cols);
    return cudaGetLastError();
}

#define SCHLUESSEL 64

// Zähler (b, lane) liegt bei [b][lane], also immer in Bank lane.
__global__ void nach_schluessel(const int *keys, const float *values, float *sums, int cols) {
    __shared__ float zaehler[SCHLUESSEL][32];
    const int lane = threadIdx.x;
    const size_t zeile = blockIdx.x;
    for (int b = 0; b < SCHLUESSEL; b++) zaehler[b][lane] = 0;
    for (int c = lane; c < cols; c += 32) zaehler[keys[zeile * cols + c]][lane] += values[zeile * cols + c];
    __syncwarp();
    // Lane b addiert ihre Zeile, versetzt beginnend, damit keine zwei dieselbe Bank wollen.
    for (int b = lane; b < SCHLUESSEL; b += 32) {
        float summe = 0;
        for (int i = 0; i < 32; i++) summe += zaehler[b][(lane + i) % 32];
        sums[zeile * SCHLUESSEL + b] = summe;
    }
}

cudaError_t launch_sums_by_key(const int *keys, const float *values, float *sums, int rows, int cols, cudaStream_t stream) {
    nach_schluessel<<<rows, 32, 0, stream>>>(keys, values, sums, cols);
    return cudaGetLastError();
}
