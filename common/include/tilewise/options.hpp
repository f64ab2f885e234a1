/// @file
/// The command line of a lesson program: ranges checked, one clear line and exit code 2 when something is wrong.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tilewise/random.hpp"
#include "tilewise/reference.hpp"

namespace tilewise {

/// Exit codes of every program.
enum ExitCode : int { kAllRight = 0, kWrongResult = 1, kBadArguments = 2 };

/// Thrown to end a program from inside: after --help (code 0) or a bad argument (code 2, message already printed).
struct ExitRequest {
  int code;
};

/// Allowed values of an integer option, both ends included.
struct Range {
  std::int64_t low = 1;
  std::int64_t high = 65536;
};

/// What a matmul lesson runs when nothing is asked for.
struct MatmulDefaults {
  std::vector<std::int64_t> sizes = {};      ///< of --n on a GPU
  std::vector<std::int64_t> sim_sizes = {};  ///< of --n on the simulator
  std::vector<std::int64_t> tiles = {};      ///< of --tile; empty: the program has no --tile
  std::vector<MatmulShape> shapes = {};      ///< run before the squares when none of --n, --m, --k is given; on a GPU
  std::vector<MatmulShape> sim_shapes = {};  ///< the same on the simulator
};

/// Options of a program. --help, --repeat, --no-time, --seed, --data and --json are always there, on the simulator also
/// --sample, which parse() hands to sample_blocks().
class Options {
 public:
  /// `program` is the chapter's name, `summary` one sentence for --help.
  Options(std::string program, std::string summary);
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  /// --n --m --k, and --tile if there are default tiles. --m and --k follow --n unless given; lists of the same
  /// length are taken pairwise, a single value goes with every element of a list.
  Options& add_matmul(const MatmulDefaults& defaults);

  /// An option of the chapter's own. `name` begins with "--"; `target` holds the default and receives the value.
  /// All targets must live until parse() returns.
  Options& add(const std::string& name, std::int64_t& target, const std::string& help, Range range);
  Options& add(const std::string& name, std::vector<std::int64_t>& target, const std::string& help, Range range);
  Options& add(const std::string& name, double& target, const std::string& help, double low, double high);
  Options& add(const std::string& name, std::string& target, const std::string& help,
               const std::vector<std::string>& choices);
  /// A list of names, each one of `choices`.
  Options& add(const std::string& name, std::vector<std::string>& target, const std::string& help,
               const std::vector<std::string>& choices);
  /// Any text, such as the name of a file; not empty.
  Options& add_text(const std::string& name, std::string& target, const std::string& help);
  Options& add_flag(const std::string& name, bool& target, const std::string& help);

  /// Reads the command line. Throws ExitRequest after --help or a bad argument; the message is printed by then.
  void parse(int argc, const char* const* argv);

  /// Refuses what has been parsed, in the words of parse(): one line, code 2.
  [[noreturn]] void refuse(const std::string& message) const;

  const std::string& program() const { return program_; }
  const std::vector<MatmulShape>& shapes() const { return shapes_; }
  const std::vector<int>& tiles() const { return tiles_; }
  int repeat() const { return repeat_; }    ///< iterations of the timer; 0: the timer decides
  bool timed() const { return !no_time_; }  ///< false: each kernel runs once and is checked
  std::uint64_t seed() const { return seed_; }
  Distribution data() const { return data_; }
  const std::string& json() const { return json_; }  ///< "" when not asked for
  const std::string& command_line() const { return command_line_; }

 private:
  struct Parser;
  void read_matmul();

  std::string program_;
  std::unique_ptr<Parser> parser_;
  std::vector<MatmulShape> shapes_;
  std::vector<int> tiles_;
  int repeat_ = 0;
  bool no_time_ = false;
  std::uint64_t seed_ = 1;
  std::uint64_t sample_ = 0;
  Distribution data_ = Distribution::uniform;
  std::string json_;
  std::string command_line_;
};

}  // namespace tilewise
