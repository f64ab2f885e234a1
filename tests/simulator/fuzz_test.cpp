// Random kernels (fuzz/generate.hpp) on the simulator against what was recorded on a GPU (fuzz/record.sh): results,
// requests, sectors and wavefronts. They are correct by construction, so there must be no finding either.
//
// TILEWISE_FUZZ_KERNELS=600 compares all kernels of the recording, not only the first 60.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "fuzz/generate.hpp"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::string kFolder = std::string(TILEWISE_SOURCE_DIR) + "/tests/simulator/fuzz/";

std::string read_file(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("tilewise_fuzz_" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

struct Run {
  std::string output;  ///< a line per kernel: name, fingerprint, result
  std::string report;
  std::string log;
  bool ok = false;
};

/// Compiles one program of random kernels with simcc and runs it.
class Program {
 public:
  Program(const Folder& folder, const std::string& source, const std::string& options = "") : folder_(folder) {
    std::ofstream(folder_.file("kernels.cu")) << source;
    built_ = shell("'" TILEWISE_SIMCC "' " + options + " '" + folder_.file("kernels.cu") + "' -o '" +
                   folder_.file("kernels") + "' > '" + folder_.file("log") + "' 2>&1");
  }

  Run run() const {
    if (!built_) return {"", "", read_file(folder_.file("log")), false};
    fs::remove(folder_.file("report.json"));
    const bool ok =
        shell("TILEWISE_REPORT='" + folder_.file("report.json") + "' TILEWISE_FINDINGS= '" + folder_.file("kernels") +
              "' > '" + folder_.file("out") + "' 2> '" + folder_.file("log") + "'");
    return {read_file(folder_.file("out")), read_file(folder_.file("report.json")), read_file(folder_.file("log")), ok};
  }

 private:
  static bool shell(const std::string& command) { return std::system(command.c_str()) == 0; }
  const Folder& folder_;
  bool built_ = false;
};

std::string kernel_name(const Json& launch) {
  const auto signature = launch["kernel"].get<std::string>();
  return signature.substr(0, signature.find('('));
}

/// Instructions without any active lane are counted by the hardware as executed, but ask for nothing.
bool is_compared(const std::string& metric) { return metric.find("inst_executed") == std::string::npos; }

bool is_global(const std::string& metric) { return metric.find("global") != std::string::npos; }

}  // namespace

TEST_CASE("Random kernels give the results and counters of a GPU, and no finding", "[programs]") {
  const Json recording = Json::parse(read_file(kFolder + "recorded.json"));
  const Json reasons = Json::parse(read_file(kFolder + "differences.json"));
  const char* wanted = std::getenv("TILEWISE_FUZZ_KERNELS");
  const std::size_t count =
      std::min<std::size_t>(wanted != nullptr ? std::atoi(wanted) : 60, recording["kernels"].size());
  const auto seed = recording["seed"].get<std::uint64_t>();
  const auto metrics = recording["metrics"].get<std::vector<std::string>>();
  REQUIRE(count > 0);

  const Folder folder;
  std::size_t equal_results = 0, equal_sectors = 0, equal_requests = 0, equal_wavefronts = 0;
  std::ostringstream differences;
  constexpr std::size_t kPerProgram = 60;
  for (std::size_t first = 0; first < count; first += kPerProgram) {
    const std::size_t end = std::min(count, first + kPerProgram);
    const Run run =
        Program(folder, fuzz::program(seed, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first)))
            .run();
    INFO(run.log);
    REQUIRE(run.ok);
    std::map<std::string, Json> launches;
    for (const Json& launch : Json::parse(run.report)) launches[kernel_name(launch)] = launch;
    std::map<std::string, std::pair<std::string, std::string>> printed;
    std::istringstream lines(run.output);
    for (std::string name, source, result; lines >> name >> source >> result;) printed[name] = {source, result};

    for (std::size_t k = first; k < end; ++k) {
      const Json& recorded = recording["kernels"][k];
      const auto name = recorded["kernel"].get<std::string>();
      const auto source = recorded["source"].get<std::string>(), result = recorded["result"].get<std::string>();
      INFO(name);
      REQUIRE(launches.count(name) == 1);
      REQUIRE(printed[name].first == source);  // else the generator has changed: record again
      CHECK(launches[name]["findings"].empty());
      CHECK(printed[name].second == result);
      equal_results += printed[name].second == result;
      bool same_sectors = true, same_requests = true, same_wavefronts = true;
      for (std::size_t m = 0; m < metrics.size(); ++m) {
        const auto here = launches[name]["counters"][metrics[m]].get<std::uint64_t>();
        const auto there = recorded["counters"][m].get<std::uint64_t>();
        if (here == there || !is_compared(metrics[m])) continue;
        (is_global(metrics[m]) ? metrics[m].find("sectors") != std::string::npos ? same_sectors : same_requests
                               : same_wavefronts) = false;
        differences << "  " << name << ' ' << metrics[m] << ' ' << here << ", GPU " << there << '\n';
      }
      equal_sectors += same_sectors;
      equal_requests += same_requests;
      equal_wavefronts += same_wavefronts;
      CHECK((same_sectors && same_requests) != reasons.contains(name));  // a difference has a reason, and no other has
    }
  }
  const std::string all = " of " + std::to_string(count) + '\n';
  std::ostringstream summary;
  summary << "random kernels: equal results " << equal_results << all << "  equal global sectors " << equal_sectors
          << all << "  equal global requests " << equal_requests << all << "  equal shared wavefronts "
          << equal_wavefronts << all << differences.str();
  std::fputs(summary.str().c_str(), stdout);
  CHECK(equal_results == count);
  CHECK(equal_sectors * 100 >= count * 95);
  CHECK(equal_wavefronts * 100 >= count * 95);
}

TEST_CASE("Reports do not depend on the compiler, its optimisation, or the run", "[.all][options]") {
  const Folder folder;
  const std::string source = fuzz::program(7, 0, 12);
  const Program program(folder, source);
  const Run first = program.run(), second = program.run();
  INFO(first.log);
  REQUIRE(first.ok);
  REQUIRE(!first.report.empty());
  CHECK((first.output == second.output && first.report == second.report));
  for (const std::string options : {"-O0", "-O2", "--cxx=g++", "--cxx=clang++"}) {
    const std::string compiler = options[1] == '-' ? options.substr(6) : "";
    if (!compiler.empty() && std::system((compiler + " --version > /dev/null 2>&1").c_str()) != 0) continue;
    const Run other = Program(folder, source, options).run();
    INFO(options << '\n' << other.log);
    CHECK(other.ok);
    CHECK((first.output == other.output && first.report == other.report));
  }
}
