#include "policy.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "lexer.hpp"
#include "tools.hpp"

namespace tilewise::grader {

namespace fs = std::filesystem;

namespace {

std::string demangled(const std::string& symbol) {
  if (!symbol.starts_with("_Z") && !symbol.starts_with("__Z")) return symbol;  // a variable g isn't the type __float128
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
      "cudaMemset", "cudaMemsetAsync", "cudaMemset2DAsync", "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
      "cudaGetDeviceProperties", "cudaGetDeviceProperties_v2", "cudaGetDeviceCount", "cudaSetDevice", "cudaMemGetInfo",
      "cudaStreamQuery", "cudaEventCreate", "cudaEventCreateWithFlags", "cudaEventRecord", "cudaEventSynchronize",
      "cudaEventElapsedTime", "cudaEventDestroy", "cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchKernelEx",
      "cudaGetSymbolAddress", "cudaGetSymbolSize",
      // printing: it is shown, and has no effect
      "printf", "puts", "putchar", "fprintf", "fputs", "fputc", "fwrite", "fflush", "stdout", "stderr", "__printf_chk",
      "__fprintf_chk",
      // the language
      "memcpy", "memset", "memmove", "_Unwind_Resume", "__gxx_personality_v0", "__gcc_personality_v0",
      "__clang_call_terminate", "__cxa_call_terminate", "__sanitizer_cov_trace_pc", "__stack_chk_fail", "__dso_handle",
      "_GLOBAL_OFFSET_TABLE_", "__assert_fail", "__assert_rtn", "__stack_chk_guard", "__stdoutp", "__stderrp",
      "__cxa_atexit", "__cxa_guard_acquire", "__cxa_guard_release", "__cxa_guard_abort", "__cxa_begin_catch",
      "__cxa_end_catch", "__cxa_rethrow", "__cxa_throw_bad_array_new_length", "__cxa_pure_virtual", "dyld_stub_binder",
      "__cxa_allocate_exception", "__cxa_free_exception", "__cxa_init_primary_exception", "__cxa_throw",
      // ending the program, as everybody's macro for errors does: then there is no reply, and no points for the case
      "exit", "abort",
      // arithmetic that compilers have as functions, in libgcc: the bits of a number, 128-bit integers, complex products
      "__popcountdi2", "__popcountsi2", "__paritydi2", "__paritysi2", "__popcountti2", "__divti3", "__modti3",
      "__udivti3", "__umodti3", "__multi3", "__mulsc3", "__divsc3", "__muldc3", "__divdc3", "__powisf2", "__powidf2",
      "__fixsfti", "__fixdfti", "__floattisf", "__floattidf", "__floatuntisf", "__floatuntidf",
      // these two store through pointers, but no submission can name them (refused_source): compilers call them for a
      // sinf and a cosf of the same number
      "sincos", "sincosf",
      // arithmetic: from values to a value. What writes through a pointer (modff) or compares memory (strcmp) would do so
      // past the simulator's eyes, in a kernel, too
      "abs", "labs", "div", "ldiv", "rand", "srand", "clock", "fmaf", "fmaxf", "fminf", "fabsf", "sqrtf", "expf",
      "logf", "powf", "sinf", "cosf", "tanhf", "floorf", "ceilf", "fma", "fmax", "fmin", "sqrt", "exp", "log", "pow",
      "sin", "cos", "tanh", "floor", "ceil", "lrintf", "roundf", "truncf", "rsqrtf", "acos", "acosf", "acosh", "acoshf",
      "asin", "asinf", "asinh", "asinhf", "atan", "atan2", "atan2f", "atanf", "atanh", "atanhf", "cbrt", "cbrtf",
      "copysign", "copysignf", "cosh", "coshf", "erf", "erfc", "erfcf", "erff", "exp2", "exp2f", "expm1", "expm1f",
      "fabs", "fdim", "fdimf", "fmod", "fmodf", "hypot", "hypotf", "ilogb", "ilogbf", "ldexp", "ldexpf", "lgamma",
      "lgammaf", "llrint", "llrintf", "llround", "llroundf", "log10", "log10f", "log1p", "log1pf", "log2", "log2f",
      "logb", "logbf", "lrint", "lround", "lroundf", "nearbyint", "nearbyintf", "nextafter", "nextafterf", "remainder",
      "remainderf", "rint", "rintf", "round", "rsqrt", "scalbn", "scalbnf", "sinh", "sinhf", "tan", "tanf", "tgamma",
      "tgammaf", "trunc", "exp10", "exp10f", "j0", "j0f", "j1", "j1f", "jn", "jnf", "y0", "y0f", "y1", "y1f", "yn",
      "ynf", "scalbln", "scalblnf", "roundeven", "roundevenf", "llabs", "fegetround",
      "fesetround"};  // of __fadd_rd and kin
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
                                                         "cublasGemmStridedBatchedEx",
                                                         "cublasSgemmBatched",
                                                         "cublasSgemmEx",
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
  // And calls of CUDA that a task's rubric allows, by groups. What reaches memory that host code may use stays out.
  static const std::set<std::string, std::less<>> streams{
      "cudaStreamCreate",  "cudaStreamCreateWithFlags", "cudaStreamCreateWithPriority",
      "cudaStreamDestroy", "cudaStreamWaitEvent",       "cudaDeviceGetStreamPriorityRange",
      "cudaEventQuery"};
  static const std::set<std::string, std::less<>> copies{"cudaMemcpy", "cudaMemcpyAsync", "cudaMemcpy2D",
                                                         "cudaMemcpy2DAsync"};
  static const std::set<std::string, std::less<>> graphs{"cudaStreamBeginCapture",
                                                         "cudaStreamEndCapture",
                                                         "cudaStreamIsCapturing",
                                                         "cudaGraphCreate",
                                                         "cudaGraphClone",
                                                         "cudaGraphDestroy",
                                                         "cudaGraphAddKernelNode",
                                                         "cudaGraphAddDependencies",
                                                         "cudaGraphGetNodes",
                                                         "cudaGraphNodeGetType",
                                                         "cudaGraphInstantiate",
                                                         "cudaGraphInstantiateWithFlags",
                                                         "cudaGraphUpload",
                                                         "cudaGraphLaunch",
                                                         "cudaGraphKernelNodeSetParams",
                                                         "cudaGraphExecKernelNodeSetParams",
                                                         "cudaGraphExecUpdate",
                                                         "cudaGraphExecDestroy"};
  static const std::set<std::string, std::less<>> devices{"cudaMemcpyPeer", "cudaMemcpyPeerAsync"};
  static const std::set<std::string, std::less<>> none;
  static const std::map<std::string_view, const std::set<std::string, std::less<>>*> all{
      {"cublas", &cublas}, {"cusparse", &cusparse}, {"streams", &streams},
      {"copies", &copies}, {"graphs", &graphs},     {"devices", &devices}};
  const auto found = all.find(library);
  return found == all.end() ? none : *found->second;
}

bool may_call(const std::string& symbol, const std::set<std::string>& libraries) {
  std::string_view name = symbol;
#ifdef __APPLE__
  if (name.starts_with("_")) name.remove_prefix(1);
#endif
  if (allowed().count(name)) return true;
  for (const std::string& library : libraries)
    if (allowed_of(library).count(name)) return true;
  for (const char* hook : {"__tsan_", "tilewise_read", "tilewise_write", "__ubsan_handle_", "tilewise_flop",
                           "tilewise_checked_call", "tilewise_guarded_", "tilewise_divided_by_zero"})
    if (name.starts_with(hook)) return !name.ends_with("_cached");  // which would write where the caller says
  const std::string readable = demangled(std::string(name));
  // The simulator has some CUDA calls as C++ functions, templates among them.
  const std::size_t cuda = readable.find("cuda");
  if (cuda == 0 || (cuda != std::string::npos && readable[cuda - 1] == ' ')) {
    const std::string_view call = std::string_view(readable).substr(cuda);
    const std::string_view plain = call.substr(0, call.find_first_of("(<"));
    if (allowed().count(plain)) return true;
    for (const std::string& library : libraries)
      if (allowed_of(library).count(plain)) return true;
  }
  // These are for tests and lessons, which ask for counts and switch the search for findings off.
  for (const char* own : {"set_counting",
                          "set_checking",
                          "set_sample",
                          "counting_demanded",
                          "last_counters",
                          "finding_count",
                          "launches_ended",
                          "demand_stream",
                          "report_finding",
                          "finding_of",
                          "end_launch_for",
                          "set_abort_launch",
                          "forget_findings",
                          "findings(",
                          "add_to_report",
                          "write_report_now",
                          "name_allocation",
                          "fail_launch",
                          "waits",
                          "begin_timeline",
                          "end_timeline",
                          "host_work",
                          "live_objects",
                          "allocate_closed_host_memory",
                          "note_callers_work",
                          "timeline::",
                          "begin_host_algorithm",  // opens device memory
                          "begin_stream_algorithm",
                          "order::",
                          "graph::",
                          "memory::",
                          "observer::",
                          "counter::",
                          "checker::",
                          "model::"}) {
    if (readable.starts_with(std::string("tilewise::sim::") + own)) return false;
  }
  // What simcc writes in the place of launches, threadIdx and kin; the source itself cannot name it (refused_source).
  for (const char* prefix : {"tilewise::sim::",
                             "operator new",
                             "operator delete",
                             "std::__throw_",
                             "std::terminate",
                             "std::ios_base::Init::",
                             "std::ios_base_library_init()",
                             "std::__glibcxx_assert_fail",
                             "std::cout",
                             "std::cerr",
                             "std::clog",
                             "std::exception::",
                             "std::runtime_error::",
                             "std::logic_error::",
                             "std::invalid_argument::",
                             "std::out_of_range::",
                             "std::length_error::",
                             "std::domain_error::",
                             "std::chrono::_V2::steady_clock::now()",
                             "std::chrono::_V2::system_clock::now()",
                             "vtable for std::",
                             "std::ostream",
                             "std::basic_ostream<",
                             "std::ctype<char>::_M_widen_init() const",
                             "std::ctype<char>::do_widen(char) const",
                             "vtable for __cxxabiv1::",
                             "typeinfo for "}) {
    if (readable.starts_with(prefix)) return true;
  }
  return false;
}

// Why a call is refused, where a student should read more than that it is.
std::string reason(const std::string& name, const std::set<std::string>& libraries) {
  const auto begins = [&](std::initializer_list<const char*> list) {
    return std::any_of(list.begin(), list.end(), [&](const char* p) { return name.starts_with(p); });
  };
  if (begins({"cublas", "cusparse", "cufft", "cusolver"}))
    return libraries.empty() ? "it calls the library instead of being the kernel"
                             : "this call of a library is not needed here";
  if (libraries.count("devices") && begins({"cudaDeviceEnablePeerAccess", "cudaDeviceCanAccessPeer"}))
    return "kernels reach their own device's memory alone here; copy with cudaMemcpyPeerAsync what they need of "
           "another's";
  if (libraries.count("copies") && begins({"cudaMemcpy", "cudaHost", "cudaMallocHost", "cudaMallocManaged"}))
    return "it needs no memory of the host but its arguments, and no copies but cudaMemcpyAsync";
  if (begins({"cudaMemcpy", "cudaHost", "cudaMallocHost", "cudaMallocManaged"}))
    return "it moves data between device and host; kernels must do the work";
  if (begins({"cudaLaunchCooperativeKernel"}))
    return "blocks that wait for each other are not part of the homework: launch a second kernel, or let the block "
           "that "
           "comes last go on";
  if (begins({"cuda"})) return "this CUDA call is not needed for launching kernels";
  if (begins({"_exit", "_Exit", "quick_exit", "at_quick_exit", "raise", "longjmp", "siglongjmp"}))
    return "it would end the program before its results are looked at";
  if (begins({"fork", "vfork", "exec", "system", "popen", "posix_spawn", "pthread", "std::thread", "clone"}))
    return "it starts other processes or threads";
  if (begins({"std::_Rb_tree", "std::__detail::_List"}))
    return "std::map, std::set and std::list are not part of the homework; arrays and std::vector are";
  if (begins({"std::locale", "std::basic_stringbuf", "std::__cxx11::basic_string"}))
    return "string streams are not part of the homework; printf and std::cerr are";
  return "a submission launches kernels and prints; it needs nothing else of the system";
}

// Standard C++, and what CUDA has for device code. Others have functions that read memory past the simulator's eyes,
// such as <immintrin.h>, or declare what the grader's half of the program calls, such as <unistd.h>.
bool may_include(const std::string& header) {
  static const std::set<std::string, std::less<>> names{"algorithm",
                                                        "array",
                                                        "atomic",
                                                        "bit",
                                                        "bitset",
                                                        "cassert",
                                                        "cctype",
                                                        "cfloat",
                                                        "chrono",
                                                        "cinttypes",
                                                        "climits",
                                                        "cmath",
                                                        "compare",
                                                        "complex",
                                                        "concepts",
                                                        "cstddef",
                                                        "cstdint",
                                                        "cstdio",
                                                        "cstdlib",
                                                        "cstring",
                                                        "ctime",
                                                        "deque",
                                                        "exception",
                                                        "functional",
                                                        "initializer_list",
                                                        "iomanip",
                                                        "ios",
                                                        "iosfwd",
                                                        "iostream",
                                                        "iterator",
                                                        "limits",
                                                        "list",
                                                        "map",
                                                        "memory",
                                                        "new",
                                                        "numbers",
                                                        "numeric",
                                                        "optional",
                                                        "ostream",
                                                        "queue",
                                                        "random",
                                                        "ranges",
                                                        "ratio",
                                                        "set",
                                                        "source_location",
                                                        "span",
                                                        "sstream",
                                                        "stack",
                                                        "stdexcept",
                                                        "string",
                                                        "string_view",
                                                        "tuple",
                                                        "type_traits",
                                                        "typeinfo",
                                                        "unordered_map",
                                                        "unordered_set",
                                                        "utility",
                                                        "valarray",
                                                        "variant",
                                                        "vector",
                                                        "version",
                                                        "assert.h",
                                                        "ctype.h",
                                                        "float.h",
                                                        "inttypes.h",
                                                        "limits.h",
                                                        "math.h",
                                                        "stdbool.h",
                                                        "stddef.h",
                                                        "stdint.h",
                                                        "stdio.h",
                                                        "stdlib.h",
                                                        "string.h",
                                                        "time.h",
                                                        "cooperative_groups.h",
                                                        "cooperative_groups/memcpy_async.h",
                                                        "cooperative_groups/reduce.h",
                                                        "cooperative_groups/scan.h",
                                                        "cuda.h",
                                                        "cuComplex.h",
                                                        "cuda/barrier",
                                                        "cuda/pipeline",
                                                        "cuda_bf16.h",
                                                        "cuda_fp16.h",
                                                        "cuda_fp8.h",
                                                        "cuda_pipeline.h",
                                                        "cuda_pipeline_primitives.h",
                                                        "cuda_runtime.h",
                                                        "cuda_runtime_api.h",
                                                        "device_functions.h",
                                                        "device_launch_parameters.h",
                                                        "math_constants.h",
                                                        "math_functions.h",
                                                        "mma.h",
                                                        "vector_functions.h",
                                                        "vector_types.h"};
  return names.count(header) > 0;
}

/// The same file, or a copy: who works in a folder of their own has the contract beside homework.cu.
bool is_the_same(const std::string& a, const std::string& b) {
  std::error_code none;
  return fs::equivalent(a, b, none) || (fs::is_regular_file(a, none) && read_file(a) == read_file(b));
}

/// What the macros of standard headers become, depending on the compiler and its C library: INFINITY, NAN, HUGE_VAL,
/// assert, offsetof. All give a constant, or nothing at all. And CUDA's older name of alignas.
bool is_harmless_builtin(std::string_view name) {
  static const std::set<std::string_view> names{
      "__builtin_inf",      "__builtin_inff",  "__builtin_infl",   "__builtin_nan",      "__builtin_nanf",
      "__builtin_nanl",     "__builtin_nans",  "__builtin_nansf",  "__builtin_huge_val", "__builtin_huge_valf",
      "__builtin_offsetof", "__builtin_FILE",  "__builtin_LINE",   "__builtin_FUNCTION", "__builtin_huge_vall",
      "__builtin_expect",   "__builtin_nansl", "__builtin_align__"};
  return names.count(name) > 0;
}

/// What nvcc knows, and the simulator looks at (words.cpp, rewrite_promise()).
bool is_a_promise(std::string_view name) {
  return name == "__builtin_assume" || name == "__builtin_assume_aligned" || name == "__builtin_unreachable";
}

/// `__global__ void f(...) {` begins at tokens[i]. A declaration with `extern "C"` before it could be one of the system's
/// functions.
bool defines_a_kernel(const std::vector<sim::Token>& tokens, std::size_t i) {
  if (i >= tokens.size() || tokens[i].text != "__global__") return false;
  for (int depth = 0; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    depth += (text == "(") - (text == ")");
    if (depth == 0 && (text == "{" || text == ";" || text == "=")) return text == "{";
  }
  return false;
}

/// Why a header that isn't part of the homework isn't, and what there is in its place.
std::string about_header(const std::string& header) {
  const auto begins = [&](const char* prefix) { return header.starts_with(prefix); };
  const auto is_one_of = [&](std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), header) != names.end();
  };
  for (const char* library : {"cublas", "cusparse", "cutlass", "cute/", "cub/", "thrust/", "cufft", "cusolver"})
    if (header.find(library) != std::string::npos) return "the kernel is to be written, not taken from a library";
  if (begins("cuda/std/atomic") || header == "cuda/atomic")
    return "libcu++ is not part of the homework; atomicAdd() and its kin, and __threadfence(), need no header";
  if (begins("cuda/std/"))
    return fmt::format("libcu++ is not part of the homework; in its place, <{}> has constants and types for kernels",
                       may_include(header.substr(9)) ? header.substr(9) : "cstdint");
  if (begins("cuda/"))
    return "of libcu++, this is not part of the homework; kernels have what <cuda_runtime.h> and "
           "<cooperative_groups.h> declare";
  if (is_one_of({"thread", "mutex", "shared_mutex", "future", "condition_variable", "semaphore", "barrier", "latch",
                 "stop_token", "pthread.h", "omp.h"}))
    return "threads of the host are not part of the homework; what runs side by side are kernels, in streams";
  if (is_one_of({"fstream", "filesystem"}))
    return "files are not part of the homework; what you print with printf is shown";
  if (is_one_of({"print", "format", "fmt/core.h", "fmt/format.h"}))
    return "it is not part of the homework; printf and std::cerr are";
  return "this header is not part of the homework; most headers of standard C++ are and those of CUDA for kernels";
}

/// What the rewriter makes in kernels and launches.
bool is_the_rewriters(std::string_view name) {
  for (const char* prefix : {"tw_reg_", "tw_known_", "tw_shared_", "tw_loop_"})
    if (name.starts_with(prefix)) return true;
  return name == "tw_kernel" || (name.starts_with("tw_a") && name.find_first_not_of("0123456789", 4) == name.npos);
}

/// What CUDA's sinf and kin with two underscores are to the simulator.
bool is_an_intrinsic(std::string_view name) {
  return name.starts_with("tilewise_fast_") || name == "tilewise_sinpi" || name == "tilewise_cospi" ||
         name == "tilewise_sinpif" || name == "tilewise_cospif" || name == "tilewise_sincos" ||
         name == "tilewise_sincosf";
}

/// A directive that changes nothing but what is unrolled, what is warned of, and how an editor folds lines.
bool may_say(const std::string& pragma) {
  std::istringstream words(pragma);
  std::string first, second;
  words >> first >> second;
  if (first == "GCC" || first == "clang") return second == "unroll" || second == "ivdep" || second == "diagnostic";
  const std::string name = first.substr(0, first.find('('));
  for (const char* harmless :
       {"unroll", "nounroll", "once", "region", "endregion", "mark", "diag_suppress", "diag_default", "diag_warning",
        "nv_diag_suppress", "nv_diag_default", "nv_diag_warning", "nv_diagnostic"})
    if (name == harmless) return true;
  return false;
}

/// R"...", also with u8, u, U or L before it.
bool has_raw_string(const std::string& text) {
  for (std::size_t at = text.find("R\""); at != std::string::npos; at = text.find("R\"", at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == '_')) --begin;
    const std::string prefix = text.substr(begin, at - begin);
    if (prefix.empty() || prefix == "u8" || prefix == "u" || prefix == "U" || prefix == "L") return true;
  }
  return false;
}

/// Continued lines are joined, as the compiler does first of all.
std::string with_lines_joined(const std::string& text) {
  std::string joined;
  for (std::size_t i = text.starts_with("\xef\xbb\xbf") ? 3 : 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      const std::size_t end = text.find_first_not_of(" \t\r\f\v", i + 1);
      if (end != std::string::npos && text[end] == '\n') {
        i = end;
        continue;
      }
    }
    joined += text[i];
  }
  return joined;
}

constexpr const char* kBlank = " \t\r\f\v";

/// After blanks and comments.
std::size_t skip_blanks(const std::string& text, std::size_t from) {
  for (;;) {
    from = std::min(text.find_first_not_of(kBlank, from), text.size());
    if (text.compare(from, 2, "/*") != 0) return from;
    const std::size_t end = text.find("*/", from + 2);
    from = end == std::string::npos ? text.size() : end + 2;
  }
}

/// Whether a # there could begin a directive: nothing but blanks and ends of comments is before it on its line.
bool may_begin_directive(const std::string& text, std::size_t at) {
  const std::size_t line = text.rfind('\n', at) + 1;  // npos + 1 is 0
  std::string before = text.substr(line, at - line);
  before.erase(before.find_last_not_of(kBlank) + 1);
  return before.empty() || (before.size() >= 2 && before.compare(before.size() - 2, 2, "*/") == 0);
}

std::string refused_include(const std::string& name, const std::set<std::string>& libraries,
                            const std::string& folder) {
  if (name == "\"homework.cuh\"") return "";
  const std::string header = name.size() >= 3 ? name.substr(1, name.size() - 2) : "";
  const bool quoted = name.size() >= 3 && name.front() == '"' && name.back() == '"' && may_include(header);
  // "cuda_runtime.h", as some editors' templates have it, is the system's where the folder has none.
  const bool systems = quoted && !folder.empty() && !fs::exists(fs::path(folder) / header);
  if (!systems && (name.size() < 3 || name.front() != '<' || name.back() != '>'))
    return "#include " + name.substr(0, name.find('\n')) +
           ": a submission is one file that includes \"homework.cuh\" and system headers in <>" +
           (quoted ? ": #include <" + header + ">" : "");
  if (may_include(header) || (header == "cublas_v2.h" && libraries.count("cublas")) ||
      (header == "cusparse.h" && libraries.count("cusparse")))
    return "";
  return "#include " + name + ": " + about_header(header);
}

/// The directive whose # is at `at`.
std::string refused_directive(const std::string& text, std::size_t at, const std::set<std::string>& libraries,
                              const std::string& folder) {
  std::size_t i = skip_blanks(text, at + 1);
  const std::size_t begin = i;
  while (i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_')) ++i;
  const std::string directive = text.substr(begin, i - begin);
  if (directive == "line" || (!directive.empty() && std::isdigit(static_cast<unsigned char>(directive[0]))))
    return "#line: lines keep the numbers that they have";
  if (directive == "include_next" || directive == "import" || directive == "embed")
    return "#" + directive + ": a submission is one file that includes \"homework.cuh\" and system headers in <>";
  if (directive != "include") return "";
  i = skip_blanks(text, i);
  const std::size_t end = i < text.size() ? text.find_first_of(text[i] == '<' ? ">\n" : "\"\n", i + 1) : i;
  return refused_include(text.substr(i, end == std::string::npos ? end : end + 1 - i), libraries, folder);
}

/// What a name of the source says by itself, whatever stands beside it.
std::string refused_word(std::string_view word) {
  static const std::map<std::string_view, const char*> words{
      {"asm", "inline assembly is not part of the homework"},
      {"__asm", "inline assembly is not part of the homework"},
      {"__asm__", "inline assembly is not part of the homework"},
      {"__attribute__", "compiler attributes are not part of the homework"},
      {"__attribute", "compiler attributes are not part of the homework"},
      {"__managed__", "managed memory is not part of the homework: kernels must do the work"},
      {"__declspec", "compiler attributes are not part of the homework"}};
  if (const auto found = words.find(word); found != words.end()) return fmt::format("{}: {}", word, found->second);
  if (is_harmless_builtin(word) || is_a_promise(word) || is_an_intrinsic(word)) return "";
  if (word == "sincos" || word == "sincosf")  // no longer CUDA's, which are macros here
    return fmt::format("{}: CUDA's function of this name has been undefined or replaced", word);
  static constexpr const char* kReserved[] = {"__tsan", "__builtin", "__sanitizer", "__cxa",
                                              "__gnu",  "_ZN",       "tilewise"};
  if (is_the_rewriters(word) || std::any_of(std::begin(kReserved), std::end(kReserved),
                                            [&](const char* prefix) { return word.starts_with(prefix); }))
    return fmt::format("{}: names of the compiler and of the simulator are not part of the homework", word);
  return "";
}

/// What a token says by those beside it.
std::string refused_phrase(const std::vector<sim::Token>& tokens, std::size_t i) {
  const auto text_at = [&](std::size_t at) { return at < tokens.size() ? tokens[at].text : std::string_view(); };
  const std::string_view text = tokens[i].text, next = text_at(i + 1), before = i > 0 ? tokens[i - 1].text : "";
  if (text == "gnu" || text == "clang" || text == "_Clang") {  // not so `yes ? gnu : no`
    const bool two = next.starts_with("::") || (next == ":" && text_at(i + 2) == ":");
    if (two || (next.starts_with(":") && before == "using")) return "compiler attributes are not part of the homework";
  }
  // Not so `using namespace std;` and `namespace s = std;`.
  if (text == "namespace" && next == "std" && before != "using") return "namespace std is not yours to add to";
  if (text == "goto" && next == "*") return "goto *: jumps to computed places are not part of the homework";
  if (text == "operator" && (next == "new" || next == "delete"))
    return "operator new and operator delete are not part of the homework";
  return "";
}

std::string refused_pragma(const sim::LexedSource& source, const std::string& prelude) {
  bool before_all = true;
  for (const sim::Directive& d : source.directives) {
    std::string text(source.text.substr(d.begin, d.end - d.begin));
    text.erase(0, std::min(text.find_first_not_of("# \t"), text.size()));
    if (!text.starts_with("pragma")) continue;
    // The first is simcc's own. A second one like it would be an error of g++'s.
    if (std::exchange(before_all, false) && text == "pragma GCC pch_preprocess \"" + prelude + "\"") continue;
    if (!may_say(text.substr(6))) {
      text.resize(std::min(text.find('\n'), text.size()));
      return fmt::format("#{}: of #pragma, unroll and what switches warnings is part of the homework", text);
    }
  }
  return "";
}

}  // namespace

std::string refused_text(const std::string& text, const std::set<std::string>& libraries, const std::string& folder) {
  if (text.find('\0') != std::string::npos) return "it is no text: it has a byte 0";
  const std::string joined = with_lines_joined(text);
  if (has_raw_string(joined)) return "raw strings are not part of the homework";

  // Whether a # begins a directive depends on where comments and strings begin, and whoever tells that a little differently than
  // the compiler can be deceived; so all of them are looked at that could.
  for (std::size_t at = 0; at < joined.size(); ++at) {
    const bool digraph = joined.compare(at, 2, "%:") == 0, trigraph = joined.compare(at, 3, "?\?=") == 0;
    if ((joined[at] != '#' && !digraph && !trigraph) || !may_begin_directive(joined, at)) continue;
    if (digraph || trigraph) return "alternative spellings of # are not part of the homework";
    if (const std::string why = refused_directive(joined, at, libraries, folder); !why.empty()) return why;
  }
  for (const char* word : {"__has_include", "__has_embed"})
    if (joined.find(word) != std::string::npos)
      return std::string(word) + ": which files there are is not part of the homework";
  return "";
}

std::string refused_source(const std::string& preprocessed, const std::string& file, const std::string& contract,
                           const std::string& prelude) {
  const sim::LexedSource source = sim::lex(preprocessed, file);
  // A header of its own by this name would be found first.
  for (const std::string& from : source.files) {
    if (fs::path(from).filename() == "homework.cuh" && !is_the_same(from, contract))
      return fmt::format("it brings {}, which is not the homework's", from);
  }
  const auto& tokens = source.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const sim::Token& t = tokens[i];
    const std::string& from = source.files[static_cast<std::size_t>(t.file)];
    if (from != file && from != contract && !is_the_same(from, contract))
      return fmt::format("it includes {}; a submission is one file that includes homework.cuh and system headers",
                         from);
    std::string why;
    if (t.kind == sim::TokenKind::string && i > 0 && tokens[i - 1].text == "extern" && !defines_a_kernel(tokens, i + 1))
      why = "extern \"C\" is not part of the homework, but directly before __global__, where a kernel is defined";
    if (t.kind == sim::TokenKind::identifier) why = refused_word(t.text);
    if (t.kind == sim::TokenKind::identifier && why.empty()) why = refused_phrase(tokens, i);
    if (!why.empty()) return fmt::format("line {}: {}", t.line, why);
  }
  return refused_pragma(source, prelude);
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
      if (kind != 'U' && !may_call(name, libraries) && !name.starts_with("_ITM_") && !name.starts_with("__gmon") &&
          !name.starts_with("__cxa") && !name.starts_with("__pthread"))
        return fmt::format("it calls {}: {}", readable, reason(readable, libraries));
      continue;
    }
    // Its own functions and variables must not take the place of the system's or the simulator's. Inline ones and
    // instances of templates (W, V, u) are everywhere, and harmless where C++ has made their names: what the grader and
    // the simulator have by such a name is linked before. Not so inline versions of the C library's functions.
    if (std::string_view("WVu").find(kind) != std::string_view::npos) {
      const std::string_view plain = std::string_view(name).substr(name.starts_with("__Z"));
      if (plain.starts_with("_Z") || name == "__clang_call_terminate") continue;
    } else if (std::string_view("TDBRCGSi").find(kind) == std::string_view::npos) {
      continue;
    }
    if (readable.starts_with("tilewise::") || readable.starts_with("std::") || readable.starts_with("__") ||
        readable.starts_with("operator ") || name.starts_with("cuda") || readable == "main" ||
        readable.starts_with("homework_call") || dlsym(RTLD_DEFAULT, name.c_str()) != nullptr)
      return readable == "main"
                 ? "it defines main, and the grader has one: take yours out, or put it between #ifdef TEST and #endif"
                 : fmt::format("it defines {}, which belongs to the system or to the grader", readable);
  }
  return "";
}

std::string about_own_lines(const std::string& output, const std::string& file, const std::string& contract) {
  const auto is_of = [](const std::string& line, const std::string& path) {
    return !path.empty() && line.starts_with(path + ":");
  };
  std::string kept, line;
  bool keeps = false;
  for (std::istringstream lines(output); std::getline(lines, line);) {
    // Where the line begins with a file's name, that decides for what is quoted below it, too.
    const std::size_t colon = line.find(':');
    const bool quotes = line.empty() || line[0] == ' ' || colon == std::string::npos;
    if (!quotes) {
      std::string of = line;
      for (const char* before : {"In file included from ", "In module imported at "})
        if (of.starts_with(before)) of.erase(0, std::string_view(before).size());
      keeps = is_of(of, file) || is_of(of, contract);
      for (const char* folder : {"/usr/include/", "/usr/lib/gcc/", "/usr/local/include/", "/opt/homebrew/"})
        keeps = keeps || (of.starts_with(folder) && of.find("/../") > of.find(':'));
      keeps = keeps || of.find("/simulator/include/") < of.find(':');
    }
    if (keeps) kept += line + "\n";
  }
  return kept;
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
    if (word.starts_with("__builtin") && !is_a_promise(word)) return refused(word);
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
  static const std::set<std::string_view> launching{
      "__cudaGetKernel", "__cudaLaunchKernel", "__cudaPopCallConfiguration", "__cudaPushCallConfiguration",
      "__cudaRegisterFatBinary", "__cudaRegisterFatBinaryEnd", "__cudaUnregisterFatBinary", "__cudaRegisterFunction",
      "__cudaRegisterVar", "__cudaInitModule", "cudaLaunchKernel", "cudaLaunchKernelExC", "__cudaLaunchKernel_ptsz",
      "cudaLaunchKernel_ptsz", "atexit",
      // in the place of each __device__ function, for the host
      "exit"};
  std::istringstream lines(symbols);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    std::string name = line.substr(line.find_last_of(' ') + 1);
    if (launching.count(name) || demangled(name).starts_with("__device_stub__")) continue;
    // cuBLAS has most of its functions in a second version, whose name a macro puts in.
    if (name.starts_with("cublas") && name.size() > 3 && name.compare(name.size() - 3, 3, "_v2") == 0)
      line.resize(line.size() - 3);
    kept += line + "\n";
  }
  return kept;
}

}  // namespace tilewise::grader
