// Work on all cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace tilewise {

/// Calls work(begin, end) for panels of [0, size) on all cores, each core taking the next panel when it is done with
/// one; the first exception is thrown on.
template <class Work>
void parallel_panels(std::size_t size, std::size_t panel, const Work& work) {
  if (size == 0) return;
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t panels = (size + panel - 1) / panel;
  const std::size_t threads = std::min(cores, panels);
  std::vector<std::exception_ptr> errors(threads);
  std::atomic<std::size_t> next{0};
  const auto run = [&](std::size_t thread) {
    try {
      for (std::size_t p = next++; p < panels; p = next++) work(p * panel, std::min(size, (p + 1) * panel));
    } catch (...) {
      errors[thread] = std::current_exception();
      next = panels;
    }
  };
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < threads; ++t) others.emplace_back(run, t);
  run(0);
  for (std::thread& thread : others) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

/// A vector of `size` zeros, for gigabytes: all cores touch its pages first. To get a page from the operating system
/// takes longer than to fill it, and resize() would ask for one after the other.
template <class T>
std::vector<T> zeros(std::size_t size) {
  constexpr std::size_t kPage = 4096, kPanel = std::size_t{1} << 23;
  std::vector<T> values;
  values.reserve(size);
  auto* first = reinterpret_cast<volatile unsigned char*>(values.data());
  if (size * sizeof(T) > kPanel)
    parallel_panels(size * sizeof(T), kPanel, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; i += kPage) first[i] = 0;
    });
  values.resize(size);
  return values;
}

}  // namespace tilewise
