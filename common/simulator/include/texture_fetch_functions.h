#error "the Tilewise simulator does not support textures"
