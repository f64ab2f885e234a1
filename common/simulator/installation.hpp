/// @file
/// Where simcc, grade and learn find what belongs to them: the one place that tells a build from an installation.
///
/// A program is installed when include/tilewise_simulator lies beside the folder that it is in. An installation (by
/// `cmake --install`, or the Python package) may be moved, and is never written to.
///
/// |           | in a build                      | installed below P            |
/// |-----------|---------------------------------|------------------------------|
/// | programs  | BUILD/bin                       | P/bin                        |
/// | headers   | SOURCE/common/simulator/include | P/include/tilewise_simulator |
/// | libraries | BUILD/common/simulator          | P/lib/tilewise               |
/// | homework  | BUILD/homework                  | P/lib/tilewise/homework      |
/// | preludes  | BUILD/preludes                  | nowhere                      |
/// | sources   | SOURCE                          | P/share/tilewise             |
#pragma once

#include <filesystem>

namespace tilewise {

struct Installation {
  bool installed;
  std::filesystem::path programs;   ///< simcc, grade
  std::filesystem::path headers;    ///< cuda_runtime.h and the others
  std::filesystem::path libraries;  ///< libtilewise_sim.a, and CUDA's libraries on the CPU
  std::filesystem::path homework;   ///< NN_topic.so, NN_topic.o, libtilewise_harness.a
  std::filesystem::path preludes;   ///< what g++ knows after the headers: before_cxx20/, cxx20/
  std::filesystem::path sources;    ///< chapters/, common/, tests/; installed, what grading reads of them
};

const Installation& installation();

}  // namespace tilewise
