// What can only be said when a program ends: launches that failed unnoticed, output that was lost, memory that was never freed.
// The end itself needs no call: its exit code says whether there were findings.
#pragma once

#include <string>

struct CUstream_st;

namespace tilewise::sim {

/// Makes a finding of work on another stream than demand_stream() asks for. `work` begins the sentence: "this launch".
void check_demanded_stream(const char* work, const char* cure, CUstream_st* stream, void* call_site);

/// A launch failed without a finding. Reported at the end of the program, unless a call returns an error until then. `cure` goes on with
/// the sentence.
void launch_failed(int error, const void* call_site, const std::string& cure = "");
void launch_error_seen();

/// The running launch prints. What it prints is lost if the program ends before the host has waited.
void launch_prints();

}  // namespace tilewise::sim
