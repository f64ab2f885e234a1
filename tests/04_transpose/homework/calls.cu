// The child's half of grading chapter 04: calls the submitted functions. Runs in the process that student code runs in.
#include "homework.cuh"

#include "../../../common/grader/harness.hpp"

// Weak: a submission need not have all of them.
__attribute__((weak)) cudaError_t launch_rotate(const float*, float*, int, int, cudaStream_t);
__attribute__((weak)) cudaError_t launch_transpose_in_place(float*, int, cudaStream_t);
__attribute__((weak)) cudaError_t launch_nhwc_to_nchw(const float*, float*, int, int, int, cudaStream_t);

bool homework_call(const HomeworkCase& c, cudaError_t& error) {
  if (c.task == "rotate" && launch_rotate)
    return error = launch_rotate(c[0], c[1], c.size(0), c.size(1), c.stream()), true;
  if (c.task == "transpose_in_place" && launch_transpose_in_place)
    return error = launch_transpose_in_place(c[0], c.size(0), c.stream()), true;
  if (c.task == "nhwc_to_nchw" && launch_nhwc_to_nchw)
    return error = launch_nhwc_to_nchw(c[0], c[1], c.size(0), c.size(1), c.size(2), c.stream()), true;
  return false;
}
