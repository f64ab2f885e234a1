// What cuRAND gives, in kernels and to the host's calls. numbers.txt is what this printed on a GPU:
//   nvcc -std=c++20 numbers.cu -lcurand -o numbers && ./numbers > numbers.txt
#include <curand.h>
#include <curand_kernel.h>

#include <cstdio>
#include <initializer_list>
#include <vector>

using Number = unsigned long long;

struct Numbers {
  unsigned words[8], later, after_skip, after_skip_sequence;
  float uniform[3], normal[5];
  double uniform_double[3], normal_double[3], log_normal_double;
  float2 normal2;
  double2 normal2_double;
  float log_normal;
  float2 log_normal2;
};

template <class State>
__device__ void fill(State* state, Numbers& n) {
  for (unsigned& x : n.words) x = curand(state);
  for (float& x : n.uniform) x = curand_uniform(state);
  for (double& x : n.uniform_double) x = curand_uniform_double(state);
  for (float& x : n.normal) x = curand_normal(state);
  n.normal2 = curand_normal2(state);
  for (double& x : n.normal_double) x = curand_normal_double(state);
  n.normal2_double = curand_normal2_double(state);
  n.log_normal = curand_log_normal(state, 0.5f, 0.25f);
  n.log_normal_double = curand_log_normal_double(state, 0.5, 0.25);
  n.log_normal2 = curand_log_normal2(state, 0.5f, 0.25f);
  n.later = curand(state);
  State other = *state;
  skipahead(1000001ull, &other);
  n.after_skip = curand(&other);
  other = *state;
  skipahead_sequence(3ull, &other);
  n.after_skip_sequence = curand(&other);
}

template <class State>
__global__ void numbers_of(Number seed, Number subsequence, Number offset, Numbers* n) {
  State state;
  curand_init(seed, subsequence, offset, &state);
  fill(&state, *n);
}

__global__ void fours(Number seed, Number subsequence, Number offset, float4* uniform, float4* normal, uint4* words,
                      double2* doubles) {
  curandStatePhilox4_32_10_t state;
  curand_init(seed, subsequence, offset, &state);
  *words = curand4(&state);
  *uniform = curand_uniform4(&state);
  *normal = curand_normal4(&state);
  *doubles = curand_uniform2_double(&state);
}

template <class State>
void print_kernel(const char* name, Number seed, Number subsequence, Number offset) {
  Numbers* n;
  cudaMallocManaged(&n, sizeof(Numbers));
  numbers_of<State><<<1, 1>>>(seed, subsequence, offset, n);
  cudaDeviceSynchronize();
  std::printf("%s %llu %llu %llu:", name, seed, subsequence, offset);
  for (unsigned x : n->words) std::printf(" %u", x);
  for (float x : n->uniform) std::printf(" %.9g", x);
  for (double x : n->uniform_double) std::printf(" %.17g", x);
  for (float x : n->normal) std::printf(" %.9g", x);
  for (double x : n->normal_double) std::printf(" %.17g", x);
  std::printf(" %.9g %.9g %.17g %.17g", n->normal2.x, n->normal2.y, n->normal2_double.x, n->normal2_double.y);
  std::printf(" %.9g %.17g %.9g %.9g", n->log_normal, n->log_normal_double, n->log_normal2.x, n->log_normal2.y);
  std::printf(" %u %u %u\n", n->later, n->after_skip, n->after_skip_sequence);
  cudaFree(n);
}

void print_fours(Number seed, Number subsequence, Number offset) {
  struct All {
    float4 uniform, normal;
    uint4 words;
    double2 doubles;
  } * a;
  cudaMallocManaged(&a, sizeof(All));
  fours<<<1, 1>>>(seed, subsequence, offset, &a->uniform, &a->normal, &a->words, &a->doubles);
  cudaDeviceSynchronize();
  std::printf("fours %llu %llu %llu: %u %u %u %u", seed, subsequence, offset, a->words.x, a->words.y, a->words.z,
              a->words.w);
  for (const float4& f : {a->uniform, a->normal}) std::printf(" %.9g %.9g %.9g %.9g", f.x, f.y, f.z, f.w);
  std::printf(" %.17g %.17g\n", a->doubles.x, a->doubles.y);
  cudaFree(a);
}

/// Elements of an array of the GPU's: the first, and some around the places where subsequences begin again.
template <class T>
void print_some(const char* what, const T* x, size_t n, const char* format) {
  std::vector<T> host(n);
  cudaMemcpy(host.data(), x, n * sizeof(T), cudaMemcpyDeviceToHost);
  std::printf("  %s:", what);
  for (size_t begin : {size_t(0), size_t(4094), size_t(65535), size_t(262142), size_t(299995)})
    for (size_t i = begin; i < begin + 5 && i < n; ++i) std::printf(format, host[i]);
  std::printf("\n");
}

/// Calls one after the other; numbers go on where the call before has ended.
void print_host(curandRngType_t type, Number seed, Number offset) {
  const size_t n = 300000;
  float* f;
  double* d;
  cudaMalloc(&f, n * sizeof(float));
  cudaMalloc(&d, n * sizeof(double));
  auto* words = reinterpret_cast<unsigned*>(f);
  curandGenerator_t g;
  curandCreateGenerator(&g, type);
  if (seed != 0) curandSetPseudoRandomGeneratorSeed(g, seed);
  curandSetGeneratorOffset(g, offset);
  std::printf("host %d %llu %llu:\n", int(type), seed, offset);
  curandGenerate(g, words, n), print_some("words", words, n, " %u");
  curandGenerate(g, words, 5001), print_some("words", words, 5001, " %u");
  curandGenerateUniform(g, f, n), print_some("uniform", f, n, " %.9g");
  curandGenerateUniformDouble(g, d, n), print_some("uniform double", d, n, " %.17g");
  curandGenerateUniform(g, f, 4), print_some("uniform", f, 4, " %.9g");
  curandGenerateNormal(g, f, n, 1, 2), print_some("normal", f, n, " %.9g");
  curandGenerateNormal(g, f, 6, 0, 1), print_some("normal", f, 6, " %.9g");
  curandGenerateNormalDouble(g, d, n, 1, 2), print_some("normal double", d, n, " %.17g");
  curandGenerateLogNormal(g, f, n, 0.5f, 0.25f), print_some("log-normal", f, n, " %.9g");
  std::printf("  an odd number of normals: %d\n", int(curandGenerateNormal(g, f, 7, 0, 1)));
  curandDestroyGenerator(g);
  cudaFree(f);
  cudaFree(d);
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const Number tests[][3] = {{0, 0, 0},
                             {1234, 0, 0},
                             {1234, 1, 0},
                             {1234, 0, 1},
                             {1234, 7, 6},
                             {1234, 1000, 1000},
                             {(1ull << 40) + 5, 0, 0},
                             {5, 1ull << 33, (1ull << 35) + 7},
                             {5, (1ull << 63) + 12345, 3}};
  for (const auto& [seed, subsequence, offset] : tests) {
    print_kernel<curandStateXORWOW_t>("xorwow", seed, subsequence, offset);
    print_kernel<curandStatePhilox4_32_10_t>("philox", seed, subsequence, offset);
    print_fours(seed, subsequence, offset);
  }
  print_host(CURAND_RNG_PSEUDO_DEFAULT, 1234, 0);
  print_host(CURAND_RNG_PSEUDO_XORWOW, 0, 0);
  print_host(CURAND_RNG_PSEUDO_XORWOW, 5, 4097);
  print_host(CURAND_RNG_PSEUDO_PHILOX4_32_10, 1234, 0);
  print_host(CURAND_RNG_PSEUDO_PHILOX4_32_10, (1ull << 40) + 5, 262145);
  std::printf("no such type: %d\n", int(curandCreateGenerator(new curandGenerator_t, curandRngType_t(77))));
  std::printf("no generator: %d\n", int(curandGenerate(nullptr, nullptr, 1)));
}
