#include "parallel.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tilewise::grader {

void in_parallel(unsigned jobs, std::size_t n, const std::function<void(std::size_t)>& f) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr first;
  std::mutex mutex;
  const auto worker = [&] {
    try {
      for (std::size_t i; (i = next++) < n;) f(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  try {
    for (unsigned j = 1; j < jobs; ++j) others.emplace_back(worker);
  } catch (const std::system_error&) {
    // No more threads to be had: the work takes longer.
  }
  worker();
  for (std::thread& t : others) t.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace tilewise::grader
