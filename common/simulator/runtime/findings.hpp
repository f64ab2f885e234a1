// Findings: what is wrong with a program, in a learner's words, with file and line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewise::sim {

struct Finding {
  std::string code;         ///< stable short name, e.g. "out-of-bounds"
  std::string message;      ///< one line in plain words
  const void* site = nullptr;  ///< code address; file and line are looked up when shown
  const void* other_site = nullptr;  ///< the second access of a race
  std::string threads;      ///< "block (0,0,0) thread (3,0,0)", empty for host findings
  std::uint64_t times = 1;  ///< how often the same thing happened at the same place
  std::size_t launch = 0;   ///< serial number of the launch, 0 for host findings
};

/// Records a finding made by host code; `call_site` is an address in the caller.
void report_finding(const char* code, const std::string& message, void* call_site);

/// Records a finding; one with the same code and sites only raises the count of the first.
void report_finding(Finding finding);

/// All findings so far, in order of first appearance.
const std::vector<Finding>& findings();

/// True when TILEWISE_FINDINGS=warn: findings are shown, the exit code stays.
bool findings_only_warn();

/// Forgets the findings from index `from` on (a test that expects them takes them back).
void forget_findings(std::size_t from);

}  // namespace tilewise::sim
