// Every GPU sums its part of an array, and NCCL adds up what they have: the whole program.
//   nvcc plain.cu -lnccl -o plain && ./plain     (without a GPU: simcc instead of nvcc)
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "many_gpus.cuh"

#define CHECK(call) check(call, __LINE__)

void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::printf("plain.cu, line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}
void check(ncclResult_t result, int line) {
  if (result == ncclSuccess) return;
  std::printf("plain.cu, line %d: %s\n", line, ncclGetErrorString(result));
  std::exit(1);
}

int main() {
  const int n = 1000003;  // ragged: not every GPU has as many
  std::vector<float> all(n);
  double right = 0;
  for (int i = 0; i < n; ++i) right += all[i] = static_cast<float>(i % 7 - 3);

  int gpus;
  CHECK(cudaGetDeviceCount(&gpus));
  std::vector<ncclComm_t> comm(gpus);
  CHECK(ncclCommInitAll(comm.data(), gpus, nullptr));  // one rank on each GPU

  std::vector<cudaStream_t> stream(gpus);
  std::vector<float*> x(gpus), total(gpus);
  for (int d = 0; d < gpus; ++d) {
    const int begin = static_cast<long long>(n) * d / gpus;
    const int count = static_cast<int>(static_cast<long long>(n) * (d + 1) / gpus) - begin;
    CHECK(cudaSetDevice(d));  // what follows is on GPU d
    CHECK(cudaStreamCreate(&stream[d]));
    CHECK(cudaMalloc(&x[d], (count + 1) * sizeof(float)));
    CHECK(cudaMalloc(&total[d], sizeof(float)));
    CHECK(cudaMemcpyAsync(x[d], &all[begin], count * sizeof(float), cudaMemcpyHostToDevice,
                          stream[d]));
    CHECK(cudaMemsetAsync(total[d], 0, sizeof(float), stream[d]));
    sum<<<256, 256, 0, stream[d]>>>(count, x[d], total[d]);
    CHECK(cudaGetLastError());  // was the launch accepted?
  }
  CHECK(ncclGroupStart());  // one thread asks for all ranks: together
  for (int d = 0; d < gpus; ++d)
    CHECK(ncclAllReduce(total[d], total[d], 1, ncclFloat, ncclSum, comm[d], stream[d]));
  CHECK(ncclGroupEnd());

  int wrong = 0;
  for (int d = 0; d < gpus; ++d) {
    float got;
    CHECK(cudaSetDevice(d));
    CHECK(cudaMemcpyAsync(&got, total[d], sizeof(float), cudaMemcpyDeviceToHost, stream[d]));
    CHECK(cudaStreamSynchronize(stream[d]));
    std::printf("GPU %d: the sum of all is %.0f\n", d, got);
    wrong += got == right ? 0 : 1;
    CHECK(cudaFree(x[d]));
    CHECK(cudaFree(total[d]));
    CHECK(cudaStreamDestroy(stream[d]));
    CHECK(ncclCommDestroy(comm[d]));
  }
  std::printf("%s: %d wrong elements\n", wrong == 0 ? "right" : "WRONG", wrong);
  return wrong == 0 ? 0 : 1;
}
