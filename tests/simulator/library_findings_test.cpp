// The last finding, for tests of the libraries: findings are the simulator's own, and no CUDA source sees them.
#include <string>

#include "base/findings.hpp"

namespace tilewise::sim {

/// "code: message", "" without findings.
std::string last_finding() {
  return findings().empty() ? "" : findings().back().code + ": " + findings().back().message;
}

}  // namespace tilewise::sim
