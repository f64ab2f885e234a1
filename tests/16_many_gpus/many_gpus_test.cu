// Chapter 16: sums, products and plates are right on any number of devices and for any size, also fewer elements than devices; and
// what people get wrong about several devices is seen.
#include <algorithm>
#include <string>
#include <vector>

#include "16_many_gpus/mutants/mutants.hpp"
#include "catch.hpp"
#include "guarded_memory.hpp"
#include "rows.hpp"
#include "tilewise/cuda_check.hpp"
#include "tilewise/several_devices.hpp"

namespace {

int devices_here() {
  int here = 0;
  CUDA_CHECK(cudaGetDeviceCount(&here));
  return here;
}
/// 1, 2, ... as many as this machine has, and 5 at the most.
std::vector<int> teams() {
  std::vector<int> all;
  for (int p = 1; p <= std::min(devices_here(), 5); ++p) all.push_back(p);
  return all;
}

/// Does it twice with different numbers, after work of the caller's stream and before more of it, and compares with the sums.
template <class Work>
Verdict check_sums(Work work, int p, int n) {
  Verdict verdict;
  NewFindings findings;
  try {
    const tilewise::Stream own(cudaStreamNonBlocking);
    const Team team(p);
    Sums sums(p, n);
    for (std::uint64_t round = 1; round <= 2; ++round) {
      std::vector<float> expected(n);
      for (int d = 0; d < p; ++d) {
        const std::vector<float> values = rows::integers(n, 10 * round + d);
        for (int i = 0; i < n; ++i) expected[i] += values[i];
        rows::upload(sums.x, d, values);
      }
      rows::poison(sums.work);
      team.fork(own.get());
      work(team, sums);
      team.join(own.get());
      own.synchronize();
      for (int d = 0; d < p; ++d) {
        const tilewise::Comparison c = rows::compare(rows::download(sums.x, d), expected);
        if (!c.ok) verdict.add(Fault::wrong_value, "device " + std::to_string(d) + ": " + c.reason());
      }
    }
    rows::wait_for_all(p);
  } catch (const std::exception& error) {
    cudaGetLastError();
    verdict.add(Fault::launch_failed, error.what());
  }
  if (const std::string text = findings.take(); !text.empty()) verdict.add(Fault::finding, text);
  return verdict;
}

/// Checks a row of the lesson's table as the lesson does, and that nothing was found on the way.
Verdict check_row(const tilewise::Variant& row) {
  Verdict verdict;
  NewFindings findings;
  try {
    for (int round = 0; round < 2; ++round) {
      const tilewise::Stream own(cudaStreamNonBlocking);
      row.poison();
      row.launch(own.get());
      own.synchronize();
      const tilewise::Comparison c = row.check();
      if (!c.ok) verdict.add(Fault::wrong_value, c.reason());
    }
  } catch (const std::exception& error) {
    cudaGetLastError();
    verdict.add(Fault::launch_failed, error.what());
  }
  if (const std::string text = findings.take(); !text.empty()) verdict.add(Fault::finding, text);
  return verdict;
}

void require_right(const rows::Timed& timed) {
  const Verdict verdict = check_row(timed.row);
  INFO(timed.row.kernel << ", " << timed.row.shape << ", " << timed.row.extra.front() << " devices: " << verdict.text);
  REQUIRE(verdict.right());
}

constexpr int kSizes[] = {0, 1, 2, 3, 7, 255, 256, 257, 1000, 4099};

}  // namespace

TEST_CASE("shares cover everything, and none is larger than another by more than one", "[share]") {
  for (const int n : {0, 1, 5, 4099, 2147483647})
    for (const int p : {1, 2, 3, 8}) {
      REQUIRE(share(n, 0, p).begin == 0);
      REQUIRE(share(n, p - 1, p).end == n);
      for (int d = 0; d < p; ++d) {
        if (d > 0) REQUIRE(share(n, d, p).begin == share(n, d - 1, p).end);
        REQUIRE(share(n, d, p).count() >= n / p);
        REQUIRE(share(n, d, p).count() - n / p <= 1);
      }
    }
}

TEST_CASE("every device gets the sum of all", "[all_reduce]") {
  for (const int p : teams()) {
#ifndef TILEWISE_NO_NCCL
    const Ranks ranks(p);
#endif
    for (const bool access : {false, true}) {
      const auto peers = access && PeerAccess::possible(p) ? std::make_unique<PeerAccess>(p) : nullptr;
      for (const int n : kSizes) {
        INFO(p << " devices, " << n << " floats" << (access ? ", with access" : ""));
        Verdict verdict = check_sums([](const Team& t, Sums& s) { by_way_of_one(t, s); }, p, n);
        INFO("by_way_of_one: " << verdict.text);
        REQUIRE(verdict.right());
        verdict = check_sums([](const Team& t, Sums& s) { ring(t, s); }, p, n);
        INFO("ring: " << verdict.text);
        REQUIRE(verdict.right());
#ifndef TILEWISE_NO_NCCL
        verdict = check_sums([&](const Team& t, Sums& s) { all_reduce(t, ranks, s); }, p, n);
        INFO("NCCL: " << verdict.text);
        REQUIRE(verdict.right());
#endif
      }
    }
  }
}

TEST_CASE("a ring sends 2 (p - 1) / p of an array from each device, one device in the middle sends p - 1 of them",
          "[all_reduce]") {
  if (!tilewise::is_simulated()) return;
  constexpr int n = 1200;  // divisible by 2 to 5
  for (const int p : teams()) {
    if (p == 1) continue;
    rows::AllReduces all(p, n, 1);
    CHECK(all.ring().row.extra[1] == tilewise::with_commas(2 * (p - 1) * n / p * 4));
    CHECK(all.by_way_of_one().row.extra[1] == tilewise::with_commas((p - 1) * n * 4));
    CHECK(all.ring().timeline->length < all.by_way_of_one().timeline->length);
  }
}

#ifndef TILEWISE_NO_NCCL
TEST_CASE("NCCL's halves of an all-reduce", "[all_reduce]") {
  for (const int p : teams())
    for (const int n : kSizes) {
      rows::AllReduces all(p, n, 3);
      require_right(all.nccl_reduce_scatter());
      require_right(all.nccl_all_gather());
    }
}
#endif

TEST_CASE("one sum of numbers that lie on all devices", "[sum]") {
  for (const int p : teams())
    for (const int n : kSizes) {
#ifdef TILEWISE_NO_NCCL
      if (p > 1) continue;
#endif
      require_right(rows::BigSum(p, n, 5).here_then_across(p == 1));
    }
}

TEST_CASE("copies from device to device, with access and without", "[copies]") {
  if (devices_here() < 2) return;
  for (const int n : kSizes) {
    rows::Copies copies(n, 7);
    require_right(copies.through_host());
    require_right(copies.copy("without access"));
    require_right(copies.within());
    if (!PeerAccess::possible(2)) continue;
    const PeerAccess access(2);
    require_right(copies.copy("copy"));
    require_right(copies.both_ways());
    require_right(copies.kernel_reads());
    require_right(copies.kernel_writes());
  }
}

TEST_CASE("a product by rows, however many rows there are", "[sgemm]") {
  struct Shape {
    int m, n, k;
  };
  for (const Shape& s : {Shape{1, 1, 1}, Shape{3, 5, 7}, Shape{4, 33, 8}, Shape{65, 17, 40}, Shape{128, 64, 32}}) {
    const rows::Factors factors(s.m, s.n, s.k, 11);
    for (const int p : teams()) {
      rows::Products products(p, factors);
      require_right(products.rows_apart());
      require_right(products.then_gather());
      for (const int tail : {0, 1, 8, 1000}) require_right(products.gather_behind_tail(tail));
      for (const int chunks : {1, 3, 8}) {
        require_right(products.gather_in_chunks(chunks));
#ifndef TILEWISE_NO_NCCL
        require_right(products.gather_in_chunks_nccl(chunks));
#endif
      }
    }
  }
}

TEST_CASE("heat in a plate by rows, also with fewer rows than devices", "[heat]") {
  for (const int height : {1, 2, 3, 4, 5, 9, 40})
    for (const int width : {1, 2, 3, 31, 300})
      for (const int steps : {1, 2, 3, 8}) {
        if (height * width * steps > 5000 && steps != 3) continue;
        const rows::Heat heat(height, width, steps, 13);
        for (const int p : teams()) {
          rows::Plates plates(p, heat);
          require_right(plates.fetch_then_compute(false));
          require_right(plates.outer_rows_first());
#ifndef TILEWISE_NO_NCCL
          require_right(plates.send_then_compute());
#endif
        }
      }
}

TEST_CASE("outer rows first: the copies hide behind the inner rows", "[heat]") {
  if (!tilewise::is_simulated() || devices_here() < 4) return;
  const rows::Heat heat(64, 500, 5, 17);
  rows::Plates alone(1, heat), four(4, heat);
  const double one = alone.fetch_then_compute(true).timeline->length;
  CHECK(four.fetch_then_compute(false).timeline->length > one / 4 * 1.1);
  CHECK(four.outer_rows_first().timeline->length < one / 4 * 1.05);
}

TEST_CASE("the wrong sums' template is right without a mistake", "[mutants]") {
  for (const int p : teams())
    for (const int n : kSizes) {
      const Verdict verdict = check_sums(sum_mutants::ring<sum_mutants::Bug::none>, p, n);
      INFO(p << " devices, " << n << ": " << verdict.text);
      REQUIRE(verdict.right());
    }
}

TEST_CASE("every wrong sum is rejected, and for its own mistake", "[mutants]") {
  if (devices_here() < 3) return;
  for (const sum_mutants::Mutant& mutant : sum_mutants::mutants) {
    if (!tilewise::is_simulated() && mutant.fault != Fault::wrong_value) continue;  // undefined on a GPU, or lucky
    const Verdict verdict = check_sums(mutant.ring, 3, 1000);
    INFO(mutant.name << ": " << (verdict.right() ? "passed as right" : verdict.text));
    CHECK(verdict.has(mutant.fault));
    CHECK(verdict.text.find(mutant.finding) != std::string::npos);
  }
}
