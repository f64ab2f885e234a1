/// @file
/// For programs that are about several devices: on the simulator they find four, unless TILEWISE_DEVICES says otherwise.
/// Include it in the file of main().
#pragma once

#ifdef TILEWISE_SIMULATOR
#include <cstdlib>

namespace tilewise {

/// Before the simulator counts its devices, which it does before main().
[[gnu::constructor(101)]] static void offer_several_devices() { setenv("TILEWISE_DEVICES", "4", 0); }

}  // namespace tilewise
#endif
