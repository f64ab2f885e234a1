// Several devices: memory that is not there, and work that nothing orders between them. Run with TILEWISE_DEVICES=3. Everything is done
// at once and in the order of the program, so nearly all of these give the right numbers here.
#include <thread>

#include "cases.hpp"

constexpr int kMany = 256;
constexpr int kDevices = 3;

__device__ int weight[kMany];

__global__ void fill(int* out, int value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value;  // finding: peer-access write_without_access, peer-access pool_without_access, race-streams write_while_read, race-streams managed_by_two, race-streams source_overwritten
}
__global__ void add(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += in[i];  // finding: peer-access read_without_access, peer-access access_the_other_way, peer-access access_taken_back, peer-access symbol_of_another, peer-access access_and_reset, use-after-free freed_by_its_device, race-streams read_while_written, race-streams default_streams, race-streams target_too_early, race-streams record_refused, race-streams graph_of_two, race-streams event_of_the_wrong_stream, race-streams ring_step, race-streams host_func_elsewhere
}
__global__ void add_weight(int* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] += weight[i];
}
__global__ void set_weight(int value) { weight[threadIdx.x] = value; }

/// Memory of `n` zeros on a device, which is the current one from then on.
int* zeros_on(int device, int n = kMany) {
  cudaSetDevice(device);
  int* p = zeros<int>(n);
  cudaDeviceSynchronize();
  return p;
}

/// A stream for each device, and access of each to all. Device 0 is the current one.
struct Machine {
  cudaStream_t stream[kDevices];
  explicit Machine(bool access = true) {
    for (int d = 0; d < kDevices; ++d) {
      cudaSetDevice(d);
      cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking);
      for (int peer = 0; access && peer < kDevices; ++peer)
        if (peer != d) cudaDeviceEnablePeerAccess(peer, 0);
    }
    cudaSetDevice(0);
  }
  ~Machine() {
    for (cudaStream_t s : stream) cudaStreamDestroy(s);
  }
};

/// Makes `later` wait for what has been asked for in `earlier`, a stream of that device.
void wait_for(cudaStream_t later, cudaStream_t earlier, int device) {
  int before = 0;
  cudaGetDevice(&before);
  cudaSetDevice(device);
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaEventRecord(event, earlier);
  cudaStreamWaitEvent(later, event, 0);
  cudaEventDestroy(event);
  cudaSetDevice(before);
}

template <class... P>
int finish_all(P*... pointers) {
  int result = 0;
  for (int d = 0; d < kDevices; ++d) {
    cudaSetDevice(d);
    if (cudaDeviceSynchronize() != cudaSuccess) result = 3;
  }
  (cudaFree(pointers), ...);
  return result;
}

// ---------------------------------------------------------------- memory of another device
CASE(read_without_access) {
  int *x = zeros_on(0), *y = zeros_on(1);
  add<<<1, kMany>>>(x, y, kMany);
  return finish_all(x, y);
}
CASE(read_without_access_right) {
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaDeviceEnablePeerAccess(0, 0);
  add<<<1, kMany>>>(x, y, kMany);
  return finish_all(x, y);
}
CASE(write_without_access) {
  int* x = zeros_on(0);
  cudaSetDevice(1);
  fill<<<1, kMany>>>(x, 1, kMany);
  return finish_all(x);
}
CASE(write_without_access_right) {
  int* x = zeros_on(0);
  cudaSetDevice(0);
  fill<<<1, kMany>>>(x, 1, kMany);
  return finish_all(x);
}
// cudaMemset() is work of the current device; an H100 answers cudaErrorInvalidValue.
CASE(memset_of_another) {
  int* x = zeros_on(0);
  cudaSetDevice(1);
  cudaMemset(x, 1, sizeof(int) * kMany);  // finding: peer-access memset_of_another
  cudaSetDevice(0);
  return finish_all(x);
}
CASE(memset_of_another_right) {
  int* x = zeros_on(0);
  cudaSetDevice(1);
  cudaDeviceEnablePeerAccess(0, 0);
  cudaMemset(x, 1, sizeof(int) * kMany);
  return finish_all(x);
}
// Device 0 may use device 1's memory, which does not say that device 1 may use device 0's.
CASE(access_the_other_way) {
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaSetDevice(0);
  cudaDeviceEnablePeerAccess(1, 0);
  cudaSetDevice(1);
  add<<<1, kMany>>>(x, y, kMany);
  return finish_all(x, y);
}
CASE(access_the_other_way_right) {
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaSetDevice(0);
  cudaDeviceEnablePeerAccess(1, 0);
  add<<<1, kMany>>>(x, y, kMany);
  return finish_all(x, y);
}
CASE(access_taken_back) {
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaDeviceEnablePeerAccess(0, 0);
  cudaDeviceDisablePeerAccess(0);
  add<<<1, kMany>>>(x, y, kMany);
  return finish_all(x, y);
}
CASE(access_taken_back_right) {
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaDeviceEnablePeerAccess(0, 0);
  add<<<1, kMany>>>(x, y, kMany);
  cudaDeviceSynchronize();
  cudaDeviceDisablePeerAccess(0);
  return finish_all(x, y);
}
CASE(access_and_reset) {
  int* x = zeros_on(0);
  cudaSetDevice(1);
  cudaDeviceEnablePeerAccess(0, 0);
  cudaDeviceReset();
  int* y = zeros_on(1);
  add<<<1, kMany>>>(x, y, kMany);
  return finish_all(x, y);
}
CASE(access_and_reset_right) {
  int* x = zeros_on(0);
  cudaSetDevice(1);
  cudaDeviceReset();
  cudaDeviceEnablePeerAccess(0, 0);
  int* y = zeros_on(1);
  add<<<1, kMany>>>(x, y, kMany);
  return finish_all(x, y);
}
// The address is that of device 0's copy of the variable.
CASE(symbol_of_another) {
  int *y = zeros_on(1), *w = nullptr;
  cudaSetDevice(0);
  cudaGetSymbolAddress((void**)&w, weight);
  cudaSetDevice(1);
  add<<<1, kMany>>>(w, y, kMany);
  return finish_all(y);
}
CASE(symbol_of_another_right) {
  int *y = zeros_on(1), *w = nullptr;
  cudaGetSymbolAddress((void**)&w, weight);
  add<<<1, kMany>>>(w, y, kMany);
  return finish_all(y);
}
CASE(freed_by_its_device) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaFree(x);
  add<<<1, kMany>>>(x, y, kMany);
  return finish_all(y);
}
CASE(freed_by_its_device_right) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1);
  add<<<1, kMany>>>(x, y, kMany);
  return finish_all(x, y);
}
CASE(number_of_another) {
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaMemcpyPeer(y, 1, x, 2, kMany * sizeof(int));  // finding: bad-copy number_of_another
  return finish_all(x, y);
}
CASE(number_of_another_right) {
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaMemcpyPeer(y, 1, x, 0, kMany * sizeof(int));
  return finish_all(x, y);
}
CASE(copy_beyond_its_end) {
  int *x = zeros_on(0), *y = zeros_on(1, kMany / 2);
  cudaMemcpyPeer(y, 1, x, 0, kMany * sizeof(int));  // finding: out-of-bounds copy_beyond_its_end
  return finish_all(x, y);
}
CASE(copy_beyond_its_end_right) {
  int *x = zeros_on(0), *y = zeros_on(1, kMany / 2);
  cudaMemcpy(y, x, kMany / 2 * sizeof(int), cudaMemcpyDefault);
  return finish_all(x, y);
}

// ---------------------------------------------------------------- streams of another device
CASE(stream_of_another) {
  Machine m;
  int* x = zeros_on(1);
  fill<<<1, kMany, 0, m.stream[0]>>>(x, 1, kMany);  // finding: unchecked-launch stream_of_another
  return 0 * finish_all(x);
}
CASE(stream_of_another_right) {
  Machine m;
  int* x = zeros_on(1);
  fill<<<1, kMany, 0, m.stream[1]>>>(x, 1, kMany);
  return finish_all(x);
}
// The event is device 1's, so it cannot be recorded in a stream of device 0, and the wait is for nothing.
CASE(record_refused) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaEvent_t done;
  cudaEventCreate(&done);
  cudaSetDevice(0);
  fill<<<1, kMany, 0, m.stream[0]>>>(x, 1, kMany);
  cudaEventRecord(done, m.stream[0]);
  cudaStreamWaitEvent(m.stream[1], done);
  cudaSetDevice(1);
  add<<<1, kMany, 0, m.stream[1]>>>(x, y, kMany);
  cudaEventDestroy(done);
  return finish_all(x, y);
}
CASE(record_refused_right) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaEvent_t done;
  cudaSetDevice(0);
  cudaEventCreate(&done);
  fill<<<1, kMany, 0, m.stream[0]>>>(x, 1, kMany);
  cudaEventRecord(done, m.stream[0]);
  cudaSetDevice(1);
  cudaStreamWaitEvent(m.stream[1], done);
  add<<<1, kMany, 0, m.stream[1]>>>(x, y, kMany);
  cudaEventDestroy(done);
  return finish_all(x, y);
}

// ---------------------------------------------------------------- order between devices
CASE(read_while_written) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaSetDevice(0);
  fill<<<1, kMany, 0, m.stream[0]>>>(x, 1, kMany);
  cudaSetDevice(1);
  add<<<1, kMany, 0, m.stream[1]>>>(x, y, kMany);
  return finish_all(x, y);
}
CASE(read_while_written_right) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaSetDevice(0);
  fill<<<1, kMany, 0, m.stream[0]>>>(x, 1, kMany);
  wait_for(m.stream[1], m.stream[0], 0);
  cudaSetDevice(1);
  add<<<1, kMany, 0, m.stream[1]>>>(x, y, kMany);
  return finish_all(x, y);
}
CASE(write_while_read) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1);
  add<<<1, kMany, 0, m.stream[1]>>>(x, y, kMany);
  cudaSetDevice(0);
  fill<<<1, kMany, 0, m.stream[0]>>>(x, 1, kMany);
  return finish_all(x, y);
}
CASE(write_while_read_right) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1);
  add<<<1, kMany, 0, m.stream[1]>>>(x, y, kMany);
  cudaStreamSynchronize(m.stream[1]);
  cudaSetDevice(0);
  fill<<<1, kMany, 0, m.stream[0]>>>(x, 1, kMany);
  return finish_all(x, y);
}
// Each device has a default stream of its own.
CASE(default_streams) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaSetDevice(0);
  fill<<<1, kMany>>>(x, 1, kMany);
  cudaSetDevice(1);
  add<<<1, kMany>>>(x, y, kMany);
  return finish_all(x, y);
}
CASE(default_streams_right) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(0);
  fill<<<1, kMany>>>(x, 1, kMany);
  add<<<1, kMany>>>(x, y, kMany);
  return finish_all(x, y);
}
CASE(event_of_the_wrong_stream) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(2);
  cudaSetDevice(0);
  fill<<<1, kMany, 0, m.stream[0]>>>(x, 1, kMany);
  wait_for(m.stream[2], m.stream[1], 1);
  cudaSetDevice(2);
  add<<<1, kMany, 0, m.stream[2]>>>(x, y, kMany);
  return finish_all(x, y);
}
CASE(event_of_the_wrong_stream_right) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(2);
  cudaSetDevice(0);
  fill<<<1, kMany, 0, m.stream[0]>>>(x, 1, kMany);
  wait_for(m.stream[1], m.stream[0], 0);  // from 0 to 2 by way of 1
  wait_for(m.stream[2], m.stream[1], 1);
  cudaSetDevice(2);
  add<<<1, kMany, 0, m.stream[2]>>>(x, y, kMany);
  return finish_all(x, y);
}
CASE(managed_by_two) {
  int* x = nullptr;
  cudaMallocManaged(&x, kMany * sizeof(int));
  for (int d = 0; d < 2; ++d) {
    cudaSetDevice(d);
    fill<<<1, kMany>>>(x, d, kMany);
  }
  return finish_all(x);
}
CASE(managed_by_two_right) {
  int* x = nullptr;
  cudaMallocManaged(&x, 2 * kMany * sizeof(int));
  for (int d = 0; d < 2; ++d) {
    cudaSetDevice(d);
    fill<<<1, kMany>>>(x + d * kMany, d, kMany);
  }
  return finish_all(x);
}
CASE(graph_of_two) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaSetDevice(0);
  cudaStreamBeginCapture(m.stream[0], cudaStreamCaptureModeGlobal);
  wait_for(m.stream[1], m.stream[0], 0);
  fill<<<1, kMany, 0, m.stream[0]>>>(x, 1, kMany);
  cudaSetDevice(1);
  add<<<1, kMany, 0, m.stream[1]>>>(x, y, kMany);
  wait_for(m.stream[0], m.stream[1], 1);
  cudaGraph_t graph;
  cudaStreamEndCapture(m.stream[0], &graph);
  cudaGraphExec_t ready;
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphLaunch(ready, m.stream[0]);
  const int result = finish_all(x, y);
  cudaGraphExecDestroy(ready), cudaGraphDestroy(graph);
  return result;
}
CASE(graph_of_two_right) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaSetDevice(0);
  cudaStreamBeginCapture(m.stream[0], cudaStreamCaptureModeGlobal);
  fill<<<1, kMany, 0, m.stream[0]>>>(x, 1, kMany);
  wait_for(m.stream[1], m.stream[0], 0);
  cudaSetDevice(1);
  add<<<1, kMany, 0, m.stream[1]>>>(x, y, kMany);
  wait_for(m.stream[0], m.stream[1], 1);
  cudaGraph_t graph;
  cudaStreamEndCapture(m.stream[0], &graph);
  cudaGraphExec_t ready;
  cudaGraphInstantiate(&ready, graph, 0);
  cudaSetDevice(2);  // a graph's launch may come from any device
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(ready, m.stream[0]);
  const int result = finish_all(x, y);
  cudaGraphExecDestroy(ready), cudaGraphDestroy(graph);
  return result;
}

// ---------------------------------------------------------------- copies between devices
CASE(copy_too_early) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaSetDevice(0);
  fill<<<1, kMany, 0, m.stream[0]>>>(x, 1, kMany);
  cudaMemcpyPeerAsync(y, 1, x, 0, kMany * sizeof(int), m.stream[1]);  // finding: race-streams copy_too_early
  return finish_all(x, y);
}
CASE(copy_too_early_right) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaSetDevice(0);
  fill<<<1, kMany, 0, m.stream[0]>>>(x, 1, kMany);
  cudaMemcpyPeerAsync(y, 1, x, 0, kMany * sizeof(int), m.stream[0]);
  return finish_all(x, y);
}
CASE(target_too_early) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1), *z = zeros_on(1);
  cudaMemcpyPeerAsync(y, 1, x, 0, kMany * sizeof(int), m.stream[0]);
  add<<<1, kMany, 0, m.stream[1]>>>(y, z, kMany);
  return finish_all(x, y, z);
}
CASE(target_too_early_right) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1), *z = zeros_on(1);
  cudaMemcpyPeerAsync(y, 1, x, 0, kMany * sizeof(int), m.stream[0]);
  wait_for(m.stream[1], m.stream[0], 0);
  add<<<1, kMany, 0, m.stream[1]>>>(y, z, kMany);
  return finish_all(x, y, z);
}
CASE(source_overwritten) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaMemcpyPeerAsync(y, 1, x, 0, kMany * sizeof(int), m.stream[1]);
  cudaSetDevice(0);
  fill<<<1, kMany, 0, m.stream[0]>>>(x, 1, kMany);
  return finish_all(x, y);
}
CASE(source_overwritten_right) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaMemcpyPeerAsync(y, 1, x, 0, kMany * sizeof(int), m.stream[1]);
  wait_for(m.stream[0], m.stream[1], 1);
  cudaSetDevice(0);
  fill<<<1, kMany, 0, m.stream[0]>>>(x, 1, kMany);
  return finish_all(x, y);
}
// cudaMemcpyPeer waits for both devices, and both for it: no stream has to say so. But it doesn't know streams that are non-blocking: on
// two H100s such a kernel was still at work when its result was copied.
CASE(copy_between_too_early) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaSetDevice(0);
  fill<<<1, kMany, 0, m.stream[0]>>>(x, 1, kMany);
  cudaMemcpyPeer(y, 1, x, 0, kMany * sizeof(int));  // finding: race-streams copy_between_too_early
  return finish_all(x, y);
}
CASE(copy_between_too_early_right) {
  cudaStream_t stream[2];
  int *x = zeros_on(0), *y = zeros_on(1), *z = zeros_on(1);
  cudaStreamCreate(&stream[1]);
  cudaSetDevice(0);
  cudaStreamCreate(&stream[0]);
  fill<<<1, kMany, 0, stream[0]>>>(x, 1, kMany);
  cudaMemcpyPeer(y, 1, x, 0, kMany * sizeof(int));
  cudaSetDevice(1);
  add<<<1, kMany, 0, stream[1]>>>(y, z, kMany);
  cudaMemcpy(x, z, kMany * sizeof(int), cudaMemcpyDeviceToDevice);
  cudaSetDevice(0);
  fill<<<1, kMany, 0, stream[0]>>>(x, 2, kMany);
  for (cudaStream_t s : stream) cudaStreamDestroy(s);
  return finish_all(x, y, z);
}
// A copy to the host waits for the default stream of the current device, which is another one.
CASE(brought_too_early) {
  int *x = zeros_on(0), host[kMany];
  fill<<<1, kMany>>>(x, 1, kMany);
  cudaSetDevice(1);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);  // finding: race-streams brought_too_early
  return finish_all(x);
}
CASE(brought_too_early_right) {
  int *x = zeros_on(0), host[kMany];
  fill<<<1, kMany>>>(x, 1, kMany);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  return finish_all(x);
}
// Each device adds up its left neighbour's numbers, which are still on their way.
int ring(bool waits) {
  Machine m;
  int *own[kDevices], *got[kDevices];
  for (int d = 0; d < kDevices; ++d) own[d] = zeros_on(d), got[d] = zeros_on(d);
  for (int d = 0; d < kDevices; ++d) {
    const int right = (d + 1) % kDevices;
    cudaMemcpyPeerAsync(got[right], right, own[d], d, kMany * sizeof(int), m.stream[d]);
  }
  for (int d = 0; d < kDevices; ++d) {
    const int left = (d + kDevices - 1) % kDevices;
    if (waits) wait_for(m.stream[d], m.stream[left], left);
    cudaSetDevice(d);
    add<<<1, kMany, 0, m.stream[d]>>>(got[d], own[d], kMany);
  }
  return finish_all(own[0], own[1], own[2], got[0], got[1], got[2]);
}
CASE(ring_step) { return ring(false); }
CASE(ring_step_right) { return ring(true); }

// ---------------------------------------------------------------- the host
CASE(waits_for_the_wrong_device) {
  int* x = nullptr;
  cudaMallocHost(&x, kMany * sizeof(int));
  cudaSetDevice(1);
  fill<<<1, kMany>>>(x, 1, kMany);
  cudaSetDevice(0);
  cudaDeviceSynchronize();
  const int first = x[0];  // finding: host-too-early waits_for_the_wrong_device
  cudaSetDevice(1);
  cudaDeviceSynchronize();
  cudaFreeHost(x);
  return first == 1 ? 0 : 3;
}
CASE(waits_for_the_wrong_device_right) {
  int* x = nullptr;
  cudaMallocHost(&x, kMany * sizeof(int));
  cudaSetDevice(1);
  fill<<<1, kMany>>>(x, 1, kMany);
  cudaDeviceSynchronize();
  const int first = x[0];
  cudaFreeHost(x);
  return first == 1 ? 0 : 3;
}
// A host function in a stream of one device is no wait of the host for another one.
CASE(host_func_elsewhere) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaSetDevice(0);
  fill<<<1, kMany, 0, m.stream[0]>>>(x, 1, kMany);
  cudaLaunchHostFunc(m.stream[0], [](void*) {}, nullptr);
  cudaSetDevice(1);
  add<<<1, kMany, 0, m.stream[1]>>>(x, y, kMany);
  return finish_all(x, y);
}
CASE(host_func_elsewhere_right) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1);
  cudaSetDevice(0);
  fill<<<1, kMany, 0, m.stream[0]>>>(x, 1, kMany);
  cudaLaunchHostFunc(m.stream[0], [](void*) {}, nullptr);
  cudaStreamSynchronize(m.stream[0]);
  cudaSetDevice(1);
  add<<<1, kMany, 0, m.stream[1]>>>(x, y, kMany);
  return finish_all(x, y);
}

// ---------------------------------------------------------------- right programs of other styles
// Each device has a copy of the variable: kernels of two devices do not meet there.
CASE(variables_apart_right) {
  int* y[kDevices];
  for (int d = 0; d < kDevices; ++d) y[d] = zeros_on(d);
  for (int d = 0; d < kDevices; ++d) {
    cudaSetDevice(d);
    set_weight<<<1, kMany>>>(d + 1);
    add_weight<<<1, kMany>>>(y[d], kMany);
  }
  int right = 0;
  for (int d = 0; d < kDevices; ++d) {
    int host[kMany];
    cudaSetDevice(d);
    cudaMemcpy(host, y[d], sizeof host, cudaMemcpyDeviceToHost);
    for (int i : host) right += i == d + 1;
  }
  return finish_all(y[0], y[1], y[2]) + (right == kDevices * kMany ? 0 : 4);
}
// Jobs go round over the devices, two streams on each.
CASE(round_robin_right) {
  cudaStream_t stream[2 * kDevices];
  int *in[2 * kDevices], *out[2 * kDevices], *pinned = nullptr;
  cudaMallocHost(&pinned, 12 * kMany * sizeof(int));
  for (int i = 0; i < 12 * kMany; ++i) pinned[i] = i;
  for (int s = 0; s < 2 * kDevices; ++s) {
    in[s] = zeros_on(s % kDevices), out[s] = zeros_on(s % kDevices);
    cudaStreamCreate(&stream[s]);
  }
  for (int job = 0; job < 12; ++job) {
    const int s = job % (2 * kDevices);
    int* const part = pinned + job * kMany;
    cudaSetDevice(s % kDevices);
    cudaMemcpyAsync(in[s], part, kMany * sizeof(int), cudaMemcpyHostToDevice, stream[s]);
    cudaMemsetAsync(out[s], 0, kMany * sizeof(int), stream[s]);
    add<<<1, kMany, 0, stream[s]>>>(in[s], out[s], kMany);
    cudaMemcpyAsync(part, out[s], kMany * sizeof(int), cudaMemcpyDeviceToHost, stream[s]);
  }
  int wrong = finish_all();
  for (int i = 0; i < 12 * kMany; ++i) wrong += pinned[i] != i;
  for (int s = 0; s < 2 * kDevices; ++s) cudaFree(in[s]), cudaFree(out[s]), cudaStreamDestroy(stream[s]);
  cudaFreeHost(pinned);
  return wrong;
}
// Each host thread has a current device of its own.
CASE(thread_per_device_right) {
  int sums[kDevices] = {};
  std::thread threads[kDevices];
  for (int d = 0; d < kDevices; ++d)
    threads[d] = std::thread([d, &sums] {
      int *x = zeros_on(d), *y = zeros_on(d), host[kMany];
      fill<<<1, kMany>>>(x, d, kMany);
      add<<<1, kMany>>>(x, y, kMany);
      cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
      for (int i : host) sums[d] += i;
      cudaFree(x), cudaFree(y);
    });
  for (std::thread& t : threads) t.join();
  int current = -1, wrong = 0;
  cudaGetDevice(&current);
  for (int d = 0; d < kDevices; ++d) wrong += sums[d] != d * kMany;
  return wrong + current;
}
// Neighbours read each other's edges in two buffers, step by step.
CASE(halo_right) {
  Machine m;
  cudaEvent_t done[kDevices];
  int* x[2][kDevices];
  for (int d = 0; d < kDevices; ++d) {
    for (auto& buffer : x) buffer[d] = zeros_on(d);
    cudaEventCreateWithFlags(&done[d], cudaEventDisableTiming);
    cudaEventRecord(done[d], m.stream[d]);
  }
  for (int step = 0; step < 6; ++step) {
    for (int d = 0; d < kDevices; ++d) {
      const int left = (d + kDevices - 1) % kDevices, right = (d + 1) % kDevices;
      cudaSetDevice(d);
      for (int peer : {left, right}) cudaStreamWaitEvent(m.stream[d], done[peer]);
    }
    for (int d = 0; d < kDevices; ++d) {
      const int left = (d + kDevices - 1) % kDevices;
      cudaSetDevice(d);
      add<<<1, kMany, 0, m.stream[d]>>>(x[step % 2][left], x[1 - step % 2][d], kMany);
      cudaEventRecord(done[d], m.stream[d]);
    }
  }
  for (cudaEvent_t e : done) cudaEventDestroy(e);
  return finish_all(x[0][0], x[0][1], x[0][2], x[1][0], x[1][1], x[1][2]);
}
// The host waits for each device before the next step.
CASE(steps_of_the_host_right) {
  Machine m;
  int *x = zeros_on(0), *y = zeros_on(1), *z = zeros_on(2);
  for (int step = 0; step < 3; ++step) {
    cudaSetDevice(0);
    fill<<<1, kMany>>>(x, step, kMany);
    cudaDeviceSynchronize();
    cudaSetDevice(1);
    add<<<1, kMany>>>(x, y, kMany);
    cudaDeviceSynchronize();
    cudaMemcpy(z, y, kMany * sizeof(int), cudaMemcpyDefault);
  }
  return finish_all(x, y, z);
}

// Who may use a pool's memory is what the pool says, not cudaDeviceEnablePeerAccess().
template <bool kRight>
int use_of_a_pool() {
  cudaMemPool_t pool;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  int* x;
  cudaSetDevice(0);
  cudaMallocAsync(&x, sizeof(int) * kMany, 0);
  cudaDeviceSynchronize();
  cudaSetDevice(1);
  cudaDeviceEnablePeerAccess(0, 0);
  const cudaMemAccessDesc open{{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtReadWrite};
  if (kRight) cudaMemPoolSetAccess(pool, &open, 1);
  fill<<<1, kMany>>>(x, 1, kMany);
  return finish_all(x);
}
CASE(pool_without_access) { return use_of_a_pool<false>(); }
CASE(pool_without_access_right) { return use_of_a_pool<true>(); }
