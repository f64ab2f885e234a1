// Chapter 13: WMMA in half and bfloat16, on every kind of shape, and the wrong kernels that the same check must reject. What needs compute
// capability 9.0 is in hopper_test.cu.
#include "tensor_cores.cuh"

#include <string>
#include <vector>

#include "13_tensor_cores/check_product.hpp"
#include "13_tensor_cores/mutants/mutants.cuh"
#include "catch.hpp"
#include "tilewise/counters.hpp"
#include "tilewise/device.hpp"

namespace {

using tilewise::MatmulShape;

/// True where this GPU's tensor cores don't know T.
template <class T>
bool skipped() {
  const int needed = std::is_same_v<T, __half> ? 7 : 8;
  if (tilewise::device().major >= needed) return false;
  WARN("needs compute capability " << needed << ".0: nothing is checked");
  return true;
}

template <class T>
ProductKernel<T> from_global(cudaStream_t stream = nullptr) {
  return {"wmma_from_global",
          [=](const T* A, const T* B, T* C, int M, int N, int K) {
            return launch_wmma_from_global(A, B, C, M, N, K, stream);
          },
          narrow_arithmetic<T>()};
}

template <class T, int STAGES>
ProductKernel<T> tiles(cudaStream_t stream = nullptr) {
  return {"wmma_tiles<" + std::to_string(STAGES) + ">",
          [=](const T* A, const T* B, T* C, int M, int N, int K) {
            return launch_wmma_tiles<T, STAGES>(A, B, C, M, N, K, stream);
          },
          narrow_arithmetic<T>()};
}

template <class T>
std::vector<ProductKernel<T>> both(cudaStream_t stream = nullptr) {
  return {from_global<T>(stream), tiles<T, 3>(stream)};
}

/// Of one fragment, of one warp's or one block's edge, flat, tall, and all three different.
const std::vector<MatmulShape> multiples_of_16 = {{16, 16, 16}, {16, 64, 16},   {16, 80, 48},  {48, 16, 208},
                                                  {80, 48, 32}, {112, 144, 64}, {32, 208, 112}};

/// One row, less than a tile, tiles and a little more, primes for M and eight times primes for N and K.
const std::vector<MatmulShape> multiples_of_8 = {{1, 8, 8},     {1, 136, 8},    {2, 8, 40},     {5, 40, 24},
                                                 {31, 56, 88},  {127, 120, 16}, {128, 128, 32}, {129, 136, 72},
                                                 {67, 264, 24}, {257, 8, 104},  {3, 128, 200},  {97, 184, 56}};

/// TYPE is the test's type.
#define SKIP_WITHOUT(TYPE) \
  if (skipped<TYPE>()) return

}  // namespace

TEMPLATE_TEST_CASE("WMMA from global memory is right on every shape of whole fragments", "[wmma]", __half,
                   __nv_bfloat16) {
  SKIP_WITHOUT(TestType);
  for (const MatmulShape& shape : multiples_of_16) require_right_product<TestType>(both<TestType>(), shape);
}

TEMPLATE_TEST_CASE("WMMA from tiles is right on every shape", "[wmma]", __half, __nv_bfloat16) {
  SKIP_WITHOUT(TestType);
  for (const MatmulShape& shape : multiples_of_8)
    require_right_product<TestType>({tiles<TestType, 2>(), tiles<TestType, 3>()}, shape);
}

TEMPLATE_TEST_CASE("WMMA is right on all kinds of data", "[wmma]", __half, __nv_bfloat16) {
  SKIP_WITHOUT(TestType);
  require_right_product_on_all_data<TestType>(both<TestType>(), {48, 80, 144}, {3, 4});
  require_right_product_on_all_data<TestType>({tiles<TestType, 3>()}, {45, 136, 56}, {5});
}

TEMPLATE_TEST_CASE("small whole numbers make exact products", "[wmma]", __half, __nv_bfloat16) {
  SKIP_WITHOUT(TestType);
  // Numbers up to 4: 16 products are 256 at the most, which bfloat16 holds without rounding.
  const MatmulShape shape{48, 80, 16};
  const auto whole = tilewise::Distribution::integers;
  for (const ProductKernel<TestType>& kernel : both<TestType>()) {
    const ProductCase<TestType> product(shape, random_operand<TestType>(shape.m * shape.k, 1, whole),
                                        random_operand<TestType>(shape.k * shape.n, 2, whole), kernel.arithmetic, true);
    const Verdict verdict = check_product(kernel.launch, product);
    INFO(kernel.name << ": " << verdict.text);
    REQUIRE(verdict.right());
  }
}

TEMPLATE_TEST_CASE("what WMMA multiplies and is not a number stays in its row and column", "[wmma]", __half,
                   __nv_bfloat16) {
  SKIP_WITHOUT(TestType);
  const auto require_nan_stays = [](const ProductKernel<TestType>& kernel, const MatmulShape& shape) {
    const Verdict verdict = check_product(kernel.launch, case_with_nan<TestType>(shape, kernel.arithmetic, true));
    INFO(kernel.name << ", " << shape.text() << ": " << verdict.text);
    REQUIRE(verdict.right());
  };
  for (const ProductKernel<TestType>& kernel : both<TestType>()) require_nan_stays(kernel, {32, 80, 48});
  for (const MatmulShape& shape : {MatmulShape{21, 40, 24}, {131, 136, 56}})
    require_nan_stays(tiles<TestType, 3>(), shape);
}

TEST_CASE("a sum beyond half's largest number becomes infinity", "[wmma]") {
  SKIP_WITHOUT(__half);
  // 16 * 64 * 64 = 65536, and half ends at 65504; with a 0 in the place of one 64, it fits.
  std::vector<float> a(16 * 16, 64.0f), b(16 * 16, 64.0f);
  a[3 * 16 + 5] = 0;
  const tilewise::DeviceBuffer<__half> A(narrowed<__half>(a)), B(narrowed<__half>(b));
  tilewise::DeviceBuffer<__half> C(16 * 16);
  for (const ProductKernel<__half>& kernel : both<__half>()) {
    C.poison();
    REQUIRE(kernel.launch(A.data(), B.data(), C.data(), 16, 16, 16) == cudaSuccess);
    const std::vector<float> c = widened(C.to_host());
    INFO(kernel.name);
    for (int i = 0; i < 16 * 16; ++i)
      REQUIRE(c[i] == (i / 16 == 3 ? 61440.0f : std::numeric_limits<float>::infinity()));
  }
}

TEMPLATE_TEST_CASE("an empty matrix is no error for WMMA, and a sum of no products is zero", "[wmma]", __half,
                   __nv_bfloat16) {
  SKIP_WITHOUT(TestType);
  require_empty_product_is_no_error<TestType>(both<TestType>(), 16, 48);
  require_empty_product_is_no_error<TestType>({tiles<TestType, 3>()}, 5, 24);
}

TEMPLATE_TEST_CASE("what WMMA can't take is refused, and C is left alone", "[wmma]", __half, __nv_bfloat16) {
  SKIP_WITHOUT(TestType);
  const std::vector<Refusal> refused_by_both = {
      {0, 0, 0, -16, 16, 16}, {0, 0, 0, 16, -16, 16}, {0, 0, 0, 16, 16, -16},
      {0, 0, 0, 16, 20, 16},  {0, 0, 0, 16, 16, 20},  {0, 0, 0, 1 << 24, 16, 16},  // 2^17 rows of blocks, or more
      {1, 0, 0, 16, 16, 16},  {4, 0, 0, 16, 16, 16},  {0, 4, 0, 16, 16, 16}};
  require_product_refusals<TestType>(both<TestType>(), refused_by_both);
  require_product_refusals<TestType>({from_global<TestType>()}, {{0, 0, 0, 8, 16, 16},
                                                                 {0, 0, 0, 16, 24, 16},
                                                                 {0, 0, 0, 16, 16, 24},
                                                                 {8, 0, 0, 16, 16, 16},
                                                                 {0, 8, 0, 16, 16, 16}});
  constexpr int kTooMany = (1 << 30) + 8;
  require_product_refusals<TestType>({tiles<TestType, 3>()},
                                     {{0, 0, 4, 16, 16, 16}, {0, 0, 0, 16, kTooMany, 16}, {0, 0, 0, 16, 16, kTooMany}});
}

TEST_CASE("without tensor cores for a type, its launches say so", "[wmma]") {
  if (tilewise::device().major >= 8) return;
  tilewise::DeviceBuffer<__nv_bfloat16> matrix(16 * 16);
  for (const ProductKernel<__nv_bfloat16>& kernel : both<__nv_bfloat16>())
    CHECK(kernel.launch(matrix.data(), matrix.data(), matrix.data(), 16, 16, 16) == cudaErrorNotSupported);
}

TEMPLATE_TEST_CASE("WMMA runs on the stream it is given", "[wmma]", __half, __nv_bfloat16) {
  SKIP_WITHOUT(TestType);
  const tilewise::Stream stream;
  require_right_product<TestType>(both<TestType>(stream.get()), {48, 80, 64});
}

#ifdef TILEWISE_SIMULATOR

namespace {

template <class T>
struct TightProduct {
  tilewise::DeviceBuffer<T> A, B, C;
  int M, N, K;

  /// Matrices with nothing beside them.
  TightProduct(int M, int N, int K) : A(operand(M * K, 1)), B(operand(K * N, 2)), C(M * N), M(M), N(N), K(K) {}

  void run(const ProductKernel<T>& kernel) {
    REQUIRE(kernel.launch(A.data(), B.data(), C.data(), M, N, K) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  }
  tilewise::Counts counts(const ProductKernel<T>& kernel) {
    return tilewise::count([&] { run(kernel); }).value();
  }

 private:
  static std::vector<T> operand(std::size_t size, std::uint64_t seed) {
    return narrowed<T>(random_operand<T>(size, seed, tilewise::Distribution::uniform));
  }
};

}  // namespace

TEMPLATE_TEST_CASE("WMMA reads nothing past the matrices, at no edge", "[wmma]", __half, __nv_bfloat16) {
  const auto findings_of = [](const ProductKernel<TestType>& kernel, int M, int N, int K) {
    NewFindings findings;
    TightProduct<TestType>(M, N, K).run(kernel);
    return findings.take();
  };
  REQUIRE(findings_of(from_global<TestType>(), 48, 80, 32).empty());
  for (const int3& shape : {int3{1, 8, 8}, {33, 40, 24}, {129, 136, 40}, {5, 264, 8}})
    REQUIRE(findings_of(tiles<TestType, 3>(), shape.x, shape.y, shape.z).empty());
}

TEMPLATE_TEST_CASE("loads, products and stores are those that the page promises", "[counts]", __half, __nv_bfloat16) {
  TightProduct<TestType> product(128, 128, 64);
  const std::uint64_t products = 8 * 8 * 4, numbers = 2 * 128 * 64;  // of 16 x 16 x 16; in A and B
  const tilewise::Counts global = product.counts(from_global<TestType>());
  CHECK(global.global_load_bytes == products * 1024);
  CHECK(global.sectors_per_load() ==
        8);  // a row of a fragment is 32 bytes, and 8 rows are asked for at once, 16 bytes of each
  CHECK(global.tensor_flops == products * 2 * 16 * 16 * 16);
  CHECK(global.matrix_loads == 0);

  const tilewise::Counts tiled = product.counts(tiles<TestType, 3>());
  CHECK(tiled.global_load_bytes == global.global_load_bytes / 8);
  CHECK(tiled.global_load_bytes == numbers * 2);
  CHECK(tiled.async_copies == numbers / 8 / 32);
  CHECK(tiled.async_copy_wavefronts == 0);  // of 16 bytes: none
  CHECK(tiled.tensor_instructions == global.tensor_instructions);
  CHECK(tiled.tensor_flops == global.tensor_flops);
  CHECK(tiled.flops == 0);
  CHECK(tiled.global_store_bytes == 128 * 128 * 2);
  // From shared memory each number of A is loaded twice, each of B four times: 2 bytes each, 128 bytes at a time, without bank conflicts.
  const std::uint64_t wavefronts = (2 + 4) * (numbers / 2) * 2 / 128;
  if (std::is_same_v<TestType, __half>) {
    CHECK(tiled.matrix_load_wavefronts == wavefronts);
    CHECK(tiled.matrix_loads == wavefronts / 4);
  } else {  // CUDA's loads of bfloat16 are ordinary ones, of 4 bytes
    CHECK(tiled.matrix_loads == 0);
    CHECK(tiled.shared_loads - global.shared_loads == wavefronts);
    CHECK(tiled.shared_load_wavefronts - global.shared_load_wavefronts == wavefronts);
  }
}

#endif

TEST_CASE("the template of the wrong kernels with WMMA is right without a mistake", "[mutants]") {
  SKIP_WITHOUT(__half);
  using namespace wmma_mutants;
  const ProductKernel<__half> kernel{"none", launch<Bug::none>, narrow_arithmetic<__half>()};
  for (const MatmulShape& shape : {MatmulShape{45, 152, 200}, {70, 136, 40}, {1, 8, 8}})
    require_right_product<__half>({kernel}, shape);
}

TEST_CASE("every wrong kernel with WMMA is rejected, and for its own mistake", "[mutants]") {
  SKIP_WITHOUT(__half);
  check_product_mutants_rejected(wmma_mutants::mutants(), {{45, 152, 200}, {70, 136, 40}}, narrow_arithmetic<__half>());
}
