/// @file
/// The proof that puzzles are judged right: for each, tests/NN_topic/puzzles/MM_name.attempts has the solution, other right
/// ways, and wrong ones with what must be said of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "learn/workshop.hpp"

namespace tilewise::learn {

/// Lines of a puzzle that give way to others.
struct Change {
  std::size_t line = 0;  ///< the first of them, from 1
  Lines removed, added;
};

struct Attempt {
  enum class Kind { starter, solution, right, wrong } kind = Kind::starter;
  std::string words;  ///< what it is about
  Lines says;         ///< each of them must be in what is said
  std::vector<Change> changes;
  std::string text;  ///< the whole file
};

struct Attempts {
  std::vector<Attempt> all;
  bool gpu_starter_may_pass = false;

  const Attempt* solution() const;
};

/// Throws BadPuzzle, with file and line.
Attempts read_attempts(const Puzzle& puzzle);

/// What a puzzle lacks of the form that all have; empty: nothing.
Lines form_problems(const Puzzle& puzzle, const Attempts& attempts, const std::filesystem::path& root);

/// Judges every attempt of the puzzles whose chapter begins with one of `chapters` (of all where there is none), `jobs` at a
/// time, and prints a table. True when all is as it must be.
bool check_bank(const Workshop& workshop, const std::vector<std::string>& chapters, unsigned jobs, bool verbose);

/// Writes every attempt of these puzzles as FOLDER/00-1/wrong-1.cu, and what must be said of it, a line each, as wrong-1.says.
void write_attempts(const std::filesystem::path& root, const std::vector<std::string>& chapters,
                    const std::filesystem::path& folder);

}  // namespace tilewise::learn
