/// @file
/// All puzzles in their order, how far a learner is, and what was said of which file: kept in build/learn, so that a program
/// that ended goes on where it was. Whatever is lost there is judged again.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "learn/judge.hpp"

namespace tilewise::learn {

/// Verdicts by the content of puzzle and file.
class VerdictCache {
 public:
  explicit VerdictCache(std::filesystem::path file);
  std::optional<Verdict> find(const Puzzle& puzzle, const std::string& learners_text) const;
  void keep(const Puzzle& puzzle, const std::string& learners_text, const Verdict& verdict);

 private:
  static std::string key(const Puzzle& puzzle, const std::string& learners_text);

  std::filesystem::path file_;
  mutable std::mutex mutex_;
  std::map<std::string, Verdict> known_;
};

enum class State {
  untouched,  ///< as it was given
  tried,      ///< changed, and not solved
  solved,
  unknown  ///< changed, and not judged yet
};

class Course {
 public:
  explicit Course(const Workshop& workshop);

  const std::vector<Puzzle>& puzzles() const { return puzzles_; }
  const Workshop& workshop() const { return workshop_; }

  /// What the learner's file is now; "" where there is none.
  std::string text_of(std::size_t i) const;
  /// Without judging anything.
  State state_of(std::size_t i) const;
  std::size_t solved() const;
  /// Judges the files that have been changed and are not known.
  void judge_unknown();

  /// From the cache, or judged now.
  Verdict verdict(std::size_t i, const std::string& text);
  std::optional<Verdict> known(std::size_t i, const std::string& text) const;

  /// The puzzle with this id, "03-2", or the one that this file is (or a copy of it, in a folder with its chapter's name); nothing
  /// where there is none.
  std::optional<std::size_t> find(const std::string& word) const;
  /// Where the learner was, or the first that is not solved.
  std::size_t first() const;
  /// The first one after `i` that is not solved, then from the beginning; nothing when all are solved.
  std::optional<std::size_t> next_unsolved(std::size_t i) const;
  void remember(std::size_t i) const;

  /// Puts the original back, and keeps what was there: its new name, or "" where it was the original.
  std::string reset(std::size_t i) const;

 private:
  const Workshop& workshop_;
  std::vector<Puzzle> puzzles_;
  VerdictCache cache_;
};

}  // namespace tilewise::learn
