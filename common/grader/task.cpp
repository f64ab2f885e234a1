#include "task.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <stdexcept>

#include "case.hpp"
#include "harness.hpp"
#include "tools.hpp"

namespace tilewise::grader {

namespace {

std::vector<const Task*>& tasks() {
  static auto& all = *new std::vector<const Task*>;
  return all;
}

}  // namespace

Task::Task(std::string chapter_, std::string name_) : chapter(std::move(chapter_)), name(std::move(name_)) {
  tasks().push_back(this);
}

namespace {
thread_local bool inputs_alone = false;
}

bool Task::only_inputs() { return inputs_alone; }

Problem Task::for_timing(const Sizes& sizes, std::uint64_t seed) const {
  struct Alone {
    Alone() { inputs_alone = true; }
    ~Alone() { inputs_alone = false; }
  } alone;
  return make(sizes, seed);
}

const Task* find_task(const std::string& chapter, const std::string& name) {
  static std::mutex mutex;  // of submissions graded side by side, none looks before another has loaded all
  const std::lock_guard lock(mutex);
  static auto& loaded = *new std::set<std::string>;
  const auto known = [&]() -> const Task* {
    for (const Task* t : tasks())
      if (t->chapter == chapter && t->name == name) return t;
    return nullptr;
  };
  if (const Task* task = known()) return task;
  if (loaded.insert(chapter).second &&
      !dlopen((installation().homework / (chapter + ".so")).c_str(), RTLD_NOW | RTLD_LOCAL))
    throw std::runtime_error(dlerror());
  return known();
}

std::size_t size_of(const Values& values) {
  return std::visit([](const auto& v) { return v.size(); }, values);
}

std::size_t bytes_of(const Values& values) {
  return std::visit([](const auto& v) { return v.size() * sizeof v[0]; }, values);
}

double element_of(const Values& values, std::size_t i) {
  return std::visit([i](const auto& v) { return static_cast<double>(v[i]); }, values);
}

Buffer input(std::string name, int rows, int cols, Values values) {
  return {std::move(name), rows, cols, Use::input, std::move(values), {}, {}, false};
}

Buffer pinned(Buffer buffer) {
  buffer.pinned = true;
  return buffer;
}

Buffer on_device(int device, Buffer buffer) {
  buffer.device = device;
  return buffer;
}

Buffer with_margin(std::size_t elements, Buffer buffer) {
  buffer.margin = elements;
  return buffer;
}

Buffer in_place(std::string name, int rows, int cols, Values values, std::vector<double> expected,
                std::vector<double> bound) {
  return {std::move(name), rows, cols, Use::in_place, std::move(values), std::move(expected), std::move(bound), false};
}

void check_problem(const Task& task, const Problem& p) {
  const auto require = [&](bool ok, const std::string& what) {
    if (!ok) throw std::logic_error(fmt::format("{}, {}: {}", task.chapter, task.name, what));
  };
  require(!p.buffers.empty() && p.buffers.size() <= kMostBuffers, fmt::format("1 to {} buffers", kMostBuffers));
  require(p.scalars.size() <= kMostScalars, fmt::format("at most {} scalars", kMostScalars));
  require(p.devices >= 1 && p.devices <= kMostDevices, fmt::format("1 to {} devices", kMostDevices));
  require(p.devices == 1 || p.own_streams, "several devices, and no own_streams");
  require(p.timeline_unit >= 0 && p.thread_cost >= 0, "no time is negative");
  bool any = false;
  for (const Buffer& b : p.buffers) {
    require(b.rows >= 0 && b.cols >= 0, fmt::format("{} has {} x {} elements", b.name, b.rows, b.cols));
    require(size_of(b.values) == (has_values(b) ? b.size() : 0),
            fmt::format("{} is {} x {}, but has {} values", b.name, b.rows, b.cols, size_of(b.values)));
    require(b.expected.size() == (is_result(b) ? b.size() : 0),
            fmt::format("{} is {} x {}, but {} values are expected", b.name, b.rows, b.cols, b.expected.size()));
    require(b.bound.empty() || b.bound.size() == b.size(),
            fmt::format("{} is {} x {}, but has {} bounds", b.name, b.rows, b.cols, b.bound.size()));
    require(b.device >= 0 && b.device < p.devices,
            fmt::format("{} is on device {}, of {}", b.name, b.device, p.devices));
    require(!b.pinned || b.device == 0, fmt::format("{} is in the host's memory, and on a device", b.name));
    require(2 * b.margin <= b.size(), fmt::format("{} has {} elements, and margins of {}", b.name, b.size(), b.margin));
    any = any || is_result(b);
  }
  require(any, "no output");
  for (const Hypothesis& h : p.hypotheses) {
    const bool fits = std::any_of(p.buffers.begin(), p.buffers.end(), [&](const Buffer& b) {
      return is_result(b) && b.size() == h.values.size() && (h.output.empty() || h.output == b.name);
    });
    require(fits, fmt::format("no output has the {} elements of \"{}\"", h.values.size(), h.mistake));
  }
}

}  // namespace tilewise::grader
