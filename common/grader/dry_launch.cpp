#include "dry_launch.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "case.hpp"
#include "counts.hpp"

namespace tilewise::grader {

namespace {

using Json = nlohmann::ordered_json;

/// The request, and of each buffer what it's called and that it isn't empty: there are no elements to send.
std::string message_without_elements(const Request& request, const Problem& p) {
  std::string message;
  const auto put = [&](const auto& value) { message.append(reinterpret_cast<const char*>(&value), sizeof value); };
  put(request);
  // What a contract allows at most, 2^31 elements: which of the buffers are that large depends on the sizes.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
  for (const Buffer& b : p.buffers) {
    BufferHeader header{.size = b.size() > 0 ? kMost : 0, .type = type_of_values(b.values)};
    std::strncpy(header.name, b.name.c_str(), sizeof header.name - 1);
    put(header);
  }
  return message;
}

double product(const Json& numbers) {
  double all = 1;
  for (const Json& n : numbers) all *= n.get<double>();
  return all;
}

double blocks(const Json& launch) { return product(launch.value("grid", Json::array())); }
double threads(const Json& launch) { return blocks(launch) * product(launch.value("block", Json::array())); }

}  // namespace

DryLaunch launch_dry(const Rubric& rubric, const Task& task, const Sizes& sizes, const RunProgram& run) {
  const Problem p = task.make(rubric.efficiency_shape, 1);  // for names, types and scalars
  Request request = request_of(rubric.task, sizes, p, Mode::launches);
  DryLaunch dry;
  constexpr std::size_t kBytes = sizeof(Reply) + sizeof(Reply::nonce);
  const ChildResult child = run(message_without_elements(request, p), kBytes);
  dry.timed_out = child.timed_out;
  Reply reply;
  if (child.timed_out || child.signal != 0 || child.reply.size() != kBytes) {
    dry.ended = child.timed_out     ? "the function did not end"
                : child.signal != 0 ? signal_text(child.signal)
                                    : fmt::format("it ended (exit code {})", child.code);
    return dry;
  }
  std::memcpy(&reply, child.reply.data(), sizeof reply);
  if (reply.nonce != request.nonce) return dry.ended = "there is no answer", dry;
  dry.returned = reply.returned != 0 ? reply.returned : reply.synchronised;
  dry.nothing = reply.launches + reply.library_calls == 0;
  if (const Json report = Json::parse(child.report, nullptr, false); report.is_array()) dry.report = report;
  return dry;
}

std::string DryLaunch::fault() const {
  if (!ended.empty()) return ended;
  if (returned == cudaErrorMemoryAllocation) return "";  // the simulated card is smaller than the real one
  if (returned != 0) {
    std::string text =
        fmt::format("the function returned {} ({})", cudaGetErrorName(static_cast<cudaError_t>(returned)), returned);
    if (const std::string why = why_refused(report, returned); !why.empty()) text += ": " + why;
    return text;
  }
  return nothing ? "no kernel was launched" : "";
}

std::string busiest_kernel(const Json& counted) {
  std::string kernel;
  double most = 0;
  for (const Json& launch : counted) {
    double moved = 0;
    for (const Json& line : launch.value("lines", Json::array()))
      moved += line.value("sectors", 0.0) + line.value("wavefronts", 0.0);
    if (moved > most) most = moved, kernel = launch.value("kernel", "");
  }
  return kernel;
}

double blocks_of(const Json& dry, const std::string& kernel) {
  double found = 0, most_threads = -1, largest = 0;
  for (const Json& launch : dry) {
    if (launch.value("kernel", "") == kernel) found = std::max(found, blocks(launch));
    if (threads(launch) > most_threads) most_threads = threads(launch), largest = blocks(launch);
  }
  return found > 0 ? found : largest;
}

}  // namespace tilewise::grader
