// The Python module: takes arrays as DLPack describes them, looks at everything that a kernel would
// not notice, and launches. Plain C++: the kernels are behind the C functions of launchers.cu.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "launchers.hpp"

namespace nb = nanobind;

namespace {

#ifdef TILEWISE_SIMULATOR
constexpr bool kSimulated = true;
constexpr int kDeviceType = nb::device::cpu::value;
#else
constexpr bool kSimulated = false;
constexpr int kDeviceType = nb::device::cuda::value;
#endif

std::string name_of(nb::dlpack::dtype type) {
  const char* const kinds[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
  const char* kind = type.code < std::size(kinds) ? kinds[type.code] : "type ";
  return type.code == 6 ? "bool" : kind + std::to_string(type.bits);
}

std::string text(const std::vector<std::int64_t>& numbers) {
  std::string all = "(";
  for (std::size_t i = 0; i < numbers.size(); ++i)
    all += (i ? ", " : "") + std::to_string(numbers[i]);
  return all + (numbers.size() == 1 ? ",)" : ")");
}

/// An array of somebody else's, for the time of one call. Nothing is copied: `data` is its memory.
class Array {
 public:
  Array(const char* name, nb::handle object, bool is_written) : name_(name) {
    if (is_written) {
      nb::ndarray<> array;
      if (nb::try_cast(object, array) && array.is_valid()) {
        keep(array);
        return;
      }
    }
    nb::ndarray<nb::ro> array;
    if (!nb::try_cast(object, array) || !array.is_valid()) {
      const std::string given = nb::cast<std::string>(nb::str(object.type().attr("__name__")));
      wrong_type("an array is needed (NumPy, PyTorch, CuPy: anything with __dlpack__), not " +
                 given);
    }
    if (is_written) wrong_value("the array is read-only, and the result has to go there");
    keep(array);
  }
  Array(const Array&) = delete;

  /// float32, on the right device, in C order. `dimensions` < 0: any number of them.
  void check(int dimensions) const {
    if (type_.code != static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float) ||
        type_.bits != 32 || type_.lanes != 1)
      wrong_type("float32 is needed, not " + name_of(type_));
    if (device_type_ != kDeviceType)
      wrong_value("the array is not where this module's kernels work");  // __init__.py says more
    if (dimensions >= 0 && static_cast<int>(shape.size()) != dimensions)
      wrong_value(std::to_string(dimensions) + " dimensions are needed, and the shape is " +
                  text(shape));
    if (std::any_of(shape.begin(), shape.end(), [](std::int64_t n) { return n > 1 << 30; }))
      wrong_value("the shape " + text(shape) + " is too large: at most 2**30 along each dimension");
    if (!is_contiguous())
      wrong_value(
          "the elements have to lie one after the other, row by row (C-contiguous); the shape "
          "is " +
          text(shape) + ", and the strides are " + text(strides_) + " elements");
  }
  /// The result's place: this shape, the device of `other`, and no byte of it.
  void check_result(const std::vector<std::int64_t>& wanted, const Array& other) const {
    check(-1);
    if (shape != wanted)
      wrong_value("the shape has to be " + text(wanted) + ", and it is " + text(shape));
    check_device(other);
    if (bytes() && other.bytes() && begin() < other.end() && other.begin() < end())
      wrong_value("the array overlaps " + std::string(other.name_) +
                  ", which the kernel still reads");
  }
  void check_device(const Array& other) const {
    if (device != other.device)
      wrong_value("the array is on GPU " + std::to_string(device) + ", and " + other.name_ +
                  " on GPU " + std::to_string(other.device));
  }

  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(data); }
  std::uintptr_t end() const { return begin() + bytes(); }
  std::size_t size() const {
    std::size_t all = 1;
    for (const std::int64_t n : shape) all *= static_cast<std::size_t>(n);
    return all;
  }
  std::size_t bytes() const { return size() * sizeof(float); }
  int dim(int i) const { return static_cast<int>(shape[i]); }

  float* data = nullptr;
  std::vector<std::int64_t> shape;
  int device = 0;

 private:
  template <class Any>
  void keep(const Any& array) {
    keep_alive_ = nb::ndarray<nb::ro>(array);
    data = static_cast<float*>(const_cast<void*>(static_cast<const void*>(array.data())));
    for (std::size_t i = 0; i < array.ndim(); ++i) {
      shape.push_back(static_cast<std::int64_t>(array.shape(i)));
      strides_.push_back(array.stride(i));
    }
    type_ = array.dtype();
    device_type_ = array.device_type();
    device = array.device_id();
  }
  bool is_contiguous() const {
    std::int64_t expected = 1;
    if (size() == 0) return true;
    for (std::size_t i = shape.size(); i-- > 0; expected *= shape[i])
      if (shape[i] != 1 && strides_[i] != expected) return false;
    return true;
  }
  [[noreturn]] void wrong_type(const std::string& what) const {
    throw nb::type_error((std::string(name_) + ": " + what).c_str());
  }
  [[noreturn]] void wrong_value(const std::string& what) const {
    throw nb::value_error((std::string(name_) + ": " + what).c_str());
  }

  const char* name_;
  nb::ndarray<nb::ro> keep_alive_;
  std::vector<std::int64_t> strides_;  // in elements
  nb::dlpack::dtype type_{};
  int device_type_ = 0;
};

/// A CUDA error becomes an exception, and its number an attribute's value in the text.
void check_cuda(const char* function, int error) {
  if (error == 0) return;
  forget_error();
  throw std::runtime_error(std::string(function) + ": " + error_text(error) + " (" +
                           error_name(error) + ")");
}

// Memory of the host that a simulated device may use for the time of a call; arrays may overlap.
class Lent {
 public:
  explicit Lent(std::vector<std::pair<std::uintptr_t, std::uintptr_t>> ranges) {
    std::sort(ranges.begin(), ranges.end());
    for (const auto& [begin, end] : ranges) {
      if (begin == end) continue;
      if (!lent_.empty() && begin < lent_.back().second)
        lent_.back().second = std::max(lent_.back().second, end);
      else
        lent_.emplace_back(begin, end);
    }
    for (std::size_t i = 0; i < lent_.size(); ++i)
      check_cuda("lend", lend_to_device(reinterpret_cast<void*>(lent_[i].first),
                                        lent_[i].second - lent_[i].first));
  }
  ~Lent() {
    for (const auto& range : lent_) take_back(reinterpret_cast<void*>(range.first));
  }

 private:
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> lent_;
};

/// Launches on the arrays' device, with Python free to do something else meanwhile.
template <class Launch>
void run(const char* function, std::initializer_list<const Array*> arrays, std::uintptr_t stream,
         Launch launch) {
  const nb::gil_scoped_release others_may_run;
  const auto queue = reinterpret_cast<cudaStream_t>(stream);
  int before = 0, error = 0;
  if constexpr (kSimulated) {  // arrays of the host: lent, worked on, and given back
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    std::vector<std::pair<std::uintptr_t, std::uintptr_t>> ranges;
    for (const Array* a : arrays) ranges.emplace_back(a->begin(), a->end());
    const Lent lent(ranges);
    error = launch(queue);
    const int waited = wait_for(queue);
    error = error != 0 ? error : waited;
  } else {  // arrays of the device: put it into the queue, and come back
    const int device = (*arrays.begin())->device;
    error = use_device(device, &before);
    if (error == 0) error = launch(queue);
    if (before != device) use_device(before, &before);
  }
  check_cuda(function, error);
}

using Matmul = int (*)(const float*, const float*, float*, int, int, int, cudaStream_t);

// [matmul]
template <Matmul launch>
void matmul(nb::handle a_, nb::handle b_, nb::handle out_, std::uintptr_t stream) {
  const Array a("a", a_, false), b("b", b_, false);
  a.check(2);
  b.check(2);
  b.check_device(a);
  const int m = a.dim(0), k = a.dim(1), n = b.dim(1);
  if (b.dim(0) != k) {
    const std::string columns = std::to_string(k), rows = std::to_string(b.dim(0));
    throw nb::value_error(("a has " + columns + " columns, and b " + rows + " rows").c_str());
  }
  const Array out("out", out_, true);
  out.check_result({m, n}, a);
  out.check_result({m, n}, b);
  run("matmul", {&a, &b, &out}, stream,
      [&](cudaStream_t s) { return launch(a.data, b.data, out.data, m, n, k, s); });
}
// [matmul]

void transpose(nb::handle a_, nb::handle out_, std::uintptr_t stream) {
  const Array a("a", a_, false);
  a.check(2);
  const Array out("out", out_, true);
  out.check_result({a.dim(1), a.dim(0)}, a);
  run("transpose", {&a, &out}, stream, [&](cudaStream_t s) {
    return launch_transpose_f32(a.data, out.data, a.dim(0), a.dim(1), s);
  });
}

void sum(nb::handle x_, nb::handle out_, std::uintptr_t stream) {
  const Array x("x", x_, false);
  x.check(-1);
  const Array out("out", out_, true);
  out.check_result({}, x);
  run("sum", {&x, &out}, stream,
      [&](cudaStream_t s) { return launch_sum_f32(x.data, x.size(), out.data, s); });
}

}  // namespace

NB_MODULE(_module, m) {
  m.attr("MACHINE") = kSimulated ? "sim" : "gpu";
  m.def("naive_matmul", &matmul<launch_naive>, nb::arg("a"), nb::arg("b"), nb::arg("out"),
        nb::arg("stream"));
  m.def("tiled_matmul", &matmul<launch_tiled>, nb::arg("a"), nb::arg("b"), nb::arg("out"),
        nb::arg("stream"));
  m.def("transpose", &transpose, nb::arg("a"), nb::arg("out"), nb::arg("stream"));
  m.def("sum", &sum, nb::arg("x"), nb::arg("out"), nb::arg("stream"));
  m.def(
      "nothing",
      [](std::uintptr_t stream) {
        check_cuda("nothing", launch_nothing(reinterpret_cast<cudaStream_t>(stream)));
      },
      nb::arg("stream"));
  m.def(
      "address", [](nb::handle array) { return Array("array", array, false).begin(); },
      nb::arg("array"));
}
