// learn: puzzles, judged whenever they are saved.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <thread>

#include "grader/tools.hpp"
#include "learn/bank.hpp"
#include "learn/judge.hpp"

namespace {

using namespace tilewise::learn;
namespace fs = std::filesystem;

/// The puzzle of this id, or the one whose file this is.
Puzzle find_puzzle(const fs::path& root, const std::string& word) {
  const auto originals = find_originals(root);
  const auto id = parse_id(word);
  for (const fs::path& original : originals) {
    const std::string chapter = original.parent_path().parent_path().filename().string();
    const bool same_file = !id && fs::path(word).filename() == original.filename() &&
                           fs::absolute(word).string().find("/" + chapter + "/") != std::string::npos;
    if (same_file || (id && chapter.compare(0, 2, id->first) == 0 && std::atoi(original.filename().string().c_str()) == id->second))
      return read_puzzle(root, original);
  }
  throw std::invalid_argument("there is no puzzle " + word);
}

int judge_once(const Workshop& workshop, const std::string& word) {
  const Puzzle puzzle = find_puzzle(workshop.root(), word);
  const std::string file = parse_id(word) ? puzzle.file.string() : word;
  const Verdict verdict = judge(puzzle, tilewise::grader::read_file(file), workshop);
  for (const std::string& line : verdict.said) std::cout << line << '\n';
  for (const std::string& line : verdict.printed) std::cout << "printed: " << line << '\n';
  for (const auto& [count, value] : verdict.counts) std::cout << fmt::format("  {:<24} {}\n", count, value);
  std::cout << name(verdict.step) << '\n';
  return verdict.solved() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Puzzles: small CUDA programs to write, repair, improve and predict, judged whenever they are saved.");
  std::string root = tilewise::grader::root_folder(), judged;
  std::vector<std::string> chapters;
  bool bank = false, verbose = false;
  unsigned jobs = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
  app.add_option("--root", root, "the repository whose puzzles these are")->check(CLI::ExistingDirectory);
  app.add_option("--judge", judged, "judge this puzzle (00-7) or file, say what there is to say, and end");
  app.add_flag("--check-bank", bank, "judge all attempts of tests/NN_topic/puzzles and compare with what must be said");
  app.add_option("puzzles", chapters, "with --check-bank: 00, 03-2 ...");
  app.add_option("--jobs,-j", jobs, "with --check-bank: judged at a time")->check(CLI::Range(1u, 64u));
  app.add_flag("--verbose", verbose, "with --check-bank: show what is said of each");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::cerr << "learn: " << error.what() << '\n';
    return 2;
  }
  try {
    const Workshop workshop(fs::absolute(root));
    if (const std::string problem = workshop.make_prelude(); !problem.empty()) throw std::runtime_error(problem);
    if (bank) return check_bank(workshop, chapters, jobs, verbose) ? 0 : 1;
    if (!judged.empty()) return judge_once(workshop, judged);
    return 0;
  } catch (const std::invalid_argument& error) {
    std::cerr << "learn: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "learn: " << error.what() << '\n';
    return 3;
  }
}
