// Lesson 03: the banks of shared memory. What does a conflict cost, which cure fits where, and when
// is there none needed?
#include "rows.hpp"

namespace {

using Sizes = std::vector<std::int64_t>;
using tilewise::Figure;
using tilewise::LessonStyle;
using tilewise::Quantity;

const Sums direct = {"running_sums_direct", running_sums_direct, "-", 0};
const Sums padded = {"running_sums_padded", running_sums_padded, "33", 32 * 33 * 4};
const Sums walk[] = {
    direct,
    {"running_sums_tile", running_sums_tile, "32", 32 * 32 * 4},
    {"running_sums_extra_row", running_sums_extra_row, "32", 33 * 32 * 4},
    padded,
    {"running_sums_transposed", running_sums_transposed, "32", 32 * 32 * 4},
    {"running_sums_swizzled", running_sums_swizzled, "32", 32 * 32 * 4},
};
const Sums widths[] = {
    {"running_sums_wide<float2>", running_sums_wide<float2, 32>, "32", 32 * 32 * 4},
    {"running_sums_wide<float2>", running_sums_wide<float2, 34>, "34", 32 * 34 * 4},
    {"running_sums_wide<float4>", running_sums_wide<float4, 32>, "32", 32 * 32 * 4},
    {"running_sums_wide<float4>", running_sums_wide<float4, 36>, "36", 32 * 36 * 4},
    {"running_sums_wide<float4>", running_sums_wide<float4, 40>, "40", 32 * 40 * 4},
};
const Sums narrow[] = {
    {"running_sums_narrow", running_sums_narrow<16>, "16", 32 * 16 * 4},
    {"running_sums_narrow", running_sums_narrow<17>, "17", 32 * 17 * 4},
    {"running_sums_narrow_padded", running_sums_narrow_padded, "16 or 17", 527 * 4},
    {"running_sums_narrow_swizzled", running_sums_narrow_swizzled, "16", 32 * 16 * 4},
};

}  // namespace

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    tilewise::Options options("03_padded_tiles",
                              "Banks of shared memory: running sums along the rows of a matrix "
                              "(--rows, --cols), loads with "
                              "strides, and a matrix product (--n) that has no conflicts to cure.");
    const bool small = tilewise::is_simulated();
    Sizes rows = small ? Sizes{128, 75} : Sizes{131072}, cols = small ? Sizes{96, 83} : Sizes{256};
    Sizes strides, wide_strides{1, 2, 3, 4, 5, 8, 16},
        bytes{4224, 8192, 16384, 32768, 65536, 101376, 166912, 232448};
    for (int stride = 1; stride <= 33; ++stride) strides.push_back(stride);
    strides.push_back(64);
    std::string only = "all";
    WindowSizes windows;
    options.add("--part", only, "Which table",
                {"all", "walk", "widths", "narrow", "occupancy", "carveout", "strides", "matmul"});
    options.add("--rows", rows, "Rows, a list that goes in pairs with --cols", {1, 1 << 24});
    options.add("--cols", cols, "Columns", {1, 1 << 24});
    options.add("--rounds", windows.rounds,
                "Rounds of 32 loads in the table of strides; 0: as many as suit this machine",
                {0, 1 << 16});
    options.add("--blocks", windows.blocks,
                "Blocks in the table of strides; 0: as many as suit this machine", {0, 1 << 20});
    options.add("--stride", strides, "Strides of words", {1, 64});
    options.add("--wide-stride", wide_strides, "Strides of float2 and float4, in these units",
                {1, 64});
    options.add("--bytes", bytes, "Shared memory of a block in the table of occupancy",
                {4224, 1 << 20});
    options.add_matmul({.sizes = {2048}, .sim_sizes = {96}, .tiles = {}});
    options.parse(argc, argv);
    pair_up(rows, cols, options);

    LessonStyle style{
        .figure = Figure::bytes, .baseline_name = "copy", .show_tile = false, .in_turns = true};
    style.quantity = Quantity::wavefronts;
    tilewise::MatmulLesson products(options, style);
    tilewise::Lesson& lesson = products.lesson();
    const auto begin = [&](const char* part, const char* title) {
      if (only != "all" && only != part) return false;
      lesson.begin_part(part, title, style);
      return true;
    };

    style.extra = {{"row of tile", "words", 11}};
    const Problems problems = make_problems(rows, cols, options, lesson);
    if (begin("walk", "running sums through a tile of 32 x 32")) run_sums(lesson, walk, problems);
    if (begin("widths", "the walk in steps of 8 and 16 bytes")) run_sums(lesson, widths, problems);
    if (begin("narrow", "a tile of 32 x 16: two rows per request"))
      run_sums(lesson, narrow, problems);
    style.quantity = Quantity::time;  // what is counted doesn't depend on how many blocks fit
    style.extra = {
        {"bytes per block", "shared", 15}, {"blocks per SM", "", 13}, {"occupancy %", "", 11}};
    if (!problems.empty() &&
        begin("occupancy", "the padded tile, with more shared memory than it uses")) {
      begin_with_copy(lesson, *problems.front());
      run_with_shared(lesson, padded, bytes, *problems.front());
    }
    style.extra = {{"carve-out %", "shared", 11}, {"blocks per SM", "", 13}};
    if (!problems.empty() &&
        begin("carveout", "more L1 cache, less shared memory, and the other way round")) {
      begin_with_copy(lesson, *problems.front());
      run_with_carveout(lesson, direct, *problems.front(), {-1, 100, 50, 0});
      run_with_carveout(lesson, padded, *problems.front(), {-1, 100, 50, 25, 10, 5, 0});
    }

    style = {
        .figure = Figure::bytes, .baseline_name = "stride 1", .show_tile = false, .exact = true};
    style.quantity = Quantity::wavefronts;
    style.ceiling = tilewise::device().peak_shared_gbs();
    style.extra = {{"stride", "elements", 8}};
    style.only_shared = true;
    style.min_seconds = 0.05;
    if (begin("strides", "nothing but loads from shared memory")) {
      run_windows<float>(lesson, "window_sums<float>", strides, windows, options);
      run_windows<float2>(lesson, "window_sums<float2>", wide_strides, windows, options);
      run_windows<float4>(lesson, "window_sums<float4>", wide_strides, windows, options);
    }

    style = {.quantity = Quantity::wavefronts,
             .baseline_name = "unpadded",
             .in_turns = true,
             .only_shared = true};
    if (begin("matmul", "a tile that is never read by columns")) {
      for (const tilewise::MatmulShape& shape : options.shapes()) {
        if (!products.begin(shape)) continue;
        products.run(matmul("tiled_matmul", 32, true, launch_tiled_matmul<32>));
        products.run(
            matmul("tiled_matmul_padded<32, 1>", 33, false, launch_tiled_matmul_padded<32, 1>));
        products.run(
            matmul("tiled_matmul_padded<32, 4>", 36, false, launch_tiled_matmul_padded<32, 4>));
      }
    }
    return lesson.finish();
  });
}
