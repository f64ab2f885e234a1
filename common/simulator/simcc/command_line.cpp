#include "command_line.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

// CMake passes it; the value here serves a simcc that was built by hand.
#ifndef TILEWISE_SIM_CXX
#define TILEWISE_SIM_CXX "c++"
#endif

namespace fs = std::filesystem;

namespace tilewise::sim {

const char* const kHelp = R"(simcc - compiles CUDA C++ for the Tilewise simulator: no GPU, no CUDA Toolkit

usage: simcc FILE.cu... -o APP [options]

  -o FILE              the output; without it a.out, or FILE.o with -c
  -c                   compile only
  -E                   preprocess only
  --device-lines       print which lines are device code, FILE:FIRST:LAST each
  --kernels            print the kernels that a file defines, one a line, separated by tabs: line, "kernel" or "template",
                       name, and for each parameter its name and its declaration
  --rewrite            print the plain C++ that the CUDA source is turned into, line by line
  -x cu                treat the files that follow as CUDA source whatever their name
  -I -isystem -include -D -U -std -f* -m* -W* -w -pthread
                       as for the C++ compiler. All is compiled as C++20; below -std=c++20, std::lerp and char8_t
                       are left out, which older programs may have of their own
  -l -L -Wl,... -Xlinker X -shared
                       for the linker
  -Xcompiler A,B       options for the C++ compiler
  -g1                  know files and lines, but no variables: compiles a third faster, and messages are the same
  -MD -MMD -MP -MF -MT -MQ
                       write a dependency file
  --cxx=COMPILER       the C++ compiler (also: environment TILEWISE_CXX)
  --make-prelude FOLDER
                       compile what every .cu file includes into this folder, once; with it what -include names
  --prelude FOLDER     and use it: a small file then compiles in a fourth of the time (g++ only; another compiler ignores it).
                       In a build, which keeps such folders, simcc does so by itself where the options allow it
  --preprocessed FILE  with -c: keep the preprocessed source
  --no-inline-caches   every access calls its hook, and calls of computed addresses aren't looked at, as in code that isn't trusted
  --check-calls MARK   with -c, on x86-64: functions begin after this 64-bit number, and calls of computed addresses go
                       through tilewise_checked_call, which whoever links has to bring (common/grader)
  --homework           refuse what the simulator can do and submissions may not: launches and allocations in device code
  --keep               keep the intermediate files and say where they are
  -v, --verbose        print every command
  -h, --help           this text

.cu files are preprocessed, rewritten and compiled with instrumentation. Other sources, objects and libraries go to
the compiler unchanged. Options that only nvcc has (-arch, -gencode, --extended-lambda, -lineinfo, -lcudart, ...) are
accepted and ignored. cuBLAS and cuSPARSE are linked when a program calls them. Optimisation is always -O1 for .cu
files, so that memory accesses are counted as written.
)";

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

Args split(std::string_view text, char separator) {
  Args parts;
  std::string part;
  std::istringstream stream{std::string(text)};
  while (std::getline(stream, part, separator)) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

namespace {

/// nvcc's options that mean nothing here. `takes_value` ones are also accepted as `option=value`.
struct Ignored {
  std::string_view name;  // without leading dashes
  bool takes_value;
};
constexpr Ignored kIgnored[] = {
    {"arch", true},
    {"gpu-architecture", true},
    {"gencode", true},
    {"generate-code", true},
    {"code", true},
    {"gpu-code", true},
    {"Xptxas", true},
    {"ptxas-options", true},
    {"Xnvlink", true},
    {"nvlink-options", true},
    {"Xfatbin", true},
    {"maxrregcount", true},
    {"cudart", true},
    {"default-stream", true},
    {"threads", true},
    {"t", true},
    {"diag-suppress", true},
    {"diag-error", true},
    {"diag-warn", true},
    {"rdc", true},
    {"relocatable-device-code", true},
    {"ftz", true},
    {"prec-div", true},
    {"prec-sqrt", true},
    {"fmad", true},
    {"machine", true},
    {"Werror", true},
    {"dopt", true},
    {"use_fast_math", false},
    {"extended-lambda", false},
    {"expt-extended-lambda", false},
    {"expt-relaxed-constexpr", false},
    {"lineinfo", false},
    {"generate-line-info", false},
    {"G", false},
    {"device-debug", false},
    {"res-usage", false},
    {"resource-usage", false},
    {"restrict", false},
    {"extra-device-vectorization", false},
    {"disable-warnings", false},
    {"source-in-ptx", false},
    {"Wno-deprecated-gpu-targets", false},
    {"forward-unknown-to-host-compiler", false},
    {"allow-unsupported-compiler", false},
    {"display-error-number", false},
    {"split-compile", true},
    {"Wreorder", false},
    {"Wext-lambda-captures-this", false},
    {"no-device-link", false},
};

/// Libraries that the simulator's runtime and its own versions of them stand in for; those are always linked.
constexpr std::string_view kIgnoredLibraries[] = {"cudart",        "cudart_static", "cuda",     "cublas",
                                                  "cublas_static", "cublasLt",      "cusparse", "cusparse_static",
                                                  "cudadevrt",     "nvToolsExt",    "nccl",     "nccl_static",
                                                  "curand",        "curand_static", "cufft",    "cufft_static"};

/// A toolkit's own headers would hide the simulator's.
bool is_cuda_toolkit(const std::string& folder) {
  std::error_code ignored;
  return fs::exists(fs::path(folder) / "cuda_runtime.h", ignored) &&
         fs::exists(fs::path(folder) / "crt" / "host_config.h", ignored);
}

bool is_older_standard(const std::string& wanted) {
  const std::size_t plus = wanted.find("++");
  const std::string version = plus == std::string::npos ? wanted : wanted.substr(plus + 2);
  for (const char* older : {"98", "03", "0x", "11", "1y", "14", "1z", "17"}) {
    if (version == older) return true;
  }
  return false;
}

/// At least C++20, which the simulator's headers need.
std::string newer_standard(const std::string& wanted) {
  bool gnu = wanted.starts_with("gnu++");
  std::string version =
      wanted.substr(std::min(wanted.size(), wanted.find("++") == std::string::npos ? 0 : wanted.find("++") + 2));
  for (const char* known : {"20", "2a", "23", "2b", "26", "2c"}) {
    if (version == known) return wanted;
  }
  if (is_older_standard(wanted)) return gnu ? "gnu++20" : "c++20";
  throw UsageError("unknown language standard '" + wanted + "'");
}

class CommandLine {
 public:
  explicit CommandLine(Args args) : args_(std::move(args)) {}

  Options parse() {
    if (const char* chosen = std::getenv("TILEWISE_CXX"); chosen != nullptr && *chosen != '\0') options_.cxx = chosen;
    while (next_ < args_.size()) argument(args_[next_++]);
    if (options_.cxx.empty()) options_.cxx = TILEWISE_SIM_CXX;
    check();
    return options_;
  }

 private:
  std::string value(const std::string& option) {
    if (next_ >= args_.size()) throw UsageError(option + " needs a value");
    return args_[next_++];
  }

  /// The value of `-Xvalue` or `-X value`; with an optional `=`.
  std::string joined_value(const std::string& argument, std::size_t prefix) {
    if (argument.size() == prefix) return value(argument);
    return argument.substr(prefix + (argument[prefix] == '=' ? 1 : 0));
  }

  bool ignored(const std::string& argument) {
    if (!argument.starts_with("-")) return false;
    std::string_view name = argument;
    name.remove_prefix(argument.starts_with("--") ? 2 : 1);
    std::size_t equals = name.find('=');
    std::string_view bare = name.substr(0, equals);
    for (const Ignored& option : kIgnored) {
      if (option.name != bare) continue;
      if (!option.takes_value) return true;
      const std::string given =
          equals == std::string_view::npos ? value(argument) : std::string(name.substr(equals + 1));
      if (bare == "arch" || bare == "gpu-architecture" || bare == "gencode" || bare == "generate-code")
        architecture(given);
      return true;
    }
    return false;
  }

  /// `sm_90a`, `arch=compute_80,code=[sm_80,compute_80]`.
  void architecture(std::string_view given) {
    for (std::string_view prefix : {"sm_", "compute_"}) {
      for (std::size_t at = given.find(prefix); at != std::string_view::npos; at = given.find(prefix, at + 1)) {
        const int number = std::atoi(std::string(given.substr(at + prefix.size(), 4)).c_str());
        options_.architecture = std::max(options_.architecture, number);
      }
    }
  }

  void include_folder(const std::string& option, const std::string& folder) {
    if (is_cuda_toolkit(folder)) {
      std::cerr << "simcc: note: " << option << ' ' << folder
                << " is left out: the simulator has its own CUDA headers\n";
      return;
    }
    options_.preprocess.insert(options_.preprocess.end(), {option, folder});
  }

  void argument(const std::string& a) {
    refuse(a);
    if (simccs_option(a) || option_of_all_steps(a) || ignored(a) || preprocessors_option(a) || linkers_option(a) ||
        compilers_option(a))
      return;
    if (a.starts_with("-") && a != "-")
      throw UsageError("unknown option '" + a + "' (simcc --help lists those there are)");
    input(a);
  }

  /// Options that cannot mean anything here.
  static void refuse(const std::string& a) {
    if (a == "-dryrun" || a == "--dryrun") throw UsageError(a + " is not supported; --verbose prints the commands");
    if (a == "-ptx" || a == "--ptx" || a == "-cubin" || a == "--cubin" || a == "-fatbin" || a == "--fatbin" ||
        a == "-dlink" || a == "--device-link" || a == "-S")
      throw UsageError(a + " is not supported: the simulator has no GPU code to show");
    if (a.starts_with("-fsanitize"))
      throw UsageError(a + " is not supported: the simulator itself uses the compiler's instrumentation");
    if (a == "-M" || a == "-MM" || a == "-MG") throw UsageError(a + " is not supported; use -MD or -MMD with -MF");
  }

  /// What to do, and with which compiler.
  bool simccs_option(const std::string& a) {
    Options& o = options_;
    if (a == "-h" || a == "--help") {
      o.help = true;
    } else if (a == "-v" || a == "--verbose") {
      o.verbose = true;
    } else if (a == "--keep" || a == "-keep" || a == "-save-temps") {
      o.keep = true;
    } else if (a == "-c" || a == "--compile" || a == "-dc" || a == "--device-c") {
      o.compile_only = true;
    } else if (a == "-E" || a == "--preprocess") {
      o.preprocess_only = true;
    } else if (a == "--device-lines") {
      o.device_lines_only = true;
    } else if (a == "--kernels") {
      o.kernels_only = true;
    } else if (a == "--rewrite") {
      o.rewrite_only = true;
    } else if (a == "-o" || a == "--output-file") {
      o.output = value(a);
    } else if (a == "--make-prelude") {
      o.make_prelude = value(a);
    } else if (a == "--prelude") {
      o.prelude = value(a);
    } else if (a == "--preprocessed") {
      o.preprocessed = value(a);
    } else if (a == "--homework") {
      o.homework = true;
    } else if (a == "--no-inline-caches") {
      o.inline_caches = false;
    } else if (a == "--check-calls") {
      o.mark = value(a);
      if (!o.mark.starts_with("0x") || o.mark.find_first_not_of("0123456789abcdef", 2) != std::string::npos)
        throw UsageError("--check-calls: a number like 0x1234 is meant");
    } else if (a.starts_with("--cxx=")) {
      o.cxx = a.substr(6);
    } else if (a == "--cxx" || a == "-ccbin" || a == "--compiler-bindir") {
      o.cxx = value(a);
    } else if (a.starts_with("-ccbin=")) {
      o.cxx = a.substr(7);
    } else if (a == "-x" || a == "--x") {
      language(value(a));
    } else {
      return false;
    }
    return true;
  }

  /// What is passed on by nvcc's own rules.
  bool option_of_all_steps(const std::string& a) {
    Options& o = options_;
    if (a.starts_with("-std=") || a.starts_with("--std=")) {
      standard(a.substr(a.find('=') + 1));
    } else if (a == "-std" || a == "--std") {
      standard(value(a));
    } else if (a == "-Xcompiler" || a == "--compiler-options" || a.starts_with("-Xcompiler=") ||
               a.starts_with("--compiler-options=")) {
      std::size_t equals = a.find('=');
      std::string list = equals == std::string::npos ? value(a) : a.substr(equals + 1);
      compiler_options(list);
    } else if (a == "-Xlinker" || a == "--linker-options") {
      for (const std::string& part : split(value(a), ',')) o.link.insert(o.link.end(), {"-Xlinker", part});
    } else {
      return false;
    }
    return true;
  }

  bool preprocessors_option(const std::string& a) {
    Options& o = options_;
    if (a.starts_with("-isystem") || a == "-idirafter" || a == "-iquote" || a == "--include-path" ||
        a == "--system-include") {
      std::string option = a == "--include-path"                                  ? "-I"
                           : a == "--system-include" || a.starts_with("-isystem") ? "-isystem"
                                                                                  : a;
      include_folder(option, a.starts_with("-isystem") ? joined_value(a, 8) : value(a));
    } else if (a == "-include" || a == "-imacros" || a == "--pre-include") {
      o.preprocess.insert(o.preprocess.end(), {a == "--pre-include" ? "-include" : a, value(a)});
    } else if (a.starts_with("-I")) {
      include_folder("-I", joined_value(a, 2));
    } else if (a.starts_with("-D") || a.starts_with("-U")) {
      o.preprocess.push_back(a.substr(0, 2) + joined_value(a, 2));
    } else if (a == "-MF" || a == "-MT" || a == "-MQ") {
      o.dependencies.insert(o.dependencies.end(), {a, value(a)});
    } else if (a == "-MD" || a == "-MMD" || a == "-MP") {
      o.dependencies.push_back(a);
    } else {
      return false;
    }
    return true;
  }

  bool linkers_option(const std::string& a) {
    Options& o = options_;
    if (a.starts_with("-l")) {
      std::string library = joined_value(a, 2);
      if (std::find(std::begin(kIgnoredLibraries), std::end(kIgnoredLibraries), library) ==
          std::end(kIgnoredLibraries)) {
        o.link.push_back("-l" + library);
      }
    } else if (a.starts_with("-L")) {
      o.link.push_back("-L" + joined_value(a, 2));
    } else if (a.starts_with("-Wl,") || a == "-shared" || a == "--shared" || a == "-static" || a == "-rdynamic" ||
               a.starts_with("-no-pie") || a == "-framework" || a == "-pie" || a.starts_with("-fuse-ld")) {
      o.link.push_back(a == "--shared" ? "-shared" : a);
      if (a == "-framework") o.link.push_back(value(a));
    } else {
      return false;
    }
    return true;
  }

  bool compilers_option(const std::string& a) {
    Options& o = options_;
    if (a.starts_with("-O") || a == "--optimize") {
      o.host_optimisation = a == "--optimize" ? "-O" + value(a) : a;
    } else if (a == "-pthread") {
      o.compile.push_back(a);
      o.link.push_back(a);
    } else if (a == "-g1") {
      o.lines_only = true;
    } else if (a.starts_with("-g") || a.starts_with("--debug")) {
      // always on
    } else if (a.starts_with("-W") || a == "-w" || a.starts_with("-f") || a.starts_with("-m") || a == "-pedantic" ||
               a == "-pipe" || a == "-ansi" || a.starts_with("-pedantic")) {
      o.compile.push_back(a);
      if (a == "-fopenmp") o.link.push_back(a);
    } else {
      return false;
    }
    return true;
  }

  void standard(const std::string& wanted) {
    options_.standard = newer_standard(wanted);
    options_.before_cxx20 = is_older_standard(wanted);
  }

  void compiler_options(const std::string& list) {
    for (std::string part : split(list, ',')) {
      part.erase(std::remove(part.begin(), part.end(), '"'), part.end());
      if (part.starts_with("-O"))
        options_.host_optimisation = part;
      else if (part.starts_with("-g"))
        continue;
      else if (part.starts_with("-fsanitize"))
        throw UsageError(part + " is not supported: the simulator itself uses the compiler's instrumentation");
      else
        options_.compile.push_back(part);
      if (part == "-fopenmp" || part == "-pthread") options_.link.push_back(part);
    }
  }

  void language(const std::string& name) {
    if (name == "cu")
      language_ = Language::cuda;
    else if (name == "c++" || name == "c")
      language_ = Language::plain;
    else if (name == "none")
      language_ = Language::by_name;
    else
      throw UsageError("-x " + name + " is not supported; use -x cu or -x c++");
  }

  void input(const std::string& path) {
    std::error_code error;
    if (!fs::exists(path, error)) throw UsageError("no such file: " + path);
    if (fs::is_directory(path, error)) throw UsageError(path + " is a folder");
    bool cuda = language_ == Language::cuda ||
                (language_ == Language::by_name && (ends_with(path, ".cu") || ends_with(path, ".cuh")));
    options_.inputs.push_back({path, cuda});
  }

  void check() const {
    const Options& o = options_;
    if (o.help) return;
    if (!o.make_prelude.empty()) {
      if (!o.inputs.empty()) throw UsageError("--make-prelude compiles no other files");
      return;
    }
    if (!o.preprocessed.empty() && (!o.compile_only || o.inputs.size() != 1))
      throw UsageError("--preprocessed needs -c and one input");
    if (o.inputs.empty()) throw UsageError("no input files (simcc --help explains)");
    bool one_output = o.compile_only || o.preprocess_only || o.rewrite_only || o.device_lines_only || o.kernels_only;
    if (one_output && !o.output.empty() && o.inputs.size() > 1)
      throw UsageError("-o names one file, but there are several inputs");
    if (!o.dependencies.empty() && o.inputs.size() > 1 &&
        std::find(o.dependencies.begin(), o.dependencies.end(), "-MF") != o.dependencies.end()) {
      throw UsageError("-MF names one file, but there are several inputs");
    }
  }

  enum class Language { by_name, cuda, plain };

  Args args_;
  std::size_t next_ = 0;
  Language language_ = Language::by_name;
  Options options_;
};

}  // namespace

Options parse_command_line(Args words) { return CommandLine(std::move(words)).parse(); }

}  // namespace tilewise::sim
