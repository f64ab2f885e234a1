// The homework's solution, on this machine (a GPU, too): right on many sizes, in order with what its stream does before and after,
// nothing written beside its output, no input changed, right in a second call. How submissions are graded is tested by
// `grade --check-bank`.
#include "homework/solution.cu"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/pinned_buffer.hpp"
#include "tilewise/random.hpp"

namespace {

constexpr std::size_t kMargin = 64;

/// A stream that does not wait for the default stream.
class CallersStream {
 public:
  CallersStream() { REQUIRE(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking) == cudaSuccess); }
  CallersStream(const CallersStream&) = delete;
  CallersStream& operator=(const CallersStream&) = delete;
  ~CallersStream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Numbers come by work in the stream, and results are taken from there by work in it.
void check_filter(int n, int room) {
  const CallersStream stream;
  const std::size_t size = n + 2 * kMargin;
  tilewise::PinnedBuffer<float> in(size), out(size), result(size);
  for (int round = 0; round < 2; ++round) {
    std::vector<float> numbers(size, NAN);
    const std::vector<float> inner = tilewise::random_vector(n, round + 1);
    std::copy(inner.begin(), inner.end(), numbers.begin() + kMargin);
    const tilewise::DeviceBuffer<float> source(numbers);
    tilewise::DeviceBuffer<float> device(std::vector<float>(room + 2 * kMargin, -1.0f)), taken(size);
    std::fill_n(in.span().data(), size, -2.0f);
    std::fill_n(out.span().data(), size, -3.0f);
    const std::size_t bytes = size * sizeof(float);
    REQUIRE(cudaMemcpyAsync(in.span().data(), source.data(), bytes, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
    REQUIRE(launch_filter(in.span().data() + kMargin, out.span().data() + kMargin, n, device.data() + kMargin, room,
                          stream) == cudaSuccess);
    REQUIRE(cudaMemcpyAsync(taken.data(), out.span().data(), bytes, cudaMemcpyHostToDevice, stream) == cudaSuccess);
    REQUIRE(cudaMemcpyAsync(result.span().data(), taken.data(), bytes, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const float got = result.span()[i];
      if (i < kMargin || i >= size - kMargin) {
        wrong += got != -3.0f;
        continue;
      }
      const float left = i > kMargin ? numbers[i - 1] : numbers[i];
      const float right = i + 1 < size - kMargin ? numbers[i + 1] : numbers[i];
      wrong += !(std::abs(got - (left + 2 * numbers[i] + right) / 4) <= 1e-6f);
    }
    CHECK(wrong == 0);
    const std::vector<float> worked = device.to_host();
    CHECK(std::all_of(worked.begin(), worked.begin() + kMargin, [](float v) { return v == -1.0f; }));
    CHECK(std::all_of(worked.end() - kMargin, worked.end(), [](float v) { return v == -1.0f; }));
  }
}

void check_rule_30(int n, int steps) {
  const CallersStream stream;
  std::vector<int> state(n);
  for (int i = 0; i < n; ++i) state[i] = static_cast<int>((i + 1) * 2654435761u);
  const tilewise::DeviceBuffer<int> from(state);
  tilewise::DeviceBuffer<int> to(std::vector<int>(n + 2, -7)), work(std::vector<int>(n + 2, -7));
  for (int call = 0; call < 2; ++call) {
    REQUIRE(launch_rule_30(from.data(), to.data() + 1, work.data() + 1, n, steps, stream) == cudaSuccess);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  }
  CHECK(from.to_host() == state);
  for (int s = 0; s < steps; ++s) {
    std::vector<int> next(n);
    for (int i = 0; i < n; ++i) next[i] = state[(i + n - 1) % n] ^ (state[i] | state[(i + 1) % n]);
    state = next;
  }
  std::vector<int> expected{-7};
  expected.insert(expected.end(), state.begin(), state.end());
  expected.push_back(-7);
  CHECK(to.to_host() == expected);
  CHECK(work.to_host().front() == -7);
  CHECK(work.to_host().back() == -7);
}

}  // namespace

TEST_CASE("homework, solution: a filter over what doesn't fit into the device's memory", "[homework]") {
  for (const auto& [n, room] : {std::pair{0, 64},
                                {1, 64},
                                {2, 64},
                                {9, 64},
                                {10, 64},
                                {1000, 64},
                                {4096, 1000},
                                {100, 100000},
                                {300001, 40000}}) {
    INFO("n = " << n << ", room = " << room);
    check_filter(n, room);
  }
}

TEST_CASE("homework, solution: many small steps in a graph", "[homework]") {
  for (const auto& [n, steps] :
       {std::pair{1, 1}, {1, 100}, {2, 2}, {33, 65}, {300, 64}, {300, 66}, {1000, 129}, {5000, 97}}) {
    INFO("n = " << n << ", steps = " << steps);
    check_rule_30(n, steps);
  }
}
