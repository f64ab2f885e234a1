/// @file
/// What a submission's program leaves behind besides its results, as text for people: what it printed, and why it ended.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tilewise::grader {

/// What the program printed, for a verdict: "it printed:" and the first lines; nothing where it printed nothing. `file`: the
/// submission, whose folder is left out.
std::vector<std::string> shown_output(const std::string& output, const std::string& file);

/// "homework.cu:12: race-shared: this thread ...": a finding of a report. And with its source line, where that is the
/// submission's.
std::string finding_text(const nlohmann::ordered_json& finding, const std::string& file);
std::vector<std::string> finding_lines(const nlohmann::ordered_json& finding, const std::string& file);

/// Why a program ended before its result was there.
struct EarlyEnd {
  std::string code;                ///< of the finding that ended it; "": it isn't known
  std::string what;                ///< "homework.cu:12: host-access: ..."
  std::vector<std::string> notes;  ///< its source line, and what may help; or the last finding before the end
};

/// `report`: the program's, as text. `frames`: bytes of large functions' local variables (CompilerWarnings::frames).
EarlyEnd early_end_of(const std::string& report, const std::string& file, const std::map<std::string, long>& frames);

}  // namespace tilewise::grader
