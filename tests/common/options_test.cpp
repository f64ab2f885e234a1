// The command line: every bad input gives one clear line and code 2.
#include "tilewise/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "catch.hpp"
#include "tilewise/counters.hpp"
#include "tilewise/device.hpp"

using namespace tilewise;

namespace {

// What is written to a file descriptor while the object lives.
class Capture {
 public:
  explicit Capture(std::FILE* stream) : stream_(stream), file_(std::tmpfile()) {
    std::fflush(stream_);
    saved_ = dup(fileno(stream_));
    dup2(fileno(file_), fileno(stream_));
  }
  ~Capture() { restore(); }
  std::string text() {
    restore();
    std::rewind(file_);
    std::string all;
    for (int c; (c = std::fgetc(file_)) != EOF;) all += static_cast<char>(c);
    return all;
  }

 private:
  void restore() {
    if (saved_ < 0) return;
    std::fflush(stream_);
    dup2(saved_, fileno(stream_));
    close(saved_);
    saved_ = -1;
  }
  std::FILE* stream_;
  std::FILE* file_;
  int saved_;
};

struct Parsed {
  int code = -1;  // -1: parsed
  std::string message;
  std::vector<MatmulShape> shapes;
  std::vector<int> tiles;
  int repeat = 0;
  std::uint64_t seed = 0;
  Distribution data = Distribution::uniform;
  std::vector<std::int64_t> strides;
  double density = 0.5;
  std::string mode;
  bool fast = false;
  std::vector<std::string> kinds;
  std::string file;
};

Parsed parse(std::vector<const char*> words) {
  words.insert(words.begin(), "program");
  Parsed result;
  Options options("99_test", "A test.");
  result.strides = {1, 2};
  result.mode = "one";
  options.add_matmul({.sizes = {512}, .sim_sizes = {512}, .tiles = {8, 16}});
  options.add("--stride", result.strides, "Strides", Range{1, 64});
  options.add("--density", result.density, "Density", 0.0, 1.0);
  options.add("--mode", result.mode, "Mode", {"one", "two"});
  options.add("--kind", result.kinds, "Kinds", {"red", "green", "blue"});
  options.add_text("--file", result.file, "A file");
  options.add_flag("--fast", result.fast, "Fast");
  Capture errors(stderr);
  try {
    options.parse(static_cast<int>(words.size()), words.data());
  } catch (const ExitRequest& request) {
    result.code = request.code;
  }
  result.message = errors.text();
  result.shapes = options.shapes();
  result.tiles = options.tiles();
  result.repeat = options.repeat();
  result.seed = options.seed();
  result.data = options.data();
  return result;
}

}  // namespace

TEST_CASE("defaults") {
  const Parsed p = parse({});
  CHECK(p.code == -1);
  CHECK(p.message.empty());
  CHECK(p.shapes == std::vector<MatmulShape>{{512, 512, 512}});
  CHECK(p.tiles == std::vector<int>{8, 16});
  CHECK(p.repeat == 0);
  CHECK(p.seed == 1);
}

TEST_CASE("lists, with commas, repeated, or both") {
  CHECK(parse({"--tile", "8,16,32,64"}).tiles == std::vector<int>{8, 16, 32, 64});
  CHECK(parse({"--tile", "8", "--tile", "16,32"}).tiles == std::vector<int>{8, 16, 32});
  CHECK(parse({"--tile=4"}).tiles == std::vector<int>{4});
  CHECK(parse({"--tile", "8,16,8", "--tile", "16"}).tiles == std::vector<int>{8, 16});  // once each
  CHECK(parse({"--stride", "3,5"}).strides == std::vector<std::int64_t>{3, 5});
}

TEST_CASE("lists of names, and free text") {
  CHECK(parse({"--kind", "red,blue"}).kinds == std::vector<std::string>{"red", "blue"});
  CHECK(parse({"--kind", "blue", "--kind", "green,blue"}).kinds == std::vector<std::string>{"blue", "green"});
  CHECK(parse({"--file", "a, b.mtx"}).file == "a, b.mtx");
  CHECK(parse({}).file.empty());
}

TEST_CASE("shapes") {
  CHECK(parse({"--n", "100,200"}).shapes == std::vector<MatmulShape>{{100, 100, 100}, {200, 200, 200}});
  CHECK(parse({"--n", "8,9,8"}).shapes == std::vector<MatmulShape>{{8, 8, 8}, {9, 9, 9}});
  CHECK(parse({"--n", "8,8", "--k", "7,9"}).shapes == std::vector<MatmulShape>{{8, 8, 7}, {8, 8, 9}});
  CHECK(parse({"--m", "33", "--n", "1", "--k", "1000"}).shapes == std::vector<MatmulShape>{{33, 1, 1000}});
  CHECK(parse({"--n", "10,20", "--k", "7"}).shapes == std::vector<MatmulShape>{{10, 10, 7}, {20, 20, 7}});
  CHECK(parse({"--n", "10,20", "--m", "3,4", "--k", "5,6"}).shapes == std::vector<MatmulShape>{{3, 10, 5}, {4, 20, 6}});
}

TEST_CASE("default shapes that are no squares come first, and go when any size is asked for") {
  const auto shapes = [](std::vector<const char*> words) {
    words.insert(words.begin(), "program");
    Options options("99_test", "A test.");
    options.add_matmul({.sizes = {64}, .sim_sizes = {64}, .shapes = {{127, 65, 93}}, .sim_shapes = {{127, 65, 93}}});
    options.parse(static_cast<int>(words.size()), words.data());
    return options.shapes();
  };
  const MatmulShape ragged{127, 65, 93};
  CHECK(shapes({}) == std::vector<MatmulShape>{ragged, {64, 64, 64}});
  CHECK(shapes({"--repeat", "3"}) == std::vector<MatmulShape>{ragged, {64, 64, 64}});
  CHECK(shapes({"--n", "10"}) == std::vector<MatmulShape>{{10, 10, 10}});
  CHECK(shapes({"--m", "10"}) == std::vector<MatmulShape>{{10, 64, 64}});
  CHECK(shapes({"--k", "10"}) == std::vector<MatmulShape>{{64, 64, 10}});
}

TEST_CASE("--sample: the simulator alone has it, and takes any size then") {
  if (!is_simulated()) {
    CHECK(parse({"--sample", "32"}).code == kBadArguments);
    return;
  }
  for (const char* value : {"0", "-3", "abc", "1.5", "1000000001"}) {
    const Parsed p = parse({"--sample", value});
    INFO(p.message);
    CHECK(p.code == kBadArguments);
    CHECK(p.message.find("--sample") != std::string::npos);
    CHECK(p.message.find("allowed are 1 to 1000000000") != std::string::npos);
  }
  const Parsed whole = parse({"--n", "4096"});
  CHECK(whole.code == kBadArguments);
  CHECK(whole.message.find("--sample 32") != std::string::npos);
  CHECK(sampled_blocks() == 0);
  CHECK(parse({"--n", "4096", "--sample", "32"}).shapes == std::vector<MatmulShape>{{4096, 4096, 4096}});
  CHECK(sampled_blocks() == 32);
  CHECK(parse({}).code == -1);
  CHECK(sampled_blocks() == 0);
}

TEST_CASE("other options") {
  const Parsed p =
      parse({"--repeat", "7", "--seed", "99", "--data", "wide", "--density", "0.25", "--mode", "two", "--fast"});
  CHECK(p.code == -1);
  CHECK(p.repeat == 7);
  CHECK(p.seed == 99);
  CHECK(p.data == Distribution::wide);
  CHECK(p.density == 0.25);
  CHECK(p.mode == "two");
  CHECK(p.fast);
}

TEST_CASE("bad arguments: one line that names the option and what is allowed, code 2") {
  struct Bad {
    std::vector<const char*> words;
    std::vector<const char*> said;
  };
  const Bad bad = GENERATE(values<Bad>({
      {{"--tile", "0"}, {"--tile 0", "1 to 1024"}},
      {{"--tile", "banana"}, {"--tile 'banana'", "1 to 1024"}},
      {{"--tile", "8,banana"}, {"--tile 'banana'"}},
      {{"--tile", "8,,16"}, {"--tile ''"}},
      {{"--tile", "8,"}, {"--tile ''"}},
      {{"--tile", "-8"}, {"--tile -8", "1 to 1024"}},
      {{"--n", "-5"}, {"--n -5", "1 to 65536"}},
      {{"--n=-5"}, {"--n -5", "1 to 65536"}},
      {{"--n", "0"}, {"--n 0", "1 to 65536"}},
      {{"--n", "99999999"}, {"--n 99999999", "1 to 65536"}},
      {{"--n", "65537"}, {"--n 65537", "1 to 65536"}},
      {{"--n", "99999999999999999999999999"}, {"--n 99999999999999999999999999", "1 to 65536"}},
      {{"--n", "1.5"}, {"--n '1.5'", "whole number"}},
      {{"--n", "12abc"}, {"--n '12abc'", "whole number"}},
      {{"--n", "0x10"}, {"--n '0x10'", "whole number"}},
      {{"--n", " 8"}, {"--n ' 8'", "whole number"}},
      {{"--n", "1e3"}, {"--n '1e3'", "whole number"}},
      {{"--n"}, {"--n: a value is missing", "1 to 65536"}},
      {{"--mode"}, {"--mode: a value is missing", "one, two"}},
      {{"--n", "8", "16"}, {"'16' belongs to no option", "a list has commas", "--help"}},
      {{"--m", "1,2", "--n", "1,2,3"}, {"--m", "2 values", "3"}},
      {{"--repeat", "-1"}, {"--repeat -1", "0 to 100000"}},
      {{"--repeat", "1", "--repeat", "2"}, {"--repeat", "one value"}},
      {{"--seed", "x"}, {"--seed 'x'"}},
      {{"--data", "zeros"}, {"--data 'zeros'", "uniform", "wide"}},
      {{"--density", "1.5"}, {"--density 1.5", "0 to 1"}},
      {{"--density", "nan"}, {"--density nan"}},
      {{"--density", "half"}, {"--density 'half'", "not a number"}},
      {{"--mode", "three"}, {"--mode 'three'", "one, two"}},
      {{"--json", "/no/such/folder/x.json"}, {"--json", "/no/such/folder/x.json"}},
      {{"--kind", "red,yellow"}, {"--kind 'yellow'", "red, green, blue"}},
      {{"--kind", ""}, {"--kind ''"}},
      {{"--file", ""}, {"--file", "empty"}},
      {{"--file", "a", "--file", "b"}, {"--file", "one value"}},
      {{"--json", "/tmp"}, {"--json", "folder"}},
      {{"--unknown", "1"}, {"there is no option --unknown (--help"}},
      {{"--tiel", "8"}, {"there is no option --tiel; is it --tile?"}},
      {{"--repeats=3"}, {"there is no option --repeats; is it --repeat?"}},
      {{"-n", "8"}, {"there is no option -n; is it --n?"}},
      {{"-x"}, {"there is no option -x (--help"}},
      {{"stray"}, {"'stray' belongs to no option"}},
  }));
  CAPTURE(bad.words[0], bad.words.back());
  const Parsed p = parse(bad.words);
  CHECK(p.code == kBadArguments);
  CAPTURE(p.message);
  CHECK(p.message.find("99_test: ") == 0);
  CHECK(std::count(p.message.begin(), p.message.end(), '\n') == 1);
  for (const char* said : bad.said) CHECK(p.message.find(said) != std::string::npos);
}

TEST_CASE("the simulator refuses what would take hours") {
  const Parsed p = parse({"--n", "16384"});
  if (is_simulated()) {
    CHECK(p.code == kBadArguments);
    CHECK(p.message.find("simulator") != std::string::npos);
  } else {
    CHECK(p.code == -1);
  }
  CHECK(parse({"--n", "1", "--m", "65536", "--k", "16"}).code == -1);
}

TEST_CASE("help says default shapes once, all of them") {
  Options options("99_test", "A test.");
  options.add_matmul({.sizes = {64},
                      .sim_sizes = {64},
                      .shapes = {{127, 65, 93}, {1, 2, 3}},
                      .sim_shapes = {{127, 65, 93}, {1, 2, 3}}});
  const char* words[] = {"program", "--help"};
  Capture output(stdout);
  CHECK_THROWS_AS(options.parse(2, words), ExitRequest);
  const std::string text = output.text();
  CHECK(text.find("; without --n, --m and --k also M x N x K = 127 x 65 x 93 and 1 x 2 x 3;") != std::string::npos);
}

TEST_CASE("help names every option and its default, code 0") {
  Capture output(stdout);
  const Parsed p = parse({"--help"});
  const std::string text = output.text();
  CHECK(p.code == kAllRight);
  for (const char* part : {"--n", "--m", "--k", "--tile", "--repeat", "--no-time", "--seed", "--data", "--json",
                           "--stride", "default 8,16", "1 to 65536"})
    CHECK(text.find(part) != std::string::npos);
}
