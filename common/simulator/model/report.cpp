#include "model/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "base/devices.hpp"
#include "base/findings.hpp"
#include "base/for_ever.hpp"
#include "base/occupancy.hpp"
#include "base/registers.hpp"
#include "base/symbols.hpp"
#include "model/l1.hpp"
#include "model/rates.hpp"
#include "model/sample.hpp"

namespace tilewise::sim {
namespace {

using Json = nlohmann::ordered_json;
using model::MemorySpace;
using observer::Access;

struct Report {
  std::vector<LaunchRecord> launches;
  bool written = false;
  ReportTaker taker = nullptr;
};

Report& report() {
  static Report* r = for_ever<Report>();
  return *r;
}

const char* destination() {
  static const char* value = std::getenv("TILEWISE_REPORT");
  return value && *value ? value : nullptr;
}

// One row of the report: everything that one source line did to one kind of memory.
struct Line {
  SourceLine at;
  SiteRecord total;
  std::string why;
};

const char* name(MemorySpace space) {
  switch (space) {
    case MemorySpace::global:
      return "global";
    case MemorySpace::shared:
      return "shared";
    case MemorySpace::constant:
      return "constant";
    case MemorySpace::local:
      return "local";
    case MemorySpace::host:
      return "host";
    case MemorySpace::none:
      break;
  }
  return "?";
}

const char* name(Access kind) {
  switch (kind) {
    case Access::load:
      return "load";
    case Access::store:
      return "store";
    case Access::atomic:
      return "atomic";
    case Access::reduction:
      return "reduction";
    case Access::copy_from:
    case Access::copy_to:
      return "copy";
    case Access::matrix_load:
      return "ldmatrix";
  }
  return "?";
}

const char* name(Limit limit) {
  switch (limit) {
    case Limit::blocks:
      return "blocks";
    case Limit::warps:
      return "threads";
    case Limit::registers:
      return "registers";
    case Limit::shared:
      return "shared memory";
    case Limit::impossible:
      return "nothing fits";
  }
  return "?";
}

// What an SM holds of a launch at a time.
struct Residency {
  int registers = 0;  // per thread; 0: not recorded, so they are no limit here
  int local = 0;      // bytes of local memory per thread, if registers are recorded
  Occupancy occupancy;
};

Residency residency_of(const LaunchRecord& launch) {
  Residency r;
  if (launch.kernel) {
    const KernelResources recorded = recorded_resources(device(), launch.kernel);
    r.registers = recorded.registers;
    r.local = recorded.local;
  }
  const auto threads = static_cast<int>(launch.block.x * launch.block.y * launch.block.z);
  r.occupancy = occupancy(device(), r.registers, launch.static_shared_bytes + launch.dynamic_shared_bytes, threads,
                          launch.carveout);
  return r;
}

std::vector<Line> lines_of(const LaunchRecord& launch) {
  std::vector<const void*> sites;
  for (const SiteRecord& s : launch.sites) sites.push_back(s.site);
  const std::vector<SourceLine> at = source_lines(sites);
  std::map<std::tuple<std::string, int, MemorySpace, Access, std::uint32_t>, Line> lines;
  for (std::size_t i = 0; i < launch.sites.size(); ++i) {
    const SiteRecord& s = launch.sites[i];
    auto [entry, is_new] = lines.try_emplace({at[i].file, at[i].line, s.space, s.kind, s.bytes}, Line{at[i], s, {}});
    if (is_new) continue;
    entry->second.total.add(s);
  }
  std::vector<Line> result;
  for (auto& [key, line] : lines) {
    line.why = diagnose(line.total);
    result.push_back(std::move(line));
  }
  return result;
}

// What nvcc makes of the accesses of a line.
struct AsCompiled {
  std::uint64_t instructions, passes;  // sectors of global memory, wavefronts of shared memory
  std::uint64_t ideal_wavefronts;
  std::string why;
};

// Nothing where the counts are those as written.
std::optional<AsCompiled> as_compiled(const SiteRecord& s) {
  const auto instructions_and_passes = [&](const Counters& c) -> std::pair<std::uint64_t, std::uint64_t> {
    const bool load = s.kind == Access::load;
    if (s.kind == Access::copy_from) return {c.async_copy_instructions, c.global_load_sectors};
    if (s.space == MemorySpace::global)
      return load ? std::pair{c.global_load_instructions, c.global_load_sectors}
                  : std::pair{c.global_store_instructions, c.global_store_sectors};
    return load ? std::pair{c.shared_load_instructions, c.shared_load_wavefronts}
                : std::pair{c.shared_store_instructions, c.shared_store_wavefronts};
  };
  const model::Rewritten& r = s.rewritten;
  if (!r.moved && !r.merged && !r.predicated && !r.doubled) return std::nullopt;
  const auto [more, more_passes] = instructions_and_passes(r.added);
  const auto [fewer, fewer_passes] = instructions_and_passes(r.removed);
  const std::uint64_t passes = s.space == MemorySpace::global ? s.sectors : s.wavefronts;
  std::string why;
  const auto say = [&](const std::string& reason) { why += (why.empty() ? "" : "; ") + reason; };
  const bool load = s.kind == Access::load;
  if (r.moved)
    say(load ? "it's the same word in every iteration, so nvcc loads it once, before the loop"
             : "it's the same word in every iteration, so nvcc stores it once, after the loop");
  if (r.merged)
    say(fmt::format("nvcc {} neighbouring words together, 8 or 16 bytes at a time", load ? "loads" : "stores"));
  if (r.predicated)
    say("a short branch: nvcc lets every warp issue it, also those in which no thread takes the branch");
  if (r.doubled)
    say("nvcc doesn't know how many bytes are filled with zeros, so it makes two copies of it: one that reads, one "
        "that "
        "fills");
  const auto ideal = [&](const Counters& c) { return load ? c.shared_load_ideal : c.shared_store_ideal; };
  return AsCompiled{s.instructions + more - fewer, passes + more_passes - fewer_passes,
                    s.ideal + ideal(r.added) - ideal(r.removed), why};
}

// The file's own line, without the space around it.
std::string source_text(const SourceLine& at) {
  const auto trimmed = [](const std::string& text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string::npos) return std::string();
    const auto last = text.find_last_not_of(" \t\r\n");
    return text.substr(first, last - first + 1);
  };
  if (lines_are_asked_for()) return trimmed(answer_to("text " + std::to_string(at.line) + " " + at.file));
  static auto& files = *new std::map<std::string, std::vector<std::string>>;  // used by an atexit handler
  auto [entry, is_new] = files.try_emplace(at.file);
  if (is_new) {
    if (std::FILE* f = std::fopen(at.file.c_str(), "r")) {
      char buffer[1024];
      while (std::fgets(buffer, sizeof buffer, f)) entry->second.emplace_back(buffer);
      std::fclose(f);
    }
  }
  if (at.line < 1 || static_cast<std::size_t>(at.line) > entry->second.size()) return "";
  return trimmed(entry->second[static_cast<std::size_t>(at.line) - 1]);
}

std::uint64_t blocks_of(const LaunchRecord& launch) {
  return std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
}

Json counters_json(const Counters& c) {
  Json counters = Json::object();
  for (const NamedCounter& n : kNamedCounters)
    if (!n.shown_with || c.*n.shown_with != 0) counters[n.name] = c.*n.member;
  return counters;
}

// Figures of the simulator's own, that no hardware counter gives directly.
Json derived_json(const Counters& c) {
  auto ratio = [](std::uint64_t a, std::uint64_t b) {
    return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
  };
  const std::uint64_t moved = 32 * (c.global_load_sectors + c.global_store_sectors);
  const std::uint64_t asked = c.global_load_bytes + c.global_store_bytes;
  Json derived{
      {"sectors_per_load_request", ratio(c.global_load_sectors, c.global_load_requests)},
      {"sectors_per_store_request", ratio(c.global_store_sectors, c.global_store_requests)},
      {"l1_data_passes_load", c.global_load_data_passes},
      {"l1_data_passes_store", c.global_store_data_passes},
      {"bytes_used_per_byte_moved", ratio(asked, moved)},
      {"shared_load_wavefronts_ideal", c.shared_load_ideal},
      {"shared_store_wavefronts_ideal", c.shared_store_ideal},
      {"shared_load_bank_conflicts", c.shared_load_wavefronts - c.shared_load_ideal},
      {"shared_store_bank_conflicts", c.shared_store_wavefronts - c.shared_store_ideal},
      {"instructions_with_idle_threads", c.partial_instructions},
      {"flop_single", c.flop_single},
      {"flop_double", c.flop_double},
      {"flop_per_byte_asked", ratio(c.flop_single + c.flop_double + c.tensor_flop, asked)},
      {"dram_bytes_at_least", c.dram_bytes_at_least},
  };
  if (c.matrix_load_instructions != 0) {
    derived["ldmatrix_wavefronts_ideal"] = c.matrix_load_ideal;
    derived["ldmatrix_bank_conflicts"] = c.matrix_load_wavefronts - c.matrix_load_ideal;
  }
  if (c.tensor_instructions != 0) derived["tensor_flop"] = c.tensor_flop;
  return derived;
}

// Resources by the time that they need, the busiest first.
std::vector<Resource> by_time(const Bound& b) {
  std::vector<Resource> order;
  for (std::size_t i = 0; i < kResources; ++i)
    if (b.all[i] > 0) order.push_back(static_cast<Resource>(i));
  std::stable_sort(order.begin(), order.end(), [&](Resource x, Resource y) { return b.of(x) > b.of(y); });
  return order;
}

Json bound_json(const LaunchRecord& launch) {
  const Bound& b = launch.bound;
  Json all = Json::object();
  for (const Resource resource : by_time(b)) all[name(resource)] = b.of(resource);
  Json bound{{"device", device_name()}, {"seconds", b.seconds}, {"by", b.seconds > 0 ? name(b.by) : ""}, {"all", all}};
  if (const InFlight f = in_flight(launch); f.dram_needs > 0)
    bound["not_a_bound"] = {{"bytes_in_flight_with_one_load_per_thread", f.one_load_each},
                            {"bytes_in_flight_that_dram_needs", f.dram_needs}};
  return bound;
}

// In words, after "at least 4.24 ms on an H200: ".
const char* phrase(Resource resource) {
  switch (resource) {
    case Resource::fp32:
      return "FP32 arithmetic";
    case Resource::fp64:
      return "FP64 arithmetic";
    case Resource::tensor:
      return "the tensor cores";
    case Resource::issue:
      return "issuing instructions";
    case Resource::memory_issue:
      return "the load/store unit";
    case Resource::l1_tags:
      return "L1's tag passes";
    case Resource::l1_data:
      return "L1's data passes";
    case Resource::l2:
      return "what comes through L2";
    case Resource::dram:
      return "DRAM";
  }
  return "?";
}

std::string bound_text(const LaunchRecord& launch) {
  const Bound& b = launch.bound;
  const std::vector<Resource> order = by_time(b);
  if (order.empty()) return "";
  std::string text =
      fmt::format("  at least {} on {}: {}", time_text(b.seconds), with_article(device_name()), phrase(order[0]));
  if (order.size() > 1) text += fmt::format("; next: {}, {}", phrase(order[1]), time_text(b.of(order[1])));
  text += '\n';
  const InFlight f = in_flight(launch);
  if (b.of(Resource::dram) > 0 && f.one_load_each < f.dram_needs)
    text += fmt::format(
        "  no bound, but worth knowing: one load of each thread that fits is {} bytes in flight per SM; DRAM needs "
        "{}\n",
        grouped_digits(static_cast<std::uint64_t>(f.one_load_each)),
        grouped_digits(static_cast<std::uint64_t>(f.dram_needs)));
  return text;
}

Json findings_json(std::size_t launch) {
  // What host code did wrong is listed with the launch before it; with the first one when there is none before.
  const std::size_t first = report().launches.empty() ? 0 : report().launches.front().serial;
  Json list = Json::array();
  for (const Finding& f : findings()) {
    if ((f.launch != 0 ? f.launch : std::max(f.after_launch, first)) != launch) continue;
    const SourceLine at = f.site ? source_line(f.site) : SourceLine{};
    Json entry{{"kind", f.code},       {"file", at.file},      {"line", at.line},
               {"threads", f.threads}, {"message", f.message}, {"times", f.times}};
    if (f.other_site) {
      const SourceLine other = source_line(f.other_site);
      entry["other_file"] = other.file;
      entry["other_line"] = other.line;
    }
    if (f.note) entry["note"] = true;
    list.push_back(std::move(entry));
  }
  return list;
}

// The request of a line that costs most: where it begins, and where each lane's bytes do from there on, "." for a lane that takes
// no part. Of the address no more is told than banks and L1's tags go by, so that reports don't differ from run to run.
Json worst_json(const SiteRecord& s) {
  constexpr std::uint64_t kTagsRepeat = std::uint64_t{1} << 35, kBanksRepeat = std::uint64_t{4} * model::kBanks;
  std::uint64_t first = ~std::uint64_t{0};
  model::for_each_lane(s.example_mask, [&](unsigned lane) { first = std::min(first, s.example[lane]); });
  std::string lanes;
  for (unsigned lane = 0; lane < model::kLanes; ++lane) {
    if (lane != 0) lanes += ' ';
    lanes += (s.example_mask >> lane & 1u) != 0 ? std::to_string(s.example[lane] - first) : ".";
  }
  return {{"address", first % (s.space == MemorySpace::global ? kTagsRepeat : kBanksRepeat)}, {"lanes", lanes}};
}

Json as_compiled_json(const SiteRecord& s, const AsCompiled& compiled) {
  const bool global = s.space == MemorySpace::global;
  Json entry{{"instructions", compiled.instructions},
             {global ? "sectors" : "wavefronts", compiled.passes},
             {"moved", s.rewritten.moved},
             {"merged", s.rewritten.merged},
             {"why", compiled.why}};
  if (s.space == MemorySpace::shared) entry["wavefronts_ideal"] = compiled.ideal_wavefronts;
  return entry;
}

Json line_json(const Line& l) {
  const SiteRecord& s = l.total;
  const bool global = s.space == MemorySpace::global, shared = s.space == MemorySpace::shared;
  Json entry{{"file", l.at.file},           {"line", l.at.line},
             {"memory", name(s.space)},     {"access", name(s.kind)},
             {"bytes_per_thread", s.bytes}, {"instructions", s.instructions},
             {"threads", s.threads},        {"instructions_with_idle_threads", s.partial}};
  if (global) {
    entry["sectors"] = s.sectors;
    entry["sectors_ideal"] = s.sectors_ideal;
    entry["l1_tag_passes"] = s.tag_passes;
    entry["l1_data_passes"] = s.data_passes;
  }
  if (shared) {
    entry["wavefronts"] = s.wavefronts;
    entry["wavefronts_ideal"] = s.ideal;
  }
  if (s.kind == Access::copy_from) {
    entry["wavefronts"] = s.wavefronts;
    entry["bytes_copied"] = s.bytes_copied;
    entry["bytes_waited_for"] = s.bytes_waited_for;
  }
  if (s.repeated > 0) {
    entry["instructions_repeated"] = s.repeated;
    entry[global ? "sectors_repeated" : "wavefronts_repeated"] = global ? s.repeated_sectors : s.repeated_wavefronts;
  }
  if (!l.why.empty()) entry["diagnosis"] = l.why;
  if ((global || shared) && s.example_mask != 0) entry["worst_request"] = worst_json(s);
  if (const auto compiled = as_compiled(s)) entry["as_compiled"] = as_compiled_json(s, *compiled);
  return entry;
}

// How the launch was made, and what was left out of it.
Json launch_json(const LaunchRecord& launch) {
  auto triple = [](const dim3& d) { return Json::array({d.x, d.y, d.z}); };
  Json record{
      {"kernel", launch.kernel ? function_name(launch.kernel) : ""},
      {"grid", triple(launch.grid)},
      {"block", triple(launch.block)},
      {"dynamic_shared_bytes", launch.dynamic_shared_bytes},
      {"static_shared_bytes", launch.static_shared_bytes},
  };
  if (several_devices()) record["device"] = launch.device;
  if (launch.parent)
    record["launched_by"] = {{"kernel", function_name(launch.parent)}, {"at", describe_site(launch.launched_at)}};
  if (launch.blocks_run != 0)
    record["sampled"] = {{"blocks", launch.blocks_run},
                         {"of", blocks_of(launch)},
                         {"standard_error", launch.sample_error.others},
                         {"standard_error_of_tag_passes", launch.sample_error.tag_passes}};
  if (!launch.depends.empty()) record["not_sampled"] = launch.depends;
  if (launch.reads_from) record["reads_unfinished"] = function_name(launch.reads_from);
  if (!launch.refused.empty()) {
    record["refused"] = launch.refused;
    const SourceLine at = source_line(launch.refused_at);
    record["file"] = at.file;
    record["line"] = at.line;
  }
  return record;
}

Json to_json(const LaunchRecord& launch) {
  Json record = launch_json(launch);
  const Residency r = residency_of(launch);
  if (launch.refused.empty() && r.occupancy.blocks > 0) {
    record["occupancy"] = {{"blocks_per_sm", r.occupancy.blocks},
                           {"warps_per_sm", r.occupancy.warps},
                           {"limit", name(r.occupancy.limit)},
                           {"registers_per_thread", r.registers > 0 ? Json(r.registers) : Json()},
                           {"local_bytes_per_thread", r.registers > 0 ? Json(r.local) : Json()}};
  }
  record["counters"] = launch.counted ? counters_json(launch.counters) : Json::object();
  if (launch.counted && r.registers > 0 && r.local == 0) {
    // Only the GPU's compiler knows what it keeps in local memory. Of these kernels it is known: nothing.
    for (const char* op : {"ld", "st"})
      for (const char* what : {"requests", "sectors"})
        record["counters"][fmt::format("l1tex__t_{}_pipe_lsu_mem_local_op_{}.sum", what, op)] = 0;
  }
  record["as_compiled"] = launch.counted ? counters_json(launch.as_compiled) : Json::object();
  if (launch.counted) record["derived"] = derived_json(launch.counters);
  if (launch.counted) record["bound"] = bound_json(launch);
  record["lines"] = Json::array();
  for (const Line& l : lines_of(launch)) record["lines"].push_back(line_json(l));
  record["findings"] = findings_json(launch.serial);
  return record;
}

// What a launch computes, and for how many bytes.
std::string flop_text(const LaunchRecord& launch) {
  const Counters& c = launch.counters;
  const std::uint64_t flop = c.flop_single + c.flop_double + c.tensor_flop;
  const std::uint64_t asked = c.global_load_bytes + c.global_store_bytes;
  if (flop == 0) return "";
  std::string text = fmt::format("  {} FLOP{}", grouped_digits(flop),
                                 c.flop_double == 0   ? ""
                                 : c.flop_single == 0 ? " (FP64)"
                                                      : " (FP32 and FP64)");
  if (asked != 0)
    text += fmt::format(", {:.2f} per byte that the threads asked global memory for",
                        static_cast<double>(flop) / static_cast<double>(asked));
  if (asked != 0 && launch.blocks_run == 0)  // a sample does not know all distinct sectors
    text +=
        fmt::format(", {:.2f} per byte of the distinct sectors",
                    static_cast<double>(flop) / static_cast<double>(std::max<std::uint64_t>(c.dram_bytes_at_least, 1)));
  text += '\n';
  if (c.tensor_instructions != 0)
    text += fmt::format("  on tensor cores: {} FLOP in {} warp instructions\n", grouped_digits(c.tensor_flop),
                        grouped_digits(c.tensor_instructions));
  return text;
}

std::string readable(const LaunchRecord& launch) {
  std::string out =
      fmt::format("\n{}   grid ({},{},{})  block ({},{},{})", launch.kernel ? function_name(launch.kernel) : "(kernel)",
                  launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x, launch.block.y, launch.block.z);
  const std::size_t shared = launch.static_shared_bytes + launch.dynamic_shared_bytes;
  if (shared != 0) out += fmt::format("  shared {} bytes", grouped_digits(shared));
  if (several_devices()) out += fmt::format("  device {}", launch.device);
  if (launch.parent)
    out += fmt::format("  launched by {} at {}", function_name(launch.parent), describe_site(launch.launched_at));
  out += '\n';
  if (!launch.refused.empty()) return out + "  not launched: " + launch.refused + "\n";
  if (const Residency r = residency_of(launch); r.occupancy.blocks > 0) {
    out += fmt::format(
        "  occupancy: {} of {} warps per SM ({} {}), limited by {}; {}\n", r.occupancy.warps, r.occupancy.max_warps,
        r.occupancy.blocks, r.occupancy.blocks == 1 ? "block" : "blocks", name(r.occupancy.limit),
        r.registers > 0 ? fmt::format("{} registers and {} bytes of local memory per thread", r.registers, r.local)
                        : "registers and local memory unknown");
  }
  if (!launch.counted) return out + "  not counted\n";
  if (launch.blocks_run != 0)
    out += fmt::format(
        "  counted in {} of {} blocks, and scaled to all of them; standard error {:.1f} %, of tag passes {:.1f} %\n",
        grouped_digits(launch.blocks_run), grouped_digits(blocks_of(launch)), 100 * launch.sample_error.others,
        100 * launch.sample_error.tag_passes);
  if (launch.reads_from)
    out += fmt::format(
        "  reads what {}, run in part, left unfinished: if addresses or branches go by these values, the counts are "
        "wrong\n",
        function_name(launch.reads_from));
  if (!launch.depends.empty())
    out += fmt::format("  counted in all blocks, which may depend on each other: {}\n", launch.depends);
  out += flop_text(launch);
  out += bound_text(launch);
  out += fmt::format("  {:>5}  {:<16} {:>5} {:>15} {:>12} {:>8} {:>13}  {}\n", "line", "access", "bytes", "warp instr.",
                     "per instr.", "ideal", "L1 tag, data", "source");
  std::string file;
  for (const Line& l : lines_of(launch)) {
    if (l.at.file != file) {
      file = l.at.file;
      out += "  " + (file.empty() ? "(unknown file)" : file) + "\n";
    }
    const SiteRecord& t = l.total;
    const double n = static_cast<double>(t.instructions);
    std::string cost = "-", ideal = "-", passes = "-";
    if (t.space == MemorySpace::global) {
      cost = fmt::format("{:.2f} sec", static_cast<double>(t.sectors) / n);
      ideal = fmt::format("{:.2f}", static_cast<double>(t.sectors_ideal) / n);
      if (t.kind == Access::load || t.kind == Access::store || t.kind == Access::copy_from)
        passes = fmt::format("{:.2f}, {:.2f}", static_cast<double>(t.tag_passes) / n,
                             static_cast<double>(t.data_passes) / n);
    } else if (t.space == MemorySpace::shared) {
      cost = fmt::format("{:.2f} wav", static_cast<double>(t.wavefronts) / n);
      ideal = fmt::format("{:.2f}", static_cast<double>(t.ideal) / n);
    }
    out += fmt::format("  {:>5}  {:<16} {:>5} {:>15} {:>12} {:>8} {:>13}  {}\n", l.at.line,
                       fmt::format("{} {}", name(t.space), name(t.kind)), t.bytes, grouped_digits(t.instructions), cost,
                       ideal, passes, source_text(l.at));
    if (!l.why.empty()) out += fmt::format("         ^ {}\n", l.why);
    if (const auto compiled = as_compiled(t))
      out += fmt::format("         ^ compiled by nvcc: {} warp instr., {} {}; {}\n",
                         grouped_digits(compiled->instructions), grouped_digits(compiled->passes),
                         t.space == MemorySpace::global ? "sec" : "wav", compiled->why);
  }
  return out;
}

std::uintptr_t lowest_address(const SiteRecord& s) {
  std::uintptr_t lowest = UINTPTR_MAX;
  model::for_each_lane(s.example_mask, [&](unsigned lane) { lowest = std::min(lowest, s.example[lane]); });
  return lowest;
}

}  // namespace

void SiteRecord::add(const SiteRecord& other, std::uint64_t size, std::uint64_t count) {
  const auto times = [&](std::uint64_t n) { return scaled(n, size, count); };
  add_members<SiteCounts>(*this, other, times);
  add_members(rewritten.removed, other.rewritten.removed, times);
  add_members(rewritten.added, other.rewritten.added, times);
  rewritten.moved = rewritten.moved || other.rewritten.moved;
  rewritten.merged = rewritten.merged || other.rewritten.merged;
  rewritten.predicated = rewritten.predicated || other.rewritten.predicated;
  rewritten.doubled = rewritten.doubled || other.rewritten.doubled;
  // Of requests that are equally bad the one at the lower address: which of two operands is loaded first, compilers decide.
  if (other.worst < worst || (other.worst == worst && lowest_address(other) >= lowest_address(*this))) return;
  worst = other.worst;
  example_mask = other.example_mask;
  std::memcpy(example, other.example, sizeof example);
}

void LaunchRecord::add(const LaunchRecord& stratum, std::uint64_t size, std::uint64_t count) {
  const auto times = [&](std::uint64_t n) { return scaled(n, size, count); };
  add_members(counters, stratum.counters, times);
  add_members(as_compiled, stratum.as_compiled, times);
  for (const SiteRecord& s : stratum.sites) {
    auto same = std::find_if(sites.begin(), sites.end(),
                             [&](const SiteRecord& known) { return known.site == s.site && known.kind == s.kind; });
    if (same == sites.end()) {
      same = sites.insert(sites.end(), s);
      static_cast<SiteCounts&>(*same) = {};
      same->rewritten = {};
    }
    same->add(s, size, count);
  }
}

InFlight in_flight(const LaunchRecord& launch) {
  const Residency r = residency_of(launch);
  const model::Rates rates = rates_of(device());
  const Counters& c = launch.as_compiled;
  if (r.registers == 0 || r.occupancy.blocks == 0 || rates.dram_latency == 0 || c.global_load_instructions == 0 ||
      c.async_copy_instructions != 0)
    return {};
  const double bytes = static_cast<double>(c.global_load_bytes) / static_cast<double>(c.global_load_instructions);
  const double blocks =
      std::min<double>(r.occupancy.blocks, std::ceil(static_cast<double>(blocks_of(launch)) / rates.sms));
  return {bytes * r.occupancy.warps / r.occupancy.blocks * blocks, rates.dram * rates.dram_latency / rates.sms};
}

Bound bound_of(const LaunchRecord& launch) {
  model::Work work{launch.as_compiled};
  work.blocks = blocks_of(launch);
  work.single_known = !launch.own_arithmetic.in_single;
  work.double_known = !launch.own_arithmetic.in_double;
  static const model::Rates rates = rates_of(device());
  return model::bound(rates, work);
}

const char* device_name() {
  static const std::string name = short_name(device());
  return name.c_str();
}

std::string time_text(double seconds) {
  double value = seconds * 1e9;
  const char* unit = "ns";
  if (value >= 999.5) value /= 1e3, unit = "us";
  if (value >= 999.5) value /= 1e3, unit = "ms";
  if (value >= 999.5) value /= 1e3, unit = "s";
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit);
}

void give_report_to(ReportTaker taker) { report().taker = taker; }

bool report_wanted() { return destination() != nullptr || report().taker != nullptr; }

namespace {

// Whole or not at all, where PATH is a file; a device or a pipe, such as /dev/null, is written to and stays.
void write_report_file(const std::string& path, const std::string& text) {
  std::error_code none;
  const auto status = std::filesystem::status(path, none);
  const bool in_place = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  const std::string name = in_place ? path : path + ".part";
  std::FILE* f = std::fopen(name.c_str(), "w");
  const bool ok = f && std::fwrite(text.data(), 1, text.size(), f) == text.size();
  if ((f && std::fclose(f) != 0) || !ok || (!in_place && std::rename(name.c_str(), path.c_str()) != 0))
    std::fprintf(stderr, "tilewise: cannot write the report %s (TILEWISE_REPORT): %s\n", path.c_str(),
                 std::strerror(errno));
}

}  // namespace

void write_report_now() {
  Report& r = report();
  if ((!destination() && !r.taker) || r.written) return;
  const Launch& running = running_launch();
  const auto of_running = [&](const Finding& f) { return f.launch != 0 && f.launch == running.serial; };
  const bool in_midst = r.launches.empty() || r.launches.back().serial != running.serial;
  if (in_midst && std::any_of(findings().begin(), findings().end(), of_running)) {  // the program ends in a kernel
    LaunchRecord record;
    record.serial = running.serial;
    record.device = running.device;
    record.kernel = running.kernel;
    record.grid = running.config.grid;
    record.block = running.config.block;
    record.dynamic_shared_bytes = running.config.shared;
    add_to_report(std::move(record));
  }
  if (r.launches.empty()) {
    if (findings().empty()) return;
    r.launches.emplace_back();  // a program that went wrong before its first launch
  }
  r.written = true;
  if (destination() && std::strcmp(destination(), "-") == 0) {
    std::string text =
        "Simulated launches. sec: 32-byte sectors, wav: wavefronts of shared memory, L1: passes through its tags and "
        "its banks; "
        "per warp instruction.\n";
    for (const LaunchRecord& l : r.launches) text += readable(l);
    std::fputs(text.c_str(), stderr);
    return;
  }
  Json list = Json::array();
  for (const LaunchRecord& l : r.launches) list.push_back(to_json(l));
  const std::string text = list.dump(1) + "\n";
  if (r.taker) return r.taker(text);
  write_report_file(destination(), text);
}

void add_to_report(LaunchRecord record) { report().launches.push_back(std::move(record)); }

void add_refused_launch(const LaunchConfig& config, const char* error, const void* call_site) {
  LaunchRecord record;
  record.serial = running_launch().serial;
  record.device = current_device();
  record.grid = config.grid;
  record.block = config.block;
  record.dynamic_shared_bytes = config.shared;
  record.refused = error;
  record.refused_at = call_site;
  add_to_report(std::move(record));
}

namespace {

// Where L1's banks make a request wait longer than its tags do: which row length does that, and what one word more would do.
std::string bank_advice(const model::LaneAddresses& lanes, std::int64_t stride, bool regular) {
  const auto passes = [](const model::LaneAddresses& of) {
    std::uint64_t sectors[2 * model::kLanes];
    const unsigned n = model::distinct_sectors(of, sectors);
    return std::max(model::tag_passes(sectors, n), model::data_passes(of));
  };
  const unsigned data = model::data_passes(lanes);
  if (data <= model::ideal_data_passes(lanes) || data < passes(lanes)) return "";
  const std::string conflict = fmt::format("; {} passes through L1's banks", data);
  if (!regular || stride % 4 != 0 || lanes.bytes != 4) return conflict;
  std::uint64_t longer[model::kLanes];
  for (unsigned i = 0; i < model::kLanes; ++i)
    longer[i] = lanes.address[i] + static_cast<std::uint64_t>(stride < 0 ? -4 : 4) * i;
  const unsigned after = passes({lanes.mask, lanes.bytes, longer});
  if (after >= data) return conflict;
  return conflict + fmt::format(", {} if they were {} words apart", after,
                                grouped_digits(static_cast<std::uint64_t>(std::llabs(stride)) / 4 + 1));
}

// Lanes side by side, then others somewhere else. A block that is 20 wide has 4 threads of a row, 20 of the next and 8 in one warp. "" where
// pieces are too short to be called that.
std::string pieces_text(std::span<const std::uint64_t> address) {
  const auto step = [&](std::size_t i) { return static_cast<std::int64_t>(address[i + 1] - address[i]); };
  std::vector<std::size_t> begins{0};
  for (std::size_t i = 0; i + 1 < address.size(); ++i)
    if (step(i) != step(0)) begins.push_back(i + 1);
  if (begins.size() < 2 || address.size() < 4 * begins.size()) return "";
  const std::size_t run = begins[1];
  bool is_regular = true;
  for (std::size_t i = 1; i < begins.size(); ++i)
    is_regular = is_regular && begins[i] == run * i && step(begins[i] - 1) == step(run - 1);
  if (!is_regular || address.size() - begins.back() > run)
    return fmt::format("the words lie in {} pieces", begins.size());
  return fmt::format(
      "rows of {} threads, {} bytes from one to the next", run,
      grouped_digits(static_cast<std::uint64_t>(std::llabs(static_cast<std::int64_t>(address[run] - address[0])))));
}

}  // namespace

std::string diagnose(const SiteRecord& s) {
  // Lanes that took part in the worst instruction, in order.
  std::uint64_t address[model::kLanes];
  unsigned n = 0;
  for (std::uint32_t rest = s.example_mask; rest != 0; rest &= rest - 1)
    address[n++] = s.example[std::countr_zero(rest)];
  if (n < 2) return "";
  // The first lanes that lie at equal distances: all of them, or one row of a two-dimensional block.
  const auto step = [&](unsigned i) { return static_cast<std::int64_t>(address[i + 1] - address[i]); };
  const std::int64_t stride = step(0);
  unsigned run = 2;
  while (run < n && step(run - 1) == stride) ++run;
  const std::uint64_t distance = static_cast<std::uint64_t>(stride < 0 ? -stride : stride);
  const model::LaneAddresses lanes{s.example_mask, s.bytes, s.example};

  if (s.space == MemorySpace::global &&
      (s.kind == Access::load || s.kind == Access::store || s.kind == Access::copy_from)) {
    std::uint64_t sectors[2 * model::kLanes];
    const unsigned best = std::max(1u, model::ideal_sectors(lanes, model::distinct_sectors(lanes, sectors)));
    if (s.worst <= best || distance == 0) return "";  // threads that share a word are no problem
    std::string text = fmt::format("{} sectors where {} would do: ", s.worst, best);
    if (distance == s.bytes && run == n)
      return text +
             fmt::format("the first address is {} bytes past the start of a sector", address[0] % model::kSectorBytes);
    if (distance > s.bytes && run >= 4)
      return text + fmt::format("neighbouring threads are {} bytes apart", grouped_digits(distance)) +
             bank_advice(lanes, stride, run == n);
    if (distance <= s.bytes)
      if (const std::string pieces = pieces_text({address, n}); !pieces.empty()) return text + pieces;
    return text + "the threads' addresses are scattered";
  }
  if (s.space == MemorySpace::shared && s.ideal != 0) {
    const unsigned ideal =
        std::max(1u, s.kind == Access::matrix_load ? model::ideal_matrix_load_wavefronts(lanes)
                                                   : model::ideal_wavefronts(lanes, s.kind == Access::load));
    const unsigned ways = (s.worst + ideal - 1) / ideal;
    if (ways < 2) return "";
    if (run >= 4 && distance % 4 == 0 && distance > s.bytes)
      return fmt::format("{}-way bank conflict: stride {} words", ways, distance / 4);
    return fmt::format("{}-way bank conflict: {} wavefronts where {} would do", ways, s.worst, ideal);
  }
  return "";
}

}  // namespace tilewise::sim
