// As it lies in memory
//
// Goal: C[sensor][station] sums up sensors[day][sensor] * stations[day][station] over all days. cuBLAS can read a
// matrix transposed: get rid of the copy and of the kernel that makes it.
#include "tilewise/puzzle.hpp"

#include <cublas_v2.h>

// out, cols x rows, is the transpose of in, rows x cols. A thread per element.
__global__ void transpose(const float* in, float* out, int rows, int cols) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) out[i % cols * rows + i / cols] = in[i];
}

// sensors: days x m, stations: days x n, C: m x n, by rows. C = the transpose of sensors, times stations.
cublasStatus_t compare(cublasHandle_t handle, const float* sensors, const float* stations, float* C, int days, int m,
                       int n) {
  float* copy;
  if (cudaMalloc(&copy, sizeof(float) * m * days) != cudaSuccess) return CUBLAS_STATUS_ALLOC_FAILED;
  transpose<<<(m * days + 127) / 128, 128>>>(sensors, copy, days, m);
  const float one = 1, zero = 0;
  const cublasStatus_t status =
      cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, days, &one, stations, n, copy, days, &zero, C, n);
  cudaFree(copy);
  return status;
}

// ---- The check. Leave what follows as it is. ----

#ifdef TILEWISE_SIMULATOR
#include "tilewise_sim/library.hpp"
unsigned long long calls_so_far() { return tilewise::sim::last_library_call().serial; }
#else
unsigned long long calls_so_far() { return 0; }
#endif

__global__ void fill_with_nan(float* all, std::size_t n) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) all[i] = nanf("");
}

int main() {
  cublasHandle_t handle;
  puzzle::expect_that(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS, "cublasCreate failed.");
  struct Shape {
    int days, m, n;
  };
  for (const auto [days, m, n] : {Shape{5, 2, 3}, {2, 7, 4}, {3, 4, 9}, {1, 1, 1}, {31, 32, 10}}) {
    const std::vector<float> sensors = puzzle::values(days * m), stations = puzzle::values(days * n, 2);
    const puzzle::Array<float> d_sensors("sensors", sensors), d_stations("stations", stations), C("C", m * n);
    puzzle::count_from_here();
    fill_with_nan<<<(C.size() + 127) / 128, 128>>>(C.data(), C.size());
    const unsigned long long calls = calls_so_far();
    const cublasStatus_t status = compare(handle, d_sensors.data(), d_stations.data(), C.data(), days, m, n);
    const std::string shape =
        "days = " + std::to_string(days) + ", m = " + std::to_string(m) + ", n = " + std::to_string(n);
    puzzle::expect_that(status == CUBLAS_STATUS_SUCCESS,
                        std::string("cuBLAS refuses the call with ") + cublasGetStatusName(status) + " where " + shape +
                            ": a leading dimension is too small for the way in which its matrix is read.");
    puzzle::expect("C", shape, C.host(), m, n, [&](std::size_t row, std::size_t col) {
      float sum = 0;
      for (int day = 0; day < days; ++day) sum += sensors[day * m + row] * stations[day * n + col];
      return sum;
    });
    puzzle::expect_that(calls_so_far() <= calls + 1, "That was more than one call of cuBLAS, and one does it.");
  }
  cublasDestroy(handle);
  return puzzle::solved();
}

// Kind: improve
// Minutes: 5
// Hint: The second and the third argument of cublasSgemm say for each matrix whether it is to be read transposed.
// Hint: The operands are exchanged here, so the third argument is about the second matrix that you pass. Its leading
//   dimension is that of the matrix as it lies in memory.
// Hint: cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, m, days, &one, stations, n, sensors, m, ...
// Limit: launches <= 1: the check's own launch, which fills C with NaN, is enough
// Show: launches, sectors
// Notice: An operation is a way to read and costs no pass over memory. What is left of the sectors is the check's own,
//   which fills C with NaN before the call.
// GPU: On an H200 the operations hardly change the time of a call; lesson 07's deeper page has the table.
