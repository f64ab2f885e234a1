// Lesson 15: copies and kernels at the same time, the four ways to lose that, and what a hundred
// small kernels cost as launches and as a graph.
#include "rows.hpp"

namespace {

using tilewise::Lesson;

/// Rows whose work is drawn below the table: who works when.
class Drawings {
 public:
  explicit Drawings(Lesson& lesson) : lesson_(lesson) {}
  void run(const rows::Timed& timed) {
    lesson_.run(timed.row);
    if (!timed.timeline) return;
    if (whole_ == 0) whole_ = timed.timeline->length;
    const std::vector<std::string> drawn = tilewise::drawn(*timed.timeline, whole_, 96);
    lines_.push_back(timed.row.kernel);
    for (const int engine : {0, 1, 2}) lines_.push_back(kEngines[engine] + drawn[engine]);
    lines_.push_back("");
  }
  void show() const {
    if (whole_ == 0) return;
    lesson_.say(
        "\nWho works when, if a kernel took as long as the copy of what it reads. 0, 1, 2: "
        "streams, d: the default one.\n");
    for (const std::string& line : lines_) lesson_.say(line);
  }

 private:
  static constexpr const char* kEngines[] = {"  copy in  ", "  kernels  ", "  copy out "};
  Lesson& lesson_;
  double whole_ = 0;  // the first one's length
  std::vector<std::string> lines_;
};

void run_overlap(Lesson& lesson, int n, int times, std::uint64_t seed) {
  const rows::Jobs jobs(n, times, seed);
  Drawings drawn(lesson);
  drawn.run(rows::one_stream(jobs));
  for (const rows::Timed& part : rows::parts(jobs)) lesson.run(part.row);
  drawn.run(rows::chunks(jobs, 4, 3));
  drawn.run(rows::chunks(jobs, 16, 3));
  lesson.run(rows::chunks(jobs, 64, 3).row);
  drawn.run(rows::chunks(jobs, 16, 2));
  lesson.run(rows::chunks(jobs, 16, 8).row);
  lesson.run(rows::chunks_graph(jobs, 16, 3).row);
  drawn.run(rows::breadth_first(jobs, 16));
  drawn.run(rows::default_stream(jobs, 16));
  drawn.run(rows::waits(jobs, 16));
  lesson.run(rows::pageable(jobs, 16).row);
  lesson.run(rows::one_stream_pageable(jobs).row);
  drawn.show();
}

void run_launches(Lesson& lesson, int n, int steps, std::uint64_t seed) {
  const rows::Steps work(n, steps, seed);
  lesson.run(rows::launches(work));
  lesson.run(rows::waited_for(work));
  lesson.run(rows::graph(work));
  lesson.run(rows::updated_graph(work));
  lesson.run(rows::graph_made_anew(work));
}

void run_sizes(Lesson& lesson, int n, std::uint64_t seed) {
  const rows::Jobs jobs(n, 0, seed);
  lesson.run(rows::copy_in_pinned(jobs));
  lesson.run(rows::copy_in_pageable(jobs));
}

void run_at_once(Lesson& lesson, int times, std::uint64_t seed) {
  const rows::Jobs jobs(256 * rows::kBlocksAtOnce, times, seed);
  CUDA_CHECK(cudaMemcpy(jobs.pinned().device_in, jobs.pinned().in, sizeof(float) * jobs.pinned().n,
                        cudaMemcpyHostToDevice));
  for (const int streams : {1, 2, 4, 8, 16, 32, 64}) lesson.run(rows::at_once(jobs, streams));
}

}  // namespace

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    const bool sim = tilewise::is_simulated();
    std::int64_t n = sim ? 130003 : 1 << 26;
    std::vector<std::int64_t> times =
        sim ? std::vector<std::int64_t>{8} : std::vector<std::int64_t>{64, 6000};
    std::vector<std::int64_t> sizes = sim ? std::vector<std::int64_t>{256}
                                          : std::vector<std::int64_t>{256, 10000, 100000, 1000000};
    std::int64_t steps = 100;
    std::string only = "all";
    tilewise::Options options(
        "15_streams_and_graphs",
        "Copies and kernels at the same time, and launches that cost next to nothing");
    options.add("--n", n, "Floats that are copied to the device and back", {0, 1 << 30});
    options.add("--times", times, "How often the kernel flips each of them", {0, 1000000});
    options.add("--small-n", sizes, "Floats of the small kernels", {0, 1 << 24});
    options.add("--steps", steps, "How many small kernels", {0, 100000});
    options.add("--part", only, "Which part of the lesson to run",
                {"all", "overlap", "launches", "sizes", "at_once"});
    options.parse(argc, argv);
    if (sim && n > 1 << 22)
      options.refuse("--n " + std::to_string(n) +
                     ": too much for the simulator, which takes up to 4194304");

    tilewise::LessonStyle style{.figure = tilewise::Figure::bytes,
                                .quantity = tilewise::Quantity::time,
                                .ceiling = std::numeric_limits<double>::infinity(),
                                .baseline_name = "one_stream",
                                .counted_work = 1 << 22};
    style.kernel_width = 32;
    style.show_tile = false;
    style.show_shared = false;
    style.exact = true;
    style.in_turns = true;
    style.graphs = false;
    style.from_idle = true;
    Lesson lesson(options, style);
    const auto part = [&](const std::string& name, const std::string& title,
                          const std::string& baseline) {
      tilewise::LessonStyle its = style;
      its.baseline_name = baseline;
      its.counts = name == "launches";
      if (name != "launches") its.extra = {{"flips", "", 6}};
      if (sim && name == "overlap") its.extra.push_back({"length", "copies", 6});
      const bool wanted = only == "all" || only == name;
      if (wanted) lesson.begin_part(name, title, its);
      return wanted;
    };
    if (part("overlap", "n floats to the device, flipped, and back", "one_stream"))
      for (const std::int64_t t : times) {
        lesson.begin_group();
        run_overlap(lesson, static_cast<int>(n), static_cast<int>(t), options.seed());
      }
    if (part("launches", tilewise::with_commas(steps) + " kernels on n floats, one after the other",
             "launches"))
      for (const std::int64_t size : sizes) {
        lesson.begin_group();
        run_launches(lesson, static_cast<int>(size), static_cast<int>(steps), options.seed());
      }
    if (part("sizes", "n floats to the device", "pinned"))
      for (const int size : sim ? std::vector<int>{1 << 10, 1 << 14}
                                : std::vector<int>{1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 26}) {
        lesson.begin_group();
        run_sizes(lesson, size, options.seed());
      }
    if (part("at_once", "128 kernels of one block each", "streams<1>")) {
      lesson.begin_group();
      run_at_once(lesson, sim ? 8 : 50000, options.seed());
    }
    return lesson.finish();
  });
}
