// Everything that device code can call without a further include.
#pragma once

#include "tilewise_device/atomics.hpp"
#include "tilewise_device/heap.hpp"
#include "tilewise_device/integer.hpp"
#include "tilewise_device/math.hpp"
#include "tilewise_device/memory.hpp"
#include "tilewise_device/ptx.hpp"
#include "tilewise_device/texture.hpp"
#include "tilewise_device/warp.hpp"
