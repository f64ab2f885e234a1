// The child's half of grading chapter 06: calls the submitted functions. Runs in the process that student code runs in.
#include "homework.cuh"

#include "../../../common/grader/harness.hpp"

// Weak: a submission need not have all of them.
__attribute__((weak)) cudaError_t launch_jacobi_step(int, const int*, const int*, const float*, const float*,
                                                     const float*, float*, cudaStream_t);
__attribute__((weak)) cudaError_t launch_symmetric_spmv(int, int, const int*, const int*, const float*, const float*,
                                                        float*, cudaStream_t);
__attribute__((weak)) cudaError_t launch_spmm(int, int, int, int, const int*, const int*, const float*, const float*,
                                              float*, cudaStream_t);

bool homework_call(const HomeworkCase& c, cudaError_t& error) {
  if (c.task == "jacobi_step" && launch_jacobi_step)
    return error = launch_jacobi_step(c.size(0), c[0], c[1], c[2], c[3], c[4], c[5], c.stream()), true;
  if (c.task == "symmetric_spmv" && launch_symmetric_spmv)
    return error = launch_symmetric_spmv(c.size(0), c.scalar<int>(0), c[0], c[1], c[2], c[3], c[4], c.stream()), true;
  if (c.task == "spmm" && launch_spmm)
    return error =
               launch_spmm(c.size(0), c.size(1), c.size(2), c.scalar<int>(0), c[0], c[1], c[2], c[3], c[4], c.stream()),
           true;
  return false;
}
