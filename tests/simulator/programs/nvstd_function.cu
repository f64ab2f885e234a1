// nvstd::function: device code that picks what to do at run time, and holds it as an object.
#include <cstdio>
#include <nvfunctional>

using Step = nvstd::function<float(float)>;

struct Scale {
  float by;
  __host__ __device__ float operator()(float x) const { return by * x; }
};
__device__ float square(float x) { return x * x; }

// Applies the steps that are there, in order.
__device__ float in_order(const Step* steps, int n, float x) {
  for (int i = 0; i < n; ++i)
    if (steps[i]) x = steps[i](x);
  return x;
}

__global__ void pipelines(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float shift = i % 7;
  Step steps[4];
  steps[0] = Scale{2};
  steps[1] = [=](float x) { return x + shift; };
  if (i % 2 == 0) steps[2] = square;
  steps[3] = steps[1];
  steps[3] = i % 5 == 0 ? Step(nullptr) : steps[3];
  out[i] = in_order(steps, 4, in[i]);
}

int main() {
  const int n = 1000;
  float *in, *out;
  cudaMallocManaged(&in, n * sizeof *in);
  cudaMallocManaged(&out, n * sizeof *out);
  for (int i = 0; i < n; ++i) in[i] = i % 31;
  pipelines<<<(n + 127) / 128, 128>>>(in, out, n);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;

  const nvstd::function<float(float)> on_host = Scale{2};
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    float x = on_host(in[i]) + i % 7;
    if (i % 2 == 0) x *= x;
    if (i % 5 != 0) x += i % 7;
    wrong += out[i] != x;
  }
  cudaFree(in);
  cudaFree(out);
  std::puts(wrong == 0 && on_host && !Step() ? "right" : "wrong");
  return wrong != 0;
}
