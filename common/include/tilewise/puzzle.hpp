/// @file
/// What the check of a puzzle uses (chapters/NN_topic/puzzles/*.cu): arrays on the device, values for them, and a comparison
/// whose first failure ends the program. `make learn` reads the verdict from the file that TILEWISE_PUZZLE names; a puzzle
/// that is compiled and run by hand prints it. Includes little, since learners wait for its compilation.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#ifdef TILEWISE_SIMULATOR
#include "tilewise_sim/report.hpp"
#endif

namespace puzzle {

/// Appends a line of the verdict to the file that TILEWISE_PUZZLE names. False where it names none.
inline bool tell(const std::string& line) {
  const char* name = std::getenv("TILEWISE_PUZZLE");
  if (!name) return false;
  std::FILE* file = std::fopen(name, "a");
  if (!file) return false;
  std::fprintf(file, "%s\n", line.c_str());
  std::fclose(file);
  return true;
}

/// Ends the program as not solved, saying why in one sentence.
[[noreturn]] inline void fail(const std::string& why) {
  if (!tell("fail " + why)) std::printf("Not yet: %s\n", why.c_str());
  std::exit(1);
}

/// Ends the program with this reason unless `holds`.
inline void expect_that(bool holds, const std::string& why) {
  if (!holds) fail(why);
}

/// Ends the program unless the call succeeded, and so did everything that the GPU had been asked for before it.
inline void check(cudaError_t error) {
  if (error == cudaSuccess) error = cudaGetLastError();
  if (error == cudaSuccess) return;
  if (!tell(std::string("cuda ") + cudaGetErrorName(error) + " " + cudaGetErrorString(error)))
    std::printf("Not yet: CUDA says: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// n whole numbers from 0 to 99, the same in every run, neighbours always different. Their sums and products are exact in
/// float up to 16,777,216, in any order.
template <class T = float>
std::vector<T> values(std::size_t n, unsigned seed = 1) {
  std::vector<T> all(n);
  unsigned state = 2654435761u * (seed + 1), last = 100;
  for (T& value : all) {
    state = state * 1664525u + 1013904223u;
    unsigned next = (state >> 16) % 100;
    if (next == last) next = (next + 37) % 100;
    value = T(last = next);
  }
  return all;
}

/// What all bytes of memory are that was not written yet: a NaN as a float, -1 as an int.
constexpr unsigned char kUnwritten = 0xff;

/// An array in the device's memory, freed at its end.
template <class T = float>
class Array {
 public:
  /// n elements that hold kUnwritten. `name`, a string literal, is what messages call the array.
  Array(const char* name, std::size_t n) : size_(n) {
    check(cudaMalloc(&data_, n * sizeof(T) + !n));
    call_it(name);
    check(cudaMemset(data_, kUnwritten, n * sizeof(T)));
  }
  /// A copy of these.
  Array(const char* name, const std::vector<T>& from) : size_(from.size()) {
    check(cudaMalloc(&data_, from.size() * sizeof(T) + from.empty()));
    call_it(name);
    check(cudaMemcpy(data_, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  T* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// What it holds once all kernels are done.
  std::vector<T> host() const {
    check(cudaDeviceSynchronize());
    std::vector<T> all(size_);
    check(cudaMemcpy(all.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return all;
  }

 private:
  void call_it([[maybe_unused]] const char* name) {
#ifdef TILEWISE_SIMULATOR
    tilewise::sim::name_allocation(data_, name);
#endif
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Ends the program unless got[row * cols + col] == expected(row, col) for all of them, bit for bit, or to within `tolerance`
/// where one is given. `name` is what the puzzle calls the array; `shape` says for which sizes this was, "n = 1000".
template <class T, class Expected>
void expect(const std::string& name, const std::string& shape, const std::vector<T>& got, std::size_t rows,
            std::size_t cols, Expected expected, double tolerance = 0) {
  if (got.size() != rows * cols)
    fail(name + " has " + std::to_string(got.size()) + " elements, not " + std::to_string(rows * cols) + ", where " +
         shape);
  std::size_t wrong = 0;
  std::vector<T> wanted(got.size());
  const std::vector<unsigned char> unwritten(sizeof(T), kUnwritten);
  for (std::size_t i = 0; i < got.size(); ++i) {
    wanted[i] = T(expected(i / cols, i % cols));
    const double apart = double(got[i]) - double(wanted[i]);
    if (!(apart <= tolerance && -apart <= tolerance)) ++wrong;
  }
  if (wrong == 0) return;
  // "wrong NAME TYPE ROWS COLS TOLERANCE SHAPE", and a line "EXPECTED GOT UNWRITTEN" for each element
  char numbers[128];
  std::string text = "wrong " + name;
  std::snprintf(numbers, sizeof numbers, " %s %zu %zu %.17g ",
                std::is_integral_v<T> ? "int"
                : sizeof(T) == 8      ? "double"
                                      : "float",
                rows, cols, tolerance);
  text += numbers + shape;
  for (std::size_t i = 0; i < got.size(); ++i) {
    std::snprintf(numbers, sizeof numbers, "\n%.17g %.17g %d", double(wanted[i]), double(got[i]),
                  std::memcmp(&got[i], unwritten.data(), sizeof(T)) == 0);
    text += numbers;
  }
  if (!tell(text))
    std::printf("Not yet: %zu of %zu elements of %s are wrong where %s.\n", wrong, got.size(), name.c_str(),
                shape.c_str());
  std::exit(1);
}

/// The same of a vector: got[i] == expected(i).
template <class T, class Expected>
void expect(const std::string& name, const std::string& shape, const std::vector<T>& got, Expected expected,
            double tolerance = 0) {
  expect(
      name, shape, got, 1, got.size(), [&](std::size_t, std::size_t i) { return expected(i); }, tolerance);
}

/// Limits and predictions are about the launches from here on; of all launches where this is not called.
inline void count_from_here() {
#ifdef TILEWISE_SIMULATOR
  tell("count " + std::to_string(tilewise::sim::launches_ended()));
#endif
}

/// What the check ends with: all of it held.
inline int solved() {
  check(cudaDeviceSynchronize());
  if (!tell("solved")) std::printf("Right.\n");
  return 0;
}

}  // namespace puzzle
