// Lesson 06: y = A x with a sparse A. Who should do which row: a thread, some lanes, or should rows
// be shared, too?
#include "preprocess.hpp"
#include "tilewise/lesson.hpp"

namespace {

/// All kernels on one matrix. cuSPARSE comes first: the others are measured against its better
/// algorithm.
template <class T>
void run(tilewise::Lesson& lesson, const Choices& choices, Preprocessing& preprocessing,
         Problem<T>& p) {
  std::map<std::string, tilewise::Outcome> outcomes;
  std::string lanes_at_work;
  const auto kernel = [&](const std::string& name, const Spmv<T>& spmv, bool baseline = false) {
    const tilewise::Outcome outcome = lesson.run(p.variant(name, spmv, choices.cache, baseline));
    if (outcome.counts) {
      const double working = p.lanes_at_work(name, *outcome.counts);
      lanes_at_work += "  " + name + " " + tilewise::fixed(working, 1);
      lesson.add_fields(outcome, tilewise::Record().set("lanes_at_work", working));
    }
    return outcomes[name] = outcome;
  };
  CusparseSpmv<T> one(p, CUSPARSE_SPMV_CSR_ALG1), two(p, CUSPARSE_SPMV_CSR_ALG2);
  CusparseSpmv<T> unprepared_one(p, CUSPARSE_SPMV_CSR_ALG1, false),
      unprepared_two(p, CUSPARSE_SPMV_CSR_ALG2, false);
  if (!tilewise::is_simulated()) {  // there it is no kernel: nothing to count
    preprocessing.cusparse("cusparseSpMV ALG1", kernel("cusparseSpMV ALG1", std::ref(one), true), p,
                           one);
    preprocessing.cusparse("cusparseSpMV ALG2", kernel("cusparseSpMV ALG2", std::ref(two), true), p,
                           two);
    preprocessing.cusparse_unprepared(
        kernel("cusparseSpMV ALG1 unprepared", std::ref(unprepared_one)));
    preprocessing.cusparse_unprepared(
        kernel("cusparseSpMV ALG2 unprepared", std::ref(unprepared_two)));
  }
  preprocessing.simple(kernel("spmv_scalar", p.product(launch_spmv_scalar<T>)));
  auto lanes = choices.lanes;
  if (lanes.empty()) lanes = {std::max(2, spmv_lanes(p.mean_row(), kSpmvDepth)), 32};
  for (const auto l : lanes)
    kernel("spmv_vector<" + std::to_string(l) + ">",
           p.product(launch_spmv_vector<T>, static_cast<int>(l)));
  // 8 nonzeros per lane at a time
  if (choices.lanes.empty()) lanes = {spmv_lanes(p.mean_row(), kSpmvDepth)};
  for (const auto l : lanes)
    kernel("spmv_unrolled<" + std::to_string(l) + ">",
           p.product(launch_spmv_unrolled<T>, static_cast<int>(l)));
  kernel("spmv_balanced", p.balanced());
  preprocessing.plan(p, outcomes);
  preprocessing.finish(p);
  lesson.say(p.choice());
  if (!lanes_at_work.empty()) lesson.say("Lanes at work per load, of 32:" + lanes_at_work);
}

}  // namespace

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    tilewise::Options options("06_csr_spmv",
                              "y = A x with a sparse A in CSR: who should do which row?");
    const bool sim = tilewise::is_simulated();
    constexpr std::int64_t M = 1 << 20;
    Choices c;
    c.rows = sim ? std::vector<std::int64_t>{4096}
                 : std::vector<std::int64_t>{16 * M, 16 * M, 2 * M, 2 * M, 2 * M, 2 * M, 4 * M};
    options.add("--generate", c.kinds,
                "Matrices, a list; the first goes with the first of --n, and so on",
                tilewise::matrix_kind_names());
    options.add("--n", c.rows,
                "Rows and columns; stencils take the largest grid with at most that many points",
                {1, tilewise::kMostRows});
    options.add("--nnz-per-row", c.nnz_per_row, "Nonzeros per row, for all matrices but stencils",
                {1, 4096});
    options.add_text("--matrix", c.file,
                     "A Matrix Market file instead: coordinate; real, integer or pattern");
    options.add("--type", c.types, "Types of the values", {"float", "double"});
    options.add("--lanes", c.lanes, "Lanes per row, powers of two; default: chosen by the mean row",
                {1, 32});
    options.add("--cache", c.cache,
                "L2 before each call; auto: cold unless the matrix is much larger",
                {"auto", "cold", "warm"});
    options.parse(argc, argv);
    for (const std::int64_t l : c.lanes)
      if ((l & (l - 1)) != 0)
        options.refuse("--lanes " + std::to_string(l) +
                       ": not a power of two; allowed are 1, 2, 4, 8, 16 and 32");
    if (c.kinds.size() != c.rows.size() && c.kinds.size() != 1 && c.rows.size() != 1)
      options.refuse(
          "--generate and --n are lists of different lengths; give as many values of each, or one");

    tilewise::LessonStyle style{
        .figure = tilewise::Figure::bytes, .baseline_name = "cuSPARSE", .counted_work = 1 << 23};
    style.show_tile = false;
    style.in_turns = true;
    style.min_seconds = 0.1;
    style.kernel_width = 28;
    style.extra = {{"matrix", "", 10, true}, {"type", "", 6, true}};
    if (c.cache == "warm")
      style.ceiling = tilewise::device().peak_shared_gbs();  // what is in L2 comes faster than DRAM
    tilewise::Lesson lesson(options, style);
    lesson.say(wrong_kernel_by_luck(options.seed()) + "\n");
    Preprocessing preprocessing(lesson, options, c.cache);
    for_each_matrix(lesson, options, c,
                    [&](auto& problem) { run(lesson, c, preprocessing, problem); });
    preprocessing.print();
    return lesson.finish();
  });
}
