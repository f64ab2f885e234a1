// The neighbour's row
//
// Goal: Each device fills its row in its own stream, fetches the other's row and adds the two.
// Nothing keeps the copy from coming before the other row is filled. Let the streams wait, without
// making the host wait.
#include "tilewise/puzzle.hpp"

__global__ void fill(float* row, float first, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) row[i] = first + i;
}
__global__ void add(float* sum, const float* row, const float* halo, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = row[i] + halo[i];
}

// row[d], halo[d] and sum[d]: n floats each on device d. stream[d] and filled[d] are device d's;
// the events have not been recorded yet.
void step(float* row[2], float* halo[2], float* sum[2], int n, cudaStream_t stream[2], cudaEvent_t filled[2]) {
  const int blocks = (n + 255) / 256;
  for (int d = 0; d < 2; ++d) {
    cudaSetDevice(d);
    fill<<<blocks, 256, 0, stream[d]>>>(row[d], 1000 * d, n);
  }
  for (int d = 0; d < 2; ++d) {
    const int other = 1 - d;
    cudaSetDevice(d);
    cudaMemcpyPeerAsync(halo[d], d, row[other], other, n * sizeof(float), stream[d]);
    add<<<blocks, 256, 0, stream[d]>>>(sum[d], row[d], halo[d], n);
  }
}

// ---- The check. Leave what follows as it is. ----

#ifdef TILEWISE_SIMULATOR
unsigned long long waits() { return tilewise::sim::waits(); }
#else
unsigned long long waits() { return 0; }
#endif

int main() {
  for (const int n : {1000, 1, 300}) {
    puzzle::check(cudaSetDevice(0));
    const puzzle::Array<float> row0("row[0]", n), halo0("halo[0]", n), sum0("sum[0]", n);
    puzzle::check(cudaSetDevice(1));
    const puzzle::Array<float> row1("row[1]", n), halo1("halo[1]", n), sum1("sum[1]", n);
    float* row[] = {row0.data(), row1.data()};
    float* halo[] = {halo0.data(), halo1.data()};
    float* sum[] = {sum0.data(), sum1.data()};
    cudaStream_t stream[2];
    cudaEvent_t filled[2];
    for (int d = 0; d < 2; ++d) {
      puzzle::check(cudaSetDevice(d));
      puzzle::check(cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking));
      puzzle::check(cudaEventCreateWithFlags(&filled[d], cudaEventDisableTiming));
      puzzle::check(cudaDeviceSynchronize());
    }
    const unsigned long long waited = waits();
    step(row, halo, sum, n, stream, filled);
    puzzle::expect_that(waits() == waited, "The host waited in there. Let the streams do that.");
    for (int d = 0; d < 2; ++d) {
      puzzle::check(cudaSetDevice(d));
      puzzle::check(cudaDeviceSynchronize());
      const auto both = [](std::size_t i) { return 1000.0f + 2 * i; };
      puzzle::expect(d == 0 ? "sum[0]" : "sum[1]", "n = " + std::to_string(n), d == 0 ? sum0.host() : sum1.host(),
                     both);
      puzzle::check(cudaEventDestroy(filled[d]));
      puzzle::check(cudaStreamDestroy(stream[d]));
    }
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 5
// Devices: 2
// Hint: The copy stands in the stream of the device that gets the row. What does that stream know
// of the kernel that fills it?
// Hint: An event is recorded in a stream of its own device. A stream of any device can wait for it.
// Hint: After fill(): cudaEventRecord(filled[d], stream[d]); before the copy:
// cudaStreamWaitEvent(stream[d], filled[other], 0);
// Notice: Streams of different devices wait for each other just as those of one device do. If there
// were a next step, its fill() would have to wait, too, until the other device has fetched the row:
// so every exchange needs an event in each direction.
