// Lesson 04: a transpose moves every word once and computes nothing. How much of the speed of a
// copy can it reach?
#include "library.hpp"
#include "problem.cuh"
#include "tilewise/lesson.hpp"
#include "transpose.cuh"

namespace {

using Sizes = std::vector<std::int64_t>;
using Launch = std::function<cudaError_t(const float*, float*, int, int, cudaStream_t)>;

/// One row of the table.
struct Row {
  const char* kernel;
  Launch launch;
  int tile;
  dim3 block;
  std::size_t shared_bytes = 0;
  Result result = Result::transposed;
  bool baseline = false;  ///< the copy that the rows after it are measured by
  bool library = false;   ///< no kernel of ours: the simulator has nothing to count
  bool hint = false;      ///< loads with evict_last: measured by the copy that does the same
};

cudaError_t copy_of_the_device(const float* in, float* out, int rows, int cols,
                               cudaStream_t stream) {
  return cudaMemcpyAsync(out, in, sizeof(float) * rows * cols, cudaMemcpyDeviceToDevice, stream);
}

const Row table[] = {
    {"cudaMemcpyAsync", copy_of_the_device, 0, dim3(1), 0, Result::copied, true, true},
    {"copy_matrix", launch_copy_matrix, 0, dim3(32, 8), 0, Result::copied},
    {"copy_vectorised", launch_copy_vectorised, 0, dim3(256), 0, Result::copied},
    {"transpose_strided_write", launch_transpose_strided_write, 0, dim3(32, 8)},
    {"transpose_strided_read", launch_transpose_strided_read, 0, dim3(32, 8)},
    {"transpose_tile", launch_transpose_tile<16>, 16, dim3(16, 16), 16 * 16 * 4},
    {"transpose_tile", launch_transpose_tile<32>, 32, dim3(32, 32), 32 * 32 * 4},
    {"transpose_padded", launch_transpose_padded<16>, 16, dim3(16, 16), 16 * 17 * 4},
    {"transpose_padded", launch_transpose_padded<32>, 32, dim3(32, 32), 32 * 33 * 4},
    {"transpose_swizzled", launch_transpose_swizzled<16>, 16, dim3(16, 16), 16 * 16 * 4},
    {"transpose_swizzled", launch_transpose_swizzled<32>, 32, dim3(32, 32), 32 * 32 * 4},
    {"transpose_coarsened", launch_transpose_coarsened, 32, dim3(32, 4), 32 * 32 * 4},
    {"transpose_vectorised<rows>", launch_transpose_vectorised<TileOrder::rows>, 64, dim3(16, 16),
     64 * 64 * 4},
    {"transpose_vectorised", launch_transpose_vectorised<>, 64, dim3(16, 16), 64 * 64 * 4},
    {"cublasSgeam", launch_library_transpose, 0, dim3(1), 0, Result::transposed, false, true},
    {"copy_evict_last", launch_copy_evict_last, 0, dim3(256), 0, Result::copied, true, false, true},
    {"transpose_vectorised<evict_last>", launch_transpose_vectorised<TileOrder::columns, true>, 64,
     dim3(16, 16), 64 * 64 * 4, Result::transposed, false, false, true},
    {"move_tiles", launch_move_tiles, 64, dim3(16, 16), 0, Result::moved, false, false, true},
    {"transpose_ragged", launch_transpose_ragged, 64, dim3(512), 136 * 17 * 16, Result::transposed,
     false, false, true},
};

std::string shape(std::int64_t rows, std::int64_t cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

tilewise::Variant variant(const Row& row, Problem& p) {
  tilewise::Variant v;
  v.kernel = row.kernel;
  v.shape = shape(p.rows, p.cols);
  v.tile = row.tile;
  v.block = row.block;
  v.shared_bytes = row.shared_bytes;
  v.launch = [&](cudaStream_t stream) {
    CUDA_CHECK(row.launch(p.in(), p.out.data(), p.rows, p.cols, stream));
  };
  v.poison = [&] { p.out.poison(); };
  v.check = [&] { return p.check(row.result); };
  v.recheck = v.check;
  v.work = 2.0 * static_cast<double>(p.bytes());  // every word is read once and written once
  v.working_set = 2 * p.bytes();
  v.baseline = row.baseline;
  v.extra = {row.hint ? "evict_last" : "-"};
  const int unit = row.result == Result::moved                    ? 64
                   : v.kernel.starts_with("transpose_vectorised") ? 4
                                                                  : 1;
  if (p.rows % unit != 0 || p.cols % unit != 0)
    v.skip = [=] { return "needs rows and columns that are multiples of " + std::to_string(unit); };
  return v;
}

}  // namespace

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    tilewise::Options options(
        "04_transpose", "Transposes a matrix of rows x cols. How close to a copy can you get?");
    Sizes rows = tilewise::is_simulated() ? Sizes{256, 101} : Sizes{8192, 16384, 16383};
    Sizes cols = tilewise::is_simulated() ? Sizes{256, 203} : Sizes{8192, 16384, 16385};
    Sizes n;
    // the strided kernels: 65,535 blocks in y at most, of 8 threads
    const tilewise::Range range{1, 65535 * 8};
    options.add("--rows", rows,
                "Rows of the input, a list; its entries go in pairs with those of --cols", range);
    options.add("--cols", cols, "Columns of the input", range);
    options.add("--n", n, "Square sizes, instead of --rows and --cols", range);
    options.parse(argc, argv);
    if (!n.empty()) rows = cols = n;
    if (rows.size() == 1) rows.assign(cols.size(), rows[0]);
    if (cols.size() == 1) cols.assign(rows.size(), cols[0]);
    if (rows.size() != cols.size())
      options.refuse(
          "--rows and --cols are lists of different lengths; give as many values of each, or one");

    tilewise::Lesson lesson(options, {.figure = tilewise::Figure::bytes,
                                      .quantity = tilewise::Quantity::sectors,
                                      .baseline_name = "copy",
                                      .counted_work = 1 << 23,
                                      .kernel_width = 32,
                                      .exact = true,
                                      .in_turns = true,
                                      .extra = {{"L2 hint", "of reads", 10, true}}});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      lesson.begin_group();
      const double wanted =
          2.0 * sizeof(float) * static_cast<double>(rows[i]) * static_cast<double>(cols[i]);
      if (wanted > static_cast<double>(tilewise::free_device_memory())) {
        lesson.skip(shape(rows[i], cols[i]), "all", 0,
                    "needs " + tilewise::bytes_text(wanted) + " of device memory");
        continue;
      }
      Problem problem(static_cast<int>(rows[i]), static_cast<int>(cols[i]), options);
      for (const Row& row : table) {
        if (row.library && tilewise::is_simulated()) continue;  // no kernel: nothing to count
        if (row.baseline) lesson.begin_group();  // no row is a share of a copy with another hint
        lesson.run(variant(row, problem));
      }
    }
    return lesson.finish();
  });
}
