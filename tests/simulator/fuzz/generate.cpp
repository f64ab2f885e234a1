// Writes a CUDA program of random kernels to standard output:
//   c++ -std=c++20 -O1 tests/simulator/fuzz/generate.cpp -o fuzz_kernels
//   ./fuzz_kernels SEED FIRST COUNT > kernels.cu
#include "generate.hpp"

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: fuzz_kernels SEED FIRST COUNT > kernels.cu\n", stderr);
    return 2;
  }
  auto number = [&](int i) { return std::strtoul(argv[i], nullptr, 10); };
  std::fputs(
      fuzz::program(number(1), static_cast<std::uint32_t>(number(2)), static_cast<std::uint32_t>(number(3))).c_str(),
      stdout);
  return 0;
}
