// Several small programs in one file: `app NAME` runs one of them, `app --list` names them all. Each wrong program marks
// the line that must be found, `// finding: CODE NAME`; its corrected twin is called NAME_right.
#pragma once

#include <cstdio>
#include <cstring>

struct Case {
  const char* name;
  int (*run)();
  Case* next;
  static inline Case* first = nullptr;
  Case(const char* name, int (*run)()) : name(name), run(run), next(first) { first = this; }
};

#define CASE(name)                                  \
  static int name();                                \
  static Case registered_##name(#name, name);       \
  static int name()

/// Device memory of `n` zeros.
template <class T>
T* zeros(int n) {
  T* p = nullptr;
  cudaMalloc(&p, n * sizeof(T));
  cudaMemset(p, 0, n * sizeof(T));
  return p;
}

inline int finish() { return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3; }

/// Waits, frees, and says whether the launch went well.
template <class... P>
int finish(P*... pointers) {
  const int result = cudaDeviceSynchronize() == cudaSuccess ? 0 : 3;
  (cudaFree(pointers), ...);
  return result;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (Case* c = Case::first; c; c = c->next) {
    if (!std::strcmp(argv[1], "--list")) std::puts(c->name);
    if (!std::strcmp(argv[1], c->name)) return c->run();
  }
  return std::strcmp(argv[1], "--list") ? 2 : 0;
}
