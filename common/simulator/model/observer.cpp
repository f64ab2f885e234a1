// The seam between what runs and what judges: each event goes to the counter and to the checker, where the launch has them.
#include "model/observer.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/for_ever.hpp"
#include "base/memory.hpp"
#include "base/registers.hpp"
#include "model/checker.hpp"
#include "model/counter.hpp"
#include "model/report.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::sim {
namespace observer {
namespace {

using model::MemorySpace;

constexpr std::size_t kSharedRedZone = 1024;  // more than a row of most tiles

/// What of launches is asked for.
struct Asked {
  bool to_count = false, to_check = true;
  bool count_all = false, never_check = false;  // what the environment says

  Asked() {
    auto is = [](const char* name, const char* value) {
      const char* v = std::getenv(name);
      return v && std::strcmp(v, value) == 0;
    };
    to_count = std::getenv("TILEWISE_REPORT") != nullptr;
    if (is("TILEWISE_COUNT", "0")) to_count = false;
    if (is("TILEWISE_COUNT", "1")) to_count = true;
    count_all = to_count;
    never_check = is("TILEWISE_FINDINGS", "off");
    const char* findings = std::getenv("TILEWISE_FINDINGS");
    if (findings && *findings && !never_check && !is("TILEWISE_FINDINGS", "warn") &&
        !is("TILEWISE_FINDINGS", "strict")) {
      std::fprintf(stderr, "tilewise: TILEWISE_FINDINGS is \"%s\", but it may be warn, off or strict\n", findings);
      std::exit(2);
    }
    to_check = !never_check;
  }
};

Asked& asked() {
  static Asked* a = for_ever<Asked>();
  return *a;
}

std::size_t static_end = 0;  // where the next static shared variable of the running block goes

MemorySpace space_of(const void* address) {
  const char* p = static_cast<const char*>(address);
  if (p >= shared_begin && p < shared_begin + 2 * kSharedRegion) return MemorySpace::shared;
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  if (memory::in_arenas(number)) return MemorySpace::global;
  if (on_thread_stack(address)) return MemorySpace::local;
  if (const memory::Allocation* a = memory::find(number))
    return a->space == Space::constant ? MemorySpace::constant : MemorySpace::global;
  return MemorySpace::host;
}

}  // namespace

void begin_launch(const Launch& launch) {
  counting = asked().to_count;
  counter::begin_launch(launch);
  checking = asked().to_check && sample().empty();
  if (checking) checker::begin_launch(launch);
}

void end_launch(const Launch& launch) {
  if (checking) checker::end_launch();
  counter::end_launch(launch);
  counting = checking = false;
}

void begin_block() {
  counter::begin_block();
  async::begin_block();
  if (checking) checker::begin_block();
}

void end_block() {
  counter::end_block();
  if (checking) checker::end_block();
}

void suspend_block(SuspendedBlock& block) {
  block.static_end = static_end;
  block.shared_places = counter::suspend_block();
  block.copies = async::suspend_block();
  if (checking) checker::suspend_block(block);
}

void resume_block(SuspendedBlock& block) {
  static_end = block.static_end;
  counter::resume_block(std::move(block.shared_places));
  async::resume_block(std::move(block.copies));
  if (checking) checker::resume_block(block);
}

void grid_goes_on() {
  if (checking) checker::grid_goes_on();
}

const std::vector<Stratum>& sample() { return counter::sample(); }
void end_sample_block() { counter::end_sample_block(); }
void end_stratum() { counter::end_stratum(); }
bool blocks_depend() { return counter::blocks_depend(); }
std::string dependence() { return counter::dependence(); }
void note_dependence(const void* site, const char* what) { counter::note_dependence(site, what); }

void block_barrier() {
  counter::block_barrier();
  if (checking) checker::block_barrier();
}

void warp_meeting(unsigned warp, std::uint32_t arrived) {
  if (checking) checker::warp_meeting(warp, arrived);
}

void fence(const Lane& lane) { counter::fence(lane); }
void restricted(const void* pointer) { counter::restricted(pointer); }
void end_of_interval(Lane* lanes) { counter::end_of_interval(lanes); }

void device_fence(const Lane& lane, bool within_block) {
  if (checking) checker::fence(lane, within_block);
}

void access(Lane& lane, const volatile void* address, std::size_t bytes, Access kind, const void* site, Layout layout) {
  const void* p = const_cast<const void*>(address);
  const MemorySpace space = space_of(p);
  if (kind == Access::store && space != MemorySpace::local) idle_polls = 0;
  if (checking) checker::check(lane, space, p, bytes, kind, site, layout.alignment);
  counter::access(lane, space, p, bytes, kind, site, layout);
}

void look(Lane& lane, const void* address, std::size_t bytes, Access kind, const void* site) {
  if (kind == Access::store) idle_polls = 0;
  if (checking) checker::check(lane, space_of(address), address, bytes, kind, site, 1);
}

void piece(Lane& lane, const void* address, std::size_t bytes, Access kind, const void* site, unsigned piece) {
  const MemorySpace space = space_of(address);
  if (kind == Access::store && space != MemorySpace::local) idle_polls = 0;
  if (checking) {
    const Access checked = kind == Access::matrix_load ? Access::load : kind;
    checker::check(lane, space, address, bytes, checked, site, bytes);
  }
  counter::piece(lane, space, address, bytes, kind, site, piece);
}

void tensor_instructions(std::uint64_t instructions, std::uint64_t flop) {
  counter::tensor_instructions(instructions, flop);
}

bool on_device(const void* address) {
  const MemorySpace space = space_of(address);
  return space == MemorySpace::global || space == MemorySpace::shared;
}

void atomic(Lane& lane, const volatile void* address, std::size_t bytes, const void* site) {
  const auto n = static_cast<std::uint8_t>(bytes);
  access(lane, address, bytes, lane.discard_next ? Access::reduction : Access::atomic, site, {n, n});
}

void begin_copy(Lane& lane, const AsyncCopy& copy) {
  if (checking) checker::begin_copy(lane, copy, space_of(copy.to), space_of(copy.from));
  counter::begin_copy(lane, copy);
}

void end_copy(Lane& lane, const AsyncCopy& copy) { checker::end_copy(lane, copy); }

std::uint64_t shared_loads(const Lane& lane) { return counter::shared_loads(lane); }
void waited_for(const AsyncCopy& copy) { counter::waited_for(copy); }

void* place_shared(const SharedVariable& variable, std::size_t& used) {
  const bool first = used == 0;
  if (first) static_end = kSharedRedZone;
  const std::size_t alignment = std::max<std::size_t>(variable.alignment, 128);
  static_end = (static_end + alignment - 1) / alignment * alignment;
  char* place = shared_begin + static_end;
  counter::place_shared(place, first);
  static_end += variable.bytes + kSharedRedZone;
  used = shared_with(used, variable);
  if (checking && static_end <= kSharedRegion) checker::add_shared(variable, place);
  return place;
}

void refused_launch(const LaunchConfig& config, const char* error, const void* call_site) {
  if (report_wanted()) add_refused_launch(config, error, call_site);
}

}  // namespace observer

bool set_counting(bool on) {
  observer::Asked& asked = observer::asked();
  const bool was = asked.to_count;
  asked.to_count = on;
  return was;
}

bool set_checking(bool on) {
  observer::Asked& asked = observer::asked();
  const bool was = asked.to_check;
  asked.to_check = on && !asked.never_check;
  return was;
}

bool counting_demanded() { return observer::asked().count_all; }

}  // namespace tilewise::sim
