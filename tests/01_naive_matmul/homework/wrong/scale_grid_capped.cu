// expect: scale_rows visible elements are wrong
// points: scale_rows 5..48
// At most 64 blocks, as for a loop over the grid, and no loop: what is lost are the elements of large matrices.
#include "homework.cuh"

#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))
#define BLK 256
#define IDX(i, j, ld) ((i) * (ld) + (j))

__global__ void scale_rows_1d(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  int total = rows * cols;
  for (int idx = blockIdx.x * blockDim.x + threadIdx.x; idx < total; idx += total) {
    int r = idx / cols, c = idx % cols;
    Y[idx] = s[r] * X[IDX(r, c, ldx)];
  }
}
cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  int blocks = CEIL_DIV(rows * cols, BLK);
  if (blocks > 64) blocks = 64;
  scale_rows_1d<<<blocks, BLK, 0, stream>>>(X, ldx, s, Y, rows, cols);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) fprintf(stderr, "error: %s\n", cudaGetErrorString(err));
  return err;
}
