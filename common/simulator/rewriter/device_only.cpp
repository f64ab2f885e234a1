#include "device_only.hpp"

#include <algorithm>
#include <iterator>

namespace tilewise::sim {
namespace {

// Each was called by host code, with arguments of many types, and nvcc 13.0 refused all of these calls for that alone (three of
// __nv_atomic_*, the others of which are in its documentation). Sorted as bytes.
// clang-format off
constexpr std::string_view kNames[] = {
    "__activemask", "__all", "__all_sync", "__any", "__any_sync", "__ballot", "__ballot_sync", "__barrier_sync",
    "__barrier_sync_count", "__bfloat162int_rd", "__bfloat162int_rn", "__bfloat162int_ru", "__bfloat162ll_rd",
    "__bfloat162ll_rn", "__bfloat162ll_ru", "__bfloat162short_rd", "__bfloat162short_rn", "__bfloat162short_ru",
    "__bfloat162uint_rd", "__bfloat162uint_rn", "__bfloat162uint_ru", "__bfloat162ull_rd", "__bfloat162ull_rn",
    "__bfloat162ull_ru", "__bfloat162ushort_rd", "__bfloat162ushort_rn", "__bfloat162ushort_ru", "__brev", "__brevll",
    "__brkpt", "__byte_perm", "__clusterDim", "__clusterDimIsSpecified", "__clusterGridDimInClusters", "__clusterIdx",
    "__clusterRelativeBlockIdx", "__clusterRelativeBlockRank", "__clusterSizeInBlocks", "__cluster_barrier_arrive",
    "__cluster_barrier_arrive_relaxed", "__cluster_barrier_wait", "__cluster_map_shared_multicast",
    "__cluster_map_shared_rank", "__cluster_query_shared_rank", "__clz", "__clzll", "__cosf",
    "__cvta_constant_to_generic", "__cvta_generic_to_constant", "__cvta_generic_to_global",
    "__cvta_generic_to_grid_constant", "__cvta_generic_to_local", "__cvta_generic_to_shared",
    "__cvta_global_to_generic", "__cvta_grid_constant_to_generic", "__cvta_local_to_generic",
    "__cvta_shared_to_generic", "__dadd_rd", "__dadd_rn", "__dadd_ru", "__dadd_rz", "__ddiv_rd", "__ddiv_rn",
    "__ddiv_ru", "__ddiv_rz", "__dmul_rd", "__dmul_rn", "__dmul_ru", "__dmul_rz", "__double2float_rd",
    "__double2float_rn", "__double2float_ru", "__double2float_rz", "__double2hiint", "__double2int_rd",
    "__double2int_rn", "__double2int_ru", "__double2int_rz", "__double2ll_rd", "__double2ll_rn", "__double2ll_ru",
    "__double2ll_rz", "__double2loint", "__double2uint_rd", "__double2uint_rn", "__double2uint_ru", "__double2uint_rz",
    "__double2ull_rd", "__double2ull_rn", "__double2ull_ru", "__double2ull_rz", "__double_as_longlong", "__dp2a_hi",
    "__dp2a_lo", "__dp4a", "__drcp_rd", "__drcp_rn", "__drcp_ru", "__drcp_rz", "__dsqrt_rd", "__dsqrt_rn", "__dsqrt_ru",
    "__dsqrt_rz", "__dsub_rd", "__dsub_rn", "__dsub_ru", "__dsub_rz", "__exp10f", "__expf", "__fadd_rd", "__fadd_rn",
    "__fadd_ru", "__fadd_rz", "__fdiv_rd", "__fdiv_rn", "__fdiv_ru", "__fdiv_rz", "__fdividef", "__ffs", "__ffsll",
    "__float2int_rd", "__float2int_rn", "__float2int_ru", "__float2int_rz", "__float2ll_rd", "__float2ll_rn",
    "__float2ll_ru", "__float2ll_rz", "__float2uint_rd", "__float2uint_rn", "__float2uint_ru", "__float2uint_rz",
    "__float2ull_rd", "__float2ull_rn", "__float2ull_ru", "__float2ull_rz", "__float_as_int", "__float_as_uint",
    "__fma_rd", "__fma_rn", "__fma_ru", "__fma_rz", "__fmaf_ieee_rd", "__fmaf_ieee_rn", "__fmaf_ieee_ru",
    "__fmaf_ieee_rz", "__fmaf_rd", "__fmaf_rn", "__fmaf_ru", "__fmaf_rz", "__fmul_rd", "__fmul_rn", "__fmul_ru",
    "__fmul_rz", "__fns", "__frcp_rd", "__frcp_rn", "__frcp_ru", "__frcp_rz", "__frsqrt_rn", "__fsqrt_rd", "__fsqrt_rn",
    "__fsqrt_ru", "__fsqrt_rz", "__fsub_rd", "__fsub_rn", "__fsub_ru", "__fsub_rz", "__funnelshift_l",
    "__funnelshift_lc", "__funnelshift_r", "__funnelshift_rc", "__half2int_rd", "__half2int_rn", "__half2int_ru",
    "__half2ll_rd", "__half2ll_rn", "__half2ll_ru", "__half2short_rd", "__half2short_rn", "__half2short_ru",
    "__half2uint_rd", "__half2uint_rn", "__half2uint_ru", "__half2ull_rd", "__half2ull_rn", "__half2ull_ru",
    "__half2ushort_rd", "__half2ushort_rn", "__half2ushort_ru", "__hcmadd", "__hfma", "__hfma2", "__hfma2_relu",
    "__hfma2_sat", "__hfma_relu", "__hfma_sat", "__hiloint2double", "__int2bfloat16_rd", "__int2bfloat16_ru",
    "__int2bfloat16_rz", "__int2double_rn", "__int2float_rd", "__int2float_rn", "__int2float_ru", "__int2float_rz",
    "__int_as_float", "__isClusterShared", "__isConstant", "__isCtaShared", "__isGlobal", "__isGridConstant",
    "__isLocal", "__isShared", "__ldca", "__ldcg", "__ldcs", "__ldcv", "__ldg", "__ldlu", "__ll2bfloat16_rd",
    "__ll2bfloat16_ru", "__ll2bfloat16_rz", "__ll2double_rd", "__ll2double_rn", "__ll2double_ru", "__ll2double_rz",
    "__ll2float_rd", "__ll2float_rn", "__ll2float_ru", "__ll2float_rz", "__log10f", "__log2f", "__logf",
    "__longlong_as_double", "__match_all_sync", "__match_any_sync", "__mbarrier_arrive", "__mbarrier_arrive_and_drop",
    "__mbarrier_init", "__mbarrier_inval", "__mbarrier_test_wait", "__mbarrier_test_wait_parity",
    "__mbarrier_token_pending_count", "__mbarrier_try_wait", "__mbarrier_try_wait_parity", "__mul24", "__mul64hi",
    "__mulhi", "__nanosleep", "__nv_atomic_add", "__nv_atomic_and", "__nv_atomic_compare_exchange",
    "__nv_atomic_compare_exchange_n", "__nv_atomic_exchange", "__nv_atomic_exchange_n", "__nv_atomic_fetch_add",
    "__nv_atomic_fetch_and", "__nv_atomic_fetch_max", "__nv_atomic_fetch_min", "__nv_atomic_fetch_or",
    "__nv_atomic_fetch_sub", "__nv_atomic_fetch_xor", "__nv_atomic_load", "__nv_atomic_load_n", "__nv_atomic_max",
    "__nv_atomic_min", "__nv_atomic_or", "__nv_atomic_store", "__nv_atomic_store_n", "__nv_atomic_sub",
    "__nv_atomic_thread_fence", "__nv_atomic_xor", "__pm0", "__pm1", "__pm2", "__pm3", "__popc", "__popcll", "__powf",
    "__prof_trigger", "__reduce_add_sync", "__reduce_and_sync", "__reduce_max_sync", "__reduce_min_sync",
    "__reduce_or_sync", "__reduce_xor_sync", "__rhadd", "__sad", "__saturatef", "__shfl_down_sync", "__shfl_sync",
    "__shfl_up_sync", "__shfl_xor_sync", "__short2bfloat16_rd", "__short2bfloat16_ru", "__short2bfloat16_rz",
    "__sincosf", "__sinf", "__stcg", "__stcs", "__stwb", "__stwt", "__syncthreads", "__syncthreads_and",
    "__syncthreads_count", "__syncthreads_or", "__syncwarp", "__tanf", "__tanhf", "__threadfence",
    "__threadfence_block", "__threadfence_cluster", "__threadfence_system", "__trap", "__u128AtomicCAS",
    "__u128AtomicCAS_block", "__u128AtomicCAS_system", "__u128AtomicExch", "__u128AtomicExch_block",
    "__u128AtomicExch_system", "__uhadd", "__uint2bfloat16_rd", "__uint2bfloat16_ru", "__uint2bfloat16_rz",
    "__uint2double_rn", "__uint2float_rd", "__uint2float_rn", "__uint2float_ru", "__uint2float_rz", "__uint_as_float",
    "__ull2bfloat16_rd", "__ull2bfloat16_ru", "__ull2bfloat16_rz", "__ull2double_rd", "__ull2double_rn",
    "__ull2double_ru", "__ull2double_rz", "__ull2float_rd", "__ull2float_rn", "__ull2float_ru", "__ull2float_rz",
    "__umul24", "__umul64hi", "__umulhi", "__uni_sync", "__urhadd", "__usad", "__ushort2bfloat16_rd",
    "__ushort2bfloat16_ru", "__ushort2bfloat16_rz", "__vabs2", "__vabs4", "__vabsdiffs2", "__vabsdiffs4",
    "__vabsdiffu2", "__vabsdiffu4", "__vabsss2", "__vabsss4", "__vadd2", "__vadd4", "__vavgs2", "__vavgs4", "__vavgu2",
    "__vavgu4", "__vcmpeq2", "__vcmpeq4", "__vcmpges2", "__vcmpges4", "__vcmpgeu2", "__vcmpgeu4", "__vcmpgts2",
    "__vcmpgts4", "__vcmpgtu2", "__vcmpgtu4", "__vcmples2", "__vcmples4", "__vcmpleu2", "__vcmpleu4", "__vcmplts2",
    "__vcmplts4", "__vcmpltu2", "__vcmpltu4", "__vcmpne2", "__vcmpne4", "__vhaddu2", "__vhaddu4", "__vmaxs2",
    "__vmaxs4", "__vmaxu2", "__vmaxu4", "__vmins2", "__vmins4", "__vminu2", "__vminu4", "__vneg2", "__vneg4",
    "__vnegss2", "__vnegss4", "__vsads2", "__vsads4", "__vsadu2", "__vsadu4", "__vseteq2", "__vseteq4", "__vsetges2",
    "__vsetges4", "__vsetgeu2", "__vsetgeu4", "__vsetgts2", "__vsetgts4", "__vsetgtu2", "__vsetgtu4", "__vsetles2",
    "__vsetles4", "__vsetleu2", "__vsetleu4", "__vsetlts2", "__vsetlts4", "__vsetltu2", "__vsetltu4", "__vsetne2",
    "__vsetne4", "__vsub2", "__vsub4", "__vsubss4", "__vsubus4", "atomicAdd", "atomicAdd_block", "atomicAdd_system",
    "atomicAnd", "atomicAnd_block", "atomicAnd_system", "atomicCAS", "atomicCAS_block", "atomicCAS_system", "atomicDec",
    "atomicDec_block", "atomicDec_system", "atomicExch", "atomicExch_block", "atomicExch_system", "atomicInc",
    "atomicInc_block", "atomicInc_system", "atomicMax", "atomicMax_block", "atomicMax_system", "atomicMin",
    "atomicMin_block", "atomicMin_system", "atomicOr", "atomicOr_block", "atomicOr_system", "atomicSub",
    "atomicSub_block", "atomicSub_system", "atomicXor", "atomicXor_block", "atomicXor_system", "clock64", "h2ceil",
    "h2cos", "h2exp", "h2exp10", "h2exp2", "h2floor", "h2log", "h2log10", "h2log2", "h2rcp", "h2rint", "h2rsqrt",
    "h2sin", "h2sqrt", "h2tanh", "h2tanh_approx", "h2trunc", "hceil", "hcos", "hexp", "hexp10", "hexp2", "hfloor",
    "hlog", "hlog10", "hlog2", "hrcp", "hrint", "hrsqrt", "hsin", "hsqrt", "htanh", "htanh_approx", "htrunc",
};
// clang-format on
static_assert(std::is_sorted(std::begin(kNames), std::end(kNames)));

}  // namespace

bool is_for_device_only(std::string_view function) {
  return std::binary_search(std::begin(kNames), std::end(kNames), function);
}

}  // namespace tilewise::sim
