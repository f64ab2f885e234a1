// Votes of a warp: who has the same key, whether all agree, whether any does, and who says yes; the last warp is short.
#include <cstdio>

struct Votes {
  unsigned same, yes;
  int all, any, agreed;
};

__host__ __device__ int key_of(int i) { return i / 32 % 3 == 2 ? 5 : i * 5 % 11; }
__host__ __device__ bool small(int i) { return key_of(i) < 6; }

__global__ void vote(Votes* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned mask = __ballot_sync(0xffffffffu, i < n);
  if (i >= n) return;
  Votes v;
  v.same = __match_any_sync(mask, key_of(i));
  v.yes = __ballot_sync(mask, small(i));
  v.all = __all_sync(mask, small(i));
  v.any = __any_sync(mask, key_of(i) == 9);
  const unsigned agreed = __match_all_sync(mask, static_cast<unsigned long long>(key_of(i)), &v.agreed);
  if (agreed != (v.agreed ? mask : 0)) v.agreed = -1;
  out[i] = v;
}

int main() {
  const int n = 1009, block = 160;
  Votes* out;
  cudaMallocManaged(&out, n * sizeof(Votes));
  vote<<<(n + block - 1) / block, block>>>(out, n);
  int wrong = cudaDeviceSynchronize() != cudaSuccess;
  for (int first = 0; first < n; first += 32) {
    const int last = first + 32 < n ? first + 32 : n;
    for (int i = first; i < last; ++i) {
      Votes v = {0, 0, 1, 0, 1};
      for (int j = first; j < last; ++j) {
        const unsigned bit = 1u << (j - first);
        if (key_of(i) == key_of(j)) v.same |= bit;
        if (small(j)) v.yes |= bit;
        v.all &= small(j);
        v.any |= key_of(j) == 9;
        v.agreed &= key_of(i) == key_of(j);
      }
      wrong += out[i].same != v.same || out[i].yes != v.yes;
      wrong += !out[i].all != !v.all || !out[i].any != !v.any || out[i].agreed != v.agreed;
    }
  }
  cudaFree(out);
  std::puts(wrong ? "wrong" : "right");
}
