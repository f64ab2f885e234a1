/// @file
/// What grader.cpp and gpu.cpp know together about a case on its way to a program and back (harness.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "harness.hpp"
#include "task.hpp"

namespace tilewise::grader {

/// What outputs hold before.
Values poison(const Values& like, std::size_t size);
bool is_poison(const Values& values, std::size_t i);

const char* data_of(const Values& values);
bool holds_integers(const Values& values);
Type type_of_values(const Values& values);

/// Whether values go in, and whether what comes out is compared with what is expected.
bool has_values(const Buffer& b);
bool is_result(const Buffer& b);

/// A number that a submission does not know.
std::uint64_t new_nonce();

/// The bytes of a Request and of all buffers of `p`; of the case `before` it first, if the request says that there is one.
std::string message_of(const Request& request, const Problem& p, const Problem* before = nullptr);
/// The Request of a case, filled in.
Request request_of(const std::string& task, const Sizes& sizes, const Problem& p, Mode mode);
/// Has the function called with this case first, by the same program.
void call_before(Request& request, const Sizes& sizes, const Problem& p);
/// How many bytes come back: a Reply, all buffers, and the nonce.
std::size_t reply_size(const Problem& p);
/// `size` elements, of the type of `like`, as they came back.
Values read_values(const Values& like, std::size_t size, const char* from);

}  // namespace tilewise::grader
