/// @file
/// The GPU of this machine: nvcc for it, programs on it, and how long they take.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "sandbox.hpp"
#include "task.hpp"
#include "tools.hpp"

namespace tilewise::grader {

struct GpuInfo {
  std::string name;          ///< "Tesla T4"
  int major = 0, minor = 0;  ///< compute capability
  int devices = 0;           ///< how many GPUs a program finds: one, unless a task wants more
  int driver = 0;            ///< the newest CUDA that the driver can run, 12040 for 12.4
  int runtime = 0;           ///< the CUDA that programs are compiled with
  std::string nvcc;
  std::string isolation;  ///< what holds submissions back while they run
};

/// A submission's time beside the solution's.
struct GpuTime {
  std::string shape;
  double submission_ms = 0, solution_ms = 0;  ///< medians
  double ratio = 0;                           ///< submission / solution; 0: not timed, see `note`
  int turns = 0;
  std::string note;
};

class Gpu {
 public:
  /// Finds nvcc, compiles the harness for the chapter, and asks the GPU what it is. `libraries` are those that tasks of
  /// the chapter may call, and `devices` the most GPUs that one of them wants. Throws std::invalid_argument, saying what to do, when there is no nvcc or no GPU that works.
  Gpu(const std::string& chapter, std::set<std::string> libraries, int devices = 1);

  const GpuInfo& info() const { return info_; }

  struct Built {
    std::string program;   ///< "" when it could not be built
    std::string compiler;  ///< why
    std::string refused;   ///< or why
  };
  /// Compiles a submission, known by the name `file`, and links it into a program in `work`. Without `policy`, what it
  /// calls is not looked at.
  Built build(const std::string& file, bool policy, const TemporaryFolder& work) const;

  /// How a program is to be started.
  const Environment& environment() const { return environment_; }
  ChildLimits limits(int seconds) const;

  /// Times the program and the solution in turns, at the rubric's gpu_shape, or at the `small` one that is counted.
  /// Both must give the same result.
  GpuTime compare_times(const Rubric& rubric, const Task& task, const std::string& program, bool small);

 private:
  std::string compile(const std::vector<std::string>& arguments) const;
  std::string link(const std::vector<std::string>& objects, const std::string& program) const;
  bool identify(const std::string& program, ChildLimits limits, std::string& problem);

  std::string chapter_;
  std::set<std::string> libraries_;
  TemporaryFolder work_;
  GpuInfo info_;
  Environment environment_;
  ChildLimits limits_;
  std::string solution_;  ///< its program, once it has been needed
};

}  // namespace tilewise::grader
