/// @file
/// A puzzle is one .cu file: a title and a goal at the top, what the learner edits, a line that says that the check follows,
/// and below that the check, and hints, limits and the rest in comments. This reads it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tilewise::learn {

using Lines = std::vector<std::string>;

enum class Kind { write, repair, improve, predict };
const char* name(Kind kind);

/// "sectors_per_store <= 4: why".
struct CountLimit {
  std::string count;
  std::string relation;  ///< <=, >= or =
  double bound = 0;
  std::string why;

  bool holds(double value) const;
};

/// What a learner who predicts `number` is told.
struct Belief {
  double number = 0;
  std::string reply;
};

struct Puzzle {
  std::string chapter;             ///< 00_first_kernel
  int number = 0;                  ///< within the chapter, from 1
  std::filesystem::path file;      ///< that the learner edits
  std::filesystem::path original;  ///< what it was
  std::filesystem::path attempts;  ///< solution, and what must be said of others

  std::string title, goal, notice, gpu;
  Kind kind = Kind::write;
  int minutes = 0;
  int devices = 1;  ///< that its program finds
  Lines hints;
  std::vector<CountLimit> limits;
  std::string answer;  ///< predict: the count that the learner's number is compared with
  std::vector<Belief> beliefs;
  Lines shown;               ///< counts that are shown before and after
  Lines lines;               ///< of the original
  std::size_t check = 0;     ///< which of them says that the check follows
  std::size_t question = 0;  ///< predict: which of them ends with ": ?"

  /// "00-7"
  std::string id() const;
  /// "07_guard.cu"
  std::string file_name() const { return file.filename().string(); }
  /// "chapters/00_first_kernel/puzzles/07_guard.cu"
  std::string shown_file() const;
  std::string text() const;
};

/// What is written in a puzzle that is no puzzle: a teacher's mistake, with file and line.
struct BadPuzzle : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads the original at `original`; `chapter` and `number` come from its path. Throws BadPuzzle.
Puzzle read_puzzle(const std::filesystem::path& root, const std::filesystem::path& original);

/// All originals of a repository, in the order in which they are to be done.
std::vector<std::filesystem::path> find_originals(const std::filesystem::path& root);

/// "00-7", "0-07" and "00_first_kernel-7" as chapter and number; nothing where it is neither.
std::optional<std::pair<std::string, int>> parse_id(const std::string& word);

/// Names that limits and answers may have.
const Lines& count_names();
/// "sectors per request of stores" for sectors_per_store.
std::string count_in_words(const std::string& count);

/// The learner's part with the original's check below it.
struct Composed {
  std::string text;
  std::size_t own_lines = 0;  ///< how many of its lines are the learner's
  std::string problem;        ///< why nothing can be judged; "" if it can
  std::string note;           ///< what was left out; "" if nothing
};
/// `text` with a word in the check's calls that only the check knows: what the learner's part says of being solved, does not
/// count. Lines stay where they are.
std::string with_token(std::string text, std::size_t own_lines, const std::string& token);

/// How the learner's part changes what the check means, by a macro or in its namespace; "" if it doesn't.
std::string interference(const Puzzle& puzzle, const Composed& composed);

Composed compose(const Puzzle& puzzle, const std::string& learners_text);

/// What a learner wrote in place of the question mark.
struct Prediction {
  std::optional<double> number;
  std::string problem;         ///< why there is none
  bool other_changes = false;  ///< more than that line was changed
};
Prediction read_prediction(const Puzzle& puzzle, const std::string& learners_text);

/// Whether a file is still as it was, but for blanks at ends of lines.
bool is_starter(const Puzzle& puzzle, const std::string& learners_text);

/// Without blanks at the end of lines, carriage returns, a mark of the encoding, and empty lines at the end.
Lines lines_of(const std::string& text);
std::string trimmed(const std::string& text);
std::string joined(const Lines& lines, const std::string& separator);

/// "1,024", "16.5" and "4 sectors" as numbers.
std::optional<double> parse_number(const std::string& text);

}  // namespace tilewise::learn
