// A step on the host in the midst of a stream's work: between the copy to the host and the copy back.
#include <algorithm>
#include <cstdio>

struct Step {
  int* values;
  int n;
  int number;
  int* log;  // the numbers of the steps, in the order in which they came
  int* logged;
};

static void CUDART_CB turn_around(void* data) {
  const Step& step = *static_cast<const Step*>(data);
  std::reverse(step.values, step.values + step.n);
  step.log[(*step.logged)++] = step.number;
}

__global__ void number_and_add(int* x, int n, int factor) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) x[i] = x[i] * factor + i;
}

int main() {
  const int n = 2003, steps = 4;
  int *device, *pinned, log[steps] = {}, logged = 0;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMalloc(&device, n * sizeof(int));
  cudaHostAlloc(&pinned, n * sizeof(int), cudaHostAllocDefault);
  Step step[steps];
  cudaMemsetAsync(device, 0, n * sizeof(int), stream);
  for (int s = 0; s < steps; ++s) {
    step[s] = {pinned, n, s, log, &logged};
    number_and_add<<<(n + 127) / 128, 128, 0, stream>>>(device, n, s + 1);
    cudaMemcpyAsync(pinned, device, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
    cudaLaunchHostFunc(stream, turn_around, &step[s]);
    cudaMemcpyAsync(device, pinned, n * sizeof(int), cudaMemcpyHostToDevice, stream);
  }
  int wrong = cudaStreamSynchronize(stream) != cudaSuccess;
  wrong += cudaMemcpy(pinned, device, n * sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess;

  int* wanted = new int[n]();
  for (int s = 0; s < steps; ++s) {
    for (int i = 0; i < n; ++i) wanted[i] = wanted[i] * (s + 1) + i;
    std::reverse(wanted, wanted + n);
    wrong += log[s] != s;
  }
  wrong += logged != steps || !std::equal(wanted, wanted + n, pinned);
  delete[] wanted;
  cudaFreeHost(pinned);
  cudaFree(device);
  cudaStreamDestroy(stream);
  std::puts(wrong ? "wrong" : "right");
}
