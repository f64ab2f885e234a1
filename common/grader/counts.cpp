#include "counts.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "base/devices.hpp"
#include "base/occupancy.hpp"

namespace tilewise::grader {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// Which part of a report says why a count is what it is.
enum class Seen { in_lines, in_launches, in_host_code };

struct Count {
  const char* name;
  Seen seen;
  const char* readable;
};

/// All that a limit may be about. What each is, is in docs/teaching.md.
constexpr Count kCounts[] = {
    {"load_requests", Seen::in_lines, "requests of loads"},
    {"load_sectors", Seen::in_lines, "sectors of loads"},
    {"sectors_per_load", Seen::in_lines, "sectors per request of loads"},
    {"load_sectors_per_ideal", Seen::in_lines,
     "times as many sectors of loads as the same words would fill side by side"},
    {"load_words", Seen::in_lines, "words that threads loaded"},
    {"store_sectors", Seen::in_lines, "sectors of stores"},
    {"sectors_per_store", Seen::in_lines, "sectors per request of stores"},
    {"sectors", Seen::in_lines, "sectors of loads and stores"},
    {"shared_wavefronts", Seen::in_lines, "wavefronts of shared memory"},
    {"shared_conflicts", Seen::in_lines, "bank conflicts"},
    {"shared_wavefronts_per_flop", Seen::in_lines, "wavefronts of shared memory per FLOP"},
    {"copies", Seen::in_lines, "requests of asynchronous copies"},
    {"copied_words", Seen::in_lines, "words that were copied asynchronously"},
    {"copied_words_waited_for", Seen::in_lines,
     "words that threads waited for right after they had begun the copies, with no load from shared memory between"},
    {"atomics", Seen::in_lines, "atomic updates of global memory, one for each thread that makes one"},
    {"shared_atomics", Seen::in_lines, "atomic updates of shared memory, one for each thread that makes one"},
    {"launches", Seen::in_launches, "launches"},
    {"library_calls", Seen::in_host_code, "calls of a library"},
    {"host_launches", Seen::in_host_code,
     "launches that host code asked for: of kernels, captured ones too, and of graphs"},
    {"waits", Seen::in_host_code, "waits of the host"},
    {"allocations", Seen::in_host_code, "allocations of device memory"},
    {"bytes_to_device", Seen::in_host_code, "bytes copied to the device"},
    {"bytes_to_host", Seen::in_host_code, "bytes copied to the host"},
    {"bytes_between", Seen::in_host_code, "bytes copied from one device to another"},
    {"bytes_sent_most", Seen::in_host_code, "bytes copied from one device to others, of the one that sends most"},
    {"bytes_received_most", Seen::in_host_code,
     "bytes copied to one device from others, of the one that receives most"},
    {"timeline", Seen::in_host_code, "times as long as a copy of the whole array to the device takes"},
    {"blocks", Seen::in_launches, "blocks"},
    {"threads", Seen::in_launches, "threads"},
    {"threads_per_block", Seen::in_launches, "threads in the largest block"},
    {"shared_bytes_per_block", Seen::in_launches, "bytes of shared memory of the block that has most"},
    {"resident_warps", Seen::in_launches,
     "warps that an SM holds at a time, by their blocks' threads and shared memory"},
};

const Count& count_of(const std::string& name) {
  const auto* found =
      std::find_if(std::begin(kCounts), std::end(kCounts), [&](const Count& c) { return name == c.name; });
  if (found == std::end(kCounts)) throw std::out_of_range("there is no count " + name);
  return *found;
}

/// A line of a kernel that updates "global" or "shared" memory atomically, whether it uses the old value or not.
bool is_atomic(const Json& line, const char* memory) {
  const std::string access = line.value("access", "");
  return line.value("memory", "") == memory && (access == "atomic" || access == "reduction");
}

/// How many words of 4 bytes the threads moved that a line of a report stands for.
double words_of(const Json& line) { return line.value("threads", 0.0) * line.value("bytes_per_thread", 0.0) / 4; }

/// Of a line that begins asynchronous copies: the words that they read.
double words_copied(const Json& line) { return line.value("bytes_copied", 0.0) / 4; }

/// Of these: the words that threads waited for without having done anything since.
double words_waited_for(const Json& line) { return line.value("bytes_waited_for", 0.0) / 4; }

/// What nvcc makes of a line; nothing where it is the line as written.
const Json* as_compiled(const Json& line) {
  const auto found = line.find("as_compiled");
  return found != line.end() ? &*found : nullptr;
}

/// Instructions, sectors or wavefronts of a line but for those of loads of what had just been loaded: the
/// better of two ways to count, as written and as compiled: that nvcc moves a load out of a loop, or loads the members
/// of a float4 at once, is no merit of the one who wrote it, and to write it out none either.
double counted(const Json& line, const std::string& unit) {
  const double written = line.value(unit, 0.0) - line.value(unit + "_repeated", 0.0);
  const Json* compiled = as_compiled(line);
  return compiled && compiled->contains(unit) ? std::min(written, compiled->at(unit).get<double>()) : written;
}

double conflicts_as_written(const Json& line) {
  return line.value("wavefronts", 0.0) - line.value("wavefronts_ideal", 0.0);
}

/// Bank conflicts of a line, as written or as compiled, whichever are fewer.
double counted_conflicts(const Json& line) {
  const Json* compiled = as_compiled(line);
  return compiled ? std::min(conflicts_as_written(line), conflicts_as_written(*compiled)) : conflicts_as_written(line);
}

/// The share of a line's words that counts: of those that one load gets in place of many, that one. Words of loads that
/// nvcc merges are as many as before.
double share_of_words(const Json& line) {
  const double instructions = line.value("instructions", 1.0);
  const Json* compiled = as_compiled(line);
  const bool merged = compiled && compiled->value("merged", false);
  return (merged ? instructions - line.value("instructions_repeated", 0.0) : counted(line, "instructions")) /
         instructions;
}

/// The shape of a launch, and how many of its warps an SM holds at a time. How many registers nvcc would give a
/// student's kernel is not known here, so they limit nothing.
struct Geometry {
  double blocks = 1;
  int threads = 1;
  std::size_t shared_bytes = 0;
  sim::Occupancy resident;
};

Geometry geometry(const Json& launch) {
  Geometry g;
  for (const Json& n : launch.value("grid", Json::array())) g.blocks *= n.get<double>();
  for (const Json& n : launch.value("block", Json::array())) g.threads *= n.get<int>();
  g.shared_bytes =
      launch.value("static_shared_bytes", std::size_t{0}) + launch.value("dynamic_shared_bytes", std::size_t{0});
  static const sim::Device& h200 = *std::find_if(sim::devices().begin(), sim::devices().end(), [](const auto& d) {
    return d.key == std::string_view("h200");  // what submissions run on, whatever TILEWISE_DEVICE says
  });
  g.resident = sim::occupancy(h200, 0, g.shared_bytes, g.threads);
  return g;
}

/// Counts of several launches, added up.
class Sums {
 public:
  explicit Sums(SharedMemory shared) : shared_(shared) {}

  void add(const Json& launch) {
    ++launches_;
    add_shape(geometry(launch));
    add_counters(launch);
    for (const Json& line : launch.value("lines", Json::array())) add_line(line);
  }

  Totals totals() const {
    const auto ratio = [](double a, double b) { return b > 0 ? a / b : 0; };
    Totals t = t_;
    t.counts = {{"load_requests", load_requests_},
                {"load_sectors", load_sectors_},
                {"sectors_per_load", ratio(load_sectors_, load_requests_)},
                {"load_sectors_per_ideal", ratio(load_sectors_, load_sectors_ideal_)},
                {"load_words", load_words_},
                {"store_sectors", store_sectors_ + t.atomic_sectors},
                {"sectors_per_store", ratio(store_sectors_, store_requests_)},
                {"sectors", load_sectors_ + store_sectors_ + t.atomic_sectors},
                {"shared_wavefronts", wavefronts_},
                {"shared_conflicts", conflicts_},
                {"copies", copies_},
                {"copied_words", copied_words_},
                {"copied_words_waited_for", waited_for_},
                {"atomics", atomics_},
                {"shared_atomics", shared_atomics_},
                {"launches", launches_},
                {"blocks", blocks_},
                {"threads", threads_},
                {"threads_per_block", threads_per_block_},
                {"shared_bytes_per_block", shared_bytes_},
                {"resident_warps", resident_.value_or(0)}};
    return t;
  }

 private:
  void add_shape(const Geometry& g) {
    blocks_ += g.blocks;
    threads_ += g.blocks * g.threads;
    threads_per_block_ = std::max(threads_per_block_, double(g.threads));
    shared_bytes_ = std::max(shared_bytes_, double(g.shared_bytes));
    resident_ = std::min(resident_.value_or(g.resident.warps), double(g.resident.warps));
  }

  /// What is known of the launch as a whole. Lines take away what nvcc saves.
  void add_counters(const Json& launch) {
    const auto counter = [&](const char* name) { return launch["counters"].value(name, 0.0); };
    t_.load_sectors += counter("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum");
    store_requests_ += counter("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum");
    t_.store_sectors += counter("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum");
    store_sectors_ += counter("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum");
    t_.atomic_sectors += counter("l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum") +
                         counter("l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum");
    wavefronts_ += counter("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") +
                   counter("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum");
    const Json derived = launch.value("derived", Json::object());
    conflicts_ += derived.value("shared_load_bank_conflicts", 0.0) + derived.value("shared_store_bank_conflicts", 0.0);
    t_.flops += derived.value("flop_single", 0.0) + derived.value("flop_double", 0.0);
  }

  void add_line(const Json& line) {
    const std::string memory = line.value("memory", ""), access = line.value("access", "");
    if (is_atomic(line, "global")) atomics_ += line.value("threads", 0.0);
    if (is_atomic(line, "shared")) shared_atomics_ += line.value("threads", 0.0);
    if (memory == "global" && access == "load") {
      const double share = share_of_words(line);
      load_words_ += share * words_of(line);
      load_requests_ += counted(line, "instructions");
      load_sectors_ += counted(line, "sectors");
      load_sectors_ideal_ += share * line.value("sectors_ideal", 0.0);
    }
    if (memory == "global" && access == "store") {
      store_requests_ -= line.value("instructions", 0.0) - counted(line, "instructions");
      store_sectors_ -= line.value("sectors", 0.0) - counted(line, "sectors");
    }
    if (access == "copy") {
      copies_ += line.value("instructions", 0.0);
      copied_words_ += words_copied(line);
      waited_for_ += words_waited_for(line);
    }
    if (shared_ == SharedMemory::merged && memory == "shared" && access != "copy") {
      wavefronts_ -= line.value("wavefronts", 0.0) - counted(line, "wavefronts");
      conflicts_ -= conflicts_as_written(line) - counted_conflicts(line);
    }
  }

  SharedMemory shared_;
  Totals t_;
  double launches_ = 0, blocks_ = 0, threads_ = 0, threads_per_block_ = 0, shared_bytes_ = 0;
  std::optional<double> resident_;
  double load_requests_ = 0, load_words_ = 0, load_sectors_ = 0, load_sectors_ideal_ = 0, store_requests_ = 0,
         store_sectors_ = 0, wavefronts_ = 0, conflicts_ = 0, copies_ = 0, copied_words_ = 0, waited_for_ = 0,
         atomics_ = 0, shared_atomics_ = 0;
};

/// What a count is made of, by its name: which lines of a kernel, and what of them.
struct Kind {
  explicit Kind(const std::string& count)
      : shared(count.starts_with("shared")),
        atomics(count == "atomics" || count == "shared_atomics"),
        requests(count == "load_requests"),
        words(count == "load_words" || count == "copied_words"),
        waited(count == "copied_words_waited_for"),
        copies(count == "copies" || count.starts_with("copied_words")),
        loads(count.find("load") != std::string::npos),
        stores(count.find("store") != std::string::npos) {}

  bool has(const Json& line) const {
    const std::string access = line.value("access", "");
    if (atomics) return is_atomic(line, shared ? "shared" : "global");
    return line.value("memory", "") == (shared ? "shared" : "global") && (!copies || access == "copy") &&
           (!loads || access == "load") && (!stores || access == "store" || is_atomic(line, "global"));
  }

  const char* unit() const {
    return atomics ? "threads" : requests || copies ? "instructions" : shared ? "wavefronts" : "sectors";
  }

  double amount_of(const Json& line) const {
    if (waited) return words_waited_for(line);
    if (words) return copies ? words_copied(line) : share_of_words(line) * words_of(line);
    return counted(line, unit());
  }

  bool shared, atomics, requests, words, waited, copies, loads, stores;
};

/// Places in the code, in order of their first appearance: a line may be part of several launches.
struct Spot {
  std::string file;
  int line;
  double what = 0, excess = 0;  // requests, sectors, wavefronts or threads; of these, how many more than it takes
  std::string diagnosis;
};

std::vector<Spot> spots_in(const Json& report, const Kind& kind) {
  std::vector<Spot> spots;
  for (const Json& launch : report) {
    for (const Json& line : launch.value("lines", Json::array())) {
      if (!kind.has(line)) continue;
      const std::string at = line.value("file", "");
      const int number = line.value("line", 0);
      auto spot =
          std::find_if(spots.begin(), spots.end(), [&](const Spot& p) { return p.file == at && p.line == number; });
      if (spot == spots.end()) spot = spots.insert(spot, {at, number, 0, 0, ""});
      spot->what += kind.amount_of(line);
      if (kind.atomics || kind.requests || kind.words || kind.copies) continue;
      const std::string unit = kind.unit();
      const double excess = share_of_words(line) * (line.value(unit, 0.0) - line.value(unit + "_ideal", 0.0));
      if (spot->diagnosis.empty() || excess > spot->excess) spot->diagnosis = line.value("diagnosis", spot->diagnosis);
      spot->excess += std::max(0.0, excess);
    }
  }
  return spots;
}

std::vector<std::string> shapes_of_launches(const Json& report, bool with_residency) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> out;
  for (const Json& launch : report) {
    if (out.size() >= kMost) return out;
    const Geometry g = geometry(launch);
    out.push_back(fmt::format(
        "{}: {:.0f} {} of {} {} with {} bytes of shared memory{}", launch.value("kernel", ""), g.blocks,
        g.blocks == 1 ? "block" : "blocks", g.threads, g.threads == 1 ? "thread" : "threads", g.shared_bytes,
        !with_residency          ? ""
        : g.resident.blocks == 0 ? ": no such block fits an SM"
                                 : fmt::format("; an SM holds {} of these blocks at a time, {} of {} warps",
                                               g.resident.blocks, g.resident.warps, g.resident.max_warps)));
  }
  return out;
}

}  // namespace

void count_repeats(Json& report) {
  for (Json& launch : report) {
    if (!launch.contains("lines")) continue;
    for (Json& line : launch["lines"])
      for (const char* unit : {"instructions", "sectors", "wavefronts"}) line.erase(unit + std::string("_repeated"));
  }
}

Totals totals(const Json& report, SharedMemory shared) {
  Sums sums(shared);
  for (const Json& launch : report)
    if (launch.contains("counters") && !launch["counters"].empty()) sums.add(launch);
  return sums.totals();
}

const std::vector<std::string>& count_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Count& c : kCounts) list.push_back(c.name);
    return list;
  }();
  return names;
}

std::string readable_count(const std::string& name) { return count_of(name).readable; }

std::string count_text(double v) { return v == std::floor(v) ? fmt::format("{:.0f}", v) : fmt::format("{:.4g}", v); }

std::string target_text(const Limit& l) {
  if (!l.at_least) return count_text(*l.at_most);
  if (!l.at_most) return count_text(*l.at_least) + " or more";
  return *l.at_least == *l.at_most ? count_text(*l.at_least)
                                   : count_text(*l.at_least) + " to " + count_text(*l.at_most);
}

std::string source_line(const std::string& file, int line) {
  std::ifstream stream(file);
  std::string text;
  for (int i = 0; i < line && std::getline(stream, text); ++i) {
  }
  if (!text.empty() && text.back() == '\r') text.pop_back();  // lines that end as on Windows
  const auto first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first);
}

std::string without_folders(std::string message, const std::string& file) {
  const std::string name = "/" + fs::path(file).filename().string() + ":";
  for (std::size_t at; (at = message.find(name)) != std::string::npos;) {
    const std::size_t blank = message.rfind(' ', at);
    const std::size_t begin = blank == std::string::npos ? 0 : blank + 1;
    message.erase(begin, at + 1 - begin);
  }
  return message;
}

std::string why_refused(const Json& report, int error) {
  if (!report.is_array()) return "";
  if (report.empty())
    return error == cudaErrorInvalidValue
               ? "nothing was launched before: does it ask cudaFuncSetAttribute for more than "
                 "232,448 bytes of shared memory, the most that a block can have?"
               : "";
  const Json& launch = report.back();
  const Geometry g = geometry(launch);
  const Json grid = launch.value("grid", Json::array({1, 1, 1}));
  if (g.blocks == 0)
    return "it launched a grid of 0 blocks, which is an error: n / 32 is 0 where n is below 32, and (n + 31) / 32 is "
           "not; where "
           "there is nothing to do, nothing is launched";
  if (g.threads == 0) return "it launched blocks of 0 threads";
  if (g.threads > 1024) return fmt::format("it launched blocks of {} threads; 1024 are the most", g.threads);
  if (grid[1].get<double>() > 65535 || grid[2].get<double>() > 65535)
    return "a grid has at most 65,535 blocks in y and in z: there it was larger";
  if (const auto own = launch.value("static_shared_bytes", std::size_t{0}); own > 48 * 1024)
    return fmt::format(
        "its blocks want {} bytes of shared memory in arrays of fixed size; 49152 are the most there, and nvcc refuses "
        "more: what is larger has its size from the launch (extern __shared__)",
        own);
  if (error == cudaErrorInvalidValue && g.shared_bytes > 48 * 1024)
    return fmt::format(
        "its blocks wanted {} bytes of shared memory; 49152 are the most, unless cudaFuncSetAttribute "
        "allows the kernel more",
        g.shared_bytes);
  return "";
}

std::vector<std::string> diagnoses(const Json& report, const std::string& count, double too_many,
                                   const std::string& file) {
  constexpr std::size_t kTold = 3;
  const Seen seen = count_of(count).seen;
  if (seen == Seen::in_host_code) return {};  // it has no line in a kernel
  if (seen == Seen::in_launches) return shapes_of_launches(report, count == "resident_warps");

  const Kind kind(count);
  std::vector<Spot> spots = spots_in(report, kind);
  std::vector<std::string> out;
  const auto tell = [&](const Spot& p, const std::string& what) {
    out.push_back(fmt::format("{}:{}: {}", fs::path(p.file).filename().string(), p.line, what));
    out.push_back("    " + source_line(file, p.line));
  };
  if (kind.atomics) {
    for (const Spot& p : spots) tell(p, fmt::format("{:.0f} of them", p.what));
    return out;
  }
  double excess = 0;
  std::stable_sort(spots.begin(), spots.end(), [](const Spot& a, const Spot& b) { return a.excess > b.excess; });
  for (const Spot& p : spots) {
    excess += p.excess;
    if (!p.diagnosis.empty() && out.size() < 2 * kTold) tell(p, p.diagnosis);
  }
  // Where there is nothing wrong with the addresses, or not enough, there are too many accesses.
  if (too_many <= 0 || excess >= too_many || count == "shared_conflicts") return out;
  std::stable_sort(spots.begin(), spots.end(), [](const Spot& a, const Spot& b) { return a.what > b.what; });
  out.clear();
  for (const Spot& p : spots) {
    if (out.size() >= 2 * kTold || p.what * 20 < spots[0].what) break;
    tell(p, fmt::format("{:.0f} of them{}", p.what, p.diagnosis.empty() ? "" : "; " + p.diagnosis));
  }
  return out;
}

}  // namespace tilewise::grader
