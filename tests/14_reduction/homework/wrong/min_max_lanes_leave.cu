// expect: min_max_count findings shuffle-absent-lane
// points: min_max_count 31..42
// Threads without an element leave before the shuffles, which name all 32 lanes.
#include "homework.cuh"

// What is known of some of the elements.
struct Summary {
  float least, largest;
  int count;
};

constexpr int THREADS = 256, BLOCKS = 512;  // BLOCKS: the most that `parts` has room for

__device__ Summary nothing() { return {INFINITY, -INFINITY, 0}; }

__device__ Summary join(Summary a, Summary b) {
  return {fminf(a.least, b.least), fmaxf(a.largest, b.largest), a.count + b.count};
}

__device__ Summary joined(Summary a, float x) {  // of a number and a NaN, fminf() and fmaxf() give the number
  return {fminf(a.least, x), fmaxf(a.largest, x), a.count + (x == x)};
}

__device__ Summary warp_summary(Summary mine) {
  for (int distance = 16; distance > 0; distance /= 2) {
    const Summary other = {__shfl_down_sync(0xffffffff, mine.least, distance),
                           __shfl_down_sync(0xffffffff, mine.largest, distance),
                           __shfl_down_sync(0xffffffff, mine.count, distance)};
    mine = join(mine, other);
  }
  return mine;
}

// The block's summary, in thread 0. It ends with a barrier, so that it can be called twice.
__device__ Summary block_summary(Summary mine) {
  __shared__ Summary of_warp[THREADS / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  mine = warp_summary(mine);
  if (lane == 0) of_warp[warp] = mine;
  __syncthreads();
  if (warp == 0) mine = warp_summary(lane < THREADS / 32 ? of_warp[lane] : nothing());
  __syncthreads();
  return mine;
}

__global__ void min_max_count(const float* x, int n, float* range, int* count, float* parts, int* part_counts,
                              int* arrived) {
  __shared__ bool last;
  const int thread = blockIdx.x * THREADS + threadIdx.x, threads = gridDim.x * THREADS;
  const int before = min(n, int((16 - size_t(x) % 16) % 16 / 4));  // elements in front of the first float4
  const float4* fours = reinterpret_cast<const float4*>(x + before);
  const int count4 = (n - before) / 4, after = before + 4 * count4;

  Summary mine = nothing();
  if (thread >= n && n > 0) return;
  if (thread < before) mine = joined(mine, x[thread]);
  if (thread < n - after) mine = joined(mine, x[after + thread]);  // up to three after the last float4
  for (int i = thread; i < count4; i += threads) {
    const float4 v = fours[i];
    mine = joined(joined(joined(joined(mine, v.x), v.y), v.z), v.w);
  }
  mine = block_summary(mine);

  if (threadIdx.x == 0) {
    const int b = blockIdx.x;
    parts[2 * b] = mine.least, parts[2 * b + 1] = mine.largest, part_counts[b] = mine.count;
    __threadfence();  // all blocks see these words before they see that this block has come
    last = atomicAdd(arrived, 1) == int(gridDim.x) - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;

  mine = nothing();
  for (int b = threadIdx.x; b < int(gridDim.x); b += THREADS)
    mine = join(mine, {__ldcg(parts + 2 * b), __ldcg(parts + 2 * b + 1), __ldcg(part_counts + b)});
  mine = block_summary(mine);
  if (threadIdx.x == 0) {
    range[0] = mine.least, range[1] = mine.largest, *count = mine.count;
    *arrived = 0;  // no other block comes any more
  }
}

cudaError_t launch_min_max_count(const float* x, int n, float* range, int* count, float* parts, int* part_counts,
                                 int* arrived, cudaStream_t stream) {
  const int blocks = min(BLOCKS, n / (16 * THREADS) + 1);  // 16 elements and more for each thread; one block for n = 0
  min_max_count<<<blocks, THREADS, 0, stream>>>(x, n, range, count, parts, part_counts, arrived);
  return cudaGetLastError();
}
