// Is y = A x right for one matrix? The one function that every right kernel must pass and every wrong one must fail.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "csr_spmv.cuh"
#include "guarded_memory.hpp"
#include "tilewise/csr.hpp"
#include "tilewise/device.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/random.hpp"

/// What a kernel gets. All pointers are to device memory.
template <class T>
struct SpmvOperands {
  int rows, cols, nnz;
  const int *row_ptr, *col_index;
  const T *values, *x;
  T* y;
  SpmvPlan<T> plan;
};

template <class T>
using SpmvLaunch = std::function<cudaError_t(const SpmvOperands<T>&)>;

/// An array in the middle of a larger allocation, aligned as cudaMalloc() aligns. Whoever reads or writes beside it
/// shows: a floating-point margin spoils every sum, and a margin written to is found.
template <class T>
class Guarded {
 public:
  static constexpr std::size_t kMargin = 2048;

  Guarded(const std::vector<T>& values, T margin) : host_(values.size() + 2 * kMargin, margin) {
    std::copy(values.begin(), values.end(), host_.begin() + kMargin);
    device_ = tilewise::DeviceBuffer<T>(host_);
  }
  T* data() { return device_.data() + kMargin; }
  std::vector<T> values() const {
    const std::vector<T> all = device_.to_host();
    return {all.begin() + kMargin, all.end() - kMargin};
  }
  bool margins_intact() const {
    const std::vector<T> all = device_.to_host();
    return same_bits(all.data(), host_.data(), kMargin) &&
           same_bits(all.data() + all.size() - kMargin, host_.data() + all.size() - kMargin, kMargin);
  }
  bool intact() const { return same_bits(device_.to_host().data(), host_.data(), host_.size()); }
  void restore() { device_.upload(host_); }

 private:
  static bool same_bits(const T* a, const T* b, std::size_t size) { return std::memcmp(a, b, size * sizeof(T)) == 0; }
  std::vector<T> host_;
  tilewise::DeviceBuffer<T> device_;
};

/// Runs the kernel between margins, with y poisoned, twice with the same plan, and looks at everything it may have
/// done. On the simulator it runs once more on arrays that end where their allocations end, so that reading beyond them
/// is seen. `exact`: A and x hold integers, and no error at all is allowed.
template <class T>
Verdict check_spmv_values(const SpmvLaunch<T>& launch, const tilewise::Csr<T>& A, const std::vector<T>& x_values,
                          bool exact) {
  const tilewise::SpmvReference<T> reference(A, x_values);
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  Verdict verdict;
  NewFindings findings;
  const int nnz = static_cast<int>(A.nnz());
  const auto look = [&](const std::vector<T>& y, const char* when) {
    const tilewise::Comparison comparison = exact ? reference.check_exact(y) : reference.check(y);
    if (verdict.comparison.ok) verdict.comparison = comparison;
    if (!comparison.ok) verdict.add(Fault::wrong_value, when + comparison.text());
  };
  const auto run = [&](SpmvOperands<T>& operands, void* plan_memory) {
    cudaError_t status =
        launch_spmv_plan(A.rows, A.cols, nnz, operands.row_ptr, operands.col_index, plan_memory, &operands.plan);
    if (status == cudaSuccess) status = launch(operands);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status == cudaSuccess) return true;
    cudaGetLastError();
    verdict.add(Fault::launch_failed, cudaGetErrorString(status));
    return false;
  };

  const std::vector<T> poison(static_cast<std::size_t>(A.rows), nan);
  const std::size_t plan_bytes = spmv_plan_bytes<T>(A.rows, nnz);  // not one more
  {
    Guarded<int> row_ptr(A.row_ptr, 0), col_index(A.col_index, 0);
    Guarded<T> values(A.values, nan), x(x_values, nan), y(poison, T(-1.2345678e33f));
    tilewise::DeviceBuffer<unsigned char> plan_memory(plan_bytes);
    SpmvOperands<T> operands{A.rows,   A.cols,   nnz, row_ptr.data(), col_index.data(), values.data(),
                             x.data(), y.data(), {}};
    bool ran = run(operands, plan_memory.data());
    if (ran) look(y.values(), "");
    if (ran && !exact && verdict.right()) {  // once more, as a plan promises
      y.restore();
      ran = launch(operands) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
      if (ran) look(y.values(), "second time: ");
    }
    if (ran) {
      if (!y.margins_intact()) verdict.add(Fault::outside_written, "memory around y was written");
      if (!row_ptr.intact() || !col_index.intact() || !values.intact() || !x.intact())
        verdict.add(Fault::input_changed, "an input was changed");
    }
    if (const std::string text = findings.take(); !text.empty()) verdict.add(Fault::finding, text);
  }

  if (tilewise::is_simulated() && !exact && verdict.right()) {
    {
      const tilewise::DeviceBuffer<int> row_ptr(A.row_ptr), col_index(A.col_index);
      const tilewise::DeviceBuffer<T> values(A.values), x(x_values);
      tilewise::DeviceBuffer<T> y(poison.size());
      tilewise::DeviceBuffer<unsigned char> plan_memory(plan_bytes);
      y.poison();
      SpmvOperands<T> operands{A.rows,   A.cols,   nnz, row_ptr.data(), col_index.data(), values.data(),
                               x.data(), y.data(), {}};
      run(operands, plan_memory.data());
      if (const std::string text = findings.take(); !text.empty()) verdict.add(Fault::finding, text);
    }
    if (verdict.has(Fault::launch_failed)) cudaDeviceReset();  // an access out of bounds is the end of a context
  }
  return verdict;
}

/// The same for a structure: with random values, within their rounding bound, and with small integers, exactly.
template <class T>
Verdict check_spmv(const SpmvLaunch<T>& launch, tilewise::Csr<T> A, std::uint64_t seed,
                   tilewise::Distribution distribution = tilewise::Distribution::uniform) {
  const auto cols = static_cast<std::size_t>(A.cols);
  A.values = tilewise::random_values<T>(A.nnz(), 3 * seed, distribution);
  Verdict verdict =
      check_spmv_values<T>(launch, A, tilewise::random_values<T>(cols, 3 * seed + 1, distribution), false);
  if (!verdict.right()) return verdict;
  A.values = tilewise::random_values<T>(A.nnz(), 3 * seed + 2, tilewise::Distribution::integers);
  const Verdict integers = check_spmv_values<T>(
      launch, A, tilewise::random_values<T>(cols, 3 * seed + 3, tilewise::Distribution::integers), true);
  verdict.faults |= integers.faults;
  verdict.text += integers.text;
  return verdict;
}

/// A structure to test, with a name.
struct SpmvShape {
  std::string name;
  int cols;
  std::vector<std::int32_t> lengths;  ///< of the rows
};

inline SpmvShape rows_of(const std::string& name, int rows, int cols, const std::function<int(int)>& length) {
  SpmvShape shape{name, cols, {}};
  for (int row = 0; row < rows; ++row) shape.lengths.push_back(length(row));
  return shape;
}

/// Rows of every kind: none, one, empty ones, primes, around 32 lanes, around what the balanced kernel does not cut,
/// around its tiles; long rows in front, in the middle, at the end, several, and nothing but long rows.
inline const std::vector<SpmvShape>& spmv_shapes() {
  static const std::vector<SpmvShape> shapes = [] {
    std::vector<SpmvShape> list;
    const auto add = [&](const char* name, int rows, int cols, const std::function<int(int)>& length) {
      list.push_back(rows_of(name, rows, cols, length));
    };
    add("no rows", 0, 5, [](int) { return 0; });
    add("no columns", 7, 0, [](int) { return 0; });
    add("nothing at all", 0, 0, [](int) { return 0; });
    add("one element", 1, 1, [](int) { return 1; });
    add("one empty row", 1, 1, [](int) { return 0; });
    add("only empty rows", 4500, 3, [](int) { return 0; });
    add("diagonal lengths", 300, 300, [](int) { return 1; });
    add("a column", 277, 1, [](int) { return 1; });
    add("a column with holes", 277, 1, [](int row) { return row % 3 == 0; });
    for (int length : {2, 3, 31, 32, 33, 63, 64, 65, 127, 300, 960, 961, 962, 1023, 1024, 1025, 5003})
      list.push_back(rows_of("one row of " + std::to_string(length), 1, length, [=](int) { return length; }));
    for (int length : {1, 2, 4, 5, 7, 27, 40, 64, 65})
      list.push_back(rows_of("rows of " + std::to_string(length), 67, 211, [=](int) { return length; }));
    add("rising", 97, 101, [](int row) { return row; });
    add("falling", 97, 101, [](int row) { return 96 - row; });
    add("every second row empty", 201, 37, [](int row) { return row % 2 * 5; });
    add("seven of eight empty", 603, 64, [](int row) { return row % 8 == 3 ? 40 : 0; });
    add("a full row in front", 150, 2999, [](int row) { return row == 0 ? 2999 : 3; });
    add("a full row in the middle", 150, 2999, [](int row) { return row == 111 ? 2999 : 3; });
    add("a full row at the end", 150, 2999, [](int row) { return row == 149 ? 2999 : 3; });
    add("a full row among empty ones", 400, 4001, [](int row) { return row == 250 ? 4001 : 0; });
    add("only long rows", 5, 1500, [](int row) { return 1100 + row; });
    add("long and short by turns", 30, 500, [](int row) { return row % 2 == 0 ? 333 : 1; });
    add("lengths around the uncut", 120, 70, [](int row) { return 60 + row % 10; });
    add("two long rows in one tile", 50, 700, [](int row) { return row == 20 || row == 22 ? 700 : 2; });
    add("a long row, then many empty ones", 1500, 1300, [](int row) { return row == 0 ? 1300 : 0; });
    add("many empty rows, then a long one", 1500, 1300, [](int row) { return row == 1499 ? 1300 : 0; });
    add("heads and tails", 350, 90, [](int row) { return row * 37 % 89 == 0 ? 90 : row * 53 % 7; });
    return list;
  }();
  return shapes;
}

template <class T>
tilewise::Csr<T> matrix_of(const SpmvShape& shape, std::uint64_t seed) {
  return tilewise::csr_of_lengths<T>(shape.lengths, shape.cols, seed);
}

/// Structures on one of which a wrong kernel must fail.
template <class T>
Verdict check_spmv_mutant(const SpmvLaunch<T>& launch) {
  Verdict all;
  for (const SpmvShape& shape :
       {rows_of("mixed", 203, 300, [](int row) { return row % 5 == 0 ? 0 : row * 7 % 60; }),
        rows_of("long", 70, 3001, [](int row) { return row == 30   ? 3001
                                                       : row == 35 ? 900
                                                                   : 3; }),
        rows_of("short", 333, 111, [](int row) { return 5 + row % 3; })}) {
    const Verdict one = check_spmv<T>(launch, matrix_of<T>(shape, 5), 7);
    all.faults |= one.faults;
    if (!one.right()) all.text += shape.name + ": " + one.text + "\n";
  }
  return all;
}
