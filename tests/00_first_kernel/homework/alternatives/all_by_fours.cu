// Four pixels at a time where arrays allow it, and a running number for all pixels.
#include "homework.cuh"
// four pixels at a time when both arrays allow it

__global__ void negative4(const float4* in, float4* out, int n4) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n4) {
    float4 p = in[i];
    p.x = 1 - p.x; p.y = 1 - p.y; p.z = 1 - p.z; p.w = 1 - p.w;
    out[i] = p;
  }
}
__global__ void negative1(const float* in, float* out, int first, int n) {
  int i = first + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1 - in[i];
}

cudaError_t launch_negative(const float* in, float* out, int n, cudaStream_t stream) {
  int done = 0;
  if (((size_t)in | (size_t)out) % sizeof(float4) == 0 && n >= 4) {
    int n4 = n / 4;
    negative4<<<(n4 + 255) / 256, 256, 0, stream>>>((const float4*)in, (float4*)out, n4);
    cudaError_t error = cudaGetLastError();
    if (error) return error;
    done = 4 * n4;
  }
  if (done < n) negative1<<<(n - done + 255) / 256, 256, 0, stream>>>(in, out, done, n);
  return cudaGetLastError();
}

// one long line of pixels: which row and which column is pixel i in?
__global__ void mirror1d(const float* in, float* out, int width, long long n) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
    int x = i % width;
    out[i] = in[i - x + (width - 1 - x)];
  }
}

cudaError_t launch_mirror(const float* in, float* out, int width, int height, cudaStream_t stream) {
  long long n = (long long)width * height;
  long long blocks = (n + 255) / 256;
  if (blocks > 4096) blocks = 4096;
  mirror1d<<<(unsigned)blocks, 256, 0, stream>>>(in, out, width, n);
  return cudaGetLastError();
}
