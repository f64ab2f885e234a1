// CUDA's mathematical constants.
#pragma once
#define __MATH_CONSTANTS_H__  // programs ask for it

#include <limits>
#include <numbers>

#define CUDART_INF_F (std::numeric_limits<float>::infinity())
#define CUDART_NAN_F (std::numeric_limits<float>::quiet_NaN())
#define CUDART_MIN_DENORM_F 0x1p-149f
#define CUDART_MAX_NORMAL_F 0x1.fffffep+127f
#define CUDART_NEG_ZERO_F (-0.0f)
#define CUDART_ZERO_F 0.0f
#define CUDART_ONE_F 1.0f
#define CUDART_SQRT_HALF_F 0.707106781f
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_THIRD_F 0.333333333f
#define CUDART_PIO4_F 0.785398163f
#define CUDART_PIO2_F 1.570796327f
#define CUDART_3PIO4_F 2.356194490f
#define CUDART_2_OVER_PI_F 0.636619772f
#define CUDART_PI_F 3.141592654f
#define CUDART_L2E_F 1.442695041f
#define CUDART_L2T_F 3.321928094f
#define CUDART_LG2_F 0.301029996f
#define CUDART_LGE_F 0.434294482f
#define CUDART_LN2_F 0.693147181f
#define CUDART_LNT_F 2.302585093f
#define CUDART_LNPI_F 1.144729886f
#define CUDART_TWO_TO_24_F 16777216.0f
#define CUDART_TWO_TO_31_F 2147483648.0f
#define CUDART_TWO_TO_32_F 4294967296.0f

#define CUDART_INF (std::numeric_limits<double>::infinity())
#define CUDART_NAN (std::numeric_limits<double>::quiet_NaN())
#define CUDART_MIN_DENORM 0x1p-1074
#define CUDART_MAX_NORMAL 0x1.fffffffffffffp+1023
#define CUDART_NEG_ZERO (-0.0)
#define CUDART_ZERO 0.0
#define CUDART_ONE 1.0
#define CUDART_SQRT_TWO (std::numbers::sqrt2)
#define CUDART_SQRT_HALF (std::numbers::sqrt2 / 2)
#define CUDART_THIRD (1.0 / 3.0)
#define CUDART_PIO4 (std::numbers::pi / 4)
#define CUDART_PIO2 (std::numbers::pi / 2)
#define CUDART_3PIO4 (0.75 * std::numbers::pi)
#define CUDART_2_OVER_PI (2 * std::numbers::inv_pi)
#define CUDART_PI (std::numbers::pi)
#define CUDART_L2E (std::numbers::log2e)
#define CUDART_LGE (std::numbers::log10e)
#define CUDART_LN2 (std::numbers::ln2)
#define CUDART_LNT (std::numbers::ln10)
