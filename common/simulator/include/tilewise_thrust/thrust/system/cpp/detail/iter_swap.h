// Where Thrust looks for its device system's part: see <thrust/detail/config/device_system.h> beside this folder.
#include_next <thrust/system/cpp/detail/iter_swap.h>
#include <thrust/system/cuda/detail/get_value.h>
