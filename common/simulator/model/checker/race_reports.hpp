// Two accesses without order, put into words.
#pragma once

#include "model/checker/access.hpp"

namespace tilewise::sim::checker {

/// Reports that the access now has no order with the other one. Of two stores it is said only when the second has come:
/// settle_doubt(), which is called before anything else is looked at.
void report_race(const Now& now, const Other& other);
void settle_doubt(State& s);

/// An access that meets an asynchronous copy in flight. Returns false where there is none, or none that minds.
bool report_in_flight(const Now& now, LastWrite& write);

}  // namespace tilewise::sim::checker
