/// @file
/// What the elements of a wrong result say about the mistake.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "task.hpp"

namespace tilewise::grader {

/// Why a case is not right.
struct Explanation {
  std::string what;                         ///< one line; empty when right
  std::vector<std::string> notes;           ///< more about it
  std::function<std::string()> guess = {};  ///< and what only takes its time when it is shown; may be empty
};

/// Whether element i of an output is within its bound. Of a result that is moved and not computed, -0 is not 0.
bool right(const Problem& p, const Buffer& b, const Values& got, std::size_t i);

/// "C[3][5]", or "C(3, 5)" where a matrix lies column by column.
std::string element(const Buffer& b, std::size_t i);

/// Of an output with at least one wrong element. `task` must outlive the explanation.
Explanation explain_wrong(const Task& task, const Sizes& sizes, const Problem& p, const Buffer& out, const Values& got);

}  // namespace tilewise::grader
