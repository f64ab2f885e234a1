// Chapter 06: every kernel on rows of every kind, what it costs in requests and sectors, the kernel with exchanged
// indices, and the wrong kernels that the same check must reject.
#include "csr_spmv.cuh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "06_csr_spmv/check_spmv.hpp"
#include "06_csr_spmv/mutants/mutants.cuh"
#include "catch.hpp"
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
        memory(spmv_plan_bytes<T>(A.rows, static_cast<int>(A.nnz())) / 8 + 1) {
    operands = {A.rows,   A.cols, static_cast<int>(A.nnz()), row_ptr.data(), col_index.data(), values.data(), x.data(),
                y.data(), {}};
    REQUIRE(launch_spmv_plan(A.rows, A.cols, operands.nnz, row_ptr.data(), col_index.data(), memory.data(),
                             &operands.plan) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    y.poison();
  }
  tilewise::DeviceBuffer<int> row_ptr, col_index;
  tilewise::DeviceBuffer<T> values, x, y;
  tilewise::DeviceBuffer<double> memory;
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
    const SpmvFound found = OnDevice<float>(A).operands.plan.found;
    REQUIRE(found.longest_row == static_cast<int>(A.longest_row()));
    REQUIRE(found.near_rows == near);
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
    REQUIRE(d.operands.plan.found.longest_row == longest);
    const auto as_planned = counts_of(A, "spmv_balanced");
    d.operands.plan.found.longest_row = kSpmvShort + 1;
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
