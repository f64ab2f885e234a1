#include "tilewise/results.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>

#include "tilewise/counters.hpp"
#include "tilewise/device.hpp"
#include "tilewise/files.hpp"
#include "tilewise/options.hpp"

namespace tilewise {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Record& record) {
  Json object = Json::object();
  for (const auto& [key, value] : record.fields()) {
    Json* place = &object;
    std::size_t begin = 0;
    for (std::size_t dot; (dot = key.find('.', begin)) != std::string::npos; begin = dot + 1)
      place = &(*place)[key.substr(begin, dot - begin)];
    Json& slot = (*place)[key.substr(begin)];
    std::visit(
        [&](const auto& v) {
          if constexpr (std::is_same_v<std::decay_t<decltype(v)>, double>)
            slot = std::isfinite(v) ? Json(v) : Json(nullptr);
          else
            slot = v;
        },
        value);
  }
  return object;
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

// "13.0" for 13000.
std::string version_text(int version) {
  return version == 0 ? "" : fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// What git calls the sources: TILEWISE_COMMIT in the environment, or asked in the folder the program was built from.
std::string commit() {
  if (const char* given = std::getenv("TILEWISE_COMMIT")) return given;
#ifdef TILEWISE_SOURCE_DIR
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(
      popen("git -C '" TILEWISE_SOURCE_DIR "' describe --always --dirty 2>/dev/null", "r"), pclose);
  std::array<char, 128> line{};
  if (pipe && std::fgets(line.data(), line.size(), pipe.get())) {
    std::string text = line.data();
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }
#endif
  return "";
}

}  // namespace

void set_bound(Record& row, const LeastTime& time) {
  if (time.seconds <= 0) return;
  row.set("bound.device", time.device).set("bound.seconds", time.seconds).set("bound.by", time.by);
  for (const auto& [part, seconds] : time.all) row.set("bound.all." + part, seconds);
  if (time.dram_needs > 0)
    row.set("bound.in_flight.bytes", time.in_flight).set("bound.in_flight.dram_needs", time.dram_needs);
}

void set_counts(Record& row, const Counts& counts) {
  const auto set = [&](const char* name, std::uint64_t value) { row.set(std::string("counts.") + name, value); };
  set("global_load_requests", counts.global_load_requests);
  set("global_load_sectors", counts.global_load_sectors);
  set("global_load_bytes", counts.global_load_bytes);
  set("global_load_tag_passes", counts.global_load_tag_passes);
  set("global_load_data_passes", counts.global_load_data_passes);
  set("global_store_requests", counts.global_store_requests);
  set("global_store_sectors", counts.global_store_sectors);
  set("global_store_bytes", counts.global_store_bytes);
  set("global_store_tag_passes", counts.global_store_tag_passes);
  set("global_store_data_passes", counts.global_store_data_passes);
  set("global_bytes", counts.global_bytes());
  set("atomic_requests", counts.atomic_requests);
  set("atomic_sectors", counts.atomic_sectors);
  set("shared_loads", counts.shared_loads);
  set("shared_stores", counts.shared_stores);
  set("shared_load_wavefronts", counts.shared_load_wavefronts);
  set("shared_store_wavefronts", counts.shared_store_wavefronts);
  set("shared_wavefronts", counts.shared_wavefronts());
  set("shared_conflicts", counts.shared_conflicts);
  set("dram_bytes_at_least", counts.dram_bytes_at_least);
  set("distinct_bytes_loaded", counts.distinct_bytes_loaded);
  set("distinct_bytes_stored", counts.distinct_bytes_stored);
  set("flops", counts.flops);
  set("static_shared_bytes", counts.static_shared_bytes);
  set_bound(row, counts.at_least);
}

Results::Results(const Options& options) {
  const Device& d = device();
  run_.set("program", options.program())
      .set("command_line", options.command_line())
      .set("date", now_utc())
      .set("commit", commit())
      .set("seed", options.seed())
      .set("data", to_string(options.data()))
      .set("repeat", options.repeat())
      .set("machine.name", d.name)
      .set("machine.simulated", d.simulated)
      .set("machine.compute_capability", fmt::format("{}.{}", d.major, d.minor))
      .set("machine.sms", d.sms)
      .set("machine.memory_bytes", d.memory_bytes)
      .set("machine.l2_bytes", d.l2_bytes)
      .set("machine.max_sm_clock_mhz", d.sm_clock_mhz)
      .set("machine.max_memory_clock_mhz", d.memory_clock_mhz)
      .set("machine.peak_fp32_gflops", d.peak_fp32_gflops())
      .set("machine.peak_bandwidth_gbs", d.peak_bandwidth_gbs())
      .set("machine.cuda_runtime", version_text(d.runtime_version))
      .set("machine.cuda_driver", version_text(d.driver_version));
  if (sampled_blocks() != 0) run_.set("sample", sampled_blocks());
  if (const auto sensors = read_sensors()) {
    run_.set("machine.driver", sensors->driver)
        .set("machine.sm_clock_mhz", sensors->sm_clock_mhz)
        .set("machine.memory_clock_mhz", sensors->memory_clock_mhz)
        .set("machine.temperature_c", sensors->temperature_c);
  }
}

void Results::describe_table(const std::string& part, const std::string& title, const std::string& quantity) {
  const std::string table = "tables." + (part.empty() ? "all" : part);
  run_.set(table + ".title", title).set(table + ".quantity", quantity);
}

std::string Results::json() const {
  Json object = to_json(run_);
  object["rows"] = Json::array();
  for (const Record& row : rows_) object["rows"].push_back(to_json(row));
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void Results::write(const std::string& path) const { write_file_atomically(path, json()); }

}  // namespace tilewise
