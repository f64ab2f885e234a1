// The counts after two rewrites that nvcc makes, whatever the source says: loads that do not change in a loop are moved out
// of it, and neighbouring accesses of one thread are merged into wider ones. docs/architecture.md has the rules.
//
// What a compiler can prove, the simulator sees happen: an access is taken to be the same in every iteration of a loop when
// it was, in every execution of the loop by every warp of the launch. What it cannot see, simcc tells: how loops end, and how
// many bits of an address follow from the code (LoopFacts, WarpInstruction::known_bits).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/warp_log.hpp"
#include "tilewise_sim/report.hpp"

namespace tilewise::sim::model {

/// What one warp instruction costs.
struct InstructionCost {
  observer::Access kind{};
  MemorySpace space{};
  bool partial = false;                      ///< some live lane takes no part
  unsigned passes = 0;                       ///< sectors of global memory, wavefronts of shared memory
  unsigned ideal = 0;                        ///< if the same words lay side by side, or in different banks
  unsigned bytes = 0;                        ///< that the threads ask for
  unsigned tag_passes = 0, data_passes = 0;  ///< of L1, for global memory
  unsigned copy_wavefronts = 0;              ///< of an asynchronous copy

  void add_to(Counters& counters) const;
};
/// Distinct sectors of global memory.
struct Touched {
  unsigned count = 0;
  std::uint64_t sectors[2 * kLanes];
};
InstructionCost cost_of(const LaneAddresses& lanes, observer::Access kind, MemorySpace space, Touched& touched);
/// The same of an asynchronous copy; `lanes` says where it comes from.
InstructionCost cost_of_copy(const LaneAddresses& lanes, const CopyTarget& target, Touched& touched);

/// What the rewrites do to the accesses at one place in the code.
struct Rewritten {
  Counters removed, added;
  bool moved = false;       ///< out of a loop
  bool merged = false;      ///< with neighbours
  bool predicated = false;  ///< issued where no thread takes the branch, too
  bool doubled = false;     ///< a copy becomes two: one that reads, one that fills with zeros
};

class AsCompiled {
 public:
  void begin_launch();

  /// The next instruction of a warp's stretch between two barriers. `site` numbers the places in the code; `addresses` is their
  /// fingerprint(). `object` is what the address lies in, as far as the compiler can tell it from others: two accesses with different numbers cannot meet.
  void add(const WarpLog& log, std::uint32_t index, const std::uint64_t* address, std::uint64_t addresses,
           const InstructionCost& cost, std::uint32_t site, std::uint32_t object);
  /// The same for a branch, which is no instruction that is counted.
  void add_branch(const WarpLog& log, std::uint32_t index, const std::uint64_t* taken);
  void end_interval(const WarpLog& log);

  /// The warp does something in these loops that memory must not be moved across.
  void fence(const Loop* innermost);

  /// For each site, by its number.
  std::vector<Rewritten> end_launch();

 private:
  struct Level {  // one of the loops that a site is in
    const void* place = nullptr;
    bool unrolled = false;
    bool same = true;         // so far, the same addresses in every iteration
    bool valid = false;       // and nothing stands against moving it out
    std::uint64_t first = 0;  // what the first iterations accessed, summed up
  };
  struct Site {
    bool known = false, fixed = false;  // fixed: stays where it is
    observer::Access kind{};
    MemorySpace space{};
    std::uint32_t object = 0;
    std::uint64_t instructions = 0;
    std::vector<Level> levels;
    std::vector<std::pair<std::uint32_t, Counters>> repeated;  // by the loops in which it is a further iteration
    Rewritten result;
  };
  struct Branch {                          // a place in the code
    std::uint64_t taken = 0, skipped = 0;  // warps, with some thread and with none
    std::unordered_map<std::uint32_t, std::uint64_t>
        sites;  // how often each was accessed by just the threads that took it
  };
  struct Reached {  // one warp's visit
    std::uint64_t context;
    const void* branch;
    std::uint32_t mask;  // that takes it
  };
  struct Last {
    std::uint32_t index;
    std::uint32_t iteration;
  };
  struct Candidate {  // for merging
    std::uint64_t region;
    std::uint64_t address;  // of the first lane
    std::uint64_t shape;    // of the other lanes' addresses, seen from there: a hash
    std::uint32_t index, site;
    std::uint32_t iteration;  // of a loop whose iterations go in chunks, else 0
    std::uint32_t cost;       // where it is in costs_
  };

  std::uint32_t further_iterations(const WarpLog& log, std::uint32_t index, const std::uint64_t* address,
                                   std::uint64_t addresses, Site& site);
  bool just_stored(const WarpLog& log, std::uint32_t index, const std::uint64_t* address, const Site& site) const;
  static bool repeats(const WarpLog& log, std::uint32_t index, const std::uint64_t* address, std::uint32_t earlier);
  void merge(const WarpLog& log, std::vector<Candidate>::iterator begin, std::vector<Candidate>::iterator end);
  bool in_the_way(const WarpLog& log, std::vector<Candidate>::const_iterator first,
                  std::vector<Candidate>::const_iterator last) const;
  bool can_leave(const Site& site, std::size_t level) const;

  std::vector<Site> sites_;
  std::unordered_map<const void*, Branch> branches_;
  std::vector<Reached> reached_;  // in the interval
  std::unordered_map<std::uint64_t, Last> last_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> first_conditions_;  // loads, by the loop
  std::unordered_map<const void*, bool> fenced_;
  std::vector<std::uint32_t> site_of_;  // of the interval's instructions
  std::vector<Candidate> candidates_;
  std::vector<InstructionCost> costs_;  // of the candidates
};

}  // namespace tilewise::sim::model
