// What lets a program that is looked at in part run on: each place that loads or stores remembers where it may do so
// (base/inline_cache.hpp) and asks there itself, in five instructions, before it calls a hook.
#pragma once

#include <string>

namespace tilewise::sim {

/// Assembly in which the calls of the hooks of plain accesses, of 1 to 16 bytes, stand after a look into a cache of the place's
/// own, and the calls of Loop::iterate() after the question whether anybody follows loops. It comes last: `assembly` is what
/// the other steps have made.
std::string add_inline_caches(const std::string& assembly);

}  // namespace tilewise::sim
