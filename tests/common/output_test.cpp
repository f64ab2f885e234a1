// Tables, numbers, JSON and the timer's arithmetic.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.hpp"
#include "text.hpp"
#include "tilewise/counters.hpp"
#include "tilewise/device.hpp"
#include "tilewise/files.hpp"
#include "tilewise/options.hpp"
#include "tilewise/results.hpp"
#include "tilewise/table.hpp"
#include "tilewise/timer.hpp"

using namespace tilewise;

namespace {

// A path that is not there yet, in a folder of its own that is removed again.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tilewise_test_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator{}));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("numbers for people") {
  CHECK(with_commas(0) == "0");
  CHECK(with_commas(999) == "999");
  CHECK(with_commas(1000) == "1,000");
  CHECK(with_commas(16777216) == "16,777,216");
  CHECK(fixed(1.005, 1) == "1.0");
  CHECK(fixed(std::numeric_limits<double>::quiet_NaN(), 2) == "-");
  CHECK(significant(0) == "0");
  CHECK(significant(0.03124) == "0.0312");
  CHECK(significant(1.5) == "1.50");
  CHECK(significant(9.996) == "10.0");
  CHECK(significant(15.62) == "15.6");
  CHECK(significant(999.6) == "1,000");
  CHECK(significant(66906) == "66,906");
  CHECK(time_text(4.2407e-3) == "4.24 ms");
  CHECK(time_text(3.1e-6) == "3.10 us");
  CHECK(time_text(0.9999e-3) == "1.00 ms");
  CHECK(time_text(2) == "2.00 s");
  CHECK(scientific(0.0000012) == "1.2e-06");
  CHECK(bytes_text(512) == "512 B");
  CHECK(bytes_text(1536) == "1.5 KB");
  CHECK(bytes_text(49152) == "48 KB");
}

TEST_CASE("a table's rows are aligned, whatever comes") {
  std::FILE* file = std::tmpfile();
  Table table({{"shape", "", 10, true}, {"time", "ms", 8, false}}, file);
  table.row({"1 x 2", "0.5"}, Status::ok);
  table.row({"30 x 40", "123.25"}, Status::wrong, "why");
  table.row({"short"}, Status::skip, "no");
  table.progress("not shown: a file is no terminal");
  std::rewind(file);
  std::vector<std::string> lines;
  std::string line;
  for (int c; (c = std::fgetc(file)) != EOF;) {
    if (c == '\n') {
      lines.push_back(line);
      line.clear();
    } else {
      line += static_cast<char>(c);
    }
  }
  std::fclose(file);
  CHECK(line.empty());
  REQUIRE(lines.size() == 6);
  CHECK(lines[0] == "shape           time  status");
  CHECK(lines[1] == "                  ms");
  CHECK(lines[2] == std::string(28, '-'));
  CHECK(lines[3] == "1 x 2            0.5  OK");
  CHECK(lines[4] == "30 x 40       123.25  WRONG: why");
  CHECK(lines[5] == "short                 SKIP: no");
}

TEST_CASE("results survive the way through JSON") {
  const char* words[] = {"program", "--seed", "12"};
  Options options("99_test", "A test.");
  options.parse(3, words);
  Results results(options);
  results.add(Record()
                  .set("kernel", "k<\"quoted\", \\>")
                  .set("time.median_ms", 0.1)
                  .set("time.samples", std::size_t{30})
                  .set("ok", true)
                  .set("big", std::uint64_t{1} << 60)
                  .set("none", std::numeric_limits<double>::infinity()));
  const std::size_t second =
      results.add(Record().set("kernel", "second").set("bytes", std::string("\xff broken UTF-8")));
  CHECK(second == 1);
  results.extend(second, Record().set("later.known", 7));
  Record bounded, unbounded;
  set_bound(bounded, {"H200", 4.24e-3, "L1 data", {{"L1 tags", 1.16e-3}, {"L1 data", 4.24e-3}}, 8192, 12218});
  set_bound(unbounded, {});
  results.add(bounded.set("kernel", "third"));
  results.add(unbounded.set("kernel", "fourth"));
  CHECK_THROWS_AS(results.extend(4, Record()), std::out_of_range);
  const Folder folder;
  const std::string path = folder.file("result.json");
  write_file_atomically(path, "old");
  results.write(path);
  CHECK(folder.files() == 1);  // no temporary file stays behind
  const nlohmann::json json = nlohmann::json::parse(read(path));
  CHECK(json["program"] == "99_test");
  CHECK(json["seed"] == 12);
  CHECK(json["machine"]["name"] == device().name);
  CHECK(json["machine"]["simulated"] == is_simulated());
  CHECK(json["date"].get<std::string>().size() == 20);
  REQUIRE(json["rows"].size() == 4);
  CHECK(json["rows"][0]["kernel"] == "k<\"quoted\", \\>");
  CHECK(json["rows"][0]["time"]["median_ms"] == 0.1);
  CHECK(json["rows"][0]["time"]["samples"] == 30);
  CHECK(json["rows"][0]["ok"] == true);
  CHECK(json["rows"][0]["big"] == std::uint64_t{1} << 60);
  CHECK(json["rows"][0]["none"].is_null());
  CHECK(json["rows"][1]["kernel"] == "second");
  CHECK(json["rows"][1]["later"]["known"] == 7);
  CHECK_FALSE(json["rows"][0].contains("later"));
  CHECK(json["rows"][2]["bound"]["device"] == "H200");
  CHECK(json["rows"][2]["bound"]["seconds"] == 4.24e-3);
  CHECK(json["rows"][2]["bound"]["by"] == "L1 data");
  CHECK(json["rows"][2]["bound"]["all"]["L1 tags"] == 1.16e-3);
  CHECK(json["rows"][2]["bound"]["in_flight"]["dram_needs"] == 12218);
  CHECK_FALSE(json["rows"][3].contains("bound"));
}

TEST_CASE("a file that cannot be written is known before, and said after") {
  const Folder folder;
  CHECK(why_not_writable(folder.file("x.json")).empty());
  CHECK(folder.files() == 0);  // asking leaves nothing
  CHECK(why_not_writable(folder.file("no/x.json")).find("cannot be written") != std::string::npos);
  CHECK(why_not_writable(folder.file("")).find("folder") != std::string::npos);
  CHECK_THROWS_AS(write_file_atomically(folder.file("no/x.json"), "text"), std::runtime_error);
}

TEST_CASE("what is no file is written to, and stays what it is") {  // --json /dev/stdout
  const Folder folder;
  const std::string path = folder.file("pipe");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const int pipe = open(path.c_str(), O_RDWR | O_NONBLOCK);
  REQUIRE(pipe >= 0);
  CHECK(why_not_writable(path).empty());
  write_file_atomically(path, "text");
  char read_back[8] = {};
  CHECK(::read(pipe, read_back, sizeof(read_back)) == 4);
  CHECK(std::string(read_back) == "text");
  CHECK(std::filesystem::is_fifo(path));
  CHECK(folder.files() == 1);
  close(pipe);
}

TEST_CASE("median, quartiles, extremes") {
  const std::vector<double> odd = {5, 1, 4, 2, 3};
  const Statistics s = statistics(odd);
  CHECK(s.n == 5);
  CHECK(s.median == 3);
  CHECK(s.q1 == 2);
  CHECK(s.q3 == 4);
  CHECK(s.iqr() == 2);
  CHECK(s.min == 1);
  CHECK(s.max == 5);
  const std::vector<double> even = {1, 2, 3, 4};
  CHECK(statistics(even).median == 2.5);
  CHECK(statistics(even).iqr() == Approx(1.5));  // 3.25 - 1.75
  CHECK(statistics(std::vector<double>{7}).median == 7);
  CHECK(statistics(std::vector<double>{7}).iqr() == 0);
  CHECK_THROWS_AS(statistics(std::vector<double>{}), std::invalid_argument);
}

TEST_CASE("impossible figures are errors") {
  CHECK_NOTHROW(check_possible(50, 60, "GFLOP/s", "peak"));
  CHECK_NOTHROW(check_possible(1e9, 0, "GFLOP/s", "peak"));  // no ceiling known
  CHECK_THROWS_AS(check_possible(60.1, 60, "GFLOP/s", "peak"), ImpossibleFigure);
  CHECK_THROWS_AS(check_possible(0, 60, "GFLOP/s", "peak"), ImpossibleFigure);
  CHECK_THROWS_AS(check_possible(std::numeric_limits<double>::quiet_NaN(), 60, "GFLOP/s", "peak"), ImpossibleFigure);
  CHECK_THROWS_AS(check_possible(std::numeric_limits<double>::infinity(), 0, "GFLOP/s", "peak"), ImpossibleFigure);
}

TEST_CASE("why a block cannot be launched") {
  Device d;
  d.max_threads_per_block = 1024;
  d.max_block_dim[0] = d.max_block_dim[1] = 1024;
  d.max_block_dim[2] = 64;
  d.shared_per_block = 49152;
  d.shared_per_block_opt_in = 232448;
  CHECK(d.why_not("tile 32", 32, 32, 1, 8192).empty());
  CHECK(d.why_not("tile 64", 64, 64, 1, 0) == "tile 64 needs 4,096 threads per block; this GPU allows 1,024");
  CHECK(d.why_not("tile 65536", 65536, 65536, 1, 0).find("65,536") != std::string::npos);
  CHECK_FALSE(d.why_not("k", 1, 1, 128, 0).empty());
  CHECK_FALSE(d.why_not("k", 0, 1, 1, 0).empty());
  CHECK(d.why_not("k", 32, 1, 1, 50000) == "k needs 48.8 KB of shared memory per block; this GPU allows 48 KB");
  CHECK(d.why_not("k", 32, 1, 1, 50000, true).empty());
  CHECK_FALSE(d.why_not("k", 32, 1, 1, 232449, true).empty());
}

TEST_CASE("theoretical peaks") {
  Device d;
  d.major = 9;
  d.sms = 132;
  d.sm_clock_mhz = 1980;
  d.memory_bus_bits = 6144;
  d.memory_clock_mhz = 3201;
  CHECK(d.peak_fp32_gflops() == Approx(66908.2).epsilon(1e-4));
  CHECK(d.peak_bandwidth_gbs() == Approx(4916.7).epsilon(1e-4));
  CHECK(d.peak_shared_gbs() == Approx(33454.1).epsilon(1e-4));
  CHECK(d.l1_and_shared_per_sm() == 256 * 1024);
  d.major = 7;
  d.minor = 5;
  CHECK(d.l1_and_shared_per_sm() == 96 * 1024);
  d.major = 42;
  CHECK(d.l1_and_shared_per_sm() == 0);
}

TEST_CASE("what the device says of itself fits together") {
  const Device& d = device();
  CHECK(d.max_blocks_per_sm >= 16);
  CHECK(d.max_threads_per_sm >= d.max_threads_per_block);
  CHECK(d.registers_per_block > 0);
  CHECK(d.registers_per_block <= d.registers_per_sm);
  CHECK(d.constant_bytes == 64 * 1024);
  CHECK(d.shared_per_block_opt_in + d.shared_reserved <= d.shared_per_sm);
  if (d.l1_and_shared_per_sm() > 0) CHECK(d.shared_per_sm <= d.l1_and_shared_per_sm());
}
