// Memory in the order of a stream: from the device's own pool and from one that the program makes, with their settings.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                    \
  do {                                                                 \
    const cudaError_t error = (call);                                  \
    if (error != cudaSuccess) {                                        \
      std::printf("line %d: %s\n", __LINE__, cudaGetErrorName(error)); \
      std::exit(EXIT_FAILURE);                                         \
    }                                                                  \
  } while (0)

__global__ void triangle(long long* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i * (i + 1ll) / 2;
}

// Several turns of allocating, computing and freeing; a pool that keeps its memory need not ask for it each time.
static int turns(cudaMemPool_t pool, cudaStream_t stream, bool by_default) {
  const int n = 30001;
  static long long host[n];
  std::uint64_t keep = 1 << 20;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  std::uint64_t kept = 0;
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
  int wrong = kept != keep, opportunistic = 0, follows = 1;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &opportunistic));
  opportunistic = 1;
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &opportunistic));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseFollowEventDependencies, &follows));
  wrong += opportunistic != 0 || follows != 1;
  for (int turn = 0; turn < 3; ++turn) {
    long long* device = nullptr;
    if (by_default)
      CHECK(cudaMallocAsync(&device, sizeof host, stream));
    else
      CHECK(cudaMallocFromPoolAsync(&device, sizeof host, pool, stream));
    triangle<<<(n + 255) / 256, 256, 0, stream>>>(device, n);
    CHECK(cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(device, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; ++i) wrong += host[i] != i * (i + 1ll) / 2;
  }
  CHECK(cudaMemPoolTrimTo(pool, 0));
  return wrong;
}

int main() {
  cudaStream_t stream;
  cudaMemPool_t pool;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  int wrong = turns(pool, stream, true);
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = 0;
  CHECK(cudaMemPoolCreate(&pool, &properties));
  wrong += turns(pool, stream, false);
  CHECK(cudaMemPoolDestroy(pool));
  CHECK(cudaStreamDestroy(stream));
  std::puts(wrong ? "wrong" : "right");
}
