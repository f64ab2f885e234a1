#include "rubric.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "counts.hpp"
#include "tilewise/random.hpp"
#include "tools.hpp"

namespace tilewise::grader {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kLargest = 1 << 20;  // of a size

template <class T>
T get(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) throw std::runtime_error(fmt::format("\"{}\" is missing", key));
  try {
    return object.at(key).get<T>();
  } catch (const Json::exception&) {
    throw std::runtime_error(fmt::format("\"{}\" has the wrong type", key));
  }
}

void only(const Json& object, std::initializer_list<const char*> keys) {
  if (!object.is_object())
    throw std::runtime_error("an object, {\"key\": value}, is expected in place of " + object.dump());
  for (const auto& [key, value] : object.items()) {
    if (std::find_if(keys.begin(), keys.end(), [&](const char* k) { return key == k; }) == keys.end())
      throw std::runtime_error(fmt::format("\"{}\" is not known here", key));
  }
}

void require(bool ok, const std::string& what) {
  if (!ok) throw std::runtime_error(what);
}

/// "libraries" and "calls": what the task may call.
void read_permissions(const Json& j, Rubric& r) {
  if (j.contains("libraries")) r.libraries = get<std::vector<std::string>>(j, "libraries");
  for (const std::string& l : r.libraries)
    require(l == "cublas" || l == "cusparse", fmt::format("the library \"{}\" is not cublas or cusparse", l));
  if (j.contains("calls")) r.calls = get<std::vector<std::string>>(j, "calls");
  for (const std::string& c : r.calls)
    require(c == "streams" || c == "copies" || c == "graphs" || c == "devices",
            fmt::format("the calls \"{}\" are not streams, copies, graphs or devices", c));
}

Limit read_limit(const Json& j) {
  only(j, {"count", "at_least", "at_most", "points", "why", "shape", "lesson"});
  const auto bound = [&](const char* key) {
    return j.contains(key) ? std::optional(get<double>(j, key)) : std::nullopt;
  };
  const Limit l{get<std::string>(j, "count"),
                bound("at_least"),
                bound("at_most"),
                get<double>(j, "points"),
                get<std::string>(j, "why"),
                j.contains("shape") ? get<Sizes>(j, "shape") : Sizes{},
                j.contains("lesson") && get<bool>(j, "lesson")};
  require(l.at_least || l.at_most, "a limit must have \"at_most\" or \"at_least\"");
  const auto& names = count_names();
  require(std::find(names.begin(), names.end(), l.count) != names.end(),
          fmt::format("the count \"{}\" is not one of {}", l.count, fmt::join(names, ", ")));
  require(l.points >= 0, fmt::format("the target for \"{}\": points must not be negative", l.count));
  return l;
}

void read_efficiency(const Json& j, Rubric& r) {
  only(j, {"shape", "repeats_count", "busy_multiprocessors", "limits"});
  r.efficiency_shape = get<Sizes>(j, "shape");
  if (j.contains("repeats_count")) r.repeats_count = get<bool>(j, "repeats_count");
  if (j.contains("busy_multiprocessors")) r.busy_multiprocessors = get<int>(j, "busy_multiprocessors");
  require(r.busy_multiprocessors >= 0 && r.busy_multiprocessors <= 132, "\"busy_multiprocessors\" must be 0 to 132");
  double sum = 0;
  for (const Json& l : get<std::vector<Json>>(j, "limits")) {
    r.limits.push_back(read_limit(l));
    sum += r.limits.back().points;
  }
  require(std::abs(sum - r.points.efficiency) < 1e-9,
          fmt::format("the limits' points add up to {}, but \"efficiency\" has {}", sum, r.points.efficiency));
}

void check_numbers(const Rubric& r) {
  for (double p :
       {r.points.compiles, r.points.visible, r.points.hidden, r.points.findings, r.points.efficiency, r.weight})
    require(p >= 0, "\"points\" and \"weight\" must not be negative");
  require(!r.sizes.empty() && r.sizes.size() <= 6, "\"sizes\" must have 1 to 6 names");
  require(!r.visible.empty(), "\"visible\" must have a shape");
  require(r.hidden_count >= 1 && r.hidden_count <= 100, "\"count\" must be 1 to 100");
  require(r.time_limit >= 1 && r.time_limit <= 600, "\"time_limit_seconds\" must be 1 to 600");
  require(r.hidden_ranges.size() == r.sizes.size(), "\"ranges\" must have a pair for each size");
  for (const auto& [low, high] : r.hidden_ranges)
    require(low >= 0 && high >= low && high <= kLargest,
            "in \"hidden\": a range must be [low, high], from 0 to 1048576");
}

/// "gpu_shape" and "largest": of shapes that nobody waits for.
void read_large_shapes(const Json& j, Rubric& r) {
  if (j.contains("gpu_shape")) {
    r.gpu_shape = get<Sizes>(j, "gpu_shape");
    require(r.gpu_shape.size() == r.sizes.size(), fmt::format("\"gpu_shape\" must have {} sizes", r.sizes.size()));
    for (int n : r.gpu_shape) require(n >= 1 && n <= 1 << 26, "in \"gpu_shape\": sizes are 1 to 67108864");
  }
  if (j.contains("any_base")) r.any_base = get<bool>(j, "any_base");
  if (j.contains("largest")) r.largest = get<std::vector<Sizes>>(j, "largest");
  for (const Sizes& s : r.largest) {
    require(s.size() == r.sizes.size(), fmt::format("in \"largest\": a shape must have {} sizes", r.sizes.size()));
    for (int n : s) require(n >= 0, "in \"largest\": sizes must not be negative");
  }
}

void check_shapes(const Rubric& r) {
  std::vector<Sizes> all = r.visible;
  all.push_back(r.efficiency_shape);
  for (const Limit& l : r.limits)
    if (!l.shape.empty()) all.push_back(l.shape);
  for (const Sizes& s : all) {
    require(s.size() == r.sizes.size(),
            fmt::format("the shape [{}] must have {} sizes", fmt::join(s, ", "), r.sizes.size()));
    for (int n : s)
      require(n >= 0 && n <= kLargest, fmt::format("in the shape [{}]: sizes are 0 to 1048576", fmt::join(s, ", ")));
  }
}

Rubric parse(const Json& j) {
  only(j, {"task", "level", "title", "weight", "sizes", "points", "visible", "hidden", "time_limit_seconds",
           "efficiency", "gpu_shape", "libraries", "calls", "largest", "any_base"});
  Rubric r;
  r.task = get<std::string>(j, "task");
  r.level = get<std::string>(j, "level");
  r.title = get<std::string>(j, "title");
  r.weight = get<double>(j, "weight");
  r.sizes = get<std::vector<std::string>>(j, "sizes");
  const Json points = get<Json>(j, "points");
  only(points, {"compiles", "visible", "hidden", "findings", "efficiency"});
  r.points = {get<double>(points, "compiles"), get<double>(points, "visible"), get<double>(points, "hidden"),
              get<double>(points, "findings"), get<double>(points, "efficiency")};
  r.visible = get<std::vector<Sizes>>(j, "visible");
  const Json hidden = get<Json>(j, "hidden");
  only(hidden, {"seed", "count", "ranges"});
  r.hidden_seed = get<std::uint64_t>(hidden, "seed");
  r.hidden_count = get<int>(hidden, "count");
  r.hidden_ranges = get<std::vector<std::pair<int, int>>>(hidden, "ranges");
  r.time_limit = get<int>(j, "time_limit_seconds");
  read_permissions(j, r);
  read_efficiency(get<Json>(j, "efficiency"), r);
  check_numbers(r);
  read_large_shapes(j, r);
  check_shapes(r);
  return r;
}

}  // namespace

std::vector<Sizes> Rubric::hidden() const {
  Random random(hidden_seed);
  std::vector<Sizes> shapes;
  for (int tries = 0; static_cast<int>(shapes.size()) < hidden_count && tries < 100 * hidden_count; ++tries) {
    Sizes s;
    for (const auto& [low, high] : hidden_ranges)
      s.push_back(low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low) + 1)));
    if (std::find(visible.begin(), visible.end(), s) == visible.end() &&
        std::find(shapes.begin(), shapes.end(), s) == shapes.end())
      shapes.push_back(s);
  }
  return shapes;
}

std::string Rubric::text(const Sizes& shape) const {
  std::string out;
  for (std::size_t i = 0; i < shape.size(); ++i) out += fmt::format("{}{} = {}", i ? ", " : "", sizes[i], shape[i]);
  return out;
}

Rubric parse_rubric(const std::string& text, const std::string& file) {
  const Json json = parse_json(text, file);
  try {
    Rubric r = parse(json);
    r.file = file;
    return r;
  } catch (const std::exception& error) {
    throw std::invalid_argument(file + ": " + error.what());
  }
}

Rubric read_rubric(const std::string& file) {
  if (access(file.c_str(), R_OK) != 0) throw std::runtime_error("cannot read " + file);
  return parse_rubric(read_file(file), file);
}

std::vector<Rubric> read_rubrics(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  std::vector<Rubric> rubrics;
  for (const std::string& f : files) rubrics.push_back(read_rubric(f));
  return rubrics;
}

std::set<std::string> libraries_of(const std::vector<Rubric>& rubrics) {
  std::set<std::string> libraries;
  for (const Rubric& r : rubrics) {
    libraries.insert(r.libraries.begin(), r.libraries.end());
    libraries.insert(r.calls.begin(), r.calls.end());
  }
  return libraries;
}

}  // namespace tilewise::grader
