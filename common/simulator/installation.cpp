#include "installation.hpp"

#include <cstdint>
#include <system_error>

#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

namespace tilewise {

namespace fs = std::filesystem;

namespace {

fs::path this_program() {
  std::error_code error;
#ifdef __APPLE__
  char buffer[4096];
  std::uint32_t size = sizeof(buffer);
  if (_NSGetExecutablePath(buffer, &size) == 0) return fs::canonical(buffer, error);
  return {};
#else
  return fs::read_symlink("/proc/self/exe", error);
#endif
}

Installation find() {
  const fs::path prefix = this_program().parent_path().parent_path();
  const fs::path headers = prefix / "include/tilewise_simulator", libraries = prefix / "lib/tilewise";
  std::error_code none;
  if (fs::exists(headers / "cuda_runtime.h", none))
    return {true, prefix / "bin", headers, libraries, libraries / "homework", {}, prefix / "share/tilewise"};
  const fs::path source = TILEWISE_SOURCE_DIR, build = TILEWISE_BUILD_DIR;
  return {false,
          build / "bin",
          source / "common/simulator/include",
          build / "common/simulator",
          build / "homework",
          build / "preludes",
          source};
}

}  // namespace

const Installation& installation() {
  static const Installation found = find();
  return found;
}

}  // namespace tilewise
