#include "learn/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>

namespace tilewise::learn {

namespace {

/// Paths become names: the file is the learner's, wherever it was compiled.
std::string without_folders(const std::string& message) {
  static const std::regex folder(R"([^\s(]*/([^/\s:]+:\d+))");
  return std::regex_replace(message, folder, "$1");
}

}  // namespace

std::vector<Finding> all_findings(const Json& report) {
  std::vector<Finding> found;
  for (const Json& launch : report) {
    for (const Json& f : launch.value("findings", Json::array())) {
      const std::string signature = launch.value("kernel", "");
      found.push_back({f.value("kind", ""), without_folders(f.value("message", "")), f.value("threads", ""),
                       signature.substr(0, signature.find('(')), f.value("line", 0), f.value("other_line", 0),
                       f.value("times", 1L)});
    }
  }
  return found;
}

std::optional<Finding> first_finding(const Json& report) {
  std::vector<Finding> found = all_findings(report);
  std::erase_if(found, [](const Finding& f) { return f.kind == "leak"; });
  if (found.empty()) return std::nullopt;
  const auto outside = std::find_if(found.begin(), found.end(), [](const Finding& f) {
    return f.kind.compare(0, 13, "out-of-bounds") == 0;
  });
  return outside == found.end() ? found.front() : *outside;
}

std::string advice_for(const std::string& kind) {
  static const std::map<std::string, std::string> advice{
      {"out-of-bounds", "Which threads have an index that the array does not have?"},
      {"out-of-bounds-shared", "Which index is that, and how many elements does the array have?"},
      {"out-of-bounds-local", "How many elements does the array have, and how far does the loop go?"},
      {"uninitialised", "Nobody wrote that element before it was read: cudaMalloc does not clear memory."},
      {"uninitialised-shared", "Shared memory starts with no values in each block: who writes that element?"},
      {"race-shared",
       "One of the two comes first, and it is chance which. It may look right on a GPU for years."},
      {"race-global", "One of the two comes first, and it is chance which. It may look right on a GPU for years."},
      {"warp-synchronous", "Threads of a warp may run apart from each other; only __syncwarp() and shuffles make them "
                           "meet."},
      {"divergent-barrier", "All threads of a block have to come to the same __syncthreads()."},
      {"host-pointer", "A kernel can only use memory of the GPU: cudaMalloc makes it, cudaMemcpy fills it."},
      {"host-access", "The CPU cannot use memory of the GPU: cudaMemcpy brings it over."},
      {"misaligned", "A vector of 8 or 16 bytes has to begin at a multiple of its size."},
  };
  const auto found = advice.find(kind);
  return found == advice.end() ? "" : found->second;
}

}  // namespace tilewise::learn
