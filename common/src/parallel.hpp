// Work on all cores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace tilewise {

/// Calls work(begin, end) for panels of [0, size) on all cores; the first exception is thrown on.
template <class Work>
void parallel_panels(std::size_t size, std::size_t panel, const Work& work) {
  if (size == 0) return;
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t panels = (size + panel - 1) / panel;
  const std::size_t threads = std::min(cores, panels);
  std::vector<std::exception_ptr> errors(threads);
  const auto run = [&](std::size_t first) {
    try {
      for (std::size_t p = first; p < panels; p += threads) work(p * panel, std::min(size, (p + 1) * panel));
    } catch (...) {
      errors[first] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < threads; ++t) others.emplace_back(run, t);
  run(0);
  for (std::thread& thread : others) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace tilewise
