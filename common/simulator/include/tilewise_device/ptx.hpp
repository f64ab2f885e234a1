// Inline PTX: simcc makes a call of run<Instruction, order...>(operands...) out of an asm statement of device code.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tilewise_sim/tensor.hpp"

namespace tilewise::sim::ptx {

/// Where a 32-bit address of shared memory, as __cvta_generic_to_shared() gives it, points to.
void* shared_pointer(std::uint32_t address);
/// And back. An address elsewhere is a finding.
TILEWISE_DISTINCT std::uint32_t shared_address(const void* pointer);

template <int i, class First, class... Rest>
TILEWISE_INLINE constexpr decltype(auto) pick(First& first, Rest&... rest) {
  if constexpr (i == 0)
    return (first);
  else
    return pick<i - 1>(rest...);
}

/// The operands are those of the asm statement in their order, and behind them the numbers in its text; `order` is that of the text.
template <class Instruction, int... order, class... Operands>
TILEWISE_INLINE void run(Operands&&... operands) {
  Instruction::call(pick<order>(operands...)...);
}

// The 32 bits of an operand in a register.
template <class T>
TILEWISE_INLINE std::uint32_t bits_of(const T& value) {
  static_assert(sizeof(T) == 4, "an operand of this PTX instruction is a register of 32 bits");
  std::uint32_t bits;
  __builtin_memcpy(&bits, &value, 4);
  return bits;
}
template <class T>
TILEWISE_INLINE void set_bits(T& to, std::uint32_t bits) {
  static_assert(sizeof(T) == 4, "a result of this PTX instruction is a register of 32 bits");
  T value;
  __builtin_memcpy(&value, &bits, 4);
  to = value;
}

/// mma.sync.aligned.m16n8k(k).row.col.f32.(input).(input).f32
template <int k, tensor::Element input>
struct Mma {
  template <class A>
  TILEWISE_INLINE static void call(float& d0, float& d1, float& d2, float& d3, const A& a0, const A& a1, const A& a2,
                                   const A& a3, const A& b0, const A& b1, float c0, float c1, float c2, float c3) {
    const std::uint32_t a[4] = {bits_of(a0), bits_of(a1), bits_of(a2), bits_of(a3)}, b[2] = {bits_of(b0), bits_of(b1)};
    const float c[4] = {c0, c1, c2, c3};
    float d[4];
    constexpr tensor::Product kProduct{16, 8, k, 1, input, tensor::Element::f32, tensor::Element::f32};
    tensor::multiply(kProduct, d, a, b, c);
    d0 = d[0];
    d1 = d[1];
    d2 = d[2];
    d3 = d[3];
  }
};

using MmaBf16 = Mma<16, tensor::Element::bf16>;
using MmaF16 = Mma<16, tensor::Element::f16>;
using MmaTf32 = Mma<8, tensor::Element::tf32>;

/// ldmatrix.sync.aligned.m8n8.x(count)[.trans].shared.b16
template <int count, bool transposed>
struct LoadMatrices {
  template <class... Registers>
  TILEWISE_INLINE static void call(Registers&... all) {
    std::uint32_t d[4];
    tensor::load_matrices(count, transposed, d, shared_pointer(bits_of(pick<count>(all...))));
    set_bits(pick<0>(all...), d[0]);
    if constexpr (count >= 2) set_bits(pick<1>(all...), d[1]);
    if constexpr (count >= 4) {
      set_bits(pick<2>(all...), d[2]);
      set_bits(pick<3>(all...), d[3]);
    }
  }
};

struct ConvertToTf32 {
  template <class T>
  TILEWISE_INLINE static void call(T& to, float from) {
    set_bits(to, bits_of(tensor::round_to_tf32(from)));
  }
};

/// cp.async.(ca|cg).shared.global [to], [from], bytes[, read]; the rest is filled with zeros.
struct CopyAsync {
  template <class To, class From, class Bytes>
  TILEWISE_INLINE static void call(const To& to, const From& from, const Bytes& bytes) {
    async_copy(shared_pointer(bits_of(to)), (const void*)from, std::size_t(bytes), 0, false);
  }
  template <class To, class From, class Bytes, class Read>
  TILEWISE_INLINE static void call(const To& to, const From& from, const Bytes& bytes, const Read& read) {
    async_copy(shared_pointer(bits_of(to)), (const void*)from, std::size_t(bytes),
               std::size_t(bytes) - std::size_t(read), !__builtin_constant_p(read));
  }
};
struct CommitGroup {
  TILEWISE_INLINE static void call() { async_commit(); }
};
struct WaitGroup {
  template <class Left>
  TILEWISE_INLINE static void call(const Left& left) {
    async_wait(std::size_t(left));
  }
};
struct WaitAll {
  TILEWISE_INLINE static void call() {
    async_commit();
    async_wait(0);
  }
};

struct LaneId {
  template <class T>
  TILEWISE_INLINE static void call(T& to) {
    to = T(lane_id());
  }
};
/// See clock64(): each reading is one more than the last.
struct Clock {
  template <class T>
  TILEWISE_INLINE static void call(T& to) {
    to = T(clock_reading());
  }
};

}  // namespace tilewise::sim::ptx
