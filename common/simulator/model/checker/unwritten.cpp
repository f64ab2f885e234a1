#include "model/checker/unwritten.hpp"

#include <algorithm>

#include "base/findings.hpp"
#include "model/checker/words.hpp"

namespace tilewise::sim::checker {

void check_global_written(const Now& now) {
  if (memory::is_written(now.address, now.bytes)) return;
  unsigned unwritten_words = 0;
  const std::uintptr_t end = now.address + now.bytes;
  for (std::uintptr_t at = now.address; at < end;) {
    const std::uintptr_t word_end = std::min(end, (at | 3) + 1);
    const bool all = memory::is_written(at, word_end - at);
    bool any = all;
    for (; at < word_end; ++at) any |= memory::is_written(at, 1);
    unwritten_words += !(now.is_number ? all : any);
  }
  if (!too_few_written(unwritten_words, now.bytes) || report_again("uninitialised", now.site)) return;
  report_finding(finding_of(
      "uninitialised", "this thread reads " + global_place(now.address, now.bytes).name + ", which nothing has written",
      now.lane, now.site));
}

}  // namespace tilewise::sim::checker
