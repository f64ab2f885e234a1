// Places in the code by number, which a shadow cell has 16 bits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tilewise::sim::checker {

class SiteNumbers {
 public:
  /// `most`: the highest number. All places that come when it has been reached share it, and are not told from one another.
  explicit SiteNumbers(std::size_t most = 0xFFFF) : most_(most) {}

  /// The same one for the same place; never 0, which is no place.
  std::uint16_t number(const void* site) {
    const auto [entry, is_new] = numbers_.try_emplace(site, static_cast<std::uint16_t>(sites_.size()));
    if (!is_new) return entry->second;
    if (sites_.size() > most_) return entry->second = static_cast<std::uint16_t>(most_);
    sites_.push_back(sites_.size() < most_ ? site : nullptr);
    return entry->second;
  }

  /// Null for those that share the highest number.
  const void* operator[](std::uint16_t number) const { return sites_[number]; }

 private:
  std::size_t most_;
  std::vector<const void*> sites_{nullptr};
  std::unordered_map<const void*, std::uint16_t> numbers_;
};

}  // namespace tilewise::sim::checker
