// Cooperative groups: blocks, tiles, coalesced groups, partitions, reductions and scans.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "catch.hpp"
#include "on_device.hpp"

namespace cg = cooperative_groups;

namespace {

// ---------------------------------------------------------------- block and grid
__global__ void coordinates(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::grid_group grid = cg::this_grid();
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const int blocks = blockIdx.x + gridDim.x * blockIdx.y;
  const int per_block = blockDim.x * blockDim.y * blockDim.z;
  int* row = out + 6 * (blocks * per_block + thread);
  row[0] = block.thread_rank() - thread;
  row[1] = block.size();
  row[2] = block.group_index().x + 10 * block.group_index().y;
  row[3] = block.thread_index().x + 10 * block.thread_index().y + 100 * block.thread_index().z;
  row[4] = static_cast<int>(grid.thread_rank()) - (blocks * per_block + thread);
  row[5] = static_cast<int>(grid.size());
}

// A block-wide sum in shared memory, with both ways to synchronise.
__device__ int block_sum(const cg::thread_group& group, int* slots, int value) {
  const int rank = static_cast<int>(group.thread_rank());
  for (int half = static_cast<int>(group.size()) / 2; half > 0; half /= 2) {
    slots[rank] = value;
    group.sync();
    if (rank < half) value += slots[rank + half];
    cg::sync(group);
  }
  return value;  // whole on rank 0
}

__global__ void block_sums(int* out) {
  __shared__ int slots[64];
  const cg::thread_block block = cg::this_thread_block();
  const int sum = block_sum(block, slots, static_cast<int>(threadIdx.x + blockIdx.x));
  if (block.thread_rank() == 0) out[blockIdx.x] = sum;
}

// The same function on dynamic tiles of 8.
__global__ void tile_sums(int* out) {
  __shared__ int slots[64];
  const cg::thread_group tile = cg::tiled_partition(cg::this_thread_block(), 8);
  const int first = threadIdx.x / 8 * 8;
  const int sum = block_sum(tile, slots + first, static_cast<int>(threadIdx.x));
  if (tile.thread_rank() == 0) out[threadIdx.x / 8] = sum;
}

}  // namespace

TEST_CASE("ranks, sizes and indices of blocks and of the grid") {
  const dim3 grid(2, 3), threads(3, 4, 2);
  const auto out = on_device<int>(grid, threads, 6 * 6 * 24, coordinates);
  for (int block = 0; block < 6; ++block) {
    for (int thread = 0; thread < 24; ++thread) {
      const int* row = &out[6 * (block * 24 + thread)];
      REQUIRE(row[0] == 0);
      REQUIRE(row[1] == 24);
      REQUIRE(row[2] == block % 2 + 10 * (block / 2));
      REQUIRE(row[3] == thread % 3 + 10 * (thread / 3 % 4) + 100 * (thread / 12));
      REQUIRE(row[4] == 0);
      REQUIRE(row[5] == 144);
    }
  }
}

TEST_CASE("one function sums over a block and over tiles") {
  const auto sums = on_device<int>(3, 64, 3, block_sums);
  for (int block = 0; block < 3; ++block) REQUIRE(sums[block] == 64 * 63 / 2 + 64 * block);
  const auto tiles = on_device<int>(1, 64, 8, tile_sums);
  for (int tile = 0; tile < 8; ++tile) REQUIRE(tiles[tile] == 64 * tile + 28);
}

// ---------------------------------------------------------------- tiles
namespace {

constexpr int kTileRow = 14;

template <unsigned Size>
__global__ void tiles(int* out) {
  const auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
  const int thread = threadIdx.x, rank = tile.thread_rank();
  int* row = out + kTileRow * thread;
  row[0] = rank;
  row[1] = tile.size();
  row[2] = tile.meta_group_rank();
  row[3] = tile.meta_group_size();
  row[4] = tile.shfl(thread, Size - 1);
  row[5] = tile.shfl_up(thread, 1);
  row[6] = tile.shfl_down(thread, 1);
  row[7] = tile.shfl_xor(thread, Size / 2);
  row[8] = static_cast<int>(tile.ballot(rank % 3 == 0));
  row[9] = (tile.any(thread == 5) != 0) + 2 * (tile.all(thread < 32) != 0);
  row[10] = static_cast<int>(tile.match_any(rank / 2));
  int same = -1;
  row[11] = static_cast<int>(tile.match_all(thread / Size, same)) + (same != 0 ? 0 : 1000);
  row[12] = cg::reduce(tile, thread, cg::plus<int>());
  row[13] = cg::reduce(tile, (thread * 37) % 64, cg::greater<int>());
  tile.sync();
}

template <unsigned Size>
void check_tiles() {
  const int size = static_cast<int>(Size);
  const auto out = on_device<int>(1, 96, kTileRow * 96, tiles<Size>);
  for (int thread = 0; thread < 96; ++thread) {
    const int rank = thread % size, first = thread - rank;
    const int* row = &out[kTileRow * thread];
    INFO("size " << size << " thread " << thread);
    REQUIRE(row[0] == rank);
    REQUIRE(row[1] == size);
    REQUIRE(row[2] == thread / size);
    REQUIRE(row[3] == 96 / size);
    REQUIRE(row[4] == first + size - 1);
    REQUIRE(row[5] == (rank == 0 ? thread : thread - 1));
    REQUIRE(row[6] == (rank == size - 1 ? thread : thread + 1));
    REQUIRE(row[7] == (thread ^ (size / 2)));
    unsigned ballot = 0, whole = 0;
    int sum = 0, largest = 0;
    for (int other = 0; other < size; ++other) {
      ballot |= unsigned(other % 3 == 0) << other;
      whole |= 1u << other;
      sum += first + other;
      largest = std::max(largest, (first + other) * 37 % 64);
    }
    REQUIRE(unsigned(row[8]) == ballot);
    REQUIRE(row[9] == (first <= 5 && 5 < first + size ? 1 : 0) + 2 * (first + size <= 32 ? 1 : 0));
    REQUIRE(unsigned(row[10]) == ((size == 1 ? 1u : 3u) << (rank / 2 * 2)));
    REQUIRE(unsigned(row[11]) == whole);
    REQUIRE(row[12] == sum);
    REQUIRE(row[13] == largest);
  }
}

}  // namespace

TEST_CASE("tiles of 1 to 32 threads") {
  check_tiles<1>();
  check_tiles<2>();
  check_tiles<4>();
  check_tiles<8>();
  check_tiles<16>();
  check_tiles<32>();
}

namespace {

// A tile passed to a function that knows only its size, as a reduction by shuffles.
template <unsigned Size>
__device__ float sum_of_tile(const cg::thread_block_tile<Size>& tile, float value) {
  for (unsigned offset = tile.size() / 2; offset > 0; offset /= 2) value += tile.shfl_down(value, offset);
  return value;
}

__global__ void nested(float* out) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  const auto quarter = cg::tiled_partition<8>(warp);
  const float value = static_cast<float>(threadIdx.x);
  const float warp_sum = sum_of_tile<32>(warp, value);
  const float quarter_sum = sum_of_tile<8>(quarter, value);
  if (warp.thread_rank() == 0) out[warp.meta_group_rank()] = warp_sum;
  if (quarter.thread_rank() == 0) {
    const int warp_number = threadIdx.x / 32;
    out[2 + 4 * warp_number + quarter.meta_group_rank()] = quarter_sum + 1000.0f * quarter.meta_group_size();
  }
}

// Tiles of one warp work alone: the other one has left.
__global__ void one_tile_leaves(int* out) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  if (tile.meta_group_rank() % 2 == 1) return;
  out[threadIdx.x] = cg::reduce(tile, 1 << tile.thread_rank(), cg::bit_or<int>());
}

struct Pair {
  double value;
  int index;
};

// The largest element and its place: a type of 16 bytes and a function of our own.
__global__ void largest(Pair* out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const Pair mine{static_cast<double>((threadIdx.x * 37) % 101), static_cast<int>(threadIdx.x)};
  const Pair best = cg::reduce(warp, mine, [](const Pair& a, const Pair& b) { return a.value > b.value ? a : b; });
  const Pair first = warp.shfl(mine, 3);
  if (warp.thread_rank() == 0) {
    out[2 * warp.meta_group_rank()] = best;
    out[2 * warp.meta_group_rank() + 1] = first;
  }
}

}  // namespace

TEST_CASE("tiles of tiles") {
  const auto out = on_device<float>(1, 64, 10, nested);
  for (int warp = 0; warp < 2; ++warp) {
    REQUIRE(out[warp] == 32.0f * 31 / 2 + 32 * 32 * warp);
    for (int quarter = 0; quarter < 4; ++quarter) {
      REQUIRE(out[2 + 4 * warp + quarter] == 4000.0f + 28 + 8 * (32 * warp + 8 * quarter));
    }
  }
}

TEST_CASE("a tile goes on after its neighbour has left") {
  const auto out = on_device<int>(1, 64, 64, one_tile_leaves);
  for (int thread = 0; thread < 64; ++thread) REQUIRE(out[thread] == (thread / 16 % 2 == 0 ? 0xffff : -1));
}

TEST_CASE("a reduction of structures with a function of one's own") {
  const auto out = on_device<Pair>(1, 96, 6, largest);
  for (int warp = 0; warp < 3; ++warp) {
    Pair best{-1, 0};
    for (int thread = 32 * warp; thread < 32 * warp + 32; ++thread) {
      if ((thread * 37) % 101 > best.value) best = {double((thread * 37) % 101), thread};
    }
    REQUIRE(out[2 * warp].value == best.value);
    REQUIRE(out[2 * warp].index == best.index);
    REQUIRE(out[2 * warp + 1].index == 32 * warp + 3);
    REQUIRE(out[2 * warp + 1].value == double((32 * warp + 3) * 37 % 101));
  }
}

// ---------------------------------------------------------------- scans
namespace {

template <unsigned Size>
__global__ void scans(int* out) {
  const auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
  int* row = out + 4 * threadIdx.x;
  row[0] = cg::inclusive_scan(tile, static_cast<int>(threadIdx.x));
  row[1] = exclusive_scan(tile, static_cast<int>(threadIdx.x));  // found by the type of its argument
  row[2] = cg::inclusive_scan(tile, static_cast<int>(threadIdx.x * 37 % 64), cg::greater<int>());
  row[3] = -1;
  if (threadIdx.x % 3 == 0) {
    const cg::coalesced_group group = cg::coalesced_threads();
    row[3] = cg::exclusive_scan(group, 2) == static_cast<int>(2 * group.thread_rank());
  }
}

template <unsigned Size>
void check_scans() {
  const auto out = on_device<int>(1, 64, 4 * 64, scans<Size>);
  for (int thread = 0; thread < 64; ++thread) {
    const int first = thread / static_cast<int>(Size) * static_cast<int>(Size);
    int sum = 0, largest = 0;
    for (int other = first; other <= thread; ++other) {
      sum += other;
      largest = std::max(largest, other * 37 % 64);
    }
    INFO("size " << Size << " thread " << thread);
    REQUIRE(out[4 * thread] == sum);
    REQUIRE(out[4 * thread + 1] == sum - thread);
    REQUIRE(out[4 * thread + 2] == largest);
    REQUIRE(out[4 * thread + 3] == (thread % 3 == 0 ? 1 : -1));
  }
}

}  // namespace

TEST_CASE("scans over tiles and coalesced groups") {
  check_scans<1>();
  check_scans<4>();
  check_scans<32>();
}

// ---------------------------------------------------------------- coalesced groups
namespace {

// The programming guide's warp-aggregated counter: one atomic for all threads that are here together.
__device__ int draw_ticket(int* counter) {
  const cg::coalesced_group here = cg::coalesced_threads();
  int base = 0;
  if (here.thread_rank() == 0) base = atomicAdd(counter, static_cast<int>(here.size()));
  return here.shfl(base, 0) + static_cast<int>(here.thread_rank());
}

__global__ void keep_multiples_of_three(int* out, int* counter, const int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] % 3 == 0) out[draw_ticket(counter)] = x[i];
}

__global__ void coalesced(int* out) {
  const int lane = threadIdx.x;
  if (lane % 5 == 0) {
    const cg::coalesced_group group = cg::coalesced_threads();
    int* row = out + 6 * lane;
    row[0] = group.any(lane == 10);
    row[1] = cg::reduce(group, lane, cg::plus<int>());
    row[2] = cg::reduce(group, lane, cg::less<int>());
    // Whatever the hardware's grouping is: passing each rank's value round must give the neighbour in rank.
    const int next = group.shfl_down(lane, 1);
    row[3] = group.thread_rank() + 1 < group.size() ? next > lane : next == lane;
    row[4] = group.ballot(1) == (group.size() == 32 ? 0xffffffffu : (1u << group.size()) - 1u);
    row[5] = static_cast<int>(group.size());
    group.sync();
  }
}

__global__ void partitions(int* out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int lane = warp.thread_rank();
  const cg::coalesced_group same = cg::labeled_partition(warp, lane % 3);
  const cg::coalesced_group side = cg::binary_partition(warp, lane < 10);
  int* row = out + 4 * lane;
  row[0] = static_cast<int>(same.size());
  row[1] = cg::reduce(same, lane, cg::plus<int>());
  row[2] = static_cast<int>(side.size());
  row[3] = static_cast<int>(side.thread_rank());
}

}  // namespace

TEST_CASE("a filter with a warp-aggregated counter keeps each element once") {
  constexpr int n = 1000;
  std::vector<int> x(n), expected;
  for (int i = 0; i < n; ++i) {
    x[i] = (i * 7919) % 1009;
    if (x[i] % 3 == 0) expected.push_back(x[i]);
  }
  tilewise::DeviceBuffer<int> device_x(x), counter(1);
  counter.zero();
  auto kept =
      on_device<int>(8, 128, n, keep_multiples_of_three, counter.data(), static_cast<const int*>(device_x.data()), n);
  REQUIRE(counter.to_host()[0] == static_cast<int>(expected.size()));
  kept.resize(expected.size());
  std::sort(kept.begin(), kept.end());
  std::sort(expected.begin(), expected.end());
  REQUIRE(kept == expected);
}

TEST_CASE("a coalesced group of every fifth lane") {
  const auto out = on_device<int>(1, 32, 192, coalesced);
  for (int lane = 0; lane < 32; lane += 5) {
    const int* row = &out[6 * lane];
    REQUIRE(row[3] == 1);
    REQUIRE(row[4] == 1);
    REQUIRE(row[5] >= 1);
    REQUIRE(row[5] <= 7);
    if (row[5] == 7) {  // all seven are together
      REQUIRE(row[0] != 0);
      REQUIRE(row[1] == 0 + 5 + 10 + 15 + 20 + 25 + 30);
      REQUIRE(row[2] == 0);
    }
  }
}

TEST_CASE("partitions by a label and by a predicate") {
  const auto out = on_device<int>(1, 32, 128, partitions);
  for (int lane = 0; lane < 32; ++lane) {
    int size = 0, sum = 0;
    for (int other = lane % 3; other < 32; other += 3) ++size, sum += other;
    REQUIRE(out[4 * lane] == size);
    REQUIRE(out[4 * lane + 1] == sum);
    REQUIRE(out[4 * lane + 2] == (lane < 10 ? 10 : 22));
    REQUIRE(out[4 * lane + 3] == (lane < 10 ? lane : lane - 10));
  }
}

namespace {

constexpr int kOfTile = 9;

// Each thread: its rank, its tile, and what the tile's operations give.
template <int size>
__global__ void tiles_of_warps(int* out) {
  __shared__ cg::block_tile_memory<512> memory;
  const auto block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<size>(block);
  const int t = threadIdx.x;
  int* row = out + kOfTile * (blockIdx.x * blockDim.x + t);
  row[0] = static_cast<int>(tile.thread_rank());
  row[1] = static_cast<int>(tile.meta_group_rank() * 100 + tile.meta_group_size());
  row[2] = cg::reduce(tile, t, cg::plus<int>());
  row[3] = tile.shfl(t, size - 1);
  row[4] = tile.any(t == size + 5) * 10 + tile.all(t >= size);
  row[5] = cg::inclusive_scan(tile, 1 + t % 3, cg::plus<int>());
  row[6] = cg::exclusive_scan(tile, 1 + t % 3, cg::plus<int>());
  // A warp of it goes its own way meanwhile.
  const auto quarter = cg::tiled_partition<size / 4>(tile);
  row[7] = static_cast<int>(quarter.meta_group_rank() * 100 + quarter.meta_group_size());
  row[8] = cg::reduce(quarter, t, cg::greater<int>());
}

// Only the first tile of the block meets: its threads exchange what they have written.
__global__ void first_tile_meets(int* out) {
  __shared__ cg::block_tile_memory<256> memory;
  __shared__ int s[128];
  const auto tile = cg::tiled_partition<128>(cg::this_thread_block(memory));
  if (tile.meta_group_rank() != 0) return;
  for (int turn = 0; turn < 3; ++turn) {
    s[threadIdx.x] = threadIdx.x * (turn + 1);
    tile.sync();
    out[128 * blockIdx.x + threadIdx.x] = s[127 - threadIdx.x];
    tile.sync();
  }
}

template <int size>
void check_tiles_of_warps() {
  const auto out = on_device<int>(2, 512, 2 * 512 * kOfTile, tiles_of_warps<size>);
  for (int i = 0; i < 2 * 512; ++i) {
    const int t = i % 512, first = t / size * size, *row = &out[kOfTile * i], part = size / 4;
    int sum = 0, scan = 0;
    for (int other = first; other < first + size; ++other) sum += other;
    for (int other = first; other < t; ++other) scan += 1 + other % 3;
    INFO("tiles of " << size << ", thread " << i);
    REQUIRE(row[0] == t - first);
    REQUIRE(row[1] == t / size * 100 + 512 / size);
    REQUIRE(row[2] == sum);
    REQUIRE(row[3] == first + size - 1);
    REQUIRE(row[4] == (first == size ? 10 : 0) + (first >= size));
    REQUIRE(row[5] == scan + 1 + t % 3);
    REQUIRE(row[6] == scan);
    REQUIRE(row[7] == (t - first) / part * 100 + 4);
    REQUIRE(row[8] == t / part * part + part - 1);
  }
}

}  // namespace

TEST_CASE("tiles of several warps, with block_tile_memory") {
  check_tiles_of_warps<64>();
  check_tiles_of_warps<128>();
  check_tiles_of_warps<256>();
  check_tiles_of_warps<512>();
  const auto out = on_device<int>(3, 256, 3 * 128, first_tile_meets);
  for (int i = 0; i < 3 * 128; ++i) REQUIRE(out[i] == 3 * (127 - i % 128));
}
