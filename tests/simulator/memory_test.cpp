// The simulated device's memory from inside.
#include "base/memory.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/findings.hpp"
#include "catch.hpp"
#include "cuda_runtime_api.h"
#include "expected_findings.hpp"
#include "runtime/errors.hpp"

using namespace tilewise::sim;
namespace memory = tilewise::sim::memory;
using memory::Kind;
using memory::Release;

namespace {

std::uintptr_t number(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

struct Death {
  int exit_code = -1;  // -1: a signal
  int signal = 0;
  std::string text;  // what went to stderr
};

/// Runs `act` in a child process. A child that survives it exits with 99.
Death death_of(const std::function<void()>& act, bool always_close = true) {
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    close(pipe_ends[0]);
    dup2(pipe_ends[1], 2);
    memory::install_fault_handler();  // Catch2 has its own while a test runs
    if (always_close) memory::always_close_device_memory();
    act();
    _exit(99);
  }
  close(pipe_ends[1]);
  Death death;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(pipe_ends[0], buffer, sizeof(buffer))) > 0;) death.text.append(buffer, n);
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) death.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) death.signal = WTERMSIG(status);
  return death;
}

float* device_floats(std::size_t count) {
  float* p = nullptr;
  REQUIRE(cudaMalloc(&p, count * sizeof(float)) == cudaSuccess);
  return p;
}

}  // namespace

TEST_CASE("allocations are aligned and have red zones", "[memory]") {
  std::vector<void*> all;
  for (const std::size_t bytes : {1, 255, 256, 257, 4096, 100000}) {
    for (const Kind kind : {Kind::device, Kind::managed, Kind::host}) {
      void* p = memory::allocate(bytes, kind);
      REQUIRE(p != nullptr);
      all.push_back(p);
      CHECK(number(p) % memory::kAlignment == 0);
      const memory::Allocation* found = memory::find(p);
      REQUIRE(found != nullptr);
      CHECK(found->begin == number(p));
      CHECK(found->bytes == bytes);
      CHECK(found->kind == kind);
      CHECK(memory::find(number(p) + bytes - 1) == found);
      CHECK(memory::find(number(p) - 1) == nullptr);
      CHECK(memory::find(number(p) + bytes) == nullptr);
      CHECK(memory::find(number(p) - memory::kRedZone) == nullptr);
      CHECK(memory::find(number(p) + bytes + memory::kRedZone - 1) == nullptr);
      CHECK(memory::nearest(number(p) + bytes + 12) == found);
      CHECK(memory::nearest(number(p) - 12) == found);
      CHECK(memory::in_device_arena(number(p)) == (kind == Kind::device));
    }
  }
  for (void* p : all) CHECK(memory::release(p) == Release::ok);
}

TEST_CASE("addresses depend on the calls only", "[memory]") {
  // Two children with the same parent make the same calls and see the same addresses.
  const auto addresses = [] {
    return death_of([] {
             for (int i = 1; i < 50; ++i) {
               void* p = memory::allocate(i * 1000, Kind::device);
               std::fprintf(stderr, "%p\n", p);
               if (i % 3 == 0) memory::release(p);
             }
           })
        .text;
  };
  const std::string first = addresses();
  CHECK(first.size() > 100);
  CHECK(first == addresses());
}

TEST_CASE("freed memory is remembered and not used again", "[memory]") {
  void* a = memory::allocate(1000, Kind::device);
  CHECK(memory::release(a) == Release::ok);
  void* b = memory::allocate(1000, Kind::device);
  CHECK(a != b);
  const memory::Allocation* gone = memory::find(a);
  REQUIRE(gone != nullptr);
  CHECK_FALSE(gone->live);
  CHECK(memory::describe(number(a) + 4).find("4 bytes into the 1000-byte device allocation") == 0);
  CHECK(memory::describe(number(a) + 4).find("freed") != std::string::npos);
  CHECK(memory::release(a) == Release::already_freed);
  CHECK(memory::release(static_cast<char*>(b) + 8) == Release::inner_pointer);
  CHECK(memory::release(&a) == Release::not_an_allocation);
  CHECK(memory::release(b) == Release::ok);
}

TEST_CASE("a full card reuses freed memory, and never live memory", "[memory]") {
  const std::size_t third = memory::capacity() / 3;
  const std::size_t used = memory::used_bytes();
  void* kept = memory::allocate(third, Kind::device);
  REQUIRE(kept != nullptr);
  for (int i = 0; i < 10; ++i) {  // ten times a third does not fit without reuse
    void* p = memory::allocate(third, Kind::device);
    REQUIRE(p != nullptr);
    CHECK((number(p) >= number(kept) + third || number(p) + third <= number(kept)));
    {
      const memory::DeviceMemoryOpen open;
      float first = 0;
      std::memcpy(&first, p, sizeof(first));
      CHECK(std::isnan(first));
      CHECK_FALSE(memory::is_written(number(p), 4));
      std::memset(p, 0, 4096);
      memory::mark_written(number(p), 4096);
    }
    CHECK(memory::release(p) == Release::ok);
  }
  CHECK(memory::allocate(memory::capacity() - third / 2, Kind::device) == nullptr);
  CHECK(memory::release(kept) == Release::ok);
  CHECK(memory::used_bytes() == used);
}

TEST_CASE("fresh device memory is NaN, fresh host memory zero", "[memory]") {
  for (const std::size_t bytes : {std::size_t(4), std::size_t(5000), std::size_t(20) << 20}) {
    auto* p = static_cast<unsigned char*>(memory::allocate(bytes, Kind::device));
    auto* m = static_cast<unsigned char*>(memory::allocate(bytes, Kind::managed));
    REQUIRE(p != nullptr);
    REQUIRE(m != nullptr);
    const memory::DeviceMemoryOpen open;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < bytes; ++i) wrong += p[i] != 0xFF || m[i] != 0;
    CHECK(wrong == 0);
    memory::release(p);
    memory::release(m);
  }
}

TEST_CASE("the shadow knows written bytes", "[memory]") {
  auto* p = static_cast<char*>(memory::allocate(100, Kind::device));
  const std::uintptr_t at = number(p);
  CHECK_FALSE(memory::is_written(at, 1));
  memory::mark_written(at + 3, 2);
  CHECK(memory::is_written(at + 3, 2));
  CHECK_FALSE(memory::is_written(at + 2, 2));
  CHECK_FALSE(memory::is_written(at + 4, 2));
  memory::mark_written(at + 13, 40);  // across shadow bytes at both ends
  CHECK(memory::is_written(at + 13, 40));
  CHECK_FALSE(memory::is_written(at + 12, 1));
  CHECK_FALSE(memory::is_written(at + 53, 1));
  CHECK_FALSE(memory::is_written(at + 12, 41));

  for (const int shift : {0, 8, 16, 3}) {  // whole shadow bytes and single bits
    auto* q = static_cast<char*>(memory::allocate(200, Kind::device));
    memory::mark_written(number(q), 200);
    memory::copy_written(number(q) + shift, at, 100);
    std::size_t wrong = 0;
    for (int i = 0; i < 100; ++i)
      wrong += memory::is_written(number(q) + shift + i, 1) != memory::is_written(at + i, 1);
    CHECK(wrong == 0);
    CHECK(memory::is_written(number(q) + shift + 100, 1));
    memory::release(q);
  }
  memory::release(p);
}

TEST_CASE("API calls mark what they write", "[memory]") {
  float host[8] = {};
  float* p = device_floats(100);
  CHECK_FALSE(memory::is_written(number(p), 4));
  CHECK(cudaMemcpy(p + 2, host, sizeof(host), cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(memory::is_written(number(p + 2), sizeof(host)));
  CHECK_FALSE(memory::is_written(number(p + 1), 4));
  CHECK_FALSE(memory::is_written(number(p + 10), 4));
  CHECK(cudaMemset(p + 20, 0, 40) == cudaSuccess);
  CHECK(memory::is_written(number(p + 20), 40));
  float* q = device_floats(100);
  CHECK(cudaMemcpy(q, p, 400, cudaMemcpyDeviceToDevice) == cudaSuccess);
  CHECK_FALSE(memory::is_written(number(q + 1), 4));
  CHECK(memory::is_written(number(q + 2), sizeof(host)));
  CHECK(cudaMemset2D(q + 40, 40, 0, 8, 3) == cudaSuccess);
  CHECK(memory::is_written(number(q + 50), 8));
  CHECK_FALSE(memory::is_written(number(q + 42), 4));
  CHECK(cudaFree(p) == cudaSuccess);
  CHECK(cudaFree(q) == cudaSuccess);
}

TEST_CASE("opening device memory nests", "[memory]") {
  auto* p = static_cast<volatile char*>(memory::allocate(16, Kind::device));
  {
    const memory::DeviceMemoryOpen outer;
    { const memory::DeviceMemoryOpen inner; }
    CHECK(memory::device_memory_is_open());
    p[0] = 1;
    CHECK(p[0] == 1);
  }
  CHECK_FALSE(memory::device_memory_is_open());
  memory::release(const_cast<char*>(p));
}

TEST_CASE("host code that touches device memory is told so", "[memory]") {
  float* p = device_floats(1024);
  for (const bool write : {false, true}) {
    const Death death = death_of([=] {
      volatile float* q = p;
      if (write) {
        q[3] = 1;
      } else {
        (void)q[3];
      }
    });
    CHECK(death.exit_code == 1);
    INFO(death.text);
    CHECK(death.text.find("host code read or wrote device memory (12 bytes into the 4096-byte device allocation") !=
          std::string::npos);
    CHECK(death.text.find("copy it with cudaMemcpy first") != std::string::npos);
  }
  const Death past = death_of([=] { (void)*static_cast<volatile float*>(p + 1024); });
  CHECK(past.exit_code == 1);
  INFO(past.text);
  CHECK(past.text.find("0 bytes past the end of the 4096-byte") != std::string::npos);
  CHECK(cudaFree(p) == cudaSuccess);
}

TEST_CASE("device memory stays usable after it is no longer closed", "[memory]") {
  const Death death = death_of(
      [] {
        constexpr std::size_t kBytes = std::size_t(1) << 20;
        std::vector<char> host(kBytes, 7);
        for (int i = 0; i < 200; ++i) {  // far more than the pages that are closed, with reuse of what was freed
          char* p = nullptr;
          if (cudaMalloc(&p, kBytes) != cudaSuccess) _exit(1);
          if (memory::is_written(number(p), 1)) _exit(2);
          if (cudaMemcpy(p, host.data(), kBytes, cudaMemcpyHostToDevice) != cudaSuccess) _exit(3);
          if (cudaMemset(p, i, kBytes / 2) != cudaSuccess) _exit(4);
          std::vector<char> back(kBytes);
          if (cudaMemcpy(back.data(), p, kBytes, cudaMemcpyDeviceToHost) != cudaSuccess) _exit(5);
          if (back[kBytes / 2 - 1] != static_cast<char>(i) || back[kBytes / 2] != 7) _exit(6);
          if (cudaFree(p) != cudaSuccess) _exit(7);
        }
        _exit(42);
      },
      false);
  CHECK(death.exit_code == 42);
}

TEST_CASE("host code that uses freed managed memory is told so", "[memory]") {
  char* p = nullptr;
  REQUIRE(cudaMallocManaged(&p, 100000) == cudaSuccess);
  p[50000] = 1;
  REQUIRE(cudaFree(p) == cudaSuccess);
  const Death death = death_of([=] { (void)*static_cast<volatile char*>(p + 50000); });
  CHECK(death.exit_code == 1);
  INFO(death.text);
  CHECK(death.text.find("memory that is not allocated") != std::string::npos);
  CHECK(death.text.find("freed") != std::string::npos);
}

TEST_CASE("other faults stay what they were", "[memory]") {
  const Death death = death_of([] {
    std::signal(SIGSEGV, SIG_DFL);
    memory::install_fault_handler();
    volatile int* nowhere = nullptr;
    *nowhere = 1;
  });
  CHECK(death.exit_code == -1);
  CHECK(death.signal == SIGSEGV);
}

TEST_CASE("mistakes with allocations are findings", "[memory]") {
  const auto finding_of = [](auto act) {
    const ExpectedFindings expected;
    const std::size_t before = findings().size();
    act();
    cudaGetLastError();
    return findings().size() == before + 1 ? findings().back() : Finding{};
  };
  float* p = device_floats(100);
  std::vector<float> host(200);
  Finding f = finding_of([&] { cudaMemcpy(p, host.data(), 800, cudaMemcpyHostToDevice); });
  CHECK(f.code == "out-of-bounds");
  CHECK(f.message.find("the destination has no room for 800 bytes") != std::string::npos);
  f = finding_of([&] { cudaMemcpy(p, host.data(), 400, cudaMemcpyDeviceToHost); });
  CHECK(f.code == "bad-copy");
  CHECK(f.message.find("the source") != std::string::npos);
  f = finding_of([&] { cudaMemcpy(host.data(), p + 110, 4, cudaMemcpyDeviceToHost); });
  CHECK(f.code == "out-of-bounds");
  CHECK(f.message.find("40 bytes past the end") != std::string::npos);
  f = finding_of([&] { cudaMemcpy(p, reinterpret_cast<float*>(0x1000), 4, cudaMemcpyHostToDevice); });
  CHECK(f.code == "bad-copy");
  CHECK(f.message.find("the source is an address where the host has no memory") != std::string::npos);
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const pages = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(pages != MAP_FAILED);
  REQUIRE(munmap(static_cast<char*>(pages) + page, page) == 0);
  char* const end = static_cast<char*>(pages) + page;
  f = finding_of([&] { cudaMemcpy(end - 100, p, 101, cudaMemcpyDeviceToHost); });
  CHECK(f.code == "bad-copy");
  CHECK(f.message.find("the destination has no room for 101 bytes: the host's memory ends before") !=
        std::string::npos);
  CHECK(cudaMemcpy(end - 100, p, 100, cudaMemcpyDeviceToHost) == cudaSuccess);
  REQUIRE(munmap(pages, page) == 0);
  f = finding_of([&] { cudaMemset(host.data(), 0, 4); });
  CHECK(f.code == "bad-copy");
  f = finding_of([&] { cudaFree(p + 1); });
  CHECK(f.code == "bad-free");
  f = finding_of([&] { cudaFreeHost(p); });
  CHECK(f.message.find("it takes cudaFree") != std::string::npos);
  REQUIRE(cudaFree(p) == cudaSuccess);
  f = finding_of([&] { cudaFree(p); });
  CHECK(f.code == "double-free");
  CHECK(f.message.find("400-byte device allocation") != std::string::npos);
  f = finding_of([&] { cudaMemcpy(host.data(), p, 4, cudaMemcpyDeviceToHost); });
  CHECK(f.code == "use-after-free");
}

TEST_CASE("a ruined device answers every call with its error until it is reset", "[memory]") {
  const Death death = death_of([] {
    float* p = nullptr;
    cudaMalloc(&p, 4);
    set_sticky(cudaErrorIllegalAddress);
    const bool ruined = cudaGetLastError() == cudaErrorIllegalAddress && cudaGetLastError() == cudaSuccess &&
                        cudaDeviceSynchronize() == cudaErrorIllegalAddress && cudaFree(p) == cudaErrorIllegalAddress &&
                        cudaMalloc(&p, 4) == cudaErrorIllegalAddress;
    int count = 0;
    const bool still_there = cudaGetDeviceCount(&count) == cudaSuccess && count == 1;
    const bool well_again =
        cudaDeviceReset() == cudaSuccess && cudaMalloc(&p, 4) == cudaSuccess && cudaFree(p) == cudaSuccess;
    _exit(ruined && still_there && well_again ? 42 : 43);
  });
  CHECK(death.exit_code == 42);
}

TEST_CASE("a reset frees everything", "[memory]") {
  const Death death = death_of([] {
    float* p = nullptr;
    cudaMalloc(&p, 4000);
    const bool before = memory::find(p)->live && !memory::live_allocations().empty();
    cudaDeviceReset();
    const bool after = memory::live_allocations().empty() && memory::used_bytes() == 0;
    const std::size_t findings = finding_count();
    const bool refused = cudaFree(p) == cudaErrorInvalidValue && finding_count() == findings;
    _exit(before && after && refused ? 42 : 43);
  });
  CHECK(death.exit_code == 42);
}

TEST_CASE("an unknown card ends the program with the list", "[memory]") {
  // A child of this process has its card chosen already, so a fresh process is needed: this program itself.
  REQUIRE(memory::capacity() > 0);
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
  if (length <= 0) return;  // not Linux
  self[length] = 0;
  const Death death = death_of([&] {
    setenv("TILEWISE_DEVICE", "gtx8800", 1);
    execl(self, self, "allocations are aligned and have red zones", static_cast<char*>(nullptr));
  });
  CHECK(death.exit_code == 2);
  CHECK(death.text.find("gtx8800") != std::string::npos);
  CHECK(death.text.find("h200") != std::string::npos);
  CHECK(death.text.find("t4") != std::string::npos);
}
