// Wrong pipelines. Each holds one mistake that people make, and each must be rejected by check_pipeline(), which the right ones pass.
#pragma once

#include "pipeline.hpp"

namespace pipeline_mutants {

enum class Bug {
  none,              ///< the right one: proves that it is the mistake that is rejected
  tail_lost,         ///< n / chunks elements in each chunk
  offset_forgotten,  ///< the kernel begins at element 0 each time
  bytes,             ///< as many bytes as there are elements
  chunk_too_long,    ///< the last chunk is as long as the others
  kernel_forgotten,  ///< in the last chunk
  no_fork,           ///< begins before what stands in the caller's stream is done
  no_join,           ///< the caller's stream does not wait
  one_joined,        ///< it waits for the first stream
  waits_first,       ///< for an event that is recorded afterwards
  out_elsewhere,     ///< the copy back goes into the next stream
  default_stream,    ///< the kernel does, and the streams do not wait for it
  one_buffer,        ///< all chunks use the same place on the device
};

template <Bug BUG>
void pipeline(const Job& job, cudaStream_t stream) {
  constexpr auto is = [](Bug bug) { return bug == BUG; };
  constexpr int kStreams = 3, kChunks = 5;
  cudaStream_t streams[kStreams];
  cudaEvent_t begin, ends[kStreams];
  CUDA_CHECK(cudaEventCreate(&begin));
  for (cudaStream_t& s : streams) CUDA_CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (cudaEvent_t& e : ends) CUDA_CHECK(cudaEventCreate(&e));

  if (!is(Bug::waits_first)) CUDA_CHECK(cudaEventRecord(begin, stream));
  if (!is(Bug::no_fork))
    for (cudaStream_t s : streams) CUDA_CHECK(cudaStreamWaitEvent(s, begin, 0));
  if (is(Bug::waits_first)) CUDA_CHECK(cudaEventRecord(begin, stream));

  const int each = is(Bug::tail_lost) ? job.n / kChunks : (job.n + kChunks - 1) / kChunks;
  for (int c = 0; c < kChunks; ++c) {
    const int from = c * each;
    const int count = is(Bug::chunk_too_long) ? each : std::min(each, job.n - from);
    if (count <= 0) break;
    cudaStream_t s = streams[c % kStreams];
    cudaStream_t after = is(Bug::out_elsewhere) ? streams[(c + 1) % kStreams] : s;
    const size_t bytes = is(Bug::bytes) ? count : sizeof(float) * count;
    float* const in = job.device_in + (is(Bug::one_buffer) ? 0 : from);
    float* const out = job.device_out + (is(Bug::one_buffer) ? 0 : from);
    CUDA_CHECK(cudaMemcpyAsync(in, job.in + from, bytes, cudaMemcpyHostToDevice, s));
    if (!is(Bug::kernel_forgotten) || c < kChunks - 1)
      CUDA_CHECK(launch_flips(count, job.times, is(Bug::offset_forgotten) ? job.device_in : in, out,
                              is(Bug::default_stream) ? nullptr : s));
    CUDA_CHECK(cudaMemcpyAsync(job.out + from, out, bytes, cudaMemcpyDeviceToHost, after));
  }

  for (int i = 0; i < kStreams; ++i) {
    CUDA_CHECK(cudaEventRecord(ends[i], streams[i]));
    if (is(Bug::no_join) || (is(Bug::one_joined) && i > 0)) continue;
    CUDA_CHECK(cudaStreamWaitEvent(stream, ends[i], 0));
  }
  for (cudaStream_t s : streams) CUDA_CHECK(cudaStreamDestroy(s));  // what is in them goes on
  for (cudaEvent_t e : ends) CUDA_CHECK(cudaEventDestroy(e));
  CUDA_CHECK(cudaEventDestroy(begin));
}

struct Mutant {
  const char* name;
  void (*pipeline)(const Job&, cudaStream_t);
  Fault fault;
  const char* finding = "";       ///< what the simulator must say, if anything
  bool gpu_may_be_lucky = false;  ///< whether a GPU may do it right all the same
};

inline const Mutant mutants[] = {
    {"tail_lost", pipeline<Bug::tail_lost>, Fault::wrong_value},
    {"offset_forgotten", pipeline<Bug::offset_forgotten>, Fault::wrong_value},
    {"bytes", pipeline<Bug::bytes>, Fault::wrong_value},
    {"chunk_too_long", pipeline<Bug::chunk_too_long>, Fault::outside_written},
    {"kernel_forgotten", pipeline<Bug::kernel_forgotten>, Fault::wrong_value},
    {"no_fork", pipeline<Bug::no_fork>, Fault::finding, "race-streams", true},
    {"no_join", pipeline<Bug::no_join>, Fault::finding, "race-streams", true},
    {"one_joined", pipeline<Bug::one_joined>, Fault::finding, "race-streams", true},
    {"waits_first", pipeline<Bug::waits_first>, Fault::finding, "race-streams", true},
    {"out_elsewhere", pipeline<Bug::out_elsewhere>, Fault::finding, "race-streams", true},
    {"default_stream", pipeline<Bug::default_stream>, Fault::finding, "race-streams", true},
    {"one_buffer", pipeline<Bug::one_buffer>, Fault::finding, "race-streams", true},
};

}  // namespace pipeline_mutants
