#include "host_code.hpp"

#include <link.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "base/findings.hpp"
#include "base/for_ever.hpp"
#include "base/memory.hpp"
#include "base/symbols.hpp"
#include "base/thread.hpp"
#include "driver_types.h"
#include "model/checker.hpp"

namespace tilewise::sim::host_code {
namespace {

using Word = std::uintptr_t;

// The objects that one is looked for in are few; of a copy of many megabytes the first will do.
constexpr std::size_t kMostBytes = std::size_t{1} << 20;
// A table of virtual functions is searched so far.
constexpr std::size_t kMostFunctions = 1024;

/// The program, or the library, that the runtime is a part of.
struct Image {
  memory::Range all, code;
};

int find_image(dl_phdr_info* info, std::size_t, void* to) {
  const auto here = reinterpret_cast<std::uintptr_t>(&find_image);
  Image image;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const memory::Range range{info->dlpi_addr + part.p_vaddr, part.p_memsz};
    if (range.contains(here)) image.code = range;
    if (image.all.bytes == 0) image.all.begin = range.begin;
    image.all.bytes = range.begin + range.bytes - image.all.begin;
  }
  if (image.code.bytes == 0) return 0;
  *static_cast<Image*>(to) = image;
  return 1;
}

const Image& image() {
  static const Image found = [] {
    Image result;
    dl_iterate_phdr(find_image, &result);
    return result;
  }();
  return found;
}

struct State {
  std::mutex mutex;
  /// Words in device memory that the host has copied there, and that point into the program.
  std::map<Word, Word> on_device;
  std::set<Word> hosts_functions;  ///< addresses of code that the host has given to the device
  std::set<Word> devices_words;    ///< what points into the program, and the host has from the device
  std::set<Word> made_by_device;   ///< objects in memory that both can use
  std::atomic<bool> any_made_by_device = false;
};
State& state() {
  static auto& s = *for_ever<State>();
  return s;
}

Word word_at(const void* address) {
  Word word;
  std::memcpy(&word, address, sizeof word);
  return word;
}

/// each(address, word): the words that point into the program.
template <class Each>
void for_each_pointer(const void* begin, std::size_t bytes, Each each) {
  const memory::Range program = image().all;
  const auto first = reinterpret_cast<Word>(begin);
  const Word end = first + (bytes < kMostBytes ? bytes : kMostBytes);
  for (Word at = (first + 7) & ~Word{7}; at + sizeof(Word) <= end; at += sizeof(Word))
    if (const Word word = word_at(reinterpret_cast<const void*>(at)); program.contains(word)) each(at, word);
}

/// Whether the word is the host's own.
bool takes_from_host(State& s, Word word) {
  if (s.devices_words.count(word)) return false;
  if (image().code.contains(word)) s.hosts_functions.insert(word);
  return true;
}

void erase(std::map<Word, Word>& words, Word begin, std::size_t bytes) {
  words.erase(words.lower_bound(begin), words.lower_bound(begin + bytes));
}

// -------------------------------------------------------------------------------------------- a call in a kernel

/// Whether kernels can read a word there without a fault.
bool is_readable(const void* object) {
  const auto address = reinterpret_cast<Word>(object);
  if (address % sizeof(Word) != 0) return false;
  if (on_thread_stack(object) || address - reinterpret_cast<Word>(shared_begin) < 2 * kSharedRegion) return true;
  const memory::Allocation* const found = memory::find(object);
  return found && found->live && sizeof(Word) <= found->end() - address;
}

/// Whether the function is a virtual one of the object's.
bool has_function(const void* object, Word function) {
  if (!is_readable(object)) return false;
  const Word table = word_at(object), end = image().all.begin + image().all.bytes;
  if (!image().all.contains(table) || table % sizeof(Word) != 0) return false;
  for (std::size_t k = 0; k < kMostFunctions && table + (k + 1) * sizeof(Word) <= end; ++k)
    if (word_at(reinterpret_cast<const void*>(table + k * sizeof(Word))) == function) return true;
  return false;
}

bool is_made_by_host(State& s, const void* object) {
  const auto address = reinterpret_cast<Word>(object);
  if (memory::open_arena.contains(address)) return !s.made_by_device.count(address);
  const auto copied = s.on_device.find(address);
  return copied != s.on_device.end() && copied->second == word_at(object);
}

/// Memory that both use may have told the host a function's address without a copy.
bool both_have(Word function) {
  for (const memory::Allocation* a : memory::live_allocations()) {
    if (a->kind == memory::Kind::device) continue;
    bool found = false;
    for_each_pointer(reinterpret_cast<const void*>(a->begin), a->bytes,
                     [&](Word, Word word) { found |= word == function; });
    if (found) return true;
  }
  for (const memory::Allocation& v : memory::variables())
    if (v.space == Space::managed && v.bytes >= sizeof(Word) &&
        word_at(reinterpret_cast<const void*>(v.begin)) == function)
      return true;
  return false;
}

/// What is wrong with the call, and the error that a GPU ends with; an empty message: nothing.
std::string look_at(Word function, const void* first, const void* second, cudaError_t& error) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  // A GPU's instructions begin at multiples of 16.
  error = function % 16 != 0 ? cudaErrorMisalignedAddress : cudaErrorInvalidPc;
  if (function == 0) return "this thread calls a function by a null pointer";
  for (const void* object : {first, second}) {
    if (!has_function(object, function) || !is_made_by_host(s, object)) continue;
    error = cudaErrorIllegalAddress;
    return "this thread calls a virtual function of an object that host code has made, whose table of functions is the "
           "host's: make the object in "
           "a kernel (new, or new at an address)";
  }
  if (!s.hosts_functions.count(function) || both_have(function)) return "";
  return "this thread calls " + function_name(reinterpret_cast<const char*>(function) + 1) +
         " by an address that host code has taken, which is that of the host's own code: take it in device code, or "
         "copy it to the host from "
         "a __device__ variable";
}

}  // namespace

void copied_to_device(const void* to, std::size_t bytes) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  erase(s.on_device, reinterpret_cast<Word>(to), bytes);
  for_each_pointer(to, bytes, [&](Word at, Word word) {
    if (takes_from_host(s, word)) s.on_device[at] = word;
  });
}

void copied_on_device(const void* to, const void* from, std::size_t bytes) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto begin = reinterpret_cast<Word>(from), target = reinterpret_cast<Word>(to);
  std::map<Word, Word> moved;
  for (auto word = s.on_device.lower_bound(begin); word != s.on_device.end() && word->first < begin + bytes; ++word)
    moved[target + (word->first - begin)] = word->second;
  erase(s.on_device, target, bytes);
  s.on_device.merge(moved);
}

void copied_to_host(const void* from, std::size_t bytes) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for_each_pointer(from, bytes, [&](Word at, Word word) {
    const auto copied = s.on_device.find(at);
    const bool hosts = copied != s.on_device.end() && copied->second == word;
    if (!hosts && !s.hosts_functions.count(word)) s.devices_words.insert(word);
  });
}

void passed(std::string_view arguments) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for_each_pointer(arguments.data(), arguments.size(), [&](Word, Word word) { takes_from_host(s, word); });
}

void makes_object(const void* object, bool on_device) {
  State& s = state();
  if (!on_device && !s.any_made_by_device.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(s.mutex);
  const auto address = reinterpret_cast<Word>(object);
  if (!on_device) {
    s.made_by_device.erase(address);
  } else if (memory::open_arena.contains(address)) {
    s.any_made_by_device.store(true, std::memory_order_relaxed);
    s.made_by_device.insert(address);
  } else {
    s.on_device.erase(address);
  }
}

void forget(std::uintptr_t begin, std::size_t bytes) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  erase(s.on_device, begin, bytes);
  s.made_by_device.erase(s.made_by_device.lower_bound(begin), s.made_by_device.lower_bound(begin + bytes));
}

}  // namespace tilewise::sim::host_code

namespace tilewise::sim {

void host_made_argument(const void* object) {
  host_code::State& s = host_code::state();
  const std::lock_guard lock(s.mutex);
  s.on_device[reinterpret_cast<std::uintptr_t>(object)] = host_code::word_at(object);
}

void host_function() noexcept {
  if (current_lane == nullptr || !current_lane->in_kernel) return;
  Unobserved guard;
  checker::host_code(
      *current_lane,
      "this thread runs a function without __device__, which a GPU doesn't have: nvcc refuses the call, or, "
      "in a __host__ __device__ function, warns of it and leaves out what follows",
      __builtin_return_address(0));
}

}  // namespace tilewise::sim

// What simcc calls in place of a computed address (rewriter/indirect_calls.hpp). A thread calls the kernel itself in this way, too.
extern "C" void tilewise_look_at_indirect_call(std::uintptr_t function, const void* first, const void* second,
                                               const void* site) {
  using namespace tilewise::sim;
  if (!current_lane->in_kernel) return;
  Unobserved guard;
  cudaError_t error = cudaSuccess;
  const std::string message = host_code::look_at(function, first, second, error);
  if (message.empty()) return;
  checker::host_code(*current_lane, message, site);
  abort_launch(error, true);
}

#if defined(__x86_64__) && defined(__linux__)
// The address is in %r11; arguments may be in all other registers that a call may change, and on the stack.
asm(R"(	.text
	.globl	tilewise_indirect_call
	.type	tilewise_indirect_call, @function
tilewise_indirect_call:
	pushq	%rax
	movq	_ZN8tilewise3sim12current_laneE@gottpoff(%rip), %rax
	cmpq	$0, %fs:(%rax)
	popq	%rax
	jne	1f
	jmp	*%r11
1:	pushq	%rbp
	movq	%rsp, %rbp
	andq	$-16, %rsp
	subq	$208, %rsp
	movq	%rdi, (%rsp)
	movq	%rsi, 8(%rsp)
	movq	%rdx, 16(%rsp)
	movq	%rcx, 24(%rsp)
	movq	%r8, 32(%rsp)
	movq	%r9, 40(%rsp)
	movq	%rax, 48(%rsp)
	movq	%r10, 56(%rsp)
	movq	%r11, 64(%rsp)
	movaps	%xmm0, 80(%rsp)
	movaps	%xmm1, 96(%rsp)
	movaps	%xmm2, 112(%rsp)
	movaps	%xmm3, 128(%rsp)
	movaps	%xmm4, 144(%rsp)
	movaps	%xmm5, 160(%rsp)
	movaps	%xmm6, 176(%rsp)
	movaps	%xmm7, 192(%rsp)
	movq	8(%rbp), %rcx
	movq	%rsi, %rdx
	movq	%rdi, %rsi
	movq	%r11, %rdi
	call	tilewise_look_at_indirect_call@PLT
	movq	(%rsp), %rdi
	movq	8(%rsp), %rsi
	movq	16(%rsp), %rdx
	movq	24(%rsp), %rcx
	movq	32(%rsp), %r8
	movq	40(%rsp), %r9
	movq	48(%rsp), %rax
	movq	56(%rsp), %r10
	movq	64(%rsp), %r11
	movaps	80(%rsp), %xmm0
	movaps	96(%rsp), %xmm1
	movaps	112(%rsp), %xmm2
	movaps	128(%rsp), %xmm3
	movaps	144(%rsp), %xmm4
	movaps	160(%rsp), %xmm5
	movaps	176(%rsp), %xmm6
	movaps	192(%rsp), %xmm7
	movq	%rbp, %rsp
	popq	%rbp
	jmp	*%r11
	.size	tilewise_indirect_call, . - tilewise_indirect_call
)");
#elif defined(__aarch64__) && defined(__linux__)
// The address is in x9; arguments may be in x0 to x8 and in v0 to v7, and on the stack.
asm(R"(	.text
	.globl	tilewise_indirect_call
	.type	tilewise_indirect_call, %function
tilewise_indirect_call:
	adrp	x10, :gottprel:_ZN8tilewise3sim12current_laneE
	ldr	x10, [x10, :gottprel_lo12:_ZN8tilewise3sim12current_laneE]
	mrs	x11, tpidr_el0
	ldr	x10, [x11, x10]
	cbnz	x10, 1f
	br	x9
1:	stp	x29, x30, [sp, -224]!
	mov	x29, sp
	stp	x0, x1, [sp, 16]
	stp	x2, x3, [sp, 32]
	stp	x4, x5, [sp, 48]
	stp	x6, x7, [sp, 64]
	stp	x8, x9, [sp, 80]
	stp	q0, q1, [sp, 96]
	stp	q2, q3, [sp, 128]
	stp	q4, q5, [sp, 160]
	stp	q6, q7, [sp, 192]
	mov	x3, x30
	mov	x2, x1
	mov	x1, x0
	mov	x0, x9
	bl	tilewise_look_at_indirect_call
	ldp	q6, q7, [sp, 192]
	ldp	q4, q5, [sp, 160]
	ldp	q2, q3, [sp, 128]
	ldp	q0, q1, [sp, 96]
	ldp	x8, x9, [sp, 80]
	ldp	x6, x7, [sp, 64]
	ldp	x4, x5, [sp, 48]
	ldp	x2, x3, [sp, 32]
	ldp	x0, x1, [sp, 16]
	ldp	x29, x30, [sp], 224
	br	x9
	.size	tilewise_indirect_call, . - tilewise_indirect_call
)");
#endif
