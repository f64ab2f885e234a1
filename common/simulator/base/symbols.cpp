#include "base/symbols.hpp"

#include <ucontext.h>

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>
#include <unordered_map>

#if defined(__linux__)
#include <elf.h>
#include <link.h>
#elif defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

extern char** environ;

namespace tilewise::sim {
namespace {

struct Function {
  std::uintptr_t begin;
  std::uintptr_t end;
  std::string mangled;
};

// Set by ask_for_lines(), maybe before any constructor has run; used until the end.
int asked = -1;  // where lines are asked for
constinit std::string_view kept_image;
char kept_folder[4096];

// The file that the runtime was linked into, the program itself or a library (lesson 17's, which Python loads), and what must be
// added to an address in that file to get the address in memory.
struct Image {
  std::string path;
  std::uintptr_t bias = 0;
};

#if defined(__linux__)
Image find_image() {
  struct Search {
    Image image;
    bool is_first = true;
  } search;
  const auto look = [](dl_phdr_info* info, std::size_t, void* out) {
    auto& [image, is_first] = *static_cast<Search*>(out);
    const auto here = reinterpret_cast<std::uintptr_t>(&find_image);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& part = info->dlpi_phdr[i];
      const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
      if (part.p_type != PT_LOAD || here < begin || here >= begin + part.p_memsz) continue;
      image.bias = info->dlpi_addr;
      if (!is_first) image.path = info->dlpi_name;  // the first is the program, whose name is empty
      return 1;
    }
    is_first = false;
    return 0;
  };
  dl_iterate_phdr(look, &search);
  if (!search.image.path.empty()) return search.image;
  char buffer[4096];
  const ssize_t n = readlink("/proc/self/exe", buffer, sizeof buffer);
  if (n > 0) search.image.path.assign(buffer, static_cast<std::size_t>(n));
  return search.image;
}
#elif defined(__APPLE__)
Image find_image() {
  char buffer[4096];
  std::uint32_t size = sizeof buffer;
  return {_NSGetExecutablePath(buffer, &size) == 0 ? buffer : "",
          static_cast<std::uintptr_t>(_dyld_get_image_vmaddr_slide(0))};
}
#else
Image find_image() { return {}; }
#endif

std::string executable_path() { return find_image().path; }
std::uintptr_t load_bias() { return find_image().bias; }

#if defined(__linux__)
// dladdr() knows exported symbols only; kernels in anonymous namespaces are found in the file's own symbol table.
std::vector<Function> read_symbol_table() {
  std::vector<Function> functions;
  std::string read;
  if (kept_image.empty()) {
    std::ifstream file(executable_path(), std::ios::binary | std::ios::ate);
    read.resize(file ? static_cast<std::size_t>(file.tellg()) : 0);
    file.seekg(0).read(read.data(), static_cast<std::streamsize>(read.size()));
  }
  const std::string_view image = kept_image.empty() ? read : kept_image;
  ElfW(Ehdr) header;
  if (image.size() < sizeof header) return functions;
  std::memcpy(&header, image.data(), sizeof header);
  auto section = [&](std::size_t i) {
    ElfW(Shdr) s;
    std::memcpy(&s, image.data() + header.e_shoff + i * sizeof s, sizeof s);
    return s;
  };
  if (header.e_shoff + header.e_shnum * sizeof(ElfW(Shdr)) > image.size()) return functions;
  const std::uintptr_t bias = load_bias();
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const auto table = section(i);
    if (table.sh_type != SHT_SYMTAB) continue;
    const auto strings = section(table.sh_link);
    for (std::size_t k = 0; k < table.sh_size / sizeof(ElfW(Sym)); ++k) {
      ElfW(Sym) symbol;
      std::memcpy(&symbol, image.data() + table.sh_offset + k * sizeof symbol, sizeof symbol);
      if ((symbol.st_info & 0xf) != STT_FUNC || symbol.st_size == 0) continue;
      functions.push_back({bias + symbol.st_value, bias + symbol.st_value + symbol.st_size,
                           image.data() + strings.sh_offset + symbol.st_name});
    }
  }
  std::sort(functions.begin(), functions.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  return functions;
}
#endif

const Function* find_function(const void* pc) {
  const auto address = reinterpret_cast<std::uintptr_t>(pc);
#if defined(__linux__)
  static const auto& table = *new std::vector<Function>(read_symbol_table());
  auto after = std::upper_bound(table.begin(), table.end(), address,
                                [](std::uintptr_t a, const Function& f) { return a < f.begin; });
  if (after != table.begin() && address < std::prev(after)->end) return &*std::prev(after);
#endif
  static auto& exported = *new std::map<std::uintptr_t, Function>;
  Dl_info info;
  if (dladdr(pc, &info) && info.dli_sname) {
    const auto begin = reinterpret_cast<std::uintptr_t>(info.dli_saddr);
    return &exported.try_emplace(begin, Function{begin, address + 1, info.dli_sname}).first->second;
  }
  return nullptr;
}

std::string demangle(std::string name) {
  if (auto dot = name.find('.'); dot != std::string::npos) name.resize(dot);  // ".constprop.0" and kin
  if (!name.starts_with("_Z")) return name;  // extern "C": a kernel f isn't the type float
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 ? text : name;
  std::free(text);
  return out;
}

// Runs a tool and returns what it printed, or an empty string. (Why not by a function that simcc has, too: see simcc/processes.hpp.)
std::string output_of(std::vector<std::string> arguments) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
  posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1 /*O_WRONLY*/, 0);
  std::vector<char*> argv;
  for (auto& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const bool started = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  std::string text;
  char buffer[4096];
  if (started)
    for (ssize_t n; (n = read(pipe_ends[0], buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(n));
  close(pipe_ends[0]);
  if (started) waitpid(child, nullptr, 0);
  return text;
}

bool in_simulator_headers(const std::string& file) {
  return file.find("/simulator/include/") != std::string::npos ||
         file.find("/tilewise_simulator/") != std::string::npos || file.find("/tilewise_sim/") != std::string::npos ||
         file.find("/include/thrust/") != std::string::npos || file.find("/tilewise_thrust/") != std::string::npos;
}

SourceLine parse_location(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || text[0] == '?') return {};
  const int line = std::atoi(text.c_str() + colon + 1);  // stops at " (discriminator 2)"
  return line > 0 ? SourceLine{text.substr(0, colon), line} : SourceLine{};
}

// What has been looked up: of each address the line that messages name, and the lines of all inlined functions.
struct KnownLines {
  std::map<const void*, SourceLine> one;
  std::map<const void*, std::vector<SourceLine>> all;
};

KnownLines& known_lines() {
  static auto& lines = *new KnownLines;  // used by atexit handlers
  return lines;
}

// The lines of the functions that are inlined at one address, innermost first.
using Frames = std::vector<SourceLine>;

// Of those the first that isn't the simulator's own is what messages name.
void note(const void* pc, const Frames& frames) {
  SourceLine& named = known_lines().one[pc];
  bool is_theirs = false;
  for (const SourceLine& frame : frames) {
    known_lines().all[pc].push_back(frame);
    if (!is_theirs) named = frame;
    is_theirs = is_theirs || !in_simulator_headers(frame.file);
  }
}

std::string hexadecimal(std::uintptr_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

// The call that returns to `pc`: one byte before the instruction after it.
std::uintptr_t call_before(const void* pc) { return reinterpret_cast<std::uintptr_t>(pc) - 1; }

#if defined(__APPLE__)
// One question per address keeps the inlined frames of different addresses apart.
std::vector<Frames> look_up(const std::vector<const void*>& pcs) {
  const std::string base = hexadecimal(load_bias() + 0x100000000ull);
  std::vector<Frames> all;
  for (const void* pc : pcs) {
    std::istringstream lines(
        output_of({"atos", "-i", "-o", executable_path(), "-l", base, hexadecimal(call_before(pc))}));
    Frames& frames = all.emplace_back();
    for (std::string line; std::getline(lines, line);) {
      const auto open = line.rfind('('), close = line.rfind(')');
      if (open == std::string::npos || close == std::string::npos) continue;
      const SourceLine location = parse_location(line.substr(open + 1, close - open - 1));
      if (location.line != 0) frames.push_back(location);
    }
  }
  return all;
}
#else
// addr2line -a prints each address before its frames.
std::vector<Frames> look_up(const std::vector<const void*>& pcs) {
  const std::uintptr_t bias = load_bias();
  std::vector<std::string> command;
  if (!lines_are_asked_for()) command = {"addr2line", "-a", "-i", "-e", executable_path()};
  std::string question = "lines";
  for (const void* pc : pcs) {
    command.push_back(hexadecimal(call_before(pc) - bias));
    question += " " + command.back();
  }
  std::istringstream lines(lines_are_asked_for() ? answer_to(question) : output_of(command));
  std::vector<Frames> all;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0x")) {
      all.emplace_back();
    } else if (const SourceLine location = parse_location(line); location.line != 0 && !all.empty()) {
      all.back().push_back(location);
    }
  }
  return all;
}
#endif

}  // namespace

const void* function_start(const void* pc) {
  const Function* f = find_function(pc);
  return f ? reinterpret_cast<const void*>(f->begin) : pc;
}

std::string function_name(const void* pc) {
  if (const Function* f = find_function(pc)) return demangle(f->mangled);
  char text[32];
  std::snprintf(text, sizeof text, "%p", pc);
  return text;
}

const char* mangled_name(const void* pc) {
  const Function* f = find_function(pc);
  return f ? f->mangled.c_str() : nullptr;
}

std::vector<SourceLine> source_lines(const std::vector<const void*>& return_addresses) {
  auto& known = known_lines().one;
  std::vector<const void*> unknown;
  for (const void* pc : return_addresses)
    if (!known.contains(pc)) unknown.push_back(pc);
  std::sort(unknown.begin(), unknown.end());
  unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
  for (std::size_t from = 0; from < unknown.size(); from += 1000) {
    const std::vector<const void*> some(unknown.begin() + from,
                                        unknown.begin() + std::min(unknown.size(), from + 1000));
    const std::vector<Frames> all = look_up(some);
    for (std::size_t i = 0; i < some.size(); ++i) note(some[i], i < all.size() ? all[i] : Frames{});
  }
  std::vector<SourceLine> result;
  for (const void* pc : return_addresses) result.push_back(known[pc]);
  return result;
}

void ask_for_lines(int descriptor) {
  asked = descriptor;
  if (!getcwd(kept_folder, sizeof kept_folder)) kept_folder[0] = '\0';
  const int file = open(executable_path().c_str(), O_RDONLY | O_CLOEXEC);
  struct stat s {};
  if (file < 0 || fstat(file, &s) != 0) return;
  const auto bytes = static_cast<std::size_t>(s.st_size);
  if (void* at = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0); at != MAP_FAILED)
    kept_image = {static_cast<const char*>(at), bytes};
  close(file);
}

bool lines_are_asked_for() { return asked >= 0; }

std::string answer_to(const std::string& question) {
  const auto all = [](auto move, auto* at, std::size_t bytes) {
    while (bytes > 0) {
      const ssize_t n = move(asked, at, bytes);
      if (n <= 0) return false;
      at += n, bytes -= static_cast<std::size_t>(n);
    }
    return true;
  };
  const std::string line = question + "\n";
  std::uint32_t bytes = 0;
  if (!all(write, line.data(), line.size()) || !all(read, reinterpret_cast<char*>(&bytes), sizeof bytes)) return {};
  std::string answer(std::min<std::size_t>(bytes, std::size_t{16} << 20), '\0');
  return all(read, answer.data(), answer.size()) ? answer : std::string();
}

std::string shown_path(const std::string& file) {
  if (file.starts_with("./")) return file.substr(2);
  if (file.empty() || file[0] != '/') return file;
  // Asked once: a million stores that race ask for their place a million times.
  static const auto& started_in = *new std::string([]() -> std::string {
    char now[4096];
    const char* folder = kept_folder[0] ? kept_folder : getcwd(now, sizeof now);
    return folder ? folder : "";
  }());
  const std::size_t length = started_in.size();
  return length > 1 && file.starts_with(started_in) && file[length] == '/' ? file.substr(length + 1) : file;
}

SourceLine source_line(const void* return_address) { return source_lines({return_address})[0]; }

std::vector<std::string> call_path(const void* return_address) {
  source_line(return_address);
  std::vector<std::string> path;
  for (const SourceLine& at : known_lines().all[return_address])
    if (!in_simulator_headers(at.file)) path.push_back(shown_path(at.file) + ":" + std::to_string(at.line));
  return path;
}

void* interrupted_instruction([[maybe_unused]] void* context) {
#if defined(__linux__) && defined(__x86_64__)
  return reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__linux__) && defined(__aarch64__)
  return reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.pc);
#elif defined(__APPLE__) && defined(__x86_64__)
  return reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext->__ss.__rip);
#elif defined(__APPLE__) && defined(__aarch64__)
  return reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext->__ss.__pc);
#else
  return nullptr;
#endif
}

const void* place_in_program(const void* first) {
  void* frames[64];
  const int count = backtrace(frames, int(std::size(frames)));
  std::vector<const void*> pcs(frames, frames + count);
  if (first) pcs.insert(pcs.begin(), first);
  const std::vector<SourceLine> lines = source_lines(pcs);
  for (std::size_t i = 0; i < pcs.size(); ++i) {
    const auto in = [&](const char* folder) { return lines[i].file.find(folder) != std::string::npos; };
    const bool ours =
        in("/simulator/base/") || in("/simulator/model/") || in("/simulator/runtime/") || in("/common/grader/");
    if (lines[i].line != 0 && !ours && !in_simulator_headers(lines[i].file)) return pcs[i];
  }
  return nullptr;
}

static std::atomic<std::uint64_t> described = 0;
std::uint64_t sites_described() { return described; }

std::string describe_site(const void* return_address) {
  ++described;
  thread_local auto& known = *new std::unordered_map<const void*, std::string>;  // used after main, too
  const auto [place, unknown] = known.try_emplace(return_address);
  if (unknown) {
    const SourceLine at = source_line(return_address);
    place->second = at.line == 0 ? function_name(return_address) : shown_path(at.file) + ":" + std::to_string(at.line);
  }
  return place->second;
}

}  // namespace tilewise::sim
