#include "model/bound.hpp"

#include <algorithm>

#include "model/warp_instruction.hpp"

namespace tilewise::sim::model {

Bound bound(const Rates& rates, const Work& work) {
  const Counters& c = work.counters;
  Bound b;
  // A block runs on one SM: with fewer blocks than SMs, the rest have nothing to do.
  const double sms = static_cast<double>(std::min<std::uint64_t>(rates.sms, work.blocks));
  const auto needs = [&b](Resource resource, double amount, double per_second) {
    if (amount > 0 && per_second > 0) b.all[static_cast<std::size_t>(resource)] = amount / per_second;
  };
  const auto on_sms = [&](Resource resource, double amount, double per_clock) {
    needs(resource, amount, per_clock * sms * rates.clock);
  };
  const auto n = [](std::uint64_t count) { return static_cast<double>(count); };

  // Not every FLOP is half of a multiply-add, but nothing else does two in a lane and clock.
  const double fma32 = work.single_known ? n(c.flop_single) / 2 : 0;
  const double fma64 = work.double_known ? n(c.flop_double) / 2 : 0;
  on_sms(Resource::fp32, fma32, rates.fp32);
  on_sms(Resource::fp64, fma64, rates.fp64);
  on_sms(Resource::tensor, n(c.tensor_flop) / 2, rates.tensor);

  const double shared_instructions = n(c.shared_load_instructions + c.shared_store_instructions);
  const double atomics = n(c.atomic_requests + c.reduction_requests);
  const double memory_instructions =
      n(c.global_load_instructions + c.global_store_instructions + c.async_copy_instructions) + atomics +
      shared_instructions + n(c.matrix_load_instructions);
  const double arithmetic_instructions = (fma32 / rates.fp32_per_lane + fma64) / kLanes;
  on_sms(Resource::issue, memory_instructions + arithmetic_instructions + n(c.tensor_instructions), rates.issue);
  on_sms(Resource::memory_issue, memory_instructions, rates.memory_issue);

  // Whatever its rules are, a request takes one pass. Of data passes only those of loads are in it, since global stores that
  // follow one another may share theirs.
  const double wavefronts =
      n(c.shared_load_wavefronts + c.shared_store_wavefronts + c.matrix_load_wavefronts + c.async_copy_data_passes);
  const double data = n(rates.l1_rules ? c.global_load_data_passes : c.global_load_requests);
  const double tags = rates.l1_rules ? n(c.global_load_tag_passes + c.global_store_tag_passes)
                                     : n(c.global_load_requests + c.global_store_requests);
  on_sms(Resource::l1_data, data + wavefronts, rates.l1_passes);
  on_sms(Resource::l1_tags, tags, rates.l1_passes);

  // L1 keeps nothing from one launch to the next: each sector comes through L2 once at least. The ways in and out are two.
  const double loaded = n(c.distinct_bytes_loaded), stored = n(c.distinct_bytes_stored);
  on_sms(Resource::l2, std::max(loaded, stored), rates.l2_bytes);
  // L2 may have been full of what is loaded, and may be full of what is stored when the launch ends.
  const auto beyond_l2 = [&](double bytes) { return std::max(0.0, bytes - rates.l2_capacity); };
  needs(Resource::dram, beyond_l2(loaded) + beyond_l2(stored), rates.dram);

  const auto most = std::max_element(b.all.begin(), b.all.end());
  b.seconds = *most;
  b.by = static_cast<Resource>(most - b.all.begin());
  return b;
}

}  // namespace tilewise::sim::model

namespace tilewise::sim {

const char* name(Resource resource) {
  switch (resource) {
    case Resource::fp32:
      return "FP32";
    case Resource::fp64:
      return "FP64";
    case Resource::tensor:
      return "tensor cores";
    case Resource::issue:
      return "issue";
    case Resource::memory_issue:
      return "load/store";
    case Resource::l1_tags:
      return "L1 tags";
    case Resource::l1_data:
      return "L1 data";
    case Resource::l2:
      return "L2";
    case Resource::dram:
      return "DRAM";
  }
  return "?";
}

Bound& Bound::operator+=(const Bound& other) {
  seconds += other.seconds;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] += other.all[i];
  by = static_cast<Resource>(std::max_element(all.begin(), all.end()) - all.begin());
  return *this;
}

}  // namespace tilewise::sim
