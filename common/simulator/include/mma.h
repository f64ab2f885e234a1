#error "the Tilewise simulator does not support tensor-core matrix operations (mma.h)"
