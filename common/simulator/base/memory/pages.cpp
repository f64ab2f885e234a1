#include "base/memory/pages.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

namespace tilewise::sim::memory {

namespace {

/// A file of 0xFF bytes: mapping it privately fills large allocations without touching their pages.
class Pattern {
 public:
  static constexpr std::size_t kBytes = std::size_t(4) << 20;

  /// Fills whole pages [begin, end), which become open. False where files cannot be mapped.
  static bool fill(std::uintptr_t begin, std::uintptr_t end) {
    static const int file = make();
    if (file < 0) return false;
    for (std::uintptr_t at = begin; at < end; at += kBytes) {
      void* mapped =
          mmap(bytes_at(at), std::min(kBytes, end - at), kOpen, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, file, 0);
      if (mapped == MAP_FAILED) return false;
    }
    return true;
  }

 private:
  static int make() {
    char path[] = "/tmp/tilewise-XXXXXX";
    const int file = mkstemp(path);
    if (file < 0) return -1;
    unlink(path);
    fcntl(file, F_SETFD, FD_CLOEXEC);
    const std::vector<std::uint8_t> ones(std::size_t(64) << 10, 0xFF);
    for (std::size_t done = 0; done < kBytes; done += ones.size()) {
      if (write(file, ones.data(), ones.size()) != static_cast<ssize_t>(ones.size())) {
        close(file);
        return -1;
      }
    }
    return file;
  }
};

}  // namespace

std::size_t page_size() {
  static const std::size_t size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(2);
}

std::uintptr_t reserve(std::uintptr_t hint, std::size_t bytes) {
  void* at = mmap(reinterpret_cast<void*>(hint), bytes, kClosed, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? 0 : reinterpret_cast<std::uintptr_t>(at);
}

void protect(std::uintptr_t begin, std::uintptr_t end, int how) {
  if (begin < end && mprotect(bytes_at(begin), end - begin, how) != 0) give_up("simulator: mprotect");
}

void forget_pages(std::uintptr_t begin, std::uintptr_t end) {
  if (begin >= end) return;
  void* at =
      mmap(bytes_at(begin), end - begin, kClosed, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (at == MAP_FAILED) give_up("simulator: mmap");
}

void zero_pages(std::uintptr_t begin, std::uintptr_t end) {
  constexpr std::size_t kLarge = std::size_t(1) << 20;
  const std::uintptr_t first = round_up(begin, page_size());
  const std::uintptr_t last = round_down(end, page_size());
  if (end - begin < kLarge) {
    std::memset(bytes_at(begin), 0, end - begin);
    return;
  }
  std::memset(bytes_at(begin), 0, first - begin);
  forget_pages(first, last);
  protect(first, last, kOpen);
  std::memset(bytes_at(last), 0, end - last);
}

bool fill_pages(std::uintptr_t begin, std::uintptr_t end) {
  return end > begin && end - begin >= Pattern::kBytes && Pattern::fill(begin, end);
}

}  // namespace tilewise::sim::memory
