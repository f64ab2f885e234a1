/* Counts the bytes of a text three ways: global atomics, private counts in shared memory, and one atomic per group of
 * equal neighbours in a warp. C style, with macros. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BINS 256
#define BYTES (40 * 1000 + 7)
#define DIV_UP(a, b) (((a) + (b)-1) / (b))
#define GLOBAL_INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define LAUNCH(kernel, blocks, threads, shared, ...) kernel<<<blocks, threads, shared>>>(__VA_ARGS__)

typedef unsigned char byte;

static void die(cudaError_t code, int line) {
  if (code == cudaSuccess) return;
  printf("line %d: %s\n", line, cudaGetErrorString(code));
  exit(1);
}
#define TRY(x) die((x), __LINE__)

__global__ void histogram_global(const byte *text, int n, unsigned *bins) {
  int i = GLOBAL_INDEX;
  if (i < n) atomicAdd(&bins[text[i]], 1);
}

__global__ void histogram_shared(const byte *text, int n, unsigned *bins) {
  extern __shared__ unsigned mine[];
  int i;
  for (i = threadIdx.x; i < BINS; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  for (i = GLOBAL_INDEX; i < n; i += gridDim.x * blockDim.x) atomicAdd(mine + text[i], 1u);
  __syncthreads();
  for (i = threadIdx.x; i < BINS; i += blockDim.x)
    if (mine[i] != 0) atomicAdd(bins + i, mine[i]);
}

__global__ void histogram_matched(const byte *text, int n, unsigned *bins) {
  int i = GLOBAL_INDEX;
  unsigned here = __ballot_sync(0xffffffff, i < n);
  if (i >= n) return;
  unsigned same = __match_any_sync(here, (int)text[i]);
  int leader = __ffs(same) - 1;
  if ((int)(threadIdx.x % 32) == leader) atomicAdd(&bins[text[i]], __popc(same));
}

static int compare(const char *name, unsigned *d_bins, const unsigned *expected) {
  unsigned bins[BINS];
  TRY(cudaGetLastError());
  TRY(cudaMemcpy(bins, d_bins, sizeof bins, cudaMemcpyDeviceToHost));
  TRY(cudaMemset(d_bins, 0, sizeof bins));
  int wrong = memcmp(bins, expected, sizeof bins) != 0;
  printf("%-8s %s\n", name, wrong ? "WRONG" : "right");
  return wrong;
}

int main(void) {
  static byte text[BYTES];
  unsigned expected[BINS] = {0};
  for (int i = 0; i < BYTES; ++i) {
    text[i] = (byte)(i * i / 7 + (i >> 5));
    ++expected[text[i]];
  }
  byte *d_text;
  unsigned *d_bins;
  TRY(cudaMalloc((void **)&d_text, BYTES));
  TRY(cudaMalloc((void **)&d_bins, sizeof expected));
  TRY(cudaMemcpy(d_text, text, BYTES, cudaMemcpyHostToDevice));
  TRY(cudaMemset(d_bins, 0, sizeof expected));

  int wrong = 0;
  LAUNCH(histogram_global, DIV_UP(BYTES, 128), 128, 0, d_text, BYTES, d_bins);
  wrong += compare("global", d_bins, expected);
  LAUNCH(histogram_shared, 6, 160, BINS * sizeof(unsigned), d_text, BYTES, d_bins);
  wrong += compare("shared", d_bins, expected);
  LAUNCH(histogram_matched, DIV_UP(BYTES, 96), 96, 0, d_text, BYTES, d_bins);
  wrong += compare("matched", d_bins, expected);

  cudaFree(d_text);
  cudaFree(d_bins);
  return wrong;
}
