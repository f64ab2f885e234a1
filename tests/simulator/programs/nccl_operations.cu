// Every NCCL operation on every element type, in one process: ranks in a group, ranks in threads, and what wrong calls answer.
// Small whole numbers are exact in all types, so that the results are, too.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <nccl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#define CUDA(call)                                                                                              \
  do {                                                                                                          \
    const cudaError_t status = (call);                                                                          \
    if (status != cudaSuccess) std::printf("%s: %s\n", #call, cudaGetErrorString(status)), std::exit(1);        \
  } while (0)
#define NCCL(call)                                                                                              \
  do {                                                                                                          \
    const ncclResult_t status = (call);                                                                         \
    if (status != ncclSuccess) std::printf("%s: %s\n", #call, ncclGetErrorString(status)), std::exit(1);        \
  } while (0)

static int ranks = 0, wrong = 0;
static std::vector<ncclComm_t> comm;
static std::vector<cudaStream_t> stream;

static double input(int rank, size_t i) { return double((i + 3 * rank) % 4) + 1; }  // 1 to 4

static double expected(ncclRedOp_t op, size_t i) {
  double all = input(0, i);
  for (int r = 1; r < ranks; ++r) {
    const double x = input(r, i);
    all = op == ncclMax ? std::max(all, x) : op == ncclMin ? std::min(all, x) : op == ncclProd ? all * x : all + x;
  }
  return op == ncclAvg ? all / ranks : all;
}

template <class T>
struct Buffers {
  std::vector<T*> of;
  size_t count;
  /// Rank r holds input(r, 0), input(r, 1) ...; or zeros.
  Buffers(size_t count, bool filled) : of(ranks), count(count) {
    for (int r = 0; r < ranks; ++r) {
      std::vector<T> host(count);
      for (size_t i = 0; i < count; ++i) host[i] = T(float(filled ? input(r, i) : 0));
      CUDA(cudaSetDevice(r));
      CUDA(cudaMalloc(&of[r], (count + 1) * sizeof(T)));
      CUDA(cudaMemcpy(of[r], host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
  }
  ~Buffers() {
    for (T* p : of) cudaFree(p);
  }
  double at(int r, size_t i) {
    T value;
    CUDA(cudaSetDevice(r));
    CUDA(cudaStreamSynchronize(stream[r]));
    CUDA(cudaMemcpy(&value, of[r] + i, sizeof(T), cudaMemcpyDeviceToHost));
    return double(float(value));
  }
};

template <class Call>
void in_a_group(Call call) {
  NCCL(ncclGroupStart());
  for (int r = 0; r < ranks; ++r) NCCL(call(r));
  NCCL(ncclGroupEnd());
}

static void is(double got, double wanted, const char* what, int rank, size_t i) {
  if (got == wanted) return;
  if (++wrong <= 5) std::printf("%s: rank %d, element %zu: %g, not %g\n", what, rank, i, got, wanted);
}

template <class T>
void try_type(ncclDataType_t type, bool whole) {
  for (const size_t n : {size_t(0), size_t(1), size_t(37)}) {
    for (const ncclRedOp_t op : {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg}) {
      const auto wanted = [&](size_t i) {
        const double x = expected(op, i);
        return whole && op == ncclAvg ? double((long long)x) : double(float(T(float(x))));
      };
      if (op == ncclProd && (sizeof(T) == 1 || ranks > 3)) continue;  // too large
      {
        Buffers<T> in(n, true), out(n, false);
        in_a_group([&](int r) { return ncclAllReduce(in.of[r], out.of[r], n, type, op, comm[r], stream[r]); });
        for (int r = 0; r < ranks; ++r)
          for (size_t i = 0; i < n; ++i) is(out.at(r, i), wanted(i), "all-reduce", r, i);
      }
      {
        Buffers<T> both(n, true);
        const int root = ranks - 1;
        in_a_group([&](int r) { return ncclReduce(both.of[r], both.of[r], n, type, op, root, comm[r], stream[r]); });
        for (int r = 0; r < ranks; ++r)
          for (size_t i = 0; i < n; ++i)
            is(both.at(r, i), r == root ? wanted(i) : double(float(T(float(input(r, i))))), "reduce", r, i);
      }
      {
        Buffers<T> in(n * ranks, true), out(n, false);
        in_a_group([&](int r) { return ncclReduceScatter(in.of[r], out.of[r], n, type, op, comm[r], stream[r]); });
        for (int r = 0; r < ranks; ++r)
          for (size_t i = 0; i < n; ++i) is(out.at(r, i), wanted(r * n + i), "reduce-scatter", r, i);
      }
    }
    Buffers<T> in(n, true), all(n * ranks, false), one(n, false);
    in_a_group([&](int r) { return ncclAllGather(in.of[r], all.of[r], n, type, comm[r], stream[r]); });
    in_a_group([&](int r) { return ncclBroadcast(in.of[r], one.of[r], n, type, ranks / 2, comm[r], stream[r]); });
    for (int r = 0; r < ranks; ++r) {
      for (int from = 0; from < ranks; ++from)
        for (size_t i = 0; i < n; ++i) is(all.at(r, from * n + i), input(from, i), "all-gather", r, from * n + i);
      for (size_t i = 0; i < n; ++i) is(one.at(r, i), input(ranks / 2, i), "broadcast", r, i);
    }
    in_a_group([&](int r) {
      ncclSend(in.of[r], n, type, (r + 1) % ranks, comm[r], stream[r]);
      return ncclRecv(one.of[r], n, type, (r + ranks - 1) % ranks, comm[r], stream[r]);
    });
    for (int r = 0; r < ranks; ++r)
      for (size_t i = 0; i < n; ++i) is(one.at(r, i), input((r + ranks - 1) % ranks, i), "send", r, i);
    in_a_group([&](int r) { return ncclBcast(in.of[r], n, type, 0, comm[r], stream[r]); });
    for (int r = 0; r < ranks; ++r)
      for (size_t i = 0; i < n; ++i) is(in.at(r, i), input(0, i), "bcast", r, i);
  }
}

/// A thread for each rank, as programs with a process for each have it.
static void in_threads() {
  ncclUniqueId id;
  NCCL(ncclGetUniqueId(&id));
  std::vector<std::thread> threads;
  std::vector<int> right(ranks, 0);
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      ncclComm_t mine;
      float *x, host = float(r + 1);
      CUDA(cudaSetDevice(r));
      NCCL(ncclCommInitRank(&mine, ranks, id, r));
      int count = 0, device = -1, rank = -1;
      NCCL(ncclCommCount(mine, &count));
      NCCL(ncclCommCuDevice(mine, &device));
      NCCL(ncclCommUserRank(mine, &rank));
      CUDA(cudaMalloc(&x, sizeof(float)));
      CUDA(cudaMemcpy(x, &host, sizeof(float), cudaMemcpyHostToDevice));
      for (int step = 0; step < 3; ++step) NCCL(ncclAllReduce(x, x, 1, ncclFloat, ncclSum, mine, nullptr));
      CUDA(cudaMemcpy(&host, x, sizeof(float), cudaMemcpyDeviceToHost));
      right[r] = host == 0.5f * ranks * (ranks + 1) * ranks * ranks && count == ranks && device == r && rank == r;
      CUDA(cudaFree(x));
      NCCL(ncclCommFinalize(mine));
      NCCL(ncclCommDestroy(mine));
    });
  for (std::thread& t : threads) t.join();
  for (const int r : right) wrong += !r;
}

int main() {
  CUDA(cudaGetDeviceCount(&ranks));
  comm.resize(ranks), stream.resize(ranks);
  NCCL(ncclCommInitAll(comm.data(), ranks, nullptr));
  for (int r = 0; r < ranks; ++r) { CUDA(cudaSetDevice(r)); CUDA(cudaStreamCreate(&stream[r])); }
  try_type<signed char>(ncclInt8, true);
  try_type<unsigned char>(ncclUint8, true);
  try_type<int>(ncclInt32, true);
  try_type<unsigned>(ncclUint32, true);
  try_type<long long>(ncclInt64, true);
  try_type<unsigned long long>(ncclUint64, true);
  try_type<__half>(ncclFloat16, false);
  try_type<__nv_bfloat16>(ncclBfloat16, false);
  try_type<float>(ncclFloat32, false);
  try_type<double>(ncclFloat64, false);
  in_threads();
  std::printf("%d ranks: %d wrong\n", ranks, wrong);

  const auto answer = [](const char* what, ncclResult_t r) { std::printf("%s: %d\n", what, r); };
  ncclComm_t none[9];
  float* x;
  ncclUniqueId id;
  NCCL(ncclGetUniqueId(&id));
  CUDA(cudaSetDevice(0));
  CUDA(cudaMalloc(&x, sizeof(float)));
  CUDA(cudaMemset(x, 0, sizeof(float)));
  answer("more ranks than devices", ncclCommInitAll(none, 9, nullptr));
  const int twice[2] = {0, 0};
  answer("a device twice", ncclCommInitAll(none, 2, twice));
  answer("a rank too many", ncclCommInitRank(none, 2, id, 2));
  answer("no such root", ncclReduce(x, x, 1, ncclFloat, ncclSum, ranks, comm[0], nullptr));
  answer("no such type", ncclAllReduce(x, x, 1, ncclDataType_t(ncclNumTypes), ncclSum, comm[0], nullptr));
  answer("no communicator", ncclAllReduce(x, x, 1, ncclFloat, ncclSum, nullptr, nullptr));
  answer("no group", ncclGroupEnd());
  answer("another's stream", ncclAllReduce(x, x, 1, ncclFloat, ncclSum, comm[ranks - 1], stream[0]));
  CUDA(cudaFree(x));
  for (int r = 0; r < ranks; ++r) {
    NCCL(ncclCommDestroy(comm[r]));
    CUDA(cudaStreamDestroy(stream[r]));
  }
  answer("destroyed twice", ncclCommDestroy(comm[0]));
  return wrong != 0;
}
