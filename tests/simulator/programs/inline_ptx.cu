// Instructions by name in inline PTX: any function of three words, fields of bits, chosen bytes, special registers.
#include <stdint.h>
#include <stdio.h>

__device__ __forceinline__ uint32_t majority(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t d;
  asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
__device__ __forceinline__ int32_t signed_field(int32_t word, uint32_t first, uint32_t bits) {
  int32_t field;
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(field) : "r"(word), "r"(first), "r"(bits));
  return field;
}
__device__ __forceinline__ uint32_t with_field(uint32_t word, uint32_t field, uint32_t first, uint32_t bits) {
  uint32_t out;
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(out) : "r"(field), "r"(word), "r"(first), "r"(bits));
  return out;
}
__device__ __forceinline__ uint32_t other_endian(uint32_t word) {
  uint32_t out;
  asm("prmt.b32 %0, %1, %2, 0x0123;" : "=r"(out) : "r"(word), "r"(0u));
  return out;
}
__device__ __forceinline__ unsigned lane() {
  unsigned id;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(id));
  return id;
}

__global__ void all(const uint32_t* in, uint32_t* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint32_t* row = out + 5 * i;
  row[0] = majority(in[i], in[(i + 1) % n], in[(i + 2) % n]);
  row[1] = signed_field(in[i], i % 20, 7);
  row[2] = with_field(in[i], i, 9, 6);
  row[3] = other_endian(in[i]);
  row[4] = lane();
}

int main(void) {
  const int n = 1009, block = 96;
  uint32_t *in, *out;
  cudaMallocManaged(&in, n * sizeof(uint32_t));
  cudaMallocManaged(&out, 5 * n * sizeof(uint32_t));
  for (int i = 0; i < n; i++) in[i] = 2654435761u * (i + 1);
  all<<<(n + block - 1) / block, block>>>(in, out, n);
  int wrong = cudaDeviceSynchronize() != cudaSuccess;
  for (int i = 0; i < n; i++) {
    const uint32_t a = in[i], b = in[(i + 1) % n], c = in[(i + 2) % n], *row = out + 5 * i;
    const int field = (a >> (i % 20)) & 127;
    wrong += row[0] != ((a & b) | (a & c) | (b & c));
    wrong += (int)row[1] != (field < 64 ? field : field - 128);
    wrong += row[2] != ((a & ~(63u << 9)) | ((i & 63u) << 9));
    wrong += row[3] != (a >> 24 | (a >> 8 & 0xff00) | (a << 8 & 0xff0000) | a << 24);
    wrong += row[4] != (uint32_t)(i % block % 32);
  }
  cudaFree(in);
  cudaFree(out);
  puts(wrong ? "wrong" : "right");
  return 0;
}
