// tour BIN_FOLDER REPORT_FOLDER COMMAND CHAPTER...: runs every lesson program in order, prints one table about all of them,
// and writes REPORT_FOLDER/index.html from the JSON files that the programs wrote; tour_page.hpp makes it. COMMAND is run after the first lesson and
// builds the others; "true" when they are there. Exit code 1 if a lesson went wrong or COMMAND failed.
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tour_page.hpp"

namespace {

namespace fs = std::filesystem;
using tour::Json;
using tour::Visit;

// ---------------------------------------------------------------- running

/// Heading and first paragraph of a Markdown page, without the chapter's number and Doxygen's label.
void read_page(const fs::path& page, Visit& visit) {
  visit.title = visit.chapter;
  std::ifstream file(page);
  std::string line;
  bool below_title = false;
  while (std::getline(file, line)) {
    if (!below_title) {
      if (!line.starts_with("# ")) continue;
      visit.title = line.substr(2, line.find(" {#") - 2);
      if (visit.title.starts_with(visit.chapter.substr(0, 2) + " ")) visit.title.erase(0, 3);
      below_title = true;
    } else if (line.empty()) {
      if (!visit.about.empty()) return;
    } else if (visit.about.empty() && std::string_view("#|<!`[").find(line[0]) != std::string_view::npos) {
      continue;  // a picture, a heading, a comment: not the paragraph yet
    } else {
      visit.about += (visit.about.empty() ? "" : " ") + line;
    }
  }
}

Visit run_lesson(const fs::path& bin, const fs::path& report, const std::string& chapter) {
  Visit visit;
  visit.chapter = chapter;
  read_page(fs::path("chapters") / chapter / "README.md", visit);

  const fs::path json = report / (chapter + ".json");
  fs::remove(json);
  const std::string command = fmt::format("'{}' --json '{}'", (bin / chapter).string(), json.string());
  const auto begin = std::chrono::steady_clock::now();
  const int status = std::system(command.c_str());
  visit.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  visit.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);

  std::ifstream file(json);
  if (file) visit.run = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (visit.run.is_discarded()) visit.run = nullptr;
  for (const Json& row : visit.run.value("rows", Json::array())) {
    const std::string result = row.value("status", "");
    (result == "OK" ? visit.right : result == "SKIP" ? visit.skipped : visit.wrong)++;
  }
  return visit;
}

// ---------------------------------------------------------------- the table on the terminal

/// At most `width` bytes of UTF-8 text, padded with blanks to `width` characters.
std::string fit(std::string text, std::size_t width) {
  auto characters = [](const std::string& s) {
    std::size_t n = 0;
    for (unsigned char c : s) n += (c & 0xC0) != 0x80;
    return n;
  };
  bool cut = false;
  while (characters(text) > width - (cut ? 2 : 0)) {
    do text.pop_back();
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80);
    cut = true;
  }
  if (cut) text += "..";
  return text + std::string(width - std::min(width, characters(text)), ' ');
}

void print_summary(const std::vector<Visit>& visits) {
  std::size_t name_width = 7;
  for (const Visit& v : visits) name_width = std::max(name_width, v.chapter.size());
  constexpr std::size_t kTitleWidth = 56;
  fmt::print("\n{:<{}}  {:<{}}  {:>5} {:>5} {:>7} {:>8}\n", "Chapter", name_width, "What it shows", kTitleWidth,
             "right", "wrong", "skipped", "seconds");
  fmt::print("{}\n", std::string(name_width + kTitleWidth + 32, '-'));
  for (const Visit& v : visits) {
    fmt::print("{:<{}}  {}  {:>5} {:>5} {:>7} {:>8.1f}", v.chapter, name_width, fit(v.title, kTitleWidth), v.right,
               v.wrong, v.skipped, v.seconds);
    if (v.run.is_null()) fmt::print("  wrote no results");
    if (v.exit_code != 0) fmt::print("  exit code {}", v.exit_code);
    fmt::print("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    fmt::print(stderr, "usage: tour BIN_FOLDER REPORT_FOLDER COMMAND CHAPTER...\n");
    return 2;
  }
  const fs::path bin = argv[1], report = argv[2];
  const char* const build_others = argv[3];
  const std::vector<std::string> chapters(argv + 4, argv + argc);
  try {
    fs::create_directories(report);
    std::vector<Visit> visits;
    for (const std::string& chapter : chapters) {
      if (visits.size() == 1 && std::system(build_others) != 0) return 1;
      fmt::print("\n--- {} of {}: {} ---\n", visits.size() + 1, chapters.size(), chapter);
      std::fflush(stdout);
      visits.push_back(run_lesson(bin, report, chapter));
    }
    print_summary(visits);

    const fs::path index = report / "index.html";
    std::ofstream file(index);
    file << tour::page(visits, report);
    file.close();
    if (!file) throw std::runtime_error("cannot write " + index.string());
    fmt::print("\nThe report is {}\n", index.string());

    for (const Visit& v : visits)
      if (!v.good()) return 1;
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tour: {}\n", error.what());
    return 1;
  }
}
