// Tasks on several devices: what a problem may say, what goes to the program and comes back, the counts, and how large arrays are.
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "changed_rubric.hpp"
#include "grader/case.hpp"
#include "grader/dry_launch.hpp"
#include "grader/explain.hpp"
#include "grader/policy.hpp"
#include "grader/rubric.hpp"
#include "grader/task.hpp"
#include "text.hpp"

using namespace tilewise::grader;

namespace {

namespace fs = std::filesystem;

const std::string kHomework = TILEWISE_SOURCE_DIR "/tests/16_many_gpus/homework/";

Values floats(std::size_t n) { return std::vector<float>(n, 1.0f); }

Problem two_devices() {
  Problem p;
  p.own_streams = true;
  p.devices = 2;
  p.thread_cost = 1;
  p.buffers = {input("x[0]", 1, 4, floats(4)), on_device(1, input("x[1]", 1, 5, floats(5))),
               on_device(1, output<float>("y[1]", 1, 2, {1, 2}))};
  return p;
}

/// An array of `rows` rows on each device, where rows are shared out by a rule that no product or sum of sizes is.
struct Shared : Task {
  Shared() : Task("99_made_up", "shared") {}
  Problem make(const Sizes& s, std::uint64_t) const override {
    Problem p;
    p.own_streams = true;
    p.devices = s[1];
    const auto all = lengths(s);
    for (int d = 0; d < s[1]; ++d)
      p.buffers.push_back(on_device(d, input("x", 1, int(all[std::size_t(d)]), floats(all[std::size_t(d)]))));
    p.buffers[0] = in_place("x", 1, int(all[0]), floats(all[0]), std::vector<double>(all[0], 1));
    return p;
  }
  std::vector<std::uint64_t> lengths(const Sizes& s) const override {
    std::vector<std::uint64_t> all;
    for (int d = 0; d < s[1]; ++d) all.push_back(std::uint64_t((d + 1) * s[0] / s[1] - d * s[0] / s[1]));
    return all;
  }
  std::string where(const Place&) const override { return ""; }
};

}  // namespace

TEST_CASE("devices: a problem says on which device a buffer lies, and no device but its own", "[grader][devices]") {
  const Shared task;
  CHECK_NOTHROW(check_problem(task, two_devices()));
  const auto wrong = [&](auto change, const std::string& says) {
    Problem p = two_devices();
    change(p);
    try {
      check_problem(task, p);
    } catch (const std::logic_error& error) {
      INFO(error.what());
      return has(error.what(), says);
    }
    return false;
  };
  CHECK(wrong([](Problem& p) { p.buffers[1].device = 2; }, "x[1] is on device 2, of 2"));
  CHECK(wrong([](Problem& p) { p.buffers[1].device = -1; }, "x[1] is on device -1, of 2"));
  CHECK(wrong([](Problem& p) { p.devices = 9; }, "1 to 8 devices"));
  CHECK(wrong([](Problem& p) { p.devices = 0; }, "1 to 8 devices"));
  CHECK(wrong([](Problem& p) { p.devices = 1; }, "x[1] is on device 1, of 1"));
  CHECK(wrong([](Problem& p) { p.own_streams = false; }, "no own_streams"));
  CHECK(wrong([](Problem& p) { p.buffers[1].pinned = true; }, "in the host's memory, and on a device"));
  CHECK(wrong([](Problem& p) { p.buffers[1].margin = 3; }, "has 5 elements, and margins of 3"));
  CHECK(wrong([](Problem& p) { p.thread_cost = -1; }, "no time is negative"));
}

TEST_CASE("devices: the program is told how many there are, and where each array lies", "[grader][devices]") {
  const Problem p = two_devices();
  Request request = request_of("shared", {9, 2}, p, Mode::run);
  CHECK(request.devices == 2);
  CHECK(request.all_devices() == 2);
  CHECK(request.thread_cost == 1);
  const std::string message = message_of(request, p);
  std::size_t at = sizeof request;
  for (const Buffer& b : p.buffers) {
    BufferHeader header;
    REQUIRE(message.size() >= at + sizeof header);
    std::memcpy(&header, message.data() + at, sizeof header);
    CHECK(header.device == b.device);
    at += sizeof header + 4 * b.size();
  }
  // With a case before that has more.
  Problem more = two_devices();
  more.devices = 3;
  call_before(request, {9, 3}, more);
  CHECK(request.devices == 2);
  CHECK(request.all_devices() == 3);
  // Where nothing is said, there is one.
  CHECK(request_of("filter", {}, Problem{}, Mode::run).all_devices() == 1);
}

TEST_CASE("devices: nobody looks at the margins of an array", "[grader][devices]") {
  const float garbage = std::numeric_limits<float>::quiet_NaN();
  Problem p;
  p.buffers = {with_margin(2, output<float>("y", 1, 6, {0, 0, 1, 2, 0, 0}, {0, 0, 0, 0, 0, 0}))};
  const Values got = std::vector<float>{garbage, 7, 1, 3, garbage, 7};
  std::vector<bool> is_right;
  for (std::size_t i = 0; i < 6; ++i) is_right.push_back(right(p, p.buffers[0], got, i));
  CHECK(is_right == std::vector<bool>{true, true, true, false, true, true});
}

TEST_CASE("devices: a task may copy between them, and enable nothing", "[grader][devices]") {
  const auto refused = [](const std::string& name, const std::set<std::string>& groups) {
    return refused_symbols("                 U " + name + "\n", groups);
  };
  for (const char* name : {"cudaMemcpyPeer", "cudaMemcpyPeerAsync"}) {
    INFO(name);
    CHECK(refused(name, {"devices"}).empty());
    CHECK_FALSE(refused(name, {"copies", "streams", "graphs"}).empty());
  }
  CHECK(refused("cudaSetDevice", {}).empty());
  CHECK_FALSE(refused("cudaMemcpyAsync", {"devices"}).empty());
  CHECK(has(refused("cudaDeviceEnablePeerAccess", {"devices"}), "copy with cudaMemcpyPeerAsync"));
  CHECK(read_rubric(kHomework + "1_heat.json").calls == std::vector<std::string>{"streams", "copies", "devices"});
}

TEST_CASE("devices: how large arrays are at large sizes, and that a small case has as many", "[grader][devices]") {
  const Shared task;
  Rubric rubric;
  rubric.sizes = {"n", "devices"};
  rubric.efficiency_shape = {10, 4};
  rubric.visible = {{3, 1}, {7, 3}};
  const auto found = elements_at(rubric, task, {100001, 3});
  REQUIRE(found.size() == 3);
  CHECK(found[0] == 33333);
  CHECK(found[1] == 33334);
  CHECK(found[2] == 33334);
  std::string sent;
  const RunProgram run = [&](const std::string& message, std::size_t) {
    sent = message;
    return ChildResult{};
  };
  launch_dry(rubric, task, {100001, 3}, run);
  Request request;
  REQUIRE(sent.size() == sizeof request + 3 * sizeof(BufferHeader));
  std::memcpy(&request, sent.data(), sizeof request);
  CHECK(request.devices == 3);
  BufferHeader header;
  std::memcpy(&header, sent.data() + sizeof request + 2 * sizeof header, sizeof header);
  CHECK(header.device == 2);
  CHECK(header.size == 33334);
  run_corners(rubric, task, {100001, 3}, run);
  std::memcpy(&request, sent.data(), sizeof request);
  CHECK(request.devices == 3);
  CHECK(request.mode == Mode::corners);
  CHECK_THROWS_WITH(launch_dry(rubric, task, {100, 2}, run),
                    "shared: no visible shape has the 2 buffers of n = 100, devices = 2");
}

TEST_CASE("devices: bytes between them are counted, and time by a unit of the task's", "[grader][devices]") {
  const ChangedRubric tasks("16_many_gpus");
  // A row of 1,024 floats goes up and one goes down at each of three borders, in five steps; the devices in the middle send two and
  // get two. A device has 16 rows, and a float takes as long as four points: after every two copies comes a step of 16 rows.
  const double row = 4096;
  const std::string heat = tasks.verdict("1_heat.json", {64, 1024, 5, 4},
                                         {{"bytes_between", 5 * 6 * row},
                                          {"bytes_sent_most", 5 * 2 * row},
                                          {"bytes_received_most", 5 * 2 * row},
                                          {"bytes_to_device", 0},
                                          {"host_launches", 20},
                                          {"waits", 0}},
                                         kHomework + "wrong/heat_halo_not_hidden.cu");
  INFO(heat);
  CHECK(has(heat, "6 of 6 targets met at height = 64, width = 1024, steps = 5, devices = 4"));
  // Two devices, a step: a copy and 8 rows in each, and nothing at the same time on one device.
  const std::string two =
      tasks.verdict("1_heat.json", {16, 1024, 1, 2}, {{"timeline", 1.5}, {"bytes_between", 2 * row}},
                    kHomework + "wrong/heat_halo_not_hidden.cu");
  INFO(two);
  CHECK(has(two, "2 of 2 targets met"));
  // And what is said, where it's missed. Device 0 gets three arrays and sends three; the others one and one.
  const std::string one =
      tasks.verdict("2_all_reduce.json", {1024, 4},
                    {{"bytes_between", 1}, {"bytes_sent_most", 1}, {"bytes_received_most", 1}, {"timeline", 1}},
                    kHomework + "wrong/all_reduce_by_way_of_one.cu");
  INFO(one);
  CHECK(has(one, "24576 bytes copied from one device to another, target 1 "));
  CHECK(has(one, "12288 bytes copied from one device to others, of the one that sends most, target 1 "));
  CHECK(has(one, "12288 bytes copied to one device from others, of the one that receives most, target 1 "));
  CHECK(has(one, "4.5 times as long as sending what each device has to send, target 1 "));
}

#ifdef __linux__

TEST_CASE("devices: where there is one GPU and a task wants several, nothing is graded", "[grader][devices]") {
  // Stands in for nvcc: whatever it links is a program that finds one GPU.
  const fs::path folder = fs::temp_directory_path() / ("one GPU " + std::to_string(getpid()));
  fs::create_directories(folder);
  const std::string probe = (folder / "probe").string(), nvcc = (folder / "nvcc").string(),
                    log = (folder / "log").string();
  std::ofstream(probe + ".cpp") << R"(
#include <unistd.h>

#include "grader/harness.hpp"

using namespace tilewise::grader;

int main() {
  Request request;
  if (read(kRequestDescriptor, &request, sizeof request) != sizeof request) return 3;
  Device device;
  device.nonce = request.nonce;
  device.driver = device.runtime = 13000;
  device.major = 9;
  device.devices = 1;
  return write(kReplyDescriptor, &device, sizeof device) == sizeof device ? 0 : 4;
}
)";
  std::ofstream(nvcc) << "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" = -o ] && out=$2; shift; done\ncp '" << probe
                      << "' \"$out\"\n";
  fs::permissions(nvcc, fs::perms::owner_all);
  const auto run = [](const std::string& command) {
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  REQUIRE(run("c++ -std=c++20 -I'" TILEWISE_SOURCE_DIR "/common' -I'" TILEWISE_SOURCE_DIR
              "/common/simulator/include' '" +
              probe + ".cpp' -o '" + probe + "'") == 0);
  const auto grade = [&](const std::string& chapter_and_file) {
    return run("CUDACXX='" + nvcc + "' " TILEWISE_GRADE " " + chapter_and_file + " --gpu > '" + log + "' 2>&1");
  };
  CHECK(grade("16 --file '" + kHomework + "solution.cu'") == 3);
  CHECK(has(read(log), "grade: not graded: heat needs 4 GPUs, two at least, and here is 1."));
  CHECK(grade("16 --task all_reduce --file '" + kHomework + "solution.cu'") == 3);
  CHECK(has(read(log), "not graded: all_reduce needs 4 GPUs, two at least, and here is 1."));
  // One is enough for other chapters: it comes to what nvcc has made of the file.
  CHECK(grade("15 --file '" TILEWISE_SOURCE_DIR "/tests/15_streams_and_graphs/homework/solution.cu'") == 1);
  CHECK_FALSE(has(read(log), "not graded"));
  fs::remove_all(folder);
}

#endif
