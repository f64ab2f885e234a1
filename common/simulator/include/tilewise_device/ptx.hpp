// Inline PTX: simcc makes calls of Instruction::call(operands...) out of an asm statement of device code. These are the instructions
// that reach memory, other lanes or special registers; the others are in ptx_arithmetic.hpp.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "tilewise_device/atomics.hpp"
#include "tilewise_device/integer.hpp"
#include "tilewise_device/ptx_arithmetic.hpp"
#include "tilewise_device/warp.hpp"
#include "tilewise_sim/tensor.hpp"

namespace tilewise::sim::ptx {

/// Where a 32-bit address of shared memory, as __cvta_generic_to_shared() gives it, points to.
void* shared_pointer(std::uint32_t address);
/// And back. An address elsewhere is a finding.
TILEWISE_DISTINCT std::uint32_t shared_address(const void* pointer);

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

/// mma.sync.aligned.m16n8k(k).row.col.(sum).(input).(input).(sum): d, a, b and c. Sums that are halves come two in a register.
template <int k, tensor::Element input, tensor::Element sum = tensor::Element::f32>
struct Mma {
  template <class... Operands>
  TILEWISE_INLINE static void call(Operands&&... all) {
    constexpr int kSums = sum == tensor::Element::f32 ? 4 : 2;
    using Sum = std::conditional_t<sum == tensor::Element::f32, float, std::uint32_t>;
    constexpr tensor::Product kProduct{16, 8, k, 1, input, sum, sum};
    const auto take = [&]<class T, int first, int... i>(T* to, std::integral_constant<int, first>,
                                                        std::integer_sequence<int, i...>) {
      ((to[i] = get<T>(pick<first + i>(all...))), ...);
    };
    std::uint32_t a[4], b[2];
    Sum c[kSums], d[kSums];
    take(a, std::integral_constant<int, kSums>(), std::make_integer_sequence<int, 4>());
    take(b, std::integral_constant<int, kSums + 4>(), std::make_integer_sequence<int, 2>());
    take(c, std::integral_constant<int, kSums + 6>(), std::make_integer_sequence<int, kSums>());
    tensor::multiply(kProduct, d, a, b, c);
    [&]<int... i>(std::integer_sequence<int, i...>) { (put(pick<i>(all...), d[i]), ...); }
    (std::make_integer_sequence<int, kSums>());
  }
};

using MmaBf16 = Mma<16, tensor::Element::bf16>;
using MmaF16 = Mma<16, tensor::Element::f16>;
using MmaTf32 = Mma<8, tensor::Element::tf32>;
using MmaOfHalves = Mma<16, tensor::Element::f16, tensor::Element::f16>;

/// ldmatrix.sync.aligned.m8n8.x(count)[.trans].shared.b16
template <int count, bool transposed>
struct LoadMatrices {
  template <class... Registers>
  TILEWISE_INLINE static void call(Registers&&... all) {
    std::uint32_t d[4];
    tensor::load_matrices(count, transposed, d, place<In::shared>(pick<count>(all...)));
    put(pick<0>(all...), d[0]);
    if constexpr (count >= 2) put(pick<1>(all...), d[1]);
    if constexpr (count >= 4) {
      put(pick<2>(all...), d[2]);
      put(pick<3>(all...), d[3]);
    }
  }
};

struct ConvertToTf32 {
  template <class T>
  TILEWISE_INLINE static void call(T& to, float from) {
    put(to, tensor::round_to_tf32(from));
  }
};

/// cp.async.(ca|cg).shared.global [to], [from], bytes[, read]; the rest is filled with zeros.
struct CopyAsync {
  template <class To, class From, class Bytes>
  TILEWISE_INLINE static void call(const To& to, const From& from, const Bytes& bytes) {
    async_copy(place<In::shared>(to), (const void*)from, std::size_t(bytes), 0, false);
  }
  template <class To, class From, class Bytes, class Read>
  TILEWISE_INLINE static void call(const To& to, const From& from, const Bytes& bytes, const Read& read) {
    async_copy(place<In::shared>(to), (const void*)from, std::size_t(bytes), std::size_t(bytes) - std::size_t(read),
               !__builtin_constant_p(read));
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

// ---------------------------------------------------------------- memory: one access for all elements
template <class T, int count>
struct alignas(count * sizeof(T)) Elements {
  T x[count];
};
/// What lies `bytes` past an address, which is a pointer or a number.
template <class Address>
TILEWISE_INLINE auto behind(const Address& address, std::int64_t bytes) {
  if constexpr (std::is_pointer_v<Address>)
    return std::uint64_t(address) + std::uint64_t(bytes);
  else
    return Address(address + Address(bytes));
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
  TILEWISE_INLINE static void call(Operands&&... all) {
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

// ---------------------------------------------------------------- addresses
/// cvta.to.shared.u64
struct ToShared {
  template <class To, class From>
  TILEWISE_INLINE static void call(To& to, const From& from) {
    put(to, std::uint64_t(shared_address((const void*)(from))));
  }
};
/// cvta.shared.u64
struct FromShared {
  template <class To, class From>
  TILEWISE_INLINE static void call(To& to, const From& from) {
    put(to, std::uint64_t(shared_pointer(std::uint32_t(from))));
  }
};
/// A prefetch changes nothing that a program can see.
struct Hint {
  template <class Address>
  TILEWISE_INLINE static void call(const Address&) {}
};

// ---------------------------------------------------------------- threads together
struct BlockBarrier {
  TILEWISE_INLINE static void call(int) { sync_block(); }
};
struct WarpBarrier {
  template <class Mask>
  TILEWISE_INLINE static void call(const Mask& mask) {
    __syncwarp(get<std::uint32_t>(mask));
  }
};
struct ActiveMask {
  template <class To>
  TILEWISE_INLINE static void call(To& to) {
    put(to, std::uint32_t(__activemask()));
  }
};

/// shfl.sync: the source's lane is b lanes away, within a part of the warp; where there is none, a lane gets its own value. c holds the
/// last lane of a part, and above it the bits of a lane's number that name the part. The second result says whether there is a source.
enum class By { index, up, down, butterfly };
template <By how, bool tells>
struct Shuffle {
  template <class To, class A, class B, class C, class Mask>
  TILEWISE_INLINE static void call(To& to, const A& a, const B& b, const C& c, const Mask& mask) {
    bool found;
    call(to, found, a, b, c, mask);
  }
  template <class To, class A, class B, class C, class Mask>
  TILEWISE_INLINE static void call(To& to, bool& found, const A& a, const B& b, const C& c, const Mask& mask) {
    const auto lane = int(lane_id()), away = int(get<std::uint32_t>(b) & 31u);
    const auto part = int(get<std::uint32_t>(c) >> 8 & 31u), clamp = int(get<std::uint32_t>(c) & 31u);
    const int first = lane & part, last = first | (clamp & ~part);
    int source = how == By::up          ? lane - away
                 : how == By::down      ? lane + away
                 : how == By::butterfly ? lane ^ away
                                        : first | (away & ~part);
    found = how == By::up ? source >= last : source <= last;
    if (!found) source = lane;
    put(to, std::uint32_t(__shfl_sync(get<std::uint32_t>(mask), get<std::uint32_t>(a), source)));
  }
};

struct Ballot {
  template <class To, class P, class Mask>
  TILEWISE_INLINE static void call(To& to, const P& p, const Mask& mask) {
    put(to, std::uint32_t(__ballot_sync(get<std::uint32_t>(mask), p)));
  }
};
struct AnyLane {
  template <class P, class Mask>
  TILEWISE_INLINE static void call(bool& to, const P& p, const Mask& mask) {
    to = __any_sync(get<std::uint32_t>(mask), p) != 0;
  }
};
struct AllLanes {
  template <class P, class Mask>
  TILEWISE_INLINE static void call(bool& to, const P& p, const Mask& mask) {
    to = __all_sync(get<std::uint32_t>(mask), p) != 0;
  }
};
struct LanesAgree {
  template <class P, class Mask>
  TILEWISE_INLINE static void call(bool& to, const P& p, const Mask& mask) {
    to = __uni_sync(get<std::uint32_t>(mask), p) != 0;
  }
};
struct Sleep {
  template <class Time>
  TILEWISE_INLINE static void call(const Time&) {
    yield_thread();
  }
};
struct Trap {
  TILEWISE_INLINE static void call() { trap(); }
};

// ---------------------------------------------------------------- special registers
/// A special register as an operand.
template <class Register, class T>
TILEWISE_INLINE T read() {
  T value;
  Register::call(value);
  return value;
}
struct LaneId {
  template <class T>
  TILEWISE_INLINE static void call(T& to) {
    to = T(lane_id());
  }
};
/// See clock64().
struct Clock {
  template <class T>
  TILEWISE_INLINE static void call(T& to) {
    to = T(clock_reading());
  }
};
/// In nanoseconds, a microsecond for each tick of clock64().
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
