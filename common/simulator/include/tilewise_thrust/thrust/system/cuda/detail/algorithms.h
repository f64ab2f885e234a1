// Thrust's algorithms for device memory: those of its host system, while which run host code may use device memory.
#ifndef TILEWISE_THRUST_ALGORITHMS
#define TILEWISE_THRUST_ALGORITHMS

#include <tilewise_sim/host_algorithm.hpp>
#include <utility>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cuda {
namespace detail {

/// Throws what Thrust throws for an error of CUDA's: get_value.h.
[[noreturn]] inline void throw_error(int error);

class Running {
 public:
  /// `name`: null for the use of a single element.
  explicit Running(const char* name = nullptr, CUstream_st* stream = nullptr) {
    if (const int error = ::tilewise::sim::begin_host_algorithm(name, stream)) throw_error(error);
  }
  ~Running() { ::tilewise::sim::end_host_algorithm(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

// The inner call finds Thrust's function by its first argument, wherever that is declared.
#define TILEWISE_THRUST(name)                                                                 \
  template <typename Derived, typename... Arguments>                                          \
  decltype(auto) name(execution_policy<Derived>& policy, Arguments&&... arguments) {          \
    const Running running("thrust::" #name, stream_of(thrust::detail::derived_cast(policy))); \
    thrust::system::cpp::detail::tag host;                                                    \
    return name(host, std::forward<Arguments>(arguments)...);                                 \
  }
TILEWISE_THRUST(adjacent_difference)
TILEWISE_THRUST(all_of)
TILEWISE_THRUST(any_of)
TILEWISE_THRUST(binary_search)
TILEWISE_THRUST(copy)
TILEWISE_THRUST(copy_if)
TILEWISE_THRUST(copy_n)
TILEWISE_THRUST(count)
TILEWISE_THRUST(count_if)
TILEWISE_THRUST(equal)
TILEWISE_THRUST(equal_range)
TILEWISE_THRUST(exclusive_scan)
TILEWISE_THRUST(exclusive_scan_by_key)
TILEWISE_THRUST(fill)
TILEWISE_THRUST(fill_n)
TILEWISE_THRUST(find)
TILEWISE_THRUST(find_if)
TILEWISE_THRUST(find_if_not)
TILEWISE_THRUST(for_each)
TILEWISE_THRUST(for_each_n)
TILEWISE_THRUST(gather)
TILEWISE_THRUST(gather_if)
TILEWISE_THRUST(generate)
TILEWISE_THRUST(generate_n)
TILEWISE_THRUST(inclusive_scan)
TILEWISE_THRUST(inclusive_scan_by_key)
TILEWISE_THRUST(inner_product)
TILEWISE_THRUST(is_partitioned)
TILEWISE_THRUST(is_sorted)
TILEWISE_THRUST(is_sorted_until)
TILEWISE_THRUST(lower_bound)
TILEWISE_THRUST(max_element)
TILEWISE_THRUST(merge)
TILEWISE_THRUST(merge_by_key)
TILEWISE_THRUST(min_element)
TILEWISE_THRUST(minmax_element)
TILEWISE_THRUST(mismatch)
TILEWISE_THRUST(none_of)
TILEWISE_THRUST(partition)
TILEWISE_THRUST(partition_copy)
TILEWISE_THRUST(partition_point)
TILEWISE_THRUST(reduce)
TILEWISE_THRUST(reduce_by_key)
TILEWISE_THRUST(remove)
TILEWISE_THRUST(remove_copy)
TILEWISE_THRUST(remove_copy_if)
TILEWISE_THRUST(remove_if)
TILEWISE_THRUST(replace)
TILEWISE_THRUST(replace_copy)
TILEWISE_THRUST(replace_copy_if)
TILEWISE_THRUST(replace_if)
TILEWISE_THRUST(reverse)
TILEWISE_THRUST(reverse_copy)
TILEWISE_THRUST(scatter)
TILEWISE_THRUST(scatter_if)
TILEWISE_THRUST(sequence)
TILEWISE_THRUST(set_difference)
TILEWISE_THRUST(set_difference_by_key)
TILEWISE_THRUST(set_intersection)
TILEWISE_THRUST(set_intersection_by_key)
TILEWISE_THRUST(set_symmetric_difference)
TILEWISE_THRUST(set_symmetric_difference_by_key)
TILEWISE_THRUST(set_union)
TILEWISE_THRUST(set_union_by_key)
TILEWISE_THRUST(shuffle)
TILEWISE_THRUST(shuffle_copy)
TILEWISE_THRUST(sort)
TILEWISE_THRUST(sort_by_key)
TILEWISE_THRUST(stable_partition)
TILEWISE_THRUST(stable_partition_copy)
TILEWISE_THRUST(stable_sort)
TILEWISE_THRUST(stable_sort_by_key)
TILEWISE_THRUST(swap_ranges)
TILEWISE_THRUST(tabulate)
TILEWISE_THRUST(transform)
TILEWISE_THRUST(transform_exclusive_scan)
TILEWISE_THRUST(transform_if)
TILEWISE_THRUST(transform_inclusive_scan)
TILEWISE_THRUST(transform_reduce)
TILEWISE_THRUST(uninitialized_copy)
TILEWISE_THRUST(uninitialized_copy_n)
TILEWISE_THRUST(uninitialized_fill)
TILEWISE_THRUST(uninitialized_fill_n)
TILEWISE_THRUST(unique)
TILEWISE_THRUST(unique_by_key)
TILEWISE_THRUST(unique_by_key_copy)
TILEWISE_THRUST(unique_copy)
TILEWISE_THRUST(unique_count)
TILEWISE_THRUST(upper_bound)
#undef TILEWISE_THRUST

}  // namespace detail
}  // namespace cuda
}  // namespace system
THRUST_NAMESPACE_END

#endif
