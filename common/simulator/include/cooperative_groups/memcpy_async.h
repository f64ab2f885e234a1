#error "the Tilewise simulator does not support asynchronous copies (cooperative_groups/memcpy_async.h)"
