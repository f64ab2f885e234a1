// The simulator's counters against an H200's: every launch of the validation set, every counter, equal or with a
// reason. docs/results/counters-nvidia-h200.json is written by common/scripts/record/record-counters.sh on the GPU.
#ifdef TILEWISE_SIMULATOR

#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tilewise_sim/report.hpp>
#include <vector>

#include "catch.hpp"
#include "validation/cases.cuh"

namespace {

using tilewise::sim::Counters;

// A reason covers only the counters that it can explain; all others of the launch must still be equal.
bool explains(const std::string& reason, const std::string& metric) {
  struct Scope {
    const char* reason;
    std::vector<const char*> metrics;
  };
  static const std::vector<Scope> scopes = {
      {"predicated", {"inst_executed_op_"}},
      {"unrolled", {"shared_ld", "shared_op_ld", "inst_executed_op_global_ld"}},
      {"sunk", {"flop_single"}},
      {"both branches", {"global_st", "global_op_st"}},
      {"length[i]", {"global_ld", "global_op_ld"}},
      {"row_ptr", {"global_ld", "global_op_ld"}},
  };
  for (const Scope& scope : scopes) {
    if (reason.rfind(scope.reason, 0) != 0) continue;
    for (const char* part : scope.metrics)
      if (metric.find(part) != std::string::npos) return true;
  }
  return false;
}

TEST_CASE("the simulator counts what an H200 counts", "[validation]") {
  std::ifstream file(TILEWISE_SOURCE_DIR "/docs/results/counters-nvidia-h200.json");
  REQUIRE(file);
  const auto recorded = nlohmann::json::parse(file).at("launches");
  const auto cases = validation::cases();
  REQUIRE(recorded.size() == cases.size());

  const bool was_counting = tilewise::sim::set_counting(true);
  const bool was_checking = tilewise::sim::set_checking(false);  // some kernels store to one place on purpose
  std::size_t compared = 0, launches_explained = 0;
  {
    validation::Data data;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      INFO("launch " << i << ": " << cases[i].name);
      REQUIRE(recorded[i].at("case") == cases[i].name);
      cases[i].launch(data);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      const Counters& counted = tilewise::sim::last_counters();
      bool differs = false;
      const auto recorded_counter = [&](const std::string& name) {
        return recorded[i].at("counters").at(name).get<std::uint64_t>();
      };
      const auto compare = [&](const std::string& name, std::uint64_t simulated, std::uint64_t hardware) {
        ++compared;
        differs = differs || simulated != hardware;
        if (cases[i].merged && explains(cases[i].merged, name)) return;
        INFO(name);
        CHECK(simulated == hardware);
      };
      for (const tilewise::sim::NamedCounter& n : tilewise::sim::kNamedCounters)
        if (n.recorded) compare(n.name, counted.*n.member, recorded_counter(n.name));
      // A GPU fuses what is written as a * b + c.
      const auto flop = [&](const std::string& type) {
        const auto of = [&](const char* op) {
          return recorded_counter("smsp__sass_thread_inst_executed_op_" + type + op + "_pred_on.sum");
        };
        return of("add") + of("mul") + 2 * of("fma");
      };
      compare("flop_single", counted.flop_single, flop("f"));
      compare("flop_double", counted.flop_double, flop("d"));
      // What a request does not find in L1 is delivered piece by piece, so that a GPU needs more passes, never fewer.
      if (!cases[i].merged) {
        const auto passes = recorded_counter("l1tex__data_pipe_lsu_wavefronts_mem_lgds_cmd_read.sum");
        CHECK(counted.global_load_data_passes <= passes);
      }
      // None of these kernels keeps anything in local memory; ptxas said so when the registers were recorded.
      for (const char* op : {"ld", "st"})
        CHECK(recorded_counter(std::string("l1tex__t_requests_pipe_lsu_mem_local_op_") + op + ".sum") == 0);
      if (cases[i].merged) {
        CHECK(differs);  // a reason that explains nothing is wrong too
        ++launches_explained;
      }
    }
  }
  tilewise::sim::set_counting(was_counting);
  tilewise::sim::set_checking(was_checking);
  CHECK(launches_explained * 20 <= cases.size());
  std::printf(
      "validation against an H200: %zu launches, %zu counters compared; %zu launches differ, each with its reason:\n",
      cases.size(), compared, launches_explained);
  for (const auto& c : cases)
    if (c.merged) std::printf("  %-34s %s\n", c.name.c_str(), c.merged);
}

TEST_CASE("as compiled, at most 1 in 100 launches differs from an H200's", "[validation][as-compiled]") {
  // What the rules leave out, by the name of the launch. All others must be equal in every counter.
  static const std::map<std::string, const char*> reasons = {
      {"two paths", "both branches end in the same store: nvcc issues one"},
      {"shuffle sum", "sunk: only the first thread needs the last addition, and nvcc moves it there"},
  };
  std::ifstream file(TILEWISE_SOURCE_DIR "/docs/results/counters-nvidia-h200.json");
  REQUIRE(file);
  const auto recorded = nlohmann::json::parse(file).at("launches");
  const auto cases = validation::cases();
  REQUIRE(recorded.size() == cases.size());
  const bool was_counting = tilewise::sim::set_counting(true);
  const bool was_checking = tilewise::sim::set_checking(false);
  std::size_t different = 0;
  {
    validation::Data data;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      INFO("launch " << i << ": " << cases[i].name);
      cases[i].launch(data);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      const Counters& counted = tilewise::sim::last_counters_as_compiled();
      const auto hardware = [&](const std::string& name) {
        return recorded[i].at("counters").at(name).get<std::uint64_t>();
      };
      const auto flop = [&](const std::string& type) {
        const auto of = [&](const char* op) {
          return hardware("smsp__sass_thread_inst_executed_op_" + type + op + "_pred_on.sum");
        };
        return of("add") + of("mul") + 2 * of("fma");
      };
      std::string differs;
      for (const tilewise::sim::NamedCounter& n : tilewise::sim::kNamedCounters)
        if (n.recorded && counted.*n.member != hardware(n.name)) differs += std::string(" ") + n.name;
      if (counted.flop_single != flop("f") || counted.flop_double != flop("d")) differs += " flop";
      INFO(differs);
      CHECK(differs.empty() == (reasons.count(cases[i].name) == 0));
      different += !differs.empty();
    }
  }
  tilewise::sim::set_counting(was_counting);
  tilewise::sim::set_checking(was_checking);
  CHECK(different == reasons.size());
  CHECK(different * 100 <= cases.size());
  std::printf("as compiled: %zu of %zu launches differ from an H200's, each with its reason\n", different,
              cases.size());
}

}  // namespace

#endif  // TILEWISE_SIMULATOR
