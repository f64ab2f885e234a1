// Is a pipeline right? The one function that every right way of lesson 15 must pass and every wrong one must fail.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "guarded_memory.hpp"
#include "pipeline.hpp"
#include "tilewise/cuda_check.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/pinned_buffer.hpp"
#include "tilewise/random.hpp"

using Pipeline = std::function<void(const Job&, cudaStream_t)>;

/// What `times` flips make of x.
inline float flipped(float x, int times) {
  for (int t = 0; t < times; ++t) x = 1 - x;
  return x;
}

/// Runs the pipeline twice, with different numbers, in the middle of arrays that are NaN elsewhere. The numbers come by work in the
/// same stream, and the results are taken from there by work in it: whoever leaves its order reads too early or writes too late. The
/// host waits for that stream alone.
inline Verdict check_pipeline(const Pipeline& pipeline, int n, int times) {
  constexpr int kMargin = 64;
  const std::size_t size = n + 2 * kMargin;
  Verdict verdict;
  NewFindings findings;
  try {
    const tilewise::Stream own(cudaStreamNonBlocking);
    const cudaStream_t stream = own.get();
    tilewise::PinnedBuffer<float> in(size), out(size), result(size);
    for (int round = 0; round < 2; ++round) {
      std::vector<float> numbers(size, NAN);
      const std::vector<float> inner = tilewise::random_vector(n, round + 1);
      std::copy(inner.begin(), inner.end(), numbers.begin() + kMargin);
      const tilewise::DeviceBuffer<float> source(numbers), device_in(std::vector<float>(size, NAN)),
          device_out(std::vector<float>(size, NAN));
      tilewise::DeviceBuffer<float> taken(std::vector<float>(size, -1.0f));
      std::fill_n(in.span().data(), size, -2.0f);
      std::fill_n(out.span().data(), size, -3.0f);
      const Job job{n,
                    times,
                    in.span().data() + kMargin,
                    out.span().data() + kMargin,
                    const_cast<float*>(device_in.data()) + kMargin,
                    const_cast<float*>(device_out.data()) + kMargin};
      const std::size_t bytes = size * sizeof(float);
      CUDA_CHECK(cudaMemcpyAsync(in.span().data(), source.data(), bytes, cudaMemcpyDeviceToHost, stream));
      pipeline(job, stream);
      CUDA_CHECK(cudaMemcpyAsync(taken.data(), out.span().data(), bytes, cudaMemcpyHostToDevice, stream));
      CUDA_CHECK(cudaMemcpyAsync(result.span().data(), taken.data(), bytes, cudaMemcpyDeviceToHost, stream));
      CUDA_CHECK(cudaStreamSynchronize(stream));
      for (std::size_t i = 0; i < size; ++i) {
        const bool inside = i >= kMargin && i < size - kMargin;
        const float got = result.span()[i], expected = inside ? flipped(numbers[i], times) : -3.0f;
        if (got == expected) continue;
        verdict.add(inside ? Fault::wrong_value : Fault::outside_written,
                    "element " + std::to_string(static_cast<long long>(i) - kMargin) + " of " + std::to_string(n) +
                        " is " + std::to_string(got) + " for " + std::to_string(expected));
        break;
      }
      // Whatever was left under way: it uses memory that is freed now.
      if (const std::string text = findings.take(); !text.empty()) verdict.add(Fault::finding, text);
      CUDA_CHECK(cudaDeviceSynchronize());
    }
  } catch (const std::exception& error) {
    cudaGetLastError();
    verdict.add(Fault::launch_failed, error.what());
  }
  if (const std::string text = findings.take(); !text.empty()) verdict.add(Fault::finding, text);
  return verdict;
}
