#include "cage.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

#include "enter_cage.hpp"

#ifdef __linux__
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#ifdef TILEWISE_LIBSECCOMP
#include <seccomp.h>
#endif

namespace tilewise::grader {

#ifdef TILEWISE_LIBSECCOMP
namespace {

// Memory, the clock, what is open already, and the end of the program. Empty where the system has no such filters, as under an emulator.
std::string make_filter() {
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (filter == nullptr) throw std::runtime_error("libseccomp makes no filter");
  if (seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) != 0) {
    seccomp_release(filter);
    return {};
  }
  int failed = 0;
  for (const int call : {SCMP_SYS(read),
                         SCMP_SYS(readv),
                         SCMP_SYS(pread64),
                         SCMP_SYS(write),
                         SCMP_SYS(writev),
                         SCMP_SYS(close),
                         SCMP_SYS(fstat),
                         SCMP_SYS(lseek),
                         SCMP_SYS(brk),
                         SCMP_SYS(munmap),
                         SCMP_SYS(mremap),
                         SCMP_SYS(madvise),
                         SCMP_SYS(rt_sigaction),
                         SCMP_SYS(rt_sigprocmask),
                         SCMP_SYS(rt_sigreturn),
                         SCMP_SYS(sigaltstack),
                         SCMP_SYS(futex),
                         SCMP_SYS(sched_yield),
                         SCMP_SYS(restart_syscall),
                         SCMP_SYS(sched_getaffinity),
                         SCMP_SYS(clock_gettime),
                         SCMP_SYS(clock_getres),
                         SCMP_SYS(gettimeofday),
                         SCMP_SYS(time),
                         SCMP_SYS(clock_nanosleep),
                         SCMP_SYS(nanosleep),
                         SCMP_SYS(getrusage),
                         SCMP_SYS(getrandom),
                         SCMP_SYS(getpid),
                         SCMP_SYS(gettid),
                         SCMP_SYS(exit),
                         SCMP_SYS(exit_group)})
    failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
  // Memory of its own that nothing is executed in: no other process sees it, and it counts against the limit.
  failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
                             SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_SHARED | MAP_PRIVATE, MAP_PRIVATE));
  failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  // abort() and raise() send signals to the process itself.
  failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                             SCMP_A0(SCMP_CMP_MASKED_EQ, 0xffffffff, kOwnProcess));
  // Limits can be asked for; is it a terminal? No.
  failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, SCMP_A2(SCMP_CMP_EQ, 0));
  failed |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOTTY), SCMP_SYS(ioctl), 0);

  std::string instructions;
  const int file = memfd_create("filter", MFD_CLOEXEC);
  if (file < 0 || failed != 0 || seccomp_export_bpf(filter, file) != 0)
    throw std::runtime_error("libseccomp cannot make the filter of system calls");
  char buffer[4096];
  off_t at = 0;
  for (ssize_t n; (n = pread(file, buffer, sizeof buffer, at)) > 0; at += n)
    instructions.append(buffer, static_cast<std::size_t>(n));
  close(file);
  seccomp_release(filter);
  return instructions;
}

}  // namespace

const std::string& system_call_filter() {
  static const std::string filter = make_filter();
  return filter;
}
#else
const std::string& system_call_filter() {
  static const std::string none;
  return none;
}
#endif

#ifdef __linux__
namespace {

constexpr int kNamespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC;

/// Of a process that does nothing but hold the namespaces; -1: there are none.
int holder = -1;

/// A number that a child leaves for its parent.
class Shared {
 public:
  Shared() : at_(mmap(nullptr, sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (at_ == MAP_FAILED) throw std::runtime_error("out of memory");
    *number() = -1;
  }
  ~Shared() { munmap(at_, sizeof(pid_t)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  volatile pid_t* number() { return static_cast<pid_t*>(at_); }

 private:
  void* at_;
};

/// A child of the caller's parent. In a namespace of processes that a process has entered are only its children.
pid_t fork_for_parent() { return static_cast<pid_t>(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)); }

void wait_for(pid_t child) {
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

/// All that is mounted, for reading only. Where that's refused, system calls and Landlock refuse files just as well.
void mount_for_reading() {
  const std::uint64_t attributes[4] = {1 | 2, 0, std::uint64_t{1} << 18, 0};  // read-only, no setuid; private
  syscall(442 /* mount_setattr */, -1, "/", 0x8000 /* AT_RECURSIVE */, attributes, sizeof attributes);
}

/// Ends with the grader: nobody else has the other end of this pipe open. A signal at the parent's death alone would be too
/// late where the grader has ended before it was asked for.
[[noreturn]] void hold(int pipe_from_grader) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setsid();
  for (int fd = 0; fd < 1024; ++fd)
    if (fd != pipe_from_grader) close(fd);
  char none = 0;
  while (read(pipe_from_grader, &none, 1) < 0 && errno == EINTR) {
  }
  _exit(0);
}

void make_namespaces() {
  Shared pid;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  const pid_t first = fork();
  if (first < 0) return;
  if (first == 0) {
    if (unshare(kNamespaces) != 0) _exit(1);
    mount_for_reading();
    const pid_t second = fork_for_parent();
    if (second == 0) hold(ends[0]);
    *pid.number() = second;
    _exit(0);
  }
  wait_for(first);
  close(ends[0]);  // the other end stays open as long as the grader lives
  if (*pid.number() <= 0) return;
  holder = static_cast<int>(syscall(SYS_pidfd_open, *pid.number(), 0));
}

}  // namespace

void prepare_cage() {
  if (holder < 0) make_namespaces();  // first: a process that hides its memory cannot be followed into namespaces
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

pid_t fork_into_namespaces() {
  if (holder < 0) return fork();
  Shared pid;
  const pid_t first = fork();
  if (first < 0) throw std::runtime_error("fork failed");
  if (first == 0) {
    // setns() with a process's descriptor is of Linux 5.8.
    if (setns(holder, kNamespaces) != 0) _exit(1);
    const pid_t second = fork_for_parent();
    if (second == 0) return 0;
    *pid.number() = second;
    _exit(0);
  }
  wait_for(first);
  if (*pid.number() <= 0) throw std::runtime_error("a process cannot be started in namespaces of its own");
  return *pid.number();
}
#else
void prepare_cage() {}
pid_t fork_into_namespaces() { return fork(); }
#endif

namespace {

/// 0: the cage doesn't hold.
int try_out() {
#ifdef __linux__
  std::string filter = system_call_filter();
  if (filter.empty()) return 0;
  pid_t child = -1;
  try {
    child = fork_into_namespaces();
  } catch (const std::exception&) {
    if (holder >= 0) close(holder);
    holder = -1;  // another way into them there isn't
    child = fork();
  }
  if (child == 0) {
    const Entered entered = enter_cage(filter.data(), filter.size() / 8);
    if (entered == Entered::no) _exit(0);
    if (open("/dev/null", O_RDONLY) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0) _exit(0);
    _exit(entered == Entered::files_refused_too ? 2 : 1);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
#else
  return 0;
#endif
}

Isolation find_out() {
  const int entered = try_out();
  if (entered == 0) return {false, "not isolated: use a container"};
  std::string text = "only harmless system calls (seccomp)";
  if (entered == 2) text += ", no files (Landlock)";
#ifdef __linux__
  if (holder >= 0) text += ", namespaces of its own (users, mounts, processes, network, IPC)";
#endif
  return {true, text};
}

}  // namespace

const Isolation& isolation() {
  static const Isolation found = find_out();
  return found;
}

}  // namespace tilewise::grader
