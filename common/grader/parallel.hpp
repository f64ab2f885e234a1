/// @file
/// The same work on many things at once.
#pragma once

#include <cstddef>
#include <functional>

namespace tilewise::grader {

/// f(0) ... f(n - 1), `jobs` at a time, the caller's thread being one of them. When all have ended, the first exception is thrown
/// on.
void in_parallel(unsigned jobs, std::size_t n, const std::function<void(std::size_t)>& f);

}  // namespace tilewise::grader
