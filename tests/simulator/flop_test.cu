// FLOP of a launch, as written: what a GPU executes as additions, multiplications and fused pairs of them.
#ifdef TILEWISE_SIMULATOR

#include <tilewise_sim/report.hpp>

#include <atomic>
#include <thread>

#include "catch.hpp"
#include "on_device.hpp"
#include "tilewise/device_buffer.hpp"

namespace {

template <class T>
__global__ void dot(const T* a, T* out, int n) {
  T sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * a[n - 1 - i];
  if (threadIdx.x < 5) sum = sum / T(3) - T(1);
  out[threadIdx.x] = sum;
}

__global__ void fused(float* x, double* y) {
  x[threadIdx.x] = fmaf(x[threadIdx.x], 2.0f, 1.0f) + __fmaf_rn(x[threadIdx.x], 3.0f, 1.0f);
  y[threadIdx.x] = fma(y[threadIdx.x], 2.0, 1.0);
}

__global__ void no_arithmetic(float* x, int* n) {
  n[threadIdx.x] = n[threadIdx.x] * 3 + 1;
  x[threadIdx.x] = fmaxf(x[threadIdx.x], static_cast<float>(n[threadIdx.x]));
  if (x[threadIdx.x] < 2.0f) x[threadIdx.x] = -x[threadIdx.x];
}

struct Counting {
  Counting() : was(tilewise::sim::set_counting(true)) {}
  ~Counting() { tilewise::sim::set_counting(was); }
  bool was;
};

// Computes in a host thread of its own.
class Busy {
 public:
  Busy() {
    while (rounds() == 0) std::this_thread::yield();
  }
  ~Busy() {
    ends_ = true;
    thread_.join();
  }
  long rounds() const { return rounds_; }

 private:
  void compute() {
    volatile float x = 1.5f;
    while (!ends_) {
      for (int i = 0; i < 1000; ++i) x = x * 0.5f + 1.0f;
      ++rounds_;
    }
  }

  std::atomic<bool> ends_{false};
  std::atomic<long> rounds_{0};
  std::thread thread_{[this] { compute(); }};
};

}  // namespace

TEST_CASE("FLOP of a launch are those of its threads", "[flop]") {
#if defined(__APPLE__)
  WARN("FLOP are counted on Linux only");
#else
  const Counting counting;
  tilewise::DeviceBuffer<float> x(256);
  tilewise::DeviceBuffer<double> y(256);
  tilewise::DeviceBuffer<int> n(256);
  CUDA_CHECK(cudaMemset(x.data(), 0, x.bytes()));
  CUDA_CHECK(cudaMemset(y.data(), 0, y.bytes()));
  CUDA_CHECK(cudaMemset(n.data(), 0, n.bytes()));
  const auto flop = [] {
    CUDA_CHECK(cudaDeviceSynchronize());
    return std::pair(tilewise::sim::last_counters().flop_single, tilewise::sim::last_counters().flop_double);
  };
  dot<<<1, 32>>>(x.data(), x.data() + 128, 100);
  CHECK(flop() == std::pair<std::uint64_t, std::uint64_t>(32 * 100 * 2 + 5 * 2, 0));
  dot<<<2, 64>>>(y.data(), y.data() + 128, 10);
  CHECK(flop() == std::pair<std::uint64_t, std::uint64_t>(0, 2 * (64 * 10 * 2 + 5 * 2)));
  dot<<<1, 32>>>(x.data(), x.data() + 128, 0);
  CHECK(flop() == std::pair<std::uint64_t, std::uint64_t>(10, 0));
  fused<<<1, 7>>>(x.data(), y.data());
  CHECK(flop() == std::pair<std::uint64_t, std::uint64_t>(7 * 5, 7 * 2));
  float host = 1.5f;
  for (int i = 0; i < 100; ++i) host = host * 1.01f + 1.0f;  // the host's arithmetic is not the kernel's
  CHECK(host > 1.5f);
  no_arithmetic<<<1, 32>>>(x.data(), n.data());
  CHECK(flop() == std::pair<std::uint64_t, std::uint64_t>(0, 0));
#endif
}

TEST_CASE("FLOP of other host threads are not the kernel's", "[flop]") {
#if !defined(__APPLE__)
  const Counting counting;
  tilewise::DeviceBuffer<float> x(256);
  CUDA_CHECK(cudaMemset(x.data(), 0, x.bytes()));
  const Busy other;
  bool both = false;  // have computed at the same time
  for (int launches = 0; launches < 1000 && !both; ++launches) {
    const long before = other.rounds();
    dot<<<1, 32>>>(x.data(), x.data() + 128, 100);
    CUDA_CHECK(cudaDeviceSynchronize());
    both = other.rounds() > before + 1;
    REQUIRE(tilewise::sim::last_counters().flop_single == 32 * 100 * 2 + 5 * 2);
  }
  CHECK(both);
#endif
}

#endif  // TILEWISE_SIMULATOR
