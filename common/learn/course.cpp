#include "learn/course.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "grader/tools.hpp"
#include "tilewise/files.hpp"

namespace tilewise::learn {

namespace fs = std::filesystem;

// ---------------------------------------------------------------- cache

VerdictCache::VerdictCache(fs::path file) : file_(std::move(file)) {
  const Json all = Json::parse(grader::read_file(file_), nullptr, false);
  if (!all.is_object()) return;
  for (const auto& [key, entry] : all.items()) {
    Verdict v;
    v.step = static_cast<Step>(std::clamp(entry.value("step", 0), 0, static_cast<int>(Step::solved)));
    for (const Json& line : entry.value("said", Json::array())) v.said.push_back(line.get<std::string>());
    for (const Json& line : entry.value("printed", Json::array())) v.printed.push_back(line.get<std::string>());
    for (const Json& line : entry.value("drawn", Json::array())) v.drawn.push_back(line.get<std::string>());
    const Json counts = entry.value("counts", Json::object());
    for (const auto& [name, value] : counts.items()) v.counts[name] = value.get<double>();
    known_[key] = std::move(v);
  }
}

std::string VerdictCache::key(const Puzzle& puzzle, const std::string& learners_text) {
  return grader::hash_of(puzzle.id() + puzzle.text() + '\0' + joined(lines_of(learners_text), "\n"));
}

std::optional<Verdict> VerdictCache::find(const Puzzle& puzzle, const std::string& learners_text) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(key(puzzle, learners_text));
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

void VerdictCache::keep(const Puzzle& puzzle, const std::string& learners_text, const Verdict& verdict) {
  const std::lock_guard lock(mutex_);
  known_[key(puzzle, learners_text)] = verdict;
  Json all = Json::object();
  for (const auto& [key, v] : known_)
    all[key] = {{"step", static_cast<int>(v.step)},
                {"said", v.said},
                {"printed", v.printed},
                {"drawn", v.drawn},
                {"counts", v.counts}};
  std::error_code none;
  fs::create_directories(file_.parent_path(), none);
  const std::string text = all.dump(1, ' ', false, Json::error_handler_t::replace);
  if (why_not_writable(file_.string()).empty()) write_file_atomically(file_.string(), text);
}

// ---------------------------------------------------------------- course

Course::Course(const Workshop& workshop) : workshop_(workshop), cache_(workshop.folder() / "verdicts.json") {
  for (const fs::path& original : find_originals(workshop.root()))
    puzzles_.push_back(read_puzzle(workshop.root(), original));
}

std::string Course::text_of(std::size_t i) const { return grader::read_file(puzzles_[i].file); }

State Course::state_of(std::size_t i) const {
  const std::string text = text_of(i);
  if (is_starter(puzzles_[i], text) || !fs::exists(puzzles_[i].file)) return State::untouched;
  const auto verdict = cache_.find(puzzles_[i], text);
  return !verdict ? State::unknown : verdict->solved() ? State::solved : State::tried;
}

std::size_t Course::solved() const {
  std::size_t n = 0;
  for (std::size_t i = 0; i < puzzles_.size(); ++i) n += state_of(i) == State::solved;
  return n;
}

void Course::judge_unknown() {
  for (std::size_t i = 0; i < puzzles_.size(); ++i)
    if (state_of(i) == State::unknown) verdict(i, text_of(i));
}

std::optional<Verdict> Course::known(std::size_t i, const std::string& text) const {
  return cache_.find(puzzles_[i], text);
}

Verdict Course::verdict(std::size_t i, const std::string& text) {
  if (const auto known = cache_.find(puzzles_[i], text)) return *known;
  const Verdict verdict = judge(puzzles_[i], text, workshop_);
  cache_.keep(puzzles_[i], text, verdict);
  return verdict;
}

std::optional<std::size_t> Course::find(const std::string& word) const {
  if (word.empty()) return std::nullopt;
  const auto id = parse_id(word);
  const fs::path file = fs::absolute(word).lexically_normal();
  for (std::size_t i = 0; i < puzzles_.size(); ++i) {
    const Puzzle& p = puzzles_[i];
    const bool copy =
        file.filename() == p.file.filename() && file.string().find("/" + p.chapter + "/") != std::string::npos;
    if (id ? p.chapter.starts_with(id->first) && p.number == id->second : copy && fs::exists(file)) return i;
  }
  return std::nullopt;
}

std::size_t Course::first() const {
  if (const auto left = find(trimmed(grader::read_file(workshop_.folder() / "last")));
      left && state_of(*left) != State::solved) {
    return *left;
  } else {
    return next_unsolved(left ? *left : puzzles_.size() - 1).value_or(0);
  }
}

std::optional<std::size_t> Course::next_unsolved(std::size_t i) const {
  for (std::size_t step = 1; step <= puzzles_.size(); ++step) {
    const std::size_t k = (i + step) % puzzles_.size();
    if (state_of(k) != State::solved) return k;
  }
  return std::nullopt;
}

void Course::remember(std::size_t i) const {
  std::error_code none;
  fs::create_directories(workshop_.folder(), none);
  const std::string file = (workshop_.folder() / "last").string();
  if (why_not_writable(file).empty()) write_file_atomically(file, puzzles_[i].id() + "\n");
}

std::string Course::reset(std::size_t i) const {
  const Puzzle& p = puzzles_[i];
  const std::string text = text_of(i), original = grader::read_file(p.original);
  if (text == original) return "";
  std::string kept;
  if (fs::exists(p.file)) {
    int n = 1;
    while (fs::exists(fmt::format("{}.{}", p.file.string(), n))) ++n;
    kept = fmt::format("{}.{}", p.file.string(), n);
    write_file_atomically(kept, text);
  }
  write_file_atomically(p.file.string(), original);
  return kept;
}

}  // namespace tilewise::learn
