// What is remembered about every word of memory, to find races and unwritten reads.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "base/thread.hpp"
#include "model/race_search.hpp"

namespace tilewise::sim::checker {

// Intervals are numbered over the whole process: each block, and each stretch between two barriers of a block, gets the next
// number, so a number tells launch, block and stretch. 0 means never. Threads are those of a block. Times are those of the
// thread's lane, see WarpClock; sites are numbers of State::sites.

/// Who wrote a word last.
struct LastWrite {
  std::uint32_t interval;
  std::uint16_t time;
  std::uint16_t site;
  std::uint16_t thread;
  bool is_atomic : 1;
  bool is_volatile : 1;
  bool split : 1;        ///< the word is accessed in parts: each byte has a cell of its own
  bool copied_to : 1;    ///< an asynchronous copy that is in flight writes it,
  bool copied_from : 1;  ///< or one may be in flight that reads it

  bool is_of_plain_word() const { return !split && !copied_to && !copied_from; }
};
static_assert(sizeof(LastWrite) == 12);

/// And who read it, in the interval of the last read; atomics among them, which get along with each other, and with nobody who writes
/// plainly. Where and how an earlier block has read it fits in here; when, is Cell::older_read.
struct LastRead {
  std::uint32_t interval;
  std::uint32_t lanes;  ///< of the reader's warp
  std::uint16_t time;
  std::uint16_t site;
  std::uint16_t older_site;
  std::uint16_t thread : 10;
  bool many_warps : 1;   ///< readers of more than one warp
  bool is_volatile : 1;  ///< all of them, or atomic
  bool older_is_volatile : 1;
  bool is_atomic : 1;  ///< what happened at `site`
  bool older_is_atomic : 1;
};
static_assert(sizeof(LastRead) == 16 && kMaxThreadsPerBlock == 1 << 10);

/// What is remembered about one word or byte. The three parts lie apart, since most words need one or two of them, and memory that
/// is only looked at takes none.
struct Cell {
  LastWrite* write;
  LastRead* read;
  std::uint32_t* older_read;  ///< the interval of a reader in an earlier block of the launch

  explicit operator bool() const { return write != nullptr; }
  void take(const Cell& other) const { *write = *other.write, *read = *other.read, *older_read = *other.older_read; }
  Cell operator+(std::size_t cells) const { return {write + cells, read + cells, older_read + cells}; }
};

/// Zeros that no one has touched.
inline void* untouched_memory(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

/// Cells for a range of addresses, one per 2^Shift bytes, made in chunks when first needed.
template <unsigned Shift>
class Cells {
 public:
  [[gnu::always_inline]] Cell at(std::uintptr_t address) {
    Chunk* chunk = chunk_of(address);
    if (chunk == nullptr) [[unlikely]]
      chunk = make(address);
    return chunk->cell(index(address));
  }

  /// The same, or none where none has been needed. The cells of an aligned access follow one another.
  [[gnu::always_inline]] Cell at_once(std::uintptr_t address) {
    Chunk* const chunk = chunk_of(address);
    return chunk == nullptr ? Cell{} : chunk->cell(index(address));
  }

  /// The same; and from there on no cell up to `end`.
  Cell existing(std::uintptr_t address, std::uintptr_t& end) {
    end = ((address >> kChunkShift) + 1) << kChunkShift;
    return at_once(address);
  }

  /// Cells of all chunks that lie in [begin, end) are unused again, and cost nothing.
  void give_back(std::uintptr_t begin, std::uintptr_t end) {
    constexpr std::uintptr_t kStep = std::uintptr_t{1} << kChunkShift;
    for (std::uintptr_t at = (begin + kStep - 1) & ~(kStep - 1); at < end && kStep <= end - at; at += kStep) {
      Chunk** const chunks = tables_[at >> kTableShift];
      if (chunks == nullptr) continue;
      Chunk*& chunk = chunks[at >> kChunkShift & kChunkMask];
      if (chunk != nullptr) munmap(chunk, sizeof(Chunk));
      chunk = nullptr;
    }
  }

 private:
  static constexpr unsigned kAddressBits = 48;
  static constexpr unsigned kChunkShift = 14 + Shift;
  static constexpr unsigned kTableShift = 34;
  static constexpr std::uintptr_t kChunkMask = (std::uintptr_t{1} << (kTableShift - kChunkShift)) - 1;
  static constexpr std::size_t kCells = std::size_t{1} << (kChunkShift - Shift);

  struct Chunk {
    LastWrite writes[kCells];
    LastRead reads[kCells];
    std::uint32_t older_reads[kCells];

    Cell cell(std::size_t i) { return {writes + i, reads + i, older_reads + i}; }
  };

  [[gnu::always_inline]] Chunk* chunk_of(std::uintptr_t address) const {
    Chunk* const* const chunks = tables_[address >> kTableShift];
    return chunks == nullptr ? nullptr : chunks[address >> kChunkShift & kChunkMask];
  }

  static std::size_t index(std::uintptr_t address) {
    return (address & ((std::uintptr_t{1} << kChunkShift) - 1)) >> Shift;
  }

  [[gnu::noinline]] Chunk* make(std::uintptr_t address) {
    Chunk**& chunks = tables_[address >> kTableShift];
    if (!chunks) chunks = static_cast<Chunk**>(untouched_memory(sizeof(Chunk*) * (kChunkMask + 1)));
    const auto chunk = static_cast<Chunk*>(untouched_memory(sizeof(Chunk)));  // zero, as every cell starts
    race_search::pay_for_cells();
    return chunks[address >> kChunkShift & kChunkMask] = chunk;
  }

  Chunk** tables_[std::size_t{1} << (kAddressBits - kTableShift)] = {};
};

/// One cell per word; a word that was accessed in parts has one per byte instead.
struct Shadow {
  Cells<2> words;
  Cells<0> bytes;
};

/// What the lanes of a warp knew of each other in earlier periods. Cells have 16 bits for a time, so a warp that meets more often
/// than that begins to count anew: an interval and a time name the period, too.
struct EarlierPeriods {
  std::vector<std::uint32_t> ends;  ///< of each: the interval in which the next one began
  std::uint32_t seen[32][32] = {};  ///< as in WarpClock: dates in place of times

  bool all_met = false;  ///< in the running period: each lane knows all that the others did before it

  static std::uint32_t date(std::size_t period, std::uint16_t time) {
    return static_cast<std::uint32_t>(period << 16 | time);
  }
  std::uint32_t date_of(std::uint32_t interval, std::uint16_t time) const {
    return date(static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), interval) - ends.begin()), time);
  }

  void meet(std::uint32_t lanes) {
    all_met = all_met || lanes == ~0u;
    if (all_met) return;
    std::uint32_t known[32] = {};
    for (unsigned i = 0; i < 32; ++i)
      for (unsigned j = 0; (lanes >> i & 1u) && j < 32; ++j) known[j] = std::max(known[j], seen[i][j]);
    for (unsigned i = 0; i < 32; ++i)
      if (lanes >> i & 1u) std::memcpy(seen[i], known, sizeof known);
  }
};

/// Order among the lanes of one warp. A lane's time grows at each __syncwarp or shuffle it takes part in; `seen` is what
/// it knows of the others: an access that lane j made at time t is ordered before lane i's now when seen[i][j] >= t.
struct WarpClock {
  static constexpr std::uint16_t kFull = 0xFFFF;  ///< no access has this time: begin_anew() comes before it

  std::uint16_t time[32];
  std::uint16_t seen[32][32];
  std::uint32_t began = 0;  ///< the interval in which the times began; 0: with the block
  std::unique_ptr<EarlierPeriods> earlier;

  void reset() {
    restart();
    began = 0;
    earlier.reset();
  }

  /// Lane i's access now comes after one that lane j of the warp made in the block, in this interval and at this time.
  bool knows(unsigned i, unsigned j, std::uint32_t interval, std::uint16_t at) const {
    if (interval >= began) [[likely]]
      return seen[i][j] >= at;
    return seen[i][j] != 0 || earlier->seen[i][j] >= earlier->date_of(interval, at);
  }

  /// Returns whether the times are full.
  bool meet(std::uint32_t lanes) {
    std::uint16_t known[32] = {};
    std::uint16_t now = 0;  // of the lane that has met most often; the others may count up to it
    for (unsigned i = 0; i < 32; ++i) {
      if (!(lanes >> i & 1u)) continue;
      now = now > time[i] ? now : time[i];
      for (unsigned j = 0; j < 32; ++j) known[j] = known[j] > seen[i][j] ? known[j] : seen[i][j];
    }
    for (unsigned i = 0; i < 32; ++i)
      if (lanes >> i & 1u) known[i] = now;
    ++now;
    for (unsigned i = 0; i < 32; ++i) {
      if (!(lanes >> i & 1u)) continue;
      std::memcpy(seen[i], known, sizeof known);
      time[i] = now;
    }
    if (earlier) [[unlikely]]
      earlier->meet(lanes);
    return now == kFull;
  }

  /// Times begin at 1 again. `interval` is new.
  void begin_anew(std::uint32_t interval) {
    if (!earlier) earlier = std::make_unique<EarlierPeriods>();
    for (unsigned i = 0; i < 32; ++i)
      for (unsigned j = 0; j < 32; ++j)
        if (seen[i][j] != 0) earlier->seen[i][j] = EarlierPeriods::date(earlier->ends.size(), seen[i][j]);
    earlier->ends.push_back(interval);
    earlier->all_met = false;
    began = interval;
    restart();
  }

 private:
  void restart() {
    for (auto& t : time) t = 1;
    for (auto& row : seen)
      for (auto& s : row) s = 0;
  }
};

}  // namespace tilewise::sim::checker
