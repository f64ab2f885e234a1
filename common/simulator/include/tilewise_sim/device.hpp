// What rewritten CUDA source and the simulator's CUDA headers call. Everything here is implemented in the
// runtime, which is compiled without instrumentation. See docs/architecture.md.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "vector_types.h"  // uint3, dim3

struct CUstream_st;

// Calls in different places stay different calls, so that messages can tell them apart.
#if defined(__clang__)
#define TILEWISE_DISTINCT __attribute__((nomerge))
#else
#define TILEWISE_DISTINCT
#endif

namespace tilewise::sim {

// ---------------------------------------------------------------- the thread's coordinates
// Constant during a thread's life, so the compiler may call them once per thread.
// One number each: what a struct is returned for, compilers call again and again.
#define TILEWISE_COORDINATES(type, name)       \
  [[gnu::const]] unsigned name##_x() noexcept; \
  [[gnu::const]] unsigned name##_y() noexcept; \
  [[gnu::const]] unsigned name##_z() noexcept; \
  [[gnu::always_inline]] inline type name() { return type{name##_x(), name##_y(), name##_z()}; }
TILEWISE_COORDINATES(uint3, thread_idx)
TILEWISE_COORDINATES(uint3, block_idx)
TILEWISE_COORDINATES(dim3, block_dim)
TILEWISE_COORDINATES(dim3, grid_dim)
#undef TILEWISE_COORDINATES
[[gnu::const]] unsigned lane_id() noexcept;     ///< 0..31, position in the warp
[[gnu::const]] unsigned linear_tid() noexcept;  ///< x + y * blockDim.x + z * blockDim.x * blockDim.y

/// True on a simulated CUDA thread, false in host code.
bool in_kernel();
/// Whether what runs is compiled for the device, as its macro of the architecture says: also in a functor that an algorithm of Thrust's calls
/// on device memory.
bool on_device();

// ---------------------------------------------------------------- barriers
TILEWISE_DISTINCT void sync_block();
TILEWISE_DISTINCT int sync_block_count(int predicate);
TILEWISE_DISTINCT int sync_block_and(int predicate);
TILEWISE_DISTINCT int sync_block_or(int predicate);

/// The barrier of a cooperative launch: all threads of the grid. In another launch: a finding, and its end.
TILEWISE_DISTINCT void sync_grid();
/// Whether the running launch is a cooperative one.
[[gnu::const]] bool is_cooperative();

/// Before a barrier that has others in its line of the source: which of them it is. The rewriter inserts it.
void number_barrier(unsigned number);

// ---------------------------------------------------------------- warp operations
/// What a warp operation is, so that lanes waiting in different operations are not confused.
enum class WarpOp : std::uint8_t { sync, shuffle, vote, match, reduce, matrix };

constexpr unsigned kWarpSize = 32;

/// Publishes `value`, waits until every lane in `mask` has arrived at an operation of the same kind with the same
/// mask, and fills `out` with the published values (0 for lanes outside the mask or already gone).
/// `mask` must contain the caller; lanes in it that never come are a finding. Returns the lanes that took part.
unsigned warp_exchange(unsigned mask, WarpOp op, std::uint64_t value, std::uint64_t out[kWarpSize]);

/// A shuffle with that mask read from lane `source`, which took no part in it: a finding.
void absent_lane(unsigned mask, unsigned source);

/// The lanes that are converged here: every lane of the warp runs until it arrives here or waits or ends elsewhere.
unsigned active_mask();

/// Tells in the compiler's call graph which of the rewriter's functions this is; no instruction is left of it.
template <int index>
TILEWISE_INLINE void marked_function() {}
template <int index>
TILEWISE_INLINE constexpr void marked_lambda() {
  if (!__builtin_is_constant_evaluated()) marked_function<index>();
}

/// In functions of host code that a kernel may come to, the rewriter calls this where they begin: in a kernel a finding.
TILEWISE_DISTINCT void host_function() noexcept;

// ---------------------------------------------------------------- memory
/// Announces an atomic read-modify-write by the calling thread. Call it, then use raw_copy for the data.
void atomic_access(const volatile void* address, std::size_t bytes);

/// The next atomic of this thread throws its result away (nvcc emits RED, not ATOM).
void discard();

/// `__threadfence()` and kin: what was written so far is handed on by an atomic or volatile store that follows.
void memory_fence(bool within_block = false);

/// For functions of the headers that compute with other operations than a GPU, in double precision and, if said, in single:
/// how many FLOP the running launch makes is then not known.
void own_arithmetic(bool in_single_too) noexcept;

/// `__pipeline_memcpy_async()` and kin: the calling thread begins a copy to shared memory, of which the last `filled` bytes are
/// zeros (`chosen`: nvcc does not know how many); ends a group of copies; waits until no more than `left` of its latest groups
/// are in flight.
TILEWISE_DISTINCT void async_copy(void* to, const void* from, std::size_t bytes, std::size_t filled, bool chosen);
void async_commit();
TILEWISE_DISTINCT void async_wait(std::size_t left);

/// Where an address is: `__isShared()`, `__isGlobal()`.
[[gnu::const]] bool is_shared(const void* pointer);
bool is_global(const void* pointer);

/// Moves bytes without being counted or checked.
void raw_copy(void* to, const void* from, std::size_t bytes);

/// The array, pointer or object that `c ? a : b` is: see Rewriter::rewrite_chosen_array().
template <class T>
[[gnu::always_inline]] constexpr T&& chosen(T&& one) {
  return static_cast<T&&>(one);
}

/// A copy: what a call moves between it and memory is seen. See Rewriter::rewrite_recursive_call().
template <class T>
[[gnu::always_inline]] constexpr T value(T one) {
  return one;
}

/// malloc() and free() in device code. In host code, which a function of both sides may be: those of the C library.
TILEWISE_DISTINCT void* heap_allocate(std::size_t bytes);
TILEWISE_DISTINCT void heap_free(void* pointer);

/// What clock64() returns: it counts its calls, and hurries when one thread calls it over and over.
long long clock_reading();

/// printf() and vprintf() of device code. Each call in the source has a number of its own, which its copies share.
struct Print {
  unsigned call;
  [[gnu::format(printf, 2, 3)]] int operator()(const char* format, ...) const;
};
struct PrintList {
  unsigned call;
  [[gnu::format(printf, 2, 0)]] int operator()(const char* format, std::va_list arguments) const;
};

/// Of the device that the kernel runs on: its multiprocessors, and the warps that one of them holds.
unsigned multiprocessors();
unsigned warps_of_multiprocessor();

/// A wait inside a spin loop: lets other threads run (for __nanosleep and volatile polling).
void yield_thread();

enum class Space : std::uint8_t { global, constant, managed };

/// Announces a variable with static storage in device memory.
bool register_variable(const void* address, std::size_t bytes, const char* name, Space space);

/// The address of a device variable, as host code has it, given to a kernel or to cudaMemcpy: a finding.
TILEWISE_DISTINCT void host_address_used(const void* address);

/// What such an argument becomes.
template <class Pointer>
[[gnu::always_inline]] inline auto* host_address(Pointer&& pointer) {
  auto* decayed = pointer;
  host_address_used((const void*)decayed);
  return decayed;
}

/// Announces a variable that is `static` in a device function, each time the function runs. `known` starts as false.
/// Not instrumented: `known` is no variable of the program.
__attribute__((no_sanitize("thread"), noinline)) inline void register_static(bool& known, const volatile void* address,
                                                                             std::size_t bytes, const char* name) {
  if (!known) known = register_variable(const_cast<const void*>(address), bytes, name, Space::global);
}

/// Lengths of an array and the size of its elements, for messages: `float a[2][3]` is {4, 2, {2, 3}}.
struct ArrayShape {
  std::size_t element_bytes = 0;
  unsigned rank = 0;  ///< 0 for a plain variable
  std::size_t extents[4] = {};
};

template <class T>
constexpr ArrayShape shape_of() {
  ArrayShape shape{sizeof(std::remove_all_extents_t<T>)};
  if constexpr (std::rank_v<T> <= 4) {
    shape.rank = std::rank_v<T>;
    shape.extents[0] = std::extent_v<T, 0>;
    shape.extents[1] = std::extent_v<T, 1>;
    shape.extents[2] = std::extent_v<T, 2>;
    shape.extents[3] = std::extent_v<T, 3>;
  }
  return shape;
}

/// A `__shared__` variable declared in code: one object per declaration and template instance.
struct SharedVariable {
  std::size_t bytes = 0;
  std::size_t alignment = 0;
  ArrayShape shape{};
  const char* name = nullptr;
  const char* file = nullptr;
  int line = 0;
  std::uint64_t block = 0;  ///< serial number of the block that `address` belongs to
  void* address = nullptr;
};

/// Address of the variable in the running block's shared memory; placed there when the block first meets it.
void* shared_address(SharedVariable& variable, const char* name, const char* file, int line);

template <class Storage, class Declared = Storage>
Storage& shared_variable(const char* name, const char* file, int line) {
  static constinit SharedVariable variable{sizeof(Storage), alignof(Storage), shape_of<Declared>()};
  return *static_cast<Storage*>(shared_address(variable, name, file, line));
}

/// Start of the launch's dynamic shared memory, 16-byte aligned at least.
void* dynamic_shared();

// ---------------------------------------------------------------- ending a launch early
/// `__trap()`: the launch ends with cudaErrorLaunchFailure.
[[noreturn]] void trap();
/// A failed device assert: prints CUDA's line, the launch ends with cudaErrorAssert.
/// `site`: where it is called.
[[noreturn]] void assert_failed(const char* expression, const char* file, unsigned line, const char* function,
                                const void* site);
/// A feature that the simulator does not have was reached: says so, exits with 1.
[[noreturn]] void unsupported(const char* feature);

// ---------------------------------------------------------------- promises to the compiler
/// A promise that was broken ends the launch with cudaErrorAssert, or the program when host code made it.
[[noreturn]] void promise_broken(const char* what);

/// `__builtin_assume(holds)`.
TILEWISE_INLINE constexpr void assume(bool holds) {
  if (!holds) promise_broken("what __builtin_assume() promises is false");
}

/// `__builtin_unreachable()`.
[[noreturn]] TILEWISE_INLINE void unreachable() { promise_broken("__builtin_unreachable() is reached"); }

/// The pointer, of which the compiler knows by its type, or by a promise, that it points to multiples of 8 or 16 bytes.
[[gnu::const]] void* aligned8(const volatile void* pointer);
[[gnu::const]] void* aligned16(const volatile void* pointer);

/// `__builtin_assume_aligned(pointer, bytes)`.
TILEWISE_INLINE void* assume_aligned(const volatile void* pointer, std::size_t bytes, std::size_t offset = 0) {
  if ((reinterpret_cast<std::uintptr_t>(pointer) - offset) % bytes != 0)
    promise_broken("the address given to __builtin_assume_aligned() isn't aligned like that");
  if (bytes % 16 == 0 && offset % 16 == 0) return aligned16(pointer);
  if (bytes % 8 == 0 && offset % 8 == 0) return aligned8(pointer);
  return const_cast<void*>(pointer);
}

// ---------------------------------------------------------------- launches
struct LaunchConfig {
  dim3 grid;
  dim3 block;
  std::size_t shared = 0;
  CUstream_st* stream = nullptr;
  bool cooperative = false;  ///< all blocks are resident at once, and may wait for each other
  constexpr LaunchConfig(dim3 grid, dim3 block, std::size_t shared = 0, CUstream_st* stream = nullptr)
      : grid(grid), block(block), shared(shared), stream(stream) {}
};

/// Stands for NULL as a kernel argument.
struct NullArgument {
  template <class T>
  operator T*() const {
    return nullptr;
  }
  operator int() const { return 0; }
};
inline constexpr NullArgument null_argument{};

// Equal arguments are equal bytes then, where the compiler can do it.
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
#define TILEWISE_CLEAR_PADDING(pointer) __builtin_clear_padding(pointer)
#endif
#endif
#ifndef TILEWISE_CLEAR_PADDING
#define TILEWISE_CLEAR_PADDING(pointer) static_cast<void>(pointer)
#endif

/// Runs `thread(context)` once per CUDA thread. Returns nothing: errors are read with cudaGetLastError(). In a stream that is being
/// captured it is run later, with a copy of the context, which takes `bytes` bytes; 0: there can be none.
void launch_erased(const LaunchConfig& config, void (*thread)(void*), void* context, std::size_t bytes = 0);

/// `callable` calls the kernel; it refers to what is around it, or to nothing.
template <class Callable, class... Args>
[[gnu::always_inline]] inline void launch(LaunchConfig config, Callable&& callable, Args... args) {
  if constexpr (std::is_empty_v<std::remove_cvref_t<Callable>> && (std::is_trivially_copyable_v<Args> && ...)) {
    auto thread = [callable, args...]() mutable { callable(args...); };
    using Thread = decltype(thread);
    TILEWISE_CLEAR_PADDING(&thread);
    launch_erased(
        config, [](void* context) { (*static_cast<Thread*>(context))(); }, &thread, sizeof thread);
  } else {
    auto thread = [&] { callable(args...); };
    using Thread = decltype(thread);
    launch_erased(
        config, [](void* context) { (*static_cast<Thread*>(context))(); }, &thread);
  }
}

/// The compilers pass such objects by their address, and others in registers or on the stack.
template <class T>
inline constexpr bool passed_by_address =
    !std::is_trivially_destructible_v<T> ||
    (std::is_copy_constructible_v<T> && !std::is_trivially_copy_constructible_v<T>) ||
    (std::is_move_constructible_v<T> && !std::is_trivially_move_constructible_v<T>);

/// The argument's table of virtual functions is the host's.
void host_made_argument(const void* object);

/// A thread's own copy of a kernel argument: its bytes, as on a GPU, where no constructor or destructor runs for it.
template <class T>
struct ArgumentBytes {
  alignas(T) unsigned char bytes[sizeof(T)];
  explicit ArgumentBytes(const T& argument) {
    raw_copy(bytes, __builtin_addressof(argument), sizeof(T));
    if constexpr (std::is_polymorphic_v<T>) host_made_argument(bytes);
  }
  operator T&() { return *reinterpret_cast<T*>(bytes); }
};

/// An argument of a launch until its kernel has run: a copy, or what a reference refers to.
template <class P>
struct Kept {
  P value;
};

/// What each thread does before its kernel begins is the simulator's own: no access of it is looked at. (clang++ has no place for
/// this after `mutable`.)
#ifdef __clang__
#define TILEWISE_UNSEEN
#else
#define TILEWISE_UNSEEN __attribute__((no_sanitize("thread")))
#endif

/// Calls `kernel` with objects that lie elsewhere in place of arguments that are passed by address, so that no thread copies or destroys one.
template <class... P>
[[gnu::always_inline]] inline void call_with_bytes(void (*kernel)(P...), P&... arguments) {
  using Call = void (*)(std::conditional_t<passed_by_address<P>, P&, P>...);
  reinterpret_cast<Call>(kernel)(
      static_cast<std::conditional_t<passed_by_address<P>, ArgumentBytes<P>, P&>>(arguments)...);
}

/// A launch of a kernel whose parameters are known: arguments become them here, once, on the host's side.
template <auto kernel, class Type = decltype(kernel)>
struct Kernel;

template <auto kernel, class... P>
struct Kernel<kernel, void (*)(P...)> {
  [[gnu::always_inline]] static void launch(LaunchConfig config, P... arguments) {
    if constexpr ((passed_by_address<P> || ...)) {
      auto thread = [&]() TILEWISE_UNSEEN { call_with_bytes<P...>(kernel, arguments...); };
      using Thread = decltype(thread);
      launch_erased(
          config, [](void* context) TILEWISE_UNSEEN { (*static_cast<Thread*>(context))(); }, &thread);
    } else {
      auto thread = [... kept = Kept<P>{static_cast<P&&>(arguments)}]() mutable TILEWISE_UNSEEN {
        kernel(static_cast<P&>(kept.value)...);
      };
      using Thread = decltype(thread);
      TILEWISE_CLEAR_PADDING(&thread);
      launch_erased(
          config, [](void* context) TILEWISE_UNSEEN { (*static_cast<Thread*>(context))(); }, &thread, sizeof thread);
    }
  }
};

/// The same by a pointer; the arguments are objects already.
template <class... P>
[[gnu::always_inline]] inline void launch_with(LaunchConfig config, void (*kernel)(P...),
                                               std::type_identity_t<P>&... arguments) {
  auto thread = [&]() TILEWISE_UNSEEN { call_with_bytes<P...>(kernel, arguments...); };
  using Thread = decltype(thread);
  launch_erased(
      config, [](void* context) TILEWISE_UNSEEN { (*static_cast<Thread*>(context))(); }, &thread);
}

/// The same by a pointer.
template <class... P>
[[gnu::always_inline]] inline void launch_pointer(LaunchConfig config, void (*kernel)(P...),
                                                  std::type_identity_t<P>... arguments) {
  if constexpr ((passed_by_address<P> || ...)) {
    launch_with(config, kernel, arguments...);
  } else {
    auto thread = [kernel, ... kept = Kept<P>{static_cast<P&&>(arguments)}]() mutable TILEWISE_UNSEEN {
      kernel(static_cast<P&>(kept.value)...);
    };
    using Thread = decltype(thread);
    TILEWISE_CLEAR_PADDING(&thread);
    launch_erased(
        config, [](void* context) TILEWISE_UNSEEN { (*static_cast<Thread*>(context))(); }, &thread, sizeof thread);
  }
}

/// The types of a kernel's parameters.
template <class... P>
struct Parameters {};
/// A definition may say const where a declaration doesn't.
template <class... P>
using ParametersOf = Parameters<std::remove_cv_t<P>...>;

/// launch(), where an argument may have a destructor, or its copy run code: `types` tells which parameters the arguments become, and `kernel`
/// which kernel has them. Where they can't, threads copy.
template <class Types, class Pointer, class Callable, class... Args>
[[gnu::always_inline]] inline void launch_resolved(LaunchConfig config, Types types, Pointer kernel,
                                                   Callable&& callable, Args... args) {
  if constexpr ((passed_by_address<Args> || ...)) {
    if constexpr (requires { launch_with(config, kernel(decltype(types(args...))()), args...); })
      return launch_with(config, kernel(decltype(types(args...))()), args...);
    else if constexpr (requires {
                         launch_pointer(config, kernel(decltype(types(args...))()), static_cast<Args&&>(args)...);
                       })
      return launch_pointer(config, kernel(decltype(types(args...))()), static_cast<Args&&>(args)...);
  }
  launch(config, callable, static_cast<Args&&>(args)...);
}

/// First statement of every kernel. `max_threads` is the first argument of `__launch_bounds__`, or 0.
void enter_kernel(unsigned max_threads);

/// The condition of a branch that nvcc turns into predicates; returned as it is. To the compiler it looks like arithmetic,
/// so that it moves loads into the branch as it would without.
#ifdef TILEWISE_WARNINGS_ONLY
TILEWISE_INLINE bool may_skip(bool taken) {
  return taken;
}  // the compiler knows that it's the condition, and warns accordingly
#else
[[gnu::const]] bool may_skip(bool taken);
#endif

/// What `pointer[i].member` and `pointer->member` begin with.
template <class Name>
[[gnu::always_inline]] constexpr decltype(auto) aligned(Name&& name) {
  if constexpr (std::is_pointer_v<std::remove_cvref_t<Name>>) {
    using Pointer = std::remove_cvref_t<Name>;
    constexpr std::size_t alignment = alignof(std::remove_pointer_t<Pointer>);
    if constexpr (alignment >= 16)
      return static_cast<Pointer>(::tilewise::sim::aligned16(name));
    else if constexpr (alignment == 8)
      return static_cast<Pointer>(::tilewise::sim::aligned8(name));
    else
      return static_cast<Pointer>(name);
  } else {
    return static_cast<Name&&>(name);
  }
}

/// What `reference.member` begins with: of a vector's address the compiler knows as much, by its type. Other structs that
/// begin at multiples of 8 bytes mostly hold pointers, and are parameters.
template <class T>
[[gnu::always_inline]] constexpr T& aligned_object(T& object) {
  if constexpr (std::is_class_v<T> && (alignof(T) >= 16 || (alignof(T) == 8 && sizeof(T) == 8))) {
    if (!__builtin_is_constant_evaluated()) return *::tilewise::sim::aligned(__builtin_addressof(object));
  }
  return object;
}

/// After it: a parameter of the kernel with the promise of `__restrict__`.
void restricted(const volatile void* pointer);

/// Lets cudaLaunchKernel and cudaFuncGetAttributes find a kernel by an untyped pointer. `sizes` are those of its parameters, in
/// bytes, and end with a 0.
bool register_kernel_erased(const void* kernel, void (*invoke)(void (*kernel)(), void** args),
                            const std::size_t* sizes);

template <class... P>
inline constexpr std::size_t parameter_sizes[] = {sizeof(P)..., 0};

template <class... P>
bool register_kernel(void (*kernel)(P...)) {
  const auto invoke = [](void (*erased)(), void** args) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      reinterpret_cast<void (*)(P...)>(erased)(*static_cast<std::remove_reference_t<P>*>(args[I])...);
    }
    (std::index_sequence_for<P...>{});
  };
  return register_kernel_erased(reinterpret_cast<const void*>(kernel), invoke, parameter_sizes<P...>);
}

/// The same for an instance of a template kernel, where its address is taken.
template <class... P>
auto known_kernel(void (*kernel)(P...)) {
  register_kernel(kernel);
  return kernel;
}

// ---------------------------------------------------------------- loops
/// What nvcc knows of a loop when it compiles it, as far as the source tells.
enum LoopFacts : unsigned {
  kKeptLoop = 1,       ///< `#pragma unroll 1`
  kConstantTrips = 2,  ///< start, end and step are constants
};

/// Marks a loop of device code, so that accesses can be grouped by iteration. See docs/architecture.md.
class Loop {
 public:
  constexpr explicit Loop(unsigned facts = 0) {
    if (!std::is_constant_evaluated()) enter(facts);
  }
  constexpr ~Loop() {
    if (!std::is_constant_evaluated()) leave();
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  constexpr void tick() {
    if (!std::is_constant_evaluated()) iterate();
  }
  /// Always. Compilers don't know, and leave in the loop what the loop computes.
  constexpr bool left() const { return left_; }

  // For the counting model: the loop around this one that the thread is in, and where in the code this one is.
  const Loop* around() const { return around_; }
  const void* place() const { return place_; }
  std::uint64_t outer_context() const { return outer_; }
  std::uint64_t iteration() const { return iteration_; }
  unsigned facts() const { return facts_; }

 private:
  void enter(unsigned facts);
  void leave();
  void iterate();

  bool left_ = true;
  // Set by enter(), whose stores are not instrumented.
  unsigned facts_;
  std::uint64_t outer_;  // context of the code around the loop
  std::uint64_t iteration_;
  const Loop* around_;
  const void* place_;
};

}  // namespace tilewise::sim
