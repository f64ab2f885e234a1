// main() of the program that a submission is linked into. See harness.hpp. For the simulator it is compiled as it is;
// for a GPU with TILEWISE_ON_GPU, by nvcc.
//
// On the simulator the program enters its cage before any constructor runs, of a submission's or of a library's, and
// from then on has no descriptor to send a reply by: the reply is memory that was shared before, at an address chosen at
// random, and closed while the submission runs.
#include "harness.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#ifndef TILEWISE_ON_GPU
#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#include "base/devices.hpp"
#include "base/findings.hpp"
#include "base/memory.hpp"
#include "base/symbols.hpp"
#include "enter_cage.hpp"
#include "runtime/watchdog.hpp"
#include "tilewise_sim/library.hpp"
#include "tilewise_sim/report.hpp"
#endif

namespace {

using namespace tilewise::grader;

bool read_all(void* to, std::size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t n = read(kRequestDescriptor, at, bytes);
    if (n <= 0) return false;
    at += n, bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

#ifdef TILEWISE_ON_GPU

/// Where the reply goes: to a descriptor.
bool write_all(const void* from, std::size_t bytes) {
  auto* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t n = write(kReplyDescriptor, at, bytes);
    if (n <= 0) return false;
    at += n, bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

void hide_nonce(Request&) {}
void show_nonce(Request&) {}
void tell_how_it_ends() {}
void forget_how_it_ends() {}

/// While one of these is alive, the reply can be written.
struct ReplyOpen {};

#else

/// Where the reply goes, and what a submission must not know: memory that is inaccessible while it runs.
class Reserved {
 public:
  bool take(std::size_t bytes) {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, kReplyDescriptor, 0);
    close(kReplyDescriptor);
    if (at == MAP_FAILED) return false;
    bytes_ = bytes;
    memory_ = static_cast<char*>(at);
    return true;
  }
  void open() const { mprotect(memory_, bytes_, PROT_READ | PROT_WRITE); }
  void shut() const { mprotect(memory_, bytes_, PROT_NONE); }

  bool add(const void* from, std::size_t bytes) {
    if (bytes > bytes_ - sizeof(ReplyMemory) || used_ > bytes_ - sizeof(ReplyMemory) - bytes) return false;
    std::memcpy(memory_ + sizeof(ReplyMemory) + used_, from, bytes);
    used_ += bytes;
    head()->reply_bytes = used_;
    return true;
  }
  void add_report(std::string_view json) {
    open();
    const std::size_t reply = head()->reply_bytes;
    if (add(json.data(), json.size())) head()->report_bytes = json.size();
    head()->reply_bytes = reply;
    shut();
  }
  /// Kept here, and nowhere else, while the submission runs: at the end, where no reply reaches.
  std::uint64_t* nonce() const { return reinterpret_cast<std::uint64_t*>(memory_ + bytes_) - 1; }

 private:
  ReplyMemory* head() const { return reinterpret_cast<ReplyMemory*>(memory_); }
  char* memory_ = nullptr;
  std::size_t bytes_ = 0, used_ = 0;
};

constinit Reserved reserved;

bool write_all(const void* from, std::size_t bytes) { return reserved.add(from, bytes); }

struct ReplyOpen {
  ReplyOpen() { reserved.open(); }
  ~ReplyOpen() { reserved.shut(); }
};

void hide_nonce(Request& request) {
  const ReplyOpen open;
  *reserved.nonce() = request.nonce;
  request.nonce = 0;
}
void show_nonce(Request& request) { request.nonce = *reserved.nonce(); }

/// The number in TILEWISE_SECONDS, 0 where there is none. The C library's getenv() has no environment yet.
int seconds_in(char** environment) {
  constexpr std::string_view kName = "TILEWISE_SECONDS=";
  for (; environment && *environment; ++environment)
    if (std::string_view(*environment).substr(0, kName.size()) == kName) return std::atoi(*environment + kName.size());
  return 0;
}

// On Linux it runs before all constructors, those of shared libraries included: no code of the submission's has run by
// then. Elsewhere there is no cage to enter.
void enter(int, char**, char** environment) {
  CageHeader header;
  alignas(8) static char filter[8 * 1024];
  if (!read_all(&header, sizeof header)) _exit(kNotCaged);
  if (header.instructions > sizeof filter / 8 || !read_all(filter, 8 * header.instructions)) _exit(kNotCaged);
  if (!reserved.take(header.reply_bytes)) _exit(kNotCaged);
  reserved.shut();
  tilewise::sim::ask_for_lines(kQuestionDescriptor);
  if (const int seconds = seconds_in(environment); seconds > 0) tilewise::sim::watch_program(seconds);
  // A grader that was told to grade without a cage sends no filter.
  if (header.instructions > 0 && enter_cage(filter, header.instructions) == Entered::no) _exit(kNotCaged);
}

/// Until the reply is there, the end of the program leaves its findings: they say why it ended. What is printed comes at
/// once: it is worth most when the program ends early.
void tell_how_it_ends() {
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 14);
  tilewise::sim::show_no_findings();
  tilewise::sim::give_report_to([](std::string_view json) { reserved.add_report(json); });
  tilewise::sim::memory::report_host_faults();
  tilewise::sim::prepare_to_end();
}

/// From now on only a report that was asked for is made.
void forget_how_it_ends() {
  if (!std::getenv("TILEWISE_REPORT")) tilewise::sim::give_report_to(nullptr);
}

/// "libstdc++.so.6", without its folder.
bool is_of_standard_library(const char* file) {
  const std::string_view name = std::string_view(file).substr(std::string_view(file).rfind('/') + 1);
  return name.substr(0, 9) == "libstdc++" || name.substr(0, 6) == "libc++";
}

#ifdef __linux__
__attribute__((section(".preinit_array"), used)) void (*const enter_first)(int, char**, char**) = enter;
#endif

#endif

#ifdef TILEWISE_ON_GPU

// Each buffer lies between two guards, of which no byte may change. What reads them is not found.
constexpr std::size_t kGuard = 4096;
constexpr int kGuardByte = 0xa5;

// Nothing counts these here. That kernels were launched, and how many, is seen on the simulator.
std::uint64_t launches() { return 0; }
std::uint64_t library_calls() { return 0; }
std::uint64_t findings() { return 0; }
void name_allocation(const void*, const char*) {}
void demand_stream(cudaStream_t) {}
void let_fail(const Request&) {}
void launch_only() {}
void run_corners() {}
std::int32_t allocations() { return 0; }
std::int32_t objects() { return 0; }
struct Count {
  explicit Count(const Request&) {}
  void end(Reply&) const {}
};
cudaError_t allocate_pinned(char** pointer, std::size_t bytes) { return cudaMallocHost(pointer, bytes); }

#else

// Each buffer is an allocation of its own with red zones around it: the simulator reports what leaves it.
constexpr std::size_t kGuard = 0;
constexpr int kGuardByte = 0;

std::uint64_t launches() { return tilewise::sim::launches_ended(); }
std::uint64_t library_calls() { return tilewise::sim::last_library_call().serial; }
std::uint64_t findings() { return tilewise::sim::finding_count(); }
using tilewise::sim::demand_stream;
using tilewise::sim::launch_only;
using tilewise::sim::name_allocation;
using tilewise::sim::run_corners;
std::int32_t allocations() { return static_cast<std::int32_t>(tilewise::sim::memory::live_allocations().size()); }
std::int32_t objects() { return static_cast<std::int32_t>(tilewise::sim::live_objects()); }
using tilewise::sim::note_callers_work;

/// What the host asks for from here to there.
class Count {
 public:
  static_assert(kMostDevices == tilewise::sim::kMostDevices);
  explicit Count(const Request& request) { tilewise::sim::begin_timeline(request.thread_cost); }

  void end(Reply& reply) const {
    reply.timeline = tilewise::sim::end_timeline().length;
    const tilewise::sim::HostWork work = tilewise::sim::host_work();
    reply.host_launches = work.launches - before_.launches;
    reply.waits = work.waits - before_.waits;
    reply.allocations = work.allocations - before_.allocations;
    reply.bytes_to_device = work.bytes_to_device - before_.bytes_to_device;
    reply.bytes_to_host = work.bytes_to_host - before_.bytes_to_host;
    reply.pageable_bytes = work.pageable_bytes - before_.pageable_bytes;
    for (std::size_t d = 0; d < work.bytes_sent.size(); ++d) {
      const std::uint64_t sent = work.bytes_sent[d] - before_.bytes_sent[d];
      reply.bytes_between += sent;
      reply.bytes_sent_most = std::max(reply.bytes_sent_most, sent);
      reply.bytes_received_most =
          std::max(reply.bytes_received_most, work.bytes_received[d] - before_.bytes_received[d]);
    }
  }

 private:
  tilewise::sim::HostWork before_ = tilewise::sim::host_work();
};
/// Host code may not touch it: that would be a way to do the kernels' work.
cudaError_t allocate_pinned(char** pointer, std::size_t bytes) {
  *pointer = static_cast<char*>(tilewise::sim::allocate_closed_host_memory(bytes));
  return *pointer ? cudaSuccess : cudaErrorMemoryAllocation;
}
void let_fail(const Request& request) {
  tilewise::sim::fail_launch(request.failing_launch);
  tilewise::sim::fail_library_call(request.failing_library_call);
}

#endif

/// Makes a device the current one; with one device there is nothing to say.
class OnDevice {
 public:
  explicit OnDevice(int device) : is_other_(device != 0) {
    if (is_other_) cudaSetDevice(device);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() {
    if (is_other_) cudaSetDevice(0);
  }

 private:
  bool is_other_;
};

struct Array {
  Type type = Type::float32;
  bool in_place = false;
  const char* name = "";
  char* allocation = nullptr;  // guard, elements, guard
  char* original = nullptr;    // the elements as they were, for what is timed in place
  std::vector<char> host = {};
  std::size_t bytes = 0;
  bool garbage = false;
  bool pinned = false;  // in the host's memory
  int device = 0;

  /// The host's copy of what the grader sent: submissions have no business with it, and device memory is closed to
  /// them.
  void forget() {
    for (volatile char& c : host) c = 0;
    host.clear();
    host.shrink_to_fit();
  }

  std::size_t offset = 0;  // bytes from there to the elements

  char* memory() const { return allocation ? allocation + kGuard + offset : nullptr; }

  /// An address with nothing behind it, where only launches are of interest.
  cudaError_t reserve(std::size_t most) {
    const cudaError_t error = take(std::min(std::max<std::size_t>(bytes, 4), most));
    if (error == cudaSuccess) name_allocation(allocation, name);
    bytes = 0;  // nothing of it comes back
    return error;
  }

  cudaError_t take(std::size_t size) {
    const OnDevice its(device);
    return pinned ? allocate_pinned(&allocation, size) : cudaMalloc(&allocation, size);
  }
  void give_back() const { pinned ? cudaFreeHost(allocation) : cudaFree(allocation); }

  cudaError_t allocate() {
    cudaError_t error = take(offset + host.size() + 2 * kGuard);
    if (error == cudaSuccess) name_allocation(allocation, name);
    if (error == cudaSuccess && kGuard > 0) {
      const std::vector<char> guarded(offset + host.size() + 2 * kGuard, static_cast<char>(kGuardByte));
      error = cudaMemcpy(allocation, guarded.data(), guarded.size(), cudaMemcpyDefault);
    }
    if (error == cudaSuccess) error = cudaMemcpy(memory(), host.data(), host.size(), cudaMemcpyDefault);
    return error;
  }

  bool guards_are_whole() const {
    std::vector<unsigned char> seen(2 * kGuard);
    if (kGuard == 0) return true;
    if (cudaMemcpy(seen.data(), allocation, kGuard, cudaMemcpyDefault) != cudaSuccess ||
        cudaMemcpy(seen.data() + kGuard, memory() + bytes, kGuard, cudaMemcpyDefault) != cudaSuccess)
      return true;  // the context is lost; that is reported
    return std::all_of(seen.begin(), seen.end(), [](unsigned char c) { return c == kGuardByte; });
  }
};

}  // namespace

#ifndef TILEWISE_ON_GPU

/// What a submission may call by name, up to a null pointer; not there where calls are not checked (checked_calls.cpp).
extern "C" __attribute__((weak)) const void* const tilewise_callable[];
extern "C" __attribute__((weak)) const tilewise::sim::memory::Variables tilewise_own_data[];
#ifdef __linux__
extern "C" __attribute__((weak))
const char tilewise_cout[] __asm__("_ZSt4cout");  ///< std::cout, where the program uses it
#else
constexpr const char* tilewise_cout = nullptr;
#endif

/// The host's code has used a variable that isn't the submission's.
[[noreturn]] static void used_foreign_memory() {
  _exit(tilewise::sim::memory::is_linked_in(tilewise_cout) ? tilewise::grader::kLibraryLinkedIn
                                                           : tilewise::grader::kUsedForeignMemory);
}

/// Returns when the address may be called: it's one of those, or a function of the C++ library, such as a virtual one of
/// an exception's.
extern "C" void tilewise_look_at_call(const void* address) {
  for (const void* const* known = tilewise_callable; known && *known; ++known)
    if (*known == address) return;
  Dl_info at{};
  if (dladdr(address, &at) && at.dli_saddr == address && at.dli_fname && is_of_standard_library(at.dli_fname)) return;
  _exit(kCalledNoFunction);
}

#endif

struct HomeworkCase::State {
  Request request;
  std::vector<Array> arrays;
  std::list<std::string> names;  // of the arrays; they stay where they are
  bool misused = false;
  int broken = 0, remark = 0;
  std::vector<cudaStream_t> streams;  // one of each device
  std::vector<cudaEvent_t> events;

  cudaError_t make_streams() {
    const auto devices = static_cast<std::size_t>(request.all_devices());
    streams.resize(devices);
    events.resize(devices);
    cudaError_t error = cudaSuccess;
    for (std::size_t d = 0; d < devices; ++d) {
      const OnDevice its(static_cast<int>(d));
      if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&streams[d], cudaStreamNonBlocking);
      if (error == cudaSuccess) error = cudaEventCreateWithFlags(&events[d], cudaEventDisableTiming);
    }
    return error;
  }

  /// What follows on the streams comes after what is on the default stream now, which is device 0's.
  cudaError_t begin() const {
    cudaError_t error = cudaEventRecord(events[0], nullptr);
    for (std::size_t d = 0; d < request.devices && error == cudaSuccess; ++d)
      error = cudaStreamWaitEvent(streams[d], events[0], 0);
    return error;
  }
  /// What follows there comes after what is on the streams now.
  void end() const {
    for (std::size_t d = 0; d < request.devices; ++d)  // fails after a kernel has: that is seen when it is waited for
      if (cudaEventRecord(events[d], streams[d]) == cudaSuccess) cudaStreamWaitEvent(nullptr, events[d], 0);
  }

  cudaError_t synchronise() const {
    cudaError_t first = cudaSuccess;
    for (int d = 0; d < static_cast<int>(streams.size()); ++d) {
      const OnDevice its(d);
      const cudaError_t error = cudaDeviceSynchronize();
      if (first == cudaSuccess) first = error;
    }
    return first;
  }

  /// The caller's work before and after the call: it brings inputs, takes results away, and uses what the function may work in.
  void use_arrays([[maybe_unused]] bool before) const {
#ifndef TILEWISE_ON_GPU
    for (const Array& a : arrays)
      if (a.bytes > 0)
        note_callers_work(streams[static_cast<std::size_t>(a.device)], a.memory(), a.bytes, !a.pinned || !a.garbage,
                          request.devices > 1 ? before ? "earlier work in the caller's stream of that device"
                                                       : "later work in the caller's stream of that device"
                          : before            ? "earlier work in the caller's stream"
                                              : "later work in the caller's stream");
#endif
  }
};

DevicePointer HomeworkCase::operator[](int i) const {
  if (i < 0 || i >= static_cast<int>(state_.arrays.size())) {
    state_.misused = true;
    return {nullptr, Type::float32, state_.misused};
  }
  const Array& a = state_.arrays[static_cast<std::size_t>(i)];
  return {a.memory(), a.type, state_.misused};
}

cudaStream_t HomeworkCase::stream(int device) const {
  if (device < 0 || device >= state_.request.devices) return state_.misused = true, nullptr;
  return state_.streams[static_cast<std::size_t>(device)];
}

void HomeworkCase::broke(int rule) const {
  if (state_.broken == 0) state_.broken = rule;
}

void HomeworkCase::remark(int rule) const { state_.remark = rule; }

int HomeworkCase::size(int i) const {
  if (i < 0 || i >= kMostSizes) return state_.misused = true, 0;
  return state_.request.sizes[i];
}

double HomeworkCase::scalar_at(int i) const {
  if (i < 0 || i >= static_cast<int>(state_.request.scalar_count)) return state_.misused = true, 0;
  return state_.request.scalars[i];
}

namespace {

/// One call of the submission's function, on streams of its own.
bool call(HomeworkCase::State& state, cudaError_t& returned) {
  // The inputs came by the default stream, and whoever waits or measures there waits for the function's work.
  returned = state.begin();
  if (returned != cudaSuccess) return true;
  if (state.request.own_streams != 0)
    state.use_arrays(true);
  else
    demand_stream(state.streams[0]);
  let_fail(state.request);
  // Not device 0 is the current one, where there are others: who forgets to say which, is to see it.
  if (state.request.devices > 1) cudaSetDevice(state.request.devices - 1);
  const bool defined = homework_call(HomeworkCase(state.request.task, state), returned);
  if (state.streams.size() > 1) cudaSetDevice(0);
  demand_stream(nullptr);
  if (state.request.own_streams != 0) state.use_arrays(false);
  state.end();
  return defined;
}

/// What the function is told of the case, and of the one before it.
void swap_case_before(Request& request) {
  std::swap(request.sizes, request.sizes_before);
  std::swap(request.scalars, request.scalars_before);
  std::swap(request.devices, request.devices_before);
}

#ifdef TILEWISE_ON_GPU

// Which device this is, and whether it works.
int identify(const Request& request) {
  Device d;
  d.nonce = request.nonce;
  cudaDriverGetVersion(&d.driver);
  cudaRuntimeGetVersion(&d.runtime);
  cudaDeviceProp properties{};
  void* memory = nullptr;
  cudaError_t error = cudaGetDeviceCount(&d.devices);
  if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, 0);
  if (error == cudaSuccess) error = cudaMalloc(&memory, 1 << 20);
  if (error == cudaSuccess) error = cudaMemset(memory, 0, 1 << 20);
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  d.error = error;
  d.major = properties.major;
  d.minor = properties.minor;
  std::string_view(properties.name).copy(d.name, sizeof d.name - 1);
  if (error != cudaSuccess) std::string_view(cudaGetErrorString(error)).copy(d.message, sizeof d.message - 1);
  return write_all(&d, sizeof d) ? 0 : 4;
}

// Answers Turns. Before each call L2 is emptied, of each device, by writing twice its size, and what is changed in place is set back.
int take_turns(HomeworkCase::State& state) {
  int l2 = 0;
  cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0);
  const std::size_t flush_bytes = 2 * std::max<std::size_t>(static_cast<std::size_t>(l2), std::size_t{1} << 20);
  std::vector<void*> flush(state.streams.size());
  for (std::size_t d = 0; d < flush.size(); ++d) {
    const OnDevice its(static_cast<int>(d));
    if (cudaMalloc(&flush[d], flush_bytes) != cudaSuccess) return 5;
  }
  cudaEvent_t start = nullptr, stop = nullptr;
  if (cudaEventCreate(&start) != cudaSuccess || cudaEventCreate(&stop) != cudaSuccess) return 5;
  for (Array& a : state.arrays) {
    if (!a.in_place || a.host.empty()) continue;
    const OnDevice its(a.device);
    if (cudaMalloc(&a.original, a.host.size()) != cudaSuccess ||
        cudaMemcpy(a.original, a.host.data(), a.host.size(), cudaMemcpyHostToDevice) != cudaSuccess)
      return 5;
  }
  const auto timed_call = [&](float& ms) {
    for (Array& a : state.arrays) {
      const OnDevice its(a.device);
      if (a.original) cudaMemcpyAsync(a.memory(), a.original, a.host.size(), cudaMemcpyDeviceToDevice, nullptr);
    }
    for (std::size_t d = 0; d < flush.size(); ++d) {
      const OnDevice its(static_cast<int>(d));
      cudaMemsetAsync(flush[d], 0, flush_bytes, nullptr);
    }
    if (flush.size() > 1 && state.synchronise() != cudaSuccess)
      return false;  // nothing else orders the others' before the call
    cudaEventRecord(start, nullptr);
    cudaError_t returned = cudaSuccess;
    const bool defined = call(state, returned);
    cudaEventRecord(stop, nullptr);
    return defined && returned == cudaSuccess && cudaEventSynchronize(stop) == cudaSuccess &&
           cudaEventElapsedTime(&ms, start, stop) == cudaSuccess;
  };
  Turn turn;
  while (read_all(&turn, sizeof turn) && turn.calls > 0 && turn.calls <= kMostCalls) {
    std::vector<float> ms(turn.calls);
    float unused = 0;  // the first call of a turn finds the GPU with another program's context
    bool ok = timed_call(unused);
    for (float& t : ms) ok = ok && timed_call(t);
    if (!ok) return 5;
    if (!write_all(ms.data(), ms.size() * sizeof(float))) return 4;
  }
  return 0;
}

#else

int identify(const Request&) { return 3; }
int take_turns(HomeworkCase::State&) { return 3; }

#endif

bool read_request(Request& request) {
  return read_all(&request, sizeof request) && request.buffers <= kMostBuffers &&
         request.buffers_before <= kMostBuffers && request.scalar_count <= kMostScalars && request.devices >= 1 &&
         request.devices_before >= 1 && request.all_devices() <= kMostDevices;
}

bool receive_buffer(HomeworkCase::State& state) {
  const Request& request = state.request;
  const bool runs = request.mode != Mode::launches && request.mode != Mode::corners;
  const std::size_t most = std::size_t{request.mode == Mode::corners || request.devices > 1 ? 64u : 8u} << 30;
  BufferHeader header;
  if (!read_all(&header, sizeof header)) return false;
  header.name[sizeof header.name - 1] = '\0';
  const char* name = state.names.emplace_back(header.name).c_str();
  Array& a = state.arrays.emplace_back(Array{.type = header.type, .in_place = header.in_place != 0, .name = name});
  a.garbage = header.garbage != 0;
  a.pinned = header.pinned != 0;
  if (header.device >= request.all_devices()) return false;
  a.device = header.device;
  a.offset = request.offset * bytes_of(header.type);
  a.bytes = header.size * bytes_of(header.type);
  if (!runs) return a.bytes == 0 || a.reserve(most) == cudaSuccess;
  a.host.resize(a.bytes);
  return a.host.empty() || (read_all(a.host.data(), a.host.size()) && a.allocate() == cudaSuccess);
}

/// When it returns, the elements are there: a copy from the host's memory may arrive later, and no device's stream but the first one's
/// waits for it.
bool receive_buffers(HomeworkCase::State& state, std::uint32_t buffers) {
  for (std::uint32_t i = 0; i < buffers; ++i)
    if (!receive_buffer(state)) return false;
  return state.synchronise() == cudaSuccess;
}

/// The case before, of which nothing is told.
bool call_for_case_before(HomeworkCase::State& state) {
  if (!receive_buffers(state, state.request.buffers_before)) return false;
  cudaError_t returned = cudaSuccess;
  for (Array& a : state.arrays) a.forget();
  swap_case_before(state.request);
  call(state, returned);
  swap_case_before(state.request);
  state.synchronise();
  for (const Array& a : state.arrays) a.give_back();
  state.arrays.clear();
  state.broken = state.remark = 0;
  return true;
}

/// What the call did, and whether another one or the case before left something. False when arrays can't be set back.
bool call_and_count(HomeworkCase::State& state, Reply& reply) {
  const Request& request = state.request;
  cudaError_t returned = cudaSuccess;
  const std::uint64_t launches_before = launches(), library_calls_before = library_calls();
  const std::int32_t allocated = allocations(), made = objects();
  {
    const auto count = request.own_streams != 0 ? std::make_optional<Count>(request) : std::nullopt;
    reply.defined = call(state, returned);
    if (count) count->end(reply);
  }
  if (request.buffers_before > 0) reply.leaked = allocations() - allocated, reply.left = objects() - made;
  const std::int32_t allocations_before = allocations(), objects_before = objects();
  for (int i = 0; i < request.twice && reply.defined && returned == cudaSuccess; ++i) {
    bool refilled = false;
    for (const Array& a : state.arrays) {
      if (!a.garbage || a.bytes == 0) continue;
      if (cudaMemcpy(a.memory(), a.host.data(), a.bytes, cudaMemcpyDefault) != cudaSuccess) return false;
      refilled = true;
    }
    if (refilled && state.synchronise() != cudaSuccess) return false;
    call(state, returned);
    reply.leaked = allocations() - allocations_before;
    reply.left = objects() - objects_before;
  }
  reply.returned = returned;
  reply.synchronised = state.synchronise();
  reply.misused = state.misused;
  reply.broken = state.broken;
  reply.remark = state.remark;
  reply.launches = launches() - launches_before;
  reply.library_calls = library_calls() - library_calls_before;
  return true;
}

/// Brings the buffers back to the host.
void fetch_buffers(HomeworkCase::State& state, Reply& reply) {
  const bool failed = reply.synchronised != 0;
  for (Array& a : state.arrays) {
    if (a.bytes == 0) continue;
    a.host.resize(a.bytes);
    if (cudaMemcpy(a.host.data(), a.memory(), a.bytes, cudaMemcpyDefault) != cudaSuccess) {
      reply.synchronised = reply.synchronised ? reply.synchronised : 1;
      reply.lost = !failed;
    }
    reply.findings += !a.guards_are_whole();
    if (state.request.mode == Mode::run) a.give_back();
  }
  reply.findings += findings();
}

bool send(HomeworkCase::State& state, Reply& reply) {
  show_nonce(state.request);
  reply.nonce = state.request.nonce;
  bool sent = write_all(&reply, sizeof reply);
  for (const Array& a : state.arrays) sent = sent && write_all(a.host.data(), a.host.size());
  return sent && write_all(&state.request.nonce, sizeof state.request.nonce);
}

}  // namespace

int main(int argc, char** argv) {
#if !defined(TILEWISE_ON_GPU)
#if !defined(__linux__)
  enter(argc, argv, nullptr);
#endif
  tilewise::sim::memory::distrust_host_code();
  if (tilewise_own_data) tilewise::sim::memory::guard_variables(tilewise_own_data, used_foreign_memory);
#endif
  tell_how_it_ends();
  static_cast<void>(argc), static_cast<void>(argv);
  HomeworkCase::State state;
  Request& request = state.request;
  if (!read_request(request)) return 3;
  if (request.mode == Mode::identify) return identify(request);
  hide_nonce(request);
  if (request.mode == Mode::launches) launch_only();
  if (request.mode == Mode::corners) run_corners();
  if (state.make_streams() != cudaSuccess) return 3;
  if (request.buffers_before > 0 && !call_for_case_before(state)) return 3;
  if (!receive_buffers(state, request.buffers)) return 3;
  if (request.mode != Mode::time) close(kRequestDescriptor);
  std::vector<std::vector<char>> before;  // the elements as they were, where they are needed again
  if (request.mode == Mode::time) {
    for (const Array& a : state.arrays) before.push_back(a.host);
  }

  for (Array& a : state.arrays) {
    if (request.mode == Mode::run && !a.garbage) a.forget();
  }
  Reply reply;
  if (!call_and_count(state, reply)) return 3;
  fetch_buffers(state, reply);
  const ReplyOpen open;  // closed again before the submission's destructors run
  const bool sent = send(state, reply);
  forget_how_it_ends();
  if (!sent) return 4;
  if (request.mode != Mode::time) return 0;
  for (std::size_t i = 0; i < before.size(); ++i) state.arrays[i].host.swap(before[i]);
  return take_turns(state);
}
