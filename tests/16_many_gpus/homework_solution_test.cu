// The homework's solution, on this machine (GPUs, too): right for many sizes and numbers of devices, in order with what the streams do
// before and after, nothing written beside its arrays, no input changed, right in a second call. How submissions are graded is tested
// by `grade --check-bank`.
#include "homework/solution.cu"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "catch.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/random.hpp"
#include "tilewise/several_devices.hpp"

namespace {

constexpr std::size_t kMargin = 64;

/// As many as the simulator offers, or this machine has.
int devices_here() {
  int here = 0;
  REQUIRE(cudaGetDeviceCount(&here) == cudaSuccess);
  return here;
}

bool too_few(int devices) {
  const int here = devices_here();
  if (devices > here) WARN("not tested with " << devices << " devices: here are " << here);
  return devices > here;
}

/// One device's part of a call: a stream that doesn't wait for the default stream, and arrays with something around them.
class Side {
 public:
  explicit Side(int device) : device_(device) {
    enter();
    REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  ~Side() { cudaStreamDestroy(stream); }

  void enter() const { REQUIRE(cudaSetDevice(device_) == cudaSuccess); }

  /// The address of `inner` elements with kMargin others before and after them, in device memory.
  float* add(const std::vector<float>& inner) {
    enter();
    std::vector<float> all(kMargin, -1.0f);
    all.insert(all.end(), inner.begin(), inner.end());
    all.insert(all.end(), kMargin, -1.0f);
    arrays_.emplace_back(all);
    sources_.emplace_back(inner);
    return arrays_.back().data() + kMargin;
  }

  /// Work in the stream that brings the k-th array to what it was at first.
  void bring(std::size_t k) {
    if (sources_[k].size() == 0) return;
    REQUIRE(cudaMemcpyAsync(arrays_[k].data() + kMargin, sources_[k].data(), sources_[k].bytes(),
                            cudaMemcpyDeviceToDevice, stream) == cudaSuccess);
  }
  /// Work in the stream that takes the arrays away and writes over them.
  void take() {
    enter();
    taken_.clear();
    for (auto& array : arrays_) {
      tilewise::DeviceBuffer<float>& taken = taken_.emplace_back(array.size());
      REQUIRE(cudaMemcpyAsync(taken.data(), array.data(), taken.bytes(), cudaMemcpyDeviceToDevice, stream) ==
              cudaSuccess);
      REQUIRE(cudaMemsetAsync(array.data() + kMargin, 0xff, array.bytes() - 2 * kMargin * sizeof(float), stream) ==
              cudaSuccess);
    }
  }
  /// The k-th array, once it is there.
  std::vector<float> taken(std::size_t k) {
    enter();
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    const std::vector<float> all = taken_[k].to_host();
    CHECK(std::count(all.begin(), all.begin() + kMargin, -1.0f) == kMargin);
    CHECK(std::count(all.end() - kMargin, all.end(), -1.0f) == kMargin);
    return {all.begin() + kMargin, all.end() - kMargin};
  }

  cudaStream_t stream = nullptr;

 private:
  int device_;
  std::vector<tilewise::DeviceBuffer<float>> arrays_, sources_, taken_;
};

struct Sides {
  std::vector<std::unique_ptr<Side>> all;
  std::vector<cudaStream_t> streams;

  explicit Sides(int devices) {
    for (int d = 0; d < devices; ++d) {
      all.push_back(std::make_unique<Side>(d));
      streams.push_back(all.back()->stream);
    }
  }
  ~Sides() { cudaSetDevice(0); }
};

std::vector<double> after_step(const std::vector<double>& x, int height, int width) {
  std::vector<double> y(x.size());
  const auto at = [&](int row, int col) {
    return x[std::size_t(std::clamp(row, 0, height - 1)) * width + std::clamp(col, 0, width - 1)];
  };
  for (int row = 0; row < height; ++row)
    for (int col = 0; col < width; ++col)
      y[std::size_t(row) * width + col] =
          (at(row - 1, col) + at(row + 1, col) + at(row, col - 1) + at(row, col + 1) + 4 * at(row, col)) / 8;
  return y;
}

void check_heat(int height, int width, int steps, int devices) {
  if (too_few(devices)) return;
  INFO("height = " << height << ", width = " << width << ", steps = " << steps << ", devices = " << devices);
  const std::vector<float> plate = tilewise::random_vector(std::size_t(height) * width, 1);
  std::vector<double> expected(plate.begin(), plate.end());
  for (int s = 0; s < steps; ++s) expected = after_step(expected, height, width);
  Sides sides(devices);
  std::vector<float*> from, to, work;
  for (int d = 0; d < devices; ++d) {
    const int begin = d * height / devices, end = (d + 1) * height / devices;
    std::vector<float> own(std::size_t(end - begin + 2) * width, NAN);
    std::copy(plate.begin() + std::ptrdiff_t(begin) * width, plate.begin() + std::ptrdiff_t(end) * width,
              own.begin() + width);
    from.push_back(sides.all[d]->add(own));
    for (auto* garbage : {&to, &work}) garbage->push_back(sides.all[d]->add(std::vector<float>(own.size(), NAN)));
  }
  for (int call = 0; call < 2; ++call) {
    for (int d = 0; d < devices; ++d)
      for (std::size_t k = 0; k < 3; ++k) sides.all[d]->bring(k);
    REQUIRE(launch_heat(from.data(), to.data(), work.data(), height, width, steps, devices, sides.streams.data()) ==
            cudaSuccess);
    for (auto& side : sides.all) side->take();
    for (int d = 0; d < devices; ++d) {
      const std::vector<float> after = sides.all[d]->taken(1), input = sides.all[d]->taken(0);
      sides.all[d]->taken(2);  // nothing beside it
      const std::size_t begin = std::size_t(d * height / devices) * width, size = after.size() - 2 * width;
      CHECK(std::equal(input.begin() + width, input.end() - width, plate.begin() + begin));
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < size; ++i)
        wrong += !(std::abs(double{after[i + width]} - expected[begin + i]) <= 1e-6 * (steps + 1));
      CHECK(wrong == 0);
    }
    sides.all[0]->enter();
  }
}

void check_all_reduce(int n, int devices) {
  if (too_few(devices)) return;
  INFO("n = " << n << ", devices = " << devices);
  Sides sides(devices);
  std::vector<double> expected(n);
  std::vector<float*> x, work;
  for (int d = 0; d < devices; ++d) {
    const std::vector<float> numbers = tilewise::random_vector(n, d + 1);
    for (int i = 0; i < n; ++i) expected[i] += double{numbers[i]};
    x.push_back(sides.all[d]->add(numbers));
    work.push_back(sides.all[d]->add(std::vector<float>(n, NAN)));
  }
  for (int call = 0; call < 2; ++call) {
    for (int d = 0; d < devices; ++d)
      for (std::size_t k = 0; k < 2; ++k) sides.all[d]->bring(k);
    REQUIRE(launch_all_reduce(x.data(), work.data(), n, devices, sides.streams.data()) == cudaSuccess);
    for (auto& side : sides.all) side->take();
    const std::vector<float> first = sides.all[0]->taken(0);
    std::size_t wrong = 0;
    for (int i = 0; i < n; ++i) wrong += !(std::abs(double{first[i]} - expected[i]) <= 1e-6 * devices);
    CHECK(wrong == 0);
    for (int d = 1; d < devices; ++d) CHECK(sides.all[d]->taken(0) == first);
    for (int d = 0; d < devices; ++d) sides.all[d]->taken(1);  // nothing beside it
    sides.all[0]->enter();
  }
}

}  // namespace

TEST_CASE("homework, solution: heat in a plate that lies on several devices", "[homework]") {
  for (const int devices : {1, 2, 3, 4}) {
    for (const int steps : {1, 2, 7}) {
      check_heat(devices, 5, steps, devices);
      check_heat(2 * devices + 1, 33, steps, devices);
      check_heat(41, 1, steps, devices);
    }
    check_heat(60, 257, 12, devices);
  }
}

TEST_CASE("homework, solution: all devices get the sums of all", "[homework]") {
  for (const int devices : {1, 2, 3, 4})
    for (const int n : {0, 1, 2, 3, 4, 5, 1000, 1001, 1003, 20000}) check_all_reduce(n, devices);
}
