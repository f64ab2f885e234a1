// Some devices that work together: a stream and an event on each, and who waits for whom.
#pragma once

#include <cuda_runtime.h>

#include <utility>
#include <vector>

#include "tilewise/cuda_check.hpp"
#include "tilewise/device_buffer.hpp"

// [on_device]
/// Makes a device the current one, as long as this lives: what is allocated and launched is there.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    CUDA_CHECK(cudaGetDevice(&before_));
    CUDA_CHECK(cudaSetDevice(device));
  }
  ~OnDevice() { cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};
// [on_device]

/// A stream on each of the first `size` devices, and an event to say how far it has come.
class Team {
 public:
  explicit Team(int size) : streams_(size), come_(size) {
    for (int d = 0; d < size; ++d) {
      const OnDevice here(d);
      CUDA_CHECK(cudaStreamCreateWithFlags(&streams_[d], cudaStreamNonBlocking));
      CUDA_CHECK(cudaEventCreateWithFlags(&come_[d], cudaEventDisableTiming));
    }
    const OnDevice here(0);
    CUDA_CHECK(cudaEventCreateWithFlags(&begin_, cudaEventDisableTiming));
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() {
    for (cudaStream_t s : streams_) cudaStreamDestroy(s);
    for (cudaEvent_t e : come_) cudaEventDestroy(e);
    cudaEventDestroy(begin_);
  }

  int size() const { return static_cast<int>(streams_.size()); }
  cudaStream_t stream(int device) const { return streams_[device]; }

  // [waits]
  /// Notes how far `device` has come, and lets another one wait until it has. An event belongs to
  /// its device, but any stream can wait for it.
  void note(int device) const { CUDA_CHECK(cudaEventRecord(come_[device], streams_[device])); }
  void wait(int device, int for_device) const {
    CUDA_CHECK(cudaStreamWaitEvent(streams_[device], come_[for_device], 0));
  }
  // [waits]
  /// Another team's stream on the same device.
  void wait_for(const Team& other, int device) const {
    CUDA_CHECK(cudaStreamWaitEvent(streams_[device], other.come_[device], 0));
  }

  /// All devices begin when `stream`, of device 0, has come to fork(); it goes on when they have
  /// come to join(). The host waits for nothing.
  void fork(cudaStream_t stream) const {
    CUDA_CHECK(cudaEventRecord(begin_, stream));
    for (cudaStream_t s : streams_) CUDA_CHECK(cudaStreamWaitEvent(s, begin_, 0));
  }
  void join(cudaStream_t stream) const {
    for (int d = 0; d < size(); ++d) {
      note(d);
      CUDA_CHECK(cudaStreamWaitEvent(stream, come_[d], 0));
    }
  }

 private:
  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> come_;
  cudaEvent_t begin_ = nullptr;
};

/// `size` floats on each of so many devices.
using Arrays = std::vector<tilewise::DeviceBuffer<float>>;
inline Arrays arrays(int devices, std::size_t size) {
  Arrays all;
  for (int d = 0; d < devices; ++d) {
    const OnDevice here(d);
    all.emplace_back(size);
  }
  return all;
}

/// Part d of n elements that are shared out among p devices: [begin, end).
struct Share {
  int begin, end;
  int count() const { return end - begin; }
};
inline Share share(int n, int d, int p) {
  const auto at = [=](int k) { return static_cast<int>(static_cast<long long>(n) * k / p); };
  return {at(d), at(d + 1)};
}

/// From one device's memory to another's, in `stream`.
inline void copy_between(float* to, int to_device, const float* from, int from_device,
                         std::size_t count, cudaStream_t stream) {
  if (count > 0)
    CUDA_CHECK(
        cudaMemcpyPeerAsync(to, to_device, from, from_device, count * sizeof(float), stream));
}

/// Lets kernels of each device reach the memory of all others, where the machine can. Copies
/// between devices then go straight from one to the other; without it they go by way of the host.
class PeerAccess {
 public:
  explicit PeerAccess(int devices) : devices_(devices) {
    each([](int other) {
      const cudaError_t status = cudaDeviceEnablePeerAccess(other, 0);
      if (status == cudaErrorPeerAccessAlreadyEnabled)
        cudaGetLastError();
      else
        CUDA_CHECK(status);
    });
  }
  PeerAccess(const PeerAccess&) = delete;
  PeerAccess& operator=(const PeerAccess&) = delete;
  ~PeerAccess() {
    try {
      each([](int other) { cudaDeviceDisablePeerAccess(other); });
    } catch (...) {  // a destructor must not throw
    }
  }
  /// Whether all of them can.
  static bool possible(int devices) {
    bool all = true;
    for (int d = 0; d < devices; ++d)
      for (int other = 0; other < devices; ++other) all = all && (d == other || can(d, other));
    return all;
  }

 private:
  static bool can(int device, int other) {
    int yes = 0;
    CUDA_CHECK(cudaDeviceCanAccessPeer(&yes, device, other));
    return yes != 0;
  }
  template <class F>
  void each(F f) const {
    for (int d = 0; d < devices_; ++d) {
      const OnDevice here(d);
      for (int other = 0; other < devices_; ++other)
        if (other != d && can(d, other)) f(other);
    }
  }
  int devices_;
};
