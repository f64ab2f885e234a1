// Names that the C library, or the grader, has, too.
#include "homework.cuh"

int n = 8, error = 0, g = 32, state = 0, call = 0;
const char* warn = "rows";
__device__ int check, result;
inline int launches(int a) { return a + n; }
inline bool read_all() { return error == 0 && state == 0 && call == 0 && warn[0] == 'r'; }

__global__ void scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows || col >= cols) return;
  Y[row * cols + col] = s[row] * X[row * ldx + col];
}

cudaError_t launch_scale_rows(const float* X, int ldx, const float* s, float* Y, int rows, int cols,
                              cudaStream_t stream) {
  if (!read_all() || launches(0) != n) return cudaErrorInvalidValue;
  const dim3 blocks((cols + g - 1) / g, (rows + n - 1) / n);
  scale_rows<<<blocks, dim3(g, n), 0, stream>>>(X, ldx, s, Y, rows, cols);
  return cudaGetLastError();
}
