// Libraries that the simulator lacks: a header alone fails no program, and a name is refused with its line.
#include <fstream>
#include <string>
#include <utility>

#include "catch.hpp"
#include "workplace.hpp"

TEST_CASE("Headers of libraries that the simulator lacks may be included", "[silent]") {
  const std::string program = R"(#include <cublasLt.h>
#include <cublasXt.h>
#include <cublas_v2.h>
#include <cudaEGL.h>
#include <cuda.h>
#include <cuda_gl_interop.h>
#include <cudnn.h>
#include <cufft.h>
#include <cufftXt.h>
#include <curand_kernel.h>
#include <cusolverDn.h>
#include <nccl.h>
#include <nvrtc.h>

#include <cstdio>
inline __host__ __device__ float lerp(float a, float b, float t) { return a + t * (b - a); }  // as helper_math.h has it
__global__ void k(float* p) { *p = lerp(1.0f, 2.0f, 0.5f); }
int main() {
  cudaDeviceProp prop;
  cudaGetDeviceProperties(&prop, 0);
  const half h = __float2half(2);  // by cublas_v2.h
  std::printf("%d %d %g\n", prop.maxTexture2DLayered[2], prop.maxSurface3D[1], __half2float(h));
}
)";
  for (const std::string& compiler : compilers()) {
    prints("2048 16384 2\n", program, "--cxx=" + compiler);
    prints("2048 16384 2\n", program, "-std=c++17 --cxx=" + compiler);
  }
}

TEST_CASE("Programs that can do without NVML see that it's missing", "[silent]") {
  prints("without\n", R"(#if __has_include(<nvml.h>)
#include <nvml.h>
#endif
#include <cstdio>
int main() { std::puts("without"); }
)");
}

TEST_CASE("What a program uses of them is refused by name", "[silent]") {
  const std::pair<std::string, std::string> cases[] = {
      {"cuFFT on several GPUs (cufftXtSetGPUs)",
       "#include <cufftXt.h>\nint main() { cufftXtSetGPUs(0, 1, nullptr); }\n"},
      {"cuSOLVER (CUSOLVER_STATUS_SUCCESS)",
       "#include <cusolverDn.h>\nint x = CUSOLVER_STATUS_SUCCESS;\nint main() {}\n"},
      {"cuDNN (cudnnHandle_t)", "#include <cudnn.h>\ncudnnHandle_t h;\nint main() {}\n"},
      {"graphics interoperability (CUeglStreamConnection)",
       "#include <cudaEGL.h>\nCUeglStreamConnection c;\nint main() {}\n"},
      {"NVRTC (nvrtcProgram)", "#include <nvrtc.h>\nnvrtcProgram p;\nint main() {}\n"},
      {"the CUDA driver API (CUdevice)", "#include <cuda.h>\nCUdevice d;\nint main() {}\n"},
      {"graphics interoperability (cudaGraphicsResource)",
       "#include <cuda_gl_interop.h>\ncudaGraphicsResource* r;\nint main() {}\n"},
  };
  for (const auto& [name, source] : cases)
    refuses("program.cu:2: error: the simulator does not support " + name + ": ", source);
}

TEST_CASE("Names of CUDA's that the compiler doesn't know are named again, in plain C++, too, and slips are not",
          "[silent]") {
  const Workplace workplace;
  const std::string cuda = workplace.write(R"(#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k() { __shared__ cg::cluster_group cluster; }
int main() {
  cudaMaloc(nullptr, 4);
  return of_my_own();
}
)");
  const std::string plain = workplace.path("plain.cpp");
  std::ofstream(plain) << "#include <cuda_runtime.h>\n#include <cuda.h>\nint main() {\n  CUdevice device;\n}\n";
  for (const std::string& compiler : compilers()) {
    const Outcome first = workplace.compile(cuda, "--cxx=" + compiler),
                  second = workplace.compile(plain, "--cxx=" + compiler);
    INFO(first.text << second.text);
    CHECK(first.status == 1);
    CHECK(first.text.find("program.cu:3: error: the simulator does not support cluster_group") != std::string::npos);
    CHECK(first.text.find("support cudaMaloc") == std::string::npos);
    CHECK(first.text.find("support of_my_own") == std::string::npos);
    CHECK(second.status == 1);
    CHECK(second.text.find("plain.cpp:4: error: the simulator does not support CUdevice") != std::string::npos);
  }
}

TEST_CASE("Fragments that tensor cores have and the simulator lacks are refused by name", "[silent]") {
  refuses("the Tilewise simulator has wmma fragments of 16x16x16", R"(#include <mma.h>
__global__ void k() { nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 8, 8, 32, int> sums; }
int main() {}
)");
}

TEST_CASE("Plain C++ of before C++20 may have a lerp() of its own, too", "[silent]") {
  const Workplace workplace;
  const std::string plain = workplace.path("plain.cpp");
  std::ofstream(plain) << "#include <math.h>\n#include <cuda_runtime.h>\n"
                          "inline float lerp(float a, float b, float t) { return a + t * (b - a); }\n"
                          "int main() { return lerp(0.0f, 2.0f, 0.5f) == 1 ? 0 : 1; }\n";
  for (const std::string& compiler : compilers()) {
    const Outcome outcome = workplace.compile(plain, "-std=c++17 --cxx=" + compiler);
    INFO(outcome.text);
    CHECK(outcome.status == 0);
    CHECK(workplace.run_app().status == 0);
  }
}

TEST_CASE("Marks for a profiler do nothing", "[silent]") {
  prints("right\n", R"(#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <cstdio>
int main() {
  nvtxNameCudaStreamA(nullptr, "copies");
  nvtxRangePush("work");
  std::puts(nvtxRangePop() == 0 ? "right" : "wrong");
}
)");
}

TEST_CASE("A toolkit's header that the simulator does not have is named", "[silent]") {
  const Workplace workplace;
  const std::string folder = workplace.path("usr");
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/cuda_of_tomorrow.h") << "#include \"vector_types.h\"\n";
  std::ofstream(folder + "/vector_types.h") << "struct char1 { signed char x; };\n";
  const Outcome outcome = workplace.compile(workplace.write("#include <cuda_of_tomorrow.h>\nint main() {}\n"),
                                            "-idirafter '" + folder + "'");
  INFO(outcome.text);
  CHECK(outcome.status == 1);
  CHECK(outcome.text.find("simcc: <cuda_of_tomorrow.h> is not supported by the simulator") != std::string::npos);
  CHECK(outcome.text.find("redefinition") == std::string::npos);
}
