// The rows of lesson 03's tables: what to launch, what to poison, what to check. Plumbing; the
// lesson is in padded_tiles.cuh.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../02_tiled_matmul/tiled_matmul.cuh"
#include "padded_tiles.cuh"
#include "problem.hpp"
#include "tilewise/lesson.hpp"

/// A kernel for running sums, and the words of a row of its tile.
struct Sums {
  const char* kernel;
  RunningSumsKernel run;
  const char* tile_row;
  std::size_t shared_bytes;
};

inline tilewise::Variant variant(const Sums& sums, RunningSums& p, std::size_t unused_bytes = 0) {
  tilewise::Variant v;
  v.kernel = sums.kernel;
  v.shape = std::to_string(p.rows) + " x " + std::to_string(p.cols);
  v.block = dim3(32);
  v.shared_bytes = sums.shared_bytes + unused_bytes;
  v.opt_in_shared = true;
  v.extra = {sums.tile_row};
  v.launch = [&p, &sums, unused_bytes](cudaStream_t stream) {
    CUDA_CHECK(launch_running_sums(sums.run, p.in.data(), p.out.data(), p.rows, p.cols, stream,
                                   unused_bytes));
  };
  v.poison = [&] { p.out.poison(); };
  v.check = v.recheck = [&] { return p.check(); };
  v.work = static_cast<double>(p.bytes());
  v.working_set = p.bytes();
  return v;
}

/// The copy by the device itself: no kernel has to move less, or can move it faster.
inline tilewise::Variant copy(RunningSums& p) {
  tilewise::Variant v = variant({"cudaMemcpyAsync", nullptr, "-", 0}, p);
  v.launch = [&](cudaStream_t stream) {
    CUDA_CHECK(
        cudaMemcpyAsync(p.out.data(), p.in.data(), p.in.bytes(), cudaMemcpyDeviceToDevice, stream));
  };
  v.check = [] { return tilewise::Comparison{}; };
  v.recheck = {};
  v.baseline = true;
  return v;
}

/// Blocks of one warp that an SM holds of the kernel. The simulator learns what a kernel declares
/// in its body when it runs.
inline int blocks_per_sm(const Sums& sums, RunningSums& p, std::size_t unused_bytes) {
  tilewise::run_unwatched(
      [&] { CUDA_CHECK(launch_running_sums(sums.run, p.in.data(), p.out.data(), 1, 1)); });
  int blocks = 0;
  // [occupancy]
  CUDA_CHECK(cudaFuncSetAttribute(sums.run, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  int(unused_bytes)));
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sums.run, 32, unused_bytes));
  // [occupancy]
  return blocks;
}

/// A kernel with more shared memory than it uses: how many blocks does an SM hold then?
inline tilewise::Variant with_shared(const Sums& sums, RunningSums& p, std::size_t bytes) {
  const tilewise::Device& device = tilewise::device();
  const std::size_t unused = bytes - sums.shared_bytes;
  const int blocks = bytes <= device.shared_per_block_opt_in ? blocks_per_sm(sums, p, unused) : 0;
  tilewise::Variant v = variant(sums, p, unused);
  v.extra = {tilewise::with_commas(bytes), std::to_string(blocks),
             tilewise::fixed(100.0 * blocks * 32 / device.max_threads_per_sm, 1)};
  return v;
}

template <class T>
tilewise::Variant windows(const char* kernel, WindowSums<T>& p) {
  tilewise::Variant v;
  v.kernel = kernel;
  v.shape = std::to_string(32 * p.rounds) + " loads";
  v.block = dim3(p.threads);
  v.shared_bytes = window_sums_elements(p.stride) * sizeof(T);
  v.extra = {std::to_string(p.stride)};
  v.launch = [&](cudaStream_t stream) {
    CUDA_CHECK(
        launch_window_sums(p.in(), p.out.data(), p.stride, p.rounds, p.blocks, p.threads, stream));
  };
  v.poison = [&] { p.out.poison(); };
  v.check = v.recheck = [&] { return p.check(); };
  v.work = p.bytes();
  v.baseline = p.stride == 1;
  return v;
}

using Problems = std::vector<std::unique_ptr<RunningSums>>;

/// Lists that go in pairs; a single value goes with every element of the other list.
inline void pair_up(std::vector<std::int64_t>& rows, std::vector<std::int64_t>& cols,
                    const tilewise::Options& options) {
  if (rows.size() == 1) rows.assign(cols.size(), rows[0]);
  if (cols.size() == 1) cols.assign(rows.size(), cols[0]);
  if (rows.size() != cols.size())
    options.refuse("--rows and --cols are lists of different lengths");
}

/// The matrices of all shapes; a SKIP row for what does not fit on the device.
inline Problems make_problems(const std::vector<std::int64_t>& rows,
                              const std::vector<std::int64_t>& cols,
                              const tilewise::Options& options, tilewise::Lesson& lesson) {
  Problems problems;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double wanted =
        2.0 * sizeof(float) * static_cast<double>(rows[i]) * static_cast<double>(cols[i]);
    if (wanted > static_cast<double>(tilewise::free_device_memory())) {
      lesson.skip(std::to_string(rows[i]) + " x " + std::to_string(cols[i]), "all", 0,
                  "needs " + tilewise::bytes_text(wanted) + " of device memory");
      continue;
    }
    problems.push_back(std::make_unique<RunningSums>(
        static_cast<int>(rows[i]), static_cast<int>(cols[i]),
        tilewise::random_vector(static_cast<std::size_t>(rows[i]) * cols[i], options.seed(),
                                options.data())));
  }
  return problems;
}

/// A new group of rows, on a GPU with the copy first, which the others are compared with.
inline void begin_with_copy(tilewise::Lesson& lesson, RunningSums& problem) {
  lesson.begin_group();
  if (!tilewise::is_simulated()) lesson.run(copy(problem));  // no kernel: nothing to count
}

inline void run_sums(tilewise::Lesson& lesson, std::span<const Sums> kernels,
                     const Problems& problems) {
  for (const auto& problem : problems) {
    begin_with_copy(lesson, *problem);
    for (const Sums& sums : kernels) lesson.run(variant(sums, *problem));
  }
}

/// A kernel with ever more shared memory per block.
inline void run_with_shared(tilewise::Lesson& lesson, const Sums& sums,
                            const std::vector<std::int64_t>& bytes, RunningSums& problem) {
  for (const std::int64_t total : bytes)
    lesson.run(with_shared(sums, problem, static_cast<std::size_t>(total)));
}

/// A kernel with the SM's memory divided in several ways between shared memory and L1 cache: in per
/// cent of the largest shared memory; -1: the driver decides.
inline void run_with_carveout(tilewise::Lesson& lesson, const Sums& sums, RunningSums& problem,
                              std::initializer_list<int> carveouts) {
  for (const int carveout : carveouts) {
    // [carveout]
    CUDA_CHECK(
        cudaFuncSetAttribute(sums.run, cudaFuncAttributePreferredSharedMemoryCarveout, carveout));
    // [carveout]
    tilewise::Variant v = variant(sums, problem);
    v.extra = {carveout < 0 ? "driver's" : std::to_string(carveout),
               std::to_string(blocks_per_sm(sums, problem, 0))};
    lesson.run(v);
  }
  CUDA_CHECK(cudaFuncSetAttribute(sums.run, cudaFuncAttributePreferredSharedMemoryCarveout, -1));
}

/// How much the table of strides has to do; 0: as much as can be timed, where it is.
struct WindowSizes {
  std::int64_t rounds = 0, blocks = 0;
};

/// Windows that begin every `stride` elements of type T, for all strides; each is compared with
/// stride 1.
template <class T>
void run_windows(tilewise::Lesson& lesson, const char* kernel,
                 const std::vector<std::int64_t>& strides, WindowSizes sizes,
                 const tilewise::Options& options) {
  const bool small = tilewise::is_simulated() || !options.timed();
  if (sizes.rounds == 0) sizes.rounds = small ? 1 : 512;
  if (sizes.blocks == 0) sizes.blocks = small ? 1 : 4 * tilewise::device().sms;
  lesson.begin_group();
  for (const std::int64_t stride : strides) {
    WindowSums<T> problem(static_cast<int>(stride), static_cast<int>(sizes.rounds),
                          static_cast<int>(sizes.blocks), 256, options.seed());
    lesson.run(windows(kernel, problem));
  }
}

/// A product through tiles of 32 x 32 whose rows are `row` words long.
template <class Launch>
tilewise::MatmulVariant matmul(const char* kernel, std::size_t row, bool baseline, Launch launch) {
  tilewise::MatmulVariant v;
  v.kernel = kernel;
  v.tile = 32;
  v.block = dim3(32, 32);
  v.shared_bytes = 2 * 32 * row * sizeof(float);
  v.baseline = baseline;
  v.skip = [](const tilewise::MatmulShape& s) {
    return tiled_matmul_fits(s.m, s.n, s.k)
               ? ""
               : "a matrix of 2^31 elements or more: positions are 32-bit";
  };
  v.launch = [launch](const tilewise::MatmulProblem& p) {
    CUDA_CHECK(launch(p.A, p.B, p.C, p.m, p.n, p.k, p.stream));
  };
  return v;
}
