// Faults: of kernels, and of host code that follows a pointer to where it has no memory.
#include <dlfcn.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/findings.hpp"
#include "base/memory/pages.hpp"
#include "base/memory/state.hpp"
#include "base/symbols.hpp"
#include "base/thread.hpp"

namespace tilewise::sim::memory {

namespace {

KernelFault kernel_fault = nullptr;
struct sigaction earlier_segv, earlier_bus;
std::uintptr_t host_stack = 0;  // an address of its first frames; 0: not known
bool host_faults_are_findings = false;

std::string describe_host_fault(std::uintptr_t address) {
  constexpr std::uintptr_t kMostStack = std::uintptr_t{256} << 20;
  if (address < host_stack && host_stack - address < kMostStack)
    return "host code's stack is full: its local arrays are too large or its recursion is too deep";
  if (address < 4096) return "host code follows a null pointer";
  char where[32];
  std::snprintf(where, sizeof where, "0x%llx", static_cast<unsigned long long>(address));
  return std::string("host code reads or writes address ") + where + ", where it has no memory";
}

[[noreturn]] void report_host_fault(std::uintptr_t address, void* site) {
  const void* const line = place_in_program(site ? static_cast<char*>(site) + 1 : nullptr);
  report_finding("host-fault", describe_host_fault(address), const_cast<void*>(line));
  std::exit(1);
}

/// Code of the program itself, which holds no lock of the C library.
bool in_main_program(const void* code) {
  Dl_info library, program;
  return dladdr(code, &library) != 0 && dladdr(reinterpret_cast<void*>(&install_fault_handler), &program) != 0 &&
         library.dli_fbase == program.dli_fbase;
}

/// Says where, and leaves it to the signal to end the program: a debugger and the exit code show what they always do.
void tell_host_fault(std::uintptr_t address, void* site) {
  if (site == nullptr || !in_main_program(site)) return;
  const void* const line = place_in_program(static_cast<char*>(site) + 1);
  if (line == nullptr) return;
  const std::string said = describe_site(line) + ": " + describe_host_fault(address) + "\n";
  std::fputs(said.c_str(), stderr);
}

/// `site`: after the instruction.
[[noreturn]] void divided_by_zero(void* site) {
  Finding f;
  f.code = "division-by-zero";
  f.message = in_kernel()
                  ? "this thread divides an integer by zero (/ or %): a GPU gives a meaningless number, here the "
                    "program ends"
                  : "host code divides an integer by zero (/ or %), which ends the program";
  f.site = site;
  if (in_kernel()) f.threads = describe_thread(*current_lane);
  observed_lane = nullptr;
  report_finding(std::move(f));
  std::exit(1);
}

/// An integer division by zero, which is a signal on x86-64.
void on_division(int signal_number, siginfo_t* info, void*) {
  if (info->si_code == FPE_INTDIV) divided_by_zero(static_cast<char*>(info->si_addr) + 1);
  signal(signal_number, SIG_DFL);  // happens again
}

/// A kernel has touched a page of memory that has addresses alone. False when it's something else.
bool give_page(std::uintptr_t address) {
  const Unobserved guard;
  State& s = state();
  if (s.pages_left == 0 || !device_arena.contains(address)) return false;
  if (--s.pages_left == 0) std::exit(1);
  const std::uintptr_t page = round_down(address, page_size());
  protect(page, page + page_size(), kOpen);
  return true;
}

/// Runs on its own stack. Looking up lines and exiting are not async-signal-safe. Nearly always the fault is the program's own plain load
/// or store, so that no lock of the C library is held; where the C library itself was given a device pointer, as by fwrite(), a lock may be
/// held, but not one that is needed here.
void on_fault(int signal_number, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  void* const site = interrupted_instruction(context);
  if (in_kernel() && give_page(address)) return;
  if (in_kernel() && kernel_fault != nullptr) kernel_fault(address, site);

  if (!in_kernel() && arena_of(address) != nullptr) {
    // Sites are return addresses, which lie after the instruction that they stand for.
    void* const after = site ? static_cast<char*>(site) + 1 : nullptr;
    if (device_arena.contains(address)) host_access(address, 0, const_cast<void*>(place_in_program(after)));
    report_finding("host-use-after-free", "host code used memory that is not allocated (" + describe(address) + ")",
                   after);
    std::exit(1);
  }
  if (!in_kernel() && host_faults_are_findings) report_host_fault(address, site);
  // Not ours: the fault happens again under the handler that was there before.
  const struct sigaction& earlier = signal_number == SIGBUS ? earlier_bus : earlier_segv;
  if (!in_kernel() && earlier.sa_handler == SIG_DFL) tell_host_fault(address, site);
  sigaction(signal_number, &earlier, nullptr);
}

}  // namespace

// AArch64 divides by zero without a word: there simcc puts a call in front of divisions (rewriter/divisions.hpp).
extern "C" __attribute__((visibility("default"))) void tilewise_divided_by_zero() {
  divided_by_zero(__builtin_return_address(0));
}

void set_kernel_fault(KernelFault handler) { kernel_fault = handler; }

void install_fault_handler() {
  static std::uint8_t* const stack = new std::uint8_t[std::size_t(256) << 10];
  stack_t alternative{};
  alternative.ss_sp = stack;
  alternative.ss_size = std::size_t(256) << 10;
  sigaltstack(&alternative, nullptr);

  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  struct sigaction before {};
  for (const int number : {SIGSEGV, SIGBUS}) {
    sigaction(number, &action, &before);
    const bool ours = (before.sa_flags & SA_SIGINFO) && before.sa_sigaction == on_fault;
    if (!ours) (number == SIGBUS ? earlier_bus : earlier_segv) = before;
  }
  sigaction(SIGFPE, nullptr, &before);
  if (before.sa_handler != SIG_DFL) return;  // the program's own, or ours
  action.sa_sigaction = on_division;
  sigaction(SIGFPE, &action, nullptr);
}

void report_host_faults() {
  const char here = 0;
  host_stack = reinterpret_cast<std::uintptr_t>(&here) + (std::uintptr_t{64} << 10);
  host_faults_are_findings = true;
  install_fault_handler();
}

}  // namespace tilewise::sim::memory
