#include "tilewise/counters.hpp"

#ifdef TILEWISE_SIMULATOR
#include <tilewise_sim/report.hpp>
#endif

namespace tilewise {
namespace {

double ratio(std::uint64_t some, std::uint64_t requests) {
  return requests == 0 ? 0 : static_cast<double>(some) / static_cast<double>(requests);
}

}  // namespace

double Counts::sectors_per_load() const { return ratio(global_load_sectors, global_load_requests); }
double Counts::sectors_per_store() const { return ratio(global_store_sectors, global_store_requests); }

#ifdef TILEWISE_SIMULATOR

namespace {

std::uint64_t sample = 0;

// What is watched is switched back even when the callable throws.
class Watch {
 public:
  Watch(bool counting, bool checking)
      : counting_before_(sim::set_counting(counting)), checking_before_(sim::set_checking(checking)) {
    if (sample != 0) sim::set_sample(counting ? sample : 0);
  }
  ~Watch() {
    sim::set_counting(counting_before_);
    sim::set_checking(checking_before_);
    if (sample != 0) sim::set_sample(0);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  bool counting_before_, checking_before_;
};

LeastTime least_time(const sim::Bound& bound) {
  LeastTime time{sim::device_name(), bound.seconds, bound.seconds > 0 ? sim::name(bound.by) : ""};
  for (std::size_t i = 0; i < sim::kResources; ++i)
    if (bound.all[i] > 0) time.all.emplace_back(sim::name(static_cast<sim::Resource>(i)), bound.all[i]);
  const sim::InFlight waiting = sim::last_in_flight();
  time.in_flight = waiting.one_load_each;
  time.dram_needs = waiting.dram_needs;
  return time;
}

}  // namespace

std::optional<Counts> count_call(const std::function<void()>& call) {
  const std::uint64_t before = sim::launches_ended();
  {
    const Watch watch(true, sample == 0);
    sim::forget_sum();
    call();
  }
  if (sim::launches_ended() == before) return std::nullopt;  // a library's call, a copy: no kernel ran
  const sim::Counters& c = sim::sum_of_counters();
  Counts counts;
  counts.global_load_requests = c.global_load_requests;
  counts.global_load_sectors = c.global_load_sectors;
  counts.global_load_bytes = c.global_load_bytes;
  counts.global_load_tag_passes = c.global_load_tag_passes;
  counts.global_load_data_passes = c.global_load_data_passes;
  counts.global_store_requests = c.global_store_requests;
  counts.global_store_sectors = c.global_store_sectors;
  counts.global_store_bytes = c.global_store_bytes;
  counts.global_store_tag_passes = c.global_store_tag_passes;
  counts.global_store_data_passes = c.global_store_data_passes;
  counts.atomic_requests = c.atomic_requests + c.reduction_requests;
  counts.atomic_sectors = c.atomic_sectors + c.reduction_sectors;
  counts.shared_loads = c.shared_load_instructions;
  counts.shared_load_wavefronts = c.shared_load_wavefronts;
  counts.shared_stores = c.shared_store_instructions;
  counts.shared_store_wavefronts = c.shared_store_wavefronts;
  counts.async_copies = c.async_copy_instructions;
  counts.async_copy_wavefronts = c.async_copy_wavefronts;
  counts.matrix_loads = c.matrix_load_instructions;
  counts.matrix_load_wavefronts = c.matrix_load_wavefronts;
  counts.shared_conflicts = c.shared_load_wavefronts - c.shared_load_ideal + c.shared_store_wavefronts -
                            c.shared_store_ideal + c.matrix_load_wavefronts - c.matrix_load_ideal;
  counts.dram_bytes_at_least = c.dram_bytes_at_least;
  counts.distinct_bytes_loaded = c.distinct_bytes_loaded;
  counts.distinct_bytes_stored = c.distinct_bytes_stored;
  counts.flops = c.flop_single + c.flop_double;
  counts.tensor_instructions = c.tensor_instructions;
  counts.tensor_flops = c.tensor_flop;
  counts.static_shared_bytes = sim::last_static_shared();
  counts.at_least = least_time(sim::sum_of_bounds());
  return counts;
}

void run_unwatched(const std::function<void()>& call) {
  if (sim::counting_demanded()) return call();
  const Watch watch(false, false);
  call();
}

bool worth_counting(double work, double limit) { return sample != 0 || sim::counting_demanded() || work <= limit; }

void sample_blocks(std::uint64_t blocks) {
  if ((blocks != 0) != (sample != 0)) sim::set_checking(blocks == 0);
  sample = blocks;
  sim::set_sample(0);  // but in count()
}

std::uint64_t sampled_blocks() { return sample; }

std::uint64_t sample_demanded() { return sim::sample_size(); }

#else

void run_unwatched(const std::function<void()>& call) { call(); }

bool worth_counting(double, double) { return false; }

void sample_blocks(std::uint64_t) {}
std::uint64_t sampled_blocks() { return 0; }
std::uint64_t sample_demanded() { return 0; }

std::optional<Counts> count_call(const std::function<void()>& call) {
  call();
  return std::nullopt;
}

#endif

}  // namespace tilewise
