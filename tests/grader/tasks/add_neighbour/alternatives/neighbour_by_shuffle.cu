// The neighbour comes from the next lane; lane 31 loads it. Comments are German.
#include "homework.cuh"
// Der Nachbar kommt aus dem nächsten Lane; nur Lane 31 lädt ein zweites Wort.
__global__ void nachbar(const float *x, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float mein = i < n ? x[i] : 0;
    float naechstes = __shfl_down_sync(0xffffffff, mein, 1);
    if (threadIdx.x % 32 == 31 && i + 1 < n) naechstes = x[i + 1];
    if (i < n) y[i] = i + 1 < n ? mein + naechstes : mein;
}
cudaError_t launch_add_neighbour(const float *x, float *y, int n, cudaStream_t stream) {
    nachbar<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
    return cudaGetLastError();
}
