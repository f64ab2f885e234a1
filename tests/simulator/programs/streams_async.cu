// Splits an array over streams: copy in, compute, copy out, asynchronously and in chunks; events order the last step.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

static void ok(cudaError_t e, const char *what) {
  if (e != cudaSuccess) {
    std::printf("%s: %s (%d)\n", what, cudaGetErrorString(e), int(e));
    std::exit(1);
  }
}

__global__ void square_and_add(double *values, int n, double add) {
  int i = threadIdx.x + blockDim.x * blockIdx.x;
  if (i < n) values[i] = values[i] * values[i] + add;
}

__global__ void total(const double *values, int n, double *out) {
  __shared__ double partial[128];
  double sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += values[i];
  partial[threadIdx.x] = sum;
  for (int half = blockDim.x / 2; half; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) *out = partial[0];
}

static void CUDART_CB note(void *counter) { ++*static_cast<int *>(counter); }

int main() {
  const int streams = 3, chunk = 1021, n = 8 * chunk + 13;
  double *host, *device, *sum;
  ok(cudaMallocHost(&host, n * sizeof(double)), "cudaMallocHost");
  ok(cudaMalloc(&device, n * sizeof(double)), "cudaMalloc");
  for (int i = 0; i < n; ++i) host[i] = i % 17;

  std::vector<cudaStream_t> stream(streams);
  std::vector<cudaEvent_t> done(streams);
  for (int s = 0; s < streams; ++s) {
    ok(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    ok(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming), "cudaEventCreateWithFlags");
  }
  ok(cudaMallocAsync((void **)&sum, sizeof(double), stream[0]), "cudaMallocAsync");
  int chunks = 0;
  for (int begin = 0, k = 0; begin < n; begin += chunk, ++k) {
    const int count = n - begin < chunk ? n - begin : chunk;
    cudaStream_t s = stream[k % streams];
    ok(cudaMemcpyAsync(device + begin, host + begin, count * sizeof(double), cudaMemcpyHostToDevice, s), "copy in");
    square_and_add<<<(count + 255) / 256, 256, 0, s>>>(device + begin, count, 0.25);
    ok(cudaMemcpyAsync(host + begin, device + begin, count * sizeof(double), cudaMemcpyDeviceToHost, s), "copy out");
    ok(cudaLaunchHostFunc(s, note, &chunks), "cudaLaunchHostFunc");
  }
  for (int s = 0; s < streams; ++s) {
    ok(cudaEventRecord(done[s], stream[s]), "cudaEventRecord");
    ok(cudaStreamWaitEvent(stream[0], done[s], 0), "cudaStreamWaitEvent");
  }
  double computed = 0;
  total<<<1, 128, 0, stream[0]>>>(device, n, sum);
  ok(cudaMemcpyAsync(&computed, sum, sizeof computed, cudaMemcpyDefault, stream[0]), "copy sum");
  ok(cudaStreamSynchronize(stream[0]), "cudaStreamSynchronize");
  if (cudaStreamQuery(stream[1]) != cudaSuccess) ok(cudaStreamSynchronize(stream[1]), "cudaStreamSynchronize");
  ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize");

  double expected = 0;
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    const double x = i % 17, y = x * x + 0.25;
    expected += y;
    wrong += host[i] != y;
  }
  ok(cudaFreeAsync(sum, stream[0]), "cudaFreeAsync");
  for (int s = 0; s < streams; ++s) {
    ok(cudaEventDestroy(done[s]), "cudaEventDestroy");
    ok(cudaStreamDestroy(stream[s]), "cudaStreamDestroy");
  }
  ok(cudaFree(device), "cudaFree");
  ok(cudaFreeHost(host), "cudaFreeHost");
  const bool right = wrong == 0 && computed == expected && chunks == 9;
  std::printf("%d values in %d chunks on %d streams: %s\n", n, chunks, streams, right ? "right" : "WRONG");
  return right ? 0 : 1;
}
