// What passes a test, moved together: places by a ballot within the warp, by an atomic between warps.
#include <algorithm>
#include <cstdio>
#include <vector>

__global__ void compact(const int* in, int n, int* out, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  const bool keeps = i < n && in[i] % 3 == 0;
  const unsigned kept = __ballot_sync(0xffffffffu, keeps);
  int begin = 0;
  if (lane == 0 && kept) begin = atomicAdd(count, __popc(kept));
  begin = __shfl_sync(0xffffffffu, begin, 0);
  if (keeps) out[begin + __popc(kept & ((1u << lane) - 1))] = in[i];
}

int main() {
  const int n = 5000;
  std::vector<int> in(n), expected, out(n);
  for (int i = 0; i < n; ++i) in[i] = (i * 31) % 1000;
  std::copy_if(in.begin(), in.end(), std::back_inserter(expected), [](int x) { return x % 3 == 0; });
  int *a, *b, *count, found = 0;
  cudaMalloc(&a, n * sizeof(int)), cudaMalloc(&b, n * sizeof(int)), cudaMalloc(&count, sizeof(int));
  cudaMemcpy(a, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(count, 0, sizeof(int));
  compact<<<(n + 255) / 256, 256>>>(a, n, b, count);
  cudaMemcpy(&found, count, sizeof found, cudaMemcpyDeviceToHost);
  out.resize(found);
  cudaMemcpy(out.data(), b, found * sizeof(int), cudaMemcpyDeviceToHost);
  std::sort(out.begin(), out.end());
  std::sort(expected.begin(), expected.end());
  cudaFree(a), cudaFree(b), cudaFree(count);
  std::puts(out == expected ? "right" : "wrong");
}
