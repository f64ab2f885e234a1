// A kernel that turns one array of floats into another, run between canaries: what chapters 03 to 05 check alike.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "guarded_memory.hpp"
#include "tilewise/device.hpp"
#include "tilewise/device_buffer.hpp"

/// Rows and columns of an input.
using MatrixShape = std::pair<int, int>;

inline std::string text_of(const MatrixShape& shape) {
  return std::to_string(shape.first) + " x " + std::to_string(shape.second);
}

/// Runs launch(in, out) with `input` and a poisoned output of `out_size` words, and looks at everything it may have
/// done; judge(verdict, output) adds what is wrong with the output itself. On the simulator it runs once more on arrays
/// that end where their allocations end, so that reading beyond them is seen too.
template <class Launch, class Judge>
Verdict guarded_run(const Launch& launch, const std::vector<float>& input, std::size_t out_size, const Judge& judge) {
  Verdict verdict;
  NewFindings findings;
  const auto run = [&](const float* in, float* out) {
    cudaError_t status = launch(in, out);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status == cudaSuccess) return true;
    cudaGetLastError();
    verdict.add(Fault::launch_failed, cudaGetErrorString(status));
    return false;
  };

  {
    GuardedMatrix in(input);
    // The margins hold a number, so that a NaN that was read beside `in` and written beside `out` is seen.
    GuardedMatrix out(std::vector<float>(out_size, GuardedMatrix::canary()), -1.2345678e33f);
    if (run(in.data(), out.data())) {
      judge(verdict, out.values());
      if (!out.margins_intact()) verdict.add(Fault::outside_written, "memory around the output was written");
      if (!in.intact()) verdict.add(Fault::input_changed, "the input was changed");
    }
    if (const std::string text = findings.take(); !text.empty()) verdict.add(Fault::finding, text);
  }

  if (tilewise::is_simulated() && verdict.right()) {
    {
      const tilewise::DeviceBuffer<float> in(input);
      tilewise::DeviceBuffer<float> out(out_size);
      run(in.data(), out.data());
      if (const std::string text = findings.take(); !text.empty()) verdict.add(Fault::finding, text);
    }
    if (verdict.has(Fault::launch_failed)) cudaDeviceReset();  // an access out of bounds is the end of a context
  }
  return verdict;
}
