// Chapter 15: every way through the device is right for every length and number of chunks, and in order with what comes before and
// after it in the caller's stream; what overlaps; what a graph does; and the wrong pipelines that the same check must reject.
#include <map>
#include <string>
#include <vector>

#include "15_streams_and_graphs/check_pipeline.hpp"
#include "15_streams_and_graphs/mutants/mutants.hpp"
#include "catch.hpp"
#include "graph.hpp"
#include "tilewise/device.hpp"
#include "tilewise/timeline.hpp"

namespace {

struct Way {
  std::string name;
  void (*run)(const Job&, const Fork&, int chunks, cudaStream_t);
  unsigned flags = cudaStreamNonBlocking;
};
const Way ways[] = {{"in_chunks", in_chunks},
                    {"breadth_first", breadth_first},
                    {"waits_in_the_loop", waits_in_the_loop},
                    {"kernels_in_default_stream", kernels_in_default_stream, cudaStreamDefault}};

/// The timeline of a way with so many equal chunks, in copies of one direction: one stream has 3.
double length_of(const Way& way, int chunks, int streams) {
  const int n = chunks * 1024;
  tilewise::PinnedBuffer<float> in(n), out(n);
  std::fill_n(in.span().data(), n, 0.5f);
  tilewise::DeviceBuffer<float> device_in(n), device_out(n);
  const Job job{n, 1, in.span().data(), out.span().data(), device_in.data(), device_out.data()};
  const Fork fork(streams, way.flags);
  const tilewise::Stream own(cudaStreamNonBlocking);
  const cudaStream_t stream = own.get();
  const auto timeline = tilewise::timeline_of(
      [&] {
        way.run(job, fork, chunks, stream);
        REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
      },
      sizeof(float));
  REQUIRE(timeline);
  REQUIRE(timeline->pieces.size() == 3 * static_cast<std::size_t>(chunks));
  return timeline->length / (sizeof(float) * n);
}

float after_steps(float x, int steps, float add) {
  for (int s = 0; s < steps; ++s) x = x / 2 + add;
  return x;
}

}  // namespace

TEST_CASE("every way is right for every length and number of chunks", "[pipeline]") {
  for (const Way& way : ways)
    for (const int streams : {1, 2, 3, 5}) {
      const Fork fork(streams, way.flags);
      for (const int chunks : {1, 2, 3, 7, 16})
        for (const int n : {0, 1, 255, 256, 257, 1000, 4096, 10007}) {
          if (n > 1000 && chunks == 2) continue;
          const Verdict verdict =
              check_pipeline([&](const Job& job, cudaStream_t s) { way.run(job, fork, chunks, s); }, n, 3);
          INFO(way.name << ", " << n << " in " << chunks << " chunks, " << streams << " streams: " << verdict.text);
          REQUIRE(verdict.right());
        }
    }
}

TEST_CASE("chunks are whole blocks, cover the array and do not overlap", "[pipeline]") {
  for (const int n : {0, 1, 255, 256, 257, 100003, 2147483392})
    for (const int chunks : {1, 2, 3, 16, 64, 1000}) {
      const Job job{.n = n};
      INFO(n << " in " << chunks);
      REQUIRE(job.begin(0, chunks) == 0);
      REQUIRE(job.begin(chunks, chunks) == n);
      for (int c = 0; c < chunks; ++c) {
        REQUIRE(job.count(c, chunks) >= 0);
        REQUIRE((job.begin(c, chunks) % 256 == 0 || job.begin(c, chunks) == n));
      }
    }
}

TEST_CASE("flips flips as often as it is told to", "[pipeline]") {
  const Fork fork(2);
  for (const int times : {0, 1, 2, 9}) {
    const Verdict verdict =
        check_pipeline([&](const Job& job, cudaStream_t s) { in_chunks(job, fork, 3, s); }, 1000, times);
    INFO(times << ": " << verdict.text);
    REQUIRE(verdict.right());
  }
}

TEST_CASE("how much overlaps", "[overlap]") {
  if (!tilewise::is_simulated()) return;
  const auto near = [](double value) { return Approx(value).epsilon(1e-6); };
  CHECK(length_of(ways[0], 1, 1) == near(3));
  CHECK(length_of(ways[0], 4, 3) == near(6.0 / 4));
  CHECK(length_of(ways[0], 16, 3) == near(18.0 / 16));
  CHECK(length_of(ways[0], 16, 8) == near(18.0 / 16));
  CHECK(length_of(ways[0], 16, 2) > 1.4);
  CHECK(length_of(ways[0], 16, 1) == near(3));
  CHECK(length_of(ways[1], 16, 3) > 2.5);       // breadth first
  CHECK(length_of(ways[2], 16, 3) == near(3));  // a wait for each
  CHECK(length_of(ways[3], 16, 3) > 1.9);       // kernels in the default stream
}

TEST_CASE("a graph does its work as often as it is launched, and with other arguments", "[graph]") {
  const std::vector<float> numbers = tilewise::random_vector(1000, 1);
  tilewise::DeviceBuffer<float> x(numbers);
  const auto work = [&](float add) {
    return [&, add](cudaStream_t s) {
      for (int i = 0; i < 5; ++i) CUDA_CHECK(launch_step(1000, add, x.data(), s));
    };
  };
  const Graph graph(work(1));
  const tilewise::Stream own(cudaStreamNonBlocking);
  const cudaStream_t stream = own.get();
  const auto expect = [&](int steps, float add, std::vector<float> from) {
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    const std::vector<float> got = x.to_host();
    for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == after_steps(from[i], steps, add));
    return got;
  };
  std::vector<float> now = expect(0, 0, numbers);  // captured, not done
  graph.launch(stream);
  graph.launch(stream);
  now = expect(10, 1, now);
  graph.update(work(7));
  now = expect(0, 0, now);
  graph.launch(stream);
  expect(5, 7, now);
  const auto other = [&](cudaStream_t s) { CUDA_CHECK(launch_step(1000, 1, x.data(), s)); };
  CHECK_THROWS_AS(graph.update(other), tilewise::CudaError);  // one launch in place of five
  cudaGetLastError();
}

TEST_CASE("a pipeline can be captured: forks and joins are the graph's edges", "[graph]") {
  const Fork fork(3);
  const Verdict verdict = check_pipeline(
      [&](const Job& job, cudaStream_t stream) {
        const Graph graph([&](cudaStream_t s) { in_chunks(job, fork, 5, s); });
        graph.launch(stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
      },
      5003, 3);
  INFO(verdict.text);
  REQUIRE(verdict.right());
}

TEST_CASE("the wrong pipelines' template is right without a mistake", "[mutants]") {
  for (const int n : {0, 1, 4, 1000, 10007}) {
    const Verdict verdict = check_pipeline(pipeline_mutants::pipeline<pipeline_mutants::Bug::none>, n, 3);
    INFO(n << ": " << verdict.text);
    REQUIRE(verdict.right());
  }
}

TEST_CASE("every wrong pipeline is rejected, and for its own mistake", "[mutants]") {
  for (const pipeline_mutants::Mutant& mutant : pipeline_mutants::mutants) {
    const Verdict verdict = check_pipeline(mutant.pipeline, 10007, 3);
    INFO(mutant.name << ": " << (verdict.right() ? "passed as right" : verdict.text));
    if (mutant.gpu_may_be_lucky && !tilewise::is_simulated()) {
      if (verdict.right()) WARN(mutant.name << " was lucky on this GPU");
      continue;
    }
    CHECK(verdict.has(mutant.fault));
    CHECK(verdict.text.find(mutant.finding) != std::string::npos);
  }
}
