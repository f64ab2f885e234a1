// Chapter 04: every kernel on every kind of shape, what it costs in sectors and banks, and the wrong kernels that the
// same check must reject.
#include "transpose.cuh"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "04_transpose/check_transpose.hpp"
#include "04_transpose/mutants/mutants.cuh"
#include "catch.hpp"
#include "library.hpp"
#include "problem.cuh"
#include "tilewise/counters.hpp"

namespace {

using tilewise::Distribution;

struct Kernel {
  std::string name;
  cudaError_t (*launch)(const float*, float*, int, int, cudaStream_t);
  bool copies = false;
  bool multiples_of_4 = false;

  TransposeLaunch on(cudaStream_t stream = nullptr) const {
    return [*this, stream](const float* in, float* out, int rows, int cols) {
      return launch(in, out, rows, cols, stream);
    };
  }
};

const std::vector<Kernel> kernels = {
    {"copy_matrix", launch_copy_matrix, true},
    {"copy_vectorised", launch_copy_vectorised, true},
    {"copy_evict_last", launch_copy_evict_last, true},
    {"transpose_strided_write", launch_transpose_strided_write},
    {"transpose_strided_read", launch_transpose_strided_read},
    {"transpose_tile<1>", launch_transpose_tile<1>},
    {"transpose_tile<5>", launch_transpose_tile<5>},
    {"transpose_tile<16>", launch_transpose_tile<16>},
    {"transpose_tile<32>", launch_transpose_tile<32>},
    {"transpose_padded<13>", launch_transpose_padded<13>},
    {"transpose_padded<16>", launch_transpose_padded<16>},
    {"transpose_padded<32>", launch_transpose_padded<32>},
    {"transpose_swizzled<4>", launch_transpose_swizzled<4>},
    {"transpose_swizzled<16>", launch_transpose_swizzled<16>},
    {"transpose_swizzled<32>", launch_transpose_swizzled<32>},
    {"transpose_coarsened", launch_transpose_coarsened},
    {"transpose_vectorised", launch_transpose_vectorised<>, false, true},
    {"transpose_vectorised, along rows", launch_transpose_vectorised<TileOrder::rows>, false, true},
    {"transpose_vectorised, evict_last", launch_transpose_vectorised<TileOrder::columns, true>, false, true},
    {"transpose_ragged", launch_transpose_ragged},
    {"transpose", launch_transpose},
};

}  // namespace

TEST_CASE("transposes are right on every shape", "[transpose]") {
  for (const Kernel& kernel : kernels) {
    const std::vector<TransposeShape>& shapes = kernel.multiples_of_4 ? multiples_of_4() : transpose_shapes();
    REQUIRE(shapes.size() >= 40);
    std::uint64_t seed = 1;
    for (const TransposeShape& shape : shapes) {
      const Verdict verdict = check_transpose(kernel.on(), shape, ++seed, Distribution::uniform, kernel.copies);
      INFO(kernel.name << ", " << text_of(shape) << ": " << verdict.text);
      REQUIRE(verdict.right());
      REQUIRE(verdict.comparison.checked == static_cast<std::size_t>(shape.first) * shape.second);
    }
  }
}

TEST_CASE("the library's transpose is right on every shape", "[transpose]") {
  LibraryTranspose transpose;
  for (const TransposeShape& shape : transpose_shapes()) {
    const Verdict verdict = check_transpose([&](auto... p) { return transpose(p...); }, shape, 4);
    INFO(text_of(shape) << ": " << verdict.text);
    REQUIRE(verdict.right());
  }
}

TEST_CASE("whole tiles are moved, on every multiple of 64", "[transpose]") {
  for (int rows = 0; rows <= 384; rows += 64) {
    for (int cols = 0; cols <= 384; cols += 64) {
      const std::vector<float> input = tilewise::random_vector(static_cast<std::size_t>(rows) * cols, rows + cols + 1);
      std::vector<float> expected(input.size());
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c)
          expected[(c / 64 * 64 + r % 64) * rows + r / 64 * 64 + c % 64] = input[r * cols + c];
      GuardedMatrix in(input), out(std::vector<float>(input.size(), GuardedMatrix::canary()));
      REQUIRE(launch_move_tiles(in.data(), out.data(), rows, cols) == cudaSuccess);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      INFO(rows << " x " << cols);
      REQUIRE(out.values() == expected);
      REQUIRE(out.margins_intact());
      REQUIRE(in.intact());
    }
  }
  GuardedMatrix in(std::vector<float>(8192, 1.0f)), out(std::vector<float>(8192, 3.0f));
  for (const TransposeShape& shape : {TransposeShape{64, 60}, {60, 64}, {-64, 64}, {64, 1 << 30 | 64}})
    REQUIRE(launch_move_tiles(in.data(), out.data(), shape.first, shape.second) == cudaErrorInvalidValue);
  REQUIRE(launch_move_tiles(in.data() + 1, out.data(), 64, 64) == cudaErrorInvalidValue);
  REQUIRE(out.intact());
}

TEST_CASE("transpose() takes the multiples of 4 as well", "[transpose]") {
  for (const TransposeShape& shape : multiples_of_4()) {
    const Verdict verdict = check_transpose([](auto... p) { return launch_transpose(p...); }, shape, 3);
    INFO(text_of(shape) << ": " << verdict.text);
    REQUIRE(verdict.right());
  }
}

TEST_CASE("transposes are right on all kinds of data", "[transpose]") {
  const Distribution distribution =
      GENERATE(Distribution::uniform, Distribution::wide, Distribution::cancel, Distribution::integers);
  for (const Kernel& kernel : kernels) {
    for (std::uint64_t seed : {3, 4, 5, 6}) {
      const Verdict verdict = check_transpose(kernel.on(), {72, 44}, seed, distribution, kernel.copies);
      INFO(kernel.name << ", seed " << seed << ", " << tilewise::to_string(distribution) << ": " << verdict.text);
      REQUIRE(verdict.right());
    }
  }
}

TEST_CASE("the remainders of a width, one by one", "[transpose]") {
  // The ragged kernel cuts every row of the output somewhere else: each remainder by 8, below and above a tile.
  for (int rows = 120; rows <= 136; ++rows) {
    for (int cols : {1, 2, 63, 64, 65, 129}) {
      const Verdict verdict = check_transpose([](auto... p) { return launch_transpose_ragged(p...); }, {rows, cols}, 5);
      INFO(rows << " x " << cols << ": " << verdict.text);
      REQUIRE(verdict.right());
    }
  }
}

TEST_CASE("a transpose moves bits: not a number, infinity and minus zero come out as they went in", "[transpose]") {
  const int rows = 68, cols = 36;
  std::vector<float> input = tilewise::random_vector(rows * cols, 1);
  for (std::size_t i = 0; i < input.size(); i += 7)
    input[i] = std::bit_cast<float>(0x7fc00000u + static_cast<unsigned>(i));
  for (std::size_t i = 3; i < input.size(); i += 7) input[i] = -0.0f;
  for (std::size_t i = 5; i < input.size(); i += 7) input[i] = -std::numeric_limits<float>::infinity();
  input[11] = std::numeric_limits<float>::denorm_min();
  const std::vector<float> expected = transposed(input, rows, cols);
  const tilewise::DeviceBuffer<float> in(input);
  tilewise::DeviceBuffer<float> out(input.size());
  for (const Kernel& kernel : kernels) {
    out.zero();
    REQUIRE(kernel.launch(in.data(), out.data(), rows, cols, nullptr) == cudaSuccess);
    INFO(kernel.name);
    REQUIRE(std::memcmp(out.to_host().data(), kernel.copies ? input.data() : expected.data(), out.bytes()) == 0);
  }
}

TEST_CASE("the transpose of the transpose is the matrix itself", "[transpose]") {
  for (const TransposeShape& shape : {TransposeShape{70, 33}, {64, 128}, {1, 77}}) {
    const auto [rows, cols] = shape;
    const std::vector<float> input = tilewise::random_vector(static_cast<std::size_t>(rows) * cols, 9);
    const tilewise::DeviceBuffer<float> in(input);
    tilewise::DeviceBuffer<float> once(input.size()), twice(input.size());
    REQUIRE(launch_transpose(in.data(), once.data(), rows, cols) == cudaSuccess);
    REQUIRE(launch_transpose(once.data(), twice.data(), cols, rows) == cudaSuccess);
    REQUIRE(twice.to_host() == input);
  }
}

TEST_CASE("matrices that begin anywhere", "[transpose]") {
  // A matrix inside a larger allocation need not begin on 16 bytes. transpose() must not use float4 there, or only
  // where they fit.
  for (const TransposeShape& shape : {TransposeShape{68, 72}, {67, 70}}) {
    const auto [rows, cols] = shape;
    const auto words = static_cast<std::size_t>(rows) * cols;
    for (std::size_t in_at : {0, 1, 2}) {
      for (std::size_t out_at : {0, 1, 2, 3, 5}) {
        std::vector<float> input = tilewise::random_vector(in_at + words, 2);
        GuardedMatrix in(input);
        GuardedMatrix out(std::vector<float>(out_at + words, -7.0f));
        REQUIRE(launch_transpose(in.data() + in_at, out.data() + out_at, rows, cols) == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        const std::vector<float> got = out.values();
        INFO(text_of(shape) << ", offsets " << in_at << " and " << out_at);
        REQUIRE(std::count(got.begin(), got.begin() + out_at, -7.0f) == static_cast<std::ptrdiff_t>(out_at));
        REQUIRE(std::vector<float>(got.begin() + out_at, got.end()) ==
                transposed({input.begin() + in_at, input.end()}, rows, cols));
        REQUIRE(out.margins_intact());
      }
    }
  }
}

TEST_CASE("the device makes the host's random words, and finds the wrong one among them", "[transpose]") {
  // The lesson checks large matrices on the device. What it expects there must be what the host computes.
  for (const TransposeShape& shape : {TransposeShape{64, 128}, {192, 64}, {128, 128}}) {
    const auto [rows, cols] = shape;
    for (std::uint64_t seed : {1, 2, 77}) {
      const std::vector<float> input = tilewise::random_vector(static_cast<std::size_t>(rows) * cols, seed);
      DeviceMatrix matrix(rows, cols, seed);
      std::vector<float> words(input.size());
      REQUIRE(cudaMemcpy(words.data(), matrix.data(), words.size() * 4, cudaMemcpyDeviceToHost) == cudaSuccess);
      REQUIRE(words == input);

      std::vector<float> moved(input.size());
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c)
          moved[(c / 64 * 64 + r % 64) * rows + r / 64 * 64 + c % 64] = input[r * cols + c];
      const std::pair<Result, std::vector<float>> results[] = {
          {Result::copied, input}, {Result::transposed, transposed(input, rows, cols)}, {Result::moved, moved}};
      for (const auto& [result, expected] : results) {
        tilewise::DeviceBuffer<float> out(expected);
        const tilewise::Comparison right = matrix.check(out.data(), result);
        REQUIRE(right.ok);
        REQUIRE(right.checked == input.size());
        for (const auto& [other, unexpected] : results)
          if (other != result) REQUIRE_FALSE(matrix.check(out.data(), other).ok);
        for (const std::size_t at : {std::size_t{0}, input.size() / 3, input.size() - 1}) {
          std::vector<float> spoilt = expected;
          spoilt[at] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(spoilt[at]) ^ 1u);  // the last bit of one word
          out.upload(spoilt);
          const tilewise::Comparison wrong = matrix.check(out.data(), result);
          const std::size_t width = result == Result::copied ? cols : rows;
          REQUIRE_FALSE(wrong.ok);
          REQUIRE(wrong.wrong == 1);
          REQUIRE(wrong.first_wrong.row == at / width);
          REQUIRE(wrong.first_wrong.col == at % width);
          REQUIRE(wrong.first_wrong.got == spoilt[at]);
          REQUIRE(wrong.first_wrong.expected == expected[at]);
        }
        out.poison();
        REQUIRE(matrix.check(out.data(), result).wrong == input.size());
      }
    }
  }
}

TEST_CASE("what cannot be is refused, and the output is left alone", "[transpose]") {
  GuardedMatrix in(std::vector<float>(64, 1.0f)), out(std::vector<float>(64, 3.0f));
  for (const Kernel& kernel : kernels) {
    INFO(kernel.name);
    REQUIRE(kernel.launch(in.data(), out.data(), -4, 4, nullptr) == cudaErrorInvalidValue);
    REQUIRE(kernel.launch(in.data(), out.data(), 4, -4, nullptr) == cudaErrorInvalidValue);
    REQUIRE(kernel.launch(in.data(), out.data(), (1 << 30) + 4, 4, nullptr) == cudaErrorInvalidValue);
  }
  for (const auto launch : {launch_copy_vectorised, launch_copy_evict_last}) {
    REQUIRE(launch(in.data() + 1, out.data(), 4, 8, nullptr) == cudaErrorInvalidValue);
    REQUIRE(launch(in.data(), out.data() + 2, 4, 8, nullptr) == cudaErrorInvalidValue);
  }
  REQUIRE(launch_transpose_vectorised<>(in.data(), out.data(), 6, 8) == cudaErrorInvalidValue);
  REQUIRE(launch_transpose_vectorised<>(in.data(), out.data(), 8, 6) == cudaErrorInvalidValue);
  REQUIRE(launch_transpose_vectorised<>(in.data() + 1, out.data(), 4, 8) == cudaErrorInvalidValue);
  REQUIRE(launch_transpose_vectorised<>(in.data(), out.data() + 2, 4, 8) == cudaErrorInvalidValue);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(cudaGetLastError() == cudaSuccess);  // a refused launch leaves nothing behind
  REQUIRE(out.intact());
}

TEST_CASE("transposes run on the stream they are given", "[transpose]") {
  const tilewise::Stream stream;
  for (const Kernel& kernel : kernels) {
    const auto launch = [&](const float* in, float* out, int rows, int cols) {
      const cudaError_t status = kernel.launch(in, out, rows, cols, stream.get());
      return status == cudaSuccess ? cudaStreamSynchronize(stream.get()) : status;
    };
    INFO(kernel.name);
    REQUIRE(check_transpose(launch, {36, 68}, 1, Distribution::uniform, kernel.copies).right());
  }
}

TEST_CASE("a matrix longer than a grid is high", "[transpose]") {
  // 65,535 blocks in y are the most; transpose_vectorised() and transpose_ragged() put all blocks into x.
  if (tilewise::is_simulated()) return;  // 16 million threads take seconds, and the simulator knows the limit as well
  const int rows = 65535 * 64 + 8;
  const tilewise::DeviceBuffer<float> in(tilewise::random_vector(rows * std::size_t{1}, 3));
  tilewise::DeviceBuffer<float> out(rows);
  out.poison();
  REQUIRE(launch_transpose(in.data(), out.data(), 1, rows) == cudaSuccess);
  REQUIRE(out.to_host() == in.to_host());
}

namespace {

/// Counts of one launch on 128 x 192, on the simulator.
std::optional<tilewise::Counts> counts_of(cudaError_t (*launch)(const float*, float*, int, int, cudaStream_t)) {
  const tilewise::DeviceBuffer<float> in(tilewise::random_vector(128 * 192, 1));
  tilewise::DeviceBuffer<float> out(128 * 192);
  return tilewise::count([&] { REQUIRE(launch(in.data(), out.data(), 128, 192, nullptr) == cudaSuccess); });
}

constexpr std::uint64_t kRequests = 128 * 192 / 32;  // one word per thread

}  // namespace

TEST_CASE("which side of a naive transpose is strided", "[transpose][counts]") {
  const auto strided_write = counts_of(launch_transpose_strided_write);
  if (!strided_write) return;  // a GPU does not count
  const auto strided_read = counts_of(launch_transpose_strided_read);
  REQUIRE(strided_write->global_load_requests == kRequests);
  REQUIRE(strided_write->sectors_per_load() == 4);
  REQUIRE(strided_write->sectors_per_store() == 32);
  REQUIRE(strided_read->sectors_per_load() == 32);
  REQUIRE(strided_read->sectors_per_store() == 4);
}

TEST_CASE("with a tile both sides are coalesced, and the conflicts are as told", "[transpose][counts]") {
  struct Case {
    const char* name;
    cudaError_t (*launch)(const float*, float*, int, int, cudaStream_t);
    unsigned store_way, load_way;  ///< wavefronts per shared request
  };
  for (const Case& c : std::initializer_list<Case>{
           {"transpose_tile<32>", launch_transpose_tile<32>, 1, 32},
           {"transpose_tile<16>", launch_transpose_tile<16>, 1, 8},
           {"transpose_padded<32>", launch_transpose_padded<32>, 1, 1},
           {"transpose_padded<16>", launch_transpose_padded<16>, 2, 2},
           {"transpose_swizzled<32>", launch_transpose_swizzled<32>, 1, 1},
           {"transpose_swizzled<16>", launch_transpose_swizzled<16>, 1, 1},
           {"transpose_coarsened", launch_transpose_coarsened, 1, 1},
       }) {
    const auto counts = counts_of(c.launch);
    if (!counts) return;
    INFO(c.name);
    REQUIRE(counts->global_load_requests == kRequests);
    REQUIRE(counts->global_store_requests == kRequests);
    REQUIRE(counts->sectors_per_load() == 4);
    REQUIRE(counts->sectors_per_store() == 4);
    REQUIRE(counts->shared_stores == kRequests);
    REQUIRE(counts->shared_loads == kRequests);
    REQUIRE(counts->shared_store_wavefronts == c.store_way * kRequests);
    REQUIRE(counts->shared_load_wavefronts == c.load_way * kRequests);
    REQUIRE(counts->shared_conflicts == (c.store_way + c.load_way - 2) * kRequests);
  }
}

TEST_CASE("the vectorised kernel asks a quarter as often, for four times as much, without conflicts",
          "[transpose][counts]") {
  for (auto launch : {launch_transpose_vectorised<TileOrder::columns>, launch_transpose_vectorised<TileOrder::rows>,
                      launch_transpose_vectorised<TileOrder::columns, true>}) {
    const auto counts = counts_of(launch);
    if (!counts) return;
    REQUIRE(counts->global_load_requests == kRequests / 4);
    REQUIRE(counts->global_store_requests == kRequests / 4);
    REQUIRE(counts->sectors_per_load() == 16);
    REQUIRE(counts->sectors_per_store() == 16);
    REQUIRE(counts->shared_conflicts == 0);
    REQUIRE(counts->shared_store_wavefronts + counts->shared_load_wavefronts == 2 * kRequests);  // 128 bytes each
  }
}

TEST_CASE("moved tiles make the same accesses as a vectorised transpose", "[transpose][counts]") {
  const auto moved = counts_of(launch_move_tiles);
  const auto transposed = counts_of(launch_transpose_vectorised<>);
  if (!moved) return;
  REQUIRE(moved->global_load_requests == transposed->global_load_requests);
  REQUIRE(moved->global_load_sectors == transposed->global_load_sectors);
  REQUIRE(moved->global_store_requests == transposed->global_store_requests);
  REQUIRE(moved->global_store_sectors == transposed->global_store_sectors);
  REQUIRE(moved->shared_loads + moved->shared_stores == 0);
}

TEST_CASE("the ragged kernel writes every sector of the output once", "[transpose][counts]") {
  // 127 x 191: hardly a row of the output begins at a sector. All its words fill 127 * 191 / 8 sectors, and where one
  // row ends and the next begins the sector is shared: at most one more per row.
  const tilewise::DeviceBuffer<float> in(tilewise::random_vector(127 * 191, 1));
  tilewise::DeviceBuffer<float> out(127 * 191);
  const auto sectors = [&](auto launch) {
    const auto counts =
        tilewise::count([&] { REQUIRE(launch(in.data(), out.data(), 127, 191, nullptr) == cudaSuccess); });
    return counts ? counts->global_store_sectors : 0;
  };
  const auto ragged = sectors(launch_transpose_ragged);
  if (ragged == 0) return;
  REQUIRE(ragged <= 127 * 191 / 8 + 191);
  REQUIRE(sectors(launch_transpose_swizzled<32>) >= 191 * 4 * 9 / 2);  // straight edges cut sectors in two
}

namespace {

TransposeLaunch launch_of(transpose_mutants::Kernel kernel, int tile) {
  return [=](const float* in, float* out, int rows, int cols) {
    const dim3 grid((cols + tile - 1) / tile, (rows + tile - 1) / tile);
    kernel<<<grid, dim3(16, 16)>>>(in, out, rows, cols);
    return cudaGetLastError();
  };
}

}  // namespace

TEST_CASE("the templates of the wrong transposes are right without a mistake", "[mutants]") {
  using namespace transpose_mutants;
  const Verdict tiled = check_transpose_mutant(launch_of(mutant<Bug::none>, kTile));
  INFO(tiled.text);
  REQUIRE(tiled.right());
  const Verdict wide = check_transpose_mutant(launch_of(wide_mutant<WideBug::none>, 64));
  INFO(wide.text);
  REQUIRE(wide.right());
  const Verdict ragged = check_transpose_mutant(launch_of(ragged_mutant<RaggedBug::none>, 64));
  INFO(ragged.text);
  REQUIRE(ragged.right());
}

TEST_CASE("every wrong transpose is rejected, and for its own mistake", "[mutants]") {
  for (const transpose_mutants::Mutant& mutant : transpose_mutants::mutants) {
    const Verdict verdict = check_transpose_mutant(launch_of(mutant.kernel, mutant.tile));
    INFO(mutant.name << ": " << (verdict.right() ? "passed as right" : verdict.text));
    if (mutant.gpu_may_be_lucky && !tilewise::is_simulated()) {
      if (verdict.right()) WARN(mutant.name << " was lucky on this GPU");
      continue;
    }
    CHECK(verdict.has(mutant.fault));
    CHECK(verdict.text.find(mutant.finding) != std::string::npos);
  }
}
