// Enters the cage as a submission's program does, and then tries what a submission must not do. Prints a line for each
// call: "refused NAME" or "DONE NAME".
#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <vector>

#include "grader/enter_cage.hpp"

namespace {

using namespace tilewise::grader;

template <class T>
long word(T value) {
  return (long)value;
}

struct Attempt {
  const char* name;
  long number;
  std::vector<long> arguments;
};

const char* const kFile = "/etc/passwd";
char buffer[4096];

std::vector<Attempt> attempts() {
  const long file = word(kFile), memory = word(buffer), self = getpid(), other = getppid() > 0 ? getppid() : 1;
  static const char* const argv[] = {"/bin/sh", nullptr};
  static const rlimit limit{1, 1};
  return {
      {"openat to read", SYS_openat, {AT_FDCWD, file, O_RDONLY}},
      {"openat to write", SYS_openat, {AT_FDCWD, word("/tmp/tilewise-probe"), O_WRONLY | O_CREAT, 0600}},
      {"openat of the parent's memory", SYS_openat, {AT_FDCWD, word("/proc/self/mem"), O_RDWR}},
      {"openat of a folder", SYS_openat, {AT_FDCWD, word("/"), O_RDONLY | O_DIRECTORY}},
      {"openat2", SYS_openat2, {AT_FDCWD, file, memory, 24}},
      {"name_to_handle_at", SYS_name_to_handle_at, {AT_FDCWD, file, memory, memory, 0}},
      {"open_by_handle_at", SYS_open_by_handle_at, {AT_FDCWD, memory, 0}},
      {"newfstatat", SYS_newfstatat, {AT_FDCWD, file, memory, 0}},
      {"statx", SYS_statx, {AT_FDCWD, file, 0, 0, memory}},
      {"faccessat", SYS_faccessat, {AT_FDCWD, file, 0}},
      {"readlinkat", SYS_readlinkat, {AT_FDCWD, word("/proc/self/exe"), memory, 100}},
      {"getdents64", SYS_getdents64, {1, memory, 100}},
      {"unlinkat", SYS_unlinkat, {AT_FDCWD, word("/tmp/nothing"), 0}},
      {"mkdirat", SYS_mkdirat, {AT_FDCWD, word("/tmp/tilewise-probe"), 0700}},
      {"renameat2", SYS_renameat2, {AT_FDCWD, word("/tmp/a"), AT_FDCWD, word("/tmp/b"), 0}},
      {"linkat", SYS_linkat, {AT_FDCWD, file, AT_FDCWD, word("/tmp/tilewise-probe"), 0}},
      {"symlinkat", SYS_symlinkat, {file, AT_FDCWD, word("/tmp/tilewise-probe")}},
      {"fchmodat", SYS_fchmodat, {AT_FDCWD, word("/tmp"), 0777}},
      {"fchmod", SYS_fchmod, {1, 0777}},
      {"truncate", SYS_truncate, {word("/tmp/nothing"), 0}},
      {"ftruncate", SYS_ftruncate, {1, 0}},
      {"chdir", SYS_chdir, {word("/")}},
      {"chroot", SYS_chroot, {word("/")}},
      {"execve", SYS_execve, {word(argv[0]), word(argv), 0}},
      {"execveat", SYS_execveat, {AT_FDCWD, word(argv[0]), word(argv), 0, 0}},
      {"clone", SYS_clone, {SIGCHLD, 0, 0, 0, 0}},
      {"clone of a thread", SYS_clone, {CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0}},
      {"clone3", SYS_clone3, {memory, 88}},
#ifdef SYS_fork
      {"open", SYS_open, {file, O_RDONLY}},
      {"stat", SYS_stat, {file, memory}},
      {"fork", SYS_fork, {}},
      {"dup2", SYS_dup2, {1, 9}},
      {"pipe", SYS_pipe, {memory}},
      {"arch_prctl", SYS_arch_prctl, {0x1001, memory}},
#endif
      {"unshare", SYS_unshare, {CLONE_NEWUSER}},
      {"setns", SYS_setns, {1, 0}},
      {"socket", SYS_socket, {AF_INET, SOCK_STREAM, 0}},
      {"socketpair", SYS_socketpair, {AF_UNIX, SOCK_STREAM, 0, memory}},
      {"connect", SYS_connect, {1, memory, 16}},
      {"sendmsg", SYS_sendmsg, {1, memory, 0}},
      {"recvmsg", SYS_recvmsg, {1, memory, 0}},
      {"pipe2", SYS_pipe2, {memory, 0}},
      {"dup", SYS_dup, {1}},
      {"dup3", SYS_dup3, {1, 9, 0}},
      {"fcntl", SYS_fcntl, {1, F_DUPFD, 0}},
      {"ioctl", SYS_ioctl, {1, 0x5401, memory}},
      {"memfd_create", SYS_memfd_create, {word("x"), 0}},
      {"eventfd2", SYS_eventfd2, {0, 0}},
      {"epoll_create1", SYS_epoll_create1, {0}},
      {"inotify_init1", SYS_inotify_init1, {0}},
      {"io_uring_setup", SYS_io_uring_setup, {1, memory}},
      {"userfaultfd", SYS_userfaultfd, {0}},
      {"perf_event_open", SYS_perf_event_open, {memory, 0, -1, -1, 0}},
      {"bpf", SYS_bpf, {0, memory, 0}},
      {"kill", SYS_kill, {other, 0}},
      {"kill of itself", SYS_kill, {self, 0}},
      {"kill of all", SYS_kill, {-1, 0}},
      {"tkill", SYS_tkill, {other, 0}},
      {"tgkill of another", SYS_tgkill, {other, other, 0}},
      {"rt_sigqueueinfo", SYS_rt_sigqueueinfo, {other, 0, memory}},
      {"rt_tgsigqueueinfo", SYS_rt_tgsigqueueinfo, {other, other, 0, memory}},
      {"pidfd_open", SYS_pidfd_open, {other, 0}},
      {"ptrace", SYS_ptrace, {0, 0, 0, 0}},
      {"process_vm_readv", SYS_process_vm_readv, {other, memory, 1, memory, 1, 0}},
      {"process_vm_writev", SYS_process_vm_writev, {other, memory, 1, memory, 1, 0}},
      {"process_madvise", SYS_process_madvise, {1, memory, 1, 4, 0}},
      {"prctl", SYS_prctl, {PR_SET_DUMPABLE, 1, 0, 0, 0}},
      {"setrlimit", SYS_setrlimit, {RLIMIT_NOFILE, word(&limit)}},
      {"prlimit64", SYS_prlimit64, {0, RLIMIT_NOFILE, word(&limit), 0}},
      {"sched_setaffinity", SYS_sched_setaffinity, {0, 8, memory}},
      {"setpriority", SYS_setpriority, {0, 0, 5}},
      {"setuid", SYS_setuid, {65534}},
      {"capset", SYS_capset, {memory, memory}},
      {"setsid", SYS_setsid, {}},
      {"setpgid", SYS_setpgid, {0, 0}},
      {"personality", SYS_personality, {0xffffffff}},
      {"seccomp", SYS_seccomp, {1, 0, memory}},
      {"shmget", SYS_shmget, {0, 4096, 01600}},
      {"msgget", SYS_msgget, {0, 01600}},
      {"semget", SYS_semget, {0, 1, 01600}},
      {"mq_open", SYS_mq_open, {word("/x"), O_CREAT | O_RDWR, 0600, 0}},
      {"add_key", SYS_add_key, {word("user"), word("x"), memory, 1, -1}},
      {"mount", SYS_mount, {word("none"), word("/tmp"), word("tmpfs"), 0, 0}},
      {"umount2", SYS_umount2, {word("/tmp"), 0}},
      {"pivot_root", SYS_pivot_root, {word("/"), word("/")}},
      {"mmap of code", SYS_mmap, {0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0}},
      {"mmap of shared memory", SYS_mmap, {0, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0}},
      {"mprotect of code", SYS_mprotect, {memory & -4096, 4096, PROT_READ | PROT_WRITE | PROT_EXEC}},
      {"pkey_mprotect", SYS_pkey_mprotect, {memory & -4096, 4096, PROT_READ, -1}},
      {"sethostname", SYS_sethostname, {word("x"), 1}},
      {"getcwd", SYS_getcwd, {memory, 100}},
      {"sysinfo", SYS_sysinfo, {memory}},
      {"a call that there is not", 100000, {}},
  };
}

}  // namespace

int main() {
  CageHeader header;
  static sock_filter filter[1024];
  if (read(3, &header, sizeof header) != sizeof header || header.instructions > 1024 ||
      read(3, filter, 8 * header.instructions) != ssize_t(8 * header.instructions))
    return 3;
  const std::vector<Attempt> all = attempts();
  if (enter_cage(filter, header.instructions) == Entered::no) return kNotCaged;
  for (const Attempt& a : all) {
    long x[6] = {};
    for (std::size_t i = 0; i < a.arguments.size(); ++i) x[i] = a.arguments[i];
    errno = 0;
    const long result = syscall(a.number, x[0], x[1], x[2], x[3], x[4], x[5]);
    const bool refused = result == -1 && (errno == EPERM || (a.number == SYS_ioctl && errno == ENOTTY));
    std::printf("%s %s\n", refused ? "refused" : "DONE", a.name);
  }
  // What every program needs still works.
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::printf("%s\n", memory != MAP_FAILED && raise(0) == 0 ? "works" : "DONE for");
  int open = 0;
  for (int fd = 0; fd < 1024; ++fd) open += lseek(fd, 0, SEEK_CUR) >= 0 || errno != EBADF;
  std::printf("%d descriptors\n", open);
  return 0;
}
