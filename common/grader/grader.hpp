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
#include <string>
#include <vector>

#include "gpu.hpp"
#include "rubric.hpp"

namespace tilewise::grader {

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
  std::string isolation;  ///< what kept the submission in, or that nothing did
  std::string refused;    ///< what the submission must not contain
  std::string compiler;   ///< messages, when it does not compile
  std::vector<TaskResult> tasks;
  std::optional<GpuInfo> gpu = {};  ///< when the submission was compiled for a GPU, too
  double seconds = 0;

  double score() const;  ///< of 100, tasks weighted
};

/// With a GPU: at which shape the submission's time is compared with the solution's.
enum class Times { none, small, large };

struct GradeOptions {
  std::string task;    ///< only this one
  bool policy = true;  ///< false: tests of the other defences only
  bool unsafe = false;  ///< where a submission cannot be kept in, run it nevertheless
  unsigned jobs = 1;   ///< cases at a time
  Gpu* gpu = nullptr;  ///< run every shape there, too
  Times times = Times::large;
};

/// Throws std::runtime_error when the grader itself is not in order.
ChapterResult grade(const std::string& chapter, const std::string& file, const GradeOptions& options = {});

/// "02" or "02_tiled_matmul" as a chapter that has homework; throws std::invalid_argument with the list of them.
std::string find_chapter(const std::string& word);
std::vector<std::string> chapters_with_homework();
/// tests/NN_topic/homework
std::string homework_folder(const std::string& chapter);

/// Writes the verdict as JSON; throws std::runtime_error if the file cannot be written.
void write_json(const std::string& file, const ChapterResult& result);
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

/// Grades all of folder/STUDENT/homework.cu and folder/STUDENT.cu, each in a process of its own (`program` is the
/// grader itself); prints a table and writes it to the file `csv` unless that is "". True when all could be graded.
/// Throws std::invalid_argument when there is nothing to grade.
bool grade_class(const std::string& chapter, const std::string& folder, const std::string& csv, unsigned jobs,
                 const std::string& program, bool unsafe);

/// A line for each chapter's homework.cu. What was graded before is remembered for as long as nothing changes.
void show_progress(const GradeOptions& options);

}  // namespace tilewise::grader
