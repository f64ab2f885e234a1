#include "model/checker/between_launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/devices.hpp"
#include "base/findings.hpp"
#include "base/symbols.hpp"
#include "model/checker.hpp"
#include "model/checker/words.hpp"

namespace tilewise::sim::checker {

namespace {

// The access meets one of a launch that need not come before this one.
void report_streams(const Now& now, std::uint32_t interval, Access kind, std::uint16_t site, const char* does) {
  const order::Launched* launch = order::unordered_launch(interval);
  if (launch == nullptr || launch->serial == running_launch().serial) return;  // this one, before its grid met
  const void* const other_site = now.s.sites[site];
  if (report_again("race-streams", now.site, other_site)) return;
  const std::string here = describe_site(now.site), there = describe_site(other_site);
  Finding f = finding_of(
      "race-streams",
      fmt::format("this thread {} {}, which another launch {} {}: nothing says which comes first{}", verb(now.kind),
                  place(now.s, now.space, now.address, now.bytes).name, does ? does : verb(kind),
                  here == there ? "in the same line" : "at " + there, order::advice(launch->work)),
      now.lane, now.site);
  f.other_site = other_site;
  report_finding(std::move(f));
}

// Calls f(cell, address) for each cell of the bytes that has been needed, until it returns false.
template <class Function>
void each_used_cell(State& s, std::uintptr_t address, std::size_t bytes, Function f) {
  for (std::uintptr_t at = address, end = address + bytes; at < end;) {
    std::uintptr_t chunk_end = 0, ignored = 0;
    Cell c = s.shadow.words.existing(at, chunk_end);
    chunk_end = std::min(chunk_end, end);
    if (!c) {
      at = chunk_end;
      continue;
    }
    for (; at < chunk_end; c = c + 1) {
      const std::uintptr_t next = std::min(chunk_end, (at | 3) + 1);
      if (!c.write->split) {
        if (!f(c, at)) return;
        at = next;
        continue;
      }
      for (; at < next; ++at)
        if (const Cell byte = s.shadow.bytes.existing(at, ignored); byte && !f(byte, at)) return;
    }
  }
}

}  // namespace

[[gnu::noinline]] void check_other_launches(const Now& now, const Cell& c) {
  const State& s = now.s;
  const LastWrite& write = *c.write;
  const LastRead& read = *c.read;
  const auto earlier = [&](std::uint32_t interval) {
    return interval >= s.unordered_first && interval < s.launch_first;
  };
  const bool writes = !only_reads(now.kind);
  const bool is_atomic = now.kind == Access::atomic || now.kind == Access::reduction;
  const auto both_speak = [&](bool atomic, bool is_volatile) {
    return (atomic || is_volatile) && (is_atomic || now.is_volatile);
  };
  if (earlier(write.interval) && !both_speak(write.is_atomic, write.is_volatile))
    report_streams(now, write.interval, write.is_atomic ? Access::atomic : Access::store, write.site, nullptr);
  if (!writes) return;
  if (earlier(read.interval) && !both_speak(false, read.is_volatile))
    report_streams(now, read.interval, read.is_atomic ? Access::atomic : Access::load, read.site, nullptr);
  if (earlier(*c.older_read) && !both_speak(false, read.older_is_volatile))
    report_streams(now, *c.older_read, read.older_is_atomic ? Access::atomic : Access::load, read.older_site, nullptr);
}

[[gnu::noinline]] void check_other_work(const Now& now, memory::Range& inside) {
  const order::Bytes mine{now.address + now.to_copy, now.bytes};
  std::uintptr_t begin = inside.begin, end = inside.begin + inside.bytes;
  for (const order::Used* used : now.s.uses) {
    if (used->bytes.end() <= mine.begin) {
      begin = std::max(begin, used->bytes.end());
      continue;
    }
    if (used->bytes.begin >= mine.end()) {
      end = std::min(end, used->bytes.begin);
      continue;
    }
    begin = now.address, end = begin;  // look at each access
    const bool conflicts = used->use != order::Use::reads || !only_reads(now.kind);
    if (!conflicts || order::shared(mine, used->bytes).bytes == 0) continue;
    if (report_again("race-streams", now.site, used->site)) continue;
    static constexpr const char* does[] = {"reads", "writes", "allocates", "frees"};
    Finding f = finding_of("race-streams",
                           fmt::format("this thread {} {}, which {}{} {}: nothing says which comes first{}",
                                       verb(now.kind), place(now.s, now.space, now.address, now.bytes).name, used->name,
                                       used->site == nullptr ? "" : " at " + describe_site(used->site),
                                       does[static_cast<int>(used->use)], order::advice(used->work)),
                           now.lane, now.site);
    f.other_site = used->site;
    report_finding(std::move(f));
  }
  inside = {begin, end - begin};
}

void look_over(const char* name, void* site, const order::Bytes& bytes, const char* does, bool writes) {
  State& s = state();
  const auto find = [&](std::uint32_t interval, std::uint16_t other, const char* verb, std::uintptr_t at) {
    const order::Launched* launch = interval == 0 ? nullptr : order::unordered_launch(interval);
    if (launch == nullptr) return true;
    if (report_again("race-streams", site, s.sites[other])) return false;
    Finding f;
    f.code = "race-streams";
    f.site = site != nullptr ? site : s.sites[other];
    f.other_site = s.sites[other];
    f.message = fmt::format("{} {} {}, which a launch {} at {}: nothing says which comes first{}", name, does,
                            global_place(at, 4).name, verb, describe_site(s.sites[other]), order::advice(launch->work));
    report_finding(std::move(f));
    return false;
  };
  // Nearly always there is no such launch.
  if (order::unordered_launches() == 0) return;
  for (std::size_t run = 0; run < bytes.runs; ++run)
    each_used_cell(s, bytes.begin + run * bytes.stride, bytes.run, [&](const Cell& c, std::uintptr_t at) {
      return find(c.write->interval, c.write->site, c.write->is_atomic ? "updates" : "writes", at) &&
             (!writes || (find(c.read->interval, c.read->site, "reads", at) &&
                          find(*c.older_read, c.read->older_site, "reads", at)));
    });
}

void look_at_host(std::uintptr_t address, std::size_t bytes, bool writes, void* site) {
  State& s = state();
  const auto find = [&](std::uint32_t interval, std::uint16_t other, bool is_volatile, const char* may,
                        std::uintptr_t at) {
    const order::Launched* launch = interval == 0 || is_volatile ? nullptr : order::unfinished_launch(interval);
    if (launch == nullptr || order::may_have_been_told(launch->work)) return true;
    if (report_again("host-too-early", site, s.sites[other])) return false;
    Finding f;
    f.code = "host-too-early";
    f.site = site;
    f.other_site = s.sites[other];
    const int device = order::device_of(launch->work.stream);
    const bool elsewhere = device != current_device();
    f.message = fmt::format(
        "host code {} {}, which a kernel{}, at {}, {}: a launch returns at once; {}cudaDeviceSynchronize() first",
        writes ? "writes" : "reads", global_place(at, 4).name, elsewhere ? fmt::format(" on device {}", device) : "",
        describe_site(s.sites[other]), may, elsewhere ? fmt::format("cudaSetDevice({}) and ", device) : "");
    report_finding(std::move(f));
    return false;
  };
  each_used_cell(s, address, bytes, [&](const Cell& c, std::uintptr_t at) {
    return find(c.write->interval, c.write->site, c.write->is_volatile || c.write->is_atomic,
                writes ? "may write later" : "may not have written yet", at) &&
           (!writes || (find(c.read->interval, c.read->site, c.read->is_volatile, "may still read", at) &&
                        find(*c.older_read, c.read->older_site, c.read->older_is_volatile, "may still read", at)));
  });
}

}  // namespace tilewise::sim::checker
