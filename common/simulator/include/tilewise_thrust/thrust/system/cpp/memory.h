// Where Thrust looks for its device system's part: see <thrust/detail/config/device_system.h> beside this folder.
#include_next <thrust/system/cpp/memory.h>
#include <thrust/system/cuda/memory.h>
