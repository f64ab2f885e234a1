// An array goes to the device, is worked on, and comes back, in one stream and in three: the whole
// program.
//   nvcc plain.cu -o plain && ./plain     (without a GPU: simcc instead of nvcc)
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "streams.cuh"

#define CHECK(call) check(call, __LINE__)

void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::printf("plain.cu, line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}

int main() {
  const int n = 1000003, times = 101, each = 65536;  // ragged: the last chunk is shorter
  float *in, *out, *din, *dout;
  CHECK(cudaMallocHost(&in, n * sizeof(float)));  // pinned: the GPU fetches it by itself
  CHECK(cudaMallocHost(&out, n * sizeof(float)));
  CHECK(cudaMalloc(&din, n * sizeof(float)));
  CHECK(cudaMalloc(&dout, n * sizeof(float)));
  for (int i = 0; i < n; ++i) in[i] = static_cast<float>(i % 1000) / 1000;

  cudaStream_t streams[3];
  for (cudaStream_t& s : streams) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  cudaEvent_t start, stop, ends[3];
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  for (cudaEvent_t& e : ends) CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));

  int wrong = 0;
  for (const int many : {1, 1, 3}) {  // the first round also loads the kernel
    std::fill(out, out + n, -1.0f);
    CHECK(cudaEventRecord(start, streams[0]));
    for (int s = 1; s < many; ++s) CHECK(cudaStreamWaitEvent(streams[s], start, 0));
    for (int from = 0, chunk = 0; from < n; from += each, ++chunk) {
      const int count = std::min(each, n - from);
      cudaStream_t stream = streams[chunk % many];
      CHECK(cudaMemcpyAsync(din + from, in + from, count * sizeof(float), cudaMemcpyHostToDevice,
                            stream));
      flips<<<(count + 255) / 256, 256, 0, stream>>>(count, times, din + from, dout + from);
      CHECK(cudaGetLastError());  // was the launch accepted?
      CHECK(cudaMemcpyAsync(out + from, dout + from, count * sizeof(float), cudaMemcpyDeviceToHost,
                            stream));
    }
    for (int s = 1; s < many; ++s) {  // stream 0 waits for the others
      CHECK(cudaEventRecord(ends[s], streams[s]));
      CHECK(cudaStreamWaitEvent(streams[0], ends[s], 0));
    }
    CHECK(cudaEventRecord(stop, streams[0]));
    CHECK(cudaEventSynchronize(stop));  // the only wait of the host

    float ms = 0;  // on the simulator: how long this computer took
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    for (int i = 0; i < n; ++i) wrong += out[i] == 1 - in[i] ? 0 : 1;  // 101 is odd
    std::printf("%d stream%s: %.3f ms\n", many, many == 1 ? "" : "s", ms);
  }
  std::printf("%s: %d wrong elements\n", wrong == 0 ? "right" : "WRONG", wrong);

  for (cudaStream_t s : streams) CHECK(cudaStreamDestroy(s));
  for (cudaEvent_t e : {start, stop, ends[0], ends[1], ends[2]}) CHECK(cudaEventDestroy(e));
  for (float* p : {din, dout}) CHECK(cudaFree(p));
  for (float* p : {in, out}) CHECK(cudaFreeHost(p));
  return wrong == 0 ? 0 : 1;
}
