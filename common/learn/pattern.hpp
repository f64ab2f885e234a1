/// @file
/// What all wrong elements of a result have in common.
#pragma once

#include <string>

#include "grader/task.hpp"

namespace tilewise::learn {

/// "each of the wrong elements is 2 times what it should be"; "" where there is nothing, or too few are wrong to tell.
std::string pattern_of(const grader::Buffer& output, const grader::Values& got);

}  // namespace tilewise::learn
