#include "model/checker/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/findings.hpp"
#include "base/symbols.hpp"

namespace tilewise::sim::checker {

const char* verb(Access kind) {
  switch (kind) {
    case Access::load:
      return "reads";
    case Access::store:
      return "writes";
    case Access::copy_from:
      return "copies";
    case Access::copy_to:
      return "copies to";
    default:
      return "updates";
  }
}

static std::string triple(unsigned x, unsigned y, unsigned z) { return fmt::format("({},{},{})", x, y, z); }

std::string thread_triple(unsigned thread) {
  const dim3 b = running_launch().config.block;
  return triple(thread % b.x, thread / b.x % b.y, thread / b.x / b.y);
}

std::string block_triple(const State& s, std::uint32_t interval) {
  uint3 block = running_launch().block;
  auto after = std::upper_bound(s.blocks.begin(), s.blocks.end(), interval,
                                [](std::uint32_t i, const auto& e) { return i < e.first; });
  if (after != s.blocks.begin()) block = std::prev(after)->second;
  return triple(block.x, block.y, block.z);
}

std::string grouped(std::int64_t n) {
  return n < 0 ? "-" + grouped_digits(static_cast<std::uint64_t>(-n)) : grouped_digits(static_cast<std::uint64_t>(n));
}

std::string element(std::int64_t offset, std::size_t bytes) {
  const auto width = static_cast<std::int64_t>(bytes);
  return offset % width == 0 ? "element " + grouped(offset / width) : "byte " + grouped(offset);
}

namespace {

constexpr std::uint64_t kFar = std::uint64_t{1} << 20;  // bytes

std::string outside(std::int64_t offset, std::size_t bytes, std::size_t size) {
  if (offset < 0) return ", before its start";
  return static_cast<std::size_t>(offset) + bytes > size ? ", past its end" : "";
}

const SharedPiece* nearest_piece(const State& s, std::uintptr_t address) {
  const SharedPiece* best = nullptr;
  for (const SharedPiece& p : s.pieces) {
    if (address >= p.begin && address < p.end) return &p;
    const auto distance = [&](const SharedPiece& q) { return address < q.begin ? q.begin - address : address - q.end; };
    if (!best || distance(p) < distance(*best)) best = &p;
  }
  return best;
}

// "As[3][40]"; empty when the offset is none of an element.
std::string indexed(const char* name, const ArrayShape& shape, std::int64_t offset, std::size_t bytes) {
  const auto width = static_cast<std::int64_t>(shape.element_bytes);
  if (width == 0 || offset % width != 0) return "";
  std::int64_t index = offset / width;
  if (shape.rank == 0) return index == 0 ? name : "";
  std::string text = name;
  for (unsigned d = 0; d < shape.rank; ++d) {
    std::int64_t inner = 1;  // elements under one step of this index
    for (unsigned e = d + 1; e < shape.rank; ++e) inner *= static_cast<std::int64_t>(shape.extents[e]);
    std::int64_t here = index / inner;
    if (d == 0 && index % inner < 0) --here;
    index -= here * inner;
    text += "[" + grouped(here);
    if (d + 1 == shape.rank && bytes > shape.element_bytes)
      text += ".." + grouped(here + static_cast<std::int64_t>(bytes / shape.element_bytes) - 1);
    text += "]";
  }
  return text;
}

std::string extents(const ArrayShape& shape) {
  std::string text;
  for (unsigned d = 0; d < shape.rank; ++d) text += (d == 0 ? "" : " x ") + grouped_digits(shape.extents[d]);
  return text + (shape.rank == 1 ? " elements" : "");
}

}  // namespace

Place shared_place(const State& s, std::uintptr_t address, std::size_t bytes) {
  const SharedPiece* p = nearest_piece(s, address);
  if (!p) {
    if (address >= reinterpret_cast<std::uintptr_t>(shared_begin) + kSharedRegion)
      return {"dynamic shared memory", ", but the launch asked for none: its third argument in <<<...>>> is 0"};
    return {"shared memory", ", but the block has none here"};
  }
  const auto offset = static_cast<std::int64_t>(address - p->begin);
  const std::size_t size = p->end - p->begin;
  std::string where = outside(offset, bytes, size);
  if (!p->variable) {
    if (!where.empty()) where += fmt::format(": the launch asked for {} bytes", grouped_digits(size));
    return {element(offset, bytes) + fmt::format(" of the dynamic shared memory ({}-byte elements)", bytes), where};
  }
  const SharedVariable& v = *p->variable;
  if (!where.empty() && v.shape.rank != 0) where += fmt::format(": {} has {}", v.name, extents(v.shape));
  std::string name = indexed(v.name, v.shape, offset, bytes);
  if (name.empty()) name = element(offset, bytes) + fmt::format(" of {} ({}-byte elements)", v.name, bytes);
  return {name, where};
}

Place global_place(std::uintptr_t address, std::size_t bytes, const memory::Allocation* meant) {
  const memory::Allocation* a = memory::find(address);
  if (!a) a = meant;
  if (!a) {
    a = memory::nearest(address);
    if (!a) return {fmt::format("address 0x{:x}", address), ", where no memory is"};
    // So far from all, the nearest array need not be the one that was meant.
    if (const std::uint64_t far = address < a->begin ? a->begin - address : address - a->end(); far > kFar)
      return {"memory where no array is",
              ": the nearest is " + memory::describe(address) + ", so the index is far off"};
  }
  const auto offset = static_cast<std::int64_t>(address - a->begin);
  const std::string where = outside(offset, bytes, a->bytes);
  if (a->kind == memory::Kind::variable) {
    static constexpr const char* spaces[] = {"__device__", "__constant__", "__managed__"};
    std::string name = fmt::format("the {} variable {}", spaces[static_cast<int>(a->space)], a->name ? a->name : "");
    if (offset == 0 && bytes == a->bytes) return {name, where};
    return {element(offset, bytes) +
                fmt::format(" of {} ({} elements of {} bytes)", name, grouped_digits(a->bytes / bytes), bytes),
            where};
  }
  if (a->name && a->live && offset % static_cast<std::int64_t>(bytes) == 0) {
    const std::int64_t index = offset / static_cast<std::int64_t>(bytes);
    if (where.empty()) return {fmt::format("{}[{}]", a->name, index), where};
    return {fmt::format("{}[{}]", a->name, index),
            where + fmt::format(": {} has {} element{} of {} bytes", a->name, grouped_digits(a->bytes / bytes),
                                a->bytes / bytes == 1 ? "" : "s", bytes)};
  }
  static constexpr const char* kinds[] = {"device", "managed", "pinned host", "registered host"};
  std::string size = a->bytes % bytes == 0 && offset % static_cast<std::int64_t>(bytes) == 0
                         ? fmt::format("{}-element ({}-byte)", grouped_digits(a->bytes / bytes), bytes)
                         : fmt::format("{}-byte", grouped_digits(a->bytes));
  std::string name = element(offset, bytes) + fmt::format(" of the {} {} allocation{}", size,
                                                          a->heap ? "device heap" : kinds[static_cast<int>(a->kind)],
                                                          memory::on_which_device(*a));
  if (a->name)
    name += std::string(" ") + a->name;
  else if (a->call_site)
    name += " made" + memory::at_or_by(a->call_site);
  if (!a->live) {
    name += a->freed_by_reset ? ", freed by cudaDeviceReset" : ", freed";
    if (a->free_site) name += " at " + describe_site(a->free_site);
  }
  return {name, where};
}

Place place(const State& s, MemorySpace space, std::uintptr_t address, std::size_t bytes) {
  return space == MemorySpace::shared ? shared_place(s, address, bytes) : global_place(address, bytes);
}

}  // namespace tilewise::sim::checker
