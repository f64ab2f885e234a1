#include "learn/watch.hpp"

#include <sys/stat.h>

#include "grader/tools.hpp"

namespace tilewise::learn {

FileWatch::FileWatch(std::filesystem::path file) : file_(std::move(file)), seen_(version()) {}

FileWatch::Version FileWatch::version() const {
  struct stat s {};
  if (stat(file_.c_str(), &s) != 0) return {};
#ifdef __APPLE__
  const auto& time = s.st_mtimespec;
#else
  const auto& time = s.st_mtim;
#endif
  return {time.tv_sec * 1000000000LL + time.tv_nsec, s.st_size, static_cast<long long>(s.st_ino)};
}

std::optional<std::string> FileWatch::saved() {
  const Version now = version();
  if (now != seen_) {
    seen_ = now;
    changed_ = Clock::now();
    return std::nullopt;
  }
  if (!changed_ || now.size < 0) return std::nullopt;  // taken away: it will come back
  if (Clock::now() - *changed_ < (now.size == 0 ? kQuietEmpty : kQuiet)) return std::nullopt;
  std::string text = grader::read_file(file_);
  if (version() != now) return std::nullopt;
  changed_.reset();
  return text;
}

}  // namespace tilewise::learn
