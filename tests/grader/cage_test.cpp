// The cage: each call that a submission has no business with is tried in it, as root and as another user, with namespaces
// and without.
#include "grader/cage.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "grader/enter_cage.hpp"
#include "grader/sandbox.hpp"

#ifdef __linux__

using namespace tilewise::grader;

namespace {

ChildResult probed() {
  return run_child({TILEWISE_PROBE}, {}, "", {.cpu_seconds = 5, .wall_seconds = 20, .cage = Cage::submission});
}

/// This test program again, with only the test cases of one tag.
int again(const std::string& how, const std::string& tag) {
  const std::string command = how + " " TILEWISE_CAGE_TESTS " '[" + tag + "]' >/dev/null 2>&1";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool can(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

}  // namespace

TEST_CASE("cage: every call that a submission does not need is refused", "[grader][probe]") {
  prepare_cage();
  if (system_call_filter().empty()) {
    CHECK_FALSE(isolation().holds);
    CHECK(isolation().text == "not isolated: use a container");
    return;
  }
  REQUIRE(isolation().holds);
  const ChildResult child = probed();
  INFO(child.output);
  REQUIRE(child.code == 0);
  std::istringstream lines(child.output);
  int refused = 0;
  for (std::string line; std::getline(lines, line);) {
    CHECK(line.find("DONE") == std::string::npos);
    refused += line.rfind("refused ", 0) == 0;
  }
  CHECK(refused >= 90);
  CHECK(child.output.find("\nworks\n") != std::string::npos);
  // Nothing to read, what it prints, the request, the memory of its reply, the questions.
  CHECK(child.output.find("\n6 descriptors\n") != std::string::npos);
}

TEST_CASE("cage: a program that cannot enter it does not run", "[grader]") {
  CHECK(enter_cage(nullptr, 0) == Entered::no);
  // A request whose filter is none: its instructions have no meaning.
  const ChildResult child =
      run_child({TILEWISE_PROBE}, {}, "", {.cpu_seconds = 5, .wall_seconds = 20, .cage = Cage::open});
  CHECK(child.code == kNotCaged);
  CHECK(child.output.empty());
}

TEST_CASE("cage: it holds for another user, too, and where there are no namespaces", "[grader]") {
  if (system_call_filter().empty()) return;
  int tried = 0;
  if (const std::string nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups";
      can(nobody + " test -x " TILEWISE_CAGE_TESTS)) {
    CHECK(again(nobody, "probe") == 0);
    ++tried;
  }
  // A system that gives nobody a namespace: system calls and Landlock are left.
  const std::string none =
      "unshare --user --map-root-user sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && \"$@\"' -";
  if (can(none + " true")) {
    CHECK(again(none, "probe") == 0);
    ++tried;
  }
  WARN(tried << " of 2 other ways could be tried");
}

TEST_CASE("cage: what it says holds is what holds", "[grader]") {
  prepare_cage();
  if (!isolation().holds) return;
  CHECK(isolation().text.find("only harmless system calls (seccomp)") == 0);
}

#endif
