// What programs do with Thrust's vectors, iterators and functors, and nothing else of CUDA's.
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <numeric>
#include <vector>

struct Random {
  __host__ __device__ unsigned operator()(unsigned i) const {
    thrust::default_random_engine engine(42);
    engine.discard(i);
    return thrust::uniform_int_distribution<unsigned>(0, 999)(engine);
  }
};

struct Odd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};

__device__ float cube(float x) { return x * x * x; }
struct Cube {
  __device__ float operator()(float x) const { return cube(x); }  // no host code could call it
};

struct Sum {
  template <typename Tuple>
  __host__ __device__ void operator()(Tuple t) const {
    thrust::get<2>(t) = thrust::get<0>(t) + thrust::get<1>(t);
  }
};

static int wrong = 0;
static void check(bool right, const char* what) {
  if (!right) std::printf("wrong: %s\n", what);
  wrong += !right;
}

static void sorts(int n) {
  thrust::counting_iterator<unsigned> index(0);
  thrust::device_vector<int> keys(n), values(n);
  thrust::transform(index, index + n, keys.begin(), Random());
  thrust::sequence(values.begin(), values.end());
  const thrust::host_vector<int> before = keys;
  thrust::stable_sort_by_key(keys.begin(), keys.end(), values.begin());
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return before[a] < before[b]; });
  bool right = true;
  for (int i = 0; i < n; ++i) right &= values[i] == order[i] && keys[i] == before[order[i]];
  check(right, "sort_by_key");
  thrust::device_vector<int> one_each(n), counts(n);
  const auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), thrust::make_constant_iterator(1),
                                          one_each.begin(), counts.begin());
  const int groups = static_cast<int>(ends.first - one_each.begin());
  check(thrust::reduce(counts.begin(), counts.begin() + groups) == n, "reduce_by_key");
  check(thrust::unique(keys.begin(), keys.end()) - keys.begin() == groups, "unique");
  thrust::sort(values.begin(), values.end(), thrust::greater<int>());
  check(values.front() == n - 1 && values.back() == 0, "sort, descending");
}

static void scans(int n) {
  using namespace thrust::placeholders;
  thrust::device_vector<int> x(n, 1), y(n);
  thrust::inclusive_scan(x.begin(), x.end(), x.begin());
  check(x[0] == 1 && x[n - 1] == n, "inclusive_scan in place");
  thrust::exclusive_scan(x.begin(), x.end(), y.begin(), 7);
  check(y[0] == 7 && y[1] == 8 && y[2] == 10, "exclusive_scan");
  const auto end = thrust::copy_if(x.begin(), x.end(), y.begin(), Odd());
  check(end - y.begin() == thrust::count_if(x.begin(), x.end(), Odd()), "copy_if");
  check(y[1] == 3, "copy_if, an element");
  thrust::transform(x.begin(), x.end(), x.begin(), 2 * _1 + 1);
  check(x[9] == 21, "placeholders");
  check(thrust::max_element(x.begin(), x.end()) - x.begin() == n - 1, "max_element");
  check(thrust::lower_bound(x.begin(), x.end(), 10) - x.begin() == 4, "lower_bound");
  check(thrust::remove_if(x.begin(), x.end(), _1 > 21) - x.begin() == 10, "remove_if");
}

static void iterators(int n) {
  thrust::device_vector<float> a(n), b(n), c(n);
  thrust::sequence(a.begin(), a.end());
  thrust::transform(a.begin(), a.end(), b.begin(), Cube());
  auto zip = thrust::make_zip_iterator(thrust::make_tuple(a.begin(), b.begin(), c.begin()));
  thrust::for_each(zip, zip + n, Sum());
  check(c[3] == 30, "zip_iterator");
  auto squares = thrust::make_transform_iterator(a.begin(), thrust::square<float>());
  check(thrust::reduce(squares, squares + 4) == 14, "transform_iterator");
  check(thrust::inner_product(a.begin(), a.begin() + 4, a.begin(), 0.0f) == 14, "inner_product");
  const thrust::device_vector<int> map(std::vector<int>{3, 1, 2});
  auto chosen = thrust::make_permutation_iterator(b.begin(), map.begin());
  check(thrust::reduce(chosen, chosen + 3) == 36, "permutation_iterator");
}

static void vectors() {
  thrust::device_vector<int> v;
  for (int i = 0; i < 100; ++i) v.push_back(i);
  v.erase(v.begin() + 10, v.begin() + 20);
  v.insert(v.begin(), 5);
  v[1] += 3;
  v.resize(95, 8);
  std::vector<int> host(v.size());
  thrust::copy(v.begin(), v.end(), host.begin());
  check(host[0] == 5 && host[1] == 3 && host[11] == 20 && host[94] == 8, "vectors that grow");
  thrust::device_vector<int> same(host);
  check(same == v, "equal vectors");
  bool thrown = false;
  try {
    thrust::device_vector<char> huge(std::size_t{1} << 50);
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  check(thrown, "no memory");
}

int main() {
  sorts(3001);
  scans(1234);
  iterators(100);
  vectors();
  std::puts(wrong == 0 ? "right" : "wrong");
}
