// expect: filter findings race-streams
// points: filter 74..76
// A stream for each engine; a kernel writes where a copy out still reads.
#include "homework.cuh"

// out[i] = (in[i - 1] + 2 in[i] + in[i + 1]) / 4 for `count` elements. in[-1] and in[count] are there, but where the
// array begins or ends.
__global__ void filter(const float* in, float* out, int count, bool begins, bool ends) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float left = in[i > 0 || !begins ? i - 1 : i], right = in[i < count - 1 || !ends ? i + 1 : i];
  out[i] = (left + 2 * in[i] + right) / 4;
}

constexpr int SLOTS = 4;  // chunks that are on their way at a time

// What comes after what, for each slot: its copy in, its kernel, its copy out.
struct Slot {
  cudaEvent_t arrived, filtered, gone;
};

cudaError_t launch_filter(const float* in, float* out, int n, float* device, int room, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  const int share = room / SLOTS, each = (share - 2) / 2;
  cudaError_t error = cudaSuccess;
  const auto check = [&](cudaError_t status) {
    if (error == cudaSuccess) error = status;
  };
  cudaStream_t coming, working, going;
  Slot slots[SLOTS];
  cudaEvent_t event;
  for (cudaStream_t* s : {&coming, &working, &going}) check(cudaStreamCreateWithFlags(s, cudaStreamNonBlocking));
  for (Slot& slot : slots)
    for (cudaEvent_t* e : {&slot.arrived, &slot.filtered, &slot.gone})
      check(cudaEventCreateWithFlags(e, cudaEventDisableTiming));
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  check(cudaEventRecord(event, stream));
  for (cudaStream_t s : {coming, working, going}) check(cudaStreamWaitEvent(s, event, 0));
  for (int at = 0, c = 0; at < n && error == cudaSuccess; at += each, ++c) {
    const Slot& slot = slots[c % SLOTS];
    float* const device_in = device + c % SLOTS * share + 1;
    float* const device_out = device_in + each + 1;
    const int count = min(each, n - at), first = at == 0 ? 0 : -1, words = count - first + (at + count == n ? 0 : 1);
    if (c >= SLOTS) check(cudaStreamWaitEvent(coming, slot.filtered, 0));
    check(cudaMemcpyAsync(device_in + first, in + at + first, sizeof(float) * words, cudaMemcpyHostToDevice, coming));
    check(cudaEventRecord(slot.arrived, coming));
    check(cudaStreamWaitEvent(working, slot.arrived, 0));
    filter<<<(count + 255) / 256, 256, 0, working>>>(device_in, device_out, count, at == 0, at + count == n);
    check(cudaGetLastError());
    check(cudaEventRecord(slot.filtered, working));
    check(cudaStreamWaitEvent(going, slot.filtered, 0));
    check(cudaMemcpyAsync(out + at, device_out, sizeof(float) * count, cudaMemcpyDeviceToHost, going));
    check(cudaEventRecord(slot.gone, going));
  }
  check(cudaEventRecord(event, going));  // the last copy out comes after all else
  check(cudaStreamWaitEvent(stream, event, 0));
  for (cudaStream_t s : {coming, working, going}) cudaStreamDestroy(s);
  for (const Slot& slot : slots)
    for (cudaEvent_t e : {slot.arrived, slot.filtered, slot.gone}) cudaEventDestroy(e);
  cudaEventDestroy(event);
  return error;
}
