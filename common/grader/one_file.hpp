/// @file
/// A task in one file as the grader sees it (tilewise/task.hpp is what the file sees).
#pragma once

#include <string>
#include <vector>

namespace tilewise::grader {

/// Loads NAME's compiled file, once, and makes its task known to find_task(). Throws std::invalid_argument, saying what of
/// the definition makes no sense, and where in `source`, its task.cu.
void load_one_file_task(const std::string& name, const std::string& library, const std::string& source);

/// Its rubric, as the text of N_task.json: one that makes sense, or it throws in the same way. And its hints. It must have
/// been loaded.
std::string rubric_of_one_file(const std::string& name);
std::vector<std::string> hints_of_one_file(const std::string& name);

}  // namespace tilewise::grader
