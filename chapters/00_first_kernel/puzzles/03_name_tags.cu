// Name tags
//
// Goal: Each thread writes its number on a tag, but all threads take the same tag. Give every thread a tag of its own:
// thread 5 writes a 5 on tag[5].
#include "tilewise/puzzle.hpp"

__global__ void write_tag(int* tag) { tag[0] = threadIdx.x; }

// ---- The check. Leave what follows as it is. ----

int main() {
  for (const int n : {1000, 7, 1}) {
    puzzle::Array<int> tag("tag", n);
    write_tag<<<1, n>>>(tag.data());
    puzzle::expect("tag", "n = " + std::to_string(n), tag.host(), [](std::size_t i) { return int(i); });
  }
  return puzzle::solved();
}

// Kind: repair
// Minutes: 2
// Hint: All threads run the same line. What in it differs from thread to thread?
// Hint: tag[0] is the same place for all of them. The place has to depend on the thread, too.
// Hint: threadIdx.x belongs between the brackets, where the 0 is.
// Limit: store_requests <= 34: every thread writes one tag
// Notice: Threads that write different values to one place race: the last one wins, and which is last is chance. That's
// why most kernels begin by giving each thread an index of its own.
