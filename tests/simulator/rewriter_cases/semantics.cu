// What rewritten loops, labels, lambdas, atomics and shared variables compute. Plain CUDA: right on a GPU too.
//
//   simcc semantics.cu -o semantics && ./semantics
//   nvcc --extended-lambda -std=c++17 semantics.cu -o semantics && ./semantics
#include <cstdio>

// Each step writes one number, so that the first wrong one names itself.
__global__ void loops(int* out, int n) {
  int k = 0;
  int sum = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (j == 2) continue;
      else if (j == 4) break;
      else sum += 10 * i + j;
  out[k++] = sum;

  sum = 0;
  if (n > 100) for (;;) sum++; else sum = 7;  // the else belongs to the if
  out[k++] = sum;

  sum = 0;
  do sum++; while (sum < n);
  out[k++] = sum;

  sum = 0;
  while (true) {
    if (++sum == 3) continue;
    if (sum > 5) break;
    for (int i = 0; i < 100; ++i) {
      if (i == 2) goto out_of_both;
    }
  }
out_of_both:
  out[k++] = sum;

  sum = 0;
  switch (n) {
    case 5: for (int i = 0; i < 3; ++i) sum += 2; break;
    default: sum = -1;
  }
  out[k++] = sum;

  // Duff's device: n = 5 steps, entered in the middle.
  sum = 0;
  int rounds = (n + 3) / 4;
  switch (n % 4) {
    case 0: do { sum++;
    case 3: sum++;
    case 2: sum++;
    case 1: sum++; } while (--rounds > 0);
  }
  out[k++] = sum;

  auto early = [&](int limit) {
    for (int i = 0;; ++i)
      while (true) {
        if (i * i >= limit) return i;
        break;
      }
  };
  out[k++] = early(17);

  sum = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll 2
    for (int j = i; j < 4; ++j) sum += j;
  out[k++] = sum;

  sum = 0;
  for (int v : {3, 4, 5}) sum = sum * 10 + v;
  out[k++] = sum;
}
constexpr int kLoops[] = {10 * 10 * 3 + 4 * 5, 7, 5, 1, 6, 5, 5, 20, 345};

extern __shared__ int dynamic_ints[];

__device__ void put(int i, int value) { dynamic_ints[i] = value; }

template <int N>
__global__ void shared(int* out) {
  __shared__ int tile[N][N + 1], total;
  __shared__ __align__(16) struct { float x; int y[2]; } pair;
  int t = threadIdx.x;
  tile[t / N][t % N] = t;
  if (t == 0) total = 0, pair.y[1] = 40;
  put(t, t * t);
  __syncthreads();
  auto transposed = [=](int i) { return tile[i % N][i / N]; };  // must see the block's array, not a copy
  auto store = [=](int i, int value) { tile[i / N][i % N] = value; };
  int mine = transposed(t);
  __syncthreads();
  store(t, mine);
  atomicAdd(&total, 1);
  __syncthreads();
  for (int i = t; i < 2; i += N * N) {
    __shared__ int tile[2];  // hides the other
    tile[i] = 5;
  }
  __syncthreads();
  int last = N * N - 1;
  if (t == last) {
    out[0] = tile[0][1];
    out[1] = total;
    out[2] = dynamic_ints[last];
    out[3] = pair.y[1];
    out[4] = &pair.y[1] - reinterpret_cast<int*>(&pair);
  }
}

__constant__ int scale[2] = {3, 4};
__device__ int counter = 100;

__global__ void variables(int* out) {
  static int calls = 0;
  int old = atomicAdd(&counter, scale[1]);
  (void)atomicAdd(&calls, 1);
  out[0] = old;
  out[1] = calls;
}

template <class F>
__global__ void apply(F f, int* out, int extra = 5) {
  out[threadIdx.x] = f(threadIdx.x) + extra;
}

namespace deep {
template <class T, bool B>
__global__ void fill(T* out, T a, const void* unused = nullptr) { *out = B ? a : T(0); }
}  // namespace deep

// Two arrays and an index that calls: what g++ 12 gets wrong where it sees both.
__global__ void chosen(int* out) {
  __shared__ int even[4], odd[4];
  (threadIdx.x & 1 ? odd : even)[threadIdx.x / 2] = int(threadIdx.x);
  __syncthreads();
  if (threadIdx.x < 4) (threadIdx.x < 2 ? even : odd)[threadIdx.x] += 10;
  __syncthreads();
  out[threadIdx.x] = (threadIdx.x & 1 ? odd : even)[threadIdx.x / 2];
}

static int evaluations = 0;
using Fill = void (*)(int*, int, const void*);
static Fill choose() {
  ++evaluations;
  return deep::fill<int, true>;
}

#define RUN(kernel, ...) do { if (true) kernel<<<1, 1>>>(__VA_ARGS__); else return 1; } while (0)

static int failures = 0;
static void expect(const char* what, int index, int got, int want) {
  if (got == want) return;
  std::printf("%s[%d] is %d, not %d\n", what, index, got, want);
  ++failures;
}

int main() {
  int* out;
  cudaMallocManaged(&out, 64 * sizeof(int));

  loops<<<1, 1>>>(out, 5);
  cudaDeviceSynchronize();
  for (int i = 0; i < int(sizeof(kLoops) / sizeof(int)); ++i) expect("loops", i, out[i], kLoops[i]);

  shared<4><<<dim3(1, 1), dim3{16}, 16 * sizeof(int), NULL>>>(out);
  cudaDeviceSynchronize();
  const int kShared[] = {4, 16, 225, 40, 2};
  for (int i = 0; i < 5; ++i) expect("shared", i, out[i], kShared[i]);

  for (int i = 0; i < 2; ++i) variables<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  expect("variables", 0, out[0], 104);
  expect("variables", 1, out[1], 2);

  chosen<<<1, 8>>>(out);
  cudaDeviceSynchronize();
  const int kChosen[] = {10, 1, 12, 3, 4, 15, 6, 17};
  for (int i = 0; i < 8; ++i) expect("chosen", i, out[i], kChosen[i]);

  int factor = 3;
  apply<<<1, (2 > 1) ? 4 : 8>>>([=] __device__(int i) {
    int sum = 0;
    for (int j = 0; j <= i; ++j) sum += factor;
    return sum;
  }, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 4; ++i) expect("apply", i, out[i], 3 * (i + 1) + 5);

  deep::fill<int, (3 > 2)><<<1, 1>>>(out, 9, NULL);
  cudaDeviceSynchronize();
  expect("fill", 0, out[0], 9);

  choose()<<<2, 32>>>(out, 10, nullptr);
  cudaDeviceSynchronize();
  expect("choose", 0, out[0], 10);
  expect("evaluations", 0, evaluations, 1);

  RUN((deep::fill<int, true>), out, 11);
  cudaDeviceSynchronize();
  expect("RUN", 0, out[0], 11);

  cudaFree(out);
  if (cudaGetLastError() != cudaSuccess) ++failures;
  if (failures == 0) std::printf("all right\n");
  return failures;
}
