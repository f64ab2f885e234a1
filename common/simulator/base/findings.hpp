// Findings: what is wrong with a program, in a learner's words, with file and line. docs/findings.md lists them all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewise::sim {

struct Lane;

struct Finding {
  std::string code;                  ///< stable short name, e.g. "out-of-bounds"
  std::string message;               ///< one line in plain words
  const void* site = nullptr;        ///< code address; file and line are looked up when shown
  const void* other_site = nullptr;  ///< the second access of a race
  std::string threads;               ///< "block (0,0,0), thread (3,0,0)", empty for host findings
  std::uint64_t times = 1;           ///< how often the same thing happened at the same place
  std::size_t launch = 0;            ///< serial number of the launch, 0 for host findings
  std::size_t after_launch = 0;      ///< of a host finding: the last launch before it
  const void* kernel = nullptr;      ///< code of the kernel
  std::string advice;                ///< what cures a race; becomes part of the message when it is shown
  int weight = 0;                    ///< of several races between two lines, the advice of the heaviest holds
  bool note = false;                 ///< worth knowing, but no reason for the program to fail
  bool between_blocks = false;       ///< a race that has been seen between blocks, too: no barrier of a block cures it
};

/// What this thread of the running launch does wrong at `site`.
Finding finding_of(const char* code, std::string message, const Lane& lane, const void* site);

/// Records that, where the launch is checked, and ends the launch with the error, a cudaError_t.
[[noreturn]] void end_launch_for(const char* code, std::string message, const Lane& lane, const void* site, int error);

/// Records a finding made by host code; `call_site` is an address in the caller.
void report_finding(const char* code, const std::string& message, void* call_site);

/// Records a finding; one with the same code and lines only raises the count of the first. A finding of a kernel is
/// shown when its launch has ended, with the count.
void report_finding(Finding finding);

/// Whether there is a finding of this kind at these places already, so that another needs no message; then it is counted
/// once more.
bool report_again(const char* code, const void* site, const void* other_site = nullptr);
/// The finding of this kind at these places; nullptr: there is none.
Finding* known_finding(const char* code, const void* site, const void* other_site);

/// Shows what has not been shown yet: the launch has ended, or the program is about to.
void show_findings();

/// All findings so far, in order of first appearance.
const std::vector<Finding>& findings();

/// How often report_finding() was called: tells whether a launch had findings, new or known ones.
std::uint64_t reports_made();
/// And for how many of these a message was made, which costs far more than an access: for few, where one happens again and again.
std::uint64_t messages_made();

/// From here on findings are in the report only: for who shows them in another way.
void show_no_findings();

/// Whether findings are in the report only.
bool shows_no_findings();

/// TILEWISE_FINDINGS=strict; off.
bool findings_are_strict();
bool findings_are_off();

/// True when TILEWISE_FINDINGS=warn: findings are shown, the exit code stays.
bool findings_only_warn();

/// Forgets the findings from index `from` on (a test that expects them takes them back).
void forget_findings(std::size_t from);

/// 12345678 as "12,345,678".
std::string grouped_digits(std::uint64_t n);

}  // namespace tilewise::sim
