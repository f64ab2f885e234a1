/// @file
/// The frame of a lesson program: check, then time or count, then one row. Everything that is the same in every
/// chapter is in here, so that a main.cu reads like the lesson's table of contents.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tilewise/compare.hpp"
#include "tilewise/counters.hpp"
#include "tilewise/cuda_check.hpp"
#include "tilewise/device.hpp"
#include "tilewise/device_buffer.hpp"
#include "tilewise/options.hpp"
#include "tilewise/random.hpp"
#include "tilewise/reference.hpp"
#include "tilewise/results.hpp"
#include "tilewise/table.hpp"
#include "tilewise/timer.hpp"

namespace tilewise {

/// The body of main(): runs `program` and returns its exit code. An exception becomes one clear line and code 1,
/// an ExitRequest its code.
int run_main(const std::function<int()>& program) noexcept;

/// What the figure of merit counts.
enum class Figure {
  flops,  ///< GFLOP/s against the FP32 peak
  bytes   ///< GB/s against the memory bandwidth
};

/// What a table is about when no time is measured: the chart of `make tour` shows it.
enum class Quantity {
  requests,    ///< of warps to global memory
  sectors,     ///< of 32 bytes, of global memory
  wavefronts,  ///< passes through the banks of shared memory
  passes,      ///< through L1's banks, of loads from global memory
  bytes,       ///< of global memory, asked for
  time         ///< nothing that is counted differs, or should
};

/// One kernel in one configuration, as a lesson runs it.
struct Variant {
  std::string kernel;                        ///< the kernel's name in the code
  std::string shape;                         ///< first column: "512 x 512 x 512"
  int tile = 0;                              ///< 0: no tile
  dim3 block = dim3(1);                      ///< checked against the device before anything is launched
  std::size_t shared_bytes = 0;              ///< static + dynamic, likewise
  bool opt_in_shared = false;                ///< the launch asks for more than the default shared memory
  std::function<std::string()> skip;         ///< a further precondition: "" or why it cannot run
  std::function<void(cudaStream_t)> launch;  ///< launches on that stream; does not wait
  std::function<void()> poison;              ///< fills the output with NaN
  std::function<Comparison()> check;         ///< compares the output with the reference
  std::function<Comparison()> recheck;       ///< after timing, the same without a further launch; may be empty
  double work = 0;                           ///< FLOP or bytes of one call, as the lesson's Figure says
  std::size_t working_set = 0;               ///< bytes that one call touches, for the timer's L2 flush
  bool baseline = false;                     ///< later rows are compared with this one, which is then launched again
  std::string block_key;                     ///< baselines with the same key have "the same block"
  double predicted_loads = 0;                ///< elements loaded from global memory by formula; 0: no formula
  std::string loads_formula;                 ///< the formula as text: "2 M N K / T"
  double predicted_flops = 0;                ///< for intensity; 0: none
  double predicted_load_sectors = 0;         ///< 32-byte sectors of all loads by formula; 0: no formula
  double predicted_store_sectors = 0;        ///< likewise of all stores
  std::vector<std::string> extra = {};       ///< the cells of LessonStyle::extra, in order
};

/// What became of a variant.
struct Outcome {
  Status status = Status::skip;
  std::string reason;
  Comparison comparison;
  Timing timing;                 ///< on a GPU, if right
  std::optional<Counts> counts;  ///< on the simulator
  double figure = 0;             ///< GFLOP/s or GB/s; 0 when not timed
  /// Time of the best baseline / time of this one, of bytes: this one's rate / the baseline's. 0 when there is none.
  double speedup = 0;
  double speedup_q1 = 0, speedup_q3 = 0;  ///< quartiles of the same, turn by turn; 0 when not timed in turns
  std::size_t row = 0;                    ///< its number in the JSON, for Lesson::add_fields()
};

/// How a lesson's table is made. With Figure::bytes the table has what moving data is judged by: on a GPU the share of
/// the best baseline, on the simulator the sectors of loads and of stores, and bank conflicts.
struct LessonStyle {
  Figure figure = Figure::flops;
  Quantity quantity = Quantity::requests;
  double ceiling = 0;  ///< in the figure's unit; 0: the device's theoretical peak, infinity: none is known
  std::string baseline_name = "naive";
  /// Simulator: larger variants are run and checked, but not counted, so that they end in seconds. The default is the
  /// work of a 320 x 320 x 320 product.
  double counted_work = 2.0 * 320 * 320 * 320;
  std::size_t kernel_width = 26;  ///< of the column of kernel names
  bool show_tile = true;
  bool show_shared = true;  ///< simulator: a column of shared-memory wavefronts
  bool counts = true;       ///< simulator: false for tables of library calls alone, which are not counted
  bool share = false;       ///< GPU, Figure::flops: the share of the best baseline's rate, in place of two speed-ups
  bool exact = false;       ///< kernels only move data: results are compared exactly, no columns for errors and bounds
  /// Times every variant in turns with the best baseline so far (baseline, variant, baseline, variant ...), so that the
  /// ratio of the two does not move with the clocks. The baseline's `launch` must stay callable until begin_group(),
  /// and may write the same output: the variant is always the last to run.
  bool in_turns = false;
  bool graphs = true;  ///< GPU: short calls are timed as a CUDA graph; false where what a call costs is the question
  bool from_idle = false;          ///< GPU: each call begins when the device is idle, see TimerOptions
  std::vector<Column> extra = {};  ///< columns of the lesson's own, after the kernel's name; Variant::extra fills them
  bool l1 = false;                 ///< simulator: passes through L1's tags and L1's data per load request
  bool by_formula = false;         ///< simulator, Figure::bytes: sectors by formula beside the counted ones
  bool only_shared = false;        ///< simulator: shared requests and wavefronts instead of what global memory does
  double min_seconds = 0.1;        ///< GPU: device time that a row is measured for; a lesson has dozens of rows
};

/// Prints the device header and the table, remembers what was wrong, writes the JSON.
class Lesson {
 public:
  explicit Lesson(const Options& options, const LessonStyle& style = {});
  ~Lesson();
  Lesson(const Lesson&) = delete;
  Lesson& operator=(const Lesson&) = delete;

  /// Skips, or poisons, launches, checks, and then times (GPU) or counts (simulator); adds a row either way.
  Outcome run(const Variant& variant);

  /// Adds fields of the lesson's own to the JSON of a row that is there: what is known only after other rows have run.
  void add_fields(const Outcome& outcome, const Record& fields);

  /// Starts a new group of rows; forgets the baselines.
  void begin_group();

  /// For a program with several tables: rows from here on go into a table of this style, below the heading
  /// "part: title". The JSON rows carry `part`. Baselines stay.
  void begin_part(const std::string& part, const std::string& title, const LessonStyle& style);

  /// Adds a SKIP row: for what is known beforehand to be impossible.
  void skip(const std::string& shape, const std::string& kernel, int tile, const std::string& reason);

  /// A line of text between rows, or after them.
  void say(const std::string& line);

  /// Prints the legend and the summary, writes the JSON; returns the program's exit code.
  int finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Operands of C = A B on the device, all row-major: A is m x k, B is k x n, C is m x n.
struct MatmulProblem {
  const float* A = nullptr;
  const float* B = nullptr;
  float* C = nullptr;
  int m = 0;
  int n = 0;
  int k = 0;
  cudaStream_t stream = nullptr;  ///< launch here
};

/// A matmul kernel in one configuration.
struct MatmulVariant {
  std::string kernel;
  int tile = 0;
  dim3 block = dim3(1);
  std::size_t shared_bytes = 0;
  bool opt_in_shared = false;
  bool baseline = false;  ///< one of the naive kernels
  std::function<void(const MatmulProblem&)> launch;
  std::function<std::string(const MatmulShape&)> skip;  ///< a further precondition: "" or why it cannot run
  std::function<double(const MatmulShape&)> loads;      ///< elements loaded from A and B, by formula
  std::string loads_formula;                            ///< the same as text: "2 M N K / T"
};

/// A lesson about C = A B: owns inputs, output and FP64 reference of the current shape.
///
/// @code
/// int main(int argc, char** argv) {
///   return tilewise::run_main([&] {
///     tilewise::Options options("02_tiled_matmul", "What shared-memory tiles save in C = A B.");
///     options.add_matmul({.sizes = {1024, 2048}, .sim_sizes = {128}, .tiles = {8, 16, 32}});
///     options.parse(argc, argv);
///     tilewise::MatmulLesson lesson(options);
///     for (const tilewise::MatmulShape& shape : options.shapes()) {
///       if (!lesson.begin(shape)) continue;  // does not fit: a SKIP row is there
///       for (int tile : options.tiles()) lesson.run(naive(tile));  // returns a MatmulVariant
///       for (int tile : options.tiles()) lesson.run(tiled(tile));
///     }
///     return lesson.finish();
///   });
/// }
/// @endcode
class MatmulLesson {
 public:
  explicit MatmulLesson(const Options& options, const LessonStyle& style = {});
  ~MatmulLesson();

  /// Makes inputs and reference of a shape. False, with a SKIP row, when they do not fit in device memory.
  bool begin(const MatmulShape& shape);

  /// Poison, launch, check, then time or count; adds a row. Run the baselines first: speed-ups are against the
  /// baseline with the same block, and against the best baseline so far.
  Outcome run(const MatmulVariant& variant);

  Lesson& lesson() { return lesson_; }
  int finish() { return lesson_.finish(); }

 private:
  struct Data;
  const Options& options_;
  Lesson lesson_;
  std::unique_ptr<Data> data_;
};

}  // namespace tilewise
