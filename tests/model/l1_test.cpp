// The two stages of L1: the rules by hand, and against what an H200 counted for requests of one warp.
#ifdef TILEWISE_SIMULATOR

#include "model/l1.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "catch.hpp"

namespace {

using namespace tilewise::sim;
using model::kLanes;

struct Request {
  std::uint32_t mask = ~0u;
  std::uint32_t bytes = 4;
  std::uint64_t address[kLanes] = {};

  model::LaneAddresses lanes() const { return {mask, bytes, address}; }
  unsigned tags() const {
    std::uint64_t sectors[2 * kLanes];
    const unsigned n = model::distinct_sectors(lanes(), sectors);
    return model::tag_passes(sectors, n);
  }
  unsigned data() const { return model::data_passes(lanes()); }
};

/// Lane i reads the word at (first + i step) bytes.
Request regular(std::uint64_t step, std::uint32_t bytes = 4, std::uint64_t first = 0) {
  Request r;
  r.bytes = bytes;
  for (unsigned i = 0; i < kLanes; ++i) r.address[i] = first + i * step;
  return r;
}

TEST_CASE("L1's tags: four banks, a line of each per pass", "[l1]") {
  // Four neighbouring lines that begin at a multiple of 512 bytes are in four banks, wherever they are.
  for (std::uint64_t first = 0; first < 1 << 16; first += 4) {
    unsigned seen = 0;
    for (unsigned i = 0; i < 4; ++i) seen |= 1u << model::tag_bank(first + i);
    REQUIRE(seen == 0xF);
  }
  CHECK(model::tag_bank(5) == model::tag_bank(0));  // 1 and 4 are in the same bank, and so 1 ^ 4 is in that of 0
  CHECK(regular(4).tags() == 1);
  CHECK(regular(0).tags() == 1);
  CHECK(regular(16, 16).tags() == 1);       // 512 bytes: four lines
  CHECK(regular(16, 16, 256).tags() <= 2);  // the same across two groups of four
  CHECK(regular(4 * 1024).tags() == 8);     // 32 lines, evenly spread over the banks
  CHECK(regular(4 * 1056).tags() == 16);    // unevenly
  CHECK(regular(4 * 1025).tags() == 8);
}

TEST_CASE("L1's data: 32 banks, a word of each per pass", "[l1]") {
  CHECK(regular(4).data() == 1);
  CHECK(regular(0).data() == 1);
  CHECK(regular(4, 4, 20).data() == 1);
  CHECK(regular(4 * 1024).data() == 32);
  CHECK(regular(4 * 1025).data() == 1);
  CHECK(regular(4 * 1028).data() == 4);
  CHECK(regular(4 * 1032).data() == 8);
  CHECK(regular(4 * 1040).data() == 16);
  CHECK(regular(1).data() == 1);       // four lanes share a word
  CHECK(regular(8, 8).data() == 2);    // half a warp at a time
  CHECK(regular(16, 16).data() == 4);  // a quarter
  CHECK(regular(0, 16).data() == 4);   // global memory knows no broadcast across quarters
  CHECK(regular(32, 16).data() == 8);
  Request few = regular(4 * 1024);
  few.mask = 0x00010001;
  CHECK(few.data() == 2);
  few.bytes = 16;
  CHECK(few.data() == 2);  // lanes 0 and 16 are in different quarters
  few.mask = 0;
  CHECK(few.data() == 0);
}

// The naive product with the row on threadIdx.x, blocks of 32 x 32, K words per row: what one warp asks for at one k.
TEST_CASE("rows one word longer spare L1's banks, not its tags", "[l1]") {
  const auto per_request = [](std::uint64_t K, auto stage) {
    double passes = 0;
    const unsigned requests = 1024;
    for (unsigned n = 0; n < requests; ++n) {
      const Request a = regular(4 * K, 4, 4 * (n % 32 * 32 * K + n * 37 % K));
      passes += stage(a) + 1;  // and one word of B for everybody
    }
    return passes / (2 * requests);
  };
  const auto tags = [](const Request& r) { return r.tags(); };
  const auto data = [](const Request& r) { return r.data(); };
  // docs: an H200, M = N = 1024, l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum per request, and
  // 1 + l1tex__data_bank_conflicts_pipe_lsu.sum per request
  const struct {
    std::uint64_t K;
    double tags, data;
  } measured[] = {{1024, 4.500, 16.491}, {1025, 4.908, 1.016},  {1028, 5.092, 2.528}, {1032, 5.756, 4.503},
                  {1040, 5.603, 8.496},  {1056, 6.784, 16.480}, {1088, 5.591, 16.485}};
  for (const auto& m : measured) {
    INFO("K = " << m.K);
    CHECK(std::abs(per_request(m.K, tags) / m.tags - 1) < 0.03);
    CHECK(std::abs(per_request(m.K, data) / m.data - 1) < 0.03);
  }
}

TEST_CASE("requests of one warp take the passes that an H200 counts", "[l1]") {
  std::ifstream file(TILEWISE_SOURCE_DIR "/tests/simulator/validation/l1_patterns.txt");
  REQUIRE(file);
  std::size_t patterns = 0, loads = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string op, mask, places;
    unsigned tags = 0;
    double data = 0;
    Request r;
    words >> op >> r.bytes >> mask >> tags >> data >> places;
    r.mask = static_cast<std::uint32_t>(std::stoul(mask, nullptr, 16));
    if (places.find(',') == std::string::npos) {
      const auto sign = places.find_first_of("+-", 1);
      const std::int64_t first = std::stoll(places), step = std::stoll(places.substr(sign));
      for (unsigned i = 0; i < kLanes; ++i) r.address[i] = static_cast<std::uint64_t>(first + step * i) * r.bytes;
    } else {
      std::istringstream list(places);
      std::string one;
      for (unsigned i = 0; i < kLanes && std::getline(list, one, ','); ++i)
        r.address[i] = one.empty() ? 0 : std::stoull(one) * r.bytes;
    }
    INFO(line);
    CHECK(r.tags() == tags);
    CHECK(r.data() <= data + 0.2);  // a warp alone never needs fewer; of 64 stores some are put together
    if (op != "st") CHECK(std::abs(r.data() - data) < 0.1);
    ++patterns;
    loads += op != "st";
  }
  CHECK(patterns > 400);
  CHECK(loads > 250);
}

}  // namespace

#endif  // TILEWISE_SIMULATOR
