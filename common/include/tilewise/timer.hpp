/// @file
/// Time on the device, honestly. On the simulator a time means nothing: the callable runs once, untimed.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tilewise {

/// Middle and spread of a list of samples.
struct Statistics {
  std::size_t n = 0;
  double median = 0;
  double q1 = 0;  ///< first quartile (linear interpolation between samples)
  double q3 = 0;  ///< third quartile
  double min = 0;
  double max = 0;

  double iqr() const { return q3 - q1; }
};

/// Throws std::invalid_argument for an empty list.
Statistics statistics(std::span<const double> samples);

/// What the timer does about the L2 cache before each iteration.
enum class Cache {
  automatic,  ///< flush when the working set is below four times L2
  cold,       ///< always flush
  warm        ///< never flush
};

/// Rules of one measurement. The defaults are NVBench's.
struct TimerOptions {
  int iterations = 0;  ///< exactly so many; 0: by the rules below
  int min_iterations = 30;
  double min_seconds = 0.3;     ///< of device time, together
  double max_seconds = 1.5;     ///< slow kernels get fewer iterations, at least 3, and the timing says so
  std::size_t working_set = 0;  ///< bytes that one call touches; 0 when unknown: counts as larger than L2
  Cache cache = Cache::automatic;
  double graph_below_us = 20;  ///< shorter calls are timed as a CUDA graph of repeats
  bool from_idle = false;      ///< each call begins when the device is idle: the host's time to ask for its work counts
};

/// Time of one call.
struct Timing {
  bool timed = false;        ///< false on the simulator
  Statistics ms;             ///< milliseconds per call
  int calls_per_sample = 1;  ///< more than 1 in graph mode
  bool flushed = false;      ///< L2 was flushed before each call
  bool graph = false;
  double sm_clock_min_mhz = 0;  ///< while timing; 0 without NVML
  double sm_clock_max_mhz = 0;
  std::string note;  ///< anything a reader must know: few iterations, clock moved, warm cache

  double median_ms() const { return ms.median; }
  double seconds() const { return ms.median * 1e-3; }
};

/// A call that is to be timed, and whether it takes the stream to use (needed for graph mode).
struct TimedCall {
  std::function<void(cudaStream_t)> call;
  bool takes_stream = false;
};

/// Wraps a callable with or without a stream parameter.
template <class F>
TimedCall timed_call(F&& f) {
  if constexpr (std::is_invocable_v<F&, cudaStream_t>)
    return {std::forward<F>(f), true};
  else
    return {[g = std::forward<F>(f)](cudaStream_t) mutable { g(); }, false};
}

Timing measure_call(const TimedCall& call, const TimerOptions& options);

/// Warms up until the clock is steady, then times `f` (called with a cudaStream_t if it takes one: launch there).
template <class F>
Timing measure(F&& f, const TimerOptions& options = {}) {
  return measure_call(timed_call(std::forward<F>(f)), options);
}

/// Times what is done once, such as preprocessing, as its caller waits for it: by the host's clock, from an idle device
/// until the device is idle again. Work on the host counts, and so do the gaps between launches. `before` runs ahead of
/// each call and is not timed; it may be empty. The first call, which loads the kernels, is not among the samples.
Timing measure_elapsed(const std::function<void()>& call, const std::function<void()>& before,
                       const TimerOptions& options);

/// Two calls timed in turns, A B A B, so that both see the same clocks; in a graph are both or neither.
struct Interleaved {
  Timing a;
  Timing b;
  double speedup = 0;  ///< median of b / median of a: how many times faster a is; 0 when not timed
  Statistics turns;    ///< of b / a, turn by turn: how far that ratio can be trusted
};

Interleaved interleave_calls(const TimedCall& a, const TimedCall& b, const TimerOptions& options);

/// Ratio against a peer: A and B in turns.
template <class A, class B>
Interleaved interleave(A&& a, B&& b, const TimerOptions& options = {}) {
  return interleave_calls(timed_call(std::forward<A>(a)), timed_call(std::forward<B>(b)), options);
}

/// A figure that the machine cannot reach: the measurement, or the count of work, is wrong.
class ImpossibleFigure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws ImpossibleFigure when `figure` is above `ceiling` (0: no ceiling known) or not a positive finite number.
void check_possible(double figure, double ceiling, const std::string& unit, const std::string& ceiling_name);

}  // namespace tilewise
