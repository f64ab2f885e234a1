// simcc: compiles CUDA source for the simulator. Takes nvcc's place on a command line.
//
//   preprocess ($CXX -E)  ->  rewrite  ->  compile, instrumented  ->  link with the simulator's runtime
//
// Every step is a process of its own, started without a shell.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arithmetic.hpp"
#include "call_graph.hpp"
#include "checked_calls.hpp"
#include "columns.hpp"
#include "command_line.hpp"
#include "divisions.hpp"
#include "explanations.hpp"
#include "far_jumps.hpp"
#include "indirect_calls.hpp"
#include "inline_caches.hpp"
#include "installation.hpp"
#include "known_bits.hpp"
#include "own_names.hpp"
#include "processes.hpp"
#include "rewriter.hpp"
#include "shared_memory.hpp"
#include "thrust.hpp"
#include "two_sides.hpp"

// CMake passes these; the values here serve a simcc that was built by hand.
#ifndef TILEWISE_SIM_CUDA_LIBRARIES  // cuBLAS and the like: files beside the runtime
#define TILEWISE_SIM_CUDA_LIBRARIES ""
#endif
#ifndef TILEWISE_SIM_LINK_LIBRARIES
#define TILEWISE_SIM_LINK_LIBRARIES "-lboost_context"
#endif

namespace fs = std::filesystem;

namespace tilewise::sim {
namespace {

/// Programs compute the same everywhere: AArch64's char would have no sign.
constexpr const char* kSignedChar = "-fsigned-char";

class Driver {
 public:
  explicit Driver(const Options& options)
      : options_(options),
        temporary_(options.keep),
        include_dir_(tilewise::installation().headers.string()),
        cxx_(fs::exists(options.cxx) ? Args{options.cxx} : split(options.cxx, ' ')) {  // "ccache g++" is a compiler too
    if (cxx_.empty()) throw UsageError("the C++ compiler's name is empty");
    if (!fs::exists(fs::path(include_dir_) / "cuda_runtime.h")) {
      throw std::runtime_error("the simulator's headers are missing: no cuda_runtime.h in '" + include_dir_ + "'");
    }
  }

  int run_all() {
    if (!options_.make_prelude.empty()) return make_prelude();
    if (options_.preprocess_only || options_.rewrite_only || options_.device_lines_only || options_.kernels_only) {
      for (const Input& input : options_.inputs) {
        if (int status = show(input); status != 0) return status;
      }
      return 0;
    }
    Args objects;
    for (const Input& input : options_.inputs) {
      std::string extension = fs::path(input.path).extension().string();
      bool source = input.cuda || extension == ".cpp" || extension == ".cc" || extension == ".cxx" ||
                    extension == ".C" || extension == ".c" || extension == ".c++";
      if (!source) {
        objects.push_back(input.path);
        continue;
      }
      std::string stem = fs::path(input.path).stem().string();
      std::string object = temporary_.file(stem + "-" + std::to_string(objects.size()) + ".o");
      if (options_.compile_only) object = options_.output.empty() ? stem + ".o" : options_.output;
      int status = input.cuda ? compile_cuda(input.path, object) : compile_plain(input.path, object, extension == ".c");
      if (status != 0) return status;
      objects.push_back(object);
    }
    return options_.compile_only ? 0 : link(objects);
  }

 private:
  /// Clang needs other flags than g++. Asked once; `cc` and `c++` may be either.
  bool is_clang() {
    if (clang_ < 0) {
      std::string file = temporary_.file("version");
      Args command = cxx_;
      command.push_back("--version");
      int status = run(command, options_.verbose, file, file + ".err");
      if (status != 0) throw std::runtime_error(cxx_[0] + " --version failed");
      version_ = read_file(file);
      clang_ = version_.find("clang") != std::string::npos ? 1 : 0;
      if (clang_ == 1) refuse_unknown_clang();
    }
    return clang_ == 1;
  }

  /// Some of the flags are clang's internal ones, which a newer version may call otherwise. Apple counts on its own.
  void refuse_unknown_clang() const {
    constexpr int kFirst = 14, kLast = 19;
    constexpr std::string_view kName = "clang version ";
    const std::size_t at = version_.find(kName);
    if (at == std::string::npos || version_.find("Apple") != std::string::npos) return;
    const int version = std::atoi(version_.c_str() + at + kName.size());
    if (version >= kFirst && version <= kLast) return;
    throw std::runtime_error(cxx_[0] + " is clang " + std::to_string(version) + "; simcc knows clang " +
                             std::to_string(kFirst) + " to " + std::to_string(kLast) +
                             ". Choose another compiler with --cxx, or g++");
  }

  /// The option by which clang does not reckon with values being defined; LLVM 15 renamed it.
  const char* noundef_flag() const {
    bool old = version_.find("clang version 14.") != std::string::npos &&
               version_.find("Apple clang version 14.0.3") == std::string::npos;
    return old ? "-disable-noundef-analysis" : "-no-enable-noundef-analysis";
  }

  void append(Args& command, const Args& more) const { command.insert(command.end(), more.begin(), more.end()); }

  Args include_flags() const { return {"-isystem", include_dir_, "-DTILEWISE_SIMULATOR=1"}; }

  Args dependency_flags(const std::string& object) const {
    const Args& given = options_.dependencies;
    if (given.empty()) return {};
    Args flags = given;
    auto has = [&](const char* flag) { return std::find(given.begin(), given.end(), flag) != given.end(); };
    if (!has("-MF")) {
      std::string base = options_.output.empty() ? object : options_.output;
      append(flags, {"-MF", fs::path(base).replace_extension(".d").string()});
    }
    if (!has("-MT") && !has("-MQ")) append(flags, {"-MT", options_.output.empty() ? object : options_.output});
    return flags;
  }

  /// What device code sees before anything else.
  Args definitions() {
    Args flags{"-std=" + options_.standard, kSignedChar, "-D__CUDACC__=1", "-D__NVCC__=1"};
    // Some distributions' compilers define it, and C functions are then called by other names.
    flags.push_back("-U_FORTIFY_SOURCE");
    // The version that the simulator's headers follow (CUDART_VERSION), and what the ignored nvcc options would define.
    append(flags, {"-D__CUDACC_VER_MAJOR__=12", "-D__CUDACC_VER_MINOR__=8", "-D__CUDACC_VER_BUILD__=0",
                   "-D__CUDACC_EXTENDED_LAMBDA__=1", "-D__CUDACC_RELAXED_CONSTEXPR__=1"});
    // Eigen then is for host code alone, as it says itself; what it marks for the device differs by __CUDA_ARCH__ throughout.
    flags.push_back("-DEIGEN_NO_CUDA=1");
    append(flags, options_.preprocess);
    append(flags, thrust_flags(include_dir_));
    append(flags, include_flags());
    // What C++20 has and older programs have of their own: a literal's type, and lerp(), see <cuda_runtime.h>.
    if (options_.before_cxx20) append(flags, {"-fno-char8_t", "-DTILEWISE_BEFORE_CXX20"});
    return flags;
  }

  /// Almost all of a small file's compile time goes into <cuda_runtime.h> and the C++ headers that it includes. g++ can
  /// keep what it knows after them: the preprocessed source then names that file in their place, and the rewriter,
  /// which copies system headers as they are, sees as much of them as before. Where the file does not fit (another
  /// version of g++, another option), g++ includes prelude.h instead, and all is as without. libstdc++'s special functions
  /// (std::beta and kin) are left out: g++ would instantiate every one of them in every file, for longer than a small file takes.
  int make_prelude() {
    if (is_clang()) return 0;
    std::string includes;  // of files that -include names
    Args& given = options_.preprocess;
    for (auto at = given.begin(); (at = std::find(at, given.end(), "-include")) != given.end();) {
      includes += "#include \"" + *(at + 1) + "\"\n";
      at = given.erase(at, at + 2);
    }
    const fs::path header = fs::absolute(options_.make_prelude) / "prelude.h";
    fs::create_directories(header.parent_path());
    // Others may be making the same one, or use what is there already.
    const std::string unfinished = header.string() + ".new-" + std::to_string(getpid());
    write_file(
        unfinished,
        "#include <cstddef>\n"
        "#undef _GLIBCXX_USE_STD_SPEC_FUNCS\n"
        "#include <cuda_runtime.h>\n"
        "#include <bits/stl_algobase.h>\n" +  // <cmath> has std::min by its special functions: programs count on it
            includes);
    fs::rename(unfinished, header);
    Args command = cxx_;
    append(command, {"-x", "c++-header"});
    append(command, definitions());
    append(command, options_.compile);
    append(command, all_instrumentation_flags());
    append(command, {header.string(), "-o", unfinished});
    if (int status = run(command, options_.verbose); status != 0) return status;
    const std::string preprocessed = unfinished + ".ii";
    command = cxx_;
    append(command, {"-E", "-x", "c++"});
    append(command, definitions());
    append(command, options_.compile);
    command.push_back(header.string());
    if (int status = run(command, options_.verbose, preprocessed); status != 0) return status;
    fs::rename(preprocessed, header.string() + ".ii");
    fs::rename(unfinished, header.string() + ".gch");  // last: it is what is asked for
    return 0;
  }

  /// The folder of the prelude that the build has made for such a file; empty where there is none, where it is older than simcc or one
  /// of the headers, and where options may go into code. (What g++ itself finds different, it says: see compile_with_prelude.)
  std::string prelude_of_build() {
    const tilewise::Installation& here = tilewise::installation();
    if (here.installed || !options_.prelude.empty() || is_clang() || options_.standard != "c++20" ||
        !options_.preprocessed.empty())
      return {};
    for (const std::string& option : options_.compile)
      if (!option.starts_with("-W") && option != "-w") return {};
    for (const std::string& option : options_.preprocess)
      if (option == "-include" || option == "-imacros") return {};  // these come first
    for (const std::string& option : options_.dependencies)
      if (option == "-MD") return {};  // which lists all headers
    for (const char* folders : {"CPATH", "CPLUS_INCLUDE_PATH"})
      if (const char* set = std::getenv(folders); set != nullptr && *set != '\0') return {};
    std::error_code none;
    const fs::path folder = here.preludes / (options_.before_cxx20 ? "before_cxx20" : "cxx20");
    const auto made = fs::last_write_time(folder / "prelude.h.gch", none);
    if (none || fs::last_write_time(here.programs / "simcc", none) > made || none) return {};
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(include_dir_, none))
      if (entry.last_write_time(none) > made) return {};
    return none ? std::string() : folder.string();
  }

  /// Whether a folder that the command line names has a file of the name of one of the prelude's headers: that would come first.
  bool hides_a_header() const {
    std::vector<fs::path> folders;
    for (std::size_t i = 0; i + 1 < options_.preprocess.size(); ++i)
      if (options_.preprocess[i] == "-I" || options_.preprocess[i] == "-isystem")
        folders.emplace_back(options_.preprocess[++i]);
    const auto hides = [](const fs::path& file, const fs::path& header) {
      std::error_code none;
      return file != header && fs::exists(file, none);
    };
    constexpr std::string_view kEntered = "\" 1";
    for (std::size_t at = headers_.find("\n# 1 \""); !folders.empty() && at != std::string::npos;
         at = headers_.find("\n# 1 \"", at + 1)) {
      const std::string line = headers_.substr(at + 6, headers_.find('\n', at + 1) - at - 6);
      const std::size_t end = line.find(kEntered);
      if (end == std::string::npos) continue;
      const fs::path header = line.substr(0, end);
      for (const fs::path& folder : folders)
        if (hides(folder / header.filename(), header) ||
            hides(folder / header.parent_path().filename() / header.filename(), header))
          return true;
    }
    return false;
  }

  /// Compiles with the build's prelude: nothing where it doesn't fit, or g++ has an error to tell. All is as without it, in a fourth of
  /// the time: the rewriter sees the whole text, and g++ what it knows already in place of the headers, where these have come out of the
  /// rewriter as they were.
  std::optional<int> compile_with_prelude(const std::string& path, const std::string& object) {
    const std::string folder = prelude_of_build();
    if (folder.empty()) return {};
    headers_ = read_file(folder + "/prelude.h.ii");
    if (hides_a_header()) {
      headers_.clear();
      return {};
    }
    std::ostringstream said;
    std::streambuf* const errors = std::cerr.rdbuf(said.rdbuf());
    refused_ = false;
    options_.prelude = folder;
    int status = 1;
    try {
      status = compile_with(path, object);
    } catch (const std::exception&) {  // it will be said without a prelude, too
    }
    options_.prelude.clear();
    headers_.clear();
    std::cerr.rdbuf(errors);
    if (status != 0 && !refused_) return {};
    std::cerr << said.str();
    return status;
  }

  /// What g++ writes where it reads a prelude.
  std::string line_of_prelude() const {
    return "#pragma GCC pch_preprocess \"" + (fs::absolute(options_.prelude) / "prelude.h.gch").string() + "\"\n";
  }

  /// The preprocessed text with the headers, which are in the build's prelude; empty where g++ has not taken it.
  std::string with_headers(const std::string& preprocessed) const {
    const std::string line = line_of_prelude();
    const std::size_t at = preprocessed.find(line);
    return at == std::string::npos ? "" : preprocessed.substr(0, at) + headers_ + preprocessed.substr(at + line.size());
  }

  /// And without them; empty where the rewriter has changed them.
  std::string without_headers(const std::string& rewritten) const {
    const std::size_t at = rewritten.find(headers_);
    if (at == std::string::npos) return "";
    return rewritten.substr(0, at) + line_of_prelude() + rewritten.substr(at + headers_.size());
  }

  /// Whether host and device code may differ. The preprocessed text has no macros; the files that it names have.
  bool differs_by_architecture(const std::string& preprocessed, const std::string& path) const {
    for (const std::string& option : options_.preprocess) {
      if (option.find("__CUDA_ARCH__") != std::string::npos) return !option.starts_with("-D__CUDA_ARCH__");
    }
    return asks_for_architecture(preprocessed, path);
  }

  /// Preprocesses `path` into `result` as host code sees it, with the bodies of device functions as device code does.
  int preprocess_both(const std::string& path, const std::string& object, const std::string& result) {
    if (int status = preprocess(path, object, result); status != 0) return status;
    std::string host = read_file(result);
    if (!headers_.empty()) {
      host = with_headers(host);
      if (host.empty() || differs_by_architecture(host, path)) return 1;
    }
    if (const std::string header = foreign_header(host); !header.empty()) {
      std::cerr << "simcc: <" << fs::path(header).filename().string() << "> is not supported by the simulator ("
                << header << " belongs to a CUDA Toolkit)\n";
      return 1;
    }
    if (!differs_by_architecture(host, path)) return 0;
    const std::string of_device = result + ".device.ii";
    if (int status = preprocess(path, object, of_device, true); status != 0) return status;
    const RewriteResult joined = join_sides(host, read_file(of_device), path);
    print(joined.diagnostics);
    if (!joined.ok()) return 1;
    write_file(result, joined.text);
    return 0;
  }

  /// Preprocesses `path` into `result`, which may be empty for stdout.
  int preprocess(const std::string& path, const std::string& object, const std::string& result,
                 bool for_device = false) {
    Args command = cxx_;
    append(command, {"-E", "-x", "c++"});
    append(command, definitions());
    if (!options_.prelude.empty() && !is_clang()) {
      append(command, all_instrumentation_flags());  // these must be as they were
      append(command, {"-fpch-preprocess", "-include", (fs::absolute(options_.prelude) / "prelude.h").string()});
    } else {
      append(command, {"-include", "cuda_runtime.h"});
    }
    append(command, options_.compile);
    if (!is_clang()) command.push_back("-Wno-unknown-pragmas");
    if (for_device) {
      // The simulated card's, where the command line names none.
      constexpr int kOfH200 = 90;
      const int architecture = options_.architecture == 0 ? kOfH200 : options_.architecture;
      command.push_back("-D__CUDA_ARCH__=" + std::to_string(10 * architecture));
    } else {
      append(command, dependency_flags(object));
    }
    command.push_back(path);
    std::string messages = temporary_.file("preprocess.err");
    int status = run(command, options_.verbose, result, messages);
    std::string text = read_file(messages);
    if (!for_device || status != 0) std::cerr << text;  // else it has been said
    if (status != 0) explain_missing_header(text);
    if (status == 0 && !result.empty()) {
      const std::string whole = read_file(result);
      if (whole.find("/thrust/") != std::string::npos) write_file(result, as_host_code_of_thrust(whole));
    }
    return status;
  }

  /// The same. What a prelude stands for, the rewriter doesn't see; before it refuses a program, it has to.
  bool rewritten_file(const std::string& preprocessed, const std::string& path, const std::string& object,
                      std::string& text) {
    if (options_.prelude.empty()) return rewrite_file(preprocessed, path, text);
    if (!headers_.empty()) {
      refused_ = !rewrite_text(with_headers(read_file(preprocessed)), path, text);
      if (refused_) return false;
      text = without_headers(text);
      return !text.empty();
    }
    RewriteResult result = rewrite(read_file(preprocessed), path, options_.homework, host_functions());
    text = std::move(result.text);
    functions_ = std::move(result.functions);
    if (result.ok()) return true;
    const std::string whole = preprocessed + ".whole.ii";
    const std::string prelude = std::exchange(options_.prelude, "");
    const int status = preprocess_both(path, object, whole);
    const bool right = status == 0 && rewrite_file(whole, path, text);
    options_.prelude = prelude;
    return right;
  }

  /// A header of a CUDA Toolkit in the compiler's own folders, which the simulator doesn't have: it would bring the toolkit's types
  /// with it. Empty when there is none.
  std::string foreign_header(const std::string& preprocessed) const {
    std::istringstream lines(preprocessed);
    std::vector<std::string> open;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("# ")) continue;
      const std::size_t first = line.find('"'), last = line.rfind('"');
      if (first == std::string::npos || last <= first) continue;
      const std::string file = line.substr(first + 1, last - first - 1), flags = line.substr(last + 1);
      if (flags.find(" 2") != std::string::npos && !open.empty()) open.pop_back();
      if (flags.find(" 1") == std::string::npos) continue;
      open.push_back(file);
      const bool of_toolkit =
          ends_with(file, "/crt/host_config.h") || ends_with(file, "/driver_types.h") ||
          ends_with(file, "/vector_types.h") || ends_with(file, "/cuda_runtime_api.h") ||
          (ends_with(file, "/cuda.h") && fs::exists(fs::path(file).parent_path() / "driver_types.h"));
      if (!of_toolkit || file.starts_with(include_dir_)) continue;
      const std::string folder = fs::path(file).parent_path().string();
      for (const std::string& outer : open) {
        if (outer.starts_with(folder)) return outer;
      }
      return file;
    }
    return {};
  }

  static void print(const std::vector<Diagnostic>& diagnostics) {
    for (const Diagnostic& d : diagnostics) {
      std::cerr << d.file << ':' << d.line << ": error: " << d.message << '\n';
    }
  }

  /// False when the source uses something unsupported; the reasons have been printed.
  bool rewrite_file(const std::string& preprocessed, const std::string& path, std::string& text) {
    return rewrite_text(read_file(preprocessed), path, text);
  }

  bool rewrite_text(const std::string& preprocessed, const std::string& path, std::string& text) {
    RewriteResult result = rewrite(preprocessed, path, options_.homework, host_functions());
    print(result.diagnostics);
    text = std::move(result.text);
    functions_ = std::move(result.functions);
    return result.ok();
  }

  /// The lines of `path` itself, each at its number, without the headers and line markers.
  static std::string own_lines(const std::string& text, const std::string& path) {
    std::string out;
    std::string line;
    std::istringstream stream(text);
    long number = 1;  // of the line read next
    long row = 1;     // of the line being written
    bool ours = true;
    while (std::getline(stream, line)) {
      if (line.starts_with("# ") && line.size() > 2 && line[2] >= '0' && line[2] <= '9') {
        std::size_t quote = line.find('"');
        number = std::strtol(line.c_str() + 2, nullptr, 10);
        ours = quote != std::string::npos && line.compare(quote + 1, path.size() + 1, path + "\"") == 0;
        continue;
      }
      if (ours && line.find_first_not_of(' ') != std::string::npos) {
        // A macro may spread one line of the source over several.
        if (row >= number && !out.empty() && out.back() != '\n') line.erase(0, line.find_first_not_of(' ')), out += ' ';
        for (; row < number; ++row) out += '\n';
        out += line;
      }
      ++number;
    }
    return out + "\n";
  }

  int show(const Input& input) {
    std::string preprocessed = temporary_.file("shown.ii");
    const int status = !options_.preprocess_only ? preprocess_both(input.path, input.path, preprocessed)
                                                 : preprocess(input.path, input.path, preprocessed);
    if (status != 0) return status;
    std::string text;
    if (options_.rewrite_only) {
      if (!rewrite_file(preprocessed, input.path, text)) return 1;
      text = own_lines(text, input.path);
    } else if (options_.device_lines_only) {
      text = device_lines(read_file(preprocessed), input.path);
    } else if (options_.kernels_only) {
      text = kernel_list(read_file(preprocessed), input.path);
    } else {
      text = read_file(preprocessed);
    }
    if (options_.output.empty()) {
      std::cout << text;
    } else {
      write_file(options_.output, text);
    }
    return 0;
  }

  /// Whether the code may go into a shared library.
  bool for_library() const {
    const auto has = [](const Args& options, const char* option) {
      return std::find(options.begin(), options.end(), option) != options.end();
    };
    return has(options_.compile, "-fPIC") || has(options_.compile, "-fpic") || has(options_.link, "-shared");
  }

  /// g++ can say who calls whom before it has inlined anything. --rewrite shows the program as it was.
  HostFunctions host_functions() {
    if (options_.rewrite_only) return HostFunctions::unseen;
    return is_clang() ? HostFunctions::at_run_time : HostFunctions::in_call_graph;
  }

  int compile_cuda(const std::string& path, const std::string& object) {
    const std::optional<int> status = compile_with_prelude(path, object);
    return status ? *status : compile_with(path, object);
  }

  int compile_with(const std::string& path, const std::string& object) {
    std::string stem = fs::path(path).stem().string();
    std::string preprocessed = temporary_.file(stem + ".preprocessed.ii");
    std::string rewritten = temporary_.file(stem + ".rewritten.ii");
    if (int status = preprocess_both(path, object, preprocessed); status != 0) return status;
    if (!options_.preprocessed.empty())
      fs::copy_file(preprocessed, options_.preprocessed, fs::copy_options::overwrite_existing);
    std::string text;
    if (!rewritten_file(preprocessed, path, object, text)) return 1;
    write_file(rewritten, text);

    const bool counts_arithmetic = can_count_arithmetic();
    const std::string assembly = temporary_.file(stem + ".s");
    Args command = cxx_;
    append(command,
           {"-x", "c++-cpp-output", counts_arithmetic ? "-S" : "-c", "-std=" + options_.standard, kSignedChar});
    if (options_.before_cxx20) command.push_back("-fno-char8_t");
    append(command, options_.compile);
    append(command, all_instrumentation_flags());
    append(command, {rewritten, "-o", counts_arithmetic ? assembly : object});
    const std::string calls = temporary_.file(stem + ".calls");
    const bool looks_at_calls = !functions_.empty();
    if (looks_at_calls) command.push_back("-fdump-ipa-visibility=" + calls);
    if (int status = run_compiler(command, text); status != 0) return status;
    if (looks_at_calls) {
      const auto includes = [&](const char* header) { return text.find(include_dir_ + header) != std::string::npos; };
      const bool has_cuda_std = includes("/cuda/") || includes("/nvfunctional");
      const StandardLibrary library = has_cuda_std            ? StandardLibrary::of_both
                                      : options_.before_cxx20 ? StandardLibrary::of_cxx17
                                                              : StandardLibrary::of_cxx20;
      const auto refused = calls_of_other_side(read_file(calls), functions_, library);
      print(refused);
      refused_ = !refused.empty();
      if (refused_) return 1;
    }
    if (!counts_arithmetic) return 0;
    std::string code = count_arithmetic(tell_known_bits(tell_alignment(read_file(assembly))), for_library());
    code = look_at_divisions(list_shared_variables(code));
    // Code that isn't trusted has no memory of its own in which it is said what need not be looked at.
    if (!options_.mark.empty())
      code = check_calls(code, options_.mark);
    else if (options_.inline_caches)
      code = look_at_indirect_calls(add_inline_caches(code));
    write_file(assembly, lengthen_jumps(code));
    Args assemble = cxx_;
    append(assemble, {"-c", assembly, "-o", object});
    return run(assemble, options_.verbose);
  }

  /// Runs the compiler. When it fails, names that CUDA has and the simulator lacks are named again. `rewritten`: what it reads in place
  /// of the source.
  int run_compiler(Args command, const std::string& rewritten = {}) {
    if (isatty(STDERR_FILENO) != 0) command.push_back("-fdiagnostics-color=always");
    const std::string messages = temporary_.file("compile.err");
    const int status = run(command, options_.verbose, "", messages);
    const std::string text = read_file(messages);
    std::cerr << (text.empty() || rewritten.empty() || is_clang()
                      ? text
                      : without_own_names(in_columns_of_source(text, rewritten)));
    if (status != 0) explain_missing_names(text);
    return status;
  }

  /// Memory accesses as written: each load and store of the source is one call to a hook, and none is merged with
  /// another, turned into a library call, or moved to a clone of its function.
  Args instrumentation_flags() {
    Args flags = {"-O1",
                  "-gdwarf-4" /* GNU addr2line 2.40 misreads version 5 */,
                  "-fsanitize=thread,bounds,return",
                  "-fno-optimize-sibling-calls",
                  "-fno-builtin-memset",
                  "-fno-builtin-memcpy",
                  "-Wno-unknown-pragmas"};
    if (options_.lines_only) flags.push_back("-g1");
    // What distributions add to each function, Ubuntu for one: the same code is made everywhere.
    flags.push_back("-fno-stack-protector");
#if defined(__x86_64__)
    flags.push_back("-fcf-protection=none");
#elif defined(__aarch64__) && defined(__linux__)
    flags.push_back("-mbranch-protection=none");
    // A product and a sum are rounded one by one, and how wide the compiler moves a struct says how it is aligned (rewriter/arithmetic.hpp).
    append(flags, {"-ffp-contract=off", is_clang() ? "-mno-unaligned-access" : "-mstrict-align"});
    if (!is_clang()) flags.push_back("-fno-section-anchors");  // else the assembly doesn't name the variables
#endif
#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__linux__)
    // A large array touches every page of the stack, the guard below it too, instead of jumping over that.
    flags.push_back("-fstack-clash-protection");
#endif
    if (is_clang()) {
      // A shuffle's value is often set in the lane alone that it is read from; C++ calls the rest undefined, CUDA does
      // not.
      append(flags, {"-Xclang", noundef_flag()});
#if defined(__linux__)
      // Else the object file names functions whose calls are replaced in its assembly.
      flags.push_back("-fno-addrsig");
#endif
      append(flags, {"-mllvm", "-tsan-instrument-read-before-write", "-mllvm", "-tsan-distinguish-volatile=1",
                     "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-Wno-deprecated-volatile"});
      // What a learner has written by mistake stays: an endless loop, and an int that overflows.
      append(flags, {"-fno-finite-loops", "-fwrapv"});
      // Else loads at the end of two branches become one, and it has the line of neither.
      append(flags, {"-mllvm", "-simplifycfg-sink-common=false"});
      // Else a vector that is loaded whole and used by its parts becomes several loads.
      append(flags, {"-mllvm", "-disable-vector-combine"});
      // Arithmetic under a condition is executed where the condition holds, and not everywhere and thrown away.
      append(flags, {"-mllvm", "-two-entry-phi-node-folding-threshold=0", "-mllvm", "-phi-node-folding-threshold=0",
                     "-mllvm", "-speculate-one-expensive-inst=0"});
    } else {
      append(flags, {"--param=tsan-distinguish-volatile=1", "-fno-tree-loop-distribute-patterns", "-fno-crossjumping",
                     "-fno-ipa-icf", "-fno-ipa-cp", "-fno-ipa-sra", "-fno-partial-inlining", "-Wno-volatile"});
      // Jump threading copies blocks, and an access in two places would count as two warp instructions.
      append(flags, {"-fno-thread-jumps"});
    }
    return flags;
  }

  Args all_instrumentation_flags() {
    Args flags = instrumentation_flags();
    if (can_count_arithmetic())
      flags.push_back(is_clang() ? "-fsanitize-coverage=bb,trace-pc,no-prune" : "-fsanitize-coverage=trace-pc");
    return flags;
  }

  int compile_plain(const std::string& path, const std::string& object, bool is_c) {
    Args command = cxx_;
    append(command, {"-x", is_c ? "c" : "c++", "-c", options_.host_optimisation, "-g", kSignedChar});
    if (!is_c) command.push_back("-std=" + options_.standard);
    append(command, options_.preprocess);
    append(command, include_flags());
    if (!is_c && options_.before_cxx20)
      append(command, {"-fno-char8_t", "-include", include_dir_ + "/tilewise_sim/before_cxx20.h"});
    append(command, options_.compile);
    append(command, dependency_flags(object));
    append(command, {path, "-o", object});
    return run_compiler(command);
  }

  int link(const Args& objects) {
    const fs::path libraries = tilewise::installation().libraries;
    const std::string library = (libraries / "libtilewise_sim.a").string();
    if (!fs::exists(library)) throw std::runtime_error("the simulator's runtime is missing: '" + library + "'");
    Args command = cxx_;
    append(command, objects);
    append(command, {"-o", options_.output.empty() ? "a.out" : options_.output});
    append(command, options_.link);
    // Archives: only what a program calls is linked, with -lcublas or without. Whoever builds simcc's parts one by one
    // may have none of them.
    for (const std::string& name : split(TILEWISE_SIM_CUDA_LIBRARIES, ' ')) {
      const fs::path archive = libraries / name;
      if (fs::exists(archive)) command.push_back(archive.string());
    }
    command.push_back(library);
    for (const std::string& name : split(TILEWISE_SIM_LINK_LIBRARIES, ' ')) {
      const fs::path beside = libraries / fs::path(name).filename();  // an installation's own
      command.push_back(name[0] == '/' && fs::exists(beside) ? beside.string() : name);
    }
    command.push_back("-rdynamic");  // so that reports can name functions
#if !defined(__APPLE__)
    for (const char* name : {"memcpy", "memmove", "memset"})  // seen by the runtime when device code calls them
      command.push_back(std::string("-Wl,--wrap=") + name);
#endif
    return run(command, options_.verbose);
  }

  Options options_;
  std::string headers_;   // of the build's prelude, preprocessed, while a file is compiled with it
  bool refused_ = false;  // the rewriter, which sees all of a file, has said what is wrong with it
  TemporaryFolder temporary_;
  std::string include_dir_;
  Args cxx_;
  int clang_ = -1;                         // not asked yet
  std::vector<MarkedFunction> functions_;  // of the file that is being compiled
  std::string version_;                    // what the compiler says of itself, once is_clang() has asked
};

}  // namespace
}  // namespace tilewise::sim

int main(int argc, char** argv) {
  using namespace tilewise::sim;
  try {
    const Options options = parse_command_line(Args(argv + 1, argv + argc));
    if (options.help) {
      std::cout << kHelp;
      return 0;
    }
    return Driver(options).run_all();
  } catch (const UsageError& error) {
    std::cerr << "simcc: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "simcc: " << error.what() << '\n';
    return 1;
  }
}
