#error "the Tilewise simulator does not support 8-bit floating point (cuda_fp8.h)"
