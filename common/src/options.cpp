#include "tilewise/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "tilewise/arguments.hpp"
#include "tilewise/counters.hpp"
#include "tilewise/device.hpp"
#include "tilewise/files.hpp"
#include "tilewise/results.hpp"
#include "tilewise/table.hpp"

namespace tilewise {
namespace {

// A matrix side. 65536^2 floats are 16 GiB: three such matrices fit in the largest GPUs.
constexpr Range kSizes{1, 65536};
constexpr Range kTiles{1, 1024};
constexpr Range kRepeats{0, 100000};
constexpr Range kSamples{1, 1'000'000'000};
// The simulator takes some 10 ns per multiply-add: 2^33 (2048^3) is minutes per kernel.
constexpr double kSimulatedWork = 0x1p33;

std::string range_text(Range range) { return fmt::format("allowed are {} to {}", range.low, range.high); }

// The number, or a message.
std::int64_t number_in(const std::string& name, const std::string& text, Range range) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range && end == text.data() + text.size())
    throw std::invalid_argument(fmt::format("{} {}: out of range; {}", name, text, range_text(range)));
  if (error != std::errc() || end != text.data() + text.size())
    throw std::invalid_argument(fmt::format("{} '{}': not a whole number; {}", name, text, range_text(range)));
  if (value < range.low || value > range.high)
    throw std::invalid_argument(fmt::format("{} {}: out of range; {}", name, text, range_text(range)));
  return value;
}

// "8,16" "32" -> "8" "16" "32". An empty element stays, and is refused as no number.
std::vector<std::string> split_at_commas(const std::vector<std::string>& words) {
  std::vector<std::string> parts;
  for (const std::string& word : words) {
    std::size_t begin = 0;
    for (std::size_t comma; (comma = word.find(',', begin)) != std::string::npos; begin = comma + 1)
      parts.push_back(word.substr(begin, comma - begin));
    parts.push_back(word.substr(begin));
  }
  return parts;
}

// What is asked for twice is run once.
template <class T>
void drop_repeated(std::vector<T>& list) {
  std::vector<T> once;
  for (const T& value : list)
    if (std::find(once.begin(), once.end(), value) == once.end()) once.push_back(value);
  list = std::move(once);
}

}  // namespace

// One option: its words as given, and what makes values of them.
struct Options::Parser {
  struct Entry {
    std::string name, allowed;
    bool list = false;
    std::vector<std::string> words;
    std::function<void(const std::vector<std::string>&)> take;
  };

  CLI::App app;
  std::vector<std::unique_ptr<Entry>> entries;  // stable addresses for CLI11
  std::vector<std::int64_t> n, m, k, tiles;
  std::vector<MatmulShape> default_shapes;  // beside the squares, unless sizes are asked for
  std::string data = "uniform";
  bool matmul = false;

  // `allowed` is said where the value is missing: "allowed are 1 to 64", or nothing.
  void add(const std::string& name, const std::string& help, bool list, const std::string& allowed,
           std::function<void(const std::vector<std::string>&)> take) {
    auto entry = std::make_unique<Entry>();
    entry->name = name;
    entry->allowed = allowed;
    entry->list = list;
    entry->take = std::move(take);
    app.add_option(name, entry->words, help)
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name(list ? "LIST" : "VALUE");
    entries.push_back(std::move(entry));
  }
};

Options::Options(std::string program, std::string summary)
    : program_(std::move(program)), parser_(std::make_unique<Parser>()) {
  parser_->app.description(summary);
  parser_->app.name(program_);
  parser_->add("--repeat", "Timed iterations; 0: 30 at least, for 0.1 s (default 0)", false, range_text(kRepeats),
               [this](const auto& words) { repeat_ = static_cast<int>(number_in("--repeat", words[0], kRepeats)); });
  add_flag("--no-time", no_time_, "Check only, time nothing (on the simulator nothing is timed anyway)");
  parser_->add("--seed", "Seed of the random inputs, 0 or more (default 1)", false, "allowed is 0 or more",
               [this](const auto& words) {
                 seed_ = static_cast<std::uint64_t>(
                     number_in("--seed", words[0], {0, std::numeric_limits<std::int64_t>::max()}));
               });
  add("--data", parser_->data, "Values of the inputs", distribution_names());
  if (is_simulated()) {
    sample_ = sample_demanded();
    parser_->add(
        "--sample",
        fmt::format("Count about so many blocks of each launch in place of all, and scale the counts; results are "
                    "then not checked; {} to {} (default {})",
                    kSamples.low, kSamples.high, sample_ == 0 ? "all" : std::to_string(sample_)),
        false, range_text(kSamples),
        [this](const auto& words) { sample_ = static_cast<std::uint64_t>(number_in("--sample", words[0], kSamples)); });
  }
  parser_->add("--json", "Write the results to this file", false, "", [this](const auto& words) {
    json_ = words[0];
    if (const std::string why = why_not_writable(json_); !why.empty()) throw std::invalid_argument("--json " + why);
  });
}

Options::~Options() = default;

Options& Options::add_matmul(const MatmulDefaults& defaults) {
  Parser& p = *parser_;
  p.matmul = true;
  p.n = is_simulated() && !defaults.sim_sizes.empty() ? defaults.sim_sizes : defaults.sizes;
  p.default_shapes = is_simulated() ? defaults.sim_shapes : defaults.shapes;
  std::string n_help = "Columns of B and C, and of a square problem everything", also;
  for (const MatmulShape& shape : p.default_shapes) also += (also.empty() ? "" : " and ") + shape.text();
  if (!also.empty()) n_help += "; without --n, --m and --k also M x N x K = " + also;
  add("--n", p.n, n_help, kSizes);
  add("--m", p.m, "Rows of A and C (default: as --n)", kSizes);
  add("--k", p.k, "Columns of A, rows of B (default: as --n)", kSizes);
  if (!defaults.tiles.empty()) {
    p.tiles = defaults.tiles;
    add("--tile", p.tiles, "Tile sides", kTiles);
  }
  return *this;
}

Options& Options::add(const std::string& name, std::int64_t& target, const std::string& help, Range range) {
  parser_->add(name, fmt::format("{}; {} to {} (default {})", help, range.low, range.high, target), false,
               range_text(range),
               [&target, name, range](const auto& words) { target = number_in(name, words[0], range); });
  return *this;
}

Options& Options::add(const std::string& name, std::vector<std::int64_t>& target, const std::string& help,
                      Range range) {
  std::string text = fmt::format("{}; {} to {}", help, range.low, range.high);
  if (!target.empty()) text += fmt::format(" (default {})", fmt::join(target, ","));
  parser_->add(name, text, true, range_text(range), [&target, name, range](const auto& words) {
    target.clear();
    for (const std::string& word : words) target.push_back(number_in(name, word, range));
  });
  return *this;
}

Options& Options::add(const std::string& name, double& target, const std::string& help, double low, double high) {
  parser_->add(name, fmt::format("{}; {} to {} (default {})", help, low, high, target), false,
               fmt::format("allowed are {} to {}", low, high), [&target, name, low, high](const auto& words) {
                 std::size_t used = 0;
                 double value = std::numeric_limits<double>::quiet_NaN();
                 try {
                   value = std::stod(words[0], &used);
                 } catch (const std::exception&) {
                   used = 0;
                 }
                 if (used != words[0].size())
                   throw std::invalid_argument(
                       fmt::format("{} '{}': not a number; allowed are {} to {}", name, words[0], low, high));
                 if (!(value >= low && value <= high))
                   throw std::invalid_argument(
                       fmt::format("{} {}: out of range; allowed are {} to {}", name, words[0], low, high));
                 target = value;
               });
  return *this;
}

Options& Options::add(const std::string& name, std::string& target, const std::string& help,
                      const std::vector<std::string>& choices) {
  parser_->add(name, fmt::format("{}: {} (default {})", help, fmt::join(choices, ", "), target), false,
               fmt::format("allowed are {}", fmt::join(choices, ", ")), [&target, name, choices](const auto& words) {
                 if (std::find(choices.begin(), choices.end(), words[0]) == choices.end())
                   throw std::invalid_argument(
                       fmt::format("{} '{}': not known; allowed are {}", name, words[0], fmt::join(choices, ", ")));
                 target = words[0];
               });
  return *this;
}

Options& Options::add(const std::string& name, std::vector<std::string>& target, const std::string& help,
                      const std::vector<std::string>& choices) {
  std::string text = fmt::format("{}: {}", help, fmt::join(choices, ", "));
  if (!target.empty()) text += fmt::format(" (default {})", fmt::join(target, ","));
  parser_->add(name, text, true, fmt::format("allowed are {}", fmt::join(choices, ", ")),
               [&target, name, choices](const auto& words) {
                 target.clear();
                 for (const std::string& word : words) {
                   if (std::find(choices.begin(), choices.end(), word) == choices.end())
                     throw std::invalid_argument(
                         fmt::format("{} '{}': not known; allowed are {}", name, word, fmt::join(choices, ", ")));
                   target.push_back(word);
                 }
                 drop_repeated(target);
               });
  return *this;
}

Options& Options::add_text(const std::string& name, std::string& target, const std::string& help) {
  parser_->add(name, help, false, "", [&target, name](const auto& words) {
    if (words[0].empty()) throw std::invalid_argument(name + ": the text is empty");
    target = words[0];
  });
  return *this;
}

Options& Options::add_flag(const std::string& name, bool& target, const std::string& help) {
  parser_->app.add_flag(name, target, help);
  return *this;
}

void Options::refuse(const std::string& message) const {
  fmt::print(stderr, "{}: {}\n", program_, message);
  throw ExitRequest{kBadArguments};
}

void Options::parse(int argc, const char* const* argv) {
  Parser& p = *parser_;
  command_line_ = fmt::format("{}", fmt::join(argv, argv + argc, " "));
  try {
    p.app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", p.app.help());
    throw ExitRequest{kAllRight};
  } catch (const CLI::ParseError& error) {
    std::string said = said_of(p.app, error, "; a list has commas and no blanks, as in 8,16");
    for (const auto& entry : p.entries)
      if (said == entry->name + ": a value is missing" && !entry->allowed.empty()) said += "; " + entry->allowed;
    refuse(said);
  }
  try {
    for (const auto& entry : p.entries) {
      if (p.app.get_option(entry->name)->count() == 0) continue;
      if (entry->words.empty()) throw std::invalid_argument(entry->name + ": a value is missing");
      if (!entry->list && entry->words.size() > 1)
        throw std::invalid_argument(fmt::format("{}: one value only, not {}", entry->name, entry->words.size()));
      entry->take(entry->list ? split_at_commas(entry->words) : entry->words);
    }
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
  data_ = distribution_from(p.data);
  sample_blocks(sample_);
  if (p.matmul) read_matmul();
}

void Options::read_matmul() {
  Parser& p = *parser_;
  const bool asked = p.app.count("--n") + p.app.count("--m") + p.app.count("--k") > 0;
  if (!asked) shapes_ = p.default_shapes;
  const auto& m = p.m.empty() ? p.n : p.m;
  const auto& k = p.k.empty() ? p.n : p.k;
  const std::size_t count = std::max({p.n.size(), m.size(), k.size()});
  const auto at = [&](const std::vector<std::int64_t>& list, std::size_t i, const char* name) {
    if (list.size() != 1 && list.size() != count)
      refuse(fmt::format("{}: {} values beside lists of {}; give one value or {}", name, list.size(), count, count));
    return static_cast<std::size_t>(list.size() == 1 ? list[0] : list[i]);
  };
  for (std::size_t i = 0; i < count; ++i) {
    const MatmulShape shape{at(m, i, "--m"), at(p.n, i, "--n"), at(k, i, "--k")};
    if (is_simulated() && sample_ == 0 && shape.flops() / 2 > kSimulatedWork)
      refuse(fmt::format(
          "--m --n --k {}: too much for the simulator; it takes m n k up to {} (2048^3). --sample 32 counts "
          "32 blocks of each launch in place of all",
          shape.text(), with_commas(static_cast<std::uint64_t>(kSimulatedWork))));
    shapes_.push_back(shape);
  }
  for (const std::int64_t tile : p.tiles) tiles_.push_back(static_cast<int>(tile));
  drop_repeated(shapes_);
  drop_repeated(tiles_);
}

}  // namespace tilewise
