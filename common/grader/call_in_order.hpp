/// @file
/// What calls.cu of a task in one file is made of: the function's parameters say by themselves what they are.
#pragma once

#include <tuple>

#include "harness.hpp"

namespace tilewise::grader {

/// A function's type, without the default arguments that g++ keeps in what decltype gives.
template <class F>
struct WithoutDefaults;
template <class R, class... A>
struct WithoutDefaults<R(A...)> {
  using Type = R(A...);
};

/// Pointers are the case's buffers, ints its sizes, floats and doubles its scalars, each in their order.
class InOrder {
 public:
  explicit InOrder(const HomeworkCase& c) : case_(c) {}

  template <class T>
  T next() {
    if constexpr (std::is_same_v<T, cudaStream_t>)
      return case_.stream();
    else if constexpr (std::is_pointer_v<T>)
      return case_[buffer_++];
    else if constexpr (std::is_same_v<T, int>)
      return case_.size(size_++);
    else
      return case_.scalar<T>(scalar_++);
  }

 private:
  const HomeworkCase& case_;
  int buffer_ = 0, size_ = 0, scalar_ = 0;
};

template <class... A>
cudaError_t call_in_order(cudaError_t (*function)(A...), const HomeworkCase& c) {
  InOrder order(c);
  const std::tuple<A...> arguments{order.next<A>()...};  // in this order, since in braces
  return std::apply(function, arguments);
}

}  // namespace tilewise::grader
