// The instances whose registers common/scripts/record/record-registers.sh records.
#include "kernels.cuh"

template __global__ void registers_test::hold_words<60>(float*, const float*, int);
template __global__ void registers_test::hold_words<150>(float*, const float*, int);
template __global__ void registers_test::hold_words<220>(float*, const float*, int);
