// Loads of 16 bytes from shared memory by one warp, one launch for each line of shared_16_bytes.txt. What a GPU counts:
//   nvcc -arch=native -o patterns shared_16_bytes.cu
//   ncu --metrics smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum ./patterns shared_16_bytes.txt
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

struct Pattern {
  unsigned mask = 0;
  unsigned char place[32] = {};  // of each lane's float4
};

__global__ void load(Pattern pattern, float4* out) {
  __shared__ float4 s[64];
  const unsigned lane = threadIdx.x, place = pattern.place[lane];
  s[lane] = s[lane + 32] = make_float4(lane, 1, 2, 3);
  __syncwarp();
  if (pattern.mask >> lane & 1) out[lane] = s[place];
}

int main(int argc, char** argv) {
  const char* letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::ifstream file(argc == 2 ? argv[1] : "shared_16_bytes.txt");
  float4* out = nullptr;
  if (!file || cudaMalloc(&out, 32 * sizeof(float4)) != cudaSuccess) {
    std::fprintf(stderr, "usage: patterns shared_16_bytes.txt, on a machine with a GPU\n");
    return 2;
  }
  int launches = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string mask, wavefronts, places;
    words >> mask >> wavefronts >> places;
    Pattern pattern;
    pattern.mask = static_cast<unsigned>(std::stoul(mask, nullptr, 16));
    for (std::size_t lane = 0; lane < 32 && lane < places.size(); ++lane)
      if (const char* letter = std::strchr(letters, places[lane])) pattern.place[lane] = static_cast<unsigned char>(letter - letters);
    load<<<1, 32>>>(pattern, out);
    ++launches;
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%d launches: %s\n", launches, cudaGetErrorString(error));
  cudaFree(out);
  return error == cudaSuccess ? 0 : 1;
}
