// One of CUB's names for what the simulator has of it.
#include "../tilewise_cub/cub.hpp"
