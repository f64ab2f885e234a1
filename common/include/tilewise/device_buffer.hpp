/// @file
/// Owners of device memory, events and streams: allocated here, freed when they go out of scope.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <limits>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tilewise/cuda_check.hpp"

namespace tilewise {

/// `size()` elements of T in device memory. All byte counts of a lesson are computed in here, once.
template <class T>
class DeviceBuffer {
  static_assert(std::is_trivially_destructible_v<T>, "device memory is filled byte by byte");

 public:
  DeviceBuffer() = default;

  /// Allocates `size` elements, not initialised. A size of 0 is allowed: data() is then null.
  explicit DeviceBuffer(std::size_t size) : size_(size) {
    if (size > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_alloc();
    if (size > 0) CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()));
  }

  /// Allocates as many elements as `host` has and uploads them.
  explicit DeviceBuffer(std::span<const T> host) : DeviceBuffer(host.size()) { upload(host); }
  explicit DeviceBuffer(const std::vector<T>& host) : DeviceBuffer(std::span<const T>(host)) {}

  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceBuffer() { cudaFree(data_); }  // a destructor must not throw

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

  /// Host to device; waits until the elements are there. cudaMemcpy() from ordinary memory may return before, which work in
  /// a stream made with cudaStreamNonBlocking would see. Throws std::length_error unless `host` has exactly size() elements.
  void upload(std::span<const T> host) {
    expect_size(host.size(), "upload");
    if (size_ == 0) return;
    CUDA_CHECK(cudaMemcpy(data_, host.data(), bytes(), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaStreamSynchronize(nullptr));
  }

  /// Device to host; waits for the device. Throws std::length_error unless `host` has exactly size() elements.
  void download(std::span<T> host) const {
    expect_size(host.size(), "download");
    if (size_ > 0) CUDA_CHECK(cudaMemcpy(host.data(), data_, bytes(), cudaMemcpyDeviceToHost));
  }

  /// Device to host, into a new vector.
  std::vector<T> to_host() const {
    std::vector<T> host(size_);
    download(host);
    return host;
  }

  /// All bits 0: zeros for every arithmetic type.
  void zero() { fill_bytes(0); }

  /// All bits 1: a NaN for every floating-point type, -1 for signed integers. An element that a kernel forgets
  /// to write keeps this pattern and fails the comparison.
  void poison() { fill_bytes(0xFF); }

 private:
  void fill_bytes(int byte) {
    if (size_ > 0) CUDA_CHECK(cudaMemset(data_, byte, bytes()));
  }
  void expect_size(std::size_t host_size, const char* what) const {
    if (host_size != size_)
      throw std::length_error(std::string(what) + ": host has " + std::to_string(host_size) +
                              " elements, device buffer has " + std::to_string(size_));
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A CUDA event.
class Event {
 public:
  Event() { CUDA_CHECK(cudaEventCreate(&event_)); }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~Event() {
    if (event_) cudaEventDestroy(event_);
  }

  void record(cudaStream_t stream = nullptr) { CUDA_CHECK(cudaEventRecord(event_, stream)); }
  void synchronize() const { CUDA_CHECK(cudaEventSynchronize(event_)); }
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Milliseconds of device time between two events that have both happened.
inline float elapsed_ms(const Event& start, const Event& stop) {
  float ms = 0;
  CUDA_CHECK(cudaEventElapsedTime(&ms, start.get(), stop.get()));
  return ms;
}

/// A CUDA stream. cudaStreamNonBlocking: one that the default stream does not wait for, nor it for that.
class Stream {
 public:
  explicit Stream(unsigned flags = cudaStreamDefault) { CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, flags)); }
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~Stream() {
    if (stream_) cudaStreamDestroy(stream_);
  }

  void synchronize() const { CUDA_CHECK(cudaStreamSynchronize(stream_)); }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace tilewise
