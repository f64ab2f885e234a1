// The NVTX 3 location of the same functions.
#pragma once

#include "../nvToolsExt.h"
