// What an asynchronous copy costs, against what an H200 counted for copies of one warp.
#ifdef TILEWISE_SIMULATOR

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "model/as_compiled.hpp"

namespace {

using namespace tilewise::sim;

struct Pattern {
  std::string line, fill;
  std::uint32_t bytes = 0, mask = 0, filled = 0;
  int instructions = 0, requests = 0, sectors = 0, tag_passes = 0, wavefronts = 0;
  std::uint64_t from[model::kLanes] = {};
  model::CopyTarget target;

  explicit Pattern(const std::string& text) : line(text) {
    std::istringstream words(text);
    words >> bytes >> fill >> std::hex >> mask >> filled >> std::dec >> instructions >> requests >> sectors >>
        tag_passes >> wavefronts;
    for (std::uint64_t& place : from) words >> place;
    for (std::uint64_t& place : target.to) words >> place;
    REQUIRE(words);
    target.chosen_zeros = fill == "chosen";
    target.read = static_cast<std::uint8_t>(fill == "all" ? 0 : fill == "half" ? bytes / 2 : bytes);
    target.read_mask = fill == "all" ? 0 : fill == "chosen" ? mask & ~filled : mask;
  }
};

}  // namespace

TEST_CASE("asynchronous copies cost what an H200 counted", "[async]") {
  std::ifstream file(TILEWISE_SOURCE_DIR "/tests/simulator/validation/async_copies.txt");
  REQUIRE(file);
  int patterns = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const Pattern p(line);
    model::Touched touched;
    Counters c;
    cost_of_copy({p.mask, p.bytes, p.from}, p.target, touched).add_to(c);
    INFO(p.line);
    if (p.instructions >= 0)
      CHECK(c.async_copy_instructions * (p.target.chosen_zeros ? 2 : 1) == static_cast<std::uint64_t>(p.instructions));
    CHECK(c.global_load_requests == static_cast<std::uint64_t>(p.requests));
    CHECK(c.global_load_sectors == static_cast<std::uint64_t>(p.sectors));
    if (p.tag_passes >= 0) CHECK(c.global_load_tag_passes == static_cast<std::uint64_t>(p.tag_passes));
    if (p.wavefronts >= 0) CHECK(c.async_copy_wavefronts == static_cast<std::uint64_t>(p.wavefronts));
    if (p.wavefronts >= 0) CHECK(c.async_copy_data_passes <= static_cast<std::uint64_t>(p.wavefronts) + 1);
    CHECK(c.global_load_instructions == 0);
    ++patterns;
  }
  CHECK(patterns > 150);
}

#endif
