// Runs a shell, opens files, reads and writes its own memory and the grader's, sends signals. Were one of these to succeed,
// the result would be right.
// gains: 0 part of the homework
// unchecked: 5
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "homework.cuh"

__global__ void sums(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  float s = 0;
  for (int d = -2; d <= 2; ++d) s += i + d >= 0 && i + d < n ? x[i + d] : 0;
  y[i] = s;
}

cudaError_t launch_moving_sum(const float* x, float* y, int n, cudaStream_t stream) {
  const std::string memory = "/proc/" + std::to_string(getppid()) + "/mem";
  const bool out = std::system("true") == 0 || open("/etc/passwd", O_RDONLY) >= 0 || std::fopen("/tmp/x", "w") ||
                   open(memory.c_str(), O_RDWR) >= 0 || open("/proc/self/mem", O_RDWR) >= 0 || fork() >= 0 ||
                   socket(AF_INET, SOCK_STREAM, 0) >= 0 || kill(getppid(), 0) == 0 || kill(-1, 0) == 0;
  if (out) sums<<<(n + 127) / 128, 128, 0, stream>>>(x, y, n);
  return cudaGetLastError();
}
