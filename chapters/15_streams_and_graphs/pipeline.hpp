// An array is brought to the device, worked on and brought back: the right way, and three that
// overlap less or not at all. (The fourth is pageable memory: rows.hpp.)
#pragma once

#include <algorithm>
#include <vector>

#include "streams.cuh"
#include "tilewise/cuda_check.hpp"

/// n floats on the host and on the device, and the work between them.
struct Job {
  int n = 0, times = 0;
  const float* in = nullptr;  // on the host
  float* out = nullptr;       // on the host
  float* device_in = nullptr;
  float* device_out = nullptr;

  // [part]
  /// Elements [from, from + count): to the device, flipped, and back, one after the other.
  void part(int from, int count, cudaStream_t stream) const {
    bring(from, count, stream);
    flip(from, count, stream);
    take_back(from, count, stream);
  }
  void bring(int from, int count, cudaStream_t stream) const {
    CUDA_CHECK(cudaMemcpyAsync(device_in + from, in + from, sizeof(float) * count,
                               cudaMemcpyHostToDevice, stream));
  }
  // [part]
  void flip(int from, int count, cudaStream_t stream) const {
    CUDA_CHECK(launch_flips(count, times, device_in + from, device_out + from, stream));
  }
  void take_back(int from, int count, cudaStream_t stream) const {
    CUDA_CHECK(cudaMemcpyAsync(out + from, device_out + from, sizeof(float) * count,
                               cudaMemcpyDeviceToHost, stream));
  }

  /// Elements of each of so many chunks: whole blocks, but for the last one. And where chunk c
  /// begins, and how many it has.
  int each(int chunks) const { return ((n - 1) / chunks / 256 + 1) * 256; }
  int begin(int c, int chunks) const {
    return static_cast<int>(std::min<long long>(1LL * c * each(chunks), n));
  }
  int count(int c, int chunks) const { return begin(c + 1, chunks) - begin(c, chunks); }
};

/// Streams that begin when another one has come to fork(), and that it waits for at join(). The
/// host waits for nothing.
class Fork {
 public:
  explicit Fork(int many, unsigned flags = cudaStreamNonBlocking) : streams_(many), ends_(many) {
    for (cudaStream_t& s : streams_) CUDA_CHECK(cudaStreamCreateWithFlags(&s, flags));
    for (cudaEvent_t& e : ends_) CUDA_CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    CUDA_CHECK(cudaEventCreateWithFlags(&begin_, cudaEventDisableTiming));
  }
  Fork(const Fork&) = delete;
  Fork& operator=(const Fork&) = delete;
  ~Fork() {
    for (cudaStream_t s : streams_) cudaStreamDestroy(s);
    for (cudaEvent_t e : ends_) cudaEventDestroy(e);
    cudaEventDestroy(begin_);
  }

  // [fork]
  void fork(cudaStream_t stream) const {
    CUDA_CHECK(cudaEventRecord(begin_, stream));
    for (cudaStream_t s : streams_) CUDA_CHECK(cudaStreamWaitEvent(s, begin_, 0));
  }
  void join(cudaStream_t stream) const {
    for (size_t i = 0; i < streams_.size(); ++i) {
      CUDA_CHECK(cudaEventRecord(ends_[i], streams_[i]));
      CUDA_CHECK(cudaStreamWaitEvent(stream, ends_[i], 0));
    }
  }
  // [fork]
  /// Chunk 0 goes into stream 0, chunk 1 into stream 1, and so round.
  cudaStream_t of(int chunk) const { return streams_[chunk % streams_.size()]; }

 private:
  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> ends_;
  cudaEvent_t begin_ = nullptr;
};

// [in_chunks]
/// While one chunk is flipped, another one comes and a third one goes.
inline void in_chunks(const Job& job, const Fork& fork, int chunks, cudaStream_t stream) {
  fork.fork(stream);
  for (int c = 0; c < chunks; ++c) job.part(job.begin(c, chunks), job.count(c, chunks), fork.of(c));
  fork.join(stream);
}
// [in_chunks]

/// All copies in, then all kernels, then all copies out: a stream keeps its order.
inline void breadth_first(const Job& job, const Fork& fork, int chunks, cudaStream_t stream) {
  fork.fork(stream);
  for (int c = 0; c < chunks; ++c)
    job.bring(job.begin(c, chunks), job.count(c, chunks), fork.of(c));
  for (int c = 0; c < chunks; ++c) job.flip(job.begin(c, chunks), job.count(c, chunks), fork.of(c));
  for (int c = 0; c < chunks; ++c)
    job.take_back(job.begin(c, chunks), job.count(c, chunks), fork.of(c));
  fork.join(stream);
}

/// The kernels' stream is forgotten. `fork` has streams that wait for the default stream, else the
/// result would be wrong.
inline void kernels_in_default_stream(const Job& job, const Fork& fork, int chunks,
                                      cudaStream_t stream) {
  fork.fork(stream);
  for (int c = 0; c < chunks; ++c) {
    const int from = job.begin(c, chunks), count = job.count(c, chunks);
    job.bring(from, count, fork.of(c));
    job.flip(from, count, nullptr);
    job.take_back(from, count, fork.of(c));
  }
  fork.join(stream);
}

/// The host waits for each chunk.
inline void waits_in_the_loop(const Job& job, const Fork& fork, int chunks, cudaStream_t stream) {
  fork.fork(stream);
  for (int c = 0; c < chunks; ++c) {
    job.part(job.begin(c, chunks), job.count(c, chunks), fork.of(c));
    CUDA_CHECK(cudaStreamSynchronize(fork.of(c)));
  }
  fork.join(stream);
}
