/// @file
/// Where a submission lacks a function that the contract wants: which of its own may have been meant, and what differs.
#pragma once

#include <string>
#include <vector>

namespace tilewise::grader {

/// A function as its symbol says: `scale_rows(float const*, int)`, in a namespace or not.
struct Signature {
  std::string scope;  ///< "mine" of mine::launch; "" for global names
  std::string name;
  std::vector<std::string> parameters;  ///< as people write them: "const float*", "cudaStream_t"
};

/// Of all functions that `nm` lists with one of these letters, but for the C library's.
std::vector<Signature> signatures(const std::string& symbols, const std::string& kinds);

/// What to say to who lacks the function of `task`: "you wrote lanch_scale_rows (line 12); the contract wants
/// launch_scale_rows". `wanted` and `own` are what nm prints of the grader's calls and of the submission; `source` its text.
std::string near_miss(const std::string& task, const std::string& wanted, const std::string& own,
                      const std::string& source);

}  // namespace tilewise::grader
