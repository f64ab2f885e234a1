/// @file
/// What is on the screen, as text: no terminal is needed to make it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "learn/bank.hpp"
#include "learn/course.hpp"

namespace tilewise::learn {

/// Columns and rows to fill, and whether colours are welcome. No row limit: 0.
struct Paper {
  int columns = 80, rows = 0;
  bool colour = false;
};

/// A puzzle, and all that is known about it now.
struct View {
  const Puzzle* puzzle = nullptr;
  std::size_t place = 0, of = 0, solved = 0;  ///< the how manieth puzzle; how many there are, and are solved
  bool untouched = true;                      ///< the file is as it was given
  bool judging = false;
  std::string library;                   ///< that has to be built before it can be judged; "" if none
  std::optional<Verdict> verdict;        ///< of the file as it is, or was a moment ago
  std::map<std::string, double> before;  ///< counts of the starter; empty where they are not known
  std::string gpu;                       ///< the line about a GPU, with its records
  std::size_t hints = 0;                 ///< how many of them are shown
  std::vector<Change> solution;          ///< shown when there is one
  std::string remark;                    ///< what the last key did
  std::string next;                      ///< "00-8, The last block"; "" when all are solved
  bool keys = true;                      ///< somebody can press them
};

/// Lines of the screen.
Lines draw(const View& view, const Paper& paper);

/// A row of the list of all puzzles.
struct Entry {
  const Puzzle* puzzle = nullptr;
  State state = State::untouched;
};
/// The list around the entry `chosen`, with keys below it; without keys, all of it.
Lines draw_list(const std::vector<Entry>& entries, std::optional<std::size_t> chosen, const Paper& paper);

/// Broken at blanks. What begins with four blanks is code: cut, not broken.
Lines wrapped(const std::string& text, int columns);

}  // namespace tilewise::learn
