/// @file
/// Where the parts of a homework are: of a chapter's, which CMake has built, or of a task in one file (tilewise/task.hpp),
/// which is built here when it is needed. TILEWISE_TASKS names a folder of a teacher's own, which may have
/// - NAME/task.cu, with solution.cu, starter.cu, wrong/ and so on beside it: tasks of their own;
/// - NN_topic/N_task.json and NN_topic/solution.cu: what stands in place of the files of the same names in
///   tests/NN_topic/homework, such as other hidden shapes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rubric.hpp"

namespace tilewise::grader {

struct Places {
  std::string contract;   ///< the folder of homework.cuh
  std::string bank;       ///< the folder of starter.cu, solution.cu, wrong/ and so on
  std::string calls;      ///< calls.cu
  std::string object;     ///< it, compiled
  std::string reference;  ///< inputs and expected results, to be loaded
  std::string rubrics;    ///< the folder of N_task.json
  std::string own_file;   ///< what is graded where no file is named
};

/// Of a chapter "02_tiled_matmul", or of a task that find_task_folder() has found. A task's are built when they aren't there
/// yet, or are older than its file; throws std::invalid_argument, with what is wrong in which line, where that fails.
Places places_of(const std::string& name);

/// What g++ knows after <cuda_runtime.h> (simcc --prelude). CMake has made it; an installation's is made when it is first needed.
std::string prelude_folder();

/// The folder of TASK/task.cu: in TILEWISE_TASKS, in tasks/, or among the examples in tests/grader/tasks. "" where there is
/// none of this name.
std::string find_task_folder(const std::string& name);
/// The names of all of them.
std::vector<std::string> tasks_in_one_file();

/// Throws std::invalid_argument where TILEWISE_TASKS is set and names no folder, or one with nothing in it.
void check_private_folder();

/// The solution, the teacher's own one first.
std::string solution_of(const std::string& name);

/// Whether a teacher has written the task, its solution or one of its rubrics, and not we.
bool is_teachers_own(const std::string& name);

/// The rubrics of a chapter or a task, with those of the teacher's own folder in place of the chapter's.
std::vector<Rubric> rubrics_of(const std::string& name);

/// Of a task in one file; of a chapter there are none, since they stand on its page.
std::vector<std::string> hints_of(const std::string& name);

}  // namespace tilewise::grader
