// What compute capability 9.0 adds: asynchronous copies of tiles (TMA), barriers that count bytes,
// and matrix products by a warpgroup (wgmma). Each function is one or two instructions; the section
// of the PTX manual (ISA 9.0) that describes them is named beside it. Compile for sm_90a. Elsewhere
// the functions exist, so that kernels compile, and stop a kernel that gets there.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define HOPPER_ASM(...) asm volatile(__VA_ARGS__)
#else
#define HOPPER_ASM(...) __trap()
#endif

/// The address of something in shared memory, as PTX instructions take it.
__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

// ---------------------------------------------------------------- barriers
// A word of shared memory that counts arrivals and bytes. A phase ends when all arrivals and all
// expected bytes are there; phases have the parities 0, 1, 0, 1 ... ("Parallel Synchronization and
// Communication Instructions: mbarrier")

/// A phase ends after `arrivals` calls of barrier_arrive() or barrier_expect(). One thread does
/// this; then barriers_ready() and a __syncthreads().
__device__ __forceinline__ void barrier_init(uint64_t* barrier, int arrivals) {
  HOPPER_ASM("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
             "r"(arrivals));
}
/// Makes barriers that were initialised known to the copy engine.
__device__ __forceinline__ void barriers_ready() {
  HOPPER_ASM("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void barrier_arrive(uint64_t* barrier) {
  HOPPER_ASM("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
             : "memory");
}
/// Arrives, and makes the phase wait for so many bytes more.
__device__ __forceinline__ void barrier_expect(uint64_t* barrier, int bytes) {
  HOPPER_ASM("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(
                 shared_address(barrier)),
             "r"(bytes)
             : "memory");
}
/// Waits until the phase of this parity has ended. Of a new barrier, the phase before the first
/// counts as ended: its parity is 1.
__device__ __forceinline__ void barrier_wait(uint64_t* barrier, int parity) {
  HOPPER_ASM(
      "{\n"
      ".reg .pred ended;\n"
      "again: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 ended, [%0], %1;\n"
      "@!ended bra again;\n"
      "}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}
/// Waits for the 128 threads of this warpgroup; `number` is 1 to 15. ("bar")
__device__ __forceinline__ void warpgroup_wait(int number) {
  HOPPER_ASM("bar.sync %0, 128;" ::"r"(number) : "memory");
}

// ---------------------------------------------------------------- clusters
// Blocks that run at the same time, near each other, and reach each other's shared memory.
// ("Special Registers: %cluster_ctarank", "barrier.cluster", "mapa")

/// Which block of its cluster this is: 0, 1 ...
__device__ __forceinline__ int rank_in_cluster() {
  unsigned rank = 0;
  HOPPER_ASM("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
/// Waits for all threads of the cluster.
__device__ __forceinline__ void cluster_wait() {
  HOPPER_ASM(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
}
/// Arrives at the same barrier of the cluster's block `rank`.
__device__ __forceinline__ void barrier_arrive(uint64_t* barrier, int rank) {
  HOPPER_ASM(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
      "}" ::"r"(shared_address(barrier)),
      "r"(rank)
      : "memory");
}

// ---------------------------------------------------------------- copies of tiles (TMA)
// ("Data Movement and Conversion Instructions: cp.async.bulk.tensor"). A tensor map, made by the
// host, says where the matrix lies and how large a tile is. What lies outside the matrix arrives as
// zeros, and isn't written.

/// Starts the copy of the tile whose first element is (row y, column x); `barrier` is told of its
/// bytes as they arrive.
__device__ __forceinline__ void tma_load(void* tile, const CUtensorMap& map, int x, int y,
                                         uint64_t* barrier) {
  HOPPER_ASM(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%2, %3}], [%4];" ::"r"(shared_address(tile)),
      "l"(&map), "r"(x), "r"(y), "r"(shared_address(barrier))
      : "memory");
}
/// The same for the blocks of a cluster whose bits are set in `blocks`: the tile is read once and
/// arrives in each of them, at the same place, and its own barrier is told. ("multicast")
__device__ __forceinline__ void tma_load(void* tile, const CUtensorMap& map, int x, int y,
                                         uint64_t* barrier, uint16_t blocks) {
  HOPPER_ASM(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
      "multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(tile)),
      "l"(&map), "r"(x), "r"(y), "r"(shared_address(barrier)), "h"(blocks)
      : "memory");
}
/// Starts the copy of a tile to global memory. What threads wrote into the tile must be followed by
/// tma_store_fence() and a barrier.
__device__ __forceinline__ void tma_store(const CUtensorMap& map, const void* tile, int x, int y) {
  HOPPER_ASM(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
      "r"(x), "r"(y), "r"(shared_address(tile))
      : "memory");
}
/// Lets the copy engine see what this thread has written to shared memory. ("membar / fence: proxy
/// fence")
__device__ __forceinline__ void tma_store_fence() {
  HOPPER_ASM("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ __forceinline__ void tma_store_commit() {
  HOPPER_ASM("cp.async.bulk.commit_group;" ::: "memory");
}
/// Waits until all stores of this thread have read their tiles, which can then be written again.
__device__ __forceinline__ void tma_store_wait_read() {
  HOPPER_ASM("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
/// Waits until all stores of this thread are in global memory.
__device__ __forceinline__ void tma_store_wait() {
  HOPPER_ASM("cp.async.bulk.wait_group 0;" ::: "memory");
}

// ---------------------------------------------------------------- products by a warpgroup (wgmma)
// ("Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions")

/// Orders accesses of registers before the products that follow.
__device__ __forceinline__ void wgmma_fence() {
  HOPPER_ASM("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
  HOPPER_ASM("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most PENDING committed groups are not done.
template <int PENDING>
__device__ __forceinline__ void wgmma_wait() {
  HOPPER_ASM("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

/// A tile in shared memory for wgmma, as TMA has left it there with a swizzle of 128 bytes ("Matrix
/// descriptor"): rows of 128 bytes along k (K-major), eight of them 1024 bytes apart from the next
/// eight.
__device__ __forceinline__ uint64_t k_major(uint32_t address) {
  return (address & 0x3ffff) >> 4 | uint64_t{1} << 16 | uint64_t{1024 >> 4} << 32 |
         uint64_t{1} << 62;
}
/// The same of rows of 128 bytes across k (MN-major), 64 of which make a box; the next 64 columns
/// are in the next box.
__device__ __forceinline__ uint64_t n_major(uint32_t address, uint32_t box_bytes) {
  return (address & 0x3ffff) >> 4 | uint64_t{box_bytes >> 4} << 16 | uint64_t{1024 >> 4} << 32 |
         uint64_t{1} << 62;
}

#define HOPPER_4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define HOPPER_16(d, i) HOPPER_4(d, i), HOPPER_4(d, i + 4), HOPPER_4(d, i + 8), HOPPER_4(d, i + 12)
#define HOPPER_64(d, i) \
  HOPPER_16(d, i), HOPPER_16(d, i + 16), HOPPER_16(d, i + 32), HOPPER_16(d, i + 48)

/// d (64 x 256, float) = a (64 x 16) b (16 x 256), + d unless `first`. a: K-major in shared memory,
/// b: N-major. Thread t of the warpgroup has row t / 32 * 16 + t % 32 / 4 (+ 8 for d[2], d[3],
/// d[6] ...) and columns t % 4 * 2, + 1, then + 8, + 9 ...
__device__ __forceinline__ void wgmma_bf16(float (&d)[128], uint64_t a, uint64_t b, bool first) {
  HOPPER_ASM(
      "{\n"
      ".reg .pred add;\n"
      "setp.eq.b32 add, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
      "{"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "
      "%127}, %128, %129, "
      "add, 1, 1, 0, 1;\n"
      "}"
      : HOPPER_64(d, 0), HOPPER_64(d, 64)
      : "l"(a), "l"(b), "r"(int(first)));
}
/// d (64 x 256, float) = a (64 x 8) b (8 x 256) in TF32, + d unless `first`. a: in registers;
/// thread t has rows t / 32 * 16 + t % 32 / 4 (+ 8) and columns t % 4 (+ 4): (row, column),
/// (row + 8, column), (row, column + 4), (row + 8, column + 4). b: K-major in shared memory.
__device__ __forceinline__ void wgmma_tf32(float (&d)[128], const uint32_t (&a)[4], uint64_t b,
                                           bool first) {
  HOPPER_ASM(
      "{\n"
      ".reg .pred add;\n"
      "setp.eq.b32 add, %133, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 "
      "{"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "
      "%127}, {%128, %129, "
      "%130, %131}, %132, add, 1, 1;\n"
      "}"
      : HOPPER_64(d, 0), HOPPER_64(d, 64)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(first)));
}
/// The same with 128 columns.
__device__ __forceinline__ void wgmma_tf32(float (&d)[64], const uint32_t (&a)[4], uint64_t b,
                                           bool first) {
  HOPPER_ASM(
      "{\n"
      ".reg .pred add;\n"
      "setp.eq.b32 add, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
      "{"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, {%64, %65, "
      "%66, %67}, %68, "
      "add, 1, 1;\n"
      "}"
      : HOPPER_64(d, 0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(first)));
}

/// Gives registers of this warpgroup back, until each thread has COUNT; or takes as many as that.
/// ("setmaxnreg")
template <int COUNT>
__device__ __forceinline__ void registers_down_to() {
  HOPPER_ASM("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}
template <int COUNT>
__device__ __forceinline__ void registers_up_to() {
  HOPPER_ASM("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

/// Writes four 8 x 8 matrices of 16-bit numbers that lie in a warp's registers as wgmma leaves
/// them; lane i gives the address of row i % 8 of matrix i / 8. ("stmatrix")
__device__ __forceinline__ void store_matrices(void* row, __nv_bfloat162 m0, __nv_bfloat162 m1,
                                               __nv_bfloat162 m2, __nv_bfloat162 m3) {
  HOPPER_ASM(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
      "r"(reinterpret_cast<uint32_t&>(m0)), "r"(reinterpret_cast<uint32_t&>(m1)),
      "r"(reinterpret_cast<uint32_t&>(m2)), "r"(reinterpret_cast<uint32_t&>(m3))
      : "memory");
}
