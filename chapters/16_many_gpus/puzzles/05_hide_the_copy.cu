// Hide the copy
//
// Goal: Each of two devices has six rows, fetches one of the other's, and adds to each row the next
// one. The devices take turns, and wait for the copy. Make it take no longer than one device needs
// for six rows.
#include "tilewise/puzzle.hpp"

constexpr int kCols = 1024;

__global__ void add_next(const float* x, float* y) {
  const int i = blockIdx.y * kCols + blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] + x[i + kCols];
}

// x[d]: rows + 1 rows on device d; the last one is to be the other device's first. y[d]: rows rows,
// needed on return. rows >= 2. work[d] and copy[d]: streams of device d's.
void step(float* x[2], float* y[2], int rows, cudaStream_t work[2], cudaStream_t copy[2]) {
  for (int d = 0; d < 2; ++d) {
    const int other = 1 - d;
    cudaSetDevice(d);
    cudaMemcpyPeerAsync(x[d] + rows * kCols, d, x[other], other, kCols * sizeof(float), copy[d]);
    cudaStreamSynchronize(copy[d]);
    add_next<<<dim3(kCols / 256, rows), 256, 0, work[d]>>>(x[d], y[d]);
    cudaStreamSynchronize(work[d]);
  }
}

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int rows : {2, 6}) {
    const int n = rows * kCols;
    const std::vector<float> in = puzzle::values(2 * n);
    puzzle::check(cudaSetDevice(0));
    const puzzle::Array<float> x0("x[0]", n + kCols), y0("y[0]", n);
    puzzle::check(cudaSetDevice(1));
    const puzzle::Array<float> x1("x[1]", n + kCols), y1("y[1]", n);
    float* x[] = {x0.data(), x1.data()};
    float* y[] = {y0.data(), y1.data()};
    cudaStream_t work[2], copy[2];
    for (int d = 0; d < 2; ++d) {
      puzzle::check(cudaSetDevice(d));
      puzzle::check(cudaMemcpy(x[d], &in[d * n], n * sizeof(float), cudaMemcpyHostToDevice));
      puzzle::check(cudaStreamCreateWithFlags(&work[d], cudaStreamNonBlocking));
      puzzle::check(cudaStreamCreateWithFlags(&copy[d], cudaStreamNonBlocking));
      puzzle::check(cudaDeviceSynchronize());
    }
    if (rows == 6) puzzle::timeline_from_here(kCols * sizeof(float));
    step(x, y, rows, work, copy);
    if (rows == 6) puzzle::timeline_to_here();
    for (int d = 0; d < 2; ++d) {
      puzzle::check(cudaSetDevice(d));
      std::vector<float> out(n);
      puzzle::check(cudaMemcpy(out.data(), y[d], n * sizeof(float), cudaMemcpyDeviceToHost));
      puzzle::expect(d == 0 ? "y[0]" : "y[1]", "rows = " + std::to_string(rows), out, rows, kCols,
                     [&](std::size_t row, std::size_t col) {
                       const std::size_t i = d * n + row * kCols + col;
                       return in[i] + in[(i + kCols) % in.size()];
                     });
      puzzle::check(cudaDeviceSynchronize());
      puzzle::check(cudaStreamDestroy(work[d]));
      puzzle::check(cudaStreamDestroy(copy[d]));
    }
  }
  return puzzle::solved();
}

// Kind: improve
// Minutes: 6
// Devices: 2
// Hint: Which of its rows can a device do without the other's? And what keeps device 1 from
// beginning while device 0 works?
// Hint: All but the last row need no copy. Let work[d] do these, and copy[d] the copy; nothing in
// the loop may wait.
// Hint: Launch rows - 1 rows in work[d], and after the copy, in copy[d], one row that begins at
// (rows - 1) * kCols. After the loop wait for all four streams.
// Limit: timeline_length <= 6: with both devices at work, and the copy beside the first five rows,
// six rows take 6
// Limit: devices = 2: each device is to do its rows
// Show: timeline_length
// Notice: Without waits in the loop it's 7, and with the copy beside the first five rows 6. A copy
// is hidden if there's enough work that doesn't need it. Here a row is copied in the time in which
// one is computed; on a GPU a copy to another device takes longer, so hiding it takes more rows.
