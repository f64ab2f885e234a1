#include "sandbox.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#include "cage.hpp"
#include "enter_cage.hpp"
#include "harness.hpp"

#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#if defined(__linux__) && defined(__x86_64__)
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstddef>
#define TILEWISE_SECCOMP 1
#endif

namespace tilewise::grader {
namespace {

using Clock = std::chrono::steady_clock;

/// The same descriptor above those that a child gets.
int moved_up(int fd) {
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, 10);
  close(fd);
  return high;
}

/// A file without a name; in memory where there are such files: a full disk is no student's fault.
class ScratchFile {
 public:
  ScratchFile() : fd_(make()) {
    if (fd_ < 0) throw std::runtime_error(std::string("cannot make a temporary file: ") + std::strerror(errno));
    fd_ = moved_up(fd_);
  }
  ~ScratchFile() { close(fd_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  int fd() const { return fd_; }

  void resize(std::size_t bytes) {
    if (ftruncate(fd_, static_cast<off_t>(bytes)) != 0) throw std::runtime_error("cannot write a temporary file");
  }

  void fill(std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = write(fd_, text.data(), text.size());
      if (n <= 0) throw std::runtime_error("cannot write a temporary file");
      text.remove_prefix(static_cast<std::size_t>(n));
    }
    lseek(fd_, 0, SEEK_SET);
  }

  /// Of `bytes` bytes from `at` on, those that there are.
  std::string contents(std::size_t at = 0, std::size_t bytes = ~std::size_t{}) const {
    std::string text;
    char buffer[65536];
    while (bytes > 0) {
      const ssize_t n = pread(fd_, buffer, std::min(sizeof buffer, bytes), static_cast<off_t>(at));
      if (n <= 0) break;
      text.append(buffer, static_cast<std::size_t>(n));
      at += static_cast<std::size_t>(n), bytes -= static_cast<std::size_t>(n);
    }
    return text;
  }

 private:
  static int make() {
#ifdef __linux__
    return memfd_create("grade", MFD_CLOEXEC);
#else
    const char* folder = std::getenv("TMPDIR");
    std::string name = std::string(folder && *folder ? folder : "/tmp") + "/grade-XXXXXX";
    const int file = mkstemp(name.data());
    if (file >= 0) unlink(name.c_str());
    return file;
#endif
  }

  int fd_;
};

void limit(int what, rlim_t value) {
  const rlimit l{value, value};
  setrlimit(what, &l);
}

#ifdef TILEWISE_SECCOMP

#define REFUSE_WITH(error, name) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define REFUSE(name) REFUSE_WITH(EPERM, name)
// What a submission has no business with, on any machine: new processes, connections, signals to others, tracing,
// leaving the session. The flags of clone3 cannot be seen; the C library then calls clone.
#define REFUSED_ALWAYS                                                                                               \
  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),                                                  \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),                                                  \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),                                                           \
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),                                                \
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), /* the x32 numbers of the same calls */                 \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), REFUSE(fork), REFUSE(vfork), REFUSE(kill), REFUSE(tkill), \
      REFUSE(ptrace), REFUSE(process_vm_readv), REFUSE(process_vm_writev), REFUSE(setsid), REFUSE(setpgid),          \
      REFUSE(unshare), REFUSE(mount), REFUSE(io_uring_setup), REFUSE(pidfd_send_signal), REFUSE_WITH(ENOSYS, clone3)
// Goes on to the next rule unless `call` is called with all of `flags` among those of its first argument; then it is
// allowed. Called without them it fails.
#define ONLY_WITH_FLAGS(call, flags)                                                                                   \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 5),                                                               \
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, flags), \
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, flags, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),                  \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

/// False when they could not be refused.
bool refuse_system_calls(Cage cage) {
  if (cage != Cage::learner && cage != Cage::driver) return true;
  // The one way to make a process is vfork-like clone, by which the simulator starts addr2line.
  static sock_filter strict[] = {REFUSED_ALWAYS,
                                 REFUSE(socket),
                                 REFUSE(socketpair),
                                 REFUSE(bind),
                                 REFUSE(connect),
                                 REFUSE(prctl),
                                 ONLY_WITH_FLAGS(clone, 0x00004100),  // CLONE_VFORK | CLONE_VM
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  // CUDA's driver starts threads, names them, gives a name to a socket of this machine (without bind, cudaMalloc
  // returns cudaErrorOperatingSystem), and looks for NVIDIA's Multi-Process Service, which it must not find: the
  // socket's name would be one of many.
  static sock_filter driver[] = {REFUSED_ALWAYS,
                                 REFUSE_WITH(ENOENT, connect),
                                 ONLY_WITH_FLAGS(clone, 0x00010100),  // CLONE_THREAD | CLONE_VM
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 4),
                                 BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog program{sizeof strict / sizeof strict[0], strict};
  if (cage == Cage::driver) program = {sizeof driver / sizeof driver[0], driver};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#undef ONLY_WITH_FLAGS
#undef REFUSED_ALWAYS
#undef REFUSE
#undef REFUSE_WITH

#else
bool refuse_system_calls(Cage) { return true; }
#endif

bool is_submission(Cage cage) { return cage == Cage::submission || cage == Cage::open; }

void close_from(int first) {
#if defined(__linux__) && defined(SYS_close_range)
  if (syscall(SYS_close_range, first, ~0u, 0) == 0) return;
#endif
  const long most = sysconf(_SC_OPEN_MAX);
  for (int fd = first; fd < (most > 0 && most < 65536 ? most : 65536); ++fd) close(fd);
}

/// The children that run now.
struct Children {
  std::mutex mutex;
  std::map<pid_t, Ending> running;
};
Children& children() {
  static auto& all = *new Children;
  return all;
}

// A command and its environment in the form that execve wants. All memory is got before fork(): other threads of the
// grader may hold the allocator's lock.
class Program {
 public:
  Program(const std::vector<std::string>& command,
          const std::vector<std::pair<std::string, std::string>>& environment) {
    for (const auto& [name, value] : environment) variables_.push_back(name + "=" + value);
    for (const std::string& word : command) argv_.push_back(const_cast<char*>(word.c_str()));
    for (const std::string& v : variables_) envp_.push_back(const_cast<char*>(v.c_str()));
    argv_.push_back(nullptr);
    envp_.push_back(nullptr);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Starts it in a session of its own. Descriptor 0 is /dev/null; 1 and 2 are `said`, or /dev/null for -1. A submission
  /// has descriptor 5, too.
  pid_t start(int said, int in, int out, const ChildLimits& limits, int questions = -1) {
    std::unique_lock lock(children().mutex);  // so that none is missed that has just started
    const pid_t child = limits.cage == Cage::submission ? fork_into_namespaces() : fork();
    if (child < 0) throw std::runtime_error(std::string("fork failed: ") + std::strerror(errno));
    if (child > 0) {
      children().running[child] = limits.ending;
      return child;
    }
    lock.release();
    setsid();
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, limits.ending == Ending::at_once ? SIGKILL : SIGTERM);
#endif
    sigset_t all;
    sigemptyset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    const int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(said < 0 ? null : said, 1);
    dup2(said < 0 ? null : said, 2);
    // All that the grader opens is above 10, but /dev/null just now.
    dup2(in, 3);
    dup2(out, 4);
    if (questions >= 0) dup2(questions, kQuestionDescriptor);
    close_from(questions >= 0 ? kQuestionDescriptor + 1 : 5);
    if (limits.cpu_seconds > 0) {
      limit(RLIMIT_CPU, static_cast<rlim_t>(limits.cpu_seconds));
      limit(RLIMIT_FSIZE, limits.file);
      limit(RLIMIT_CORE, 0);
      limit(RLIMIT_NOFILE, limits.open_files);
#ifdef __linux__
      if (limits.memory > 0)
        limit(RLIMIT_DATA, limits.memory);  // not RLIMIT_AS: the simulator reserves addresses that it never uses
      if (is_submission(limits.cage)) limit(RLIMIT_MEMLOCK, 0), limit(RLIMIT_MSGQUEUE, 0), limit(RLIMIT_NPROC, 0);
#endif
      if (!refuse_system_calls(limits.cage)) _exit(kNotCaged);
    }
    execve(argv_[0], argv_.data(), envp_.data());
    _exit(127);
  }

 private:
  std::vector<std::string> variables_;
  std::vector<char*> argv_, envp_;
};

/// Kills what is left of a child's process group, and gives its status.
int end_of(pid_t child, double* seconds = nullptr) {
  kill(-child, SIGKILL);
  int status = 0;
  rusage used{};
  while (wait4(child, &status, 0, &used) < 0 && errno == EINTR) {
  }
  const auto of = [](const timeval& t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); };
  if (seconds) *seconds = of(used.ru_utime) + of(used.ru_stime);
  const std::lock_guard lock(children().mutex);
  children().running.erase(child);
  return status;
}

}  // namespace

void end_all_children() {
  children().mutex.lock();  // for ever
  const auto end = Clock::now() + std::chrono::seconds(5);
  for (const auto& [child, ending] : children().running)
    kill(ending == Ending::by_itself ? child : -child, ending == Ending::by_itself ? SIGTERM : SIGKILL);
  for (const auto& [child, ending] : children().running) {
    siginfo_t info{};
    while (ending == Ending::by_itself && Clock::now() < end &&
           waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill(-child, SIGKILL);
  }
}

bool refuses_system_calls() {
#ifdef TILEWISE_SECCOMP
  return true;
#else
  return false;
#endif
}

std::string signal_text(int number) {
  switch (number) {
    case SIGSEGV:
      return "it crashed (segmentation fault: host code touched memory that is not its own)";
    case SIGABRT:
      return "it aborted";
    case SIGFPE:
      return "it divided by zero (an integer)";
    case SIGBUS:
      return "it crashed (bus error)";
    case SIGILL:
      return "it crashed (illegal instruction)";
    case SIGSYS:
      return "it made a system call that is not allowed";
    default:
      return fmt::format("it was killed by signal {}", number);
  }
}

namespace {

/// Both ends of a connection, above the descriptors that children get.
std::pair<int, int> connected() {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) throw std::runtime_error("cannot make a socket");
  return {moved_up(pair[0]), moved_up(pair[1])};
}

/// What a submission asks while it runs. It may ask anything; what is answered, `answer` decides.
class Questions {
 public:
  explicit Questions(const ChildLimits& limits) : limits_(limits) {
    if (is_submission(limits.cage)) std::tie(ours_, theirs_) = connected();
  }
  ~Questions() { end(); }
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;

  int theirs() const { return theirs_; }
  /// Once the child has its end.
  void begin() {
    if (ours_ < 0) return;
    close(theirs_);
    theirs_ = -1;
    // Who asks and doesn't read the answer is not waited for.
    const timeval patience{2, 0};
    setsockopt(ours_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  }

  /// Waits for a question, and answers it; for so long at most, and no longer than until the child ends.
  void wait(std::chrono::microseconds time) {
    if (ours_ < 0) return std::this_thread::sleep_for(time);
    pollfd p{ours_, POLLIN, 0};
    if (poll(&p, 1, static_cast<int>(time.count() / 1000) + 1) <= 0) return;
    char buffer[4096];
    const ssize_t n = recv(ours_, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n <= 0) return end();
    asked_.append(buffer, static_cast<std::size_t>(n));
    for (std::size_t line; (line = asked_.find('\n')) != std::string::npos; asked_.erase(0, line + 1)) {
      const std::string answer = limits_.answer ? limits_.answer(asked_.substr(0, line)) : "";
      const auto bytes = static_cast<std::uint32_t>(answer.size());
      if (!send({reinterpret_cast<const char*>(&bytes), sizeof bytes}) || !send(answer)) return end();
    }
    if (asked_.size() > kLongest) end();
  }

 private:
  static constexpr std::size_t kLongest = 64 << 10;

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
#ifdef MSG_NOSIGNAL
      const ssize_t n = ::send(ours_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
#else
      const ssize_t n = ::send(ours_, bytes.data(), bytes.size(), 0);
#endif
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

  void end() {
    for (int* fd : {&ours_, &theirs_})
      if (*fd >= 0) close(std::exchange(*fd, -1));
  }

  const ChildLimits& limits_;
  int ours_ = -1, theirs_ = -1;
  std::string asked_;
};

/// What a caged program reads before the request.
std::string cage_header(const ChildLimits& limits) {
  const std::string& filter = limits.cage == Cage::submission ? system_call_filter() : std::string();
  const CageHeader header{static_cast<std::uint32_t>(filter.size() / 8), static_cast<std::uint32_t>(limits.reply)};
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + filter;
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& command,
                      const std::vector<std::pair<std::string, std::string>>& environment, const std::string& request,
                      const ChildLimits& limits) {
  const bool submission = is_submission(limits.cage);
  ScratchFile in, out, said;
  in.fill(submission ? cage_header(limits) + request : request);
  if (submission) out.resize(limits.reply);
  Questions questions(limits);
  const pid_t child = Program(command, environment).start(said.fd(), in.fd(), out.fd(), limits, questions.theirs());
  questions.begin();

  ChildResult result;
  const auto end = Clock::now() + std::chrono::seconds(limits.wall_seconds > 0 ? limits.wall_seconds : 600);
  auto pause = std::chrono::microseconds(500);
  for (;;) {
    siginfo_t info{};
    // WNOWAIT: the process group keeps its number until what is left of it has been killed.
    if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child) break;
    if (Clock::now() > end) {
      result.timed_out = true;
      break;
    }
    questions.wait(pause);
    if (pause < std::chrono::milliseconds(5)) pause += pause / 8;
  }
  double used = 0;
  const int status = end_of(child, &used);
  result.starved = result.timed_out && used < limits.cpu_seconds / 2.0;
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (result.signal == SIGXCPU || (result.signal == SIGKILL && !result.timed_out)) result.timed_out = true;
  if (result.signal == SIGXFSZ) result.too_much_output = true;
  result.output = said.contents();
  if (submission) {
    ReplyMemory sizes;
    const std::string head = out.contents(0, sizeof sizes);
    if (head.size() == sizeof sizes) std::memcpy(&sizes, head.data(), sizeof sizes);
    result.reply = out.contents(sizeof sizes, std::min<std::size_t>(sizes.reply_bytes, limits.reply));
    result.report = out.contents(sizeof sizes + std::min<std::size_t>(sizes.reply_bytes, limits.reply),
                                 std::min<std::size_t>(sizes.report_bytes, limits.reply));
  } else {
    result.reply = out.contents();
  }
  if (limits.cpu_seconds > 0 &&
      (result.output.size() >= limits.file || (!submission && result.reply.size() >= limits.file)))
    result.too_much_output = true;
  return result;
}

Conversation::Conversation(const std::vector<std::string>& command,
                           const std::vector<std::pair<std::string, std::string>>& environment,
                           const ChildLimits& limits) {
  int theirs = -1;
  std::tie(socket_, theirs) = connected();
#ifdef SO_NOSIGPIPE
  const int yes = 1;
  setsockopt(socket_, SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes);
#endif
  fcntl(socket_, F_SETFL, O_NONBLOCK);
  child_ = Program(command, environment).start(-1, theirs, theirs, limits);
  close(theirs);
}

Conversation::~Conversation() {
  end_of(child_);
  close(socket_);
}

namespace {

/// Until `fd` is ready for `events`; false when that takes longer than until `end`.
bool ready(int fd, short events, Clock::time_point end) {
  pollfd p{fd, events, 0};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    const int n = poll(&p, 1, static_cast<int>(left) + 1);
    if (n > 0) return true;
    if (n < 0 && errno != EINTR) return false;
  }
}

Clock::time_point in_seconds(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

bool Conversation::send(std::string_view bytes, double seconds) {
  const auto end = in_seconds(seconds);
#ifdef MSG_NOSIGNAL
  const int flags = MSG_NOSIGNAL;
#else
  const int flags = 0;
#endif
  while (!bytes.empty()) {
    if (!ready(socket_, POLLOUT, end)) return false;
    const ssize_t n = ::send(socket_, bytes.data(), bytes.size(), flags);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool Conversation::receive(void* to, std::size_t bytes, double seconds) {
  const auto end = in_seconds(seconds);
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    if (!ready(socket_, POLLIN, end)) return false;
    const ssize_t n = recv(socket_, at, bytes, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) return false;
    at += n, bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace tilewise::grader
