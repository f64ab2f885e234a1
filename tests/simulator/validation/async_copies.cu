// Asynchronous copies of one warp, one launch for each line of async_copies.txt. What a GPU counts:
//   nvcc -arch=native -o async_copies async_copies.cu
//   ncu --cache-control none --metrics smsp__inst_executed_op_ldgsts.sum,l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,\
//l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ldgsts_cache_access.sum,\
//smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum ./async_copies async_copies.txt
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

struct Pattern {
  unsigned mask = 0;    // lanes that copy
  unsigned filled = 0;  // of these, lanes that copy nothing and fill with zeros
  unsigned from[32] = {}, to[32] = {};  // bytes
};
__constant__ Pattern pattern;

enum class Fill { none, chosen, all, half };

// `zero` is 0, which the compiler does not know.
template <int bytes, Fill fill>
__global__ void copies(const char* memory, float* out, int times, int zero) {
  extern __shared__ __align__(128) char shared[];
  const unsigned lane = threadIdx.x;
  const char* from = memory + pattern.from[lane];
  char* to = shared + pattern.to[lane];
  const bool takes_part = pattern.mask >> lane & 1, filled = pattern.filled >> lane & 1;
#pragma unroll 1
  for (int i = 0; i < times; ++i, from += zero) {
    if (takes_part) {
      if constexpr (fill == Fill::none) __pipeline_memcpy_async(to, from, bytes);
      if constexpr (fill == Fill::chosen) __pipeline_memcpy_async(to, from, bytes, filled ? bytes : 0);
      if constexpr (fill == Fill::all) __pipeline_memcpy_async(to, from, bytes, bytes);
      if constexpr (fill == Fill::half) __pipeline_memcpy_async(to, from, bytes, bytes / 2);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
  }
  if (zero) out[lane] = *reinterpret_cast<float*>(to);
}

template <int bytes>
void launch(const std::string& fill, int times, const char* memory, float* out) {
  const size_t shared = 40 << 10;
  if (fill == "-") copies<bytes, Fill::none><<<1, 32, shared>>>(memory, out, times, 0);
  if (fill == "chosen") copies<bytes, Fill::chosen><<<1, 32, shared>>>(memory, out, times, 0);
  if (fill == "all") copies<bytes, Fill::all><<<1, 32, shared>>>(memory, out, times, 0);
  if (fill == "half") copies<bytes, Fill::half><<<1, 32, shared>>>(memory, out, times, 0);
}

int main(int argc, char** argv) {
  std::ifstream file(argc == 2 ? argv[1] : "async_copies.txt");
  char* memory = nullptr;
  float* out = nullptr;
  if (!file || cudaMalloc(&memory, 64 << 20) != cudaSuccess || cudaMalloc(&out, 512) != cudaSuccess) return 2;
  cudaMemset(memory, 0, 64 << 20);
  int launches = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string fill;
    int bytes = 0;
    double counted = 0;
    Pattern p;
    words >> bytes >> fill >> std::hex >> p.mask >> p.filled >> std::dec;
    for (int k = 0; k < 5; ++k) words >> counted;
    for (unsigned& place : p.from) words >> place;
    for (unsigned& place : p.to) words >> place;
    cudaMemcpyToSymbol(pattern, &p, sizeof p);
    if (bytes == 4) launch<4>(fill, 1, memory, out);
    if (bytes == 8) launch<8>(fill, 1, memory, out);
    if (bytes == 16) launch<16>(fill, 1, memory, out);
    ++launches;
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%d launches: %s\n", launches, cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
