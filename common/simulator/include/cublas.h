#error "the Tilewise simulator does not support cuBLAS"
