#pragma once

#include "texture_types.h"
