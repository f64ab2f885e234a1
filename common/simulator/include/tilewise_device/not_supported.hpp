// Functions that a CUDA library has and the simulator lacks: calling one is a compile-time error that names it.
#pragma once

#define TILEWISE_NOT_SUPPORTED(name)                                                              \
  template <class... Arguments>                                                                   \
  int name(Arguments...) {                                                                        \
    static_assert(sizeof...(Arguments) == ~0u, "the Tilewise simulator does not support " #name); \
    return 0;                                                                                     \
  }                                                                                               \
  static_assert(true)
