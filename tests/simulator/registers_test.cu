// Registers limit what an SM can hold: occupancy from a kernel's own resources, and blocks that are too large for its
// registers. Holds on a GPU and on the simulator, which has the registers from base/registers.inc; the error and the
// largest blocks were read on an H200 with CUDA 13.0.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "../../chapters/01_naive_matmul/naive_matmul.cuh"
#include "../../chapters/02_tiled_matmul/tiled_matmul.cuh"
#include "catch.hpp"
#include "expected_findings.hpp"
#include "registers/kernels.cuh"
#ifdef TILEWISE_SIMULATOR
#include <tilewise_sim/report.hpp>
#endif

namespace {

using registers_test::hold_words;

#ifdef TILEWISE_SIMULATOR
}  // namespace

/// A recorded signature in a file that is not the recorded one: some other kernel.
template <>
__global__ void registers_test::hold_words<60>(float* out, const float*, int) {
  out[threadIdx.x] = 0;
}

namespace {
#endif

__device__ float reversed(float x) {
  __shared__ float part[40];
  part[threadIdx.x] = x;
  __syncthreads();
  return part[31 - threadIdx.x];
}
/// 64 bytes of its own, and 160 of a function that it calls.
__global__ void share_in_two_functions(float* out) {
  __shared__ double own[8];
  own[threadIdx.x % 8] = 1;
  __syncthreads();
  out[threadIdx.x] = reversed(static_cast<float>(own[threadIdx.x % 8]));
}
template <int n>
__global__ void share_by_template(float* out) {
  __shared__ float square[n][n], row[n];
  row[threadIdx.x % n] = square[threadIdx.x % n][0] = 1;
  __syncthreads();
  out[threadIdx.x] = row[0] + square[n - 1][0];
}
__shared__ int of_file[10];
__global__ void share_of_file(float* out) {
  of_file[threadIdx.x % 10] = 1;
  __syncthreads();
  out[threadIdx.x] = static_cast<float>(of_file[9]);
}

/// Not recorded: the simulator cannot know its registers.
__global__ void nobody_recorded_this(int* out) { out[0] = 1; }

cudaDeviceProp properties() {
  cudaDeviceProp prop{};
  REQUIRE(cudaGetDeviceProperties(&prop, 0) == cudaSuccess);
  return prop;
}

template <class Kernel>
cudaFuncAttributes attributes(Kernel kernel) {
  cudaFuncAttributes a{};
  REQUIRE(cudaFuncGetAttributes(&a, kernel) == cudaSuccess);
  return a;
}

/// Registers are recorded from sm_75 on; on a GPU the driver always knows them.
bool has_record() {
  const cudaDeviceProp prop = properties();
  return 10 * prop.major + prop.minor >= 75;
}

std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }

/// Warps whose registers an SM has: four schedulers with a quarter each, given out in portions of 256.
int warps_with_registers(const cudaDeviceProp& prop, int registers) {
  const int per_warp = static_cast<int>(round_up(std::size_t(registers) * 32, 256));
  return prop.regsPerMultiprocessor / 4 / per_warp * 4;
}

/// Blocks per SM by the rules of the CUDA C++ Programming Guide and NVIDIA's occupancy calculator.
int expected_blocks(const cudaDeviceProp& prop, const cudaFuncAttributes& a, int threads, std::size_t dynamic) {
  if (threads > a.maxThreadsPerBlock || dynamic > std::size_t(a.maxDynamicSharedSizeBytes)) return 0;
  const int warps = (threads + 31) / 32;
  int blocks = std::min(prop.maxBlocksPerMultiProcessor, prop.maxThreadsPerMultiProcessor / 32 / warps);
  if (a.numRegs > 0) blocks = std::min(blocks, warps_with_registers(prop, a.numRegs) / warps);
  const std::size_t granule = prop.major >= 8 ? 128 : 256;
  const std::size_t shared = round_up(a.sharedSizeBytes + dynamic + prop.reservedSharedMemPerBlock, granule);
  if (shared > 0) blocks = std::min(blocks, static_cast<int>(prop.sharedMemPerMultiprocessor / shared));
  return blocks;
}

template <class Kernel>
void check_occupancy(Kernel kernel) {
  const cudaDeviceProp prop = properties();
  const cudaFuncAttributes a = attributes(kernel);
  if (has_record()) CHECK(a.numRegs > 0);
  for (int threads = 1; threads <= 1056; threads += threads == 1 ? 15 : 16) {
    for (const std::size_t dynamic : {0, 100, 2048, 8192, 40000}) {
      CAPTURE(a.numRegs, a.sharedSizeBytes, threads, dynamic);
      int blocks = -1;
      REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, dynamic) == cudaSuccess);
      CHECK(blocks == expected_blocks(prop, a, threads, dynamic));
    }
  }
}

}  // namespace

TEST_CASE("occupancy follows from a kernel's registers, shared memory and threads", "[registers]") {
  check_occupancy(naive_matmul);
  check_occupancy(naive_matmul_row_on_x);
  check_occupancy(tiled_matmul<8>);
  check_occupancy(tiled_matmul<16>);
  check_occupancy(tiled_matmul<32>);
  check_occupancy(tiled_matmul_dynamic);
  check_occupancy(hold_words<150>);
  check_occupancy(hold_words<220>);
}

TEST_CASE("static shared memory is an attribute before the first launch", "[registers]") {
  CHECK(attributes(tiled_matmul<16>).sharedSizeBytes == 2 * 16 * 16 * sizeof(float));
  CHECK(attributes(tiled_matmul<32>).sharedSizeBytes == 2 * 32 * 32 * sizeof(float));
  CHECK(attributes(tiled_matmul_dynamic).sharedSizeBytes == 0);
  // Kernels that are not recorded.
  CHECK(attributes(share_in_two_functions).sharedSizeBytes == 8 * sizeof(double) + 40 * sizeof(float));
  CHECK(attributes(share_by_template<16>).sharedSizeBytes == (16 * 16 + 16) * sizeof(float));
  CHECK(attributes(share_by_template<8>).sharedSizeBytes == (8 * 8 + 8) * sizeof(float));
  // nvcc rounds this one up to a multiple of 16: a variable of a file, in a namespace without a name.
  CHECK(attributes(share_of_file).sharedSizeBytes >= 10 * sizeof(int));
  CHECK(attributes(share_of_file).sharedSizeBytes <= 12 * sizeof(int));
  CHECK(attributes(nobody_recorded_this).sharedSizeBytes == 0);
}

namespace {

/// Launches the kernel with the largest block that its registers allow, and with one warp more.
template <class Kernel>
void check_largest_block(Kernel kernel) {
  const int largest = attributes(kernel).maxThreadsPerBlock;
  CAPTURE(largest, attributes(kernel).numRegs);
  CHECK(largest == 32 * warps_with_registers(properties(), attributes(kernel).numRegs));
  REQUIRE(largest < 1024);

  float *in = nullptr, *out = nullptr;
  REQUIRE(cudaMalloc(&in, 32 * 220 * sizeof(float)) == cudaSuccess);
  REQUIRE(cudaMemset(in, 0, 32 * 220 * sizeof(float)) == cudaSuccess);
  REQUIRE(cudaMalloc(&out, 1024 * sizeof(float)) == cudaSuccess);
  kernel<<<1, largest>>>(out, in, 1);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  float last = 0;
  CHECK(cudaMemcpy(&last, out + largest - 1, sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(last > 0);

  REQUIRE(cudaMemset(out, 0, 1024 * sizeof(float)) == cudaSuccess);
  for (const int threads : {largest + 1, largest + 32, 1024}) {
    kernel<<<1, threads>>>(out, in, 1);
    CHECK(cudaGetLastError() == cudaErrorLaunchOutOfResources);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);  // never sticky
  }
  CHECK(cudaMemcpy(&last, out, sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(last == 0);  // nothing ran

  int grid = 0, block = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel, 0, 0) == cudaSuccess);
  CHECK(block <= largest);
  CHECK(block > 0);
  CHECK(cudaFree(in) == cudaSuccess);
  CHECK(cudaFree(out) == cudaSuccess);
}

}  // namespace

TEST_CASE("a block that needs more registers than an SM has does not run", "[registers]") {
  if (!has_record()) return;  // nothing to go by
  check_largest_block(hold_words<150>);
  check_largest_block(hold_words<220>);
}

#ifdef TILEWISE_SIMULATOR

namespace {

/// Registers of a kernel (or bytes of local memory) in the record's column for the device; the file is read here as text.
int recorded(const std::string& signature, bool local = false) {
  std::ifstream file(TILEWISE_SOURCE_DIR "/common/simulator/base/registers.inc");
  REQUIRE(file);
  const cudaDeviceProp prop = properties();
  std::size_t column = 0, columns = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.find("kArchitectures[] = {") != std::string::npos) {
      const char* at = line.c_str() + line.find('{') + 1;
      for (char* end = nullptr; *at != '\0'; at = end + 1) {
        const long architecture = std::strtol(at, &end, 10);
        if (end == at) break;
        ++columns;
        if (architecture <= 10 * prop.major + prop.minor) column = columns;
      }
    }
    if (line.find("\"" + signature + "\"") == std::string::npos) continue;
    if (column == 0) return 0;
    const std::size_t last = line.rfind('{');
    const char* at = line.c_str() + (local ? last : line.rfind('{', last - 1)) + 1;
    for (std::size_t i = 1;; ++i) {
      char* end = nullptr;
      const long registers = std::strtol(at, &end, 10);
      if (i == column) return static_cast<int>(registers);
      at = end + 1;
    }
  }
  FAIL("not recorded: " << signature);
  return 0;
}

}  // namespace

TEST_CASE("the simulator's registers are the recorded ones", "[registers]") {
  const std::string parameters = "(float const*, float const*, float*, int, int, int)";
  CHECK(attributes(naive_matmul).numRegs == recorded("naive_matmul" + parameters));
  CHECK(attributes(naive_matmul).localSizeBytes ==
        static_cast<std::size_t>(recorded("naive_matmul" + parameters, true)));
  CHECK(attributes(tiled_matmul<4>).numRegs == recorded("void tiled_matmul<4>" + parameters));
  CHECK(attributes(tiled_matmul<32>).numRegs == recorded("void tiled_matmul<32>" + parameters));
  CHECK(attributes(hold_words<220>).numRegs ==
        recorded("void registers_test::hold_words<220>(float*, float const*, int)"));
}

TEST_CASE("registers that the simulator doesn't know limit nothing", "[registers]") {
  const auto known = [](auto* kernel) { return tilewise::sim::knows_registers(reinterpret_cast<const void*>(kernel)); };
  CHECK(known(tiled_matmul<4>));
  CHECK_FALSE(known(nobody_recorded_this));
  CHECK_FALSE(known(tiled_matmul<5>));  // an instance that no recorded program has
  CHECK_FALSE(known(hold_words<60>));
  // What programs compute themselves agrees with the occupancy calls.
  const int registers = attributes(nobody_recorded_this).numRegs;
  REQUIRE(registers > 0);
  CHECK(properties().regsPerMultiprocessor / registers >= properties().maxThreadsPerMultiProcessor);
  CHECK(properties().regsPerBlock / registers >= properties().maxThreadsPerBlock);
  CHECK(attributes(nobody_recorded_this).maxThreadsPerBlock == 1024);
  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nobody_recorded_this, 1024, 0) == cudaSuccess);
  CHECK(blocks == properties().maxThreadsPerMultiProcessor / 1024);
}

#endif  // TILEWISE_SIMULATOR
