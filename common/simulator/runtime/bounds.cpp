// What the compiler's -fsanitize=bounds instrumentation calls before an index outside an array is used. It knows the
// arrays of which the address alone says nothing: local ones, and the rows of a two-dimensional one.
#include <cstdint>

#include "base/thread.hpp"
#include "model/checker.hpp"
#include "model/observer.hpp"

namespace {

// As the sanitizer's run-time interface defines them.
struct TypeDescriptor {
  std::uint16_t kind;
  std::uint16_t info;  // of an integer: bit 0 says signed, the rest is the logarithm of its bits
  char name[1];
};

struct OutOfBounds {
  const char* file;
  std::uint32_t line, column;
  const TypeDescriptor* array;
  const TypeDescriptor* index;
};

std::int64_t signed_index(const TypeDescriptor& type, std::uintptr_t value) {
  const unsigned bits = 1u << (type.info >> 1);
  if (!(type.info & 1u) || bits >= 64) return static_cast<std::int64_t>(value);
  const unsigned unused = 64 - bits;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << unused) >> unused;
}

void seen(const OutOfBounds* data, std::uintptr_t index, const void* site) {
  tilewise::sim::Lane* lane = tilewise::sim::observed_lane;
  if (!lane || !tilewise::sim::observer::checking) return;  // host code is the host compiler's business
  tilewise::sim::Unobserved guard;
  tilewise::sim::checker::wrong_index(*lane, data->array->name, signed_index(*data->index, index), site);
}

}  // namespace

extern "C" __attribute__((noinline, visibility("default"))) void __ubsan_handle_out_of_bounds(const OutOfBounds* data,
                                                                                              std::uintptr_t index) {
  seen(data, index, __builtin_return_address(0));
}
