#include "dry_launch.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <stdexcept>

#include "case.hpp"
#include "counts.hpp"

namespace tilewise::grader {

namespace {

using Json = nlohmann::ordered_json;

// How many elements an array has whose length is not known: about as many as an int can count.
constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
constexpr double kMostBytes = 56.0 * (1u << 30);  // of all arrays of a device together

/// The request, and of each buffer what it's called and how many elements it has: there are none to send.
std::string message_without_elements(const Request& request, const Problem& p,
                                     const std::vector<std::optional<std::uint64_t>>& elements) {
  std::string message;
  const auto put = [&](const auto& value) { message.append(reinterpret_cast<const char*>(&value), sizeof value); };
  put(request);
  for (std::size_t i = 0; i < p.buffers.size(); ++i) {
    const Buffer& b = p.buffers[i];
    BufferHeader header{.size = elements[i].value_or(b.size() > 0 ? kMost : 0),
                        .type = type_of_values(b.values),
                        .pinned = b.pinned,
                        .device = static_cast<std::uint8_t>(b.device)};
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

namespace {

/// What a length may depend on: products of powers 0, 1 and 2 of the sizes, and sums of some of them.
struct Term {
  std::vector<int> powers;
  bool sum = false;

  double at(const Sizes& sizes) const {
    double value = sum ? 0 : 1;
    for (std::size_t i = 0; i < powers.size(); ++i) {
      if (sum) value += powers[i] * double(sizes[i]);
      for (int k = 0; !sum && k < powers[i]; ++k) value *= sizes[i];
    }
    return value;
  }
};

std::vector<Term> terms_of(std::size_t sizes) {
  std::vector<Term> terms;
  for (const bool sum : {false, true}) {
    const int base = sum ? 2 : 3;
    int all = 1;
    for (std::size_t i = 0; i < sizes; ++i) all *= base;
    for (int number = 0; number < all; ++number) {
      Term t{{}, sum};
      for (int i = 0, rest = number; i < int(sizes); ++i, rest /= base) t.powers.push_back(rest % base);
      terms.push_back(std::move(t));
    }
  }
  return terms;
}

/// A length at `sizes`, told by what it is at others: `factor * term + summand`. Of several such rules, the one that gives
/// most; nothing where there is none.
std::optional<double> length_at(const Sizes& sizes, const std::vector<Sizes>& others,
                                const std::vector<double>& lengths, const std::vector<Term>& terms) {
  std::optional<double> most;
  if (std::adjacent_find(lengths.begin(), lengths.end(), std::not_equal_to<>()) == lengths.end()) most = lengths[0];
  for (const Term& term : terms) {
    std::vector<double> x;
    for (const Sizes& s : others) x.push_back(term.at(s));
    const auto second = std::find_if(x.begin(), x.end(), [&](double value) { return value != x[0]; });
    if (second == x.end()) continue;
    const double factor = (lengths[std::size_t(second - x.begin())] - lengths[0]) / (*second - x[0]);
    const double summand = lengths[0] - factor * x[0];
    if (factor < 1 || factor != std::floor(factor) || summand != std::floor(summand)) continue;
    bool all = true;
    for (std::size_t i = 0; i < x.size(); ++i) all = all && factor * x[i] + summand == lengths[i];
    if (all) most = std::max(most.value_or(0), factor * term.at(sizes) + summand);
  }
  return most;
}

}  // namespace

std::vector<std::optional<std::uint64_t>> elements_at(const Rubric& rubric, const Task& task, const Sizes& sizes) {
  if (const auto told = task.lengths(sizes); !told.empty()) return {told.begin(), told.end()};
  std::vector<Sizes> small = rubric.visible;
  const std::vector<Sizes> hidden = rubric.hidden();
  small.insert(small.end(), hidden.begin(), hidden.end());
  std::vector<std::vector<double>> rows, cols;  // of each buffer, at each of the small sizes
  for (const Sizes& s : small) {
    const Problem p = task.for_timing(s, 1);
    rows.resize(p.buffers.size());
    cols.resize(p.buffers.size());
    for (std::size_t b = 0; b < p.buffers.size(); ++b) {
      rows[b].push_back(p.buffers[b].rows);
      cols[b].push_back(p.buffers[b].cols);
    }
  }
  const std::vector<Term> terms = terms_of(sizes.size());
  std::vector<std::optional<std::uint64_t>> found(rows.size());
  for (std::size_t b = 0; b < found.size(); ++b) {
    const auto r = length_at(sizes, small, rows[b], terms), c = length_at(sizes, small, cols[b], terms);
    if (r && c && *r >= 0 && *c >= 0) found[b] = std::uint64_t(*r) * std::uint64_t(*c);
  }
  return found;
}

namespace {

/// For names, types, devices and scalars: a small problem with as many buffers as the one at these sizes.
Problem small_one(const Rubric& rubric, const Task& task, const Sizes& sizes) {
  Problem p = task.make(rubric.efficiency_shape, 1);
  const std::size_t told = task.lengths(sizes).size();
  for (std::size_t i = 0; told > 0 && p.buffers.size() != told; ++i) {
    if (i == rubric.visible.size())
      throw std::logic_error(
          fmt::format("{}: no visible shape has the {} buffers of {}", task.name, told, rubric.text(sizes)));
    p = task.make(rubric.visible[i], 1);
  }
  return p;
}

}  // namespace

std::vector<Json> run_corners(const Rubric& rubric, const Task& task, const Sizes& sizes, const RunProgram& run) {
  const Problem p = small_one(rubric, task, sizes);
  const Request request = request_of(rubric.task, sizes, p, Mode::corners);
  const std::vector<std::optional<std::uint64_t>> elements = elements_at(rubric, task, sizes);
  // Arrays that the simulated card has no addresses for would end where they must not.
  std::vector<double> bytes(std::size_t(p.devices));
  for (std::size_t i = 0; i < elements.size(); ++i)
    bytes[std::size_t(p.buffers[i].device)] += 4.0 * double(elements[i].value_or(kMost));
  if (*std::max_element(bytes.begin(), bytes.end()) > kMostBytes) return {};
  const ChildResult child = run(message_without_elements(request, p, elements), sizeof(Reply) + sizeof(Reply::nonce));
  std::vector<Json> found;
  const Json report = Json::parse(child.report, nullptr, false);
  if (!report.is_array()) return found;
  for (const Json& launch : report)
    for (const Json& finding : launch.value("findings", Json::array()))
      if (const std::string kind = finding.value("kind", ""); kind == "out-of-bounds" || kind == "host-pointer")
        found.push_back(finding);
  return found;
}

DryLaunch launch_dry(const Rubric& rubric, const Task& task, const Sizes& sizes, const RunProgram& run) {
  const Problem p = small_one(rubric, task, sizes);
  Request request = request_of(rubric.task, sizes, p, Mode::launches);
  DryLaunch dry;
  constexpr std::size_t kBytes = sizeof(Reply) + sizeof(Reply::nonce);
  // Which of the buffers are as large as can be depends on the sizes.
  std::vector<std::optional<std::uint64_t>> unknown(p.buffers.size());
  if (const auto told = task.lengths(sizes); !told.empty()) unknown.assign(told.begin(), told.end());
  const ChildResult child = run(message_without_elements(request, p, unknown), kBytes);
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
