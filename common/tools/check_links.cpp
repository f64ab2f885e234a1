// check_links FILE_OR_FOLDER...: checks that every relative link of the .md and .html files leads to a file, and in
// HTML also that the file has the anchor. No network: addresses elsewhere are not looked at. Exit code 1 if a link is
// broken.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Link {
  std::string target;
  std::size_t line = 0;
};

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t line_of(std::string_view text, std::size_t position) {
  return 1 + std::count(text.begin(), text.begin() + position, '\n');
}

/// Calls `found(value, position)` for every name="value" in `text`.
template <class Found>
void each_attribute(std::string_view text, std::string_view name, Found found) {
  const std::string key = std::string(name) + "=\"";
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at == 0 || !std::isspace(static_cast<unsigned char>(text[at - 1]))) continue;  // data-src="..."
    const std::size_t begin = at + key.size();
    const std::size_t end = text.find('"', begin);
    if (end == std::string_view::npos) return;
    found(std::string(text.substr(begin, end - begin)), at);
  }
}

/// The text with everything between `open` and `close` blanked, newlines kept.
std::string without(std::string text, std::string_view open, std::string_view close) {
  for (std::size_t begin = text.find(open); begin != std::string::npos; begin = text.find(open, begin)) {
    std::size_t end = text.find(close, begin + open.size());
    end = end == std::string::npos ? text.size() : end + close.size();
    for (; begin < end; ++begin)
      if (text[begin] != '\n') text[begin] = ' ';
  }
  return text;
}

std::vector<Link> links_of(const fs::path& path) {
  std::vector<Link> links;
  std::string text = read(path);
  if (path.extension() == ".md") {
    text = without(without(std::move(text), "```", "```"), "`", "`");
    for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
      const std::size_t end = text.find_first_of(" )\n", at + 2);
      if (end != std::string::npos) links.push_back({text.substr(at + 2, end - at - 2), line_of(text, at)});
    }
  } else {
    text = without(std::move(text), "<script type=\"text/javascript\">", "</script>");
  }
  for (const char* name : {"href", "src"})
    each_attribute(text, name, [&](std::string value, std::size_t at) {
      links.push_back({std::move(value), line_of(text, at)});
    });
  return links;
}

const std::set<std::string>& anchors_of(const fs::path& path) {
  static std::map<fs::path, std::set<std::string>> known;
  auto [entry, is_new] = known.try_emplace(path);
  if (is_new) {
    const std::string text = read(path);
    for (const char* name : {"id", "name"})
      each_attribute(text, name, [&](std::string value, std::size_t) { entry->second.insert(std::move(value)); });
  }
  return entry->second;
}

/// https:, mailto:, javascript:, data:, //host
bool is_elsewhere(std::string_view target) {
  if (target.substr(0, 2) == "//") return true;
  const std::size_t colon = target.find_first_of(":/?#");
  return colon != std::string_view::npos && target[colon] == ':';
}

/// "" or what is wrong.
std::string problem(const fs::path& page, const std::string& target) {
  if (target.empty()) return "is empty";
  if (is_elsewhere(target)) return "";
  if (target[0] == '/') return "is absolute";
  const std::size_t hash = target.find('#');
  const std::string path = target.substr(0, std::min(hash, target.find('?')));
  const fs::path file = path.empty() ? page : (page.parent_path() / path).lexically_normal();
  if (!fs::exists(file)) return "leads to no file";
  if (hash == std::string::npos || hash + 1 == target.size() || file.extension() != ".html") return "";
  return anchors_of(file).count(target.substr(hash + 1)) ? "" : "leads to no such anchor";
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<fs::path> pages;
  auto add = [&](const fs::path& path) {
    if (path.extension() == ".md" || path.extension() == ".html") pages.push_back(path);
  };
  for (int i = 1; i < argc; ++i) {
    if (fs::is_directory(argv[i])) {
      for (const fs::directory_entry& entry : fs::recursive_directory_iterator(argv[i])) add(entry.path());
    } else if (fs::exists(argv[i])) {
      add(argv[i]);
    } else {
      std::cerr << "check_links: there is no " << argv[i] << '\n';
      return 2;
    }
  }
  std::sort(pages.begin(), pages.end());

  std::size_t checked = 0, broken = 0;
  for (const fs::path& page : pages) {
    for (const Link& link : links_of(page)) {
      ++checked;
      const std::string what = problem(page, link.target);
      if (what.empty()) continue;
      ++broken;
      std::cerr << page.string() << ':' << link.line << ": " << link.target << ' ' << what << '\n';
    }
  }
  std::cout << checked << " links in " << pages.size() << " pages, " << broken << " broken\n";
  return broken != 0 || checked == 0 ? 1 : 0;
}
