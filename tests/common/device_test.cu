// What touches the device: buffers, events, the timer, counts, and the frame of a lesson with wrong kernels in it.
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.hpp"
#include "tilewise/lesson.hpp"

using namespace tilewise;

namespace {

__global__ void double_all(const float* x, float* y, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) y[i] = 2 * x[i];
}

// One thread per element; forgets what it is told to forget.
__global__ void product(const float* A, const float* B, float* C, int m, int n, int k, int skipped_element,
                        int skipped_product) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m * n || i == skipped_element) return;
  float sum = 0;
  for (int l = 0; l < k; ++l)
    if (l != skipped_product) sum += A[i / n * k + l] * B[l * n + i % n];
  C[i] = sum;
}

MatmulVariant variant(int block, int skipped_element = -1, int skipped_product = -1) {
  MatmulVariant v;
  v.kernel = "product";
  v.tile = block;
  v.block = dim3(block);
  v.launch = [=](const MatmulProblem& p) {
    product<<<(p.m * p.n + block - 1) / block, block, 0, p.stream>>>(p.A, p.B, p.C, p.m, p.n, p.k, skipped_element,
                                                                     skipped_product);
    CUDA_CHECK_LAUNCH();
  };
  return v;
}

struct Ran {
  Outcome outcome;
  int code;
};

Ran run(const MatmulVariant& v, std::vector<const char*> words) {
  words.insert(words.begin(), "program");
  Options options("99_test", "A test.");
  options.add_matmul({.sizes = {16}, .sim_sizes = {16}, .tiles = {}});
  options.parse(static_cast<int>(words.size()), words.data());
  MatmulLesson lesson(options);
  REQUIRE(lesson.begin(options.shapes()[0]));
  const Outcome outcome = lesson.run(v);
  return {outcome, lesson.finish()};
}

}  // namespace

TEST_CASE("a buffer carries data there and back") {
  const std::vector<float> host = random_vector(1000, 1);
  DeviceBuffer<float> buffer(host);
  CHECK(buffer.size() == 1000);
  CHECK(buffer.bytes() == 4000);
  CHECK(buffer.to_host() == host);
  buffer.zero();
  CHECK(buffer.to_host() == std::vector<float>(1000, 0.0f));
}

TEST_CASE("poison is NaN in every element, and -1 in integers") {
  DeviceBuffer<float> floats(100);
  floats.poison();
  for (float value : floats.to_host()) CHECK(std::isnan(value));
  DeviceBuffer<double> doubles(100);
  doubles.poison();
  for (double value : doubles.to_host()) CHECK(std::isnan(value));
  DeviceBuffer<int> integers(100);
  integers.poison();
  for (int value : integers.to_host()) CHECK(value == -1);
}

TEST_CASE("a size that does not fit is refused, not truncated") {
  DeviceBuffer<float> buffer(10);
  std::vector<float> nine(9), eleven(11);
  CHECK_THROWS_AS(buffer.upload(nine), std::length_error);
  CHECK_THROWS_AS(buffer.upload(eleven), std::length_error);
  CHECK_THROWS_AS(buffer.download(nine), std::length_error);
  CHECK_THROWS_AS(DeviceBuffer<double>(SIZE_MAX / 4), std::bad_alloc);
}

TEST_CASE("buffers may be empty, and move") {
  DeviceBuffer<float> empty(0);
  CHECK(empty.data() == nullptr);
  empty.zero();
  CHECK(empty.to_host().empty());
  DeviceBuffer<float> first(std::vector<float>{1, 2, 3});
  float* const data = first.data();
  DeviceBuffer<float> second = std::move(first);
  CHECK(second.data() == data);
  CHECK(first.data() == nullptr);
  first = std::move(second);
  CHECK(first.to_host() == std::vector<float>{1, 2, 3});
}

TEST_CASE("a failing call names file, line, call and error") {
  int line = 0;
  try {
    line = __LINE__ + 1;
    CUDA_CHECK(cudaSetDevice(12345));
    FAIL("no exception");
  } catch (const CudaError& error) {
    const std::string text = error.what();
    CAPTURE(text);
    CHECK(error.code() == cudaErrorInvalidDevice);
    CHECK(text.find("device_test.cu:" + std::to_string(line)) != std::string::npos);
    CHECK(text.find("cudaSetDevice(12345)") != std::string::npos);
    CHECK(text.find("cudaErrorInvalidDevice") != std::string::npos);
  }
  cudaGetLastError();
}

TEST_CASE("a launch that the device refuses throws, and leaves the device usable") {
  DeviceBuffer<float> x(std::vector<float>{1, 2, 3}), y(3);
  const auto launch = [&](int threads) {
    double_all<<<1, threads>>>(x.data(), y.data(), 3);
    CUDA_CHECK_LAUNCH_AND_SYNC();
  };
  CHECK_THROWS_AS(launch(4096), CudaError);
  launch(32);
  CHECK(y.to_host() == std::vector<float>{2, 4, 6});
}

TEST_CASE("the device describes itself") {
  const Device& d = device();
  CHECK_FALSE(d.name.empty());
  CHECK(d.simulated == is_simulated());
  CHECK(d.max_threads_per_block == 1024);
  CHECK(d.shared_per_block == 49152);
  CHECK(d.shared_per_block_opt_in >= d.shared_per_block);
  CHECK(d.peak_fp32_gflops() > 1000);
  CHECK(d.peak_bandwidth_gbs() > 100);
  CHECK(d.text().find("1,024 threads per block") != std::string::npos);
  CHECK(free_device_memory() > 0);
}

TEST_CASE("the timer times on a GPU, and runs once on the simulator") {
  DeviceBuffer<float> x(random_vector(1 << 10, 1)), y(1 << 10);
  int calls = 0;
  const auto call = [&](cudaStream_t stream) {
    ++calls;
    double_all<<<4, 256, 0, stream>>>(x.data(), y.data(), 1 << 10);
    CUDA_CHECK_LAUNCH();
  };
  const Timing timing = measure(call);
  CHECK(timing.timed == !is_simulated());
  if (is_simulated()) {
    CHECK(calls == 1);
    CHECK(timing.note.find("not timed") != std::string::npos);
    return;
  }
  CHECK(timing.graph);  // microseconds: a graph of repeats
  CHECK(timing.calls_per_sample >= 20);
  CHECK(timing.ms.n >= 30);
  CHECK(timing.ms.min > 0);
  CHECK(timing.ms.min <= timing.ms.median);
  CHECK(timing.median_ms() < 0.1);
  const Timing cold = measure(call, {.iterations = 17, .cache = Cache::cold});
  CHECK(cold.flushed);
  CHECK_FALSE(cold.graph);
  CHECK(cold.ms.n == 17);
  CHECK(cold.median_ms() > timing.median_ms());
  const Interleaved same = interleave(call, call);
  CHECK(same.speedup == Approx(1.0).margin(0.2));
  CHECK(same.turns.n == same.a.ms.n);
  CHECK(same.turns.q1 <= same.turns.median);
  CHECK(same.turns.median <= same.turns.q3);
}

TEST_CASE("what a caller waits for is timed on a GPU, and runs once on the simulator") {
  DeviceBuffer<float> x(random_vector(1 << 10, 1)), y(1 << 10);
  int calls = 0, before = 0;
  const auto launch = [&] {
    double_all<<<4, 256>>>(x.data(), y.data(), 1 << 10);
    CUDA_CHECK_LAUNCH();
  };
  const auto call = [&] {
    CHECK(before == ++calls);
    launch();
  };
  const Timing timing = measure_elapsed(call, [&] { ++before; }, {.iterations = 5});
  CHECK(timing.timed == !is_simulated());
  CHECK(calls == (is_simulated() ? 1 : 6));  // the first loads the kernel
  if (is_simulated()) return;
  CHECK(timing.ms.n == 5);
  CHECK(timing.ms.min > measure(launch, {.iterations = 5}).ms.min);  // the host's part comes on top
  before = calls = 0;
  CHECK(measure_elapsed([] {}, {}, {}).ms.n == 30);
}

namespace {

/// Notes how many of its kind run at the same time; long enough to meet another one.
__global__ void note_company(int* running, int* most, int* spent, int turns) {
  atomicMax(most, atomicAdd(running, 1) + 1);
  for (int i = 0; i < turns; ++i) atomicAdd(spent, 1);
  __threadfence();
  atomicSub(running, 1);
}

}  // namespace

TEST_CASE("calls that are timed in turns do not overlap, and the second is the last") {
  DeviceBuffer<int> counters(4);
  counters.zero();
  int* c = counters.data();
  const int turns = is_simulated() ? 3 : 1000;
  const auto call = [&](int which) {
    return [=](cudaStream_t stream) {
      note_company<<<1, 1, 0, stream>>>(c, c + 1, c + 2, turns);
      CUDA_CHECK(cudaMemsetAsync(c + 3, which, 1, stream));
    };
  };
  interleave(call(1), call(2), {.iterations = 40});
  const std::vector<int> seen = counters.to_host();
  CHECK(seen[0] == 0);
  CHECK(seen[1] == 1);
  CHECK(seen[2] > 0);
  CHECK(seen[3] == 2);
}

TEST_CASE("counts of the simulator") {
  DeviceBuffer<float> x(random_vector(1024, 1)), y(1024);
  const auto counts = count([&] {
    double_all<<<4, 256>>>(x.data(), y.data(), 1024);
    CUDA_CHECK_LAUNCH_AND_SYNC();
  });
  REQUIRE(counts.has_value() == is_simulated());
  if (!counts) return;
  CHECK(counts->global_load_requests == 32);  // 1024 threads are 32 warps
  CHECK(counts->sectors_per_load() == 4.0);
  CHECK(counts->global_load_bytes == 4096);
  CHECK(counts->global_store_requests == 32);
  CHECK(counts->sectors_per_store() == 4.0);
  CHECK(counts->shared_wavefronts() == 0);
  // Several launches are counted together, and forgotten by the next call.
  const auto twice = count([&] {
    double_all<<<4, 256>>>(x.data(), y.data(), 1024);
    double_all<<<1, 256>>>(x.data(), y.data(), 256);
    CUDA_CHECK_LAUNCH_AND_SYNC();
  });
  CHECK(twice->global_load_requests == 40);
  CHECK(twice->global_store_sectors == 160);
  // 64 requests on four SMs, then 16 on one: each launch takes at least 16 clocks.
  CHECK(counts->at_least.seconds * device().sm_clock_mhz * 1e6 == Approx(16));
  CHECK(counts->at_least.by == "load/store");
  CHECK(twice->at_least.seconds == Approx(2 * counts->at_least.seconds));
  for (const auto& [part, seconds] : twice->at_least.all) CHECK(seconds <= twice->at_least.seconds);
}

TEST_CASE("a lesson: right, wrong, and impossible kernels") {
  SECTION("right") {
    const Ran r = run(variant(64), {"--n", "33", "--m", "17", "--k", "50"});
    CHECK(r.outcome.status == Status::ok);
    CHECK(r.code == kAllRight);
    CHECK(r.outcome.timing.timed == !is_simulated());
    CHECK(r.outcome.counts.has_value() == is_simulated());
  }
  SECTION("an element that is never written") {
    const Ran r = run(variant(64, 17 * 33 - 1), {"--n", "33", "--m", "17", "--k", "50"});
    CHECK(r.outcome.status == Status::wrong);
    CHECK(r.outcome.comparison.wrong == 1);
    CHECK(r.outcome.comparison.first_wrong.row == 16);
    CHECK(r.outcome.comparison.first_wrong.col == 32);
    CHECK_FALSE(r.outcome.timing.timed);  // no time for a wrong result
    CHECK(r.code == kWrongResult);
  }
  SECTION("one product of 20,000 forgotten: the rounding bound is wider than a product, integers find it") {
    const Ran r = run(variant(32, -1, 19999), {"--n", "2", "--m", "2", "--k", "20000"});
    CHECK(r.outcome.reason.find("integer inputs") != std::string::npos);
    CHECK(r.outcome.status == Status::wrong);
    CHECK(r.code == kWrongResult);
  }
  SECTION("a block that does not exist") {
    const Ran r = run(variant(4096), {});
    CHECK(r.outcome.status == Status::skip);
    CHECK(r.outcome.reason.find("4,096 threads per block") != std::string::npos);
    CHECK(r.code == kAllRight);
  }
  SECTION("a launch that fails is a wrong result with the error's name") {
    MatmulVariant v = variant(64);
    v.launch = [](const MatmulProblem&) { CUDA_CHECK(cudaErrorInvalidConfiguration); };
    const Ran r = run(v, {});
    CHECK(r.outcome.status == Status::wrong);
    CHECK(r.outcome.reason.find("cudaErrorInvalidConfiguration") != std::string::npos);
    CHECK(r.code == kWrongResult);
  }
}

TEST_CASE("a lesson that counts some blocks of each launch checks nothing, and says so") {
  if (!is_simulated()) return;
  const std::vector<const char*> shape = {"--n", "512", "--m", "64", "--k", "7"};
  const auto with = [&](std::initializer_list<const char*> more) {
    std::vector<const char*> words = shape;
    words.insert(words.end(), more);
    return words;
  };
  const Ran whole = run(variant(64), shape);
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "tilewise-sample.json";
  const std::string path = file.string();
  const Ran part = run(variant(64, 5), with({"--sample", "16", "--json", path.c_str()}));  // an element is forgotten
  const Ran all = run(variant(64), with({"--sample", "512"}));                             // of 512 blocks
  sample_blocks(0);
  CHECK(whole.outcome.status == Status::ok);
  for (const Ran* r : {&part, &all}) {
    CHECK(r->outcome.status == Status::counted);
    CHECK(r->outcome.comparison.checked == 0);
    CHECK(r->code == kAllRight);
    CHECK(r->outcome.counts->static_shared_bytes == 0);
  }
  CHECK(all.outcome.counts->global_load_sectors == whole.outcome.counts->global_load_sectors);
  CHECK(part.outcome.counts->global_load_requests == whole.outcome.counts->global_load_requests);
  CHECK(part.outcome.counts->global_load_sectors == whole.outcome.counts->global_load_sectors);
  CHECK(part.outcome.counts->flops + 2 * 7 == whole.outcome.counts->flops);  // of the element that is forgotten
  std::ifstream in(file);
  const std::string json{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove(file);
  CHECK(json.find("\"sample\": 16") != std::string::npos);
  CHECK(json.find("\"status\": \"COUNTED\"") != std::string::npos);
  CHECK(json.find("\"error\"") == std::string::npos);
}

TEST_CASE("a lesson with several tables: each row says where it belongs, in JSON too") {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "tilewise-parts.json";
  const std::string path = file.string();
  const std::vector<const char*> words = {"program", "--json", path.c_str()};
  Options options("99_test", "A test.");
  options.parse(static_cast<int>(words.size()), words.data());
  Lesson lesson(options);
  Variant v;
  v.kernel = "double_all";
  v.shape = "1 x 64";
  DeviceBuffer<float> x(64), y(64);
  x.zero();
  v.launch = [&](cudaStream_t stream) { double_all<<<1, 64, 0, stream>>>(x.data(), y.data(), 64); };
  v.check = [] { return Comparison{}; };
  v.extra = {"7"};
  lesson.begin_part("first", "a column of its own",
                    {.figure = Figure::bytes, .show_tile = false, .extra = {{"stride"}}});
  REQUIRE(lesson.run(v).status == Status::ok);
  lesson.begin_part("second", "none", {.figure = Figure::bytes, .only_shared = true});
  REQUIRE(lesson.run(v).status == Status::ok);
  REQUIRE(lesson.finish() == kAllRight);
  std::ifstream in(file);
  const std::string json{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove(file);
  const std::size_t first = json.find("\"part\": \"first\""), second = json.find("\"part\": \"second\"");
  const std::size_t stride = json.find("\"stride\": \"7\"");
  REQUIRE(second != std::string::npos);
  CHECK(first < stride);
  CHECK(stride < second);
  CHECK(json.find("\"stride\"", stride + 1) == std::string::npos);  // the second table has no such column
  CHECK(json.find("\"about\": \"shared\"") > second);
  // Both rows say what they take at least, on the simulator.
  const std::size_t bound = json.find("\"by\": \"");
  CHECK((bound != std::string::npos) == is_simulated());
  CHECK((json.find("\"by\": \"", second) != std::string::npos) == is_simulated());
}

TEST_CASE("main: exceptions become exit codes") {
  CHECK(run_main([] { return 0; }) == 0);
  CHECK(run_main([]() -> int { throw ExitRequest{kBadArguments}; }) == 2);
  CHECK(run_main([]() -> int { throw std::runtime_error("expected by this test"); }) == 1);
}
