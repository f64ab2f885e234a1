// Runs a kernel that fills an array and brings the array back.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>
#include <vector>

#include "tilewise/device_buffer.hpp"

/// Launches kernel(out, arguments...) on `grid` x `block` threads; returns the `count` elements of `out`, which start
/// with all bits set.
template <class T, class... Parameters>
std::vector<T> on_device(dim3 grid, dim3 block, std::size_t count, void (*kernel)(T*, Parameters...),
                         std::type_identity_t<Parameters>... arguments) {
  tilewise::DeviceBuffer<T> out(count);
  out.poison();
  kernel<<<grid, block>>>(out.data(), arguments...);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
  return out.to_host();
}

/// Major compute capability of the device that the tests run on.
inline int compute_capability_major() {
  cudaDeviceProp properties{};
  CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  return properties.major;
}
