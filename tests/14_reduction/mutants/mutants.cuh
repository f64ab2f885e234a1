// Wrong sums. Each holds one mistake that people make, and each must be rejected by check_sum(), the same function that the right kernels
// pass. They differ in one place each, so they are one template: its body is sum_one_launch in a plainer form.
#pragma once

#include <cuda_runtime.h>

#include "reduction.cuh"

namespace sum_mutants {

enum class Bug {
  none,               ///< the right kernel: proves that it is the mistake, and not the template, that is rejected
  tail_lost,          ///< n / 4 * 4 elements
  head_twice,         ///< what stands before the first vector is added by the vectors' loop, too
  no_alignment,       ///< float4 from wherever x begins
  stride_of_block,    ///< the next element of a thread is a block further, not a grid
  one_element_each,   ///< no loop: what the grid does not cover is lost
  half_of_mask,       ///< the shuffles of 16 lanes only
  first_distance_8,   ///< the tree begins 8 lanes apart
  warps_lost,         ///< only warp 0's sum
  no_barrier,         ///< between the warps' words and their sum
  every_thread_adds,  ///< *total += by all threads of the last block
  no_guard,           ///< lanes beyond the last warp read words that nobody wrote
  ticket_not_reset,   ///< atomicAdd in place of atomicInc: right once
  one_ticket_short,   ///< the last but one finishes
  no_fence,           ///< the ticket may overtake the block's sum
  adds_to_total,      ///< *total += sum: right only where it was 0
  block_zero_ends,    ///< block 0 adds the others' sums without waiting
};

template <Bug BUG>
__global__ void __launch_bounds__(256)
    sum_mutant(size_t n, const float* x, float* of_block, unsigned* tickets, float* total) {
  constexpr auto is = [](Bug bug) { return bug == BUG; };
  __shared__ float of_warp[32];
  __shared__ bool last;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const size_t threads = is(Bug::stride_of_block) ? 256 : static_cast<size_t>(gridDim.x) * 256;
  const size_t thread = static_cast<size_t>(blockIdx.x) * 256 + threadIdx.x;

  const size_t before = is(Bug::no_alignment) ? 0 : before_vectors(n, x), count = (n - before) / 4,
               after = before + 4 * count;
  float sum = 0;
  for (size_t i = thread; i < count; i += threads) {
    const float4 v = reinterpret_cast<const float4*>(x + before)[i];
    sum += (v.x + v.y) + (v.z + v.w);
    if (is(Bug::one_element_each)) break;
  }
  if (thread < before) sum += is(Bug::head_twice) ? 2 * x[thread] : x[thread];
  if (thread < n - after && !is(Bug::tail_lost)) sum += x[after + thread];

  const auto of_lanes = [&](float value) {
    for (int distance = is(Bug::first_distance_8) ? 8 : 16; distance > 0; distance /= 2) {
      const float other = __shfl_down_sync(0xffffffffu, value, distance, is(Bug::half_of_mask) ? 16 : 32);
      value += other;
    }
    return value;
  };
  const auto of_threads = [&](float value) {
    value = of_lanes(value);
    if (lane == 0) of_warp[warp] = value;
    if (!is(Bug::no_barrier)) __syncthreads();
    if (warp == 0 && !is(Bug::warps_lost)) value = of_lanes(lane < 8 || is(Bug::no_guard) ? of_warp[lane] : 0.0f);
    return value;
  };
  sum = of_threads(sum);
  if (threadIdx.x == 0) {
    of_block[blockIdx.x] = sum;
    if (!is(Bug::no_fence)) __threadfence();
    const unsigned ticket = is(Bug::ticket_not_reset) ? atomicAdd(tickets, 1) : atomicInc(tickets, gridDim.x - 1);
    last = is(Bug::block_zero_ends) ? blockIdx.x == 0
                                    : ticket == gridDim.x - 1 - (is(Bug::one_ticket_short) && gridDim.x > 1);
    if (!is(Bug::no_fence)) __threadfence();
  }
  __syncthreads();
  if (!last) return;
  sum = threadIdx.x < gridDim.x ? __ldcg(of_block + threadIdx.x) : 0.0f;  // at most 256 blocks
  sum = of_threads(sum);
  if (is(Bug::every_thread_adds)) {
    *total = 0;
    __syncthreads();
    *total += sum;
  } else if (threadIdx.x == 0) {
    *total = is(Bug::adds_to_total) ? *total + sum : sum;
  }
}

template <Bug BUG>
cudaError_t launch(size_t n, const float* x, const Scratch& scratch, float* total) {
  unsigned* const tickets = static_cast<unsigned*>(scratch.sums());
  float* const of_block = reinterpret_cast<float*>(static_cast<char*>(scratch.sums()) + kReductionHead);
  sum_mutant<BUG><<<reduction_blocks(n, 1024, 1), 256>>>(n, x, of_block, tickets, total);
  return cudaGetLastError();
}

struct Mutant {
  const char* name;
  cudaError_t (*launch)(size_t, const float*, const Scratch&, float*);
  Fault fault;
  const char* finding = "";       ///< what the simulator must say, if anything
  bool gpu_may_be_lucky = false;  ///< whether a GPU may compute the right sum all the same
};

inline const Mutant mutants[] = {
    {"tail_lost", launch<Bug::tail_lost>, Fault::wrong_value},
    {"head_twice", launch<Bug::head_twice>, Fault::wrong_value},
    {"stride_of_block", launch<Bug::stride_of_block>, Fault::wrong_value},
    {"one_element_each", launch<Bug::one_element_each>, Fault::wrong_value},
    {"half_of_mask", launch<Bug::half_of_mask>, Fault::wrong_value},
    {"first_distance_8", launch<Bug::first_distance_8>, Fault::wrong_value},
    {"warps_lost", launch<Bug::warps_lost>, Fault::wrong_value},
    {"no_barrier", launch<Bug::no_barrier>, Fault::finding, "race", true},
    {"every_thread_adds", launch<Bug::every_thread_adds>, Fault::finding, "race", true},
    {"no_guard", launch<Bug::no_guard>, Fault::finding, "uninitialised", true},
    {"ticket_not_reset", launch<Bug::ticket_not_reset>, Fault::wrong_value},
    {"one_ticket_short", launch<Bug::one_ticket_short>, Fault::wrong_value, "", true},
    {"no_fence", launch<Bug::no_fence>, Fault::finding, "race", true},
    {"adds_to_total", launch<Bug::adds_to_total>, Fault::wrong_value},
    {"block_zero_ends", launch<Bug::block_zero_ends>, Fault::wrong_value, "", true},
    // The last: a GPU is of no use to the program after it.
    {"no_alignment", launch<Bug::no_alignment>, Fault::launch_failed},
};

}  // namespace sum_mutants
