// What is counted and found of a launch, without anything that runs one: the tests say what its threads do, event by event
// (model/observer.hpp), as the hooks and the scheduler do in a program.
#include <string>
#include <utility>
#include <vector>

#include "base/findings.hpp"
#include "base/memory.hpp"
#include "base/thread.hpp"
#include "catch.hpp"
#include "model/observer.hpp"
#include "tilewise_sim/report.hpp"

namespace {

using namespace tilewise::sim;
using observer::Access;

struct Aborted {
  int error;
};

/// A launch of one block that somebody plays.
class PlayedLaunch {
 public:
  explicit PlayedLaunch(unsigned threads) : lanes_(threads), before_(findings().size()) {
    static std::vector<char> shared(2 * kSharedRegion);
    shared_begin = shared.data();
    show_no_findings();
    set_abort_launch([](int error, bool) { throw Aborted{error}; });
    counted_before_ = set_counting(true);
    the_launch = Launch();
    the_launch.config.block = dim3(threads);
    the_launch.serial = ++serial;
    the_launch.kernel = this;
    observer::begin_launch(the_launch);
    the_launch.block_serial = serial;
    observer::begin_block();
    for (unsigned i = 0; i < threads; ++i) {
      lanes_[i].linear = lanes_[i].index.x = i;
      lanes_[i].in_kernel = true;
    }
  }

  ~PlayedLaunch() {
    current_lane = observed_lane = nullptr;
    set_counting(counted_before_);
    forget_findings(before_);
  }

  Lane& lane(unsigned thread) {
    current_lane = &lanes_[thread];
    return lanes_[thread];
  }

  /// Each thread's access, one after another. `site` tells places in the code apart.
  template <class Address>
  void all(Access kind, int site, Address address) {
    for (unsigned i = 0; i < lanes_.size(); ++i) one(i, kind, site, address(i));
  }
  void one(unsigned thread, Access kind, int site, const void* address) {
    observer::access(lane(thread), address, 4, kind, &places_[site], {4, 4});
  }

  void meet_at_barrier() {
    end_of_warps();
    ++the_launch.epoch;
    observer::block_barrier();
  }

  const Counters& end() {
    end_of_warps();
    observer::end_block();
    current_lane = nullptr;
    observer::end_launch(the_launch);
    return last_counters();
  }

  /// "out-of-bounds race-shared": what was found, in this order.
  std::string found() const {
    std::string codes;
    for (std::size_t i = before_; i < findings().size(); ++i) codes += (codes.empty() ? "" : " ") + findings()[i].code;
    return codes;
  }

 private:
  void end_of_warps() {
    for (std::size_t first = 0; first < lanes_.size(); first += kWarpSize) observer::end_of_interval(&lanes_[first]);
  }

  static inline std::size_t serial = 0;
  std::vector<Lane> lanes_;
  std::size_t before_;
  bool counted_before_ = false;
  char places_[16] = {};
};

/// Floats of the device, all written.
class Floats {
 public:
  explicit Floats(std::size_t count)
      : pointer_(static_cast<float*>(memory::allocate(count * 4, memory::Kind::device))) {
    memory::mark_written_range(reinterpret_cast<std::uintptr_t>(pointer_), count * 4);
  }
  ~Floats() { memory::release(pointer_); }
  float* operator+(std::size_t i) const { return pointer_ + i; }

 private:
  float* pointer_;
};

/// Static shared memory of the played block.
float* shared_floats(std::size_t count) {
  static SharedVariable variable;
  variable.bytes = count * 4;
  variable.alignment = 4;
  variable.name = "tile";
  std::size_t used = 0;
  return static_cast<float*>(observer::place_shared(variable, used));
}

TEST_CASE("a warp's loads are counted by sectors, without a runtime", "[model][events]") {
  const Floats x(32 * 32);
  PlayedLaunch launch(32);
  launch.all(Access::load, 0, [&](unsigned i) { return x + i; });
  launch.all(Access::load, 1, [&](unsigned i) { return x + 32 * i; });
  launch.all(Access::store, 2, [&](unsigned i) { return x + i; });
  const Counters& c = launch.end();
  CHECK(c.global_load_requests == 2);
  CHECK(c.global_load_sectors == 4 + 32);
  CHECK(c.global_store_requests == 1);
  CHECK(c.global_store_sectors == 4);
  CHECK(c.global_load_bytes == 2 * 128);
  CHECK(c.dram_bytes_at_least == 32 * 35);  // the first row's four sectors, one of each of the 31 others
  CHECK(launch.found() == "");
}

TEST_CASE("a column of shared memory takes 32 wavefronts, and a padded one one", "[model][events]") {
  PlayedLaunch launch(32);
  float* tile = shared_floats(32 * 33);
  launch.all(Access::store, 0, [&](unsigned i) { return tile + 32 * i; });
  launch.all(Access::store, 1, [&](unsigned i) { return tile + 33 * i; });
  const Counters& c = launch.end();
  CHECK(c.shared_store_instructions == 2);
  CHECK(c.shared_store_wavefronts == 32 + 1);
  CHECK(c.shared_store_ideal == 2);
}

TEST_CASE("threads that read what others wrote need a barrier between", "[model][events]") {
  for (const bool barrier : {true, false}) {
    CAPTURE(barrier);
    PlayedLaunch launch(64);
    float* tile = shared_floats(64);
    launch.all(Access::store, 0, [&](unsigned i) { return tile + i; });
    if (barrier) launch.meet_at_barrier();
    launch.all(Access::load, 1, [&](unsigned i) { return tile + (63 - i); });
    launch.end();
    CHECK(launch.found() == (barrier ? "" : "race-shared"));
  }
}

TEST_CASE("an access outside of an allocation is found, once for all threads of a line", "[model][events]") {
  const Floats x(8);
  PlayedLaunch launch(32);
  launch.all(Access::load, 0, [&](unsigned i) { return x + i; });
  launch.end();
  CHECK(launch.found() == "out-of-bounds");
}

TEST_CASE("where nothing sensible can follow, the launch ends, by whoever runs it", "[model][events]") {
  PlayedLaunch launch(32);
  int error = 0;
  try {
    launch.one(7, Access::store, 0, nullptr);
  } catch (const Aborted& aborted) {
    error = aborted.error;
  }
  CHECK(error == 700);  // cudaErrorIllegalAddress
  CHECK(launch.found() == "null-pointer");
  launch.end();
}

TEST_CASE("what nobody has written is found in shared memory", "[model][events]") {
  PlayedLaunch launch(32);
  float* tile = shared_floats(32);
  launch.one(3, Access::store, 0, tile + 3);
  launch.one(3, Access::load, 1, tile + 3);
  CHECK(launch.found() == "");
  launch.one(3, Access::load, 1, tile + 4);
  launch.end();
  CHECK(launch.found() == "uninitialised-shared");
}

TEST_CASE("a launch that was refused is in the report, and is no launch that ended", "[model][events]") {
  const std::uint64_t before = launches_ended();
  observer::refused_launch(LaunchConfig(dim3(1), dim3(2048)), "cudaErrorInvalidConfiguration", nullptr);
  CHECK(launches_ended() == before);
}

}  // namespace
