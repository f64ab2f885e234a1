// The rows of the lesson's tables: its kernels, and CUB's and cuBLAS' reductions beside them.
#pragma once

#include <limits>
#include <memory>
#include <string>

#include "problem.hpp"
#include "tilewise/cublas.hpp"

#ifndef TILEWISE_SIMULATOR
#include <cub/device/device_reduce.cuh>
#endif

namespace rows {

using tilewise::Comparison;
using tilewise::Variant;

constexpr double kFloat = 0x1p-24;  // unit roundoff

/// Additions on the way of the unluckiest element: `each` in its thread, the block's tree, and one
/// for each block that may come after.
inline double additions(double each, double blocks) { return each + 10 + blocks; }

using Sum = cudaError_t (*)(size_t, const float*, float*, cudaStream_t);

inline Variant sum(const Numbers& numbers, const std::string& kernel, double additions,
                   std::function<cudaError_t(const Inputs&, float*, cudaStream_t)> launch) {
  return numbers.row<float>(
      kernel, 1, std::move(launch), [=](const void* got, const Expected& expected, bool exact) {
        return judge_sum(*static_cast<const float*>(got), expected.sum, additions, kFloat, exact);
      });
}

inline Variant sum(const Numbers& numbers, const std::string& kernel, double additions,
                   Sum launch) {
  return sum(numbers, kernel, additions, [=](const Inputs& in, float* out, cudaStream_t stream) {
    return launch(in.n, in.x, out, stream);
  });
}

/// The ladder, from an atomic for each element on.
inline Variant sum_atomic(const Numbers& p) {
  return sum(p, "sum_atomic", static_cast<double>(p.n()), launch_sum_atomic);
}
inline double blocks_of_one_each(const Numbers& p) {
  return std::ceil(static_cast<double>(p.n()) / kReduceThreads);
}
inline Variant sum_interleaved(const Numbers& p) {
  return sum(p, "sum_interleaved", additions(0, blocks_of_one_each(p)), launch_sum_interleaved);
}
inline Variant sum_sequential(const Numbers& p) {
  return sum(p, "sum_sequential", additions(0, blocks_of_one_each(p)), launch_sum_sequential);
}
inline Variant sum_shuffles(const Numbers& p) {
  return sum(p, "sum_shuffles", additions(0, blocks_of_one_each(p)), launch_sum_shuffles);
}
inline Variant sum_strided(const Numbers& p) {
  const double blocks = reduction_blocks(p.n(), kReduceThreads, 8);
  return sum(p, "sum_strided",
             additions(static_cast<double>(p.n()) / blocks / kReduceThreads + 1, blocks),
             launch_sum_strided);
}
/// Of one thread: its vectors, the tree in a vector, the four sums and the elements beside the
/// vectors.
inline double vector_additions(const Numbers& p, double threads) {
  return static_cast<double>(p.n()) / 4 / threads + 8;
}
inline Variant sum_wide(const Numbers& p) {
  const double blocks = reduction_blocks(p.n(), 16 * kReduceThreads, kWidePerSm);
  return sum(p, "sum_wide", additions(vector_additions(p, blocks * kReduceThreads), blocks),
             launch_sum_wide);
}
inline double two_stage_additions(const Numbers& p, const ReductionShape& shape) {
  const double blocks = shape.blocks, threads = shape.threads;
  return additions(vector_additions(p, blocks * threads), blocks / threads + 12);
}
inline Variant sum_one_launch(const Numbers& p, const Scratch& scratch) {
  const double depth =
      two_stage_additions(p, {false, 512, reduction_blocks(p.n(), 16 * 512, kPerSm(512))});
  return sum(p, "sum_one_launch<512>", depth,
             [&](const Inputs& in, float* out, cudaStream_t stream) {
               return launch_sum_one_launch(in.n, in.x, scratch.sums(), out, stream);
             });
}
inline Variant sum_flags(const Numbers& p, const Scratch& scratch) {
  const double depth = two_stage_additions(p, {true, 256, reduction_blocks(p.n(), 16 * 256, 1)});
  return sum(p, "sum_flags<256>", depth, [&](const Inputs& in, float* out, cudaStream_t stream) {
    return launch_sum_flags(in.n, in.x, scratch.flags(), out, stream);
  });
}
/// What launch_sum() takes for this n: "launch_sum: sum_flags<128>, 32 blocks".
inline Variant sum_best(const Numbers& p, const Scratch& scratch) {
  const ReductionShape shape = reduction_shape(p.n());
  Variant v = sum(p, "launch_sum", two_stage_additions(p, shape),
                  [&](const Inputs& in, float* out, cudaStream_t stream) {
                    return launch_sum(in.n, in.x, scratch.sums(), out, stream);
                  });
  v.block = dim3(static_cast<unsigned>(shape.threads));
  return v;
}

inline Judge exactly_the_maximum() {
  return [](const void* got, const Expected& expected, bool) {
    const double result[] = {*static_cast<const float*>(got)}, wanted[] = {expected.maximum};
    return tilewise::compare(std::span<const double>(result), wanted, {}, 1, 1);
  };
}
inline Variant maximum(const Numbers& p, const Scratch& scratch) {
  return p.row<float>(
      "maximum", 1,
      [&](const Inputs& in, float* out, cudaStream_t stream) {
        return launch_reduce(in.n, Maximum{in.x}, scratch.sums(), out, stream);
      },
      exactly_the_maximum());
}
inline Comparison judge_place(long long index, const Expected& expected) {
  const double result[] = {static_cast<double>(index)},
               wanted[] = {static_cast<double>(expected.index)};
  return tilewise::compare(std::span<const double>(result), wanted, {}, 1, 1);
}
inline Variant arg_maximum(const Numbers& p, const Scratch& scratch) {
  using Value = ArgMaximum::Value;
  Variant v = p.row<Value>(
      "arg_maximum", 1,
      [&](const Inputs& in, Value* out, cudaStream_t stream) {
        return launch_reduce(in.n, ArgMaximum{in.x}, scratch.sums(), out, stream);
      },
      [](const void* got, const Expected& expected, bool) {
        return judge_place(ArgMaximum::index(*static_cast<const Value*>(got)), expected);
      });
  if (p.n() > ArgMaximum::kMost) v.skip = [] { return std::string("places are of 32 bits"); };
  return v;
}
inline Judge dot_within(double additions) {
  return [=](const void* got, const Expected& expected, bool exact) {
    return judge_sum(*static_cast<const float*>(got), expected.dot, additions, kFloat, exact);
  };
}
inline Variant dot(const Numbers& p, const Scratch& scratch) {
  const double depth =
      two_stage_additions(p, {false, 512, reduction_blocks(p.n(), 16 * 512, kPerSm(512))}) + 1;
  return p.row<float>(
      "dot", 2,
      [&](const Inputs& in, float* out, cudaStream_t stream) {
        return launch_reduce(in.n, Dot{in.x, in.y}, scratch.sums(), out, stream);
      },
      dot_within(depth));
}
/// Of sum and lost together: the roundings of `lost` alone, each of something 2^-24 as large
/// (Ogita, Rump and Oishi 2005, Sum2).
inline Variant compensated_sum(const Numbers& p, const Scratch& scratch) {
  using Value = CompensatedSum::Value;
  const double depth =
      two_stage_additions(p, {false, 512, reduction_blocks(p.n(), 16 * 512, kPerSm(512))});
  return p.row<Value>(
      "compensated_sum", 1,
      [&](const Inputs& in, Value* out, cudaStream_t stream) {
        return launch_reduce(in.n, CompensatedSum{in.x}, scratch.sums(), out, stream);
      },
      [=](const void* got, const Expected& expected, bool exact) {
        const Value& value = *static_cast<const Value*>(got);
        const double roundoff = 2 * depth * kFloat * kFloat;
        return judge_sum(double(value.x) + value.y, expected.sum, depth, roundoff, exact);
      });
}

inline Variant cublas_dot(const Numbers& p, tilewise::CublasHandle& handle) {
  Variant v = p.row<float>(
      "cublasSdot", 2,
      [&](const Inputs& in, float* out, cudaStream_t stream) {
        handle.set_stream(stream);
        CUBLAS_CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
        CUBLAS_CHECK(cublasSdot(handle, static_cast<int>(in.n), in.x, 1, in.y, 1, out));
        return cudaSuccess;
      },
      dot_within(std::numeric_limits<double>::infinity()));
  v.baseline = true;
  if (p.n() > std::numeric_limits<int>::max())
    v.skip = [] { return std::string("cublasSdot counts in int"); };
  return v;
}

// ---------------------------------------------------------------- one result or many
/// How often the sums of the lesson's last part are computed.
inline int times() { return tilewise::is_simulated() ? 8 : 200; }

/// The row, with the number of different results among times() launches in the table and in the
/// JSON.
inline Variant again_and_again(const Numbers& p, Variant v) {
  std::set<std::vector<unsigned char>> results;
  for (int i = 0; i < times(); ++i) {
    tilewise::run_unwatched([&] { v.launch(nullptr); });
    results.insert(p.last_result());
  }
  v.extra = {std::to_string(results.size())};
  return v;
}

#ifdef TILEWISE_SIMULATOR

// CUB's kernels are the CUDA Toolkit's: on the simulator there is nothing to count.
inline void run_cub_sum(tilewise::Lesson&, const Numbers&) {}
inline void run_cub_maximum(tilewise::Lesson&, const Numbers&) {}
inline void run_cub_arg_maximum(tilewise::Lesson&, const Numbers&) {}

#else

/// A reduction of CUB, which asks for scratch memory first:
/// `call(scratch, bytes, in, out, stream)`.
template <class Result, class Call>
Variant cub_row(const Numbers& p, const std::string& name, Call call, Judge judge) {
  size_t bytes = 0;
  CUDA_CHECK(call(nullptr, bytes, p.inputs(), static_cast<Result*>(nullptr), cudaStream_t{}));
  auto scratch = std::make_shared<tilewise::DeviceBuffer<unsigned char>>(bytes + 1);
  Variant v = p.row<Result>(
      name, 1,
      [=](const Inputs& in, Result* out, cudaStream_t stream) {
        size_t size = bytes;
        return call(scratch->data(), size, in, out, stream);
      },
      std::move(judge));
  v.baseline = true;
  return v;
}
/// CUB says nothing about the largest of no numbers.
inline Variant of_some(const Numbers& p, Variant v) {
  if (p.n() == 0) v.skip = [] { return std::string("there is no largest of no numbers"); };
  return v;
}
inline void run_cub_sum(tilewise::Lesson& lesson, const Numbers& p) {
  const double any_order = std::numeric_limits<double>::infinity();
  lesson.run(cub_row<float>(
      p, "cub::DeviceReduce::Sum",
      [](void* scratch, size_t& bytes, const Inputs& in, float* out, cudaStream_t stream) {
        return cub::DeviceReduce::Sum(scratch, bytes, in.x, out, in.n, stream);
      },
      [=](const void* got, const Expected& expected, bool exact) {
        return judge_sum(*static_cast<const float*>(got), expected.sum, any_order, kFloat, exact);
      }));
}
inline void run_cub_maximum(tilewise::Lesson& lesson, const Numbers& p) {
  lesson.run(of_some(
      p, cub_row<float>(
             p, "cub::DeviceReduce::Max",
             [](void* scratch, size_t& bytes, const Inputs& in, float* out, cudaStream_t stream) {
               return cub::DeviceReduce::Max(scratch, bytes, in.x, out, in.n, stream);
             },
             exactly_the_maximum())));
}
/// CUB writes the value and its place to two addresses.
inline void run_cub_arg_maximum(tilewise::Lesson& lesson, const Numbers& p) {
  struct Value {
    float value;
    long long index;
  };
  lesson.run(of_some(
      p, cub_row<Value>(
             p, "cub::DeviceReduce::ArgMax",
             [](void* scratch, size_t& bytes, const Inputs& in, Value* out, cudaStream_t stream) {
               return cub::DeviceReduce::ArgMax(scratch, bytes, in.x, &out->value, &out->index,
                                                static_cast<long long>(in.n), stream);
             },
             [](const void* got, const Expected& expected, bool) {
               return judge_place(static_cast<const Value*>(got)->index, expected);
             })));
}

#endif

}  // namespace rows
