#include "model/async_copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "base/findings.hpp"
#include "base/for_ever.hpp"
#include "base/symbols.hpp"
#include "base/thread.hpp"
#include "driver_types.h"
#include "model/observer.hpp"

namespace tilewise::sim {
namespace async {
namespace {

constexpr std::size_t kMostLeft = 8;  // a wait that would leave more groups in flight is one that leaves so many

struct State {
  ThreadsCopies of[kMaxThreadsPerBlock];
  bool used = false;  // by the running block
};

State& state() {
  static State* s = for_ever<State>();
  return *s;
}

Lane& calling_thread(const char* function) {
  if (!current_lane) unsupported(function);
  return *current_lane;
}

bool overlap(const void* a, std::size_t bytes, const void* b, std::size_t more) {
  const auto p = reinterpret_cast<std::uintptr_t>(a), q = reinterpret_cast<std::uintptr_t>(b);
  return p < q + more && q < p + bytes;
}

template <class Matches>
const AsyncCopy* find(Matches matches) {
  const State& s = state();
  if (!s.used) return nullptr;
  const dim3 block = running_launch().config.block;
  for (unsigned t = 0; t < block.x * block.y * block.z; ++t) {
    const ThreadsCopies& own = s.of[t];
    const auto begin = own.begun.begin() + static_cast<std::ptrdiff_t>(own.first);
    const auto found = std::find_if(begin, own.begun.end(), matches);
    if (found != own.begun.end()) return &*found;
  }
  return nullptr;
}

// What the hardware's headers do with such arguments: __trap().
void refuse_sizes(Lane& lane, std::size_t bytes, std::size_t filled, const void* site) {
  end_launch_for(
      "async-size",
      filled > bytes
          ? fmt::format("this asynchronous copy of {} bytes fills {} of them with zeros: it can be {} at most", bytes,
                        filled, bytes)
          : fmt::format("an asynchronous copy of {} bytes: only 4, 8 and 16 are possible", bytes),
      lane, site, cudaErrorLaunchFailure);
}

}  // namespace

void begin_block() {
  State& s = state();
  if (!s.used) return;
  for (ThreadsCopies& own : s.of) {
    own.begun.clear();
    own.first = 0;
    own.committed = own.wait_after = 0;
    own.wait_site = nullptr;
    own.groups.clear();
    own.loads = 0;
  }
  s.used = false;
}

std::vector<ThreadsCopies> suspend_block() {
  State& s = state();
  if (!s.used) return {};
  s.used = false;
  std::vector<ThreadsCopies> copies(std::begin(s.of), std::end(s.of));
  for (ThreadsCopies& own : s.of) own = {};
  return copies;
}

void resume_block(std::vector<ThreadsCopies> copies) {
  State& s = state();
  s.used = !copies.empty();
  std::move(copies.begin(), copies.end(), s.of);
}

void end_of_interval(const Lane* lanes) {
  State& s = state();
  if (!s.used) return;
  for (unsigned i = 0; i < kWarpSize; ++i) {
    ThreadsCopies& own = s.of[lanes[0].linear + i];
    if (!own.groups.empty()) own.loads += observer::shared_loads(lanes[i]);
  }
}

const AsyncCopy* writing(const void* address, std::size_t bytes) {
  return find([&](const AsyncCopy& c) { return overlap(c.to, c.bytes, address, bytes); });
}

const AsyncCopy* reading(const void* address, std::size_t bytes) {
  return find([&](const AsyncCopy& c) { return overlap(c.from, c.read, address, bytes); });
}

std::string what_is_missing(const AsyncCopy& copy) {
  const ThreadsCopies& own = state().of[copy.thread];
  if (copy.group == own.committed) return "no __pipeline_commit() follows the copy, so no wait counts it";
  if (own.wait_site == nullptr || own.wait_after <= copy.group)
    return "no __pipeline_wait_prior() has followed the copy yet";
  return fmt::format("__pipeline_wait_prior({}) at {} leaves it in flight", own.wait_left,
                     describe_site(own.wait_site));
}

}  // namespace async

void async_copy(void* to, const void* from, std::size_t bytes, std::size_t filled, bool chosen) {
  Lane& lane = async::calling_thread("__pipeline_memcpy_async() in host code");
  const void* site = __builtin_return_address(0);
  Unobserved guard;
  if ((bytes != 4 && bytes != 8 && bytes != 16) || filled > bytes) async::refuse_sizes(lane, bytes, filled, site);
  async::State& s = async::state();
  async::ThreadsCopies& own = s.of[lane.linear];
  const AsyncCopy copy{to,
                       from,
                       static_cast<std::uint8_t>(bytes),
                       static_cast<std::uint8_t>(bytes - filled),
                       static_cast<std::uint16_t>(lane.linear),
                       own.committed,
                       site,
                       chosen};
  if (observer::active()) observer::begin_copy(lane, copy);
  if (observer::counting && (own.groups.empty() || own.groups.back().number != own.committed))
    own.groups.push_back({own.committed, own.loads + observer::shared_loads(lane)});
  own.begun.push_back(copy);
  s.used = true;
}

void async_commit() {
  Lane& lane = async::calling_thread("__pipeline_commit() in host code");
  Unobserved guard;
  ++async::state().of[lane.linear].committed;
  async::state().used = true;
}

void async_wait(std::size_t left) {
  Lane& lane = async::calling_thread("__pipeline_wait_prior() in host code");
  const void* site = __builtin_return_address(0);
  Unobserved guard;
  async::ThreadsCopies& own = async::state().of[lane.linear];
  own.wait_after = own.committed;
  own.wait_left = left;
  own.wait_site = site;
  const std::size_t kept = std::min(left, async::kMostLeft);
  const auto is_over = [&](std::uint32_t group) { return group + kept < own.committed; };
  async::Group* group = own.groups.data();
  const std::uint64_t loads = own.groups.empty() ? 0 : own.loads + observer::shared_loads(lane);
  while (own.first < own.begun.size() && is_over(own.begun[own.first].group)) {
    const AsyncCopy& copy = own.begun[own.first++];
    if (observer::counting) {
      while (group->number != copy.group) ++group;  // both are in their order
      if (group->loads == loads) observer::waited_for(copy);
    }
    std::memcpy(copy.to, copy.from, copy.read);
    std::memset(static_cast<char*>(copy.to) + copy.read, 0, std::size_t{copy.bytes} - copy.read);
    if (observer::checking) observer::end_copy(lane, copy);
  }
  std::erase_if(own.groups, [&](const async::Group& g) { return is_over(g.number); });
  if (own.first == own.begun.size() || own.first >= 256) {
    own.begun.erase(own.begun.begin(), own.begun.begin() + static_cast<std::ptrdiff_t>(own.first));
    own.first = 0;
  }
}

}  // namespace tilewise::sim
