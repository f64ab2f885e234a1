// Structs by value, in the ways that device code has them: what moves between memory and a call is counted all the same, and with g++ as with
// clang++. check-compilers.sh compares, and unseen_accesses.py proves it of g++.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <new>

struct Body {
  float x, y, z, vx, vy, vz;
  __device__ Body moved(float time) const;
};

struct Pair {
  int key;
  float value;
};

template <class T>
struct Range {
  T low, high;
};

__device__ Body step(Body b, float time) {
  for (int i = 0; i < 4; ++i) {
    b.vx *= 0.99f, b.vy -= 9.81f * time,
        b.vz *= 0.98f;  // nothing stays the same from turn to turn: clang++ would move it out of the loop
    b.x += time * b.vx, b.y += time * b.vy, b.z += time * b.vz;
  }
  return b;
}

__device__ __noinline__ Pair next(Pair p) { return Pair{p.key + 1, 2 * p.value}; }

__device__ Body operator+(const Body& a, const Body& b) {
  Body sum;
  sum.x = a.x + b.x, sum.y = a.y + b.y, sum.z = a.z + b.z;
  sum.vx = a.vx + b.vx, sum.vy = a.vy + b.vy, sum.vz = a.vz + b.vz;
  return sum;
}

__device__ Body Body::moved(float time) const { return step(*this, time); }

template <class T>
__device__ Range<T> joined(Range<T> a, Range<T> b) {
  return {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

__device__ float3 flipped(float3 v) { return make_float3(v.z, v.y, v.x); }
__device__ __attribute__((noinline)) half doubled(half h) { return __hadd(h, h); }

/// Can't become part of its caller.
__device__ Pair climbed(Pair p, int steps) {
  if (steps == 0) return p;
  p.key += steps;
  return climbed(p, steps - 1);
}

__global__ void call_with_struct(Body* out, const Body* in) { out[threadIdx.x] = step(in[threadIdx.x], 0.5f); }
__global__ void add_structs(Body* out, const Body* in) {
  out[threadIdx.x] = in[threadIdx.x] + in[blockDim.x - 1 - threadIdx.x];
}
__global__ void call_member(Body* out, const Body* in) { out[threadIdx.x] = in[threadIdx.x].moved(0.25f); }
__global__ void call_for_pair(Pair* pairs) { pairs[threadIdx.x] = next(pairs[threadIdx.x]); }
__global__ void join_ranges(Range<double>* out, const Range<double>* in) {
  out[threadIdx.x] = joined(in[threadIdx.x], in[threadIdx.x + 1]);
}
__global__ void flip(float3* out, const float3* in) { out[threadIdx.x] = flipped(in[threadIdx.x]); }
__global__ void double_halves(half* out, const half* in) { out[threadIdx.x] = doubled(in[threadIdx.x]); }
__global__ void climb(Pair* out, const Pair* in) { out[threadIdx.x] = climbed(in[threadIdx.x], 3); }
__global__ void by_lambda(Body* out, const Body* in) {
  const auto far = [](Body b, float time) {
    Body moved = b;
    for (int i = 0; i < 4; ++i) {
      moved.x += moved.vx * time, moved.y += moved.vy * time, moved.z += moved.vz * time;
      moved.vx *= 0.5f, moved.vy *= 0.5f, moved.vz *= 0.5f;
      if (moved.y < 0) moved.y = -moved.y, moved.vy = -moved.vy;
      if (moved.x < 0) moved.x = -moved.x, moved.vx = -moved.vx;
      if (moved.z < 0) moved.z = -moved.z, moved.vz = -moved.vz;
    }
    return moved;
  };
  out[threadIdx.x] = far(in[threadIdx.x], 1);
  out[threadIdx.x + 32] = far(in[threadIdx.x], 2);
}
__global__ void into_members(Range<Pair>* out, const Pair* in) {
  out[threadIdx.x].low = next(in[threadIdx.x]);
  out[threadIdx.x].high = next(in[threadIdx.x + 1]);
}
__global__ void into_place(Pair* out, const Pair* in) { new (out + threadIdx.x) Pair(next(in[threadIdx.x])); }

template <class T>
T* device(int n) {
  T* all;
  cudaMalloc(&all, n * sizeof(T));
  cudaMemset(all, 0, n * sizeof(T));
  return all;
}

int main() {
  Body *in = device<Body>(64), *out = device<Body>(64);
  Pair *pairs = device<Pair>(64), *more = device<Pair>(64);
  Range<double>*ranges = device<Range<double>>(33), *wider = device<Range<double>>(33);
  float3 *a = device<float3>(32), *b = device<float3>(32);
  half *h = device<half>(32), *twice = device<half>(32);
  Range<Pair>* both = device<Range<Pair>>(32);
  call_with_struct<<<1, 32>>>(out, in);
  add_structs<<<1, 32>>>(out, in);
  call_member<<<1, 32>>>(out, in);
  call_for_pair<<<1, 32>>>(pairs);
  join_ranges<<<1, 32>>>(wider, ranges);
  flip<<<1, 32>>>(b, a);
  double_halves<<<1, 32>>>(twice, h);
  climb<<<1, 32>>>(more, pairs);
  by_lambda<<<1, 32>>>(out, in);
  into_members<<<1, 32>>>(both, pairs);
  into_place<<<1, 32>>>(more, pairs);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(in), cudaFree(out), cudaFree(pairs), cudaFree(more), cudaFree(ranges), cudaFree(wider);
  cudaFree(a), cudaFree(b), cudaFree(h), cudaFree(twice), cudaFree(both);
  return error;
}
