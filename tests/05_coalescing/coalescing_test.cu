// Chapter 05: every kernel on every kind of size, the cost of every stride and offset against the formula, and the
// wrong kernels that the same check must reject.
#include "coalescing.cuh"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "05_coalescing/check_coalescing.hpp"
#include "05_coalescing/mutants/mutants.cuh"
#include "catch.hpp"
#include "problem.cuh"
#include "tilewise/counters.hpp"

namespace {

using tilewise::Distribution;

template <class Word>
const Word* words(const float* p) {
  return reinterpret_cast<const Word*>(p);
}
template <class Word>
Word* words(float* p) {
  return reinterpret_cast<Word*>(p);
}

/// A kernel that moves words, as a function of the way it moves them.
struct Mover {
  std::string name;
  std::size_t floats;  ///< of a word
  enum Kind { copy, read, write, both, shifted_in, shifted_out } kind;
  std::function<cudaError_t(const float*, float*, std::size_t count, std::size_t parameter, cudaStream_t)> launch;

  /// The parameter is a stride or an offset.
  Way way(std::size_t count, std::size_t parameter) const {
    Way w{count, floats};
    if (kind == read || kind == both) w.in_stride = parameter;
    if (kind == write || kind == both) w.out_stride = parameter;
    if (kind == shifted_in) w.in_offset = parameter;
    if (kind == shifted_out) w.out_offset = parameter;
    return w;
  }
  TaskLaunch on(std::size_t count, std::size_t parameter, cudaStream_t stream = nullptr) const {
    return [=, *this](const float* in, float* out) { return launch(in, out, count, parameter, stream); };
  }
  std::uint64_t load_sectors(std::size_t count, std::size_t parameter) const {
    const Way w = way(count, parameter);
    return sectors_of_words(count, 4 * floats, w.in_stride, w.in_offset);
  }
  std::uint64_t store_sectors(std::size_t count, std::size_t parameter) const {
    const Way w = way(count, parameter);
    return sectors_of_words(count, 4 * floats, w.out_stride, w.out_offset);
  }
};

template <class Word>
void add_movers(std::vector<Mover>& list) {
  const auto add = [&](const char* name, Mover::Kind kind, auto launch) {
    list.push_back({name + name_of<Word>(), sizeof(Word) / 4, kind,
                    [launch](const float* in, float* out, std::size_t count, std::size_t p, cudaStream_t s) {
                      if constexpr (std::is_invocable_v<decltype(launch), const Word*, Word*, size_t, cudaStream_t>)
                        return launch(words<Word>(in), words<Word>(out), count, s);
                      else
                        return launch(words<Word>(in), words<Word>(out), count, p, s);
                    }});
  };
  add("copy_one_word", Mover::copy, launch_copy_one_word<Word>);
  add("strided_read", Mover::read, launch_strided_read<Word>);
  add("strided_write", Mover::write, launch_strided_write<Word>);
  add("strided_copy", Mover::both, launch_strided_copy<Word>);
  add("shifted_read", Mover::shifted_in, launch_shifted_read<Word>);
  add("shifted_write", Mover::shifted_out, launch_shifted_write<Word>);
}

const std::vector<Mover>& movers() {
  static const std::vector<Mover> list = [] {
    std::vector<Mover> movers;
    add_movers<float>(movers);
    add_movers<float2>(movers);
    add_movers<float4>(movers);
    movers.push_back({"copy_four_vectors", 1, Mover::copy, [](auto in, auto out, auto count, auto, auto s) {
                        return launch_copy_four_vectors(in, out, count, s);
                      }});
    return movers;
  }();
  return list;
}

constexpr float kStep = 0.125f;

struct ParticleKernel {
  const char* name;
  bool soa;
  std::function<cudaError_t(const float*, float*, std::size_t, cudaStream_t)> launch;
};

const std::vector<ParticleKernel>& particle_kernels() {
  const auto of_structures = [](auto launch) {
    return [launch](const float* in, float* out, std::size_t count, cudaStream_t s) {
      return launch(words<Particle>(in), words<Particle>(out), count, kStep, s);
    };
  };
  static const std::vector<ParticleKernel> list = {
      {"particles_aos", false, of_structures(launch_particles_aos)},
      {"particles_soa", true,
       [](auto in, auto out, auto n, auto s) { return launch_particles_soa(in, out, n, kStep, s); }},
      {"particles_float4", false, of_structures(launch_particles_float4)},
      {"particles_shared", false, of_structures(launch_particles_shared)},
  };
  return list;
}

struct SumKernel {
  const char* name;
  bool of_rows;
  cudaError_t (*launch)(const float*, float*, int, int, cudaStream_t);
};

constexpr SumKernel sum_kernels[] = {{"row_sums_thread", true, launch_row_sums_thread},
                                     {"row_sums_warp", true, launch_row_sums_warp},
                                     {"column_sums_thread", false, launch_column_sums_thread},
                                     {"column_sums_block", false, launch_column_sums_block}};

/// Counts of one launch, on the simulator; nothing on a GPU.
template <class Launch>
std::optional<tilewise::Counts> counts_of(Launch launch) {
  return tilewise::count([&] { REQUIRE(launch() == cudaSuccess); });
}

}  // namespace

// ---------------------------------------------------------------- right results

TEST_CASE("words are moved to where they belong, and nothing else is", "[moves]") {
  REQUIRE(word_counts().size() >= 40);
  const std::size_t parameters[] = {1, 2, 3, 5, 8, 13, 31, 7};
  for (const Mover& mover : movers()) {
    std::uint64_t seed = 1;
    for (std::size_t count : word_counts()) {
      ++seed;
      if (count * mover.floats > 10000) count /= 4;
      const std::size_t parameter = parameters[seed % std::size(parameters)];
      const Task task = move_task(mover.way(count, parameter), seed);
      const Verdict verdict = check_task(mover.on(count, parameter), task);
      INFO(mover.name << ", " << count << " words, " << parameter << ": " << verdict.text);
      REQUIRE(verdict.right());
      REQUIRE(verdict.comparison.checked == task.out.size());
    }
  }
}

TEST_CASE("every stride and every offset, one by one", "[moves]") {
  for (const Mover& mover : movers()) {
    if (mover.kind == Mover::copy) continue;
    const bool shifted = mover.kind == Mover::shifted_in || mover.kind == Mover::shifted_out;
    for (std::size_t parameter = shifted ? 0 : 1; parameter <= (shifted ? 31u : 64u); ++parameter) {
      const Verdict verdict = check_task(mover.on(67, parameter), move_task(mover.way(67, parameter), parameter));
      INFO(mover.name << ", " << parameter << ": " << verdict.text);
      REQUIRE(verdict.right());
    }
  }
}

TEST_CASE("a stride of 0 reads one word for all", "[moves]") {
  const Verdict verdict = check_task([](auto in, auto out) { return launch_strided_read(in, out, 1000, 0); },
                                     move_task({.count = 1000, .in_stride = 0}, 5));
  INFO(verdict.text);
  REQUIRE(verdict.right());
}

TEST_CASE("a move moves bits: not a number, infinity and minus zero come out as they went in", "[moves]") {
  std::vector<float> input = tilewise::random_vector(1024, 1);
  for (std::size_t i = 0; i < input.size(); i += 7)
    input[i] = std::bit_cast<float>(0x7fc00000u + static_cast<unsigned>(i));
  for (std::size_t i = 3; i < input.size(); i += 7) input[i] = -0.0f;
  for (std::size_t i = 5; i < input.size(); i += 7) input[i] = -std::numeric_limits<float>::infinity();
  input[11] = std::numeric_limits<float>::denorm_min();
  const tilewise::DeviceBuffer<float> in(input);
  tilewise::DeviceBuffer<float> out(input.size());
  for (const Mover& mover : movers()) {
    out.zero();
    const std::size_t neutral = mover.kind >= Mover::shifted_in ? 0 : 1;
    REQUIRE(mover.launch(in.data(), out.data(), input.size() / mover.floats, neutral, nullptr) == cudaSuccess);
    INFO(mover.name);
    REQUIRE(std::memcmp(out.to_host().data(), input.data(), out.bytes()) == 0);
  }
}

TEST_CASE("particles take their step", "[particles]") {
  for (const ParticleKernel& kernel : particle_kernels()) {
    std::uint64_t seed = 1;
    for (std::size_t count : word_counts()) {
      if (count > 2100) continue;
      const Verdict verdict = check_task([&](auto in, auto out) { return kernel.launch(in, out, count, nullptr); },
                                         particle_task(count, kStep, kernel.soa, ++seed));
      INFO(kernel.name << ", " << count << " particles: " << verdict.text);
      REQUIRE(verdict.right());
      REQUIRE(verdict.comparison.checked == 8 * count);
    }
    REQUIRE(seed >= 40);
  }
}

TEST_CASE("rows and columns are added up", "[sums]") {
  REQUIRE(sum_shapes().size() >= 40);
  for (const SumKernel& kernel : sum_kernels) {
    std::uint64_t seed = 1;
    for (const auto& [rows, cols] : sum_shapes()) {
      const Verdict verdict =
          check_task([&, r = rows, c = cols](auto in, auto out) { return kernel.launch(in, out, r, c, nullptr); },
                     sum_task({rows, cols}, kernel.of_rows, ++seed));
      INFO(kernel.name << ", " << rows << " x " << cols << ": " << verdict.text);
      REQUIRE(verdict.right());
      REQUIRE(verdict.comparison.checked == static_cast<std::size_t>(kernel.of_rows ? rows : cols));
    }
  }
}

TEST_CASE("what is computed is right on all kinds of data", "[particles][sums]") {
  const Distribution distribution =
      GENERATE(Distribution::uniform, Distribution::wide, Distribution::cancel, Distribution::integers);
  for (std::uint64_t seed : {3, 4, 5, 6}) {
    for (const ParticleKernel& kernel : particle_kernels()) {
      const Verdict verdict = check_task([&](auto in, auto out) { return kernel.launch(in, out, 301, nullptr); },
                                         particle_task(301, kStep, kernel.soa, seed, distribution));
      INFO(kernel.name << ", " << tilewise::to_string(distribution) << ": " << verdict.text);
      REQUIRE(verdict.right());
    }
    for (const SumKernel& kernel : sum_kernels) {
      const Verdict verdict = check_task([&](auto in, auto out) { return kernel.launch(in, out, 70, 45, nullptr); },
                                         sum_task({70, 45}, kernel.of_rows, seed, distribution));
      INFO(kernel.name << ", " << tilewise::to_string(distribution) << ": " << verdict.text);
      REQUIRE(verdict.right());
    }
  }
}

TEST_CASE("a gather fetches what the index says", "[gather]") {
  std::uint64_t seed = 1;
  for (std::size_t count : word_counts()) {
    ++seed;
    std::vector<std::vector<unsigned>> orders = {some_order(count, seed), shuffled_within(count, 32, seed),
                                                 std::vector<unsigned>(count, 0)};
    if (count > 0) orders.push_back(random_index(count, seed));
    for (const std::vector<unsigned>& order : orders) {
      const tilewise::DeviceBuffer<unsigned> index(order);
      const Verdict verdict = check_task([&](auto in, auto out) { return launch_gather(in, index.data(), out, count); },
                                         gather_task(order, count + 1, seed));
      INFO(count << " words: " << verdict.text);
      REQUIRE(verdict.right());
      REQUIRE(verdict.comparison.checked == count);
      REQUIRE(index.to_host() == order);
    }
  }
  const std::vector<unsigned> few = {999, 0, 998, 500};  // from a table that is longer than the index
  const tilewise::DeviceBuffer<unsigned> index(few);
  REQUIRE(
      check_task([&](auto in, auto out) { return launch_gather(in, index.data(), out, 4); }, gather_task(few, 1000, 7))
          .right());
}

TEST_CASE("kernels run on the stream they are given", "[stream]") {
  const tilewise::Stream stream;
  const auto waiting = [&](auto launch) {
    return [&, launch](const float* in, float* out) {
      const cudaError_t status = launch(in, out);
      return status == cudaSuccess ? cudaStreamSynchronize(stream.get()) : status;
    };
  };
  for (const Mover& mover : movers())
    REQUIRE(check_task(waiting(mover.on(300, 3, stream.get())), move_task(mover.way(300, 3), 1)).right());
  for (const ParticleKernel& kernel : particle_kernels())
    REQUIRE(check_task(waiting([&](auto in, auto out) { return kernel.launch(in, out, 99, stream.get()); }),
                       particle_task(99, kStep, kernel.soa, 1))
                .right());
  for (const SumKernel& kernel : sum_kernels)
    REQUIRE(check_task(waiting([&](auto in, auto out) { return kernel.launch(in, out, 33, 44, stream.get()); }),
                       sum_task({33, 44}, kernel.of_rows, 1))
                .right());
}

TEST_CASE("what cannot be is refused, and the output is left alone", "[refused]") {
  GuardedMatrix in(std::vector<float>(64, 1.0f)), out(std::vector<float>(64, 3.0f));
  const std::size_t huge = std::numeric_limits<std::size_t>::max() / 4;
  for (const Mover& mover : movers()) {
    INFO(mover.name);
    REQUIRE(mover.launch(in.data(), out.data(), huge, 1, nullptr) != cudaSuccess);
    if (mover.kind != Mover::copy) {
      REQUIRE(mover.launch(in.data(), out.data(), huge, 1, nullptr) == cudaErrorInvalidValue);
      REQUIRE(mover.launch(in.data(), out.data(), 2, huge, nullptr) == cudaErrorInvalidValue);
    }
    if (mover.kind == Mover::write || mover.kind == Mover::both)  // all words to one place
      REQUIRE(mover.launch(in.data(), out.data(), 2, 0, nullptr) == cudaErrorInvalidValue);
    if (mover.floats > 1 || mover.name == "copy_four_vectors") {  // arrays that are not aligned to the word
      REQUIRE(mover.launch(in.data() + 1, out.data(), 4, 1, nullptr) == cudaErrorInvalidValue);
      REQUIRE(mover.launch(in.data(), out.data() + 1, 4, 1, nullptr) == cudaErrorInvalidValue);
    }
    REQUIRE(mover.launch(in.data(), out.data(), 0, 1, nullptr) == cudaSuccess);
  }
  REQUIRE(launch_copy_one_word(in.data(), out.data(), std::size_t{1} << 40) == cudaErrorInvalidConfiguration);
  for (const SumKernel& kernel : sum_kernels) {
    INFO(kernel.name);
    REQUIRE(kernel.launch(in.data(), out.data(), -4, 4, nullptr) == cudaErrorInvalidValue);
    REQUIRE(kernel.launch(in.data(), out.data(), 4, -4, nullptr) == cudaErrorInvalidValue);
    REQUIRE(kernel.launch(in.data(), out.data(), (1 << 30) + 1, 1, nullptr) == cudaErrorInvalidValue);
    REQUIRE(kernel.launch(in.data(), out.data(), 1, (1 << 30) + 1, nullptr) == cudaErrorInvalidValue);
  }
  const auto particle = [](float* p) { return words<Particle>(p); };
  REQUIRE(launch_particles_float4(particle(in.data() + 2), particle(out.data()), 2, kStep) == cudaErrorInvalidValue);
  REQUIRE(launch_particles_float4(particle(in.data()), particle(out.data() + 1), 2, kStep) == cudaErrorInvalidValue);
  REQUIRE(launch_gather(in.data(), nullptr, out.data(), 0) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(cudaGetLastError() == cudaSuccess);  // a refused launch leaves nothing behind
  REQUIRE(out.intact());
}

TEST_CASE("arrays of structures that begin anywhere", "[particles]") {
  // Without float4 a Particle only needs the alignment of a float.
  const Task task = particle_task(70, kStep, false, 3);
  for (std::size_t at : {1, 2, 3, 5}) {
    for (auto launch : {launch_particles_aos, launch_particles_shared}) {
      std::vector<float> shifted(at, 9.0f);
      shifted.insert(shifted.end(), task.in.begin(), task.in.end());
      GuardedMatrix in(shifted), out(std::vector<float>(shifted.size(), 5.0f));
      REQUIRE(launch(words<Particle>(in.data() + at), words<Particle>(out.data() + at), 70, kStep, nullptr) ==
              cudaSuccess);
      const std::vector<float> got = out.values();
      REQUIRE(std::count(got.begin(), got.begin() + at, 5.0f) == static_cast<std::ptrdiff_t>(at));
      REQUIRE(tilewise::compare(std::span<const float>(got).subspan(at), task.reference, task.bound, 70, 8).ok);
      REQUIRE(out.margins_intact());
    }
  }
}

// ---------------------------------------------------------------- the formula

TEST_CASE("the formula counts what counting counts", "[model]") {
  for (std::uint64_t bytes : {4, 8, 16}) {
    for (std::uint64_t stride = 0; stride <= 70; ++stride) {
      for (std::uint64_t offset = 0; offset < 40; ++offset) {
        for (std::uint64_t lanes : {0, 1, 2, 7, 31, 32}) {
          std::set<std::uint64_t> sectors;
          for (std::uint64_t lane = 0; lane < lanes; ++lane)
            for (std::uint64_t byte = 0; byte < bytes; ++byte)
              sectors.insert(((offset + lane * stride) * bytes + byte) / 32);
          INFO(lanes << " lanes, " << bytes << " bytes, stride " << stride << ", offset " << offset);
          REQUIRE(sectors_of_request(lanes, bytes, stride, offset) == sectors.size());
        }
      }
    }
  }
}

TEST_CASE("a full warp at an aligned begin: stride times width, at most 32", "[model]") {
  for (std::uint64_t bytes : {4, 8, 16})
    for (std::uint64_t stride = 1; stride <= 64; ++stride)
      REQUIRE(sectors_of_request(32, bytes, stride) == std::min<std::uint64_t>(32, stride * bytes));
}

TEST_CASE("every stride and offset costs on the simulator what the formula says", "[counts]") {
  const tilewise::DeviceBuffer<float> in(tilewise::random_vector(4 * 64 * 170, 1));
  tilewise::DeviceBuffer<float> out(in.size());
  for (const Mover& mover : movers()) {
    if (mover.name == "copy_four_vectors") continue;
    const bool shifted = mover.kind == Mover::shifted_in || mover.kind == Mover::shifted_out;
    for (std::size_t parameter = shifted ? 0 : 1; parameter <= (shifted ? 31u : 64u); ++parameter) {
      for (std::size_t count : {160, 73}) {  // whole warps, and a last one of 9 lanes
        const auto counts = counts_of([&] { return mover.launch(in.data(), out.data(), count, parameter, nullptr); });
        if (!counts) return;  // a GPU does not count
        INFO(mover.name << ", " << parameter << ", " << count << " words");
        REQUIRE(counts->global_load_requests == requests_of_words(count));
        REQUIRE(counts->global_store_requests == requests_of_words(count));
        REQUIRE(counts->global_load_sectors == mover.load_sectors(count, parameter));
        REQUIRE(counts->global_store_sectors == mover.store_sectors(count, parameter));
      }
    }
  }
}

TEST_CASE("a word for all lanes costs one sector, not a line of 128 bytes", "[counts]") {
  const tilewise::DeviceBuffer<float> in(tilewise::random_vector(1024, 1));
  tilewise::DeviceBuffer<float> out(1024);
  const auto counts = counts_of([&] { return launch_strided_read(in.data(), out.data(), 1024, 0); });
  if (!counts) return;
  REQUIRE(counts->sectors_per_load() == 1);
}

TEST_CASE("what the particles cost", "[counts]") {
  const std::size_t n = 512;
  const tilewise::DeviceBuffer<float> in(tilewise::random_vector(8 * n, 1));
  tilewise::DeviceBuffer<float> out(8 * n);
  struct Cost {
    std::uint64_t requests, sectors_per_request;
  };
  const Cost costs[] = {{8, 32}, {8, 4}, {2, 32}, {8, 4}};  // of a warp; in the order of the kernels
  for (std::size_t k = 0; k < 4; ++k) {
    const ParticleKernel& kernel = particle_kernels()[k];
    const auto counts = counts_of([&] { return kernel.launch(in.data(), out.data(), n, nullptr); });
    if (!counts) return;
    INFO(kernel.name);
    REQUIRE(counts->global_load_requests == costs[k].requests * n / 32);
    REQUIRE(counts->global_store_requests == costs[k].requests * n / 32);
    REQUIRE(counts->sectors_per_load() == static_cast<double>(costs[k].sectors_per_request));
    REQUIRE(counts->sectors_per_store() == static_cast<double>(costs[k].sectors_per_request));
    REQUIRE(counts->shared_conflicts == 0);
    REQUIRE((counts->shared_wavefronts() > 0) == (k == 3));
  }
}

TEST_CASE("which sums are coalesced", "[counts]") {
  const tilewise::DeviceBuffer<float> in(tilewise::random_vector(128 * 128, 1));
  tilewise::DeviceBuffer<float> out(128);
  for (const SumKernel& kernel : sum_kernels) {
    const auto counts = counts_of([&] { return kernel.launch(in.data(), out.data(), 128, 128, nullptr); });
    if (!counts) return;
    INFO(kernel.name);
    REQUIRE(counts->global_load_requests == 128 * 128 / 32);
    REQUIRE(counts->sectors_per_load() == (std::string(kernel.name) == "row_sums_thread" ? 32 : 4));
    REQUIRE(counts->shared_conflicts == 0);
  }
}

TEST_CASE("order inside a warp costs nothing; order across it does", "[counts]") {
  const std::size_t n = 8192;
  const tilewise::DeviceBuffer<float> in(tilewise::random_vector(n, 1));
  tilewise::DeviceBuffer<float> out(n);
  const auto sectors = [&](const std::vector<unsigned>& order) {
    const tilewise::DeviceBuffer<unsigned> index(order);
    const auto counts = counts_of([&] { return launch_gather(in.data(), index.data(), out.data(), n); });
    if (!counts) return std::uint64_t{0};
    REQUIRE(counts->global_load_requests == 2 * n / 32);  // the index, and the word
    REQUIRE(counts->sectors_per_store() == 4);
    REQUIRE(counts->global_load_sectors == n / 32 * 4 + sectors_of_index(order));
    return counts->global_load_sectors - n / 32 * 4;
  };
  if (!tilewise::is_simulated()) return;
  REQUIRE(sectors(shuffled_within(n, 1, 3)) == n / 32 * 4);
  REQUIRE(sectors(shuffled_within(n, 32, 3)) == n / 32 * 4);
  const auto within_1024 = sectors(shuffled_within(n, 1024, 3)), anywhere = sectors(shuffled_within(n, n, 3));
  REQUIRE(within_1024 > n / 32 * 28);  // 32 of 128 sectors, drawn blindly: 28.7 different ones on average
  REQUIRE(within_1024 < n / 32 * 30);
  REQUIRE(anywhere > n / 32 * 31);
}

// ---------------------------------------------------------------- the program's own checks

TEST_CASE("the program's check of moves sees a wrong word and a word that should have stayed", "[program]") {
  Moves moves(1000, 7);
  const Pattern pattern{.count = 100, .out_stride = 8, .out_offset = 3};
  const auto move = [&] {
    moves.poison();
    REQUIRE(launch_strided_write(moves.in(), moves.out() + 3, 100, 8) == cudaSuccess);
  };
  move();
  const tilewise::Comparison right = moves.check(pattern);
  INFO(right.text());
  REQUIRE(right.ok);
  REQUIRE(right.checked == 1000);
  for (std::size_t at : {0, 3, 4, 11, 3 + 99 * 8, 3 + 100 * 8, 999}) {
    move();
    const float spoilt = 0.25f;
    CUDA_CHECK(cudaMemcpy(moves.out() + at, &spoilt, sizeof(spoilt), cudaMemcpyHostToDevice));
    const tilewise::Comparison wrong = moves.check(pattern);
    REQUIRE_FALSE(wrong.ok);
    REQUIRE(wrong.wrong == 1);
    REQUIRE(wrong.first_wrong.col == at);
  }
  moves.poison();  // nothing written
  REQUIRE(moves.check(pattern).wrong == 100);
}

// ---------------------------------------------------------------- wrong kernels

namespace {

/// The verdict on a wrong kernel: all sizes together.
template <class Check>
Verdict united(std::initializer_list<std::size_t> sizes, Check check) {
  Verdict all;
  for (std::size_t size : sizes) {
    const Verdict one = check(size);
    all.faults |= one.faults;
    if (!one.right()) all.text += std::to_string(size) + ": " + one.text + "\n";
  }
  return all;
}

Verdict check_mutant(void (*kernel)(const float*, float*, size_t, size_t)) {
  return united({37, 1500, 2100}, [&](std::size_t count) {
    const auto launch = [=](const float* in, float* out) {
      kernel<<<coalescing_blocks(count, 1024), 256>>>(in, out, count, 3);
      return cudaGetLastError();
    };
    return check_task(launch, move_task({.count = count, .in_stride = 3, .out_stride = 3}, 7));
  });
}

Verdict check_mutant(void (*kernel)(const float*, float*, size_t)) {
  return united({37, 1501, 2099}, [&](std::size_t count) {
    const auto launch = [=](const float* in, float* out) {
      kernel<<<coalescing_blocks(count, 1024), 256>>>(in, out, count);
      return cudaGetLastError();
    };
    return check_task(launch, move_task({.count = count}, 7));
  });
}

Verdict check_mutant(void (*kernel)(const float*, float*, size_t, float)) {
  return united({37, 150, 201}, [&](std::size_t count) {
    const auto launch = [=](const float* in, float* out) {
      kernel<<<coalescing_blocks(count, 64), 64>>>(in, out, count, kStep);
      return cudaGetLastError();
    };
    return check_task(launch, particle_task(count, kStep, false, 7));
  });
}

Verdict check_mutant(void (*kernel)(const float*, float*, int, int), bool of_rows) {
  return united({33, 50, 70}, [&](std::size_t rows) {
    const int r = static_cast<int>(rows), cols = 113 - r;
    const auto launch = [=](const float* in, float* out) {
      if (of_rows)
        kernel<<<coalescing_blocks(r, 8), 256>>>(in, out, r, cols);
      else
        kernel<<<coalescing_blocks(cols, 32), dim3(32, 32)>>>(in, out, r, cols);
      return cudaGetLastError();
    };
    return check_task(launch, sum_task({r, cols}, of_rows, 7));
  });
}

Verdict check_mutant(void (*kernel)(const float*, const unsigned*, float*, size_t)) {
  return united({37, 300, 1000}, [&](std::size_t count) {
    const std::vector<unsigned> order = some_order(count, 5);
    const tilewise::DeviceBuffer<unsigned> index(order);
    const auto launch = [&](const float* in, float* out) {
      kernel<<<coalescing_blocks(count, 256), 256>>>(in, index.data(), out, count);
      return cudaGetLastError();
    };
    return check_task(launch, gather_task(order, count, 7));
  });
}

template <class Mutant, class... More>
void reject(const Mutant& mutant, More... more) {
  const Verdict verdict = check_mutant(mutant.kernel, more...);
  INFO(mutant.name << ": " << (verdict.right() ? "passed as right" : verdict.text));
  if (mutant.expected.gpu_may_be_lucky && !tilewise::is_simulated()) {
    if (verdict.right()) WARN(mutant.name << " was lucky on this GPU");
    return;
  }
  CHECK(verdict.has(mutant.expected.fault));
  CHECK(verdict.text.find(mutant.expected.finding) != std::string::npos);
}

}  // namespace

TEST_CASE("the templates of the wrong kernels are right without a mistake", "[mutants]") {
  using namespace coalescing_mutants;
  REQUIRE(check_mutant(moves<Bug::none>).text == "");
  REQUIRE(check_mutant(wide<WideBug::none>).text == "");
  REQUIRE(check_mutant(particles<ParticleBug::none>).text == "");
  REQUIRE(check_mutant(row_sums<SumBug::none>, true).text == "");
  REQUIRE(check_mutant(column_sums<ColumnBug::none>, false).text == "");
  REQUIRE(check_mutant(gathers<GatherBug::none>).text == "");
}

TEST_CASE("every wrong kernel is rejected, and for its own mistake", "[mutants]") {
  for (const auto& mutant : coalescing_mutants::move_mutants) reject(mutant);
  for (const auto& mutant : coalescing_mutants::wide_mutants) reject(mutant);
  for (const auto& mutant : coalescing_mutants::particle_mutants) reject(mutant);
  for (const auto& mutant : coalescing_mutants::row_mutants) reject(mutant, true);
  for (const auto& mutant : coalescing_mutants::column_mutants) reject(mutant, false);
  for (const auto& mutant : coalescing_mutants::gather_mutants) reject(mutant);
}
