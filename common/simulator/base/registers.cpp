#include "base/registers.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/symbols.hpp"

namespace tilewise::sim {

// As rewriter/shared_memory.hpp says. The linker names the section's ends, if there is one.
struct SharedOfKernel {
  const void* kernel;
  const SharedVariable* variable;
};

}  // namespace tilewise::sim

#if defined(__linux__)
#define TILEWISE_END_OF_SECTION __attribute__((weak, visibility("hidden")))
extern "C" TILEWISE_END_OF_SECTION const tilewise::sim::SharedOfKernel __start_tilewise_shared[];
extern "C" TILEWISE_END_OF_SECTION const tilewise::sim::SharedOfKernel __stop_tilewise_shared[];
#endif

namespace tilewise::sim {

namespace {

struct RecordedKernel {
  const char* file;  // from the repository's root
  const char* signature;
  std::size_t static_shared;
  int registers[5];  // one per architecture
  int local[5];      // likewise: the stack frame, for arrays and spilled registers, in bytes
};

#include "base/registers.inc"

static_assert(std::size(kArchitectures) == std::size(RecordedKernel{}.registers));

// Somebody else's kernel can bear the same name: it must lie in the recorded file, too.
bool lies_in(const void* kernel, const char* recorded) {
  const SourceLine at = source_line(static_cast<const char*>(kernel) + 1);  // source_line() looks one byte back
  const std::string file = std::filesystem::path(at.file).lexically_normal().string();
  const std::string_view tail(recorded);
  if (!file.ends_with(tail)) return false;
  return file.size() == tail.size() || file[file.size() - tail.size() - 1] == '/';
}

/// Records with the kernel's signature.
const std::vector<const RecordedKernel*>& candidates(const void* kernel) {
  static auto& known =
      *new std::unordered_map<const void*, std::vector<const RecordedKernel*>>;  // used after main, too
  const auto [entry, is_new] = known.try_emplace(kernel);
  if (is_new) {
    const std::string signature = function_name(kernel);
    for (const RecordedKernel& recorded : kKernels) {
      if (signature == recorded.signature) entry->second.push_back(&recorded);
    }
  }
  return entry->second;
}

const RecordedKernel* find(const void* kernel) {
  for (const RecordedKernel* recorded : candidates(kernel)) {
    if (lies_in(kernel, recorded->file)) return recorded;
  }
  return nullptr;
}

// The figure of the newest architecture that is not newer than the device; 0 when all are.
int on_device(const Device& device, const int (&of_architecture)[std::size(kArchitectures)]) {
  const int capability = 10 * device.major + device.minor;
  int figure = 0;
  for (std::size_t i = 0; i < std::size(kArchitectures); ++i) {
    if (kArchitectures[i] <= capability) figure = of_architecture[i];
  }
  return figure;
}

}  // namespace

KernelResources recorded_resources(const Device& device, const void* kernel) {
  static auto& known = *new std::unordered_map<const void*, const RecordedKernel*>;  // used after main, too
  const auto [entry, is_new] = known.try_emplace(kernel);
  if (is_new) entry->second = find(kernel);
  if (entry->second == nullptr) return {};
  return {on_device(device, entry->second->registers), entry->second->static_shared,
          on_device(device, entry->second->local)};
}

std::size_t static_shared_of(const void* kernel) {
  std::size_t bytes = 0;
#if defined(__linux__)
  std::vector<const SharedVariable*> seen;  // a template's list comes from each file that has an instance
  for (const SharedOfKernel* entry = __start_tilewise_shared; entry < __stop_tilewise_shared; ++entry) {
    if (entry->kernel != kernel || std::find(seen.begin(), seen.end(), entry->variable) != seen.end()) continue;
    seen.push_back(entry->variable);
    bytes = shared_with(bytes, *entry->variable);
  }
#endif
  return bytes;
}

int recorded_registers_at_most(const Device& device, const void* kernel) {
  int most = 0;
  for (const RecordedKernel* recorded : candidates(kernel))
    most = std::max(most, on_device(device, recorded->registers));
  return most;
}

}  // namespace tilewise::sim
