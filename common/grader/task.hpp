/// @file
/// The parent's half of a task: inputs, the right result, and what a wrong one looks like. None of it is ever in the
/// process that student code runs in. One file per chapter: tests/NN_topic/homework/reference.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "rubric.hpp"

namespace tilewise::grader {

/// The elements of a buffer: float, double or 32-bit integers.
using Values = std::variant<std::vector<float>, std::vector<double>, std::vector<std::int32_t>>;

std::size_t size_of(const Values& values);
std::size_t bytes_of(const Values& values);
/// Element i, exactly.
double element_of(const Values& values, std::size_t i);

enum class Use {
  input,     ///< must not change
  output,    ///< holds garbage before
  in_place,  ///< input and output in one
  scratch    ///< to work in: holds garbage before, and nobody looks at it after
};

/// One array in device memory, rows x cols, either of which may be 0. Made by input(), output(), in_place() and
/// scratch().
struct Buffer {
  std::string name;
  int rows = 0, cols = 0;  ///< rows == 1: a vector
  Use use = Use::input;
  Values values;                 ///< before the call; of an output: what type it has, and nothing else
  std::vector<double> expected;  ///< after it: of outputs
  std::vector<double> bound;     ///< how far each element of `expected` may be off; empty: must be equal

  bool by_columns = false;  ///< column-major: element (i, j) is at [i + j * rows]
  bool pinned = false;      ///< it is pinned memory of the host, which host code must leave to copies
  int device = 0;           ///< in whose memory it lies, of Problem::devices
  std::size_t margin = 0;   ///< elements at either end to work in, of an input, too: nobody looks at them after

  std::size_t size() const { return std::size_t(rows) * std::size_t(cols); }
};

Buffer input(std::string name, int rows, int cols, Values values);

/// output<float>("C", M, N, expected, bound); without a bound for integers, and for what is only moved.
template <class T>
Buffer output(std::string name, int rows, int cols, std::vector<double> expected, std::vector<double> bound = {}) {
  return {std::move(name), rows, cols, Use::output, std::vector<T>{}, std::move(expected), std::move(bound), false};
}

/// scratch<float>("workspace", 1, n).
template <class T>
Buffer scratch(std::string name, int rows, int cols) {
  return {std::move(name), rows, cols, Use::scratch, std::vector<T>{}, {}, {}, false};
}

/// Holds `values` before the call and `expected` after it.
Buffer in_place(std::string name, int rows, int cols, Values values, std::vector<double> expected,
                std::vector<double> bound = {});

/// The same array in pinned memory of the host.
Buffer pinned(Buffer buffer);

/// The same array in the memory of that device.
Buffer on_device(int device, Buffer buffer);

/// The same array, of which the first and the last `elements` are to work in.
Buffer with_margin(std::size_t elements, Buffer buffer);

/// A result that a certain mistake would give.
struct Hypothesis {
  std::string mistake;  ///< "every element is what comes out when ..."
  std::vector<double> values;
  std::string output = {};  ///< of this buffer; "": of the first that is wrong, where it has as many elements
};

struct Problem {
  std::vector<Buffer> buffers;
  std::vector<double> scalars = {};  ///< such as alpha and beta; calls.cu asks for them as float, double or int
  std::vector<Hypothesis> hypotheses = {};

  // What must show in the counts when kernels, and nothing else, made the result. A library's work does not.
  double least_flops = 0;                        ///< that kernels must do on the way; 0 for a move
  std::optional<double> least_load_bytes = {};   ///< that they must load; all inputs when not given
  std::optional<double> least_store_bytes = {};  ///< that they must store; all outputs when not given
  /// What counts "per FLOP" divide by; twice least_flops when 0.
  double flops = 0;

  /// Work may go to other streams, too, if it is in order with what comes before and after in the stream that the function gets.
  bool own_streams = false;

  /// How many devices there are, 1 to 8; with several, own_streams must be set, and the function gets a stream of each.
  int devices = 1;
  /// What takes 1 on the timeline that is counted, in bytes that are copied, and what to call it; 0: the pinned inputs.
  double timeline_unit = 0;
  std::string timeline_unit_name = {};
  /// What a thread takes there, in bytes that are copied.
  double thread_cost = 4;

  /// The result may be there without a kernel, as with one device and nothing to do.
  bool without_kernels = false;
};

/// One element of one result.
struct Place {
  const Sizes& sizes;
  const Problem& problem;
  const Buffer& output;
  int row, col;  ///< of a vector: row is 0
};

class Task {
 public:
  Task(std::string chapter, std::string name);
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  virtual Problem make(const Sizes& sizes, std::uint64_t seed) const = 0;
  /// Buffers and scalars alone, for comparing times on a GPU: make(), which asks only_inputs().
  Problem for_timing(const Sizes& sizes, std::uint64_t seed) const;
  /// Where an element lies, in a tutor's words: "row 33 is in the ragged last tile (rows 32 to 34)"; "" for nothing.
  virtual std::string where(const Place& place) const = 0;
  /// What may have led to this wrong output, where none of the hypotheses is it; "" for nothing. It may take a second:
  /// only what is shown is asked for.
  virtual std::string guess(const Sizes&, const Problem&, const Buffer& /*output*/, const Values& /*got*/) const {
    return "";
  }
  /// What has happened when calls.cu says that the call broke this rule of the contract, see HomeworkCase::broke().
  virtual std::string rule(int number) const { return "it broke rule " + std::to_string(number) + " of the contract"; }
  /// Whether the contract asks for the same bits in whatever order blocks run: no sums that depend on who comes first.
  virtual bool same_bits() const { return false; }
  /// What is wrong with the results together, where each alone is right; "" for nothing. `got`: all buffers.
  virtual std::string together(const Sizes&, const Problem&, const std::vector<Values>& /*got*/) const { return ""; }
  /// How many elements each buffer has, at sizes too large to make them; empty: that can be told by small sizes
  /// (dry_launch.hpp). Where their number depends on a size, small shapes have a case with as many.
  virtual std::vector<std::uint64_t> lengths(const Sizes&) const { return {}; }
  /// Whether the function said that a launch, or a call of a library, has failed: by the cudaError_t that it returned,
  /// or by what calls.cu made of what it returned, see HomeworkCase::broke().
  virtual bool told_of_failure(int returned, int /*broken*/) const { return returned != 0; }

  const std::string chapter, name;

 protected:
  /// For make(), once it has the inputs: whether it may leave out what takes long at large sizes, which is expected
  /// results (outputs have their sizes only), bounds and hypotheses.
  static bool only_inputs();
};

/// nullptr when no file defines it.
const Task* find_task(const std::string& chapter, const std::string& name);

/// Throws std::logic_error, naming task and buffer, when sizes do not agree: a mistake in reference.cpp.
void check_problem(const Task& task, const Problem& problem);

}  // namespace tilewise::grader
