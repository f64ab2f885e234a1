// Wrong sums over devices. Each holds one mistake that people make, and each must be rejected by the check that the right ones pass.
#pragma once

#include "all_reduce.hpp"
#include "guarded_memory.hpp"
#include "tilewise/cuda_check.hpp"

namespace sum_mutants {

enum class Bug {
  none,               ///< the right one: proves that it is the mistake that is rejected
  no_wait,            ///< fetches before the device before it has added
  waits_for_next,     ///< waits for the wrong neighbour
  device_forgotten,   ///< adds on whichever device is current
  memory_of_another,  ///< adds what lies on the device before it, without fetching it
  no_scratch,         ///< fetches into the array itself, and adds that
  rest_lost,          ///< parts of n / p elements
  one_step_short,     ///< the last part doesn't go round
  same_part,          ///< each step takes the same part
  bytes,              ///< as many bytes as there are elements
};

template <Bug BUG>
void ring(const Team& team, Sums& s) {
  constexpr auto is = [](Bug bug) { return bug == BUG; };
  const int p = team.size(), steps = 2 * (p - 1) - (is(Bug::one_step_short) && p > 1 ? 1 : 0);
  for (int step = 0; step < steps; ++step) {
    const bool adds = step < p - 1;
    for (int d = 0; d < p; ++d) team.note(d);
    for (int d = 0; d < p; ++d) {
      const OnDevice here(is(Bug::device_forgotten) ? 0 : d);
      const int before = (d + p - 1) % p, next = (d + 1) % p;
      const int k = ((adds ? d - 1 : d + p - 1) - (is(Bug::same_part) ? 0 : step) + 2 * p) % p;
      Share part = share(s.n, k, p);
      if (is(Bug::rest_lost)) part = {s.n / p * k, s.n / p * (k + 1)};
      float* const mine = s.x[d].data() + part.begin;
      float* const to = adds && !is(Bug::no_scratch) ? s.work[d].data() : mine;
      float* const from = s.x[before].data() + part.begin;
      if (!is(Bug::no_wait)) team.wait(d, is(Bug::waits_for_next) ? next : before);
      if (!is(Bug::memory_of_another) || !adds)
        copy_between(to, d, from, before, is(Bug::bytes) ? part.count() / 4 : part.count(), team.stream(d));
      if (adds) {
        const float* const more = is(Bug::memory_of_another) ? from : to;
        CUDA_CHECK(launch_add(part.count(), more, mine, team.stream(d)));
      }
    }
  }
}

struct Mutant {
  const char* name;
  void (*ring)(const Team&, Sums&);
  Fault fault;
  const char* finding = "";  ///< what the simulator must say, if anything
};

inline const Mutant mutants[] = {
    {"no_wait", ring<Bug::no_wait>, Fault::finding, "race-streams"},
    {"waits_for_next", ring<Bug::waits_for_next>, Fault::finding, "race-streams"},
    {"device_forgotten", ring<Bug::device_forgotten>, Fault::launch_failed, "invalid resource handle"},
    {"no_scratch", ring<Bug::no_scratch>, Fault::wrong_value},
    {"rest_lost", ring<Bug::rest_lost>, Fault::wrong_value},
    {"one_step_short", ring<Bug::one_step_short>, Fault::wrong_value},
    {"same_part", ring<Bug::same_part>, Fault::wrong_value},
    {"bytes", ring<Bug::bytes>, Fault::wrong_value},
    {"memory_of_another", ring<Bug::memory_of_another>, Fault::finding,
     "peer-access"},  // the last: device 0 is of no use after it
};

}  // namespace sum_mutants
