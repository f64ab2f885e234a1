#include "model/rates.hpp"

#include <cctype>
#include <cstring>
#include <sstream>

namespace tilewise::sim {

namespace {

// CUDA C++ Programming Guide, table "Throughput of Native Arithmetic Instructions": results per clock and SM of 32-bit
// floating-point add, multiply, multiply-add.
unsigned fp32_lanes(int major, int minor) {
  const int capability = 10 * major + minor;
  return capability <= 80 ? 64 : 128;  // 7.0, 7.5 and 8.0; 8.6, 8.9, 9.0 and 10.0
}

// NVIDIA's white papers of these generations, by what their tensor cores do together in a clock with dense inputs of 16 bits: Volta and
// Turing 8 x 64, A100 4 x 256, the other Ampere cards and Ada 4 x 128, Hopper 4 x 512, B200 4 x 1024.
unsigned tensor_rate(int major, int minor) {
  switch (10 * major + minor) {
    case 80:
      return 1024;
    case 90:
      return 2048;
    case 100:
      return 4096;
    default:
      return major < 9 ? 512 : 0;
  }
}

// GeForce cards run faster than the boost clock on their data sheets. What nvidia-smi -q -d CLOCK lists below "Max Clocks":
double highest_clock(const Device& device) {
  if (std::strcmp(device.key, "rtx3090") == 0) return 2.100e9;
  if (std::strcmp(device.key, "rtx4090") == 0) return 3.105e9;
  return 1e3 * device.clock_khz;  // of the others, the two are the same
}

}  // namespace

model::Rates rates_of(const Device& device) {
  model::Rates r;
  r.clock = highest_clock(device);
  r.sms = static_cast<unsigned>(device.multiprocessors);
  r.fp32 = fp32_lanes(device.major, device.minor);
  r.fp64 = r.fp32 / static_cast<unsigned>(device.fp32_to_fp64);  // the same table: 64, 32, or 2
  r.tensor = tensor_rate(device.major, device.minor);
  // PTX ISA, fma: .f32x2 needs sm_100.
  r.fp32_per_lane = device.major >= 10 ? 2 : 1;
  // CUDA C++ Programming Guide, compute capabilities 7.x to 10.0: 4 warp schedulers, each issues an instruction a clock.
  r.issue = 4;
  // NVIDIA's developer forum, 273699: "The LSU pipeline accepts 1 instruction per cycle."
  r.memory_issue = 1;
  // The same guide: shared memory has 32 banks, and each delivers 32 bits a clock. That the passes of global accesses go
  // through the same banks at the same rate was found on an H200 (docs/architecture.md), and its SM is that of compute
  // capability 9.0.
  r.l1_passes = 1;
  r.l1_rules = device.major == 9 && device.minor == 0;
  // The peak of l1tex__m_xbar2l1tex_read_bytes, as Nsight Compute gives it on an H200: 16,896 bytes per clock, 132 SMs.
  r.l2_bytes = 128;
  r.l2_capacity = static_cast<double>(device.l2);
  // The data sheets' rate: two transfers a clock.
  r.dram = 2e3 * device.memory_clock_khz * device.memory_bus_bits / 8;
  // Lesson 00, docs/results/nvidia-h200.json: "global memory, in DRAM".
  if (std::strcmp(device.key, "h200") == 0) r.dram_latency = 335e-9;
  return r;
}

std::string short_name(const Device& device) {
  std::istringstream words(device.name);
  std::string name;
  for (std::string word; words >> word;) {
    if (word == "NVIDIA" || word == "Tesla" || word == "GeForce") continue;
    word = word.substr(0, word.find('-'));
    if (word.ends_with("GB")) break;
    name += (name.empty() ? "" : " ") + word;
  }
  return name;
}

std::string with_article(const std::string& name) {
  // Letters are spelled: "an ell four".
  const bool vowel = !name.empty() && std::strchr("AEFHILMNORSX", name.front()) != nullptr;
  return (vowel ? "an " : "a ") + name;
}

}  // namespace tilewise::sim
