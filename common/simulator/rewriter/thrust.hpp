// Thrust's own headers, compiled for host code: where they are, and what of their text only nvcc understands.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tilewise::sim {

/// Options of the preprocessor for programs that may include Thrust. `headers` is the simulator's folder of headers.
std::vector<std::string> thrust_flags(const std::filesystem::path& headers);

/// Preprocessed text with spaces in place of `__host__` and `__device__` in what comes from Thrust. All of it is host code here.
std::string as_host_code_of_thrust(std::string preprocessed);

}  // namespace tilewise::sim
