// CUB's functions for warps and blocks: sums, prefix sums, loads by transposition, sorts, a histogram. A loop on the host does the same.
#include <cub/cub.cuh>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <functional>
#include <vector>

struct Larger {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

struct Plus {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a + b;
  }
};

struct Running {  // what came before this tile
  int total;
  __device__ int operator()(int of_tile) {
    const int before = total;
    total += of_tile;
    return before;
  }
};

constexpr int kThreads = 96, kItems = 5, kTile = kThreads * kItems;

__global__ void sums(const int* in, int n, int* out) {
  typedef cub::BlockReduce<int, kThreads> BlockReduce;
  typedef cub::BlockReduce<double3, kThreads, cub::BLOCK_REDUCE_WARP_REDUCTIONS> Reduce3;
  __shared__ union {
    typename BlockReduce::TempStorage one;
    typename Reduce3::TempStorage three;
  } temp;
  const int x = threadIdx.x < n ? in[threadIdx.x] : 0;
  const int sum = BlockReduce(temp.one).Sum(x);
  if (threadIdx.x == 0) out[0] = sum;
  __syncthreads();
  const int largest = BlockReduce(temp.one).Reduce(x, Larger(), n);
  if (threadIdx.x == 0) out[1] = largest;
  __syncthreads();
  const double3 squares = Reduce3(temp.three).Reduce(make_double3(1, x, x * x), [](double3 a, double3 b) {
    return make_double3(a.x + b.x, a.y + b.y, a.z + b.z);
  });
  if (threadIdx.x == 0) out[2] = int(squares.x), out[3] = int(squares.y), out[4] = int(squares.z);
}

__global__ void two_dimensions(const float* in, float* out) {
  using BlockReduce = cub::BlockReduce<float, 16, cub::BLOCK_REDUCE_RAKING, 6>;
  __shared__ typename BlockReduce::TempStorage temp;
  const float sum = BlockReduce(temp).Sum(in[threadIdx.y * 16 + threadIdx.x]);
  if (threadIdx.x == 0 && threadIdx.y == 0) *out = sum;
}

/// Whole prefix sums of one block, tile by tile.
__global__ void scan(const int* in, int n, int* inclusive, int* exclusive) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<int, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Scan::TempStorage scan;
  } temp;
  Running running{0}, again{0};
  for (int tile = 0; tile < n; tile += kTile) {
    int items[kItems], sums[kItems];
    const int valid = min(kTile, n - tile);
    Load(temp.load).Load(in + tile, items, valid, 0);
    __syncthreads();
    Scan(temp.scan).InclusiveSum(items, sums, running);
    __syncthreads();
    Store(temp.store).Store(inclusive + tile, sums, valid);
    __syncthreads();
    Scan(temp.scan).ExclusiveScan(items, sums, Plus(), again);
    __syncthreads();
    Store(temp.store).Store(exclusive + tile, sums, valid);
    __syncthreads();
  }
}

__global__ void scan_of_threads(const int* in, int* out, int* total) {
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ typename Scan::TempStorage temp;
  int sum, all;
  Scan(temp).ExclusiveSum(in[threadIdx.x], sum, all);
  out[threadIdx.x] = sum;
  if (threadIdx.x == 0) *total = all;
  __syncthreads();
  Scan(temp).InclusiveScan(in[threadIdx.x], sum, Larger());
  out[kThreads + threadIdx.x] = sum;
}

template <class Key>
__global__ void sort(Key* keys, int* values) {
  using Sort = cub::BlockRadixSort<Key, kThreads, kItems, int>;
  __shared__ typename Sort::TempStorage temp;
  Key own[kItems];
  int of[kItems];
  cub::LoadDirectBlocked(threadIdx.x, keys, own);
  cub::LoadDirectBlocked(threadIdx.x, values, of);
  Sort(temp).SortDescending(own, of);
  cub::StoreDirectBlocked(threadIdx.x, keys, own);
  cub::StoreDirectBlocked(threadIdx.x, values, of);
}

__global__ void sort_striped(unsigned* keys) {
  using Sort = cub::BlockRadixSort<unsigned, kThreads, kItems>;
  __shared__ typename Sort::TempStorage temp;
  unsigned own[kItems];
  cub::LoadDirectStriped<kThreads>(threadIdx.x, keys, own);
  Sort(temp).SortBlockedToStriped(own, 4, 12);
  cub::StoreDirectStriped<kThreads>(threadIdx.x, keys, own);
}

__global__ void histogram(const unsigned char* in, unsigned* counts) {
  using Histogram = cub::BlockHistogram<unsigned char, kThreads, kItems, 256, cub::BLOCK_HISTO_ATOMIC>;
  __shared__ typename Histogram::TempStorage temp;
  __shared__ unsigned bins[256];
  unsigned char own[kItems];
  cub::LoadDirectStriped<kThreads>(threadIdx.x, in, own);
  Histogram(temp).Histogram(own, bins);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += kThreads) counts[i] = bins[i];
}

/// Four groups of 8 lanes, and a whole warp.
__global__ void warps(const int* in, int* out) {
  using Reduce = cub::WarpReduce<int, 8>;
  using Scan = cub::WarpScan<int>;
  __shared__ typename Reduce::TempStorage reduce[12];
  __shared__ typename Scan::TempStorage scan[3];
  const int x = in[threadIdx.x];
  const int sum = Reduce(reduce[threadIdx.x / 8]).Sum(x);
  const int part = Reduce(reduce[threadIdx.x / 8]).Sum(x, 3);
  const int segment = cub::WarpReduce<int>(*(cub::WarpReduce<int>::TempStorage*)reduce).HeadSegmentedSum(x, threadIdx.x % 5 == 0);
  int exclusive, total;
  Scan(scan[threadIdx.x / 32]).ExclusiveSum(x, exclusive, total);
  out[threadIdx.x] = threadIdx.x % 8 == 0 ? sum * 1000 + part : 0;
  out[kThreads + threadIdx.x] = exclusive * 1000 + total;
  out[2 * kThreads + threadIdx.x] = cub::ShuffleIndex<32>(x, 31 - threadIdx.x % 32, 0xffffffff);
  out[3 * kThreads + threadIdx.x] = threadIdx.x % 32 == 0 || threadIdx.x % 5 == 0 ? segment : 0;
}

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

int main() {
  std::vector<int> numbers(3 * kTile - 7);
  unsigned seed = 1;
  for (int& x : numbers) x = int((seed = seed * 1664525 + 1013904223) >> 20 & 0xff) - 100;
  const Array<int> in(numbers);

  for (const int n : {1, 31, 33, 64, 96}) {
    Array<int> out(5);
    sums<<<1, kThreads>>>(in.p, n, out.p);
    int sum = 0, largest = INT_MIN, squares = 0;
    for (int i = 0; i < n; ++i)
      sum += numbers[i], largest = std::max(largest, numbers[i]), squares += numbers[i] * numbers[i];
    check("sums", out.host() == std::vector<int>{sum, largest, kThreads, sum, squares});
  }
  {
    const Array<float> floats(std::vector<float>(numbers.begin(), numbers.begin() + kThreads));
    Array<float> out(1);
    two_dimensions<<<1, dim3(16, 6)>>>(floats.p, out.p);
    float sum = 0;
    for (int i = 0; i < kThreads; ++i) sum += numbers[i];
    check("two dimensions", out.host()[0] == sum);
  }
  {
    const int n = numbers.size();
    Array<int> inclusive(n), exclusive(n);
    scan<<<1, kThreads>>>(in.p, n, inclusive.p, exclusive.p);
    std::vector<int> up_to(n), before(n);
    for (int i = 0, sum = 0; i < n; ++i) before[i] = sum, up_to[i] = sum += numbers[i];
    check("inclusive sums", inclusive.host() == up_to);
    check("exclusive sums", exclusive.host() == before);
  }
  {
    Array<int> out(2 * kThreads), total(1);
    scan_of_threads<<<1, kThreads>>>(in.p, out.p, total.p);
    std::vector<int> expected(2 * kThreads);
    int sum = 0, largest = INT_MIN;
    for (int i = 0; i < kThreads; ++i) {
      expected[i] = sum, sum += numbers[i];
      expected[kThreads + i] = largest = std::max(largest, numbers[i]);
    }
    check("sums before each thread", out.host() == expected);
    check("their total", total.host()[0] == sum);
  }
  {
    std::vector<float> keys(kTile);
    std::vector<int> values(kTile), order(kTile);
    for (int i = 0; i < kTile; ++i) keys[i] = numbers[i] * 0.5f, values[i] = order[i] = i;
    Array<float> device_keys(keys);
    Array<int> device_values(values);
    sort<<<1, kThreads>>>(device_keys.p, device_values.p);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] > keys[b]; });
    check("sorted values", device_values.host() == order);
    std::stable_sort(keys.begin(), keys.end(), std::greater<float>());
    check("sorted keys", device_keys.host() == keys);

    std::vector<unsigned> words(kTile);
    for (unsigned& x : words) x = seed = seed * 1664525 + 1013904223;
    std::vector<unsigned> wanted(kTile);  // a thread has elements that lie kThreads apart, and keeps them in that order
    for (int t = 0; t < kThreads; ++t)
      for (int i = 0; i < kItems; ++i) wanted[t * kItems + i] = words[t + i * kThreads];
    std::stable_sort(wanted.begin(), wanted.end(),
                     [](unsigned a, unsigned b) { return (a >> 4 & 0xff) < (b >> 4 & 0xff); });
    Array<unsigned> device_words(words);
    sort_striped<<<1, kThreads>>>(device_words.p);
    check("sorted by some bits", device_words.host() == wanted);
  }
  {
    std::vector<unsigned char> bytes(kTile);
    std::vector<unsigned> counts(256);
    for (unsigned char& x : bytes) x = (seed = seed * 1664525 + 1013904223) >> 25, ++counts[x];
    const Array<unsigned char> device_bytes(bytes);
    Array<unsigned> out(256);
    histogram<<<1, kThreads>>>(device_bytes.p, out.p);
    check("histogram", out.host() == counts);
  }
  {
    Array<int> out(4 * kThreads);
    warps<<<1, kThreads>>>(in.p, out.p);
    std::vector<int> expected(4 * kThreads);
    for (int first = 0; first < kThreads; first += 8) {
      int sum = 0, part = 0;
      for (int i = 0; i < 8; ++i) sum += numbers[first + i], part += i < 3 ? numbers[first + i] : 0;
      expected[first] = sum * 1000 + part;
    }
    for (int first = 0; first < kThreads; first += 32) {
      int total = 0, sum = 0;
      for (int i = 0; i < 32; ++i) total += numbers[first + i];
      for (int i = 0; i < 32; ++i) {
        expected[kThreads + first + i] = sum * 1000 + total;
        sum += numbers[first + i];
        expected[2 * kThreads + first + i] = numbers[first + 31 - i];
        if (i != 0 && (first + i) % 5 != 0) continue;
        int segment = numbers[first + i];
        for (int j = i + 1; j < 32 && (first + j) % 5 != 0; ++j) segment += numbers[first + j];
        expected[3 * kThreads + first + i] = segment;
      }
    }
    check("warps", out.host() == expected);
  }
  std::puts(wrong ? "wrong" : "right");
}
