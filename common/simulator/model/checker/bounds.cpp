#include "model/checker/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/findings.hpp"
#include "base/loaded_pieces.hpp"
#include "base/symbols.hpp"
#include "driver_types.h"
#include "model/checker.hpp"
#include "model/checker/words.hpp"

namespace tilewise::sim::checker {

bool is_on_device(const memory::Allocation& a) {
  return a.kind == memory::Kind::device || a.kind == memory::Kind::variable;
}

namespace {

constexpr std::uintptr_t kNullArea = 1 << 16;  // no program has memory there

// String literals and constant tables of the program's own, which exist on a GPU as well.
bool is_program_constant(std::uintptr_t address) {
  return any_loaded_piece(
      [=](const LoadedPiece& piece) { return piece.of_program && !piece.writable && piece.contains(address); });
}

// A kernel uses memory of another device, which has not been opened to it.
[[noreturn, gnu::noinline]] void refuse_peer(const memory::Allocation& a, Lane& lane, std::uintptr_t address,
                                             std::size_t bytes, Access kind, const void* site) {
  const int here = running_launch().device;
  const std::string cure =
      a.pool != nullptr
          ? fmt::format("it comes from a memory pool, so cudaMemPoolSetAccess() gives device {} access", here)
          : fmt::format("call cudaDeviceEnablePeerAccess({}, 0) while device {} is the current one", a.device, here);
  report_finding(
      finding_of("peer-access",
                 fmt::format("this thread runs on device {} and {} {}, which is memory of device {}: {}, or bring "
                             "the data with cudaMemcpyPeer()",
                             here, verb(kind), global_place(address, bytes).name, a.device, cure),
                 lane, site));
  abort_launch(cudaErrorIllegalAddress, true);
}

}  // namespace

memory::Range check_bounds(State& s, Lane& lane, MemorySpace space, std::uintptr_t address, std::size_t bytes,
                           Access kind, const void* site) {
  if (space == MemorySpace::shared) {
    for (const SharedPiece& p : s.pieces)
      if (address >= p.begin && address + bytes <= p.end) return {p.begin, p.end - p.begin};
    if (s.indexed_wrongly == &lane) {  // reported already, by the index
      s.indexed_wrongly = nullptr;
      return {};
    }
    if (report_again("out-of-bounds-shared", site)) return {};
    const Place p = shared_place(s, address, bytes);
    report_finding(finding_of("out-of-bounds-shared",
                              std::string("this thread ") + verb(kind) + " " + p.name + p.outside, lane, site));
    return {};
  }
  if (space == MemorySpace::host) {
    if (kind == Access::load && is_program_constant(address)) return {};
    const bool null = address < kNullArea;
    std::string what = std::string("this thread ") + verb(kind);
    if (null && address < bytes)
      what += " through a null pointer";
    else if (null)
      what += " " + element(static_cast<std::int64_t>(address), bytes) + " of a null pointer";
    else
      what +=
          " host memory; a kernel needs memory from cudaMalloc, to which the data is copied with cudaMemcpy. If the "
          "pointer "
          "is one to device memory, then the index is far off: negative, or overflown";
    report_finding(finding_of(null ? "null-pointer" : "host-pointer", std::move(what), lane, site));
    abort_launch(cudaErrorIllegalAddress, true);
  }
  const memory::Allocation* a = memory::find(address);
  if (a && a->live && address + bytes <= a->end()) {
    if (!memory::may_access(running_launch().device, *a) && memory::in_device_arena(address) && is_on_device(*a))
      refuse_peer(*a, lane, address, bytes, kind, site);
    if (!is_on_device(*a) || a->space == Space::managed) ++launch_effects;
    return {a->begin, a->bytes};
  }
  if (a && !a->live) {
    if (report_again("use-after-free", site)) return {};
    const Place p = global_place(address, bytes);
    report_finding(finding_of("use-after-free", std::string("this thread ") + verb(kind) + " freed memory: " + p.name,
                              lane, site));
    return {};
  }
  if (!report_again("out-of-bounds", site)) {
    const Visited& before = s.visit(site);
    const bool known = before.site == site && before.space == MemorySpace::global;
    const Place p = global_place(address, bytes, known ? memory::find(before.inside.begin) : nullptr);
    report_finding(
        finding_of("out-of-bounds", std::string("this thread ") + verb(kind) + " " + p.name + p.outside, lane, site));
  }
  const memory::Allocation* near = memory::nearest(address);
  const bool in_red_zone = near && near->live && address + memory::kRedZone >= near->begin &&
                           address + bytes <= near->end() + memory::kRedZone;
  if (!in_red_zone) abort_launch(cudaErrorIllegalAddress, true);
  return {};
}

[[noreturn, gnu::noinline]] void refuse_misaligned(const State& s, Lane& lane, MemorySpace space,
                                                   std::uintptr_t address, std::size_t bytes, Access kind,
                                                   const void* site, std::size_t alignment) {
  const char* way = kind == Access::copy_to ? "to" : kind == Access::copy_from ? "from" : "at";
  report_finding(
      finding_of("misaligned",
                 fmt::format("this thread {} {} bytes at once {} an address that is not a multiple of {}: {}",
                             kind == Access::copy_to ? "copies" : verb(kind), bytes, way, alignment,
                             place(s, space, address, bytes).name),
                 lane, site));
  abort_launch(cudaErrorMisalignedAddress, true);
}

void wrong_index(Lane& lane, const char* type, std::int64_t index, const void* site) {
  State& s = state();
  // "'float [16][17]'" or "'float[16][17]'": the element's type and the array's lengths.
  std::string words = type;
  std::erase(words, '\'');
  for (std::size_t at; (at = words.find(" [")) != std::string::npos;) words.erase(at, 1);
  std::vector<std::size_t> lengths;
  for (std::size_t at = words.find('['); at != std::string::npos; at = words.find('[', at + 1))
    lengths.push_back(std::strtoull(words.c_str() + at + 1, nullptr, 10));
  if (lengths.empty()) return;
  // The variable is not known, but its lengths are: a shared one has them all, or its last ones when it is a row.
  const SharedVariable* shared = nullptr;
  bool row = false;
  for (const SharedPiece& p : s.pieces) {
    if (!p.variable || p.variable->shape.rank < lengths.size() || shared) continue;
    const ArrayShape& shape = p.variable->shape;
    const unsigned skipped = shape.rank - static_cast<unsigned>(lengths.size());
    if (!std::equal(lengths.begin(), lengths.end(), shape.extents + skipped)) continue;
    shared = p.variable;
    row = skipped != 0;
  }
  s.indexed_wrongly = &lane;
  if (shared && report_again("out-of-bounds-shared", site)) return;
  // Of variables of the device, which are indexed wrongly less often, the compiler tells as little.
  const std::string of = shared ? fmt::format("{}{}", row ? "a row of " : "", shared->name)
                                : fmt::format("an array ({}), a local one or the device's", words);
  report_finding(finding_of(shared ? "out-of-bounds-shared" : "out-of-bounds-local",
                            fmt::format("this thread uses index {} of {}, which has {} elements", grouped(index), of,
                                        grouped_digits(lengths[0])),
                            lane, site));
  if (!shared) abort_launch(cudaErrorIllegalAddress, true);  // else the simulator's own stack would suffer
}

void fault(std::uintptr_t address, void* site) {
  Lane& lane = *current_lane;
  observed_lane = nullptr;
  const bool stack = on_thread_stack(reinterpret_cast<const void*>(address));
  // Sites are return addresses, which lie after the instruction that they stand for.
  void* const after = site ? static_cast<char*>(site) + 1 : nullptr;
  report_finding(finding_of(
      stack ? "stack-overflow" : "illegal-address",
      stack ? fmt::format("this thread's stack is full in {}: its recursion is too deep or its local arrays are too "
                          "large; here a thread has {} KB for all of them",
                          after ? function_name(after) : "a function", kStackBytes >> 10)
            : fmt::format("this thread touches address 0x{:x}, where no memory is", address),
      lane, after));
  std::exit(1);
}

}  // namespace tilewise::sim::checker
