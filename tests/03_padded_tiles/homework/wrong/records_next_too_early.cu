// expect: record_sums findings warp-synchronous
// points: record_sums 5..85
// The next records are stored while lanes may still walk along these. With as many warps as there are batches nobody sees it.
#include "homework.cuh"

__global__ void recs(const float* x, float* y, int n) {
  __shared__ float s[4][32 * 9];
  int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  float* t = s[warp];
  for (int b = (blockIdx.x * 4 + warp) * 32; b < n; b += gridDim.x * 128) {
    int words = min(32, n - b) * 8;
    // 9-word rows interleaved: row i at (i%4)*72 + ... no: xor swizzle
    for (int w = lane; w < 256; w += 32) t[(w / 8) * 8 + ((w % 8) ^ ((w / 32) % 8))] = w < words ? x[b * 8 + w] : 0.f;
    __syncwarp();
    float sum = 0;
    for (int j = 0; j < 8; j++) sum += t[lane * 8 + (((j + lane) % 8) ^ ((lane / 4) % 8))];
    if (b + lane < n) y[b + lane] = sum;
  }
}
cudaError_t launch_record_sums(const float* x, float* y, int n, cudaStream_t stream) {
  recs<<<16, 128, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}
