// What host code asks for: the groups of calls that a task may make, arrays in pinned memory, and the counts of launches,
// waits, allocations and copies.

#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "changed_rubric.hpp"
#include "grader/case.hpp"
#include "grader/policy.hpp"
#include "grader/rubric.hpp"
#include "grader/task.hpp"
#include "text.hpp"

using namespace tilewise::grader;

namespace {

const std::string kHomework = TILEWISE_SOURCE_DIR "/tests/15_streams_and_graphs/homework/";

/// Chunks of 299 words, one after the other, in the caller's stream; and some that nobody needs.
const char* const kOneStream = R"(
#include "homework.cuh"

__global__ void filter(const float* in, float* out, int count, bool begins, bool ends) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float left = in[i > 0 || !begins ? i - 1 : i], right = in[i < count - 1 || !ends ? i + 1 : i];
  out[i] = (left + 2 * in[i] + right) / 4;
}

cudaError_t launch_filter(const float* in, float* out, int n, float* device, int room, cudaStream_t stream) {
  const int each = (room - 2) / 2;
  for (int at = 0; at < n; at += each) {
    const int count = min(each, n - at), first = at == 0 ? 0 : -1, words = count - first + (at + count == n ? 0 : 1);
    cudaMemcpyAsync(device + 1 + first, in + at + first, sizeof(float) * words, cudaMemcpyHostToDevice, stream);
    filter<<<(count + 255) / 256, 256, 0, stream>>>(device + 1, device + each + 2, count, at == 0, at + count == n);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) return error;
    cudaMemcpyAsync(out + at, device + each + 2, sizeof(float) * count, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
  }
  float* unused = nullptr;
  cudaMalloc(&unused, 64);
  return cudaFree(unused);
}
)";

}  // namespace

TEST_CASE("host work: a task may make the calls of its groups, and no others", "[grader]") {
  const auto passes = [](const std::string& name, const std::set<std::string>& groups) {
    return refused_symbols("                 U " + name + "\n", groups).empty();
  };
  const std::vector<std::pair<std::string, std::vector<std::string>>> groups{
      {"streams", {"cudaStreamCreate", "cudaStreamCreateWithFlags", "cudaStreamDestroy", "cudaEventQuery"}},
      {"copies", {"cudaMemcpy", "cudaMemcpyAsync", "cudaMemcpy2DAsync"}},
      {"graphs", {"cudaStreamBeginCapture", "cudaGraphCreate", "cudaGraphLaunch", "cudaGraphExecDestroy"}}};
  for (const auto& [group, names] : groups)
    for (const std::string& name : names) {
      INFO(name);
      CHECK_FALSE(passes(name, {}));
      for (const auto& [other, unused] : groups) CHECK(passes(name, {other}) == (other == group));
      CHECK(passes(name, {"streams", "copies", "graphs"}));
    }
  // As functions of C++, which the simulator has some of.
  CHECK(passes("_Z15cudaMemcpyAsyncPvPKvm14cudaMemcpyKindP11CUstream_st", {"copies"}));
  CHECK_FALSE(passes("_Z15cudaMemcpyAsyncPvPKvm14cudaMemcpyKindP11CUstream_st", {"streams"}));
  // What reaches memory that host code may use, or has host code run later, is in none.
  for (const char* name : {"cudaMallocHost", "cudaHostAlloc", "cudaMallocManaged", "cudaMemcpyToSymbol",
                           "cudaMemcpyFromSymbol", "cudaLaunchHostFunc", "cudaGraphAddHostNode", "cudaHostRegister"}) {
    INFO(name);
    CHECK_FALSE(passes(name, {"streams", "copies", "graphs"}));
  }
  CHECK(has(refused_symbols("                 U cudaMallocHost\n", {"copies"}), "no memory of the host"));
}

TEST_CASE("host work: the groups of a rubric", "[grader]") {
  const Rubric filter = read_rubric(kHomework + "1_filter.json"), rule_30 = read_rubric(kHomework + "2_rule_30.json");
  CHECK(filter.calls == std::vector<std::string>{"streams", "copies"});
  CHECK(libraries_of({filter}) == std::set<std::string>{"copies", "streams"});
  CHECK(libraries_of({filter, rule_30}).count("graphs") ==
        1);  // a file is linked once, with what any of its tasks may call
}

TEST_CASE("host work: an array in pinned memory is told of as one", "[grader]") {
  Problem p;
  p.own_streams = true;
  p.buffers = {pinned(input("in", 1, 3, std::vector<float>{1, 2, 3})), pinned(output<float>("out", 1, 2, {4, 5})),
               scratch<float>("device", 1, 5)};
  CHECK(p.buffers[0].pinned);
  CHECK(p.buffers[0].values == Values(std::vector<float>{1, 2, 3}));
  CHECK(p.buffers[1].expected == std::vector<double>{4, 5});
  const Request request = request_of("filter", {3, 5}, p, Mode::run);
  CHECK(request.own_streams == 1);
  const std::string message = message_of(request, p);
  std::size_t at = sizeof request;
  for (const Buffer& b : p.buffers) {
    INFO(b.name);
    BufferHeader header;
    REQUIRE(message.size() >= at + sizeof header);
    std::memcpy(&header, message.data() + at, sizeof header);
    CHECK(header.pinned == (b.name != "device"));
    CHECK(header.garbage == (b.name != "in"));
    CHECK(header.size == b.size());
    at += sizeof header + 4 * b.size();
  }
  CHECK(at == message.size());
}

TEST_CASE("host work: launches, waits, allocations and copies are counted", "[grader]") {
  const ChangedRubric tasks("15_streams_and_graphs");
  const std::string file = tasks.write(kOneStream);
  // Four chunks, and six neighbours. The host waits four times for the stream, and in cudaFree.
  const std::string right = tasks.verdict("1_filter.json", {1000, 600},
                                          {{"host_launches", 4},
                                           {"waits", 5},
                                           {"allocations", 1},
                                           {"bytes_to_device", 4 * 1006},
                                           {"bytes_to_host", 4 * 1000}},
                                          file);
  INFO(right);
  CHECK(has(right, "10 of 10 shapes right"));
  CHECK(has(right, "5 of 5 targets met at n = 1000, room = 600"));
  const std::string others = tasks.verdict("1_filter.json", {100, 100000},
                                           {{"host_launches", 2},
                                            {"waits", 1},
                                            {"allocations", 0},
                                            {"bytes_to_device", 399},
                                            {"bytes_to_host", 401},
                                            {"timeline", 1}},
                                           file);
  INFO(others);
  CHECK(has(others, "0 of 6 targets met"));
  for (const char* count : {"1 launch", "2 waits", "1 alloc", "400 bytes", "4.56 times"}) {
    INFO(count);
    CHECK(has(others, "\n      " + std::string(count)));
  }
}

TEST_CASE("host work: a captured launch counts, and so does the launch of a graph", "[grader]") {
  const ChangedRubric tasks("15_streams_and_graphs");
  // A first step, 32 captured ones, 31 launches of their graph, and 7 that are left.
  const std::string counted = tasks.verdict("2_rule_30.json", {512, 1000},
                                            {{"host_launches", 1 + 32 + 31 + 7}, {"waits", 0}, {"allocations", 0}},
                                            kHomework + "alternatives/rule_30_nodes.cu");
  INFO(counted);
  CHECK(has(counted, "3 of 3 targets met"));
}

TEST_CASE("host work: host code leaves pinned arrays to copies", "[grader]") {
  const ChangedRubric tasks("15_streams_and_graphs");
  std::string code = kOneStream;
  const std::string begin = "  const int each";
  code.insert(code.find(begin), "  if (n > 3 && in[3] == 100.0f) return cudaSuccess;\n");
  const std::string verdict = tasks.verdict("1_filter.json", {1000, 600}, {{"waits", 5}}, tasks.write(code));
  INFO(verdict);
  CHECK(has(verdict, "homework.cu:12: host-access"));
  CHECK_FALSE(has(verdict, "10 of 10 shapes right"));
  CHECK_FALSE(has(verdict, "nothing is copied"));  // in this task something is
}
