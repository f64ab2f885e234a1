// Puzzles of their own in a temporary folder, for the tests of `learn`.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "catch.hpp"
#include "grader/tools.hpp"
#include "learn/bank.hpp"
#include "learn/course.hpp"
#include "learn/judge.hpp"

namespace learn_test {

namespace fs = std::filesystem;
using namespace tilewise::learn;

/// A repository of puzzles, removed at the end.
class Repository {
 public:
  Repository() {
    std::string pattern = (fs::temp_directory_path() / "learn-test-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
  }
  ~Repository() {
    std::error_code none;
    fs::remove_all(root_, none);
  }
  Repository(const Repository&) = delete;
  Repository& operator=(const Repository&) = delete;

  const fs::path& root() const { return root_; }

  /// tests/00_first/puzzles/`name`.cu, and its copy in chapters/.
  fs::path add(const std::string& name, const std::string& text, const std::string& chapter = "00_first") const {
    const fs::path original = root_ / "tests" / chapter / "puzzles" / (name + ".cu");
    write(original, text);
    write(root_ / "chapters" / chapter / "puzzles" / (name + ".cu"), text);
    return original;
  }
  static void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }

 private:
  fs::path root_;
};

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  if (at == std::string::npos) throw std::logic_error("there is no " + what);
  return text.replace(at, what.size(), by);
}

/// A puzzle with a guard to write. `kernel` is what stands at its place, `end` what follows the check.
inline std::string puzzle_text(const std::string& kernel = "  out[i] = in[i] + 1;  // TODO\n",
                               const std::string& end = "") {
  return R"(// The guard
//
// Goal: Add one to each of n numbers. Threads
// without a number go home.
#include "tilewise/puzzle.hpp"

__global__ void add_one(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
)" + kernel +
         R"(}

void launch(const float* in, float* out, int n) { add_one<<<(n + 31) / 32, 32>>>(in, out, n); }

// ---- The check. Leave what follows as it is. ----

int main() {
  const int n = 40;
  const std::vector<float> in = puzzle::values(n);
  const puzzle::Array<float> d_in("in", in), d_out("out", n);
  puzzle::count_from_here();
  launch(d_in.data(), d_out.data(), n);
  puzzle::expect("out", "n = 40", d_out.host(), [&](std::size_t i) { return in[i] + 1; });
  return puzzle::solved();
}

// Kind: write
// Minutes: 2
// Hint: one
// Hint: two, which
//   goes on
// Hint: three
// Notice: 24 threads did nothing.
)" + end;
}

inline const std::string kRight = "  if (i < n) out[i] = in[i] + 1;\n";

}  // namespace learn_test
