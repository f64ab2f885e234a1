// malloc, free, new and delete in device code: memory of the device's heap. The rewriter puts these names in place of the originals.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

#include "tilewise_sim/device.hpp"

namespace tilewise::sim {

/// `new (on_heap) T` is what `new T` becomes.
struct OnHeap {};
inline constexpr OnHeap on_heap{};

/// `heap_delete->*p` is what `delete p` becomes, for `->*` binds as `delete` does; `heap_delete_array->*p` stands for `delete[] p`.
struct HeapDelete {};
struct HeapDeleteArray {};
inline constexpr HeapDelete heap_delete{};
inline constexpr HeapDeleteArray heap_delete_array{};

template <class T>
TILEWISE_INLINE void operator->*(HeapDelete, T* object) {
  if (!in_kernel()) {
    delete object;
  } else if (object != nullptr) {
    void* whole;
    if constexpr (std::is_polymorphic_v<T>)
      whole = const_cast<void*>(dynamic_cast<const volatile void*>(object));
    else
      whole = const_cast<void*>(static_cast<const volatile void*>(object));
    object->~T();
    heap_free(whole);
  }
}

template <class T>
TILEWISE_INLINE void operator->*(HeapDeleteArray, T* objects) {
  if (!in_kernel()) {
    delete[] objects;
  } else if (objects != nullptr) {
    char* begin = reinterpret_cast<char*>(const_cast<std::remove_cv_t<T>*>(objects));
    // How many there are stands before arrays whose elements have destructors: g++ and clang++ put it there.
    if constexpr (!std::is_trivially_destructible_v<T>) {
      constexpr std::size_t kBefore = alignof(T) > sizeof(std::size_t) ? alignof(T) : sizeof(std::size_t);
      for (std::size_t n = reinterpret_cast<const std::size_t*>(begin)[-1]; n-- > 0;) objects[n].~T();
      begin -= kBefore;
    }
    heap_free(begin);
  }
}

}  // namespace tilewise::sim

TILEWISE_INLINE void* operator new(std::size_t bytes, ::tilewise::sim::OnHeap) noexcept {
  return ::tilewise::sim::heap_allocate(bytes);
}
TILEWISE_INLINE void* operator new[](std::size_t bytes, ::tilewise::sim::OnHeap) noexcept {
  return ::tilewise::sim::heap_allocate(bytes);
}
TILEWISE_INLINE void* operator new(std::size_t bytes, std::align_val_t, ::tilewise::sim::OnHeap) noexcept {
  return ::tilewise::sim::heap_allocate(bytes);
}
TILEWISE_INLINE void* operator new[](std::size_t bytes, std::align_val_t, ::tilewise::sim::OnHeap) noexcept {
  return ::tilewise::sim::heap_allocate(bytes);
}
