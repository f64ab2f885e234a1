// Where Thrust looks for its device system's part: see <thrust/detail/config/device_system.h> beside this folder.
#include_next <thrust/system/cpp/vector.h>
#include <thrust/system/cuda/vector.h>
