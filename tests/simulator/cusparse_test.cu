// cuSPARSE's sparse matrix times vector, as it is on a GPU and on the simulator. What only the simulator can say, which
// pointer or index is wrong, is at the end.
#include <cusparse.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "expected_findings.hpp"
#include "tilewise/cusparse.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/random.hpp"

#ifdef TILEWISE_SIMULATOR
#include "tilewise_sim/library.hpp"
#endif

namespace {

using tilewise::CusparseCsr;
using tilewise::CusparseHandle;
using tilewise::CusparseVector;
using tilewise::DeviceBuffer;

constexpr cusparseSpMVAlg_t kAlgorithms[] = {CUSPARSE_SPMV_ALG_DEFAULT, CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2};

/// A CSR matrix of small integers: sums are exact. Some rows are empty, one is full.
template <class T>
struct Csr {
  Csr(int rows, int cols, std::uint64_t seed) : rows(rows), cols(cols) {
    const std::vector<float> dense =
        tilewise::random_vector(static_cast<std::size_t>(rows) * cols, seed, tilewise::Distribution::integers);
    row_ptr.push_back(0);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < cols; ++j) {
        const bool kept = i == rows / 2 || (i % 3 != 1 && (i * 7 + j * 5) % 4 == 0);
        if (!kept) continue;
        col.push_back(j);
        values.push_back(T(dense[static_cast<std::size_t>(i) * cols + j]));
      }
      row_ptr.push_back(static_cast<int>(col.size()));
    }
    device_row_ptr = DeviceBuffer<int>(row_ptr);
    device_col = DeviceBuffer<int>(col);
    device_values = DeviceBuffer<T>(values);
  }
  CusparseCsr description() const {
    return CusparseCsr(rows, cols, static_cast<std::int64_t>(col.size()), device_row_ptr.data(), device_col.data(),
                       device_values.data());
  }

  int rows, cols;
  std::vector<int> row_ptr, col;
  std::vector<T> values;
  DeviceBuffer<int> device_row_ptr, device_col;
  DeviceBuffer<T> device_values;
};

template <class T>
std::vector<T> vector_of(int size, std::uint64_t seed) {
  const std::vector<float> v = tilewise::random_vector(size, seed, tilewise::Distribution::integers);
  return {v.begin(), v.end()};
}

template <class T>
std::vector<T> expected_product(const Csr<T>& A, bool transposed, T alpha, const std::vector<T>& x, T beta,
                                const std::vector<T>& y) {
  std::vector<T> sums(y.size(), T(0));
  for (int row = 0; row < A.rows; ++row) {
    for (int i = A.row_ptr[row]; i < A.row_ptr[row + 1]; ++i) {
      if (transposed)
        sums[A.col[i]] += A.values[i] * x[row];
      else
        sums[row] += A.values[i] * x[A.col[i]];
    }
  }
  for (std::size_t i = 0; i < y.size(); ++i) sums[i] = alpha * sums[i] + (beta == T(0) ? T(0) : beta * y[i]);
  return sums;
}

template <class T>
void check_products() {
  CusparseHandle handle;
  const cudaDataType type = tilewise::cuda_data_type<T>();
  for (const auto& [rows, cols] : {std::pair<int, int>{1, 1}, {7, 5}, {5, 40}, {64, 64}, {100, 3}}) {
    for (const cusparseOperation_t op : {CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE}) {
      for (const cusparseSpMVAlg_t algorithm : kAlgorithms) {
        for (const auto& [alpha, beta] : {std::pair<T, T>{1, 0}, {2, -1}, {-0.5, 3}}) {
          for (const bool preprocess : {false, true}) {
            const bool transposed = op == CUSPARSE_OPERATION_TRANSPOSE;
            const Csr<T> A(rows, cols, 1);
            const std::vector<T> x = vector_of<T>(transposed ? rows : cols, 2);
            std::vector<T> y = vector_of<T>(transposed ? cols : rows, 3);
            if (beta == T(0)) y.assign(y.size(), std::numeric_limits<T>::quiet_NaN());  // must not be read
            const DeviceBuffer<T> device_x(x);
            DeviceBuffer<T> device_y(y);
            const CusparseCsr a = A.description();
            const CusparseVector vx(static_cast<std::int64_t>(x.size()), device_x.data());
            const CusparseVector vy(static_cast<std::int64_t>(y.size()), device_y.data());
            std::size_t bytes = 0;
            CUSPARSE_CHECK(cusparseSpMV_bufferSize(handle, op, &alpha, a, vx, &beta, vy, type, algorithm, &bytes));
            DeviceBuffer<char> buffer(bytes);
            if (preprocess)
              CUSPARSE_CHECK(
                  cusparseSpMV_preprocess(handle, op, &alpha, a, vx, &beta, vy, type, algorithm, buffer.data()));
            CUSPARSE_CHECK(cusparseSpMV(handle, op, &alpha, a, vx, &beta, vy, type, algorithm, buffer.data()));
            INFO(rows << " x " << cols << ", op " << op << ", algorithm " << algorithm << ", alpha " << alpha
                      << ", beta " << beta << ", preprocess " << preprocess);
            REQUIRE(device_y.to_host() == expected_product(A, transposed, alpha, x, beta, y));
          }
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("cusparseSpMV in float: operations, algorithms, alpha and beta", "[cusparse]") { check_products<float>(); }

TEST_CASE("cusparseSpMV in double: operations, algorithms, alpha and beta", "[cusparse]") { check_products<double>(); }

TEST_CASE("a cuSPARSE handle remembers its stream and pointer mode", "[cusparse]") {
  CusparseHandle handle;
  int version = 0;
  CHECK(cusparseGetVersion(handle, &version) == CUSPARSE_STATUS_SUCCESS);
  CHECK(version >= 12000);
  cudaStream_t stream = nullptr, got = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  CHECK(cusparseSetStream(handle, stream) == CUSPARSE_STATUS_SUCCESS);
  CHECK(cusparseGetStream(handle, &got) == CUSPARSE_STATUS_SUCCESS);
  CHECK(got == stream);
  cusparsePointerMode_t mode{};
  CHECK(cusparseGetPointerMode(handle, &mode) == CUSPARSE_STATUS_SUCCESS);
  CHECK(mode == CUSPARSE_POINTER_MODE_HOST);
  CHECK(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_DEVICE) == CUSPARSE_STATUS_SUCCESS);
  CHECK(cusparseSetStream(handle, nullptr) == CUSPARSE_STATUS_SUCCESS);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(std::string(cusparseGetErrorName(CUSPARSE_STATUS_INVALID_VALUE)) == "CUSPARSE_STATUS_INVALID_VALUE");
  CHECK(std::string(cusparseGetErrorString(CUSPARSE_STATUS_INVALID_VALUE)).size() > 5);
}

TEST_CASE("descriptions say what they were given", "[cusparse]") {
  const Csr<float> A(7, 5, 1);
  const CusparseCsr a = A.description();
  std::int64_t rows = 0, cols = 0, nnz = 0;
  CHECK(cusparseSpMatGetSize(a, &rows, &cols, &nnz) == CUSPARSE_STATUS_SUCCESS);
  CHECK(rows == 7);
  CHECK(cols == 5);
  CHECK(nnz == static_cast<std::int64_t>(A.col.size()));
  cusparseIndexBase_t base{};
  CHECK(cusparseSpMatGetIndexBase(a, &base) == CUSPARSE_STATUS_SUCCESS);
  CHECK(base == CUSPARSE_INDEX_BASE_ZERO);
  cusparseFormat_t format{};
  CHECK(cusparseSpMatGetFormat(a, &format) == CUSPARSE_STATUS_SUCCESS);
  CHECK(format == CUSPARSE_FORMAT_CSR);
}

TEST_CASE("cuSPARSE refuses what cannot be", "[cusparse]") {
  CusparseHandle handle;
  const Csr<float> A(7, 5, 1);
  cusparseSpMatDescr_t description = nullptr;
  CHECK(cusparseCreateCsr(&description, -1, 5, 3, const_cast<int*>(A.device_row_ptr.data()),
                          const_cast<int*>(A.device_col.data()), const_cast<float*>(A.device_values.data()),
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                          CUDA_R_32F) == CUSPARSE_STATUS_INVALID_VALUE);
  const CusparseCsr a = A.description();
  DeviceBuffer<float> x(5), y(7);
  x.zero();
  const CusparseVector vx(5, x.data()), vy(7, y.data());
  const float one = 1, zero = 0;
  const auto ask = [&](cusparseHandle_t h, cusparseOperation_t op, cusparseDnVecDescr_t from, cusparseDnVecDescr_t to) {
    std::size_t bytes = 0;
    return cusparseSpMV_bufferSize(h, op, &one, a, from, &zero, to, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes);
  };
  CHECK(ask(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, vx, vy) == CUSPARSE_STATUS_SUCCESS);
  CHECK(ask(handle, CUSPARSE_OPERATION_TRANSPOSE, vy, vx) == CUSPARSE_STATUS_SUCCESS);
  CHECK(ask(nullptr, CUSPARSE_OPERATION_NON_TRANSPOSE, vx, vy) ==
        CUSPARSE_STATUS_INVALID_VALUE);  // not NOT_INITIALIZED
  std::string what;
  try {
    CUSPARSE_CHECK(ask(nullptr, CUSPARSE_OPERATION_NON_TRANSPOSE, vx, vy));
  } catch (const tilewise::CusparseError& error) {
    what = error.what();
  }
  CHECK(what.find("cusparse_test.cu:") != std::string::npos);
  CHECK(what.find("CUSPARSE_STATUS_INVALID_VALUE") != std::string::npos);
  CHECK(!tilewise::cusparse_engine().empty());
}

TEST_CASE("cusparseSpMV in a captured stream is done when the graph is launched, with what its arguments were",
          "[cusparse]") {
  CusparseHandle handle;
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  CUSPARSE_CHECK(cusparseSetStream(handle, stream));
  DeviceBuffer<int> offsets(std::vector<int>{0, 1, 3}), columns(std::vector<int>{1, 0, 1});
  DeviceBuffer<float> values(std::vector<float>{5, 2, 3}), x(std::vector<float>{1, 10}), y(std::vector<float>{0, 0});
  cusparseSpMatDescr_t a;
  cusparseDnVecDescr_t vx, vy;
  CUSPARSE_CHECK(cusparseCreateCsr(&a, 2, 2, 3, offsets.data(), columns.data(), values.data(), CUSPARSE_INDEX_32I,
                                   CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  CUSPARSE_CHECK(cusparseCreateDnVec(&vx, 2, x.data(), CUDA_R_32F));
  CUSPARSE_CHECK(cusparseCreateDnVec(&vy, 2, y.data(), CUDA_R_32F));
  float alpha = 1, beta = 1;
  std::size_t bytes = 0;
  CUSPARSE_CHECK(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, vx, &beta, vy, CUDA_R_32F,
                                         CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
  DeviceBuffer<char> buffer(bytes + 1);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CUSPARSE_CHECK(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, vx, &beta, vy, CUDA_R_32F,
                              CUSPARSE_SPMV_ALG_DEFAULT, buffer.data()));
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  alpha = beta = 7;
  CUSPARSE_CHECK(cusparseDestroyDnVec(vx));
  CUSPARSE_CHECK(cusparseDestroyDnVec(vy));
  CUSPARSE_CHECK(cusparseDestroySpMat(a));
  CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(y.to_host() == std::vector<float>{0, 0});
  for (int i = 0; i < 2; ++i) CUDA_CHECK(cudaGraphLaunch(exec, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CHECK(y.to_host() == std::vector<float>{100, 64});
  CUDA_CHECK(cudaGraphExecDestroy(exec));
  CUDA_CHECK(cudaGraphDestroy(graph));
  CUDA_CHECK(cudaStreamDestroy(stream));
}

#ifdef TILEWISE_SIMULATOR

namespace tilewise::sim {
std::string last_finding();  // library_findings_test.cpp
}

TEST_CASE("wrong indices and pointers are findings", "[cusparse]") {
  CusparseHandle handle;
  Csr<float> A(7, 5, 1);
  DeviceBuffer<float> x(std::vector<float>(5, 1.0f)), y(7);
  DeviceBuffer<char> buffer(256);
  const float one = 1, zero = 0;
  const auto finding = [&](const float* from, float* to, void* workspace, cusparseStatus_t status) -> std::string {
    const ExpectedFindings expected;
    const CusparseCsr a = A.description();
    const CusparseVector vx(5, from), vy(7, to);
    CHECK(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, vx, &zero, vy, CUDA_R_32F,
                       CUSPARSE_SPMV_ALG_DEFAULT, workspace) == status);
    return expected.count() == 1 ? tilewise::sim::last_finding() : "";
  };
  const auto begins = [](const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.rfind(part, 0) == 0);
  };
  constexpr auto kFailed = CUSPARSE_STATUS_EXECUTION_FAILED;
  begins(finding(x.data() + 1, y.data(), buffer.data(), kFailed), "out-of-bounds: cusparseSpMV: x (5 elements) needs");
  begins(finding(x.data(), y.data() + 2, buffer.data(), kFailed), "out-of-bounds: cusparseSpMV: y");
  begins(finding(x.data(), y.data(), nullptr, kFailed), "null-pointer: cusparseSpMV: the buffer");
  const std::vector<float> host(5);
  begins(finding(host.data(), y.data(), buffer.data(), kFailed), "host-pointer: cusparseSpMV: x");
  const DeviceBuffer<float> unwritten(5);
  begins(finding(unwritten.data(), y.data(), buffer.data(), CUSPARSE_STATUS_SUCCESS),
         "uninitialised: cusparseSpMV: reads x[0], which nothing has written (and 4 other elements)");

  const std::vector<int> columns = A.col, offsets = A.row_ptr;
  A.col[3] = 5;
  A.device_col.upload(A.col);
  begins(finding(x.data(), y.data(), buffer.data(), kFailed),
         "out-of-bounds: cusparseSpMV: value 3 of A is in column 5, and A has 5 columns from 0");
  A.device_col.upload(columns);
  A.row_ptr.back() += 1;
  A.device_row_ptr.upload(A.row_ptr);
  begins(finding(x.data(), y.data(), buffer.data(), kFailed),
         "out-of-bounds: cusparseSpMV: the row offsets of A run from");
  A.device_row_ptr.upload(offsets);
  CHECK(finding(x.data(), y.data(), buffer.data(), CUSPARSE_STATUS_SUCCESS).empty());
  CHECK(std::string(tilewise::sim::last_library_call().function) == "cusparseSpMV");
}

#endif
