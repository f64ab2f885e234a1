// The child's half of grading chapter 03: calls the submitted functions. Runs in the process that student code runs in.
#include "homework.cuh"

#include "../../../common/grader/harness.hpp"

// Weak: a submission need not have all of them.
__attribute__((weak)) cudaError_t launch_record_sums(const float*, float*, int, cudaStream_t);
__attribute__((weak)) cudaError_t launch_running_sums_turned(const float*, float*, int, int, cudaStream_t);
__attribute__((weak)) cudaError_t launch_sums_by_key(const int*, const float*, float*, int, int, cudaStream_t);

bool homework_call(const HomeworkCase& c, cudaError_t& error) {
  if (c.task == "record_sums" && launch_record_sums)
    return error = launch_record_sums(c[0], c[1], c.size(0), c.stream()), true;
  if (c.task == "running_sums_turned" && launch_running_sums_turned)
    return error = launch_running_sums_turned(c[0], c[1], c.size(0), c.size(1), c.stream()), true;
  if (c.task == "sums_by_key" && launch_sums_by_key)
    return error = launch_sums_by_key(c[0], c[1], c[2], c.size(0), c.size(1), c.stream()), true;
  return false;
}
