// Objects that are used until the very end of the program, by destructors and functions for its exit, and so never end.
#pragma once

#include <cstdlib>
#include <new>

namespace tilewise::sim {

/// The one object of this type, of which nobody makes a second. Among the program's variables, not on its heap: see
/// memory::guard_variables().
template <class T>
T* for_ever() {
  alignas(T) static unsigned char memory[sizeof(T)];
  static bool made = false;
  if (made) std::abort();  // it would lie where the first does
  made = true;
  return new (memory) T;
}

}  // namespace tilewise::sim
