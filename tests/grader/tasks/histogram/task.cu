// histogram: how often each key occurs.
#include "tilewise/task.hpp"

/// count[k] = how many of the n keys are k, for 0 <= k < bins. All keys are from 0 to bins - 1.
/// key: n ints in device memory, n is 0 to 16,777,216; count: bins ints, which hold garbage before; bins is 1 to 256. key must not
/// change. Pass `stream` on to each launch, and to cudaMemsetAsync. Returns the first error.
cudaError_t launch_histogram(const int* key, int* count, int n, int bins, cudaStream_t stream = nullptr);

// ---- The grader's part.

TASK(histogram) {
  title = "how often each key occurs, with few atomics";
  sizes = {"n", "bins"};
  buffers = [](int n, int bins) { return Buffers{{"key", n, whole(0, bins - 1)}, {"count", bins}}; };
  reference = [](const Ints& key, Ints& count, int n, int bins) {
    for (int k = 0; k < bins; ++k) count[k] = 0;
    for (int i = 0; i < n; ++i) ++count[key[i]];
  };
  mistakes = {{"each key is counted once at most: threads that add at the same time overwrite each other's sum",
               [](const Ints& key, Ints& count, int n, int bins) {
                 for (int k = 0; k < bins; ++k) count[k] = 0;
                 for (int i = 0; i < n; ++i) count[key[i]] = 1;
               }}};
  visible = {{0, 5}, {1, 1}, {31, 7}, {33, 256}, {1000, 3}, {5000, 100}};
  hidden = {{1, 6000}, {1, 256}};
  counted_at = {16384, 64};
  targets = {"load_requests <= 530: 16,384 keys are 512 requests of a warp",
             "atomics <= 2100 (14 points): if each of 32 blocks counts in shared memory first, it adds 64 sums to "
             "global memory",
             "blocks >= 16: one block uses one SM", "launches <= 2: one kernel, and one for zeros if you like"};
  hints = {
      "16,384 atomic updates of global memory are many. Where could a block count first?",
      "Zeros into int local[256]; barrier; atomicAdd(&local[key[i]], 1); barrier; then each bin's sum to global "
      "memory.",
      "With a loop i += gridDim.x * blockDim.x over the keys, 32 blocks do for any n. Skip the bins whose sum is 0."};
}
