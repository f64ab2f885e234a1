// Chapter 06: every kernel on rows of every kind, what it costs in requests and sectors, the kernel with exchanged
// indices, and the wrong kernels that the same check must reject.
#include "csr_spmv.cuh"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "06_csr_spmv/check_spmv.hpp"
#include "06_csr_spmv/mutants/mutants.cuh"
#include "catch.hpp"
#include "preprocess.hpp"
#include "tilewise/counters.hpp"
#include "tilewise/cusparse.hpp"

namespace {

using tilewise::Csr;
using tilewise::Distribution;

template <class T>
struct Kernel {
  std::string name;
  SpmvLaunch<T> launch;
};

/// All kernels; in double precision, where nothing but the type differs, with fewer numbers of lanes.
template <class T>
std::vector<Kernel<T>> kernels(cudaStream_t stream = nullptr) {
  using O = SpmvOperands<T>;
  std::vector<Kernel<T>> list;
  list.push_back({"spmv_scalar", [=](const O& o) {
                    return launch_spmv_scalar(o.rows, o.cols, o.nnz, o.row_ptr, o.col_index, o.values, o.x, o.y,
                                              stream);
                  }});
  for (int lanes : sizeof(T) == 4 ? std::vector{1, 2, 4, 8, 16, 32} : std::vector{1, 8, 32}) {
    list.push_back({"spmv_vector<" + std::to_string(lanes) + ">", [=](const O& o) {
                      return launch_spmv_vector(lanes, o.rows, o.cols, o.nnz, o.row_ptr, o.col_index, o.values, o.x,
                                                o.y, stream);
                    }});
    list.push_back({"spmv_unrolled<" + std::to_string(lanes) + ">", [=](const O& o) {
                      return launch_spmv_unrolled(lanes, o.rows, o.cols, o.nnz, o.row_ptr, o.col_index, o.values, o.x,
                                                  o.y, stream);
                    }});
  }
  list.push_back({"spmv_balanced", [=](const O& o) {
                    return launch_spmv_balanced(o.rows, o.cols, o.nnz, o.row_ptr, o.col_index, o.values, o.x, o.y,
                                                o.plan, stream);
                  }});
  list.push_back({"spmv", [=](const O& o) {
                    return launch_spmv(o.rows, o.cols, o.nnz, o.row_ptr, o.col_index, o.values, o.x, o.y, o.plan,
                                       stream);
                  }});
  return list;
}

/// A matrix on the device with its plan, for tests that launch by themselves.
template <class T>
struct OnDevice {
  explicit OnDevice(const Csr<T>& A, std::uint64_t seed = 1)
      : row_ptr(A.row_ptr),
        col_index(A.col_index),
        values(A.values),
        x(tilewise::random_values<T>(static_cast<std::size_t>(A.cols), seed)),
        y(static_cast<std::size_t>(A.rows)),
        memory(spmv_plan_bytes<T>(A.rows, static_cast<int>(A.nnz()))) {
    operands = {A.rows,   A.cols, static_cast<int>(A.nnz()), row_ptr.data(), col_index.data(), values.data(), x.data(),
                y.data(), {}};
    REQUIRE(launch_spmv_plan(A.rows, A.cols, operands.nnz, row_ptr.data(), col_index.data(), memory.data(),
                             &operands.plan) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    y.poison();
  }
  tilewise::DeviceBuffer<int> row_ptr, col_index;
  tilewise::DeviceBuffer<T> values, x, y;
  tilewise::DeviceBuffer<unsigned char> memory;
  SpmvOperands<T> operands;
};

}  // namespace

TEMPLATE_TEST_CASE("products are right for rows of every kind", "[spmv]", float, double) {
  REQUIRE(spmv_shapes().size() >= 40);
  std::uint64_t seed = 1;
  for (const SpmvShape& shape : spmv_shapes()) {
    const Csr<TestType> A = matrix_of<TestType>(shape, ++seed);
    for (const Kernel<TestType>& kernel : kernels<TestType>()) {
      const Verdict verdict = check_spmv<TestType>(kernel.launch, A, seed);
      INFO(kernel.name << ", " << shape.name << ": " << verdict.text);
      REQUIRE(verdict.right());
      REQUIRE(verdict.comparison.checked == shape.lengths.size());
    }
  }
}

TEMPLATE_TEST_CASE("products are right for every kind of matrix that is generated", "[spmv]", float, double) {
  for (const std::string& name : tilewise::matrix_kind_names()) {
    for (std::int64_t rows : {1, 130}) {
      const Csr<TestType> A =
          tilewise::generate_csr<TestType>({tilewise::matrix_kind_from(name), rows, 9, 4, Distribution::uniform});
      for (const Kernel<TestType>& kernel : kernels<TestType>()) {
        const Verdict verdict = check_spmv<TestType>(kernel.launch, A, 2);
        INFO(kernel.name << ", " << name << " of " << rows << ": " << verdict.text);
        REQUIRE(verdict.right());
      }
    }
  }
}

TEMPLATE_TEST_CASE("products are right on all kinds of data, with several seeds", "[spmv]", float, double) {
  const Distribution distribution =
      GENERATE(Distribution::uniform, Distribution::wide, Distribution::cancel, Distribution::integers);
  const SpmvShape shape = rows_of("mixed", 150, 400, [](int row) { return row == 70 ? 400 : row % 9; });
  for (const Kernel<TestType>& kernel : kernels<TestType>()) {
    for (std::uint64_t seed : {11, 12}) {
      const Verdict verdict = check_spmv<TestType>(kernel.launch, matrix_of<TestType>(shape, seed), seed, distribution);
      INFO(kernel.name << ", seed " << seed << ", " << tilewise::to_string(distribution) << ": " << verdict.text);
      REQUIRE(verdict.right());
    }
  }
}

TEST_CASE("columns in any order, and twice", "[spmv]") {
  Csr<float> A = matrix_of<float>(rows_of("mixed", 120, 90, [](int row) { return row * 5 % 71; }), 3);
  for (std::size_t e = 0; e < A.nnz(); ++e) A.col_index[e] = static_cast<int>((e * 7919) % 90);
  for (const Kernel<float>& kernel : kernels<float>()) {
    INFO(kernel.name);
    REQUIRE(check_spmv<float>(kernel.launch, A, 1).right());
  }
}

TEST_CASE("an infinite or NaN element of x spoils the rows that use it, and no others", "[spmv]") {
  const Csr<float> A = matrix_of<float>(rows_of("mixed", 300, 64, [](int row) { return row % 13; }), 3);
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    for (const std::size_t at : {0, 40}) {
      std::vector<float> x = tilewise::random_vector(64, 5);
      x[at] = bad;
      for (const Kernel<float>& kernel : kernels<float>()) {
        const Verdict verdict = check_spmv_values<float>(kernel.launch, A, x, false);
        INFO(kernel.name << ": " << verdict.text);
        REQUIRE(verdict.right());
      }
    }
  }
}

TEST_CASE("a tile may begin at any nonzero of a long row, aligned or not", "[spmv]") {
  // A row in front shifts the long one, and with it the places where it is cut, through all alignments of the loads.
  for (int shift = 0; shift < 34; ++shift) {
    const SpmvShape shape = rows_of("shifted", 5, 2100, [=](int row) {
      return row == 0 ? shift : row == 2 ? 2100 : row == 4 ? 70 : 1;
    });
    for (const Kernel<double>& kernel : kernels<double>()) {
      if (kernel.name != "spmv_balanced") continue;
      const Verdict verdict = check_spmv<double>(kernel.launch, matrix_of<double>(shape, 9), 3);
      INFO(shift << ": " << verdict.text);
      REQUIRE(verdict.right());
    }
  }
}

TEST_CASE("columns and values at any address", "[spmv]") {
  Csr<float> A = matrix_of<float>(rows_of("mixed", 90, 1500, [](int row) { return row == 40 ? 1500 : row % 9; }), 3);
  const tilewise::SpmvReference<float> reference(A, tilewise::random_values<float>(1500, 1));
  const OnDevice<float> d(A);
  std::vector<int> col_index(A.col_index);
  std::vector<float> values(A.values);
  col_index.insert(col_index.begin(), 5, 0);
  values.insert(values.begin(), 3, 0.0f);
  const tilewise::DeviceBuffer<int> shifted_columns(col_index);
  const tilewise::DeviceBuffer<float> shifted_values(values);
  SpmvOperands<float> o = d.operands;
  o.col_index = shifted_columns.data() + 5;
  o.values = shifted_values.data() + 3;
  for (const Kernel<float>& kernel : kernels<float>()) {
    INFO(kernel.name);
    REQUIRE(kernel.launch(o) == cudaSuccess);
    REQUIRE(reference.check(d.y.to_host()).ok);
  }
}

TEST_CASE("the same bits every time", "[spmv]") {
  // The pieces of a cut row are added in the same order, whichever block was first.
  const OnDevice<float> d(matrix_of<float>(rows_of("long", 40, 9000, [](int row) { return row == 7 ? 9000 : 5; }), 3));
  std::vector<float> first;
  for (int i = 0; i < 5; ++i) {
    REQUIRE(kernels<float>()[13].name == "spmv_balanced");
    REQUIRE(kernels<float>()[13].launch(d.operands) == cudaSuccess);
    const std::vector<float> y = d.y.to_host();
    if (i == 0) first = y;
    REQUIRE(y == first);
  }
}

TEST_CASE("what a plan promises: tiles cover everything once, and only long rows are cut", "[spmv]") {
  for (const SpmvShape& shape : spmv_shapes()) {
    const Csr<float> A = matrix_of<float>(shape, 1);
    const OnDevice<float> d(A);
    const SpmvPlan<float>& plan = d.operands.plan;
    const int nnz = d.operands.nnz;
    std::vector<SpmvCut> cuts(static_cast<std::size_t>(plan.tiles) + 1);
    REQUIRE(cudaMemcpy(cuts.data(), plan.cuts, cuts.size() * sizeof(SpmvCut), cudaMemcpyDeviceToHost) == cudaSuccess);
    INFO(shape.name);
    REQUIRE(cuts.front().row == 0);
    REQUIRE(cuts.front().e == 0);
    REQUIRE(cuts.back().row == A.rows);
    REQUIRE(cuts.back().e == nnz);
    for (std::size_t t = 0; t + 1 < cuts.size(); ++t) {
      REQUIRE(cuts[t].row <= cuts[t + 1].row);
      REQUIRE(cuts[t].e <= cuts[t + 1].e);
      REQUIRE(cuts[t + 1].e - (cuts[t].e & ~31) <= kSpmvCapacity);
      REQUIRE(cuts[t + 1].row - cuts[t].row <= kSpmvCapacity);
      const auto row = static_cast<std::size_t>(cuts[t].row);
      REQUIRE(cuts[t].is_cut == (cuts[t].e != A.row_ptr[row]));
      const bool goes_on = t > 0 && cuts[t].is_cut != 0 && (cuts[t - 1].row != cuts[t].row || cuts[t - 1].is_cut == 0);
      REQUIRE((cuts[t].last_tile != 0) == goes_on);
      if (goes_on) {
        const SpmvCut& end = cuts[static_cast<std::size_t>(cuts[t].last_tile) + 1];
        REQUIRE(cuts[static_cast<std::size_t>(cuts[t].last_tile)].row == cuts[t].row);
        REQUIRE(end.row > cuts[t].row);
      }
      if (cuts[t].e != A.row_ptr[row]) {
        REQUIRE(A.row_length(row) > kSpmvShort);
        REQUIRE(cuts[t].e > A.row_ptr[row]);
        REQUIRE(cuts[t].e < A.row_ptr[row + 1]);
      }
    }
  }
}

TEST_CASE("what a plan finds in a matrix", "[spmv]") {
  for (const SpmvShape& shape : spmv_shapes()) {
    const Csr<float> A = matrix_of<float>(shape, 7);
    int near = 0;
    const auto middle = [&](int row) {
      return A.col_index[A.row_ptr[row] + (A.row_ptr[row + 1] - A.row_ptr[row]) / 2];
    };
    for (int row = 0; row + 1 < A.rows; ++row)
      if (A.row_length(row) > 0 && A.row_length(row + 1) > 0) near += std::abs(middle(row) - middle(row + 1)) <= 32;
    INFO(shape.name);
    const SpmvRowStats stats = OnDevice<float>(A).operands.plan.stats;
    REQUIRE(stats.longest_row == static_cast<int>(A.longest_row()));
    REQUIRE(stats.near_rows == near);
  }
}

TEST_CASE("lanes for a mean row", "[spmv]") {
  STATIC_REQUIRE(spmv_lanes(0, 1) == 1);
  STATIC_REQUIRE(spmv_lanes(1, 1) == 1);
  STATIC_REQUIRE(spmv_lanes(1.01, 1) == 2);
  STATIC_REQUIRE(spmv_lanes(27, 1) == 32);
  STATIC_REQUIRE(spmv_lanes(1e9, 1) == 32);
  STATIC_REQUIRE(spmv_lanes(5, 8) == 1);
  STATIC_REQUIRE(spmv_lanes(26.8, 8) == 4);
  STATIC_REQUIRE(spmv_lanes(100, 8) == 16);
}

TEST_CASE("what cannot be is refused, and y is left alone", "[spmv]") {
  const Csr<float> A = matrix_of<float>(rows_of("small", 20, 30, [](int) { return 4; }), 1);
  OnDevice<float> d(A);
  const auto refused = [&](const SpmvOperands<float>& o) {
    for (const Kernel<float>& kernel : kernels<float>()) {
      INFO(kernel.name);
      REQUIRE(kernel.launch(o) == cudaErrorInvalidValue);
    }
  };
  SpmvOperands<float> o = d.operands;
  o.rows = -1;
  refused(o);
  o = d.operands;
  o.cols = -1;
  refused(o);
  o = d.operands;
  o.nnz = -1;
  refused(o);
  o = d.operands;
  o.nnz = 0x7fffffff;
  refused(o);
  o = d.operands;
  o.rows = kSpmvMost + 1;
  refused(o);
  const auto& c = d.operands;
  for (int lanes : {-1, 0, 3, 5, 33, 64}) {
    REQUIRE(launch_spmv_vector(lanes, c.rows, c.cols, c.nnz, c.row_ptr, c.col_index, c.values, c.x, c.y) ==
            cudaErrorInvalidValue);
    REQUIRE(launch_spmv_unrolled(lanes, c.rows, c.cols, c.nnz, c.row_ptr, c.col_index, c.values, c.x, c.y) ==
            cudaErrorInvalidValue);
  }
  REQUIRE(launch_spmv_balanced(c.rows, c.cols, c.nnz, c.row_ptr, c.col_index, c.values, c.x, c.y, SpmvPlan<float>{}) ==
          cudaErrorInvalidValue);  // no plan of this matrix
  SpmvPlan<float> plan;
  const auto planned = [&](int nnz, std::size_t offset) {
    void* memory = reinterpret_cast<char*>(d.memory.data()) + offset;
    return launch_spmv_plan(c.rows, c.cols, nnz, c.row_ptr, c.col_index, memory, &plan);
  };
  REQUIRE(planned(-1, 0) == cudaErrorInvalidValue);
  REQUIRE(planned(c.nnz, 8) == cudaErrorInvalidValue);
  REQUIRE(launch_spmv_wrong(c.rows, c.cols, c.nnz, c.row_ptr, c.col_index, c.values, c.x, c.y) ==
          cudaErrorInvalidValue);  // more nonzeros than columns: it would read x beyond its end
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  for (const float y : d.y.to_host()) REQUIRE(std::isnan(y));
}

TEST_CASE("kernels run on the stream they are given", "[spmv]") {
  const tilewise::Stream stream;
  const SpmvShape shape = rows_of("mixed", 150, 2000, [](int row) { return row == 70 ? 2000 : row % 9; });
  for (const Kernel<float>& kernel : kernels<float>(stream.get())) {
    const auto launch = [&](const SpmvOperands<float>& o) {
      cudaStreamSynchronize(nullptr);  // the plan is made there
      const cudaError_t status = kernel.launch(o);
      return status == cudaSuccess ? cudaStreamSynchronize(stream.get()) : status;
    };
    INFO(kernel.name);
    REQUIRE(check_spmv<float>(launch, matrix_of<float>(shape, 3), 1).right());
  }
}

TEMPLATE_TEST_CASE("cuSPARSE agrees, within the same bound", "[spmv]", float, double) {
  const Csr<TestType> A = tilewise::generate_csr<TestType>({tilewise::MatrixKind::zipf, 900, 12, 4, {}});
  OnDevice<TestType> d(A);
  const tilewise::CusparseHandle handle;
  const tilewise::CusparseCsr matrix(A.rows, A.cols, static_cast<std::int64_t>(A.nnz()), d.row_ptr.data(),
                                     d.col_index.data(), d.values.data());
  const tilewise::CusparseVector x(A.cols, d.x.data()), y(A.rows, d.y.data());
  const TestType one = 1, zero = 0;
  std::size_t bytes = 0;
  const auto type = tilewise::cuda_data_type<TestType>();
  CUSPARSE_CHECK(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x, &zero, y, type,
                                         CUSPARSE_SPMV_CSR_ALG2, &bytes));
  tilewise::DeviceBuffer<double> buffer(bytes / 8 + 1);
  CUSPARSE_CHECK(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x, &zero, y, type,
                              CUSPARSE_SPMV_CSR_ALG2, buffer.data()));
  const tilewise::SpmvReference<TestType> reference(A, d.x.to_host());
  REQUIRE(reference.check(d.y.to_host()).ok);
}

// ------------------------------------------------------------------------------------------ the kernel that is wrong

namespace {

/// What spmv_wrong() makes of A and x, and the same mistake on the CPU.
struct WrongTwice {
  tilewise::Comparison gpu_against_cpu, gpu_against_reference;
};

WrongTwice run_wrong(const Csr<float>& A, const std::vector<float>& x) {
  const tilewise::DeviceBuffer<int> row_ptr(A.row_ptr), col_index(A.col_index);
  const tilewise::DeviceBuffer<float> values(A.values), dx(x);
  tilewise::DeviceBuffer<float> y(static_cast<std::size_t>(A.rows));
  y.poison();
  REQUIRE(launch_spmv_wrong(A.rows, A.cols, static_cast<int>(A.nnz()), row_ptr.data(), col_index.data(), values.data(),
                            dx.data(), y.data()) == cudaSuccess);
  const std::vector<float> got = y.to_host();
  std::vector<double> twin, bound;
  for (std::size_t row = 0; row < static_cast<std::size_t>(A.rows); ++row) {
    double sum = 0, magnitude = 0;
    for (int e = A.row_ptr[row]; e < A.row_ptr[row + 1]; ++e) {
      const double product = double{x[e]} * A.values[A.col_index[e]];
      sum += product;
      magnitude += std::abs(product);
    }
    twin.push_back(sum);
    bound.push_back(tilewise::error_bound(static_cast<std::size_t>(A.row_ptr[row + 1] - A.row_ptr[row]), magnitude));
  }
  const tilewise::SpmvReference<float> reference(A, x);
  return {tilewise::compare(got, twin, bound, got.size(), 1), reference.check(got)};
}

/// 200 columns, 200 nonzeros.
Csr<float> two_per_row() {
  return matrix_of<float>(rows_of("two per row", 100, 200, [](int) { return 2; }), 3);
}

}  // namespace

TEST_CASE("exchanged indices: CPU and GPU agree, and both are wrong", "[wrong]") {
  const Csr<float> A = two_per_row();
  const WrongTwice said = run_wrong(A, tilewise::random_vector(200, 1));
  REQUIRE(said.gpu_against_cpu.ok);
  REQUIRE_FALSE(said.gpu_against_reference.ok);
  REQUIRE(said.gpu_against_reference.wrong > 90);
}

TEST_CASE("exchanged indices are right by luck: on a diagonal, and where all is 1", "[wrong]") {
  const int n = 500;
  Csr<float> diagonal = matrix_of<float>(rows_of("diagonal", n, n, [](int) { return 1; }), 3);
  std::iota(diagonal.col_index.begin(), diagonal.col_index.end(), 0);
  REQUIRE(run_wrong(diagonal, tilewise::random_vector(n, 1)).gpu_against_reference.ok);
  Csr<float> ones = two_per_row();
  std::fill(ones.values.begin(), ones.values.end(), 1.0f);
  REQUIRE(run_wrong(ones, std::vector<float>(200, 1.0f)).gpu_against_reference.ok);
  // One exchange of two rows of the diagonal is enough.
  std::swap(diagonal.col_index[3], diagonal.col_index[77]);
  const WrongTwice said = run_wrong(diagonal, tilewise::random_vector(n, 1));
  REQUIRE(said.gpu_against_reference.wrong == 2);
  REQUIRE(said.gpu_against_reference.first_wrong.row == 3);
}

// ------------------------------------------------------------------------------------------------------- counts

namespace {

template <class T>
std::optional<tilewise::Counts> counts_of(const Csr<T>& A, const std::string& name) {
  const OnDevice<T> d(A);
  for (const Kernel<T>& kernel : kernels<T>())
    if (kernel.name == name) return tilewise::count([&] { REQUIRE(kernel.launch(d.operands) == cudaSuccess); });
  FAIL("no kernel is called " << name);
  return {};
}

}  // namespace

TEST_CASE("one thread per row: neighbouring threads read a row apart", "[spmv][counts]") {
  // 256 rows of 32 nonzeros: each of 8 warps asks 2 + 32 * 3 times. Rows are 128 bytes long, so that a request for 32
  // values has 32 sectors, of which it uses an eighth.
  const Csr<float> A = matrix_of<float>(rows_of("rows of 32", 256, 100, [](int) { return 32; }), 1);
  const auto scalar = counts_of(A, "spmv_scalar");
  if (!scalar) return;  // a GPU does not count
  const auto vector = counts_of(A, "spmv_vector<32>");
  const auto unrolled = counts_of(A, "spmv_unrolled<4>");
  REQUIRE(scalar->global_load_bytes >= 256 * 32 * 12);
  REQUIRE(scalar->global_load_requests >= 8u * 32 * 3);
  REQUIRE(vector->global_load_requests <= 256u * (3 + 2));
  // Without x: columns and values.
  REQUIRE(scalar->global_load_sectors > 8 * 32 * 2 * 32);
  REQUIRE(vector->global_load_sectors < 256 * (2 * 4 + 2 + 14));
  REQUIRE(unrolled->sectors_per_load() < scalar->sectors_per_load());
}

TEST_CASE("a long row leaves lanes idle, and a balanced tile does not", "[spmv][counts]") {
  // One row of 1,600 among 511 of 2. A warp of spmv_scalar with that row makes 1,600 steps with one lane at work.
  const Csr<float> A =
      matrix_of<float>(rows_of("one long row", 512, 1600, [](int row) { return row == 100 ? 1600 : 2; }), 1);
  const auto scalar = counts_of(A, "spmv_scalar");
  if (!scalar) return;
  const auto balanced = counts_of(A, "spmv_balanced");
  const double words_per_request =
      static_cast<double>(scalar->global_load_bytes) / 4 / static_cast<double>(scalar->global_load_requests);
  REQUIRE(scalar->global_load_requests > 3 * 1600u);
  REQUIRE(words_per_request < 3);  // of 32 lanes
  REQUIRE(balanced->global_load_requests < scalar->global_load_requests / 5);
}

TEST_CASE("the balanced kernel asks for columns and values line by line", "[spmv][counts]") {
  const Csr<float> A = matrix_of<float>(rows_of("rows of 27", 1000, 1000, [](int) { return 27; }), 1);
  const auto counts = counts_of(A, "spmv_balanced");
  if (!counts) return;
  // 27,000 nonzeros, 32 per request: columns, values, x. Edges of tiles, cuts and row_ptr come on top.
  const unsigned requests = 27000 / 32;
  const unsigned tiles = 1 + (27000 + 1000) / kSpmvTile;
  REQUIRE(counts->global_load_requests >= 3 * requests);
  REQUIRE(counts->global_load_requests <= 3 * requests + tiles * 4 * (3 + 2 * 2));  // 4 warps
  // Columns and values have 4 sectors per request, x at most 32.
  REQUIRE(counts->global_load_sectors <= (2 * 4 + 32) * requests + tiles * 4 * 30);
  REQUIRE(counts->global_store_bytes == 1000 * 4);  // y once, no pieces
  REQUIRE(counts->atomic_requests == 0);
  REQUIRE(counts->shared_conflicts < counts->shared_wavefronts() / 10);  // only where rows begin
}

TEST_CASE("lanes per row where rows are alike and near, else the balanced kernel", "[spmv][counts]") {
  for (const std::string& name : tilewise::matrix_kind_names()) {
    const Csr<float> A = tilewise::generate_csr<float>({tilewise::matrix_kind_from(name), 5000, 16, 4, {}});
    const auto chosen = counts_of(A, "spmv");
    if (!chosen) return;  // a GPU does not count
    const bool regular = name.rfind("stencil", 0) == 0 || name == "banded";
    INFO(name);
    REQUIRE((chosen->shared_wavefronts() == 0) == regular);
    if (!regular) REQUIRE(chosen->global_load_requests == counts_of(A, "spmv_balanced")->global_load_requests);
  }
}

TEST_CASE("without a long row there is nothing to join", "[spmv][counts]") {
  const auto joins = [](int longest) -> std::optional<bool> {
    const Csr<float> A =
        matrix_of<float>(rows_of("one longest", 300, 400, [=](int row) { return row == 150 ? longest : 4; }), 1);
    OnDevice<float> d(A);
    REQUIRE(d.operands.plan.stats.longest_row == longest);
    const auto as_planned = counts_of(A, "spmv_balanced");
    d.operands.plan.stats.longest_row = kSpmvShort + 1;
    const auto joined = tilewise::count([&] {
      const SpmvOperands<float>& o = d.operands;
      REQUIRE(launch_spmv_balanced(o.rows, o.cols, o.nnz, o.row_ptr, o.col_index, o.values, o.x, o.y, o.plan) ==
              cudaSuccess);
    });
    if (!joined) return {};
    return as_planned->global_load_requests == joined->global_load_requests;
  };
  if (!joins(kSpmvShort)) return;  // a GPU does not count
  REQUIRE_FALSE(*joins(kSpmvShort));
  REQUIRE(*joins(kSpmvShort + 1));
}

TEST_CASE("a tile inside one long row takes x side by side", "[spmv][counts]") {
  // A full row: lane by lane the columns are 0, 1, 2 ..., so that 32 elements of x are 4 sectors.
  const Csr<float> A = matrix_of<float>(rows_of("full", 1, 9600, [](int) { return 9600; }), 1);
  const auto counts = counts_of(A, "spmv_balanced");
  if (!counts) return;
  REQUIRE(counts->global_load_requests >= 3 * 300u);
  REQUIRE(counts->sectors_per_load() < 6);
  const unsigned pieces = (9600 + kSpmvTile - 1) / kSpmvTile;
  REQUIRE(counts->global_store_bytes == (pieces + 1) * 4);  // then y
}

// -------------------------------------------------------------------------------------------------- preprocessing

TEST_CASE("after how many products preprocessing pays", "[preprocess]") {
  const auto after = [](double preprocessing, double with, double without) {
    const BreakEven pays = break_even(preprocessing, {with, 0}, {without, 0});
    REQUIRE(pays.kind == BreakEven::Kind::after);
    return pays.products;
  };
  REQUIRE(after(3, 1, 2) == 3);    // 3 + 3 * 1 = 3 * 2
  REQUIRE(after(3.5, 1, 2) == 4);  // three are not enough
  REQUIRE(after(0.5, 1, 2) == 1);
  REQUIRE(after(0, 1, 2) == 1);  // no sooner than the first
  REQUIRE(after(1, 0x1p-10, 0x2p-10) == 1024);
  for (int i = 1; i < 200; ++i) {  // the least number for which the definition holds
    const double preprocessing = 0.37 * i, with = 1 + 0.01 * (i % 7), without = with + 0.05 * (1 + i % 5);
    const auto total = [&](std::int64_t n) { return preprocessing + static_cast<double>(n) * (with - without); };
    const std::int64_t n = after(preprocessing, with, without);
    REQUIRE(total(n) <= 1e-9);
    if (n > 1) REQUIRE(total(n - 1) > -1e-9);
  }
}

TEST_CASE("preprocessing that never pays, and times that do not tell", "[preprocess]") {
  const auto kind = [](double preprocessing, ProductTime with, ProductTime without) {
    return break_even(preprocessing, with, without).kind;
  };
  REQUIRE(kind(1, {2, 0}, {1, 0}) == BreakEven::Kind::never);
  REQUIRE(kind(0, {2, 0}, {1, 0}) == BreakEven::Kind::never);           // slower products do not pay even for nothing
  REQUIRE(kind(1, {1, 0}, {1, 0}) == BreakEven::Kind::never);           // as fast
  REQUIRE(kind(1e300, {1, 0}, {2, 0}) == BreakEven::Kind::never);       // not in anybody's life
  REQUIRE(kind(1, {2, 0.4}, {1, 0.4}) == BreakEven::Kind::never);       // slower, beyond the spread
  REQUIRE(kind(1, {1, 0.4}, {2, 0.4}) == BreakEven::Kind::after);       // faster, beyond it
  REQUIRE(kind(1, {1, 0.25}, {1.125, 0}) == BreakEven::Kind::unclear);  // they differ by half of 0.25
  REQUIRE(kind(1, {1.1, 0}, {1, 0.3}) == BreakEven::Kind::unclear);
  REQUIRE(kind(1, {1, 0.1}, {1, 0.1}) == BreakEven::Kind::unclear);
  REQUIRE(BreakEven{BreakEven::Kind::after, 1234}.text() == "1,234");
  REQUIRE(BreakEven{BreakEven::Kind::never}.text() == "never");
  REQUIRE(BreakEven{BreakEven::Kind::unclear}.text() == "within the spread");
}

TEST_CASE("what is no time is refused", "[preprocess]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const double bad : {-1.0, nan, inf, -inf}) {
    REQUIRE_THROWS_AS(break_even(bad, {1, 0}, {2, 0}), std::invalid_argument);
    REQUIRE_THROWS_AS(break_even(1, {bad, 0}, {2, 0}), std::invalid_argument);
    REQUIRE_THROWS_AS(break_even(1, {1, bad}, {2, 0}), std::invalid_argument);
    REQUIRE_THROWS_AS(break_even(1, {1, 0}, {bad, 0}), std::invalid_argument);
    REQUIRE_THROWS_AS(break_even(1, {1, 0}, {2, bad}), std::invalid_argument);
  }
  REQUIRE_THROWS_AS(break_even(1, {0, 0}, {2, 0}), std::invalid_argument);  // a product takes time
  REQUIRE_THROWS_AS(break_even(1, {1, 0}, {0, 0}), std::invalid_argument);
}

namespace {

/// A lesson of one matrix that writes JSON, as main() makes it.
struct SmallLesson {
  explicit SmallLesson(const std::vector<const char*>& more = {}) {
    std::vector<const char*> words = {"program", "--json", file.c_str()};
    words.insert(words.end(), more.begin(), more.end());
    options.parse(static_cast<int>(words.size()), words.data());
    tilewise::LessonStyle style{.figure = tilewise::Figure::bytes};
    style.extra = {{"matrix"}, {"type"}};
    lesson.emplace(options, style);
  }
  /// What finish() wrote, without blanks.
  std::string json() {
    REQUIRE(lesson->finish() == tilewise::kAllRight);
    std::ifstream in(file);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    std::filesystem::remove(file);
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    return text;
  }
  const std::string file = (std::filesystem::temp_directory_path() / "tilewise-preprocess.json").string();
  tilewise::Options options{"99_test", "A test."};
  std::optional<tilewise::Lesson> lesson;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

tilewise::Timing timing_of(double ms) {
  tilewise::Timing timing;
  timing.timed = true;
  timing.ms = tilewise::statistics(std::vector<double>{ms, ms, ms});
  return timing;
}

}  // namespace

TEMPLATE_TEST_CASE("the JSON says what preprocessing takes and when it pays", "[preprocess]", float, double) {
  using T = TestType;
  SmallLesson small({"--no-time"});
  Csr<T> A = tilewise::generate_csr<T>({tilewise::MatrixKind::zipf, 700, 9, 4, {}});
  const int nnz = static_cast<int>(A.nnz());
  Problem<T> problem("zipf", A, small.options);
  REQUIRE(problem.plan_bytes() == spmv_plan_bytes<T>(700, nnz));
  Preprocessing preprocessing(*small.lesson, small.options, "auto");
  // Times are made up, in milliseconds; the rows are the program's.
  const auto run = [&](const std::string& name, const Spmv<T>& spmv, double ms) {
    tilewise::Outcome outcome = small.lesson->run(problem.variant(name, spmv, "auto", false));
    REQUIRE(outcome.status == tilewise::Status::ok);
    outcome.timing = timing_of(ms);
    return outcome;
  };
  CusparseSpmv<T> cusparse(problem, CUSPARSE_SPMV_CSR_ALG1);
  CusparseSpmv<T> one(problem, CUSPARSE_SPMV_CSR_ALG1, false), two(problem, CUSPARSE_SPMV_CSR_ALG2, false);
  preprocessing.simple(run("spmv_scalar", problem.product(launch_spmv_scalar<T>), 8));
  preprocessing.cusparse_unprepared(run("unprepared one", std::ref(one), 3));
  preprocessing.cusparse_unprepared(run("unprepared two", std::ref(two), 2.5));
  preprocessing.prepared(
      {"cuSPARSE", "its own", 77, run("cuSPARSE", std::ref(cusparse), 2), timing_of(2), tilewise::Record()});
  preprocessing.prepared({"spmv_balanced", "a plan", problem.plan_bytes(), run("spmv_balanced", problem.balanced(), 4),
                          timing_of(10), tilewise::Record().set("part", "of it")});
  preprocessing.finish(problem);
  const std::string json = small.json();
  const std::size_t second = json.find("\"kernel\":\"spmv_balanced\"");
  REQUIRE(second != std::string::npos);
  const std::string first_rows = json.substr(0, second), balanced = json.substr(second);
  REQUIRE(contains(first_rows, "\"preprocess_bytes\":77"));
  REQUIRE(contains(first_rows, "\"preprocess_seconds\":0.002"));
  REQUIRE(contains(first_rows, "\"break_even\":{\"spmv_scalar\":1,\"cusparse_unprepared\":4}"));  // 2/(8-2), 2/(2.5-2)
  REQUIRE(contains(balanced, "\"preprocess_bytes\":" + std::to_string(problem.plan_bytes())));
  REQUIRE(contains(balanced, "\"preprocess_by\":\"aplan\""));
  REQUIRE(contains(balanced, "\"part\":\"ofit\""));
  REQUIRE(contains(balanced, "\"break_even\":{\"spmv_scalar\":3,\"cusparse_unprepared\":\"never\"}"));  // 10/(8-4)
}

TEST_CASE("what a plan asks memory for is counted, and where it can be, timed", "[preprocess]") {
  SmallLesson small({"--repeat", "3"});
  Csr<float> A = tilewise::generate_csr<float>({tilewise::MatrixKind::stencil2d, 900, 9, 4, {}});
  Problem<float> problem("stencil2d", A, small.options);
  Preprocessing preprocessing(*small.lesson, small.options, "auto");
  std::map<std::string, tilewise::Outcome> outcomes;
  for (const auto& [name, spmv] : std::vector<std::pair<std::string, Spmv<float>>>{
           {"spmv_balanced", problem.balanced()}, {problem.chosen(), problem.product(launch_spmv_unrolled<float>, 1)}})
    outcomes[name] = small.lesson->run(problem.variant(name, spmv, "auto", false));
  REQUIRE(problem.chosen() == "spmv_unrolled<1>");
  preprocessing.simple(outcomes["spmv_unrolled<1>"]);
  preprocessing.plan(problem, outcomes);
  preprocessing.finish(problem);
  const auto cuts = tilewise::count([&] { problem.find_cuts(nullptr); });
  const auto stats = tilewise::count([&] { problem.measure_rows(nullptr); });
  const std::string json = small.json();
  REQUIRE(contains(json, "\"preprocess_bytes\":" + std::to_string(spmv_plan_bytes<float>(900, problem.nnz))));
  if (!cuts) {  // a GPU
    REQUIRE(contains(json, "\"preprocess_by\":\"launch_spmv_plan\""));
    REQUIRE(contains(json, "\"preprocess_samples\":3"));
    REQUIRE(contains(json, "\"spmv_row_stats_seconds\":"));
    REQUIRE(contains(json, "\"break_even\":{\"spmv_scalar\":"));
    return;
  }
  // Every row's begin and end once, and the middle columns of two rows.
  REQUIRE(stats->global_load_bytes <= 900u * 4 * (2 + 1 + 2));
  REQUIRE(stats->global_load_bytes > 890u * 4 * (2 + 1 + 2));
  REQUIRE(cuts->global_load_bytes < stats->global_load_bytes / 4);
  for (const auto& [name, counts] : {std::pair("spmv_cuts", *cuts), std::pair("spmv_row_stats", *stats)})
    REQUIRE(contains(json, "\"" + std::string(name) +
                               "\":{\"global_load_requests\":" + std::to_string(counts.global_load_requests) +
                               ",\"global_load_sectors\":" + std::to_string(counts.global_load_sectors)));
}

TEMPLATE_TEST_CASE("cuSPARSE with and without preprocessing, and after it was timed", "[preprocess]", float, double) {
  using T = TestType;
  SmallLesson small({"--no-time"});
  Csr<T> A = tilewise::generate_csr<T>({tilewise::MatrixKind::uniform, 300, 9, 4, {}});
  Problem<T> problem("uniform", A, small.options);
  for (const auto algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
    for (const bool preprocessed : {true, false}) {
      CusparseSpmv<T> spmv(problem, algorithm, preprocessed);
      const auto variant = problem.variant("cuSPARSE", std::ref(spmv), "auto", false);
      REQUIRE(small.lesson->run(variant).status == tilewise::Status::ok);
      const tilewise::CusparseHandle handle;
      const tilewise::CusparseCsr matrix(problem.rows, problem.cols, problem.nnz, problem.row_ptr.data(),
                                         problem.col_index.data(), problem.values.data());
      const tilewise::CusparseVector x(problem.cols, problem.x.data()), y(problem.rows, problem.y.data());
      const T one = 1, zero = 0;
      std::size_t bytes = 0;
      CUSPARSE_CHECK(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x, &zero, y,
                                             tilewise::cuda_data_type<T>(), algorithm, &bytes));
      REQUIRE(spmv.buffer_bytes() == bytes);
      if (!preprocessed) continue;
      REQUIRE(spmv.preprocess_time({.iterations = 2}).timed == !tilewise::is_simulated());
      variant.poison();
      variant.launch(nullptr);
      REQUIRE(variant.recheck().ok);
    }
  }
}

TEST_CASE("lanes at work: counted by hand, the same for both types, and never more than a warp has", "[counts]") {
  SmallLesson small;
  const auto lanes = [&](auto number, const SpmvShape& shape, const std::string& name, auto launch, auto... first) {
    using T = decltype(number);
    Csr<T> A = matrix_of<T>(shape, 3);
    Problem<T> problem("any", A, small.options);
    const auto spmv = name == "spmv_balanced" ? problem.balanced() : problem.product(launch, first...);
    const auto counts =
        tilewise::count([&] { CUDA_CHECK(spmv(problem.values.data(), problem.x.data(), problem.y.data(), nullptr)); });
    return counts ? problem.lanes_at_work(name, *counts) : -1;
  };
  const auto scalar = [&](auto number, const SpmvShape& shape) {
    return lanes(number, shape, "spmv_scalar", launch_spmv_scalar<decltype(number)>);
  };
  const auto warp = [&](auto number, const SpmvShape& shape) {
    return lanes(number, shape, "spmv_vector<32>", launch_spmv_vector<decltype(number)>, 32);
  };
  const auto balanced = [&](auto number, const SpmvShape& shape) {
    return lanes(number, shape, "spmv_balanced", launch_spmv_scalar<decltype(number)>);
  };
  const SpmvShape diagonal = rows_of("diagonal lengths", 48, 48, [](int) { return 1; });
  if (scalar(float(), diagonal) < 0) return;         // a GPU does not count
  REQUIRE(scalar(float(), diagonal) == Approx(24));  // 32 and 16, in every load
  REQUIRE(scalar(double(), diagonal) == Approx(24));
  const SpmvShape full = rows_of("rows of 32", 64, 99, [](int) { return 32; });
  REQUIRE(warp(float(), full) == Approx(32));
  REQUIRE(warp(double(), full) == Approx(32));
  for (const SpmvShape& shape : spmv_shapes()) {
    if (shape.lengths.empty()) continue;
    INFO(shape.name);
    const double f = balanced(float(), shape), d = balanced(double(), shape);
    REQUIRE(f > 0);
    REQUIRE(f <= 32);
    REQUIRE(std::abs(f - d) < 0.5);  // pieces of cut rows, see there
    REQUIRE(scalar(float(), shape) <= 32);
    REQUIRE(scalar(double(), shape) == Approx(scalar(float(), shape)));
  }
}

// ------------------------------------------------------------------------------------------------- wrong kernels

namespace {

SpmvLaunch<float> launch_of(spmv_mutants::RowKernel kernel) {
  return [=](const SpmvOperands<float>& o) {
    if (o.rows == 0) return cudaSuccess;
    kernel<<<(o.rows * 8 + 127) / 128, 128>>>(o.rows, o.row_ptr, o.col_index, o.values, o.x, o.y);
    return cudaGetLastError();
  };
}

SpmvLaunch<float> launch_of(spmv_mutants::TileKernel kernel, spmv_mutants::JoinKernel join) {
  return [=](const SpmvOperands<float>& o) {
    kernel<<<o.plan.tiles, kSpmvThreads>>>(o.row_ptr, o.col_index, o.values, o.x, o.y, o.plan);
    join<<<(o.plan.tiles + 255) / 256, 256>>>(o.row_ptr, o.y, o.plan);
    return cudaGetLastError();
  };
}

}  // namespace

TEST_CASE("the templates of the wrong kernels are right without a mistake", "[mutants]") {
  using namespace spmv_mutants;
  const Verdict rows = check_spmv_mutant<float>(launch_of(row_mutant<Bug::none>));
  INFO(rows.text);
  REQUIRE(rows.right());
  const Verdict tiles = check_spmv_mutant<float>(launch_of(tile_mutant<TileBug::none>, join_mutant<JoinBug::none>));
  INFO(tiles.text);
  REQUIRE(tiles.right());
}

TEST_CASE("every wrong kernel is rejected, and for its own mistake", "[mutants]") {
  for (const spmv_mutants::Mutant& mutant : spmv_mutants::mutants) {
    const Verdict verdict =
        check_spmv_mutant<float>(mutant.rows ? launch_of(mutant.rows) : launch_of(mutant.tiles, mutant.join));
    INFO(mutant.name << ": " << (verdict.right() ? "passed as right" : verdict.text));
    if (mutant.gpu_may_be_lucky && !tilewise::is_simulated()) {
      if (verdict.right()) WARN(mutant.name << " was lucky on this GPU");
      continue;
    }
    CHECK(verdict.has(mutant.fault));
    CHECK(verdict.text.find(mutant.finding) != std::string::npos);
  }
}
