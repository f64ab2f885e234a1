// Inline PTX: simcc makes a call of run<Instruction, order...>(operands...) out of an asm statement of device code.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "tilewise_device/atomics.hpp"
#include "tilewise_device/integer.hpp"
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

/// mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16: sums are halves, two in a register.
struct MmaOfHalves {
  template <class D, class A>
  TILEWISE_INLINE static void call(D& d0, D& d1, const A& a0, const A& a1, const A& a2, const A& a3, const A& b0,
                                   const A& b1, const A& c0, const A& c1) {
    const std::uint32_t a[4] = {bits_of(a0), bits_of(a1), bits_of(a2), bits_of(a3)}, b[2] = {bits_of(b0), bits_of(b1)};
    const std::uint32_t c[2] = {bits_of(c0), bits_of(c1)};
    std::uint32_t d[2];
    constexpr tensor::Product kProduct{16, 8, 16, 1, tensor::Element::f16, tensor::Element::f16, tensor::Element::f16};
    tensor::multiply(kProduct, d, a, b, c);
    set_bits(d0, d[0]);
    set_bits(d1, d[1]);
  }
};

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

// ---------------------------------------------------------------- integers
// What the manual says where lengths and positions go beyond the number; the types are the instruction's.
template <class T>
struct ExtractBits {
  template <class To, class From, class Begin, class Length>
  TILEWISE_INLINE static void call(To& to, const From& from, const Begin& begin, const Length& length) {
    constexpr unsigned kBits = 8 * sizeof(T);
    const T value = T(from);
    const unsigned first = unsigned(begin) & 0xffu, bits = unsigned(length) & 0xffu;
    if (bits == 0) {
      to = To(0);
      return;
    }
    const unsigned left = first < kBits ? kBits - first : 0;  // bits from there on
    const bool sign = std::is_signed_v<T> && (value >> (bits < left ? first + bits - 1 : kBits - 1) & 1);
    const unsigned taken = bits < left ? bits : left;
    using Unsigned = std::make_unsigned_t<T>;
    const Unsigned mask = taken == kBits ? ~Unsigned(0) : (Unsigned(1) << taken) - 1;
    const Unsigned low = taken == 0 ? Unsigned(0) : Unsigned(value) >> first & mask;
    to = To(T(sign ? low | ~mask : low));
  }
};

/// The low bits of `inserted` in place of some of `into`.
template <class T>
struct InsertBits {
  template <class To, class A, class B, class Begin, class Length>
  TILEWISE_INLINE static void call(To& to, const A& inserted, const B& into, const Begin& begin, const Length& length) {
    constexpr unsigned kBits = 8 * sizeof(T);
    const unsigned first = unsigned(begin) & 0xffu, bits = unsigned(length) & 0xffu;
    if (first >= kBits || bits == 0) {
      to = To(into);
      return;
    }
    const T mask = (bits >= kBits ? ~T(0) : (T(1) << bits) - 1) << first;
    to = To((T(into) & ~mask) | (T(inserted) << first & mask));
  }
};

/// The highest bit that isn't the sign's; all ones where there is none.
template <class T>
struct FindBit {
  template <class To, class From>
  TILEWISE_INLINE static void call(To& to, const From& from) {
    using Unsigned = std::make_unsigned_t<T>;
    const T value = T(from);
    const Unsigned bits = Unsigned(value < 0 ? ~value : value);
    to = To(bits == 0 ? 0xffffffffu : 8 * unsigned(sizeof(T)) - 1 - unsigned(std::countl_zero(bits)));
  }
};
/// The shift that brings it to the top.
template <class T>
struct ShiftOf {
  template <class To, class From>
  TILEWISE_INLINE static void call(To& to, const From& from) {
    std::uint32_t position;
    FindBit<T>::call(position, from);
    to = To(position == 0xffffffffu ? position : 8 * std::uint32_t(sizeof(T)) - 1 - position);
  }
};

template <class T>
struct CountBits {
  template <class To, class From>
  TILEWISE_INLINE static void call(To& to, const From& from) {
    to = To(std::popcount(T(from)));
  }
};
template <class T>
struct CountZeros {
  template <class To, class From>
  TILEWISE_INLINE static void call(To& to, const From& from) {
    to = To(std::countl_zero(T(from)));
  }
};
template <class T>
struct ReverseBits {
  template <class To, class From>
  TILEWISE_INLINE static void call(To& to, const From& from) {
    if constexpr (sizeof(T) == 8)
      to = To(__brevll(T(from)));
    else
      to = To(__brev(T(from)));
  }
};

// Overflow goes round, in signed numbers, too.
template <class T>
struct Add {
  template <class To, class A, class B>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b) {
    using Unsigned = std::make_unsigned_t<T>;
    to = To(T(Unsigned(a) + Unsigned(b)));
  }
};
template <class T>
struct Subtract {
  template <class To, class A, class B>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b) {
    using Unsigned = std::make_unsigned_t<T>;
    to = To(T(Unsigned(a) - Unsigned(b)));
  }
};
template <class T>
struct Multiply {
  template <class To, class A, class B>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b) {
    using Unsigned = std::make_unsigned_t<T>;
    to = To(T(Unsigned(a) * Unsigned(b)));
  }
};
template <class T>
struct MultiplyAdd {
  template <class To, class A, class B, class C>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b, const C& c) {
    using Unsigned = std::make_unsigned_t<T>;
    to = To(T(Unsigned(a) * Unsigned(b) + Unsigned(c)));
  }
};

/// lop3: bit i of `table` is the result where a, b and c have the bits of i.
struct AnyLogic {
  template <class To, class A, class B, class C, class Table>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b, const C& c, const Table& table) {
    std::uint32_t result = 0;
    for (unsigned i = 0; i < 8; ++i)
      if (std::uint32_t(table) >> i & 1u)
        result |= ((i & 4u) ? std::uint32_t(a) : ~std::uint32_t(a)) &
                  ((i & 2u) ? std::uint32_t(b) : ~std::uint32_t(b)) & ((i & 1u) ? std::uint32_t(c) : ~std::uint32_t(c));
    to = To(result);
  }
};
struct Permute {
  template <class To, class A, class B, class C>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b, const C& selector) {
    to = To(__byte_perm(unsigned(a), unsigned(b), unsigned(selector)));
  }
};

/// |a - b| of all numbers of type T in a word; `added`: their sum and the third source.
template <class T, bool added>
struct Differences {
  template <class To, class A, class B>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b) {
    call(to, a, b, 0);
  }
  template <class To, class A, class B, class C>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b, const C& c) {
    std::uint32_t result = added ? std::uint32_t(c) : 0;
    for (unsigned shift = 0; shift < 32; shift += 8 * unsigned(sizeof(T))) {
      const std::int64_t x = T(std::uint32_t(a) >> shift), y = T(std::uint32_t(b) >> shift);
      const auto difference = std::uint32_t(x > y ? x - y : y - x);
      if constexpr (added)
        result += difference;
      else
        result |= (difference & std::uint32_t(std::make_unsigned_t<T>(~T(0)))) << shift;
    }
    to = To(result);
  }
};

// ---------------------------------------------------------------- memory: one access for all elements
template <class T, int count>
struct alignas(count * sizeof(T)) Elements {
  T x[count];
};
// A register holds the bits, whatever its type. One that is wider than the number gets its sign, or zeros.
template <class To, class T>
TILEWISE_INLINE void put(To& to, const T& value) {
  static_assert(sizeof(To) == sizeof(T) || (sizeof(To) > sizeof(T) && std::is_integral_v<T> && std::is_integral_v<To>),
                "the operand and the type of this PTX instruction differ in size");
  if constexpr (sizeof(To) == sizeof(T))
    __builtin_memcpy(&to, &value, sizeof value);
  else
    to = To(value);
}
template <class T, class From>
TILEWISE_INLINE T get(const From& from) {
  static_assert(sizeof(From) == sizeof(T) || (std::is_integral_v<T> && std::is_integral_v<From>),
                "the operand and the type of this PTX instruction differ in size");
  T value;
  if constexpr (sizeof(From) == sizeof(T))
    __builtin_memcpy(&value, &from, sizeof value);
  else
    value = T(from);
  return value;
}

/// Where the address is: anywhere (a pointer), or in shared memory (what __cvta_generic_to_shared() gives).
enum class In { generic, shared };
template <In in, class Address>
TILEWISE_INLINE void* place(const Address& address) {
  if constexpr (in == In::shared) {
    static_assert(std::is_integral_v<Address>, "an address of shared memory is what __cvta_generic_to_shared() gives");
    return shared_pointer(std::uint32_t(address));
  } else {
    static_assert(sizeof(Address) == 8, "an address of this PTX instruction is an operand of 64 bits");
    return (void*)(address);
  }
}

/// For whom the instruction orders what its thread does: for none (weak, volatile, relaxed), its block, or all.
enum class For { none, block, all };
template <For whom>
TILEWISE_INLINE void fence() {
  if constexpr (whom != For::none) memory_fence(whom == For::block);
}
template <For whom>
struct Fence {
  TILEWISE_INLINE static void call() { fence<whom>(); }
};

template <std::size_t bytes>
using Bits = std::conditional_t<
    bytes == 16, unsigned __int128,
    std::conditional_t<
        bytes == 8, std::uint64_t,
        std::conditional_t<bytes == 4, std::uint32_t, std::conditional_t<bytes == 2, std::uint16_t, std::uint8_t>>>>;

/// `strong`: .volatile, .relaxed and .acquire, which may meet stores of other threads.
template <class T, int count, In in, bool strong, For acquires>
struct Load {
  template <class... Operands>
  TILEWISE_INLINE static void call(Operands&... all) {
    void* const from = place<in>(pick<count>(all...));
    Elements<T, count> values;
    if constexpr (strong) {
      const auto bits = *(const volatile Bits<sizeof values>*)(from);
      __builtin_memcpy(&values, &bits, sizeof values);
    } else {
      values = *(const Elements<T, count>*)(from);
      __asm__("" : "+m"(values));  // else compilers load one element after another
    }
    fence<acquires>();
    [&]<int... i>(std::integer_sequence<int, i...>) { (put(pick<i>(all...), values.x[i]), ...); }
    (std::make_integer_sequence<int, count>());
  }
};
template <class T, int count, In in, bool strong, For releases>
struct Store {
  template <class Address, class... Operands>
  TILEWISE_INLINE static void call(const Address& address, const Operands&... all) {
    void* const to = place<in>(address);
    Elements<T, count> values;
    [&]<int... i>(std::integer_sequence<int, i...>) { (put(values.x[i], get<T>(pick<i>(all...))), ...); }
    (std::make_integer_sequence<int, count>());
    fence<releases>();
    if constexpr (strong) {
      Bits<sizeof values> bits;
      __builtin_memcpy(&bits, &values, sizeof values);
      *(volatile Bits<sizeof values>*)(to) = bits;
    } else {
      __asm__("" : "+m"(values));  // else compilers store one element after another
      *(Elements<T, count>*)(to) = values;
    }
  }
};

// ---------------------------------------------------------------- atomics: what becomes of the word
struct Exchanged {
  template <class T>
  static T of(T, T b) {
    return b;
  }
};
struct Added {
  template <class T>
  static T of(T old, T b) {
    if constexpr (std::is_integral_v<T>)
      return T(std::make_unsigned_t<T>(old) + std::make_unsigned_t<T>(b));
    else
      return old + b;
  }
};
struct Lesser {
  template <class T>
  static T of(T old, T b) {
    return b < old ? b : old;
  }
};
struct Greater {
  template <class T>
  static T of(T old, T b) {
    return b > old ? b : old;
  }
};
struct Anded {
  template <class T>
  static T of(T old, T b) {
    return old & b;
  }
};
struct Ored {
  template <class T>
  static T of(T old, T b) {
    return old | b;
  }
};
struct Xored {
  template <class T>
  static T of(T old, T b) {
    return old ^ b;
  }
};
struct CountedUp {
  template <class T>
  static T of(T old, T b) {
    return old >= b ? T(0) : T(old + 1);
  }
};
struct CountedDown {
  template <class T>
  static T of(T old, T b) {
    return old == 0 || old > b ? b : T(old - 1);
  }
};

template <class T, class What, In in, For releases, For acquires>
struct Atomic {
  template <class To, class Address, class Value>
  TILEWISE_INLINE static void call(To& to, const Address& address, const Value& value) {
    const T b = get<T>(value);
    fence<releases>();
    const T old = atomic_detail::read_modify_write((T*)place<in>(address), [b](T was) { return What::of(was, b); });
    fence<acquires>();
    put(to, old);
  }
};
template <class T, In in, For releases, For acquires>
struct CompareAndSwap {
  template <class To, class Address, class Compare, class Value>
  TILEWISE_INLINE static void call(To& to, const Address& address, const Compare& compare, const Value& value) {
    const T b = get<T>(compare), c = get<T>(value);
    fence<releases>();
    const T old =
        atomic_detail::read_modify_write((T*)place<in>(address), [b, c](T was) -> T { return was == b ? c : was; });
    fence<acquires>();
    put(to, old);
  }
};
/// red: an atomic whose old value nobody gets.
template <class T, class What, In in, For releases>
struct Reduction {
  template <class Address, class Value>
  TILEWISE_INLINE static void call(const Address& address, const Value& value) {
    const T b = get<T>(value);
    fence<releases>();
    discard();
    atomic_detail::read_modify_write((T*)place<in>(address), [b](T was) { return What::of(was, b); });
  }
};

// ---------------------------------------------------------------- special registers
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
/// In nanoseconds, a microsecond for each reading.
struct GlobalTimer {
  template <class T>
  TILEWISE_INLINE static void call(T& to) {
    to = T(1000 * clock_reading());
  }
};
template <bool below, bool own, bool above>
struct Lanes {
  template <class T>
  TILEWISE_INLINE static void call(T& to) {
    const std::uint32_t bit = 1u << lane_id();
    to = T((below ? bit - 1 : 0u) | (own ? bit : 0u) | (above ? ~(bit - 1) & ~bit : 0u));
  }
};
struct WarpId {
  template <class T>
  TILEWISE_INLINE static void call(T& to) {
    to = T(linear_tid() / kWarpSize);
  }
};
struct WarpsOfMultiprocessor {
  template <class T>
  TILEWISE_INLINE static void call(T& to) {
    to = T(warps_of_multiprocessor());
  }
};
struct Multiprocessors {
  template <class T>
  TILEWISE_INLINE static void call(T& to) {
    to = T(multiprocessors());
  }
};
/// Blocks take turns.
struct MultiprocessorId {
  template <class T>
  TILEWISE_INLINE static void call(T& to) {
    const uint3 block = block_idx();
    const dim3 grid = grid_dim();
    to = T(((std::uint64_t(block.z) * grid.y + block.y) * grid.x + block.x) % multiprocessors());
  }
};
template <auto of, auto member>
struct Coordinate {
  template <class T>
  TILEWISE_INLINE static void call(T& to) {
    to = T(of().*member);
  }
};

}  // namespace tilewise::sim::ptx
