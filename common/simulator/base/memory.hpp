// Memory of the simulated device: one reserved address range with red zones round every allocation, closed while
// host code runs, and a shadow that knows which bytes have been written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "driver_types.h"
#include "tilewise_sim/device.hpp"

namespace tilewise::sim::memory {

enum class Kind : std::uint8_t {
  device,      ///< cudaMalloc
  managed,     ///< cudaMallocManaged
  host,        ///< cudaMallocHost, cudaHostAlloc
  registered,  ///< cudaHostRegister: memory of the program's own
  variable,    ///< __device__, __constant__ or __managed__ at namespace scope
};

/// One piece of memory that kernels may use, or might have used before it was freed.
struct Allocation {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::size_t heap_bytes = 0;  ///< what it takes of the heap
  Kind kind = Kind::device;
  bool live = true;
  bool heap = false;                 ///< of Kind::device: on the device's heap, by malloc or new in a kernel
  bool kept = false;                 ///< free or not, its addresses are no one else's: a graph's
  bool freed_by_reset = false;       ///< gone with cudaDeviceReset, not freed by itself
  std::uint64_t serial = 0;          ///< 1, 2, 3 ... in the order of allocation; 0 for variables
  int device = 0;                    ///< whose memory it is; of the host's memory: the device that was current
  unsigned flags = 0;                ///< of cudaHostAlloc or cudaHostRegister
  void* call_site = nullptr;         ///< where the API call returns to
  void* free_site = nullptr;         ///< the same of the call that freed it
  cudaMemPool_t pool = nullptr;      ///< that it comes from, of cudaMallocAsync and its kin
  const bool* open_to = nullptr;     ///< whether kernels on each of the devices may use it, if it comes from a pool
  const char* name = nullptr;        ///< of a variable, or given by name_allocation()
  Space space = Space::global;       ///< of a variable
  mutable bool all_written = false;  ///< once that has been found: see is_all_written()

  std::uintptr_t end() const { return begin + bytes; }
  bool contains(std::uintptr_t address) const { return address - begin < bytes; }
};

/// Whether kernels on `device` may use it: what the pool says that it comes from, or cudaDeviceEnablePeerAccess.
bool may_access(int device, const Allocation& allocation);

/// Distance between allocations: nothing else lies within this many bytes before or after one.
constexpr std::size_t kRedZone = 256;
constexpr std::size_t kAlignment = 512;

// ---------------------------------------------------------------- allocating
/// Memory of a graph lives again and again. Freed memory whose addresses were kept gets them back, with fresh contents; false when the card is
/// full. `keep_addresses` says whether there will be a next time.
bool allocate_again(void* pointer, void* call_site);
void keep_addresses(void* pointer, bool keep);

/// What is at that address comes from the pool, which says for each device whether its kernels may use it.
void set_pool(void* pointer, cudaMemPool_t pool, const bool* open_to);

/// Memory of `bytes` bytes, of the current device or for it, or null when the card is full. Device memory holds 0xFF bytes (NaN as float), the rest
/// zeros. The same sequence of calls gives the same addresses. `call_site` goes into messages.
/// `closed`: memory of the host that host code may not touch, as device memory.
void* allocate(std::size_t bytes, Kind kind, void* call_site = nullptr, bool closed = false);

/// The same on the heap of the current device, by a kernel. Null also when the heap has no room: it takes `taken` of `most` bytes.
void* allocate_on_heap(std::size_t bytes, std::size_t taken, std::size_t most, void* call_site);

/// From here on, device memory gets addresses alone: it can't be read or written, and no page is touched for it.
void addresses_only();
bool has_addresses_only();
/// The same, but a kernel that touches a page of it finds zeros there.
void pages_on_demand();

enum class Release { ok, not_an_allocation, already_freed, inner_pointer };

/// Frees what allocate() returned. The addresses are not used again until the card would otherwise be full.
Release release(void* pointer, void* call_site = nullptr);

/// Makes host memory of the program known, and forgets it.
bool register_host(void* pointer, std::size_t bytes, unsigned flags, void* call_site);
bool unregister_host(void* pointer);

/// Frees everything that belongs to the device, as cudaDeviceReset does; its variables have their first values again.
void release_all(int device = 0);

std::size_t capacity();                  ///< bytes of device memory that can be had, on each device
std::size_t used_bytes(int device = 0);  ///< bytes of it in live allocations

// ---------------------------------------------------------------- looking up
/// The allocation, live or freed, or variable that contains `address`; null when there is none.
const Allocation* find(std::uintptr_t address);

inline const Allocation* find(const volatile void* address) { return find(reinterpret_cast<std::uintptr_t>(address)); }

/// The allocation (live or freed) closest to an address inside the arenas; null elsewhere.
const Allocation* nearest(std::uintptr_t address);

/// Live allocations in order of allocation, without variables.
std::vector<const Allocation*> live_allocations();

/// "12 bytes past the end of the 4096-byte device allocation made at a.cu:3", as words for a message.
std::string describe(std::uintptr_t address);

/// " on device 1" for memory of a device, if there are several.
std::string on_which_device(const Allocation& allocation);

/// What is about to be written whole, and by a copy or a fill, gets large pages of its own in place of the small ones that fresh memory
/// shares until then: kernels that walk down columns touch one page with each step.
void give_large_pages(std::uintptr_t address, std::size_t bytes);

/// " at a.cu:3"; where Thrust has done it, " by Thrust": its vectors' memory comes from no line of the program's.
std::string at_or_by(const void* site);

/// "the 4096-byte device allocation made at a.cu:3".
std::string describe(const Allocation& allocation);

// ---------------------------------------------------------------- address ranges
struct Range {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  bool contains(std::uintptr_t address) const { return address - begin < bytes; }
};

extern Range device_arena;  ///< cudaMalloc's memory, of all devices; empty until the first allocation
extern Range open_arena;    ///< managed and pinned host memory, which the host may always use

/// From the first __device__ or __constant__ variable to the end of the last; other variables may lie between.
extern Range device_variables;

inline bool in_device_arena(std::uintptr_t address) { return device_arena.contains(address); }
inline bool in_arenas(std::uintptr_t address) { return device_arena.contains(address) || open_arena.contains(address); }

// What host code has to be looked at for: all of the ranges here, and order::unfinished. A stretch of 64 GiB either holds something
// of them or doesn't, so that nearly all accesses of the host are known to be harmless by one look.
constexpr unsigned kWatchedShift = 36;
constexpr std::size_t kWatchedStretches = std::size_t{1} << (48 - kWatchedShift);
extern bool watched[kWatchedStretches];
void watch(const Range& range);  ///< from here on, for good
constexpr std::size_t kStretchBytes = std::size_t{1} << kWatchedShift;
constexpr std::uintptr_t stretch_begin(std::uintptr_t address) { return address & ~(kStretchBytes - 1); }
inline bool is_watched(std::uintptr_t address) { return watched[(address >> kWatchedShift) % kWatchedStretches]; }

// ---------------------------------------------------------------- opening device memory
/// Device memory can be touched between these two, which nest.
///
/// Closing costs time for every page in use, so it is done only until a certain number of pages has been closed; the
/// rule counts pages, not time, so every run of a program behaves alike. Programs with much memory and many launches
/// rely on host_access() from then on.
void open_device_memory();
void close_device_memory();

extern int opened;  ///< how many open_device_memory() are in effect

inline bool device_memory_is_open() { return opened > 0; }

/// Closes device memory after every use, whatever it costs.
void always_close_device_memory();

/// For programs whose host code isn't trusted. Closes device memory as above, and takes the values of `__device__` and
/// `__constant__` variables away while host code runs, which on a GPU has other memory there: however it reads or writes
/// them, it finds bytes of 0xFF, and what it leaves there is lost.
void distrust_host_code();

extern Range hidden_variables;  ///< all of these variables lie in it, and others may

/// Whether `address` is in a variable that host code has no access to now.
bool is_hidden(std::uintptr_t address);

/// Here lie the variables of the program, the simulator's among them; empty unless guard_variables() has been called.
extern Range guarded;

/// Some of a program's variables, in a table that ends with a pair of zeros.
struct Variables {
  std::uintptr_t begin = 0, end = 0;
};

/// From here on, host code may read and write none of the program's variables but those in `own`, which stays where it is; else `end` is called, which does not return. For host code that isn't trusted: it would find the
/// simulator's by counting from an address that it knows.
void guard_variables(const Variables* own, void (*end)());
/// Whether a variable of a library is the program's own, since the library is linked into it.
bool is_linked_in(const void* variable);

/// Ends the program unless host code may use these bytes.
void look_at_guarded(std::uintptr_t address, std::size_t bytes);

/// For calls of the API that write where host code says.
inline void host_uses(const volatile void* at, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  if (guarded.bytes > 0 && address < guarded.begin + guarded.bytes && guarded.begin < address + bytes)
    look_at_guarded(address, bytes);
}

/// Ends the program with the message for host code that touches device memory. For the access hooks: call it for an
/// address in the device arena while device memory is not open.
/// `bytes`: of the access; 0 where that isn't known.
[[noreturn]] void host_access(std::uintptr_t address, std::size_t bytes, void* return_address);

/// The finding for host code that touches a __device__ or __constant__ variable, if one is there. A GPU gives the host a
/// variable of its own, so the program goes on.
void host_access_to_variable(std::uintptr_t address, void* return_address);

/// How often something may have changed device memory, or what lies where in it: a launch (runtime/repeats.hpp), a copy, a call.
extern std::uint64_t changes;

class DeviceMemoryOpen {
 public:
  /// `to_read`: and nothing is changed.
  explicit DeviceMemoryOpen(bool to_read = false) {
    open_device_memory();
    if (!to_read) ++changes;
  }
  ~DeviceMemoryOpen() { close_device_memory(); }
  DeviceMemoryOpen(const DeviceMemoryOpen&) = delete;
  DeviceMemoryOpen& operator=(const DeviceMemoryOpen&) = delete;
};

// ---------------------------------------------------------------- what has been written
// One shadow byte per 8 bytes of device memory, bit i for byte i. Managed, host and variable memory counts as written.
extern std::uint8_t* written_shadow;

void mark_written_range(std::uintptr_t address, std::size_t bytes);
bool is_written_range(std::uintptr_t address, std::size_t bytes);

/// Notes that bytes of an allocation hold a value now.
[[gnu::always_inline]] inline void mark_written(std::uintptr_t address, std::size_t bytes) {
  const std::uintptr_t offset = address - device_arena.begin;
  if (offset >= device_arena.bytes) return;
  const unsigned first = offset & 7;
  if (first + bytes <= 8) {
    written_shadow[offset >> 3] |= static_cast<std::uint8_t>(((1u << bytes) - 1) << first);
  } else {
    mark_written_range(address, bytes);
  }
}

/// Whether every one of these bytes of an allocation has been written since it was allocated.
[[gnu::always_inline]] inline bool is_written(std::uintptr_t address, std::size_t bytes) {
  const std::uintptr_t offset = address - device_arena.begin;
  if (offset >= device_arena.bytes) return true;
  const unsigned first = offset & 7;
  if (first + bytes <= 8) {
    const unsigned mask = ((1u << bytes) - 1) << first;
    return (written_shadow[offset >> 3] & mask) == mask;
  }
  return is_written_range(address, bytes);
}

/// Whether all of the live allocation at `begin` has.
bool is_all_written(std::uintptr_t begin);

/// A stretch of `inside`, an allocation, round `address` of which every byte has been written; empty where that one hasn't been. It need
/// not be the longest.
Range written_round(std::uintptr_t address, const Range& inside);

/// How many bytes of all allocations have been written, as far as accesses are checked.
std::size_t written_bytes();

/// A copy inside device memory: what was unwritten stays unwritten.
void copy_written(std::uintptr_t to, std::uintptr_t from, std::size_t bytes);

// ---------------------------------------------------------------- variables
/// All registered `__device__`, `__constant__` and `__managed__` variables, by address.
const std::vector<Allocation>& variables();

// With several devices each has its own `__device__` and `__constant__` variables: copies in its memory. Kernels, which know the
// program's variables, find the copies' values there.

/// All variables of the device are as their definitions say.
void begin_variables_anew(int device);

/// Where the device keeps the variable: the program's own address while there is only one device, and of `__managed__` ones.
std::uintptr_t place_of(const Allocation& variable, int device);

/// A launch on the device begins: the program's variables get the values of the device's copies.
void show_variables_of(int device);
/// It has ended: what it has changed goes to the copies.
void keep_variables_of(int device);

/// How far the running device's copy of the variable at `address` is from there; 0: there is none. What is remembered about an access
/// of a kernel is remembered for the copy.
std::uintptr_t distance_to_copy(std::uintptr_t address, int device);

// ---------------------------------------------------------------- faults
/// Ends the program with a message when host code touches device memory. Called by the first allocation; later
/// calls install the handler anew.
void install_fault_handler();

/// The same for the host's own mistakes, which otherwise end the program by a signal, after a line that says where: from here on they
/// are findings (host-fault). For who shows findings, and the program may not be looked at in a debugger.
void report_host_faults();

/// Called for a fault while a kernel runs; may not return. `site` is the faulting instruction.
using KernelFault = void (*)(std::uintptr_t address, void* site);
void set_kernel_fault(KernelFault handler);

}  // namespace tilewise::sim::memory
