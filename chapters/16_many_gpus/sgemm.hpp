// C = A B on several devices: each has some rows of A and all of B, computes its rows of C, and in the
// end each has all of C.
#pragma once

#include <algorithm>
#include <vector>

#include "ranks.hpp"
#include "team.hpp"
#include "tilewise/cublas.hpp"

/// C (m x n) = A (m x k) B (k x n), row-major. A: a device's own rows; B and C: everything.
struct Product {
  int m = 0, n = 0, k = 0;
  Arrays A, B, C;
  std::vector<tilewise::CublasHandle> cublas;

  Product(int devices, int rows, int cols, int inner)
      : m(rows),
        n(cols),
        k(inner),
        B(arrays(devices, std::size_t(inner) * cols)),
        C(arrays(devices, std::size_t(rows) * cols)) {
    for (int d = 0; d < devices; ++d) {
      const OnDevice here(d);
      A.emplace_back(std::size_t(share(m, d, devices).count()) * k);
      cublas.emplace_back();
    }
  }
  int devices() const { return static_cast<int>(C.size()); }

  /// Row `row` of C, as device d has it.
  float* row(int d, int r) { return C[d].data() + std::size_t(r) * n; }

  // [rows]
  /// Rows [begin, end) of C on device d, which has them. cuBLAS counts in columns: to it, our C is C^T,
  /// and C^T = B^T A^T.
  void multiply(int d, Share rows, cudaStream_t stream) {
    if (rows.count() == 0 || n == 0) return;
    const OnDevice here(d);
    const int first = share(m, d, devices()).begin;
    const float one = 1, zero = 0;
    const float* const a = A[d].data() + std::size_t(rows.begin - first) * k;
    cublas[d].set_stream(stream);
    CUBLAS_CHECK(cublasSgemm(cublas[d], CUBLAS_OP_N, CUBLAS_OP_N, n, rows.count(), k, &one,
                             B[d].data(), n, a, k, &zero, row(d, rows.begin), n));
  }
  // [rows]

  /// Chunk c of the rows of device d.
  Share chunk(int d, int c, int chunks) const {
    const Share all = share(m, d, devices()), part = share(all.count(), c, chunks);
    return {all.begin + part.begin, all.begin + part.end};
  }
  /// Gives rows of device d to all others.
  void give(int d, Share rows, cudaStream_t stream) {
    for (int i = 1; i < devices(); ++i) {
      const int to = (d + i) % devices();  // not everybody to the same device first
      copy_between(row(to, rows.begin), to, row(d, rows.begin), d, std::size_t(rows.count()) * n,
                   stream);
    }
  }
};

/// Each device computes its rows; nobody gets those of others.
inline void rows_apart(const Team& team, Product& p) {
  for (int d = 0; d < team.size(); ++d) p.multiply(d, share(p.m, d, team.size()), team.stream(d));
}

/// Then each gives its rows to all others.
inline void then_gather(const Team& team, Product& p) {
  rows_apart(team, p);
  for (int d = 0; d < team.size(); ++d) p.give(d, share(p.m, d, team.size()), team.stream(d));
}

// [compute_and_give]
/// Rows of device d are computed, and go to the others while it computes the next ones. `copies`:
/// streams for what is on its way.
inline void compute_and_give(const Team& team, const Team& copies, Product& p, int d, Share rows) {
  p.multiply(d, rows, team.stream(d));
  team.note(d);
  copies.wait_for(team, d);
  p.give(d, rows, copies.stream(d));
}
inline void wait_for_copies(const Team& team, const Team& copies) {
  for (int d = 0; d < team.size(); ++d) {
    copies.note(d);
    team.wait_for(copies, d);
  }
}
// [compute_and_give]

// [gather_in_chunks]
inline void gather_in_chunks(const Team& team, const Team& copies, Product& p, int chunks) {
  for (int d = 0; d < team.size(); ++d)
    for (int c = 0; c < chunks; ++c) compute_and_give(team, copies, p, d, p.chunk(d, c, chunks));
  wait_for_copies(team, copies);
}
// [gather_in_chunks]

// [gather_behind_tail]
/// Two chunks: nearly all rows, and the last `tail` ones, which take about as long to compute as the
/// others take to arrive.
inline void gather_behind_tail(const Team& team, const Team& copies, Product& p, int tail) {
  for (int d = 0; d < team.size(); ++d) {
    const Share all = share(p.m, d, team.size());
    const int middle = std::max(all.end - tail, all.begin);
    compute_and_give(team, copies, p, d, {all.begin, middle});
    compute_and_give(team, copies, p, d, {middle, all.end});
  }
  wait_for_copies(team, copies);
}
// [gather_behind_tail]

#ifndef TILEWISE_NO_NCCL
/// The same, given away by NCCL: in each chunk, every rank broadcasts its rows.
inline void gather_in_chunks(const Team& team, const Team& copies, const Ranks& ranks, Product& p,
                             int chunks) {
  for (int c = 0; c < chunks; ++c) {
    for (int d = 0; d < team.size(); ++d) {
      p.multiply(d, p.chunk(d, c, chunks), team.stream(d));
      team.note(d);
      copies.wait_for(team, d);
    }
    NCCL_CHECK(ncclGroupStart());
    for (int root = 0; root < team.size(); ++root) {
      const Share rows = p.chunk(root, c, chunks);
      for (int r = 0; r < team.size(); ++r)
        NCCL_CHECK(ncclBroadcast(p.row(r, rows.begin), p.row(r, rows.begin),
                                 std::size_t(rows.count()) * p.n, ncclFloat, root, ranks[r],
                                 copies.stream(r)));
    }
    NCCL_CHECK(ncclGroupEnd());
  }
  wait_for_copies(team, copies);
}
#endif
