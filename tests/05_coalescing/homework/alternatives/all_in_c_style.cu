// All tasks in the manner of C, with macros; names and comments are German.
// Anna, Kapitel 5.
#include "homework.cuh"

__global__ void axpy(float a, const float *x, const float *y, float *z, int n) {
    const int schritt = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += schritt) z[i] = a * x[i] + y[i];
}

cudaError_t launch_axpy(float a, const float *x, const float *y, float *z, int n, cudaStream_t stream) {
    int bloecke = (n + 255) / 256;
    if (bloecke > 1024) bloecke = 1024;
    axpy<<<bloecke, 256, 0, stream>>>(a, x, y, z, n);
    return cudaGetLastError();
}

// Erst zwei Zeilen addieren (jeder Thread zwei Spalten, 128 auseinander), dann Nachbarn aus dem gemeinsamen Speicher.
__global__ void halbieren(const float *in, float *out, int cols, int neue_spalten) {
    __shared__ float summe[256];
    const float *zeile = in + 2 * (size_t)blockIdx.y * cols;
    const int anfang = blockIdx.x * 256;
    for (int s = threadIdx.x; s < 256; s += 128)
        if (anfang + s < 2 * neue_spalten) summe[s] = zeile[anfang + s] + zeile[cols + anfang + s];
    __syncthreads();
    const int j = blockIdx.x * 128 + threadIdx.x;
    if (j < neue_spalten)
        out[(size_t)blockIdx.y * neue_spalten + j] = 0.25f * (summe[2 * threadIdx.x] + summe[2 * threadIdx.x + 1]);
}

cudaError_t launch_halve(const float *in, float *out, int rows, int cols, cudaStream_t stream) {
    const int h = rows / 2, b = cols / 2;
    if (h == 0 || b == 0) return cudaSuccess;
    halbieren<<<dim3((b + 127) / 128, h), 128, 0, stream>>>(in, out, cols, b);
    return cudaGetLastError();
}

// Ein Warp kopiert 31 Stücke: Lane 31 lädt nur für ihren Nachbarn.
__global__ void kopieren(const float *from, float *to, int n, int kopf, int stuecke) {
    const int lane = threadIdx.x % 32;
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    // das Ende und der Anfang, Wort für Wort
    if (warp == 0) {
        if (lane < kopf) to[lane] = from[lane];
        const int rest = kopf + 4 * stuecke;
        if (rest + lane < n) to[rest + lane] = from[rest + lane];
    }
    const float *ab = from + kopf;
    const int versatz = ((size_t)ab / 4) % 4;
    const float4 *quelle = (const float4 *)(ab - versatz);
    float4 *ziel = (float4 *)(to + kopf);
    const int laeufe = versatz ? 31 : 32;
    for (int s0 = warp * laeufe; s0 < stuecke; s0 += gridDim.x * (blockDim.x / 32) * laeufe) {
        const int s = s0 + lane;
        // Stück s enthält die Wörter 4s - versatz bis 4s - versatz + 3 hinter ab
        float4 v = make_float4(0, 0, 0, 0);
        const int letztes = n - kopf;  // Wörter hinter ab, die wir lesen dürfen
        if (4 * s - versatz + 3 < letztes) {
            v = quelle[s];
        } else {
            float w[4] = {0, 0, 0, 0};
            for (int i = 0; i < 4; i++)
                if (4 * s - versatz + i < letztes) w[i] = ab[4 * s - versatz + i];
            v = make_float4(w[0], w[1], w[2], w[3]);
        }
        float4 u;
        u.x = __shfl_down_sync(0xffffffff, v.x, 1);
        u.y = __shfl_down_sync(0xffffffff, v.y, 1);
        u.z = __shfl_down_sync(0xffffffff, v.z, 1);
        if (lane < laeufe && s < stuecke) {
            if (versatz == 0) ziel[s] = v;
            if (versatz == 1) ziel[s] = make_float4(v.y, v.z, v.w, u.x);
            if (versatz == 2) ziel[s] = make_float4(v.z, v.w, u.x, u.y);
            if (versatz == 3) ziel[s] = make_float4(v.w, u.x, u.y, u.z);
        }
    }
}

cudaError_t launch_copy_part(const float *from, float *to, int n, cudaStream_t stream) {
    int kopf = (16 - (size_t)to % 16) % 16 / 4;
    if (kopf > n) kopf = n;
    const int stuecke = (n - kopf) / 4;
    int bloecke = (stuecke + 123) / 124;
    if (bloecke < 1) bloecke = 1;
    if (bloecke > 2048) bloecke = 2048;
    kopieren<<<bloecke, 128, 0, stream>>>(from, to, n, kopf, stuecke);
    return cudaGetLastError();
}
