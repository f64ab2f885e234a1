// Lesson 14: one number from n. Sums first, from an atomic for each element to one launch; then how
// their results differ from run to run; then the largest element, where it is, a dot product, and a
// sum that keeps what rounding drops. CUB and cuBLAS beside them.
#include "rows.hpp"

namespace {

using tilewise::Lesson;

void run_sums(Lesson& lesson, const Numbers& numbers, const Scratch& scratch) {
  rows::run_cub_sum(lesson, numbers);
  lesson.run(rows::sum_atomic(numbers));
  lesson.run(rows::sum_interleaved(numbers));
  lesson.run(rows::sum_sequential(numbers));
  lesson.run(rows::sum_shuffles(numbers));
  lesson.run(rows::sum_strided(numbers));
  lesson.run(rows::sum_wide(numbers));
  lesson.run(rows::sum_one_launch(numbers, scratch));
  lesson.run(rows::sum_flags(numbers, scratch));
  lesson.run(rows::sum_best(numbers, scratch));
}

void run_order(Lesson& lesson, const Numbers& numbers, const Scratch& scratch) {
  lesson.run(rows::again_and_again(numbers, rows::sum_atomic(numbers)));
  lesson.run(rows::again_and_again(numbers, rows::sum_wide(numbers)));
  lesson.run(rows::again_and_again(numbers, rows::sum_one_launch(numbers, scratch)));
  lesson.run(rows::again_and_again(numbers, rows::sum_flags(numbers, scratch)));
}

void run_others(Lesson& lesson, const Numbers& numbers, const Scratch& scratch) {
  rows::run_cub_maximum(lesson, numbers);
  lesson.run(rows::maximum(numbers, scratch));
  lesson.begin_group();
  rows::run_cub_arg_maximum(lesson, numbers);
  lesson.run(rows::arg_maximum(numbers, scratch));
  lesson.begin_group();
  tilewise::CublasHandle handle;
  lesson.run(rows::cublas_dot(numbers, handle));
  lesson.run(rows::dot(numbers, scratch));
  lesson.begin_group();
  rows::run_cub_sum(lesson, numbers);
  lesson.run(rows::compensated_sum(numbers, scratch));
}

}  // namespace

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    const bool sim = tilewise::is_simulated();
    std::vector<std::int64_t> sizes =
        sim ? std::vector<std::int64_t>{1 << 14, 100003}
            : std::vector<std::int64_t>{1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18,
                                        1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28};
    std::string only = "all";
    tilewise::Options options(
        "14_reduction", "One number from n: what does it cost that all threads meet in one place?");
    options.add("--n", sizes, "Elements; up to 2097152 on the simulator without --sample",
                {0, std::int64_t{1} << 34});
    options.add("--part", only, "Which part of the lesson to run",
                {"all", "sums", "others", "order"});
    options.parse(argc, argv);
    for (const std::int64_t n : sizes)
      if (sim && tilewise::sampled_blocks() == 0 && n > 1 << 21)
        options.refuse("--n " + std::to_string(n) +
                       ": too much for the simulator, which takes up to 2097152; " +
                       "--sample 32 counts 32 blocks of each launch in place of all");

    tilewise::LessonStyle style{
        .figure = tilewise::Figure::bytes, .baseline_name = "library", .counted_work = 1 << 22};
    style.show_tile = false;
    style.in_turns = true;
    Lesson lesson(options, style);
    const Scratch scratch;
    const auto part = [&](const std::string& name, const std::string& title, auto run) {
      if (only != "all" && only != name) return;
      lesson.begin_part(name, title, style);
      for (const std::int64_t n : sizes) {
        lesson.begin_group();
        const std::string why = Numbers::why_not(static_cast<size_t>(n));
        if (why.empty())
          run(lesson, Numbers(static_cast<size_t>(n), options), scratch);
        else
          lesson.skip(tilewise::with_commas(static_cast<std::uint64_t>(n)) + " floats", "all", 0,
                      why);
      }
    };
    part("sums", "the sum of n floats", run_sums);
    part("others", "the largest, its place, a dot product, and a sum with what rounding drops",
         run_others);
    style.extra = {{"sums", "", 6}};
    part("order",
         "the same sum " + std::to_string(rows::times()) + " times: how many different results?",
         run_order);
    return lesson.finish();
  });
}
