/// @file
/// The program that a submission is linked into: reads one case, runs it, sends everything back. It judges nothing,
/// and knows neither the expected result nor any other case; see common/grader/grader.hpp for who does.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace tilewise::grader {

enum class Type : std::uint32_t { float32, float64, int32 };

template <class T>
constexpr Type type_of() {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, int>,
                "buffers are of float, double or int");
  return std::is_same_v<T, float> ? Type::float32 : std::is_same_v<T, double> ? Type::float64 : Type::int32;
}

constexpr std::uint64_t bytes_of(Type type) { return type == Type::float64 ? 8 : 4; }

constexpr int kMostSizes = 6;
constexpr int kMostScalars = 8;
constexpr int kMostBuffers = 16;
constexpr int kMostDevices = 8;

/// What the program is to do with a case. `identify` and `time` are for programs on a GPU.
enum class Mode : std::uint32_t {
  run,       ///< once, and send everything back
  identify,  ///< no case: say which device this is
  launches,  ///< buffers are addresses without memory, and no kernel runs: the simulator's report says what was launched
  corners,  ///< buffers have addresses alone, and some blocks of each kernel run: the simulator's report says what left its buffer
  time  ///< the same as run, and then, as often as a Turn is read, time calls
};

/// What the grader sends on descriptor 3, followed by a BufferHeader and the elements of each buffer: first of those of the
/// case that comes before, if one does.
struct Request {
  std::uint64_t nonce = 0;
  char task[48] = {};
  std::int32_t sizes[kMostSizes] = {};
  std::uint32_t buffers = 0;
  std::uint32_t scalar_count = 0;
  double scalars[kMostScalars] = {};
  Mode mode = Mode::run;
  std::uint8_t failing_launch = 0, failing_library_call = 0;  ///< which of them fails (1: the first); 0: none
  std::uint8_t twice = 0;  ///< call the function once more, with the same inputs and with garbage in its outputs again
  std::uint32_t buffers_before = 0;  ///< of another case, which the function is called with first; 0: there is none
  std::int32_t sizes_before[kMostSizes] = {};
  double scalars_before[kMostScalars] = {};
  std::uint8_t own_streams = 0;                  ///< Problem::own_streams
  std::uint8_t offset = 0;                       ///< elements from a multiple of 16 bytes to the first of each buffer
  std::uint8_t devices = 1, devices_before = 1;  ///< Problem::devices, of either case
  double thread_cost = 4;                        ///< Problem::thread_cost

  /// That the program needs.
  int all_devices() const { return devices > devices_before ? devices : devices_before; }
};

struct BufferHeader {
  std::uint64_t size = 0;
  Type type = Type::float32;
  std::uint16_t in_place = 0;  ///< has to be set to what it was before each call that is timed
  std::uint8_t garbage = 0;    ///< what it holds before the call tells nothing
  std::uint8_t pinned = 0;     ///< memory of the host
  std::uint8_t device = 0;     ///< whose memory it is, else
  char name[24] = {};          ///< as the contract calls it
};

/// What comes back on descriptor 4, followed by the elements of all buffers and, once more, the nonce.
struct Reply {
  std::uint64_t nonce = 0;
  std::int32_t defined = 0;   ///< the submission has this function
  std::int32_t returned = 0;  ///< cudaError_t that it returned
  std::int32_t synchronised = 0;
  std::int32_t misused = 0;  ///< calls.cu asked for a buffer, size or scalar that the case does not have
  std::int32_t broken = 0;   ///< see HomeworkCase::broke()
  std::int32_t remark = 0;   ///< see HomeworkCase::remark()
  std::int32_t leaked = 0;   ///< by how many allocations there are more after the second of two calls than before it
  std::int32_t lost = 0;     ///< a buffer could not be copied back, though no kernel had failed
  std::int32_t left = 0;     ///< the same as `leaked`, of streams, events and graphs
  std::int32_t unused = 0;
  std::uint64_t launches = 0;
  std::uint64_t library_calls = 0;  ///< of cuBLAS and cuSPARSE that computed something
  std::uint64_t findings = 0;
  // Of the first call, where Problem::own_streams.
  std::uint64_t host_launches = 0, waits = 0, allocations = 0, bytes_to_device = 0, bytes_to_host = 0,
                pageable_bytes = 0;
  std::uint64_t bytes_between = 0;  ///< copied from one device to another
  std::uint64_t bytes_sent_most = 0,
                bytes_received_most = 0;  ///< of these, by the device that sends, or receives, most
  double timeline = 0;                    ///< its length, in bytes
};

/// The answer to Mode::identify.
struct Device {
  std::uint64_t nonce = 0;
  std::int32_t error = 0;  ///< cudaError_t: why there is none
  std::int32_t driver = 0, runtime = 0;
  std::int32_t major = 0, minor = 0;
  std::int32_t devices = 0;  ///< how many the program finds
  char name[256] = {};
  char message[256] = {};  ///< of the error
};

/// Asks for `calls` timed calls after one that is not timed; 0 calls: end. Answered by as many floats, milliseconds.
struct Turn {
  std::uint32_t calls = 0;
};
constexpr std::uint32_t kMostCalls = 1000;

constexpr int kRequestDescriptor = 3;
constexpr int kReplyDescriptor = 4;
/// Where a caged program asks for lines of its source (base/symbols.hpp).
constexpr int kQuestionDescriptor = 5;

/// The exit code of a program that called a computed address which is no function's (checked_calls.cpp).
constexpr int kCalledNoFunction = 71;
/// And of one whose host code used a variable of the simulator's.
constexpr int kUsedForeignMemory = 72;
/// Or of the C++ library's, which is linked into the program here: nobody can tell them apart.
constexpr int kLibraryLinkedIn = 73;

/// A caged program's descriptor 4 is memory, in which the reply and the simulator's report follow these.
struct ReplyMemory {
  std::uint64_t reply_bytes = 0;
  std::uint64_t report_bytes = 0;
};

/// A buffer; becomes a pointer to elements of its own type only.
class DevicePointer {
 public:
  DevicePointer(void* memory, Type type, bool& misused) : memory_(memory), type_(type), misused_(misused) {}
  template <class T>
  operator T*() const {
    if (type_of<std::remove_cv_t<T>>() != type_) misused_ = true;
    return misused_ ? nullptr : static_cast<T*>(memory_);
  }

 private:
  void* memory_;
  Type type_;
  bool& misused_;
};

}  // namespace tilewise::grader

/// One case, as tests/NN_topic/homework/calls.cu sees it.
class HomeworkCase {
 public:
  std::string_view task;

  /// The i-th of the problem's buffers: c[0] where a `const float*` is wanted. One of length 0 is a null pointer.
  tilewise::grader::DevicePointer operator[](int i) const;
  int size(int i) const;
  /// The i-th of the problem's scalars, as T.
  template <class T = float>
  T scalar(int i) const {
    return static_cast<T>(scalar_at(i));
  }

  /// The stream that the submission is to work on: not the default one, and not ordered with it. What follows on the
  /// default stream waits for it, as it waits for what is there before. On the simulator, work that a submission gives to
  /// another stream is a finding, unless Problem::own_streams; then work that isn't in order with this stream is one.
  /// With several devices: a stream of that one; no particular device is the current one.
  cudaStream_t stream(int device = 0) const;

  /// A rule of the contract, not about the result, that the call has broken: 1, 2, ... as Task::rule() names them. The
  /// first one counts. Where the function returns no cudaError_t, what it returned is told so, too.
  void broke(int rule) const;

  /// What may explain a wrong result, and says nothing of a right one: a number for Task::rule(), as above.
  void remark(int rule) const;

  struct State;
  HomeworkCase(std::string_view name, State& state) : task(name), state_(state) {}

 private:
  double scalar_at(int i) const;
  State& state_;
};

/// Calls the submitted function of c.task; `error` is what it returned. False when the submission does not have that
/// function. Written once per chapter: tests/NN_topic/homework/calls.cu.
bool homework_call(const HomeworkCase& c, cudaError_t& error);
