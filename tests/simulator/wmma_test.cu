// nvcuda::wmma: products in all formats and shapes against FP64, which lane holds which element, and on the simulator what is
// counted. What is found when a warp calls it wrongly is in findings/matrices.cu. On a GPU these tests need compute capability
// 8.0: older ones have no bfloat16, and hold the elements of half elsewhere.
#include <mma.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "catch.hpp"
#include "on_device.hpp"
#include "tilewise/device_buffer.hpp"
#ifdef TILEWISE_SIMULATOR
#include <tilewise_sim/report.hpp>
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define HAS_TENSOR_FORMATS 1
#else
#define HAS_TENSOR_FORMATS 0
#endif

using namespace nvcuda;

namespace {

using tilewise::DeviceBuffer;
struct Tf32 {};
using Row = wmma::row_major;
using Column = wmma::col_major;

bool skipped() {
  if (compute_capability_major() >= 8) return false;
  WARN("this GPU has no tensor cores for bfloat16 and tf32: nothing is checked");
  return true;
}

// How the elements of a format lie in memory.
template <class T>
struct Stored {
  using Type = T;
};
template <>
struct Stored<Tf32> {
  using Type = float;
};
template <class T>
using In = typename Stored<T>::Type;

#if HAS_TENSOR_FORMATS
// What wmma calls it.
template <class T>
struct Named {
  using Type = T;
};
template <>
struct Named<Tf32> {
  using Type = wmma::precision::tf32;
};
template <class Use, int m, int n, int k, class T, class Layout = void>
using Fragment = wmma::fragment<Use, m, n, k, typename Named<T>::Type, Layout>;
#endif

// ---------------------------------------------------------------- D = A B + C
enum class From { global, shared };

template <class T, int m, int n, int k, class LayoutA, class LayoutB, class D, bool convert>
__device__ void multiply(const In<T>* a, const In<T>* b, const D* c, D* d, int lda, int ldb, int ldc,
                         wmma::layout_t layout) {
#if HAS_TENSOR_FORMATS
  Fragment<wmma::matrix_a, m, n, k, T, LayoutA> fa;
  Fragment<wmma::matrix_b, m, n, k, T, LayoutB> fb;
  wmma::fragment<wmma::accumulator, m, n, k, D> sum;
  wmma::load_matrix_sync(fa, a, lda);
  wmma::load_matrix_sync(fb, b, ldb);
  wmma::load_matrix_sync(sum, c, ldc, layout);
  if constexpr (convert) {
    for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
    for (int i = 0; i < fb.num_elements; ++i) fb.x[i] = wmma::__float_to_tf32(fb.x[i]);
  }
  wmma::mma_sync(sum, fa, fb, sum);
  wmma::store_matrix_sync(d, sum, ldc, layout);
#endif
}

constexpr int kMostElements = 48 * 48;

template <class T, int m, int n, int k, class LayoutA, class LayoutB, class D, From from, bool convert>
__global__ void product(const In<T>* a, const In<T>* b, const D* c, D* d, int lda, int ldb, int ldc,
                        wmma::layout_t layout) {
  if constexpr (from == From::shared) {
    __shared__ __align__(32) In<T> as[kMostElements], bs[kMostElements];
    __shared__ __align__(32) D cs[kMostElements];
    for (int i = threadIdx.x; i < kMostElements; i += 32) as[i] = a[i], bs[i] = b[i], cs[i] = c[i];
    __syncthreads();
    multiply<T, m, n, k, LayoutA, LayoutB, D, convert>(as, bs, cs, cs, lda, ldb, ldc, layout);
    __syncthreads();
    for (int i = threadIdx.x; i < kMostElements; i += 32) d[i] = cs[i];
  } else {
    multiply<T, m, n, k, LayoutA, LayoutB, D, convert>(a, b, c, d, lda, ldb, ldc, layout);
  }
}

// A matrix of any layout, with more memory than elements.
struct Matrix {
  int rows, columns, ld;
  bool column_major;
  std::vector<double> memory = std::vector<double>(kMostElements, 0.0);

  double& at(int row, int column) {
    return memory[static_cast<std::size_t>(column_major ? column * ld + row : row * ld + column)];
  }
  double at(int row, int column) const { return const_cast<Matrix*>(this)->at(row, column); }

  template <class T>
  std::vector<T> as() const {
    std::vector<T> result(memory.size());
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if constexpr (std::is_integral_v<T> || std::is_same_v<T, double>)
        result[i] = T(memory[i]);
      else
        result[i] = T(static_cast<float>(memory[i]));
    }
    return result;
  }
};

Matrix matrix(int rows, int columns, bool column_major, int extra = 8) {
  return {rows, columns, (column_major ? rows : columns) + extra, column_major};
}

// What T makes of a value.
template <class T>
double rounded(double value) {
  if constexpr (std::is_same_v<T, Tf32>) {
    const float single = static_cast<float>(value);
    std::uint32_t bits;
    std::memcpy(&bits, &single, sizeof bits);
    bits = (bits + 0x1000u) & 0xffffe000u;
    float result;
    std::memcpy(&result, &bits, sizeof bits);
    return result;
  } else {
    return static_cast<double>(static_cast<float>(T(static_cast<float>(value))));
  }
}

struct Operands {
  Matrix a, b, c;
};

template <int m, int n, int k, class LayoutA, class LayoutB>
Operands operands(bool c_column_major) {
  return {matrix(m, k, std::is_same_v<LayoutA, Column>), matrix(k, n, std::is_same_v<LayoutB, Column>),
          matrix(m, n, c_column_major)};
}

template <class T, int m, int n, int k, class LayoutA, class LayoutB, class D, From from = From::global,
          bool convert = false>
Matrix device_product(const Operands& o) {
  const DeviceBuffer<In<T>> a(o.a.as<In<T>>()), b(o.b.as<In<T>>());
  const DeviceBuffer<D> c(o.c.as<D>());
  DeviceBuffer<D> d(kMostElements);
  d.poison();
  product<T, m, n, k, LayoutA, LayoutB, D, from, convert>
      <<<1, 32>>>(a.data(), b.data(), c.data(), d.data(), o.a.ld, o.b.ld, o.c.ld,
                  o.c.column_major ? wmma::mem_col_major : wmma::mem_row_major);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
  Matrix result = o.c;
  const std::vector<D> host = d.to_host();
  std::transform(host.begin(), host.end(), result.memory.begin(), [](D x) {
    if constexpr (sizeof(D) == 2)
      return double(float(x));
    else
      return double(x);
  });
  return result;
}

// A product of small whole numbers is exact in every format; one of any numbers is within what rounding can do.
template <class T, int m, int n, int k, class LayoutA, class LayoutB, class D, From from>
void check_product(bool c_column_major) {
  std::mt19937 random(m * 1000 + n * 10 + k);
  Operands o = operands<m, n, k, LayoutA, LayoutB>(c_column_major);
  const auto fill = [&](auto number) {
    for (Matrix* x : {&o.a, &o.b, &o.c})
      for (double& v : x->memory) v = number();
  };
  INFO(m << "x" << n << "x" << k << ", sizeof T " << sizeof(In<T>) << ", sizeof D " << sizeof(D) << ", layouts "
         << o.a.column_major << o.b.column_major << o.c.column_major << ", shared " << (from == From::shared));

  fill([&] { return static_cast<int>(random() % 9) - 4; });
  Matrix got = device_product<T, m, n, k, LayoutA, LayoutB, D, from>(o);
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      double sum = o.c.at(row, column);
      for (int i = 0; i < k; ++i) sum += o.a.at(row, i) * o.b.at(i, column);
      INFO("row " << row << ", column " << column);
      REQUIRE(got.at(row, column) == sum);
    }

  std::uniform_real_distribution<double> any(-2.0, 2.0);
  fill([&] { return any(random); });
  constexpr bool kConvert = std::is_same_v<T, Tf32>;
  got = device_product<T, m, n, k, LayoutA, LayoutB, D, from, kConvert>(o);
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      double sum = static_cast<double>(static_cast<float>(D(static_cast<float>(o.c.at(row, column)))));
      double size = std::abs(sum);
      for (int i = 0; i < k; ++i) {
        const double term = rounded<T>(o.a.at(row, i)) * rounded<T>(o.b.at(i, column));
        sum += term;
        size += std::abs(term);
      }
      // Each of k sums may be cut off rather than rounded; a result in half is rounded to 11 bits, and a GPU may do
      // that within the sum.
      const double bound = size * (k * 0x1p-23 + (sizeof(D) == 2 ? 0x1p-10 : 0));
      INFO("row " << row << ", column " << column);
      REQUIRE(std::abs(got.at(row, column) - sum) <= bound);
    }
}

template <class T, int m, int n, int k, class D>
void check_layouts() {
  for (const bool c_column_major : {false, true}) {
    check_product<T, m, n, k, Row, Column, D, From::global>(c_column_major);
    check_product<T, m, n, k, Column, Row, D, From::global>(c_column_major);
    check_product<T, m, n, k, Row, Row, D, From::shared>(c_column_major);
    check_product<T, m, n, k, Column, Column, D, From::shared>(c_column_major);
  }
}

}  // namespace

TEST_CASE("wmma: products of half, in all shapes and layouts", "[wmma]") {
  if (skipped()) return;
  check_layouts<__half, 16, 16, 16, float>();
  check_layouts<__half, 32, 8, 16, float>();
  check_layouts<__half, 8, 32, 16, float>();
}

TEST_CASE("wmma: products of half with sums in half", "[wmma]") {
  if (skipped()) return;
  check_layouts<__half, 16, 16, 16, __half>();
  check_layouts<__half, 32, 8, 16, __half>();
  check_layouts<__half, 8, 32, 16, __half>();
}

TEST_CASE("wmma: products of bfloat16, in all shapes and layouts", "[wmma]") {
  if (skipped()) return;
  check_layouts<__nv_bfloat16, 16, 16, 16, float>();
  check_layouts<__nv_bfloat16, 32, 8, 16, float>();
  check_layouts<__nv_bfloat16, 8, 32, 16, float>();
}

TEST_CASE("wmma: products of tf32, in all layouts", "[wmma]") {
  if (skipped()) return;
  check_layouts<Tf32, 16, 16, 8, float>();
}

// ---------------------------------------------------------------- integers and doubles
namespace {

// A, B and C hold numbers that a product of T keeps exactly, and so does the sum.
template <class T, class D, int m, int n, int k, class LayoutA, class LayoutB, From from>
void check_exact(bool c_column_major, bool halves) {
  Operands o = operands<m, n, k, LayoutA, LayoutB>(c_column_major);
  o.a.ld = o.b.ld = 48;  // rows of bytes begin at multiples of 16
  std::mt19937 random(m + 10 * n);
  for (Matrix* x : {&o.a, &o.b, &o.c})
    for (double& v : x->memory) {
      v = static_cast<int>(random() % 256) - (std::is_same_v<T, unsigned char> ? 0 : 128);
      if (halves) v += 0.5;
    }
  const Matrix got = device_product<T, m, n, k, LayoutA, LayoutB, D, from>(o);
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      double sum = o.c.at(row, column);
      for (int i = 0; i < k; ++i) sum += o.a.at(row, i) * o.b.at(i, column);
      INFO(m << "x" << n << "x" << k << ", row " << row << ", column " << column);
      REQUIRE(got.at(row, column) == sum);
    }
}

template <class T, class D, int m, int n, int k>
void check_exact_layouts(bool halves) {
  for (const bool c_column_major : {false, true}) {
    check_exact<T, D, m, n, k, Row, Column, From::global>(c_column_major, halves);
    check_exact<T, D, m, n, k, Column, Row, From::global>(c_column_major, halves);
    constexpr From from = sizeof(T) == 8 ? From::global : From::shared;  // three matrices of doubles have no room there
    check_exact<T, D, m, n, k, Row, Row, from>(c_column_major, halves);
    check_exact<T, D, m, n, k, Column, Column, from>(c_column_major, halves);
  }
}

__global__ void saturated(int* out, bool satf) {
#if HAS_TENSOR_FORMATS
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, Row> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, Column> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> c;
  wmma::fill_fragment(a, 100);
  wmma::fill_fragment(b, 100);
  wmma::fill_fragment(c, 0x7fffffff - 5);
  wmma::mma_sync(c, a, b, c, satf);
  wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
#endif
}

}  // namespace

TEST_CASE("wmma: products of signed and unsigned bytes are exact, in all shapes and layouts", "[wmma]") {
  if (skipped()) return;
  check_exact_layouts<signed char, int, 16, 16, 16>(false);
  check_exact_layouts<signed char, int, 32, 8, 16>(false);
  check_exact_layouts<unsigned char, int, 8, 32, 16>(false);
  check_exact_layouts<unsigned char, int, 16, 16, 16>(false);
}

TEST_CASE("wmma: products of doubles, in all layouts", "[wmma]") {
  if (skipped()) return;
  check_exact_layouts<double, double, 8, 8, 4>(true);
}

TEST_CASE("wmma: a sum of bytes that is too large goes round, or stays the largest int", "[wmma]") {
  if (skipped()) return;
  for (const int sum : on_device<int>(1, 32, 256, saturated, true)) REQUIRE(sum == 0x7fffffff);
  for (const int sum : on_device<int>(1, 32, 256, saturated, false)) REQUIRE(sum == INT32_MIN + 159994);
}

// ---------------------------------------------------------------- values at the edges
namespace {

// D is the 16 x 16 product of a matrix whose row i is (a[i], 0, 0 ...) and one whose first row is b: a[i] * b[j] + 0, where
// zeros times the other rows of B, also zeros, change nothing.
template <class T, int k, class D = float>
std::vector<double> outer_product(const std::vector<double>& a, const std::vector<double>& b) {
  Operands o = operands<16, 16, k, Row, Row>(false);
  for (int i = 0; i < 16; ++i) {
    o.a.at(i, 0) = a[static_cast<std::size_t>(i)];
    o.b.at(0, i) = b[static_cast<std::size_t>(i)];
  }
  const Matrix d = device_product<T, 16, 16, k, Row, Row, D>(o);
  std::vector<double> all;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) all.push_back(d.at(i, j));
  return all;
}

// Each product as single precision would give it, NaN and infinities included.
template <class T, int k>
void check_edges(const std::vector<double>& values) {
  std::vector<double> backwards(values.rbegin(), values.rend());
  const std::vector<double> got = outer_product<T, k>(values, backwards);
  for (std::size_t i = 0; i < 16; ++i)
    for (std::size_t j = 0; j < 16; ++j) {
      const double want = static_cast<double>(static_cast<float>(rounded<T>(values[i]) * rounded<T>(backwards[j])));
      INFO(values[i] << " times " << backwards[j]);
      if (std::isnan(want))
        CHECK(std::isnan(got[i * 16 + j]));
      else
        CHECK(got[i * 16 + j] == want);
    }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

}  // namespace

TEST_CASE("wmma: infinities, NaN, zeros and subnormals of half", "[wmma]") {
  if (skipped()) return;
  check_edges<__half, 16>({0.0, -0.0, 1.0, -1.0, kInfinity, -kInfinity, kNan, 0x1p-24, 0x1p-14, 0x1.ff8p-15, 65504.0,
                           -65504.0, 0x1.004p0, 0x1p-20, 3.0, -0.5});
}

TEST_CASE("wmma: infinities, NaN, zeros and large numbers of bfloat16 and tf32", "[wmma]") {
  if (skipped()) return;
  const std::vector<double> values{0.0,     -0.0,     1.0,     -1.0,     kInfinity, -kInfinity, kNan, 0x1p-60,
                                   0x1p-30, 0x1.fep3, 0x1p100, -0x1p100, 0x1.02p0,  0x1p-20,    3.0,  -0.5};
  check_edges<__nv_bfloat16, 16>(values);
  check_edges<Tf32, 8>(values);
}

TEST_CASE("wmma: a sum in half goes to infinity, and a NaN stays one", "[wmma]") {
  if (skipped()) return;
  const std::vector<double> a{65504.0, 1.0, kNan, kInfinity, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<double> b{2.0, -2.0, 0.0, 1.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<double> d = outer_product<__half, 16, __half>(a, b);
  CHECK(d[0] == kInfinity);
  CHECK(d[1] == -kInfinity);
  CHECK(d[3] == 65504.0);
  CHECK(d[16] == 2.0);
  CHECK(std::isnan(d[2 * 16 + 3]));
  CHECK(d[3 * 16] == kInfinity);
  CHECK(std::isnan(d[3 * 16 + 2]));
}

// ---------------------------------------------------------------- tf32
namespace {

__global__ void to_tf32(float* out, const float* in) {
#if HAS_TENSOR_FORMATS
  out[threadIdx.x] = wmma::__float_to_tf32(in[threadIdx.x]);
#endif
}

float from_bits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

TEST_CASE("wmma: __float_to_tf32 rounds to 10 bits, ties away from zero", "[wmma]") {
  if (skipped()) return;
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> cases{
      {0x3f800000, 0x3f800000}, {0x3f800fff, 0x3f800000}, {0x3f801000, 0x3f802000}, {0xbf801000, 0xbf802000},
      {0x3f803000, 0x3f804000}, {0x3f802fff, 0x3f802000}, {0x7f7fffff, 0x7f800000}, {0xff7fffff, 0xff800000},
      {0x7f800000, 0x7f800000}, {0xff800000, 0xff800000}, {0x00000fff, 0x00000000}, {0x00001000, 0x00002000},
      {0x80000001, 0x80000000}, {0x007fffff, 0x00800000}, {0x00000000, 0x00000000}, {0x80000000, 0x80000000}};
  std::vector<float> in;
  for (const auto& [bits, want] : cases) in.push_back(from_bits(bits));
  in.push_back(from_bits(0x7fc00001));
  const DeviceBuffer<float> values(in);
  const std::vector<float> got = on_device(1, static_cast<unsigned>(in.size()), in.size(), to_tf32, values.data());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, &got[i], sizeof bits);
    INFO(std::hex << cases[i].first);
    CHECK(bits == cases[i].second);
  }
  CHECK(std::isnan(got.back()));
}

TEST_CASE("wmma: of tf32 inputs that were not rounded, the lower 13 bits are ignored", "[wmma]") {
  if (skipped()) return;
  Operands o = operands<16, 16, 8, Row, Row>(false);
  o.a.at(0, 0) = static_cast<double>(from_bits(0x3f801fff));
  o.b.at(0, 0) = 1.0;
  CHECK(device_product<Tf32, 16, 16, 8, Row, Row, float>(o).at(0, 0) == 1.0);
}

// ---------------------------------------------------------------- which lane holds which element
namespace {

// 1, 2, 3 ... in memory; each lane says which it has been given.
template <class Use, int m, int n, int k, class T, class Layout>
__global__ void elements(std::uint32_t* out, const In<T>* in, int ld) {
#if HAS_TENSOR_FORMATS
  Fragment<Use, m, n, k, T, Layout> f;
  if constexpr (std::is_same_v<Use, wmma::accumulator>)
    wmma::load_matrix_sync(f, in, ld, wmma::mem_row_major);
  else
    wmma::load_matrix_sync(f, in, ld);
  for (int i = 0; i < 16; ++i) {
    std::uint32_t bits = 0;
    if (i < f.num_elements) memcpy(&bits, &f.x[i], sizeof(In<T>));
    out[threadIdx.x * 16 + i] = bits;
  }
#endif
}

struct At {
  int row, column;
};

// `place` says where the i-th of `count` elements of a lane lies, given the names of the PTX manual: group is lane / 4, thread is
// lane % 4.
template <class Use, int m, int n, int k, class T, class Layout = void, class PlaceOf>
void check_elements(int count, PlaceOf place) {
  const bool is_b = std::is_same_v<Use, wmma::matrix_b>, is_a = std::is_same_v<Use, wmma::matrix_a>;
  const int rows = is_b ? k : m, columns = is_a ? k : n;
  const bool column_major = std::is_same_v<Layout, Column>;
  const int ld = (column_major ? rows : columns) + 16 / static_cast<int>(sizeof(In<T>));
  std::vector<In<T>> memory(kMostElements);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const auto bits = static_cast<std::uint32_t>(i + 1);
    std::memcpy(&memory[i], &bits, sizeof(In<T>));
  }
  const DeviceBuffer<In<T>> in(memory);
  const std::vector<std::uint32_t> got =
      on_device(1, 32, 32 * 16, elements<Use, m, n, k, T, Layout>, static_cast<const In<T>*>(in.data()), ld);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 16; ++i) {
      const At at = place(lane / 4, lane % 4, i);
      const int index = column_major ? at.column * ld + at.row : at.row * ld + at.column;
      INFO(rows << " x " << columns << ", lane " << lane << ", element " << i << ", column-major " << column_major);
      REQUIRE(got[static_cast<std::size_t>(lane * 16 + i)] == (i < count ? static_cast<std::uint32_t>(index + 1) : 0u));
    }
}

// PTX manual, fragments of mma.m16n8k16 for .f16 and .bf16.
At a_of_m16n8k16(int group, int thread, int i) {
  const int row = (i >= 0 && i < 2) || (i >= 4 && i < 6) ? group : group + 8;
  return {row, thread * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
At b_of_m16n8k16(int group, int thread, int i) { return {thread * 2 + (i & 1) + (i >= 2 ? 8 : 0), group}; }
At c_of_m16n8k16(int group, int thread, int i) { return {i < 2 ? group : group + 8, thread * 2 + (i & 1)}; }
// The same of mma.m16n8k8 for .tf32.
At a_of_m16n8k8(int group, int thread, int i) {
  return {i == 0 || i == 2 ? group : group + 8, i == 0 || i == 1 ? thread : thread + 4};
}
At b_of_m16n8k8(int group, int thread, int i) { return {i == 0 ? thread : thread + 4, group}; }

// wmma's 16 x 16 x 16 are two of these side by side.
At b_of_16x16x16(int group, int thread, int i) {
  const At at = b_of_m16n8k16(group, thread, i % 4);
  return {at.row, at.column + i / 4 * 8};
}
At c_of_16x16x16(int group, int thread, int i) {
  const At at = c_of_m16n8k16(group, thread, i % 4);
  return {at.row, at.column + i / 4 * 8};
}
At b_of_16x16x8(int group, int thread, int i) {
  const At at = b_of_m16n8k8(group, thread, i % 2);
  return {at.row, at.column + i / 2 * 8};
}
// 32 x 8 x 16: two, one above the other. 8 x 32 x 16 is its transpose.
At a_of_32x8x16(int group, int thread, int i) {
  const At at = a_of_m16n8k16(group, thread, i % 8);
  return {at.row + i / 8 * 16, at.column};
}
At c_of_32x8x16(int group, int thread, int i) {
  const At at = c_of_m16n8k16(group, thread, i % 4);
  return {at.row + i / 4 * 16, at.column};
}
template <At (*place)(int, int, int)>
At transposed(int group, int thread, int i) {
  const At at = place(group, thread, i);
  return {at.column, at.row};
}
// Where 16 elements of half are stored, and fewer are distinct.
template <At (*place)(int, int, int), int distinct>
At repeated(int group, int thread, int i) {
  return place(group, thread, i % distinct);
}

template <class Layout>
void check_inputs() {
  using wmma::matrix_a, wmma::matrix_b;
  using B = __nv_bfloat16;
  check_elements<matrix_a, 16, 16, 16, B, Layout>(8, a_of_m16n8k16);
  check_elements<matrix_b, 16, 16, 16, B, Layout>(8, b_of_16x16x16);
  check_elements<matrix_a, 32, 8, 16, B, Layout>(16, a_of_32x8x16);
  check_elements<matrix_b, 32, 8, 16, B, Layout>(4, b_of_m16n8k16);
  check_elements<matrix_a, 8, 32, 16, B, Layout>(4, transposed<b_of_m16n8k16>);
  check_elements<matrix_b, 8, 32, 16, B, Layout>(16, transposed<a_of_32x8x16>);
  check_elements<matrix_a, 16, 16, 16, __half, Layout>(16, repeated<a_of_m16n8k16, 8>);
  check_elements<matrix_b, 16, 16, 16, __half, Layout>(16, repeated<b_of_16x16x16, 8>);
  check_elements<matrix_a, 32, 8, 16, __half, Layout>(16, a_of_32x8x16);
  check_elements<matrix_b, 32, 8, 16, __half, Layout>(16, repeated<b_of_m16n8k16, 4>);
  check_elements<matrix_a, 8, 32, 16, __half, Layout>(16, repeated<transposed<b_of_m16n8k16>, 4>);
  check_elements<matrix_b, 8, 32, 16, __half, Layout>(16, transposed<a_of_32x8x16>);
  check_elements<matrix_a, 16, 16, 8, Tf32, Layout>(4, a_of_m16n8k8);
  check_elements<matrix_b, 16, 16, 8, Tf32, Layout>(4, b_of_16x16x8);
}

}  // namespace

TEST_CASE("wmma: each lane holds the elements that the PTX manual gives it in mma.sync", "[wmma]") {
  if (skipped()) return;
  check_inputs<Row>();
  check_inputs<Column>();
  using wmma::accumulator;
  check_elements<accumulator, 16, 16, 16, float>(8, c_of_16x16x16);
  check_elements<accumulator, 32, 8, 16, float>(8, c_of_32x8x16);
  check_elements<accumulator, 8, 32, 16, float>(8, transposed<c_of_32x8x16>);
  check_elements<accumulator, 16, 16, 8, float>(8, c_of_16x16x16);
  check_elements<accumulator, 16, 16, 16, __half>(8, c_of_16x16x16);
  check_elements<accumulator, 32, 8, 16, __half>(8, c_of_32x8x16);
  check_elements<accumulator, 8, 32, 16, __half>(8, transposed<c_of_32x8x16>);
}

// ---------------------------------------------------------------- fragments in hand
namespace {

// Tiles of a larger matrix, one per warp: C = alpha A B + beta C, with the factors applied to the elements.
__global__ void scaled(float* c, const __nv_bfloat16* a, const __nv_bfloat16* b, int n, float alpha, float beta) {
#if HAS_TENSOR_FORMATS
  const int warp = threadIdx.x / 32;
  const int row = blockIdx.y * 16, column = (blockIdx.x * 2 + warp) * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, old;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, Row> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, Column> fb;
    wmma::load_matrix_sync(fa, a + row * n + k, n);
    wmma::load_matrix_sync(fb, b + column * n + k, n);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::load_matrix_sync(old, c + row * n + column, n, wmma::mem_row_major);
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = alpha * sum.x[i] + beta * old.x[i];
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
#endif
}

}  // namespace

TEST_CASE("wmma: a matrix of tiles, whose elements are scaled in the fragments", "[wmma]") {
  if (skipped()) return;
  constexpr int n = 64;
  std::vector<__nv_bfloat16> a, b;
  std::vector<float> c;
  for (int i = 0; i < n * n; ++i) {
    a.push_back(__nv_bfloat16(static_cast<float>(i % 7 - 3)));
    b.push_back(__nv_bfloat16(static_cast<float>(i % 5 - 2)));
    c.push_back(static_cast<float>(i % 3));
  }
  const DeviceBuffer<__nv_bfloat16> da(a), db(b);
  DeviceBuffer<float> dc(c);
  scaled<<<dim3(2, 4), 64>>>(dc.data(), da.data(), db.data(), n, 2.0f, -1.0f);
  CUDA_CHECK_LAUNCH();
  const std::vector<float> got = dc.to_host();
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k)
        sum += static_cast<float>((i * n + k) % 7 - 3) * static_cast<float>((j * n + k) % 5 - 2);
      INFO(i << ", " << j);
      REQUIRE(got[static_cast<std::size_t>(i * n + j)] == 2 * sum - static_cast<float>((i * n + j) % 3));
    }
}

// ---------------------------------------------------------------- what is counted
#ifdef TILEWISE_SIMULATOR
namespace {

using tilewise::sim::Counters;

// One product of tiles in rows of `ld` elements, in global or shared memory; the accumulator stays in registers.
template <class T, int m, int n, int k, class LayoutA, class LayoutB, bool shared>
__global__ void counted(const In<T>* a, int ld) {
  __shared__ __align__(128) In<T> s[64 * 64];
  if (shared && threadIdx.x == 0) memset(s, 0, sizeof s);
  __syncthreads();
  Fragment<wmma::matrix_a, m, n, k, T, LayoutA> fa;
  Fragment<wmma::matrix_b, m, n, k, T, LayoutB> fb;
  wmma::fragment<wmma::accumulator, m, n, k, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  wmma::load_matrix_sync(fa, shared ? s : a, ld);
  wmma::load_matrix_sync(fb, shared ? s : a, ld);
  wmma::mma_sync(sum, fa, fb, sum);
}

template <class T, int m, int n, int k, class LayoutA, class LayoutB, bool shared>
Counters counts_of(int ld) {
  DeviceBuffer<In<T>> a(64 * 64);
  a.zero();
  const bool was = tilewise::sim::set_counting(true);
  counted<T, m, n, k, LayoutA, LayoutB, shared><<<1, 32>>>(a.data(), ld);
  tilewise::sim::set_counting(was);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  return tilewise::sim::last_counters();
}

}  // namespace

TEST_CASE("wmma: loads from global memory are those of the machine code", "[wmma]") {
  // Four registers each for A and B, of 8 rows of 16 bytes.
  Counters c = counts_of<__nv_bfloat16, 16, 16, 16, Row, Column, false>(16);
  CHECK(c.global_load_requests == 8);
  CHECK(c.global_load_sectors == 8 * 8);
  CHECK(c.global_load_bytes == 8 * 128);
  CHECK(c.tensor_instructions == 2);
  CHECK(c.tensor_flop == 2 * 16 * 16 * 16);
  CHECK(c.flop_single == 0);
  CHECK(c.shared_load_instructions + c.matrix_load_instructions == 0);
  const Counters compiled = tilewise::sim::last_counters_as_compiled();
  CHECK(compiled.global_load_requests == 8);
  CHECK(compiled.tensor_instructions == 2);
  // The layout changes who needs what, not what is loaded.
  CHECK(counts_of<__half, 16, 16, 16, Column, Row, false>(16).global_load_sectors == 8 * 8);
  // Rows of 8 elements lie side by side.
  CHECK(counts_of<__half, 32, 8, 16, Row, Row, false>(8).global_load_requests == 8 + 2);
  c = counts_of<__half, 8, 32, 16, Row, Column, false>(16);
  CHECK(c.global_load_requests == 2 + 8);
  CHECK(c.tensor_instructions == 2);
  CHECK(c.tensor_flop == 2 * 8 * 32 * 16);
  // tf32: one element in each register, 8 rows of 16 bytes, or 4 of 32.
  c = counts_of<Tf32, 16, 16, 8, Row, Column, false>(8);
  CHECK(c.global_load_requests == 8);
  CHECK(c.global_load_sectors == 8 * 8);
  CHECK(c.tensor_instructions == 4);
  CHECK(c.tensor_flop == 2 * 16 * 16 * 8);
  CHECK(counts_of<Tf32, 16, 16, 8, Column, Row, false>(16).global_load_sectors == 8 * 4);
}

TEST_CASE("wmma: half comes from shared memory by ldmatrix, other formats by plain loads", "[wmma]") {
  // Rows of 48 bytes: eight of them touch all banks once.
  Counters c = counts_of<__half, 16, 16, 16, Row, Row, true>(24);
  CHECK(c.matrix_load_instructions == 2);
  CHECK(c.matrix_load_wavefronts == 2 * 4);
  CHECK(c.matrix_load_ideal == 2 * 4);
  CHECK(c.shared_load_instructions == 0);
  // Rows of 128 bytes: all eight in the same four banks.
  c = counts_of<__half, 16, 16, 16, Row, Row, true>(64);
  CHECK(c.matrix_load_wavefronts == 2 * 4 * 8);
  CHECK(c.matrix_load_ideal == 2 * 4);
  c = counts_of<__half, 32, 8, 16, Row, Row, true>(24);
  CHECK(c.matrix_load_instructions == 2 + 1);
  CHECK(c.matrix_load_wavefronts == 8 + 2);
  c = counts_of<__half, 8, 32, 16, Row, Column, true>(24);
  CHECK(c.matrix_load_instructions == 1 + 2);
  // Four lanes share a row's 16 bytes.
  c = counts_of<__nv_bfloat16, 16, 16, 16, Row, Column, true>(24);
  CHECK(c.matrix_load_instructions == 0);
  CHECK(c.shared_load_instructions == 8);
  CHECK(c.shared_load_wavefronts == 8);
  c = counts_of<__nv_bfloat16, 16, 16, 16, Row, Column, true>(64);
  CHECK(c.shared_load_wavefronts == 8 * 8);
  CHECK(tilewise::sim::last_counters_as_compiled().shared_load_instructions == 8);
}

namespace {

__global__ void accumulate(float* c, __half* d, int ld, wmma::layout_t layout) {
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> f;
  wmma::load_matrix_sync(f, c, ld, layout);
  wmma::store_matrix_sync(c, f, ld, layout);
  wmma::fragment<wmma::accumulator, 16, 16, 16, __half> h;
  wmma::load_matrix_sync(h, d, ld, layout);
  wmma::store_matrix_sync(d, h, ld, layout);
}

}  // namespace

TEST_CASE("wmma: accumulators are moved 8 bytes at a time in rows, and 4 in columns", "[wmma]") {
  DeviceBuffer<float> c(16 * 16);
  DeviceBuffer<__half> d(16 * 16);
  c.zero();
  d.zero();
  const auto counts = [&](wmma::layout_t layout) {
    const bool was = tilewise::sim::set_counting(true);
    accumulate<<<1, 32>>>(c.data(), d.data(), 16, layout);
    tilewise::sim::set_counting(was);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    return tilewise::sim::last_counters();
  };
  for (const auto layout : {wmma::mem_row_major, wmma::mem_col_major}) {
    const Counters n = counts(layout);
    const std::uint64_t of_float = layout == wmma::mem_row_major ? 4 : 8, of_half = 4;
    CHECK(n.global_load_requests == of_float + of_half);
    CHECK(n.global_store_requests == of_float + of_half);
    CHECK(n.global_store_bytes == 16 * 16 * (4 + 2));
    CHECK(n.tensor_instructions == 0);
  }
}

namespace {

__global__ void repeats(const __half* a, float* c, int n) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, Row> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, Row> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < n; ++i) {
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, a + 256, 16);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(c + blockIdx.x * 256, sum, 16, wmma::mem_row_major);
}

}  // namespace

TEST_CASE("wmma: nvcc moves no fragment's load out of a loop", "[wmma]") {
  DeviceBuffer<__half> a(512);
  DeviceBuffer<float> c(3 * 256);
  a.zero();
  const bool was = tilewise::sim::set_counting(true);
  repeats<<<3, 32>>>(a.data(), c.data(), 5);
  tilewise::sim::set_counting(was);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(tilewise::sim::last_counters().global_load_requests == 3 * 5 * 8);
  CHECK(tilewise::sim::last_counters_as_compiled().global_load_requests == 3 * 5 * 8);
  CHECK(tilewise::sim::last_counters().tensor_instructions == 3 * 5 * 2);
  CHECK(tilewise::sim::last_counters().tensor_flop == 3 * 5 * 8192);
}
#endif
