#include "tilewise/timeline.hpp"

#include <algorithm>
#include <map>

#ifdef TILEWISE_SIMULATOR
#include "tilewise/counters.hpp"
#include "tilewise_sim/report.hpp"
#endif

namespace tilewise {

#ifdef TILEWISE_SIMULATOR

std::optional<Timeline> timeline_of(const std::function<void()>& call, double thread_cost) {
  sim::Timeline simulated;
  run_unwatched([&] {
    sim::begin_timeline(thread_cost);
    call();
    simulated = sim::end_timeline();
  });
  std::stable_sort(simulated.pieces.begin(), simulated.pieces.end(),
                   [](const sim::Piece& a, const sim::Piece& b) { return a.begin < b.begin; });
  std::map<std::uint32_t, int> numbers{{0, -1}};
  Timeline timeline{{}, simulated.length};
  for (const sim::Piece& p : simulated.pieces)
    timeline.pieces.push_back({static_cast<Engine>(p.engine),
                               numbers.try_emplace(p.stream, static_cast<int>(numbers.size()) - 1).first->second,
                               p.begin, p.end, p.device});
  return timeline;
}

#else

std::optional<Timeline> timeline_of(const std::function<void()>& call, double) {
  call();
  return std::nullopt;
}

#endif

}  // namespace tilewise
