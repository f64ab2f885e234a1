// Lesson 08: what is this machine, and how fast can each of its parts be at best?
#include "probes.hpp"
#include "tilewise/lesson.hpp"

namespace {

using Sizes = std::vector<std::int64_t>;
using tilewise::is_simulated;

void latencies(Ceilings& table, unsigned steps, std::uint64_t seed) {
  const std::size_t l2 = tilewise::device().l2_bytes;
  const std::size_t dram = std::max<std::size_t>(8 * l2, 64 << 20);
  const auto offsets = [&](auto... p) { table.run(offset_chase_probe(p..., steps, seed)); };
  table.begin("latency", Measure::latency,
              "How long do you wait? Each step needs the result of the step before.");
  table.run(fma_latency_probe(is_simulated() ? steps : 16 * steps));
  offsets("shared memory", "chase_shared", "shared", launch_chase_shared, kSharedRing, 32, false);
  offsets("constant, a warp at one address", "chase_constant", "constant", launch_chase_constant,
          kConstantRing, 32, false);
  offsets("constant, a warp at 32 addresses", "chase_constant", "constant_spread",
          launch_chase_constant, kConstantRing, 32, true);
  offsets("local memory", "chase_local", "local", launch_chase_local, kLocalRing, 1, false);
  table.run(global_chase_probe(is_simulated() ? "global memory" : "global memory, in L1", "l1",
                               16 << 10, true, steps, seed));
  if (is_simulated()) {
    const std::string why =
        "the simulator has no caches; the walk would be the one above, only longer";
    table.skip("global memory, in L2", "chase_global", why);
    table.skip("global memory, in DRAM", "chase_global", why);
    table.skip("cycles and nanoseconds", "-",
               "no time passes on the simulator; the walks end where they must");
    return;
  }
  table.run(global_chase_probe("global memory, in L2", "l2", l2 / 8, true, steps, seed));
  if (2 * dram < tilewise::free_device_memory())
    table.run(global_chase_probe("global memory, in DRAM", "dram", dram, false, steps, seed));
  else
    table.skip("global memory, in DRAM", "chase_global",
               "needs " + tilewise::bytes_text(2.0 * dram) + " of device memory");
}

void arithmetic(Ceilings& table, unsigned sms) {
  const std::uint64_t fmas = is_simulated() ? 1 << 14 : 1 << 27;  // per SM
  const unsigned full = tilewise::device().max_threads_per_sm;
  table.begin("arithmetic", Measure::flops,
              "How much arithmetic? Multiply-adds in registers, nothing else.");
  table.run(fma_chains_probe<1>(sms, 128, fmas));
  table.run(fma_chains_probe<1>(sms, 512, fmas));
  table.run(fma_chains_probe<1>(sms, full, fmas));
  table.run(fma_chains_probe<4>(sms, 128, fmas));
  table.run(fma_chains_probe<8>(sms, 128, fmas));
  table.run(fma_chains_probe<8>(sms, 512, fmas));
  if (is_simulated())
    table.skip("GFLOP/s", "-", "a rate needs time; every result was right, to the last bit");
}

void bandwidth(Ceilings& table, unsigned sms, std::size_t words, std::uint64_t seed) {
  table.begin("bandwidth", Measure::rate, "How many bytes? Loads that do not wait for each other.");
  // For L2 a quarter of it, in whole rounds of 4 loads by 1,024 threads on each SM: 64 KB per SM
  // and round.
  const std::size_t rounds =
      std::max<std::size_t>(1, tilewise::device().l2_bytes / 4 / (std::size_t{sms} << 16));
  const auto cached =
      std::make_shared<Words>(is_simulated() ? 8192 : rounds * (std::size_t{sms} << 14), seed);
  const unsigned steps = is_simulated() ? 64 : 1 << 14, passes = is_simulated() ? 2 : 64;
  table.run(rounds_probe("shared memory, read", "sum_shared", "shared_read", launch_sum_shared,
                         cached, sms, steps));
  table.run(rounds_probe("L1, read", "sum_l1", "l1_read", launch_sum_l1, cached, sms, steps));
  table.run(sum_l2_probe(cached, sms, passes));
  const auto all = std::make_shared<Words>(words, seed);
  table.run(sum_probe<1>(all, sms, 1));
  table.run(sum_probe<1>(all, sms, tilewise::device().max_threads_per_sm / 256));
  table.run(sum_probe<4>(all, sms, 1));
  table.run(sum_probe<8>(all, sms, 1));
  table.run(sum_probe<8>(all, sms, 4));
  table.run(copy_probe(all, false));
  if (!is_simulated()) table.run(copy_probe(all, true));
  if (is_simulated())
    table.skip("GB/s", "-", "a rate needs time; what can be counted stands above");
}

void vector_add(Ceilings& table, VectorsPtr vectors) {
  table.begin("vector_add", Measure::rate, "Vector add: two loads, one addition, one store.");
  table.run(vector_add_probe(vectors));
  table.begin("vector_add", Measure::latency,
              "The same by one warp, which has the machine for itself:");
  table.run(vector_add_clocked_probe(vectors));
}

void roofline(Ceilings& table, VectorsPtr vectors, const Sizes& fmas) {
  table.begin("roofline", Measure::roofline,
              "The roofline: the same bytes, more and more arithmetic.");
  for (const std::int64_t count : fmas)
    table.run(fma_per_element_probe(vectors, static_cast<unsigned>(count)));
}

}  // namespace

int main(int argc, char** argv) {
  return tilewise::run_main([&] {
    tilewise::Options options(
        "08_roofline", "What is this machine, and how fast can each of its parts be at best?");
    std::string part = "all";
    std::int64_t steps = is_simulated() ? 1000 : 1 << 16;
    std::int64_t words = is_simulated() ? 140003 : 1 << 27;
    Sizes n = {is_simulated() ? 20001 : 1 << 26};
    Sizes fmas =
        is_simulated() ? Sizes{1, 4, 16, 64} : Sizes{1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
    options.add("--part", part, "Which table",
                {"all", "latency", "arithmetic", "bandwidth", "vector_add", "roofline"});
    options.add("--steps", steps, "Steps of a walk from address to address", {1, 1 << 24});
    options.add("--words", words, "Words of 4 bytes that are read from DRAM and copied",
                {4, std::int64_t{1} << 33});
    options.add("--n", n, "Lengths of the vectors that are added, a list",
                {32, std::int64_t{1} << 32});
    options.add("--fmas", fmas, "Multiply-adds per element, a list", {1, 1 << 20});
    options.parse(argc, argv);

    describe_machine();
    const unsigned sms = is_simulated() ? 2 : tilewise::device().sms;
    Ceilings table(options);
    const auto wanted = [&](const char* name) { return part == "all" || part == name; };
    if (wanted("latency")) latencies(table, static_cast<unsigned>(steps), options.seed());
    if (wanted("arithmetic")) arithmetic(table, sms);
    if (wanted("bandwidth")) bandwidth(table, sms, static_cast<std::size_t>(words), options.seed());
    for (const std::int64_t size : n) {
      const auto vectors =
          std::make_shared<Vectors>(static_cast<std::size_t>(size), options.seed(), options.data());
      if (wanted("vector_add")) vector_add(table, vectors);
      if (wanted("roofline")) roofline(table, vectors, fmas);
    }
    conclude(table);
    return table.finish();
  });
}
