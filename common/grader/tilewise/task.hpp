/// @file
/// A task in one file: what a teacher's task.cu includes. Above the line "// ---- The grader's part." of such a file is the
/// contract, which learners get as homework.cuh: comments, and the declaration of launch_NAME. Below it is TASK(NAME), with
/// what the grader knows. docs/teaching.md has an example, and says what everything means.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tilewise/random.hpp"

namespace tilewise::task {

/// A number that knows how far a kernel's float may be off. `value` is what comes out without rounding, `magnitude` the same
/// with all terms taken as positive, and `roundings` how many operations it took. Sums may be added in any order, and with
/// or without fused multiply-adds: the bound holds for all of them.
class Real {
 public:
  Real(double number = 0) : value_(number), magnitude_(std::fabs(number)), roundings_(number != float(number)) {}

  double value() const { return value_; }
  /// How far a float result may be off: 0 for what is only copied.
  double bound() const {
    const double n = 0x1p-24 * roundings_;
    return roundings_ == 0 ? 0 : n / (1 - n) * magnitude_;
  }
  explicit operator double() const { return value_; }
  explicit operator int() const { return int(value_); }

  /// What a function makes of it: its value, the derivative's largest size nearby, and roundings of its own.
  Real through(double value, double slope, int roundings) const {
    Real result(value);
    result.magnitude_ = slope * magnitude_ + std::fabs(value);
    result.roundings_ = roundings_ + roundings;
    return result;
  }

  /// This one rather than `other`, which rounding may have made the choice in its place: a bound for both.
  Real or_nearly(const Real& other) const {
    return Real(value_, std::max(magnitude_, other.magnitude_), std::max(roundings_, other.roundings_));
  }

  friend Real operator+(const Real& a, const Real& b) {
    return Real(a.value_ + b.value_, a.magnitude_ + b.magnitude_, a.roundings_ + b.roundings_ + 1);
  }
  friend Real operator-(const Real& a) { return Real(-a.value_, a.magnitude_, a.roundings_); }
  friend Real operator-(const Real& a, const Real& b) { return a + -b; }
  friend Real operator*(const Real& a, const Real& b) {
    return Real(a.value_ * b.value_, a.magnitude_ * b.magnitude_, a.roundings_ + b.roundings_ + 1);
  }
  friend Real operator/(const Real& a, const Real& b) {
    return Real(a.value_ / b.value_, a.magnitude_ * b.magnitude_ / (b.value_ * b.value_),
                a.roundings_ + b.roundings_ + 1);
  }
  Real& operator+=(const Real& b) { return *this = *this + b; }
  Real& operator-=(const Real& b) { return *this = *this - b; }
  Real& operator*=(const Real& b) { return *this = *this * b; }
  Real& operator/=(const Real& b) { return *this = *this / b; }
  friend bool operator==(const Real& a, const Real& b) { return a.value_ == b.value_; }
  friend auto operator<=>(const Real& a, const Real& b) { return a.value_ <=> b.value_; }

 private:
  Real(double value, double magnitude, int roundings) : value_(value), magnitude_(magnitude), roundings_(roundings) {}
  double value_, magnitude_;
  int roundings_;
};

// Roundings of a function's own: CUDA's are good to within two units in the last place, here four roundings.
inline Real fabs(const Real& x) { return x.value() < 0 ? -x : x; }
inline Real abs(const Real& x) { return fabs(x); }
inline Real min(const Real& a, const Real& b) { return b < a ? b.or_nearly(a) : a.or_nearly(b); }
inline Real max(const Real& a, const Real& b) { return a < b ? b.or_nearly(a) : a.or_nearly(b); }
inline int min(int a, int b) { return b < a ? b : a; }
inline int max(int a, int b) { return a < b ? b : a; }
inline Real fmin(const Real& a, const Real& b) { return min(a, b); }
inline Real fmax(const Real& a, const Real& b) { return max(a, b); }
inline Real sqrt(const Real& x) {
  const double root = std::sqrt(x.value());
  return x.through(root, root > 0 ? 0.5 / root : 0, 1);
}
inline Real exp(const Real& x) { return x.through(std::exp(x.value()), std::exp(x.value()), 4); }
inline Real log(const Real& x) { return x.through(std::log(x.value()), 1 / std::fabs(x.value()), 4); }
inline Real sin(const Real& x) { return x.through(std::sin(x.value()), 1, 4); }
inline Real cos(const Real& x) { return x.through(std::cos(x.value()), 1, 4); }
inline Real tanh(const Real& x) { return x.through(std::tanh(x.value()), 1, 4); }

/// Of elements of an array of int: nobody has written it.
constexpr int kUnwritten = std::numeric_limits<int>::min() + 1;

/// A buffer as the reference sees it: x[i], or a(row, col) of what has rows, row-major.
template <class T>
class Array {
 public:
  Array(std::string name, int rows, int cols)
      : name_(std::move(name)),
        rows_(rows),
        cols_(cols),
        all_(std::size_t(rows) * std::size_t(cols), std::is_same_v<T, int> ? T(kUnwritten) : T(std::nan(""))) {}

  T& operator[](long long i) { return all_[place(i)]; }
  const T& operator[](long long i) const { return all_[place(i)]; }
  T& operator()(long long row, long long col) { return all_[place(row, col)]; }
  const T& operator()(long long row, long long col) const { return all_[place(row, col)]; }
  int size() const { return int(all_.size()); }
  const std::string& name() const { return name_; }

 private:
  std::size_t place(long long i) const {
    if (i < 0 || i >= size()) outside("[" + std::to_string(i) + "]");
    return std::size_t(i);
  }
  std::size_t place(long long row, long long col) const {
    if (row < 0 || row >= rows_ || col < 0 || col >= cols_)
      outside("(" + std::to_string(row) + ", " + std::to_string(col) + ")");
    return std::size_t(row) * std::size_t(cols_) + std::size_t(col);
  }
  [[noreturn]] void outside(const std::string& where) const {
    throw std::out_of_range(name_ + where + " of " + std::to_string(rows_) + " x " + std::to_string(cols_));
  }

  std::string name_;
  int rows_, cols_;
  std::vector<T> all_;
};
using Floats = Array<Real>;
using Ints = Array<int>;

/// What a buffer holds before the call; an output, which has none of these, holds garbage.
struct Values {
  std::function<double(long long i, Random& random)> at = {};  ///< element i; none: uniform, or 0 to 99 for int
  bool in_place = false;                                       ///< holds the result, too
};
/// Multiples of 2^-23 from `low` up to `high`.
inline Values uniform(double low, double high) {
  return {[=](long long, Random& r) { return low + (high - low) * (r.uniform() + 1) / 2; }};
}
/// Whole numbers from `low` to `high`.
inline Values whole(int low, int high) {
  return {[=](long long, Random& r) { return double(low) + double(r.below(std::uint64_t(high - low) + 1)); }};
}
/// Element i is made(i, random); random.uniform() is in [-1, 1), random.below(n) in [0, n).
inline Values made(std::function<double(long long, Random&)> at) { return {std::move(at)}; }
inline Values in_place(Values before = {}) {
  before.in_place = true;
  return before;
}

/// One of the buffers, in the order of launch_NAME's pointers: {"x", n}, {"A", rows, cols}, {"x", n, whole(0, 9)}.
struct BufferSpec {
  BufferSpec(const char* name_, int n, Values values_ = {}) : BufferSpec(name_, 1, n, std::move(values_)) {}
  BufferSpec(const char* name_, int rows_, int cols_, Values values_ = {})
      : name(name_), rows(rows_), cols(cols_), values(std::move(values_)) {}
  std::string name;
  int rows, cols;
  Values values;
};
using Buffers = std::vector<BufferSpec>;

/// What a parameter is, of launch_NAME and of the reference.
enum class Parameter { input_floats, floats, input_ints, ints, size, scalar, stream, unknown };

template <class T>
constexpr Parameter parameter() {
  using Plain = std::remove_cvref_t<T>;
  [[maybe_unused]] constexpr bool constant = std::is_const_v<std::remove_reference_t<T>>;
  if constexpr (std::is_same_v<Plain, const float*>) return Parameter::input_floats;
  if constexpr (std::is_same_v<Plain, float*>) return Parameter::floats;
  if constexpr (std::is_same_v<Plain, const int*>) return Parameter::input_ints;
  if constexpr (std::is_same_v<Plain, int*>) return Parameter::ints;
  if constexpr (std::is_same_v<Plain, Floats>) return constant ? Parameter::input_floats : Parameter::floats;
  if constexpr (std::is_same_v<Plain, Ints>) return constant ? Parameter::input_ints : Parameter::ints;
  if constexpr (std::is_same_v<Plain, int>) return Parameter::size;
  if constexpr (std::is_same_v<Plain, float> || std::is_same_v<Plain, double> || std::is_same_v<Plain, Real>)
    return Parameter::scalar;
  if constexpr (std::is_same_v<Plain, cudaStream_t>) return Parameter::stream;
  return Parameter::unknown;
}

/// The parameters of a function or a lambda.
template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... A>
struct Signature<R(A...)> {
  static std::vector<Parameter> parameters() { return {parameter<A>()...}; }
};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const> : Signature<R(A...)> {
  using Arguments = std::tuple<A...>;
};

/// What the reference is called with: buffers, sizes and scalars, each in their order.
struct Call {
  std::vector<Floats> floats;
  std::vector<Ints> ints;
  std::vector<std::size_t> order;  ///< of buffers: the place in `floats` or `ints`
  std::vector<int> sizes;
  std::vector<double> scalars;
  std::size_t buffer = 0, size = 0, scalar = 0;  ///< the next ones

  template <class T>
  T next() {
    using Plain = std::remove_cvref_t<T>;
    if constexpr (std::is_same_v<Plain, Floats>)
      return floats.at(order.at(buffer++));
    else if constexpr (std::is_same_v<Plain, Ints>)
      return ints.at(order.at(buffer++));
    else if constexpr (std::is_same_v<Plain, int>)
      return sizes.at(size++);
    else
      return Plain(scalars.at(scalar++));
  }
};

/// The reference, or what a mistake would compute: a lambda with launch_NAME's parameters, in which pointers are Floats or
/// Ints (const where they are inputs), sizes int, other numbers Real, and there is no stream.
class Reference {
 public:
  Reference() = default;
  template <class F>
  Reference(F f)
      : parameters(Signature<F>::parameters()),
        run([f](Call& call) { apply(f, call, (typename Signature<F>::Arguments*)nullptr); }) {}

  std::vector<Parameter> parameters;
  std::function<void(Call&)> run;

 private:
  template <class F, class... A>
  static void apply(const F& f, Call& call, std::tuple<A...>*) {
    static_assert(((parameter<A>() < Parameter::stream) && ...),
                  "parameters of a reference are const Floats&, Floats&, const Ints&, Ints&, int and Real");
    std::tuple<A...> arguments{call.next<A>()...};  // in this order, since in braces
    std::apply(f, arguments);
  }
};

/// A lambda of the sizes, all of them int.
template <class T>
class OfSizes {
 public:
  OfSizes() = default;
  template <class F>
  OfSizes(F f)
      : count(Signature<F>::parameters().size()), at([f](const std::vector<int>& sizes) -> T {
          return call(f, sizes, (typename Signature<F>::Arguments*)nullptr);
        }) {}

  std::size_t count = 0;
  std::function<T(const std::vector<int>&)> at;

 private:
  template <class F, class... A>
  static T call(const F& f, const std::vector<int>& sizes, std::tuple<A...>*) {
    static_assert((std::is_same_v<A, int> && ...), "its parameters are the sizes, each an int");
    return with(f, sizes, std::index_sequence_for<A...>());
  }
  template <class F, std::size_t... I>
  static T with(const F& f, [[maybe_unused]] const std::vector<int>& sizes, std::index_sequence<I...>) {
    return f(sizes.at(I)...);
  }
};

/// What comes out of a common mistake: the grader says so when it does.
struct Mistake {
  std::string text;  ///< "every element is what comes out when the last block is missing"
  Reference result;
};

/// What TASK(NAME) fills in. What has a value here may be left out.
struct Definition {
  virtual ~Definition() = default;
  virtual void define() = 0;

  std::string title;                                 ///< after the name, in a line
  std::string level = "core";                        ///< warm-up, core or stretch
  std::vector<std::string> sizes;                    ///< names of launch_NAME's int parameters
  std::vector<double> scalars = {};                  ///< values of its float parameters
  OfSizes<Buffers> buffers;                          ///< in the order of its pointers
  Reference reference;                               ///< computes what is expected
  std::vector<std::vector<int>> visible;             ///< shapes that learners are told about
  std::vector<std::pair<int, int>> hidden;           ///< for each size its range in hidden shapes
  int hidden_count = 8;                              ///< how many of them
  std::uint64_t seed = 1;                            ///< another one: other hidden shapes, other inputs
  std::vector<int> counted_at;                       ///< the shape at which counts are compared with the targets
  std::vector<std::string> targets;                  ///< "load_sectors <= 1100: why"; "... <= 1100 (14 points): why"
  bool repeats_count = true;                         ///< false: a word that a warp loads again doesn't count again
  std::vector<Mistake> mistakes = {};                ///< whose results are recognised
  std::vector<std::string> hints = {};               ///< where to look, the idea, nearly the line
  OfSizes<double> least_flops = [] { return 0.0; };  ///< that kernels must do
  bool same_bits = false;                            ///< the result must not depend on the order of blocks
  std::vector<double> points = {5, 30, 25, 20, 20};  ///< compiles, visible, hidden, findings, efficiency
  int time_limit = 10;                               ///< seconds of the processor, for one case
  std::string rubric = "{}";                         ///< further keys of a rubric, as JSON
};

/// Tells the grader that this file, which it has just loaded, has a task.
void announce(const std::string& name, Definition& definition, const std::vector<Parameter>& parameters);

template <class Task>
struct Announced {
  Announced(const char* name, const std::vector<Parameter>& parameters) {
    static Task task;
    announce(name, task, parameters);
  }
};

}  // namespace tilewise::task

#define TASK(name)                                                                                                 \
  namespace tilewise::task {                                                                                       \
  struct task_##name final : Definition {                                                                          \
    void define() override;                                                                                        \
  };                                                                                                               \
  static const Announced<task_##name> announced_##name(#name, Signature<decltype(::launch_##name)>::parameters()); \
  }                                                                                                                \
  void tilewise::task::task_##name::define()
