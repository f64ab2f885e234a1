/// @file
/// From what a submission's programs do on a task's shapes to its points: cases, criteria, points.
#pragma once

#include <map>
#include <string>

#include "grader.hpp"
#include "rubric.hpp"

namespace tilewise::grader {

/// A submission's programs.
struct Programs {
  std::string simulator, gpu;
  std::string symbols;                      ///< what nm prints of the submission
  std::map<std::string, long> frames = {};  ///< CompilerWarnings::frames
};

TaskResult judge_task(const Rubric& r, const std::string& chapter, const Programs& programs, const std::string& file,
                      const GradeOptions& options);

}  // namespace tilewise::grader
