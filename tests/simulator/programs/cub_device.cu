// CUB's functions for whole devices: reductions, prefix sums, sorts, choices, histograms, runs. A loop on the host does the same.
#include <cub/cub.cuh>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

static int wrong = 0;
template <class T>
struct Array {
  T* p;
  size_t n;
  explicit Array(size_t n) : n(n) { cudaMalloc(&p, n * sizeof(T)), cudaMemset(p, 0, n * sizeof(T)); }
  explicit Array(const std::vector<T>& v) : n(v.size()) {
    cudaMalloc(&p, n * sizeof(T));
    cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Array() { cudaFree(p); }
  std::vector<T> host() const {
    std::vector<T> v(n);
    cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
    return v;
  }
};
static void check(const char* what, bool right) {
  if (!right) std::printf("%s: wrong\n", what), ++wrong;
}

/// Asks how much storage it needs, and calls again with that.
template <class Call>
static void with_storage(Call call) {
  size_t bytes = 0;
  void* storage = nullptr;
  wrong += call(storage, bytes) != cudaSuccess;
  check("bytes", bytes > 0);
  cudaMalloc(&storage, bytes);
  wrong += call(storage, bytes) != cudaSuccess;
  cudaFree(storage);
}

struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x & 1; }
};
struct Larger {
  __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};

int main() {
  const int n = 5003;
  std::vector<int> numbers(n);
  unsigned seed = 7;
  for (int& x : numbers) x = int((seed = seed * 1664525 + 1013904223) >> 16 & 0x3ff) - 500;
  const Array<int> in(numbers);
  cudaStream_t stream;
  cudaStreamCreate(&stream);

  Array<int> one(1), out(n), count(1);
  with_storage([&](void* s, size_t& b) { return cub::DeviceReduce::Sum(s, b, in.p, one.p, n, stream); });
  cudaStreamSynchronize(stream);
  check("sum", one.host()[0] == std::accumulate(numbers.begin(), numbers.end(), 0));
  with_storage([&](void* s, size_t& b) { return cub::DeviceReduce::Max(s, b, in.p, one.p, n); });
  check("maximum", one.host()[0] == *std::max_element(numbers.begin(), numbers.end()));
  with_storage([&](void* s, size_t& b) { return cub::DeviceReduce::Min(s, b, in.p, one.p, n); });
  check("minimum", one.host()[0] == *std::min_element(numbers.begin(), numbers.end()));
  with_storage([&](void* s, size_t& b) { return cub::DeviceReduce::Reduce(s, b, in.p, one.p, n, Larger(), 1000); });
  check("reduction", one.host()[0] == 1000);

  with_storage([&](void* s, size_t& b) { return cub::DeviceScan::ExclusiveSum(s, b, in.p, out.p, n); });
  std::vector<int> expected(n);
  for (int i = 0, sum = 0; i < n; ++i) expected[i] = sum, sum += numbers[i];
  check("exclusive sums", out.host() == expected);
  with_storage([&](void* s, size_t& b) { return cub::DeviceScan::InclusiveSum(s, b, in.p, out.p, n); });
  std::partial_sum(numbers.begin(), numbers.end(), expected.begin());
  check("inclusive sums", out.host() == expected);
  Array<int> data(numbers);
  with_storage([&](void* s, size_t& b) { return cub::DeviceScan::InclusiveSum(s, b, data.p, n, stream); });
  cudaStreamSynchronize(stream);
  check("inclusive sums in place", data.host() == expected);
  with_storage([&](void* s, size_t& b) { return cub::DeviceScan::InclusiveScan(s, b, in.p, out.p, Larger(), n); });
  for (int i = 0, m = numbers[0]; i < n; ++i) expected[i] = m = std::max(m, numbers[i]);
  check("maxima up to here", out.host() == expected);

  with_storage([&](void* s, size_t& b) { return cub::DeviceRadixSort::SortKeys(s, b, in.p, out.p, n); });
  std::vector<int> sorted = numbers;
  std::sort(sorted.begin(), sorted.end());
  check("sorted keys", out.host() == sorted);
  {
    std::vector<float> keys(numbers.begin(), numbers.end());
    std::vector<int> values(n), order(n);
    for (int i = 0; i < n; ++i) values[i] = order[i] = i;
    const Array<float> device_keys(keys);
    const Array<int> device_values(values);
    Array<float> keys_out(n);
    with_storage([&](void* s, size_t& b) {
      return cub::DeviceRadixSort::SortPairsDescending(s, b, device_keys.p, keys_out.p, device_values.p, out.p, n);
    });
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] > keys[b]; });
    check("sorted pairs", out.host() == order);

    Array<int> here(numbers), there(n);
    cub::DoubleBuffer<int> buffer(here.p, there.p);
    with_storage([&](void* s, size_t& b) { return cub::DeviceRadixSort::SortKeys(s, b, buffer, n); });
    std::vector<int> got(n);
    cudaMemcpy(got.data(), buffer.Current(), n * sizeof(int), cudaMemcpyDeviceToHost);
    check("sorted in two buffers", got == sorted);
  }
  {
    with_storage([&](void* s, size_t& b) { return cub::DeviceSelect::If(s, b, in.p, out.p, count.p, n, IsOdd()); });
    std::vector<int> odd, got = out.host();
    std::copy_if(numbers.begin(), numbers.end(), std::back_inserter(odd), IsOdd());
    got.resize(count.host()[0]);
    check("odd ones", got == odd);

    std::vector<char> flags(n);
    for (int i = 0; i < n; ++i) flags[i] = i % 3 == 0;
    const Array<char> device_flags(flags);
    with_storage([&](void* s, size_t& b) {
      return cub::DeviceSelect::Flagged(s, b, in.p, device_flags.p, out.p, count.p, n);
    });
    std::vector<int> third;
    for (int i = 0; i < n; i += 3) third.push_back(numbers[i]);
    got = out.host();
    got.resize(count.host()[0]);
    check("flagged ones", got == third);
  }
  {
    std::vector<float> samples(n);
    for (int i = 0; i < n; ++i) samples[i] = numbers[i] / 512.0f;
    const Array<float> device_samples(samples);
    Array<int> histogram(8);
    with_storage([&](void* s, size_t& b) {
      return cub::DeviceHistogram::HistogramEven(s, b, device_samples.p, histogram.p, 9, -0.5f, 0.5f, n);
    });
    std::vector<int> bins(8);
    for (const float x : samples)
      if (x >= -0.5f && x < 0.5f) ++bins[int((x + 0.5f) * 8)];
    check("histogram", histogram.host() == bins);

    const Array<int> of_runs(sorted);
    Array<int> lengths(n);
    with_storage([&](void* s, size_t& b) {
      return cub::DeviceRunLengthEncode::Encode(s, b, of_runs.p, out.p, lengths.p, count.p, n);
    });
    std::vector<int> unique = sorted, got = out.host();
    unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
    got.resize(count.host()[0]);
    check("runs", got == unique);
    const std::vector<int> device_lengths = lengths.host();
    check("their lengths", std::accumulate(device_lengths.begin(), device_lengths.begin() + unique.size(), 0) == n);
  }
  {
    const Array<int> offsets(std::vector<int>{0, 100, 100, 2500, n});
    Array<int> sums(4);
    with_storage([&](void* s, size_t& b) {
      return cub::DeviceSegmentedReduce::Sum(s, b, in.p, sums.p, 4, offsets.p, offsets.p + 1);
    });
    const auto sum = [&](int a, int b) { return std::accumulate(numbers.begin() + a, numbers.begin() + b, 0); };
    check("sums of segments", sums.host() == std::vector<int>{sum(0, 100), 0, sum(100, 2500), sum(2500, n)});
  }
  size_t bytes = 0;
  check("storage that is too small",
        cub::DeviceRadixSort::SortKeys(static_cast<void*>(one.p), bytes, in.p, out.p, n) != cudaSuccess);
  cudaGetLastError();
  cudaStreamDestroy(stream);
  std::puts(wrong ? "wrong" : "right");
}
