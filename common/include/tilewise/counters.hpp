/// @file
/// What the memory system did during a launch. Counted on the simulator; on a GPU, ask Nsight Compute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tilewise {

/// The least time in which a GPU can do what was counted: see docs/bounds.md. Of several launches, their times together.
struct LeastTime {
  std::string device;                                    ///< "H200"
  double seconds = 0;                                    ///< 0: nothing is known
  std::string by;                                        ///< the part of the GPU that needs it, "L1 data"
  std::vector<std::pair<std::string, double>> all = {};  ///< every part, and the seconds that it needs
  /// No bound: bytes that an SM waits for when each thread has one load in flight, and that DRAM needs to be busy. 0: unknown
  double in_flight = 0, dram_needs = 0;
};

/// Counts of one launch, or of several together. Nsight Compute's name of each metric is beside it.
struct Counts {
  std::uint64_t global_load_requests = 0;     ///< l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
  std::uint64_t global_load_sectors = 0;      ///< l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
  std::uint64_t global_load_bytes = 0;        ///< asked for by threads, each thread counted
  std::uint64_t global_load_tag_passes = 0;   ///< l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum
  std::uint64_t global_load_data_passes = 0;  ///< through L1's 32 banks, as many as the busiest has different words
  std::uint64_t global_store_requests = 0;    ///< l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
  std::uint64_t global_store_sectors = 0;     ///< l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
  std::uint64_t global_store_bytes = 0;
  std::uint64_t global_store_tag_passes = 0;  ///< l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_st.sum
  std::uint64_t global_store_data_passes = 0;
  std::uint64_t atomic_requests = 0;  ///< atomics and reductions together
  std::uint64_t atomic_sectors = 0;
  std::uint64_t shared_loads = 0;             ///< smsp__inst_executed_op_shared_ld.sum
  std::uint64_t shared_load_wavefronts = 0;   ///< smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
  std::uint64_t shared_stores = 0;            ///< smsp__inst_executed_op_shared_st.sum
  std::uint64_t shared_store_wavefronts = 0;  ///< smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum
  std::uint64_t async_copies = 0;             ///< to shared memory; they are among the global loads. ..._op_ldgsts.sum
  std::uint64_t async_copy_wavefronts = 0;    ///< smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum
  std::uint64_t matrix_loads = 0;             ///< 8 x 8 matrices from shared memory: smsp__inst_executed_op_ldsm.sum
  std::uint64_t matrix_load_wavefronts = 0;   ///< smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum
  std::uint64_t shared_conflicts = 0;         ///< wavefronts beyond those of a conflict-free layout, loads and stores
  std::uint64_t dram_bytes_at_least = 0;      ///< every distinct 32-byte sector once
  std::uint64_t distinct_bytes_loaded = 0;    ///< of these, those that were loaded before anything was stored there
  std::uint64_t distinct_bytes_stored = 0;    ///< and those that were stored
  std::uint64_t flops = 0;                    ///< FP32 and FP64 operations as written: a * b + c is two
  std::uint64_t tensor_instructions = 0;      ///< sm__inst_executed_pipe_tensor_op_hmma.sum
  std::uint64_t tensor_flops = 0;             ///< of these, and not among `flops`
  std::size_t static_shared_bytes = 0;        ///< per block
  LeastTime at_least;                         ///< on the simulated GPU

  /// 4 is perfect for 4-byte elements, 32 the worst. 0 without loads.
  double sectors_per_load() const;
  double sectors_per_store() const;
  std::uint64_t shared_wavefronts() const {
    return shared_load_wavefronts + shared_store_wavefronts + matrix_load_wavefronts + async_copy_wavefronts;
  }
  /// Bytes that threads asked global memory for.
  std::uint64_t global_bytes() const { return global_load_bytes + global_store_bytes; }
};

/// Runs `call` with neither counting nor the search for findings: on the simulator about ten times as fast. When the
/// user demands a report (TILEWISE_REPORT, TILEWISE_COUNT=1) its launches are watched all the same.
void run_unwatched(const std::function<void()>& call);

/// False when launches of this much work are better run unwatched, and the user does not demand counts.
/// `work` is in FLOP or bytes; on a GPU always false.
bool worth_counting(double work, double limit);

/// Simulator: from here on count() runs about that many blocks of each launch in place of all, and scales their counts to
/// the whole grid. Results are then unfinished, and nothing is looked through for findings. 0: all blocks. Other launches
/// are run whole: they may prepare what the counted ones work on.
void sample_blocks(std::uint64_t blocks);
/// What sample_blocks() was last given; 0 on a GPU.
std::uint64_t sampled_blocks();
/// TILEWISE_SAMPLE; 0 when it is not set, and on a GPU.
std::uint64_t sample_demanded();

std::optional<Counts> count_call(const std::function<void()>& call);

/// Runs `f` with counting on and returns the counts of all its launches together; nothing when it launched no kernel (the
/// simulator's cuBLAS is none). On a GPU runs `f` and returns nothing.
template <class F>
std::optional<Counts> count(F&& f) {
  return count_call(std::function<void()>([&f] { f(); }));
}

}  // namespace tilewise
