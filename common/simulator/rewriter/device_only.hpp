// CUDA's own functions that host code can't call.
#pragma once

#include <string_view>

namespace tilewise::sim {

/// Whether CUDA has this function for device code only. The simulator's headers declare it for both.
bool is_for_device_only(std::string_view function);

}  // namespace tilewise::sim
