// What a block takes from an SM: threads, shared memory, registers; and how many blocks an SM then
// holds at a time.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <vector>

#include "tiled_matmul.cuh"
#include "tilewise/cuda_check.hpp"
#include "tilewise/device.hpp"
#include "tilewise/table.hpp"
#ifdef TILEWISE_SIMULATOR
#include <tilewise_sim/report.hpp>
#endif

namespace tile_costs {

/// One tile of C: bm x bn elements, from tiles that are bk deep.
struct TileCost {
  std::string name;
  int bm, bn, bk;
  int threads;
  std::size_t shared_bytes;
  std::string impossible;  ///< "" or why no such block can be launched
  int registers = 0;       ///< per thread; 0: unknown, see docs/architecture.md
  int blocks_per_sm = 0;
  double occupancy = 0;  ///< threads resident on an SM / the most that it holds

  /// FLOP per byte fetched: 2 bm bn bk FLOP for (bm + bn) bk words. bm / 4 for a square tile.
  double intensity() const { return 2.0 * bm * bn / (4.0 * (bm + bn)); }
};

using Kernel = void (*)(const float*, const float*, float*, int, int, int);

/// Asks CUDA; nullptr for a kernel that cannot be.
inline TileCost tile_cost(const std::string& name, int bm, int bn, int bk, int threads,
                          Kernel kernel, int buffers = 1) {
  TileCost cost{name, bm, bn, bk, threads, sizeof(float) * buffers * (bm + bn) * bk, {}};
  const tilewise::Device& device = tilewise::device();
  cost.impossible = device.why_not("a block", threads, 1, 1, cost.shared_bytes);
  if (!cost.impossible.empty() || !kernel) return cost;
  cudaFuncAttributes attributes{};
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  cost.registers = attributes.numRegs;
#ifdef TILEWISE_SIMULATOR
  if (!tilewise::sim::knows_registers(reinterpret_cast<const void*>(kernel))) cost.registers = 0;
#endif
  CUDA_CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&cost.blocks_per_sm, kernel, threads, 0));
  cost.occupancy = static_cast<double>(cost.blocks_per_sm) * threads / device.max_threads_per_sm;
  return cost;
}

inline std::vector<TileCost> all() {
  return {
      tile_cost("tiled_matmul<8>", 8, 8, 8, 64, tiled_matmul<8>),
      tile_cost("tiled_matmul<16>", 16, 16, 16, 256, tiled_matmul<16>),
      tile_cost("tiled_matmul<32>", 32, 32, 32, 1024, tiled_matmul<32>),
      tile_cost("tiled_matmul<64>", 64, 64, 64, 4096, nullptr),
      tile_cost("tiled_matmul_prefetched<32>", 32, 32, 32, 1024, tiled_matmul_prefetched<32>, 2),
      tile_cost("tiled_matmul_rectangular<64,64,8>", 64, 64, 8, 256,
                tiled_matmul_rectangular<64, 64, 8>),
      tile_cost("tiled_matmul_rectangular<32,128,8>", 32, 128, 8, 256,
                tiled_matmul_rectangular<32, 128, 8>),
  };
}

inline void print() {
  tilewise::Table table({{"what a block takes", "", 34, true},
                         {"threads", "", 7},
                         {"shared", "/block", 7},
                         {"uses of", "word of A", 9},
                         {"uses of", "word of B", 9},
                         {"intensity", "FLOP/byte", 9},
                         {"registers", "/thread", 9},
                         {"blocks", "/SM", 6},
                         {"occupancy", "%", 9}});
  for (const TileCost& c : all()) {
    std::vector<std::string> cells = {c.name,
                                      tilewise::with_commas(c.threads),
                                      tilewise::bytes_text(static_cast<double>(c.shared_bytes)),
                                      std::to_string(c.bn),
                                      std::to_string(c.bm),
                                      tilewise::fixed(c.intensity(), 1)};
    const bool known = c.impossible.empty() && c.registers > 0;
    cells.push_back(known ? std::to_string(c.registers) : "-");
    cells.push_back(known ? std::to_string(c.blocks_per_sm) : "-");
    cells.push_back(known ? tilewise::fixed(100 * c.occupancy, 0) : "-");
    table.row(cells, c.impossible.empty() ? tilewise::Status::ok : tilewise::Status::skip,
              c.impossible.empty() && !known ? "registers are not recorded for the simulator"
                                             : c.impossible);
  }
}

}  // namespace tile_costs
