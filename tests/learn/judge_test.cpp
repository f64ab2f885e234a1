// What is said of a learner's file: each kind of mistake, compiled and run.
#include <cmath>

#include "learn.hpp"
#include "learn/pattern.hpp"

using namespace learn_test;

namespace {

/// Judges `mine` as an attempt at the puzzle `text`.
Verdict judged(const std::string& text, const std::string& mine) {
  const Repository repository;
  const Workshop workshop(repository.root());
  REQUIRE(workshop.make_prelude().empty());
  return judge(read_puzzle(repository.root(), repository.add("03_guard", text)), mine, workshop);
}

/// The same with this in the kernel.
Verdict judged(const std::string& kernel) { return judged(puzzle_text(), puzzle_text(kernel)); }

bool says(const Verdict& v, const std::string& text) {
  INFO(v.text());
  const bool found = v.text().find(text) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("a right attempt is solved, and counted", "[learn]") {
  const Verdict v = judged(kRight);
  CHECK(v.solved());
  CHECK(v.said.empty());
  CHECK(v.counts.at("launches") == 1);
  CHECK(v.counts.at("load_requests") == 2);
  CHECK(v.counts.at("store_requests") == 2);
  CHECK(v.counts.at("load_sectors") == 5);  // 40 words of 4 bytes
  CHECK(v.counts.at("leaks") == 0);
}

TEST_CASE("the compiler's first error, in the learner's line", "[learn]") {
  Verdict v = judged("  if (i < n) out[i] = in[i] + 1\n");
  CHECK(v.step == Step::compile);
  says(v, "03_guard.cu:9: expected ';'");
  says(v, "    9 | if (i < n) out[i] = in[i] + 1");
  CHECK(v.said.size() == 2);
  CHECK(v.text().find("/tmp") == std::string::npos);

  says(judged("  if (i < n) out[k] = 1;\n"), "'k' was not declared");
  says(judged("  if (i < n) { out[i] = in[i] + 1;\n"), "the { in line 7 is never closed");
  says(judged(puzzle_text(), replaced(puzzle_text(kRight), "__global__ ", "")), "__global__ in front of");
  says(judged(puzzle_text(), replaced(puzzle_text(kRight), "(n + 31) / 32, 32", "8")), "<<<blocks, threads in each>>>");

  v = judged(puzzle_text(), replaced(puzzle_text(kRight), "void launch", "void start"));
  says(v, "'launch' was not declared");
  says(v, "only in the check");

  v = judged(puzzle_text(), replaced(puzzle_text("  if (i < n) out[i] = more(in[i]);\n"), "__global__",
                                     "__device__ float more(float x);\n\n__global__"));
  says(v, "more(float)");
  says(v, "03_guard.cu:11");
}

TEST_CASE("a finding of the simulator's, with its line", "[learn]") {
  const Verdict v = judged("  out[i] = in[i] + 1;\n");
  CHECK(v.step == Step::finding);
  says(v, "03_guard.cu:9: this thread reads in[40], past its end: in has 40 elements of 4 bytes");
  says(v, "    9 | out[i] = in[i] + 1;");
  says(v, "thread (8,0,0)");

  says(judged("  __shared__ float t[32];\n  t[threadIdx.x] = 1;\n  if (i < n) out[i] = in[i] + t[31 - threadIdx.x];\n"),
       "put a __syncwarp() between");
}

TEST_CASE("a launch that CUDA refuses", "[learn]") {
  Verdict v = judged(puzzle_text(), replaced(puzzle_text(kRight), "(n + 31) / 32, 32", "1, 2048"));
  CHECK(v.step == Step::launch);
  says(v, "03_guard.cu:12: CUDA refuses this launch: this launches blocks of 2048 threads; 1024 are the most");
  v = judged(puzzle_text(), replaced(puzzle_text(kRight), "(n + 31) / 32, 32", "n / 100, 32"));
  says(v, "a grid of 0 blocks");
}

TEST_CASE("programs that do not come to their end", "[learn]") {
  Verdict v =
      judged(puzzle_text(), replaced(puzzle_text(kRight), "{ add_one", "{ for (volatile int x = 1; x;) {} add_one"));
  CHECK(v.step == Step::run);
  says(v, "did not end within 5 seconds");
  says(judged(puzzle_text(), replaced(puzzle_text(kRight), "{ add_one", "{ *(volatile int*)8 = 1; add_one")),
       "segmentation fault");
  says(judged(puzzle_text(), replaced(puzzle_text(kRight), "{ add_one", "{ std::exit(0); add_one")),
       "exit code 0, before the check");
  says(judged(puzzle_text(), replaced(puzzle_text(kRight), "<<<(n + 31) / 32, 32>>>", "")),
       "a kernel is launched, not called");
}

TEST_CASE("a kernel that doesn't end, with the line", "[learn]") {
  const Verdict v = judged("  for (volatile int x = 1; x;) {\n  }\n  if (i < n) out[i] = in[i] + 1;\n");
  CHECK(v.step == Step::finding);
  says(v, "03_guard.cu:9: no thread of this block has come to its end in 0.4");
  says(v, "whose condition never becomes false?");
}

TEST_CASE("only the check itself says that a puzzle is solved", "[learn]") {
  const std::string text = "#include <unistd.h>\n" + puzzle_text(kRight);
  for (const std::string cheat : {"puzzle::solved(), std::exit(0);", "puzzle::solved(), _exit(0);"}) {
    says(judged(puzzle_text(), replaced(text, "{ add_one", "{ " + cheat + " add_one")), "before the check was done");
    says(judged(puzzle_text(), replaced(text, "void launch", "struct S { S() { " + cheat + " } } s;\nvoid launch")),
         "before the check was done");
  }
  Verdict v = judged(puzzle_text(), replaced(text, "void launch", "#define expect(...) solved()\nvoid launch"));
  CHECK(v.step == Step::file);
  says(v, "the check uses the word expect, too");
  v = judged(puzzle_text(), replaced(text, "void launch", "namespace puzzle { int x; }\nvoid launch"));
  CHECK(v.step == Step::file);
  v = judged(puzzle_text(), replaced(text, "void launch", "#define HALF(x) ((x) / 2)\nvoid launch"));
  CHECK(v.solved());
  CHECK(parse_check("solved abc\n", "abd").said == CheckResult::Said::nothing);
  CHECK(parse_check("count 7 abc\ncount 9\nsolved abc\n", "abc").count_from == 7);
}

TEST_CASE("nothing launched", "[learn]") {
  const Verdict v =
      judged(puzzle_text(), replaced(puzzle_text(kRight), "{ add_one<<<(n + 31) / 32, 32>>>(in, out, n); }", "{}"));
  CHECK(v.step == Step::kernel);
  says(v, "No kernel ran");
}

TEST_CASE("a wrong result: which element, and what came out", "[learn]") {
  Verdict v = judged("  if (i < n - 1) out[i] = in[i] + 1;\n");
  CHECK(v.step == Step::result);
  says(v, "Where n = 40, 1 of 40 elements is wrong, out[39]: expected ");
  says(v, "never written");
  v = judged("  if (i < n) out[i] = in[i];\n");
  says(v, "40 of 40 elements are wrong; the first is out[0]");
  v = judged("  if (i < n) { out[i] = in[i]; printf(\"%d\\n\", i); }\n");
  CHECK(v.printed.size() == 5);
  CHECK(v.printed[1] == "1");
}

TEST_CASE("what all wrong elements have in common", "[learn]") {
  const auto pattern = [](const std::vector<float>& got, int rows = 1) {
    const std::vector<double> expected{3, 8, 5, 4, 9, 2, 6, 1, 7};
    return pattern_of(tilewise::grader::output<float>("out", rows, 9 / rows, expected), got);
  };
  CHECK(pattern({6, 16, 10, 8, 18, 4, 12, 2, 14}) == "each of the wrong elements is 2 times what it should be");
  CHECK(pattern({3, 8, 0, 0, 0, 0, 0, 1, 7}) == "each of the wrong elements is 0");
  CHECK(pattern({2, 7, 4, 3, 8, 1, 5, 0, 6}) == "each of the wrong elements is 1 too small");
  CHECK(pattern({8, 5, 4, 9, 2, 6, 1, 7, 44}) == "each of the wrong elements holds what belongs 1 element further on");
  CHECK(pattern({44, 44, 3, 8, 5, 4, 9, 2, 6}) == "each of the wrong elements holds what belongs 2 elements back");
  CHECK(pattern({7, 1, 6, 2, 9, 4, 5, 8, 3}) == "the order is the opposite of what is expected");
  CHECK(pattern({3, 4, 6, 8, 9, 1, 5, 2, 7}, 3) == "rows and columns are exchanged, compared with what is expected");
  CHECK(pattern({3, 4, 6, 8, 9, 1, 5, 2, 8}, 3).empty());
  CHECK(pattern({3, 8, 5, 4, 18, 2, 6, 1, 7}).empty());  // one alone has nothing in common
  CHECK(pattern({6, 16, 10, 8, 18, 4, 12, 2, NAN}).empty());
}

TEST_CASE("integers, and values of 64 bits", "[learn]") {
  const std::string text = replaced(puzzle_text(), "  puzzle::expect(\"out\", \"n = 40\"",
                                    "  puzzle::expect(\"big\", \"n = 1\", std::vector<std::size_t>{4294967301}, "
                                    "[&](std::size_t) { return 4294967300; });\n"
                                    "  puzzle::expect(\"out\", \"n = 40\"");
  const Verdict v = judged(text, replaced(text, "  out[i] = in[i] + 1;  // TODO\n", kRight));
  says(v, "big[0]: expected 4,294,967,300, got 4,294,967,301");
}

TEST_CASE("a limit that does not hold, with the line that it comes from", "[learn]") {
  const std::string text =
      puzzle_text("  if (i < n) out[i] = in[i] + 1;  // TODO\n",
                  "// Limit: launches = 1: one is enough\n"
                  "// Limit: load_requests <= 2: each warp needs one\n// Limit: leaks = 0: free it\n");
  CHECK(judged(text, text).solved());
  Verdict v = judged(
      text, replaced(text, "out[i] = in[i] + 1;  // TODO", "out[i] = in[i] + in[n - 1 - i] - in[n - 1 - i] + 1;"));
  CHECK(v.step == Step::limit);
  says(v, "requests of loads. Wanted: 2 at most. Each warp needs one.");
  says(v, "03_guard.cu:9: ");
  v = judged(text, replaced(text, "{ add_one", "{ float* x; cudaMalloc(&x, 4); add_one"));
  CHECK(v.step == Step::limit);
  says(v, "the 4 bytes allocated here are never freed");
  says(v, "    12 | ");
}

TEST_CASE("a timeline has its length in units of the check's, and is drawn", "[learn]") {
  const std::string pieces = "unit 100\npiece 0 7 0 100\npiece 2 0 200 300\npiece 1 9 100 200\npiece 0 9 100 150\n";
  const tilewise::Timeline t = parse_check(pieces + "timeline 300 word\nsolved word\n", "word").timeline;
  CHECK(t.length == 3);
  CHECK(drawing_of(t) == Lines{"    copy in   " + std::string(20, '0') + std::string(10, '1') + std::string(30, '.'),
                               "    kernels   " + std::string(20, '.') + std::string(20, '1') + std::string(20, '.'),
                               "    copy out  " + std::string(40, '.') + std::string(20, 'd')});
  // Only the check's own call counts.
  CHECK(parse_check(pieces + "timeline 300\n", "word").timeline.length == 0);
  CHECK(drawing_of({}).empty());
  // More pieces than there is room for.
  tilewise::Timeline many{{}, 100};
  for (int i = 0; i < 100; ++i) many.pieces.push_back({tilewise::Engine::sms, 0, double(i), double(i + 1)});
  CHECK(drawing_of(many)[1] == "    kernels   " + std::string(60, '0'));
}

TEST_CASE("a timeline of several devices has the engines of each that have work", "[learn]") {
  // Device 1 sends what a stream of device 0 asks for; 0 and 2 are the two default streams.
  const std::string pieces =
      "unit 100\npiece 2 9 0 100 1\npiece 1 0 100 200 0\npiece 1 2 0 200 1\npiece 2 9 100 150 0\n";
  const tilewise::Timeline t = parse_check(pieces + "timeline 200 word\n", "word", 2).timeline;
  CHECK(drawing_of(t) ==
        Lines{"    device 0  kernels   " + std::string(30, '.') + std::string(30, 'd'),
              "    device 0  copy out  " + std::string(30, '.') + std::string(15, '0') + std::string(15, '.'),
              "    device 1  kernels   " + std::string(60, 'd'),
              "    device 1  copy out  " + std::string(30, '0') + std::string(30, '.')});
  CHECK(tilewise::most_sent(t) == 1);
  CHECK(tilewise::most_sent({}) == 0);
}

TEST_CASE("a limit on the timeline's length, and the drawing beside it", "[learn]") {
  const auto with = [](const std::string& text) {
    return replaced(replaced(text, "  launch(d_in", "  puzzle::timeline_from_here(32);\n  launch(d_in"),
                    "  puzzle::expect(\"out\"", "  puzzle::timeline_to_here();\n  puzzle::expect(\"out\"");
  };
  const std::string limited = with(puzzle_text(kRight, "// Limit: timeline_length <= 1: one launch of 64 threads\n"));
  const Verdict v = judged(limited, limited);
  CHECK(v.step == Step::limit);
  says(v, "8 times as long as one copy. Wanted: 1 at most. One launch of 64 threads.");
  says(v, "    kernels   dddd");
  CHECK(v.counts.at("timeline_length") == 8);  // 64 threads, as long as 64 floats; a unit is 8
}

namespace {

/// The puzzle on two devices; `launch` is the body of the function that its check calls.
Verdict judged_on_two(const std::string& launch, const std::string& devices = "// Devices: 2\n") {
  const std::string text =
      puzzle_text(kRight, devices + "// Limit: devices = 1: one is enough\n// Limit: leaks = 0: free it\n");
  return judged(text, replaced(text, "{ add_one<<<(n + 31) / 32, 32>>>(in, out, n); }", "{\n" + launch + "}"));
}

}  // namespace

TEST_CASE("a puzzle's program finds the devices that it wants", "[learn]") {
  const std::string right = "  add_one<<<(n + 31) / 32, 32>>>(in, out, n);\n";
  CHECK(judged_on_two(right).counts.at("devices") == 1);
  CHECK(judged_on_two(right).solved());
  CHECK(judged_on_two(right, "").solved());

  const std::string second =
      "  cudaDeviceSynchronize();\n  if (cudaSetDevice(1) == cudaSuccess) {\n    cudaDeviceEnablePeerAccess(0, 0);\n" +
      right + "    cudaDeviceSynchronize();\n    cudaSetDevice(0);\n  }\n";
  CHECK(judged_on_two(second).solved());
  Verdict v = judged_on_two(second + right);
  CHECK(v.step == Step::limit);
  says(v, "2 devices with a launch. Wanted: 1. One is enough.");
  v = judged_on_two(second, "");
  CHECK(v.step == Step::run);
  says(v, "cudaErrorInvalidDevice");
}

TEST_CASE("memory, streams and events of another device", "[learn]") {
  Verdict v = judged_on_two("  cudaSetDevice(1);\n  add_one<<<(n + 31) / 32, 32>>>(in, out, n);\n");
  CHECK(v.step == Step::finding);
  says(v, "this thread runs on device 1 and reads in[0], which is memory of device 0");

  const std::string stream = "  cudaStream_t s;\n  cudaSetDevice(1);\n  cudaStreamCreate(&s);\n";
  v = judged_on_two(stream + "  cudaSetDevice(0);\n  add_one<<<(n + 31) / 32, 32, 0, s>>>(in, out, n);\n");
  CHECK(v.step == Step::launch);
  says(v, "its stream belongs to another device than the current one (cudaErrorInvalidResourceHandle)");

  v = judged_on_two(stream +
                    "  cudaEvent_t e;\n  cudaSetDevice(0);\n  cudaEventCreate(&e);\n"
                    "  cudaEventRecord(e, s);\n  add_one<<<(n + 31) / 32, 32>>>(in, out, n);\n");
  CHECK(v.step == Step::run);
  says(v, "cudaErrorInvalidResourceHandle");
  says(v, "an event is recorded in a stream of its own device");
}

TEST_CASE("a program that starts a thread is told that it can't", "[learn]") {
  const std::string text = puzzle_text(kRight);
  const Verdict v = judged(text, replaced(replaced(text, "{ add_one", "{ std::thread([] {}).join(); add_one"),
                                          "#include \"tilewise", "#include <thread>\n#include \"tilewise"));
  CHECK(v.step == Step::run);
  says(v, "It starts another host thread");
}

TEST_CASE("a prediction is compared with what the kernel as given does", "[learn]") {
  const std::string text = replaced(
      puzzle_text(kRight + "  // sectors in all: ?\n"), "Kind: write",
      "Kind: predict\n// Answer: load_sectors\n// If 40: a sector holds more than one word\n// If 2: no\n// If 1: no");
  const auto with = [&](const std::string& number) { return judged(text, replaced(text, ": ?", ": " + number)); };
  CHECK(judged(text, text).step == Step::prediction);
  Verdict v = with("40");
  CHECK(v.step == Step::answer);
  says(v, "No, not 40. A sector holds more than one word.");
  v = with("7");
  says(v, "No, it is not 7.");
  CHECK(v.text().find("5") == std::string::npos);
  CHECK(with("5").solved());
  // Who changes the kernel instead of the number, gains nothing.
  v = judged(text, replaced(replaced(text, ": ?", ": 0"), "in[i] + 1", "1"));
  CHECK(v.step == Step::answer);
  says(v, "the kernel is run as it was given");
}

TEST_CASE("what is below the check's line is the original's", "[learn]") {
  const std::string mine = puzzle_text("  if (i < n) out[i] = in[i];\n");
  const Verdict v = judged(puzzle_text(), replaced(mine, "return in[i] + 1;", "return in[i];"));
  CHECK(v.step == Step::result);
  says(v, "the check stays as it was");
}
