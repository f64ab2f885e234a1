// NCCL on several devices: ranks that don't agree, don't come, or use a buffer that a collective operation uses. Run with
// TILEWISE_DEVICES=3.
#include <nccl.h>

#include <thread>

#include "cases.hpp"
#include "tilewise_sim/library.hpp"

// Whoever asks says so himself: nothing on stderr but findings.
static const char* const computed_by = tilewise::sim::library_engine();

constexpr int kMany = 256;
constexpr int kRanks = 3;

__global__ void fill(float* out, float value) {
  out[threadIdx.x] = value;  // finding: race-streams changed_under_it
}
__global__ void copy(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];  // finding: race-streams read_too_early
}

/// A communicator of three ranks; rank r has `send[r]` and `receive[r]`, of kMany elements for each rank, and a stream.
struct Machine {
  ncclComm_t comm[kRanks];
  float *send[kRanks], *receive[kRanks];
  cudaStream_t stream[kRanks];
  Machine() {
    ncclCommInitAll(comm, kRanks, nullptr);
    for (int r = 0; r < kRanks; ++r) {
      cudaSetDevice(r);
      send[r] = zeros<float>(kRanks * kMany);
      receive[r] = zeros<float>(kRanks * kMany);
      cudaStreamCreateWithFlags(&stream[r], cudaStreamNonBlocking);
      cudaDeviceSynchronize();
    }
  }
  int finish() {
    int failed = 0;
    for (int r = 0; r < kRanks; ++r) {
      cudaSetDevice(r);
      failed |= cudaDeviceSynchronize() != cudaSuccess;
      cudaFree(send[r]), cudaFree(receive[r]), cudaStreamDestroy(stream[r]);
      ncclCommDestroy(comm[r]);
    }
    return failed ? 3 : 0;
  }
};

/// As it should be: all ranks, in one group, each in its stream.
void all_reduce(const Machine& m) {
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r)
    ncclAllReduce(m.send[r], m.receive[r], kMany, ncclFloat, ncclSum, m.comm[r], m.stream[r]);
  ncclGroupEnd();
}

// ---------------------------------------------------------------- ranks that don't agree
CASE(other_count) {
  Machine m;
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r)
    ncclAllReduce(m.send[r], m.receive[r], r == 1 ? 2 * kMany : kMany, ncclFloat, ncclSum, m.comm[r], m.stream[r]);  // finding: collective-mismatch other_count
  ncclGroupEnd();
  return m.finish();
}
CASE(other_count_right) {
  Machine m;
  all_reduce(m);
  return m.finish();
}
CASE(other_root) {
  Machine m;
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r)
    ncclBroadcast(m.send[r], m.receive[r], kMany, ncclFloat, r == 2 ? 2 : 0, m.comm[r], m.stream[r]);  // finding: collective-mismatch other_root
  ncclGroupEnd();
  return m.finish();
}
CASE(other_root_right) {
  Machine m;
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r)
    ncclBroadcast(m.send[r], m.receive[r], kMany, ncclFloat, 2, m.comm[r], m.stream[r]);
  ncclGroupEnd();
  return m.finish();
}
CASE(other_operation) {
  Machine m;
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r) {
    if (r == 0)
      ncclReduce(m.send[r], m.receive[r], kMany, ncclFloat, ncclSum, 0, m.comm[r], m.stream[r]);
    else
      ncclAllReduce(m.send[r], m.receive[r], kMany, ncclFloat, ncclSum, m.comm[r], m.stream[r]);  // finding: collective-mismatch other_operation
  }
  ncclGroupEnd();
  return m.finish();
}
CASE(other_operation_right) {
  Machine m;
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r)
    ncclReduce(m.send[r], m.receive[r], kMany, ncclFloat, ncclSum, 0, m.comm[r], m.stream[r]);
  ncclGroupEnd();
  return m.finish();
}
CASE(shorter_receive) {
  Machine m;
  ncclGroupStart();
  ncclSend(m.send[0], kMany, ncclFloat, 1, m.comm[0], m.stream[0]);
  ncclRecv(m.receive[1], kMany / 2, ncclFloat, 0, m.comm[1], m.stream[1]);  // finding: collective-mismatch shorter_receive
  ncclGroupEnd();
  return m.finish();
}
CASE(shorter_receive_right) {
  Machine m;
  ncclGroupStart();
  ncclSend(m.send[0], kMany, ncclFloat, 1, m.comm[0], m.stream[0]);
  ncclRecv(m.receive[1], kMany, ncclFloat, 0, m.comm[1], m.stream[1]);
  ncclGroupEnd();
  return m.finish();
}

// ---------------------------------------------------------------- ranks that don't come
CASE(no_group) {
  Machine m;
  for (int r = 0; r < kRanks; ++r)
    ncclAllReduce(m.send[r], m.receive[r], kMany, ncclFloat, ncclSum, m.comm[r], m.stream[r]);  // finding: collective-missing no_group
  return m.finish();
}
CASE(no_group_right) {
  Machine m;
  std::thread threads[kRanks];
  for (int r = 0; r < kRanks; ++r)
    threads[r] = std::thread([&m, r] {
      cudaSetDevice(r);
      ncclAllReduce(m.send[r], m.receive[r], kMany, ncclFloat, ncclSum, m.comm[r], m.stream[r]);
    });
  for (std::thread& t : threads) t.join();
  return m.finish();
}
CASE(one_rank_less) {
  Machine m;
  ncclGroupStart();
  for (int r = 0; r + 1 < kRanks; ++r)
    ncclAllReduce(m.send[r], m.receive[r], kMany, ncclFloat, ncclSum, m.comm[r], m.stream[r]);  // finding: collective-missing one_rank_less
  ncclGroupEnd();
  return m.finish();
}
CASE(one_rank_less_right) {
  Machine m;
  all_reduce(m);
  return m.finish();
}
CASE(a_thread_leaves_early) {
  Machine m;
  std::thread threads[kRanks];
  for (int r = 0; r < kRanks; ++r)
    threads[r] = std::thread([&m, r] {
      cudaSetDevice(r);
      if (r == 2) return;
      ncclAllReduce(m.send[r], m.receive[r], kMany, ncclFloat, ncclSum, m.comm[r], m.stream[r]);  // finding: collective-missing a_thread_leaves_early
    });
  for (std::thread& t : threads) t.join();
  return m.finish();
}
CASE(a_thread_leaves_early_right) {
  Machine m;
  std::thread threads[kRanks];
  for (int r = 0; r < kRanks; ++r)
    threads[r] = std::thread([&m, r] {
      cudaSetDevice(r);
      ncclAllReduce(m.send[r], m.receive[r], kMany, ncclFloat, ncclSum, m.comm[r], m.stream[r]);
      cudaStreamSynchronize(m.stream[r]);
    });
  for (std::thread& t : threads) t.join();
  return m.finish();
}
CASE(sends_in_a_ring) {
  Machine m;
  for (int r = 0; r < kRanks; ++r) {
    ncclSend(m.send[r], kMany, ncclFloat, (r + 1) % kRanks, m.comm[r], m.stream[r]);  // finding: collective-missing sends_in_a_ring
    ncclRecv(m.receive[r], kMany, ncclFloat, (r + 2) % kRanks, m.comm[r], m.stream[r]);  // finding: collective-missing sends_in_a_ring
  }
  return m.finish();
}
CASE(sends_in_a_ring_right) {
  Machine m;
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r) {
    ncclSend(m.send[r], kMany, ncclFloat, (r + 1) % kRanks, m.comm[r], m.stream[r]);
    ncclRecv(m.receive[r], kMany, ncclFloat, (r + 2) % kRanks, m.comm[r], m.stream[r]);
  }
  ncclGroupEnd();
  return m.finish();
}
CASE(ranks_one_after_another) {
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  ncclComm_t comm[2] = {};
  for (int r = 0; r < 2; ++r) {
    cudaSetDevice(r);
    if (ncclCommInitRank(&comm[r], 2, id, r) != ncclSuccess) break;  // finding: collective-missing ranks_one_after_another
  }
  ncclCommDestroy(comm[0]);
  return 0;
}
CASE(ranks_one_after_another_right) {
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  ncclComm_t comm[2] = {};
  ncclGroupStart();
  for (int r = 0; r < 2; ++r) {
    cudaSetDevice(r);
    ncclCommInitRank(&comm[r], 2, id, r);
  }
  const bool all = ncclGroupEnd() == ncclSuccess;
  for (ncclComm_t c : comm) ncclCommDestroy(c);
  return all ? 0 : 3;
}

// ---------------------------------------------------------------- buffers
CASE(changed_under_it) {
  Machine m;
  all_reduce(m);
  cudaSetDevice(1);
  fill<<<1, kMany>>>(m.send[1], 1);
  return m.finish();
}
CASE(changed_under_it_right) {
  Machine m;
  all_reduce(m);
  cudaSetDevice(1);
  fill<<<1, kMany, 0, m.stream[1]>>>(m.send[1], 1);
  return m.finish();
}
CASE(read_too_early) {
  Machine m;
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r)
    ncclAllGather(m.send[r], m.receive[r], kMany, ncclFloat, m.comm[r], m.stream[r]);
  ncclGroupEnd();
  cudaSetDevice(0);
  copy<<<1, kMany>>>(m.receive[0], m.send[0] + kMany);
  return m.finish();
}
CASE(read_too_early_right) {
  Machine m;
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r)
    ncclAllGather(m.send[r], m.receive[r], kMany, ncclFloat, m.comm[r], m.stream[r]);
  ncclGroupEnd();
  cudaSetDevice(0);
  cudaStreamSynchronize(m.stream[0]);
  copy<<<1, kMany>>>(m.receive[0], m.send[0] + kMany);
  return m.finish();
}
// The rank's stream is not the one that filled the buffer.
CASE(filled_in_another_stream) {
  Machine m;
  cudaSetDevice(2);
  fill<<<1, kMany>>>(m.send[2], 1);
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r)
    ncclAllReduce(m.send[r], m.receive[r], kMany, ncclFloat, ncclSum, m.comm[r], m.stream[r]);  // finding: race-streams filled_in_another_stream
  ncclGroupEnd();
  return m.finish();
}
CASE(filled_in_another_stream_right) {
  Machine m;
  cudaSetDevice(2);
  fill<<<1, kMany, 0, m.stream[2]>>>(m.send[2], 1);
  all_reduce(m);
  return m.finish();
}
CASE(half_in_place) {
  Machine m;
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r)
    ncclAllReduce(m.send[r], m.send[r] + kMany / 2, kMany, ncclFloat, ncclSum, m.comm[r], m.stream[r]);  // finding: overlap half_in_place
  ncclGroupEnd();
  return m.finish();
}
CASE(half_in_place_right) {
  Machine m;
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r)
    ncclAllReduce(m.send[r], m.send[r], kMany, ncclFloat, ncclSum, m.comm[r], m.stream[r]);
  ncclGroupEnd();
  return m.finish();
}
CASE(gathers_over_its_input) {
  Machine m;
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r)
    ncclAllGather(m.receive[r], m.receive[r], kMany, ncclFloat, m.comm[r], m.stream[r]);  // finding: overlap gathers_over_its_input
  ncclGroupEnd();
  return m.finish();
}
CASE(gathers_over_its_input_right) {  // in place: each rank's elements lie where they will be
  Machine m;
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r)
    ncclAllGather(m.receive[r] + r * kMany, m.receive[r], kMany, ncclFloat, m.comm[r], m.stream[r]);
  ncclGroupEnd();
  return m.finish();
}
CASE(swaps_in_one_buffer) {
  Machine m;
  ncclGroupStart();
  for (int r = 0; r < 2; ++r) {
    ncclSend(m.send[r], kMany, ncclFloat, 1 - r, m.comm[r], m.stream[r]);
    ncclRecv(m.send[r], kMany, ncclFloat, 1 - r, m.comm[r], m.stream[r]);  // finding: overlap swaps_in_one_buffer
  }
  ncclGroupEnd();
  return m.finish();
}
CASE(swaps_in_one_buffer_right) {
  Machine m;
  ncclGroupStart();
  for (int r = 0; r < 2; ++r) {
    ncclSend(m.send[r], kMany, ncclFloat, 1 - r, m.comm[r], m.stream[r]);
    ncclRecv(m.receive[r], kMany, ncclFloat, 1 - r, m.comm[r], m.stream[r]);
  }
  ncclGroupEnd();
  return m.finish();
}
CASE(too_short) {
  Machine m;
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r)
    ncclAllGather(m.send[r], m.receive[r] + 1, kMany, ncclFloat, m.comm[r], m.stream[r]);  // finding: out-of-bounds too_short
  ncclGroupEnd();
  return m.finish();
}
CASE(too_short_right) {
  Machine m;
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r)
    ncclAllGather(m.send[r], m.receive[r] + 1, kMany - 1, ncclFloat, m.comm[r], m.stream[r]);
  ncclGroupEnd();
  return m.finish();
}
CASE(buffer_of_another) {
  Machine m;
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r)
    ncclAllReduce(m.send[0], m.receive[r], kMany, ncclFloat, ncclSum, m.comm[r], m.stream[r]);  // finding: peer-access buffer_of_another
  ncclGroupEnd();
  return m.finish();
}
CASE(buffer_of_another_right) {
  Machine m;
  all_reduce(m);
  return m.finish();
}
// The default stream is that of the rank's device, whichever is the current one.
CASE(default_streams_right) {
  Machine m;
  cudaSetDevice(0);
  ncclGroupStart();
  for (int r = 0; r < kRanks; ++r)
    ncclAllReduce(m.send[r], m.receive[r], kMany, ncclFloat, ncclSum, m.comm[r], nullptr);
  ncclGroupEnd();
  return m.finish();
}
