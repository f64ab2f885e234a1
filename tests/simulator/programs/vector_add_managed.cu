// Adds two vectors in managed memory: initialised by the host, summed by a grid-stride loop, checked by the host.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                   \
  do {                                                                                                \
    cudaError_t status = (call);                                                                      \
    if (status != cudaSuccess) {                                                                      \
      fprintf(stderr, "%s:%d: %s failed: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status)); \
      exit(EXIT_FAILURE);                                                                             \
    }                                                                                                 \
  } while (0)

__global__ void vector_add(const float *x, const float *y, float *sum, int n) {
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) sum[i] = x[i] + y[i];
}

// A variable that both sides may use without a copy.
__device__ __managed__ int launches = 0;

__global__ void count_launch() {
  if (threadIdx.x == 0) ++launches;
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 100003;
  const size_t bytes = n * sizeof(float);
  float *x, *y, *sum;
  CHECK(cudaMallocManaged(&x, bytes));
  CHECK(cudaMallocManaged(&y, bytes));
  CHECK(cudaMallocManaged((void **)&sum, bytes));
  for (int i = 0; i < n; ++i) {
    x[i] = 0.5f * i;
    y[i] = 1.0f - x[i];
  }

  const int threads = 256;
  for (int blocks = 1; blocks <= 64; blocks *= 8) {
    CHECK(cudaMemset(sum, 0, bytes));
    vector_add<<<blocks, threads>>>(x, y, sum, n);
    count_launch<<<1, 32>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    float worst = 0.0f;
    for (int i = 0; i < n; ++i) worst = fmaxf(worst, fabsf(sum[i] - 1.0f));
    if (!(worst < 1e-2f)) {
      printf("%d blocks: wrong by %g\n", blocks, worst);
      return 1;
    }
  }
  printf("%d elements, %d launches: right\n", n, launches);
  const bool all_launches = launches == 3;
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
  CHECK(cudaFree(sum));
  return all_launches ? 0 : 1;
}
