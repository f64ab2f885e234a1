// How vectors are chosen and written.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

/// The same numbers with every compiler, which the standard's distributions don't promise.
class Random {
 public:
  int below(int most) { return static_cast<int>(engine_() % static_cast<std::uint32_t>(most)); }
  int one_of(std::initializer_list<int> values) { return *(values.begin() + below(static_cast<int>(values.size()))); }

 private:
  std::mt19937 engine_{18};
};

/// Prints "name": [ ... ] while it lives.
class Rows {
 public:
  explicit Rows(const char* name) { std::printf("\"%s\":[", name); }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows() { std::printf("]\n"); }

  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
    std::printf(first_ ? "\n" : ",\n");
    first_ = false;
    std::va_list arguments;
    va_start(arguments, format);
    std::vprintf(format, arguments);
    va_end(arguments);
  }

 private:
  bool first_ = true;
};

inline std::string list(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "[" : ",") + std::to_string(number);
  return text.empty() ? "[]" : text + "]";
}

/// What the simulator's own functions say: of cards, of occupancy with any number of registers, of the least time.
void model_vectors(int sets);
