// y = A * x with a sparse matrix in CSR, 8 lanes per row: the whole program.
//   nvcc plain.cu -o plain && ./plain     (without a GPU: simcc instead of nvcc)
#include <cuda_runtime.h>

#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "csr_spmv.cuh"

#define CHECK(call) check(call, __LINE__)

void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::printf("plain.cu, line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}

int main() {
  const int rows = 5000, cols = 3001;
  std::mt19937 random(1);
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<int> row_ptr(1), col_index;
  // 0 to 42 nonzeros in a row, 13 on average: number row_ptr[r] to row_ptr[r + 1] - 1
  for (int r = 0; r < rows; ++r) {
    for (int c = random() % 3500; c < cols; c += 1 + random() % 200) col_index.push_back(c);
    row_ptr.push_back(int(col_index.size()));
  }
  std::vector<float> values(col_index.size()), x(cols), y(rows);
  for (float& v : values) v = number(random);
  for (float& v : x) v = number(random);

  int *d_row_ptr, *d_col_index;  // the same on the device
  float *d_values, *d_x, *d_y;
  CHECK(cudaMalloc(&d_row_ptr, row_ptr.size() * sizeof(int)));
  CHECK(cudaMalloc(&d_col_index, col_index.size() * sizeof(int)));
  CHECK(cudaMalloc(&d_values, values.size() * sizeof(float)));
  CHECK(cudaMalloc(&d_x, x.size() * sizeof(float)));
  CHECK(cudaMalloc(&d_y, y.size() * sizeof(float)));
  CHECK(
      cudaMemcpy(d_row_ptr, row_ptr.data(), row_ptr.size() * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_col_index, col_index.data(), col_index.size() * sizeof(int),
                   cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_values, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
  // all NaN: an element that no thread writes is found
  CHECK(cudaMemset(d_y, 0xff, y.size() * sizeof(float)));
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  for (int run = 0; run < 2; ++run) {  // the first run also loads the kernel: the second is timed
    CHECK(cudaEventRecord(start));
    spmv_vector<8>
        <<<(8 * rows + 255) / 256, 256>>>(rows, d_row_ptr, d_col_index, d_values, d_x, d_y);
    CHECK(cudaGetLastError());  // was the launch accepted?
    CHECK(cudaEventRecord(stop));
  }
  CHECK(cudaDeviceSynchronize());  // wait; this also reports what went wrong in the kernel
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, start, stop));  // on the simulator: how long this computer took
  CHECK(cudaMemcpy(y.data(), d_y, y.size() * sizeof(float), cudaMemcpyDeviceToHost));

  int wrong = 0;  // among all rows, computed again in double
  for (int r = 0; r < rows; ++r) {
    const int n = row_ptr[r + 1] - row_ptr[r];
    double sum = 0;
    for (int e = row_ptr[r]; e < row_ptr[r + 1]; ++e) sum += double(values[e]) * x[col_index[e]];
    // n roundings of sums below n; NaN is wrong, too
    if (!(std::abs(y[r] - sum) <= FLT_EPSILON * n * n)) ++wrong;
  }
  std::printf("%s: %d wrong rows; %.3f ms\n", wrong == 0 ? "right" : "WRONG", wrong, ms);

  for (cudaEvent_t event : {start, stop}) CHECK(cudaEventDestroy(event));
  for (int* p : {d_row_ptr, d_col_index}) CHECK(cudaFree(p));
  for (float* p : {d_values, d_x, d_y}) CHECK(cudaFree(p));
  return wrong == 0 ? 0 : 1;
}
