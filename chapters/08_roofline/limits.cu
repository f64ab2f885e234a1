// What limits arithmetic where waiting does not? Two questions that the tables of this chapter
// leave open, on a GPU:
//   nvcc -std=c++20 -O3 -arch=native limits.cu -o limits && ./limits
// 1. One chain of multiply-adds per thread stops at half the peak. The same chain with fewer
//   registers to read.
// 2. fma_per_element is farthest from the roof near its corner. The same instructions without DRAM.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                      \
  do {                                                                   \
    if (const cudaError_t error = (call); error != cudaSuccess) {        \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                   cudaGetErrorString(error));                           \
      std::exit(1);                                                      \
    }                                                                    \
  } while (0)

/// What a multiply-add reads: a, x and b from three registers; a number, x and b; x, x and x.
enum class Operands { three_registers, number_and_two, one_register };

template <Operands OPERANDS, int CHAINS>
__global__ void chains(float a, float b, unsigned steps, float* out) {
  float x[CHAINS];
  for (int c = 0; c < CHAINS; ++c) x[c] = 1e-3f * (threadIdx.x + c);
#pragma unroll 32
  for (unsigned i = 0; i < steps; ++i) {
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) {  // asm, so that the compiler changes nothing
      if (OPERANDS == Operands::three_registers)
        asm volatile("fma.rn.f32 %0, %1, %0, %2;" : "+f"(x[c]) : "f"(a), "f"(b));
      if (OPERANDS == Operands::number_and_two)
        asm volatile("fma.rn.f32 %0, %0, 0f3F7FF000, %1;" : "+f"(x[c]) : "f"(b));
      if (OPERANDS == Operands::one_register)
        asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x[c]));
    }
  }
  float sum = 0;
  for (int c = 0; c < CHAINS; ++c) sum += x[c];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/// fma_per_element() for four elements per thread. All happens within `room` elements, a power of
/// two: with little of it all is in L2.
__global__ void __launch_bounds__(256)
    per_element(const float4* __restrict__ in, float4* __restrict__ out, size_t room, unsigned fmas,
                float a, float b) {
  const size_t at = (static_cast<size_t>(blockIdx.x) * 256 + threadIdx.x) & (room - 1);
  float4 x = in[at];
#pragma unroll 16
  for (unsigned i = 0; i < fmas; ++i) {
    x.x = fmaf(a, x.x, b), x.y = fmaf(a, x.y, b), x.z = fmaf(a, x.z, b), x.w = fmaf(a, x.w, b);
  }
  out[at] = x;
}

template <class Launch>
float median_ms(Launch launch) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (int i = 0; i < 18; ++i) {
    CHECK(cudaEventRecord(begin));
    launch();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (i >= 3) times.push_back(ms);
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

int sms, clock_khz;

template <Operands OPERANDS, int CHAINS>
void row(const char* what, float* out) {
  std::printf("%-40s", what);
  for (const int warps : {4, 8, 16, 32, 64}) {
    const int threads = std::min(32 * warps, 1024), blocks = sms * (32 * warps / threads);
    const unsigned steps = (1u << 22) / warps / CHAINS;
    const double ms = median_ms(
        [&] { chains<OPERANDS, CHAINS><<<blocks, threads>>>(0.999f, 1e-3f, steps, out); });
    std::printf(" %7.2f", static_cast<double>(warps) * steps * CHAINS / (ms * clock_khz));
  }
  std::printf("\n");
}

int main() {
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
  constexpr size_t kElements = size_t{1} << 24;  // of 16 bytes: 256 MiB in, 256 MiB out
  float4* memory;
  CHECK(cudaMalloc(&memory, 2 * kElements * sizeof(float4)));
  CHECK(cudaMemset(memory, 0, 2 * kElements * sizeof(float4)));
  float* const words = reinterpret_cast<float*>(memory);

  std::printf("multiply-adds of a warp per clock and SM; warps per SM: %7d %7d %7d %7d %7d\n", 4, 8,
              16, 32, 64);
  row<Operands::three_registers, 1>("1 chain, a x + b: three registers", words);
  row<Operands::number_and_two, 1>("1 chain, 0.99 x + b: two registers", words);
  row<Operands::one_register, 1>("1 chain, x x + x: one register", words);
  row<Operands::three_registers, 2>("2 chains, a x + b", words);
  row<Operands::three_registers, 4>("4 chains, a x + b", words);

  std::printf("\nmultiply-adds per element    time, ms    the same within 1 MB\n");
  for (const unsigned fmas : {1u, 16u, 32u, 64u, 128u, 256u, 512u}) {
    const auto run = [&](size_t room) {
      return median_ms([&] {
        per_element<<<kElements / 256, 256>>>(memory, memory + kElements, room, fmas, -0.9995f,
                                              0.75f);
      });
    };
    std::printf("%25u  %10.4f  %22.4f\n", fmas, run(kElements), run(65536));
  }
  CHECK(cudaFree(memory));
  return 0;
}
