// Functions that a CUDA library has and the simulator lacks: calling one is a compile-time error that names it.
#pragma once

namespace tilewise::sim {

/// What such a call gives: anything, so that the compiler's first error is the one that names the function.
struct NotSupported {
  template <class T>
  operator T() const {
    return T{};
  }
  template <class T>
  friend bool operator==(NotSupported, const T&) {
    return false;
  }
  template <class T>
  friend bool operator!=(NotSupported, const T&) {
    return false;
  }
};

}  // namespace tilewise::sim

#define TILEWISE_NOT_SUPPORTED(name)                                                              \
  template <class... Arguments>                                                                   \
  ::tilewise::sim::NotSupported name(Arguments...) {                                              \
    static_assert(sizeof...(Arguments) == ~0u, "the Tilewise simulator does not support " #name); \
    return {};                                                                                    \
  }                                                                                               \
  static_assert(true)
