// A task of a lesson under another rubric than its own, for tests of what is counted.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "text.hpp"

/// A folder of a teacher's own for the tasks of one lesson, gone with the object.
class ChangedRubric {
 public:
  /// `chapter`: "15_streams_and_graphs".
  explicit ChangedRubric(std::string chapter)
      : chapter_(std::move(chapter)),
        path_(std::filesystem::temp_directory_path() /
              ("changed rubric " + chapter_ + " " + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_ / chapter_);
  }
  ~ChangedRubric() {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
  }
  ChangedRubric(const ChangedRubric&) = delete;
  ChangedRubric& operator=(const ChangedRubric&) = delete;

  /// The verdict on a file, where these counts, and no others, are asked for at `shape`. `rubric`: "1_filter.json".
  std::string verdict(const std::string& rubric, const std::vector<int>& shape,
                      const std::vector<std::pair<std::string, double>>& counts, const std::string& submission) const {
    using Json = nlohmann::json;
    Json j = Json::parse(read(std::string(TILEWISE_SOURCE_DIR "/tests/") + chapter_ + "/homework/" + rubric));
    const double points = j["points"]["efficiency"].get<double>();
    Json limits = Json::array();
    for (const auto& [count, value] : counts)
      limits.push_back({{"count", count},
                        {"at_least", value},
                        {"at_most", value},
                        {"points", points / double(counts.size())},
                        {"why", "so it is"}});
    j["efficiency"] = {{"shape", shape}, {"busy_multiprocessors", 0}, {"limits", limits}};
    std::ofstream(path_ / chapter_ / rubric) << j.dump();
    const std::string log = (path_ / "log").string(), task = j["task"].get<std::string>();
    const int status =
        std::system(("TILEWISE_TASKS='" + path_.string() + "' " TILEWISE_GRADE " " + chapter_.substr(0, 2) +
                     " --task " + task + " --file '" + submission + "' > '" + log + "' 2>&1")
                        .c_str());
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    CHECK((code == 0 || code == 1));
    return read(log);
  }

  /// A submission in that folder.
  std::string write(const std::string& code) const {
    const std::string file = (path_ / "homework.cu").string();
    std::ofstream(file) << code;
    return file;
  }

 private:
  std::string chapter_;
  std::filesystem::path path_;
};
