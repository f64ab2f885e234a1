/// @file
/// The program that a submission is linked into: reads one case, runs it, sends everything back. It judges nothing,
/// and knows neither the expected result nor any other case; see common/grader/grader.hpp for who does.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string_view>

/// Calls the submitted function of `task` with sizes `d` and device buffers `b`; `error` is what it returned. False
/// when the submission does not have that function. Written once per chapter: tests/NN_topic/homework/calls.cu.
bool homework_call(std::string_view task, const int* d, float* const* b, cudaError_t& error);

namespace tilewise::grader {

/// What the grader sends on descriptor 3, followed by each buffer's length (u64) and its floats.
struct Request {
  std::uint64_t nonce = 0;
  char task[48] = {};
  std::int32_t sizes[4] = {};
  std::uint32_t buffers = 0;
  std::uint32_t unused = 0;
};

/// What comes back on descriptor 4, followed by the floats of all buffers and, once more, the nonce.
struct Reply {
  std::uint64_t nonce = 0;
  std::int32_t defined = 0;   ///< the submission has this function
  std::int32_t returned = 0;  ///< cudaError_t that it returned
  std::int32_t synchronised = 0;
  std::int32_t unused = 0;
  std::uint64_t launches = 0;
  std::uint64_t findings = 0;
};

constexpr int kRequestDescriptor = 3;
constexpr int kReplyDescriptor = 4;

}  // namespace tilewise::grader
