// Every device has an array; in the end each of them has the sum of all. By way of one device, on a
// ring, and with NCCL.
#pragma once

#include "many_gpus.cuh"
#include "ranks.hpp"
#include "team.hpp"

/// n floats on each device, and as many to work in.
struct Sums {
  int n = 0;
  Arrays x, work;
  Sums(int devices, int size) : n(size), x(arrays(devices, size)), work(arrays(devices, size)) {}
};

// [by_way_of_one]
/// Device 0 fetches one array after the other and adds it, and then everybody fetches the sum.
inline void by_way_of_one(const Team& team, Sums& s) {
  for (int d = 1; d < team.size(); ++d) team.note(d);
  const OnDevice here(0);
  for (int d = 1; d < team.size(); ++d) {
    team.wait(0, d);
    copy_between(s.work[0].data(), 0, s.x[d].data(), d, s.n, team.stream(0));
    CUDA_CHECK(launch_add(s.n, s.work[0].data(), s.x[0].data(), team.stream(0)));
  }
  team.note(0);
  for (int d = 1; d < team.size(); ++d) {
    team.wait(d, 0);
    copy_between(s.x[d].data(), d, s.x[0].data(), 0, s.n, team.stream(d));
  }
}
// [by_way_of_one]

// [ring]
/// Each array has p parts. In each step, every device fetches one part from the device before it. In
/// p - 1 steps it adds what it gets to its own; then one part is complete on each device, and in p - 1
/// steps more the complete parts go round.
inline void ring(const Team& team, Sums& s) {
  const int p = team.size();
  for (int step = 0; step < 2 * (p - 1); ++step) {
    const bool adds = step < p - 1;
    for (int d = 0; d < p; ++d) team.note(d);
    for (int d = 0; d < p; ++d) {
      const OnDevice here(d);
      const int before = (d + p - 1) % p;
      const Share part = share(s.n, ((adds ? d - 1 : d + p - 1) - step + 2 * p) % p, p);
      float* const mine = s.x[d].data() + part.begin;
      float* const to = adds ? s.work[d].data() : mine;
      team.wait(d, before);
      copy_between(to, d, s.x[before].data() + part.begin, before, part.count(), team.stream(d));
      if (adds) CUDA_CHECK(launch_add(part.count(), to, mine, team.stream(d)));
    }
  }
}
// [ring]

#ifndef TILEWISE_NO_NCCL
// [nccl]
inline void all_reduce(const Team& team, const Ranks& ranks, Sums& s) {
  ranks.together([&](int r) {
    float* const x = s.x[r].data();
    return ncclAllReduce(x, x, s.n, ncclFloat, ncclSum, ranks[r], team.stream(r));
  });
}
// [nccl]
#endif
