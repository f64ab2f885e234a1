// The least time of a launch: the arithmetic with given counts, the cards' rates, and what programs and reports say.
#include "model/bound.hpp"
#include "text.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.hpp"
#include "model/rates.hpp"
#include "model/report.hpp"

namespace {

using namespace tilewise::sim;
using model::Rates;
using model::Work;
namespace fs = std::filesystem;

const Device& card(const std::string& key) {
  for (const Device& device : devices())
    if (key == device.key) return device;
  throw std::runtime_error("no card " + key);
}

Bound on(const std::string& key, const Counters& counters, std::uint64_t blocks = 1 << 20) {
  Work work{counters};
  work.blocks = blocks;
  return model::bound(rates_of(card(key)), work);
}

bool near(double value, double wanted) { return std::abs(value - wanted) <= 1e-3 * wanted; }

// What an H200 counted for the naive product whose threadIdx.x counts rows, 1024 x 1024 x K.
Counters row_on_x(std::uint64_t requests, std::uint64_t tags, std::uint64_t data) {
  Counters c;
  c.global_load_instructions = c.global_load_requests = requests;
  c.global_load_tag_passes = tags;
  c.global_load_data_passes = data;
  return c;
}

TEST_CASE("bounds: the naive product at K = 1024 and 1025 on an H200", "[bound]") {
  const Bound even = on("h200", row_on_x(67'108'864, 301'989'928, 1'108'344'832));
  CHECK(near(even.seconds, 4.241e-3));  // 1,108,344,832 / (132 x 1.98 GHz); it took 4.42 ms
  CHECK(even.by == Resource::l1_data);
  CHECK(near(even.of(Resource::l1_tags), 1.1555e-3));
  CHECK(near(even.of(Resource::memory_issue), 0.2568e-3));

  const Bound odd = on("h200", row_on_x(67'174'400, 329'691'140, 83'130'329));
  CHECK(near(odd.seconds, 1.2614e-3));  // 329,691,140 / (132 x 1.98 GHz); it took 1.34 ms
  CHECK(odd.by == Resource::l1_tags);
  CHECK(near(odd.of(Resource::l1_data), 0.3181e-3));
}

TEST_CASE("bounds: arithmetic, by the lanes of each card", "[bound]") {
  Counters c;
  c.flop_single = 66'908'160'000'000;  // what an H200 does in a second: 132 SMs x 128 lanes x 2 x 1.98 GHz
  CHECK(near(on("h200", c).of(Resource::fp32), 1));
  CHECK(near(on("h100", c).of(Resource::fp32), 1));
  CHECK(near(on("a100", c).of(Resource::fp32), 66.908 / 19.492));  // 108 x 64 x 2 x 1.41 GHz
  CHECK(near(on("t4", c).of(Resource::fp32), 66.908 / 8.1408));    // 40 x 64 x 2 x 1.59 GHz
  // One warp instruction is 32 multiply-adds, and four can be issued in a clock: as many as 128 lanes take.
  CHECK(near(on("h200", c).of(Resource::issue), 1));
  CHECK(near(on("a100", c).of(Resource::issue), 0.5 * 66.908 / 19.492));
  CHECK(near(on("b200", c).of(Resource::issue), 0.5 * on("b200", c).of(Resource::fp32)));  // two to an instruction

  Counters t;
  t.tensor_flop = 1'070'530'560'000'000;  // 132 SMs x 2,048 x 2 x 1.98 GHz
  CHECK(near(on("h200", t).of(Resource::tensor), 1));
  CHECK(on("h200", t).by == Resource::tensor);
  CHECK(near(on("a100", t).of(Resource::tensor), 1070.53 / 311.87));  // 108 x 1,024 x 2 x 1.41 GHz
  CHECK(near(on("t4", t).of(Resource::tensor), 1070.53 / 65.126));    // 40 x 512 x 2 x 1.59 GHz

  Counters d;
  d.flop_double = 1'000'000'000'000;
  CHECK(near(on("h200", d).of(Resource::fp64), 1 / 33.454));  // 64 lanes
  CHECK(near(on("a100", d).of(Resource::fp64), 1 / 9.746));   // 32
  CHECK(near(on("t4", d).of(Resource::fp64), 1 / 0.25440));   // 2
  CHECK(on("t4", d).by == Resource::fp64);
  CHECK(on("t4", d).of(Resource::fp32) == 0);
}

TEST_CASE("bounds: FLOP that a GPU would not make give none", "[bound]") {
  Work work;
  work.blocks = 1000;
  work.counters.flop_single = work.counters.flop_double = 1'000'000;
  work.single_known = work.double_known = false;
  const Bound b = model::bound(rates_of(card("h200")), work);
  CHECK(b.seconds == 0);
  work.single_known = true;
  CHECK(model::bound(rates_of(card("h200")), work).of(Resource::fp32) > 0);
  CHECK(model::bound(rates_of(card("h200")), work).of(Resource::fp64) == 0);
}

TEST_CASE("bounds: L1 and shared memory deliver from the same banks", "[bound]") {
  Counters c;
  c.global_load_requests = c.global_load_instructions = 1'000'000;
  c.global_load_data_passes = 3'000'000;
  c.global_load_tag_passes = 2'000'000;
  c.global_store_requests = c.global_store_instructions = 500'000;
  c.global_store_data_passes = c.global_store_tag_passes = 600'000;
  c.shared_load_instructions = 4'000'000;
  c.shared_load_wavefronts = 5'000'000;
  c.shared_store_instructions = 100'000;
  c.shared_store_wavefronts = 200'000;
  const double clocks = 132 * 1.98e9;
  const Bound b = on("h200", c);
  CHECK(near(b.of(Resource::l1_data), 8.2e6 / clocks));  // what global stores need is not known
  CHECK(near(b.of(Resource::l1_tags), 2.6e6 / clocks));
  CHECK(near(b.of(Resource::memory_issue), 5.6e6 / clocks));
  CHECK(near(b.of(Resource::issue), 1.4e6 / clocks));
  // How L1 is built was looked at on an H200 only. Of another card's it is known that a request takes one pass.
  const double other = 108 * 1.41e9;
  CHECK(near(on("a100", c).of(Resource::l1_data), 6.2e6 / other));
  CHECK(near(on("a100", c).of(Resource::l1_tags), 1.5e6 / other));
}

TEST_CASE("bounds: DRAM has to move what L2 cannot have kept", "[bound]") {
  Counters c;
  c.distinct_bytes_loaded = std::uint64_t{1} << 30;
  c.distinct_bytes_stored = std::uint64_t{1} << 30;
  const Bound copy = on("h200", c);
  CHECK(near(copy.of(Resource::dram), (2147483648.0 - 2 * 62914560) / 4814.304e9));
  CHECK(near(copy.of(Resource::l2), 1073741824.0 / (132 * 128 * 1.98e9)));  // in and out at a time
  CHECK(copy.by == Resource::dram);
  CHECK(near(on("t4", c).of(Resource::dram), (2147483648.0 - 2 * 4194304) / 320.064e9));

  c.distinct_bytes_stored = 62914560;  // may stay in L2
  CHECK(near(on("h200", c).of(Resource::dram), (1073741824.0 - 62914560) / 4814.304e9));
  c.distinct_bytes_loaded = 1 << 20;  // may be there already
  CHECK(on("h200", c).of(Resource::dram) == 0);
  CHECK(on("h200", c).by == Resource::l2);
}

TEST_CASE("bounds: a launch of fewer blocks than SMs has as many SMs as blocks", "[bound]") {
  const Counters c = row_on_x(1000, 4000, 16'000);
  CHECK(near(on("h200", c, 1).seconds, 16'000 / 1.98e9));
  CHECK(near(on("h200", c, 66).seconds, 16'000 / (66 * 1.98e9)));
  CHECK(near(on("h200", c, 132).seconds, on("h200", c, 100'000).seconds));
  CHECK(on("h200", c, 0).seconds == 0);
  CHECK(on("h200", {}).seconds == 0);
}

TEST_CASE("bounds: launches one after another need their times together", "[bound]") {
  Bound sum = on("h200", row_on_x(100, 200, 900));
  const Bound second = on("h200", row_on_x(100, 2000, 300));
  const double first = sum.seconds;
  sum += second;
  CHECK(near(sum.seconds, first + second.seconds));
  CHECK(near(sum.of(Resource::l1_tags), 2200 / (132 * 1.98e9)));
  CHECK(sum.by == Resource::l1_tags);
}

TEST_CASE("bounds: every card has rates, and a name to be called by", "[bound]") {
  for (const Device& device : devices()) {
    INFO(device.key);
    const Rates r = rates_of(device);
    CHECK(r.clock >= 1e3 * device.clock_khz);
    CHECK((r.fp32 == 64 || r.fp32 == 128));
    CHECK((r.fp64 == 64 || r.fp64 == 32 || r.fp64 == 2));
    CHECK(r.dram > 100e9);
    CHECK(r.l2_capacity >= 4 << 20);
    CHECK(r.l1_rules == (device.major == 9));
  }
  CHECK(near(rates_of(card("h200")).dram, 4814.304e9));
  CHECK(short_name(card("h200")) == "H200");
  CHECK(short_name(card("h100")) == "H100");
  CHECK(short_name(card("a100")) == "A100");
  CHECK(short_name(card("v100")) == "V100");
  CHECK(short_name(card("rtx3090")) == "RTX 3090");
  CHECK(with_article("H200") == "an H200");
  CHECK(with_article("L4") == "an L4");
  CHECK(with_article("T4") == "a T4");
  CHECK(with_article("RTX 3090") == "an RTX 3090");
}

TEST_CASE("bounds: times as people read them", "[bound]") {
  CHECK(time_text(4.2407e-3) == "4.24 ms");
  CHECK(time_text(0.9999e-3) == "1.00 ms");
  CHECK(time_text(12.34e-6) == "12.3 us");
  CHECK(time_text(0.2758) == "276 ms");
  CHECK(time_text(1.5) == "1.50 s");
  CHECK(time_text(1.01e-9) == "1.01 ns");
}

// Five launches; what the program prints of them is `kernel by seconds loaded stored`.
const char* kProgram = R"(
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <tilewise_sim/report.hpp>
#include <cstdio>

__global__ void row_on_x(const float* A, const float* B, float* C, int K) {
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[threadIdx.x * K + k] * B[k * 32 + threadIdx.y];
  C[threadIdx.x * 32 + threadIdx.y] = sum;
}
__global__ void in_place(float* a) { a[blockIdx.x * 32 + threadIdx.x] += 1; }
__global__ void write_and_read(float* a) {
  a[threadIdx.x] = 1;
  __syncthreads();
  const float other = a[threadIdx.x ^ 1];
  __syncthreads();
  a[threadIdx.x] = other + 1;
}
__global__ void inverse_roots(float* a) { a[threadIdx.x] = rsqrtf(a[threadIdx.x] + 1); }
__global__ void halves(__half* a) { a[threadIdx.x] = a[threadIdx.x] * a[threadIdx.x]; }

void say(const char* kernel) {
  using namespace tilewise::sim;
  const Bound b = last_bound();
  std::printf("%s by %s in %.6g us: FP32 %.6g, FP64 %.6g, loaded %llu, stored %llu\n", kernel, name(b.by), 1e6 * b.seconds,
              1e6 * b.of(Resource::fp32), 1e6 * b.of(Resource::fp64),
              static_cast<unsigned long long>(last_counters().distinct_bytes_loaded),
              static_cast<unsigned long long>(last_counters().distinct_bytes_stored));
}

int main() {
  float* words;
  cudaMalloc(&words, 1 << 20);
  cudaMemset(words, 0, 1 << 20);
  tilewise::sim::set_counting(true);
  row_on_x<<<1, dim3(32, 32)>>>(words, words + 65536, words + 131072, 1024);
  say("row_on_x");
  in_place<<<2, 32>>>(words);
  say("in_place");
  write_and_read<<<1, 32>>>(words);
  say("write_and_read");
  inverse_roots<<<1, 32>>>(words);
  say("inverse_roots");
  halves<<<1, 32>>>(reinterpret_cast<__half*>(words));
  say("halves");
  std::printf("together %.6g us\n", 1e6 * tilewise::sim::sum_of_bounds().seconds);
  tilewise::sim::set_counting(false);
  in_place<<<2, 32>>>(words);
  std::printf("uncounted %g\n", tilewise::sim::last_bound().seconds);
}
)";

class Program {
 public:
  Program() : folder_(fs::temp_directory_path() / ("tilewise_bounds_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    std::ofstream(folder_ / "program.cu") << kProgram;
    const std::string app = (folder_ / "app").string(), source = (folder_ / "program.cu").string();
    REQUIRE(std::system((TILEWISE_SIMCC " '" + source + "' -o '" + app + "'").c_str()) == 0);
  }
  ~Program() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  // stdout and stderr
  std::string run(const std::string& environment) const {
    const std::string log = (folder_ / "log").string();
    REQUIRE(std::system(("env -u TILEWISE_DEVICE -u TILEWISE_REPORT -u TILEWISE_COUNT " + environment + " '" +
                         (folder_ / "app").string() + "' > '" + log + "' 2>&1")
                            .c_str()) == 0);
    std::ostringstream text;
    text << std::ifstream(log).rdbuf();
    return text.str();
  }
  nlohmann::json report(const std::string& environment) const {
    const std::string file = (folder_ / "report.json").string();
    run(environment + " TILEWISE_REPORT='" + file + "'");
    return nlohmann::json::parse(std::ifstream(file));
  }

 private:
  fs::path folder_;
};

TEST_CASE("bounds: what a program, its report and the screen say of its launches", "[bound]") {
  const Program program;
  SECTION("to the program") {
    const std::string text = program.run("");
    INFO(text);
    // 32 warps x 1,024 rounds x (32 passes for A and 1 for B), on one SM
    CHECK(has(text, "row_on_x by L1 data in 546.133 us: FP32 4.13737, FP64 0, loaded 262144, stored 4096\n"));
    CHECK(has(text, "loaded 256, stored 256\n"));  // read, then written
    CHECK(has(text, "write_and_read by load/store"));
    CHECK(has(text, "FP64 0, loaded 0, stored 128\n"));  // it reads what it has written
    CHECK(has(text, "inverse_roots by "));
    CHECK(has(text, "uncounted 0\n"));
    for (const char* kernel : {"inverse_roots", "halves"}) {  // the headers compute these in double, a GPU does not
      const std::size_t line = text.find(std::string("\n") + kernel);
      REQUIRE(line != std::string::npos);
      CHECK(text.find("FP64 0,", line) < text.find('\n', line + 1));
    }
  }
  SECTION("in the report") {
    const nlohmann::json bound = program.report("")[0]["bound"];
    CHECK(bound["device"] == "H200");
    CHECK(bound["by"] == "L1 data");
    CHECK(near(bound["seconds"].get<double>(), 546.133e-6));
    CHECK(bound["all"].begin().value().is_number());
    CHECK(bound["all"]["L1 data"] == bound["seconds"]);
    CHECK(near(bound["all"]["FP32"].get<double>(), 2.0 * 32 * 32 * 1024 / 2 / 128 / 1.98e9));
    CHECK_FALSE(bound["all"].contains("DRAM"));  // all fits L2
    CHECK_FALSE(bound.contains("not_a_bound"));  // nobody has recorded this kernel's registers
    CHECK(program.report("TILEWISE_COUNT=0")[5].contains("bound") == false);
  }
  SECTION("in a pipe, which no file may replace: it could be /dev/null") {
    // The pipe is open for reading, too, so nobody waits; its 64 KiB hold the report.
    const std::string said = program.run(
        "sh -c 'cd \"${0%/*}\" && mkfifo pipe && exec 3<>pipe && TILEWISE_REPORT=pipe \"$0\" >screen && test -p pipe "
        "&& "
        "timeout 1 head -n 2 pipe; rm pipe'");
    CHECK(has(said, "[\n {\n"));
  }
  SECTION("on another card") {
    const nlohmann::json bound = program.report("TILEWISE_DEVICE=t4")[0]["bound"];
    CHECK(bound["device"] == "T4");
    // One pass for each request: the rules of its L1 are not known. 2 x 32,768 loads.
    CHECK(near(bound["all"]["L1 data"].get<double>(), 65536 / 1.59e9));
    CHECK(near(bound["all"]["FP32"].get<double>(), 2.0 * 32 * 32 * 1024 / 2 / 64 / 1.59e9));
  }
  SECTION("on the screen") {
    CHECK(has(program.run("TILEWISE_REPORT=-"),
              "  at least 546 us on an H200: L1's data passes; next: L1's tag passes, "));
    CHECK(has(program.run("TILEWISE_REPORT=- TILEWISE_DEVICE=t4"),
              "  at least 41.2 us on a T4: the load/store unit; next: "));
  }
}

// What tells a row from the others of its program.
std::string key_of(const std::string& program, const nlohmann::json& row) {
  const auto text = [&](const char* name) { return row.contains(name) ? row[name].dump() : ""; };
  return program + text("part") + text("what") + text("kernel") + text("shape") + text("tile") + text("extra");
}

nlohmann::json recorded(const std::string& name) {
  std::ifstream file(TILEWISE_SOURCE_DIR "/docs/results/" + name + ".json");
  REQUIRE(file);
  return nlohmann::json::parse(file);
}

// Seconds of every row that a GPU has timed, by its key.
std::map<std::string, double> seconds_on(const std::string& gpu) {
  const nlohmann::json results = recorded(gpu);
  std::map<std::string, double> seconds;
  for (const nlohmann::json& run : results["runs"])
    for (const nlohmann::json& row : run["rows"])
      if (row["status"] == "OK" && row.contains("time"))
        seconds[key_of(run["program"].get<std::string>(), row)] = 1e-3 * row["time"]["median_ms"].get<double>();
  return seconds;
}

struct Timed {
  nlohmann::json row;
  double share = 0;  // the bound as a share of the time
};

// All rows of docs/results/bounds-GPU.json that docs/results/GPU.json has a time for.
std::vector<Timed> timed_rows(const std::string& gpu) {
  const std::map<std::string, double> seconds = seconds_on(gpu);
  const nlohmann::json bounds = recorded("bounds-" + gpu);
  std::vector<Timed> list;
  for (const nlohmann::json& row : bounds["rows"])
    if (const auto found = seconds.find(key_of(row["program"].get<std::string>(), row)); found != seconds.end())
      list.push_back(Timed{row, row["bound"]["seconds"].get<double>() / found->second});
  return list;
}

TEST_CASE("bounds: no kernel that an H200 has timed is faster than its bound", "[bound]") {
  const std::vector<Timed> rows = timed_rows("nvidia-h200");
  CHECK(rows.size() > 90);
  for (const Timed& timed : rows) {
    INFO(timed.row.dump());
    CHECK(timed.share > 0);
    CHECK(timed.share <= 1);
  }
}

TEST_CASE("bounds: a kernel that has one has one at every size that was timed", "[bound]") {
  std::set<std::string> keys, kernels;
  const nlohmann::json bounds = recorded("bounds-nvidia-h200"), results = recorded("nvidia-h200");
  for (const nlohmann::json& row : bounds["rows"]) {
    const auto program = row["program"].get<std::string>();
    keys.insert(key_of(program, row));
    kernels.insert(program + row["kernel"].get<std::string>());
  }
  const nlohmann::json& largest =
      bounds["largest"];  // square sizes beyond which there is none: record-bounds.py says why
  for (const nlohmann::json& run : results["runs"])
    for (const nlohmann::json& row : run["rows"]) {
      const auto program = run["program"].get<std::string>();
      if (largest.contains(program) && std::stoi(row["shape"].get<std::string>()) > largest[program].get<int>())
        continue;
      if (!row.contains("time") || kernels.count(program + row["kernel"].get<std::string>()) == 0) continue;
      INFO(row.dump());
      CHECK(keys.count(key_of(program, row)) == 1);
    }
}

// Whether A and B of a product, as in "2048 x 2048 x 2049", fit an H200's L2 together.
bool fits_l2(const std::string& shape) {
  double m = 0, n = 0, k = 0;
  REQUIRE(std::sscanf(shape.c_str(), "%lf x %lf x %lf", &m, &n, &k) == 3);
  return 4 * (m * k + k * n) <= rates_of(card("h200")).l2_capacity;
}

// What is known to be held up by one part of the GPU alone: the naive product with rows on x by L1, with columns on x while
// L2 holds its matrices, loads from shared memory by its banks, and what streams through DRAM in whole sectors, far more of
// them than L2 can keep: a warp that writes from inside a sector on leaves two that are written in part. With columns on x in
// blocks of 32 the load/store unit is the busiest part, but not alone.
bool is_held_by_one_part(const nlohmann::json& row) {
  const auto kernel = row["kernel"].get<std::string>(), by = row["bound"]["by"].get<std::string>();
  const auto offset = [&] { return std::stoi(row.value("/extra/offset"_json_pointer, std::string("0"))); };
  const auto stride = [&] { return std::stoi(row.value("/extra/stride"_json_pointer, std::string("1"))); };
  if (kernel == "naive_matmul_row_on_x") return true;
  if (kernel == "naive_matmul") return by.starts_with("L1") && fits_l2(row["shape"].get<std::string>());
  if (kernel.starts_with("window_sums")) return true;
  if (row["counts"]["distinct_bytes_loaded"].get<double>() < 0.5e9) return false;
  return kernel.starts_with("copy_")
             ? kernel != "copy_one_word<float>" && kernel != "copy_matrix"  // too little in flight
             : kernel.starts_with("shifted_read") || (kernel.starts_with("shifted_write") && offset() % 8 == 0) ||
                   (kernel.starts_with("strided_read") && stride() <= 8);
}

TEST_CASE("bounds: three quarters of the time where one part holds a kernel up", "[bound]") {
  std::map<std::string, int> held;
  std::set<std::string> programs;
  for (const Timed& timed : timed_rows("nvidia-h200")) {
    programs.insert(timed.row["program"].get<std::string>());
    if (!is_held_by_one_part(timed.row)) continue;
    INFO(timed.row.dump());
    CHECK(timed.share >= 0.75);
    ++held[timed.row["bound"]["by"].get<std::string>()];
  }
  CHECK(held["L1 data"] > 15 + (programs.count("03_padded_tiles") ? 25 : 0));
  CHECK(held["L1 tags"] > 5);
  if (programs.count("05_coalescing")) CHECK(held["DRAM"] > 10);
}

}  // namespace
