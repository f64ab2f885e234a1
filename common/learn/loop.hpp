/// @file
/// `make learn`: shows a puzzle, waits until its file is saved, judges it, and says what comes next.
#pragma once

#include <cstddef>
#include <string>

#include "learn/course.hpp"

namespace tilewise::learn {

/// Until q or Ctrl-C. Needs a terminal.
void run_loop(Course& course, std::size_t start);

/// What one-shot runs show besides the verdict.
struct Extras {
  std::size_t hints = 0;
  bool solution = false;
  bool counts = false;  ///< all of them, with the names that limits have
  std::string file;     ///< that is judged in place of the puzzle's own
};

/// Judges a puzzle's file and prints what the loop would show. True when it is solved.
bool show_once(Course& course, std::size_t i, const Extras& extras);

/// A table of all puzzles, judging what is not known yet.
void show_table(Course& course);

/// The same as JSON, an object per puzzle: id, chapter, title, kind, minutes, and state, untouched, tried, solved or unknown.
/// Judges nothing.
void print_list(const Course& course);

}  // namespace tilewise::learn
