// Requests of one warp for global memory, one launch for each line of l1_patterns.txt, each request made 64 times so that all
// but the first find their data in L1. What a GPU counts:
//   nvcc -arch=native -o l1_patterns l1_patterns.cu
//   ncu --cache-control none --metrics l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum,\
//l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_st.sum,l1tex__data_pipe_lsu_wavefronts_mem_lgds_cmd_read.sum,\
//l1tex__data_pipe_lsu_wavefronts_mem_lgds_cmd_write.sum ./l1_patterns l1_patterns.txt
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

struct Pattern {
  unsigned mask = 0;
  size_t place[32] = {};  // of each lane's word, in words of its width
};
__constant__ Pattern pattern;

enum class Op { load, store, load_const };
constexpr int kTimes = 64;

__device__ unsigned all_of(unsigned word) { return word; }
__device__ unsigned all_of(uint2 word) { return word.x + word.y; }
__device__ unsigned all_of(uint4 word) { return word.x + word.y + word.z + word.w; }

// `zero` is 0, which the compiler does not know: it must make every one of the requests.
template <class Word, Op op>
__global__ void request(Word* memory, unsigned* out, int zero) {
  const unsigned lane = threadIdx.x;
  Word* p = memory + pattern.place[lane];
  unsigned sum = 1;
  if ((pattern.mask >> lane & 1) == 0) return;
#pragma unroll 1
  for (int i = 0; i < kTimes; ++i, p += zero) {
    if constexpr (op == Op::load) sum += all_of(*p);
    if constexpr (op == Op::load_const) sum += all_of(__ldg(p));
    if constexpr (op == Op::store) *p = Word{};
  }
  if (sum == 0) out[lane] = sum;  // memory is all zeros, but the compiler does not know that either
}

template <class Word>
void launch(const std::string& op, void* memory, void* out) {
  auto* m = static_cast<Word*>(memory);
  auto* o = static_cast<unsigned*>(out);
  if (op == "ld") request<Word, Op::load><<<1, 32>>>(m, o, 0);
  if (op == "nc") request<Word, Op::load_const><<<1, 32>>>(m, o, 0);
  if (op == "st") request<Word, Op::store><<<1, 32>>>(m, o, 0);
}

int main(int argc, char** argv) {
  std::ifstream file(argc == 2 ? argv[1] : "l1_patterns.txt");
  void *memory = nullptr, *out = nullptr;
  const size_t bytes = size_t{64} << 20;  // more than the words of any line lie apart
  if (!file || cudaMalloc(&memory, bytes) != cudaSuccess || cudaMalloc(&out, 512) != cudaSuccess) {
    std::fprintf(stderr, "usage: l1_patterns l1_patterns.txt, on a machine with a GPU\n");
    return 2;
  }
  int launches = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string op, mask, places;
    int width = 0, tags = 0, data = 0;
    words >> op >> width >> mask >> tags >> data >> places;
    Pattern p;
    p.mask = static_cast<unsigned>(std::stoul(mask, nullptr, 16));
    if (const size_t sign = places.find_first_of("+-", 1); sign != std::string::npos && places.find(',') == std::string::npos) {
      const long long first = std::stoll(places), step = std::stoll(places.substr(sign));
      for (int lane = 0; lane < 32; ++lane) p.place[lane] = static_cast<size_t>(first + step * lane);
    } else {
      std::istringstream list(places);
      std::string one;
      for (int lane = 0; lane < 32 && std::getline(list, one, ','); ++lane) p.place[lane] = one.empty() ? 0 : std::stoull(one);
    }
    cudaMemcpyToSymbol(pattern, &p, sizeof p);
    if (width == 1) launch<unsigned char>(op, memory, out);
    if (width == 2) launch<unsigned short>(op, memory, out);
    if (width == 4) launch<unsigned>(op, memory, out);
    if (width == 8) launch<uint2>(op, memory, out);
    if (width == 16) launch<uint4>(op, memory, out);
    ++launches;
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%d launches: %s\n", launches, cudaGetErrorString(error));
  cudaFree(memory), cudaFree(out);
  return error == cudaSuccess ? 0 : 1;
}
