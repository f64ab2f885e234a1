// What a detour costs
//
// Goal: This program hands cuBLAS copies that are stored by columns, and turns the result back. Predict how many
// sectors of 32 bytes its three transposes load and store.
#include "tilewise/puzzle.hpp"

#include <cublas_v2.h>

// out, cols x rows = the transpose of in, rows x cols; both are multiples of 32. Blocks of 32 x 32 threads.
__global__ void transpose(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32, y = blockIdx.y * 32;
  tile[threadIdx.y][threadIdx.x] = in[(y + threadIdx.y) * cols + x + threadIdx.x];
  __syncthreads();
  out[(x + threadIdx.y) * rows + y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// C = A * B with A: 64 x 32, B: 32 x 96, C: 64 x 96 floats by rows; A_T, B_T and C_T have room for their transposes.
// sectors loaded and stored by the three launches: ?
void multiply(cublasHandle_t handle, const float* A, const float* B, float* C, float* A_T, float* B_T, float* C_T) {
  const dim3 block(32, 32);
  const float one = 1, zero = 0;
  transpose<<<dim3(1, 2), block>>>(A, A_T, 64, 32);
  transpose<<<dim3(3, 1), block>>>(B, B_T, 32, 96);
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 64, 96, 32, &one, A_T, 64, B_T, 32, &zero, C_T, 64);
  transpose<<<dim3(2, 3), block>>>(C_T, C, 96, 64);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  cublasHandle_t handle;
  puzzle::expect_that(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS, "cublasCreate failed.");
  const std::vector<float> A = puzzle::values(64 * 32), B = puzzle::values(32 * 96, 2);
  const puzzle::Array<float> d_A("A", A), d_B("B", B), C("C", 64 * 96);
  const puzzle::Array<float> A_T("A_T", 64 * 32), B_T("B_T", 32 * 96), C_T("C_T", 64 * 96);
  puzzle::count_from_here();
  multiply(handle, d_A.data(), d_B.data(), C.data(), A_T.data(), B_T.data(), C_T.data());
  puzzle::expect("C", "A is 64 x 32 and B is 32 x 96", C.host(), 64, 96, [&](std::size_t row, std::size_t col) {
    float sum = 0;
    for (int k = 0; k < 32; ++k) sum += A[row * 32 + k] * B[k * 96 + col];
    return sum;
  });
  cublasDestroy(handle);
  return puzzle::solved();
}

// Kind: predict
// Minutes: 4
// Hint: How many words do A, B and C have? Each is read once and written once.
// Hint: Neighbouring threads read neighbouring words and write neighbouring words, so no byte of a sector is wasted:
//   8 floats fill one.
// Hint: 2,048 + 3,072 + 6,144 words, divided by 8; once for the loads and once for the stores.
// Answer: sectors
// If 1408: That is one direction. Each transpose also has the other one.
// If 1280: That is A and B. The result comes out by columns, too, and has to be turned back.
// If 640: That is one direction of A and B only. There are stores as well, and a third launch.
// If 22528: That is words. A sector holds several of them.
// If 11264: That is the words of the three matrices. Each is read and written, and a sector holds several of them.
// If 90112: That is bytes. A sector has 32 of them.
// If 45056: That is the bytes of the three matrices. Each is read and written, and a sector has 32 bytes.
// Notice: Nothing is computed in these three launches, and exchanging two arguments of the call does the same without
//   them. With small matrices such a detour can take as long as the product itself: lesson 07 has measured it.
