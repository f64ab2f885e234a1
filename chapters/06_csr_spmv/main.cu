// Lesson 06: y = A x with a sparse A. Who should do which row? A thread, some lanes, or does nobody get whole rows?
#include "problem.hpp"
#include "tilewise/lesson.hpp"

namespace {

struct Choices {
  std::vector<std::string> kinds = {"stencil3d", "stencil2d", "rmat", "zipf", "dense_row", "uniform", "empty_rows"};
  std::vector<std::string> types = {"float"};
  std::vector<std::int64_t> rows, lanes;
  std::int64_t nnz_per_row = 16;
  std::string file, cache = "auto";
};

/// All kernels on one matrix. cuSPARSE comes first: the others are measured against its better algorithm.
template <class T>
void run(tilewise::Lesson& lesson, Problem<T>& p, const Choices& choices) {
  std::string lanes_at_work;
  const auto kernel = [&](const std::string& name, const Spmv<T>& spmv, bool baseline = false) {
    if (const auto outcome = lesson.run(p.variant(name, spmv, choices.cache, baseline)); outcome.counts)
      lanes_at_work += "  " + name + " " + p.lanes_at_work(*outcome.counts);
  };
  CusparseSpmv<T> one(p, CUSPARSE_SPMV_CSR_ALG1), two(p, CUSPARSE_SPMV_CSR_ALG2);
  if (!tilewise::is_simulated()) {  // there it is no kernel: nothing to count
    kernel("cusparseSpMV ALG1", std::ref(one), true);
    kernel("cusparseSpMV ALG2", std::ref(two), true);
  }
  kernel("spmv_scalar", p.product(launch_spmv_scalar<T>));
  auto lanes = choices.lanes;
  if (lanes.empty()) lanes = {std::max(2, spmv_lanes(p.mean_row(), kSpmvDepth)), 32};
  for (const auto l : lanes)
    kernel("spmv_vector<" + std::to_string(l) + ">", p.product(launch_spmv_vector<T>, static_cast<int>(l)));
  if (choices.lanes.empty()) lanes = {spmv_lanes(p.mean_row(), kSpmvDepth)};  // 8 nonzeros per lane at a time
  for (const auto l : lanes)
    kernel("spmv_unrolled<" + std::to_string(l) + ">", p.product(launch_spmv_unrolled<T>, static_cast<int>(l)));
  kernel("spmv_balanced", p.balanced());
  lesson.say(p.choice());
  if (!lanes_at_work.empty()) lesson.say("Lanes at work per load, of 32:" + lanes_at_work);
}

template <class T>
void run_file(tilewise::Lesson& lesson, const tilewise::Options& options, const Choices& choices) try {
  lesson.begin_group();
  tilewise::Csr<T> matrix = tilewise::read_matrix_market<T>(choices.file);
  Problem<T> problem(choices.file.substr(choices.file.find_last_of('/') + 1), matrix, options);
  run(lesson, problem, choices);
} catch (const tilewise::MatrixMarketError& error) {
  options.refuse(std::string("--matrix ") + error.what());
}

template <class T>
void run_generated(tilewise::Lesson& lesson, const tilewise::Options& options, const Choices& choices,
                   const tilewise::MatrixSpec& spec, Structure& structure) {
  lesson.begin_group();
  const std::string kind = tilewise::to_string(spec.kind);
  if (const std::string why = Problem<T>::why_not(kind, spec.rows, spec.nnz_per_row); !why.empty())
    return lesson.skip(std::to_string(spec.rows) + " x " + std::to_string(spec.rows), kind, 0, why);
  tilewise::Csr<T> matrix = structure.with_values<T>(spec);
  Problem<T> problem(kind, matrix, options);
  run(lesson, problem, choices);
  structure.keep(matrix);
}

void run_all(tilewise::Lesson& lesson, const tilewise::Options& options, const Choices& c) {
  if (!c.file.empty()) {
    for (const std::string& type : c.types)
      type == "float" ? run_file<float>(lesson, options, c) : run_file<double>(lesson, options, c);
    return;
  }
  for (std::size_t i = 0; i < std::max(c.kinds.size(), c.rows.size()); ++i) {
    const tilewise::MatrixSpec spec{tilewise::matrix_kind_from(c.kinds[c.kinds.size() == 1 ? 0 : i]),
                                    c.rows[c.rows.size() == 1 ? 0 : i], c.nnz_per_row, options.seed(), options.data()};
    Structure structure;
    for (const std::string& type : c.types)
      type == "float" ? run_generated<float>(lesson, options, c, spec, structure)
                      : run_generated<double>(lesson, options, c, spec, structure);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    tilewise::Options options("06_csr_spmv", "y = A x with a sparse A in CSR: who should do which row?");
    const bool sim = tilewise::is_simulated();
    constexpr std::int64_t M = 1 << 20;
    Choices c;
    c.rows = sim ? std::vector<std::int64_t>{4096}
                 : std::vector<std::int64_t>{16 * M, 16 * M, 2 * M, 2 * M, 2 * M, 2 * M, 4 * M};
    options.add("--generate", c.kinds, "Matrices, a list that goes in pairs with --n", tilewise::matrix_kind_names());
    options.add("--n", c.rows, "Rows and columns; stencils take the largest grid with at most so many points",
                {1, sim ? M : tilewise::kMostRows});
    options.add("--nnz-per-row", c.nnz_per_row, "Nonzeros per row, for matrices that are no stencils", {1, 4096});
    options.add_text("--matrix", c.file, "A Matrix Market file instead: coordinate; real, integer or pattern");
    options.add("--type", c.types, "Types of the values", {"float", "double"});
    options.add("--lanes", c.lanes, "Lanes per row, powers of two; left out: by the mean row", {1, 32});
    options.add("--cache", c.cache, "L2 before each call; auto: cold unless the matrix is larger by far",
                {"auto", "cold", "warm"});
    options.parse(argc, argv);
    for (const std::int64_t l : c.lanes)
      if ((l & (l - 1)) != 0)
        options.refuse("--lanes " + std::to_string(l) + ": not a power of two; allowed are 1, 2, 4, 8, 16 and 32");
    if (c.kinds.size() != c.rows.size() && c.kinds.size() != 1 && c.rows.size() != 1)
      options.refuse("--generate and --n are lists of different lengths");

    tilewise::LessonStyle style{
        .figure = tilewise::Figure::bytes, .baseline_name = "cuSPARSE", .counted_work = 1 << 23};
    style.show_tile = false;
    style.in_turns = true;
    style.min_seconds = 0.1;
    style.extra = {{"matrix", "", 10, true}, {"type", "", 6, true}};
    if (c.cache == "warm")
      style.ceiling = tilewise::device().peak_shared_gbs();  // what is in L2 comes faster than DRAM
    tilewise::Lesson lesson(options, style);
    lesson.say(wrong_kernel_by_luck(options.seed()) + "\n");
    run_all(lesson, options, c);
    return lesson.finish();
  });
}
