// How a timeline is drawn.
#include "tilewise/timeline.hpp"

#include "catch.hpp"

using tilewise::drawn;
using tilewise::Engine;
using tilewise::Timeline;

TEST_CASE("a timeline is drawn to scale, one line for each engine", "[timeline]") {
  const Timeline t{{{Engine::copy_in, 0, 0, 10},
                    {Engine::copy_in, 1, 10, 20},
                    {Engine::sms, -1, 10, 20},
                    {Engine::copy_out, 12, 20, 40}},
                   40};
  CHECK(drawn(t, 40, 8) == std::vector<std::string>{"0011....", "..dd....", "....2222"});
  CHECK(drawn(t, 80, 8) == std::vector<std::string>{"01..", ".d..", "..22"});  // half as long as the whole
  CHECK(drawn(t, 40, 0) == std::vector<std::string>{"", "", ""});
  CHECK(drawn({}, 0, 8) == std::vector<std::string>{"", "", ""});
}
