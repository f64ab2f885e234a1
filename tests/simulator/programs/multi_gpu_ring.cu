// Ring all-reduce: reduce-scatter, then all-gather, n-1 steps each, with cudaMemcpyPeerAsync between neighbours and events
// as the only synchronisation. No peer access is needed: copies between devices work without.
#include <cuda_runtime.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorName(status));
}

template <typename T>
__global__ void accumulate(T* __restrict__ acc, const T* __restrict__ in, size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) acc[i] += in[i];
}

class Rank {
 public:
  Rank(int device, size_t n, size_t chunk) : device_(device) {
    use();
    check(cudaMalloc(&data, n * sizeof(int)));
    check(cudaMalloc(&inbox, 2 * chunk * sizeof(int)));
    check(cudaStreamCreate(&stream));
    for (auto* e : {&sent, &consumed}) {
      check(cudaEventCreateWithFlags(e, cudaEventDisableTiming));
      check(cudaEventRecord(*e, stream));
    }
  }
  ~Rank() {
    cudaSetDevice(device_);
    cudaFree(data), cudaFree(inbox);
    cudaEventDestroy(sent), cudaEventDestroy(consumed);
    cudaStreamDestroy(stream);
  }
  Rank(const Rank&) = delete;
  void use() const { check(cudaSetDevice(device_)); }

  int *data = nullptr, *inbox = nullptr;
  cudaStream_t stream{};
  cudaEvent_t sent{}, consumed{};

 private:
  int device_;
};

}  // namespace

int main() try {
  int n_dev = 0;
  check(cudaGetDeviceCount(&n_dev));
  const size_t chunk = 515, n = chunk * n_dev;
  std::vector<Rank*> ranks;
  for (int r = 0; r < n_dev; ++r) ranks.push_back(new Rank(r, n, chunk));
  for (int r = 0; r < n_dev; ++r) {
    std::vector<int> mine(n);
    for (size_t i = 0; i < n; ++i) mine[i] = int(i) * (r + 1);
    ranks[r]->use();
    check(cudaMemcpyAsync(ranks[r]->data, mine.data(), n * sizeof(int), cudaMemcpyHostToDevice, ranks[r]->stream));
    check(cudaStreamSynchronize(ranks[r]->stream));
  }
  const auto wrap = [n_dev](int i) { return (i % n_dev + n_dev) % n_dev; };

  // reduce-scatter: in step s, rank r sends chunk r-s to its right neighbour's inbox
  for (int s = 0; s < n_dev - 1; ++s) {
    for (int r = 0; r < n_dev; ++r) {
      Rank &me = *ranks[r], &right = *ranks[wrap(r + 1)];
      me.use();
      check(cudaStreamWaitEvent(me.stream, right.consumed, 0));
      check(cudaMemcpyPeerAsync(right.inbox, wrap(r + 1), me.data + wrap(r - s) * chunk, r, chunk * sizeof(int), me.stream));
      check(cudaEventRecord(me.sent, me.stream));
    }
    for (int r = 0; r < n_dev; ++r) {
      Rank &me = *ranks[r], &left = *ranks[wrap(r - 1)];
      me.use();
      check(cudaStreamWaitEvent(me.stream, left.sent, 0));
      accumulate<<<3, 128, 0, me.stream>>>(me.data + wrap(r - s - 1) * chunk, me.inbox, chunk);
      check(cudaGetLastError());
      check(cudaEventRecord(me.consumed, me.stream));
    }
  }
  // all-gather: finished chunks travel round, straight to their places
  for (int s = 0; s < n_dev - 1; ++s) {
    for (int r = 0; r < n_dev; ++r) {
      Rank &me = *ranks[r], &right = *ranks[wrap(r + 1)];
      me.use();
      check(cudaStreamWaitEvent(me.stream, right.consumed, 0));
      const size_t at = wrap(r + 1 - s) * chunk;
      check(cudaMemcpyPeerAsync(right.data + at, wrap(r + 1), me.data + at, r, chunk * sizeof(int), me.stream));
      check(cudaEventRecord(me.sent, me.stream));
    }
    for (int r = 0; r < n_dev; ++r) {
      ranks[r]->use();
      check(cudaStreamWaitEvent(ranks[r]->stream, ranks[wrap(r - 1)]->sent, 0));
      check(cudaEventRecord(ranks[r]->consumed, ranks[r]->stream));
    }
  }
  size_t wrong = 0;
  for (int r = 0; r < n_dev; ++r) {
    std::vector<int> got(n);
    ranks[r]->use();
    check(cudaMemcpyAsync(got.data(), ranks[r]->data, n * sizeof(int), cudaMemcpyDeviceToHost, ranks[r]->stream));
    check(cudaStreamSynchronize(ranks[r]->stream));
    for (size_t i = 0; i < n; ++i) wrong += got[i] != int(i) * (n_dev * (n_dev + 1) / 2);
  }
  for (Rank* r : ranks) check(cudaSetDevice(0)), delete r;
  std::printf("all-reduce over %d ranks: %s\n", n_dev, wrong ? "wrong" : "right");
  return wrong != 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
