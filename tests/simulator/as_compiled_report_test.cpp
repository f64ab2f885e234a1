// What a report says of counts as compiled, in both of its forms.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "catch.hpp"

namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = R"(#include <cuda_runtime.h>
__global__ void rows(const int* row_ptr, const float* value, float* sum) {
  float s = 0;
  for (int e = row_ptr[threadIdx.x]; e < row_ptr[threadIdx.x + 1]; ++e) s += value[e];
  sum[threadIdx.x] = s;
}
int main() {
  int* row_ptr;
  float *value, *sum;
  cudaMallocManaged(&row_ptr, 33 * sizeof(int));
  cudaMallocManaged(&value, 320 * sizeof(float));
  cudaMallocManaged(&sum, 32 * sizeof(float));
  for (int i = 0; i <= 32; ++i) row_ptr[i] = 10 * i;
  for (int i = 0; i < 320; ++i) value[i] = 1;
  rows<<<1, 32>>>(row_ptr, value, sum);
  cudaDeviceSynchronize();
  for (void* p : {(void*)row_ptr, (void*)value, (void*)sum}) cudaFree(p);
})";

std::string text_of(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_CASE("a report has the counts as compiled beside those as written, and says why they differ", "[as-compiled]") {
  const fs::path folder = fs::temp_directory_path() / ("tilewise_as_compiled_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const auto in_folder = [&](const char* name) { return "'" + (folder / name).string() + "'"; };
  std::ofstream(folder / "rows.cu") << kProgram;
  const auto run = [](const std::string& command) { return std::system(command.c_str()); };
  REQUIRE(run(std::string(TILEWISE_SIMCC) + " " + in_folder("rows.cu") + " -o " + in_folder("rows")) == 0);

  REQUIRE(run("TILEWISE_REPORT=" + in_folder("report.json") + " " + in_folder("rows")) == 0);
  const auto report = nlohmann::json::parse(text_of(folder / "report.json"));
  REQUIRE(report.size() == 1);
  const std::string loads = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
  // row_ptr once for the start, then for the end: before the loop, and after each of 10 iterations; and 10 values.
  CHECK(report[0].at("counters").at(loads) == 1 + 11 + 10);
  CHECK(report[0].at("as_compiled").at(loads) == 1 + 1 + 10);
  CHECK(report[0].at("as_compiled").size() >= 14);
  for (const auto& [name, value] : report[0].at("as_compiled").items()) {
    INFO(name);
    CHECK(value <= report[0].at("counters").at(name));
  }
  int explained = 0;
  for (const auto& line : report[0].at("lines")) {
    if (!line.contains("as_compiled")) continue;
    ++explained;
    CHECK(line.at("line") == 4);
    CHECK(line.at("instructions") == 1 + 11 + 10);
    CHECK(line.at("as_compiled").at("instructions") == 1 + 1 + 10);
    CHECK(line.at("as_compiled").at("moved") == true);
    CHECK(line.at("as_compiled").at("merged") == false);
    CHECK(line.at("as_compiled").at("sectors") < line.at("sectors"));
    CHECK(line.at("as_compiled").at("why").get<std::string>().find("same word in every iteration") !=
          std::string::npos);
  }
  CHECK(explained == 1);

  REQUIRE(run("TILEWISE_REPORT=- " + in_folder("rows") + " 2>" + in_folder("screen.txt")) == 0);
  CHECK(text_of(folder / "screen.txt").find("compiled by nvcc: 12 warp instr.") != std::string::npos);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

}  // namespace
