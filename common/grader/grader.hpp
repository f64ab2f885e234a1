/// @file
/// Grades one submission. Three processes take part, and only one of them runs student code:
///
/// 1. The grader compiles the submission (policy.hpp says what it may contain) and links it with harness.cpp.
/// 2. For every case it makes inputs and, in its own memory, the expected result; starts the program (sandbox.hpp) and
///    gives it the inputs alone. Every case is a process of its own, so that nothing is remembered from one to the
///    next.
/// 3. It compares all buffers that come back, inputs included, and judges counts and findings.
#pragma once

#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu.hpp"
#include "rubric.hpp"

namespace tilewise::grader {

/// There is no verdict, and it isn't the submission's fault: the machine, the compiler or the grader is not in order.
struct NotGraded : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One row of the verdict.
struct Criterion {
  std::string name;  ///< compiles, visible, hidden, findings, efficiency
  double points = 0, of = 0;
  std::string summary;             ///< "5 of 8 shapes right"
  std::vector<std::string> notes;  ///< what a tutor would say
};

/// What a GPU says about a task.
struct TaskOnGpu {
  std::size_t visible_right = 0, hidden_right = 0;  ///< shapes; what counts is right on the simulator, too
  std::optional<GpuTime> time;                      ///< when all shapes are right
};

struct TaskResult {
  std::string task, level, title;
  double weight = 0;
  double points = 0, of = 0;
  std::vector<Criterion> criteria;
  std::optional<TaskOnGpu> gpu = {};

  const Criterion* find(const std::string& criterion) const;
  std::string text() const;  ///< all summaries and notes
};

struct ChapterResult {
  std::string chapter, file;
  std::string isolation;         ///< what kept the submission in, or that nothing did
  std::string refused;           ///< what the submission must not contain
  std::string compiler;          ///< messages, when it does not compile
  std::string unsupported = {};  ///< when that is so because the simulator lacks something: its line and its name
  std::vector<TaskResult> tasks;
  std::optional<GpuInfo> gpu = {};  ///< when the submission was compiled for a GPU, too
  double seconds = 0;
  /// Of the compiler, those that mean a mistake, each followed by its source line.
  std::vector<std::string> warnings = {};
  std::string only_task = {};  ///< where the chapter has others, which were not graded
  double weights = 0;          ///< of all tasks that the chapter has, together

  double score() const;  ///< of 100, tasks weighted
};

/// With a GPU: at which shape the submission's time is compared with the solution's.
enum class Times { none, small, large };

struct GradeOptions {
  std::string task;     ///< only this one
  bool policy = true;   ///< false: tests of the other defences only
  bool unsafe = false;  ///< where a submission cannot be kept in, run it nevertheless
  bool canary = false;  ///< it's the solution, graded to see whether that can be done here
  unsigned jobs = 1;    ///< cases at a time
  Gpu* gpu = nullptr;   ///< run every shape there, too
  Times times = Times::large;
};

/// Throws NotGraded, or another std::runtime_error, when the grader or the machine is not in order. Where that may be why a
/// submission fails, the solution is graded in the same place, and tells.
ChapterResult grade(const std::string& chapter, const std::string& file, const GradeOptions& options = {});

/// How many GPUs grading on GPUs takes, for all tasks of the chapter, or for this one.
int devices_wanted(const std::string& chapter, const std::string& task);

/// Throws NotGraded unless the solution gets all points here and now.
void grade_canary(const std::string& chapter, const GradeOptions& options);

/// "02" or "02_tiled_matmul" as a chapter that has homework; throws std::invalid_argument with the list of them.
std::string find_chapter(const std::string& word);
std::vector<std::string> chapters_with_homework();
/// tests/NN_topic/homework
std::string homework_folder(const std::string& chapter);

/// Writes the verdict as JSON; throws std::runtime_error if the file cannot be written.
void write_json(const std::string& file, const ChapterResult& result);
/// In its place: {"not_graded": why}. What cannot be written either is left.
void write_not_graded(const std::string& file, const std::string& why);
/// The same as Gradescope's results.json.
void write_gradescope(const std::string& file, const ChapterResult& result);
std::string to_text(const ChapterResult& result, bool colour);

struct BankOptions {
  bool quick = false;           ///< of alternatives, wrong and hostile ones only those marked "// quick:"
  std::set<std::string> kinds;  ///< solution, starter, alternatives, wrong, hostile; none: all
  bool unsafe = false;          ///< GradeOptions::unsafe
  Gpu* gpu = nullptr;           ///< run every shape there, too
};

/// Grades everything that tests/NN_topic/homework has: starter, solution, alternatives, wrong and hostile submissions,
/// and compares with what their first lines expect. Prints a line each. True when all is as expected.
bool check_bank(const std::string& chapter, const BankOptions& bank, unsigned jobs);

struct ClassOptions {
  std::string csv;       ///< the table goes to this file, too, unless it's ""
  std::string feedback;  ///< a folder for STUDENT.txt, what each is told, unless it's ""
  unsigned jobs = 1;
  std::string program;  ///< the grader itself
  bool unsafe = false;  ///< GradeOptions::unsafe
  unsigned part = 0,
           of = 0;     ///< grade every of-th submission, from number `part` on, and write what came out to `parts`
  std::string parts;   ///< a folder for part-I-of-N.json
  bool merge = false;  ///< grade nothing: the table is made of the parts
};

/// Grades all of folder/STUDENT/homework.cu and folder/STUDENT.cu, each in a process of its own; prints a table. Before the
/// first, and after one that could not be graded, the solution is. Returns the exit code: 0 when all were graded, 1 when
/// some have handed in nothing that could be, 3 when it was the machine or the grader.
/// Throws std::invalid_argument when there is nothing to grade.
int grade_class(const std::string& chapter, const std::string& folder, const ClassOptions& options);

/// A line for each chapter's homework.cu. What was graded before is remembered for as long as nothing changes.
void show_progress(const GradeOptions& options);

}  // namespace tilewise::grader
