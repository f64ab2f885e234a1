// Chapter 08: every kernel does what it is said to do, on every kind of size; rings are rings; what cannot be is
// refused; and wrong kernels, which would give wrong ceilings, are rejected by the same checks.
#include "roofline.cuh"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "08_roofline/check_roofline.hpp"
#include "08_roofline/mutants/mutants.cuh"
#include "catch.hpp"
#include "ceilings.hpp"
#include "tilewise/counters.hpp"

namespace {

using tilewise::Distribution;

/// Sizes of arrays: nothing, one, primes, around 4 words, a block, a round of all threads.
const std::vector<std::size_t> sizes = {0,    1,    2,    3,    4,    5,    6,    7,    8,    13,   15,   16,
                                        17,   31,   32,   33,   63,   64,   65,   97,   127,  128,  129,  251,
                                        255,  256,  257,  509,  511,  512,  513,  1021, 1023, 1024, 1025, 2039,
                                        2048, 2049, 4093, 4095, 4096, 4097, 5000, 8191, 8192, 8193, 9973, 16381};

std::vector<WalkShape> walk_shapes(unsigned most_words) {
  std::vector<WalkShape> shapes;
  for (const unsigned words : {1u, 2u, 3u, 7u, 31u, 32u, 33u, 97u, 128u, 255u, 256u, 509u, 1023u, 1024u}) {
    if (words > most_words) continue;
    for (const unsigned steps : {0u, 1u, 2u, words - 1, words, words + 1, 3 * words + 2}) {
      shapes.push_back({words, 1, steps, false});
      shapes.push_back({words, steps % 2 ? 32u : 5u, steps, true});
    }
  }
  return shapes;
}

}  // namespace

// ---------------------------------------------------------------- the five memories

TEST_CASE("a kernel with all five memories is right at every size", "[memories]") {
  for (const std::size_t n : sizes) {
    for (const unsigned threads : {1u, 3u, 32u, 100u, 256u}) {
      if (n > 600 && threads < 32) continue;  // hundreds of blocks of one thread show nothing new
      const auto launch = [](auto... p) { return launch_five_memories(p...); };
      const Verdict verdict = check_five_memories(launch, n, threads, n + 1);
      INFO(n << " elements, blocks of " << threads << ": " << verdict.text);
      REQUIRE(verdict.right());
    }
  }
}

TEST_CASE("wrong uses of the five memories are rejected, each for its own mistake", "[memories][mutants]") {
  using namespace machine_mutants;
  const auto verdict_of = [](auto kernel) {
    const auto launch = [&](const float* w, const float* in, float* out, std::size_t n, unsigned threads) {
      CUDA_CHECK(cudaMemcpyToSymbol(weights, w, kNear * sizeof(float)));
      kernel<<<static_cast<unsigned>((n + threads - 1) / threads), threads>>>(in, out, n);
      return cudaGetLastError();
    };
    return check_five_memories(launch, 1001, 96, 5);
  };
  const Verdict none = verdict_of(memories_mutant<Memories::none>);
  INFO(none.text);
  REQUIRE(none.right());
  for (const MemoriesMutant& mutant : memories_mutants) {
    const Verdict verdict = verdict_of(mutant.kernel);
    INFO(mutant.name << ": " << (verdict.right() ? "passed as right" : verdict.text));
    if (mutant.gpu_may_be_lucky && !tilewise::is_simulated()) continue;
    CHECK(verdict.has(mutant.fault));
    CHECK(verdict.text.find(mutant.finding) != std::string::npos);
  }
}

// ---------------------------------------------------------------- rings

TEST_CASE("Sattolo's permutation is a single cycle", "[ring]") {
  for (std::size_t n = 1; n <= 300; ++n) {
    for (std::uint64_t seed : {1, 2, 3}) {
      INFO("n = " << n << ", seed " << seed);
      REQUIRE(check_permutation(sattolo, n, seed).right());
    }
  }
  REQUIRE(check_permutation(sattolo, 1 << 17, 7).right());
  REQUIRE(sattolo(0, 1).empty());
}

TEST_CASE("each single cycle is as probable as any other", "[ring]") {
  // Of 4 elements there are 3! = 6 cycles. 60,000 draws: 10,000 each, with a standard deviation of 91.
  std::map<std::vector<std::uint32_t>, int> seen;
  for (std::uint64_t seed = 0; seed < 60000; ++seed) ++seen[sattolo(4, seed)];
  REQUIRE(seen.size() == 6);
  for (const auto& [cycle, times] : seen) CHECK(std::abs(times - 10000) < 460);  // 5 standard deviations
}

TEST_CASE("what is no single cycle is told from what is", "[ring][mutants]") {
  using namespace machine_mutants;
  struct Case {
    const char* name;
    Permutation make;
  };
  for (const Case& c : std::initializer_list<Case>{{"plain_shuffle", plain_shuffle},
                                                   {"two_cycles", two_cycles},
                                                   {"everyone_stays", everyone_stays},
                                                   {"last_one_left_out", last_one_left_out},
                                                   {"a_tail", a_tail},
                                                   {"leads_outside", leads_outside}}) {
    const Verdict verdict = check_permutation(c.make, 64, 3);
    INFO(c.name);
    CHECK(verdict.has(Fault::wrong_value));
    CHECK(verdict.text.find("not a single cycle") != std::string::npos);
  }
  CHECK_FALSE(is_single_cycle({}));
  CHECK(is_single_cycle(std::vector<std::uint32_t>{0}));
  CHECK_FALSE(is_single_cycle(std::vector<std::uint32_t>{1}));
}

TEST_CASE("a walk on the host goes round", "[ring]") {
  const std::vector<std::uint32_t> next = {2, 0, 3, 1};  // 0 2 3 1
  CHECK(walk(next, 0, 0) == 0);
  CHECK(walk(next, 0, 1) == 2);
  CHECK(walk(next, 0, 3) == 1);
  CHECK(walk(next, 3, 2) == 0);
  CHECK(walk(next, 1, 4'000'000'001) == 0);
}

// ---------------------------------------------------------------- walks

TEST_CASE("walks by byte offsets end where they must", "[walk]") {
  struct Case {
    const char* name;
    cudaError_t (*launch)(const unsigned*, unsigned, unsigned, unsigned*, unsigned, long long*, cudaStream_t);
    unsigned most_words;
  };
  for (const Case& c : {Case{"chase_shared", launch_chase_shared, kSharedRing},
                        Case{"chase_constant", launch_chase_constant, kConstantRing},
                        Case{"chase_local", launch_chase_local, kLocalRing}}) {
    const std::vector<WalkShape> shapes = walk_shapes(c.most_words);
    REQUIRE(shapes.size() >= 40);
    std::uint64_t seed = 0;
    for (const WalkShape& shape : shapes) {
      const Verdict verdict = check_offset_walk([&](auto... p) { return c.launch(p..., nullptr); }, shape, ++seed);
      INFO(c.name << ", " << text_of(shape) << ": " << verdict.text);
      REQUIRE(verdict.right());
      REQUIRE(verdict.comparison.checked == shape.lanes);
    }
  }
}

TEST_CASE("walks through global memory end where they must", "[walk]") {
  int shapes = 0;
  std::uint64_t seed = 0;
  for (const std::size_t links : {1, 2, 3, 5, 17, 64, 255, 1000}) {
    for (const std::size_t stride : {1, 3, 16}) {
      for (const unsigned lead : {0u, static_cast<unsigned>(links)}) {
        for (const unsigned steps : {0u, 1u, 7u, static_cast<unsigned>(links + 3)}) {
          const Verdict verdict = check_global_walk([](auto... p) { return launch_chase_global(p...); }, links, stride,
                                                    lead, steps, ++seed);
          INFO(links << " links, stride " << stride << ", " << lead << " + " << steps << " steps: " << verdict.text);
          REQUIRE(verdict.right());
          ++shapes;
        }
      }
    }
  }
  REQUIRE(shapes >= 40);
}

TEST_CASE("wrong walks are rejected, each for its own mistake", "[walk][mutants]") {
  using namespace machine_mutants;
  const auto verdict_of = [](auto kernel) {
    Verdict all;
    for (const WalkShape& shape : {WalkShape{97, 32, 50, true}, {256, 5, 300, true}}) {
      const auto launch = [&](const unsigned* ring, unsigned words, unsigned lanes, unsigned* place, unsigned steps,
                              long long* cycles) {
        kernel<<<1, lanes>>>(const_cast<unsigned*>(ring), words, place, steps, cycles);
        return cudaGetLastError();
      };
      const Verdict one = check_offset_walk(launch, shape, 5);
      all.faults |= one.faults;
      all.text += one.text;
    }
    return all;
  };
  const Verdict none = verdict_of(walk_mutant<Walk::none>);
  INFO(none.text);
  REQUIRE(none.right());
  for (const WalkMutant& mutant : walk_mutants) {
    const Verdict verdict = verdict_of(mutant.kernel);
    INFO(mutant.name << ": " << (verdict.right() ? "passed as right" : verdict.text));
    if (mutant.gpu_may_be_lucky && !tilewise::is_simulated()) continue;
    CHECK(verdict.has(mutant.fault));
    CHECK(verdict.text.find(mutant.finding) != std::string::npos);
  }
}

// ---------------------------------------------------------------- multiply-adds

TEST_CASE("the closed form, its bound and the steps one by one agree", "[fma]") {
  for (const float a : {kChainA, kElementA, 0.5f, -1.0f}) {
    for (const std::uint64_t steps : {0, 1, 2, 3, 10, 100, 1000, 5000}) {
      const ChainEnd end(a, kB, steps);
      for (const float x : {-1.0f, 0.0f, 0.3f, 1.0f, 8.4375f}) {
        double exact = x;
        for (std::uint64_t i = 0; i < steps; ++i) exact = a * exact + kB;
        INFO("a = " << a << ", " << steps << " steps from " << x);
        CHECK(std::abs(end.of(x) - exact) <= 1e-12 * (std::abs(x) + 2));
        CHECK(std::abs(fma_chain(x, a, kB, steps) - exact) <= end.bound(x));
      }
    }
  }
}

TEST_CASE("the bound tells a step, and two steps, from rounding", "[fma]") {
  for (const std::uint64_t steps : {1, 2, 16, 64, 512}) {
    for (const float x : {-1.0f, 0.25f, 1.0f}) {
      const ChainEnd end(kElementA, kB, steps);
      INFO(steps << " steps from " << x);
      CHECK(std::abs(ChainEnd(kElementA, kB, steps - 1).of(x) - end.of(x)) > 2 * end.bound(x));
      if (steps > 1) CHECK(std::abs(ChainEnd(kElementA, kB, steps - 2).of(x) - end.of(x)) > 2 * end.bound(x));
    }
  }
}

TEST_CASE("a chain of multiply-adds is right, to the last bit", "[fma]") {
  for (const unsigned lanes : {1u, 2u, 31u, 32u}) {
    for (const unsigned steps : {0u, 1u, 2u, 3u, 127u, 128u, 129u, 255u, 256u, 300u, 1000u}) {
      const Verdict verdict = check_fma_latency([](auto... p) { return launch_fma_latency(p...); }, lanes, steps);
      INFO(lanes << " lanes, " << steps << " steps: " << verdict.text);
      REQUIRE(verdict.right());
    }
  }
}

namespace {

const std::vector<ChainShape> chain_shapes = [] {
  std::vector<ChainShape> shapes;
  for (const unsigned blocks : {1u, 2u, 3u})
    for (const unsigned threads : {1u, 32u, 63u, 64u, 65u, 100u})
      for (const unsigned steps : {0u, 1u, 31u, 32u, 33u, 70u}) shapes.push_back({blocks, threads, steps});
  return shapes;
}();

template <int CHAINS>
void all_chains_right() {
  REQUIRE(chain_shapes.size() >= 40);
  for (const ChainShape& shape : chain_shapes) {
    const auto launch = [](auto... p) { return launch_fma_chains<CHAINS>(p...); };
    const Verdict verdict = check_fma_chains(launch, CHAINS, shape);
    INFO(CHAINS << " chains, " << text_of(shape) << ": " << verdict.text);
    REQUIRE(verdict.right());
    REQUIRE(verdict.comparison.checked == std::size_t{CHAINS} * shape.blocks * shape.threads);
  }
}

}  // namespace

TEST_CASE("many chains at once are right, to the last bit", "[fma]") {
  all_chains_right<1>();
  all_chains_right<4>();
  all_chains_right<8>();
}

TEST_CASE("wrong chains are rejected", "[fma][mutants]") {
  using namespace machine_mutants;
  const auto verdict_of = [](auto kernel) {
    const auto launch = [&](unsigned blocks, unsigned threads, float a, float b, unsigned steps, float* out) {
      kernel<<<blocks, threads>>>(a, b, steps, out);
      return cudaGetLastError();
    };
    return check_fma_chains(launch, kMutantChains, {3, 40, 200});
  };
  const Verdict none = verdict_of(chain_mutant<Chain::none>);
  INFO(none.text);
  REQUIRE(none.right());
  for (const ChainMutant& mutant : chain_mutants) {
    INFO(mutant.name);
    CHECK(verdict_of(mutant.kernel).has(Fault::wrong_value));
  }
}

// ---------------------------------------------------------------- sums

namespace {

using SumKernel = cudaError_t (*)(unsigned, unsigned, const unsigned*, std::size_t, unsigned*, cudaStream_t);

}  // namespace

TEST_CASE("every word is read and added, once", "[sum]") {
  for (const SumKernel kernel :
       {SumKernel{launch_sum_words<1>}, SumKernel{launch_sum_words<4>}, SumKernel{launch_sum_words<8>}}) {
    std::uint64_t seed = 0;
    for (const std::size_t words : sizes) {
      for (const auto& [blocks, threads] : {std::pair{1u, 32u}, {2u, 64u}, {3u, 7u}}) {
        const SumShape shape{blocks, threads, words};
        const Verdict verdict = check_sum([&](auto... p) { return kernel(p..., nullptr); }, shape, ++seed);
        INFO(text_of(shape) << ": " << verdict.text);
        REQUIRE(verdict.right());
      }
    }
  }
}

TEST_CASE("every word is read from L2 in every pass", "[sum]") {
  std::uint64_t seed = 0;
  for (const std::size_t words : sizes) {
    for (const unsigned passes : {0u, 1u, 3u}) {
      const SumShape shape{2, 48, words / 4 * 4};
      const auto launch = [&](unsigned blocks, unsigned threads, const unsigned* in, std::size_t n, unsigned* out) {
        return launch_sum_l2(blocks, threads, in, n, passes, out);
      };
      const Verdict verdict = check_sum(launch, shape, ++seed, passes);
      INFO(text_of(shape) << ", " << passes << " passes: " << verdict.text);
      REQUIRE(verdict.right());
    }
  }
}

TEST_CASE("sums that go round in shared memory and in L1 are right", "[sum]") {
  for (const auto launch : {launch_sum_shared, launch_sum_l1}) {
    int shapes = 0;
    for (const unsigned blocks : {1u, 2u})
      for (const unsigned threads : {1u, 3u, 32u, 60u, 128u, 257u})
        for (const unsigned steps : {0u, 1u, 7u, 8u, 35u}) {
          const ChainShape shape{blocks, threads, steps};
          const Verdict verdict = check_rounds_of([&](auto... p) { return launch(p..., nullptr); }, shape, ++shapes);
          INFO(text_of(shape) << ": " << verdict.text);
          REQUIRE(verdict.right());
        }
    REQUIRE(shapes >= 40);
  }
}

TEST_CASE("wrong sums are rejected", "[sum][mutants]") {
  using namespace machine_mutants;
  const auto verdict_of = [](auto kernel) {
    Verdict all;
    for (const SumShape& shape : {SumShape{3, 40, 1003}, {2, 32, 4098}}) {
      const auto launch = [&](unsigned blocks, unsigned threads, const unsigned* in, std::size_t n, unsigned* out) {
        kernel<<<blocks, threads>>>(in, n, 2, out);
        return cudaGetLastError();
      };
      const Verdict one = check_sum(launch, shape, 5, 2);
      all.faults |= one.faults;
      all.text += one.text;
    }
    return all;
  };
  const Verdict none = verdict_of(sum_mutant<Sum::none>);
  INFO(none.text);
  REQUIRE(none.right());
  for (const SumMutant& mutant : sum_mutants) {
    if (mutant.simulator_only && !tilewise::is_simulated()) continue;  // a GPU does not count; see the next test
    const Verdict verdict = verdict_of(mutant.kernel);
    INFO(mutant.name << ": " << verdict.text);
    CHECK(verdict.has(Fault::wrong_value));
    CHECK(verdict.text.find(mutant.text) != std::string::npos);
  }
}

TEST_CASE("wrong rounds are rejected, each for its own mistake", "[sum][mutants]") {
  using namespace machine_mutants;
  const auto verdict_of = [](auto kernel) {
    const auto launch = [&](unsigned blocks, unsigned threads, const unsigned* in, unsigned steps, unsigned* out) {
      kernel<<<blocks, threads>>>(reinterpret_cast<const uint4*>(in), steps, out);
      return cudaGetLastError();
    };
    return check_rounds_of(launch, {2, 96, 30}, 5);
  };
  const Verdict none = verdict_of(round_mutant<Round::none>);
  INFO(none.text);
  REQUIRE(none.right());
  for (const RoundMutant& mutant : round_mutants) {
    const Verdict verdict = verdict_of(mutant.kernel);
    INFO(mutant.name << ": " << (verdict.right() ? "passed as right" : verdict.text));
    if (mutant.gpu_may_be_lucky && !tilewise::is_simulated()) continue;
    CHECK(verdict.has(mutant.fault));
    CHECK(verdict.text.find(mutant.finding) != std::string::npos);
  }
}

// ---------------------------------------------------------------- verdicts on times

TEST_CASE("a figure above the theoretical peak fails the row", "[ceilings]") {
  Probe probe;
  probe.work = 1e9;
  tilewise::Comparison right;
  tilewise::Timing timing;
  timing.timed = true;
  timing.ms.median = 1;  // 1e9 bytes in a millisecond: 1,000 GB/s
  probe.peak = 1001;
  CHECK(Ceilings::judge(probe, right, timing).status == tilewise::Status::ok);
  CHECK(Ceilings::judge(probe, right, timing).figure == Approx(1000));
  probe.peak = 999;
  const Ceilings::Row row = Ceilings::judge(probe, right, timing);
  CHECK(row.status == tilewise::Status::impossible);
  CHECK(row.reason.find("above the theoretical peak") != std::string::npos);
  // A clock above the one that the device tells raises a peak that counts its cycles, and no other.
  timing.sm_clock_max_mhz = 1.1 * tilewise::device().sm_clock_mhz;
  CHECK(Ceilings::judge(probe, right, timing).status == tilewise::Status::impossible);
  probe.by_sm_clock = true;
  CHECK(Ceilings::judge(probe, right, timing).status == tilewise::Status::ok);
  tilewise::Comparison wrong;
  wrong.ok = false;
  CHECK(Ceilings::judge(probe, wrong, timing).status == tilewise::Status::wrong);
  CHECK(Ceilings::judge(probe, wrong, timing).figure == 0);
}

TEST_CASE("cycles that do not fit into the time fail the row", "[ceilings]") {
  Probe probe;
  probe.steps = 1000;
  tilewise::Timing timing;
  timing.timed = true;
  const double mhz = tilewise::device().sm_clock_mhz;
  timing.ms.median = 30 * 1000 / mhz * 1e-3;  // time for 30 cycles a step
  probe.cycles = [] { return 29.0; };
  const Ceilings::Row row = Ceilings::judge(probe, {}, timing);
  CHECK(row.status == tilewise::Status::ok);
  CHECK(row.ns == Approx(29 / mhz * 1e3));
  for (const double cycles : {32.0, 0.5, 0.0, -3.0, std::nan("")}) {
    probe.cycles = [=] { return cycles; };
    INFO(cycles << " cycles");
    CHECK(Ceilings::judge(probe, {}, timing).status == tilewise::Status::impossible);
  }
}

// ---------------------------------------------------------------- arrays to arrays

TEST_CASE("copies are exact at every size", "[copy]") {
  REQUIRE(sizes.size() >= 40);
  for (const std::size_t words : sizes) {
    const Verdict verdict = check_copy([](auto... p) { return launch_copy_words(p...); }, words, words + 1);
    INFO(words << " words: " << verdict.text);
    REQUIRE(verdict.right());
    REQUIRE(verdict.comparison.checked == words);
  }
}

TEST_CASE("vectors are added exactly at every size and on all kinds of data", "[add]") {
  for (const Distribution distribution :
       {Distribution::uniform, Distribution::wide, Distribution::cancel, Distribution::integers}) {
    for (const std::size_t n : sizes) {
      const auto launch = [](auto... p) { return launch_vector_add(p...); };
      const Verdict verdict = check_vector_add(launch, n, n + 1, distribution);
      INFO(n << " elements, " << tilewise::to_string(distribution) << ": " << verdict.text);
      REQUIRE(verdict.right());
    }
  }
}

TEST_CASE("a warp with a watch adds its 32 elements, and no others", "[add]") {
  const std::vector<float> x = tilewise::random_vector(100, 1), y = tilewise::random_vector(100, 2);
  for (const std::size_t first : {0, 1, 32, 50, 68}) {
    Guarded<float> a(x), b(y), c(std::vector<float>(100, -3.0f));
    Guarded<long long> cycles(poisoned<long long>(1));
    REQUIRE(launch_vector_add_clocked(a.data(), b.data(), c.data(), first, cycles.data()) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    const std::vector<float> got = c.values();
    for (std::size_t i = 0; i < 100; ++i) REQUIRE(got[i] == (i >= first && i < first + 32 ? x[i] + y[i] : -3.0f));
    REQUIRE(c.margins_intact());
    REQUIRE(cycles.values()[0] > 0);
  }
}

TEST_CASE("multiply-adds per element are right at every size", "[element]") {
  const auto launch = [](const float* in, float* out, std::size_t n, unsigned fmas) {
    return launch_fma_per_element(in, out, n, fmas, kElementA, kB);
  };
  for (const std::size_t n : sizes) {
    for (const unsigned fmas : {0u, 1u, 15u, 16u, 17u, 40u}) {
      const Verdict verdict = check_per_element(launch, n, fmas, n + 1);
      INFO(n << " elements, " << fmas << " multiply-adds: " << verdict.text);
      REQUIRE(verdict.right());
    }
  }
  for (const Distribution distribution : {Distribution::wide, Distribution::cancel, Distribution::integers}) {
    const Verdict verdict = check_per_element(launch, 1000, 33, 5, distribution);
    INFO(tilewise::to_string(distribution) << ": " << verdict.text);
    REQUIRE(verdict.right());
  }
}

TEST_CASE("wrong copies, sums of vectors and multiply-adds are rejected", "[mutants]") {
  using namespace machine_mutants;
  const auto blocks = [](std::size_t n, std::size_t per_block) {
    return static_cast<unsigned>((n + per_block - 1) / per_block);
  };
  const auto copy = [&](auto kernel) {
    return check_copy(
        [&](const unsigned* in, unsigned* out, std::size_t n) {
          kernel<<<blocks(n, 128), 32>>>(in, out, n);
          return cudaGetLastError();
        },
        1001, 3);
  };
  const auto add = [&](auto kernel) {
    return check_vector_add(
        [&](const float* a, const float* b, float* c, std::size_t n) {
          kernel<<<blocks(n, 64), 64>>>(a, b, c, n);
          return cudaGetLastError();
        },
        1001, 3);
  };
  const auto element = [&](auto kernel) {
    return check_per_element(
        [&](const float* in, float* out, std::size_t n, unsigned fmas) {
          kernel<<<blocks(n, 128), 32>>>(in, out, n, fmas, kElementA, kB);
          return cudaGetLastError();
        },
        1001, 50, 3);
  };
  REQUIRE(copy(copy_mutant<Move::none>).right());
  REQUIRE(add(add_mutant<Add::none>).right());
  REQUIRE(element(element_mutant<Element::none>).right());
  for (const MoveMutant& mutant : copy_mutants) {
    INFO(mutant.name);
    CHECK(copy(mutant.kernel).has(mutant.fault));
  }
  for (const AddMutant& mutant : add_mutants) {
    INFO(mutant.name);
    CHECK(add(mutant.kernel).has(mutant.fault));
  }
  for (const ElementMutant& mutant : element_mutants) {
    INFO(mutant.name);
    CHECK(element(mutant.kernel).has(mutant.fault));
  }
}

// ---------------------------------------------------------------- what is refused

TEST_CASE("what cannot be is refused, and nothing is written", "[launch]") {
  Guarded<unsigned> in(random_words(4096, 1)), out(poisoned<unsigned>(64)), place(std::vector<unsigned>(32, 0u));
  Guarded<long long> cycles(poisoned<long long>(1));
  Guarded<float> floats(std::vector<float>(64, 1.0f));
  const auto refused = cudaErrorInvalidValue;
  for (const auto chase : {launch_chase_shared, launch_chase_constant, launch_chase_local}) {
    CHECK(chase(in.data(), 0, 1, place.data(), 1, cycles.data(), nullptr) == refused);
    CHECK(chase(in.data(), 1025, 1, place.data(), 1, cycles.data(), nullptr) == refused);
    CHECK(chase(in.data(), 8, 0, place.data(), 1, cycles.data(), nullptr) == refused);
    CHECK(chase(in.data(), 8, 33, place.data(), 1, cycles.data(), nullptr) == refused);
  }
  const float w[kNear] = {};
  CHECK(launch_five_memories(w, floats.data(), floats.data(), 16, 0) == refused);
  CHECK(launch_five_memories(w, floats.data(), floats.data(), 16, 257) == refused);
  CHECK(launch_five_memories(w, floats.data(), floats.data(), std::size_t{1} << 40, 256) == refused);
  CHECK(launch_fma_latency(0, 1, 1, 1, floats.data(), cycles.data()) == refused);
  CHECK(launch_fma_latency(33, 1, 1, 1, floats.data(), cycles.data()) == refused);
  CHECK(launch_fma_chains<1>(0, 32, 1, 1, 1, floats.data()) == refused);
  CHECK(launch_fma_chains<1>(1, 0, 1, 1, 1, floats.data()) == refused);
  CHECK(launch_sum_words<4>(0, 32, in.data(), 16, out.data()) == refused);
  CHECK(launch_sum_words<4>(1, 257, in.data(), 16, out.data()) == refused);
  CHECK(launch_sum_words<4>(1, 32, in.data() + 1, 16, out.data()) == refused);
  CHECK(launch_sum_l2(1, 32, in.data() + 2, 16, 1, out.data()) == refused);
  CHECK(launch_sum_l2(1, 32, in.data(), 15, 1, out.data()) == refused);
  CHECK(launch_sum_shared(1, 0, in.data(), 1, out.data()) == refused);
  CHECK(launch_sum_l1(1, 32, in.data() + 3, 1, out.data()) == refused);
  CHECK(launch_copy_words(in.data() + 1, out.data(), 16) == refused);
  CHECK(launch_copy_words(in.data(), out.data() + 1, 16) == refused);
  CHECK(launch_copy_words(in.data(), out.data(), std::size_t{1} << 44) == refused);
  CHECK(launch_vector_add(floats.data(), floats.data(), floats.data(), std::size_t{1} << 40) == refused);
  CHECK(launch_fma_per_element(floats.data() + 1, floats.data(), 16, 1, 1, 1) == refused);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(cudaGetLastError() == cudaSuccess);  // a refused launch leaves nothing behind
  REQUIRE(out.intact());
  REQUIRE(place.intact());
  REQUIRE(cycles.intact());
  REQUIRE(floats.intact());
}

namespace {

__global__ void touch_shared(unsigned* out, unsigned words) {
  extern __shared__ unsigned piece[];
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) piece[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) *out = piece[0] + piece[words - 1];
}

}  // namespace

TEST_CASE("how much shared memory a block may have", "[launch]") {
  // "192 KB of shared memory per block": that is what an A100 has per SM, its L1 cache included.
  const tilewise::Device& d = tilewise::device();
  tilewise::DeviceBuffer<unsigned> out(1);
  const auto status_of = [&](std::size_t bytes) {
    touch_shared<<<1, 32, bytes>>>(out.data(), static_cast<unsigned>(bytes / 4));
    const cudaError_t status = cudaGetLastError();
    CUDA_CHECK(cudaDeviceSynchronize());
    return status;
  };
  const auto ask = [](std::size_t bytes) {
    const cudaError_t status =
        cudaFuncSetAttribute(touch_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
    cudaGetLastError();
    return status;
  };
  CHECK(d.shared_per_block == 48 * 1024);
  CHECK(status_of(d.shared_per_block) == cudaSuccess);
  CHECK(status_of(d.shared_per_block + 4) != cudaSuccess);  // not without asking
  CHECK(ask(d.shared_per_block_opt_in) == cudaSuccess);
  CHECK(status_of(d.shared_per_block_opt_in) == cudaSuccess);
  CHECK(out.to_host()[0] == d.shared_per_block_opt_in / 4 - 1);
  CHECK(ask(d.shared_per_block_opt_in + 1024) != cudaSuccess);
  CHECK(status_of(d.shared_per_block_opt_in + 1024) != cudaSuccess);
  if (d.shared_per_sm > d.shared_per_block_opt_in) CHECK(status_of(d.shared_per_sm) != cudaSuccess);
}

// ---------------------------------------------------------------- what the page says of counts

TEST_CASE("a walk has one request and one sector per step", "[counts]") {
  const std::vector<std::uint32_t> ring = sattolo(128, 1);
  tilewise::DeviceBuffer<unsigned long long> memory(128 * 16), place(1);
  memory.upload(addresses(ring, 16, memory.data()));
  place.upload(std::vector{reinterpret_cast<unsigned long long>(memory.data())});
  tilewise::DeviceBuffer<long long> cycles(1);
  const auto counts = tilewise::count([&] { launch_chase_global(place.data(), 128, 1000, cycles.data()); });
  if (!counts) return;  // a GPU does not count
  CHECK(counts->global_load_requests == 1 + 128 + 1000);
  CHECK(counts->global_load_sectors == counts->global_load_requests);
}

TEST_CASE("loads of 16 bytes have 16 sectors per request, whether they come from DRAM or not", "[counts]") {
  const tilewise::DeviceBuffer<unsigned> in(random_words(8192, 1));
  tilewise::DeviceBuffer<unsigned> out(512);
  const auto sum = tilewise::count([&] { launch_sum_words<4>(2, 256, in.data(), 8192, out.data()); });
  if (!sum) return;
  CHECK(sum->global_load_requests == 8192 / 4 / 32);
  CHECK(sum->sectors_per_load() == 16);
  const auto l1 = tilewise::count([&] { launch_sum_l1(2, 64, in.data(), 64, out.data()); });
  CHECK(l1->global_load_requests == 2 * 2 * 64);
  CHECK(l1->sectors_per_load() == 16);
  const auto shared = tilewise::count([&] { launch_sum_shared(2, 64, in.data(), 64, out.data()); });
  CHECK(shared->shared_loads == 2 * 2 * 64);
  CHECK(shared->shared_load_wavefronts == 4 * shared->shared_loads);  // 512 bytes, 128 at a time: none wasted
  CHECK(shared->shared_conflicts == 0);
}

TEST_CASE("vector add moves 12 bytes for one addition", "[counts]") {
  const std::vector<float> x(1024, 1.0f);
  const tilewise::DeviceBuffer<float> a(x), b(x);
  tilewise::DeviceBuffer<float> c(1024);
  const auto counts = tilewise::count([&] { launch_vector_add(a.data(), b.data(), c.data(), 1024); });
  if (!counts) return;
  CHECK(counts->global_bytes() == 12 * 1024);
  CHECK(counts->flops == 1024);
  for (const unsigned fmas : {1u, 8u, 64u}) {
    const auto sweep = tilewise::count([&] { launch_fma_per_element(a.data(), c.data(), 1024, fmas, kElementA, kB); });
    CHECK(sweep->global_bytes() == 8 * 1024);  // whatever the arithmetic
    CHECK(sweep->flops == 2 * 1024 * fmas);
  }
}

TEST_CASE("chains touch no memory until they end", "[counts]") {
  tilewise::DeviceBuffer<float> out(8 * 128);
  const auto short_one = tilewise::count([&] { launch_fma_chains<8>(2, 64, kChainA, kB, 10, out.data()); });
  if (!short_one) return;
  const auto longer = tilewise::count([&] { launch_fma_chains<8>(2, 64, kChainA, kB, 110, out.data()); });
  CHECK(longer->global_load_requests == 0);
  CHECK(longer->global_store_requests == 8 * 2 * 64 / 32);
  CHECK(longer->flops - short_one->flops == 100 * 2 * 8 * 2 * 64);  // what the steps add: 2 FLOP, 8 chains, 128 threads
}
