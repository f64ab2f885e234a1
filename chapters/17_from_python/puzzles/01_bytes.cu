// Bytes or elements
//
// Goal: The kernel copies a view of a matrix: `row` and `column` are the view's strides, as NumPy's a.strides has them. The
// result is wrong. Mend the kernel; what it's called with stays as it is.
#include "tilewise/puzzle.hpp"

/// out[i][j] = the view's element i, j. out: rows x columns, row-major.
__global__ void copy_view(const float* view, int row, int column, float* out, int rows, int columns) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < rows && j < columns) out[i * columns + j] = view[i * row + j * column];
}

// ---- The check. Leave what follows as it is. ----

struct View {
  const char* name;
  int offset, row, column, rows, columns;  // offset and strides in elements
};

int main() {
  const int height = 40, width = 50;  // of the matrix
  const std::vector<float> a = puzzle::values(height * width);
  const puzzle::Array<float> d_a("a", a);
  for (const View& v : {View{"a", 0, width, 1, height, width}, View{"a[:, ::2]", 0, width, 2, height, width / 2},
                        View{"a.T", 0, 1, width, width, height}, View{"a[5:6, 7:8]", 5 * width + 7, width, 1, 1, 1}}) {
    const puzzle::Array<float> d_out("out", v.rows * v.columns);
    const dim3 threads(32, 8), blocks((v.columns + 31) / 32, (v.rows + 7) / 8);
    copy_view<<<blocks, threads>>>(d_a.data() + v.offset, 4 * v.row, 4 * v.column, d_out.data(), v.rows, v.columns);
    puzzle::expect("out", std::string("the view ") + v.name, d_out.host(), [&](std::size_t k) {
      const int i = static_cast<int>(k) / v.columns, j = static_cast<int>(k) % v.columns;
      return a[v.offset + i * v.row + j * v.column];
    });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 4
// Hint: A row of a has 50 floats. NumPy says that the stride from row to row is 200. What does it count?
// Hint: NumPy's strides are in bytes. view[k] goes on by k floats, of 4 bytes each.
// Hint: Divide both strides by sizeof(float), or go on in bytes and cast the pointer then.
// Notice: Libraries don't agree here: NumPy and the CUDA array interface count bytes, DLPack and PyTorch elements. Both are
// whole numbers, and a wrong one may still lie inside the array: then nothing stops, and the numbers are others.
