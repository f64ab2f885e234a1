// The least time that a card needs for what a launch was counted to do, resource by resource. A bound, not a prediction:
// each resource is given its highest rate, as if it had nothing to wait for. docs/bounds.md says why each is a bound.
#pragma once

#include <cstdint>

#include "tilewise_sim/report.hpp"

namespace tilewise::sim::model {

/// What a card can do at most. Rates are per clock and SM where nothing else is said.
struct Rates {
  double clock = 0;            ///< Hz, of the SMs: the highest
  unsigned sms = 0;            ///< streaming multiprocessors
  unsigned fp32 = 0;           ///< multiply-adds of one thread each, in single precision
  unsigned fp64 = 0;           ///< the same in double precision
  unsigned tensor = 0;         ///< multiply-adds of tensor cores, with inputs of 16 bits: no wider ones are faster
  unsigned fp32_per_lane = 1;  ///< multiply-adds that one thread can do in one instruction
  unsigned issue = 4;          ///< warp instructions that its schedulers issue
  unsigned memory_issue = 1;   ///< warp instructions that the load/store unit takes
  unsigned l1_passes = 1;      ///< through the data stage, and as many through the tag stage
  bool l1_rules = false;       ///< the rules by which passes of global accesses are counted were found on such an SM
  unsigned l2_bytes = 64;      ///< between L2 and the SM, in each direction
  double l2_capacity = 0;      ///< bytes
  double dram = 0;             ///< bytes per second, both directions together
  double dram_latency = 0;     ///< seconds from a load to its value; for no bound. 0: not recorded
};

/// What a launch did.
struct Work {
  Counters counters;
  std::uint64_t blocks = 0;
  bool single_known = true;  ///< its FLOP in single precision are those that a GPU would execute
  bool double_known = true;
};

Bound bound(const Rates& rates, const Work& work);

}  // namespace tilewise::sim::model
