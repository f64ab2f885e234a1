#include "runtime/repeats.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>

#include "base/devices.hpp"
#include "base/findings.hpp"
#include "base/for_ever.hpp"
#include "base/memory.hpp"
#include "model/checker.hpp"
#include "model/observer.hpp"
#include "model/order.hpp"
#include "runtime/api.hpp"
#include "runtime/errors.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::sim::repeats {

struct Known {
  bool has_run = false;
  bool changes_nothing = false;   // as its last run has shown,
  std::uint64_t changes = 0;      // with memory as it was after so many changes of it,
  std::uint64_t runs = 0;         // and after so many runs of whatever launch
  unsigned vain_comparisons = 0;  // of memory before and after
  const void* kernel = nullptr;
  std::size_t static_shared = 0;
  std::uint32_t first = 0, last = 0;  // the intervals of its last run
};

namespace {

constexpr std::size_t kMostKnown = 4096;
constexpr unsigned kMostVainComparisons = 3;
constexpr std::size_t kMostCompared = std::size_t{1} << 30;  // bytes, which are kept during the launch

// Comparisons may cost about a quarter of what running threads does: a thread takes at least some 30 ns, and 16 bytes are copied
// and compared in 4. This counts threads and bytes, not time, so that every run of a program behaves alike.
constexpr std::uint64_t kBytesPerThread = 32, kBytesAtFirst = std::uint64_t{1} << 30;

// Before main(), so that nothing is half done when the value is wrong.
const bool run_all = [] {
  const char* value = std::getenv("TILEWISE_REPEATS");
  if (value == nullptr || *value == '\0') return false;
  if (std::strcmp(value, "run") == 0) return true;
  std::fprintf(stderr, "TILEWISE_REPEATS '%s': not known; allowed is run\n", value);
  std::exit(2);
}();

struct State {
  std::unordered_map<std::string, Known> known;
  std::uint64_t runs = 0, not_run = 0;
  std::uint64_t bytes_left = kBytesAtFirst;  // that may be compared
};

State& state() {
  static State* s = for_ever<State>();
  return *s;
}

template <class T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string key_of(const LaunchConfig& config, void (*thread)(void*), std::string_view arguments) {
  std::string key;
  append(key, thread);
  for (const dim3& size : {config.grid, config.block})
    for (const unsigned n : {size.x, size.y, size.z}) append(key, n);
  append(key, config.shared);
  append(key, order_of(config.stream));
  append(key, config.cooperative);
  return key.append(arguments);
}

// Calls f(begin, bytes) for all memory that a kernel could change without being seen to have an effect.
template <class Function>
void for_each_piece(Function f) {
  for (const memory::Allocation* a : memory::live_allocations())
    if (memory::in_device_arena(a->begin)) f(reinterpret_cast<const unsigned char*>(a->begin), a->bytes);
  for (const memory::Allocation& v : memory::variables())
    if (v.space != Space::managed) f(reinterpret_cast<const unsigned char*>(v.begin), v.bytes);
}

std::size_t size_of_pieces() {
  std::size_t sum = 0;
  for_each_piece([&](const unsigned char*, std::size_t bytes) { sum += bytes; });
  return sum;
}

std::uint64_t threads_of(const LaunchConfig& c) {
  return std::uint64_t{c.grid.x} * c.grid.y * c.grid.z * c.block.x * c.block.y * c.block.z;
}

}  // namespace

Attempt::Attempt(const LaunchConfig& config, void (*thread)(void*), std::string_view arguments) {
  State& s = state();
  threads_ = threads_of(config);
  if (run_all || arguments.empty() || several_devices() || shows_no_findings()) return;
  if (!observer::checking || observer::counting || launches_only || corners_only) return;
  std::string key = key_of(config, thread, arguments);
  const auto found = s.known.find(key);
  if (found != s.known.end())
    known_ = &found->second;
  else if (s.known.size() < kMostKnown)
    known_ = &s.known[std::move(key)];
}

bool Attempt::changes_nothing() const {
  if (known_ == nullptr || !known_->changes_nothing || known_->changes != memory::changes) return false;
  // Copies beside it are held against its accesses only when it is run. What it did when it was run last stands for what it does
  // now (skip), unless another launch has come over that since, and work in other streams could tell.
  return order::unordered_uses().empty() && (known_->runs == state().runs || order::has_default_streams_only());
}

void Attempt::skip(Launch& launch) const {
  ++state().not_run;
  launch.kernel = known_->kernel;
  launch.static_shared = known_->static_shared;
  order::is_now(known_->first, known_->last, launch.serial);
}

bool Attempt::can_compare() const {
  return known_ != nullptr && known_->has_run && known_->vain_comparisons < kMostVainComparisons &&
         !memory::has_addresses_only();
}

void Attempt::begin() {
  State& s = state();
  s.bytes_left += kBytesPerThread * threads_;
  effects_ = launch_effects;
  findings_ = reports_made();
  changes_ = memory::changes;
  first_ = checker::last_interval() + 1;
  if (!can_compare()) return;
  const std::size_t size = size_of_pieces();
  if (size > kMostCompared || size > s.bytes_left) return;
  s.bytes_left -= size;
  compares_ = true;
  before_.reserve(size);
  for_each_piece(
      [&](const unsigned char* begin, std::size_t bytes) { before_.insert(before_.end(), begin, begin + bytes); });
}

void Attempt::end(const Launch& launch, bool aborted) {
  State& s = state();
  ++s.runs;
  bool same = compares_ && !aborted && changes_ == memory::changes;
  if (same) {
    const unsigned char* before = before_.data();
    for_each_piece([&](const unsigned char* begin, std::size_t bytes) {
      same = same && std::memcmp(before, begin, bytes) == 0;
      before += bytes;
    });
  }
  if (!same) ++memory::changes;
  if (known_ == nullptr) return;
  if (compares_ && !same) ++known_->vain_comparisons;
  known_->has_run = !aborted;
  known_->changes_nothing = same && effects_ == launch_effects && findings_ == reports_made();
  if (!known_->changes_nothing) return;
  known_->changes = memory::changes;
  known_->runs = s.runs;
  known_->kernel = launch.kernel;
  known_->static_shared = launch.static_shared;
  known_->first = first_;
  known_->last = checker::last_interval();
}

}  // namespace tilewise::sim::repeats

std::uint64_t tilewise::sim::launches_not_run() { return repeats::state().not_run; }
