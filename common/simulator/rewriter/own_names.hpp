// Names of the simulator in the compiler's messages: a learner hasn't heard of them.
#pragma once

#include <string>
#include <string_view>

namespace tilewise::sim {

/// g++'s messages without proposals such as "did you mean ‘tilewise::sim::atomic_detail::sum’?" and the notes that say where that is.
/// All else stays as it is, colours too.
std::string without_own_names(std::string_view messages);

}  // namespace tilewise::sim
