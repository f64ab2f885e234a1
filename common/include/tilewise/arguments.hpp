/// @file
/// What is wrong with a command line, in words of our own: CLI11's name neither what is allowed nor what to do, and differ between
/// its versions. For programs that use CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewise {

/// How many letters have to be put in, taken out or exchanged to make one word of the other.
inline std::size_t letters_apart(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t before = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = before + (a[i - 1] == b[j - 1] ? 0 : 1);
      before = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

/// The option that "--widht" or "-n" is meant to be, if one is close to it: a letter away, or two where the first is right. Else "".
inline std::string option_like(const CLI::App& app, const std::string& word) {
  const std::string bare = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  std::string best;
  std::size_t least = 3;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) {
      const std::size_t apart = letters_apart(bare, name);
      const bool close = apart == 0 || (apart == 1 && bare.size() > 1) || (bare.size() > 3 && bare[0] == name[0]);
      if (close && apart < least) least = apart, best = "--" + name;
    }
  return best;
}

/// What is wrong, without the program's name. `stray` is said of a word that belongs to no option: what may be meant.
inline std::string said_of(const CLI::App& app, const CLI::ParseError& error, const std::string& stray = "") {
  const std::string help = " (--help lists the options)", what = error.what(), name = what.substr(0, what.find(':'));
  if (dynamic_cast<const CLI::ExtrasError*>(&error)) {
    const std::vector<std::string> left = app.remaining();
    const std::string word = left.empty() ? "" : left[0].substr(0, left[0].find('='));
    if (word.size() < 2 || word[0] != '-') return "'" + word + "' belongs to no option" + stray + help;
    const std::string like = option_like(app, word);
    return "there is no option " + word + (like.empty() ? "" : "; is it " + like + "?") + help;
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error))
    return name + (what.find("missing") != std::string::npos ? ": a value is missing" : ": one value only");
  return dynamic_cast<const CLI::ConversionError*>(&error) ? what + help : what;
}

/// Takes whole numbers from `low` to `high`, and says so of others.
inline CLI::Validator whole_number(std::int64_t low, std::int64_t high) {
  const std::string range = std::to_string(low) + " to " + std::to_string(high);
  return CLI::Validator(
      [low, high, range](const std::string& text) -> std::string {
        std::int64_t value = 0;
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (problem == std::errc::invalid_argument || end != text.data() + text.size())
          return "'" + text + "' is not a whole number; allowed are " + range;
        if (problem != std::errc() || value < low || value > high)
          return text + " is out of range; allowed are " + range;
        return "";
      },
      range);
}

/// Takes one of these words, and lists them otherwise.
inline CLI::Validator one_of(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return CLI::Validator(
      [words, all](const std::string& text) -> std::string {
        if (std::find(words.begin(), words.end(), text) != words.end()) return "";
        return "'" + text + "' is not known; allowed are " + all;
      },
      all);
}

}  // namespace tilewise
