// main() of the program that a submission is linked into. See harness.hpp.
#include "harness.hpp"

#include <unistd.h>

#include <vector>

#include "tilewise_sim/library.hpp"
#include "tilewise_sim/report.hpp"

namespace {

using namespace tilewise::grader;

bool read_all(void* to, std::size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t n = read(kRequestDescriptor, at, bytes);
    if (n <= 0) return false;
    at += n, bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

bool write_all(const void* from, std::size_t bytes) {
  auto* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t n = write(kReplyDescriptor, at, bytes);
    if (n <= 0) return false;
    at += n, bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

struct DeviceArray {
  Type type;
  void* memory = nullptr;
  std::vector<char> host;
};

}  // namespace

struct HomeworkCase::State {
  Request request;
  std::vector<DeviceArray> arrays;
  bool misused = false;
  int broken = 0;
};

DevicePointer HomeworkCase::operator[](int i) const {
  if (i < 0 || i >= static_cast<int>(state_.arrays.size())) {
    state_.misused = true;
    return {nullptr, Type::float32, state_.misused};
  }
  const DeviceArray& a = state_.arrays[static_cast<std::size_t>(i)];
  return {a.memory, a.type, state_.misused};
}

void HomeworkCase::broke(int rule) const {
  if (state_.broken == 0) state_.broken = rule;
}

int HomeworkCase::size(int i) const {
  if (i < 0 || i >= kMostSizes) return state_.misused = true, 0;
  return state_.request.sizes[i];
}

double HomeworkCase::scalar_at(int i) const {
  if (i < 0 || i >= static_cast<int>(state_.request.scalar_count)) return state_.misused = true, 0;
  return state_.request.scalars[i];
}

int main() {
  HomeworkCase::State state;
  Request& request = state.request;
  if (!read_all(&request, sizeof request) || request.buffers > kMostBuffers || request.scalar_count > kMostScalars)
    return 3;
  for (std::uint32_t i = 0; i < request.buffers; ++i) {
    BufferHeader header;
    if (!read_all(&header, sizeof header)) return 3;
    DeviceArray& a = state.arrays.emplace_back(DeviceArray{header.type, nullptr, {}});
    a.host.resize(header.size * bytes_of(header.type));
    if (a.host.empty()) continue;
    if (!read_all(a.host.data(), a.host.size())) return 3;
    // Each buffer is an allocation of its own with red zones around it: the simulator reports what leaves it.
    if (cudaMalloc(&a.memory, a.host.size()) != cudaSuccess) return 3;
    if (cudaMemcpy(a.memory, a.host.data(), a.host.size(), cudaMemcpyHostToDevice) != cudaSuccess) return 3;
  }
  close(kRequestDescriptor);

  Reply reply;
  reply.nonce = request.nonce;
  const std::uint64_t launches = tilewise::sim::launches_ended();
  const std::uint64_t library_calls = tilewise::sim::last_library_call().serial;
  cudaError_t returned = cudaSuccess;
  reply.defined = homework_call(HomeworkCase(request.task, state), returned);
  reply.returned = returned;
  reply.synchronised = cudaDeviceSynchronize();
  reply.misused = state.misused;
  reply.broken = state.broken;
  reply.launches = tilewise::sim::launches_ended() - launches;
  reply.library_calls = tilewise::sim::last_library_call().serial - library_calls;
  for (DeviceArray& a : state.arrays) {
    if (a.host.empty()) continue;
    if (cudaMemcpy(a.host.data(), a.memory, a.host.size(), cudaMemcpyDeviceToHost) != cudaSuccess)
      reply.synchronised = reply.synchronised ? reply.synchronised : 1;
    cudaFree(a.memory);
  }
  reply.findings = tilewise::sim::finding_count();
  bool sent = write_all(&reply, sizeof reply);
  for (const DeviceArray& a : state.arrays) sent = sent && write_all(a.host.data(), a.host.size());
  sent = sent && write_all(&request.nonce, sizeof request.nonce);
  return sent ? 0 : 4;
}
