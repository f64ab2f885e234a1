// Wrong kernels that brighten a picture. Each holds one mistake that beginners make, and each must be rejected by
// check_brighten(), the same function that the right kernels pass.
#pragma once

#include <cuda_runtime.h>

#include "00_first_kernel/check_brighten.hpp"

namespace brighten_mutants {

enum class Bug {
  none,  ///< the right kernel: proves that it is the mistake, and not the template, that is rejected
  no_guard,
  guard_one_too_many,
  guard_one_too_few,
  thread_alone,
  blocks_of_32,
  grid_rounded_down,
  into_the_input,
  twice,
  first_pixel_for_all,
  neighbour,
  adds_to_out,
  dark_left_out,
  nan_is_black,
};

/// A thread per pixel, in blocks of 256.
template <Bug BUG>
__global__ void mutant(const float* in, float* out, int n) {
  const auto is = [](Bug bug) { return bug == BUG; };
  int i = blockIdx.x * (is(Bug::blocks_of_32) ? 32 : blockDim.x) + threadIdx.x;
  if (is(Bug::thread_alone)) i = threadIdx.x;
  const int end = is(Bug::guard_one_too_many) ? n + 1 : is(Bug::guard_one_too_few) ? n - 1 : n;
  if (!is(Bug::no_guard) && i >= end) return;
  const int from = is(Bug::first_pixel_for_all) ? 0 : is(Bug::neighbour) ? i + 1 : i;
  float pixel = sqrtf(in[from]);
  if (is(Bug::twice)) pixel = sqrtf(pixel);
  if (is(Bug::adds_to_out)) pixel += out[i];
  if (is(Bug::dark_left_out) && in[i] < 0.01f) return;
  if (is(Bug::nan_is_black)) pixel = fmaxf(pixel, 0.0f);
  if (is(Bug::into_the_input)) {
    const_cast<float*>(in)[i] = pixel;
  } else {
    out[i] = pixel;
  }
}

enum class FlatBug { none, no_guard, and_for_or, guard_swapped, height_for_width, by_columns, grid_swapped };

/// An x and a y for each thread, in blocks of 32 x 8.
template <FlatBug BUG>
__global__ void flat_mutant(const float* in, float* out, int width, int height) {
  const auto is = [](FlatBug bug) { return bug == BUG; };
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (is(FlatBug::and_for_or)) {
    if (x >= width && y >= height) return;
  } else if (is(FlatBug::guard_swapped)) {
    if (x >= height || y >= width) return;
  } else if (!is(FlatBug::no_guard)) {
    if (x >= width || y >= height) return;
  }
  const int i = is(FlatBug::height_for_width) ? y * height + x : y * width + x;
  out[is(FlatBug::by_columns) ? x * height + y : i] = sqrtf(in[i]);
}

template <Bug BUG>
cudaError_t launch(const float* in, float* out, int width, int height) {
  const int n = width * height;
  const int blocks = BUG == Bug::grid_rounded_down ? n / 256 : (n + 255) / 256;
  if (blocks > 0) mutant<BUG><<<blocks, 256>>>(in, out, n);
  return cudaGetLastError();
}

template <FlatBug BUG>
cudaError_t launch_flat(const float* in, float* out, int width, int height) {
  dim3 grid((width + 31) / 32, (height + 7) / 8);
  if (BUG == FlatBug::grid_swapped) grid = dim3((height + 31) / 32, (width + 7) / 8);
  flat_mutant<BUG><<<grid, dim3(32, 8)>>>(in, out, width, height);
  return cudaGetLastError();
}

struct Mutant {
  const char* name;
  cudaError_t (*launch)(const float*, float*, int, int);
  Fault fault;  ///< one that its verdict must have
};

inline const Mutant mutants[] = {
    {"no_guard", launch<Bug::no_guard>, Fault::outside_written},
    {"guard_one_too_many", launch<Bug::guard_one_too_many>, Fault::outside_written},
    {"guard_one_too_few", launch<Bug::guard_one_too_few>, Fault::wrong_value},
    {"thread_alone", launch<Bug::thread_alone>, Fault::wrong_value},
    {"blocks_of_32", launch<Bug::blocks_of_32>, Fault::wrong_value},
    {"grid_rounded_down", launch<Bug::grid_rounded_down>, Fault::wrong_value},
    {"into_the_input", launch<Bug::into_the_input>, Fault::input_changed},
    {"twice", launch<Bug::twice>, Fault::wrong_value},
    {"first_pixel_for_all", launch<Bug::first_pixel_for_all>, Fault::wrong_value},
    {"neighbour", launch<Bug::neighbour>, Fault::wrong_value},
    {"adds_to_out", launch<Bug::adds_to_out>, Fault::wrong_value},
    {"dark_left_out", launch<Bug::dark_left_out>, Fault::wrong_value},
    {"no_guard, 2-D", launch_flat<FlatBug::no_guard>, Fault::outside_written},
    {"and_for_or", launch_flat<FlatBug::and_for_or>, Fault::outside_written},
    {"guard_swapped", launch_flat<FlatBug::guard_swapped>, Fault::wrong_value},
    {"height_for_width", launch_flat<FlatBug::height_for_width>, Fault::wrong_value},
    {"by_columns", launch_flat<FlatBug::by_columns>, Fault::wrong_value},
    {"grid_swapped", launch_flat<FlatBug::grid_swapped>, Fault::wrong_value},
};

}  // namespace brighten_mutants
