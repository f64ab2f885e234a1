// The program that leaves a barrier out, and the page that shows what the simulator says about it.
#define main missing_barrier_main
#include "missing_barrier.cu"
#undef main

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "simulator/expected_findings.hpp"

namespace {

/// What is written to stdout and stderr while `call` runs.
template <class F>
std::string output_of(F&& call) {
  std::fflush(nullptr);
  std::FILE* file = std::tmpfile();
  const int out = dup(1), err = dup(2);
  dup2(fileno(file), 1);
  dup2(fileno(file), 2);
  call();
  std::fflush(nullptr);
  dup2(out, 1);
  dup2(err, 2);
  close(out);
  close(err);
  std::rewind(file);
  std::string text;
  for (int c; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

int run(const char* without) {
  char program[] = "missing_barrier";
  std::string word = without;
  char* argv[] = {program, word.data(), nullptr};
  return missing_barrier_main(2, argv);
}

}  // namespace

TEST_CASE("with both barriers the program is right and says so", "[barriers]") {
  const ExpectedFindings findings;
  int code = -1;
  const std::string said = output_of([&] { code = run("none"); });
  INFO(said);
  CHECK(code == 0);
  CHECK(said == "without barrier: none; 0 of 4096 elements are wrong\n");
#ifdef TILEWISE_SIMULATOR
  CHECK(findings.count() == 0);
#endif
}

TEST_CASE("a barrier that there is none of is refused", "[barriers]") {
  CHECK(run("foo") == 2);
  CHECK(run("") == 2);
}

#ifdef TILEWISE_SIMULATOR

TEST_CASE("the page shows what the simulator says about a missing barrier", "[barriers]") {
  std::ifstream file(std::string(TILEWISE_SOURCE_DIR) + "/chapters/02_tiled_matmul/README.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  REQUIRE(!page.empty());
  for (const char* without : {"first", "second"}) {
    const ExpectedFindings findings;
    int code = -1;
    const std::string said = output_of([&] { code = run(without); });
    CHECK(code == 1);  // wrong elements
    CHECK(findings.count() == 2);
    // The compiler may have been told another way to the same file.
    const std::string shown = std::regex_replace(said, std::regex("[^ \n]*missing_barrier\\.cu"),
                                                 "chapters/02_tiled_matmul/missing_barrier.cu");
    std::istringstream lines(shown);
    int number = 0;
    for (std::string line; std::getline(lines, line); ++number) {
      INFO("the page lacks this line: " << line);
      CHECK(page.find("\n" + line + "\n") != std::string::npos);
    }
    CHECK(number == 5);  // two findings of two lines, and the program's own
  }
}

#endif
