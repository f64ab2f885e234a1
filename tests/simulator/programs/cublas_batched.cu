// Many small products of matrices by one call of cuBLAS: batches that lie one after the other, with room between them.
#include <cublas_v2.h>

#include <cstdio>
#include <vector>

int main() {
  const int m = 13, n = 9, k = 11, batches = 17;
  const long long stride_a = m * k + 5, stride_b = k * n, stride_c = m * n + 3;
  std::vector<float> a(stride_a * batches), b(stride_b * batches), c(stride_c * batches);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7) - 3;
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5) - 2;
  for (size_t i = 0; i < c.size(); ++i) c[i] = static_cast<float>(i % 3);
  const std::vector<float> before = c;

  float *da, *db, *dc;
  cudaMalloc(&da, a.size() * sizeof(float));
  cudaMalloc(&db, b.size() * sizeof(float));
  cudaMalloc(&dc, c.size() * sizeof(float));
  cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dc, c.data(), c.size() * sizeof(float), cudaMemcpyHostToDevice);
  const float alpha = 2, beta = -1;
  cublasHandle_t handle;
  int wrong = cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS;
  wrong += cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, &alpha, da, m, stride_a, db, n,
                                     stride_b, &beta, dc, m, stride_c, batches) != CUBLAS_STATUS_SUCCESS;
  wrong += cublasDestroy(handle) != CUBLAS_STATUS_SUCCESS;
  cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(da), cudaFree(db), cudaFree(dc);

  std::vector<float> wanted = before;  // what lies between the matrices stays
  for (int batch = 0; batch < batches; ++batch)
    for (int column = 0; column < n; ++column)
      for (int row = 0; row < m; ++row) {
        float sum = 0;
        for (int i = 0; i < k; ++i) sum += a[batch * stride_a + i * m + row] * b[batch * stride_b + i * n + column];
        float& element = wanted[batch * stride_c + column * m + row];
        element = alpha * sum + beta * element;
      }
  wrong += c != wanted;
  std::puts(wrong ? "wrong" : "right");
}
