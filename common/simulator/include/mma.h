// Matrix products of a warp on tensor cores: nvcuda::wmma, as on compute capability 8.0 and later.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "tilewise_sim/tensor.hpp"

namespace nvcuda::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

namespace precision {
struct tf32;
}

namespace tilewise_detail {
namespace tensor = ::tilewise::sim::tensor;

// What a fragment's elements are, and how they are stored.
template <class T>
struct ElementOf {
  static_assert(sizeof(T) == ~std::size_t{0},
                "the Tilewise simulator does not support wmma fragments of experimental types: u4, s4 and b1");
  using Storage = T;
  static constexpr tensor::Element kElement = tensor::Element::f32;
};
template <>
struct ElementOf<__half> {
  using Storage = __half;
  static constexpr tensor::Element kElement = tensor::Element::f16;
};
template <>
struct ElementOf<__nv_bfloat16> {
  using Storage = __nv_bfloat16;
  static constexpr tensor::Element kElement = tensor::Element::bf16;
};
template <>
struct ElementOf<precision::tf32> {
  using Storage = float;
  static constexpr tensor::Element kElement = tensor::Element::tf32;
};
template <>
struct ElementOf<float> {
  using Storage = float;
  static constexpr tensor::Element kElement = tensor::Element::f32;
};

template <>
struct ElementOf<signed char> {
  using Storage = signed char;
  static constexpr tensor::Element kElement = tensor::Element::s8;
};
template <>
struct ElementOf<unsigned char> {
  using Storage = unsigned char;
  static constexpr tensor::Element kElement = tensor::Element::u8;
};
template <>
struct ElementOf<int> {
  using Storage = int;
  static constexpr tensor::Element kElement = tensor::Element::s32;
};
template <>
struct ElementOf<double> {
  using Storage = double;
  static constexpr tensor::Element kElement = tensor::Element::f64;
};

template <class Layout>
inline constexpr bool kColumnMajor = false;
template <>
inline constexpr bool kColumnMajor<col_major> = true;

// Which products there are.
template <int m, int n, int k, class T>
inline constexpr bool kShape = (m == 16 && n == 16 && k == 16) || (m == 32 && n == 8 && k == 16) ||
                               (m == 8 && n == 32 && k == 16);
template <int m, int n, int k>
inline constexpr bool kShape<m, n, k, precision::tf32> = m == 16 && n == 16 && k == 8;
template <int m, int n, int k>
inline constexpr bool kShape<m, n, k, double> = m == 8 && n == 8 && k == 4;
template <int m, int n, int k>
inline constexpr bool kShape<m, n, k, float> = kShape<m, n, k, __half> || kShape<m, n, k, precision::tf32>;

template <class T, tensor::Part part, int m, int n, int k, int size>
struct FragmentBase {
  using element_type = T;
  using storage_element_type = typename ElementOf<T>::Storage;
  enum { num_elements = size, num_storage_elements = size };
  storage_element_type x[num_storage_elements];

  static constexpr tensor::Fragment kFragment{part, m, n, k, ElementOf<T>::kElement};
};

// Elements in a lane. Fragments of half have 16 in all shapes, since on the first tensor cores some were held twice.
template <class T, int rows, int columns>
inline constexpr int kElements = rows* columns / 32;
template <int rows, int columns>
inline constexpr int kElements<__half, rows, columns> = 16;

}  // namespace tilewise_detail

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment;

#define TILEWISE_FRAGMENT(use, part, rows, columns)                                                                    \
  template <int m, int n, int k, class T, class Layout>                                                                \
  class fragment<use, m, n, k, T, Layout>                                                                              \
      : public tilewise_detail::FragmentBase<T, ::tilewise::sim::tensor::Part::part, m, n, k,                          \
                                             tilewise_detail::kElements<T, rows, columns>> {                           \
    static_assert(tilewise_detail::kShape<m, n, k, T>,                                                                 \
                  "the Tilewise simulator has wmma fragments of 16x16x16, 32x8x16 and 8x32x16 for half, bfloat16 and " \
                  "integers of 8 bits, of 16x16x8 for tf32, and of 8x8x4 for double");                                 \
    static_assert(std::is_same_v<Layout, row_major> || std::is_same_v<Layout, col_major>,                              \
                  "the layout of a matrix_a or matrix_b fragment is wmma::row_major or wmma::col_major");              \
  }
TILEWISE_FRAGMENT(matrix_a, a, m, k);
TILEWISE_FRAGMENT(matrix_b, b, k, n);
#undef TILEWISE_FRAGMENT

template <int m, int n, int k, class T>
class fragment<accumulator, m, n, k, T, void>
    : public tilewise_detail::FragmentBase<T, ::tilewise::sim::tensor::Part::accumulator, m, n, k, m * n / 32> {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, __half> || std::is_same_v<T, int> ||
                    std::is_same_v<T, double>,
                "the Tilewise simulator has wmma accumulators of float, half, int and double");
  static_assert(tilewise_detail::kShape<m, n, k, T>,
                "the Tilewise simulator has wmma fragments of 16x16x16, 32x8x16 and 8x32x16 for half, bfloat16 and "
                "integers of 8 bits, of 16x16x8 for tf32, and of 8x8x4 for double");
};

template <class Use, int m, int n, int k, class T, class Layout>
TILEWISE_INLINE void fill_fragment(fragment<Use, m, n, k, T, Layout>& f,
                                   const std::type_identity_t<typename tilewise_detail::ElementOf<T>::Storage>& value) {
  for (auto& element : f.x) element = value;
}

// `p` is read by all lanes together, and counted as the instructions that nvcc makes of it.
template <class Use, int m, int n, int k, class T, class Layout>
TILEWISE_INLINE void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f,
                                      const std::type_identity_t<typename tilewise_detail::ElementOf<T>::Storage>* p,
                                      unsigned ldm) {
  static_assert(!std::is_same_v<Use, accumulator>,
                "loading an accumulator takes the layout in memory: load_matrix_sync(c, p, ldm, wmma::mem_row_major)");
  ::tilewise::sim::tensor::load(f.kFragment, f.x, p, ldm, tilewise_detail::kColumnMajor<Layout>);
}
template <int m, int n, int k, class T>
TILEWISE_INLINE void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const std::type_identity_t<T>* p,
                                      unsigned ldm, layout_t layout) {
  ::tilewise::sim::tensor::load(f.kFragment, f.x, p, ldm, layout == mem_col_major);
}

template <int m, int n, int k, class T>
TILEWISE_INLINE void store_matrix_sync(std::type_identity_t<T>* p, const fragment<accumulator, m, n, k, T>& f,
                                       unsigned ldm, layout_t layout) {
  ::tilewise::sim::tensor::store(f.kFragment, f.x, p, ldm, layout == mem_col_major);
}

/// d = a * b + c. `d` may be `c`. `satf` is for integers: sums that are too large end at the largest int.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class D, class C>
TILEWISE_INLINE void mma_sync(fragment<accumulator, m, n, k, D>& d, const fragment<matrix_a, m, n, k, T, LayoutA>& a,
                              const fragment<matrix_b, m, n, k, T, LayoutB>& b,
                              const fragment<accumulator, m, n, k, C>& c, bool satf = false) {
  constexpr bool kIntegers = std::is_integral_v<T>, kDouble = std::is_same_v<T, double>;
  using Sums = std::conditional_t<kIntegers, int, std::conditional_t<kDouble, double, float>>;
  static_assert(std::is_same_v<T, __half> || (std::is_same_v<C, Sums> && std::is_same_v<D, Sums>),
                "with bfloat16 and tf32 the accumulators are float, with integers int, and with double double");
  using tilewise_detail::ElementOf;
  // HMMA.1684 and HMMA.16816, by nvcc 13.0. IMMA and DMMA have counters of their own.
  constexpr int kInstructions = kIntegers || kDouble ? 0 : std::is_same_v<T, precision::tf32> ? 4 : 2;
  constexpr ::tilewise::sim::tensor::Product kProduct{
      m, n, k, kInstructions, ElementOf<T>::kElement, ElementOf<C>::kElement, ElementOf<D>::kElement};
  ::tilewise::sim::tensor::Product product = kProduct;
  product.saturates = satf;
  ::tilewise::sim::tensor::multiply(product, d.x, a.x, b.x, c.x);
}

inline float __float_to_tf32(float value) { return ::tilewise::sim::tensor::round_to_tf32(value); }

}  // namespace nvcuda::wmma
