// Who calls whom, as g++ says: calls that nvcc refuses, of members, operators and constructors, too.
#pragma once

#include <string_view>
#include <vector>

#include "rewriter.hpp"

namespace tilewise::sim {

/// The calls that host code makes of functions of the device, or device code of functions of the host, in the file that
/// -fdump-ipa-cgraph has written, whose first table is from before anything is inlined. `functions` are those that the rewriter has marked.
std::vector<Diagnostic> calls_of_other_side(std::string_view call_graph, const std::vector<MarkedFunction>& functions);

}  // namespace tilewise::sim
