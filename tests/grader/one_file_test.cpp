// Tasks in one file: the examples, one that new-task.sh has just written, folders of a teacher's own, and what is said of
// a task.cu that makes no sense.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "catch.hpp"
#include "text.hpp"
#include "tilewise/task.hpp"
#include "tools.hpp"

namespace {

namespace fs = std::filesystem;

const std::string kRoot = TILEWISE_SOURCE_DIR, kExamples = kRoot + "/tests/grader/tasks";

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("task test " + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code none;
    fs::remove_all(path_, none);
    for (const auto& made : fs::directory_iterator(tilewise::grader::cache_folder() + "/tasks", none))
      if (read(made.path() / "calls.cu").find(path_.string()) != std::string::npos) fs::remove_all(made.path(), none);
  }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

struct Outcome {
  int code;
  std::string text;
};

Outcome shell(const Folder& folder, const std::string& command) {
  const std::string log = (folder / "log.txt").string();
  const int status = std::system((command + " > '" + log + "' 2>&1").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(log)};
}

/// `grade` with TILEWISE_TASKS.
Outcome grade(const Folder& folder, const std::string& tasks, const std::string& arguments) {
  return shell(folder, "TILEWISE_TASKS='" + tasks + "' " TILEWISE_GRADE " " + arguments);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  INFO(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

}  // namespace

TEST_CASE("task in one file: the examples have at most 40 lines, and two wrong attempts each", "[grader]") {
  std::size_t examples = 0;
  for (const auto& entry : fs::directory_iterator(kExamples)) {
    INFO(entry.path());
    ++examples;
    const std::string text = read(entry.path() / "task.cu");
    CHECK(std::count(text.begin(), text.end(), '\n') <= 40);
    CHECK(has(text, "hints = {"));
    CHECK(std::distance(fs::directory_iterator(entry.path() / "wrong"), fs::directory_iterator()) >= 2);
  }
  CHECK(examples >= 4);
}

TEST_CASE("make new-task: the solution gets 100, the starter doesn't, and the wrong attempts are seen", "[grader]") {
  const Folder folder;
  const std::string tasks = (folder / "own").string(), script = kRoot + "/common/scripts/run/new-task.sh";
  fs::create_directories(tasks);
  const auto make = [&](const std::string& name) {
    return shell(folder, "TILEWISE_TASKS='" + tasks + "' '" + script + "' " + name);
  };
  CHECK(make("test_fresh").code == 0);
  const Outcome bank = grade(folder, tasks, "test_fresh --check-bank");
  INFO(bank.text);
  CHECK(bank.code == 0);
  CHECK(has(bank.text, "test_fresh: 4 submissions, 0 not as expected"));
  const Outcome solution = grade(folder, tasks, "test_fresh --file '" + tasks + "/test_fresh/solution.cu'");
  CHECK(solution.code == 0);
  CHECK(has(solution.text, "homework test_fresh       100 of 100"));
  const Outcome starter = grade(folder, tasks, "test_fresh --file '" + tasks + "/test_fresh/starter.cu'");
  CHECK(starter.code == 1);
  CHECK(has(starter.text, "homework test_fresh         5 of 100"));
  const Outcome hints = grade(folder, tasks, "test_fresh --hints 2");
  CHECK(hints.code == 0);
  CHECK(has(hints.text, "Hint 2 of 3: "));
  CHECK_FALSE(has(hints.text, "Hint 3"));

  // Nothing of the grader's part is in what learners get.
  for (const auto& made : fs::directory_iterator(tilewise::grader::cache_folder() + "/tasks")) {
    if (made.path().filename().string().rfind("test_fresh-", 0) != 0) continue;
    const std::string contract = read(made.path() / "contract" / "homework.cuh");
    CHECK(has(contract, "cudaError_t launch_test_fresh("));
    CHECK_FALSE(has(contract, "TASK"));
    CHECK_FALSE(has(contract, "seed"));
    CHECK(std::distance(fs::directory_iterator(made.path() / "contract"), fs::directory_iterator()) == 1);
  }

  CHECK(make("test_fresh").code == 2);  // it's there already
  for (const char* name : {"", "Large", "1st", "a-b", "'a b'", "'$(date)'", "../up"}) {
    INFO(name);
    const Outcome bad = make(name);
    CHECK(bad.code == 2);
    CHECK(has(bad.text, "is not a name"));
  }
}

TEST_CASE("TILEWISE_TASKS: a variant of one's own, and a folder that is none", "[grader]") {
  const Folder folder;
  const std::string tasks = (folder / "own").string();
  fs::create_directories(tasks);
  fs::copy(kExamples + "/tone", tasks + "/tone", fs::copy_options::recursive);
  const std::string text = read(kExamples + "/tone/task.cu");
  write(tasks + "/tone/task.cu", replaced(text, "brightness and contrast of a picture", "the variant of 2027"));
  const std::string solution = "tone --file '" + kExamples + "/tone/solution.cu'";
  CHECK(has(grade(folder, tasks, solution).text, "1. tone (warm-up): the variant of 2027"));
  CHECK(has(grade(folder, "", solution).text, "1. tone (warm-up): brightness and contrast of a picture"));

  const auto bad = [&](const std::string& named, const std::string& arguments, const std::string& phrase) {
    const Outcome o = grade(folder, named, arguments);
    INFO(o.text);
    CHECK(o.code == 2);
    CHECK(has(o.text, "TILEWISE_TASKS"));
    CHECK(has(o.text, phrase));
    CHECK(std::count(o.text.begin(), o.text.end(), '\n') == 1);
  };
  bad("/nowhere", solution, "TILEWISE_TASKS is /nowhere, which is no folder");
  bad("/nowhere", "02", "which is no folder");
  fs::create_directories(folder / "empty");
  bad((folder / "empty").string(), solution, "has neither a NAME/task.cu nor a chapter's folder");
  write(folder / "mistyped" / "02_tiled" / "x.json", "{}");
  bad((folder / "mistyped").string(), solution, "a folder 02_tiled, but there is no chapter of this name");
}

TEST_CASE("TILEWISE_TASKS: rubrics and a solution in place of a chapter's", "[grader]") {
  const Folder folder;
  const std::string bank = kRoot + "/tests/02_tiled_matmul/homework/", tasks = (folder / "own").string();
  const fs::path own = fs::path(tasks) / "02_tiled_matmul";
  const std::string rubric = read(bank + "1_moving_sum.json");
  write(own / "1_moving_sum.json", replaced(rubric, "repair a kernel", "mend a kernel"));
  fs::copy_file(bank + "solution.cu", own / "solution.cu");
  const std::string solution = "02 --task moving_sum --file '" + bank + "solution.cu'";
  const Outcome mended = grade(folder, tasks, solution);
  INFO(mended.text);
  CHECK(mended.code == 0);
  CHECK(has(mended.text, "mend a kernel that sums five neighbours"));
  CHECK(has(mended.text, "counts  20 %"));

  // Weights needn't add up to 100: what is shown does.
  write(own / "1_moving_sum.json", replaced(rubric, "\"weight\": 20", "\"weight\": 80"));
  CHECK(has(grade(folder, tasks, solution).text, "counts  50 %"));

  // A mistake in a rubric is its writer's, and is told before anything is graded or written.
  const auto bad = [&](const std::string& text, const std::string& phrase) {
    write(own / "1_moving_sum.json", text);
    fs::create_directories(folder / "class");
    for (const std::string& what : {solution, "02 --class '" + (folder / "class").string() + "' --feedback '" +
                                                  (folder / "told").string() + "'"}) {
      if (!fs::exists(folder / "class" / "ann.cu")) fs::copy_file(bank + "starter.cu", folder / "class" / "ann.cu");
      const Outcome o = grade(folder, tasks, what);
      INFO(o.text);
      CHECK(o.code == 2);
      CHECK(o.text == "grade: " + (own / "1_moving_sum.json").string() + phrase + "\n");
      CHECK_FALSE(fs::exists(folder / "told"));
    }
  };
  bad("{\n  \"task\": oops }", " is not JSON: line 2, column 11");
  bad(replaced(rubric, "\"weight\"", "\"wait\""), ": \"wait\" is not known here");
  fs::remove_all(folder / "class");
  write(own / "1_moving_sum.json", rubric);

  // The canary is the teacher's solution: where that one is wrong, there is no class.
  fs::create_directories(folder / "class");
  fs::copy_file(bank + "solution.cu", folder / "class" / "ann.cu");
  fs::copy_file(bank + "starter.cu", own / "solution.cu", fs::copy_options::overwrite_existing);
  const Outcome sick = grade(folder, tasks, "02 --class '" + (folder / "class").string() + "'");
  INFO(sick.text);
  CHECK(sick.code == 3);
  CHECK(has(sick.text, "the solution gets 5.0 of 100"));
  CHECK(has(sick.text,
            "it may be wrong itself, or what the task asks, which `build/sim/bin/grade 02_tiled_matmul --file '" +
                (own / "solution.cu").string() + "'` shows; if not, this machine is not in order"));

  write(own / "1_moving_sum.json", replaced(rubric, "\"task\": \"moving_sum\"", "\"task\": \"moving_some\""));
  const Outcome other = grade(folder, tasks, solution);
  CHECK(other.code == 2);
  CHECK(has(other.text, "is for the task moving_some, which 02_tiled_matmul does not have"));
}

TEST_CASE("TILEWISE_TASKS: a task whose solution is wrong is not the machine's fault", "[grader]") {
  const Folder folder;
  const std::string tasks = (folder / "own").string();
  fs::create_directories(folder / "class");
  fs::create_directories(tasks);
  fs::copy(kExamples + "/add_neighbour", tasks + "/add_neighbour", fs::copy_options::recursive);
  fs::copy_file(kExamples + "/add_neighbour/solution.cu", folder / "class" / "ann.cu");
  fs::copy_file(tasks + "/add_neighbour/starter.cu", tasks + "/add_neighbour/solution.cu",
                fs::copy_options::overwrite_existing);
  const Outcome o = grade(folder, tasks, "add_neighbour --class '" + (folder / "class").string() + "'");
  INFO(o.text);
  CHECK(o.code == 3);
  CHECK(has(o.text, "it may be wrong itself, or what the task asks, which `make check-add_neighbour` shows"));
}

TEST_CASE("task in one file: what makes no sense is named", "[grader]") {
  const Folder folder;
  const std::string tasks = (folder / "own").string(), example = read(kExamples + "/add_neighbour/task.cu");
  const auto says = [&](int code, const std::string& text, const std::string& phrase) {
    write(tasks + "/test_bad/task.cu", text);
    const Outcome o = grade(folder, tasks, "test_bad --file '" + kExamples + "/add_neighbour/solution.cu'");
    INFO(o.text);
    CHECK(o.code == code);
    CHECK(has(o.text, phrase));
    CHECK(std::count(o.text.begin(), o.text.end(), '\n') == 1);
  };
  // With the line, where it is known: "task.cu:14: TASK(test_bad): ..."
  const auto at = [&](const std::string& text, const std::string& line, const std::string& phrase) {
    const std::string before = text.substr(0, text.find(line));
    says(2, text, "test_bad/task.cu:" + std::to_string(1 + std::count(before.begin(), before.end(), '\n')) + ": TASK(");
    CHECK(has(read(folder / "log.txt"), phrase));
  };
  std::string good = example;
  for (std::size_t at; (at = good.find("add_neighbour")) != std::string::npos;) good.replace(at, 13, "test_bad");
  const auto without = [&](const std::string& what) { return replaced(good, what, ""); };
  says(2, without("// ---- The grader's part."), "there is no line \"// ---- The grader's part.\"");
  says(2, without("#include \"tilewise/task.hpp\""), "there is no line #include \"tilewise/task.hpp\"");
  says(2, replaced(good, "TASK(test_bad)", "TASK(bad)"), "launch_bad");
  says(2, replaced(good, "title =", "titel ="), "task.cu:");
  says(2, replaced(good, "title =", "titel ="), "'titel'");
  says(2, without("title = \"each word plus the next one\";"), "test_bad/task.cu: TASK(test_bad): title is missing");
  says(2, replaced(good, "sizes = {\"n\"}", "sizes = {\"n\", \"m\"}"),
       "sizes has 2 names, but launch_test_bad has 1 ints");
  says(2, replaced(good, "[](const Floats& x, Floats& y, int n)", "[](Floats& x, Floats& y, int n)"),
       "reference has the parameters (float*, float*, int), but launch_test_bad has (const float*, float*, int)");
  says(2, replaced(good, "int n, cudaStream_t", "long n, cudaStream_t"), "the parameters of launch_test_bad are");
  says(2, replaced(good, "launches <= 1:", "launches < 1:"), "\"launches < 1: one launch does it\" is not like");
  at(replaced(good, "launches <= 1:", "lunches <= 1:"), "\"lunches", "the count \"lunches\" is not one of");
  at(replaced(good, "{{1, 3000}}", "{{3000, 1}}"), "  hidden =", "a range must be [low, high]");
  at(replaced(good, "launches <= 1:", "launches <= 1 (21 points):"), "\"load_requests", "points must not be negative");
  at(replaced(good, "  seed = 1;", "  seed = 1; \n  points = {5, 35, -5, 45, 20};"),
     "  points =", "must not be negative");
  at(replaced(good, "{{\"x\", n}, {\"y\", n}}", "{{\"x\", n}}"), "  buffers =", "buffers has 1 elements");
  at(replaced(good, "i + 1 < n ? x[i] + x[i + 1] : x[i]", "x[i] + x[i + 1]"), "  reference =",
     "reference leaves a buffer: x[");  // of which shape depends on what is run side by side
  at(replaced(good, "for (int i = 0; i < n; ++i) y[i] = i + 1", "for (int i = 1; i < n; ++i) y[i] = i + 1"),
     "  reference =", "reference leaves y[0] of ");
}

TEST_CASE("task in one file: how far a kernel's float may be off", "[grader]") {
  using namespace tilewise::task;
  CHECK(Real(0.5).bound() == 0);                   // a word that is only copied
  CHECK(max(Real(0.5), Real(0.25)).bound() == 0);  // and one that is chosen
  CHECK((Real(1) - Real(0.5)).bound() >= 0x1p-24 * 0.5);
  CHECK(max(Real(1) / Real(3) * Real(3), 1).bound() > 0);  // rounding may have made the choice
  CHECK(Real(0.1).bound() > 0);                            // no float

  // A sum of products, in float and in the order that loses most, stays within the bound, and the bound is of some use.
  tilewise::Random random(7);
  Real sum = 0;
  float forward = 0;
  double magnitude = 0;
  for (int i = 0; i < 1000; ++i) {
    const float a = random.uniform(), b = random.uniform() * float(i);
    sum += Real(a) * Real(b);
    forward += a * b;
    magnitude += std::fabs(double(a) * b);
  }
  CHECK(std::fabs(forward - sum.value()) <= sum.bound());
  CHECK(sum.bound() < 1e-3 * magnitude);
  const Real e = exp(Real(3)), root = sqrt(Real(2));
  CHECK(std::fabs(double(std::exp(3.0f)) - e.value()) <= e.bound());
  CHECK(std::fabs(double(std::sqrt(2.0f)) - root.value()) <= root.bound());
}
