#error "the Tilewise simulator does not support asynchronous copies (cuda_pipeline.h)"
