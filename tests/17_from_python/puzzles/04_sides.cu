// Which side is x?
//
// Goal: The kernel copies views with any strides, in elements. For a.T a request of its loads touches 32 sectors. Let the
// launch choose which side lies along threadIdx.x, so that loads are coalesced for a and for a.T.
#include "tilewise/puzzle.hpp"

__global__ void copy_view(const float* view, int row, int column, float* out, int out_row, int out_column, int rows,
                          int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < rows && j < columns) out[i * out_row + j * out_column] = view[i * row + j * column];
}

/// out: rows x columns, row-major. out_row and out_column are its strides.
void launch(const float* view, int row, int column, float* out, int rows, int columns) {
  const dim3 threads(32, 8), blocks((columns + 31) / 32, (rows + 7) / 8);
  copy_view<<<blocks, threads>>>(view, row, column, out, columns, 1, rows, columns);
}

// ---- The check. Leave what follows as it is. ----

int main() {
  const int height = 64, width = 96;
  const std::vector<float> a = puzzle::values(height * width);
  const puzzle::Array<float> d_a("a", a);
  for (const bool transposed : {false, true}) {
    const int rows = transposed ? width : height, columns = transposed ? height : width;
    const int row = transposed ? 1 : width, column = transposed ? width : 1;
    const puzzle::Array<float> d_out("out", rows * columns);
    if (!transposed) puzzle::count_from_here();
    launch(d_a.data(), row, column, d_out.data(), rows, columns);
    puzzle::expect("out", transposed ? "a.T" : "a", d_out.host(), [&](std::size_t k) {
      const int i = static_cast<int>(k) / columns, j = static_cast<int>(k) % columns;
      return a[i * row + j * column];
    });
  }
  return puzzle::solved();
}

// Kind: improve
// Minutes: 6
// Hint: Rows and columns are only names. What does a copy look like if you swap them on both sides?
// Hint: If row < column, neighbours in memory lie along i. Swap the two strides of the view, the two of out, and the two sizes.
// Hint: if (row < column) call launch's kernel with (view, column, row, out, 1, columns, columns, rows), and blocks to fit.
// Limit: sectors_per_load <= 4: 32 neighbouring words are 4 sectors
// Show: sectors_per_load, sectors_per_store
// Notice: The loads are coalesced now, and for a.T the stores aren't: one side of a transpose always is strided, unless it goes
// through shared memory as in lesson 04. Libraries sort the strides like this before they launch, for any number of dimensions.
