/// @file
/// The parent's half of a task: inputs, the right result, and what a wrong one looks like. None of it is ever in the
/// process that student code runs in. One file per chapter: tests/NN_topic/homework/reference.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rubric.hpp"

namespace tilewise::grader {

/// One array in device memory; the last of a problem's is the output.
struct Buffer {
  std::string name;
  int rows = 0, cols = 0;     ///< rows == 1: a vector
  std::vector<float> values;  ///< of an input
  bool by_columns = false;    ///< column-major: element (i, j) is at [i + j * rows]
};

/// A result that a certain mistake would give.
struct Hypothesis {
  std::string mistake;  ///< "this is the result without ..."
  std::vector<double> values;
};

struct Problem {
  std::vector<Buffer> buffers;
  std::vector<double> expected;  ///< of the output
  std::vector<double> bound;     ///< how far each element may be off
  std::vector<Hypothesis> hypotheses;
  double least_flops = 0;  ///< that kernels must do on the way
  double least_loads = 0;  ///< words of inputs that they must load; 0: all words of all inputs
};

class Task {
 public:
  Task(std::string chapter, std::string name);
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  virtual Problem make(const Sizes& sizes, std::uint64_t seed) const = 0;
  /// Where an element lies, in a tutor's words: "row 33 is in the ragged last tile (rows 32 to 34)".
  virtual std::string where(const Sizes& sizes, int row, int col) const = 0;

  const std::string chapter, name;
};

/// nullptr when no file defines it.
const Task* find_task(const std::string& chapter, const std::string& name);

}  // namespace tilewise::grader
