// CUB's part for whole devices: loops of host code, as Thrust's algorithms are (runtime/host_algorithm.hpp). What a call reads and writes is work in its
// stream, so that a missing order is found. Sizes of temporary storage are not CUB's.
#pragma once

#include <algorithm>
#include <tilewise_sim/host_algorithm.hpp>
#include <vector>

#include "kernels/operators.cuh"

namespace cub {
namespace tilewise {

template <class It>
using Value = typename std::iterator_traits<It>::value_type;

/// What an output takes; where that says nothing, what the input has.
template <class Out, class Otherwise>
using ValueOr = std::conditional_t<std::is_void_v<Value<Out>>, Otherwise, Value<Out>>;

template <class It>
void given(const char* what, const It& it) {
  if constexpr (std::is_pointer_v<It>) ::tilewise::sim::algorithm_is_given(what, it);
}

/// Asked without storage, a call says how much it needs. `work` is done with device memory open.
template <class Work>
cudaError_t call(const char* name, void* storage, std::size_t& bytes, std::size_t needs, cudaStream_t stream,
                 Work work) {
  if (storage == nullptr) {
    bytes = needs;
    return cudaSuccess;
  }
  if (bytes < needs) return cudaErrorInvalidValue;
  if (const int error = ::tilewise::sim::begin_stream_algorithm(name, storage, needs, stream))
    return static_cast<cudaError_t>(error);
  work();
  ::tilewise::sim::end_stream_algorithm();
  return cudaSuccess;
}

constexpr std::size_t kStorage = 1023;  // for algorithms that need hardly any

/// In the order of a tree, as on a GPU, so that sums of many floats are as exact.
template <class Sum, class In, class Op>
Sum reduced(In in, std::size_t begin, std::size_t n, Op op) {
  constexpr std::size_t kInARow = 32;
  if (n > kInARow) return op(reduced<Sum>(in, begin, n / 2, op), reduced<Sum>(in, begin + n / 2, n - n / 2, op));
  Sum sum = static_cast<Sum>(in[begin]);
  for (std::size_t i = 1; i < n; ++i) sum = static_cast<Sum>(op(sum, in[begin + i]));
  return sum;
}

template <class In, class Op, class Init>
auto reduced_from(In in, std::size_t begin, std::size_t end, Op op, Init init) {
  using Sum = std::decay_t<decltype(op(init, in[begin]))>;
  return begin >= end ? static_cast<Sum>(init)
                      : static_cast<Sum>(op(static_cast<Sum>(init), reduced<Sum>(in, begin, end - begin, op)));
}

template <class T>
T smallest() {
  return std::numeric_limits<T>::has_infinity ? T(-std::numeric_limits<T>::infinity())
                                              : std::numeric_limits<T>::lowest();
}
template <class T>
T largest() {
  return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
}

}  // namespace tilewise

// ---------------------------------------------------------------- reductions

struct DeviceReduce {
  template <class In, class Out, class Op, class Init, class N>
  static cudaError_t Reduce(void* storage, size_t& bytes, In in, Out out, N n, Op op, Init init,
                            cudaStream_t stream = 0, bool = false) {
    return tilewise::call("cub::DeviceReduce", storage, bytes, tilewise::kStorage, stream, [&] {
      if (n > 0) tilewise::given("d_in", in);
      tilewise::given("d_out", out);
      *out = tilewise::reduced_from(in, 0, n, op, init);
    });
  }
  /// As older versions of CUB have it: the first value is 0.
  template <class In, class Out, class Op>
  static cudaError_t Reduce(void* storage, size_t& bytes, In in, Out out, int n, Op op) {
    return Reduce(storage, bytes, in, out, n, op, tilewise::Value<In>());
  }
  template <class In, class Out, class N>
  static cudaError_t Sum(void* storage, size_t& bytes, In in, Out out, N n, cudaStream_t stream = 0, bool = false) {
    using T = tilewise::ValueOr<Out, tilewise::Value<In>>;
    return Reduce(storage, bytes, in, out, n, cub::Sum(), T(0), stream);
  }
  template <class In, class Out, class N>
  static cudaError_t Min(void* storage, size_t& bytes, In in, Out out, N n, cudaStream_t stream = 0, bool = false) {
    return Reduce(storage, bytes, in, out, n, cub::Min(), tilewise::largest<tilewise::Value<In>>(), stream);
  }
  template <class In, class Out, class N>
  static cudaError_t Max(void* storage, size_t& bytes, In in, Out out, N n, cudaStream_t stream = 0, bool = false) {
    return Reduce(storage, bytes, in, out, n, cub::Max(), tilewise::smallest<tilewise::Value<In>>(), stream);
  }
  template <class In, class Out, class N>
  static cudaError_t ArgMin(void* storage, size_t& bytes, In in, Out out, N n, cudaStream_t stream = 0, bool = false) {
    return position(storage, bytes, in, out, n, tilewise::largest<tilewise::Value<In>>(), cub::ArgMin(), stream);
  }
  template <class In, class Out, class N>
  static cudaError_t ArgMax(void* storage, size_t& bytes, In in, Out out, N n, cudaStream_t stream = 0, bool = false) {
    return position(storage, bytes, in, out, n, tilewise::smallest<tilewise::Value<In>>(), cub::ArgMax(), stream);
  }
  template <class In, class Out, class Op, class Transform, class Init, class N>
  static cudaError_t TransformReduce(void* storage, size_t& bytes, In in, Out out, N n, Op op, Transform transform,
                                     Init init, cudaStream_t stream = 0) {
    return tilewise::call("cub::DeviceReduce", storage, bytes, tilewise::kStorage, stream, [&] {
      if (n > 0) tilewise::given("d_in", in);
      tilewise::given("d_out", out);
      auto sum = init;
      for (N i = 0; i < n; ++i) sum = op(sum, transform(in[i]));
      *out = sum;
    });
  }
  template <class Keys, class Unique, class Values, class Sums, class Count, class Op>
  static cudaError_t ReduceByKey(void* storage, size_t& bytes, Keys keys, Unique unique, Values values, Sums sums,
                                 Count count, Op op, int n, cudaStream_t stream = 0, bool = false) {
    return tilewise::call("cub::DeviceReduce", storage, bytes, tilewise::kStorage, stream, [&] {
      int runs = 0;
      for (int i = 0; i < n;) {
        const auto key = keys[i];
        auto sum = values[i];
        for (++i; i < n && keys[i] == key; ++i) sum = op(sum, values[i]);
        unique[runs] = key;
        sums[runs++] = sum;
      }
      *count = runs;
    });
  }

 private:
  template <class In, class Out, class N, class T, class Op>
  static cudaError_t position(void* storage, size_t& bytes, In in, Out out, N n, T of_nothing, Op op,
                              cudaStream_t stream) {
    return tilewise::call("cub::DeviceReduce", storage, bytes, tilewise::kStorage, stream, [&] {
      if (n > 0) tilewise::given("d_in", in);
      tilewise::given("d_out", out);
      KeyValuePair<int, T> best{n > 0 ? 0 : 1, n > 0 ? static_cast<T>(in[0]) : of_nothing};
      for (N i = 1; i < n; ++i) best = op(best, KeyValuePair<int, T>(static_cast<int>(i), in[i]));
      *out = best;
    });
  }
};

struct DeviceSegmentedReduce {
  template <class In, class Out, class Begins, class Ends, class Op, class T>
  static cudaError_t Reduce(void* storage, size_t& bytes, In in, Out out, int segments, Begins begins, Ends ends, Op op,
                            T init, cudaStream_t stream = 0, bool = false) {
    return tilewise::call("cub::DeviceSegmentedReduce", storage, bytes, tilewise::kStorage, stream, [&] {
      tilewise::given("d_out", out);
      for (int s = 0; s < segments; ++s) out[s] = tilewise::reduced_from(in, begins[s], ends[s], op, init);
    });
  }
  template <class In, class Out, class Begins, class Ends>
  static cudaError_t Sum(void* storage, size_t& bytes, In in, Out out, int segments, Begins begins, Ends ends,
                         cudaStream_t stream = 0, bool = false) {
    return Reduce(storage, bytes, in, out, segments, begins, ends, cub::Sum(), tilewise::Value<In>(0), stream);
  }
  template <class In, class Out, class Begins, class Ends>
  static cudaError_t Min(void* storage, size_t& bytes, In in, Out out, int segments, Begins begins, Ends ends,
                         cudaStream_t stream = 0, bool = false) {
    return Reduce(storage, bytes, in, out, segments, begins, ends, cub::Min(), tilewise::largest<tilewise::Value<In>>(),
                  stream);
  }
  template <class In, class Out, class Begins, class Ends>
  static cudaError_t Max(void* storage, size_t& bytes, In in, Out out, int segments, Begins begins, Ends ends,
                         cudaStream_t stream = 0, bool = false) {
    return Reduce(storage, bytes, in, out, segments, begins, ends, cub::Max(),
                  tilewise::smallest<tilewise::Value<In>>(), stream);
  }
};

// ---------------------------------------------------------------- prefix sums

struct DeviceScan {
  template <class In, class Out, class Op, class Init, class N>
  static cudaError_t ExclusiveScan(void* storage, size_t& bytes, In in, Out out, Op op, Init init, N n,
                                   cudaStream_t stream = 0, bool = false) {
    return tilewise::call("cub::DeviceScan", storage, bytes, tilewise::kStorage, stream, [&] {
      if (n <= 0) return;
      tilewise::given("d_in", in), tilewise::given("d_out", out);
      using Sum = std::decay_t<decltype(op(init, in[0]))>;
      Sum sum = init;
      for (N i = 0; i < n; ++i) {
        const tilewise::Value<In> own = in[i];  // in and out may be the same
        out[i] = sum;
        sum = op(sum, own);
      }
    });
  }
  template <class In, class Out, class Op, class N>
  static cudaError_t InclusiveScan(void* storage, size_t& bytes, In in, Out out, Op op, N n, cudaStream_t stream = 0,
                                   bool = false) {
    return tilewise::call("cub::DeviceScan", storage, bytes, tilewise::kStorage, stream, [&] {
      if (n <= 0) return;
      tilewise::given("d_in", in), tilewise::given("d_out", out);
      using Sum = std::decay_t<decltype(op(in[0], in[0]))>;
      Sum sum = in[0];
      out[0] = sum;
      for (N i = 1; i < n; ++i) out[i] = sum = op(sum, in[i]);
    });
  }
  template <class In, class Out, class N, std::enable_if_t<!std::is_integral_v<Out>, int> = 0>
  static cudaError_t ExclusiveSum(void* storage, size_t& bytes, In in, Out out, N n, cudaStream_t stream = 0,
                                  bool = false) {
    return ExclusiveScan(storage, bytes, in, out, cub::Sum(), tilewise::Value<In>(0), n, stream);
  }
  template <class In, class Out, class N, std::enable_if_t<!std::is_integral_v<Out>, int> = 0>
  static cudaError_t InclusiveSum(void* storage, size_t& bytes, In in, Out out, N n, cudaStream_t stream = 0,
                                  bool = false) {
    return InclusiveScan(storage, bytes, in, out, cub::Sum(), n, stream);
  }
  // In place.
  template <class Data, class N, std::enable_if_t<std::is_integral_v<N>, int> = 0>
  static cudaError_t ExclusiveSum(void* storage, size_t& bytes, Data data, N n, cudaStream_t stream = 0) {
    return ExclusiveScan(storage, bytes, data, data, cub::Sum(), tilewise::Value<Data>(0), n, stream);
  }
  template <class Data, class N, std::enable_if_t<std::is_integral_v<N>, int> = 0>
  static cudaError_t InclusiveSum(void* storage, size_t& bytes, Data data, N n, cudaStream_t stream = 0) {
    return InclusiveScan(storage, bytes, data, data, cub::Sum(), n, stream);
  }
};

// ---------------------------------------------------------------- sorts

namespace tilewise {

/// The elements from `begin` to `end` of both arrays, in the order of some bits of the keys; equal ones stay in their order.
template <class K, class V>
void radix_sort(const K* keys, K* keys_out, const V* values, V* values_out, std::size_t begin, std::size_t end,
                int begin_bit, int end_bit, bool descends) {
  using Word = typename Bits<K>::Word;
  struct Element {
    Word word;
    K key;
    V value;
  };
  constexpr int kBits = 8 * sizeof(K);
  const Word mask =
      Word(end_bit - begin_bit >= kBits ? ~Word(0) : Word((std::uint64_t(1) << (end_bit - begin_bit)) - 1));
  std::vector<Element> elements;
  elements.reserve(end - begin);
  for (std::size_t i = begin; i < end; ++i) {
    const K key = keys[i];
    Word word = begin_bit < kBits ? Word(Word(Bits<K>::of(key) >> begin_bit) & mask) : Word(0);
    if constexpr (std::is_same_v<V, NullType>)
      elements.push_back({descends ? Word(~word) : word, key, {}});
    else
      elements.push_back({descends ? Word(~word) : word, key, values[i]});
  }
  std::stable_sort(elements.begin(), elements.end(), [](auto& a, auto& b) { return a.word < b.word; });
  for (std::size_t i = begin; i < end; ++i) {
    keys_out[i] = elements[i - begin].key;
    if constexpr (!std::is_same_v<V, NullType>) values_out[i] = elements[i - begin].value;
  }
}

template <class K, class V, class N>
cudaError_t radix_sort(const char* name, void* storage, std::size_t& bytes, const K* keys, K* keys_out, const V* values,
                       V* values_out, N n, int begin_bit, int end_bit, bool descends, bool in_place,
                       cudaStream_t stream) {
  constexpr bool kPairs = !std::is_same_v<V, NullType>;
  const std::size_t all = n > 0 ? static_cast<std::size_t>(n) : 0;
  const std::size_t needs = kStorage + (in_place ? 0 : all * (sizeof(K) + (kPairs ? sizeof(V) : 0)));
  return call(name, storage, bytes, needs, stream, [&] {
    if (n <= 0) return;
    given("d_keys_in", keys), given("d_keys_out", keys_out);
    if constexpr (kPairs) given("d_values_in", values), given("d_values_out", values_out);
    radix_sort(keys, keys_out, values, values_out, 0, all, begin_bit, end_bit, descends);
  });
}

}  // namespace tilewise

struct DeviceRadixSort {
#define TILEWISE_CUB_SORTS(Keys, Pairs, descends)                                                                    \
  template <class K, class N>                                                                                        \
  static cudaError_t Keys(void* storage, size_t& bytes, const K* keys, K* keys_out, N n, int begin_bit = 0,          \
                          int end_bit = 8 * sizeof(K), cudaStream_t stream = 0, bool = false) {                      \
    const NullType* none = nullptr;                                                                                  \
    return tilewise::radix_sort("cub::DeviceRadixSort", storage, bytes, keys, keys_out, none,                        \
                                const_cast<NullType*>(none), n, begin_bit, end_bit, descends, false, stream);        \
  }                                                                                                                  \
  template <class K, class N>                                                                                        \
  static cudaError_t Keys(void* storage, size_t& bytes, DoubleBuffer<K>& keys, N n, int begin_bit = 0,               \
                          int end_bit = 8 * sizeof(K), cudaStream_t stream = 0, bool = false) {                      \
    const NullType* none = nullptr;                                                                                  \
    const bool asks = storage == nullptr;                                                                            \
    const cudaError_t error = tilewise::radix_sort(                                                                  \
        "cub::DeviceRadixSort", storage, bytes, static_cast<const K*>(keys.Current()), keys.Alternate(), none,       \
        const_cast<NullType*>(none), n, begin_bit, end_bit, descends, true, stream);                                 \
    if (!asks && error == cudaSuccess) keys.selector ^= 1;                                                           \
    return error;                                                                                                    \
  }                                                                                                                  \
  template <class K, class V, class N>                                                                               \
  static cudaError_t Pairs(void* storage, size_t& bytes, const K* keys, K* keys_out, const V* values, V* values_out, \
                           N n, int begin_bit = 0, int end_bit = 8 * sizeof(K), cudaStream_t stream = 0,             \
                           bool = false) {                                                                           \
    return tilewise::radix_sort("cub::DeviceRadixSort", storage, bytes, keys, keys_out, values, values_out, n,       \
                                begin_bit, end_bit, descends, false, stream);                                        \
  }                                                                                                                  \
  template <class K, class V, class N>                                                                               \
  static cudaError_t Pairs(void* storage, size_t& bytes, DoubleBuffer<K>& keys, DoubleBuffer<V>& values, N n,        \
                           int begin_bit = 0, int end_bit = 8 * sizeof(K), cudaStream_t stream = 0, bool = false) {  \
    const bool asks = storage == nullptr;                                                                            \
    const cudaError_t error = tilewise::radix_sort(                                                                  \
        "cub::DeviceRadixSort", storage, bytes, static_cast<const K*>(keys.Current()), keys.Alternate(),             \
        static_cast<const V*>(values.Current()), values.Alternate(), n, begin_bit, end_bit, descends, true, stream); \
    if (!asks && error == cudaSuccess) keys.selector ^= 1, values.selector ^= 1;                                     \
    return error;                                                                                                    \
  }
  TILEWISE_CUB_SORTS(SortKeys, SortPairs, false)
  TILEWISE_CUB_SORTS(SortKeysDescending, SortPairsDescending, true)
#undef TILEWISE_CUB_SORTS
};

struct DeviceMergeSort {
  template <class Keys, class N, class Less>
  static cudaError_t SortKeys(void* storage, size_t& bytes, Keys keys, N n, Less less, cudaStream_t stream = 0,
                              bool = false) {
    using K = tilewise::Value<Keys>;
    return tilewise::call("cub::DeviceMergeSort", storage, bytes, tilewise::kStorage + n * sizeof(K), stream, [&] {
      if (n <= 0) return;
      tilewise::given("d_keys", keys);
      std::vector<K> sorted;
      for (N i = 0; i < n; ++i) sorted.push_back(keys[i]);
      std::stable_sort(sorted.begin(), sorted.end(), less);
      for (N i = 0; i < n; ++i) keys[i] = sorted[i];
    });
  }
  template <class Keys, class Items, class N, class Less>
  static cudaError_t SortPairs(void* storage, size_t& bytes, Keys keys, Items items, N n, Less less,
                               cudaStream_t stream = 0, bool = false) {
    using Pair = std::pair<tilewise::Value<Keys>, tilewise::Value<Items>>;
    return tilewise::call("cub::DeviceMergeSort", storage, bytes, tilewise::kStorage + n * sizeof(Pair), stream, [&] {
      if (n <= 0) return;
      tilewise::given("d_keys", keys), tilewise::given("d_items", items);
      std::vector<Pair> sorted;
      for (N i = 0; i < n; ++i) sorted.emplace_back(keys[i], items[i]);
      std::stable_sort(sorted.begin(), sorted.end(), [&](auto& a, auto& b) { return less(a.first, b.first); });
      for (N i = 0; i < n; ++i) keys[i] = sorted[i].first, items[i] = sorted[i].second;
    });
  }
  template <class Keys, class N, class Less>
  static cudaError_t StableSortKeys(void* storage, size_t& bytes, Keys keys, N n, Less less, cudaStream_t stream = 0,
                                    bool = false) {
    return SortKeys(storage, bytes, keys, n, less, stream);
  }
  template <class Keys, class Items, class N, class Less>
  static cudaError_t StableSortPairs(void* storage, size_t& bytes, Keys keys, Items items, N n, Less less,
                                     cudaStream_t stream = 0, bool = false) {
    return SortPairs(storage, bytes, keys, items, n, less, stream);
  }
};

// ---------------------------------------------------------------- choices

struct DeviceSelect {
  template <class In, class Flags, class Out, class Count>
  static cudaError_t Flagged(void* storage, size_t& bytes, In in, Flags flags, Out out, Count count, int n,
                             cudaStream_t stream = 0, bool = false) {
    return chosen(storage, bytes, in, out, count, n, stream, [=](int i, const auto&) { return bool(flags[i]); });
  }
  template <class In, class Out, class Count, class Op>
  static cudaError_t If(void* storage, size_t& bytes, In in, Out out, Count count, int n, Op op,
                        cudaStream_t stream = 0, bool = false) {
    return chosen(storage, bytes, in, out, count, n, stream, [=](int, const auto& x) mutable { return bool(op(x)); });
  }
  /// The first of each run of equal ones.
  template <class In, class Out, class Count>
  static cudaError_t Unique(void* storage, size_t& bytes, In in, Out out, Count count, int n, cudaStream_t stream = 0,
                            bool = false) {
    return chosen(storage, bytes, in, out, count, n, stream,
                  [=](int i, const auto& x) { return i == 0 || !(in[i - 1] == x); });
  }
  template <class Keys, class Values, class KeysOut, class ValuesOut, class Count>
  static cudaError_t UniqueByKey(void* storage, size_t& bytes, Keys keys, Values values, KeysOut keys_out,
                                 ValuesOut values_out, Count count, int n, cudaStream_t stream = 0, bool = false) {
    return tilewise::call("cub::DeviceSelect", storage, bytes, tilewise::kStorage, stream, [&] {
      int kept = 0;
      for (int i = 0; i < n; ++i) {
        if (i > 0 && keys[i - 1] == keys[i]) continue;
        keys_out[kept] = keys[i];
        values_out[kept++] = values[i];
      }
      *count = kept;
    });
  }

 private:
  template <class In, class Out, class Count, class Takes>
  static cudaError_t chosen(void* storage, size_t& bytes, In in, Out out, Count count, int n, cudaStream_t stream,
                            Takes takes) {
    return tilewise::call("cub::DeviceSelect", storage, bytes, tilewise::kStorage, stream, [&] {
      if (n > 0) tilewise::given("d_in", in), tilewise::given("d_out", out);
      tilewise::given("d_num_selected_out", count);
      int kept = 0;
      for (int i = 0; i < n; ++i) {
        const tilewise::Value<In> x = in[i];
        if (takes(i, x)) out[kept++] = x;
      }
      *count = kept;
    });
  }
};

/// Those that aren't chosen come after the others, the last of them first.
struct DevicePartition {
  template <class In, class Flags, class Out, class Count>
  static cudaError_t Flagged(void* storage, size_t& bytes, In in, Flags flags, Out out, Count count, int n,
                             cudaStream_t stream = 0, bool = false) {
    return parted(storage, bytes, in, out, count, n, stream, [=](int i, const auto&) { return bool(flags[i]); });
  }
  template <class In, class Out, class Count, class Op>
  static cudaError_t If(void* storage, size_t& bytes, In in, Out out, Count count, int n, Op op,
                        cudaStream_t stream = 0, bool = false) {
    return parted(storage, bytes, in, out, count, n, stream, [=](int, const auto& x) mutable { return bool(op(x)); });
  }

 private:
  template <class In, class Out, class Count, class Takes>
  static cudaError_t parted(void* storage, size_t& bytes, In in, Out out, Count count, int n, cudaStream_t stream,
                            Takes takes) {
    return tilewise::call("cub::DevicePartition", storage, bytes, tilewise::kStorage, stream, [&] {
      if (n > 0) tilewise::given("d_in", in), tilewise::given("d_out", out);
      tilewise::given("d_num_selected_out", count);
      int kept = 0, left = n;
      for (int i = 0; i < n; ++i) {
        const tilewise::Value<In> x = in[i];
        out[takes(i, x) ? kept++ : --left] = x;
      }
      *count = kept;
    });
  }
};

// ---------------------------------------------------------------- histograms and runs

struct DeviceHistogram {
  template <class In, class Counter, class Level, class N>
  static cudaError_t HistogramEven(void* storage, size_t& bytes, In in, Counter* histogram, int levels, Level lower,
                                   Level upper, N n, cudaStream_t stream = 0, bool = false) {
    return counted(storage, bytes, in, histogram, levels, n, stream, [=](const auto& x) {
      const int bins = levels - 1;
      if (!(x >= lower && x < upper)) return -1;
      if constexpr (std::is_integral_v<Level>)
        return int((static_cast<__int128>(x) - lower) * bins / (static_cast<__int128>(upper) - lower));
      else
        return std::min(bins - 1, int((x - lower) * (bins / (upper - lower))));
    });
  }
  template <class In, class Counter, class Level, class N>
  static cudaError_t HistogramRange(void* storage, size_t& bytes, In in, Counter* histogram, int levels,
                                    const Level* bounds, N n, cudaStream_t stream = 0, bool = false) {
    return counted(storage, bytes, in, histogram, levels, n, stream, [=](const auto& x) {
      int bin = -1;
      while (bin + 1 < levels && bounds[bin + 1] <= x) ++bin;
      return bin < levels - 1 ? bin : -1;
    });
  }

 private:
  template <class In, class Counter, class N, class Bin>
  static cudaError_t counted(void* storage, size_t& bytes, In in, Counter* histogram, int levels, N n,
                             cudaStream_t stream, Bin bin) {
    return tilewise::call("cub::DeviceHistogram", storage, bytes, tilewise::kStorage, stream, [&] {
      if (n > 0) tilewise::given("d_samples", in);
      tilewise::given("d_histogram", histogram);
      for (int i = 0; i < levels - 1; ++i) histogram[i] = 0;
      for (N i = 0; i < n; ++i)
        if (const int b = bin(in[i]); b >= 0) ++histogram[b];
    });
  }
};

struct DeviceRunLengthEncode {
  template <class In, class Unique, class Lengths, class Count>
  static cudaError_t Encode(void* storage, size_t& bytes, In in, Unique unique, Lengths lengths, Count count, int n,
                            cudaStream_t stream = 0, bool = false) {
    return runs(storage, bytes, in, count, n, stream, [=](int run, int begin, int length) {
      unique[run] = in[begin];
      lengths[run] = length;
      return true;
    });
  }
  /// Runs of two and more.
  template <class In, class Offsets, class Lengths, class Count>
  static cudaError_t NonTrivialRuns(void* storage, size_t& bytes, In in, Offsets offsets, Lengths lengths, Count count,
                                    int n, cudaStream_t stream = 0, bool = false) {
    return runs(storage, bytes, in, count, n, stream, [=](int run, int begin, int length) {
      if (length < 2) return false;
      offsets[run] = begin;
      lengths[run] = length;
      return true;
    });
  }

 private:
  template <class In, class Count, class Note>
  static cudaError_t runs(void* storage, size_t& bytes, In in, Count count, int n, cudaStream_t stream, Note note) {
    return tilewise::call("cub::DeviceRunLengthEncode", storage, bytes, tilewise::kStorage, stream, [&] {
      if (n > 0) tilewise::given("d_in", in);
      tilewise::given("d_num_runs_out", count);
      int found = 0;
      for (int begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && in[end] == in[begin];) ++end;
        found += note(found, begin, end - begin);
      }
      *count = found;
    });
  }
};

// ---------------------------------------------------------------- memory

/// Nothing is kept for later: what is freed goes back at once.
struct CachingDeviceAllocator {
  static const int INVALID_DEVICE_ORDINAL = -1;
  explicit CachingDeviceAllocator(bool = false, bool = false) {}
  CachingDeviceAllocator(unsigned, unsigned, unsigned, size_t = size_t(-1), bool = false, bool = false) {}
  explicit CachingDeviceAllocator(unsigned) {}
  cudaError_t DeviceAllocate(int, void** memory, size_t bytes, cudaStream_t = 0) { return cudaMalloc(memory, bytes); }
  cudaError_t DeviceAllocate(void** memory, size_t bytes, cudaStream_t = 0) { return cudaMalloc(memory, bytes); }
  cudaError_t DeviceFree(int, void* memory) { return cudaFree(memory); }
  cudaError_t DeviceFree(void* memory) { return cudaFree(memory); }
  cudaError_t FreeAllCached() { return cudaSuccess; }
};

}  // namespace cub
