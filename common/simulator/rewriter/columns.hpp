// Where in a line the compiler's messages point: it has read the rewritten line, and shows the source's.
#pragma once

#include <string>
#include <string_view>

namespace tilewise::sim {

/// g++'s messages of a rewritten source, their columns and marks as in the source's own lines. What has no place there stays as it is.
/// `rewritten`: the text that was compiled, with its line markers.
std::string in_columns_of_source(std::string_view messages, std::string_view rewritten);

/// A terminal's colours are no part of a message.
std::string without_colours(std::string_view line);

}  // namespace tilewise::sim
