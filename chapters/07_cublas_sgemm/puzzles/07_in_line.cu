// In line
//
// Goal: The caller gives a stream, and all work must go to it: first a kernel changes A, then cuBLAS multiplies. Make
// the product wait its turn without making the host wait.
#include "tilewise/puzzle.hpp"

#include <cublas_v2.h>

__global__ void take_off_ten_percent(float* A, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) A[i] -= A[i] / 10;
}

// C = (A, ten percent off) * B, by rows: A is m x k, B is k x n. The handle comes as cublasCreate() made it.
cublasStatus_t discounted(cublasHandle_t handle, float* A, const float* B, float* C, int m, int n, int k,
                          cudaStream_t stream) {
  const float one = 1, zero = 0;
  take_off_ten_percent<<<(m * k + 127) / 128, 128, 0, stream>>>(A, m * k);
  return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, B, n, A, k, &zero, C, n);
}

// ---- The check. Leave what follows as it is. ----

#ifdef TILEWISE_SIMULATOR
void demand(cudaStream_t stream) { tilewise::sim::demand_stream(stream); }
unsigned long long waits() { return tilewise::sim::waits(); }
#else
void demand(cudaStream_t) {}
unsigned long long waits() { return 0; }
#endif

int main() {
  struct Shape {
    int m, n, k;
  };
  for (const auto [m, n, k] : {Shape{2, 3, 4}, {1, 1, 1}, {20, 9, 15}}) {
    std::vector<float> A = puzzle::values(m * k), B = puzzle::values(k * n, 2);
    for (float& a : A) a *= 10;
    const puzzle::Array<float> d_A("A", A), d_B("B", B), C("C", m * n);
    cublasHandle_t handle;
    puzzle::expect_that(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS, "cublasCreate failed.");
    cudaStream_t stream;
    puzzle::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    puzzle::check(cudaDeviceSynchronize());
    demand(stream);
    const unsigned long long waited = waits();
    const cublasStatus_t status = discounted(handle, d_A.data(), d_B.data(), C.data(), m, n, k, stream);
    puzzle::expect_that(waits() == waited, "The host waited in there. Work on one stream runs in its order by itself.");
    demand(nullptr);
    const std::string shape = "m = " + std::to_string(m) + ", n = " + std::to_string(n) + ", k = " + std::to_string(k);
    puzzle::expect_that(status == CUBLAS_STATUS_SUCCESS,
                        std::string("It returned ") + cublasGetStatusName(status) + " where " + shape + ".");
    puzzle::expect("C", shape, C.host(), m, n, [&](std::size_t row, std::size_t col) {
      float sum = 0;
      for (int i = 0; i < k; ++i) sum += (A[row * k + i] - A[row * k + i] / 10) * B[i * n + col];
      return sum;
    });
    cublasDestroy(handle);
    cudaStreamDestroy(stream);
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 4
// Hint: The launch names its stream. Which stream does cuBLAS use?
// Hint: The call has no argument for it: the stream belongs to the handle, and a new handle has the default one.
// Hint: Before the product: cublasSetStream(handle, stream), whose status you can return if it isn't
//   CUBLAS_STATUS_SUCCESS.
// Notice: On a GPU nothing would have told you: whether the product comes too early depends on how long the kernel
//   takes. The simulator looks at the streams and not at the clock. The handle stays
//   on the stream, so its next user has to set it again.
