// When the work of streams could be done: report.hpp's Timeline. What launches do in it is tested with lesson 15.
#include <cuda_runtime_api.h>

#include <vector>

#include "catch.hpp"
#include "tilewise_sim/report.hpp"

namespace {

namespace sim = tilewise::sim;

constexpr std::size_t kBytes = 1000;

/// Two streams, an event, and arrays on both sides.
struct Frame {
  cudaStream_t a, b;
  cudaEvent_t event;
  char *pinned, *x, *y;
  std::vector<char> pageable = std::vector<char>(kBytes);

  explicit Frame(unsigned flags = cudaStreamNonBlocking) {
    REQUIRE(cudaStreamCreateWithFlags(&a, flags) == cudaSuccess);
    REQUIRE(cudaStreamCreateWithFlags(&b, flags) == cudaSuccess);
    REQUIRE(cudaEventCreate(&event) == cudaSuccess);
    REQUIRE(cudaMallocHost(reinterpret_cast<void**>(&pinned), 2 * kBytes) == cudaSuccess);
    REQUIRE(cudaMalloc(reinterpret_cast<void**>(&x), kBytes) == cudaSuccess);
    REQUIRE(cudaMalloc(reinterpret_cast<void**>(&y), kBytes) == cudaSuccess);
    REQUIRE(cudaMemset(x, 0, kBytes) == cudaSuccess);
    REQUIRE(cudaMemset(y, 0, kBytes) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    sim::begin_timeline(1);
  }
  ~Frame() {
    cudaDeviceSynchronize();
    cudaFreeHost(pinned);
    cudaFree(x);
    cudaFree(y);
    cudaEventDestroy(event);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
  }
  void in(cudaStream_t stream, const char* from, std::size_t bytes = kBytes) {
    REQUIRE(cudaMemcpyAsync(x, from, bytes, cudaMemcpyHostToDevice, stream) == cudaSuccess);
  }
  void out(cudaStream_t stream, char* to, std::size_t bytes = kBytes) {
    REQUIRE(cudaMemcpyAsync(to, y, bytes, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  }
};

}  // namespace

TEST_CASE("copies in two directions overlap, in one direction they do not", "[timeline]") {
  Frame f;
  f.in(f.a, f.pinned);
  f.out(f.b, f.pinned + kBytes);
  sim::Timeline t = sim::end_timeline();
  CHECK(t.length == kBytes);
  REQUIRE(t.pieces.size() == 2);
  CHECK(t.pieces[0].engine == sim::Engine::copy_in);
  CHECK(t.pieces[1].engine == sim::Engine::copy_out);
  CHECK(t.pieces[0].stream != t.pieces[1].stream);

  sim::begin_timeline(1);
  f.out(f.a, f.pinned);
  f.out(f.b, f.pinned + kBytes, kBytes / 2);
  CHECK(sim::end_timeline().length == 1.5 * kBytes);
}

TEST_CASE("a stream, an event and a wait of the host keep order", "[timeline]") {
  {
    Frame f;
    f.in(f.a, f.pinned);
    f.out(f.a, f.pinned + kBytes);
    CHECK(sim::end_timeline().length == 2 * kBytes);
  }
  {
    Frame f;
    f.in(f.a, f.pinned);
    REQUIRE(cudaEventRecord(f.event, f.a) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(f.b, f.event, 0) == cudaSuccess);
    f.out(f.b, f.pinned + kBytes);
    CHECK(sim::end_timeline().length == 2 * kBytes);
  }
  {
    Frame f;
    REQUIRE(cudaEventRecord(f.event, f.a) == cudaSuccess);  // nothing stands before it
    f.in(f.a, f.pinned);
    REQUIRE(cudaStreamWaitEvent(f.b, f.event, 0) == cudaSuccess);
    f.out(f.b, f.pinned + kBytes);
    CHECK(sim::end_timeline().length == kBytes);
  }
  for (const bool all : {false, true}) {
    Frame f;
    f.in(f.a, f.pinned);
    REQUIRE((all ? cudaDeviceSynchronize() : cudaStreamSynchronize(f.a)) == cudaSuccess);
    f.out(f.b, f.pinned + kBytes);
    CHECK(sim::end_timeline().length == 2 * kBytes);
  }
}

TEST_CASE("copies from and to pageable memory keep the host", "[timeline]") {
  Frame f;
  f.in(f.a, f.pageable.data());
  f.out(f.b, f.pinned);
  CHECK(sim::end_timeline().length == 2 * kBytes);
  sim::begin_timeline(1);
  f.out(f.a, f.pageable.data());
  f.in(f.b, f.pinned);
  CHECK(sim::end_timeline().length == 2 * kBytes);
  sim::begin_timeline(1);
  f.in(f.b, f.pinned);
  f.out(f.a, f.pageable.data());  // nothing after it
  CHECK(sim::end_timeline().length == kBytes);
}

TEST_CASE("streams that wait for the default stream do so", "[timeline]") {
  for (const unsigned flags : {unsigned{cudaStreamDefault}, unsigned{cudaStreamNonBlocking}}) {
    Frame f(flags);
    f.in(f.a, f.pinned);
    f.out(nullptr, f.pinned + kBytes);
    const sim::Timeline t = sim::end_timeline();
    CHECK(t.length == (flags == cudaStreamDefault ? 2 : 1) * kBytes);
    REQUIRE(t.pieces.size() == 2);
    CHECK(t.pieces[0].stream != 0);
    CHECK(t.pieces[1].stream == 0);
  }
}

TEST_CASE("what takes no time in a timeline, and what is not in it", "[timeline]") {
  Frame f;
  REQUIRE(cudaMemsetAsync(f.x, 0, kBytes, f.a) == cudaSuccess);
  REQUIRE(cudaMemcpyAsync(f.y, f.x, kBytes, cudaMemcpyDeviceToDevice, f.a) == cudaSuccess);
  CHECK(sim::end_timeline().length == 0);
  f.in(f.a, f.pinned);  // after the end
  sim::begin_timeline(1);
  f.out(f.a, f.pinned + kBytes);  // what was before the begin is over
  CHECK(sim::end_timeline().length == kBytes);
  CHECK(sim::end_timeline().pieces.empty());
}

TEST_CASE("an engine takes what could begin first, not what was asked for first", "[timeline]") {
  Frame f;
  f.in(f.a, f.pinned);
  f.out(f.a, f.pinned, 100);           // could begin at 1,000
  f.out(f.b, f.pinned + kBytes, 300);  // at 0
  const sim::Timeline t = sim::end_timeline();
  CHECK(t.length == kBytes + 100);
  REQUIRE(t.pieces.size() == 3);
  CHECK(t.pieces[2].end - t.pieces[2].begin == 100);
}
