// Vectors for what no launch shows: the cards themselves, occupancy with any number of registers, the least time.
#include "base/devices.hpp"
#include "base/occupancy.hpp"
#include "model/bound.hpp"
#include "model/rates.hpp"
#include "vectors.hpp"

namespace {

using namespace tilewise::sim;

const char* name(Limit limit) {  // as in reports
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
      break;
  }
  return "nothing fits";
}

void cards() {
  Rows rows("devices");
  for (const Device& d : devices()) {
    const model::Rates r = rates_of(d);
    rows.add(
        "{\"key\":\"%s\",\"name\":\"%s\",\"cc\":\"%d.%d\",\"sms\":%u,\"clock\":%.17g,\"threads\":%d,\"blocks\":%d,"
        "\"shared\":%zu,"
        "\"optIn\":%zu,\"reserved\":%zu,\"granule\":%zu,\"fp32\":%u,\"dram\":%.17g,\"l2\":%.17g,\"registers\":%d,"
        "\"blockThreads\":%d,\"fp32PerLane\":%u,\"issue\":%u,\"memoryIssue\":%u,\"passes\":%u}",
        d.key, short_name(d).c_str(), d.major, d.minor, r.sms, r.clock, d.max_threads_per_multiprocessor,
        d.max_blocks_per_multiprocessor, d.shared_per_multiprocessor, d.shared_per_block_optin, d.reserved_shared,
        d.shared_granularity, r.fp32, r.dram, r.l2_capacity, d.registers, d.max_threads_per_block, r.fp32_per_lane,
        r.issue, r.memory_issue, r.l1_passes);
  }
}

void occupancies(int sets) {
  Random random;
  Rows rows("occupancy");
  for (const Device& d : devices()) {
    for (int i = 0; i < sets; ++i) {
      const int threads = random.below(2) == 0 ? 32 * (1 + random.below(32)) : 1 + random.below(1100);
      const int registers = random.below(256);
      const int shared = random.below(3) == 0 ? 0 : random.below(235000) / (1 + random.below(32));
      const Occupancy o = occupancy(d, registers, static_cast<std::size_t>(shared), threads);
      rows.add(
          "{\"device\":\"%s\",\"threads\":%d,\"registers\":%d,\"shared\":%d,\"blocks\":%d,\"warps\":%d,\"maxWarps\":%d,"
          "\"limit\":\"%s\","
          "\"byBlocks\":%d,\"byThreads\":%d,\"byRegisters\":%d,\"byShared\":%d}",
          d.key, threads, registers, shared, o.blocks, o.warps, o.max_warps, name(o.limit), o.by_blocks, o.by_warps,
          o.by_registers, o.by_shared);
    }
  }
}

void bounds(int sets) {
  Random random;
  Rows rows("bounds");
  for (const Device& d : devices()) {
    const model::Rates rates = rates_of(d);
    for (int i = 0; i < sets / 4; ++i) {
      const auto amount = [&] {
        return std::uint64_t{1} << random.below(40) | static_cast<unsigned>(random.below(1000));
      };
      const std::uint64_t flop = 2 * amount(), bytes = amount(), requests = amount(), passes = amount();
      model::Work work;
      work.blocks = 1u << 20;  // more than any card has SMs
      work.counters.flop_single = flop;
      work.counters.distinct_bytes_loaded = bytes + d.l2;  // L2 may have held as much as it has room for
      work.counters.shared_load_instructions = requests;
      work.counters.shared_load_wavefronts = passes;
      const Bound b = model::bound(rates, work);
      rows.add(
          "{\"device\":\"%s\",\"flop\":%llu,\"bytes\":%llu,\"requests\":%llu,\"passes\":%llu,\"FP32\":%.17g,\"DRAM\":%."
          "17g,"
          "\"issue\":%.17g,\"load/store\":%.17g,\"L1 data\":%.17g}",
          d.key, static_cast<unsigned long long>(flop), static_cast<unsigned long long>(bytes),
          static_cast<unsigned long long>(requests), static_cast<unsigned long long>(passes), b.of(Resource::fp32),
          b.of(Resource::dram), b.of(Resource::issue), b.of(Resource::memory_issue), b.of(Resource::l1_data));
    }
  }
}

}  // namespace

void model_vectors(int sets) {
  cards();
  std::printf(",");
  occupancies(sets);
  std::printf(",");
  bounds(sets);
}
