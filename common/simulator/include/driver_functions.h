#pragma once

#include "texture_types.h"  // make_cudaExtent and kin
