// For all but nvcc, Thrust makes __host__ and __device__ macros without a value. Here the program's own mean something, and
// simcc takes them out of Thrust's text.
#ifndef TILEWISE_THRUST_HOST_DEVICE
#define TILEWISE_THRUST_HOST_DEVICE
#include_next <thrust/detail/config/host_device.h>
#ifdef __CUDACC__
#undef __host__
#undef __device__
#endif
#endif
