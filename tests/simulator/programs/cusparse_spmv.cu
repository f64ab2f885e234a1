// A sparse matrix times a vector by cuSPARSE: rows of several lengths, some of them empty, in compressed rows.
#include <cusparse.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

template <typename T>
T* to_device(const std::vector<T>& host) {
  void* place = nullptr;
  cudaMalloc(&place, host.size() * sizeof(T));
  cudaMemcpy(place, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return static_cast<T*>(place);
}

static void ok(cusparseStatus_t status) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  std::puts(cusparseGetErrorString(status));
  std::exit(1);
}

int main() {
  const int rows = 1009, columns = 787;
  const float alpha = 2, beta = 0.5f;
  std::vector<int> offsets{0}, indices;
  std::vector<float> values, x(columns), y(rows), wanted(rows);
  for (int c = 0; c < columns; ++c) x[c] = static_cast<float>(c % 9 - 4);
  for (int r = 0; r < rows; ++r) {
    y[r] = static_cast<float>(2 * r);
    float sum = 0;
    for (int i = 0; i < r % 6; ++i) {
      indices.push_back((r % 131) * 6 + i);
      values.push_back(static_cast<float>(i + 1));
      sum += values.back() * x[indices.back()];
    }
    offsets.push_back(static_cast<int>(indices.size()));
    wanted[r] = alpha * sum + beta * y[r];
  }

  int *doffsets = to_device(offsets), *dindices = to_device(indices);
  float *dvalues = to_device(values), *dx = to_device(x), *dy = to_device(y);
  cusparseHandle_t handle;
  cusparseSpMatDescr_t matrix;
  cusparseDnVecDescr_t of_x, of_y;
  ok(cusparseCreate(&handle));
  ok(cusparseCreateCsr(&matrix, rows, columns, indices.size(), doffsets, dindices, dvalues, CUSPARSE_INDEX_32I,
                       CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  ok(cusparseCreateDnVec(&of_x, columns, dx, CUDA_R_32F));
  ok(cusparseCreateDnVec(&of_y, rows, dy, CUDA_R_32F));
  size_t bytes = 0;
  void* buffer = nullptr;
  const auto as_it_is = CUSPARSE_OPERATION_NON_TRANSPOSE;
  ok(cusparseSpMV_bufferSize(handle, as_it_is, &alpha, matrix, of_x, &beta, of_y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
                             &bytes));
  if (bytes > 0) cudaMalloc(&buffer, bytes);
  ok(cusparseSpMV(handle, as_it_is, &alpha, matrix, of_x, &beta, of_y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, buffer));
  cudaMemcpy(y.data(), dy, rows * sizeof(float), cudaMemcpyDeviceToHost);
  ok(cusparseDestroySpMat(matrix));
  ok(cusparseDestroyDnVec(of_x));
  ok(cusparseDestroyDnVec(of_y));
  ok(cusparseDestroy(handle));
  cudaFree(buffer), cudaFree(doffsets), cudaFree(dindices), cudaFree(dvalues), cudaFree(dx), cudaFree(dy);
  std::puts(y == wanted ? "right" : "wrong");
}
