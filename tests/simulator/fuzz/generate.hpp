// Writes random CUDA kernels that are correct by construction: no races, no index out of range, only unsigned integer
// arithmetic. Their results and memory counters must therefore be the same on a GPU and on the simulator.
//
// A program is fixed by its seed and the numbers of its kernels; the standard library's distributions are not used,
// because each library has its own.
//
// What keeps the kernels comparable with what nvcc makes of them:
//   - every loop carries `#pragma unroll 1`;
//   - every address of a load depends on `acc`, the running value, which every load changes, so that no load can be
//     merged with another, hoisted or left out;
//   - every store in the source has a part of the output of its own;
//   - the two branches of an `if` end in different arithmetic, so that the compiler does not join their ends.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

namespace fuzz {

/// SplitMix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>((next() >> 32) * n >> 32); }
  std::uint32_t from_to(std::uint32_t low, std::uint32_t high) { return low + below(high - low + 1); }
  bool chance(std::uint32_t percent) { return below(100) < percent; }
  template <class T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<std::uint32_t>(values.size()))];
  }

 private:
  std::uint64_t state_;
};

/// Parts put together. Always with braces, `text{a, b}`: they evaluate the parts in order, so that random choices among
/// them fall the same way with every compiler.
struct text : std::string {
  template <class... Parts>
  explicit text(const Parts&... parts) {
    std::ostringstream out;
    (out << ... << parts);
    assign(out.str());
  }
};

struct Shape {
  std::array<std::uint32_t, 3> block;
  std::array<std::uint32_t, 2> grid;
  std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
  std::uint32_t total() const { return threads() * grid[0] * grid[1]; }
};

/// One kernel: its source, and how main() launches it.
struct Kernel {
  std::string source;
  std::string launch;
};

/// FNV-1a of the source, so that a recording knows the kernels that it belongs to.
inline std::string fingerprint(const std::string& source) {
  std::uint64_t hash = 0xCBF29CE484222325ull;
  for (char c : source) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  std::ostringstream out;
  out << std::hex << std::setw(16) << std::setfill('0') << hash;
  return out.str();
}

class KernelWriter {
 public:
  KernelWriter(std::uint64_t seed, std::uint32_t number)
      : random_((seed << 32 | number) * 0xD1342543DE82EF95ull + 1), name_(text{"kernel_", number}) {
    random_.next();
  }

  Kernel write() {
    choose_shape();
    const bool meets = random_.chance(65);  // uses barriers, shared memory, warp operations
    if (meets) declare_shared();
    std::string functions;
    for (std::uint32_t i = random_.below(3); i > 0; --i) functions += device_function();

    body_.clear();
    indent_ = 1;
    budget_ = random_.from_to(8, 26);
    may_return_ = !meets;
    Scope top{.uniform = meets};
    line(text{"u32 acc = g * ", odd(), " + n;"});
    while (budget_ > 0) statement(top);
    if (meets && random_.chance(50)) {  // from here on no barrier follows, so threads may leave
      may_return_ = true;
      budget_ = random_.from_to(2, 6);
      top.uniform = false;
      while (budget_ > 0) statement(top);
    }
    store_as(top, 4, "acc");

    std::ostringstream source;
    source << functions << "__global__ void " << name_
           << "(const unsigned char* in, unsigned char* out, u32* sums, u32 n) {\n"
           << head() << body_ << "}\n\n";
    std::ostringstream launch;
    launch << "  run(\"" << name_ << ' ' << fingerprint(source.str()) << "\", " << name_ << ", dim3(" << shape_.grid[0]
           << ", " << shape_.grid[1] << "), dim3(" << shape_.block[0] << ", " << shape_.block[1] << ", "
           << shape_.block[2] << "), " << dynamic_bytes_ << ", " << out_bytes_ << ", " << random_.from_to(3, 9)
           << ");\n";
    return {source.str(), launch.str()};
  }

 private:
  /// What is known about the place where a statement goes.
  struct Scope {
    bool uniform = false;    ///< all threads of the block come here, equally often: barriers are allowed
    bool in_loop = false;    ///< `break` and `continue` are allowed
    bool in_do = false;      ///< the innermost loop is a `do` loop
    std::uint32_t work = 1;  ///< how often a thread comes here at most
    std::uint32_t depth = 0;
    std::vector<std::string> counters{};  ///< variables of the loops around, innermost last
  };

  /// A shared array with one slot per thread, `stride` elements apart.
  struct Shared {
    std::string name;
    std::uint32_t width, stride;
    bool ready = false;  ///< every thread has written its slot, and a barrier has followed
  };

  struct Function {
    std::string name;
    bool inlined;
  };

  static constexpr std::uint32_t kInputBytes = 1 << 16;

  // ---------------------------------------------------------------- pieces of text

  void line(const std::string& code) { body_ += std::string(2 * indent_, ' ') + code + "\n"; }
  void open(const std::string& what) {
    line(text{what.empty() ? "" : what + " ", "{"});
    ++indent_;
  }
  void close(const std::string& tail = "") {
    --indent_;
    line(text{"}", tail});
  }
  std::string new_name(const char* prefix) { return text{prefix, names_++}; }
  std::string odd() { return text{random_.below(1u << 31) * 2 + 1, "u"}; }
  std::uint32_t a_width() { return random_.pick({1u, 2u, 4u, 4u, 4u, 8u, 16u}); }

  static const char* type_of(std::uint32_t width) {
    switch (width) {
      case 1:
        return "unsigned char";
      case 2:
        return "unsigned short";
      case 4:
        return "u32";
      case 8:
        return "uint2";
      default:
        return "uint4";
    }
  }

  /// A value of the given width made from `acc` and what else is at hand.
  std::string value(std::uint32_t width) {
    const std::string word = text{"(acc ^ g * ", odd(), ")"};
    switch (width) {
      case 1:
        return text{"static_cast<unsigned char>(", word, " >> ", random_.below(24), ")"};
      case 2:
        return text{"static_cast<unsigned short>(", word, " >> ", random_.below(16), ")"};
      case 4:
        return word;
      case 8:
        return text{"make_uint2(acc, ", word, ")"};
      default:
        return text{"make_uint4(acc, ", word, ", acc + ", odd(), ", ~acc)"};
    }
  }

  /// `acc` changes with every bit of what `operand` gives. `style` 0 and 1 end in different operations.
  void absorb(const std::string& operand, std::uint32_t style) {
    switch (style) {
      case 0:
        line(text{"acc = acc * ", odd(), " + ", operand, ";"});
        break;
      case 1:
        line(text{"acc = rotate(acc ^ ", operand, ", ", random_.from_to(1, 31), ");"});
        break;
      default:
        line(text{"acc += ", operand, " ^ acc >> ", random_.from_to(3, 20), ";"});
        break;
    }
  }
  void absorb(const std::string& operand) { absorb(operand, random_.below(3)); }

  /// An expression that differs from thread to thread and from iteration to iteration.
  std::string scrambled(const Scope& scope) {
    std::string e = text{"acc * ", odd(), " >> ", random_.from_to(4, 20)};
    if (!scope.counters.empty() && random_.chance(40)) e = text{"(", e, ") + ", scope.counters.back(), " * 7"};
    return "(" + e + ")";
  }

  /// Index of an element of the input: gathered, nearly coalesced, strided, or nearly the same for all.
  std::string input_index(const Scope& scope, std::uint32_t width) {
    const std::uint32_t mask = (kInputBytes / width >> 2 * random_.below(4)) - 1;
    const std::string counter = scope.counters.empty() ? "n" : scope.counters.back();
    std::string e;
    switch (random_.below(5)) {
      case 0:
        e = scrambled(scope);
        break;
      case 1:
        e = text{"(g * ", random_.pick({1, 1, 2, 3, 8, 33}), " + (acc >> ", random_.below(25), " & 7))"};
        break;
      case 2:
        e = text{"(g + ", counter, " * ", random_.from_to(1, 600), " + (acc & ", random_.pick({1, 3, 31}), "))"};
        break;
      case 3:
        e = text{"(lane * ", random_.from_to(1, 40), " + (acc >> 9) % ", random_.from_to(2, 90), ")"};
        break;
      default:
        e = text{"((acc >> 5 & ", random_.pick({1, 3, 15}), ") + ", random_.below(4000), ")"};
        break;
    }
    return text{e, " & ", mask, "u"};
  }

  /// A condition that no compiler can take out of a loop or join with another.
  std::string condition(const Scope& scope) {
    const std::uint32_t m = random_.from_to(2, 7);
    switch (random_.below(scope.counters.empty() ? 4 : 5)) {
      case 0:
        return text{"(acc >> ", random_.below(20), " & ", random_.pick({1, 3, 5}), ") == 1"};
      case 1:
        return text{"(acc >> ", random_.below(16), ") % ", m, " < ", random_.from_to(1, m - 1)};
      case 2:
        return text{"((acc ^ lane) & 6) != 4 && (acc >> 11) % 5 != ", random_.below(5)};
      case 3:
        return text{"lane * 3 + (acc & 15) < ", random_.from_to(10, 100)};
      default:
        return text{"(lane + ", scope.counters.back(), " + (acc >> 7 & 1)) % ", m, " == ", random_.below(m)};
    }
  }

  // ---------------------------------------------------------------- statements

  void statement(const Scope& scope) {
    --budget_;
    const std::uint32_t roll = random_.below(100);
    const bool nest = scope.depth < 4 && budget_ > 0;
    if (scope.uniform && roll < 45) return uniform_statement(scope);
    if (roll < 58) return load(scope);
    if (roll < 64) return store(scope);
    if (roll < 75) return nest ? branch(scope) : load(scope);
    if (roll < 88) return nest && scope.work <= 12 ? loop(scope) : load(scope);
    if (roll < 91) return scope.work <= 6 ? call(scope) : load(scope);
    if (roll < 95) return atomic(scope);
    if (scope.in_loop) return leave(scope);
    if (may_return_ && scope.work == 1) return leave(scope);
    shared_read(scope);
  }

  void load(const Scope& scope) { random_.chance(35) ? shared_read(scope) : global_load(scope); }

  void global_load(const Scope& scope) {
    const std::uint32_t width = a_width();
    absorb(text{"word(in", width, "[", input_index(scope, width), "])"});
  }

  /// Writes the thread's own place in a part of the output that no other statement writes.
  void store(const Scope& scope) {
    if (in_function_) return load(scope);
    const std::uint32_t width = a_width();
    store_as(scope, width, value(width));
  }

  void store_as(const Scope& scope, std::uint32_t width, const std::string& stored) {
    std::uint32_t places = 1;
    while (places < shape_.total()) places *= 2;
    const std::uint32_t per_thread = scope.counters.empty() ? 1 : random_.pick({2u, 4u});
    out_bytes_ = (out_bytes_ + width - 1) / width * width;
    const std::uint32_t first = out_bytes_ / width;
    out_bytes_ += places * per_thread * width;
    std::string place =
        random_.chance(50) ? text{"g"} : text{"(g * ", random_.below(64) * 2 + 1, " & ", places - 1, ")"};
    if (per_thread > 1)
      place = text{place, " * ", per_thread, " + (", scope.counters.back(), " & ", per_thread - 1, ")"};
    line(text{"out", width, "[", first, " + ", place, "] = ", stored, ";"});
  }

  void block_of(Scope scope, std::uint32_t most) {
    for (std::uint32_t i = random_.from_to(1, most); i > 0 && budget_ > 0; --i) statement(scope);
  }

  void branch(const Scope& scope) {
    Scope inner = scope;
    inner.depth += 1;
    if (scope.uniform) inner.in_loop = false;
    inner.uniform = false;
    open(text{"if (", condition(scope), ")"});
    block_of(inner, 4);
    absorb("n", 0);
    if (random_.chance(50)) {
      close(" else {");
      ++indent_;
      block_of(inner, 4);
      absorb("n", 1);
    }
    close();
  }

  void loop(const Scope& scope) {
    const std::string i = new_name("i"), end = new_name("end");
    const std::uint32_t most = random_.from_to(2, 6);
    Scope inner = scope;
    inner.depth += 1;
    inner.work *= most;
    inner.uniform = false;
    inner.in_loop = true;
    inner.in_do = false;
    inner.counters.push_back(i);
    open("");
    line(text{"const u32 ", end, " = ", scrambled(scope), " % ", most, random_.chance(70) ? " + 1;" : ";"});
    std::string tail;
    switch (random_.below(7)) {
      case 0:
      case 1:
        line("#pragma unroll 1");
        open(text{"for (u32 ", i, " = 0; ", i, " < ", end, "; ++", i, ")"});
        break;
      case 2:
        line(text{"u32 ", i, " = ", end, ";"});
        line("#pragma unroll 1");
        open(text{"while (", i, " != 0)"});
        line(text{"--", i, ";"});
        break;
      case 3:
        inner.in_do = true;
        line(text{"u32 ", i, " = 0;"});
        line("#pragma unroll 1");
        open("do");
        line(text{"++", i, ";"});
        tail = text{" while (", i, " < ", end, " && (acc & 7) != ", random_.below(8), ");"};
        break;
      case 4:
        line(text{"u32 ", i, " = 0;"});
        line("#pragma unroll 1");
        open("for (;;)");
        line(text{"if (++", i, " > ", end, ") break;"});
        break;
      case 5:  // grid-stride, the last round with some threads only
        line("#pragma unroll 1");
        open(text{"for (u32 ", i, " = g; ", i, " < total * ", end, " + lane * 3; ", i, " += total)"});
        break;
      default: {  // a load in the condition
        const std::uint32_t width = a_width();
        line(text{"u32 ", i, " = 0;"});
        line("#pragma unroll 1");
        open(text{"while (", i, " < ", end, " && ((acc = acc * ", odd(), " + word(in", width, "[",
                  input_index(inner, width), "])) >> 13 & 3) != 0)"});
        line(text{"++", i, ";"});
        break;
      }
    }
    block_of(inner, 5);
    absorb(i);
    close(tail);
    close();
  }

  /// break, continue or return, for some of the threads. What comes before a `break` or `return` in its block does not
  /// belong to the loop any more for a compiler, and when it runs is up to the hardware: so nothing does. A `continue`
  /// in a `do` loop makes ptxas test the condition in two places.
  void leave(const Scope& scope) {
    if (!scope.in_loop && !in_function_) return leave_kernel(scope);
    const bool continues = scope.in_loop && !scope.in_do && random_.chance(50);
    const bool returns = in_function_ && (!scope.in_loop || random_.chance(20));
    Scope inner = scope;
    inner.depth += 1;
    inner.uniform = inner.in_loop = false;
    open(text{"if (", condition(scope), ")"});
    if (continues && !returns && random_.chance(50)) block_of(inner, 2);
    line(returns ? "return acc;" : continues ? "continue;" : "break;");
    close();
  }

  /// One early return for a kernel. `acc` is stored before it, as 8 bytes: else the compiler would leave out the loads
  /// that made `acc`, or join the store with the last one, which has 4 bytes.
  void leave_kernel(const Scope& scope) {
    may_return_ = false;
    Scope inner = scope;
    inner.depth += 1;
    open(text{"if (", condition(scope), ")"});
    store_as(inner, 8, value(8));
    line("return;");
    close();
  }

  /// ptxas starts a function that is not inlined with a YIELD. Threads that wait for others to join them then go on
  /// alone, so such a function is called where none waits.
  void call(const Scope& scope) {
    if (in_function_) return load(scope);
    std::vector<std::string> callable;
    for (const Function& f : functions_) {
      if (f.inlined || scope.depth == 0) callable.push_back(f.name);
    }
    if (callable.empty() || random_.chance(40)) {
      const std::uint32_t width = a_width();
      absorb(text{"walk<", type_of(width), ", ", random_.from_to(1, 3), ">(in", width, ", acc, g)"});
    } else {
      absorb(text{callable[random_.below(static_cast<std::uint32_t>(callable.size()))], "(in, sums, acc, g, n)"});
    }
  }

  /// Sums and maxima do not depend on the order. Each kind has 64 words of its own.
  void atomic(const Scope& scope) {
    const std::string place = text{scrambled(scope), " & ", random_.pick({1, 15, 63})};
    switch (random_.below(in_function_ ? 3 : 4)) {
      case 0:
        line(text{"atomicAdd(&sums[", place, "], acc);"});
        break;
      case 1:
        line(text{"atomicMax(&sums[64 + (", place, ")], acc >> 3);"});
        break;
      case 2:
        line(text{"atomicAdd(reinterpret_cast<unsigned long long*>(sums) + 64 + (", place, "), acc + 1ull);"});
        break;
      default: {  // which thread sees which count is open; the sum of what all see is not
        const std::string j = new_name("j");
        open("");
        line(text{"const u32 ", j, " = ", place, ", seen = atomicAdd(&sums[320 + ", j, "], 1u);"});
        line(text{"atomicAdd(&sums[256 + ", j, "], seen);"});
        close();
      }
    }
    absorb("g", 2);
  }

  // ---------------------------------------------------------------- where all threads come

  void uniform_statement(const Scope& scope) {
    const bool nest = scope.depth < 3 && scope.work <= 4 && budget_ > 1;
    switch (random_.below(10)) {
      case 0:
      case 1:
      case 2:
        return exchange(scope);
      case 3:
        return count(scope);
      case 4:
      case 5:
        return warp_operation();
      case 6:
        return nest ? uniform_loop(scope) : exchange(scope);
      case 7:
        return nest ? uniform_branch(scope) : warp_operation();
      default:
        return loop(scope);
    }
  }

  /// Every thread writes its slot, and all may read all slots from then on.
  void exchange(const Scope& scope) {
    Shared& s = shared_[random_.below(static_cast<std::uint32_t>(shared_.size()))];
    line("__syncthreads();");
    line(text{s.name, "[t * ", s.stride, "] = ", value(s.width), ";"});
    line("__syncthreads();");
    s.ready = true;
    read(scope, s);  // or the compiler could leave out the array
  }

  void shared_read(const Scope& scope) {
    std::vector<const Shared*> ready;
    for (const Shared& s : shared_) {
      if (s.ready) ready.push_back(&s);
    }
    if (ready.empty() || in_function_) return global_load(scope);
    read(scope, *ready[random_.below(static_cast<std::uint32_t>(ready.size()))]);
  }

  void read(const Scope& scope, const Shared& s) {
    const std::uint32_t threads = shape_.threads();
    std::string slot;
    switch (random_.below(3)) {
      case 0:
        slot = text{scrambled(scope), " % ", threads};
        break;
      case 1:
        slot = text{"(t + (acc >> ", random_.below(20), " & 3)) % ", threads};
        break;
      default:
        slot = text{"(t * ", random_.from_to(2, 40), " + (acc & 1)) % ", threads};
        break;
    }
    absorb(text{"word(", s.name, "[(", slot, ") * ", s.stride, "])"});
  }

  /// Counters in shared memory: zeroed, added to by all, read by all.
  void count(const Scope& scope) {
    const bool sum = random_.chance(60);
    const std::string place = text{scrambled(scope), " % ", random_.pick({2u, 7u, shape_.threads()})};
    line("__syncthreads();");
    line(text{"counters[t] = ", sum ? "t" : "0", ";"});
    line("__syncthreads();");
    const bool some = random_.chance(40);
    if (some) open(text{"if (", condition(scope), ")"});
    line(text{sum ? "atomicAdd" : "atomicMax", "(&counters[", place, " % ", shape_.threads(), "], acc);"});
    if (some) {
      absorb("n");
      close();
    }
    line("__syncthreads();");
    absorb(text{"counters[", scrambled(scope), " % ", shape_.threads(), "]"});
  }

  void warp_operation() {
    switch (random_.below(7)) {
      case 0:
        return absorb(text{"__shfl_sync(warp, acc, (acc >> ", random_.below(20), ") % live)"});
      case 1:
        return absorb(text{"__shfl_sync(warp, acc, (lane + ", random_.from_to(1, 31), ") % live)"});
      case 2:
        return absorb("__popc(__ballot_sync(warp, acc & 4))");
      case 3:
        return absorb(text{"(__any_sync(warp, (acc & ", random_.pick({1, 31, 127}), ") == 1) ? 77u : lane)"});
      case 4:
        return absorb("(__all_sync(warp, acc & 1) ? 5u : acc)");
      case 5:
        if (shape_.threads() % 32 == 0)
          return absorb(text{"__shfl_xor_sync(warp, acc, ", random_.pick({1, 2, 4, 8, 16}), ")"});
        return absorb("__ballot_sync(warp, acc & 8)");
      default:
        if (shape_.threads() % 32 == 0)
          return absorb(text{"__shfl_down_sync(warp, acc, ", random_.from_to(1, 16), ")"});
        line("__syncwarp(warp);");
        return absorb("t");
    }
  }

  void uniform_loop(const Scope& scope) {
    const std::string i = new_name("i");
    Scope inner = scope;
    inner.depth += 1;
    inner.work *= 4;
    inner.in_loop = false;
    inner.counters.push_back(i);
    line("#pragma unroll 1");
    open(text{"for (u32 ", i, " = 0; ", i, " <= n % ", random_.from_to(2, 4), "; ++", i, ")"});
    block_of(inner, 4);
    absorb(i);
    close();
  }

  void uniform_branch(const Scope& scope) {
    Scope inner = scope;
    inner.depth += 1;
    const std::vector<Shared> before = shared_;  // what only one side wrote is not ready after it
    const std::string turn = scope.counters.empty() ? text{"n * ", random_.from_to(1, 5)} : scope.counters.back();
    open(text{"if ((block + ", turn, ") % ", random_.from_to(2, 3), " == 0)"});
    block_of(inner, 4);
    absorb("n", 0);
    shared_ = before;
    if (random_.chance(50)) {
      close(" else {");
      ++indent_;
      block_of(inner, 4);
      absorb("n", 1);
      shared_ = before;
    }
    close();
  }

  // ---------------------------------------------------------------- the frame

  void choose_shape() {
    static constexpr std::array<std::array<std::uint32_t, 3>, 22> kBlocks = {
        {{32, 1, 1},  {64, 1, 1},  {128, 1, 1}, {256, 1, 1}, {96, 1, 1}, {50, 1, 1}, {33, 1, 1}, {17, 1, 1},
         {2, 1, 1},   {100, 1, 1}, {8, 8, 1},   {16, 16, 1}, {5, 7, 1},  {32, 4, 1}, {33, 2, 1}, {1, 40, 1},
         {12, 11, 1}, {3, 3, 3},   {4, 4, 4},   {10, 3, 5},  {2, 16, 3}, {8, 1, 9}}};
    shape_.block = kBlocks[random_.below(kBlocks.size())];
    const std::uint32_t blocks = shape_.threads() > 100 ? 2 : 4;
    shape_.grid = {random_.from_to(1, blocks), random_.chance(30) ? 2u : 1u};
  }

  void declare_shared() {
    const std::uint32_t arrays = random_.from_to(1, 3), dynamic = random_.below(4);  // the one that is dynamic, if any
    for (std::uint32_t i = 0; i < arrays; ++i) {
      const std::uint32_t width = a_width();
      const std::uint32_t stride = random_.pick({1u, 1u, 2u, 3u, 5u, 8u});
      shared_.push_back({text{"s", i}, width, stride});
      const std::uint32_t elements = shape_.threads() * stride;
      if (i == dynamic) {
        dynamic_bytes_ = elements * width;
        shared_text_ += text{"  auto* s", i, " = reinterpret_cast<", type_of(width), "*>(dynamic_shared);\n"};
      } else {
        shared_text_ += text{"  __shared__ __align__(16) ", type_of(width), " s", i, "[", elements, "];\n"};
      }
    }
    if (dynamic_bytes_ != 0) shared_text_ = "  extern __shared__ uint4 dynamic_shared[];\n" + shared_text_;
    shared_text_ += text{"  __shared__ __align__(16) u32 counters[", shape_.threads(), "];\n"};
  }

  std::string device_function() {
    in_function_ = true;
    body_.clear();
    indent_ = 1;
    budget_ = random_.from_to(3, 7);
    may_return_ = true;
    const std::string name = text{name_, "_f", functions_.size()};
    Scope scope;
    while (budget_ > 0) statement(scope);
    const bool inlined = random_.chance(50);
    std::ostringstream source;
    source << "__device__ " << (inlined ? "__forceinline__ " : "__noinline__ ") << "u32 " << name
           << "(const unsigned char* in, u32* sums, u32 acc, u32 g, u32 n) {\n"
           << "  [[maybe_unused]] const u32 total = 32 * n, lane = g % 32;\n"
           << inputs() << body_ << "  return acc;\n}\n\n";
    in_function_ = false;
    functions_.push_back({name, inlined});
    return source.str();
  }

  static std::string inputs() {
    std::string all;
    for (std::uint32_t width : {1, 2, 4, 8, 16})
      all += text{"  [[maybe_unused]] auto* in", width, " = reinterpret_cast<const ", type_of(width), "*>(in);\n"};
    return all;
  }

  std::string head() const {
    std::string all = inputs();
    for (std::uint32_t width : {1, 2, 4, 8, 16})
      all += text{"  [[maybe_unused]] auto* out", width, " = reinterpret_cast<", type_of(width), "*>(out);\n"};
    all += shared_text_;
    all +=
        "  [[maybe_unused]] const u32 block = blockIdx.x + blockIdx.y * gridDim.x;\n"
        "  [[maybe_unused]] const u32 threads = blockDim.x * blockDim.y * blockDim.z;\n"
        "  [[maybe_unused]] const u32 t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n"
        "  [[maybe_unused]] const u32 g = block * threads + t, total = threads * gridDim.x * gridDim.y;\n"
        "  [[maybe_unused]] const u32 lane = t % 32, live = min(32u, threads - t / 32 * 32);\n"
        "  [[maybe_unused]] const u32 warp = 0xFFFFFFFFu >> (32 - live);\n";
    return all;
  }

  Random random_;
  std::string name_;
  std::string body_;
  std::uint32_t indent_ = 1, names_ = 0, budget_ = 0;
  bool may_return_ = false, in_function_ = false;
  Shape shape_{};
  std::vector<Shared> shared_;
  std::string shared_text_;
  std::vector<Function> functions_;
  std::uint32_t dynamic_bytes_ = 0, out_bytes_ = 0;
};

/// A whole program with kernels `first` to `first + count - 1` of a seed. It launches each once and prints a line
/// "kernel_<number> <fingerprint of its source> <64-bit hash of what it wrote>".
inline std::string program(std::uint64_t seed, std::uint32_t first, std::uint32_t count) {
  std::string kernels, launches;
  for (std::uint32_t k = first; k < first + count; ++k) {
    const Kernel kernel = KernelWriter(seed, k).write();
    kernels += kernel.source;
    launches += kernel.launch;
  }
  std::string head = text{"// Random kernels ",
                          first,
                          " to ",
                          first + count - 1,
                          " of seed ",
                          seed,
                          ", written by tests/simulator/fuzz/generate.cpp.\n"};
  head += R"(#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

using u32 = unsigned int;

__device__ __forceinline__ u32 word(unsigned char v) { return v; }
__device__ __forceinline__ u32 word(unsigned short v) { return v; }
__device__ __forceinline__ u32 word(u32 v) { return v; }
__device__ __forceinline__ u32 word(uint2 v) { return v.x * 3 ^ v.y; }
__device__ __forceinline__ u32 word(uint4 v) { return (v.x * 3 ^ v.y) + (v.z * 5 ^ v.w); }
__device__ __forceinline__ u32 rotate(u32 v, u32 by) { return v << by | v >> (32 - by); }

template <class T, u32 kSteps>
__device__ u32 walk(const T* in, u32 acc, u32 g) {
#pragma unroll 1
  for (u32 i = 0; i < kSteps + (acc & 3); ++i) {
    if ((acc + i) % 5 == 2) continue;
    acc = acc * 0x2C1B3C6Du + word(in[(g + (acc >> 9)) % (65536 / sizeof(T))]);
  }
  return acc;
}

)";
  std::string tail = R"(
static void check(cudaError_t error, const char* name) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", name, cudaGetErrorString(error));
  std::exit(1);
}

using Hash = unsigned long long;

static Hash hash_of(const std::vector<Hash>& words, Hash hash) {
  for (Hash word : words) hash = (hash ^ word) * 0x9E3779B97F4A7C15ull, hash ^= hash >> 29;
  return hash;
}

static unsigned char *input, *output;
static u32* sums;

template <class Kernel>
static void run(const char* name, Kernel kernel, dim3 grid, dim3 block, size_t shared, size_t out_bytes, u32 n) {
  std::vector<Hash> out((out_bytes + 7) / 8, 0xA5A5A5A5A5A5A5A5ull), totals(256);
  check(cudaMemcpy(output, out.data(), out.size() * 8, cudaMemcpyHostToDevice), name);
  check(cudaMemcpy(sums, totals.data(), totals.size() * 8, cudaMemcpyHostToDevice), name);
  kernel<<<grid, block, shared>>>(input, output, sums, n);
  check(cudaGetLastError(), name);
  check(cudaDeviceSynchronize(), name);
  check(cudaMemcpy(out.data(), output, out.size() * 8, cudaMemcpyDeviceToHost), name);
  check(cudaMemcpy(totals.data(), sums, totals.size() * 8, cudaMemcpyDeviceToHost), name);
  std::printf("%s %016llx\n", name, hash_of(totals, hash_of(out, 1)));
}

int main() {
  std::vector<u32> words(65536 / 4);
  u32 state = 12345;
  for (u32& w : words) {
    state = state * 1664525u + 1013904223u;
    w = state ^ state >> 16;
  }
  check(cudaMalloc(&input, 65536), "input");
  check(cudaMalloc(&output, 4 << 20), "output");
  check(cudaMalloc(&sums, 2048), "sums");
  check(cudaMemcpy(input, words.data(), 65536, cudaMemcpyHostToDevice), "input");
)";
  return head + kernels + tail + launches +
         "  check(cudaFree(input), \"free\");\n  check(cudaFree(output), \"free\");\n"
         "  check(cudaFree(sums), \"free\");\n}\n";
}

}  // namespace fuzz
