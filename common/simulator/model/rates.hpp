// What the cards can do at most, for the bounds of model/bound.hpp.
#pragma once

#include <string>

#include "base/devices.hpp"
#include "model/bound.hpp"

namespace tilewise::sim {

model::Rates rates_of(const Device& device);

/// "H200", "RTX 3090": the card's name as people say it.
std::string short_name(const Device& device);
/// "an H200", "a T4".
std::string with_article(const std::string& name);

}  // namespace tilewise::sim
