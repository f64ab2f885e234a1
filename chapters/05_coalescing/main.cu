// Lesson 05: what one request of a warp costs, for every stride, offset, width and order.
#include "coalescing.cuh"
#include "problem.cuh"
#include "tilewise/lesson.hpp"

namespace {

using Sizes = std::vector<std::int64_t>;
using tilewise::Lesson;

void run_copies(Lesson& lesson, const Wanted& wanted, Moves& moves, size_t n) {
  lesson.begin_part("copies", "neighbouring words of 4, 8 and 16 bytes", style());
  // no kernel: the simulator has nothing to count
  if (!tilewise::is_simulated()) lesson.run(moves.baseline(n));
  if (!wanted("copies")) return;  // but all are a share of it
  lesson.run(moves.variant<float>("copy_one_word<float>", {n}, launch_copy_one_word<float>));
  lesson.run(moves.variant<float2>("copy_one_word<float2>", {n / 2}, launch_copy_one_word<float2>));
  lesson.run(moves.variant<float4>("copy_one_word<float4>", {n / 4}, launch_copy_one_word<float4>));
  tilewise::Variant v = moves.variant<float>("copy_four_vectors", {n}, launch_copy_four_vectors);
  v.predicted_load_sectors = v.predicted_store_sectors =
      n % 4 == 0 ? double(sectors_of_words(n / 4, 16, 1)) : 0;
  lesson.run(v);
}

// The arrays have n words, and every stride-th is moved.
template <class Word>
void run_strides(Lesson& lesson, Moves& moves, size_t n, const Sizes& strides) {
  lesson.begin_part("strides", "every stride-th word", style("stride"));
  const auto row = [&](const std::string& kernel, Pattern p, auto launch, size_t stride) {
    p.count = n / stride < 32 ? n / stride : n / stride / 32 * 32;  // whole warps
    lesson.run(swept(moves.variant<Word>(kernel + name_of<Word>(), p, launch, stride), n, stride));
  };
  for (size_t s : strides) row("strided_read", {.in_stride = s}, launch_strided_read<Word>, s);
  for (size_t s : strides) row("strided_write", {.out_stride = s}, launch_strided_write<Word>, s);
  for (size_t s : strides)
    row("strided_copy", {.in_stride = s, .out_stride = s}, launch_strided_copy<Word>, s);
}

template <class Word>
void run_offsets(Lesson& lesson, Moves& moves, size_t n, const Sizes& offsets) {
  lesson.begin_part("offsets", "neighbouring words that start anywhere in a sector",
                    style("offset"));
  const auto row = [&](const std::string& kernel, Pattern p, auto launch, size_t offset) {
    lesson.run(swept(moves.variant<Word>(kernel + name_of<Word>(), p, launch, offset), n, offset));
  };
  for (size_t o : offsets)
    row("shifted_read", {.count = n, .in_offset = o}, launch_shifted_read<Word>, o);
  for (size_t o : offsets)
    row("shifted_write", {.count = n, .out_offset = o}, launch_shifted_write<Word>, o);
}

template <class Word>
void run_sweeps(Lesson& lesson, const Wanted& wanted, size_t n) {
  Moves moves((n + kLargestOffset) * sizeof(Word) / 4, wanted.seed);
  if (wanted("strides")) run_strides<Word>(lesson, moves, n, wanted.strides);
  if (wanted("offsets")) run_offsets<Word>(lesson, moves, n, wanted.offsets);
}

void run_particles(Lesson& lesson, Particles p) {
  lesson.begin_part("particles", "structures of eight floats, all needed", style("", true));
  const size_t n = p.count(), tight = 8 * sectors_of_words(n, 4, 1),
               strided = 8 * sectors_of_words(n, 4, 8);
  lesson.run(p.variant("particles_aos", strided, p.in_aos(), p.out_aos(), launch_particles_aos));
  lesson.run(p.variant("particles_soa", tight, p.in_soa(), p.out_soa(), launch_particles_soa));
  lesson.run(p.variant("particles_float4", 2 * sectors_of_words(n, 16, 2), p.in_aos(), p.out_aos(),
                       launch_particles_float4));
  lesson.run(
      p.variant("particles_shared", tight, p.in_aos(), p.out_aos(), launch_particles_shared));
}

void run_sums(Lesson& lesson, Matrix m, size_t cols) {
  lesson.begin_part("sums", "rows and columns of a row-major matrix", style("", true));
  lesson.run(m.variant("row_sums_thread", true, cols, dim3(256), launch_row_sums_thread));
  lesson.run(m.variant("row_sums_warp", true, 1, dim3(256), launch_row_sums_warp, true));
  lesson.run(m.variant("column_sums_thread", false, 1, dim3(256), launch_column_sums_thread));
  lesson.run(m.variant("column_sums_block", false, 1, dim3(32, 32), launch_column_sums_block));
}

void run_gathers(Lesson& lesson, Moves& moves, size_t count, size_t seed) {
  lesson.begin_part("gathers", "words read through an index", style("order"));
  const auto row = [&](const char* order, std::vector<unsigned> index) {
    lesson.run(Gather(std::move(index), moves).variant(order));
  };
  row("in order", shuffled_within(count, 1, seed));
  row("shuffled in 32", shuffled_within(count, 32, seed));
  row("shuffled in 1,024", shuffled_within(count, 1024, seed));
  row("shuffled", shuffled_within(count, count, seed));
  row("random", random_index(count, seed));
}

}  // namespace

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    Wanted wanted;
    tilewise::Options options(
        "05_coalescing", "What one request of a warp costs, for every stride, offset and order.");
    wanted.parse(options, argc, argv);
    Lesson lesson(options, style());
    for (size_t n : wanted.sizes) {
      lesson.begin_group();
      if (!wanted.fit(lesson, n)) continue;
      Moves moves(n, wanted.seed);
      run_copies(lesson, wanted, moves, n);
      for (std::int64_t width : wanted.sweeps() ? wanted.widths : Sizes{}) {
        if (width == 1) run_sweeps<float>(lesson, wanted, n);
        if (width == 2) run_sweeps<float2>(lesson, wanted, n);
        if (width == 4) run_sweeps<float4>(lesson, wanted, n);
      }
      const size_t cols = std::min<size_t>(wanted.cols, n / 4);
      if (wanted("particles")) run_particles(lesson, Particles(n / 32, options));
      if (wanted("sums")) run_sums(lesson, Matrix(n / 4 / cols, cols, options), cols);
      if (wanted("gathers")) run_gathers(lesson, moves, n / 4, wanted.seed);
    }
    return lesson.finish();
  });
}
