// NCCL's part of the simulator: what ranks ask for waits until all ranks have asked, and is then done at once. The calls' checks and
// results are NCCL's; what a GPU would hang on, or compute wrongly without a word, is a finding.
//
// In the order of streams (model/order.hpp) each rank's part is a piece of work of its own. It comes after the earlier work of
// those ranks whose elements it gets, and says nothing of what others have still to do.
#include "nccl.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "base/devices.hpp"
#include "runtime/api.hpp"
#include "runtime/library.hpp"
#include "tilewise_device/half_format.hpp"

namespace tilewise::sim {
namespace {

enum class Kind { all_reduce, reduce, broadcast, all_gather, reduce_scatter, send, receive };

/// What one rank asks for.
struct Operation {
  Kind kind{};
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t count = 0;  ///< as the call gives it
  ncclDataType_t type{};
  ncclRedOp_t op = ncclSum;
  int root = 0;  ///< of a send or a receive: the other rank
  cudaStream_t stream = nullptr;
  const char* name = "";
  void* site = nullptr;
  std::uint64_t serial = 0;  ///< 0: not asked for yet

  bool is_between_two() const { return kind == Kind::send || kind == Kind::receive; }
};

/// All ranks of a communicator.
struct Clique {
  std::vector<ncclComm*> ranks;  ///< null: not there yet, or not any more
  int joined = 0;
};

}  // namespace
}  // namespace tilewise::sim

struct ncclComm {
  std::shared_ptr<tilewise::sim::Clique> clique;
  int rank, device;
  std::deque<tilewise::sim::Operation> waiting;  ///< for other ranks
  ncclResult_t error = ncclSuccess;              ///< of what was done in its streams
};

namespace tilewise::sim {
namespace {

using library::Call;
using library::Region;
using Lock = std::unique_lock<std::recursive_mutex>;

// Never destroyed: programs destroy communicators in destructors of their own static objects.
std::vector<std::unique_ptr<ncclComm>>& communicators() {
  static auto* owners = new std::vector<std::unique_ptr<ncclComm>>;
  return *owners;
}

bool exists(const ncclComm* comm) {
  const auto& all = communicators();
  return comm && std::any_of(all.begin(), all.end(), [=](auto& owner) { return owner.get() == comm; });
}

/// Those whose ranks are still to come, by the bytes of their ids.
std::map<std::string, std::shared_ptr<Clique>>& promised() {
  static auto* cliques = new std::map<std::string, std::shared_ptr<Clique>>;
  return *cliques;
}

/// Of operations that are over, and whose callers have not looked yet.
std::map<std::uint64_t, ncclResult_t>& results() {
  static auto* all = new std::map<std::uint64_t, ncclResult_t>;
  return *all;
}

/// Something has changed that other host threads may wait for.
std::condition_variable_any& change() {
  static auto* condition = new std::condition_variable_any;
  return *condition;
}

std::uint64_t serials = 0;

/// What a host thread has asked for since ncclGroupStart().
struct Group {
  int depth = 0;
  std::vector<std::pair<ncclComm*, Operation>> operations;
  std::vector<std::pair<std::shared_ptr<Clique>, void*>> joins;  ///< with where that was asked for
  ncclResult_t error = ncclSuccess;
};
thread_local Group group;
thread_local ncclResult_t last_failure = ncclSuccess;

ncclResult_t result(ncclResult_t r) {
  if (r == ncclSuccess || r == ncclInProgress) return r;
  last_failure = r;
  library::note_failure(r);
  if (group.depth > 0 && group.error == ncclSuccess) group.error = r;
  return r;
}

// ---------------------------------------------------------------- waiting for other host threads

bool is_the_only_thread() {
  std::error_code none;
  std::size_t threads = 0;
  for (auto task = std::filesystem::directory_iterator("/proc/self/task", none);
       !none && task != std::filesystem::directory_iterator(); task.increment(none))
    ++threads;
  return threads == 1;  // 0: not Linux
}

double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/// Waits for other threads as long as there are any that do something. Returns whether what was waited for has come.
bool come(Lock& lock, const std::function<bool()>& done) {
  constexpr auto kSlice = std::chrono::milliseconds(100);
  constexpr int kQuietSlices = 30;
  if (done() || is_the_only_thread()) return done();
  for (int quiet = 0; quiet < kQuietSlices; ++quiet) {
    const double before = processor_time();
    if (change().wait_for(lock, kSlice, done)) return true;
    if (processor_time() - before > 0.01) quiet = 0;  // a kernel may take its time here
  }
  return false;
}

// ---------------------------------------------------------------- elements

std::size_t bytes_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
    default:
      return 4;
  }
}

const char* name_of(ncclDataType_t type) {
  static constexpr const char* kNames[] = {"int8",   "uint8", "int32", "uint32", "int64",
                                           "uint64", "half",  "float", "double", "bfloat16"};
  return kNames[type];
}
const char* name_of(ncclRedOp_t op) {
  static constexpr const char* kNames[] = {"ncclSum", "ncclProd", "ncclMax", "ncclMin", "ncclAvg"};
  return kNames[op];
}

using Bytes = std::vector<unsigned char>;

template <class T>
T combined(ncclRedOp_t op, T a, T b) {
  if (op == ncclMax) return b > a ? b : a;
  if (op == ncclMin) return b < a ? b : a;
  if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {  // wraps around, as on a GPU
    using U = std::make_unsigned_t<T>;
    const auto x = static_cast<U>(a), y = static_cast<U>(b);
    return static_cast<T>(op == ncclProd ? static_cast<U>(std::uint64_t{x} * y) : static_cast<U>(x + y));
  } else {
    return static_cast<T>(op == ncclProd ? a * b : a + b);
  }
}

/// Element i of all ranks' inputs, in the order of the ranks. Load and Store turn stored elements into values and back.
template <class Stored, class Load, class Store>
void reduce(const std::vector<Bytes>& inputs, ncclRedOp_t op, Bytes& out, Load load, Store store) {
  const auto at = [&](const Bytes& bytes, std::size_t i) {
    Stored s;
    std::memcpy(&s, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    return load(s);
  };
  for (std::size_t i = 0; i < out.size() / sizeof(Stored); ++i) {
    auto value = at(inputs[0], i);
    for (std::size_t r = 1; r < inputs.size(); ++r) value = combined(op, value, at(inputs[r], i));
    if (op == ncclAvg) value = static_cast<decltype(value)>(value / static_cast<decltype(value)>(inputs.size()));
    const Stored s = store(value);
    std::memcpy(out.data() + i * sizeof(Stored), &s, sizeof(Stored));
  }
}

template <class T>
void reduce_as(const std::vector<Bytes>& inputs, ncclRedOp_t op, Bytes& out) {
  reduce<T>(
      inputs, op, out, [](T x) { return x; }, [](T x) { return x; });
}

template <class Format>
void reduce_half(const std::vector<Bytes>& inputs, ncclRedOp_t op, Bytes& out) {
  reduce<std::uint16_t>(
      inputs, op, out, [](std::uint16_t x) { return Format::value_of(x); },
      [](float x) { return Format::rounded(double(x)); });
}

Bytes reduced(const std::vector<Bytes>& inputs, ncclDataType_t type, ncclRedOp_t op) {
  Bytes out(inputs[0].size());
  switch (type) {
    case ncclInt8:
      reduce_as<std::int8_t>(inputs, op, out);
      break;
    case ncclUint8:
      reduce_as<std::uint8_t>(inputs, op, out);
      break;
    case ncclInt32:
      reduce_as<std::int32_t>(inputs, op, out);
      break;
    case ncclUint32:
      reduce_as<std::uint32_t>(inputs, op, out);
      break;
    case ncclInt64:
      reduce_as<std::int64_t>(inputs, op, out);
      break;
    case ncclUint64:
      reduce_as<std::uint64_t>(inputs, op, out);
      break;
    case ncclFloat16:
      reduce_half<half_detail::Half>(inputs, op, out);
      break;
    case ncclBfloat16:
      reduce_half<half_detail::Bfloat16>(inputs, op, out);
      break;
    case ncclFloat64:
      reduce_as<double>(inputs, op, out);
      break;
    default:
      reduce_as<float>(inputs, op, out);
  }
  return out;
}

// ---------------------------------------------------------------- doing what all ranks have asked for

/// A rank's part of an operation.
struct Part {
  ncclComm* comm;
  Operation operation;

  std::size_t element() const { return bytes_of(operation.type); }
  std::int64_t ranks() const { return std::int64_t(comm->clique->ranks.size()); }
  bool is_root() const { return comm->rank == operation.root; }
  bool gives() const { return operation.kind != Kind::receive && (operation.kind != Kind::broadcast || is_root()); }
  bool gets() const { return operation.kind != Kind::send && (operation.kind != Kind::reduce || is_root()); }
  Region region(bool many) const {
    return library::vector(std::int64_t(operation.count) * (many ? ranks() : 1), 1, element());
  }
  Region input() const { return region(operation.kind == Kind::reduce_scatter); }
  Region output() const { return region(operation.kind == Kind::all_gather); }
  std::size_t input_bytes() const { return std::size_t(input().extent()) * element(); }
  std::size_t output_bytes() const { return std::size_t(output().extent()) * element(); }
  /// Whether this part gets elements that the other one gives.
  bool needs(const Part& other) const { return gets() && other.gives(); }

  /// Its input is the output, or the place in it that NCCL's manual names.
  bool is_in_place() const {
    const auto* in = static_cast<const unsigned char*>(operation.send);
    const auto* out = static_cast<const unsigned char*>(operation.receive);
    const std::size_t mine = std::size_t(comm->rank) * operation.count * element();
    if (operation.kind == Kind::all_gather) return in == out + mine;
    if (operation.kind == Kind::reduce_scatter) return out == in + mine;
    return in == out;
  }
};

/// Asks for the part in its stream, looks at its memory, and copies its input into `given`.
ncclResult_t begin(const Part& part, Bytes& given) {
  const Operation& o = part.operation;
  Call call(o.name, o.stream, o.site);
  if (!call.ready()) return ncclUnhandledCudaError;
  if (part.gives() && !call.readable("sendbuff", o.send, part.input())) return ncclInternalError;
  if (part.gets() && !call.fits("recvbuff", o.receive, part.output())) return ncclInternalError;
  if (part.gives() && part.gets() && !part.is_in_place() &&
      !call.apart("recvbuff", o.receive, part.output(), "sendbuff", o.send, part.input()))
    return ncclInternalError;
  if (part.gives()) {
    const auto* bytes = static_cast<const unsigned char*>(o.send);
    given.assign(bytes, bytes + part.input_bytes());
  }
  if (part.gets()) call.wrote(o.receive, part.output());
  call.done(part.comm);
  return ncclSuccess;
}

/// What a rank gets of what all have given.
Bytes result_for(const Part& part, const std::vector<Bytes>& given, const Bytes& sum) {
  const std::size_t bytes = part.output_bytes();
  switch (part.operation.kind) {
    case Kind::all_gather: {
      Bytes all;
      for (const Bytes& one : given) all.insert(all.end(), one.begin(), one.end());
      return all;
    }
    case Kind::reduce_scatter: {
      const auto mine = sum.begin() + std::ptrdiff_t(std::size_t(part.comm->rank) * bytes);
      return {mine, mine + std::ptrdiff_t(bytes)};
    }
    case Kind::broadcast:
      return given[std::size_t(part.operation.root)];
    default:
      return sum;
  }
}

/// `parts` in the order of the ranks; of a send, the sender's and then the receiver's.
ncclResult_t perform(const std::vector<Part>& parts) {
  std::vector<order::Clock> before;
  for (const Part& part : parts) {
    const OnDevice here(part.comm->device);
    before.push_back(order::record(order_of(part.operation.stream)));
  }
  std::vector<Bytes> given(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const OnDevice here(parts[i].comm->device);
    for (std::size_t other = 0; other < parts.size(); ++other)
      if (other != i && parts[i].needs(parts[other])) order::wait(order_of(parts[i].operation.stream), before[other]);
    if (const ncclResult_t r = begin(parts[i], given[i]); r != ncclSuccess) return r;
  }
  if (launches_only) return ncclSuccess;
  const memory::DeviceMemoryOpen open;
  const Operation& first = parts[0].operation;
  if (first.kind == Kind::send) {
    if (!given[0].empty()) std::memcpy(parts[1].operation.receive, given[0].data(), given[0].size());
    return ncclSuccess;
  }
  const bool adds_up =
      first.kind == Kind::all_reduce || first.kind == Kind::reduce || first.kind == Kind::reduce_scatter;
  const Bytes sum = adds_up ? reduced(given, first.type, first.op) : Bytes{};
  for (const Part& part : parts) {
    if (!part.gets()) continue;
    const Bytes got = result_for(part, given, sum);
    if (!got.empty()) std::memcpy(part.operation.receive, got.data(), got.size());
  }
  return ncclSuccess;
}

std::string asked(const ncclComm& comm, const Operation& o) {
  std::string text = "rank " + std::to_string(comm.rank) + " calls " + o.name + " with " + std::to_string(o.count) +
                     " " + name_of(o.type);
  if (o.kind == Kind::all_reduce || o.kind == Kind::reduce || o.kind == Kind::reduce_scatter)
    text += std::string(", ") + name_of(o.op);
  if (o.kind == Kind::reduce || o.kind == Kind::broadcast) text += ", root " + std::to_string(o.root);
  return text;
}

/// Whether two ranks have asked for the same, as they must.
bool agree(const Operation& a, const Operation& b) {
  if (a.is_between_two()) return a.count == b.count && a.type == b.type;
  const bool has_root = a.kind == Kind::reduce || a.kind == Kind::broadcast;
  const bool has_op = a.kind == Kind::all_reduce || a.kind == Kind::reduce || a.kind == Kind::reduce_scatter;
  return a.kind == b.kind && a.count == b.count && a.type == b.type && (!has_op || a.op == b.op) &&
         (!has_root || a.root == b.root);
}

/// They are together: done, or refused with a finding.
void meet(const std::vector<Part>& parts) {
  ncclResult_t outcome = ncclSuccess;
  for (const Part& part : parts) {
    if (agree(parts[0].operation, part.operation)) continue;
    report_finding("collective-mismatch",
                   asked(*part.comm, part.operation) + ", and " + asked(*parts[0].comm, parts[0].operation) +
                       ": both must ask for the same. On a GPU the program hangs, or memory is overrun",
                   part.operation.site);
    outcome = ncclInternalError;
    break;
  }
  if (outcome == ncclSuccess) outcome = perform(parts);
  for (const Part& part : parts) {
    results()[part.operation.serial] = outcome;
    if (outcome != ncclSuccess) part.comm->error = outcome;
  }
  change().notify_all();
}

/// The first operation of that kind with `rank` that a rank has asked for before its next collective one; its end if there is none.
std::deque<Operation>::iterator partner(ncclComm& of, Kind kind, int rank) {
  auto o = of.waiting.begin();
  for (; o != of.waiting.end() && o->is_between_two(); ++o)
    if (o->kind == kind && o->root == rank) return o;
  return of.waiting.end();
}

bool meet_once_between_two(const Clique& clique) {
  for (ncclComm* sender : clique.ranks) {
    for (ncclComm* receiver : clique.ranks) {
      if (sender == nullptr || receiver == nullptr) continue;
      const auto send = partner(*sender, Kind::send, receiver->rank);
      if (send == sender->waiting.end()) continue;
      const auto receive = partner(*receiver, Kind::receive, sender->rank);
      if (receive == receiver->waiting.end()) continue;
      const std::vector<Part> parts{{sender, *send}, {receiver, *receive}};
      std::erase_if(sender->waiting, [&](const Operation& o) { return o.serial == parts[0].operation.serial; });
      std::erase_if(receiver->waiting, [&](const Operation& o) { return o.serial == parts[1].operation.serial; });
      meet(parts);
      return true;
    }
  }
  return false;
}

bool meet_once_of_all(const Clique& clique) {
  std::vector<Part> parts;
  for (ncclComm* comm : clique.ranks) {
    if (comm == nullptr || comm->waiting.empty() || comm->waiting.front().is_between_two()) return false;
    parts.push_back({comm, comm->waiting.front()});
  }
  for (ncclComm* comm : clique.ranks) comm->waiting.pop_front();
  meet(parts);
  return true;
}

// ---------------------------------------------------------------- asking

std::string missing_ranks(const Clique& clique, const Operation& o) {
  if (o.is_between_two()) return "rank " + std::to_string(o.root);
  std::string text;
  int missing = 0;
  for (std::size_t r = 0; r < clique.ranks.size(); ++r) {
    if (clique.ranks[r] && !clique.ranks[r]->waiting.empty()) continue;
    text += (missing++ == 0 ? "" : ", ") + std::to_string(r);
  }
  if (missing == 0) return "others, which have called something else first";
  return (missing == 1 ? "rank " : "ranks ") + text;
}

constexpr const char* kGroupThem =
    "; a thread that calls for several ranks calls for all of them between ncclGroupStart() and ncclGroupEnd()";

/// What was asked for and did not come about is given up.
void give_up(ncclComm& comm, const Operation& o) {
  report_finding("collective-missing",
                 std::string(o.name) + " of rank " + std::to_string(comm.rank) + " waits for " +
                     missing_ranks(*comm.clique, o) + ", in vain: on a GPU the program hangs" + kGroupThem,
                 o.site);
  std::erase_if(comm.waiting, [&](const Operation& other) { return other.serial == o.serial; });
  comm.error = ncclInternalError;
}

/// Sends and receives of one group are done at the same time: what one receives into, no other may use.
bool overlaps_in_group(const std::vector<std::pair<ncclComm*, Operation>>& operations) {
  const auto range = [](const Operation& o) {
    const auto begin =
        reinterpret_cast<std::uintptr_t>(o.kind == Kind::receive ? o.receive : const_cast<void*>(o.send));
    return std::pair{begin, begin + o.count * bytes_of(o.type)};
  };
  for (const auto& [comm, o] : operations) {
    for (const auto& [other_comm, other] : operations) {
      if (o.kind != Kind::receive || !other.is_between_two() || &o == &other || comm != other_comm) continue;
      const auto [begin, end] = range(o);
      const auto [other_begin, other_end] = range(other);
      if (begin >= other_end || other_begin >= end) continue;
      report_finding("overlap",
                     std::string("ncclRecv: recvbuff shares memory with the buffer of the ") + other.name +
                         " in the same group, and both are done at the same time",
                     o.site);
      return true;
    }
  }
  return false;
}

ncclResult_t ask(Lock& lock, std::vector<std::pair<ncclComm*, Operation>> operations) {
  if (overlaps_in_group(operations)) return ncclInternalError;
  for (const auto& [comm, o] : operations)
    if (!exists(comm)) return ncclInvalidArgument;  // destroyed within the group
  for (auto& [comm, o] : operations) {
    o.serial = ++serials;
    comm->waiting.push_back(o);
  }
  for (const auto& [comm, o] : operations)
    while (meet_once_between_two(*comm->clique) || meet_once_of_all(*comm->clique)) {
    }
  ncclResult_t outcome = ncclSuccess;
  for (const auto& [comm, o] : operations) {
    const auto over = [&, serial = o.serial] { return results().count(serial) != 0; };
    if (!come(lock, over)) give_up(*comm, o), results()[o.serial] = ncclInternalError;
    const auto mine = results().extract(o.serial);
    if (outcome == ncclSuccess) outcome = mine.mapped();
  }
  return outcome;
}

/// The body of all operations.
ncclResult_t call(ncclComm* comm, Operation o) {
  Lock lock(device_mutex());
  if (!exists(comm)) return result(ncclInvalidArgument);
  const int ranks = int(comm->clique->ranks.size());
  if (o.type < 0 || o.type >= ncclNumTypes || o.op < 0 || o.op >= ncclNumOps || o.root < 0 || o.root >= ranks)
    return result(ncclInvalidArgument);
  const OnDevice here(comm->device);
  if (!is_stream(o.stream) || device_of(o.stream) != comm->device) return result(ncclUnhandledCudaError);
  if (group.depth > 0) {
    group.operations.emplace_back(comm, o);
    return ncclSuccess;
  }
  return result(ask(lock, {{comm, o}}));
}

// ---------------------------------------------------------------- ranks

/// The new communicator of a rank on the current device; null where another rank of it is on this device.
ncclComm* join(const std::shared_ptr<Clique>& clique, int rank, int device) {
  for (const ncclComm* other : clique->ranks)
    if (other && other->device == device) return nullptr;
  communicators().push_back(std::make_unique<ncclComm>(ncclComm{clique, rank, device, {}, ncclSuccess}));
  clique->ranks[std::size_t(rank)] = communicators().back().get();
  ++clique->joined;
  change().notify_all();
  return communicators().back().get();
}

bool is_complete(const Clique& clique) { return clique.joined == int(clique.ranks.size()); }

ncclResult_t wait_for_ranks(Lock& lock, const std::shared_ptr<Clique>& clique, void* site) {
  if (come(lock, [&] { return is_complete(*clique); })) return ncclSuccess;
  report_finding("collective-missing",
                 "ncclCommInitRank waits for " + std::to_string(clique->ranks.size()) + " ranks, and " +
                     std::to_string(clique->joined) + " have come: on a GPU the program hangs" + kGroupThem,
                 site);
  return ncclInternalError;
}

void leave(ncclComm* comm) {
  comm->clique->ranks[std::size_t(comm->rank)] = nullptr;
  std::erase_if(group.operations, [=](const auto& asked) { return asked.first == comm; });
  std::erase_if(communicators(), [=](auto& owner) { return owner.get() == comm; });
}

}  // namespace
}  // namespace tilewise::sim

using namespace tilewise::sim;

// ---------------------------------------------------------------- versions and errors

ncclResult_t ncclGetVersion(int* version) {
  if (version == nullptr) return result(ncclInvalidArgument);
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t status) {
  switch (status) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "unknown result code";
  }
}

const char* ncclGetLastError(ncclComm_t) { return last_failure == ncclSuccess ? "" : ncclGetErrorString(last_failure); }

// ---------------------------------------------------------------- communicators

ncclResult_t ncclGetUniqueId(ncclUniqueId* uniqueId) {
  const Lock lock(device_mutex());
  if (uniqueId == nullptr) return result(ncclInvalidArgument);
  std::memset(uniqueId, 0, sizeof *uniqueId);
  const std::string text = "tilewise simulator " + std::to_string(++serials);
  std::memcpy(uniqueId->internal, text.data(), text.size());
  promised()[std::string(uniqueId->internal, sizeof uniqueId->internal)] = nullptr;
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank) {
  Lock lock(device_mutex());
  if (comm == nullptr || nranks < 1 || rank < 0 || rank >= nranks) return result(ncclInvalidArgument);
  const auto found = promised().find(std::string(commId.internal, sizeof commId.internal));
  if (found == promised().end()) {
    library::not_supported("ncclCommInitRank", "an id of another process: here all ranks are in one");
    return result(ncclSystemError);
  }
  std::shared_ptr<Clique>& clique = found->second;
  if (!clique) clique = std::make_shared<Clique>(Clique{std::vector<ncclComm*>(std::size_t(nranks)), 0});
  if (int(clique->ranks.size()) != nranks || clique->ranks[std::size_t(rank)]) return result(ncclInvalidUsage);
  *comm = join(clique, rank, current_device());
  if (*comm == nullptr) return result(ncclInvalidUsage);
  if (group.depth > 0) {
    group.joins.emplace_back(clique, TILEWISE_CALLER);
    return ncclSuccess;
  }
  return result(wait_for_ranks(lock, clique, TILEWISE_CALLER));
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int ndev, const int* devlist) {
  const Lock lock(device_mutex());
  if (comms == nullptr || ndev < 1) return result(ncclInvalidArgument);
  std::vector<int> devices;
  for (int i = 0; i < ndev; ++i) {
    devices.push_back(devlist ? devlist[i] : i);
    if (devices.back() < 0 || devices.back() >= device_count()) return result(ncclUnhandledCudaError);
    if (std::count(devices.begin(), devices.end(), devices.back()) > 1) return result(ncclInvalidUsage);
  }
  const auto clique = std::make_shared<Clique>(Clique{std::vector<ncclComm*>(std::size_t(ndev)), 0});
  for (int i = 0; i < ndev; ++i) comms[i] = join(clique, i, devices[std::size_t(i)]);
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  const Lock lock(device_mutex());
  return exists(comm) ? ncclSuccess : result(ncclInvalidArgument);
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  const Lock lock(device_mutex());
  if (comm == nullptr) return ncclSuccess;
  if (!exists(comm)) return result(ncclInvalidArgument);
  leave(comm);
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  const Lock lock(device_mutex());
  if (comm == nullptr) return ncclSuccess;
  if (!exists(comm)) return result(ncclInvalidArgument);
  for (ncclComm* rank : comm->clique->ranks) {
    if (rank == nullptr) continue;
    for (const Operation& o : rank->waiting) results()[o.serial] = ncclRemoteError;
    if (!rank->waiting.empty()) rank->error = ncclRemoteError;
    rank->waiting.clear();
  }
  leave(comm);
  change().notify_all();
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  const Lock lock(device_mutex());
  if (!exists(comm) || error == nullptr) return result(ncclInvalidArgument);
  *error = comm->error;
  return ncclSuccess;
}

namespace {

template <class Value>
ncclResult_t answer(ncclComm_t comm, int* to, Value value) {
  const Lock lock(device_mutex());
  if (!exists(comm) || to == nullptr) return result(ncclInvalidArgument);
  *to = int(value(*comm));
  return ncclSuccess;
}

}  // namespace

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  return answer(comm, count, [](const ncclComm& c) { return c.clique->ranks.size(); });
}
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  return answer(comm, device, [](const ncclComm& c) { return c.device; });
}
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  return answer(comm, rank, [](const ncclComm& c) { return c.rank; });
}

// ---------------------------------------------------------------- operations

ncclResult_t ncclReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                        int root, ncclComm_t comm, cudaStream_t stream) {
  return call(comm,
              {Kind::reduce, sendbuff, recvbuff, count, datatype, op, root, stream, "ncclReduce", TILEWISE_CALLER, 0});
}

ncclResult_t ncclBcast(void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  return call(comm,
              {Kind::broadcast, buff, buff, count, datatype, ncclSum, root, stream, "ncclBcast", TILEWISE_CALLER, 0});
}

ncclResult_t ncclBroadcast(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return call(comm, {Kind::broadcast, sendbuff, recvbuff, count, datatype, ncclSum, root, stream, "ncclBroadcast",
                     TILEWISE_CALLER, 0});
}

ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return call(comm, {Kind::all_reduce, sendbuff, recvbuff, count, datatype, op, 0, stream, "ncclAllReduce",
                     TILEWISE_CALLER, 0});
}

ncclResult_t ncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return call(comm, {Kind::reduce_scatter, sendbuff, recvbuff, recvcount, datatype, op, 0, stream, "ncclReduceScatter",
                     TILEWISE_CALLER, 0});
}

ncclResult_t ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                           ncclComm_t comm, cudaStream_t stream) {
  return call(comm, {Kind::all_gather, sendbuff, recvbuff, sendcount, datatype, ncclSum, 0, stream, "ncclAllGather",
                     TILEWISE_CALLER, 0});
}

ncclResult_t ncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return call(comm,
              {Kind::send, sendbuff, nullptr, count, datatype, ncclSum, peer, stream, "ncclSend", TILEWISE_CALLER, 0});
}

ncclResult_t ncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return call(
      comm, {Kind::receive, nullptr, recvbuff, count, datatype, ncclSum, peer, stream, "ncclRecv", TILEWISE_CALLER, 0});
}

// ---------------------------------------------------------------- groups

ncclResult_t ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  Lock lock(device_mutex());
  if (group.depth == 0) return result(ncclInvalidArgument);
  if (--group.depth > 0) return ncclSuccess;
  const Group now = std::exchange(group, Group{});
  if (now.error != ncclSuccess) return now.error;
  for (const auto& [clique, site] : now.joins)
    if (const ncclResult_t r = wait_for_ranks(lock, clique, site); r != ncclSuccess) return result(r);
  return result(ask(lock, now.operations));
}
