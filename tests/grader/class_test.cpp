// bin/grade as instructors call it: a folder of submissions, and options that make no sense.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "catch.hpp"
#include "text.hpp"

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

struct Outcome {
  int code;
  std::string text;
};

Outcome grade(const Folder& folder, const std::string& arguments, const std::string& before = "") {
  const std::string log = (folder / "log.txt").string();
  const int status = std::system((before + " " TILEWISE_GRADE " " + arguments + " > '" + log + "' 2>&1").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(log)};
}

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
  CHECK(has(table, "\r\ndan,,,,,there is no homework.cu: the folder is empty\r\n"));
  CHECK(has(table, "\r\neve,,,,,\"a link, not a file\"\r\n"));
  CHECK(has(table, "\r\nfay,,,,,not a file\r\n"));
  CHECK(has(o.text, "\nnot taken for submissions: notes.txt\n"));
}

TEST_CASE("grade --class: what has another name than it should is graded, or has a line that says so", "[grader]") {
  const Folder folder;
  const fs::path all = folder / "all";
  for (const char* made : {"ann/src", "two", "zip", "__MACOSX"}) fs::create_directories(all / made);
  const std::string broken = kHomework + "wrong/at_b_syntax.cu";
  fs::copy_file(broken, all / "ann" / "src" / "my homework.cu");
  fs::copy_file(broken, all / "ann" / "src" / "._my homework.cu");
  for (const char* copy : {"bob.CU", "eve.cpp", "x.zip", "two/a.cu", "two/b.cu"}) fs::copy_file(broken, all / copy);
  for (const char* other : {"a.zip", "b.pdf", "homework.CU", "z"}) std::ofstream(all / "zip" / other) << "?";
  fs::create_symlink(kHomework + "solution.cu", all / "zip" / "c.cu");

  const std::string csv = (all / "table.csv").string();
  const std::string arguments = "02 --class '" + all.string() + "' --csv '" + csv + "'";
  for (int run = 1; run <= 2; ++run) {  // the second time with the first one's table there
    const Outcome o = grade(folder, arguments);
    INFO(o.text);
    CHECK(o.code == 1);
    CHECK(has(o.text, "6 submissions, 1 graded, mean 0.0\n"));
    CHECK_FALSE(has(o.text, "not taken for submissions"));
    const std::string table = read(csv);
    INFO(table);
    CHECK(has(table, "\r\nann,0.0,0.0,0.0,0.0,\"does not compile: "));
    CHECK(has(table, "\r\nbob,,,,,\"there is bob.CU, where bob.cu or bob/homework.cu is expected\"\r\n"));
    CHECK(has(table, "\r\neve,,,,,\"there is eve.cpp, where "));
    CHECK(has(table, "\r\nx,,,,,\"there is x.zip, where "));
    CHECK(has(table, "\r\ntwo,,,,,\"there is no homework.cu but a.cu, b.cu: one .cu file is expected\"\r\n"));
    CHECK(has(table,
              "\r\nzip,,,,,\"there is no homework.cu and no other .cu file but a.zip, b.pdf, c.cu (a link) and 2 "
              "more\"\r\n"));
  }

  // A mean of nobody is none.
  for (const char* name : {"ann", "two", "zip", "bob.CU", "eve.cpp", "table.csv"}) fs::remove_all(all / name);
  const Outcome nobody = grade(folder, "02 --class '" + all.string() + "'");
  CHECK(nobody.code == 1);
  CHECK(has(nobody.text, "\n1 submission, 0 graded\n"));
}

TEST_CASE("grade --class: who gets no points is told why", "[grader]") {
  const Folder folder;
  const fs::path all = folder / "all";
  fs::create_directories(all);
  const std::string function = "(const float* x, float* y, int n, cudaStream_t stream) { return cudaSuccess; }\n";
  std::ofstream(all / "ann.cu") << "\n \n";
  std::ofstream(all / "bob.cu") << "void other() {}\n";
  std::ofstream(all / "carl.cu") << "#include \"homework.cuh\"\ncudaError_t lanch_moving_sum" << function;
  const Outcome o = grade(folder, "02 --class '" + all.string() + "'");
  INFO(o.text);
  CHECK(o.code == 0);  // all were graded
  CHECK(has(o.text, "  the file is empty\n"));
  CHECK(has(o.text, "it has none of the functions that homework.cuh asks for: the contract wants launch_moving_sum("));
  CHECK(has(o.text, "asks for: you wrote lanch_moving_sum (line 2); the contract wants launch_moving_sum"));
}

TEST_CASE("grade --task: the verdict says that the other tasks were not graded", "[grader]") {
  const Folder folder;
  const fs::path json = folder / "verdict.json", gradescope = folder / "results.json";
  const std::string outputs = " --json '" + json.string() + "' --gradescope '" + gradescope.string() + "'";
  const Outcome one = grade(folder, "02 --task moving_sum --file '" + kHomework + "solution.cu'" + outputs);
  INFO(one.text);
  CHECK(one.code == 0);
  CHECK(has(one.text, "  moving_sum                100 of 100  counts  20 %\n"));
  CHECK(has(one.text, "  homework 02               100 of 100   task moving_sum alone   ("));
  CHECK(has(read(json), "\"only_task\": \"moving_sum\""));
  CHECK(has(read(gradescope), "\"output\": \"Task moving_sum alone was graded.\\n"));
  const Outcome all = grade(folder, "02 --file '" + kHomework + "wrong/at_b_syntax.cu'" + outputs);
  CHECK_FALSE(has(all.text, " alone"));
  CHECK_FALSE(has(read(json), "only_task"));
  CHECK_FALSE(has(read(gradescope), " alone"));
}

TEST_CASE("grade --class: names that make trouble, links, and a file for each student", "[grader]") {
  const Folder folder;
  const fs::path all = folder / "all";
  fs::create_directories(all / "twin");
  fs::create_directories(folder / "elsewhere");
  const std::string starter = TILEWISE_SOURCE_DIR "/tests/02_tiled_matmul/homework/wrong/at_b_syntax.cu";
  std::vector<std::string> names{"new\nline",   "esc\x1b[2J", "quote\"s",   "it's $(touch x)",
                                 "back\\slash", "-file",      "Zo\xc3\xab", "\xff"};
  for (const std::string& name : names) fs::copy_file(starter, all / (name + ".cu"));
  fs::copy_file(starter, all / "twin.cu");
  fs::copy_file(starter, all / "twin" / "homework.cu");
  fs::copy_file(starter, folder / "elsewhere" / "homework.cu");
  fs::create_directory_symlink(folder / "elsewhere", all / "linked");

  const std::string csv = (folder / "table.csv").string();
  const fs::path feedback = folder / "told";
  const Outcome o =
      grade(folder, "02 --class '" + all.string() + "' --csv '" + csv + "' --feedback '" + feedback.string() + "'");
  INFO(o.text);
  CHECK(o.code == 1);  // the link
  CHECK(has(o.text, "11 submissions, 10 graded, mean 0.0"));
  CHECK(o.text.find('\x1b') == std::string::npos);
  CHECK(has(o.text, "linked"));
  const std::string table = read(csv);
  INFO(table);
  CHECK(table.find('\x1b') == std::string::npos);
  CHECK(has(table, "\r\nlinked,,,,,\"a link, not a folder\"\r\n"));
  CHECK(has(table, "\r\nnew\\nline,0.0,"));
  CHECK(has(table, "\r\nesc\\x1b[2J,0.0,"));
  CHECK(has(table, "\r\n\"quote\"\"s\",0.0,"));
  CHECK(has(table, "\r\n'-file,0.0,"));
  CHECK(has(table, "\r\n\\xff,0.0,"));
  CHECK(has(table, "\r\ntwin.cu,0.0,"));
  CHECK(has(table, "\r\ntwin/,0.0,"));
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(feedback)) {
    ++files;
    INFO(entry.path());
    const std::string text = read(entry.path());
    if (entry.path().filename() == "linked.txt")
      CHECK(has(text, "a link, not a folder"));
    else
      CHECK(has(text, "homework.cu:"));
    CHECK_FALSE(has(text, "tilewise-grade-"));  // nobody's folder but the grader's
  }
  CHECK(files == 11);
  for (const char* name : {"esc_x1b[2J.txt", "twin.txt", "twin.cu.txt", "quote_s.txt"}) {
    INFO(name);
    CHECK(fs::exists(feedback / name));
  }
}

TEST_CASE("grade --part and --merge: the same table as at once, however the class is divided", "[grader]") {
  const Folder folder;
  const fs::path all = folder / "all", parts = folder / "parts";
  fs::create_directories(all / "dan");
  fs::copy_file(kHomework + "solution.cu", all / "ann.cu");
  fs::copy_file(kHomework + "wrong/at_b_syntax.cu", all / "\xff, the 2nd.cu");
  fs::copy_file(kHomework + "hostile/forks.cu", all / "carl.cu");
  const std::string what = "02 --class '" + all.string() + "' ", to = "--parts '" + parts.string() + "' ";
  const auto table = [&](const std::string& name) { return (folder / name).string(); };
  const auto option = [&](const std::string& name) { return "--csv '" + table(name) + "' "; };
  CHECK(grade(folder, what + option("at-once.csv") + "--jobs 2").code == 1);
  for (const char* part : {"1/5", "2/5", "4/5", "5/5"}) {  // the fifth has nothing to do
    const Outcome o = grade(folder, what + to + "--part " + part);
    INFO(o.text);
    CHECK(o.code <= 1);
    CHECK(has(o.text, part[0] == '5' ? "0 submissions, 0 graded\n" : "1 submission, "));
  }
  // A part that has not come is nobody's fault.
  const Outcome early = grade(folder, what + to + "--merge " + option("early.csv"));
  INFO(early.text);
  CHECK(early.code == 3);
  CHECK(has(read(table("early.csv")), "\r\ndan,,,,,not graded: missing: part 3 of 5\r\n"));
  CHECK(grade(folder, what + to + "--part 3/5").code == 1);
  const Outcome merged =
      grade(folder, what + to + "--merge " + option("merged.csv") + "--feedback '" + (folder / "told").string() + "'");
  INFO(merged.text);
  CHECK(merged.code == 1);
  CHECK(read(table("merged.csv")) == read(table("at-once.csv")));
  CHECK(has(read(folder / "told" / "carl.txt"), "#include <"));
  CHECK(has(merged.text, "4 submissions, 3 graded, mean 33.3"));

  // Who hands in later is in no part.
  fs::copy_file(kHomework + "solution.cu", all / "zoe.cu");
  const Outcome late = grade(folder, what + to + "--merge");
  CHECK(late.code == 3);
  CHECK(has(late.text, "handed in after the parts were graded"));

  const auto refused = [&](const std::string& arguments, const std::string& phrase) {
    const Outcome o = grade(folder, arguments);
    INFO(arguments << "\n" << o.text);
    CHECK(o.code == 2);
    CHECK(has(o.text, phrase));
  };
  for (const char* part : {"0/3", "4/3", "1", "1/", "a/b", "1/3x", "-1/3"})
    refused(what + to + "--part=" + part, "is not like 3/40");
  refused(what + "--part 1/3", "--part needs --class and --parts");
  refused("02 " + to + "--merge", "--merge needs --class and --parts");
  refused(what + to, "--parts needs --part or --merge");
  refused("03" + what.substr(2) + to + "--merge", "it is of 02_tiled_matmul, not of 03_padded_tiles");
  std::ofstream(parts / "part-1-of-5.json") << "{";
  refused(what + to + "--merge", "part-1-of-5.json: it is not JSON: line 1, column 2");
  std::ofstream(parts / "part-1-of-5.json") << "{}";
  refused(what + to + "--merge", "part-1-of-5.json is no part's result: grade this part again");
  fs::remove_all(parts);
  fs::create_directories(parts);
  refused(what + to + "--merge", "has no part-I-of-N.json");
  fs::remove_all(parts);
  refused(what + to + "--merge", "--merge: there is no folder " + parts.string());
  CHECK_FALSE(fs::exists(parts));
}

TEST_CASE("grade: where the machine is not in order, nobody gets points or loses them", "[grader]") {
  const Folder folder;
  const fs::path all = folder / "all", tools = folder / "tools";
  fs::create_directories(all);
  fs::create_directories(tools);
  fs::copy_file(kHomework + "solution.cu", all / "ann.cu");
  fs::copy_file(kHomework + "wrong/at_b_syntax.cu", all / "bob.cu");
  const auto not_graded = [&](const std::string& how, const std::string& why) {
    INFO(how);
    const Outcome one = grade(
        folder, "02 --file '" + (all / "ann.cu").string() + "' --json '" + (folder / "ann.json").string() + "'", how);
    INFO(one.text);
    CHECK(one.code == 3);
    CHECK(has(one.text, "grade: not graded: "));
    CHECK(has(one.text, why));
    CHECK(has(read(folder / "ann.json"), "\"not_graded\""));
    const std::string csv = (folder / "table.csv").string();
    const Outcome many = grade(folder, "02 --class '" + all.string() + "' --csv '" + csv + "'", how);
    INFO(many.text);
    CHECK(many.code == 3);
    CHECK(has(many.text, "2 submissions, 0 graded"));
    CHECK(has(read(csv), "\r\nann,,,,,\"not graded: ") != has(read(csv), "\r\nann,,,,,not graded: "));
    CHECK(has(read(csv), why));
  };
  const auto tool = [&](const std::string& name, const std::string& text) {
    std::ofstream(tools / name) << "#!/bin/sh\n" << text << '\n';
    fs::permissions(tools / name, fs::perms::owner_all);
    return (tools / name).string();
  };
  // No compiler; one that a full disk stops; one whose linker isn't there; no memory.
  not_graded("TILEWISE_CXX=/nowhere/c++", "the compiler does not work here");
  not_graded("TILEWISE_CXX='" +
                 tool("full",
                      "case \"$*\" in *version*) exec c++ \"$@\" ;; esac\necho 'as: /tmp/x.o: No space left on device' "
                      ">&2; exit 1") +
                 "'",
             "No space left on device");
  not_graded("TILEWISE_CXX='" +
                 tool("no-ld",
                      "case \"$*\" in *' -c '*|*' -S '*|*' -E '*|*version*) exec c++ \"$@\" ;; esac\n"
                      "echo \"collect2: fatal error: cannot find 'ld'\" >&2; exit 1") +
                 "'",
             "cannot find 'ld'");
  not_graded("TMPDIR=/nowhere", "no folder for temporary files");
}

#if defined(__linux__) && defined(__x86_64__)

TEST_CASE("grade: a C++ library that is linked into programs is no student's fault", "[grader]") {
  const Folder folder;
  const fs::path compiler = folder / "static";
  std::ofstream(compiler) << "#!/bin/sh\nexec c++ -static-libstdc++ \"$@\"\n";
  fs::permissions(compiler, fs::perms::owner_all);
  const std::string with = "TILEWISE_CXX='" + compiler.string() + "'";
  const Outcome prints = grade(
      folder, "02 --task moving_sum --file '" + kHomework + "alternatives/sum_with_all_that_is_allowed.cu'", with);
  INFO(prints.text);
  CHECK(prints.code == 3);
  CHECK(has(prints.text, "not graded: this compiler links the C++ library into programs"));
  const Outcome does_not = grade(folder, "02 --task moving_sum --file '" + kHomework + "solution.cu'", with);
  INFO(does_not.text);
  CHECK(does_not.code == 0);
}

#endif

TEST_CASE("grade: a full disk is no student's fault", "[grader]") {
  const Folder folder;
  const std::string tmp = (folder / "full").string();
  fs::create_directories(tmp);
  // A file system of 256 KiB: neither the object file nor the program fits.
  const std::string mounted = "mount -t tmpfs -o size=256k none '" + tmp + "' && ";
  const std::string inside = "unshare --user --map-root-user --mount sh -c '";
  if (std::system((inside + "mount -t tmpfs none /mnt' 2>/dev/null").c_str()) != 0) return;
  std::ofstream(folder / "run.sh") << mounted << "TMPDIR='" << tmp << "' " TILEWISE_GRADE " 02 --file '" << kHomework
                                   << "solution.cu'; echo exit code $?; ls -A '" << tmp << "' | wc -l\n";
  std::system(("unshare --user --map-root-user --mount sh '" + (folder / "run.sh").string() + "' >'" +
               (folder / "log.txt").string() + "' 2>&1")
                  .c_str());
  const std::string text = read(folder / "log.txt");
  INFO(text);
  CHECK(has(text, "not graded: "));
  CHECK(has(text, "exit code 3"));
  CHECK(has(text, "\n0\n"));  // nothing is left behind
}

TEST_CASE("grade: a program that ends at once leaves no process", "[grader]") {
  const Folder folder;
  const std::string none = "no-such-task-" + std::to_string(getpid());
  for (int i = 0; i < 20; ++i) CHECK(grade(folder, none + " --hints 2").code == 2);
  const auto left = [&] {
    return std::system(("pgrep -f '^" TILEWISE_GRADE " " + none + "' >/dev/null").c_str()) == 0;
  };
  for (int i = 0; i < 100 && left(); ++i) usleep(50000);
  CHECK_FALSE(left());
}

TEST_CASE("grade: who is told to end leaves no process and no file", "[grader]") {
  for (const char* kind : {"--file", "--class"}) {
    const Folder folder;
    const fs::path tmp = folder / "tmp", all = folder / "all";
    fs::create_directories(tmp);
    fs::create_directories(all);
    fs::copy_file(kHomework + "hostile/spins.cu", all / "ann.cu");
    const std::string what = kind == std::string("--file") ? (all / "ann.cu").string() : all.string();
    for (const int number : {SIGINT, SIGTERM}) {
      INFO(kind << ' ' << number);
      const pid_t child = fork();
      if (child == 0) {
        setenv("TMPDIR", tmp.c_str(), 1);
        std::freopen("/dev/null", "w", stdout);
        execl(TILEWISE_GRADE, TILEWISE_GRADE, "02", kind, what.c_str(), "--jobs", "1", static_cast<char*>(nullptr));
        _exit(127);
      }
      // Until a program has been running for some time.
      const auto running = [&] {
        return std::system(("pgrep -f '^" + tmp.string() + ".*/program' >/dev/null").c_str()) == 0;
      };
      int seen = 0;
      for (int i = 0; i < 600 && seen < 3; ++i, usleep(50000)) seen = running() ? seen + 1 : 0;
      CHECK(seen == 3);
      kill(child, number);
      int status = 0;
      waitpid(child, &status, 0);
      CHECK(WIFSIGNALED(status));
      CHECK(WTERMSIG(status) == number);
      usleep(200000);
      CHECK_FALSE(running());
      CHECK(fs::is_empty(tmp));
    }
  }
}

TEST_CASE("grade: what makes no sense ends with 2 and is named", "[grader]") {
  const Folder folder;
  const auto refused = [&](const std::string& arguments, const std::string& phrase) {
    const Outcome o = grade(folder, arguments);
    INFO(arguments << "\n" << o.text);
    CHECK(o.code == 2);
    CHECK(has(o.text, phrase));
  };
  refused("02 --jobs 0", "--jobs: 0 is out of range; allowed are 1 to 64");
  refused("02 --jobs 65", "--jobs: 65 is out of range; allowed are 1 to 64");
  refused("02 --jobs two", "--jobs: 'two' is not a whole number; allowed are 1 to 64");
  refused("02 --jobs", "--jobs: a value is missing");
  refused("02 --gpu --times huge", "--times: 'huge' is not known; allowed are large, small, none");
  refused("02 --task nothing", "--task: chapter 02_tiled_matmul has no task nothing, but moving_sum");
  refused("02 --csv x", "--csv needs --class");
  refused("02 --feedback x", "--feedback needs --class");
  refused("02 --class /nowhere", "--class: there is no folder /nowhere");
  refused("02 --class '" + (folder / "").string() + "'", "neither STUDENT/homework.cu nor STUDENT.cu");
  refused("02 --class . --json x", "--class");
  refused("02 --class '" + kHomework + "solution.cu'",
          "solution.cu is no folder: name the one that has all submissions");
  refused("02 --file '" + kHomework + "'", "is a folder: name the .cu file in it");
  for (const char* option : {"--json", "--gradescope", "--csv"})  // said before minutes of grading, not after them
    refused(std::string("02 ") + option + " /nowhere/x", std::string(option) + ": '/nowhere/x' cannot be written");
  refused("99", "there is no homework for chapter 99");
  refused("02 --file /nowhere.cu", "there is no file /nowhere.cu");
  refused("02 --nonsense", "there is no option --nonsense (--help lists the options)");
  refused("02 --taks x", "there is no option --taks; is it --task?");
}

TEST_CASE("grade: an option that has no effect is refused", "[grader]") {
  const Folder folder;
  const auto refused = [&](const std::string& arguments, const std::string& phrase) {
    const Outcome o = grade(folder, arguments);
    INFO(arguments << "\n" << o.text);
    CHECK(o.code == 2);
    CHECK(o.text == "grade: " + phrase + "\n");
  };
  refused("02 --quick", "--quick needs --check-bank");
  refused("02 --only wrong", "--only needs --check-bank");
  refused("02 --times small", "--times needs --gpu");
  for (const char* option : {"--watch", "--gpu", "--unchecked", "--times none"})
    refused(std::string("02 --class . ") + option,
            std::string(option).substr(0, std::string(option).find(' ')) + " and --class exclude each other");
  for (const char* option : {"--json", "--gradescope"})
    refused("02 --check-bank " + std::string(option) + " '" + (folder / "x").string() + "'",
            std::string(option) + " and --check-bank exclude each other");
  CHECK_FALSE(fs::exists(folder / "x"));
  refused("02 --check-bank --file x.cu", "--file and --check-bank exclude each other");
  refused("02 --check-bank --task moving_sum", "--task and --check-bank exclude each other");
  refused("02 --class . --check-bank", "--class and --check-bank exclude each other");
  refused("02 --class . --hints 1", "--class and --hints exclude each other");
  refused("--progress --task moving_sum", "--task and --progress exclude each other");
  refused("--list --csv x", "--csv needs --class");
  // What `make homework-tone` always says.
  CHECK(grade(folder, "tone --file x.cu --watch --gpu --hints 1").code == 0);
}
