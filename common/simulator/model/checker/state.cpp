#include "model/checker/state.hpp"

#include "base/for_ever.hpp"
#include "base/inline_cache.hpp"

namespace tilewise::sim::checker {

constinit KnownPlace known_places[kKnownPlaces];

constinit State* made_state = nullptr;

State& make_state() {
  static State* s = for_ever<State>();
  made_state = s;
  return *s;
}

void forget(std::vector<KnownPlace*>& places) {
  inline_cache::empty(inline_cache::Until::places_are_forgotten);
  inline_cache::empty(inline_cache::Until::threads_poll);
  for (KnownPlace* place : places) *place = {};
  places.clear();
}

}  // namespace tilewise::sim::checker
