#include "sandbox.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <thread>

#if defined(__linux__) && defined(__x86_64__)
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#define TILEWISE_SECCOMP 1
#endif

namespace tilewise::grader {
namespace {

using Clock = std::chrono::steady_clock;

/// A file without a name.
class ScratchFile {
 public:
  ScratchFile() {
    const char* folder = std::getenv("TMPDIR");
    std::string name = std::string(folder && *folder ? folder : "/tmp") + "/grade-XXXXXX";
    fd_ = mkstemp(name.data());
    if (fd_ < 0) throw std::runtime_error("cannot make a temporary file like " + name);
    unlink(name.c_str());
    // Above the descriptors that the child gets.
    const int high = fcntl(fd_, F_DUPFD_CLOEXEC, 10);
    close(fd_);
    fd_ = high;
  }
  ~ScratchFile() { close(fd_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  int fd() const { return fd_; }

  void fill(std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = write(fd_, text.data(), text.size());
      if (n <= 0) throw std::runtime_error("cannot write a temporary file");
      text.remove_prefix(static_cast<std::size_t>(n));
    }
    lseek(fd_, 0, SEEK_SET);
  }

  std::string contents() const {
    std::string text;
    char buffer[65536];
    off_t at = 0;
    for (ssize_t n; (n = pread(fd_, buffer, sizeof buffer, at)) > 0; at += n)
      text.append(buffer, static_cast<std::size_t>(n));
    return text;
  }

 private:
  int fd_;
};

void limit(int what, rlim_t value) {
  const rlimit l{value, value};
  setrlimit(what, &l);
}

#ifdef TILEWISE_SECCOMP

// What a submission has no business with fails with EPERM: new processes and threads, sockets, signals to others,
// tracing, leaving the session. The one exception is vfork-like clone, by which the simulator starts addr2line.
void refuse_system_calls() {
#define REFUSE(name) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),  // the x32 numbers of the same calls
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      REFUSE(fork),
      REFUSE(vfork),
      REFUSE(socket),
      REFUSE(socketpair),
      REFUSE(connect),
      REFUSE(bind),
      REFUSE(kill),
      REFUSE(tkill),
      REFUSE(ptrace),
      REFUSE(process_vm_readv),
      REFUSE(process_vm_writev),
      REFUSE(setsid),
      REFUSE(setpgid),
      REFUSE(prctl),
      REFUSE(unshare),
      REFUSE(mount),
      REFUSE(io_uring_setup),
      REFUSE(pidfd_send_signal),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K,
               SECCOMP_RET_ERRNO | ENOSYS),  // its flags cannot be seen; the C library then calls clone
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x00004100),  // CLONE_VFORK | CLONE_VM
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x00004100, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
#undef REFUSE
  const sock_fprog program{sizeof filter / sizeof filter[0], filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#else
void refuse_system_calls() {}
#endif

}  // namespace

std::string isolation() {
#ifdef TILEWISE_SECCOMP
  return "no new processes, no network, no signals (seccomp)";
#else
  return "";
#endif
}

ChildResult run_child(const std::vector<std::string>& command,
                      const std::vector<std::pair<std::string, std::string>>& environment, const std::string& request,
                      const ChildLimits& limits) {
  ScratchFile in, out, said;
  in.fill(request);
  // All memory is got before fork(): other threads of the grader may hold the allocator's lock.
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  std::vector<char*> argv, envp;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& v : variables) envp.push_back(const_cast<char*>(v.c_str()));
  argv.push_back(nullptr);
  envp.push_back(nullptr);

  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    setsid();
    const int null = open("/dev/null", O_RDONLY);
    dup2(null, 0);
    dup2(said.fd(), 1);
    dup2(said.fd(), 2);
    dup2(in.fd(), 3);
    dup2(out.fd(), 4);
    for (int fd = 5; fd < 256; ++fd) close(fd);
    if (limits.cpu_seconds > 0) {
      limit(RLIMIT_CPU, static_cast<rlim_t>(limits.cpu_seconds));
      limit(RLIMIT_FSIZE, limits.file);
      limit(RLIMIT_CORE, 0);
      limit(RLIMIT_NOFILE, 64);
#ifdef __linux__
      limit(RLIMIT_DATA, limits.memory);  // not RLIMIT_AS: the simulator reserves addresses that it never uses
#endif
      if (limits.cage) refuse_system_calls();
    }
    execve(argv[0], argv.data(), envp.data());
    _exit(127);
  }

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
    std::this_thread::sleep_for(pause);
    if (pause < std::chrono::milliseconds(5)) pause += pause / 8;
  }
  kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (result.signal == SIGXCPU || (result.signal == SIGKILL && !result.timed_out)) result.timed_out = true;
  if (result.signal == SIGXFSZ) result.too_much_output = true;
  result.output = said.contents();
  result.reply = out.contents();
  if (limits.cpu_seconds > 0 && (result.output.size() >= limits.file || result.reply.size() >= limits.file))
    result.too_much_output = true;
  return result;
}

}  // namespace tilewise::grader
