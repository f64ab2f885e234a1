// The child's half of grading chapter 01: calls the submitted functions. Runs in the process that student code runs in.
#include "homework.cuh"

#include "../../../common/grader/harness.hpp"

// Weak: a submission need not have all of them.
__attribute__((weak)) cudaError_t launch_scale_rows(const float*, int, const float*, float*, int, int, cudaStream_t);
__attribute__((weak)) cudaError_t launch_matmul_by_columns(const float*, const float*, float*, int, int, int,
                                                           cudaStream_t);
__attribute__((weak)) cudaError_t launch_matmul_coarsened(const float*, const float*, float*, int, int, int,
                                                          cudaStream_t);

bool homework_call(const HomeworkCase& c, cudaError_t& error) {
  if (c.task == "scale_rows" && launch_scale_rows) {
    const int rows = c.size(0), cols = c.size(1), ldx = cols + c.size(2);
    return error = launch_scale_rows(c[0], ldx, c[1], c[2], rows, cols, c.stream()), true;
  }
  if (c.task == "matmul_by_columns" && launch_matmul_by_columns)
    return error = launch_matmul_by_columns(c[0], c[1], c[2], c.size(0), c.size(1), c.size(2), c.stream()), true;
  if (c.task == "matmul_coarsened" && launch_matmul_coarsened)
    return error = launch_matmul_coarsened(c[0], c[1], c[2], c.size(0), c.size(1), c.size(2), c.stream()), true;
  return false;
}
