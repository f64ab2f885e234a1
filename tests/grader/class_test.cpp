// bin/grade as instructors call it: a folder of submissions, and options that make no sense.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "catch.hpp"

namespace {

namespace fs = std::filesystem;

const std::string kHomework = TILEWISE_SOURCE_DIR "/tests/02_tiled_matmul/homework/";

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("class test " + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code none;
    fs::remove_all(path_, none);
  }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string read(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

struct Outcome {
  int code;
  std::string text;
};

Outcome grade(const Folder& folder, const std::string& arguments) {
  const std::string log = (folder / "log.txt").string();
  const int status = std::system((TILEWISE_GRADE " " + arguments + " > '" + log + "' 2>&1").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(log)};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("grade --class: a line for everybody, whatever they have handed in", "[grader]") {
  const Folder folder;
  const fs::path all = folder / "all";
  for (const char* student : {"ann", "dan", "fay"}) fs::create_directories(all / student);
  fs::copy_file(kHomework + "solution.cu", all / "ann" / "homework.cu");
  fs::copy_file(kHomework + "wrong/at_b_syntax.cu", all / "bob.cu");
  fs::copy_file(kHomework + "hostile/forks.cu", all / "=carl, the 1st.cu");
  fs::create_symlink(all / "ann" / "homework.cu", all / "eve.cu");
  REQUIRE(mkfifo((all / "fay" / "homework.cu").c_str(), 0600) == 0);
  std::ofstream(all / "notes.txt") << "not a submission";

  const std::string csv = (folder / "table.csv").string();
  const Outcome o = grade(folder, "02 --class '" + all.string() + "' --csv '" + csv + "'");
  INFO(o.text);
  CHECK(o.code == 1);  // not all could be graded
  CHECK(has(o.text, "6 submissions, 3 graded, mean 33.3"));
  const std::string table = read(csv);
  INFO(table);
  CHECK(has(table, "student,score,moving_sum,matmul_at_b,matmul_a_bt,remark\r\n"));
  CHECK(has(table, "\r\nann,100.0,100.0,100.0,100.0,\r\n"));
  CHECK(has(table, "\r\nbob,0.0,0.0,0.0,0.0,\"does not compile: "));
  CHECK(has(table, "\"'=carl, the 1st\",0.0,0.0,0.0,0.0,refused: #include <"));
  CHECK(has(table, "\r\ndan,,,,,there is no homework.cu\r\n"));
  CHECK(has(table, "\r\neve,,,,,\"a link, not a file\"\r\n"));
  CHECK(has(table, "\r\nfay,,,,,not a file\r\n"));
}

TEST_CASE("grade: what makes no sense ends with 2 and is named", "[grader]") {
  const Folder folder;
  const auto refused = [&](const std::string& arguments, const std::string& phrase) {
    const Outcome o = grade(folder, arguments);
    INFO(arguments << "\n" << o.text);
    CHECK(o.code == 2);
    CHECK(has(o.text, phrase));
  };
  refused("02 --jobs 0", "--jobs: Value 0 not in range");  // CLI11 2.1 goes on: 1 to 64; 2.4: [1 - 64]
  refused("02 --jobs 65", "--jobs");
  refused("02 --jobs two", "--jobs");
  refused("02 --task nothing", "--task: chapter 02_tiled_matmul has no task nothing, but moving_sum");
  refused("02 --csv x", "--csv needs --class");
  refused("02 --class /nowhere", "--class: there is no folder /nowhere");
  refused("02 --class '" + (folder / "").string() + "'", "neither STUDENT/homework.cu nor STUDENT.cu");
  refused("02 --class . --json x", "--class");
  for (const char* option : {"--json", "--gradescope", "--csv"})  // said before minutes of grading, not after them
    refused(std::string("02 ") + option + " /nowhere/x", std::string(option) + ": '/nowhere/x' cannot be written");
  refused("99", "there is no homework for chapter 99");
  refused("02 --file /nowhere.cu", "there is no file /nowhere.cu");
  refused("02 --nonsense", "--nonsense");
}
