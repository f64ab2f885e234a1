// Heat spreads in a plate whose rows are shared out among devices. In each step a device needs one row
// of each neighbour: its halo.
#pragma once

#include <algorithm>

#include "many_gpus.cuh"
#include "ranks.hpp"
#include "team.hpp"

/// A plate of height x width points, row-major, and what it becomes. Each device has its rows, and room
/// for one more row before and after them.
struct Plate {
  int height = 0, width = 0;
  Arrays start, a, b;  ///< start: the first state, which stays

  Plate(int devices, int rows, int cols) : height(rows), width(cols) {
    for (Arrays* all : {&start, &a, &b})
      for (int d = 0; d < devices; ++d) {
        const OnDevice here(d);
        all->emplace_back(std::size_t(share(height, d, devices).count() + 2) * width);
      }
  }
  int devices() const { return static_cast<int>(start.size()); }
  int rows(int d) const { return share(height, d, devices()).count(); }
  bool has_rows_above(int d) const { return share(height, d, devices()).begin > 0; }
  bool has_rows_below(int d) const { return share(height, d, devices()).end < height; }
  /// The device that has the next rows above those of d, or below: one without any is skipped.
  int above(int d) const {
    for (--d; d >= 0 && rows(d) == 0;) --d;
    return d;
  }
  int below(int d) const {
    for (++d; d < devices() && rows(d) == 0;) ++d;
    return d;
  }
  /// What step s reads, and what it writes.
  Arrays& from(int s) { return s == 0 ? start : s % 2 == 1 ? a : b; }
  Arrays& to(int s) { return s % 2 == 0 ? a : b; }

  // [fetch_halo]
  /// The row above device d's own ones and the one below them, from the devices that have them.
  void fetch_halo(int d, int s, cudaStream_t stream) {
    const auto row = [&](int device, int r) {  // -1: the one before its first
      return from(s)[device].data() + std::size_t(r + 1) * width;
    };
    if (has_rows_above(d))
      copy_between(row(d, -1), d, row(above(d), rows(above(d)) - 1), above(d), width, stream);
    if (has_rows_below(d))
      copy_between(row(d, rows(d)), d, row(below(d), 0), below(d), width, stream);
  }
  // [fetch_halo]

  /// Rows first, first + stride, ...: `count` of them.
  void compute(int d, int s, int first, int stride, int count, cudaStream_t stream) {
    const OnDevice here(d);
    CUDA_CHECK(launch_heat_step(first, stride, count, rows(d), width, has_rows_above(d),
                                has_rows_below(d), from(s)[d].data(), to(s)[d].data(), stream));
  }
  void compute_all(int d, int s, cudaStream_t stream) { compute(d, s, 0, 1, rows(d), stream); }
  /// The first row and the last one, which neighbours need; and all but these.
  void compute_outer(int d, int s, cudaStream_t stream) {
    compute(d, s, 0, std::max(rows(d) - 1, 1), std::min(rows(d), 2), stream);
  }
  void compute_inner(int d, int s, cudaStream_t stream) {
    compute(d, s, 1, 1, std::max(rows(d) - 2, 0), stream);
  }
};

/// Each device waits until its neighbours have done the step before.
inline void wait_for_neighbours(const Team& team, const Plate& plate, int d) {
  if (plate.has_rows_above(d)) team.wait(d, plate.above(d));
  if (plate.has_rows_below(d)) team.wait(d, plate.below(d));
}

// [fetch_then_compute]
/// Fetches the halo, then computes: in each step everybody waits for the copies.
inline void fetch_then_compute(const Team& team, Plate& plate, int steps) {
  for (int s = 0; s < steps; ++s) {
    for (int d = 0; d < team.size(); ++d) team.note(d);
    for (int d = 0; d < team.size(); ++d) {
      if (plate.rows(d) == 0) continue;
      wait_for_neighbours(team, plate, d);
      plate.fetch_halo(d, s, team.stream(d));
      plate.compute_all(d, s, team.stream(d));
    }
  }
}
// [fetch_then_compute]

// [outer_rows_first]
/// The outer rows have a stream of their own, and the halo comes there, too: meanwhile the inner rows,
/// nearly all of them, are computed.
inline void outer_rows_first(const Team& inner, const Team& outer, Plate& plate, int steps) {
  for (int s = 0; s < steps; ++s) {
    for (int d = 0; d < inner.size(); ++d) {
      inner.note(d);
      outer.note(d);
    }
    for (int d = 0; d < inner.size(); ++d) {
      if (plate.rows(d) == 0) continue;
      outer.wait_for(inner, d);
      inner.wait_for(outer, d);
      wait_for_neighbours(outer, plate, d);
      plate.fetch_halo(d, s, outer.stream(d));
      plate.compute_outer(d, s, outer.stream(d));
      plate.compute_inner(d, s, inner.stream(d));
    }
  }
  for (int d = 0; d < inner.size(); ++d) {
    outer.note(d);
    inner.wait_for(outer, d);
  }
}
// [outer_rows_first]

#ifndef TILEWISE_NO_NCCL
/// As fetch_then_compute(), with NCCL's sends and receives.
inline void send_then_compute(const Team& team, const Ranks& ranks, Plate& plate, int steps) {
  for (int s = 0; s < steps; ++s) {
    NCCL_CHECK(ncclGroupStart());
    for (int d = 0; d < team.size(); ++d) {
      const int rows = plate.rows(d);
      if (rows == 0) continue;
      const auto row = [&](int r) {
        return plate.from(s)[d].data() + std::size_t(r + 1) * plate.width;
      };
      const auto exchange = [&](int with, int mine, int halo) {
        NCCL_CHECK(ncclSend(row(mine), plate.width, ncclFloat, with, ranks[d], team.stream(d)));
        NCCL_CHECK(ncclRecv(row(halo), plate.width, ncclFloat, with, ranks[d], team.stream(d)));
      };
      if (plate.has_rows_above(d)) exchange(plate.above(d), 0, -1);
      if (plate.has_rows_below(d)) exchange(plate.below(d), rows - 1, rows);
    }
    NCCL_CHECK(ncclGroupEnd());
    for (int d = 0; d < team.size(); ++d) plate.compute_all(d, s, team.stream(d));
  }
}
#endif
