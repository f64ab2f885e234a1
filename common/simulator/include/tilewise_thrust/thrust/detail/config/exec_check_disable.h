// Thrust takes whatever defines __CUDACC__ for nvcc, and would write what only nvcc understands.
#ifdef __CUDACC__
#pragma push_macro("__CUDACC__")
#undef __CUDACC__
#include_next <thrust/detail/config/exec_check_disable.h>
#pragma pop_macro("__CUDACC__")
#else
#include_next <thrust/detail/config/exec_check_disable.h>
#endif
