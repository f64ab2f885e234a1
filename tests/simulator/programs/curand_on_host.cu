// Uniform numbers by cuRAND's host interface: a seed gives the same numbers each time, another seed gives others.
#include <curand.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CURAND_CHECK(call)                                                                     \
  do {                                                                                         \
    curandStatus_t status_ = (call);                                                           \
    if (status_ != CURAND_STATUS_SUCCESS) {                                                    \
      std::printf("%s:%d: cuRAND status %d\n", __FILE__, __LINE__, static_cast<int>(status_)); \
      std::exit(1);                                                                            \
    }                                                                                          \
  } while (0)

static std::vector<float> numbers(unsigned long long seed, int n) {
  float* device;
  cudaMalloc(&device, n * sizeof(float));
  curandGenerator_t generator;
  CURAND_CHECK(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
  CURAND_CHECK(curandSetPseudoRandomGeneratorSeed(generator, seed));
  CURAND_CHECK(curandGenerateUniform(generator, device, n));
  CURAND_CHECK(curandDestroyGenerator(generator));
  std::vector<float> host(n);
  cudaMemcpy(host.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(device);
  return host;
}

int main() {
  const int n = 30001;
  const std::vector<float> first = numbers(2718, n), again = numbers(2718, n), other = numbers(2719, n);
  double sum = 0;
  int equal = 0, wrong = first != again;
  for (int i = 0; i < n; ++i) {
    sum += first[i];
    equal += first[i] == other[i];
    wrong += !(first[i] > 0 && first[i] <= 1);
  }
  wrong += std::fabs(sum / n - 0.5) > 0.01;  // six times its standard deviation
  wrong += equal > n / 100;
  std::puts(wrong ? "wrong" : "right");
}
