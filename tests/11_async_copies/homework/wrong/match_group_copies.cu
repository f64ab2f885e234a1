// Copies of groups, and no sum.
// expect: match visible elements are wrong
// points: match 5..5
#include "homework.cuh"

#include <cooperative_groups/memcpy_async.h>
using namespace cooperative_groups;

__global__ void match(const float* x, const float* pattern, float* score, int positions, int length) {
  __shared__ float ps[128];
  const thread_block block = this_thread_block();
  memcpy_async(block, ps, pattern, sizeof(float) * min(length, 128));
  wait(block);
  score[threadIdx.x] = ps[threadIdx.x] * x[threadIdx.x];
}

cudaError_t launch_match(const float* x, const float* pattern, float* score, int positions, int length,
                         cudaStream_t stream) {
  match<<<(positions + 127) / 128, 128, 0, stream>>>(x, pattern, score, positions, length);
  return cudaGetLastError();
}
