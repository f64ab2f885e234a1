// Counts from some blocks of a grid against counts from all: every chapter's kernels, whole and in part.
#ifdef TILEWISE_SIMULATOR

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <tilewise_sim/report.hpp>
#include <tuple>
#include <vector>

#include "catch.hpp"
#include "model/sample.hpp"
#include "tilewise/csr.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/random.hpp"

namespace {

// The chapters' kernels under names of their own: other tests of the same program include them too, and chapters 04 and 05
// have kernels of the same name.
namespace sampled {
#include "../../chapters/01_naive_matmul/naive_matmul.cuh"
#include "../../chapters/02_tiled_matmul/tiled_matmul.cuh"
#include "../../chapters/03_padded_tiles/padded_tiles.cuh"
#include "../../chapters/04_transpose/transpose.cuh"
#include "../../chapters/06_csr_spmv/csr_spmv.cuh"
#include "../../chapters/08_roofline/roofline.cuh"
namespace chapter_05 {
#include "../../chapters/05_coalescing/coalescing.cuh"
}
}  // namespace sampled

using namespace sampled;
using tilewise::DeviceBuffer;
using tilewise::sim::Counters;
using tilewise::sim::members_of;

/// The place of a counter among all.
std::size_t index_of(std::uint64_t Counters::*counter) {
  Counters only;
  only.*counter = 1;
  const auto members = members_of(only);
  return static_cast<std::size_t>(std::find(members.begin(), members.end(), 1u) - members.begin());
}

/// Counts alone, and everything as it was afterwards.
class CountsAlone {
 public:
  CountsAlone()
      : counting_(tilewise::sim::set_counting(true)),
        checking_(tilewise::sim::set_checking(false)),
        sample_(tilewise::sim::set_sample(0)) {}
  ~CountsAlone() {
    tilewise::sim::set_counting(counting_);
    tilewise::sim::set_checking(checking_);
    tilewise::sim::set_sample(sample_);
  }
  CountsAlone(const CountsAlone&) = delete;
  CountsAlone& operator=(const CountsAlone&) = delete;

 private:
  bool counting_, checking_;
  std::uint64_t sample_;
};

using Launch = std::function<cudaError_t()>;

struct Counted {
  Counters counters;
  std::uint64_t blocks;  // that were run
};

Counted counted(const Launch& launch, std::uint64_t sample) {
  tilewise::sim::set_sample(sample);
  tilewise::sim::forget_sum();
  const std::uint64_t before = tilewise::sim::blocks_run();
  REQUIRE(launch() == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  tilewise::sim::set_sample(0);
  return {tilewise::sim::sum_of_counters(), tilewise::sim::blocks_run() - before};
}

struct Sample {
  std::uint64_t blocks = 32;
  double share = 0;     // if not 0: of the blocks, in place of `blocks`
  double bound = 0.01;  // of the difference of each counter
  double idle = 0.01;   // the same of the instructions with idle threads
  double tags = 0.08;   // and of L1's tag passes, which go by a hash of the address
};

/// Every counter of `launch` in some of its blocks is near what it is in all.
void compare(const std::string& name, const Launch& launch, const Sample& sample = {}) {
  INFO(name);
  Counted whole = counted(launch, 0);
  const auto blocks =
      sample.share > 0 ? static_cast<std::uint64_t>(sample.share * static_cast<double>(whole.blocks)) : sample.blocks;
  Counted part = counted(launch, blocks);
  CHECK(part.blocks < whole.blocks);
  for (auto distinct :
       {&Counters::dram_bytes_at_least, &Counters::distinct_bytes_loaded, &Counters::distinct_bytes_stored}) {
    CHECK(part.counters.*distinct <= whole.counters.*distinct);  // of these blocks alone
    part.counters.*distinct = whole.counters.*distinct = 0;
  }
  const auto expected = members_of(whole.counters), got = members_of(part.counters);
  CHECK(*std::max_element(expected.begin(), expected.end()) > 0);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("counter " << i << ": " << got[i] << ", in all blocks " << expected[i]);
    const double difference = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    std::uint64_t Counters::*const tags[] = {&Counters::global_load_tag_passes, &Counters::global_store_tag_passes};
    const auto is = [&](auto member) { return i == index_of(member); };
    const double bound = is(&Counters::partial_instructions) ? sample.idle
                         : is(tags[0]) || is(tags[1])        ? sample.tags
                                                             : sample.bound;
    CHECK(difference <= bound * static_cast<double>(expected[i]));
    if ((is(tags[0]) || is(tags[1])) && sample.bound < 0.1) {
      const double allowed = 4 * tilewise::sim::largest_sample_error().tag_passes;
      // Where one block in sixty differs, a sample may not have met it, and its standard error is 0 then.
      CHECK(difference <= std::max(0.02, allowed) * static_cast<double>(expected[i]));
    }
  }
}

using tilewise::sim::choose_blocks;

TEST_CASE("a sample has every kind of block, and stands for the whole grid", "[sample]") {
  for (const dim3 grid : {dim3(1000), dim3(1, 70), dim3(128, 128), dim3(2, 300, 5), dim3(40, 30, 20), dim3(65535, 9)}) {
    const std::uint64_t total = std::uint64_t{grid.x} * grid.y * grid.z;
    for (const std::uint64_t wanted : {1, 5, 32, 63}) {
      const auto strata = choose_blocks(grid, wanted);
      INFO(grid.x << " x " << grid.y << " x " << grid.z << ", " << wanted << " blocks");
      const auto kind = [](unsigned at, unsigned n) { return at == 0 ? 0 : at + 1 == n ? 2 : 1; };
      std::set<std::tuple<unsigned, unsigned, unsigned>> blocks;
      std::uint64_t stands_for = 0;
      std::size_t chosen = 0;
      for (const auto& stratum : strata) {
        REQUIRE(!stratum.blocks.empty());
        CHECK(stratum.blocks.size() <= stratum.size);
        stands_for += stratum.size;
        chosen += stratum.blocks.size();
        for (const uint3 b : stratum.blocks) {
          CHECK((b.x < grid.x && b.y < grid.y && b.z < grid.z));
          blocks.emplace(b.x, b.y, b.z);
          const uint3 first = stratum.blocks.front();
          CHECK(kind(b.x, grid.x) == kind(first.x, grid.x));
          CHECK(kind(b.y, grid.y) == kind(first.y, grid.y));
          CHECK(kind(b.z, grid.z) == kind(first.z, grid.z));
        }
      }
      CHECK(stands_for == total);
      CHECK(blocks.size() == chosen);  // none twice
      CHECK(chosen == std::max<std::size_t>(wanted, strata.size()));
      CHECK((strata[0].blocks[0].x == 0 && strata[0].blocks[0].y == 0 && strata[0].blocks[0].z == 0));
    }
  }
  CHECK(choose_blocks(dim3(128, 128), 0).empty());
  CHECK(choose_blocks(dim3(8, 4), 32).empty());
  CHECK(choose_blocks(dim3(8, 4), 31).size() == 9);
  CHECK(choose_blocks(dim3(3, 3), 1).empty());  // nine blocks of nine kinds
  CHECK(choose_blocks(dim3(2147483647, 65535, 65535), 32).size() == 27);
}

TEST_CASE("counts are scaled to the nearest", "[sample]") {
  using tilewise::sim::scaled;
  CHECK(scaled(7 * 123456789012345, 16384, 7) == 123456789012345 * 16384);
  CHECK(scaled(10, 3, 4) == 8);  // 7.5
  CHECK(scaled(9, 3, 4) == 7);   // 6.75
  CHECK(scaled(0, 1000000, 32) == 0);
}

__global__ void every_third(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = blockIdx.x % 3 == 0 ? in[i] + in[2 * i] : in[i];
}

TEST_CASE("the report says in which blocks it was counted, and how well", "[sample]") {
  const CountsAlone only;
  DeviceBuffer<float> in(1 << 17), out(1 << 16);
  const auto same = [&] { return launch_vector_add(in.data(), in.data(), out.data(), 1 << 16); };
  counted(same, 32);
  CHECK(tilewise::sim::largest_sample_error().others == 0);
  const auto uneven = [&] { return every_third<<<256, 256>>>(in.data(), out.data()), cudaGetLastError(); };
  const double loads = static_cast<double>(counted(uneven, 0).counters.global_load_requests);
  const double in_part = static_cast<double>(counted(uneven, 32).counters.global_load_requests);
  CHECK(tilewise::sim::largest_sample_error().others > 0.01);
  CHECK(std::abs(in_part - loads) / loads <= 3 * tilewise::sim::largest_sample_error().others);
}

TEST_CASE("chapter 08 counted in part", "[sample]") {
  const CountsAlone only;
  constexpr std::size_t n = 307200;
  DeviceBuffer<float> a(n), b(n), c(n);
  DeviceBuffer<unsigned> words(n), sums(n);
  compare("fma_chains", [&] { return launch_fma_chains<4>(100, 128, -0.5f, 1.0f, 20, c.data()); });
  compare("sum_words", [&] { return launch_sum_words<4>(100, 256, words.data(), n, sums.data()); });
  compare("sum_l2", [&] { return launch_sum_l2(100, 96, words.data(), 192000, 2, sums.data()); });
  compare("sum_shared", [&] { return launch_sum_shared(100, 96, words.data(), 20, sums.data()); });
  compare("sum_l1", [&] { return launch_sum_l1(100, 96, words.data(), 20, sums.data()); });
  compare("copy_words", [&] { return launch_copy_words(words.data(), sums.data(), n); });
  compare("vector_add", [&] { return launch_vector_add(a.data(), b.data(), c.data(), n); });
  compare("fma_per_element", [&] { return launch_fma_per_element(a.data(), c.data(), n, 20, -0.5f, 1.0f); });
  compare("five_memories", [&] { return launch_five_memories(a.data(), b.data(), c.data(), 70007, 96); });
}

TEST_CASE("chapters 01, 02 and 03: products counted in part", "[sample]") {
  const CountsAlone only;
  const auto [m, n, k] = GENERATE(std::tuple(512, 512, 16), std::tuple(509, 387, 19));
  INFO(m << " x " << n << " x " << k);
  DeviceBuffer<float> A(m * k), B(k * n), C(m * n);
  const auto product = [&, m = m, n = n, k = k](const char* name, auto launch, auto... more) {
    compare(name, [&] { return launch(A.data(), B.data(), C.data(), m, n, k, more..., nullptr); });
  };
  for (const int block : {8, 16, 32}) {
    product("naive_matmul", launch_naive_matmul, block);
    product("naive_matmul_row_on_x", launch_naive_matmul_row_on_x, block);
  }
  product("tiled_matmul<8>", launch_tiled_matmul<8>);
  product("tiled_matmul<32>", launch_tiled_matmul<32>);
  product("tiled_matmul_dynamic", launch_tiled_matmul_dynamic, 12);
  product("tiled_matmul_prefetched<16>", launch_tiled_matmul_prefetched<16>);
  product("tiled_matmul_rectangular<64,64,8>", launch_tiled_matmul_rectangular<64, 64, 8>);
  product("tiled_matmul_padded<32,1>", launch_tiled_matmul_padded<32, 1>);
}

TEST_CASE("chapter 03: running sums counted in part", "[sample]") {
  const CountsAlone only;
  const auto [rows, cols] = GENERATE(std::tuple(8192, 64), std::tuple(8177, 67));
  DeviceBuffer<float> in(rows * cols), out(rows * cols);
  const std::vector<std::pair<const char*, RunningSumsKernel>> kernels = {
      {"direct", running_sums_direct},
      {"tile", running_sums_tile},
      {"extra_row", running_sums_extra_row},
      {"padded", running_sums_padded},
      {"transposed", running_sums_transposed},
      {"swizzled", running_sums_swizzled},
      {"wide<float2, 34>", running_sums_wide<float2, 34>},
      {"wide<float4, 36>", running_sums_wide<float4, 36>},
      {"narrow<17>", running_sums_narrow<17>},
      {"narrow_padded", running_sums_narrow_padded},
      {"narrow_swizzled", running_sums_narrow_swizzled},
  };
  for (const auto& [name, kernel] : kernels)
    compare(name, [&, kernel = kernel, rows = rows, cols = cols] {
      return launch_running_sums(kernel, in.data(), out.data(), rows, cols);
    });
  compare("window_sums", [&] { return launch_window_sums(in.data(), out.data(), 3, 2, 100, 64); });
}

TEST_CASE("chapter 04 counted in part", "[sample]") {
  const CountsAlone only;
  const auto [rows, cols] = GENERATE(std::tuple(512, 576), std::tuple(501, 579));
  DeviceBuffer<float> in(rows * cols), out(rows * cols);
  const auto move = [&, rows = rows, cols = cols](const char* name, auto launch) {
    compare(name, [&] { return launch(in.data(), out.data(), rows, cols, nullptr); });
  };
  move("copy_matrix", launch_copy_matrix);
  move("copy_vectorised", launch_copy_vectorised);
  move("copy_evict_last", launch_copy_evict_last);
  move("transpose_strided_write", launch_transpose_strided_write);
  move("transpose_strided_read", launch_transpose_strided_read);
  move("transpose_tile<16>", launch_transpose_tile<16>);
  move("transpose_tile<32>", launch_transpose_tile<32>);
  move("transpose_padded<16>", launch_transpose_padded<16>);
  move("transpose_padded<32>", launch_transpose_padded<32>);
  move("transpose_swizzled<32>", launch_transpose_swizzled<32>);
  move("transpose_coarsened", launch_transpose_coarsened);
  if (rows % 64 != 0 || cols % 64 != 0) return;
  move("transpose_vectorised", launch_transpose_vectorised<>);
  move("transpose_vectorised<evict_last>", launch_transpose_vectorised<TileOrder::columns, true>);
  move("move_tiles", launch_move_tiles);
}

// A grid in one dimension that walks over a matrix: blocks at the matrix's edges are not at the grid's and are met by
// chance, so it takes more of them.
TEST_CASE("chapter 04: a ragged transpose counted in part", "[sample]") {
  const CountsAlone only;
  const auto [rows, cols] = GENERATE(std::tuple(16384, 256), std::tuple(16381, 255));
  DeviceBuffer<float> in(rows * cols), out(rows * cols);
  compare("transpose_ragged",
          [&, rows = rows, cols = cols] { return launch_transpose_ragged(in.data(), out.data(), rows, cols); },
          {.share = 0.25});
}

TEST_CASE("chapter 05 counted in part", "[sample]") {
  using namespace chapter_05;
  const CountsAlone only;
  constexpr std::size_t n = 300007;
  DeviceBuffer<float> in(5 * n + 8), out(5 * n + 8);
  const float* const from = in.data();
  float* const to = out.data();
  compare("copy_one_word", [&] { return chapter_05::launch_copy_one_word(from, to, n); });
  compare("copy_one_word<float4>", [&] {
    return chapter_05::launch_copy_one_word(reinterpret_cast<const float4*>(from), reinterpret_cast<float4*>(to), n);
  });
  compare("copy_four_vectors", [&] { return launch_copy_four_vectors(from, to, n); });
  for (const std::size_t by : {3, 5}) {
    compare("strided_read", [&] { return launch_strided_read(from, to, n, by); });
    compare("strided_write", [&] { return launch_strided_write(from, to, n, by); });
    compare("strided_copy", [&] { return launch_strided_copy(from, to, n, by); });
    compare("shifted_read", [&] { return launch_shifted_read(from, to, n, by); });
    compare("shifted_write", [&] { return launch_shifted_write(from, to, n, by); });
  }
  const auto aos = reinterpret_cast<const Particle*>(from);
  const auto moved = reinterpret_cast<Particle*>(to);
  constexpr std::size_t particles = 40003;
  compare("particles_aos", [&] { return launch_particles_aos(aos, moved, particles, 0.5f); });
  compare("particles_soa", [&] { return launch_particles_soa(from, to, particles, 0.5f); });
  compare("particles_float4", [&] { return launch_particles_float4(aos, moved, particles, 0.5f); });
  compare("particles_shared", [&] { return launch_particles_shared(aos, moved, particles, 0.5f); });
  compare("row_sums_thread", [&] { return launch_row_sums_thread(from, to, 20011, 67); });
  compare("row_sums_warp", [&] { return launch_row_sums_warp(from, to, 20011, 67); });
  compare("column_sums_thread", [&] { return launch_column_sums_thread(from, to, 67, 20011); });
  compare("column_sums_block", [&] { return launch_column_sums_block(from, to, 67, 20011); });
  std::vector<unsigned> anywhere(n);
  tilewise::Random random(1);
  for (unsigned& i : anywhere) i = static_cast<unsigned>(random.below(n));
  const DeviceBuffer<unsigned> index(anywhere);
  compare("gather", [&] { return launch_gather(from, index.data(), to, n); });
}

/// Chapter 06's kernels on one matrix.
void compare_products(tilewise::MatrixKind kind, int most_rows, const Sample& sample) {
  const CountsAlone only;
  const auto matrix = tilewise::generate_csr<float>({.kind = kind, .rows = most_rows});
  INFO(tilewise::to_string(kind) << ", " << matrix.rows << " rows, " << matrix.nnz() << " nonzeros");
  const int rows = matrix.rows, cols = matrix.cols, nnz = static_cast<int>(matrix.nnz());
  const DeviceBuffer<int> row_ptr(matrix.row_ptr), col_index(matrix.col_index);
  const DeviceBuffer<float> values(matrix.values), x(std::vector<float>(cols, 1.0f));
  DeviceBuffer<float> y(rows);
  DeviceBuffer<double> memory(spmv_plan_bytes<float>(rows, nnz) / 8 + 1);
  SpmvPlan<float> plan;
  REQUIRE(launch_spmv_plan(rows, cols, nnz, row_ptr.data(), col_index.data(), memory.data(), &plan) == cudaSuccess);
  const auto product = [&](const char* name, auto launch, auto... first) {
    compare(
        name,
        [&] {
          return launch(first..., rows, cols, nnz, row_ptr.data(), col_index.data(), values.data(), x.data(), y.data(),
                        nullptr);
        },
        sample);
  };
  product("spmv_scalar", launch_spmv_scalar<float>);
  product("spmv_vector<32>", launch_spmv_vector<float>, 32);
  product("spmv_unrolled<2>", launch_spmv_unrolled<float>, 2);
  compare(
      "spmv_balanced",
      [&] {
        return launch_spmv_balanced(rows, cols, nnz, row_ptr.data(), col_index.data(), values.data(), x.data(),
                                    y.data(), plan);
      },
      sample);
}

// Rows of a stencil are as long as any other, but for those at the edges of its grid, which alone let threads idle.
TEST_CASE("chapter 06 counted in part", "[sample]") {
  compare_products(tilewise::MatrixKind::stencil2d, 1 << 15, {.share = 0.5, .idle = 0.05});
  compare_products(tilewise::MatrixKind::stencil3d, 1 << 15, {.share = 0.5, .idle = 0.05});
  compare_products(tilewise::MatrixKind::uniform, 1 << 15, {.share = 0.5});
}

// Rows of very different lengths, a few of them longer than all others together: a sample meets these or does not.
TEST_CASE("chapter 06: uneven rows counted in part", "[sample]") {
  compare_products(tilewise::MatrixKind::rmat, 1 << 15, {.share = 0.25, .bound = 0.25, .idle = 0.25, .tags = 0.25});
  compare_products(tilewise::MatrixKind::zipf, 1 << 15, {.share = 0.25, .bound = 0.5, .idle = 0.5, .tags = 0.5});
}

}  // namespace

#endif  // TILEWISE_SIMULATOR
