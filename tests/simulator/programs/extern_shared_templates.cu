// A kernel template for several types that shares memory whose size the launch says: each block turns its part around.
#include <cstdio>
#include <vector>

struct alignas(8) Pair {
  int left;
  float right;
  bool operator==(const Pair& other) const { return left == other.left && right == other.right; }
};

template <typename T>
__device__ T* shared_memory() {
  extern __shared__ __align__(16) unsigned char bytes_of_block[];
  return reinterpret_cast<T*>(bytes_of_block);
}

template <typename T, int kEach>
__global__ void turn_parts(const T* in, T* out, int n) {
  T* part = shared_memory<T>();
  const int begin = blockIdx.x * blockDim.x * kEach, length = min(n - begin, int(blockDim.x) * kEach);
  for (int i = threadIdx.x; i < length; i += blockDim.x) part[i] = in[begin + i];
  __syncthreads();
  for (int i = threadIdx.x; i < length; i += blockDim.x) out[begin + i] = part[length - 1 - i];
}

template <typename T, int kEach, typename Make>
bool works(int n, Make make) {
  const int threads = 96, part = threads * kEach;
  std::vector<T> in, out(n), wanted(n);
  for (int i = 0; i < n; ++i) in.push_back(make(i));
  T *din, *dout;
  cudaMalloc(&din, n * sizeof(T)), cudaMalloc(&dout, n * sizeof(T));
  cudaMemcpy(din, in.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  turn_parts<T, kEach><<<(n + part - 1) / part, threads, part * sizeof(T)>>>(din, dout, n);
  cudaMemcpy(out.data(), dout, n * sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(din), cudaFree(dout);
  for (int i = 0; i < n; ++i) {
    const int begin = i / part * part, end = begin + part < n ? begin + part : n;
    wanted[begin + end - 1 - i] = in[i];
  }
  return out == wanted;
}

int main() {
  int wrong = !works<char, 3>(1009, [](int i) { return static_cast<char>(i % 101); });
  wrong += !works<short, 1>(1511, [](int i) { return static_cast<short>(7 * i); });
  wrong += !works<double, 2>(787, [](int i) { return 0.5 * i; });
  wrong += !works<Pair, 5>(2003, [](int i) { return Pair{i, 0.25f * i}; });
  std::puts(wrong ? "wrong" : "right");
}
