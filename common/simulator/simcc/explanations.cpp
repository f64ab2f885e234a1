#include "explanations.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "columns.hpp"

namespace tilewise::sim {
namespace {

/// What the compiler has put into quotes after `from`; g++ takes typographic ones where the locale has them.
std::string quoted(std::string line, std::size_t from = 0) {
  for (const char* quote : {"\u2018", "\u2019"}) {
    for (std::size_t at; (at = line.find(quote, from)) != std::string::npos;) line.replace(at, std::strlen(quote), "'");
  }
  const std::size_t open = line.find('\'', from), close = line.find('\'', open + 1);
  return open == std::string::npos || close == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
}

/// Whether CUDA, and who else but CUDA, may have such a name.
bool looks_like_cuda(std::string_view name) {
  static constexpr std::string_view kPrefixes[] = {
      "cuda",  "cublas",   "CUBLAS_",  "CUBLASLT_", "cusparse", "CUSPARSE_", "curand", "CURAND_",
      "cufft", "CUFFT_",   "cusolver", "CUSOLVER_", "cudnn",    "CUDNN_",    "nvrtc",  "NVRTC_",
      "nccl",  "nvml",     "nvtx",     "nvjpeg",    "npp",      "Npp",       "CUDA_",  "CU_",
      "__nv_", "CUdevice", "CUresult", "CUcontext", "CUmodule", "CUstream",  "CUevent"};
  for (std::string_view prefix : kPrefixes) {
    if (name.starts_with(prefix) && name.size() > prefix.size() - 1) return true;
  }
  const bool of_driver = name.size() > 3 && (name.starts_with("cu") || name.starts_with("CU"));
  return of_driver && (name[0] == 'c' ? std::isupper(static_cast<unsigned char>(name[2])) != 0
                                      : std::islower(static_cast<unsigned char>(name[2])) != 0);
}

/// How many characters of two names differ, at the least.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t before = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t same = before + (a[i - 1] != b[j - 1]);
      before = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, same});
    }
  }
  return row.back();
}

/// Whether the compiler says here that there is no such name.
bool says_unknown(std::string_view line) {
  static constexpr std::string_view kUnknown[] = {"was not declared",   "does not name a t", "has not been declared",
                                                  "is not a member of", "no member named",   "undeclared identifier",
                                                  "unknown type name",  "no template named", "no type named",
                                                  "has no member named"};
  return line.find(": error: ") != std::string_view::npos &&
         std::any_of(std::begin(kUnknown), std::end(kUnknown),
                     [&](std::string_view said) { return line.find(said) != std::string_view::npos; });
}

/// What is left of a name without what slips happen in.
std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (c != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

/// threadIdx and its kin, which host code doesn't have.
bool is_place_of_thread(std::string_view word) { return word.ends_with("Idx") || word.ends_with("Dim"); }

/// The word of CUDA that this one is meant to be, `blockdim`, `_global_`, `syncthreads`; else "". g++ doesn't know them all by their names.
std::string_view meant_word(const std::string& line) {
  static constexpr std::string_view kWords[] = {
      "threadIdx", "blockIdx",   "blockDim",     "gridDim",           "warpSize",      "__global__", "__device__",
      "__host__",  "__shared__", "__constant__", "__launch_bounds__", "__syncthreads", "__syncwarp", "__threadfence",
      "atomicAdd", "cudaMalloc", "cudaMemcpy",   "cudaFree",          "__restrict__",  "__managed__"};
  if (!says_unknown(line)) return {};
  const std::string name = quoted(line, line.find(": error: ")), letters = letters_of(name);
  constexpr std::size_t kLong = 7;  // with so many letters one may be wrong
  for (const std::string_view word : kWords) {
    if (distance(letters, letters_of(word)) > (letters.size() >= kLong ? 1 : 0)) continue;
    if (word.ends_with("__") && name.find('_') == std::string::npos)
      continue;  // `shared` may be a variable of one's own
    if (name == word && !is_place_of_thread(word)) return {};
    const std::size_t proposed = line.find("did you mean");
    return proposed != std::string::npos && quoted(line, proposed) == word ? std::string_view() : word;
  }
  return {};
}

/// The name in an error that says that there is none of the kind; empty for other errors, and where another name was meant.
std::string unknown_name(const std::string& line) {
  const std::size_t error = line.find(": error: ");
  if (!says_unknown(line)) return {};
  std::string name = quoted(line, error);
  if (const std::size_t colons = name.rfind("::"); colons != std::string::npos) name = name.substr(colons + 2);
  if (const std::size_t meant = line.find("did you mean"); meant != std::string::npos) {
    constexpr std::size_t kSlip = 2;
    if (distance(name, quoted(line, meant)) <= kSlip) return {};
  }
  const bool of_cub = quoted(line, line.find(" of ")) == "cub" || quoted(line, line.find("namespace ")) == "cub" ||
                      line.find("cub::") != std::string::npos;
  const bool of_group = line.find("cooperative_groups") != std::string::npos || quoted(line, line.find(" in ")) == "cg";
  return of_cub || of_group || looks_like_cuda(name) ? name : std::string{};
}

}  // namespace

void explain_missing_header(const std::string& messages) {
  // g++: `x.cu:1:10: fatal error: thrust/sort.h: No such file or directory`; clang: `... error: 'thrust/sort.h' file
  // not found`
  std::istringstream lines(messages);
  std::string line;
  while (std::getline(lines, line)) {
    std::size_t at = line.find("fatal error: ");
    if (at == std::string::npos) continue;
    std::string header = line.substr(at + 13);
    bool clang = !header.empty() && header[0] == '\'';
    header = clang ? header.substr(1, header.find('\'', 1) - 1) : header.substr(0, header.find(": "));
    static constexpr std::string_view kKnown[] = {"thrust/",
                                                  "cub/",
                                                  "cuda/",
                                                  "curand",
                                                  "mma.h",
                                                  "cufft",
                                                  "cusolver",
                                                  "cudnn",
                                                  "nccl",
                                                  "nvml",
                                                  "cutlass/",
                                                  "cute/",
                                                  "cooperative_groups/",
                                                  "cuda_gl_interop.h",
                                                  "nvrtc",
                                                  "cuda.h",
                                                  "nppi",
                                                  "npp",
                                                  "optix",
                                                  "cudaProfiler.h",
                                                  "nvtx3/",
                                                  "nvToolsExt",
                                                  "texture_"};
    for (std::string_view known : kKnown) {
      if (header.starts_with(known)) {
        std::cerr << "simcc: <" << header << "> is not supported by the simulator\n";
        break;
      }
    }
  }
}

void explain_missing_names(const std::string& messages) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> said;
  std::istringstream lines(messages);
  for (std::string line; said.size() < kMost && std::getline(lines, line);) {
    line = without_colours(line);
    const std::string_view word = meant_word(line);
    const std::string name = word.empty() ? unknown_name(line) : std::string(word);
    if (name.empty() || std::find(said.begin(), said.end(), name) != said.end()) continue;
    said.push_back(name);
    const std::string place = line.substr(0, line.find(": error: "));
    std::cerr << place.substr(0, place.rfind(':')) << ": error: "
              << (word.empty() ? "the simulator does not support " + name + ", if that is a name of CUDA's"
                  : quoted(line, line.find(": error: ")) == word ? name + " is known in device code only"
                                                                 : "CUDA's word is " + name)
              << "\n";
  }
}

}  // namespace tilewise::sim
