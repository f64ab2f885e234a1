#include "model/order.hpp"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include "base/device_lock.hpp"
#include "base/devices.hpp"
#include "base/findings.hpp"
#include "base/for_ever.hpp"
#include "base/symbols.hpp"
#include "base/thread.hpp"
#include "model/checker.hpp"
#include "model/observer.hpp"
#include "model/timeline.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::sim::order {

constinit memory::Range unfinished;

namespace {

constexpr std::size_t kMostUses = 4096;  // that are remembered

struct StreamState {
  Clock clock;  // after its last work
  int device = 0;
  bool blocking = true;
  bool open = true;
  const void* graph = nullptr;  // whose nodes are done in it
  std::deque<std::pair<std::uint32_t, std::uint32_t>>
      launches;  // number and first interval of each that the host may not know
};

struct State {
  std::vector<StreamState> streams;
  Clock host;                     // complete, as the host knows
  Clock now;                      // before the work that is being done, and itself
  Work current;                   // that work
  bool as_work = false;           // host code is a part of it
  Clock told;                     // complete, as host functions in streams may have told other host code
  std::deque<Launched> launches;  // by interval; the host does not know that they are complete
  std::deque<Used> uses;
  std::uint64_t waits = 0;

  State() {
    for (int device = 0; device < device_count(); ++device)
      for (int i = 0; i < 2; ++i) streams.emplace_back().device = device;
  }
};

State& state() {
  static State* s = for_ever<State>();
  return *s;
}

bool is_default(Stream stream) { return stream % 2 == 0 && stream < default_of(device_count()); }

std::uint32_t at(const Clock& clock, Stream stream) { return stream < clock.size() ? clock[stream] : 0; }
bool has(const Clock& clock, Work work) { return at(clock, work.stream) >= work.number; }

void join(Clock& clock, const Clock& other) {
  if (clock.size() < other.size()) clock.resize(other.size());
  for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

const Clock& host_view(const State& s) { return s.as_work ? s.now : s.host; }

void include(memory::Range& range, std::uintptr_t begin, std::uintptr_t end) {
  memory::watch({begin, end - begin});
  if (range.bytes == 0) {
    range = {begin, end - begin};
    return;
  }
  const std::uintptr_t last = std::max(range.begin + range.bytes, end);
  range.begin = std::min(range.begin, begin);
  range.bytes = last - range.begin;
}

bool host_can_reach(const memory::Allocation& a) {
  return a.kind == memory::Kind::variable ? a.space == Space::managed : a.kind != memory::Kind::device;
}

bool visible_to_host(std::uintptr_t address) {
  if (memory::open_arena.contains(address)) return true;
  if (memory::in_device_arena(address)) return false;
  const memory::Allocation* found = memory::find(address);
  return found != nullptr && host_can_reach(*found);
}

// What host code can reach and unfinished work may use.
void note_unfinished(State& s) {
  unfinished = {};
  for (const Used& used : s.uses)
    if (visible_to_host(used.bytes.begin)) include(unfinished, used.bytes.begin, used.bytes.end());
  if (s.launches.empty()) return;
  for (const memory::Allocation* a : memory::live_allocations())
    if (host_can_reach(*a)) include(unfinished, a->begin, a->end());
  for (const memory::Allocation& v : memory::variables())
    if (host_can_reach(v)) include(unfinished, v.begin, v.end());
}

// The host has waited: what it knows of is forgotten.
void forget_known(State& s) {
  std::erase_if(s.uses, [&](const Used& used) { return has(s.host, used.work); });
  while (!s.launches.empty() && has(s.host, s.launches.front().work)) s.launches.pop_front();
  for (Stream i = 0; i < s.streams.size(); ++i) {
    auto& launches = s.streams[i].launches;
    while (!launches.empty() && launches.front().first <= at(s.host, i)) launches.pop_front();
  }
  note_unfinished(s);
}

bool wanted() {
  const bool was = set_checking(true);  // off: TILEWISE_FINDINGS=off, or the program does not want it
  set_checking(was);
  return was;
}

const Launched* launch_of(const State& s, std::uint32_t interval) {
  const auto after = std::upper_bound(s.launches.begin(), s.launches.end(), interval,
                                      [](std::uint32_t i, const Launched& launch) { return i < launch.first; });
  return after == s.launches.begin() ? nullptr : &*std::prev(after);
}

bool is_ours(std::uintptr_t address) { return memory::in_arenas(address) || memory::find(address) != nullptr; }

bool writes(Use use) { return use != Use::reads; }

const char* did(Use use) {
  constexpr const char* words[] = {"reads", "writes", "allocates", "frees"};
  return words[static_cast<int>(use)];
}

std::string bytes_text(std::size_t bytes) { return grouped_digits(bytes) + (bytes == 1 ? " byte" : " bytes"); }

// " at x.cu:12" or " in the same line"; nothing for what the caller of a function has asked for.
std::string at_line(const void* site, const void* other) {
  if (other == nullptr) return "";
  const std::string here = describe_site(site), there = describe_site(other);
  return here == there ? " in the same line" : " at " + there;
}

// "400 bytes of in, from byte 80 on" where it has a name.
std::string part_text(const memory::Range& part) {
  const memory::Allocation* found = memory::find(part.begin);
  if (found == nullptr || found->name == nullptr || found->kind == memory::Kind::variable)
    return bytes_text(part.bytes) + ", " + memory::describe(part.begin);
  return bytes_text(part.bytes) + " of " + found->name + ", from byte " + grouped_digits(part.begin - found->begin) +
         " on";
}

void report_overlap(const Used& now, const Used& other, const memory::Range& both) {
  if (report_again("race-streams", now.site, other.site)) return;
  Finding f;
  f.code = "race-streams";
  f.site = now.site != nullptr ? now.site : other.site;
  f.other_site = other.site;
  f.message = std::string(now.name) + " " + did(now.use) + " " + part_text(both) + ", which " + other.name +
              at_line(now.site, other.site) + " " + did(other.use) + ": nothing says which comes first" +
              advice(other.work);
  report_finding(std::move(f));
}

}  // namespace

// ---------------------------------------------------------------- streams and events

int device_of(Stream stream) { return state().streams[stream].device; }

Stream open_stream(bool blocking) {
  State& s = state();
  Stream stream = default_of(device_count());
  // The number of a closed stream, once its work is complete for sure.
  while (stream < s.streams.size() &&
         (s.streams[stream].open || at(s.streams[stream].clock, stream) > at(s.host, stream)))
    ++stream;
  if (stream == s.streams.size()) s.streams.emplace_back();
  s.streams[stream].device = current_device();
  s.streams[stream].blocking = blocking;
  s.streams[stream].open = true;
  s.streams[stream].graph = nullptr;
  return stream;
}

void does_nodes_of(Stream stream, const void* graph) { state().streams[stream].graph = graph; }

void close_stream(Stream stream) { state().streams[stream].open = false; }

Clock record(Stream stream) {
  ask_for(stream);
  return state().streams[stream].clock;
}

void wait(Stream stream, const Clock& event) { join(state().streams[stream].clock, event); }

std::uint64_t host_has_waited() { return state().waits; }

void host_waits(const Clock& event) {
  State& s = state();
  ++s.waits;
  join(s.host, event);
  forget_known(s);
}

void host_waits(Stream stream) {
  State& s = state();
  ++s.waits;
  join(s.host, s.streams[stream].clock);
  if (is_default(stream))
    for (const StreamState& other : s.streams)
      if (other.blocking && other.device == s.streams[stream].device) join(s.host, other.clock);
  forget_known(s);
}

void host_waits_for_all() {
  State& s = state();
  ++s.waits;
  for (const StreamState& stream : s.streams) join(s.host, stream.clock);
  forget_known(s);
}

void host_waits_for_device(int device) {
  State& s = state();
  ++s.waits;
  for (const StreamState& stream : s.streams)
    if (stream.device == device) join(s.host, stream.clock);
  forget_known(s);
}

bool host_knows(const Clock& event) {
  const Clock& host = host_view(state());
  for (Stream i = 0; i < event.size(); ++i)
    if (event[i] > at(host, i)) return false;
  return true;
}

AsWork::AsWork() { state().as_work = true; }
AsWork::~AsWork() {
  State& s = state();
  s.as_work = false;
  join(s.told, s.now);
}

bool may_have_been_told(const Work& work) { return has(state().told, work); }

// ---------------------------------------------------------------- work

namespace {

Work ask_now(State& s, Stream stream) {
  Clock& clock = s.streams[stream].clock;
  if (clock.size() <= stream) clock.resize(stream + 1);
  s.current = {stream, ++clock[stream]};
  s.now = clock;
  timeline::asked_for(s.current, clock);
  return s.current;
}

}  // namespace

Work ask_for(Stream stream) {
  State& s = state();
  const int device = s.streams[stream].device;
  Clock& clock = s.streams[stream].clock;
  join(clock, s.host);
  if (is_default(stream)) {
    for (const StreamState& other : s.streams)
      if (other.blocking && other.device == device) join(clock, other.clock);
  } else if (s.streams[stream].blocking) {
    join(clock, s.streams[default_of(device)].clock);
  }
  return ask_now(s, stream);
}

Work ask_for_between(Stream stream, int device, int other) {
  State& s = state();
  Clock& clock = s.streams[stream].clock;
  join(clock, s.host);
  const int own = s.streams[stream].device;
  // The guide says "all commands issued to either device"; two H100s leave out non-blocking streams.
  const auto takes_part = [&](const StreamState& one) {
    return one.blocking && (one.device == device || one.device == other || one.device == own);
  };
  for (const StreamState& one : s.streams)
    if (takes_part(one)) join(clock, one.clock);
  const Work work = ask_now(s, stream);
  const Clock after = clock;
  for (StreamState& one : s.streams)
    if (takes_part(one)) join(one.clock, after);
  return work;
}

void uses(const char* name, void* site, const Bytes& bytes, Use use) {
  State& s = state();
  if (bytes.run == 0 || bytes.runs == 0 || !wanted()) return;
  if (!is_ours(bytes.begin)) return;  // the program's own memory: it has been copied elsewhere when the call returns
  const Used now{s.current, bytes, use, name, site};
  if (use != Use::allocates) {
    for (const Used* other : unordered_uses()) {
      if (!writes(use) && !writes(other->use)) continue;
      const memory::Range both = shared(bytes, other->bytes);
      if (both.bytes != 0) report_overlap(now, *other, both);
    }
    checker::look_over(name, site, bytes, did(use), writes(use));
  }
  const auto same = std::find_if(s.uses.begin(), s.uses.end(), [&](const Used& u) {
    return u.work.stream == s.current.stream && u.use == use && u.bytes.begin == bytes.begin &&
           u.bytes.run == bytes.run && u.bytes.runs == bytes.runs && u.bytes.stride == bytes.stride;
  });
  if (same != s.uses.end()) s.uses.erase(same);
  s.uses.push_back(now);
  if (s.uses.size() > kMostUses) s.uses.pop_front();
  if (visible_to_host(bytes.begin)) include(unfinished, bytes.begin, bytes.end());
}

std::uint32_t launches(std::uint32_t first, std::size_t serial) {
  State& s = state();
  std::uint32_t unordered = first;
  for (Stream i = 0; i < s.streams.size(); ++i) {
    const auto& launches = s.streams[i].launches;
    const auto found = std::upper_bound(launches.begin(), launches.end(), at(s.now, i),
                                        [](std::uint32_t number, const auto& launch) { return number < launch.first; });
    // Those that are repeats (is_now) have earlier intervals than launches before them.
    for (auto launch = found; launch != launches.end(); ++launch) unordered = std::min(unordered, launch->second);
  }
  s.launches.push_back({first, s.current, serial});
  s.streams[s.current.stream].launches.emplace_back(s.current.number, first);
  note_unfinished(s);
  return unordered;
}

void is_now(std::uint32_t first, std::uint32_t last, std::size_t serial) {
  State& s = state();
  // The work's own entries go: it has no intervals.
  auto& of_stream = s.streams[s.current.stream].launches;
  s.launches.pop_back();
  of_stream.pop_back();
  const Launched again{first, s.current, serial};
  auto at_first = std::lower_bound(s.launches.begin(), s.launches.end(), first,
                                   [](const Launched& launch, std::uint32_t i) { return launch.first < i; });
  if (at_first != s.launches.end() && at_first->first == first) {
    *at_first = again;
  } else {
    at_first = std::next(s.launches.insert(at_first, again));
    // Launches after it that the host knows of may have been forgotten: their intervals aren't its.
    if (at_first == s.launches.end() || at_first->first > last + 1)
      s.launches.insert(at_first, {last + 1, {s.current.stream, 0}, 0});
  }
  std::erase_if(of_stream, [=](const auto& launch) { return launch.second == first; });
  of_stream.emplace_back(s.current.number, first);
  note_unfinished(s);
}

bool has_default_streams_only() {
  const auto& streams = state().streams;
  return std::none_of(streams.begin() + default_of(device_count()), streams.end(),
                      [](const StreamState& stream) { return stream.open; });
}

std::size_t unordered_launches() {
  const State& s = state();
  std::size_t n = 0;
  for (Stream i = 0; i < s.streams.size(); ++i)
    for (auto launch = s.streams[i].launches.rbegin(); launch != s.streams[i].launches.rend(); ++launch, ++n)
      if (launch->first <= at(s.now, i)) break;
  return n;
}

const Launched* unordered_launch(std::uint32_t interval) {
  const State& s = state();
  const Launched* launch = launch_of(s, interval);
  return launch == nullptr || has(s.now, launch->work) ? nullptr : launch;
}

const Launched* unfinished_launch(std::uint32_t interval) {
  const State& s = state();
  const Launched* launch = launch_of(s, interval);
  return launch == nullptr || has(host_view(s), launch->work) ? nullptr : launch;
}

std::vector<const Used*> unordered_uses() {
  const State& s = state();
  std::vector<const Used*> all;
  for (const Used& used : s.uses)
    if (!has(s.now, used.work)) all.push_back(&used);
  return all;
}

memory::Range shared(const Bytes& bytes, const Bytes& other) {
  if (bytes.end() <= other.begin || other.end() <= bytes.begin) return {};
  for (std::size_t i = 0, j = 0; i < bytes.runs && j < other.runs;) {
    const std::uintptr_t a = bytes.begin + i * bytes.stride, b = other.begin + j * other.stride;
    if (a + bytes.run <= b) {
      ++i;
    } else if (b + other.run <= a) {
      ++j;
    } else {
      const std::uintptr_t begin = std::max(a, b);
      return {begin, std::min(a + bytes.run, b + other.run) - begin};
    }
  }
  return {};
}

const char* advice(Work other) {
  const State& s = state();
  const StreamState &mine = s.streams[s.current.stream], &its = s.streams[other.stream];
  if (mine.graph != nullptr && mine.graph == its.graph)
    return "; they are nodes of one graph, and no chain of dependencies leads from one to the other: "
           "cudaGraphAddDependencies() "
           "between them, or in a capture cudaEventRecord() and cudaStreamWaitEvent()";
  if (mine.device != its.device)
    return "; they are on different devices, which nothing keeps in step: cudaEventRecord() in the first one's stream "
           "and "
           "cudaStreamWaitEvent() in the second one's, or a wait of the host between";
  const bool default_and_other =
      (is_default(s.current.stream) && !its.blocking) || (is_default(other.stream) && !mine.blocking);
  return default_and_other
             ? "; a stream made with cudaStreamNonBlocking and the default stream do not wait for each other: "
               "cudaEventRecord() in the first and cudaStreamWaitEvent() in the second, or a wait of the host between"
             : "; they are in different streams: cudaEventRecord() in the first and cudaStreamWaitEvent() in the "
               "second, "
               "or a wait of the host between";
}

// ---------------------------------------------------------------- the host
namespace {

/// "byte 12 of the 128-byte pinned host allocation made at a.cu:3".
std::string part_of(std::uintptr_t address) {
  const memory::Allocation* found = memory::find(address);
  if (found == nullptr) return memory::describe(address);
  return "byte " + std::to_string(address - found->begin) + " of " + memory::describe(*found);
}

}  // namespace

void host_uses(std::uintptr_t address, std::size_t bytes, bool writes_it, void* site) {
  const DeviceLock lock(device_mutex());
  State& s = state();
  if (current_lane != nullptr || memory::device_memory_is_open() || !wanted()) return;
  const Bytes mine{address, bytes};
  for (const Used& used : s.uses) {
    if (has(host_view(s), used.work) || may_have_been_told(used.work) || (!writes(used.use) && !writes_it)) continue;
    if (shared(mine, used.bytes).bytes == 0) continue;
    if (report_again("host-too-early", site, used.site)) return;
    Finding f;
    f.code = "host-too-early";
    f.site = site;
    f.other_site = used.site;
    f.message = std::string("host code ") + (writes_it ? "writes" : "reads") + " " + part_of(address) + ", which " +
                used.name + " at " + describe_site(used.site) +
                (writes(used.use) ? writes_it ? " may write later" : " may not have written yet" : " may still read") +
                ": it returns before that is done; cudaStreamSynchronize() first, or a wait for an event after it";
    report_finding(std::move(f));
    return;
  }
  checker::look_at_host(address, bytes, writes_it, site);
}

void forget(std::uintptr_t begin, std::size_t bytes) {
  State& s = state();
  std::erase_if(s.uses, [&](const Used& used) { return used.bytes.begin < begin + bytes && begin < used.bytes.end(); });
  note_unfinished(s);
}

void reset(int device) { host_waits_for_device(device); }

}  // namespace tilewise::sim::order
