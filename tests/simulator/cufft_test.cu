// cuFFT against sums of n^2 terms: all types, one to three dimensions, ragged lengths, batches with strides, in and out of place, and what
// is refused. Holds on a GPU too.
#include <cuda_runtime.h>
#include <cufft.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <random>
#include <type_traits>
#include <vector>

#include "catch.hpp"
#include "tilewise/device_buffer.hpp"

namespace {

using tilewise::DeviceBuffer;
using Complex = std::complex<double>;
using Values = std::vector<Complex>;

struct Plan {
  cufftHandle handle = 0;
  ~Plan() {
    if (handle != 0) cufftDestroy(handle);
  }
};

std::size_t product(const std::vector<int>& n) {
  std::size_t all = 1;
  for (const int length : n) all *= static_cast<std::size_t>(length);
  return all;
}

/// The sum that a transform is, along one dimension after another; `sign` is that of the exponent.
Values direct(const std::vector<int>& n, Values values, int sign) {
  std::size_t stride = product(n);
  for (const int length : n) {
    const auto m = static_cast<std::size_t>(length);
    stride /= m;
    Values next(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t k = i / stride % m, first = i - k * stride;
      for (std::size_t j = 0; j < m; ++j)
        next[i] += values[first + j * stride] *
                   std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(j * k % m) / length);
    }
    values = next;
  }
  return values;
}

Values numbers(std::size_t count, bool real, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> any(-1, 1);
  Values values(count);
  for (Complex& v : values) v = {any(random), real ? 0 : any(random)};
  return values;
}

template <class T>
T element(const Complex& value) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(value.real());
  else
    return {static_cast<decltype(T::x)>(value.real()), static_cast<decltype(T::x)>(value.imag())};
}
template <class T>
Complex value_of(const T& e) {
  if constexpr (std::is_floating_point_v<T>)
    return e;
  else
    return {e.x, e.y};
}

template <class T>
std::vector<T> as(const Values& values) {
  std::vector<T> all;
  for (const Complex& v : values) all.push_back(element<T>(v));
  return all;
}

template <class T>
constexpr double kEpsilon = std::is_same_v<T, float> || std::is_same_v<T, cufftComplex> ? 1e-6 : 1e-14;

/// Each within what sums of that length may be off.
template <class T>
void check_close(const std::vector<T>& got, const Values& want) {
  REQUIRE(got.size() == want.size());
  double size = 0;
  for (const Complex& v : want) size += std::norm(v);
  const double bound = kEpsilon<T> * (1 + std::sqrt(size));
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("element " << i << ": " << value_of(got[i]).real() << " " << value_of(got[i]).imag() << ", and not "
                    << want[i].real() << " " << want[i].imag());
    REQUIRE(std::abs(value_of(got[i]) - want[i]) <= bound);
  }
}

cufftResult make(Plan& plan, std::vector<int> n, cufftType type, int batch = 1) {
  if (n.size() == 1) return cufftPlan1d(&plan.handle, n[0], type, batch);
  if (batch != 1)
    return cufftPlanMany(&plan.handle, static_cast<int>(n.size()), n.data(), nullptr, 1, 0, nullptr, 1, 0, type, batch);
  if (n.size() == 2) return cufftPlan2d(&plan.handle, n[0], n[1], type);
  return cufftPlan3d(&plan.handle, n[0], n[1], n[2], type);
}

const std::vector<std::vector<int>> kSizes{{1},    {2},    {3},    {7},       {16},     {100},
                                           {5, 7}, {8, 4}, {1, 6}, {3, 4, 5}, {2, 3, 1}};

cufftResult execute(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) {
  return cufftExecC2C(plan, in, out, direction);
}
cufftResult execute(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction) {
  return cufftExecZ2Z(plan, in, out, direction);
}
cufftResult execute(cufftHandle plan, float* in, cufftComplex* out) { return cufftExecR2C(plan, in, out); }
cufftResult execute(cufftHandle plan, double* in, cufftDoubleComplex* out) { return cufftExecD2Z(plan, in, out); }
cufftResult execute(cufftHandle plan, cufftComplex* in, float* out) { return cufftExecC2R(plan, in, out); }
cufftResult execute(cufftHandle plan, cufftDoubleComplex* in, double* out) { return cufftExecZ2D(plan, in, out); }

template <class T>
void check_complex(cufftType type) {
  for (const std::vector<int>& n : kSizes)
    for (const int batch : {1, 3})
      for (const int direction : {CUFFT_FORWARD, CUFFT_INVERSE}) {
        INFO(n.size() << " dimensions, the first " << n[0] << ", batch " << batch << ", direction " << direction);
        const std::size_t size = product(n);
        Values in, want;
        for (int b = 0; b < batch; ++b) {
          const Values one = numbers(size, false, static_cast<unsigned>(b)), result = direct(n, one, direction);
          in.insert(in.end(), one.begin(), one.end());
          want.insert(want.end(), result.begin(), result.end());
        }
        Plan plan;
        REQUIRE(make(plan, n, type, batch) == CUFFT_SUCCESS);
        DeviceBuffer<T> a(as<T>(in)), b(in.size());
        REQUIRE(execute(plan.handle, a.data(), b.data(), direction) == CUFFT_SUCCESS);
        CUDA_CHECK(cudaDeviceSynchronize());
        check_close(b.to_host(), want);
        check_close(a.to_host(), in);
        REQUIRE(execute(plan.handle, a.data(), a.data(), direction) == CUFFT_SUCCESS);
        CUDA_CHECK(cudaDeviceSynchronize());
        check_close(a.to_host(), want);
      }
}

/// Of the last dimension, the first half and one more.
Values half(const std::vector<int>& n, const Values& all) {
  const auto last = static_cast<std::size_t>(n.back());
  Values kept;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i % last <= last / 2) kept.push_back(all[i]);
  return kept;
}

/// Rows of `last` with room for `room`.
Values padded(const Values& all, std::size_t last, std::size_t room) {
  Values rows;
  for (std::size_t i = 0; i < all.size(); ++i) {
    rows.push_back(all[i]);
    if (i % last + 1 == last) rows.resize(rows.size() + room - last);
  }
  return rows;
}

template <class Real, class T>
void check_real(cufftType forward, cufftType backward) {
  for (const std::vector<int>& n : kSizes) {
    INFO(n.size() << " dimensions, the first " << n[0] << ", the last " << n.back());
    const std::size_t size = product(n), last = static_cast<std::size_t>(n.back());
    const Values in = numbers(size, true), all = direct(n, in, CUFFT_FORWARD), want = half(n, all);
    Values scaled = in;
    for (Complex& v : scaled) v *= static_cast<double>(size);
    Plan there, back;
    REQUIRE(make(there, n, forward) == CUFFT_SUCCESS);
    REQUIRE(make(back, n, backward) == CUFFT_SUCCESS);

    DeviceBuffer<Real> reals(as<Real>(in));
    DeviceBuffer<T> complexes(want.size());
    REQUIRE(execute(there.handle, reals.data(), complexes.data()) == CUFFT_SUCCESS);
    CUDA_CHECK(cudaDeviceSynchronize());
    check_close(complexes.to_host(), want);
    REQUIRE(execute(back.handle, complexes.data(), reals.data()) == CUFFT_SUCCESS);
    CUDA_CHECK(cudaDeviceSynchronize());
    check_close(reals.to_host(), scaled);

    // In place, rows of real numbers have room for the complex ones.
    const std::size_t room = 2 * (last / 2 + 1);
    DeviceBuffer<Real> both(as<Real>(padded(in, last, room)));
    REQUIRE(execute(there.handle, both.data(), reinterpret_cast<T*>(both.data())) == CUFFT_SUCCESS);
    REQUIRE(execute(back.handle, reinterpret_cast<T*>(both.data()), both.data()) == CUFFT_SUCCESS);
    CUDA_CHECK(cudaDeviceSynchronize());
    const std::vector<Real> rows = both.to_host();
    std::vector<Real> got;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (i % room < last) got.push_back(rows[i]);
    check_close(got, scaled);
  }
}

}  // namespace

TEST_CASE("cuFFT: complex transforms, in single and double precision", "[cufft]") {
  check_complex<cufftComplex>(CUFFT_C2C);
  check_complex<cufftDoubleComplex>(CUFFT_Z2Z);
}

TEST_CASE("cuFFT: real numbers and back, in single and double precision", "[cufft]") {
  check_real<float, cufftComplex>(CUFFT_R2C, CUFFT_C2R);
  check_real<double, cufftDoubleComplex>(CUFFT_D2Z, CUFFT_Z2D);
}

TEST_CASE("cuFFT: the columns of a matrix, and a part of a larger one", "[cufft]") {
  constexpr int rows = 6, columns = 5;
  const Values in = numbers(rows * columns, false);
  DeviceBuffer<cufftDoubleComplex> a(as<cufftDoubleComplex>(in)), b(rows * columns);
  int n[] = {rows}, embed[] = {rows};
  Plan plan;
  REQUIRE(cufftPlanMany(&plan.handle, 1, n, embed, columns, 1, embed, columns, 1, CUFFT_Z2Z, columns) == CUFFT_SUCCESS);
  REQUIRE(cufftExecZ2Z(plan.handle, a.data(), b.data(), CUFFT_FORWARD) == CUFFT_SUCCESS);
  CUDA_CHECK(cudaDeviceSynchronize());
  Values want(rows * columns);
  for (std::size_t c = 0; c < columns; ++c) {
    Values column;
    for (std::size_t r = 0; r < rows; ++r) column.push_back(in[r * columns + c]);
    column = direct({rows}, column, CUFFT_FORWARD);
    for (std::size_t r = 0; r < rows; ++r) want[r * columns + c] = column[r];
  }
  check_close(b.to_host(), want);

  // 3 x 4 at the head of rows of 5, every element; two of them, 15 apart. The result in rows of 4.
  int small[] = {3, 4}, wide[] = {3, 5}, tight[] = {3, 4};
  Plan part;
  REQUIRE(cufftPlanMany(&part.handle, 2, small, wide, 1, 15, tight, 1, 12, CUFFT_Z2Z, 2) == CUFFT_SUCCESS);
  DeviceBuffer<cufftDoubleComplex> out(24);
  REQUIRE(cufftExecZ2Z(part.handle, a.data(), out.data(), CUFFT_INVERSE) == CUFFT_SUCCESS);
  CUDA_CHECK(cudaDeviceSynchronize());
  want.clear();
  for (std::size_t t = 0; t < 2; ++t) {
    Values one;
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t c = 0; c < 4; ++c) one.push_back(in[t * 15 + r * 5 + c]);
    one = direct({3, 4}, one, CUFFT_INVERSE);
    want.insert(want.end(), one.begin(), one.end());
  }
  check_close(out.to_host(), want);
}

TEST_CASE("cuFFT: what is wrong with a plan is said by its status", "[cufft]") {
  cufftHandle plan = 0;
  CHECK(cufftPlan1d(&plan, 0, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE);
#ifdef TILEWISE_SIMULATOR  // on an H100 cuFFT makes such a plan, and executes it without an error
  CHECK(cufftPlan2d(&plan, 4, -1, CUFFT_C2C) == CUFFT_INVALID_SIZE);
#endif
  CHECK(cufftPlan1d(&plan, 8, static_cast<cufftType>(7), 1) == CUFFT_INVALID_TYPE);
  REQUIRE(cufftCreate(&plan) == CUFFT_SUCCESS);
  std::size_t bytes = 1;
  REQUIRE(cufftMakePlan1d(plan, 8, CUFFT_C2C, 2, &bytes) == CUFFT_SUCCESS);
  CHECK(cufftGetSize(plan, &bytes) == CUFFT_SUCCESS);
  DeviceBuffer<cufftComplex> x(16);
  x.zero();
  CHECK(cufftExecC2C(plan, x.data(), x.data(), 2) == CUFFT_INVALID_VALUE);
  CHECK(cufftExecC2C(plan, x.data(), x.data(), CUFFT_FORWARD) == CUFFT_SUCCESS);
  CUDA_CHECK(cudaDeviceSynchronize());
  REQUIRE(cufftDestroy(plan) == CUFFT_SUCCESS);
  CHECK(cufftDestroy(plan) == CUFFT_INVALID_PLAN);
  CHECK(cufftExecC2C(plan, x.data(), x.data(), CUFFT_FORWARD) == CUFFT_INVALID_PLAN);
}

TEST_CASE("cuFFT: a plan works in its stream", "[cufft]") {
  Plan plan;
  REQUIRE(cufftPlan1d(&plan.handle, 64, CUFFT_C2C, 1) == CUFFT_SUCCESS);
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  REQUIRE(cufftSetStream(plan.handle, stream) == CUFFT_SUCCESS);
  DeviceBuffer<cufftComplex> x(64);
  CUDA_CHECK(cudaMemsetAsync(x.data(), 0, 64 * sizeof(cufftComplex), stream));
  REQUIRE(cufftExecC2C(plan.handle, x.data(), x.data(), CUFFT_FORWARD) == CUFFT_SUCCESS);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  for (const cufftComplex& v : x.to_host()) REQUIRE((v.x == 0 && v.y == 0));
  CUDA_CHECK(cudaStreamDestroy(stream));
}

TEST_CASE("cuFFT: a transform in a captured stream is done when the graph is launched", "[cufft]") {
  Plan plan;
  REQUIRE(cufftPlan1d(&plan.handle, 4, CUFFT_C2C, 1) == CUFFT_SUCCESS);
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  REQUIRE(cufftSetStream(plan.handle, stream) == CUFFT_SUCCESS);
  DeviceBuffer<cufftComplex> x(std::vector<cufftComplex>(4, cufftComplex{1, 0}));
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CHECK(cufftExecC2C(plan.handle, x.data(), x.data(), CUFFT_FORWARD) == CUFFT_SUCCESS);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(x.to_host()[0].x == 1);
  CUDA_CHECK(cudaGraphLaunch(exec, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CHECK(x.to_host()[0].x == 4);
  CHECK(x.to_host()[1].x == 0);
  CUDA_CHECK(cudaGraphExecDestroy(exec));
  CUDA_CHECK(cudaGraphDestroy(graph));
  CUDA_CHECK(cudaStreamDestroy(stream));
}
