// For tests that do something wrong on purpose: on the simulator the findings are taken back at the end, so that the
// program does not fail for them. On a GPU there are none.
#pragma once

#ifdef TILEWISE_SIMULATOR

#include <cstddef>

namespace tilewise::sim {
std::size_t finding_count();
void forget_findings(std::size_t from);
void launch_error_seen();
}  // namespace tilewise::sim

class ExpectedFindings {
 public:
  ExpectedFindings() : before_(tilewise::sim::finding_count()) {}
  ~ExpectedFindings() {
    tilewise::sim::forget_findings(before_);
    tilewise::sim::launch_error_seen();
  }
  std::size_t count() const { return tilewise::sim::finding_count() - before_; }

 private:
  std::size_t before_;
};

#else

class ExpectedFindings {
 public:
  ExpectedFindings() {}
  ~ExpectedFindings() {}
};

#endif
