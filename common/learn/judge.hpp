/// @file
/// What a good tutor says of a puzzle's file: not all that is wrong, but the next thing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "learn/workshop.hpp"

namespace tilewise::learn {

/// How far a file came, in the order in which things are looked at.
enum class Step { file, prediction, compile, launch, finding, run, kernel, result, limit, answer, solved };
const char* name(Step step);

struct Verdict {
  Step step = Step::file;
  Lines said;                            ///< paragraphs; one that begins with four blanks is code, and not to be broken
  Lines printed;                         ///< by the learner's own code: its first lines
  std::map<std::string, double> counts;  ///< of the launches that are judged, where it ran
  Lines drawn = {};                      ///< which engine worked when, where the check asks for it

  bool solved() const { return step == Step::solved; }
  /// All that is said, as one text.
  std::string text() const;
};

/// Of a learner's file. Compiles and runs it, unless that is not needed to see what is missing.
Verdict judge(const Puzzle& puzzle, const std::string& learners_text, const Workshop& workshop);

/// Counts of a report's launches from `from` on, by the names that limits have.
std::map<std::string, double> counts_of(const Json& report, std::size_t from);

/// A line for each engine, with the numbers of the streams that it works for; none for an empty timeline. Where another device than
/// the first works, too, each engine of each device that has work.
Lines drawing_of(const Timeline& timeline);

/// "1,024", "3.5".
std::string count_text(double value);

/// "1,024 of 4,096" for "1024 of 4096".
std::string with_separators(const std::string& text);

}  // namespace tilewise::learn
