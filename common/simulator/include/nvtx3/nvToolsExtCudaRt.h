// Names that a profiler would show for streams and events.
#pragma once

#include "../nvToolsExtCudaRt.h"
