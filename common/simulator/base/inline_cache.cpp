#include "base/inline_cache.hpp"

namespace tilewise::sim::inline_cache {

constinit Cache* filled[kReasons] = {};

namespace {
constinit Cache last_of_list;
}

void fill(Cache& cache, std::uintptr_t begin, std::size_t last, std::size_t bytes, Until until) {
  if ((begin & (bytes - 1)) != 0) return;
  const auto reason = static_cast<unsigned>(until);
  cache.begin = begin;
  cache.count = (last >> std::countr_zero(bytes)) + 1;
  if (cache.next[reason] != nullptr) return;
  cache.next[reason] = filled[reason] != nullptr ? filled[reason] : &last_of_list;
  filled[reason] = &cache;
}

void empty_all(Until until) {
  const auto reason = static_cast<unsigned>(until);
  Cache* cache = filled[reason];
  filled[reason] = nullptr;
  while (cache != nullptr && cache != &last_of_list) {
    cache->count = 0;
    Cache* const next = cache->next[reason];
    cache->next[reason] = nullptr;
    cache = next;
  }
}

}  // namespace tilewise::sim::inline_cache

// What a library that is closed calls, since its caches go with it.
extern "C" __attribute__((visibility("default"))) void tilewise_empty_inline_caches() {
  using namespace tilewise::sim::inline_cache;
  for (unsigned reason = 0; reason < kReasons; ++reason) empty(Until{reason});
}
