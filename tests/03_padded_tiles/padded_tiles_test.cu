// Chapter 03: every kernel on every kind of shape, what it costs in wavefronts, and the wrong kernels that the same
// check must reject.
#include "padded_tiles.cuh"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "../../chapters/02_tiled_matmul/tiled_matmul.cuh"
#include "03_padded_tiles/check_running_sums.hpp"
#include "03_padded_tiles/mutants/mutants.cuh"
#include "catch.hpp"
#include "check_matmul.hpp"
#include "problem.hpp"
#include "tilewise/counters.hpp"

namespace {

using tilewise::Distribution;

struct Kernel {
  std::string name;
  RunningSumsKernel run;

  SumsLaunch on(cudaStream_t stream = nullptr) const {
    return [kernel = run, stream](const float* in, float* out, int rows, int cols) {
      return launch_running_sums(kernel, in, out, rows, cols, stream);
    };
  }
};

const std::vector<Kernel> kernels = {
    {"running_sums_direct", running_sums_direct},
    {"running_sums_tile", running_sums_tile},
    {"running_sums_extra_row", running_sums_extra_row},
    {"running_sums_padded", running_sums_padded},
    {"running_sums_transposed", running_sums_transposed},
    {"running_sums_swizzled", running_sums_swizzled},
    {"running_sums_wide<float2, 32>", running_sums_wide<float2, 32>},
    {"running_sums_wide<float2, 34>", running_sums_wide<float2, 34>},
    {"running_sums_wide<float4, 32>", running_sums_wide<float4, 32>},
    {"running_sums_wide<float4, 36>", running_sums_wide<float4, 36>},
    {"running_sums_wide<float4, 40>", running_sums_wide<float4, 40>},
    {"running_sums_narrow<16>", running_sums_narrow<16>},
    {"running_sums_narrow<17>", running_sums_narrow<17>},
    {"running_sums_narrow<18>", running_sums_narrow<18>},
    {"running_sums_narrow_padded", running_sums_narrow_padded},
    {"running_sums_narrow_swizzled", running_sums_narrow_swizzled},
};

}  // namespace

TEST_CASE("running sums are right on every shape", "[sums]") {
  REQUIRE(sums_shapes().size() >= 40);
  for (const Kernel& kernel : kernels) {
    std::uint64_t seed = 1;
    for (const SumsShape& shape : sums_shapes()) {
      const Verdict verdict = check_sums(kernel.on(), shape, ++seed);
      INFO(kernel.name << ", " << text_of(shape) << ": " << verdict.text);
      REQUIRE(verdict.right());
      REQUIRE(verdict.comparison.checked == static_cast<std::size_t>(shape.first) * shape.second);
    }
  }
}

TEST_CASE("running sums are right on all kinds of data, and exact where FP32 is", "[sums]") {
  const Distribution distribution =
      GENERATE(Distribution::uniform, Distribution::wide, Distribution::cancel, Distribution::integers);
  for (const Kernel& kernel : kernels) {
    for (std::uint64_t seed : {3, 4, 5, 6}) {
      const Verdict verdict = check_sums(kernel.on(), {70, 99}, seed, distribution);
      INFO(kernel.name << ", seed " << seed << ", " << tilewise::to_string(distribution) << ": " << verdict.text);
      REQUIRE(verdict.right());
    }
  }
}

TEST_CASE("wherever a word lies in shared memory, the sum has the same bits", "[sums]") {
  // The lesson compares with a float loop on the host first, bit by bit, and with FP64 if a bit differs.
  for (const SumsShape& shape : {SumsShape{70, 200}, {33, 31}}) {
    for (Distribution distribution : {Distribution::uniform, Distribution::wide}) {
      const auto [rows, cols] = shape;
      const std::vector<float> input = tilewise::random_vector(static_cast<std::size_t>(rows) * cols, 11, distribution);
      std::vector<float> in_order(input);
      for (std::size_t i = 0; i < input.size(); ++i)
        if (i % cols != 0) in_order[i] += in_order[i - 1];
      RunningSums problem(rows, cols, input);
      for (const Kernel& kernel : kernels) {
        INFO(kernel.name << ", " << text_of(shape));
        problem.out.poison();
        REQUIRE(launch_running_sums(kernel.run, problem.in.data(), problem.out.data(), rows, cols) == cudaSuccess);
        const std::vector<float> out = problem.out.to_host();
        REQUIRE(std::memcmp(out.data(), in_order.data(), problem.out.bytes()) == 0);
        REQUIRE(problem.check().ok);
      }
    }
  }
}

TEST_CASE("the lesson's own check sees a wrong word, a missing word and NaN, and accepts another order", "[sums]") {
  const int rows = 5, cols = 40;
  const std::vector<float> input = tilewise::random_vector(rows * cols, 2);
  RunningSums problem(rows, cols, input);
  const SumsReference reference(input, {rows, cols}, false);
  std::vector<float> rounded(reference.sums.begin(), reference.sums.end());  // the best that FP32 can say
  problem.out.upload(rounded);
  REQUIRE(problem.check().ok);
  for (const float wrong : {rounded[77] + 1e-3f, std::numeric_limits<float>::quiet_NaN(), 0.0f}) {
    std::vector<float> broken = rounded;
    broken[77] = wrong;
    problem.out.upload(broken);
    const tilewise::Comparison comparison = problem.check();
    REQUIRE_FALSE(comparison.ok);
    REQUIRE(comparison.wrong == 1);
    REQUIRE(comparison.first_wrong.row == 1);
    REQUIRE(comparison.first_wrong.col == 37);
  }
  problem.out.poison();
  REQUIRE(problem.check().wrong == rows * cols);
}

TEST_CASE("what is not a number stays in its row, from its column on", "[sums]") {
  const int rows = 40, cols = 70;
  std::vector<float> input = tilewise::random_vector(rows * cols, 8);
  input[7 * cols + 35] = std::numeric_limits<float>::quiet_NaN();
  input[8 * cols + 69] = std::numeric_limits<float>::infinity();
  const tilewise::DeviceBuffer<float> in(input);
  tilewise::DeviceBuffer<float> out(input.size());
  for (const Kernel& kernel : kernels) {
    out.zero();
    REQUIRE(launch_running_sums(kernel.run, in.data(), out.data(), rows, cols) == cudaSuccess);
    const std::vector<float> got = out.to_host();
    INFO(kernel.name);
    int wrong = 0;
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) {
        const float word = got[r * cols + c];
        const bool nan = r == 7 && c >= 35, infinite = r == 8 && c == 69;
        wrong += std::isnan(word) != nan || std::isinf(word) != infinite;
      }
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("running sums of shapes that cannot be are refused, and the output is left alone", "[sums]") {
  GuardedMatrix in(std::vector<float>(64, 1.0f)), out(std::vector<float>(64, 3.0f));
  for (const Kernel& kernel : kernels) {
    INFO(kernel.name);
    REQUIRE(launch_running_sums(kernel.run, in.data(), out.data(), -4, 4) == cudaErrorInvalidValue);
    REQUIRE(launch_running_sums(kernel.run, in.data(), out.data(), 4, -4) == cudaErrorInvalidValue);
    REQUIRE(launch_running_sums(kernel.run, in.data(), out.data(), (1 << 30) + 1, 4) == cudaErrorInvalidValue);
    REQUIRE(launch_running_sums(kernel.run, in.data(), out.data(), 4, (1 << 30) + 1) == cudaErrorInvalidValue);
    // More dynamic shared memory than a block may have without asking.
    REQUIRE(launch_running_sums(kernel.run, in.data(), out.data(), 8, 8, nullptr, 64 << 10) != cudaSuccess);
  }
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(cudaGetLastError() == cudaSuccess);  // a refused launch leaves nothing behind
  REQUIRE(out.intact());
}

TEST_CASE("running sums run on the stream they are given", "[sums]") {
  const tilewise::Stream stream;
  for (const Kernel& kernel : kernels) {
    const auto launch = [&](const float* in, float* out, int rows, int cols) {
      const cudaError_t status = launch_running_sums(kernel.run, in, out, rows, cols, stream.get());
      return status == cudaSuccess ? cudaStreamSynchronize(stream.get()) : status;
    };
    INFO(kernel.name);
    REQUIRE(check_sums(launch, {36, 68}, 1).right());
  }
}

namespace {

template <class T>
tilewise::Comparison run_windows(int stride, int rounds, int blocks, int threads, std::uint64_t seed) {
  WindowSums<T> problem(stride, rounds, blocks, threads, seed);
  problem.out.poison();
  REQUIRE(launch_window_sums(problem.in(), problem.out.data(), stride, rounds, blocks, threads) == cudaSuccess);
  return problem.check();
}

}  // namespace

TEST_CASE("windows are summed exactly, for every stride and width", "[windows]") {
  for (int stride = 1; stride <= 64; ++stride) {
    INFO("stride " << stride);
    REQUIRE(run_windows<float>(stride, 1 + stride % 3, 2, 64, stride).ok);
    REQUIRE(run_windows<float2>(stride, 1, 1, 32, stride).ok);
    REQUIRE(run_windows<float4>(stride, 2, 1, 96, stride).ok);
  }
  REQUIRE(run_windows<float>(3, 0, 1, 32, 1).ok);  // no round: sums of nothing
  REQUIRE(run_windows<float>(7, 100, 3, 256, 5).ok);
}

TEST_CASE("windows that cannot be are refused", "[windows]") {
  tilewise::DeviceBuffer<float> in(4096), out(32);
  const auto launch = [&](int stride, int rounds, int blocks, int threads) {
    return launch_window_sums(in.data(), out.data(), stride, rounds, blocks, threads);
  };
  REQUIRE(launch(0, 1, 1, 32) == cudaErrorInvalidValue);
  REQUIRE(launch(65, 1, 1, 32) == cudaErrorInvalidValue);
  REQUIRE(launch(1, -1, 1, 32) == cudaErrorInvalidValue);
  REQUIRE(launch(1, 1, -1, 32) == cudaErrorInvalidValue);
  REQUIRE(launch(1, 1, 1, 31) == cudaErrorInvalidValue);
  REQUIRE(launch(1, 1, 1, 48) == cudaErrorInvalidValue);
  REQUIRE(launch(1, 1, 0, 32) == cudaSuccess);
  REQUIRE(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a padded product is the product, on every shape, bit by bit the unpadded one", "[matmul]") {
  const auto padded = [](auto... p) { return launch_tiled_matmul_padded<32, 1>(p...); };
  const auto aligned = [](auto... p) { return launch_tiled_matmul_padded<32, 4>(p...); };
  const auto small = [](auto... p) { return launch_tiled_matmul_padded<8, 1>(p...); };
  std::uint64_t seed = 1;
  for (const tilewise::MatmulShape& shape : matmul_shapes()) {
    const Verdict a = check_matmul(padded, shape, ++seed);
    const Verdict b = check_matmul(small, shape, seed);
    INFO(shape.text() << ": " << a.text << b.text);
    REQUIRE(a.right());
    REQUIRE(b.right());
  }
  for (const tilewise::MatmulShape& shape : mutant_shapes()) REQUIRE(check_matmul(aligned, shape, 3).right());
  REQUIRE(launch_tiled_matmul_padded<32, 1>(nullptr, nullptr, nullptr, -1, 2, 2) == cudaErrorInvalidValue);
  REQUIRE(launch_tiled_matmul_padded<32, 1>(nullptr, nullptr, nullptr, 1 << 16, 1 << 16, 2) == cudaErrorInvalidValue);
  REQUIRE(launch_tiled_matmul_padded<32, 1>(nullptr, nullptr, nullptr, 0, 2, 2) == cudaSuccess);
}

namespace {

constexpr std::uint64_t kTiles = 2 * 3;  // of 32 x 32, in 64 x 96

std::optional<tilewise::Counts> counts_of(RunningSumsKernel kernel) {
  const tilewise::DeviceBuffer<float> in(tilewise::random_vector(64 * 96, 1));
  tilewise::DeviceBuffer<float> out(64 * 96);
  return tilewise::count([&] { REQUIRE(launch_running_sums(kernel, in.data(), out.data(), 64, 96) == cudaSuccess); });
}

}  // namespace

TEST_CASE("what fill, walk and drain cost in every layout is what the page says", "[sums][counts]") {
  struct Case {
    const char* name;
    RunningSumsKernel kernel;
    unsigned rows;        ///< requests of 32 words for one tile of 32 x 32, to fill it; as many to drain it
    unsigned row_cost;    ///< wavefronts of each
    unsigned walk;        ///< loads of the walk; as many stores
    unsigned walk_cost;   ///< wavefronts of each
    unsigned walk_ideal;  ///< without conflicts
  };
  for (const Case& c : std::initializer_list<Case>{
           {"tile", running_sums_tile, 32, 1, 32, 32, 1},
           {"extra_row", running_sums_extra_row, 32, 1, 32, 32, 1},
           {"padded", running_sums_padded, 32, 1, 32, 1, 1},
           {"transposed", running_sums_transposed, 32, 32, 32, 1, 1},
           {"swizzled", running_sums_swizzled, 32, 1, 32, 1, 1},
           {"wide<float2, 32>", running_sums_wide<float2, 32>, 32, 1, 16, 32 / 2 * 2, 2},
           {"wide<float2, 34>", running_sums_wide<float2, 34>, 32, 1, 16, 2, 2},
           {"wide<float4, 32>", running_sums_wide<float4, 32>, 32, 1, 8, 32 / 4 * 4, 4},
           {"wide<float4, 36>", running_sums_wide<float4, 36>, 32, 1, 8, 4, 4},
           {"wide<float4, 40>", running_sums_wide<float4, 40>, 32, 1, 8, 8, 4},
           {"narrow<16>", running_sums_narrow<16>, 32, 1, 32, 16, 1},
           {"narrow<17>", running_sums_narrow<17>, 32, 2, 32, 1, 1},
           {"narrow<18>", running_sums_narrow<18>, 32, 2, 32, 2, 1},
           {"narrow_padded", running_sums_narrow_padded, 32, 1, 32, 1, 1},
           {"narrow_swizzled", running_sums_narrow_swizzled, 32, 1, 32, 1, 1},
       }) {
    const auto counts = counts_of(c.kernel);
    if (!counts) return;  // a GPU does not count
    INFO(c.name);
    REQUIRE(counts->sectors_per_load() == 4);
    REQUIRE(counts->sectors_per_store() == 4);
    REQUIRE(counts->shared_loads == kTiles * (c.rows + c.walk));
    REQUIRE(counts->shared_stores == kTiles * (c.rows + c.walk));
    REQUIRE(counts->shared_load_wavefronts == kTiles * (c.rows * c.row_cost + c.walk * c.walk_cost));
    REQUIRE(counts->shared_store_wavefronts == kTiles * (c.rows * c.row_cost + c.walk * c.walk_cost));
    REQUIRE(counts->shared_conflicts ==
            2 * kTiles * (c.rows * (c.row_cost - 1) + c.walk * (c.walk_cost - c.walk_ideal)));
  }
  const auto direct = counts_of(running_sums_direct);
  REQUIRE(direct->sectors_per_load() == 32);
  REQUIRE(direct->sectors_per_store() == 32);
  REQUIRE(direct->shared_wavefronts() == 0);
}

TEST_CASE("a load with stride s costs gcd(s, banks) passes for each group of lanes", "[windows][counts]") {
  const auto per_load = [](auto element, int stride) {
    using T = decltype(element);
    WindowSums<T> problem(stride, 1, 1, 32, 1);
    const auto counts = tilewise::count(
        [&] { REQUIRE(launch_window_sums(problem.in(), problem.out.data(), stride, 1, 1, 32) == cudaSuccess); });
    if (!counts) return 0.0;
    REQUIRE(counts->shared_loads == 32);
    return static_cast<double>(counts->shared_load_wavefronts) / 32;
  };
  for (int stride = 1; stride <= 64; ++stride) {
    if (per_load(0.0f, stride) == 0.0) return;
    INFO("stride " << stride);
    REQUIRE(per_load(float{}, stride) == std::gcd(stride, 32));       // 32 lanes at once, 32 places
    REQUIRE(per_load(float2{}, stride) == 2 * std::gcd(stride, 16));  // 16 lanes at once, 16 places of 8 bytes
    REQUIRE(per_load(float4{}, stride) == 4 * std::gcd(stride, 8));   // 8 lanes at once, 8 places of 16 bytes
  }
}

TEST_CASE("a product through tiles has no conflicts, padded or not", "[matmul][counts]") {
  const int n = 64;
  const tilewise::DeviceBuffer<float> A(tilewise::random_vector(n * n, 1)), B(tilewise::random_vector(n * n, 2));
  tilewise::DeviceBuffer<float> C(n * n);
  const auto count = [&](auto launch) {
    return tilewise::count([&] { REQUIRE(launch(A.data(), B.data(), C.data(), n, n, n, nullptr) == cudaSuccess); });
  };
  const auto plain = count(launch_tiled_matmul<32>);
  if (!plain) return;
  for (const auto& counts :
       {plain, count(launch_tiled_matmul_padded<32, 1>), count(launch_tiled_matmul_padded<32, 4>)}) {
    REQUIRE(counts->shared_conflicts == 0);
    REQUIRE(counts->shared_loads == plain->shared_loads);
    REQUIRE(counts->shared_load_wavefronts == plain->shared_loads);
    REQUIRE(counts->shared_store_wavefronts == plain->shared_stores);
  }
}

TEST_CASE("a block that asks for more shared memory leaves room for fewer", "[occupancy]") {
  const tilewise::DeviceBuffer<float> in(tilewise::random_vector(64 * 40, 1));
  tilewise::DeviceBuffer<float> out(64 * 40);
  REQUIRE(launch_running_sums(running_sums_padded, in.data(), out.data(), 64, 40) == cudaSuccess);
  const tilewise::Device& device = tilewise::device();
  constexpr std::size_t tile = 32 * 33 * sizeof(float);
  const auto blocks_with = [&](std::size_t bytes) {
    const auto unused = static_cast<int>(bytes - tile);
    REQUIRE(cudaFuncSetAttribute(running_sums_padded, cudaFuncAttributeMaxDynamicSharedMemorySize, unused) ==
            cudaSuccess);
    int blocks = 0;
    REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, running_sums_padded, 32, unused) == cudaSuccess);
    return blocks;
  };
  int before = 1 << 30;
  for (std::size_t bytes = tile; bytes <= device.shared_per_block_opt_in; bytes += 3840) {
    INFO(bytes << " bytes");
    const int blocks = blocks_with(bytes);
    REQUIRE(blocks >= 1);
    REQUIRE(blocks <= before);
    REQUIRE(blocks * bytes <= device.shared_per_sm);
    REQUIRE((blocks + 1) * (bytes + 2048) > std::min<std::size_t>(device.shared_per_sm, 16 * bytes));  // no fewer
    before = blocks;
  }
  REQUIRE(blocks_with(device.shared_per_block_opt_in) == 1);
  // And one byte more than a block may have cannot be asked for.
  REQUIRE(cudaFuncSetAttribute(running_sums_padded, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(device.shared_per_block_opt_in - tile) + 1) == cudaErrorInvalidValue);
  REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
  if (device.major == 9) {
    REQUIRE(blocks_with(65536) == 3);  // 233,472 bytes / (65,536 + 1,024)
    REQUIRE(blocks_with(101376) == 2);
    // Below that, registers have a say, and how many there are is the compiler's choice.
    REQUIRE(blocks_with(8192) <= 25);
    REQUIRE(blocks_with(4224) <= 32);
    if (tilewise::is_simulated()) REQUIRE(blocks_with(8192) == 25);
  }
}

TEST_CASE("a carve-out for L1 leaves room for one block, and the sums stay right", "[occupancy]") {
  const auto attribute = cudaFuncAttributePreferredSharedMemoryCarveout;
  const auto blocks = [] {
    int blocks = 0;
    REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, running_sums_padded, 32, 0) == cudaSuccess);
    return blocks;
  };
  int before = 0;
  for (const int percent : {0, 5, 10, 25, 50, 100}) {
    REQUIRE(cudaFuncSetAttribute(running_sums_padded, attribute, percent) == cudaSuccess);
    const Verdict verdict = check_sums(Kernel{"padded", running_sums_padded}.on(), {70, 99}, 3);
    INFO(percent << " %: " << verdict.text);
    REQUIRE(verdict.right());
    REQUIRE(blocks() >= std::max(before, 1));
    before = blocks();
    if (tilewise::device().major == 9 && percent == 0) REQUIRE(before == 1);
  }
  REQUIRE(cudaFuncSetAttribute(running_sums_padded, attribute, cudaSharedmemCarveoutDefault) == cudaSuccess);
  REQUIRE(blocks() == before);
}

namespace {

SumsLaunch launch_of(RunningSumsKernel kernel) {
  return
      [=](const float* in, float* out, int rows, int cols) { return launch_running_sums(kernel, in, out, rows, cols); };
}

}  // namespace

TEST_CASE("the template of the wrong sums is right without a mistake", "[mutants]") {
  using namespace sums_mutants;
  for (const RunningSumsKernel kernel : {mutant<Bug::none>, mutant<Bug::none_swizzled>}) {
    const Verdict verdict = check_sums_mutant(launch_of(kernel));
    INFO(verdict.text);
    REQUIRE(verdict.right());
  }
}

TEST_CASE("every wrong kernel for running sums is rejected, and for its own mistake", "[mutants]") {
  for (const sums_mutants::Mutant& mutant : sums_mutants::mutants) {
    const Verdict verdict = check_sums_mutant(launch_of(mutant.kernel));
    INFO(mutant.name << ": " << (verdict.right() ? "passed as right" : verdict.text));
    if (mutant.gpu_may_be_lucky && !tilewise::is_simulated()) {
      if (verdict.right()) WARN(mutant.name << " was lucky on this GPU");
      continue;
    }
    CHECK(verdict.has(mutant.fault));
    CHECK(verdict.text.find(mutant.finding) != std::string::npos);
  }
}
