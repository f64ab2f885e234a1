#error "the Tilewise simulator does not support cuRAND's device functions (curand_kernel.h)"
