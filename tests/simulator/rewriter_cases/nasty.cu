#include <cstdio>
#include <cmath>
#include <concepts>
#include <functional>
#include <vector>
#include <cassert>
template <class T, int N> struct Traits { static constexpr int threads = N; using X = T; };
template <class T> struct Vec { T v[4]; __host__ __device__ T& operator[](int i) { return v[i]; } };
struct Base { float b; __host__ __device__ Base(float b = 0) : b(b) {} };
struct D : Base {
  int n{3};
  __host__ __device__ D(float x, int m = threadIdx.x) noexcept(true) : Base{x}, n{m} { for (int i = 0; i < m; ++i) n += i; }
  __device__ D& operator+=(const D& o) { n += o.n; return *this; }
  __device__ bool operator<(const D& o) const { return n < o.n; }
  __device__ explicit operator bool() const { return n != 0; }
  __device__ int operator()(int i) const noexcept { return i; }
  __device__ int operator[](int i) const { return i; }
  __device__ ~D() {}
  template <class F> __host__ __device__ __forceinline__ auto map(F f) const -> decltype(f(1)) { return f(n); }
  friend __device__ int peek(const D& d) { return d.n; }
  template <class T> friend __global__ void friendly(T);
  __device__ static int stat(int a) { return a * warpSize; }
};
template <class T> __global__ void friendly(T) {}
template <class T> requires std::integral<T>
__global__ void constrained(T* p) { p[0] = threadIdx.x; }
template <class T> requires requires(T t) { t + 1; }
__device__ T plus1(T t) { return t + 1; }
template <class T> __device__ T trail(T t) requires requires(T u) { u * 2; } { while (t < 10) t = t * 2; return t; }
__global__ void after() { }
template <class T>
__global__ void __launch_bounds__(Traits<T, 256>::threads, 2) bounds(T* p, int n = 3) { p[n] = 0; }
__launch_bounds__(128) __global__ void bounds2(int* p) { *p = 1; }
void __global__ bounds3(int* p) { *p = 1; }
__global__ __launch_bounds__(64) static void bounds4(const __grid_constant__ int p) { }
extern "C" __global__ void cname(float* p) { p[0] = 1; }
extern "C" {
__global__ void cname2(float* p) { p[0] = 1; }
__device__ int cvar;
}
__global__ void forward(float*, int);
__global__ void overload(float* p, int n = Traits<int, 4>::threads) { *p = n; }
__global__ void overload(int* p) { *p = 1; }
template <class T> __global__ void overload(T* p, T) { *p = 1; }
__global__ void forward(float* p, int n) { p[n] = 0; }
template <class T> __global__ void inst(T* p) { p[0] = T(); }
template __global__ void inst<int>(int*);
template <> __global__ void inst<float>(float* p) { p[0] = 2; }
template <class... A> __global__ void variadic(A... a) { ((void)a, ...); }
template <class... A> void call(A... a) { variadic<A...><<<1, 32>>>(a...); variadic<<<1, 1>>>(a..., a...); }
static __device__ volatile int vg = 3;
__device__ Vec<float> vecs[3];
__device__ int (*fptr)(int) = nullptr;
__constant__ std::pair<int, int> table[2] = {{1, 2}, {3, 4}};
__device__ const float weights[3] = {1.f, 2.f, 3.f}, bias = 2.f;
extern __device__ int elsewhere;
__managed__ int managed_one;
__device__ __managed__ float managed_two[4];
namespace outer { extern __constant__ float k1; __constant__ float k1 = 2; struct Q { static __device__ int count; }; }
__device__ int outer::Q::count = 4;
__align__(16) __device__ char aligned_bytes[32];
struct __align__(8) P2 { float a, b; };
extern __shared__ float dyn[];
__shared__ int file_shared[32];
__device__ float use_dyn(int i) { return dyn[i] + *reinterpret_cast<float*>(dyn); }
__global__ void usesdyn(float* o) { dyn[threadIdx.x] = 1; file_shared[threadIdx.x] = 3; __syncthreads(); auto f = [] (int i) { return dyn[i]; }; o[0] = use_dyn(0) + f(1) + file_shared[1]; }
template <typename T> struct SharedMemory {
  __device__ inline operator T*() { extern __shared__ int __smem[]; return (T*)__smem; }
};
template <class T, int N> __global__ void sharing(T* o) {
  __shared__ typename Traits<T, N>::X a;
  __shared__ alignas(16) T b[N][N + 1], *ptr, (*row)[4];
  static __shared__ volatile int flags[32];
  volatile __shared__ int flag2;
  __shared__ struct { int x; float y[3]; } anon, anons[2];
  __shared__ Vec<float> vs[8];
  __shared__ std::pair<T, Traits<T, (N > 3)>> pr[2];
  extern __shared__ __align__(sizeof(double)) unsigned char bytes[];
  extern __shared__ float rows[][32];
  T* typed = SharedMemory<T>();
  for (int i = 0; i < 2; ++i) { __shared__ float inner[4]; inner[i] = i; { __shared__ float inner[8]; inner[i] = 3; } }
  a = 1; ptr = &b[0][0]; flags[0] = 1; flag2 = 2; anon.x = 1; anons[1].y[0] = 3; vs[0][1] = 2; bytes[0] = 1; rows[0][1] = 2;
  row = nullptr; typed[0] = 1; (void)pr; (void)row;
  auto f = [=] { return b[0][0]; };
  auto g = [] (int i) { auto h = [i] { return flags[i]; }; return h(); };
  o[0] = f() + g(0);
}
__global__ void loops(int* p, int n) {
  int s = 0;
  for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) if (i == j) s++; else if (j) continue; else break;
  if (n) while (s < 3) s++; else do s--; while (s > 0);
  if (n) for (;;) { if (s++ > 10) goto out; }
out:
  for (int x : {1, 2, 3}) s += x;
  switch (n) { case 0: for (int i = 0; i < 2; ++i) s++; break; case 1: { while (s-- > 0); } default: s = 2; }
  switch (n & 3) { case 0: do { s++; case 3: s++; case 2: s++; case 1: s++; } while (--n > 0); }
  auto l = [&](int k) { for (int i = 0; i < k; ++i) s += i; return s; };
  [[maybe_unused]] int q = n ? l(3) : threadIdx.x;
  if constexpr (sizeof(int) == 4) for (int i = 0; i < 4; i++) atomicAdd(p, 1); else atomicMax(p, 2);
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll 4
    for (int j = 0; j < 2; j++)
      (void)atomicAdd(&p[i], s);
  int old = atomicAdd(p, 1); old += n ? atomicAdd(p, 1) : atomicSub(p, 1);
  ::atomicAdd(p, old);
  static int calls = 0; static const float tab[3] = {1, 2, 3}; calls += tab[n] + 1'000 + ' ' + '"' + sizeof(R"x(for (;;) threadIdx.x )" __global__ )x");
  unsigned w = n?1:threadIdx.x; w += n <threadIdx.x ? 1 : 0; p[w] = calls;
  struct Local { int threadIdx; __device__ int get() const { for (int i = 0; i < 3; ++i) { if (i) return i; } return threadIdx; } } loc{3};
  p[0] = loc.threadIdx + loc.get();
  asm volatile("" ::: "memory");
}
__device__ constexpr int cfib(int n) { int a = 0, b = 1; for (int i = 0; i < n; ++i) { int t = a + b; a = b; b = t; } return a; }
static_assert(cfib(10) == 55);
struct Holder { void (*kernel)(int*, int); template <int N> static void run(int* p); };
template <int A, bool B> __global__ void cmp(int* p) { p[0] = A; }
namespace ns { template <class T, bool B> __global__ void k(T* p, Vec<T> v) { p[0] = v[0]; } }
struct Functor { __host__ __device__ int operator()(int i) const { return i; } };
template <class F> __global__ void apply(F f, int* o) { o[0] = f(1); }
void (*get(int))(int*, int) { return loops; }
template <class T> struct Launcher { template <int N> void go(T* p) { if (p) cmp<N, (N > 3)><<<1, N>>>(p); else cmp<N, false><<<1, N>>>(p); } };
#define LAUNCH(k, g, b, ...) do { if (1) k<<<g, b>>>(__VA_ARGS__); cudaError_t e = cudaGetLastError(); assert(e == cudaSuccess); } while (0)
int main() {
  int* p = nullptr; float* q = nullptr; Holder h{loops}; Holder* hp = &h; void (*tab[2])(int*, int) = {loops, loops}; void (*fp)(int*, int) = loops; int i = 0, c = 1, d = 2;
  cudaStream_t st = 0;
  ns::k<float, (3 > 2)><<<dim3(1), 32>>>(q, Vec<float>{1, 2});
  ::ns::k<float, true><<<dim3{1, 1, 1}, {32, 1}, 0, st>>>(q, Vec<float>{});
  (*fp)<<<1, 2>>>(p, 1); fp<<<1, 2>>>(p, 1); h.kernel<<<1, 1>>>(p, 2); hp->kernel<<<1, 1>>>(p, 2); tab[i]<<<1, 1>>>(p, 3); get(3)<<<1, 2>>>(p, 1);
  if (c) (*fp)<<<1, 2>>>(p, 1); else tab[i + 1]<<<1, 1>>>(NULL, 3);
  for (int k = 0; k < 2; ++k) loops<<<(c >> 1), (c < d) ? 32 : 64, (c > d) * 4>>>(p, k);
  loops<<<Traits<Vec<Vec<int>>, 3>::threads, std::max<int>(1, 2)>>>(p, [&] { return c; }());
  apply<<<1, 1>>>([=] __host__ __device__ (int i) { for (int j = 0; j < 3; ++j) i += c; return i; }, p);
  apply<<<1, 1>>>([] __device__ __host__ (int i) mutable noexcept -> int { return i + threadIdx.x; }, p);
  apply<<<1, 1>>>(Functor{}, p);
  LAUNCH(loops, dim3(1, 2), 32, p, 3);
  LAUNCH((cmp<1, true>), 1, 32, p);
  overload<<<1, 1>>>(q); overload<<<1, 1>>>(p);
  Launcher<int>().go<4>(p); call(1, 2.0f, p);
  sharing<float, 8><<<1, 1, 1024>>>(q);
  bounds<float><<<1, 1>>>(q);
  constrained
    <int>
    <<<
      1, // one block
      2
    >>>
    (p);
  dim3 threadIdx(1), blockDim = threadIdx; printf("%d", threadIdx.x + blockDim.y);
  (loops<<<1, 1>>>(p, 1), cudaDeviceSynchronize());
  auto lam = [&](auto kernel) { kernel<<<1, 1>>>(p, 1); }; lam(loops);
  loops<<<1, 1>>>(0, 3); loops<<<1, 1>>>(p, 0);
  return 0;
}
template <int N> void Holder::run(int* p) { cmp<N, true><<<1, 1>>>(p); }
