// make tune-12: which kernel of lesson 12, with which tiles, is fastest on this device, size by
// size. All are checked, and timed in turns with cuBLAS. What it found on an H200 is what
// choose_fastest() chooses.
#include <map>

#include "rows.hpp"
#include "tilewise/lesson.hpp"
#include "tilewise/table.hpp"

namespace {

struct Best {
  std::string kernel, shares;  ///< the fastest, and the fastest of past_cublas
  double speedup = 0, shares_speedup = 0;
};

class Tuner {
 public:
  Tuner(tilewise::MatmulLesson& lesson, const tilewise::MatmulShape& shape)
      : lesson_(lesson), shape_(shape) {}

  void run(const tilewise::MatmulVariant& variant) {
    const tilewise::Outcome outcome = lesson_.run(variant);
    if (outcome.status != tilewise::Status::ok || !outcome.timing.timed) return;
    if (outcome.speedup > best_.speedup)
      best_.speedup = outcome.speedup, best_.kernel = variant.kernel;
    if (variant.kernel.starts_with("past_cublas") && outcome.speedup > best_.shares_speedup)
      best_.shares_speedup = outcome.speedup, best_.shares = variant.kernel;
  }

  template <int BM, int BN, int BK, int TM, int TN, int WM, int WN, int STAGES, int... GROUPS>
  void shares() {
    (run(rows::shared_out<BM, BN, BK, TM, TN, WM, WN, STAGES, GROUPS>(shape_)), ...);
  }
  template <int BM, int BN, int BK, int TM, int TN, int WM, int WN, int SLICES, int STAGES>
  void slices() {
    // larger ones fill the device without slices
    if (4.0 * 1536 * 1536 >= 4.0 * shape_.m * shape_.n)
      run(rows::sliced<BM, BN, BK, TM, TN, WM, WN, SLICES, STAGES>(shape_));
  }

  const Best& best() const { return best_; }

 private:
  tilewise::MatmulLesson& lesson_;
  const tilewise::MatmulShape& shape_;
  Best best_;
};

}  // namespace

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    tilewise::Options options("tune_12_past_cublas",
                              "The fastest kernel of lesson 12 for each size, on this device.");
    options.add_matmul(
        {.sizes = {256, 512, 768, 1024, 1280, 1536, 2048, 3072, 4096, 4095, 4097, 8192},
         .sim_sizes = {128},
         .tiles = {},
         .shapes = {},
         .sim_shapes = {}});
    options.parse(argc, argv);

    tilewise::MatmulLesson lesson(options, {.baseline_name = "cuBLAS",
                                            .kernel_width = 42,
                                            .show_tile = false,
                                            .share = true,
                                            .in_turns = true});
    const tilewise::CublasHandle handle;
    std::map<std::string, Best> best;
    for (const tilewise::MatmulShape& shape : options.shapes()) {
      if (!lesson.begin(shape)) continue;
      lesson.run(rows::cublas_sgemm(handle));
      Tuner tuner(lesson, shape);
      tuner.shares<128, 128, 16, 16, 8, 2, 2, 3, 4, 8, 16>();
      tuner.shares<128, 128, 8, 16, 8, 2, 2, 4, 8>();
      tuner.shares<128, 128, 8, 16, 8, 2, 2, 5, 4, 8, 16>();
      tuner.shares<128, 128, 8, 8, 16, 2, 2, 5, 8>();
      tuner.shares<256, 128, 16, 16, 8, 4, 2, 3, 4>();
      tuner.shares<128, 64, 16, 8, 8, 2, 2, 3, 8>();
      tuner.slices<128, 64, 64, 8, 8, 2, 2, 4, 3>();
      tuner.slices<64, 128, 64, 8, 8, 2, 2, 4, 3>();
      tuner.slices<64, 64, 64, 8, 4, 2, 2, 4, 3>();
      tuner.slices<32, 64, 32, 4, 8, 1, 2, 4, 3>();
      tuner.slices<32, 32, 32, 4, 4, 1, 2, 4, 3>();
      best[shape.text()] = tuner.best();
    }
    const int code = lesson.finish();
    if (tilewise::is_simulated()) {
      std::printf("\nWithout a GPU nothing was timed, so there's nothing to choose by.\n");
      return code;
    }
    std::printf("\n%-22s %-44s %9s   %s\n", "shape", "fastest", "x cuBLAS",
                "fastest that shares tiles");
    for (const auto& [shape, b] : best)
      std::printf("%-22s %-44s %9.3f   %s %.3f\n", shape.c_str(), b.kernel.c_str(), b.speedup,
                  b.shares.c_str(), b.shares_speedup);
    return code;
  });
}
