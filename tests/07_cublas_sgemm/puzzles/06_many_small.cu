// Many small products
//
// Goal: One call turns all point clouds, each by a matrix of its own. Tell cuBLAS how many words lie from one matrix to
// the next in each of the three arrays.
#include "tilewise/puzzle.hpp"

#include <cublas_v2.h>

// turned[c] = clouds[c] * turns[c], for c = 0 ... count - 1. clouds and turned: `count` matrices of points x 3, without
// gaps. turns: `count` matrices of 3 x 3, whose rows are 4 words long, the last of which is not part of the matrix.
cublasStatus_t turn(cublasHandle_t handle, const float* clouds, const float* turns, float* turned, int count,
                    int points) {
  const int from_cloud_to_cloud = 0;  // TODO: these three
  const int from_turn_to_turn = 0;
  const int from_turned_to_turned = 0;
  const float one = 1, zero = 0;
  return cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 3, points, 3, &one, turns, 4, from_turn_to_turn,
                                   clouds, 3, from_cloud_to_cloud, &zero, turned, 3, from_turned_to_turned, count);
}

// ---- The check. Leave what follows as it is. ----

__global__ void fill_with_nan(float* all, std::size_t n) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) all[i] = nanf("");
}

int main() {
  cublasHandle_t handle;
  puzzle::expect_that(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS, "cublasCreate failed.");
  for (const auto [count, points] : {std::pair{2, 5}, {7, 4}, {3, 1}, {1, 10}}) {
    const std::vector<float> clouds = puzzle::values(count * points * 3), turns = puzzle::values(count * 12, 2);
    const puzzle::Array<float> d_clouds("clouds", clouds), d_turns("turns", turns), turned("turned", clouds.size());
    fill_with_nan<<<(turned.size() + 127) / 128, 128>>>(turned.data(), turned.size());
    const cublasStatus_t status = turn(handle, d_clouds.data(), d_turns.data(), turned.data(), count, points);
    const std::string shape = "count = " + std::to_string(count) + ", points = " + std::to_string(points);
    puzzle::expect_that(status == CUBLAS_STATUS_SUCCESS, std::string("cuBLAS refuses the call with ") +
                                                             cublasGetStatusName(status) + " where " + shape + ".");
    const auto wanted = [&](std::size_t row, std::size_t col) {
      float sum = 0;
      for (int k = 0; k < 3; ++k) sum += clouds[row * 3 + k] * turns[row / points * 12 + k * 4 + col];
      return sum;
    };
    puzzle::expect("turned", shape, turned.host(), count * points, 3, wanted);
  }
  cublasDestroy(handle);
  return puzzle::solved();
}

// Kind: write
// Minutes: 4
// Hint: Count words from the first of one matrix to the first of the next one.
// Hint: A cloud has `points` rows of 3 words. A turn has 3 rows, and each of them takes 4 words.
// Hint: points * 3, 3 * 4, points * 3.
// Notice: The leading dimension is the way from row to row, the stride the way from matrix to matrix: two distances,
//   and neither follows from the other. A stride of 0 for an input uses one matrix for all products.
// GPU: 16 products of 128 x 128 x 128 on an H200: {ms 07_cublas_sgemm "small kernel=a call for each"} with a call for
//   each, {ms 07_cublas_sgemm "small kernel=one batched call"} with one call for all.
