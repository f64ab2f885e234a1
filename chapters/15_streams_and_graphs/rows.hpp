// The rows of the lesson's tables.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "graph.hpp"
#include "pipeline.hpp"
#include "tilewise/lesson.hpp"
#include "tilewise/pinned_buffer.hpp"
#include "tilewise/timeline.hpp"

namespace rows {

using tilewise::Comparison;
using tilewise::Variant;

// ---------------------------------------------------------------- copies and kernels

/// A row, and how its work lies in time; no timeline on a GPU.
struct Timed {
  Variant row;
  std::optional<tilewise::Timeline> timeline;
};

/// A job in pinned memory and one in pageable memory, and what must come out.
class Jobs {
 public:
  Jobs(int n, int times, std::uint64_t seed)
      : pageable_in_(tilewise::random_vector(n, seed)),
        pageable_out_(n),
        expected_(pageable_in_),
        pinned_in_(n),
        pinned_out_(n),
        device_in_(n),
        device_out_(n),
        shape_(tilewise::with_commas(n) + " floats") {
    std::copy(pageable_in_.begin(), pageable_in_.end(), pinned_in_.span().begin());
    for (float& x : expected_)
      if (times > 0) x = times % 2 == 1 ? 1 - x : 1 - (1 - x);  // the third flip gives the first
    float* const in = device_in_.data();
    float* const out = device_out_.data();
    pinned_ = {n, times, pinned_in_.span().data(), pinned_out_.span().data(), in, out};
    pageable_ = {n, times, pageable_in_.data(), pageable_out_.data(), in, out};
  }
  const Job& pinned() const { return pinned_; }
  const Job& pageable() const { return pageable_; }

  Timed row(const std::string& kernel, const Job& job,
            std::function<void(cudaStream_t)> launch) const {
    Variant v;
    v.kernel = kernel;
    v.shape = shape_;
    v.launch = std::move(launch);
    v.poison = [&job] { std::fill_n(job.out, job.n, NAN); };
    v.check = [this, &job] { return compare(job); };
    v.recheck = v.check;
    v.work = 2.0 * sizeof(float) * job.n;
    v.working_set = static_cast<size_t>(v.work);
    // A thread takes as long as the copy of its element.
    const auto once = [&] {
      const tilewise::Stream stream(cudaStreamNonBlocking);
      v.launch(stream.get());
      stream.synchronize();
    };
    std::optional<tilewise::Timeline> timeline;
    if (tilewise::is_simulated()) timeline = tilewise::timeline_of(once, sizeof(float));
    v.extra = {tilewise::with_commas(job.times)};
    if (timeline)
      v.extra.push_back(job.n == 0 ? "0"
                                   : tilewise::fixed(timeline->length / sizeof(float) / job.n, 2));
    return {std::move(v), std::move(timeline)};
  }

  /// What a part of the job writes.
  struct Writes {
    bool device_in = false, device_out = false, host = false;
  };
  /// A row for a part of the job, after one_stream(), which leaves it what it reads: what it
  /// writes is checked, on the device or on the host.
  Timed part(const std::string& kernel, const Job& job, Writes writes,
             std::function<void(cudaStream_t)> launch) const {
    Timed t = row(kernel, job, std::move(launch));
    const auto poison_host = t.row.poison;
    t.row.poison = [=, this] {
      if (writes.device_in) device_in_.poison();
      if (writes.device_out) device_out_.poison();
      if (writes.host) poison_host();
    };
    t.row.check = [=, this, &job] {
      if (writes.device_in)
        if (const Comparison in = compare(device_in_.to_host(), pageable_in_); !in.ok) return in;
      if (writes.device_out) return compare(device_out_.to_host(), expected_);
      return writes.host ? compare(job) : compare(device_in_.to_host(), pageable_in_);
    };
    t.row.recheck = t.row.check;
    if (writes.device_in != writes.host) t.row.work /= 2;  // one way
    return t;
  }

 private:
  Comparison compare(const Job& job) const {
    CUDA_CHECK(cudaDeviceSynchronize());
    return compare(std::span<const float>(job.out, job.n), expected_);
  }
  static Comparison compare(std::span<const float> got, const std::vector<float>& expected) {
    return tilewise::compare_exact(got, std::span<const float>(expected), 1, expected.size());
  }
  std::vector<float> pageable_in_, pageable_out_, expected_;
  tilewise::PinnedBuffer<float> pinned_in_, pinned_out_;
  mutable tilewise::DeviceBuffer<float> device_in_, device_out_;
  std::string shape_;
  Job pinned_, pageable_;
};

inline Timed one_stream(const Jobs& jobs) {
  const Job& job = jobs.pinned();
  Timed t = jobs.row("one_stream", job, [&job](cudaStream_t s) { job.part(0, job.n, s); });
  t.row.baseline = true;
  return t;
}
inline Timed one_stream_pageable(const Jobs& jobs) {
  const Job& job = jobs.pageable();
  return jobs.row("one_stream_pageable", job, [&job](cudaStream_t s) { job.part(0, job.n, s); });
}

/// What each engine needs by itself, and two of them at once.
inline std::vector<Timed> parts(const Jobs& jobs) {
  const Job& job = jobs.pinned();
  const auto fork = std::make_shared<Fork>(2);
  return {jobs.part("copy_in", job, {.device_in = true},
                    [&job](cudaStream_t s) { job.bring(0, job.n, s); }),
          jobs.part("kernel", job, {.device_out = true},
                    [&job](cudaStream_t s) { job.flip(0, job.n, s); }),
          jobs.part("copy_out", job, {.host = true},
                    [&job](cudaStream_t s) { job.take_back(0, job.n, s); }),
          jobs.part("both_copies", job, {.device_in = true, .host = true},
                    [&job, fork](cudaStream_t s) {
                      fork->fork(s);
                      job.bring(0, job.n, fork->of(0));
                      job.take_back(0, job.n, fork->of(1));
                      fork->join(s);
                    })};
}

/// "in_chunks<16,3>": 16 chunks, 3 streams.
inline std::string named(const std::string& way, int chunks, int streams) {
  return way + "<" + std::to_string(chunks) + "," + std::to_string(streams) + ">";
}
inline Timed chunks(const Jobs& jobs, int chunks, int streams) {
  return jobs.row(named("in_chunks", chunks, streams), jobs.pinned(),
                  [&jobs, chunks, fork = std::make_shared<Fork>(streams)](cudaStream_t s) {
                    in_chunks(jobs.pinned(), *fork, chunks, s);
                  });
}
/// The same as a graph: one call launches all of it.
inline Timed chunks_graph(const Jobs& jobs, int chunks, int streams) {
  const Fork fork(streams);
  const auto graph =
      std::make_shared<Graph>([&](cudaStream_t s) { in_chunks(jobs.pinned(), fork, chunks, s); });
  return jobs.row(named("in_chunks_graph", chunks, streams), jobs.pinned(),
                  [graph](cudaStream_t s) { graph->launch(s); });
}

// The four ways to lose it; 3 streams each.
using Way = void (*)(const Job&, const Fork&, int chunks, cudaStream_t);
inline Timed mistake(const Jobs& jobs, const std::string& name, const Job& job, int chunks, Way way,
                     unsigned flags = cudaStreamNonBlocking) {
  return jobs.row(named(name, chunks, 3), job,
                  [&job, chunks, way, fork = std::make_shared<Fork>(3, flags)](cudaStream_t s) {
                    way(job, *fork, chunks, s);
                  });
}
inline Timed breadth_first(const Jobs& jobs, int chunks) {
  return mistake(jobs, "breadth_first", jobs.pinned(), chunks, ::breadth_first);
}
inline Timed default_stream(const Jobs& jobs, int chunks) {
  return mistake(jobs, "kernels_in_default_stream", jobs.pinned(), chunks,
                 kernels_in_default_stream, cudaStreamDefault);
}
inline Timed waits(const Jobs& jobs, int chunks) {
  return mistake(jobs, "waits_in_the_loop", jobs.pinned(), chunks, waits_in_the_loop);
}
inline Timed pageable(const Jobs& jobs, int chunks) {
  return mistake(jobs, "in_chunks_pageable", jobs.pageable(), chunks, in_chunks);
}

// ---------------------------------------------------------------- copies by size

inline Variant copy_in(const Jobs& jobs, const std::string& kernel, const Job& job) {
  return jobs
      .part(kernel, job, {.device_in = true}, [&job](cudaStream_t s) { job.bring(0, job.n, s); })
      .row;
}
inline Variant copy_in_pinned(const Jobs& jobs) {
  Variant v = copy_in(jobs, "pinned", jobs.pinned());
  v.baseline = true;
  return v;
}
inline Variant copy_in_pageable(const Jobs& jobs) {
  return copy_in(jobs, "pageable", jobs.pageable());
}

// ---------------------------------------------------------------- kernels at once

/// So many kernels of one block each.
constexpr int kBlocksAtOnce = 128;

/// jobs: 256 elements for each of these kernels.
inline Variant at_once(const Jobs& jobs, int streams) {
  const Job& job = jobs.pinned();
  Variant v = jobs.part("streams<" + std::to_string(streams) + ">", job, {.device_out = true},
                        [&job, fork = std::make_shared<Fork>(streams)](cudaStream_t s) {
                          fork->fork(s);
                          for (int k = 0; k < kBlocksAtOnce; ++k)
                            job.flip(256 * k, 256, fork->of(k));
                          fork->join(s);
                        })
                  .row;
  v.baseline = streams == 1;
  return v;
}

// ---------------------------------------------------------------- launches

/// The number that the s-th step adds.
inline float added(int s) { return static_cast<float>(1 + s % 7); }

/// n floats, and so many small kernels one after the other.
class Steps {
 public:
  Steps(int n, int steps, std::uint64_t seed)
      : n_(n),
        steps_(steps),
        in_(tilewise::random_vector(n, seed)),
        expected_(in_),
        x_(in_),
        shape_(tilewise::with_commas(n) + " floats") {
    for (float& x : expected_)
      for (int s = 0; s < steps; ++s) x = x / 2 + added(s);
  }
  /// Each call goes on from what the one before has left.
  void launch(cudaStream_t stream) const {
    for (int s = 0; s < steps_; ++s) CUDA_CHECK(launch_step(n_, added(s), x_.data(), stream));
  }
  void launch_and_wait(cudaStream_t stream) const {
    for (int s = 0; s < steps_; ++s) {
      CUDA_CHECK(launch_step(n_, added(s), x_.data(), stream));
      CUDA_CHECK(cudaStreamSynchronize(stream));
    }
  }

  Variant row(const std::string& kernel, std::function<void(cudaStream_t)> launch) const {
    Variant v;
    v.kernel = kernel;
    v.shape = shape_;
    v.launch = std::move(launch);
    v.poison = [this] {
      CUDA_CHECK(
          cudaMemcpy(x_.data(), in_.data(), in_.size() * sizeof(float), cudaMemcpyHostToDevice));
    };
    v.check = [this] {
      return tilewise::compare_exact(std::span<const float>(x_.to_host()),
                                     std::span<const float>(expected_), 1, in_.size());
    };
    v.work = 2.0 * sizeof(float) * n_ * steps_;
    v.working_set = 0;  // L2 is not emptied: it has the arguments of a graph's launches, too
    return v;
  }

 private:
  int n_, steps_;
  std::vector<float> in_, expected_;
  mutable tilewise::DeviceBuffer<float> x_;
  std::string shape_;
};

inline Variant launches(const Steps& steps) {
  Variant v = steps.row("launches", [&steps](cudaStream_t s) { steps.launch(s); });
  v.baseline = true;
  return v;
}
inline Variant waited_for(const Steps& steps) {
  return steps.row("waited_for", [&steps](cudaStream_t s) { steps.launch_and_wait(s); });
}
inline Variant graph(const Steps& steps) {
  const auto graph = std::make_shared<Graph>([&](cudaStream_t s) { steps.launch(s); });
  return steps.row("graph", [graph](cudaStream_t s) { graph->launch(s); });
}
inline Variant updated_graph(const Steps& steps) {
  const auto graph = std::make_shared<Graph>([&](cudaStream_t s) { steps.launch(s); });
  return steps.row("graph_updated", [graph, &steps](cudaStream_t stream) {
    graph->update([&](cudaStream_t s) { steps.launch(s); });
    graph->launch(stream);
  });
}
inline Variant graph_made_anew(const Steps& steps) {
  return steps.row("graph_made_anew", [&steps](cudaStream_t stream) {
    const Graph graph([&](cudaStream_t s) { steps.launch(s); });
    graph.launch(stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
  });
}

}  // namespace rows
