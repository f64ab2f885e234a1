/// @file
/// What a submission may contain, looked at before it runs: kernels and their launches, and nothing that could get at
/// the grader, the simulator or the system.
#pragma once

#include <set>
#include <string>

namespace tilewise::grader {

/// "" or what the file itself must not have: directives that name other files or lines than there are. `libraries` are
/// those that it may call: cublas, cusparse. `folder` is where the file lies: a header of its own there is not the system's.
std::string refused_text(const std::string& text, const std::set<std::string>& libraries = {},
                         const std::string& folder = "");

/// "" or what the preprocessed source must not have, with its line. `file` is how the source was named to simcc,
/// `contract` the homework.cuh that it may include, `prelude` what g++ reads in the place of <cuda_runtime.h>, when it
/// does.
std::string refused_source(const std::string& preprocessed, const std::string& file, const std::string& contract,
                           const std::string& prelude = "");

/// "" or what the compiled submission must not call or define. `symbols` is what `nm OBJECT` printed.
std::string refused_symbols(const std::string& symbols, const std::set<std::string>& libraries = {});

// The look is at what simcc sees. nvcc may see something else, since a file can ask which compiler it is:

/// "" or what no line of the file may have, compiled or not, when nvcc compiles it, too.
std::string refused_for_nvcc(const std::string& text);

/// What `nm` printed of an object that nvcc made, as refused_symbols() wants it: without what nvcc itself adds.
std::string without_nvcc(const std::string& symbols);

/// Of what compilers said, only what is about the submission's own lines, the contract's, and headers of the system: other
/// files are nobody's business, whatever made the compiler read them.
std::string about_own_lines(const std::string& output, const std::string& file, const std::string& contract);

}  // namespace tilewise::grader
