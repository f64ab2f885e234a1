#include "policy.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "lexer.hpp"

namespace tilewise::grader {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text ? text.get() : symbol;
}

// Functions by exact name that an ordinary submission ends up calling.
const std::set<std::string, std::less<>>& allowed() {
  static const std::set<std::string, std::less<>> names{
      // CUDA, as far as it only launches, asks, or works inside device memory
      "cudaGetLastError", "cudaPeekAtLastError", "cudaGetErrorString", "cudaGetErrorName", "cudaDeviceSynchronize",
      "cudaStreamSynchronize", "cudaGetDevice", "cudaDeviceGetAttribute", "cudaFuncSetAttribute",
      "cudaFuncGetAttributes", "cudaFuncSetCacheConfig", "cudaMalloc", "cudaFree", "cudaMallocAsync", "cudaFreeAsync",
      "cudaMemset", "cudaMemsetAsync", "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
      // printing: it is shown, and has no effect
      "printf", "puts", "putchar", "fprintf", "fputs", "fputc", "fwrite", "fflush", "stdout", "stderr", "__printf_chk",
      "__fprintf_chk",
      // the language
      "memcpy", "memset", "memmove", "memcmp", "strlen", "_Unwind_Resume", "__gxx_personality_v0",
      "__gcc_personality_v0", "__clang_call_terminate", "__sanitizer_cov_trace_pc", "__stack_chk_fail", "__dso_handle",
      "_GLOBAL_OFFSET_TABLE_", "__assert_fail", "__assert_rtn", "__stack_chk_guard", "__stdoutp", "__stderrp",
      "__cxa_atexit", "__cxa_guard_acquire", "__cxa_guard_release", "__cxa_guard_abort", "__cxa_begin_catch",
      "__cxa_end_catch", "__cxa_rethrow", "__cxa_throw_bad_array_new_length", "__cxa_pure_virtual", "dyld_stub_binder",
      // arithmetic
      "fmaf", "fmaxf", "fminf", "fabsf", "sqrtf", "expf", "logf", "powf", "sinf", "cosf", "tanhf", "floorf", "ceilf",
      "fma", "fmax", "fmin", "sqrt", "exp", "log", "pow", "sin", "cos", "tanh", "floor", "ceil", "lrintf", "roundf",
      "truncf", "rsqrtf"};
  return names;
}

// The library calls that work on device memory and return nothing to the host but a status. What copies
// (cublasGetMatrix and kin) or returns a number (cublasSdot) stays out.
const std::set<std::string, std::less<>>& allowed_of(std::string_view library) {
  static const std::set<std::string, std::less<>> cublas{"cublasCreate",
                                                         "cublasDestroy",
                                                         "cublasSetStream",
                                                         "cublasGetStream",
                                                         "cublasSetMathMode",
                                                         "cublasGetMathMode",
                                                         "cublasSetPointerMode",
                                                         "cublasGetPointerMode",
                                                         "cublasGetStatusString",
                                                         "cublasGetStatusName",
                                                         "cublasSetWorkspace",
                                                         "cublasSgemm",
                                                         "cublasDgemm",
                                                         "cublasGemmEx",
                                                         "cublasSgemmBatched",
                                                         "cublasDgemmBatched",
                                                         "cublasSgemmStridedBatched",
                                                         "cublasDgemmStridedBatched",
                                                         "cublasSgemv",
                                                         "cublasDgemv",
                                                         "cublasSger",
                                                         "cublasDger",
                                                         "cublasSgeam",
                                                         "cublasDgeam",
                                                         "cublasSaxpy",
                                                         "cublasDaxpy",
                                                         "cublasSscal",
                                                         "cublasDscal",
                                                         "cublasScopy",
                                                         "cublasDcopy",
                                                         "cublasSswap",
                                                         "cublasDswap"};
  static const std::set<std::string, std::less<>> cusparse{
      "cusparseCreate",           "cusparseDestroy",        "cusparseSetStream",      "cusparseGetErrorString",
      "cusparseGetErrorName",     "cusparseCreateCsr",      "cusparseCreateConstCsr", "cusparseCreateDnVec",
      "cusparseCreateConstDnVec", "cusparseDestroySpMat",   "cusparseDestroyDnVec",   "cusparseSpMV",
      "cusparseSpMV_bufferSize",  "cusparseSpMV_preprocess"};
  static const std::set<std::string, std::less<>> none;
  return library == "cublas" ? cublas : library == "cusparse" ? cusparse : none;
}

bool may_call(const std::string& symbol, const std::set<std::string>& libraries) {
  std::string_view name = symbol;
#ifdef __APPLE__
  if (starts_with(name, "_")) name.remove_prefix(1);
#endif
  if (allowed().count(name)) return true;
  for (const std::string& library : libraries)
    if (allowed_of(library).count(name)) return true;
  if (starts_with(name, "__tsan_") || starts_with(name, "__ubsan_handle_") || starts_with(name, "tilewise_flop"))
    return true;
  const std::string readable = demangled(std::string(name));
  // The simulator has some CUDA calls as C++ functions, templates among them.
  const std::size_t cuda = readable.find("cuda");
  if (cuda == 0 || (cuda != std::string::npos && readable[cuda - 1] == ' ')) {
    const std::string_view call = std::string_view(readable).substr(cuda);
    if (allowed().count(call.substr(0, call.find_first_of("(<")))) return true;
  }
  // These are for tests and lessons, which ask for counts and switch the search for findings off.
  for (const char* own : {"set_counting", "set_checking", "counting_demanded", "last_counters", "finding_count",
                          "launches_ended", "report_finding", "forget_findings", "findings(", "add_to_report",
                          "write_report_now", "name_allocation", "memory::", "observer::", "model::"}) {
    if (starts_with(readable, std::string("tilewise::sim::") + own)) return false;
  }
  // What simcc writes in the place of launches, threadIdx and kin; the source itself cannot name it (refused_source).
  for (const char* prefix : {"tilewise::sim::", "operator new", "operator delete", "std::__throw_", "std::terminate",
                             "std::ios_base::Init::", "std::cout", "std::ostream", "std::basic_ostream<", "std::ctype<",
                             "std::__cxx11::basic_string<", "vtable for __cxxabiv1::", "typeinfo for "}) {
    if (starts_with(readable, prefix)) return true;
  }
  return false;
}

// Why a call is refused, where a student should read more than that it is.
std::string reason(const std::string& name, const std::set<std::string>& libraries) {
  const auto begins = [&](std::initializer_list<const char*> list) {
    return std::any_of(list.begin(), list.end(), [&](const char* p) { return starts_with(name, p); });
  };
  if (begins({"cublas", "cusparse", "cufft", "cusolver"}))
    return libraries.empty() ? "it calls the library instead of being the kernel"
                             : "this call of a library is not needed here";
  if (begins({"cudaMemcpy", "cudaHost", "cudaMallocHost", "cudaMallocManaged"}))
    return "it moves data between device and host; kernels must do the work";
  if (begins({"cuda"})) return "this CUDA call is not needed for launching kernels";
  if (begins({"exit", "_exit", "_Exit", "quick_exit", "abort", "at_quick_exit", "raise", "longjmp", "siglongjmp",
              "std::exit"}))
    return "it would end the program before its results are looked at";
  if (begins({"fork", "vfork", "exec", "system", "popen", "posix_spawn", "pthread", "std::thread", "clone"}))
    return "it starts other processes or threads";
  return "a submission launches kernels and prints; it needs nothing else of the system";
}

}  // namespace

std::string refused_text(const std::string& text, const std::set<std::string>& libraries) {
  // Without comments and continued lines, strings emptied.
  std::string plain;
  std::size_t i = 0;
  const auto next = [&](std::size_t at) {  // the position of the first character from `at` that is no continuation
    while (at < text.size() && text[at] == '\\') {
      std::size_t end = at + 1;
      while (end < text.size() && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r')) ++end;
      if (end >= text.size() || text[end] != '\n') break;
      at = end + 1;
    }
    return at;
  };
  std::string joined;
  for (i = next(0); i < text.size(); i = next(i + 1)) joined += text[i];
  for (i = 0; i < joined.size();) {
    const char c = joined[i];
    if (joined.compare(i, 2, "//") == 0) {
      while (i < joined.size() && joined[i] != '\n') ++i;
    } else if (joined.compare(i, 2, "/*") == 0) {
      i = std::min(joined.find("*/", i + 2), joined.size() - 2) + 2;
      plain += ' ';
    } else if (c == '"' && i > 0 && joined[i - 1] == 'R') {
      return "raw strings are not part of the homework";
    } else if (c == '"' || (c == '\'' && !(i > 0 && std::isalnum(static_cast<unsigned char>(joined[i - 1]))))) {
      plain += c;
      const std::size_t begin = i++;
      while (i < joined.size() && joined[i] != c && joined[i] != '\n') i += joined[i] == '\\' ? 2 : 1;
      if (c == '"' && i < joined.size()) plain += joined.substr(begin + 1, i - begin - 1);
      if (i < joined.size() && joined[i] == c) plain += c, ++i;
    } else {
      plain += c;
      ++i;
    }
  }
  std::istringstream lines(plain);
  for (std::string line; std::getline(lines, line);) {
    std::size_t at = line.find_first_not_of(" \t\r\f\v");
    if (at == std::string::npos) continue;
    if (line.compare(at, 2, "%:") == 0 || line.compare(at, 3, "?\?=") == 0)
      return "alternative spellings of # are not part of the homework";
    if (line[at] != '#') continue;
    at = line.find_first_not_of(" \t\r\f\v", at + 1);
    if (at == std::string::npos) continue;
    if (line.compare(at, 4, "line") == 0 || std::isdigit(static_cast<unsigned char>(line[at])))
      return "#line: lines keep the numbers that they have";
    if (line.compare(at, 7, "include") != 0) continue;
    std::string name = line.substr(at + 7);
    name.erase(std::remove_if(name.begin(), name.end(), [](unsigned char ch) { return std::isspace(ch); }), name.end());
    if (name == "\"homework.cuh\"") continue;
    const bool plain_name = name.size() > 2 && name.front() == '<' && name.back() == '>' && name[1] != '/' &&
                            name.find("..") == std::string::npos;
    if (!plain_name)
      return "#include " + name + ": a submission is one file that includes \"homework.cuh\" and system headers in <>";
    for (const char* library : {"cublas", "cusparse", "cutlass", "cub/", "thrust/", "cufft", "cusolver"}) {
      if (name.find(library) != std::string::npos && libraries.count(library) == 0)
        return "#include " + name + ": the kernel is to be written, not taken from a library";
    }
  }
  return "";
}

std::string refused_source(const std::string& preprocessed, const std::string& file, const std::string& prelude) {
  const sim::LexedSource source = sim::lex(preprocessed, file);
  const auto at = [&](const sim::Token& t, const std::string& what) {
    return fmt::format("line {}: {}", t.line, what);
  };
  static const std::map<std::string_view, const char*> words{
      {"asm", "inline assembly is not part of the homework"},
      {"__asm", "inline assembly is not part of the homework"},
      {"__asm__", "inline assembly is not part of the homework"},
      {"__attribute__", "compiler attributes are not part of the homework"},
      {"__attribute", "compiler attributes are not part of the homework"},
      {"__managed__", "managed memory is not part of the homework: kernels must do the work"},
      {"__declspec", "compiler attributes are not part of the homework"}};
  const auto& tokens = source.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const sim::Token& t = tokens[i];
    const std::string& from = source.files[static_cast<std::size_t>(t.file)];
    if (from != file && !(from.size() >= 13 && from.compare(from.size() - 13, 13, "/homework.cuh") == 0))
      return fmt::format("it includes {}; a submission is one file that includes homework.cuh and system headers",
                         from);
    if (t.kind == sim::TokenKind::string && i > 0 && tokens[i - 1].text == "extern")
      return at(t, "extern \"C\" is not part of the homework");
    if (t.kind != sim::TokenKind::identifier) continue;
    if (const auto found = words.find(t.text); found != words.end())
      return at(t, fmt::format("{}: {}", t.text, found->second));
    for (const char* prefix : {"__tsan", "__builtin", "__sanitizer", "__cxa", "__gnu", "_ZN", "tw_", "tilewise"}) {
      if (starts_with(t.text, prefix))
        return at(t,
                  fmt::format("{}: names of the compiler and of the simulator are not part of the homework", t.text));
    }
    if ((t.text == "gnu" || t.text == "clang") && i + 1 < tokens.size() && starts_with(tokens[i + 1].text, ":"))
      return at(t, "compiler attributes are not part of the homework");
    if ((t.text == "namespace" && i + 1 < tokens.size() && tokens[i + 1].text == "std"))
      return at(t, "namespace std is not yours to add to");
    if (t.text == "operator" && i + 1 < tokens.size() &&
        (tokens[i + 1].text == "new" || tokens[i + 1].text == "delete"))
      return at(t, "operator new and operator delete are not part of the homework");
  }
  bool before_all = true;
  for (const sim::Directive& d : source.directives) {
    std::string text(source.text.substr(d.begin, d.end - d.begin));
    text.erase(0, std::min(text.find_first_not_of("# \t"), text.size()));
    if (!starts_with(text, "pragma")) continue;
    // The first is simcc's own. A second one like it would be an error of g++'s.
    if (std::exchange(before_all, false) && text == "pragma GCC pch_preprocess \"" + prelude + "\"") continue;
    std::istringstream words_of(text.substr(6));
    std::string first;
    words_of >> first;
    if (first != "unroll" && first != "once" && first != "nv_diag_suppress")
      return fmt::format("#pragma {}: only #pragma unroll is part of the homework", first);
  }
  return "";
}

std::string refused_symbols(const std::string& symbols, const std::set<std::string>& libraries) {
  std::istringstream lines(symbols);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> parts;
    for (std::string w; words >> w;) parts.push_back(w);
    if (parts.size() < 2) continue;
    const std::string& name = parts.back();
    const char kind = parts[parts.size() - 2][0];
    const std::string readable = demangled(name);
    if (kind == 'U' || kind == 'w' || kind == 'v') {
      if (kind == 'U' && !may_call(name, libraries))
        return fmt::format("it calls {}: {}", readable, reason(readable, libraries));
      if (kind != 'U' && !may_call(name, libraries) && !starts_with(name, "_ITM_") && !starts_with(name, "__gmon") &&
          !starts_with(name, "__cxa") && !starts_with(name, "__pthread"))
        return fmt::format("it calls {}: {}", readable, reason(readable, libraries));
      continue;
    }
    // Its own functions and variables must not take the place of the system's or the simulator's.
    if (std::string_view("TDBRCGSi").find(kind) == std::string_view::npos) continue;
    if (starts_with(readable, "tilewise::") || starts_with(readable, "std::") || starts_with(readable, "__") ||
        starts_with(readable, "operator ") || starts_with(name, "cuda") || readable == "main" ||
        starts_with(readable, "homework_call") || dlsym(RTLD_DEFAULT, name.c_str()) != nullptr)
      return fmt::format("it defines {}, which belongs to the system or to the grader", readable);
  }
  return "";
}

std::string refused_for_nvcc(const std::string& text) {
  std::string word;
  int line = 1;
  const auto refused = [&](const std::string& what) {
    return fmt::format("line {}: {}: not part of a homework that nvcc compiles, too", line, what);
  };
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size() && (text[i + 1] == '\n' || text[i + 1] == '\r')) {
      i += text.compare(i + 1, 2, "\r\n") == 0 ? 3 : 2;  // a word may go on in the next line
      ++line;
      continue;
    }
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += c;
      ++i;
      continue;
    }
    for (const char* no : {"asm", "__asm", "__asm__", "__attribute__", "__attribute", "__declspec", "__managed__",
                           "_Pragma", "__pragma"})
      if (word == no) return refused(word);
    if (starts_with(word, "__builtin")) return refused(word);
    word.clear();
    if (text.compare(i, 2, "##") == 0 || text.compare(i, 2, "%:") == 0) return refused(text.substr(i, 2));
    if (text.compare(i, 2, "//") == 0) {
      while (i < text.size() && (text[i] != '\n' || text[i - 1] == '\\')) line += text[i++] == '\n';
    } else if (text.compare(i, 2, "/*") == 0) {
      const std::size_t end = std::min(text.find("*/", i + 2), text.size() - 2) + 2;
      line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(i),
                                          text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
      i = end;
    } else if (c == '"' || (c == '\'' && !(i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1]))))) {
      for (++i; i < text.size() && text[i] != c && text[i] != '\n';) i += text[i] == '\\' ? 2 : 1;
      if (i < text.size() && text[i] == c) ++i;
    } else {
      line += c == '\n';
      ++i;
    }
  }
  return "";
}

std::string without_nvcc(const std::string& symbols) {
  static const std::set<std::string_view> launching{"__cudaGetKernel",
                                                    "__cudaLaunchKernel",
                                                    "__cudaPopCallConfiguration",
                                                    "__cudaPushCallConfiguration",
                                                    "__cudaRegisterFatBinary",
                                                    "__cudaRegisterFatBinaryEnd",
                                                    "__cudaUnregisterFatBinary",
                                                    "__cudaRegisterFunction",
                                                    "__cudaRegisterVar",
                                                    "__cudaInitModule",
                                                    "cudaLaunchKernel",
                                                    "cudaLaunchKernelExC",
                                                    "__cudaLaunchKernel_ptsz",
                                                    "cudaLaunchKernel_ptsz",
                                                    "atexit"};
  std::istringstream lines(symbols);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    std::string name = line.substr(line.find_last_of(' ') + 1);
    if (launching.count(name) || starts_with(demangled(name), "__device_stub__")) continue;
    // cuBLAS has most of its functions in a second version, whose name a macro puts in.
    if (starts_with(name, "cublas") && name.size() > 3 && name.compare(name.size() - 3, 3, "_v2") == 0)
      line.resize(line.size() - 3);
    kept += line + "\n";
  }
  return kept;
}

}  // namespace tilewise::grader
