// Say hello
//
// Goal: Eight threads are to say hello, and only one does. Start eight of them, in one block.
#include "tilewise/puzzle.hpp"

// A kernel: a function that the GPU runs, once in each thread. threadIdx.x is the thread's number: 0, 1, 2, ...
__global__ void say_hello(int* hello) { hello[threadIdx.x] = 1; }

void start(int* hello) {
  say_hello<<<1, 1>>>(hello);  // TODO: one of these numbers. <<<how many blocks, how many threads in each>>>
}

// ---- The check. Leave what follows as it is. ----

int main() {
  puzzle::Array<int> hello("hello", 8);
  start(hello.data());
  puzzle::expect("hello", "8 threads are wanted", hello.host(), [](std::size_t) { return 1; });
  return puzzle::solved();
}

// Kind: write
// Minutes: 1
// Hint: Only the line with <<< and >>> needs a change: it starts the kernel.
// Hint: The first number says how many blocks, the second how many threads each block has.
// Hint: One block of eight threads is <<<1, 8>>>.
// Limit: threads = 8: eight threads, and each says hello once
// Limit: blocks = 1: one launch with one block has room for all eight
// Show: threads
// Notice: You wrote no loop: eight threads ran the same function at once, each with its own threadIdx.x, 0 to 7.
