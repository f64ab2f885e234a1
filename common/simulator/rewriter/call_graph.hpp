// Who calls whom, as g++ says: calls that nvcc refuses, of members, operators and constructors, too.
#pragma once

#include <string_view>
#include <vector>

#include "rewriter.hpp"

namespace tilewise::sim {

/// Which functions of the C++ library device code may call.
enum class StandardLibrary {
  of_cxx17,  ///< those that are constexpr in C++17. g++ reads its headers as C++20, so some look so that are not.
  of_cxx20,  ///< those that are constexpr
  of_both    ///< all: cuda::std is here another name for std
};

/// The calls that host code makes of functions of the device, or device code of functions of the host, in the file that
/// -fdump-ipa-visibility has written, whose table is from before anything is inlined (-fdump-ipa-cgraph writes nothing where a precompiled
/// header is read). `functions` are those that the rewriter has marked.
std::vector<Diagnostic> calls_of_other_side(std::string_view call_graph, const std::vector<MarkedFunction>& functions,
                                            StandardLibrary library);

}  // namespace tilewise::sim
