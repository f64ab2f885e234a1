#include "one_file.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "harness.hpp"
#include "pattern.hpp"
#include "rubric.hpp"
#include "task.hpp"
#include "tilewise/task.hpp"
#include "tools.hpp"

namespace tilewise::grader {

namespace {

using Json = nlohmann::ordered_json;
using task::Parameter;

struct Announcement {
  std::string name;
  task::Definition* definition;
  std::vector<Parameter> parameters;
};

std::vector<Announcement>& announcements() {
  static std::vector<Announcement> all;
  return all;
}

bool is_buffer(Parameter p) { return p <= Parameter::ints; }
bool is_input(Parameter p) { return p == Parameter::input_floats || p == Parameter::input_ints; }
bool holds_floats(Parameter p) { return p == Parameter::input_floats || p == Parameter::floats; }

std::string text_of(const std::vector<Parameter>& parameters) {
  static const char* const names[] = {"const float*", "float*", "const int*",   "int*",
                                      "int",          "float",  "cudaStream_t", "?"};
  std::string text;
  for (const Parameter p : parameters) text += (text.empty() ? "" : ", ") + std::string(names[std::size_t(p)]);
  return "(" + text + ")";
}

/// "load_sectors <= 1100: why" or "atomics <= 80 (14 points): why" as a rubric's limit, with points where they are given;
/// null where it is nothing of the kind.
Json limit(const std::string& target) {
  static const Pattern form(
      "^([a-z0-9_]+) (<=|>=|=) ([0-9]+([.][0-9]+)?)( [(]([0-9]+([.][0-9]+)?) points?[)])?: (.+)$");
  const std::vector<std::string> parts = form.find_in(target);
  if (parts.empty()) return nullptr;
  const std::string &sign = parts[2], &points = parts[6];
  Json limit{{"count", parts[1]}, {"why", parts[8]}};
  if (!points.empty()) limit["points"] = std::stod(points);
  if (sign != ">=") limit["at_most"] = std::stod(parts[3]);
  if (sign != "<=") limit["at_least"] = std::stod(parts[3]);
  return limit;
}

/// The words that a message has in quotation marks, and the first one after "TASK(name): ".
std::vector<std::string> quoted_in(const std::string& message) {
  std::vector<std::string> words;
  std::string word;
  std::istringstream parts(message);
  for (bool quoted = false; std::getline(parts, word, '"'); quoted = !quoted)
    if (quoted && !word.empty()) words.push_back(word);
  if (const std::size_t at = message.find("): "); at != std::string::npos) {
    std::istringstream(message.substr(at + 3)) >> word;
    words.push_back(word.substr(0, word.find_first_of(":,")));
  }
  return words;
}

/// Whether a line of task.cu is `word = ...`, or has a text that begins with the word.
bool is_about(const std::string& line, const std::string& word) {
  const std::size_t text = line.find_first_not_of(' ');
  if (text != std::string::npos && line.compare(text, word.size() + 2, word + " =") == 0) return true;
  const std::size_t quoted = line.find('"' + word);
  if (quoted == std::string::npos) return false;
  const std::size_t behind = quoted + 1 + word.size();
  return behind >= line.size() || !(std::isalnum(static_cast<unsigned char>(line[behind])) || line[behind] == '_');
}

/// "task.cu:12: TASK(name): what", with the line where the file has one of the words that the message quotes.
std::string placed(const std::string& source, const std::string& message) {
  if (message.find(" is missing: ") != std::string::npos) return source + ": " + message;
  for (const std::string& word : quoted_in(message)) {
    std::istringstream lines(read_file(source));
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number)
      if (is_about(line, word)) return fmt::format("{}:{}: {}", source, number, message);
  }
  return source + ": " + message;
}

class OneFileTask final : public Task {
 public:
  OneFileTask(const std::string& task, task::Definition& definition, std::vector<Parameter> parameters,
              std::string source)
      : Task(task, task), d_(definition), parameters_(std::move(parameters)), source_(std::move(source)) {}

  /// Fills the definition in. Throws std::invalid_argument, naming what makes no sense.
  void define() {
    d_.define();
    std::erase(parameters_, Parameter::stream);
    require(!d_.title.empty(), "title is missing: what a learner is to do, in a line");
    require(d_.reference.run != nullptr, "reference is missing: a lambda that computes what is expected");
    require(d_.buffers.at != nullptr, "buffers is missing: a lambda of the sizes with {\"x\", n} for each pointer");
    require(!d_.visible.empty(), "visible is missing: shapes such as {{1}, {32}, {1000}}");
    require(!d_.hidden.empty(), "hidden is missing: for each size its range, such as {{1, 3000}}");
    require(!d_.counted_at.empty(), "counted_at is missing: the shape whose counts the targets are for");
    require(!d_.targets.empty(), "targets is missing: such as {\"load_sectors <= 1100: why\"}");
    require(d_.points.size() == 5, "points has five numbers: compiles, visible, hidden, findings, efficiency");
    for (const Parameter p : parameters_)
      require(p != Parameter::unknown,
              fmt::format("the parameters of launch_{} are {}; a task in one file can have const float*, float*, const "
                          "int*, int*, int, float and cudaStream_t",
                          name, text_of(parameters_)));
    const auto same = [&](const task::Reference& r, const std::string& what) {
      require(r.parameters == parameters_, fmt::format("{} has the parameters {}, but launch_{} has {}", what,
                                                       text_of(r.parameters), name, text_of(parameters_)));
    };
    same(d_.reference, "reference");
    for (const task::Mistake& m : d_.mistakes) same(m.result, "the mistake \"" + m.text + "\"");
    const auto count = [&](Parameter p) { return std::size_t(std::count(parameters_.begin(), parameters_.end(), p)); };
    const auto buffers = std::count_if(parameters_.begin(), parameters_.end(), is_buffer),
               inputs = std::count_if(parameters_.begin(), parameters_.end(), is_input);
    require(buffers > inputs && buffers <= kMostBuffers,
            fmt::format("launch_{} has {} pointers, {} of them to const; a task has 1 to {}, and one for a result",
                        name, buffers, inputs, kMostBuffers));
    require(d_.scalars.size() <= kMostScalars, fmt::format("scalars has more than {} values", kMostScalars));
    require(d_.sizes.size() == count(Parameter::size), fmt::format("sizes has {} names, but launch_{} has {} ints",
                                                                   d_.sizes.size(), name, count(Parameter::size)));
    require(d_.scalars.size() == count(Parameter::scalar),
            fmt::format("scalars has {} values, but launch_{} has {} floats", d_.scalars.size(), name,
                        count(Parameter::scalar)));
    require(d_.buffers.count == d_.sizes.size(), "buffers must be a lambda of all sizes");
    require(d_.least_flops.count == 0 || d_.least_flops.count == d_.sizes.size(),
            "least_flops must be a lambda of all sizes");
  }

  Problem make(const Sizes& sizes, std::uint64_t seed) const override {
    const task::Buffers specs = d_.buffers.at(sizes);
    const std::size_t pointers = std::size_t(std::count_if(parameters_.begin(), parameters_.end(), is_buffer));
    require(specs.size() == pointers,
            fmt::format("buffers has {} elements, but launch_{} has {} pointers", specs.size(), name, pointers));
    task::Call before;  // what a call finds; outputs are unwritten
    before.sizes = sizes;
    Problem p;
    for (const double s : d_.scalars) before.scalars.push_back(float(s));
    p.scalars = before.scalars;
    auto parameter = parameters_.begin();
    std::uint64_t stream = 1000 * seed;  // each buffer has random numbers of its own
    for (const task::BufferSpec& spec : specs) {
      while (!is_buffer(*parameter)) ++parameter;
      require(spec.rows >= 0 && spec.cols >= 0,
              fmt::format("buffers: {} has {} x {} elements", spec.name, spec.rows, spec.cols));
      require(!spec.values.in_place || !is_input(*parameter),
              fmt::format("buffers: {} is in_place, but launch_{} gets a pointer to const", spec.name, name));
      Random random(d_.seed + ++stream);
      p.buffers.push_back(holds_floats(*parameter)
                              ? begin<float>(spec, is_input(*parameter), before.floats, before, random)
                              : begin<int>(spec, is_input(*parameter), before.ints, before, random));
      ++parameter;
    }
    if (only_inputs()) return p;
    const task::Call after = run(d_.reference, before, "reference");
    for (std::size_t i = 0; i < specs.size(); ++i) expect(p.buffers[i], after, i);
    for (const task::Mistake& mistake : d_.mistakes) {
      const task::Call wrong = run(mistake.result, before, "the mistake \"" + mistake.text + "\"");
      for (std::size_t i = 0; i < specs.size(); ++i) {
        if (p.buffers[i].expected.empty()) continue;
        const std::vector<double> values = results(p.buffers[i], wrong, i);
        if (values != p.buffers[i].expected) p.hypotheses.push_back({mistake.text, values, p.buffers[i].name});
      }
    }
    p.least_flops = d_.least_flops.at(d_.least_flops.count == 0 ? Sizes{} : sizes);
    return p;
  }

  std::string where(const Place& at) const override {
    if (at.output.rows > 1)
      return fmt::format("row {} of {}, column {} of {}", at.row, at.output.rows, at.col, at.output.cols);
    const int block = at.col / 256;
    return fmt::format("element {} of {}: thread {} of block {}, if blocks have 256 threads, each with one element",
                       at.col, at.output.cols, at.col % 256, block);
  }

  bool same_bits() const override { return d_.same_bits; }

  std::string rubric() const {
    const auto& d = d_;
    Json j{{"task", name}, {"level", d.level}, {"title", d.title}, {"weight", 100}, {"sizes", d.sizes}};
    j["points"] = Json{{"compiles", d.points[0]},
                       {"visible", d.points[1]},
                       {"hidden", d.points[2]},
                       {"findings", d.points[3]},
                       {"efficiency", d.points[4]}};
    j["visible"] = d.visible;
    j["hidden"] = Json{{"seed", d.seed}, {"count", d.hidden_count}, {"ranges", d.hidden}};
    j["time_limit_seconds"] = d.time_limit;
    Json limits = Json::array();
    double left = d.points[4];  // for targets that don't say how many points they have
    std::size_t sharing = 0;
    for (const std::string& t : d.targets) {
      limits.push_back(limit(t));
      require(!limits.back().is_null(),
              fmt::format("targets: \"{}\" is not like \"load_sectors <= 1100: why\" or \"load_sectors <= 1100 (14 "
                          "points): why\", with <=, >= or =",
                          t));
      if (limits.back().contains("points"))
        left -= limits.back()["points"].get<double>();
      else
        ++sharing;
    }
    for (Json& l : limits)
      if (!l.contains("points")) l["points"] = left / double(sharing);
    j["efficiency"] = Json{{"shape", d.counted_at}, {"repeats_count", d.repeats_count}, {"limits", limits}};
    const Json more = Json::parse(d.rubric, nullptr, false);
    require(more.is_object(), "rubric is not a JSON object, {\"key\": value}");
    j.merge_patch(more);
    try {
      parse_rubric(j.dump(), fmt::format("TASK({})", name));
    } catch (const std::exception& error) {
      throw std::invalid_argument(placed(source_, error.what()));
    }
    return j.dump(2) + "\n";
  }

  const std::vector<std::string>& hints() const { return d_.hints; }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument(placed(source_, fmt::format("TASK({}): {}", name, what)));
  }

  void require(bool ok, const std::string& what) const {
    if (!ok) fail(what);
  }

  template <class T, class Element>
  Buffer begin(const task::BufferSpec& spec, bool is_input, std::vector<task::Array<Element>>& all, task::Call& call,
               Random& random) const {
    call.order.push_back(all.size());
    task::Array<Element>& elements = all.emplace_back(spec.name, spec.rows, spec.cols);
    if (!is_input && !spec.values.in_place) return output<T>(spec.name, spec.rows, spec.cols, {});
    std::vector<T> values;
    for (int i = 0; i < elements.size(); ++i) {
      values.push_back(T(spec.values.at             ? spec.values.at(i, random)
                         : std::is_same_v<T, float> ? random.uniform()
                                                    : double(random.below(100))));
      elements[i] = Element(values.back());
    }
    return is_input ? input(spec.name, spec.rows, spec.cols, values)
                    : in_place(spec.name, spec.rows, spec.cols, values, {});
  }

  task::Call run(const task::Reference& reference, task::Call call, const std::string& what) const {
    try {
      reference.run(call);
    } catch (const std::out_of_range& outside) {
      fail(fmt::format("{} leaves a buffer: {}", what, outside.what()));
    }
    return call;
  }

  std::vector<double> results(const Buffer& b, const task::Call& call, std::size_t i) const {
    std::vector<double> values;
    if (std::holds_alternative<std::vector<std::int32_t>>(b.values)) {
      for (int k = 0; k < int(b.size()); ++k) values.push_back(call.ints[call.order[i]][k]);
    } else {
      for (int k = 0; k < int(b.size()); ++k) values.push_back(call.floats[call.order[i]][k].value());
    }
    return values;
  }

  void expect(Buffer& b, const task::Call& call, std::size_t i) const {
    if (b.use == Use::input) return;
    b.expected = results(b, call, i);
    const bool floats = std::holds_alternative<std::vector<float>>(b.values);
    bool exact = true;
    for (std::size_t k = 0; k < b.size(); ++k) {
      if (floats ? std::isnan(b.expected[k]) : b.expected[k] == task::kUnwritten)
        fail(fmt::format("reference leaves {}[{}] of {} unwritten", b.name, k, b.size()));
      if (!floats) continue;
      b.bound.push_back(call.floats[call.order[i]][int(k)].bound());
      exact = exact && b.bound.back() == 0;
    }
    if (exact) b.bound.clear();
  }

  task::Definition& d_;
  std::vector<Parameter> parameters_;
  const std::string source_;
};

std::map<std::string, OneFileTask*>& loaded() {
  static auto& all = *new std::map<std::string, OneFileTask*>;
  return all;
}

}  // namespace

void load_one_file_task(const std::string& name, const std::string& library, const std::string& source) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (loaded().count(name)) return;
  announcements().clear();
  if (!dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) throw std::runtime_error(dlerror());
  if (announcements().size() != 1 || announcements()[0].name != name)
    throw std::invalid_argument(
        fmt::format("{0}: in the folder {1} it must have TASK({1}), and no other", source, name));
  Announcement& a = announcements()[0];
  auto* const made =
      new OneFileTask(name, *a.definition, a.parameters, source);  // for ever: find_task() knows it from now on
  made->define();
  loaded()[name] = made;
}

std::string rubric_of_one_file(const std::string& name) { return loaded().at(name)->rubric(); }

std::vector<std::string> hints_of_one_file(const std::string& name) { return loaded().at(name)->hints(); }

}  // namespace tilewise::grader

namespace tilewise::task {

void announce(const std::string& name, Definition& definition, const std::vector<Parameter>& parameters) {
  grader::announcements().push_back({name, &definition, parameters});
}

}  // namespace tilewise::task
