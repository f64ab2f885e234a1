// The child's half of grading chapter 05: calls the submitted functions. Runs in the process that student code runs in.
#include "homework.cuh"

#include "../../../common/grader/harness.hpp"

// Weak: a submission need not have all of them.
__attribute__((weak)) cudaError_t launch_axpy(float, const float*, const float*, float*, int, cudaStream_t);
__attribute__((weak)) cudaError_t launch_halve(const float*, float*, int, int, cudaStream_t);
__attribute__((weak)) cudaError_t launch_copy_part(const float*, float*, int, cudaStream_t);

bool homework_call(const HomeworkCase& c, cudaError_t& error) {
  if (c.task == "axpy" && launch_axpy)
    return error = launch_axpy(c.scalar(0), c[0], c[1], c[2], c.size(0), c.stream()), true;
  if (c.task == "halve" && launch_halve)
    return error = launch_halve(c[0], c[1], c.size(0), c.size(1), c.stream()), true;
  if (c.task == "copy_part" && launch_copy_part) {
    const float* from = c[0];
    float* to = c[1];
    return error = launch_copy_part(from + c.size(1), to + c.size(2), c.size(0), c.stream()), true;
  }
  return false;
}
