// cudaMemcpy() has returned. Are the bytes there? A kernel in a stream of its own looks.
//
//   make sim FILE=chapters/15_streams_and_graphs/arrived.cu ARGS=pageable     (or: pinned, waited)
//   nvcc arrived.cu && ./a.out pageable 1048576
//
// Complete and without our library.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                \
  do {                                                                             \
    if (const cudaError_t error = (call)) {                                        \
      std::fprintf(stderr, "arrived: %s: %s\n", #call, cudaGetErrorString(error)); \
      std::exit(2);                                                                \
    }                                                                              \
  } while (false)

/// Adds 1 to *old if the first or the last of n bytes isn't `expected`.
__global__ void look(const unsigned char* bytes, int n, unsigned char expected, int* old) {
  if (bytes[0] != expected || bytes[n - 1] != expected) *old += 1;
}

/// How often a kernel in `stream` finds old bytes after a copy of n bytes in the default stream.
/// waits: the host waits for the default stream before it asks for the kernel.
int old_bytes(unsigned char* from, int n, int rounds, bool waits, cudaStream_t stream) {
  unsigned char* to;
  int *old, times;
  CHECK(cudaMalloc(&to, n));
  CHECK(cudaMalloc(&old, sizeof(int)));
  CHECK(cudaMemset(to, 0, n));
  CHECK(cudaMemset(old, 0, sizeof(int)));
  CHECK(cudaDeviceSynchronize());
  for (int round = 0; round < rounds; ++round) {
    const unsigned char value = 1 + round % 200;
    std::memset(from, value, n);
    CHECK(cudaMemcpy(to, from, n, cudaMemcpyHostToDevice));
    if (waits) CHECK(cudaStreamSynchronize(nullptr));
    look<<<1, 1, 0, stream>>>(to, n, value, old);
    CHECK(cudaDeviceSynchronize());  // only now may the next round begin
  }
  CHECK(cudaMemcpy(&times, old, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(to));
  CHECK(cudaFree(old));
  return times;
}

/// The number that a text is, from 1 to `most`; 0 if it isn't one.
int number(const char* text, long most) {
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return end != text && *end == '\0' && value >= 1 && value <= most ? static_cast<int>(value) : 0;
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "pageable";
  const int n = argc > 2 ? number(argv[2], 2147483647) : 1 << 20;
  const int rounds = argc > 3 ? number(argv[3], 1000000) : 100;
  const bool pinned = std::strcmp(way, "pinned") == 0, waits = std::strcmp(way, "waited") == 0;
  const bool known = pinned || waits || std::strcmp(way, "pageable") == 0;
  if (argc > 4 || !known || n == 0 || rounds == 0) {
    std::fprintf(stderr,
                 "arrived: say pageable, pinned or waited, then how many bytes (1 to "
                 "2,147,483,647) and how often (1 to 1,000,000)\n");
    return 2;
  }
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  unsigned char* from = nullptr;
  if (pinned)
    CHECK(cudaMallocHost(&from, n));
  else
    from = static_cast<unsigned char*>(std::malloc(n));
  if (from == nullptr) return 2;
  const int times = old_bytes(from, n, rounds, waits, stream);
  if (pinned)
    CHECK(cudaFreeHost(from));
  else
    std::free(from);
  CHECK(cudaStreamDestroy(stream));
  std::printf("%d bytes, %s: the kernel found old bytes %d times of %d\n", n, way, times, rounds);
}
