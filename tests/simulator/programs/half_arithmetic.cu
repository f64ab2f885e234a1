// A dot product in half precision, two numbers at a time, beside the one in float: its error stays below its bound.
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>

__global__ void to_half(const float* in, __half* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2half(in[i]);
}

__global__ void dot_of_halves(const __half* a, const __half* b, int n, float* sum) {
  const __half2 *a2 = reinterpret_cast<const __half2*>(a), *b2 = reinterpret_cast<const __half2*>(b);
  const int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  __half2 both = __float2half2_rn(0.0f);
  for (int i = t; i < n / 2; i += threads) both = __hfma2(a2[i], b2[i], both);
  float mine = __low2float(both) + __high2float(both);
  if (n % 2 == 1 && t == 0) mine += __half2float(__hmul(a[n - 1], b[n - 1]));
  for (int step = 16; step > 0; step /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, step);
  if (t % 32 == 0) atomicAdd(sum, mine);
}

int main() {
  const int n = 30001, blocks = 24, threads = 128, each = n / 2 / (blocks * threads) + 1;
  float *x, *y, *sum;
  __half *a, *b;
  cudaMallocManaged(&x, n * sizeof(float)), cudaMallocManaged(&y, n * sizeof(float));
  cudaMallocManaged(&sum, sizeof(float));
  cudaMalloc(&a, n * sizeof(__half)), cudaMalloc(&b, n * sizeof(__half));
  int wrong = 0;
  for (const bool whole : {true, false}) {  // of small whole numbers nothing is rounded
    double wanted = 0, sizes = 0;
    for (int i = 0; i < n; ++i) {
      const int p = i * 37 % 1009, q = i * 53 % 211 - 80;
      x[i] = static_cast<float>(whole ? p % 9 : p * 0.001), y[i] = static_cast<float>(whole ? q % 6 : q * 0.01);
      wanted += static_cast<double>(x[i]) * y[i], sizes += std::fabs(static_cast<double>(x[i]) * y[i]);
    }
    *sum = 0;
    to_half<<<(n + 255) / 256, 256>>>(x, a, n);
    to_half<<<(n + 255) / 256, 256>>>(y, b, n);
    dot_of_halves<<<blocks, threads>>>(a, b, n, sum);
    wrong += cudaDeviceSynchronize() != cudaSuccess;
    const double error = std::fabs(*sum - wanted), unit = 1.0 / 2048;  // of half's rounding
    wrong += whole ? error != 0 : !(error > 0 && error <= (each + 3) * unit * sizes);
  }
  cudaFree(x), cudaFree(y), cudaFree(sum), cudaFree(a), cudaFree(b);
  std::puts(wrong ? "wrong" : "right");
}
