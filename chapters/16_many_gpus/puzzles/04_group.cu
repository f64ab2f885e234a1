// One thread, two ranks
//
// Goal: Two devices add up their arrays with NCCL, and each squares the sum. The first call of
// ncclAllReduce waits for rank 1, which this same thread would have to call for. Let both calls
// begin together.
#include <nccl.h>

#include "tilewise/puzzle.hpp"

__global__ void square(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= x[i];
}

// x[r]: n floats on device r, which is rank r of the communicator.
void square_of_sum(float* x[2], int n, ncclComm_t comm[2], cudaStream_t stream[2]) {
  for (int r = 0; r < 2; ++r) {
    cudaSetDevice(r);
    ncclAllReduce(x[r], x[r], n, ncclFloat, ncclSum, comm[r], stream[r]);
    square<<<(n + 255) / 256, 256, 0, stream[r]>>>(x[r], n);
  }
}

// ---- The check. Leave what follows as it is. ----

int main() {
  ncclComm_t comm[2];
  cudaStream_t stream[2];
  puzzle::expect_that(ncclCommInitAll(comm, 2, nullptr) == ncclSuccess, "NCCL doesn't begin.");
  for (int r = 0; r < 2; ++r) {
    puzzle::check(cudaSetDevice(r));
    puzzle::check(cudaStreamCreateWithFlags(&stream[r], cudaStreamNonBlocking));
  }
  for (const int n : {1000, 1, 300}) {
    const std::vector<float> in[] = {puzzle::values(n, 1), puzzle::values(n, 2)};
    puzzle::check(cudaSetDevice(0));
    const puzzle::Array<float> x0("x[0]", in[0]);
    puzzle::check(cudaSetDevice(1));
    const puzzle::Array<float> x1("x[1]", in[1]);
    float* x[] = {x0.data(), x1.data()};
    for (int r = 0; r < 2; ++r) {
      puzzle::check(cudaSetDevice(r));
      puzzle::check(cudaDeviceSynchronize());
    }
    square_of_sum(x, n, comm, stream);
    for (int r = 0; r < 2; ++r) {
      puzzle::check(cudaSetDevice(r));
      const auto squared = [&](std::size_t i) {
        const float sum = in[0][i] + in[1][i];
        return sum * sum;
      };
      puzzle::expect(r == 0 ? "x[0]" : "x[1]", "n = " + std::to_string(n), r == 0 ? x0.host() : x1.host(), squared);
    }
  }
  for (int r = 0; r < 2; ++r) {
    puzzle::check(cudaStreamDestroy(stream[r]));
    ncclCommDestroy(comm[r]);
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 4
// Devices: 2
// Hint: What is called between ncclGroupStart() and ncclGroupEnd() begins at the end, all at once.
// Where must the two stand, so that both ranks are between them?
// Hint: Around the loop. But a kernel that is launched in there is in its stream before the
// operation, which only gets there at the group's end.
// Hint: Two loops: one with ncclAllReduce, between ncclGroupStart() and ncclGroupEnd(), and after
// that, one with cudaSetDevice(r) and the launch.
// Limit: devices = 2: each device is to square its own array
// Notice: With a thread or a process for each rank no group is needed: each call then waits for the
// others. In either case all ranks must call the same operations in the same order.
