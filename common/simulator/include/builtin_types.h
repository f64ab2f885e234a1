// Short names of the vector types: some programs include this directly.
#pragma once

#include "vector_types.h"
