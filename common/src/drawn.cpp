#include <algorithm>
#include <cmath>
#include <map>

#include "tilewise/timeline.hpp"

namespace tilewise {

std::vector<std::string> drawn(const Timeline& timeline, double whole, std::size_t width) {
  const auto column = [&](double at) {
    return whole > 0 ? static_cast<std::size_t>(std::lround(at / whole * static_cast<double>(width))) : 0;
  };
  constexpr char kDigits[] = "0123456789";
  std::vector<std::string> lines(3, std::string(column(timeline.length), '.'));
  for (const TimelinePiece& piece : timeline.pieces) {
    std::string& line = lines[static_cast<std::size_t>(piece.engine)];
    const std::size_t begin = column(piece.begin), end = std::min(column(piece.end), line.size());
    std::fill(line.begin() + static_cast<std::ptrdiff_t>(begin), line.begin() + static_cast<std::ptrdiff_t>(end),
              piece.stream < 0 ? 'd' : kDigits[piece.stream % 10]);
  }
  return lines;
}

double most_sent(const Timeline& timeline) {
  std::map<int, double> sent;
  double most = 0;
  for (const TimelinePiece& piece : timeline.pieces)
    if (piece.engine == Engine::copy_out) most = std::max(most, sent[piece.device] += piece.end - piece.begin);
  return most;
}

}  // namespace tilewise
