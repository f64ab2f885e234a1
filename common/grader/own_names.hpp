/// @file
/// A submission may call its variables as it likes: `n`, `error`, `warn`.
#pragma once

#include <string>
#include <vector>

namespace tilewise::grader {

/// Of what nm prints: global variables whose names are not made by C++, and so could take the place of the C library's or the
/// grader's.
std::vector<std::string> plain_variables(const std::string& symbols);

/// The same of functions: the loader and the C library may call one that is named as theirs, before any cage is entered.
std::vector<std::string> plain_functions(const std::string& symbols);

/// Makes these names the object file's own, so that they mean nothing to others. False where that isn't possible.
bool make_private(const std::string& object, const std::vector<std::string>& names);

}  // namespace tilewise::grader
