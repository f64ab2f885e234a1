// Kernels that launch kernels: the parent gives each segment, however long it is, a grid of its own length.
#include <cstdio>
#include <vector>

__global__ void reverse_segment(const int* in, int* out, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < length) out[i] = in[length - 1 - i];
}

__global__ void segments(const int* begins, int count, const int* in, int* out) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= count) return;
  const int begin = begins[s], length = begins[s + 1] - begin;
  if (length > 0) reverse_segment<<<(length + 63) / 64, 64>>>(in + begin, out + begin, length);
}

// Each turn halves a range, and leaves the two halves to its children.
__global__ void depths(int* depth, int begin, int end, int level) {
  if (end <= begin) return;
  const int middle = (begin + end) / 2;
  depth[middle] = level;
  depths<<<1, 1>>>(depth, begin, middle, level + 1);
  depths<<<1, 1>>>(depth, middle + 1, end, level + 1);
}

static void wanted_depths(std::vector<int>& depth, int begin, int end, int level) {
  if (end <= begin) return;
  const int middle = (begin + end) / 2;
  depth[middle] = level;
  wanted_depths(depth, begin, middle, level + 1);
  wanted_depths(depth, middle + 1, end, level + 1);
}

int main() {
  const int count = 37, nodes = 101;
  std::vector<int> wanted(nodes);
  int *begins, *in, *out, *depth;
  cudaMallocManaged(&begins, (count + 1) * sizeof(int));
  begins[0] = 0;
  for (int s = 0; s < count; ++s) begins[s + 1] = begins[s] + s * s % 211;
  const int n = begins[count];
  cudaMallocManaged(&in, n * sizeof(int)), cudaMallocManaged(&out, n * sizeof(int));
  cudaMallocManaged(&depth, nodes * sizeof(int));
  for (int i = 0; i < n; ++i) in[i] = i;
  segments<<<2, 32>>>(begins, count, in, out);
  depths<<<1, 1>>>(depth, 0, nodes, 0);
  int wrong = cudaDeviceSynchronize() != cudaSuccess;  // a grid has ended when those have that it launched
  for (int s = 0; s < count; ++s)
    for (int i = begins[s]; i < begins[s + 1]; ++i) wrong += out[i] != begins[s] + begins[s + 1] - 1 - i;
  wanted_depths(wanted, 0, nodes, 0);
  for (int i = 0; i < nodes; ++i) wrong += depth[i] != wanted[i];
  cudaFree(begins), cudaFree(in), cudaFree(out), cudaFree(depth);
  std::puts(wrong ? "wrong" : "right");
}
