// What the simulator counts belongs to the program, and not to the compiler behind simcc: the chapters' kernels,
// compiled by g++ and by clang++, without and with optimisation of the host's code, must give the same report in every
// byte. tests/checks/check-compilers.sh does this with the lesson programs themselves.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "catch.hpp"

namespace {

namespace fs = std::filesystem;

bool runs(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

std::string text_of(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Where two texts part, with the line that comes before in both.
std::string first_difference(const std::string& one, const std::string& other) {
  std::istringstream a(one), b(other);
  std::string before, in_a, in_b;
  for (int line = 1;; ++line) {
    const bool more_a = static_cast<bool>(std::getline(a, in_a)), more_b = static_cast<bool>(std::getline(b, in_b));
    if (!more_a && !more_b) return "";
    if (more_a != more_b || in_a != in_b)
      return "line " + std::to_string(line) + ", after " + before + ": " + (more_a ? in_a : "the end") + ", and " +
             (more_b ? in_b : "the end");
    before = in_a;
  }
}

}  // namespace

TEST_CASE("reports are the same with g++ and clang++, and in every run", "[.all][compilers]") {
  for (const std::string compiler : {"g++", "clang++"}) {
    if (runs("command -v " + compiler)) continue;
    WARN(compiler << " is not here: the compilers are not compared");
    return;
  }
  const fs::path folder = fs::temp_directory_path() / ("tilewise_compilers_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const std::string chapters = std::string(TILEWISE_SOURCE_DIR) + "/chapters";
  const fs::path sources = std::string(TILEWISE_SOURCE_DIR) + "/tests/simulator/compilers";
  std::set<std::string> programs;  // by name, so that runs are alike
  for (const auto& file : fs::directory_iterator(sources))
    if (file.path().extension() == ".cu") programs.insert(file.path().stem().string());
  REQUIRE(!programs.empty());
  for (const std::string& program : programs) {
    const std::string source = (sources / (program + ".cu")).string();
    std::string first;
    for (const std::string version : {"--cxx=g++ -O0", "--cxx=clang++ -O2"}) {
      const std::string app = "'" + (folder / "app").string() + "'", report = (folder / "report.json").string();
      REQUIRE(runs(std::string(TILEWISE_SIMCC) + " " + version + " '" + source + "' -I'" + chapters + "' -o " + app));
      for (int run = 1; run <= 2; ++run) {
        INFO(program << ", " << version << ", run " << run);
        REQUIRE(runs("env -u TILEWISE_FINDINGS TILEWISE_COUNT=1 TILEWISE_REPORT='" + report + "' " + app));
        const std::string text = text_of(report);
        if (first.empty()) first = text;
        REQUIRE(text.find("\"kernel\"") != std::string::npos);
        CHECK(first_difference(first, text) == "");
      }
    }
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}
