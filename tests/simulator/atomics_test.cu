// Every atomic function under contention, in global and shared memory.
#include <cuda_runtime.h>

#include <algorithm>
#include <climits>
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "on_device.hpp"

namespace {

constexpr int kBlocks = 5, kThreads = 96, kTotal = kBlocks * kThreads;

__device__ int thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }
// Numbers in no particular order, negative ones among them.
__host__ __device__ int scrambled(int i) { return static_cast<int>(static_cast<unsigned>(i) * 2654435761u); }

template <class T>
T one_value(const tilewise::DeviceBuffer<T>& buffer) {
  return buffer.to_host().at(0);
}

}  // namespace

// ---------------------------------------------------------------- results that no order changes
namespace {

template <class T>
__global__ void add_all(T* sum) {
  atomicAdd(&sum[0], static_cast<T>(thread_number() + 1));
  atomicAdd_block(&sum[1 + blockIdx.x], static_cast<T>(threadIdx.x));
  atomicAdd_system(&sum[1 + kBlocks], static_cast<T>(2));
}

template <class T>
void check_add() {
  tilewise::DeviceBuffer<T> sum(kBlocks + 2);
  sum.zero();
  add_all<<<kBlocks, kThreads>>>(sum.data());
  CUDA_CHECK_LAUNCH();
  const auto host = sum.to_host();
  REQUIRE(host[0] == static_cast<T>(kTotal * (kTotal + 1) / 2));
  for (int block = 0; block < kBlocks; ++block)
    REQUIRE(host[1 + block] == static_cast<T>(kThreads * (kThreads - 1) / 2));
  REQUIRE(host[1 + kBlocks] == static_cast<T>(2 * kTotal));
}

template <class T>
__global__ void extremes(T* low_high) {
  const T value = static_cast<T>(scrambled(thread_number()));
  atomicMin(&low_high[0], value);
  atomicMax(&low_high[1], value);
}

template <class T>
void check_extremes() {
  std::vector<T> start = {static_cast<T>(scrambled(0)), static_cast<T>(scrambled(0))};
  tilewise::DeviceBuffer<T> low_high(start);
  extremes<<<kBlocks, kThreads>>>(low_high.data());
  CUDA_CHECK_LAUNCH();
  T low = start[0], high = start[0];
  for (int i = 0; i < kTotal; ++i) {
    low = std::min(low, static_cast<T>(scrambled(i)));
    high = std::max(high, static_cast<T>(scrambled(i)));
  }
  const auto host = low_high.to_host();
  REQUIRE(host[0] == low);
  REQUIRE(host[1] == high);
}

template <class T>
__global__ void bits(T* words) {
  const T bit = static_cast<T>(1) << (thread_number() % (8 * sizeof(T)));
  atomicOr(&words[0], bit);
  atomicXor(&words[1], bit);
  if (thread_number() % 2 == 0) atomicAnd(&words[2], static_cast<T>(~bit));
}

template <class T>
void check_bits() {
  constexpr int n = 8 * sizeof(T);
  tilewise::DeviceBuffer<T> words(std::vector<T>{0, 0, static_cast<T>(~static_cast<T>(0))});
  bits<<<kBlocks, kThreads>>>(words.data());
  CUDA_CHECK_LAUNCH();
  T any = 0, odd = 0, all = static_cast<T>(~static_cast<T>(0));
  for (int i = 0; i < kTotal; ++i) {
    const T bit = static_cast<T>(static_cast<T>(1) << (i % n));
    any |= bit, odd ^= bit;
    if (i % 2 == 0) all &= static_cast<T>(~bit);
  }
  const auto host = words.to_host();
  REQUIRE(host[0] == any);
  REQUIRE(host[1] == odd);
  REQUIRE(host[2] == all);
}

__global__ void subtract_all(int* number, unsigned* count) {
  atomicSub(number, thread_number());
  atomicSub(count, 3u);
}

}  // namespace

TEST_CASE("atomicAdd of every type, at every scope") {
  check_add<int>();
  check_add<unsigned>();
  check_add<unsigned long long>();
  check_add<float>();
  check_add<double>();
}

TEST_CASE("atomicMin and atomicMax of every type") {
  check_extremes<int>();
  check_extremes<unsigned>();
  check_extremes<long long>();
  check_extremes<unsigned long long>();
}

TEST_CASE("atomicAnd, atomicOr, atomicXor of every type") {
  check_bits<int>();
  check_bits<unsigned>();
  check_bits<unsigned long long>();
}

TEST_CASE("atomicSub wraps round below zero") {
  tilewise::DeviceBuffer<int> number(std::vector<int>{10});
  tilewise::DeviceBuffer<unsigned> count(std::vector<unsigned>{5u});
  subtract_all<<<kBlocks, kThreads>>>(number.data(), count.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(one_value(number) == 10 - kTotal * (kTotal - 1) / 2);
  REQUIRE(one_value(count) == 5u - 3u * kTotal);
}

namespace {

__global__ void overflow(int* number) { atomicAdd(number, 1); }

}  // namespace

TEST_CASE("a signed sum wraps round") {
  tilewise::DeviceBuffer<int> number(std::vector<int>{INT_MAX});
  overflow<<<1, 1>>>(number.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(one_value(number) == INT_MIN);
}

// ---------------------------------------------------------------- what they return
namespace {

template <class T>
__global__ void tickets(T* out, T* counter) {
  out[thread_number()] = atomicAdd(counter, static_cast<T>(1));
}

template <class T>
void check_tickets() {
  tilewise::DeviceBuffer<T> counter(std::vector<T>{static_cast<T>(100)});
  auto drawn = on_device<T>(kBlocks, kThreads, kTotal, tickets<T>, counter.data());
  std::sort(drawn.begin(), drawn.end());
  for (int i = 0; i < kTotal; ++i) REQUIRE(drawn[i] == static_cast<T>(100 + i));  // each once
}

template <class T>
__global__ void pass_on(T* out, T* slot) {
  out[thread_number()] = atomicExch(slot, static_cast<T>(thread_number() + 1));
}

template <class T>
void check_exchange() {
  tilewise::DeviceBuffer<T> slot(std::vector<T>{0});
  auto seen = on_device<T>(kBlocks, kThreads, kTotal, pass_on<T>, slot.data());
  seen.push_back(one_value(slot));
  std::sort(seen.begin(), seen.end());
  for (int i = 0; i <= kTotal; ++i) REQUIRE(seen[i] == static_cast<T>(i));  // nothing lost, nothing doubled
}

__global__ void wrap_up(unsigned* out, unsigned* counter, unsigned limit) {
  out[thread_number()] = atomicInc(counter, limit);
}
__global__ void wrap_down(unsigned* out, unsigned* counter, unsigned limit) {
  out[thread_number()] = atomicDec(counter, limit);
}

__global__ void old_values(int* out, int* slots) {
  out[0] = atomicSub(&slots[0], 4);
  out[1] = atomicMin(&slots[1], -7);
  out[2] = atomicMax(&slots[2], -7);
  out[3] = atomicAnd(&slots[3], 6);
  out[4] = atomicOr(&slots[4], 6);
  out[5] = atomicXor(&slots[5], 6);
  out[6] = atomicCAS(&slots[6], 11, 99);  // equal: stored
  out[7] = atomicCAS(&slots[7], 12, 99);  // not equal: kept
}

}  // namespace

TEST_CASE("every thread draws its own ticket") {
  check_tickets<int>();
  check_tickets<unsigned>();
  check_tickets<unsigned long long>();
  check_tickets<float>();
  check_tickets<double>();
}

TEST_CASE("atomicExch passes values on without losing one") {
  check_exchange<int>();
  check_exchange<unsigned>();
  check_exchange<unsigned long long>();
  check_exchange<float>();
}

TEST_CASE("atomicInc and atomicDec count modulo limit + 1") {
  constexpr unsigned limit = 6;
  tilewise::DeviceBuffer<unsigned> counter(std::vector<unsigned>{0});
  const auto up = on_device<unsigned>(kBlocks, kThreads, kTotal, wrap_up, counter.data(), limit);
  REQUIRE(one_value(counter) == kTotal % (limit + 1));
  for (unsigned value = 0; value <= limit; ++value) {
    const auto times = std::count(up.begin(), up.end(), value);
    REQUIRE(times == kTotal / 7 + (value < kTotal % 7 ? 1 : 0));
  }
  counter.zero();
  const auto down = on_device<unsigned>(kBlocks, kThreads, kTotal, wrap_down, counter.data(), limit);
  REQUIRE(one_value(counter) == (7 - kTotal % 7) % 7);
  REQUIRE(std::all_of(down.begin(), down.end(), [](unsigned v) { return v <= limit; }));
}

TEST_CASE("a counter above the limit: atomicInc restarts at 0, atomicDec at the limit") {
  tilewise::DeviceBuffer<unsigned> counter(std::vector<unsigned>{50});
  REQUIRE(on_device<unsigned>(1, 1, 1, wrap_up, counter.data(), 9u)[0] == 50);
  REQUIRE(one_value(counter) == 0);
  tilewise::DeviceBuffer<unsigned> other(std::vector<unsigned>{50});
  REQUIRE(on_device<unsigned>(1, 1, 1, wrap_down, other.data(), 9u)[0] == 50);
  REQUIRE(one_value(other) == 9);
}

TEST_CASE("every atomic returns the old value") {
  const std::vector<int> before = {10, 3, 3, 13, 9, 5, 11, 11};
  const std::vector<int> after = {6, -7, 3, 4, 15, 3, 99, 11};
  tilewise::DeviceBuffer<int> slots(before);
  REQUIRE(on_device<int>(1, 1, 8, old_values, slots.data()) == before);
  REQUIRE(slots.to_host() == after);
}

// ---------------------------------------------------------------- compare and swap
namespace {

template <class T>
__global__ void add_by_cas(T* word) {
  T seen = *word, assumed;
  do {
    assumed = seen;
    seen = atomicCAS(word, assumed, static_cast<T>(assumed + 2));
  } while (seen != assumed);
}

template <class T>
void check_cas() {
  tilewise::DeviceBuffer<T> word(std::vector<T>{static_cast<T>(1)});
  add_by_cas<<<kBlocks, kThreads>>>(word.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(one_value(word) == static_cast<T>(1 + 2 * kTotal));
}

// The programming guide's way to a double maximum.
__global__ void double_maximum(unsigned long long* word) {
  const double value = 0.5 * scrambled(thread_number());
  unsigned long long seen = *word, assumed;
  do {
    assumed = seen;
    if (__longlong_as_double(static_cast<long long>(assumed)) >= value) break;
    seen = atomicCAS(word, assumed, static_cast<unsigned long long>(__double_as_longlong(value)));
  } while (seen != assumed);
}

}  // namespace

TEST_CASE("a compare-and-swap loop loses no update") {
  check_cas<int>();
  check_cas<unsigned>();
  check_cas<unsigned long long>();
  check_cas<unsigned short>();
}

TEST_CASE("a maximum of doubles by compare and swap") {
  tilewise::DeviceBuffer<unsigned long long> word(std::vector<unsigned long long>{0});
  double_maximum<<<kBlocks, kThreads>>>(word.data());
  CUDA_CHECK_LAUNCH();
  double expected = 0;
  for (int i = 0; i < kTotal; ++i) expected = std::max(expected, 0.5 * scrambled(i));
  const unsigned long long bits = one_value(word);
  double found;
  static_assert(sizeof(found) == sizeof(bits));
  std::copy_n(reinterpret_cast<const char*>(&bits), sizeof(bits), reinterpret_cast<char*>(&found));
  REQUIRE(found == expected);
}

// ---------------------------------------------------------------- shared memory
namespace {

constexpr int kBins = 13;

__global__ void histogram(int* bins, const int* values, int n) {
  __shared__ int local[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) local[bin] = 0;
  __syncthreads();
  for (int i = thread_number(); i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[values[i]], 1);
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) atomicAdd(&bins[bin], local[bin]);
}

__global__ void shared_float_sum(float* out) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0.0f;
  __syncthreads();
  atomicAdd(&sum, static_cast<float>(threadIdx.x) + 0.5f);  // exact: small multiples of one half
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

}  // namespace

TEST_CASE("a histogram with shared atomics") {
  constexpr int n = 5003;
  std::vector<int> values(n), expected(kBins, 0);
  for (int i = 0; i < n; ++i) {
    values[i] = static_cast<int>(static_cast<unsigned>(scrambled(i)) % kBins);
    ++expected[values[i]];
  }
  tilewise::DeviceBuffer<int> device_values(values), bins(kBins);
  bins.zero();
  histogram<<<kBlocks, kThreads>>>(bins.data(), device_values.data(), n);
  CUDA_CHECK_LAUNCH();
  REQUIRE(bins.to_host() == expected);
}

TEST_CASE("a float sum in shared memory") {
  const auto sums = on_device<float>(kBlocks, kThreads, kBlocks, shared_float_sum);
  for (float sum : sums) REQUIRE(sum == kThreads * kThreads / 2.0f);
}

// ---------------------------------------------------------------- with an order and a scope: CUDA 12.8 and later
#if CUDART_VERSION >= 12080
namespace {

__global__ void ordered_sums(unsigned long long* sums, long long* out, float* sum) {
  const int i = thread_number();
  __nv_atomic_fetch_add(&sums[0], static_cast<unsigned long long>(i), __NV_ATOMIC_RELAXED);
  __nv_atomic_sub(&sums[1], static_cast<unsigned long long>(i), __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_fetch_max(&out[0], static_cast<long long>(scrambled(i)), __NV_ATOMIC_RELAXED);
  __nv_atomic_min(&out[1], static_cast<long long>(scrambled(i)), __NV_ATOMIC_RELAXED);
  __nv_atomic_or(&out[2], 1ll << i % 40, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_and(&out[3], ~(1ll << i % 40), __NV_ATOMIC_SEQ_CST);
  __nv_atomic_fetch_xor(&out[4], static_cast<long long>(i), __NV_ATOMIC_RELAXED);
  __nv_atomic_add(sum, 0.5f, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

__global__ void ordered_words(int* out) {
  out[0] = __nv_atomic_exchange_n(&out[1], 7, __NV_ATOMIC_RELAXED);
  int value = 8, old = 0;
  __nv_atomic_exchange(&out[1], &value, &old, __NV_ATOMIC_RELAXED);
  out[2] = old;
  int expected = 9;
  out[3] = __nv_atomic_compare_exchange_n(&out[1], &expected, 10, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED);
  out[4] = expected;
  value = 11;
  out[5] = __nv_atomic_compare_exchange(&out[1], &expected, &value, true, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_RELAXED);
  out[6] = __nv_atomic_load_n(&out[1], __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_store_n(&out[1], 12, __NV_ATOMIC_RELEASE);
  __nv_atomic_load(&out[1], &value, __NV_ATOMIC_RELAXED);
  ++value;
  __nv_atomic_store(&out[1], &value, __NV_ATOMIC_RELAXED);
  __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
}

}  // namespace

TEST_CASE("atomics with an order: sums and the like") {
  tilewise::DeviceBuffer<long long> out(std::vector<long long>{LLONG_MIN, LLONG_MAX, 0, -1, 0});
  tilewise::DeviceBuffer<unsigned long long> sums(2);
  sums.zero();
  tilewise::DeviceBuffer<float> sum(1);
  sum.zero();
  ordered_sums<<<kBlocks, kThreads>>>(sums.data(), out.data(), sum.data());
  CUDA_CHECK_LAUNCH();
  unsigned long long total = 0;
  long long largest = LLONG_MIN, smallest = LLONG_MAX, mixed = 0;
  for (int i = 0; i < kTotal; ++i) {
    total += i, mixed ^= i;
    largest = std::max<long long>(largest, scrambled(i)), smallest = std::min<long long>(smallest, scrambled(i));
  }
  const long long bits = (1ll << 40) - 1;
  REQUIRE(out.to_host() == std::vector<long long>{largest, smallest, bits, ~bits, mixed});
  REQUIRE(sums.to_host() == std::vector<unsigned long long>{total, 0 - total});
  REQUIRE(one_value(sum) == 0.5f * kTotal);
}

TEST_CASE("atomics with an order: exchange, compare, load and store") {
  tilewise::DeviceBuffer<int> out(std::vector<int>{-1, 5, -1, -1, -1, -1, -1});
  ordered_words<<<1, 1>>>(out.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(out.to_host() == std::vector<int>{5, 13, 7, 0, 8, 1, 11});
}
#endif
