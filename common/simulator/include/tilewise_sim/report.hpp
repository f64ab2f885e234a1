// What host code can ask the simulator about the launches it made.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

struct CUstream_st;

namespace tilewise::sim {

/// The members of a struct that holds 64-bit counters and nothing else, in their order.
template <class Struct>
constexpr auto members_of(const Struct& counters) {
  static_assert(std::is_trivially_copyable_v<Struct> && std::has_unique_object_representations_v<Struct> &&
                sizeof(Struct) % sizeof(std::uint64_t) == 0 && alignof(Struct) == alignof(std::uint64_t));
  return std::bit_cast<std::array<std::uint64_t, sizeof(Struct) / sizeof(std::uint64_t)>>(counters);
}

/// Adds f(each member of `from`) to that member of `to`.
template <class Struct, class Function>
void add_members(Struct& to, const Struct& from, Function f) {
  auto sums = members_of(to);
  const auto terms = members_of(from);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += f(terms[i]);
  to = std::bit_cast<Struct>(sums);
}

/// Counters of one launch. As with Nsight Compute's, whose names kNamedCounters has, asynchronous copies from global to shared
/// memory are among the global loads, except in the number of instructions.
struct Counters {
  std::uint64_t global_load_instructions = 0;
  std::uint64_t global_load_requests = 0;
  std::uint64_t global_load_sectors = 0;
  std::uint64_t global_load_bytes = 0;  ///< bytes the threads asked for
  std::uint64_t global_load_tag_passes = 0;
  /// Passes through L1's banks, when all is found in L1: at most l1tex__data_pipe_lsu_wavefronts_mem_lgds_cmd_read.sum,
  /// which is larger where the parts of a request arrive one after another.
  std::uint64_t global_load_data_passes = 0;
  std::uint64_t global_store_instructions = 0;
  std::uint64_t global_store_requests = 0;
  std::uint64_t global_store_sectors = 0;
  std::uint64_t global_store_bytes = 0;
  std::uint64_t global_store_tag_passes = 0;
  /// Of each request alone: a GPU may put stores together that follow one another soon.
  std::uint64_t global_store_data_passes = 0;
  std::uint64_t atomic_requests = 0;
  std::uint64_t atomic_sectors = 0;
  std::uint64_t reduction_requests = 0;
  std::uint64_t reduction_sectors = 0;
  std::uint64_t shared_load_instructions = 0;
  std::uint64_t shared_load_wavefronts = 0;
  std::uint64_t shared_load_ideal = 0;  ///< wavefronts that a conflict-free layout would need
  std::uint64_t shared_store_instructions = 0;
  std::uint64_t shared_store_wavefronts = 0;
  std::uint64_t shared_store_ideal = 0;
  std::uint64_t async_copy_instructions = 0;
  std::uint64_t async_copy_wavefronts = 0;   ///< copies of 16 bytes take none
  std::uint64_t async_copy_data_passes = 0;  ///< through L1's banks, at least
  std::uint64_t matrix_load_instructions = 0;
  std::uint64_t matrix_load_wavefronts = 0;
  std::uint64_t matrix_load_ideal = 0;
  std::uint64_t tensor_instructions = 0;
  std::uint64_t tensor_flop = 0;  ///< of these: two for each product and its addition, of the whole warp
  /// smsp__sass_thread_inst_executed_op_fadd + fmul + 2 ffma (_pred_on.sum), as written
  std::uint64_t flop_single = 0;
  std::uint64_t flop_double = 0;            ///< the same of dadd, dmul and dfma
  std::uint64_t partial_instructions = 0;   ///< memory instructions in which some live lane took no part
  std::uint64_t dram_bytes_at_least = 0;    ///< 32 bytes for every distinct sector the launch touched
  std::uint64_t distinct_bytes_loaded = 0;  ///< of these, what loads touched before anything was stored there
  std::uint64_t distinct_bytes_stored = 0;  ///< and what stores, atomics and reductions touched

  /// For the counters of several launches together.
  Counters& operator+=(const Counters& other);
  Counters& operator-=(const Counters& other);
};

/// A counter that Nsight Compute has, too.
struct NamedCounter {
  const char* name;  ///< Nsight Compute's, and that in reports
  std::uint64_t Counters::*member;
  std::uint64_t Counters::*shown_with = nullptr;  ///< reports have it where this is not 0; nullptr: always
  bool recorded = true;                           ///< for the validation set (docs/results/counters-GPU.json)
};

/// All of them, in the order of reports.
constexpr NamedCounter kNamedCounters[] = {
    {"smsp__inst_executed_op_global_ld.sum", &Counters::global_load_instructions},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", &Counters::global_load_requests},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", &Counters::global_load_sectors},
    {"l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum", &Counters::global_load_tag_passes},
    {"smsp__inst_executed_op_global_st.sum", &Counters::global_store_instructions},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", &Counters::global_store_requests},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", &Counters::global_store_sectors},
    {"l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_st.sum", &Counters::global_store_tag_passes},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", &Counters::atomic_requests},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", &Counters::atomic_sectors},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", &Counters::reduction_requests},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", &Counters::reduction_sectors},
    {"smsp__inst_executed_op_ldgsts.sum", &Counters::async_copy_instructions, nullptr, false},
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum", &Counters::async_copy_wavefronts, nullptr,
     false},
    {"smsp__inst_executed_op_shared_ld.sum", &Counters::shared_load_instructions},
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", &Counters::shared_load_wavefronts},
    {"smsp__inst_executed_op_shared_st.sum", &Counters::shared_store_instructions},
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum", &Counters::shared_store_wavefronts},
    {"smsp__inst_executed_op_ldsm.sum", &Counters::matrix_load_instructions, &Counters::matrix_load_instructions,
     false},
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum", &Counters::matrix_load_wavefronts,
     &Counters::matrix_load_instructions, false},
    {"sm__inst_executed_pipe_tensor_op_hmma.sum", &Counters::tensor_instructions, &Counters::tensor_instructions,
     false},
};

inline Counters& Counters::operator+=(const Counters& other) {
  add_members(*this, other, [](std::uint64_t n) { return n; });
  return *this;
}

inline Counters& Counters::operator-=(const Counters& other) {
  add_members(*this, other, [](std::uint64_t n) { return 0 - n; });
  return *this;
}

/// What takes time in a launch, and has a highest rate.
enum class Resource {
  fp32,          ///< multiply-adds in single precision
  fp64,          ///< in double precision
  tensor,        ///< multiply-adds of tensor cores
  issue,         ///< of warp instructions, as far as they are known: memory and multiply-adds
  memory_issue,  ///< the load/store unit takes one warp instruction per clock
  l1_tags,       ///< L1 finds the cache lines of global requests
  l1_data,       ///< L1 and shared memory, which are one memory, deliver words from 32 banks
  l2,            ///< what has to come or go through L2
  dram           ///< what L2 cannot have kept
};
constexpr std::size_t kResources = 9;

/// "FP32", "L1 data": short, for tables and JSON.
const char* name(Resource resource);

/// The least time in which the simulated card can do what a launch was counted to do, as it would be compiled. Not a
/// prediction: see docs/bounds.md.
struct Bound {
  double seconds = 0;                       ///< the largest of `all`; 0: not counted, or nothing to count
  Resource by{};                            ///< which one that is
  std::array<double, kResources> all = {};  ///< seconds that each resource needs, by Resource; 0: none that is known
  double of(Resource resource) const { return all[static_cast<std::size_t>(resource)]; }

  /// For launches one after another: they need their times together.
  Bound& operator+=(const Bound& other);
};

/// Switches counting of the following launches on or off. Returns what it was. The default is on when
/// TILEWISE_REPORT is set, else off; TILEWISE_COUNT=0|1 decides otherwise.
bool set_counting(bool on);

/// The same for looking for findings. On by default; TILEWISE_FINDINGS=off switches it off for the whole program.
/// A launch that is neither counted nor checked runs about ten times as fast.
bool set_checking(bool on);

/// Launches so far that were not run, since they would have changed nothing: an earlier one with the same arguments had left
/// memory just so.
std::uint64_t launches_not_run();

/// TILEWISE_REPORT or TILEWISE_COUNT=1: the user wants every launch counted, however long it takes.
bool counting_demanded();

/// From here on, about that many blocks of each counted launch are run in place of all, and what is counted is scaled to the
/// whole grid. Such a launch leaves an unfinished result and is not checked. 0: all blocks are run. Returns what it was; at
/// the beginning that is TILEWISE_SAMPLE. See "Part of a grid" in docs/architecture.md.
std::uint64_t set_sample(std::uint64_t blocks);
std::uint64_t sample_size();
constexpr std::uint64_t kMostSampled = 1'000'000'000;

/// How many blocks have been run in this process.
std::uint64_t blocks_run();
/// Standard errors of what was counted in part, as shares of it.
struct SampleError {
  double tag_passes = 0;  ///< L1's: where a block's addresses fall in the tags' banks, is as good as random
  double others = 0;      ///< the largest of all other counters

  void include(const SampleError& other) {
    tag_passes = std::max(tag_passes, other.tag_passes);
    others = std::max(others, other.others);
  }
};
/// The largest since forget_sum().
const SampleError& largest_sample_error();

/// Counters of the last launch that ended; zeros when it was not counted.
const Counters& last_counters();

/// The same after the rewrites that nvcc makes: loads that it moves out of loops, accesses that it merges into wider ones.
const Counters& last_counters_as_compiled();

/// Of the last launch that ended.
Bound last_bound();

/// Little's law, and no bound, since a thread may have many loads in flight: bytes that an SM waits for when each of its
/// threads has one, and bytes that it has to wait for all the time to keep DRAM busy. Zeros where that is not known: of other
/// kernels than the repository's, whose registers are not recorded, and on other cards than the H200.
struct InFlight {
  double one_load_each = 0, dram_needs = 0;
};
InFlight last_in_flight();

/// How many launches have ended in this process.
std::uint64_t launches_ended();

/// Counters of all counted launches since the last call of forget_sum(), or since the program began, together. Their
/// dram_bytes_at_least is the sum of the launches': a sector that two of them touch is in it twice.
const Counters& sum_of_counters();
/// The same of their bounds.
const Bound& sum_of_bounds();
void forget_sum();

/// The simulated card, in short: "H200".
const char* device_name();

/// Whether `numRegs` of cudaFuncGetAttributes() is what ptxas gives the kernel, as recorded.
bool knows_registers(const void* kernel);

/// Shared memory of the last launch that ended, per block, in bytes.
std::size_t last_static_shared();

/// What messages call a device allocation, instead of saying where it was made. `name` must stay where it is. Does nothing
/// for a pointer that is none.
void name_allocation(const void* pointer, const char* name);

/// Keeps, from now on, what cudaMemcpy and kin bring from device memory to the host's; forgets what was kept before.
void keep_copies_to_host();
/// Whether these bytes are among those kept, in one piece or brought one piece after the other. Also true where kernels could reach
/// memory of the host: managed, pinned or registered memory has been allocated since.
bool came_from_device(const void* pointer, std::size_t bytes);

/// From here on, work that host code gives to another stream than this one is a finding, other-stream. For who calls a
/// function with a stream and wants to see that it uses it. nullptr: any stream will do, as at the beginning.
void demand_stream(CUstream_st* stream);

/// How often host code has waited for the device, a stream or an event.
std::uint64_t waits();

/// What host code has asked of the device so far.
struct HostWork {
  std::uint64_t launches = 0;     ///< of kernels, also those that a capture writes down and kernel nodes; and of graphs
  std::uint64_t waits = 0;        ///< as above, and by copies and other calls that come back when work is done
  std::uint64_t allocations = 0;  ///< of device memory
  std::uint64_t bytes_to_device = 0;  ///< copied there from the host
  std::uint64_t bytes_to_host = 0;    ///< and back
  std::uint64_t pageable_bytes = 0;   ///< copied from or to the program's own memory, which no allocating call returned
  /// Copied from the memory of one device to another's: by the device that they leave, and by the one that they reach.
  std::array<std::uint64_t, 8> bytes_sent = {}, bytes_received = {};
};
HostWork host_work();

/// Streams, events and graphs that have been made and not destroyed.
std::size_t live_objects();

/// Pinned memory that host code may not touch, as it may not touch the device's: only copies and kernels may. For who calls a
/// function with an array that work in a stream brings, and takes away.
void* allocate_closed_host_memory(std::size_t bytes);

/// Work of the caller's own, in this stream: it writes these bytes, or reads them. What is not in order with it is a finding, which
/// calls it by its name.
void note_callers_work(CUstream_st* stream, const void* pointer, std::size_t bytes, bool writes, const char* name);

/// What does the work of streams.
enum class Engine : std::uint8_t { copy_in, sms, copy_out };

/// A copy between host and device, a launch, or a copy to another device.
struct Piece {
  Engine engine = Engine::sms;
  std::uint32_t stream = 0;  ///< a number of its own for each; 0: the default stream of device 0
  double begin = 0, end = 0;
  int device = 0;
};

/// When work could be done on devices that have each engine once, as streams, events and waits allow it. The unit isn't time, but
/// bytes that a copy moves: real times are as different as GPUs are, and what overlaps is not. A launch takes `thread_cost` for
/// each of its threads, so 4 is a kernel whose thread takes as long as a float takes to come; fills, libraries' calls and copies
/// within the device take nothing, nor does the host, but where it waits. No launch runs beside another one.
struct Timeline {
  std::vector<Piece> pieces;
  double length = 0;
};

/// From here on, the work that is asked for gets a place on a timeline.
void begin_timeline(double thread_cost);
/// The timeline since then.
Timeline end_timeline();

/// The n-th launch from here on does nothing and fails with cudaErrorLaunchOutOfResources; 0: none does. For who wants to
/// see whether a program notices. fail_library_call() is in library.hpp.
void fail_launch(std::uint64_t n);

/// From here on kernels aren't run. A launch is accepted or refused, as else, and goes into the report with its grid, its block
/// and its dynamic shared memory; device memory has addresses and nothing behind them, so arrays may have any size. For who
/// wants to see what a program launches at sizes that would take too long, or too much memory.
void launch_only();

/// The same, but of each launch the blocks at the corners of its grid are run, the last one first. Device memory holds zeros,
/// and a page of it is there once a kernel touches it. Of accesses nothing but bounds and alignment is looked at, and a block
/// ends early after 100,000 of them. For who wants to see whether indices stay inside arrays that are too large to exist.
void run_corners();

/// The exit code of a program whose host code came to the end of a function that returns a value, without a return.
constexpr int kEndedWithoutReturn = 74;

/// Number of findings so far in this process.
std::size_t finding_count();

/// Takes the report as JSON at the end of the program, where TILEWISE_REPORT would name a file. For programs that may not
/// open one.
using ReportTaker = void (*)(std::string_view json);
void give_report_to(ReportTaker taker);

}  // namespace tilewise::sim
