// Runs the launches of the validation set in order, for a profiler to watch. `--list` prints their names instead.
// common/scripts/record/record-counters.sh turns what Nsight Compute read into docs/results/counters-<gpu>.json.
#include <cstdio>
#include <cstring>

#include "cases.cuh"

int main(int argc, char** argv) {
  const auto cases = validation::cases();
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const auto& c : cases) std::printf("%s\n", c.name.c_str());
    return 0;
  }
  validation::Data data;
  for (const auto& c : cases) {
    c.launch(data);
    const cudaError_t error = cudaDeviceSynchronize();
    const cudaError_t launch = cudaGetLastError();
    if (error != cudaSuccess || launch != cudaSuccess) {
      std::fprintf(stderr, "%s: %s\n", c.name.c_str(), cudaGetErrorString(error != cudaSuccess ? error : launch));
      return 1;
    }
  }
  std::printf("%zu launches\n", cases.size());
  return 0;
}
