// Thrust's device system here is thrust::cuda of this folder: the algorithms of Thrust's own host system (cpp), which may
// use device memory while they run. Almost all that a device system consists of is the host's, so Thrust includes the
// host's headers for it; the few that differ stand in ../../system/cpp of this folder.
#ifndef TILEWISE_THRUST_DEVICE_SYSTEM
#define TILEWISE_THRUST_DEVICE_SYSTEM
#define TILEWISE_THRUST_SIMULATED 99  // none that Thrust knows
#undef THRUST_DEVICE_SYSTEM
#define THRUST_DEVICE_SYSTEM TILEWISE_THRUST_SIMULATED
#include_next <thrust/detail/config/device_system.h>
#undef __THRUST_DEVICE_SYSTEM_NAMESPACE
#undef __THRUST_DEVICE_SYSTEM_ROOT
#define __THRUST_DEVICE_SYSTEM_NAMESPACE cuda
// clang-format off
#define __THRUST_DEVICE_SYSTEM_ROOT thrust/system/cpp
// clang-format on
#endif
