#include "tilewise/timer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>

#include "tilewise/cuda_check.hpp"
#include "tilewise/device.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/table.hpp"

namespace tilewise {

Statistics statistics(std::span<const double> samples) {
  if (samples.empty()) throw std::invalid_argument("statistics of no samples");
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  // The value below which a share of the samples lies, interpolated between neighbours.
  const auto quantile = [&](double share) {
    const double at = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
  };
  return {sorted.size(), quantile(0.5), quantile(0.25), quantile(0.75), sorted.front(), sorted.back()};
}

void check_possible(double figure, double ceiling, const std::string& unit, const std::string& ceiling_name) {
  if (!std::isfinite(figure) || figure <= 0)
    throw ImpossibleFigure(fmt::format("{} {} is no possible figure", figure, unit));
  if (ceiling > 0 && figure > ceiling)
    throw ImpossibleFigure(fmt::format("{} {} is above the {} of {} {}: the time or the count of work is wrong",
                                       significant(figure), unit, ceiling_name, significant(ceiling), unit));
}

#ifdef TILEWISE_SIMULATOR

namespace {

// A time means nothing here: run, look for errors, say that nothing was timed.
Timing run_once(const TimedCall& call) {
  call.call(nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
  Timing timing;
  timing.note = "not timed: simulator";
  return timing;
}

}  // namespace

Timing measure_call(const TimedCall& call, const TimerOptions&) { return run_once(call); }

Timing measure_elapsed(const std::function<void()>& call, const std::function<void()>& before, const TimerOptions&) {
  if (before) before();
  return run_once(timed_call(call));
}

Interleaved interleave_calls(const TimedCall& a, const TimedCall& b, const TimerOptions&) {
  Interleaved both;
  both.a = run_once(a);
  both.b = run_once(b);
  return both;
}

#else

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Empties L2 of whatever a kernel left there, by writing and reading twice its size.
class CacheFlush {
 public:
  CacheFlush() {
    const std::size_t twice = 2 * std::max<std::size_t>(device().l2_bytes, std::size_t{1} << 20);
    written_ = DeviceBuffer<unsigned char>(twice);
    copied_ = DeviceBuffer<unsigned char>(twice);
  }

  void enqueue(cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(written_.data(), 0, written_.bytes(), stream));
    CUDA_CHECK(cudaMemcpyAsync(copied_.data(), written_.data(), copied_.bytes(), cudaMemcpyDeviceToDevice, stream));
  }

 private:
  DeviceBuffer<unsigned char> written_, copied_;
};

// Does L2 have to be emptied before each call?
bool wants_flush(const TimerOptions& options) {
  const auto l2 = static_cast<double>(device().l2_bytes);
  return options.cache == Cache::cold || (options.cache == Cache::automatic && options.working_set > 0 &&
                                          static_cast<double>(options.working_set) < 4 * l2);
}

// Lowest and highest SM clock seen while the device was busy.
class ClockWatch {
 public:
  void look() {
    // A reading takes the driver up to a millisecond: not more than one in 20 ms.
    if (readings_ > 0 && seconds_since(last_) < 0.02) return;
    last_ = Clock::now();
    const auto sensors = read_sensors();
    if (!sensors) return;
    const double mhz = sensors->sm_clock_mhz;
    low_ = readings_ == 0 ? mhz : std::min(low_, mhz);
    high_ = std::max(high_, mhz);
    ++readings_;
  }
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  int readings_ = 0;
  double low_ = 0, high_ = 0;
  Clock::time_point last_;
};

void add_note(std::string& note, const std::string& text) { note += (note.empty() ? "" : "; ") + text; }

// Takes samples of one call; several samplers can take turns.
class Sampler {
 public:
  // Calls that take a stream get `stream`: the same one for all that take turns, else they would overlap.
  Sampler(const TimedCall& call, const TimerOptions& options, cudaStream_t stream)
      : call_(call), options_(options), stream_(call.takes_stream ? stream : nullptr) {
    flush_ = wants_flush(options);
    if (flush_) flusher_.emplace();
  }
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  ~Sampler() {
    if (graph_) cudaGraphExecDestroy(graph_);
  }

  // Calls until two looks in a row, 20 ms of work apart, agree on clock and time; one second at most. Then the
  // length of one call is known, and with it how to time it.
  void warm_up() {
    const Clock::time_point start = Clock::now();
    sample(1);
    double last_ms = samples_.back(), last_mhz = 0;
    while (seconds_since(start) < 1.0) {
      call_ms_ = last_ms;  // so that a slow call is not asked for twenty times
      samples_.clear();
      sample(calls_in(20));
      const auto sensors = read_sensors();
      const double mhz = sensors ? sensors->sm_clock_mhz : 0;
      const double ms = statistics(samples_).median;
      const bool steady = std::abs(ms - last_ms) <= 0.02 * ms && std::abs(mhz - last_mhz) <= 0.01 * mhz;
      last_ms = ms;
      last_mhz = mhz;
      if (steady) break;
    }
    call_ms_ = last_ms;
    samples_.clear();
  }

  // Too short to be timed one by one.
  bool is_short() const { return options_.cache != Cache::cold && call_ms_ * 1e3 < options_.graph_below_us; }
  bool can_capture() const { return call_.takes_stream; }
  void say_short() { add_note(note_, "short: the time includes gaps between launches"); }

  // Records enough repeats for a millisecond into a graph: launching one costs the host as much as one kernel. From then
  // on samples are of the graph, and L2 is warm.
  void capture() {
    calls_per_sample_ = static_cast<int>(std::clamp(1.0 / std::max(call_ms_, 1e-3), 20.0, 1000.0));
    cudaGraph_t graph = nullptr;
    CUDA_CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < calls_per_sample_; ++i) call_.call(stream_);
    CUDA_CHECK(cudaStreamEndCapture(stream_, &graph));
    CUDA_CHECK(cudaGraphInstantiate(&graph_, graph, 0));
    CUDA_CHECK(cudaGraphDestroy(graph));
    add_note(note_, fmt::format("graph of {} calls, L2 warm", calls_per_sample_));
    sample(3);  // the first launch uploads the graph
    call_ms_ = samples_.back();
    samples_.clear();
  }

  // How many samples the rules ask for.
  int wanted() {
    if (options_.iterations > 0) return options_.iterations;
    const double sample_ms = call_ms_ * calls_per_sample_;
    const double by_time = std::ceil(options_.min_seconds * 1e3 / sample_ms);
    const double most = std::max(3.0, std::floor(options_.max_seconds * 1e3 / sample_ms));
    const double wanted = std::max<double>(options_.min_iterations, by_time);
    if (most < wanted) add_note(note_, fmt::format("slow: {} iterations", static_cast<int>(most)));
    return static_cast<int>(std::min({wanted, most, 20000.0}));
  }

  // Samples that fit in about `ms` of device time, so that a batch neither starves the device nor fills its queue.
  int calls_in(double ms) const {
    const double sample_ms = samples_.empty() ? call_ms_ * calls_per_sample_ : samples_.back();
    return static_cast<int>(std::clamp(ms / std::max(sample_ms, 1e-3), 1.0, 100.0));
  }

  // Enqueues one sample between its own pair of events.
  void enqueue(int index) {
    while (static_cast<int>(events_.size()) <= index) events_.emplace_back();
    auto& [start, stop] = events_[static_cast<std::size_t>(index)];
    if (flush_ && !graph_) flusher_->enqueue(stream_);
    if (options_.from_idle) CUDA_CHECK(cudaDeviceSynchronize());
    start.record(stream_);
    if (graph_)
      CUDA_CHECK(cudaGraphLaunch(graph_, stream_));
    else
      call_.call(stream_);
    stop.record(stream_);
  }

  // Waits for the samples 0 .. count - 1 and keeps their times.
  void collect(int count) {
    for (int i = 0; i < count; ++i) {
      auto& [start, stop] = events_[static_cast<std::size_t>(i)];
      stop.synchronize();
      samples_.push_back(static_cast<double>(elapsed_ms(start, stop)) / calls_per_sample_);
    }
  }

  void sample(int count) {
    for (int i = 0; i < count; ++i) enqueue(i);
    collect(count);
  }

  int taken() const { return static_cast<int>(samples_.size()); }
  const std::vector<double>& samples() const { return samples_; }  // ms, in the order in which they were taken

  Timing result(const ClockWatch& clocks) const {
    Timing timing;
    timing.timed = true;
    timing.ms = statistics(samples_);
    timing.calls_per_sample = calls_per_sample_;
    timing.graph = graph_ != nullptr;
    timing.flushed = flush_ && !graph_;
    timing.sm_clock_min_mhz = clocks.low();
    timing.sm_clock_max_mhz = clocks.high();
    timing.note = note_;
    if (clocks.high() > 1.02 * clocks.low())
      add_note(timing.note, fmt::format("SM clock moved, {:.0f} to {:.0f} MHz", clocks.low(), clocks.high()));
    return timing;
  }

 private:
  TimedCall call_;
  TimerOptions options_;
  cudaStream_t stream_;
  std::optional<CacheFlush> flusher_;
  bool flush_ = false;
  cudaGraphExec_t graph_ = nullptr;
  int calls_per_sample_ = 1;
  double call_ms_ = 1;
  std::vector<std::pair<Event, Event>> events_;
  std::vector<double> samples_;
  std::string note_;
};

constexpr double kBatchMs = 50;

}  // namespace

Timing measure_call(const TimedCall& call, const TimerOptions& options) {
  const Stream stream;
  Sampler sampler(call, options, stream.get());
  sampler.warm_up();
  if (sampler.is_short()) sampler.can_capture() ? sampler.capture() : sampler.say_short();
  ClockWatch clocks;
  for (const int wanted = sampler.wanted(); sampler.taken() < wanted;) {
    const int batch = std::min(wanted - sampler.taken(), sampler.calls_in(kBatchMs));
    for (int i = 0; i < batch; ++i) sampler.enqueue(i);
    clocks.look();  // while the device works
    sampler.collect(batch);
  }
  return sampler.result(clocks);
}

Timing measure_elapsed(const std::function<void()>& call, const std::function<void()>& before,
                       const TimerOptions& options) {
  std::optional<CacheFlush> flusher;
  if (wants_flush(options)) flusher.emplace();
  std::vector<double> samples;
  ClockWatch clocks;
  const Clock::time_point start = Clock::now();
  const int wanted = options.iterations > 0 ? options.iterations : options.min_iterations;
  for (int i = -1; i < wanted; ++i) {  // -1: not a sample
    if (before) before();
    if (flusher) flusher->enqueue(nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    const Clock::time_point called = Clock::now();
    call();
    CUDA_CHECK(cudaDeviceSynchronize());
    if (i >= 0) samples.push_back(1e3 * seconds_since(called));
    clocks.look();
    if (options.iterations == 0 && i >= 2 && seconds_since(start) > options.max_seconds) break;
  }
  Timing timing;
  timing.timed = true;
  timing.ms = statistics(samples);
  timing.flushed = flusher.has_value();
  timing.sm_clock_min_mhz = clocks.low();
  timing.sm_clock_max_mhz = clocks.high();
  if (timing.ms.n < static_cast<std::size_t>(wanted)) timing.note = fmt::format("slow: {} iterations", timing.ms.n);
  return timing;
}

Interleaved interleave_calls(const TimedCall& a, const TimedCall& b, const TimerOptions& options) {
  const Stream stream;
  Sampler first(a, options, stream.get()), second(b, options, stream.get());
  first.warm_up();
  second.warm_up();
  // Both in a graph or neither: a graph has no gaps between calls and a warm L2, and its time compares with no other.
  if (first.is_short() && second.is_short() && first.can_capture() && second.can_capture()) {
    first.capture();
    second.capture();
  } else {
    for (Sampler* sampler : {&first, &second})
      if (sampler->is_short()) sampler->say_short();
  }
  ClockWatch clocks;
  const int wanted = std::min(first.wanted(), second.wanted());  // the slower call decides, or it would take minutes
  while (first.taken() < wanted) {
    const int batch = std::min({wanted - first.taken(), first.calls_in(kBatchMs / 2), second.calls_in(kBatchMs / 2)});
    for (int i = 0; i < batch; ++i) {
      first.enqueue(i);
      second.enqueue(i);
    }
    clocks.look();
    first.collect(batch);
    second.collect(batch);
  }
  Interleaved both{first.result(clocks), second.result(clocks), 0, {}};
  both.speedup = both.b.median_ms() / both.a.median_ms();
  std::vector<double> ratios;
  for (std::size_t i = 0; i < first.samples().size(); ++i) ratios.push_back(second.samples()[i] / first.samples()[i]);
  both.turns = statistics(ratios);
  return both;
}

#endif

}  // namespace tilewise
