/// @file
/// What the check of a puzzle uses (chapters/NN_topic/puzzles/*.cu): arrays on the device, values for them, and a comparison
/// whose first failure ends the program. `make learn` reads the verdict from the file that TILEWISE_PUZZLE names; a puzzle
/// that is compiled and run by hand prints it. Includes little, since learners wait for its compilation; and what is no
/// template is in puzzle_functions.hpp, which `make learn` compiles once (with TILEWISE_PUZZLE_APART) and not with each puzzle.
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

#ifdef TILEWISE_PUZZLE_APART
#define TILEWISE_PUZZLE_FUNCTION
#else
#define TILEWISE_PUZZLE_FUNCTION inline
#endif

namespace puzzle {

/// Appends a line of the verdict to the file that TILEWISE_PUZZLE names. False where it names none.
TILEWISE_PUZZLE_FUNCTION bool tell(const std::string& line);

/// Ends the program as not solved, saying why in one sentence.
[[noreturn]] TILEWISE_PUZZLE_FUNCTION void fail(const std::string& why);

/// Ends the program with this reason unless `holds`.
TILEWISE_PUZZLE_FUNCTION void expect_that(bool holds, const std::string& why);

/// Ends the program unless the call succeeded, and so did everything that the GPU had been asked for before it.
TILEWISE_PUZZLE_FUNCTION void check(cudaError_t error);

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

/// What all bytes of memory are that was not written yet: a NaN as a float; of integers, a number that nobody computes.
template <class T>
constexpr unsigned char kUnwritten = std::is_integral_v<T> ? 0x9b : 0xff;

/// An array in the device's memory, freed at its end.
template <class T = float>
class Array {
 public:
  /// n elements that hold kUnwritten. `name`, a string literal, is what messages call the array.
  Array(const char* name, std::size_t n) : size_(n) {
    check(cudaMalloc(&data_, n * sizeof(T) + !n));
    call_it(name);
    check(cudaMemset(data_, kUnwritten<T>, n * sizeof(T)));
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

/// An array in pinned memory of the host's, freed at its end.
template <class T = float>
class Pinned {
 public:
  /// n elements that hold kUnwritten. `name`, a string literal, is what messages call the array.
  Pinned(const char* name, std::size_t n) : size_(n) {
    check(cudaMallocHost(&data_, n * sizeof(T) + !n));
    std::memset(data_, kUnwritten<T>, n * sizeof(T));
    call_it(name);
  }
  /// A copy of these.
  Pinned(const char* name, const std::vector<T>& from) : Pinned(name, from.size()) {
    std::memcpy(data_, from.data(), size_ * sizeof(T));
  }
  ~Pinned() { cudaFreeHost(data_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  T* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// What it holds. Waits for nothing: an asynchronous copy that nobody has waited for is a finding.
  std::vector<T> host() const {
    std::vector<T> all(size_);
    for (std::size_t i = 0; i < size_; ++i) all[i] = data_[i];
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

/// What was compared: a row-major array.
struct Compared {
  const std::string& name;
  const std::string& shape;  ///< for which sizes: "n = 1000"
  const char* type;          ///< float, double, int or long
  std::size_t rows, cols;
  double tolerance;
  std::vector<double> expected = {}, got = {};
  std::vector<char> unwritten = {};
};

/// Ends the program unless an array has as many elements as it must.
TILEWISE_PUZZLE_FUNCTION void expect_size(const std::string& name, const std::string& shape, std::size_t size,
                                          std::size_t wanted);

/// Ends the program unless all that was compared is equal, to within the tolerance.
TILEWISE_PUZZLE_FUNCTION void expect_equal(const Compared& compared);

/// Ends the program unless got[row * cols + col] == expected(row, col) for all of them, bit for bit, or to within `tolerance`
/// where one is given. `name` is what the puzzle calls the array; `shape` says for which sizes this was, "n = 1000".
template <class T, class Expected>
void expect(const std::string& name, const std::string& shape, const std::vector<T>& got, std::size_t rows,
            std::size_t cols, Expected expected, double tolerance = 0) {
  expect_size(name, shape, got.size(), rows * cols);
  Compared all{
      name, shape, std::is_integral_v<T> ? sizeof(T) > 4 ? "long" : "int" : sizeof(T) == 8 ? "double" : "float",
      rows, cols,  tolerance};
  for (std::size_t i = 0; i < got.size(); ++i) {
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &got[i], sizeof(T));
    char unwritten = 1;
    for (const unsigned char byte : bytes) unwritten = unwritten && byte == kUnwritten<T>;
    all.expected.push_back(double(T(expected(i / cols, i % cols))));
    all.got.push_back(double(got[i]));
    all.unwritten.push_back(unwritten);
  }
  expect_equal(all);
}

/// The same of a vector: got[i] == expected(i).
template <class T, class Expected>
void expect(const std::string& name, const std::string& shape, const std::vector<T>& got, Expected expected,
            double tolerance = 0) {
  expect(
      name, shape, got, 1, got.size(), [&](std::size_t, std::size_t i) { return expected(i); }, tolerance);
}

/// Limits and predictions are about the launches from here on; of all launches where this is not called.
/// `make learn` gives such functions a token, to know that the check called them, and no one else.
TILEWISE_PUZZLE_FUNCTION void count_from_here(const char* token = "");

/// What the check ends with: all of it held.
TILEWISE_PUZZLE_FUNCTION int solved(const char* token = "");

/// For functions that leave their result in the host's memory. From watch_copies() on copies are watched; expect_from_gpu() ends the
/// program unless copies from the GPU brought what `got` holds, `n` elements one after the other: the host could have computed it,
/// too. Programs that give memory of the host to kernels, and builds without the simulator, aren't looked at.
TILEWISE_PUZZLE_FUNCTION void watch_copies();
TILEWISE_PUZZLE_FUNCTION void expect_from_gpu(const std::string& name, const float* got, std::size_t n);

/// For functions that are to copy and compute at the same time. What is asked for between these two gets a place on a timeline, as on a
/// device that does one copy in each direction and one launch at a time, and on which a thread takes as long as a float takes to come.
/// Its length, in copies of `unit` bytes, is the count timeline_length; what the device copies out that copies out most, to the host and
/// to other devices, is most_sent. On a GPU both do nothing.
TILEWISE_PUZZLE_FUNCTION void timeline_from_here(std::size_t unit);
TILEWISE_PUZZLE_FUNCTION void timeline_to_here(const char* token = "");

}  // namespace puzzle

#ifdef TILEWISE_PUZZLE_APART
extern template class std::vector<float>;
extern template class std::vector<int>;
extern template class std::vector<double>;
extern template class std::vector<char>;
namespace puzzle {
extern template std::vector<float> values<float>(std::size_t, unsigned);
extern template std::vector<int> values<int>(std::size_t, unsigned);
extern template class Array<float>;
extern template class Array<int>;
extern template class Pinned<float>;
}  // namespace puzzle
#else
#include "tilewise/puzzle_functions.hpp"
#endif
