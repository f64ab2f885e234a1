// Lesson 16: several devices. Copies between them, sums over all of them, a product and a plate that
// they share out, and how close to p times as fast p devices get.
#include "rows.hpp"
#include "tilewise/several_devices.hpp"

namespace {

using tilewise::Lesson;

/// Rows whose work is drawn below the table: which device works when.
class Drawings {
 public:
  explicit Drawings(Lesson& lesson) : lesson_(lesson) {}
  void run(const rows::Timed& timed) {
    lesson_.run(timed.row);
    if (!timed.timeline || timed.timeline->length == 0) return;
    if (whole_ == 0) whole_ = timed.timeline->length;
    lines_.push_back(timed.row.kernel + ", " + timed.row.extra.front() + " devices");
    for (int d = 0; d < std::stoi(timed.row.extra.front()); ++d) {
      tilewise::Timeline own{{}, timed.timeline->length};
      for (tilewise::TimelinePiece piece : timed.timeline->pieces) {
        if (piece.device != d) continue;
        piece.stream = d;
        own.pieces.push_back(piece);
      }
      const std::vector<std::string> drawn = tilewise::drawn(own, whole_, 96);
      lines_.push_back("  " + std::to_string(d) + " kernels  " + drawn[1]);
      lines_.push_back("    sends    " + drawn[2]);
    }
    lines_.push_back("");
  }
  void show() {
    if (whole_ == 0) return;
    lesson_.say(
        "\nWhich device works when, if a thread took as long as a float takes from one device to "
        "another.\n");
    for (const std::string& line : lines_) lesson_.say(line);
    lines_.clear();
  }

 private:
  Lesson& lesson_;
  double whole_ = 0;  // the first one's length
  std::vector<std::string> lines_;
};

void run_copies(Lesson& lesson, int n, std::uint64_t seed) {
  rows::Copies copies(n, seed);
  rows::Timed host = copies.through_host();
  host.row.baseline = true;
  lesson.run(host.row);
  lesson.run(copies.copy("copy_without_access").row);
  if (!PeerAccess::possible(2)) {
    lesson.skip(host.row.shape, "copy", 0, "these devices cannot reach each other's memory");
    return;
  }
  const PeerAccess access(2);
  for (const rows::Timed& t : {copies.copy("copy"), copies.both_ways(), copies.kernel_reads(),
                               copies.kernel_writes(), copies.within()})
    lesson.run(t.row);
}

void run_all_reduce(Lesson& lesson, int p, int n, std::uint64_t seed, bool draws) {
  rows::AllReduces all(p, n, seed);
  Drawings drawn(lesson);
  drawn.run(all.by_way_of_one());
  drawn.run(all.ring());
#ifndef TILEWISE_NO_NCCL
  for (const rows::Timed& t : {all.nccl(), all.nccl_reduce_scatter(), all.nccl_all_gather()})
    lesson.run(t.row);
#endif
  if (draws) drawn.show();
}

void run_sum(Lesson& lesson, const std::vector<int>& teams, int n, std::uint64_t seed) {
  rows::BigSum alone(1, n, seed);  // it must stay: the others are timed in turns with it
  lesson.run(alone.here_then_across(true).row);
  for (const int p : teams)
    if (p > 1) lesson.run(rows::BigSum(p, n, seed).here_then_across(false).row);
}

void run_sgemm(Lesson& lesson, const std::vector<int>& teams, int m, int n, int k,
               std::uint64_t seed) {
  const rows::Factors factors(m, n, k, seed);
  rows::Products alone(1, factors);
  lesson.run(alone.one_device().row);
  for (const int p : teams) {
    if (p == 1) continue;
    rows::Products together(p, factors);
    lesson.run(together.rows_apart().row);
    lesson.run(together.then_gather().row);
    for (const int chunks : {2, 4, 8}) lesson.run(together.gather_in_chunks(chunks).row);
    lesson.run(together.gather_behind_tail(tilewise::is_simulated() ? 8 : 256).row);
#ifndef TILEWISE_NO_NCCL
    lesson.run(together.gather_in_chunks_nccl(4).row);
#endif
  }
}

void run_heat(Lesson& lesson, const std::vector<int>& teams, int height, int width, int steps,
              std::uint64_t seed, bool draws) {
  const rows::Heat heat(height, width, steps, seed);
  rows::Plates alone(1, heat);
  lesson.run(alone.fetch_then_compute(true).row);
  Drawings drawn(lesson);
  for (const int p : teams) {
    if (p == 1) continue;
    rows::Plates together(p, heat);
    drawn.run(together.fetch_then_compute(false));
    drawn.run(together.outer_rows_first());
#ifndef TILEWISE_NO_NCCL
    lesson.run(together.send_then_compute().row);
#endif
  }
  if (draws) drawn.show();
}

/// 1, 2, 4, ... and all of them.
std::vector<int> teams_of(int devices) {
  std::vector<int> teams;
  for (int p = 1; p < devices; p *= 2) teams.push_back(p);
  teams.push_back(devices);
  return teams;
}

}  // namespace

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    const bool sim = tilewise::is_simulated();
    int here = 0;
    CUDA_CHECK(cudaGetDeviceCount(&here));
    std::int64_t devices = here, size = sim ? 203 : 16384, rows = sim ? 21 : 16384,
                 steps = sim ? 4 : 10;
    using Sizes = std::vector<std::int64_t>;
    Sizes copied = sim ? Sizes{4099} : Sizes{1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 26};
    Sizes reduced = sim ? Sizes{4099} : Sizes{1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 26, 1 << 28};
    std::int64_t summed = sim ? 100003 : 1 << 30;
    std::string only = "all";
    tilewise::Options options("16_many_gpus",
                              "Several devices: copies between them, and work that they share out");
    options.add("--devices", devices, "So many of this machine's devices", {1, here});
    options.add("--copied", copied, "Floats that go from one device to another", {0, 1 << 29});
    options.add("--reduced", reduced, "Floats on each device, for sums over the devices",
                {0, 1 << 29});
    options.add("--summed", summed, "Floats that are added up", {0, (1LL << 31) - 256});
    options.add("--size", size, "Rows and columns of the product, and columns of the plate",
                {1, 65535});
    options.add("--plate-rows", rows, "Rows of the plate", {1, 65535});
    options.add("--steps", steps, "Steps of the plate", {1, 1000});
    options.add("--part", only, "Which part of the lesson to run",
                {"all", "copies", "all_reduce", "sum", "sgemm", "heat"});
    options.parse(argc, argv);
    if (sim && size > 1024)
      options.refuse("--size " + std::to_string(size) + ": the simulator takes up to 1024");

    tilewise::LessonStyle style{.figure = tilewise::Figure::bytes,
                                .quantity = tilewise::Quantity::time,
                                .ceiling = std::numeric_limits<double>::infinity(),
                                .baseline_name = "one_device"};
    style.kernel_width = 26;
    style.show_tile = false;
    style.show_shared = false;
    style.exact = true;
    style.graphs = false;
    style.in_turns = true;
    style.counts = false;
    style.extra = {{"devices", "", 7}};
    if (sim) style.extra.push_back({"most sent", "bytes", 10});
    Lesson lesson(options, style);
    const auto part = [&](const std::string& name, const std::string& title,
                          const std::string& baseline) {
      tilewise::LessonStyle its = style;
      its.baseline_name = baseline;
      if (name == "sgemm") its.figure = tilewise::Figure::flops, its.share = true;
      const bool wanted = only == "all" || only == name;
      if (wanted) lesson.begin_part(name, title, its);
      return wanted;
    };
    const int all = static_cast<int>(devices);
    const std::vector<int> teams = teams_of(all);
    if (part("copies", "n floats from device 0 to device 1", "through_host")) {
      if (all == 1) lesson.skip("", "copy", 0, "this machine has one device");
      for (const std::int64_t n : copied) {
        if (all == 1) break;
        lesson.begin_group();
        run_copies(lesson, static_cast<int>(n), options.seed());
      }
    }
    const auto access =
        all > 1 && PeerAccess::possible(all) ? std::make_unique<PeerAccess>(all) : nullptr;
    if (part("all_reduce", "n floats on each device; in the end each has the sum of all",
             "by_way_of_one")) {
      if (all == 1) lesson.skip("", "ring", 0, "this machine has one device");
      for (const int p : teams)
        for (const std::int64_t n : reduced) {
          if (p == 1) break;
          lesson.begin_group();
          run_all_reduce(lesson, p, static_cast<int>(n), options.seed(), p == teams.back());
        }
    }
    if (part("sum", "one sum of n floats, which lie on all devices", "one_device")) {
      lesson.begin_group();
      run_sum(lesson, teams, static_cast<int>(summed), options.seed());
    }
    const int n = static_cast<int>(size);
    if (part("sgemm", "C = A B, by rows; in the end each device has all of C", "one_device")) {
      lesson.begin_group();
      run_sgemm(lesson, teams, n, n, n, options.seed());
    }
    if (part("heat", tilewise::with_commas(steps) + " steps of heat in a plate, by rows",
             "one_device")) {
      lesson.begin_group();
      const int height = static_cast<int>(rows);
      run_heat(lesson, teams, height, n, static_cast<int>(steps), options.seed(), true);
      if (!sim) {  // weak scaling: as many points for each device as one had
        for (const int p : teams) {
          if (p == 1) continue;
          lesson.begin_group();
          run_heat(lesson, {p}, height * p, n, static_cast<int>(steps), options.seed(), false);
        }
      }
    }
    return lesson.finish();
  });
}
