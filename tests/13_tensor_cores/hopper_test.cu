// Chapter 13 on compute capability 9.0: products by TMA and wgmma, in bfloat16, in TF32 and in three products of TF32, and the wrong kernels that the
// same check must reject. Elsewhere nothing is checked here, and a warning says so.
#ifndef TILEWISE_SIMULATOR

#include <algorithm>
#include <string>
#include <vector>

#include "../chapters/01_naive_matmul/naive_matmul.cuh"
#include "13_tensor_cores/check_product.hpp"
#include "13_tensor_cores/mutants/hopper_mutants.cuh"
#include "catch.hpp"
#include "tf32.cuh"
#include "wgmma.cuh"

namespace {

using tilewise::MatmulShape;
using Bytes = tilewise::DeviceBuffer<unsigned char>;

bool skipped() {
  if (tilewise::device().major == 9) return false;
  WARN("wgmma and TMA need compute capability 9.0: nothing is checked");
  return true;
}

/// A persistent kernel's launch with a workspace of exactly the bytes that it asks for; what they hold before is no number.
template <class T, class Launch>
cudaError_t with_workspace(Launch launch, const T* A, const T* B, T* C, int M, int N, int K, cudaStream_t stream) {
  std::size_t bytes = 0;
  if (const cudaError_t status = persistent_workspace(bytes)) return status;
  Bytes workspace(bytes);
  workspace.poison();
  const cudaError_t status = launch(A, B, C, M, N, K, workspace.data(), stream);
  return status == cudaSuccess ? cudaStreamSynchronize(stream) : status;  // before it is freed
}

cudaError_t persistent(const bf16* A, const bf16* B, bf16* C, int M, int N, int K, cudaStream_t stream) {
  return with_workspace(launch_wgmma_persistent<4, 16>, A, B, C, M, N, K, stream);
}
cudaError_t clusters(const bf16* A, const bf16* B, bf16* C, int M, int N, int K, cudaStream_t stream) {
  return with_workspace(launch_wgmma_clusters<4, 8>, A, B, C, M, N, K, stream);
}
cudaError_t tf32_persistent(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  return with_workspace(launch_wgmma_tf32<4, 8>, A, B, C, M, N, K, stream);
}
/// With room for A's low parts, and not a word more.
cudaError_t three_products(const float* A, const float* B, float* C, int M, int N, int K, cudaStream_t stream) {
  const bool has_elements = M > 0 && K > 0 && M <= 1 << 20 && K <= 1 << 20;
  tilewise::DeviceBuffer<float> low(has_elements ? std::size_t(M) * K : 0);
  const cudaError_t status = launch_wgmma_3xtf32<4, 8>(A, B, C, M, N, K, low.data(), stream);
  return status == cudaSuccess ? cudaStreamSynchronize(stream) : status;
}

/// A kernel on a stream.
template <class T, class Launch>
ProductKernel<T> on(cudaStream_t stream, std::string name, Launch launch, const tilewise::Arithmetic& arithmetic) {
  return {std::move(name),
          [=](const T* A, const T* B, T* C, int M, int N, int K) { return launch(A, B, C, M, N, K, stream); },
          arithmetic};
}

std::vector<ProductKernel<bf16>> narrow_kernels(cudaStream_t stream = nullptr) {
  const tilewise::Arithmetic arithmetic = narrow_arithmetic<bf16>();
  return {on<bf16>(stream, "wgmma_tiles", launch_wgmma_tiles, arithmetic),
          on<bf16>(stream, "wgmma_stages<4>", launch_wgmma_stages<4>, arithmetic),
          on<bf16>(stream, "wgmma_persistent<4, 16>", persistent, arithmetic),
          on<bf16>(stream, "wgmma_clusters<4, 8>", clusters, arithmetic)};
}
ProductKernel<float> tf32_kernel(cudaStream_t stream = nullptr) {
  return on<float>(stream, "wgmma_tf32_persistent<4, 8>", tf32_persistent, tilewise::Arithmetic::tf32());
}
ProductKernel<float> split_kernel(cudaStream_t stream = nullptr) {
  return on<float>(stream, "wgmma_3xtf32<4, 8>", three_products, split_arithmetic());
}
std::vector<ProductKernel<float>> float_kernels(cudaStream_t stream = nullptr) {
  return {tf32_kernel(stream), split_kernel(stream)};
}

/// A whole tile; less than one; a few rows, columns and k-steps more; many ragged ones.
const std::vector<MatmulShape> shapes = {{1, 8, 8},     {128, 256, 64},    {129, 264, 72},    {64, 8, 1000},
                                         {7, 1016, 16}, {1000, 1016, 520}, {300, 2048, 1000}, {127, 248, 136}};

/// 12 x 12 tiles, of either size: on 132 SMs the twelve of the second round are shared.
const MatmulShape many_tiles{128 * 12, 256 * 12, 1000};
const MatmulShape many_float_tiles{256 * 12, 128 * 12, 1000};

int sms() { return tilewise::device().sms; }

/// wgmma_persistent on that many blocks, with tiles from `whole` on shared. `IN_CLUSTER` is 2: wgmma_clusters, on that many clusters.
template <int IN_CLUSTER = 1>
cudaError_t launch_shared_out(const bf16* A, const bf16* B, bf16* C, int M, int N, int K, int clusters, int whole) {
  constexpr int bytes = 4 * kTiles + 4 * kBoxC, rows = IN_CLUSTER * kRows;
  const auto kernel = IN_CLUSTER == 1 ? wgmma_persistent<4, 16> : wgmma_clusters<4, 8>;
  const int tiles = (M + rows - 1) / rows * ((N + kCols - 1) / kCols), blocks = clusters * IN_CLUSTER;
  tilewise::DeviceBuffer<float4> parts(std::size_t(blocks) * 2 * kRows * kCols / 4);
  tilewise::DeviceBuffer<unsigned> arrived(std::size_t{2} * IN_CLUSTER * tiles);
  parts.poison();
  arrived.zero();
  Maps maps;
  cudaError_t status = make_maps(maps, A, B, C, M, N, K);
  if (status == cudaSuccess) status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  status = launch_in_clusters(IN_CLUSTER, blocks, bytes, nullptr, kernel, maps.A, maps.B, maps.C, M, N, K,
                              std::min(whole, tiles), parts.data(), arrived.data());
  return status == cudaSuccess ? cudaDeviceSynchronize() : status;
}

/// The same of wgmma_tf32_persistent.
cudaError_t launch_shared_out(const float* A, const float* B, float* C, int M, int N, int K, int blocks, int whole) {
  constexpr int bytes = 4 * tf32::kTiles;
  const auto kernel = wgmma_tf32_persistent<4, 8>;
  const auto type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
  const int tiles = (M + tf32::kRows - 1) / tf32::kRows * ((N + tf32::kCols - 1) / tf32::kCols);
  tilewise::DeviceBuffer<float4> parts(std::size_t(blocks) * 2 * tf32::kRows * tf32::kCols / 4);
  tilewise::DeviceBuffer<unsigned> arrived(std::size_t{2} * tiles);
  parts.poison();
  arrived.zero();
  Maps maps;
  cudaError_t status = make_tensor_map(maps.A, type, sizeof(float), A, M, K, tf32::kRows, tf32::kDepth);
  if (status == cudaSuccess) status = make_tensor_map(maps.B, type, sizeof(float), B, K, N, tf32::kDepth, 32);
  if (status == cudaSuccess) status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  kernel<<<blocks, 384, bytes>>>(maps.A, maps.B, C, M, N, K, std::min(whole, tiles), parts.data(), arrived.data());
  status = cudaGetLastError();
  return status == cudaSuccess ? cudaDeviceSynchronize() : status;
}

/// However the tiles of `shape` are dealt.
template <class T, int IN_CLUSTER = 1>
void require_right_however_dealt(const MatmulShape& shape, const tilewise::Arithmetic& arithmetic) {
  const auto random = random_case<T>(shape, 1, arithmetic), signs = case_of_signs<T>(shape, 2, arithmetic);
  for (const int blocks : {1, 2, 3, 7, 13, sms() / IN_CLUSTER}) {
    for (const int whole : {0, 5, 1 << 20}) {  // the last: all
      const ProductLaunch<T> launch = [=](const T* A, const T* B, T* C, int M, int N, int K) {
        if constexpr (std::is_same_v<T, bf16>)
          return launch_shared_out<IN_CLUSTER>(A, B, C, M, N, K, blocks, whole);
        else
          return launch_shared_out(A, B, C, M, N, K, blocks, whole);
      };
      for (const auto* product : {&random, &signs}) {
        const Verdict verdict = check_product(launch, *product);
        INFO(blocks << " blocks, " << whole << " whole tiles: " << verdict.text);
        REQUIRE(verdict.right());
      }
    }
  }
}

/// The same bits, run after run.
template <class T>
void require_same_bits(const ProductKernel<T>& kernel, const MatmulShape& shape) {
  const int M = static_cast<int>(shape.m), N = static_cast<int>(shape.n), K = static_cast<int>(shape.k);
  const auto uniform = tilewise::Distribution::uniform;
  const tilewise::DeviceBuffer<T> A(narrowed<T>(random_operand<T>(shape.m * shape.k, 1, uniform))),
      B(narrowed<T>(random_operand<T>(shape.k * shape.n, 2, uniform)));
  tilewise::DeviceBuffer<T> C(shape.m * shape.n);
  std::vector<float> once;
  for (int run = 0; run < 5; ++run) {
    C.poison();
    REQUIRE(kernel.launch(A.data(), B.data(), C.data(), M, N, K) == cudaSuccess);
    const std::vector<float> now = widened(C.to_host());
    if (once.empty()) once = now;
    INFO(kernel.name << ", run " << run);
    REQUIRE(now == once);
  }
}

}  // namespace

TEST_CASE("products by wgmma are right on every shape", "[hopper]") {
  if (skipped()) return;
  for (const MatmulShape& shape : shapes) {
    require_right_product(narrow_kernels(), shape);
    require_right_product(float_kernels(), shape);
  }
  // In floats rows begin at multiples of 16 bytes already when they are multiples of 4 long.
  for (const MatmulShape& shape : {MatmulShape{1, 4, 4}, {131, 132, 36}, {257, 260, 100}})
    require_right_product(float_kernels(), shape);
}

TEST_CASE("and with more tiles than SMs, the last of which are shared", "[hopper]") {
  if (skipped()) return;
  require_right_product(narrow_kernels(), many_tiles);
  require_right_product(float_kernels(), many_float_tiles);
}

TEST_CASE("products by wgmma are right on all kinds of data", "[hopper]") {
  if (skipped()) return;
  require_right_product_on_all_data(narrow_kernels(), {145, 280, 200}, {3, 4, 5});
  require_right_product_on_all_data(float_kernels(), {145, 284, 100}, {3, 4, 5});
}

TEST_CASE("with wgmma, too, what is not a number stays in its row and column", "[hopper]") {
  if (skipped()) return;
  const auto require_nan_stays = [](const auto& kernel, const auto& product) {
    const Verdict verdict = check_product(kernel.launch, product);
    INFO(kernel.name << ": " << verdict.text);
    REQUIRE(verdict.right());
  };
  const MatmulShape shape{150, 296, 88};
  for (const auto& kernel : narrow_kernels())
    require_nan_stays(kernel, case_with_nan<bf16>(shape, kernel.arithmetic, true));
  require_nan_stays(tf32_kernel(), case_with_nan<float>(shape, tilewise::Arithmetic::tf32(), true));
  // An infinity has no parts: infinity less infinity is no number, and so is its row.
  require_nan_stays(split_kernel(), case_with_nan<float>(shape, split_arithmetic(), false));
}

TEST_CASE("an empty matrix is no error for wgmma, and a sum of no products is zero", "[hopper]") {
  if (skipped()) return;
  require_empty_product_is_no_error(narrow_kernels(), 5, 24);
  require_empty_product_is_no_error(float_kernels(), 5, 12);
}

TEST_CASE("what TMA can't take is refused, and C is left alone", "[hopper]") {
  if (skipped()) return;
  std::vector<Refusal> refusals = {
      {0, 0, 0, -1, 16, 16}, {0, 0, 0, 16, -16, 16}, {0, 0, 0, 16, 16, -16},          {1, 0, 0, 16, 16, 16},
      {0, 1, 0, 16, 16, 16}, {0, 0, 1, 16, 16, 16},  {0, 0, 0, 16, 18, 16},           {0, 0, 0, 16, 16, 18},
      {0, 0, 0, 16, 17, 16}, {0, 0, 0, 16, 16, 17},  {0, 0, 0, 1 << 30, 1 << 30, 16}, {0, 0, 0, (1 << 30) + 1, 8, 8}};
  require_product_refusals(float_kernels(), refusals);
  refusals.insert(refusals.end(), {{4, 0, 0, 16, 16, 16}, {0, 0, 0, 16, 20, 16}, {0, 0, 0, 16, 16, 20}});
  require_product_refusals(narrow_kernels(), refusals);
}

TEST_CASE("products by wgmma run on the stream they are given", "[hopper]") {
  if (skipped()) return;
  const tilewise::Stream stream;
  require_right_product(narrow_kernels(stream.get()), {130, 264, 200});
  require_right_product(float_kernels(stream.get()), {130, 264, 200});
}

TEST_CASE("tiles of wgmma are right however they are dealt: whole ones, and shares of any number", "[hopper]") {
  if (skipped()) return;
  // 3 x 3 tiles, with 7 k-tiles each, the last ones ragged.
  require_right_however_dealt<bf16>({128 * 3 - 5, 256 * 3 - 8, 64 * 7 - 8}, narrow_arithmetic<bf16>());
  require_right_however_dealt<bf16, 2>({128 * 5 - 5, 256 * 3 - 8, 64 * 7 - 8}, narrow_arithmetic<bf16>());
  require_right_however_dealt<float>({256 * 3 - 5, 128 * 3 - 8, 32 * 7 - 4}, tilewise::Arithmetic::tf32());
}

TEST_CASE("tiles are shared when the last round would leave more than a fifth of the SMs idle", "[hopper]") {
  REQUIRE(whole_tiles(132, 132) == 132);
  REQUIRE(whole_tiles(144, 132) == 132);
  REQUIRE(whole_tiles(12, 132) == 0);
  REQUIRE(whole_tiles(132 + 105, 132) == 132);        // 105 of 132 are 79.5 %
  REQUIRE(whole_tiles(132 + 106, 132) == 132 + 106);  // 80.3 %
  REQUIRE(whole_tiles(0, 132) == 0);
}

TEST_CASE("the sum of wgmma's shares doesn't depend on who comes last", "[hopper]") {
  if (skipped()) return;
  require_same_bits(narrow_kernels()[2], many_tiles);
  require_same_bits(narrow_kernels()[3], many_tiles);
  require_same_bits(tf32_kernel(), many_float_tiles);
}

TEST_CASE("three products of TF32 are about as exact as FP32", "[hopper]") {
  if (skipped()) return;
  const MatmulShape shape{256, 384, 4096};
  const ProductCase<float> product = random_case<float>(shape, 1, split_arithmetic());
  const auto naive = [](const float* A, const float* B, float* C, int M, int N, int K) {
    return launch_naive_matmul(A, B, C, M, N, K, 16);
  };
  const double theirs = check_product<float>(naive, product).comparison.max_error;
  const double ours = check_product(split_kernel().launch, product).comparison.max_error;
  INFO("largest error of three products " << ours << ", of FP32 " << theirs);
  REQUIRE(theirs > 0);
  REQUIRE(ours > 0);
  REQUIRE(ours <= 2 * theirs);
}

TEST_CASE("the template of the wrong kernels with wgmma is right without a mistake", "[mutants]") {
  if (skipped()) return;
  using namespace hopper_mutants;
  const ProductKernel<bf16> kernel{"none", launch<Bug::none>, narrow_arithmetic<bf16>()};
  require_right_product<bf16>({kernel}, {150, 520, 1000});
}

TEST_CASE("every wrong kernel with wgmma is rejected, and for its own mistake", "[mutants]") {
  if (skipped()) return;
  check_product_mutants_rejected(hopper_mutants::mutants(), {{150, 520, 200}, {300, 520, 1000}},
                                 narrow_arithmetic<bf16>());
  check_product_mutants_rejected(hopper_mutants::split_mutants(), {{150, 260, 64}}, split_arithmetic());
}

#endif
