#include "learn/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>

namespace tilewise::learn {

namespace fs = std::filesystem;

std::string as_learners_say(std::string message) {
  static const std::regex folder(R"([^\s(]*/([^/\s:]+:\d+))"), index(R"(\[(\d{1,3}(?:,\d{3})+)\])");
  message = std::regex_replace(message, folder, "$1");
  for (std::smatch m; std::regex_search(message, m, index);) {
    std::string digits = m[1];
    std::erase(digits, ',');
    message = m.prefix().str() + "[" + digits + "]" + m.suffix().str();
  }
  return message;
}

std::vector<Finding> all_findings(const Json& report) {
  std::vector<Finding> found;
  for (const Json& launch : report) {
    for (const Json& f : launch.value("findings", Json::array())) {
      const std::string signature = launch.value("kernel", "");
      found.push_back({f.value("kind", ""), fs::path(f.value("file", "")).filename().string(),
                       as_learners_say(f.value("message", "")), f.value("threads", ""),
                       signature.substr(0, signature.find('(')), f.value("line", 0), f.value("other_line", 0),
                       f.value("times", 1L), f.value("note", false)});
    }
  }
  return found;
}

std::optional<Finding> first_finding(const Json& report) {
  std::vector<Finding> found = all_findings(report);
  std::erase_if(found, [](const Finding& f) { return f.note || f.kind == "leak"; });
  if (found.empty()) return std::nullopt;
  for (const char* cause : {"out-of-bounds", "divergent-barrier"}) {  // races may come of these
    const auto first =
        std::find_if(found.begin(), found.end(), [=](const Finding& f) { return f.kind.starts_with(cause); });
    if (first != found.end()) return *first;
  }
  // Of one forgotten barrier, that of the block is the whole cure.
  const auto race = std::find_if(found.begin(), found.end(), [](const Finding& f) { return f.kind == "race-shared"; });
  return found.front().kind == "warp-synchronous" && race != found.end() ? *race : found.front();
}

std::string advice_for(const std::string& kind) {
  static const std::map<std::string, std::string> advice{
      {"out-of-bounds", "Which threads have an index that the array does not have?"},
      {"out-of-bounds-shared", "Which index is that, and how many elements does the array have?"},
      {"out-of-bounds-local", "How many elements does the array have, and how far does the loop go?"},
      {"uninitialised", "That element was read before anything was written to it: cudaMalloc does not clear memory."},
      {"uninitialised-shared", "Shared memory starts with no values in each block: who writes that element?"},
      {"race-shared", "One of the two comes first, and it is chance which. It may look right on a GPU for years."},
      {"race-global", "One of the two comes first, and it is chance which. It may look right on a GPU for years."},
      {"warp-synchronous",
       "Threads of a warp may run apart from each other; only __syncwarp() and shuffles make them "
       "meet."},
      {"divergent-barrier", "All threads of a block have to come to the same __syncthreads()."},
      {"host-pointer", "A kernel can only use memory of the GPU: cudaMalloc makes it, cudaMemcpy fills it."},
      {"host-access", "The CPU cannot use memory of the GPU: cudaMemcpy brings it over."},
      {"misaligned", "Whatever a thread moves at once has to begin at a multiple of its size."},
  };
  const auto found = advice.find(kind);
  return found == advice.end() ? "" : found->second;
}

}  // namespace tilewise::learn
