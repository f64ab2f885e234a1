// The host side of the runtime API: what calls do, and which error they give. Holds on a GPU and on the simulator.
// Error codes were read on an H200 with CUDA 13.0.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "catch.hpp"
#include "expected_findings.hpp"

namespace {

__device__ int device_numbers[4] = {1, 2, 3, 4};
__constant__ float constant_numbers[8] = {0.5f, 1.5f};
__managed__ int managed_number = 7;
int not_a_symbol = 0;

__global__ void add_to_numbers(int* out, int count) {
  const int i = threadIdx.x;
  if (i < count) out[i] = device_numbers[i] + static_cast<int>(2 * constant_numbers[i]);
}

__global__ void double_managed(int* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= 2;
  if (i == 0) managed_number += 1;
}

__global__ void store(float* out, float value) { out[threadIdx.x] = value; }

/// The error that a call gives, taken back so that it does not reach the next check.
cudaError_t taken(cudaError_t error) {
  REQUIRE(cudaGetLastError() == error);
  return error;
}

constexpr auto kBadKind = static_cast<cudaMemcpyKind>(9);
constexpr std::size_t kTooMuch = std::size_t(1) << 50;

struct Buffers {
  static constexpr std::size_t kBytes = 4096;
  std::vector<char> pageable = std::vector<char>(2 * kBytes, 'x');
  char *device = nullptr, *other = nullptr, *pinned = nullptr, *managed = nullptr;

  Buffers() {
    REQUIRE(cudaMalloc(&device, kBytes) == cudaSuccess);
    REQUIRE(cudaMalloc(&other, kBytes) == cudaSuccess);
    REQUIRE(cudaMallocHost(&pinned, kBytes) == cudaSuccess);
    REQUIRE(cudaMallocManaged(&managed, kBytes) == cudaSuccess);
  }
  ~Buffers() {
    cudaFree(device);
    cudaFree(other);
    cudaFreeHost(pinned);
    cudaFree(managed);
  }
};

}  // namespace

TEST_CASE("errors have CUDA's names and texts", "[api]") {
  CHECK(std::string(cudaGetErrorName(cudaSuccess)) == "cudaSuccess");
  CHECK(std::string(cudaGetErrorString(cudaSuccess)) == "no error");
  CHECK(std::string(cudaGetErrorName(cudaErrorInvalidConfiguration)) == "cudaErrorInvalidConfiguration");
  CHECK(std::string(cudaGetErrorString(cudaErrorInvalidConfiguration)) == "invalid configuration argument");
  CHECK(std::string(cudaGetErrorString(cudaErrorMemoryAllocation)) == "out of memory");
  CHECK(std::string(cudaGetErrorString(cudaErrorIllegalAddress)) == "an illegal memory access was encountered");
  CHECK(std::string(cudaGetErrorString(cudaErrorLaunchFailure)) == "unspecified launch failure");
  CHECK(std::string(cudaGetErrorString(static_cast<cudaError_t>(12345))) == "unrecognized error code");
  CHECK(static_cast<int>(cudaErrorInvalidValue) == 1);
  CHECK(static_cast<int>(cudaErrorInvalidResourceHandle) == 400);
  CHECK(static_cast<int>(cudaErrorNotReady) == 600);
}

TEST_CASE("the last error stays until it is read", "[api]") {
  const ExpectedFindings expected;
  REQUIRE(cudaMalloc(static_cast<void**>(nullptr), 4) == cudaErrorInvalidValue);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);  // a success does not cover it
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("allocating", "[api]") {
  void* pointer = &pointer;
  CHECK(cudaMalloc(&pointer, 0) == cudaSuccess);
  CHECK(pointer == nullptr);
  pointer = &pointer;
  CHECK(cudaMallocHost(&pointer, 0) == cudaSuccess);
  CHECK(pointer == nullptr);
  CHECK(taken(cudaMalloc(static_cast<void**>(nullptr), 4)) == cudaErrorInvalidValue);
  CHECK(taken(cudaMalloc(&pointer, kTooMuch)) == cudaErrorMemoryAllocation);
  CHECK(taken(cudaMallocAsync(&pointer, kTooMuch, 0)) == cudaErrorMemoryAllocation);
  CHECK(taken(cudaHostAlloc(&pointer, 4, 0x80)) == cudaErrorInvalidValue);
  CHECK(taken(cudaMallocManaged(&pointer, 4, 0)) == cudaErrorInvalidValue);
  CHECK(taken(cudaMallocManaged(&pointer, 4, 5)) == cudaErrorInvalidValue);

  double *a = nullptr, *b = nullptr;
  REQUIRE(cudaMalloc(&a, 100) == cudaSuccess);
  REQUIRE(cudaMalloc(&b, 100) == cudaSuccess);
  CHECK(reinterpret_cast<std::uintptr_t>(a) % 256 == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(b) % 256 == 0);
  CHECK(a != b);
  CHECK(cudaFree(a) == cudaSuccess);
  CHECK(cudaFree(b) == cudaSuccess);
}

TEST_CASE("freeing", "[api]") {
  const ExpectedFindings expected;
  Buffers b;
  int local = 0;
  CHECK(cudaFree(nullptr) == cudaSuccess);
  CHECK(cudaFreeHost(nullptr) == cudaSuccess);
  CHECK(cudaFreeAsync(nullptr, 0) == cudaSuccess);
  CHECK(taken(cudaFree(b.device + 4)) == cudaErrorInvalidValue);
  CHECK(taken(cudaFree(&local)) == cudaErrorInvalidValue);
  CHECK(taken(cudaFree(b.pinned)) == cudaErrorInvalidValue);
  CHECK(taken(cudaFreeHost(b.device)) == cudaErrorInvalidValue);
  CHECK(taken(cudaFreeHost(b.managed)) == cudaErrorInvalidValue);
  CHECK(taken(cudaFreeHost(b.pinned + 4)) == cudaErrorInvalidValue);
  CHECK(taken(cudaFreeHost(&local)) == cudaErrorInvalidValue);

  char* twice = nullptr;
  REQUIRE(cudaMalloc(&twice, 64) == cudaSuccess);
  CHECK(cudaFree(twice) == cudaSuccess);
  CHECK(taken(cudaFree(twice)) == cudaErrorInvalidValue);
}

TEST_CASE("stream-ordered allocations", "[api]") {
  const ExpectedFindings expected;
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  int* p = nullptr;
  REQUIRE(cudaMallocAsync(&p, 400, stream) == cudaSuccess);
  CHECK(cudaMemsetAsync(p, 0x01, 400, stream) == cudaSuccess);
  int value = 0;
  CHECK(cudaMemcpyAsync(&value, p + 99, sizeof(value), cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(value == 0x01010101);
  CHECK(cudaFreeAsync(p, stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(taken(cudaFreeAsync(p, stream)) == cudaErrorInvalidValue);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("cudaMemcpy checks the direction", "[api]") {
  const ExpectedFindings expected;
  Buffers b;
  char* host = b.pageable.data();
  char* host2 = host + 1000;
  struct Case {
    void* to;
    const void* from;
    cudaMemcpyKind kind;
    cudaError_t error;
  };
  const Case cases[] = {
      {host, host2, cudaMemcpyHostToHost, cudaSuccess},
      {host, host2, cudaMemcpyDefault, cudaSuccess},
      {host, host2, cudaMemcpyHostToDevice, cudaErrorInvalidValue},
      {host, host2, cudaMemcpyDeviceToHost, cudaErrorInvalidValue},
      {host, host2, cudaMemcpyDeviceToDevice, cudaErrorInvalidValue},
      {b.device, host, cudaMemcpyHostToDevice, cudaSuccess},
      {b.device, host, cudaMemcpyDefault, cudaSuccess},
      {b.device, host, cudaMemcpyDeviceToHost, cudaErrorInvalidValue},
      {b.device, host, cudaMemcpyDeviceToDevice, cudaErrorInvalidValue},
      {host, b.device, cudaMemcpyDeviceToHost, cudaSuccess},
      {host, b.device, cudaMemcpyHostToDevice, cudaErrorInvalidValue},
      {host, b.device, cudaMemcpyDeviceToDevice, cudaErrorInvalidValue},
      {b.device, b.other, cudaMemcpyDeviceToDevice, cudaSuccess},
      {b.device, b.pinned, cudaMemcpyHostToDevice, cudaSuccess},
      {b.device, b.pinned, cudaMemcpyDeviceToDevice, cudaSuccess},  // pinned memory has a device address
      {b.device, b.managed, cudaMemcpyHostToDevice, cudaSuccess},
      {b.managed, host, cudaMemcpyHostToDevice, cudaSuccess},
      {b.device, host, kBadKind, cudaErrorInvalidMemcpyDirection},
      {nullptr, host, cudaMemcpyHostToDevice, cudaErrorInvalidValue},
      {b.device, nullptr, cudaMemcpyHostToDevice, cudaErrorInvalidValue},
  };
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    INFO("case " << i);
    CHECK(taken(cudaMemcpy(cases[i].to, cases[i].from, 100, cases[i].kind)) == cases[i].error);
    CHECK(taken(cudaMemcpyAsync(cases[i].to, cases[i].from, 100, cases[i].kind)) == cases[i].error);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  }
  CHECK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice) == cudaSuccess);  // nothing to do, nothing wrong
  CHECK(cudaMemcpy(nullptr, nullptr, 0, kBadKind) == cudaSuccess);
}

TEST_CASE("copies and fills that run past an allocation are refused", "[api]") {
  const ExpectedFindings expected;
  constexpr std::size_t kFar = std::size_t(64) << 20;  // beyond any rounding of the allocator
  Buffers b;
  std::vector<char> host(kFar);
  CHECK(taken(cudaMemcpy(b.device, host.data(), kFar, cudaMemcpyHostToDevice)) == cudaErrorInvalidValue);
  CHECK(taken(cudaMemcpy(host.data(), b.device, kFar, cudaMemcpyDeviceToHost)) == cudaErrorInvalidValue);
  CHECK(taken(cudaMemset(b.device, 0, kFar)) == cudaErrorInvalidValue);
}

TEST_CASE("filling", "[api]") {
  const ExpectedFindings expected;
  Buffers b;
  CHECK(cudaMemset(b.device, 300, 16) == cudaSuccess);  // the low byte counts
  CHECK(cudaMemset(b.device + 5, 7, 3) == cudaSuccess);
  unsigned char host[16] = {};
  REQUIRE(cudaMemcpy(host, b.device, 16, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int i = 0; i < 16; ++i) CHECK(host[i] == (i >= 5 && i < 8 ? 7 : 44));
  CHECK(cudaMemset(b.pinned, 1, 16) == cudaSuccess);
  CHECK(cudaMemset(b.managed, 1, 16) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(b.pinned[15] == 1);
  CHECK(b.managed[15] == 1);
  CHECK(cudaMemset(nullptr, 1, 0) == cudaSuccess);
  CHECK(taken(cudaMemset(nullptr, 1, 16)) == cudaErrorInvalidValue);
  CHECK(taken(cudaMemset(b.pageable.data(), 1, 16)) == cudaErrorInvalidValue);
}

TEST_CASE("2D copies and fills keep to their pitches", "[api]") {
  const ExpectedFindings expected;
  constexpr std::size_t kWidth = 13, kHeight = 5, kHostPitch = 17;
  char* device = nullptr;
  std::size_t pitch = 0;
  REQUIRE(cudaMallocPitch(&device, &pitch, kWidth, kHeight) == cudaSuccess);
  CHECK(pitch >= kWidth);
  CHECK(pitch % 32 == 0);

  std::vector<char> in(kHostPitch * kHeight);
  std::iota(in.begin(), in.end(), char(1));
  REQUIRE(cudaMemset2D(device, pitch, 0, pitch, kHeight) == cudaSuccess);
  REQUIRE(cudaMemcpy2D(device, pitch, in.data(), kHostPitch, kWidth, kHeight, cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaMemset2D(device + 2, pitch, 99, 3, kHeight - 1) == cudaSuccess);  // columns 2, 3, 4; not the last row

  std::vector<char> out(pitch * kHeight, 'o');
  REQUIRE(cudaMemcpy2D(out.data(), pitch, device, pitch, pitch, kHeight, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (std::size_t row = 0; row < kHeight; ++row) {
    for (std::size_t column = 0; column < pitch; ++column) {
      char right = column < kWidth ? in[row * kHostPitch + column] : 0;
      if (column >= 2 && column < 5 && row < kHeight - 1) right = 99;
      if (out[row * pitch + column] != right) {
        CAPTURE(row, column);
        REQUIRE(out[row * pitch + column] == right);
      }
    }
  }
  std::vector<char> narrow(kWidth * kHeight, 'n');
  CHECK(cudaMemcpy2DAsync(narrow.data(), kWidth, device, pitch, kWidth, kHeight, cudaMemcpyDefault) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(narrow[kWidth] == in[kHostPitch]);

  const auto to_device = cudaMemcpyHostToDevice;
  CHECK(taken(cudaMemcpy2D(device, 10, in.data(), 20, 15, 2, to_device)) == cudaErrorInvalidPitchValue);
  CHECK(taken(cudaMemcpy2D(device, 20, in.data(), 10, 15, 2, to_device)) == cudaErrorInvalidPitchValue);
  CHECK(taken(cudaMemcpy2D(device, 20, in.data(), 20, 4, 2, kBadKind)) == cudaErrorInvalidMemcpyDirection);
  CHECK(taken(cudaMemcpy2D(device, 20, in.data(), 20, 4, 2, cudaMemcpyDeviceToHost)) == cudaErrorInvalidValue);
  CHECK(taken(cudaMemcpy2D(nullptr, 20, in.data(), 20, 4, 2, to_device)) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy2D(device, 20, in.data(), 20, 0, 4, to_device) == cudaSuccess);
  CHECK(cudaMemcpy2D(device, 20, in.data(), 20, 4, 0, to_device) == cudaSuccess);
  CHECK(taken(cudaMemset2D(device, 10, 0, 15, 2)) == cudaErrorInvalidValue);
  CHECK(cudaMemset2D(device, 10, 0, 12, 1) == cudaSuccess);  // one row needs no pitch
  CHECK(cudaFree(device) == cudaSuccess);

  void* none = &none;
  CHECK(cudaMallocPitch(&none, &pitch, 0, 10) == cudaSuccess);
  CHECK(none == nullptr);
  CHECK(taken(cudaMallocPitch(&none, nullptr, 10, 10)) == cudaErrorInvalidValue);

  // Sizes whose product, or whose next multiple of the pitch, is a small number again.
  constexpr std::size_t kMost = ~std::size_t{0};
  CHECK(taken(cudaMallocPitch(&none, &pitch, kMost - 7, 1)) != cudaSuccess);
#ifdef TILEWISE_SIMULATOR  // an H100 with CUDA 13.0 says that it has so much
  CHECK(taken(cudaMallocPitch(&none, &pitch, 512, (kMost >> 9) + 2)) != cudaSuccess);
#endif
  cudaPitchedPtr volume{};
  CHECK(taken(cudaMalloc3D(&volume, {kMost - 7, 1, 1})) != cudaSuccess);
  CHECK(taken(cudaMalloc3D(&volume, {512, std::size_t{1} << 30, (std::size_t{1} << 25) + 1})) != cudaSuccess);
}

// The simulator gives memory that is written whole, and by one call, other pages: what lies beside it must stay.
TEST_CASE("a large fill or copy changes its own bytes and no others", "[api]") {
  constexpr std::size_t kMegabyte = std::size_t{1} << 20, kAll = 10 * kMegabyte;
  constexpr std::size_t kFirst = 3 * kMegabyte - 100, kWidth = 4 * kMegabyte + 300;
  unsigned char* device = nullptr;
  REQUIRE(cudaMalloc(&device, kAll) == cudaSuccess);
  std::vector<unsigned char> host(kAll), from(kWidth, 3);
  const auto bytes_with = [&](int value) {
    REQUIRE(cudaMemcpy(host.data(), device, kAll, cudaMemcpyDeviceToHost) == cudaSuccess);
    const auto first = host.begin() + kFirst;
    return static_cast<std::size_t>(std::count(first, first + kWidth, value));
  };
  const auto ones = [&] { return static_cast<std::size_t>(std::count(host.begin(), host.end(), 1)); };
  for (std::size_t at = 0; at < kAll; at += kMegabyte) REQUIRE(cudaMemset(device + at, 1, kMegabyte) == cudaSuccess);
  REQUIRE(cudaMemset(device + kFirst, 2, kWidth) == cudaSuccess);
  CHECK(bytes_with(2) == kWidth);
  CHECK(ones() == kAll - kWidth);
  REQUIRE(cudaMemcpy(device + kFirst, from.data(), kWidth, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(bytes_with(3) == kWidth);
  CHECK(ones() == kAll - kWidth);
  CHECK(cudaFree(device) == cudaSuccess);
  REQUIRE(cudaMalloc(&device, kAll) == cudaSuccess);
  REQUIRE(cudaMemcpy(device + kFirst, from.data(), kWidth, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(bytes_with(3) == kWidth);
  CHECK(cudaFree(device) == cudaSuccess);
}

TEST_CASE("device variables are reached through their names", "[api]") {
  const ExpectedFindings expected;
  std::size_t bytes = 0;
  void* address = nullptr;
  CHECK(cudaGetSymbolSize(&bytes, device_numbers) == cudaSuccess);
  CHECK(bytes == sizeof(int[4]));
  CHECK(cudaGetSymbolSize(&bytes, constant_numbers) == cudaSuccess);
  CHECK(bytes == sizeof(float[8]));
  CHECK(cudaGetSymbolAddress(&address, device_numbers) == cudaSuccess);
  CHECK(taken(cudaGetSymbolAddress(&address, not_a_symbol)) == cudaErrorInvalidSymbol);
  CHECK(taken(cudaGetSymbolSize(&bytes, not_a_symbol)) == cudaErrorInvalidSymbol);
  CHECK(taken(cudaMemcpyToSymbol(not_a_symbol, &bytes, 4)) == cudaErrorInvalidSymbol);

  const int in[4] = {10, 20, 30, 40};
  int out[4] = {};
  CHECK(cudaMemcpyToSymbol(device_numbers, in, sizeof(in)) == cudaSuccess);
  CHECK(cudaMemcpyToSymbol(device_numbers, &in[0], sizeof(int), 2 * sizeof(int)) == cudaSuccess);
  CHECK(cudaMemcpyFromSymbol(out, device_numbers, sizeof(out)) == cudaSuccess);
  CHECK(std::vector<int>(out, out + 4) == std::vector<int>{10, 20, 10, 40});

  // The address is one of device memory, for every other call.
  REQUIRE(cudaGetSymbolAddress(&address, device_numbers) == cudaSuccess);
  CHECK(cudaMemset(address, 0, sizeof(int)) == cudaSuccess);
  CHECK(cudaMemcpy(out, address, sizeof(out), cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(std::vector<int>(out, out + 4) == std::vector<int>{0, 20, 10, 40});
  CHECK(taken(cudaFree(address)) == cudaErrorInvalidValue);

  CHECK(taken(cudaMemcpyToSymbol(device_numbers, in, 4, 16)) == cudaErrorInvalidValue);
  CHECK(taken(cudaMemcpyToSymbol(device_numbers, in, 20)) == cudaErrorInvalidValue);
  CHECK(taken(cudaMemcpyFromSymbol(out, device_numbers, 16, 4)) == cudaErrorInvalidValue);
  CHECK(taken(cudaMemcpyToSymbol(device_numbers, in, 16, 0, cudaMemcpyDeviceToHost)) ==
        cudaErrorInvalidMemcpyDirection);
  CHECK(taken(cudaMemcpyToSymbol(device_numbers, in, 16, 0, cudaMemcpyDeviceToDevice)) == cudaErrorInvalidValue);
  CHECK(taken(cudaMemcpyFromSymbol(out, device_numbers, 16, 0, cudaMemcpyHostToDevice)) ==
        cudaErrorInvalidMemcpyDirection);
  CHECK(cudaMemcpyToSymbol(device_numbers, in, 0) == cudaSuccess);
}

TEST_CASE("kernels see what was copied to symbols", "[api]") {
  const int numbers[4] = {100, 200, 300, 400};
  const float floats[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  REQUIRE(cudaMemcpyToSymbol(device_numbers, numbers, sizeof(numbers)) == cudaSuccess);
  REQUIRE(cudaMemcpyToSymbolAsync(constant_numbers, floats, sizeof(floats)) == cudaSuccess);
  int* out = nullptr;
  REQUIRE(cudaMalloc(&out, sizeof(numbers)) == cudaSuccess);
  add_to_numbers<<<1, 32>>>(out, 4);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  int got[4] = {};
  REQUIRE(cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(std::vector<int>(got, got + 4) == std::vector<int>{102, 204, 306, 408});
  CHECK(cudaFree(out) == cudaSuccess);
}

TEST_CASE("managed memory is the same on both sides", "[api]") {
  const ExpectedFindings expected;
  constexpr int kCount = 1000;
  int* values = nullptr;
  REQUIRE(cudaMallocManaged(&values, kCount * sizeof(int)) == cudaSuccess);
  std::iota(values, values + kCount, 0);
  const int before = managed_number;
  double_managed<<<8, 128>>>(values, kCount);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) wrong += values[i] != 2 * i;
  CHECK(wrong == 0);
  CHECK(managed_number == before + 1);

#if CUDART_VERSION >= 13000
  const cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
  const cudaMemLocation nowhere = {cudaMemLocationTypeDevice, 55};
  const auto prefetch = [](void* p, std::size_t n, cudaMemLocation to) { return cudaMemPrefetchAsync(p, n, to, 0); };
#else
  const int here = 0, nowhere = 55;
  const auto prefetch = [](void* p, std::size_t n, int to) { return cudaMemPrefetchAsync(p, n, to); };
#endif
  CHECK(prefetch(values, kCount * sizeof(int), here) == cudaSuccess);
  CHECK(cudaMemAdvise(values, kCount * sizeof(int), cudaMemAdviseSetReadMostly, here) == cudaSuccess);
  CHECK(taken(prefetch(values, kCount * sizeof(int), nowhere)) == cudaErrorInvalidDevice);
  CHECK(taken(prefetch(values, 0, here)) == cudaErrorInvalidValue);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(cudaFree(values) == cudaSuccess);
}

TEST_CASE("pinned and registered host memory", "[api]") {
  const ExpectedFindings expected;
  Buffers b;
  char* host = b.pageable.data();
  void* device = nullptr;
  unsigned flags = 0;
  CHECK(cudaHostRegister(host, b.pageable.size(), cudaHostRegisterDefault) == cudaSuccess);
  CHECK(taken(cudaHostRegister(host, b.pageable.size(), 0)) == cudaErrorHostMemoryAlreadyRegistered);
  CHECK(cudaHostGetDevicePointer(&device, host, 0) == cudaSuccess);
  CHECK(cudaMemset(device, 5, 10) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(host[9] == 5);
  CHECK(host[10] == 'x');
  CHECK(cudaHostUnregister(host) == cudaSuccess);
  CHECK(taken(cudaHostUnregister(host)) == cudaErrorHostMemoryNotRegistered);
  CHECK(taken(cudaHostUnregister(nullptr)) == cudaErrorInvalidValue);
  CHECK(taken(cudaHostRegister(nullptr, 10, 0)) == cudaErrorInvalidValue);
  CHECK(taken(cudaHostRegister(host, 0, 0)) == cudaErrorInvalidValue);
  CHECK(taken(cudaHostRegister(host, 10, 0x100)) == cudaErrorInvalidValue);
  CHECK(taken(cudaHostGetDevicePointer(&device, host, 0)) == cudaErrorInvalidValue);
  CHECK(taken(cudaHostGetDevicePointer(&device, b.device, 0)) == cudaErrorInvalidValue);
  CHECK(taken(cudaHostGetDevicePointer(&device, b.pinned, 1)) == cudaErrorInvalidValue);
  CHECK(cudaHostGetFlags(&flags, b.pinned) == cudaSuccess);
  CHECK((flags & cudaHostAllocMapped) != 0);
  CHECK(taken(cudaHostGetFlags(&flags, host)) == cudaErrorInvalidValue);

  // Kernels write pinned memory directly.
  auto* floats = reinterpret_cast<float*>(b.pinned);
  store<<<1, 8>>>(floats, 2.5f);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(std::count(floats, floats + 8, 2.5f) == 8);
}

TEST_CASE("pointers tell what they point to", "[api]") {
  Buffers b;
  cudaPointerAttributes a{};
  CHECK(cudaPointerGetAttributes(&a, b.device + 8) == cudaSuccess);
  CHECK(a.type == cudaMemoryTypeDevice);
  CHECK(a.device == 0);
  CHECK(a.devicePointer == b.device + 8);
  CHECK(a.hostPointer == nullptr);
  CHECK(cudaPointerGetAttributes(&a, b.pinned) == cudaSuccess);
  CHECK(a.type == cudaMemoryTypeHost);
  CHECK(a.hostPointer == b.pinned);
  CHECK(cudaPointerGetAttributes(&a, b.managed) == cudaSuccess);
  CHECK(a.type == cudaMemoryTypeManaged);
  CHECK(a.devicePointer == b.managed);
  CHECK(a.hostPointer == b.managed);
  CHECK(cudaPointerGetAttributes(&a, b.pageable.data()) == cudaSuccess);
  CHECK(a.type == cudaMemoryTypeUnregistered);
  CHECK(a.hostPointer == b.pageable.data());
  void* symbol = nullptr;
  REQUIRE(cudaGetSymbolAddress(&symbol, constant_numbers) == cudaSuccess);
  CHECK(cudaPointerGetAttributes(&a, symbol) == cudaSuccess);
  CHECK(a.type == cudaMemoryTypeDevice);
}

namespace {

struct FreeBytes {
  std::size_t before = 0, during = 0, after = 0, total = 0;
};

FreeBytes free_bytes_around(std::size_t allocated) {
  FreeBytes free;
  char* p = nullptr;
  REQUIRE(cudaMemGetInfo(&free.before, &free.total) == cudaSuccess);
  REQUIRE(cudaMalloc(&p, allocated) == cudaSuccess);
  REQUIRE(cudaMemGetInfo(&free.during, &free.total) == cudaSuccess);
  REQUIRE(cudaFree(p) == cudaSuccess);
  REQUIRE(cudaMemGetInfo(&free.after, &free.total) == cudaSuccess);
  return free;
}

// No difference is taken: where others have freed memory meanwhile it would be below 0, and that is a huge number here.
bool shrinks_and_grows(const FreeBytes& free, std::size_t allocated) {
  return free.before >= free.during + allocated && free.after >= free.during + allocated;
}

}  // namespace

TEST_CASE("free memory shrinks and grows", "[api]") {
  constexpr std::size_t kBytes = std::size_t(256) << 20;
  FreeBytes free = free_bytes_around(kBytes);
#if !defined(TILEWISE_SIMULATOR)
  // Other programs may take or free memory of the same GPU meanwhile; not each time.
  for (int again = 0; again < 20 && !shrinks_and_grows(free, kBytes); ++again) free = free_bytes_around(kBytes);
#endif
  INFO(free.before << " bytes free before, " << free.during << " during, " << free.after << " after");
  CHECK(free.before <= free.total);
  CHECK(shrinks_and_grows(free, kBytes));
#if defined(TILEWISE_SIMULATOR)
  // A program that takes nine tenths of it, and as much in host memory, is not to be ended for want of memory.
  std::ifstream file("/proc/meminfo");
  std::size_t available = 0;
  for (std::string word; file >> word;)
    if (word == "MemAvailable:") file >> available;
  CHECK((available == 0 || free.before <= available << 9));
#endif
}

TEST_CASE("streams", "[api]") {
  cudaStream_t stream = nullptr;
  unsigned flags = 77;
  int least = 77, greatest = 77, priority = 77;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  CHECK(cudaStreamGetFlags(stream, &flags) == cudaSuccess);
  CHECK(flags == cudaStreamNonBlocking);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(cudaStreamQuery(stream) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);

  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
  CHECK(greatest <= least);
  CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamDefault, greatest - 100) == cudaSuccess);  // clamped
  CHECK(cudaStreamGetPriority(stream, &priority) == cudaSuccess);
  CHECK(priority == greatest);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);

  CHECK(cudaStreamSynchronize(0) == cudaSuccess);
  CHECK(cudaStreamSynchronize(cudaStreamLegacy) == cudaSuccess);
  CHECK(cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess);
  CHECK(taken(cudaStreamCreate(nullptr)) == cudaErrorInvalidValue);
  CHECK(taken(cudaStreamCreateWithFlags(&stream, 7)) == cudaErrorInvalidValue);
  CHECK(taken(cudaStreamDestroy(0)) == cudaErrorInvalidResourceHandle);
}

TEST_CASE("host functions run in a stream", "[api]") {
  int calls = 0;
  const auto count = [](void* data) { ++*static_cast<int*>(data); };
  const auto count_too = [](cudaStream_t, cudaError_t status, void* data) {
    if (status == cudaSuccess) ++*static_cast<int*>(data);
  };
  CHECK(cudaLaunchHostFunc(0, count, &calls) == cudaSuccess);
  CHECK(cudaStreamAddCallback(0, count_too, &calls, 0) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(calls == 2);
  CHECK(taken(cudaLaunchHostFunc(0, nullptr, nullptr)) == cudaErrorInvalidValue);
  CHECK(taken(cudaStreamAddCallback(0, count_too, &calls, 1)) == cudaErrorInvalidValue);
}

TEST_CASE("events", "[api]") {
  cudaEvent_t a = nullptr, b = nullptr, untimed = nullptr;
  float ms = -1;
  REQUIRE(cudaEventCreate(&a) == cudaSuccess);
  REQUIRE(cudaEventCreateWithFlags(&b, cudaEventBlockingSync) == cudaSuccess);
  REQUIRE(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming) == cudaSuccess);
  CHECK(cudaEventQuery(a) == cudaSuccess);  // never recorded: nothing to wait for
  CHECK(cudaEventSynchronize(a) == cudaSuccess);
  CHECK(taken(cudaEventElapsedTime(&ms, a, b)) == cudaErrorInvalidResourceHandle);

  CHECK(cudaEventRecord(a) == cudaSuccess);
  CHECK(cudaEventRecord(b, 0) == cudaSuccess);
  CHECK(cudaEventRecord(untimed) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(0, a, 0) == cudaSuccess);
  CHECK(cudaEventSynchronize(b) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(cudaEventElapsedTime(&ms, a, b) == cudaSuccess);
  CHECK(ms >= 0);
  CHECK(ms < 10000);
  CHECK(taken(cudaEventElapsedTime(&ms, a, untimed)) == cudaErrorInvalidResourceHandle);
  CHECK(taken(cudaEventElapsedTime(nullptr, a, b)) == cudaErrorInvalidValue);
  CHECK(taken(cudaEventRecord(nullptr)) == cudaErrorInvalidResourceHandle);
  CHECK(taken(cudaEventSynchronize(nullptr)) == cudaErrorInvalidResourceHandle);
  CHECK(taken(cudaEventQuery(nullptr)) == cudaErrorInvalidResourceHandle);
  CHECK(taken(cudaEventDestroy(nullptr)) == cudaErrorInvalidResourceHandle);
  CHECK(taken(cudaStreamWaitEvent(0, nullptr, 0)) == cudaErrorInvalidResourceHandle);
  CHECK(taken(cudaStreamWaitEvent(0, a, 8)) == cudaErrorInvalidValue);
  CHECK(taken(cudaEventCreateWithFlags(&a, 0x40)) == cudaErrorInvalidValue);
  CHECK(taken(cudaEventCreate(static_cast<cudaEvent_t*>(nullptr))) == cudaErrorInvalidValue);
  CHECK(cudaEventDestroy(a) == cudaSuccess);
  CHECK(cudaEventDestroy(b) == cudaSuccess);
  CHECK(cudaEventDestroy(untimed) == cudaSuccess);
}

TEST_CASE("properties and attributes agree", "[api]") {
  int count = 0;
  REQUIRE(cudaGetDeviceCount(&count) == cudaSuccess);
  REQUIRE(count >= 1);
  cudaDeviceProp prop{};
  REQUIRE(cudaGetDeviceProperties(&prop, 0) == cudaSuccess);
  CHECK(std::strlen(prop.name) > 0);
  const std::pair<cudaDeviceAttr, std::size_t> pairs[] = {
      {cudaDevAttrMaxThreadsPerBlock, prop.maxThreadsPerBlock},
      {cudaDevAttrMaxBlockDimZ, prop.maxThreadsDim[2]},
      {cudaDevAttrMaxGridDimX, prop.maxGridSize[0]},
      {cudaDevAttrMaxSharedMemoryPerBlock, prop.sharedMemPerBlock},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, prop.sharedMemPerBlockOptin},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, prop.sharedMemPerMultiprocessor},
      {cudaDevAttrReservedSharedMemoryPerBlock, prop.reservedSharedMemPerBlock},
      {cudaDevAttrMaxRegistersPerBlock, prop.regsPerBlock},
      {cudaDevAttrWarpSize, prop.warpSize},
      {cudaDevAttrMultiProcessorCount, prop.multiProcessorCount},
      {cudaDevAttrMaxThreadsPerMultiProcessor, prop.maxThreadsPerMultiProcessor},
      {cudaDevAttrMaxBlocksPerMultiprocessor, prop.maxBlocksPerMultiProcessor},
      {cudaDevAttrL2CacheSize, prop.l2CacheSize},
      {cudaDevAttrGlobalMemoryBusWidth, prop.memoryBusWidth},
      {cudaDevAttrComputeCapabilityMajor, prop.major},
      {cudaDevAttrComputeCapabilityMinor, prop.minor},
      {cudaDevAttrConcurrentManagedAccess, prop.concurrentManagedAccess},
  };
  for (const auto& [attribute, expected] : pairs) {
    int value = -1;
    INFO("attribute " << static_cast<int>(attribute));
    CHECK(cudaDeviceGetAttribute(&value, attribute, 0) == cudaSuccess);
    CHECK(static_cast<std::size_t>(value) == expected);
  }
  CHECK(prop.warpSize == 32);
  CHECK(prop.maxThreadsPerBlock == 1024);
  CHECK(prop.maxThreadsPerMultiProcessor % 32 == 0);
  CHECK(prop.sharedMemPerBlock <= prop.sharedMemPerBlockOptin);
  CHECK(prop.sharedMemPerBlockOptin + prop.reservedSharedMemPerBlock <= prop.sharedMemPerMultiprocessor);
  int clock = 0, memory_clock = 0;  // gone from the properties in CUDA 13, still attributes
  CHECK(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0) == cudaSuccess);
  CHECK(cudaDeviceGetAttribute(&memory_clock, cudaDevAttrMemoryClockRate, 0) == cudaSuccess);
  CHECK(clock > 100000);
  CHECK(memory_clock > 100000);
}

TEST_CASE("A kernel has its mangled name", "[api]") {
  const char* name = nullptr;
  REQUIRE(cudaFuncGetName(&name, (const void*)double_managed) == cudaSuccess);
  CHECK(std::string(name).find("14double_managed") != std::string::npos);
  REQUIRE(cudaFuncGetName(&name, add_to_numbers) == cudaSuccess);
  CHECK(std::string(name).find("14add_to_numbers") != std::string::npos);
  CHECK(cudaFuncGetName(nullptr, add_to_numbers) == cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("device calls refuse nonsense", "[api]") {
  int value = 0;
  cudaDeviceProp prop{};
  CHECK(cudaGetDevice(&value) == cudaSuccess);
  CHECK(value == 0);
  CHECK(cudaSetDevice(0) == cudaSuccess);
  CHECK(taken(cudaSetDevice(99)) == cudaErrorInvalidDevice);
  CHECK(taken(cudaSetDevice(-1)) == cudaErrorInvalidDevice);
  CHECK(taken(cudaGetDeviceCount(nullptr)) == cudaErrorInvalidValue);
  CHECK(taken(cudaGetDevice(nullptr)) == cudaErrorInvalidValue);
  CHECK(taken(cudaGetDeviceProperties(&prop, 99)) == cudaErrorInvalidDevice);
  CHECK(taken(cudaGetDeviceProperties(nullptr, 0)) == cudaErrorInvalidValue);
  CHECK(taken(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0)) == cudaErrorInvalidValue);
  CHECK(taken(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99)) == cudaErrorInvalidDevice);
  CHECK(taken(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0)) == cudaErrorInvalidValue);
  CHECK(cudaDeviceCanAccessPeer(&value, 0, 0) == cudaSuccess);
  CHECK(value == 0);
  CHECK(taken(cudaDeviceCanAccessPeer(&value, 0, 99)) == cudaErrorInvalidDevice);
  CHECK(taken(cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(9))) == cudaErrorInvalidValue);
  CHECK(taken(cudaDeviceSetLimit(static_cast<cudaLimit>(77), 1)) == cudaErrorInvalidValue);
  CHECK(taken(cudaDriverGetVersion(nullptr)) == cudaErrorInvalidValue);
  CHECK(taken(cudaRuntimeGetVersion(nullptr)) == cudaErrorInvalidValue);

  std::size_t limit = 0;
  CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 21) == cudaSuccess);
  CHECK(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize) == cudaSuccess);
  CHECK(limit == 1 << 21);
  CHECK(taken(cudaDeviceGetLimit(nullptr, cudaLimitStackSize)) == cudaErrorInvalidValue);
  CHECK(cudaRuntimeGetVersion(&value) == cudaSuccess);
  CHECK(value >= 12000);
}

TEST_CASE("API: a stream's attributes are kept, and a launch may have some that only hint") {
  cudaStream_t stream, other;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cudaStreamCreate(&other) == cudaSuccess);
  float* x = nullptr;
  REQUIRE(cudaMalloc(&x, 4096) == cudaSuccess);
  cudaStreamAttrValue value{}, back{};
  value.accessPolicyWindow.base_ptr = x;
  value.accessPolicyWindow.num_bytes = 4096;
  value.accessPolicyWindow.hitRatio = 0.5f;
  value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  REQUIRE(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value) == cudaSuccess);
  REQUIRE(cudaStreamCopyAttributes(other, stream) == cudaSuccess);
  for (const cudaStream_t s : {stream, other}) {
    REQUIRE(cudaStreamGetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &back) == cudaSuccess);
    CHECK(back.accessPolicyWindow.base_ptr == x);
    CHECK(back.accessPolicyWindow.num_bytes == 4096);
    CHECK(back.accessPolicyWindow.hitProp == cudaAccessPropertyPersisting);
  }
  value.accessPolicyWindow.hitRatio = 2;
  CHECK(taken(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value)) == cudaErrorInvalidValue);
  CHECK(cudaCtxResetPersistingL2Cache() == cudaSuccess);

  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributePriority;
  attribute.val.priority = 0;
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = 32;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  REQUIRE(cudaLaunchKernelEx(&config, store, x, 7.0f) == cudaSuccess);
  float first = 0;
  REQUIRE(cudaMemcpyAsync(&first, x, sizeof first, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(first == 7);
  REQUIRE(cudaFree(x) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(other) == cudaSuccess);
}

TEST_CASE("API: memory comes from pools, of which there may be several") {
  cudaMemPool_t usual = nullptr, current = nullptr, own = nullptr;
  REQUIRE(cudaDeviceGetDefaultMemPool(&usual, 0) == cudaSuccess);
  REQUIRE(cudaDeviceGetMemPool(&current, 0) == cudaSuccess);
  CHECK(current == usual);
  unsigned long long threshold = 1 << 20, back = 0;
  REQUIRE(cudaMemPoolSetAttribute(usual, cudaMemPoolAttrReleaseThreshold, &threshold) == cudaSuccess);
  REQUIRE(cudaMemPoolGetAttribute(usual, cudaMemPoolAttrReleaseThreshold, &back) == cudaSuccess);
  CHECK(back == threshold);
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id = 0;
  REQUIRE(cudaMemPoolCreate(&own, &props) == cudaSuccess);
  cudaStream_t stream;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  float *x = nullptr, first = 0;
  REQUIRE(cudaMallocFromPoolAsync(&x, 32 * sizeof(float), own, stream) == cudaSuccess);
  store<<<1, 32, 0, stream>>>(x, 3.0f);
  REQUIRE(cudaMemcpyAsync(&first, x, sizeof first, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  REQUIRE(cudaFreeAsync(x, stream) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(first == 3);
  REQUIRE(cudaMemPoolTrimTo(own, 0) == cudaSuccess);
  threshold = 0;
  REQUIRE(cudaMemPoolSetAttribute(usual, cudaMemPoolAttrReleaseThreshold, &threshold) == cudaSuccess);
  REQUIRE(cudaMemPoolDestroy(own) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("API: a pool says how much of its memory is in use, and who may use it") {
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool;
  REQUIRE(cudaMemPoolCreate(&pool, &props) == cudaSuccess);
  const auto said = [&](cudaMemPoolAttr which) {
    unsigned long long value = 1;
    REQUIRE(cudaMemPoolGetAttribute(pool, which, &value) == cudaSuccess);
    return value;
  };
  constexpr std::size_t kBytes = 3 << 20;
  void *a = nullptr, *b = nullptr;
  unsigned long long zero = 0, much = 1ull << 40;
  REQUIRE(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &much) == cudaSuccess);
  CHECK(said(cudaMemPoolAttrUsedMemCurrent) == 0);
  CHECK(said(cudaMemPoolAttrReservedMemCurrent) == 0);
  REQUIRE(cudaMallocFromPoolAsync(&a, kBytes, pool, cudaStreamPerThread) == cudaSuccess);
  REQUIRE(cudaMallocFromPoolAsync(&b, kBytes, pool, cudaStreamPerThread) == cudaSuccess);
  CHECK(said(cudaMemPoolAttrUsedMemCurrent) >= 2 * kBytes);
  CHECK(said(cudaMemPoolAttrReservedMemCurrent) >= said(cudaMemPoolAttrUsedMemCurrent));
  REQUIRE(cudaFreeAsync(a, cudaStreamPerThread) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess);
  CHECK(said(cudaMemPoolAttrUsedMemCurrent) < 2 * kBytes);
  REQUIRE(cudaFreeAsync(b, cudaStreamPerThread) == cudaSuccess);  // an H100 doesn't count what cudaFree frees
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(said(cudaMemPoolAttrUsedMemCurrent) == 0);
  CHECK(said(cudaMemPoolAttrUsedMemHigh) >= 2 * kBytes);
  // It keeps what is below its threshold, until it is trimmed.
  CHECK(said(cudaMemPoolAttrReservedMemCurrent) >= 2 * kBytes);
  REQUIRE(cudaMemPoolTrimTo(pool, 0) == cudaSuccess);
  CHECK(said(cudaMemPoolAttrReservedMemCurrent) == 0);
  CHECK(said(cudaMemPoolAttrReservedMemHigh) >= 2 * kBytes);
  REQUIRE(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReservedMemHigh, &zero) == cudaSuccess);
  REQUIRE(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero) == cudaSuccess);
  CHECK(said(cudaMemPoolAttrReservedMemHigh) == 0);
  CHECK(said(cudaMemPoolAttrUsedMemHigh) == 0);
  CHECK(taken(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &much)) == cudaErrorInvalidValue);
  // Without a threshold it keeps nothing when somebody waits.
  REQUIRE(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &zero) == cudaSuccess);
  REQUIRE(cudaMallocFromPoolAsync(&a, kBytes, pool, cudaStreamPerThread) == cudaSuccess);
  REQUIRE(cudaFreeAsync(a, cudaStreamPerThread) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess);
  CHECK(said(cudaMemPoolAttrReservedMemCurrent) == 0);
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
  REQUIRE(cudaMemPoolGetAccess(&flags, pool, &props.location) == cudaSuccess);
  CHECK(flags == cudaMemAccessFlagsProtReadWrite);
  cudaMemAccessDesc own{props.location, cudaMemAccessFlagsProtReadWrite};
  CHECK(cudaMemPoolSetAccess(pool, &own, 1) == cudaSuccess);
  REQUIRE(cudaMemPoolDestroy(pool) == cudaSuccess);
}
