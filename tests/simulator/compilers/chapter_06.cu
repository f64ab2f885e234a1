// Chapter 06: rows of many lengths, one of them cut, with columns at random. See compilers_test.cpp.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "06_csr_spmv/csr_spmv.cuh"

namespace {

void right(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

template <class T>
T* uploaded(const std::vector<T>& host) {
  T* device = nullptr;
  right(cudaMalloc(&device, host.size() * sizeof(T)));
  right(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

template <class T>
void products() {
  constexpr int kRows = 300, kCols = 2500;
  std::vector<int> row_ptr{0}, col_index;
  std::vector<T> values, x;
  for (int row = 0; row < kRows; ++row) {
    const int length = row == 170 ? kCols : row * 7 % 23;
    for (int j = 0; j < length; ++j) {
      col_index.push_back((row * 31 + j * 17) % kCols);
      values.push_back(static_cast<T>(j % 13 - 6));
    }
    row_ptr.push_back(static_cast<int>(col_index.size()));
  }
  for (int i = 0; i < kCols; ++i) x.push_back(static_cast<T>(i % 29 - 14));
  const int nnz = row_ptr.back();
  int *p = uploaded(row_ptr), *c = uploaded(col_index);
  T *v = uploaded(values), *dx = uploaded(x), *y = uploaded(std::vector<T>(kRows));
  char* memory = uploaded(std::vector<char>(spmv_plan_bytes<T>(kRows, nnz)));
  SpmvPlan<T> plan;
  right(launch_spmv_plan(kRows, kCols, nnz, p, c, memory, &plan));
  right(launch_spmv_scalar(kRows, kCols, nnz, p, c, v, dx, y));
  for (const int lanes : {1, 4, 32}) {
    right(launch_spmv_vector(lanes, kRows, kCols, nnz, p, c, v, dx, y));
    right(launch_spmv_unrolled(lanes, kRows, kCols, nnz, p, c, v, dx, y));
  }
  right(launch_spmv_balanced(kRows, kCols, nnz, p, c, v, dx, y, plan));
  right(launch_spmv(kRows, kCols, nnz, p, c, v, dx, y, plan));
  right(cudaDeviceSynchronize());
  for (void* array : {static_cast<void*>(p), static_cast<void*>(c), static_cast<void*>(v), static_cast<void*>(dx),
                      static_cast<void*>(y), static_cast<void*>(memory)})
    right(cudaFree(array));
}

}  // namespace

int main() {
  products<float>();
  products<double>();
}
