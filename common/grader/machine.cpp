#include "machine.hpp"

#include <cstring>
#include <filesystem>
#include <sstream>

#include "case.hpp"
#include "counts.hpp"
#include "enter_cage.hpp"
#include "explain.hpp"
#include "grader.hpp"

namespace tilewise::grader {

std::string SourceLines::answer(const std::string& question) {
  const std::lock_guard lock(mutex_);
  if (const auto known = answers_.find(question); known != answers_.end()) return known->second;
  if (answers_.size() > 1000) return "";
  return answers_[question] = find(question);
}

std::string SourceLines::find(const std::string& question) const {
  std::istringstream words(question);
  std::string kind, word;
  words >> kind;
  if (kind == "lines") {
    std::vector<std::string> command{"addr2line", "-a", "-i", "-e", program_};
    while (words >> word && command.size() < 1010) {
      if (word.size() > 18 || !word.starts_with("0x") ||
          word.find_first_not_of("0123456789abcdef", 2) != std::string::npos)
        return "";
      command.push_back(word);
    }
    return run_tool(command).output;
  }
  int line = 0;
  if (kind != "text" || !(words >> line >> std::ws) || !std::getline(words, word)) return "";
  std::error_code none;
  return std::filesystem::equivalent(word, file_, none) ? source_line(file_, line) : "";
}

ChildResult Machine::run(const Request& request, const Problem& p, int seconds, Environment more) const {
  return run(message_of(request, p), reply_size(p), seconds, std::move(more));
}

ChildResult Machine::run(const std::string& message, std::size_t reply, int seconds, Environment more) const {
  constexpr std::size_t kMostReport = std::size_t{32} << 20;
  constexpr const char* kPolls = "250000";  // cases are small: so a deadlock is found in tenths of a second
  more.insert(more.end(), {{"PATH", "/usr/bin:/bin"},
                           {"LC_ALL", "C"},
                           {"TILEWISE_POLLS", kPolls},
                           {"TILEWISE_SECONDS", std::to_string(seconds)}});
  Request request;
  std::memcpy(&request, message.data(), sizeof request);
  if (request.all_devices() > 1) more.emplace_back("TILEWISE_DEVICES", std::to_string(request.all_devices()));
  ChildLimits limits{.cpu_seconds = seconds + 1,       // first it says itself where it is
                     .wall_seconds = 6 * seconds + 6,  // others may use the machine, too
                     .cage = cage,
                     .reply = reply + kMostReport,
                     .answer = [this](const std::string& question) { return lines->answer(question); }};
  if (gpu) limits = gpu->limits(seconds);
  const ChildResult child = run_child({program}, gpu ? gpu->environment() : more, message, limits);
  if (child.code == kNotCaged) throw NotGraded("a submission's program could not enter its cage");
  if (child.code == 127) throw NotGraded("a submission's program could not be started: " + program);
  return child;
}

}  // namespace tilewise::grader
