// Writes what the simulator counts for many sets of an explorer's parameters, as JSON on stdout: check-rules.js compares the
// rules of docs/explorers/rules.js with it. `explorer_vectors occupancy`: only what depends on the card, which TILEWISE_DEVICE
// names. `explorer_vectors example`: the launches whose report the site shows as an example.
#include "vectors.hpp"

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "csr_spmv.cuh"
#include "naive_matmul.cuh"
#include "tiled_matmul.cuh"
#include "tilewise/device_buffer.hpp"
#include "tilewise_sim/report.hpp"
#include "transpose.cuh"

namespace {

using tilewise::sim::Counters;

constexpr int kSets = 400;  // of each explorer; 300 are asked for

// Where the lanes of a warp are: `length` of them side by side on a row, or one below the other on a column; 0: all on one element.
struct Place {
  const char* name;
  int length;
  bool down;
};
constexpr Place kPlaces[] = {{"r32", 32, false}, {"r16", 16, false}, {"r8", 8, false}, {"c32", 32, true},
                             {"c16", 16, true},  {"c8", 8, true},    {"one", 0, false}};

__device__ int2 row_and_column(Place place) {
  if (place.length == 0) return make_int2(0, 0);
  const int lane = threadIdx.x, along = lane % place.length, over = lane / place.length;
  return place.down ? make_int2(along, over) : make_int2(over, along);
}

struct Walk {
  Place place;
  int stride, row, offset, active;
};

template <class T>
__global__ void load_global(const T* in, T* out, Walk walk) {
  const int lane = threadIdx.x;
  if (lane >= walk.active) return;
  const int2 at = row_and_column(walk.place);
  out[lane] = in[walk.offset + at.x * walk.row + at.y * walk.stride];
}

struct Tile {
  Place place;
  int words, pad, swizzle, column, active;
};

template <class T>
__device__ T* element_of(Tile tile) {
  extern __shared__ uint4 shared[];
  const int elements = tile.words * 4 / static_cast<int>(sizeof(T));
  const int period = max(1, elements & -elements), length = (tile.words + tile.pad) * 4 / static_cast<int>(sizeof(T));
  const int2 at = row_and_column(tile.place);
  const int column = at.y + tile.column;
  return reinterpret_cast<T*>(shared) + at.x * length + (tile.swizzle ? column ^ (at.x % period) : column);
}

template <class T>
__global__ void load_shared(Tile tile, T* out) {
  if (static_cast<int>(threadIdx.x) < tile.active) out[threadIdx.x] = *element_of<T>(tile);
}

template <class T>
__global__ void store_shared(Tile tile, const T* in) {
  if (static_cast<int>(threadIdx.x) < tile.active) *element_of<T>(tile) = in[threadIdx.x];
}

Counters counted() {
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
  return tilewise::sim::last_counters();
}

using ull = unsigned long long;

template <class T>
void request(Random& random, const unsigned char* memory, Rows& rows) {
  Walk walk{kPlaces[random.below(7)], 0, 0, random.below(4) == 0 ? random.below(65) : 0, 32};
  walk.stride = random.one_of({1, 1, 2, 3, 4, 5, 8, 9, 16, 32, 33, 1 + random.below(64)});
  walk.row = random.one_of({1, 17, 32, 33, 64, 1024, 1025, 2064, 4096, 4097, 8192, 1 + random.below(8192)});
  if (random.below(3) == 0) walk.active = 1 + random.below(32);
  tilewise::DeviceBuffer<T> out(32);
  load_global<T><<<1, 32>>>(reinterpret_cast<const T*>(memory), out.data(), walk);
  const Counters c = counted();
  rows.add(
      "{\"where\":\"%s\",\"stride\":%d,\"row\":%d,\"offset\":%d,\"bytes\":%zu,\"active\":%d,\"sectors\":%llu,"
      "\"tagPasses\":%llu,"
      "\"dataPasses\":%llu}",
      walk.place.name, walk.stride, walk.row, walk.offset, sizeof(T), walk.active, ull{c.global_load_sectors},
      ull{c.global_load_tag_passes}, ull{c.global_load_data_passes});
}

void requests(const unsigned char* memory) {
  Random random;
  Rows rows("request");
  for (int i = 0; i < kSets; i += 5) {
    request<unsigned char>(random, memory, rows);
    request<unsigned short>(random, memory, rows);
    request<float>(random, memory, rows);
    request<float2>(random, memory, rows);
    request<float4>(random, memory, rows);
  }
}

template <class T>
void bank(Random& random, Rows& rows) {
  Tile tile{kPlaces[random.below(7)], 0, 0, 0, 0, 32};
  do {
    tile.words = random.one_of({8, 16, 32, 32, 64, 128, 1 + random.below(128)});
    tile.pad = random.one_of({0, 0, 1, 2, 4, 8});
  } while ((tile.words + tile.pad) * 4 % sizeof(T) != 0);
  tile.swizzle = random.below(3) == 0;
  tile.column = random.below(2) == 0 ? 0 : random.below(32);
  if (random.below(3) == 0) tile.active = 1 + random.below(32);
  const std::size_t bytes =
      32 * (128 + 8) * 4 + 256 * sizeof(T);  // beyond the last row, too: columns may reach past its end
  tilewise::DeviceBuffer<T> words(32);
  words.poison();
  load_shared<T><<<1, 32, bytes>>>(tile, words.data());
  const Counters load = counted();
  store_shared<T><<<1, 32, bytes>>>(tile, words.data());
  const Counters store = counted();
  rows.add(
      "{\"where\":\"%s\",\"words\":%d,\"pad\":%d,\"swizzle\":%d,\"column\":%d,\"bytes\":%zu,\"active\":%d,\"load\":%"
      "llu,"
      "\"loadIdeal\":%llu,\"store\":%llu,\"storeIdeal\":%llu}",
      tile.place.name, tile.words, tile.pad, tile.swizzle, tile.column, sizeof(T), tile.active,
      ull{load.shared_load_wavefronts}, ull{load.shared_load_ideal}, ull{store.shared_store_wavefronts},
      ull{store.shared_store_ideal});
}

void banks() {
  Random random;
  Rows rows("banks");
  for (int i = 0; i < kSets; i += 4) {
    bank<float>(random, rows);
    bank<float>(random, rows);
    bank<float2>(random, rows);
    bank<float4>(random, rows);
  }
}

// Any lanes, any elements: what a report may show.
struct Lanes {
  int element[32];  // -1: takes no part
};

template <class T>
__global__ void load_global_lanes(const T* in, T* out, Lanes lanes) {
  if (const int at = lanes.element[threadIdx.x]; at >= 0) out[threadIdx.x] = in[at];
}

template <class T>
__global__ void load_shared_lanes(Lanes lanes, T* out) {
  extern __shared__ uint4 shared[];
  if (const int at = lanes.element[threadIdx.x]; at >= 0) out[threadIdx.x] = reinterpret_cast<T*>(shared)[at];
}

template <class T>
__global__ void store_shared_lanes(Lanes lanes, const T* in) {
  extern __shared__ uint4 shared[];
  if (const int at = lanes.element[threadIdx.x]; at >= 0) reinterpret_cast<T*>(shared)[at] = in[threadIdx.x];
}

__global__ void add_lanes(float* sums, float* out, Lanes lanes) {
  if (const int at = lanes.element[threadIdx.x]; at >= 0) out[threadIdx.x] = atomicAdd(&sums[at], 1.0f);
}

constexpr int kElements = 1024;

// Often neighbours want the same, at a distance of 1 or 2, and some lanes nothing: then parts of a wide load may go together.
Lanes pattern(Random& random) {
  const int kind = random.below(6), apart = random.one_of({1, 1, 2, 3, 8, 32}), idle = random.one_of({0, 0, 2, 3, 8});
  const int only = random.below(kElements);
  Lanes lanes{};
  for (int i = 0; i < 32; ++i) {
    const int element = kind == 0   ? i / 2 * apart
                        : kind == 1 ? (i / 4 * 2 + i % 2) * apart
                        : kind == 2 ? i / 4 * apart
                        : kind == 3 ? only
                        : kind == 4 ? random.below(8)
                                    : random.below(kElements);
    lanes.element[i] = idle != 0 && random.below(idle) == 0 ? -1 : element;
  }
  if (random.below(3) == 0) lanes.element[31] = -1;
  lanes.element[random.below(31)] = only;  // at least one takes part
  return lanes;
}

template <class T>
void lanes(Random& random, const unsigned char* memory, Rows& rows) {
  const Lanes lanes = pattern(random);
  tilewise::DeviceBuffer<T> words(32);
  words.poison();
  load_global_lanes<T><<<1, 32>>>(reinterpret_cast<const T*>(memory), words.data(), lanes);
  const Counters global = counted();
  load_shared_lanes<T><<<1, 32, kElements * sizeof(T)>>>(lanes, words.data());
  const Counters load = counted();
  store_shared_lanes<T><<<1, 32, kElements * sizeof(T)>>>(lanes, words.data());
  const Counters store = counted();
  rows.add(
      "{\"bytes\":%zu,\"elements\":%s,\"sectors\":%llu,\"tagPasses\":%llu,\"dataPasses\":%llu,\"load\":%llu,"
      "\"loadIdeal\":%llu,"
      "\"store\":%llu,\"storeIdeal\":%llu}",
      sizeof(T), list(std::vector<int>(lanes.element, lanes.element + 32)).c_str(), ull{global.global_load_sectors},
      ull{global.global_load_tag_passes}, ull{global.global_load_data_passes}, ull{load.shared_load_wavefronts},
      ull{load.shared_load_ideal}, ull{store.shared_store_wavefronts}, ull{store.shared_store_ideal});
}

void atomics() {
  Random random;
  Rows rows("atomics");
  tilewise::DeviceBuffer<float> sums(kElements), out(32);
  CUDA_CHECK(cudaMemset(sums.data(), 0, kElements * sizeof(float)));
  for (int i = 0; i < kSets; ++i) {
    const Lanes lanes = pattern(random);
    add_lanes<<<1, 32>>>(sums.data(), out.data(), lanes);
    rows.add("{\"elements\":%s,\"sectors\":%llu}", list(std::vector<int>(lanes.element, lanes.element + 32)).c_str(),
             ull{counted().atomic_sectors});
  }
}

void patterns(const unsigned char* memory) {
  Random random;
  Rows rows("lanes");
  for (int i = 0; i < kSets; ++i) {
    lanes<float>(random, memory, rows);
    lanes<float2>(random, memory, rows);
    lanes<float4>(random, memory, rows);
  }
}

template <int TILE>
void block_of_tiles(Rows& rows, int n) {
  tilewise::DeviceBuffer<float> a(n * n), b(n * n), c(n * n);
  CUDA_CHECK(cudaMemset(a.data(), 0, n * n * sizeof(float)));
  CUDA_CHECK(cudaMemset(b.data(), 0, n * n * sizeof(float)));
  const dim3 grid(n / TILE, n / TILE), block(TILE, TILE);
  tiled_matmul<TILE><<<grid, block>>>(a.data(), b.data(), c.data(), n, n, n);
  const ull fetched = counted().global_load_bytes / 4 / (grid.x * grid.y);
  naive_matmul<<<grid, block>>>(a.data(), b.data(), c.data(), n, n, n);
  rows.add("{\"tile\":%d,\"n\":%d,\"fetched\":%llu,\"direct\":%llu}", TILE, n, fetched,
           ull{counted().global_load_bytes / 4 / (grid.x * grid.y)});
}

void tiles() {
  Rows rows("tiles");
  for (const int n : {8, 16, 32}) {
    block_of_tiles<2>(rows, n);
    block_of_tiles<4>(rows, n);
    block_of_tiles<8>(rows, n);
  }
}

// The sums of groups of `width` lanes; what lane i has after step s goes to out[32 * s + i].
__global__ void shuffle_steps(int width, int* out) {
  int sum = threadIdx.x % width + 1, step = 0;
  out[threadIdx.x] = sum;
  for (int apart = width / 2; apart > 0; apart /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, apart, width);
    out[32 * ++step + threadIdx.x] = sum;
  }
}

void shuffles() {
  Rows rows("shuffles");
  for (const int width : {4, 8, 16, 32}) {
    tilewise::DeviceBuffer<int> out(32 * 6);
    shuffle_steps<<<1, 32>>>(width, out.data());
    counted();
    const std::vector<int> all = out.to_host();
    for (int step = 0; 1 << step <= width; ++step)
      rows.add("{\"lanes\":%d,\"step\":%d,\"values\":\"%s\"}", width, step,
               list(std::vector<int>(all.begin() + 32 * step, all.begin() + 32 * step + width)).c_str());
  }
}

void sparse() {
  Random random;
  Rows rows("csr");
  for (int i = 0; i < kSets; ++i) {
    const int count = 1 + random.below(80), cols = 1 + random.below(2000), longest = random.one_of({0, 3, 8, 30});
    std::vector<int> row_ptr{0}, columns;
    for (int row = 0; row < count; ++row) {
      const int length = random.below(40) == 0 ? 90 : random.below(longest + 1);
      for (int j = 0; j < length; ++j) columns.push_back(random.below(cols));
      row_ptr.push_back(static_cast<int>(columns.size()));
    }
    if (columns.empty()) continue;  // a buffer of no bytes
    const int nnz = static_cast<int>(columns.size()), lanes = random.one_of({0, 0, 1, 2, 4, 8, 16, 32});
    tilewise::DeviceBuffer<int> d_row_ptr(row_ptr), d_columns(columns);
    tilewise::DeviceBuffer<float> values(nnz), x(cols), y(count);
    CUDA_CHECK(cudaMemset(values.data(), 0, nnz * sizeof(float)));
    CUDA_CHECK(cudaMemset(x.data(), 0, cols * sizeof(float)));
    CUDA_CHECK(lanes == 0 ? launch_spmv_scalar(count, cols, nnz, d_row_ptr.data(), d_columns.data(), values.data(),
                                               x.data(), y.data())
                          : launch_spmv_vector(lanes, count, cols, nnz, d_row_ptr.data(), d_columns.data(),
                                               values.data(), x.data(), y.data()));
    const Counters c = counted();
    rows.add("{\"rowPtr\":%s,\"columns\":%s,\"lanes\":%d,\"requests\":%llu,\"sectors\":%llu,\"words\":%llu}",
             list(row_ptr).c_str(), list(columns).c_str(), lanes, ull{c.global_load_requests},
             ull{c.global_load_sectors}, ull{c.global_load_bytes / 4});
  }
}

// What the runtime says of kernels whose registers are recorded.
void runtime_occupancy() {
  const void* const kernels[] = {
      reinterpret_cast<const void*>(spmv_scalar<float>),
      reinterpret_cast<const void*>(spmv_vector<32, float>),
      reinterpret_cast<const void*>(tiled_matmul<8>),
      reinterpret_cast<const void*>(tiled_matmul<16>),
      reinterpret_cast<const void*>(tiled_matmul<32>),
      reinterpret_cast<const void*>(tiled_matmul_rectangular<64, 64, 16>),
  };
  int most_shared = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  Random random;
  Rows rows("occupancyOfRuntime");
  for (int i = 0; i < kSets; ++i) {
    const void* kernel = kernels[i % 6];
    cudaFuncAttributes attributes{};
    CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    const int fixed = static_cast<int>(attributes.sharedSizeBytes), room = most_shared - fixed;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, room));
    const int dynamic = random.below(3) == 0 ? 0 : random.below(room + 1) / (1 + random.below(16));
    const int threads = random.below(2) == 0 ? 32 * (1 + random.below(32)) : 1 + random.below(1024);
    int blocks = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, dynamic));
    rows.add("{\"device\":\"%s\",\"threads\":%d,\"registers\":%d,\"shared\":%d,\"blocks\":%d}",
             tilewise::sim::device_name(), threads, attributes.numRegs, fixed + dynamic, blocks);
  }
}

// One transpose in three ways: a column of global memory, a column of shared memory, and neither.
void example() {
  constexpr int kRows = 64, kCols = 96;
  tilewise::DeviceBuffer<float> in(kRows * kCols), out(kRows * kCols);
  CUDA_CHECK(cudaMemset(in.data(), 0, kRows * kCols * sizeof(float)));
  const dim3 grid(kCols / 32, kRows / 32);
  transpose_strided_write<<<dim3(kCols / 32, kRows / 8), dim3(32, 8)>>>(in.data(), out.data(), kRows, kCols);
  transpose_tile<32><<<grid, dim3(32, 32)>>>(in.data(), out.data(), kRows, kCols);
  transpose_padded<32><<<grid, dim3(32, 32)>>>(in.data(), out.data(), kRows, kCols);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}

}  // namespace

int main(int argc, char** argv) {
  const bool only_occupancy = argc == 2 && std::strcmp(argv[1], "occupancy") == 0;
  const bool only_example = argc == 2 && std::strcmp(argv[1], "example") == 0;
  if (argc != 1 && !only_occupancy && !only_example) {
    std::fprintf(stderr, "usage: explorer_vectors [occupancy|example]\n");
    return 2;
  }
  if (only_example) {
    example();
    return 0;
  }
  tilewise::sim::set_counting(true);
  tilewise::sim::set_checking(false);  // shared memory is read that nobody wrote: only addresses matter here
  std::printf("{");
  if (!only_occupancy) {
    // An array that begins at a multiple of 8 MB and is no longer: where it is doesn't change which lines meet in a bank of tags.
    constexpr std::size_t kMemory = std::size_t{8} << 20;
    const tilewise::DeviceBuffer<unsigned char> memory(2 * kMemory);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
    const unsigned char* aligned = memory.data() + (kMemory - begin % kMemory);
    requests(aligned);
    std::printf(",");
    patterns(aligned);
    std::printf(",");
    atomics();
    std::printf(",");
    banks();
    std::printf(",");
    tiles();
    std::printf(",");
    shuffles();
    std::printf(",");
    sparse();
    std::printf(",");
    model_vectors(kSets);
    std::printf(",");
  }
  runtime_occupancy();
  std::printf("}\n");
  return 0;
}
