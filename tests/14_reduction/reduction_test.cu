// Chapter 14: every sum on every length, wherever it begins, what it costs, that its bits do not depend on the moment; the other
// reductions with NaNs, ties and nothing at all; and the wrong kernels that the same check must reject.
#include "reduction.cuh"

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "14_reduction/check_reduction.hpp"
#include "14_reduction/mutants/mutants.cuh"
#include "catch.hpp"
#include "tilewise/counters.hpp"

namespace {

struct Kernel {
  std::string name;
  SumLaunch launch;
};

std::vector<Kernel> kernels() {
  std::vector<Kernel> list;
  const auto simple = [&](const char* name, cudaError_t (*launch)(size_t, const float*, float*, cudaStream_t)) {
    list.push_back(
        {name, [=](size_t n, const float* x, const Scratch&, float* total) { return launch(n, x, total, nullptr); }});
  };
  simple("sum_atomic", launch_sum_atomic);
  simple("sum_interleaved", launch_sum_interleaved);
  simple("sum_sequential", launch_sum_sequential);
  simple("sum_shuffles", launch_sum_shuffles);
  simple("sum_strided", launch_sum_strided);
  simple("sum_wide", launch_sum_wide);
  for (const int threads : {256, 512, 1024})
    for (const unsigned blocks : {1u, 7u})
      list.push_back({"sum_one_launch<" + std::to_string(threads) + ">, " + std::to_string(blocks),
                      [=](size_t n, const float* x, const Scratch& s, float* total) {
                        return launch_sum_one_launch(n, x, s.sums(), total, nullptr, {false, threads, blocks});
                      }});
  for (const int threads : {128, 256, 512})
    for (const unsigned blocks : {1u, 9u})
      list.push_back({"sum_flags<" + std::to_string(threads) + ">, " + std::to_string(blocks),
                      [=](size_t n, const float* x, const Scratch& s, float* total) {
                        return launch_sum_flags(n, x, s.flags(), total, nullptr, {true, threads, blocks});
                      }});
  list.push_back({"launch_sum", [](size_t n, const float* x, const Scratch& s, float* total) {
                    return launch_sum(n, x, s.sums(), total);
                  }});
  return list;
}

/// What a reduction makes of numbers that begin `offset` floats past a multiple of 16 bytes.
template <class Op>
typename Op::Value reduced(const std::vector<float>& numbers, std::size_t offset = 0) {
  std::vector<float> around(offset, 1e30f);
  around.insert(around.end(), numbers.begin(), numbers.end());
  around.push_back(1e30f);
  const tilewise::DeviceBuffer<float> x(around);
  tilewise::DeviceBuffer<typename Op::Value> result(1);
  const Scratch scratch;
  REQUIRE(launch_reduce(numbers.size(), Op{x.data() + offset}, scratch.sums(), result.data()) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  return result.to_host()[0];
}

}  // namespace

TEST_CASE("sums are right for every length", "[sums]") {
  const Scratch scratch;
  for (const Kernel& kernel : kernels()) {
    for (const std::size_t n : sum_sizes()) {
      const Verdict verdict = check_sum(kernel.launch, scratch, n);
      INFO(kernel.name << ", " << n << ": " << verdict.text);
      REQUIRE(verdict.right());
    }
  }
}

TEST_CASE("sums are right wherever they begin", "[sums]") {
  const Scratch scratch;
  for (const Kernel& kernel : kernels())
    for (const std::size_t offset : {1, 2, 3})
      for (const std::size_t n : {1, 2, 3, 4, 6, 1001, 8192}) {
        const Verdict verdict = check_sum(kernel.launch, scratch, n, offset);
        INFO(kernel.name << ", " << n << " from " << offset << ": " << verdict.text);
        REQUIRE(verdict.right());
      }
}

TEST_CASE("launch_sum takes each of its kernels, and is right where it changes", "[sums]") {
  std::set<int> kinds;
  const Scratch scratch;
  for (const std::size_t n :
       {std::size_t{4096}, std::size_t{4097}, std::size_t{1} << 15, (std::size_t{1} << 15) + 1, std::size_t{1} << 18,
        (std::size_t{1} << 18) + 1, (std::size_t{1} << 21) + 1, (std::size_t{1} << 22) + 1}) {
    const ReductionShape shape = reduction_shape(n);
    kinds.insert(shape.flags ? -shape.threads : shape.threads);
    if (n > std::size_t{1} << 18 && tilewise::is_simulated()) continue;  // seconds each
    const Verdict verdict = check_sum([](size_t count, const float* x, const Scratch& s,
                                         float* total) { return launch_sum(count, x, s.sums(), total); },
                                      scratch, n);
    INFO(n << ": " << verdict.text);
    REQUIRE(verdict.right());
  }
  REQUIRE(kinds == std::set<int>{-512, -256, -128, 256, 512, 1024});
}

TEST_CASE("one launch gives the same bits every time, and a NaN is kept", "[sums]") {
  const std::vector<float> numbers = tilewise::random_vector(30011, 4, tilewise::Distribution::wide);
  const tilewise::DeviceBuffer<float> x(numbers);
  tilewise::DeviceBuffer<float> total(1);
  const Scratch scratch;
  for (const bool flags : {false, true}) {
    std::set<float> results;
    for (int i = 0; i < 10; ++i) {
      REQUIRE((flags ? launch_sum_flags(numbers.size(), x.data(), scratch.flags(), total.data())
                     : launch_sum_one_launch(numbers.size(), x.data(), scratch.sums(), total.data())) == cudaSuccess);
      results.insert(total.to_host()[0]);
    }
    REQUIRE(results.size() == 1);
  }
  std::vector<float> with_nan = numbers;
  with_nan[20000] = NAN;
  for (const Kernel& kernel : kernels()) {
    const tilewise::DeviceBuffer<float> y(with_nan);
    REQUIRE(kernel.launch(with_nan.size(), y.data(), scratch, total.data()) == cudaSuccess);
    INFO(kernel.name);
    REQUIRE(std::isnan(total.to_host()[0]));
  }
}

TEST_CASE("the largest element: ties, infinities, NaN and nothing", "[others]") {
  std::vector<float> numbers = tilewise::random_vector(70001, 5);
  numbers[40000] = numbers[50001] = 7;
  for (const std::size_t offset : {0, 1, 3}) {
    CHECK(reduced<Maximum>(numbers, offset) == 7);
    CHECK(ArgMaximum::index(reduced<ArgMaximum>(numbers, offset)) == 40000);
  }
  numbers[3] = INFINITY;
  CHECK(reduced<Maximum>(numbers) == INFINITY);
  CHECK(ArgMaximum::index(reduced<ArgMaximum>(numbers)) == 3);
  numbers[69999] = numbers[60000] = NAN;
  CHECK(std::isnan(reduced<Maximum>(numbers)));
  CHECK(ArgMaximum::index(reduced<ArgMaximum>(numbers)) == 60000);
  CHECK(reduced<Maximum>({}) == -INFINITY);
  CHECK(ArgMaximum::index(reduced<ArgMaximum>({})) == -1);
  CHECK(ArgMaximum::index(reduced<ArgMaximum>(std::vector<float>(5000, -INFINITY))) == 0);
  CHECK(reduced<Maximum>({-3}, 1) == -3);
  CHECK(ArgMaximum::index(reduced<ArgMaximum>({-1, -0.0f, 0.0f})) == 1);  // they are equal
  CHECK(ArgMaximum::index(reduced<ArgMaximum>({-2, -1, -3, -1.5f})) == 1);
  CHECK(ArgMaximum::index(reduced<ArgMaximum>({1, -NAN, INFINITY})) == 1);
  REQUIRE(launch_reduce((std::size_t{1} << 32) + 1, ArgMaximum{nullptr}, nullptr, nullptr) == cudaErrorInvalidValue);
}

TEST_CASE("dot products are right where their arrays lie differently", "[others]") {
  const Scratch scratch;
  for (const std::size_t n : {0, 1, 5, 1000, 40003}) {
    const std::vector<float> a = tilewise::random_vector(n + 3, 6, tilewise::Distribution::integers);
    const std::vector<float> b = tilewise::random_vector(n + 3, 7, tilewise::Distribution::integers);
    const tilewise::DeviceBuffer<float> x(a), y(b);
    tilewise::DeviceBuffer<float> result(1);
    for (const std::size_t first : {0, 1, 3})
      for (const std::size_t second : {0, 1, 2}) {
        double expected = 0;
        for (std::size_t i = 0; i < n; ++i) expected += double(a[first + i]) * b[second + i];
        REQUIRE(launch_reduce(n, Dot{x.data() + first, y.data() + second}, scratch.sums(), result.data()) ==
                cudaSuccess);
        INFO(n << " from " << first << " and " << second);
        REQUIRE(result.to_host()[0] == expected);
      }
  }
}

TEST_CASE("a compensated sum has what a plain one loses", "[others]") {
  std::vector<float> numbers;  // 1e8, then 20,000 small ones that vanish beside it one by one, then -1e8
  numbers.push_back(1e8f);
  for (int i = 0; i < 20000; ++i) numbers.push_back(1.0f / 3);
  numbers.push_back(-1e8f);
  double expected = 0;
  for (const float x : numbers) expected += x;
  const CompensatedSum::Value both = reduced<CompensatedSum>(numbers);
  CHECK(std::abs(double(both.x) + both.y - expected) < 1e-3);
  float in_a_row = 0;
  for (const float x : numbers) in_a_row += x;
  CHECK(std::abs(in_a_row - expected) > 1000);
}

TEST_CASE("what a sum costs: requests, sectors, wavefronts", "[counts]") {
  if (!tilewise::is_simulated()) return;
  const std::size_t n = 1 << 16;
  const tilewise::DeviceBuffer<float> x(tilewise::random_vector(n, 8));
  tilewise::DeviceBuffer<float> total(1);
  const auto counts = [&](cudaError_t (*launch)(size_t, const float*, float*, cudaStream_t)) {
    return *tilewise::count([&] { REQUIRE(launch(n, x.data(), total.data(), nullptr) == cudaSuccess); });
  };
  const tilewise::Counts atomic = counts(launch_sum_atomic), interleaved = counts(launch_sum_interleaved),
                         sequential = counts(launch_sum_sequential), shuffles = counts(launch_sum_shuffles),
                         wide = counts(launch_sum_wide);
  CHECK(atomic.atomic_requests == n / 32);
  CHECK(shuffles.atomic_requests == n / 256);
  CHECK(wide.atomic_requests == 16);  // a block for 4,096 elements
  for (const tilewise::Counts& c : {atomic, interleaved, sequential, shuffles}) CHECK(c.global_load_requests == n / 32);
  CHECK(wide.global_load_requests == n / 128);
  CHECK(wide.sectors_per_load() == 16);
  // A block's tree: 256 stores, then at each step the warps that have work load two words and store one.
  CHECK(interleaved.shared_loads > 3 * sequential.shared_loads);
  CHECK(sequential.shared_loads == n / 256 * (2 * (4 + 2 + 1 + 1 + 1 + 1 + 1 + 1) + 1));
  CHECK(shuffles.shared_loads == n / 256);
  CHECK(sequential.shared_conflicts == 0);
}

TEST_CASE("the template of the wrong kernels is right without a mistake", "[mutants]") {
  const Scratch scratch;
  for (const std::size_t n : sum_sizes())
    for (const std::size_t offset : {0, 3}) {
      const Verdict verdict = check_sum(sum_mutants::launch<sum_mutants::Bug::none>, scratch, n, offset);
      INFO(n << ": " << verdict.text);
      REQUIRE(verdict.right());
    }
}

TEST_CASE("every wrong kernel is rejected, and for its own mistake", "[mutants]") {
  for (const sum_mutants::Mutant& mutant : sum_mutants::mutants) {
    Verdict verdict;
    {
      const Scratch scratch;
      verdict = check_sum(mutant.launch, scratch, 150001, 1);
    }
    if (verdict.has(Fault::launch_failed)) cudaDeviceReset();  // the simulator begins anew; some GPUs don't
    INFO(mutant.name << ": " << (verdict.right() ? "passed as right" : verdict.text));
    if (mutant.gpu_may_be_lucky && !tilewise::is_simulated()) {
      if (verdict.right()) WARN(mutant.name << " was lucky on this GPU");
      continue;
    }
    CHECK(verdict.has(mutant.fault));
    CHECK(verdict.text.find(mutant.finding) != std::string::npos);
  }
}
