#include "runtime/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/findings.hpp"
#include "base/symbols.hpp"
#include "driver_types.h"
#include "model/fragments.hpp"
#include "model/observer.hpp"
#include "model/tensor_product.hpp"

namespace tilewise::sim::tensor {
namespace {

using model::FragmentAccess;
using model::OfLanes;
using model::Place;
using observer::Access;

// What the program calls it.
const char* name(const Call& call) {
  switch (call.kind) {
    case Call::Kind::load:
      return "load_matrix_sync()";
    case Call::Kind::store:
      return "store_matrix_sync()";
    case Call::Kind::multiply:
      return call.product.n == 8 && call.product.m == 16 ? "mma.sync" : "mma_sync()";
    case Call::Kind::load_matrices:
      return "ldmatrix";
  }
  return "?";
}

[[noreturn]] void refuse(const char* code, std::string message, const Lane& lane, const void* other_site = nullptr) {
  if (observer::checking) {
    Finding f = finding_of(code, std::move(message), lane, lane.wait_site);
    f.other_site = other_site;
    report_finding(std::move(f));
  }
  abort_launch(cudaErrorLaunchFailure, true);
}

// ------------------------------------------------------------------------------------------- the same call in all lanes
// In which way two lanes' calls differ, for "this thread ..."; empty when they are one.
std::string difference(const Call& one, const Lane& lane, const Call& other, const Lane& other_lane) {
  const std::string there = "thread " + thread_triple(other_lane);
  if (one.kind != other.kind || lane.wait_site != other_lane.wait_site) {
    // The compiler may have made two calls out of one, so places are compared as lines of source.
    const std::string here_at = describe_site(lane.wait_site), there_at = describe_site(other_lane.wait_site);
    if (one.kind != other.kind || here_at != there_at)
      return fmt::format("calls {}, but {} calls {}{}", name(one), there, name(other),
                         here_at == there_at ? "" : " at " + there_at);
  }
  if (!in_same_iteration(lane, other_lane))
    return fmt::format("and {} call {} in different iterations of a loop", there, name(one));
  const auto with = [&](const std::string& what, const std::string& other_what) {
    return fmt::format("calls {} with {}, but {} with {}", name(one), what, there, other_what);
  };
  if (one.ldm != other.ldm) return with(fmt::format("a leading dimension of {}", one.ldm), fmt::to_string(other.ldm));
  if (one.column_major != other.column_major) {
    const auto layout = [](const Call& c) { return c.column_major ? "mem_col_major" : "mem_row_major"; };
    return with(layout(one), layout(other));
  }
  if (one.kind != Call::Kind::load_matrices && one.memory != other.memory) {
    const auto bytes = reinterpret_cast<std::intptr_t>(other.memory) - reinterpret_cast<std::intptr_t>(one.memory);
    return with("one address", fmt::format("one that is {} bytes {}", std::abs(bytes), bytes < 0 ? "lower" : "higher"));
  }
  if (!(one.fragment == other.fragment) || !(one.product == other.product)) return with("fragments", "other fragments");
  if (one.count != other.count || one.transposed != other.transposed) return with("matrices", "other matrices");
  return "";
}

void check_all_are_here(const Lane* lanes, std::uint32_t arrived, const Call* const (&calls)[kWarpSize]) {
  if (arrived == ~0u) return;
  const auto first = static_cast<unsigned>(std::countr_zero(arrived));
  const int missing = std::popcount(~arrived);
  refuse("divergent-matrix",
         fmt::format("{} needs all 32 lanes of the warp, and {} of them {} returned or {} never existed",
                     name(*calls[first]), missing, missing == 1 ? "has" : "have", missing == 1 ? "has" : "have"),
         lanes[first]);
}

void check_same_call(const Lane* lanes, const Call* const (&calls)[kWarpSize]) {
  for (unsigned lane = 1; lane < kWarpSize; ++lane) {
    const std::string how = difference(*calls[0], lanes[0], *calls[lane], lanes[lane]);
    if (how.empty()) continue;
    refuse("divergent-matrix",
           fmt::format("this thread {}; all 32 lanes of a warp must make the same call together", how), lanes[0],
           lanes[lane].wait_site);
  }
}

// ------------------------------------------------------------------------------------------- loads and stores
constexpr std::size_t kPointerAlignment = 32, kRowAlignment = 16;  // bytes: CUDA C++ Programming Guide, "wmma"

void check_alignment(const Call& call, const Lane& lane) {
  if (!observer::checking) return;
  const unsigned bytes = model::bytes_of(call.fragment.element);
  if (call.ldm * std::size_t{bytes} % kRowAlignment != 0)
    refuse("matrix-alignment",
           fmt::format("{} with a leading dimension of {}: for elements of {} bytes it must be a multiple of {}",
                       name(call), call.ldm, bytes, kRowAlignment / bytes),
           lane);
  // A fragment of bytes has rows of 16, and CUDA's own sample begins at each (immaTensorCoreGemm).
  const std::size_t alignment = bytes == 1 ? kRowAlignment : kPointerAlignment;
  const auto past = reinterpret_cast<std::uintptr_t>(call.memory) % alignment;
  if (past == 0) return;
  report_finding(finding_of(
      "matrix-alignment",
      fmt::format(
          "{} with an address that is {} bytes past a multiple of {}: the matrix must begin at a multiple of {} bytes",
          name(call), past, alignment, alignment),
      lane, lane.wait_site));
}

const std::vector<FragmentAccess>& accesses_of(const Fragment& fragment, bool column_major, bool in_shared) {
  struct Known {
    Fragment fragment;
    bool column_major, in_shared;
    std::vector<FragmentAccess> accesses;
  };
  static auto& known = *new std::vector<Known*>;
  for (const Known* k : known)
    if (k->fragment == fragment && k->column_major == column_major && k->in_shared == in_shared) return k->accesses;
  known.push_back(new Known{fragment, column_major, in_shared, model::accesses_of(fragment, column_major, in_shared)});
  return known.back()->accesses;
}

bool in_shared(const void* address) {
  const auto* p = static_cast<const char*>(address);
  return p >= shared_begin && p < shared_begin + 2 * kSharedRegion;
}

// Calls f(lane, access, address) for each access of each lane, those of a lane one after another.
template <class Function>
void for_each_access(const Call& call, Function f) {
  const unsigned bytes = model::bytes_of(call.fragment.element);
  const auto& accesses = accesses_of(call.fragment, call.column_major, in_shared(call.memory));
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    for (unsigned i = 0; i < accesses.size(); ++i) {
      if (!(accesses[i].mask >> lane & 1u)) continue;
      const auto& at = accesses[i].at[lane];
      f(lane, i, accesses[i], (std::size_t{at.outer} * call.ldm + at.inner) * bytes);
    }
}

// Where an element of the matrix lies in memory, in elements.
std::size_t offset_of(const Call& call, Place p) {
  return call.column_major ? std::size_t{p.column} * call.ldm + p.row : std::size_t{p.row} * call.ldm + p.column;
}

void load_all(Lane* lanes, const Call* const (&calls)[kWarpSize]) {
  const Call& call = *calls[0];
  const auto* memory = static_cast<const char*>(call.memory);
  if (observer::active())
    for_each_access(call, [&](unsigned lane, unsigned piece, const FragmentAccess& access, std::size_t offset) {
      observer::piece(lanes[lane], memory + offset, access.bytes,
                      access.is_matrix_load ? Access::matrix_load : Access::load, lanes[lane].wait_site, piece);
    });
  const unsigned bytes = model::bytes_of(call.fragment.element), elements = model::elements_of(call.fragment);
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    for (unsigned i = 0; i < elements; ++i)
      std::memcpy(static_cast<char*>(calls[lane]->d) + i * bytes,
                  memory + offset_of(call, model::place_of(call.fragment, lane, i)) * bytes, bytes);
}

// An access may store elements of other lanes (MOVM has exchanged them), so the matrix is put together first.
void store_all(Lane* lanes, const Call* const (&calls)[kWarpSize]) {
  const Call& call = *calls[0];
  auto* memory = static_cast<char*>(call.memory);
  const unsigned bytes = model::bytes_of(call.fragment.element), elements = model::elements_of(call.fragment);
  constexpr unsigned kMostElements = 256, kMostBytes = 4;
  char matrix[kMostElements * kMostBytes];  // its rows, or columns, one after another
  const unsigned length = call.column_major ? call.fragment.m : call.fragment.n;
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    for (unsigned i = 0; i < elements; ++i) {
      const Place p = model::place_of(call.fragment, lane, i);
      const unsigned at = call.column_major ? p.column * length + p.row : p.row * length + p.column;
      std::memcpy(matrix + at * bytes, static_cast<const char*>(calls[lane]->a) + i * bytes, bytes);
    }
  for_each_access(call, [&](unsigned lane, unsigned piece, const FragmentAccess& access, std::size_t offset) {
    if (observer::active())
      observer::piece(lanes[lane], memory + offset, access.bytes, Access::store, lanes[lane].wait_site, piece);
    const auto& at = access.at[lane];
    std::memcpy(memory + offset, matrix + (at.outer * length + at.inner) * bytes, access.bytes);
  });
}

// ------------------------------------------------------------------------------------------- products
void multiply_all(const Call* const (&calls)[kWarpSize]) {
  OfLanes<void*> d;
  OfLanes<const void*> a, b, c;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    d.x[lane] = calls[lane]->d;
    a.x[lane] = calls[lane]->a;
    b.x[lane] = calls[lane]->b;
    c.x[lane] = calls[lane]->c;
  }
  const Product& p = calls[0]->product;
  model::multiply(p, d, a, b, c);
  const bool of_integers = p.d == Element::s32;  // whose operations are none in floating point
  observer::tensor_instructions(p.instructions, of_integers ? 0 : 2ull * p.m * p.n * p.k);
}

// ------------------------------------------------------------------------------------------- ldmatrix
void load_all_matrices(Lane* lanes, const Call* const (&calls)[kWarpSize]) {
  constexpr unsigned kRows = 8, kRowBytes = 16;
  const unsigned count = calls[0]->count;
  std::uint16_t elements[4 * kRows][8];  // of all matrices, row by row
  for (unsigned lane = 0; lane < kRows * count; ++lane) {
    const void* row = calls[lane]->memory;
    if (observer::active()) observer::piece(lanes[lane], row, kRowBytes, Access::matrix_load, lanes[lane].wait_site, 0);
    std::memcpy(elements[lane], row, kRowBytes);
  }
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    for (unsigned matrix = 0; matrix < count; ++matrix) {
      const unsigned first = matrix * kRows, group = lane / 4, pair = 2 * (lane % 4);
      const bool transposed = calls[lane]->transposed;
      const std::uint32_t low = transposed ? elements[first + pair][group] : elements[first + group][pair];
      const std::uint32_t high = transposed ? elements[first + pair + 1][group] : elements[first + group][pair + 1];
      static_cast<std::uint32_t*>(calls[lane]->d)[matrix] = low | high << 16;
    }
}

}  // namespace

void carry_out(Lane* lanes, std::uint32_t arrived, const Call* const (&calls)[kWarpSize]) {
  check_all_are_here(lanes, arrived, calls);
  check_same_call(lanes, calls);
  switch (calls[0]->kind) {
    case Call::Kind::load:
      check_alignment(*calls[0], lanes[0]);
      return load_all(lanes, calls);
    case Call::Kind::store:
      check_alignment(*calls[0], lanes[0]);
      return store_all(lanes, calls);
    case Call::Kind::multiply:
      return multiply_all(calls);
    case Call::Kind::load_matrices:
      return load_all_matrices(lanes, calls);
  }
}

void load(Fragment fragment, void* x, const void* memory, unsigned ldm, bool column_major) {
  Call call{Call::Kind::load};
  call.fragment = fragment;
  call.memory = const_cast<void*>(memory);
  call.ldm = ldm;
  call.column_major = column_major;
  call.d = x;
  meet(call, __builtin_return_address(0));
}

void store(Fragment fragment, const void* x, void* memory, unsigned ldm, bool column_major) {
  Call call{Call::Kind::store};
  call.fragment = fragment;
  call.memory = memory;
  call.ldm = ldm;
  call.column_major = column_major;
  call.a = x;
  meet(call, __builtin_return_address(0));
}

void multiply(Product product, void* d, const void* a, const void* b, const void* c) {
  Call call{Call::Kind::multiply};
  call.product = product;
  call.d = d;
  call.a = a;
  call.b = b;
  call.c = c;
  meet(call, __builtin_return_address(0));
}

void load_matrices(unsigned count, bool transposed, std::uint32_t* d, const void* row) {
  Call call{Call::Kind::load_matrices};
  call.count = count;
  call.transposed = transposed;
  call.memory = const_cast<void*>(row);
  call.d = d;
  meet(call, __builtin_return_address(0));
}

float round_to_tf32(float value) {
  if (std::isnan(value)) return std::bit_cast<float>(0x7fffffffu);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isinf(value)) return value;
  return std::bit_cast<float>((bits + 0x1000u) & 0xffffe000u);
}

}  // namespace tilewise::sim::tensor

namespace tilewise::sim::ptx {

// Other bits than those of a place in shared memory are found when they are used.
void* shared_pointer(std::uint32_t address) { return shared_begin + address; }

std::uint32_t shared_address(const void* pointer) {
  const auto offset = static_cast<const char*>(pointer) - shared_begin;
  if (offset >= 0 && offset < static_cast<std::ptrdiff_t>(2 * kSharedRegion)) return static_cast<std::uint32_t>(offset);
  if (!current_lane) unsupported("__cvta_generic_to_shared() in host code");
  const void* site = __builtin_return_address(0);
  Unobserved guard;
  end_launch_for("not-shared", "__cvta_generic_to_shared() of an address that is not in shared memory", *current_lane,
                 site, cudaErrorIllegalAddress);
}

}  // namespace tilewise::sim::ptx
