// Places in the code by number: what becomes of those that have none left.
#include "model/site_numbers.hpp"

#include "catch.hpp"

TEST_CASE("Places beyond the last number share it, and are nowhere", "[site-numbers]") {
  const char place[9] = {};
  tilewise::sim::checker::SiteNumbers sites(4);
  for (int again = 0; again < 2; ++again)
    for (unsigned i = 0; i < 9; ++i) {
      const unsigned number = sites.number(&place[i]);
      CHECK(number == (i < 3 ? i + 1 : 4));
      CHECK(sites[static_cast<std::uint16_t>(number)] == (i < 3 ? &place[i] : nullptr));
    }
  CHECK(sites[0] == nullptr);
}

TEST_CASE("A shadow cell's 16 bits have room for every number", "[site-numbers]") {
  static const char place[70'000] = {};
  tilewise::sim::checker::SiteNumbers sites;
  for (unsigned i = 0; i < 70'000; ++i) REQUIRE(sites.number(&place[i]) == (i < 0xFFFF ? i + 1 : 0xFFFF));
  CHECK(sites[0xFFFE] == &place[0xFFFD]);
  CHECK(sites[0xFFFF] == nullptr);
}
