// CUB's iterators: values that are made when they are asked for.
#pragma once

#include "operators.cuh"

namespace cub {
namespace tilewise {

/// What all of them have in common; `At` says what stands `i` elements from the begin.
template <class Self, class T, class Offset>
struct Iterator {
  using self_type = Self;
  using difference_type = Offset;
  using value_type = T;
  using pointer = T*;
  using reference = T;
  using iterator_category = std::random_access_iterator_tag;

  __host__ __device__ T operator*() const { return self().at(0); }
  template <class D>
  __host__ __device__ T operator[](D n) const {
    return self().at(n);
  }
  __host__ __device__ Self& operator++() { return self().advance(1), self(); }
  __host__ __device__ Self operator++(int) {
    Self before = self();
    self().advance(1);
    return before;
  }
  template <class D>
  __host__ __device__ Self operator+(D n) const {
    Self moved = self();
    moved.advance(n);
    return moved;
  }
  template <class D>
  __host__ __device__ Self& operator+=(D n) {
    return self().advance(n), self();
  }
  template <class D>
  __host__ __device__ Self operator-(D n) const {
    Self moved = self();
    moved.advance(-static_cast<std::ptrdiff_t>(n));
    return moved;
  }

 private:
  __host__ __device__ Self& self() { return *static_cast<Self*>(this); }
  __host__ __device__ const Self& self() const { return *static_cast<const Self*>(this); }
};

}  // namespace tilewise

template <class T, class Offset = std::ptrdiff_t>
class CountingInputIterator : public tilewise::Iterator<CountingInputIterator<T, Offset>, T, Offset> {
 public:
  __host__ __device__ CountingInputIterator(const T& value) : value_(value) {}
  template <class D>
  __host__ __device__ T at(D n) const {
    return value_ + static_cast<T>(n);
  }
  template <class D>
  __host__ __device__ void advance(D n) {
    value_ += static_cast<T>(n);
  }

 private:
  T value_;
};

template <class T, class Offset = std::ptrdiff_t>
class ConstantInputIterator : public tilewise::Iterator<ConstantInputIterator<T, Offset>, T, Offset> {
 public:
  __host__ __device__ ConstantInputIterator(T value, Offset = 0) : value_(value) {}
  template <class D>
  __host__ __device__ T at(D) const {
    return value_;
  }
  template <class D>
  __host__ __device__ void advance(D) {}

 private:
  T value_;
};

template <class T, class Op, class Inner, class Offset = std::ptrdiff_t>
class TransformInputIterator : public tilewise::Iterator<TransformInputIterator<T, Op, Inner, Offset>, T, Offset> {
 public:
  __host__ __device__ TransformInputIterator(Inner inner, Op op) : op_(op), inner_(inner) {}
  template <class D>
  __host__ __device__ T at(D n) const {
    return op_(inner_[n]);
  }
  template <class D>
  __host__ __device__ void advance(D n) {
    inner_ = inner_ + n;
  }

 private:
  Op op_;
  Inner inner_;
};

template <class Inner, class Offset = std::ptrdiff_t,
          class Value = std::remove_cv_t<std::remove_reference_t<decltype(*std::declval<Inner&>())>>>
class ArgIndexInputIterator
    : public tilewise::Iterator<ArgIndexInputIterator<Inner, Offset, Value>, KeyValuePair<Offset, Value>, Offset> {
 public:
  __host__ __device__ ArgIndexInputIterator(Inner inner, Offset offset = 0) : inner_(inner), offset_(offset) {}
  template <class D>
  __host__ __device__ KeyValuePair<Offset, Value> at(D n) const {
    return {offset_ + static_cast<Offset>(n), inner_[offset_ + static_cast<Offset>(n)]};
  }
  template <class D>
  __host__ __device__ void advance(D n) {
    offset_ += static_cast<Offset>(n);
  }
  __host__ __device__ void normalize() {
    inner_ = inner_ + offset_;
    offset_ = 0;
  }

 private:
  Inner inner_;
  Offset offset_;
};

enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };

template <CacheLoadModifier, class It>
__device__ __forceinline__ auto ThreadLoad(It it) {
  return *it;
}
template <CacheStoreModifier, class It, class T>
__device__ __forceinline__ void ThreadStore(It it, T value) {
  *it = value;
}

/// What is written there is forgotten.
template <class Offset = std::ptrdiff_t>
class DiscardOutputIterator {
 public:
  using difference_type = Offset;
  using value_type = void;
  using pointer = void;
  using reference = void;
  using iterator_category = std::output_iterator_tag;
  struct Nowhere {
    template <class T>
    __host__ __device__ const Nowhere& operator=(const T&) const {
      return *this;
    }
  };
  __host__ __device__ DiscardOutputIterator(Offset = 0) {}
  __host__ __device__ Nowhere operator*() const { return {}; }
  template <class D>
  __host__ __device__ Nowhere operator[](D) const {
    return {};
  }
  template <class D>
  __host__ __device__ DiscardOutputIterator operator+(D) const {
    return *this;
  }
  __host__ __device__ DiscardOutputIterator& operator++() { return *this; }
};

}  // namespace cub
