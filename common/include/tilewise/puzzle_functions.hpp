/// @file
/// The functions of puzzle.hpp that are no templates. Included by it, or compiled once (see there).
#pragma once

#include "tilewise/puzzle.hpp"

namespace puzzle {

TILEWISE_PUZZLE_FUNCTION bool tell(const std::string& line) {
  const char* name = std::getenv("TILEWISE_PUZZLE");
  if (!name) return false;
  std::FILE* file = std::fopen(name, "a");
  if (!file) return false;
  std::fprintf(file, "%s\n", line.c_str());
  std::fclose(file);
  return true;
}

TILEWISE_PUZZLE_FUNCTION void fail(const std::string& why) {
  if (!tell("fail " + why)) std::printf("Not yet: %s\n", why.c_str());
  std::exit(1);
}

TILEWISE_PUZZLE_FUNCTION void expect_that(bool holds, const std::string& why) {
  if (!holds) fail(why);
}

TILEWISE_PUZZLE_FUNCTION void check(cudaError_t error) {
  if (error == cudaSuccess) error = cudaGetLastError();
  if (error == cudaSuccess) return;
  if (!tell(std::string("cuda ") + cudaGetErrorName(error) + " " + cudaGetErrorString(error)))
    std::printf("Not yet: CUDA says: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

TILEWISE_PUZZLE_FUNCTION void expect_size(const std::string& name, const std::string& shape, std::size_t size,
                                          std::size_t wanted) {
  if (size == wanted) return;
  fail(name + " has " + std::to_string(size) + " elements, not " + std::to_string(wanted) + ", where " + shape);
}

TILEWISE_PUZZLE_FUNCTION void expect_equal(const Compared& all) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < all.got.size(); ++i) {
    const double apart = all.got[i] - all.expected[i];
    if (!(apart <= all.tolerance && -apart <= all.tolerance)) ++wrong;
  }
  if (wrong == 0) return;
  // "wrong NAME TYPE ROWS COLS TOLERANCE SHAPE", and a line "EXPECTED GOT UNWRITTEN" for each element
  char numbers[128];
  std::snprintf(numbers, sizeof numbers, " %s %zu %zu %.17g ", all.type, all.rows, all.cols, all.tolerance);
  std::string text = "wrong " + all.name + numbers + all.shape;
  for (std::size_t i = 0; i < all.got.size(); ++i) {
    std::snprintf(numbers, sizeof numbers, "\n%.17g %.17g %d", all.expected[i], all.got[i], int(all.unwritten[i]));
    text += numbers;
  }
  if (!tell(text))
    std::printf("Not yet: %zu of %zu elements of %s are wrong where %s.\n", wrong, all.got.size(), all.name.c_str(),
                all.shape.c_str());
  std::exit(1);
}

TILEWISE_PUZZLE_FUNCTION void count_from_here([[maybe_unused]] const char* token) {
#ifdef TILEWISE_SIMULATOR
  tell("count " + std::to_string(tilewise::sim::launches_ended()) + " " + token);
#endif
}

TILEWISE_PUZZLE_FUNCTION int solved(const char* token) {
  check(cudaDeviceSynchronize());
  if (!tell(std::string("solved ") + token)) std::printf("Right.\n");
  return 0;
}

TILEWISE_PUZZLE_FUNCTION void watch_copies() {
#ifdef TILEWISE_SIMULATOR
  tilewise::sim::keep_copies_to_host();
#endif
}

TILEWISE_PUZZLE_FUNCTION void expect_from_gpu([[maybe_unused]] const std::string& name,
                                              [[maybe_unused]] const float* got, [[maybe_unused]] std::size_t n) {
#ifdef TILEWISE_SIMULATOR
  expect_that(tilewise::sim::came_from_device(got, n * sizeof(float)),
              "What " + name +
                  " holds is right, but no cudaMemcpy has brought it from the GPU: the kernel is to compute it, not "
                  "the host.");
#endif
}

TILEWISE_PUZZLE_FUNCTION void timeline_from_here([[maybe_unused]] std::size_t unit) {
#ifdef TILEWISE_SIMULATOR
  tell("unit " + std::to_string(unit));
  tilewise::sim::begin_timeline(sizeof(float));
#endif
}

TILEWISE_PUZZLE_FUNCTION void timeline_to_here([[maybe_unused]] const char* token) {
#ifdef TILEWISE_SIMULATOR
  // "piece ENGINE STREAM BEGIN END DEVICE" of each, then "timeline LENGTH TOKEN"
  const tilewise::sim::Timeline all = tilewise::sim::end_timeline();
  char line[128];
  for (const tilewise::sim::Piece& p : all.pieces) {
    std::snprintf(line, sizeof line, "piece %d %u %.17g %.17g %d", int(p.engine), unsigned(p.stream), p.begin, p.end,
                  p.device);
    tell(line);
  }
  std::snprintf(line, sizeof line, "timeline %.17g ", all.length);
  tell(std::string(line) + token);
#endif
}

}  // namespace puzzle

#ifdef TILEWISE_PUZZLE_APART
template class std::vector<float>;
template class std::vector<int>;
template class std::vector<double>;
template class std::vector<char>;
namespace puzzle {
template std::vector<float> values<float>(std::size_t, unsigned);
template std::vector<int> values<int>(std::size_t, unsigned);
template class Array<float>;
template class Array<int>;
template class Pinned<float>;
}  // namespace puzzle
#endif
