// Where Thrust looks for its device system's part: see <thrust/detail/config/device_system.h> beside this folder.
#include_next <thrust/system/cpp/pointer.h>
#include <thrust/system/cuda/pointer.h>
