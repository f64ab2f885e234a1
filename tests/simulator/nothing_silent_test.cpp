// What a GPU, or nvcc, does otherwise than a CPU: the simulator does it too, or says that it can't.
#include <string>

#include "catch.hpp"
#include "workplace.hpp"

namespace {

const std::string kMain = R"(
int main() {
  int *device, host[8] = {};
  cudaMalloc(&device, sizeof host);
  cudaMemset(device, 0, sizeof host);
  k<<<1, 1>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  for (int i : host) std::printf("%d ", i);
  cudaFree(device);
}
)";

const std::string kArchitecture = R"(#include <cstdio>
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
__device__ double atomicAdd(double* address, double value) { return 0; }
#endif
#ifdef __CUDA_ARCH__
__device__ int only_device() { return 5; }
#define WHERE 1
#else
int only_host() { return 6; }
#define WHERE 2
#endif
struct S {
  __host__ __device__ constexpr int where() const {
#ifdef __CUDA_ARCH__
    return __CUDA_ARCH__;
#else
    return 0;
#endif
  }
};
constexpr int unmarked() {
#ifdef __CUDA_ARCH__
  return 3;
#else
  return 4;
#endif
}
__host__ __device__ int both() { return WHERE; }
__global__ void k(int* p) {
#if __CUDA_ARCH__ >= 700
  p[0] = 7;
  p[1] = both();
  p[2] = S{}.where();
  p[3] = unmarked();
  p[4] = only_device();
  p[5] = __LINE__;
#endif
  auto lambda = [=] __device__ () {
#ifdef __CUDA_ARCH__
    p[6] = 11;
#endif
  };
  lambda();
}
constexpr int kHost = S{}.where();
int says() {
#ifdef __CUDA_ARCH__
  std::printf("wrong\n");
#endif
  std::printf("%d %d %d %d %d: ", both(), S{}.where(), kHost, unmarked(), __LINE__);
  return 0;
}
const int kSaid = says();
)" + kMain;

}  // namespace

TEST_CASE("Device code sees __CUDA_ARCH__, host code does not", "[silent]") {
  for (const std::string& compiler : compilers()) {
    prints("2 0 0 4 50: 7 1 900 3 5 36 11 0 ", kArchitecture, "--cxx=" + compiler);
    prints("2 0 0 4 50: 7 1 860 3 5 36 11 0 ", kArchitecture,
           "-gencode arch=compute_75,code=sm_75 -gencode=arch=compute_86,code=[sm_86,compute_86] --cxx=" + compiler);
  }
  prints("2 0 0 4 50: 7 1 750 3 5 36 11 0 ", kArchitecture, "-arch=sm_75");
}

TEST_CASE("What __CUDA_ARCH__ changes outside of functions' bodies is refused where it clashes", "[silent]") {
  refuses(
      "program.cu:6: error: the simulator does not support a declaration that __CUDA_ARCH__ makes another one in host",
      R"(
#ifndef __CUDA_ARCH__
float root(float x) { return x; }
#else
// For the device.
__device__ float root(float x) { return 2 * x; }
#endif
int main() {}
)");
  refuses("program.cu:4: error: the simulator does not support __CUDA_ARCH__ inside of a declaration", R"(
__device__ int f(int x
#ifdef __CUDA_ARCH__
                 , int y
#endif
) { return x; }
int main() {}
)");
  refuses("program.cu:3: error: this kernel is left out of device code by __CUDA_ARCH__", R"(
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 300
__global__ void k() {}
#endif
int main() { k<<<1, 1>>>(); }
)");
}
