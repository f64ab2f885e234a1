// The rows of the lesson's tables.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "all_reduce.hpp"
#include "heat.hpp"
#include "sgemm.hpp"
#include "tilewise/lesson.hpp"
#include "tilewise/timeline.hpp"

namespace rows {

using tilewise::Comparison;
using tilewise::Variant;

/// A row, and how its work lies in time; no timeline on a GPU.
struct Timed {
  Variant row;
  std::optional<tilewise::Timeline> timeline;
};

/// Fills in what all rows have: `launch` begins and ends with the caller's stream, on device 0.
inline Timed timed(Variant v, int devices, std::function<void(cudaStream_t)> launch,
                   bool nccl = false) {
  v.launch = std::move(launch);
  v.working_set = std::size_t{1} << 40;  // L2 is left as it is: there are several
  v.extra = {std::to_string(devices)};
  std::optional<tilewise::Timeline> timeline;
  if (tilewise::is_simulated()) {
    timeline = tilewise::timeline_of(
        [&] {
          const tilewise::Stream stream(cudaStreamNonBlocking);
          v.launch(stream.get());
          stream.synchronize();
        },
        sizeof(float));
    // What NCCL sends is not a copy, and not known.
    v.extra.push_back(
        nccl ? "-"
             : tilewise::with_commas(static_cast<std::int64_t>(tilewise::most_sent(*timeline))));
    if (nccl) timeline.reset();
  }
  return {std::move(v), std::move(timeline)};
}

/// Waits for all devices: what poisons an array is work on the default stream of one.
inline void wait_for_all(int devices) {
  for (int d = 0; d < devices; ++d) {
    const OnDevice here(d);
    CUDA_CHECK(cudaDeviceSynchronize());
  }
}
inline void poison(Arrays& all) {
  for (int d = 0; d < static_cast<int>(all.size()); ++d) {
    const OnDevice here(d);
    all[d].poison();
    CUDA_CHECK(cudaDeviceSynchronize());
  }
}
inline void upload(Arrays& all, int d, const std::vector<float>& values) {
  const OnDevice here(d);
  all[d].upload(values);
}
inline std::vector<float> download(const Arrays& all, int d) {
  const OnDevice here(d);
  return all[d].to_host();
}
/// The first comparison that isn't right, or the last one.
template <class Compare>
Comparison on_all(int devices, Compare compare) {
  Comparison result;
  for (int d = 0; d < devices && result.ok; ++d) result = compare(d);
  return result;
}
inline Comparison compare(const std::vector<float>& got, const std::vector<float>& expected,
                          std::size_t rows = 1) {
  return tilewise::compare_exact(got, expected, rows,
                                 expected.size() / std::max(rows, std::size_t{1}));
}
inline std::vector<float> integers(std::size_t n, std::uint64_t seed) {
  return tilewise::random_vector(n, seed, tilewise::Distribution::integers);
}

#ifndef TILEWISE_NO_NCCL
/// Communicators take a good part of a second to make: one for each size, kept until the end.
inline const Ranks& ranks_of(int size) {
  static std::map<int, Ranks> all;
  return all.try_emplace(size, size).first->second;
}
#endif

// ---------------------------------------------------------------- copies

/// n floats on device 0 go to device 1.
class Copies {
 public:
  Copies(int n, std::uint64_t seed)
      : n_(n), values_(integers(n, seed)), from_(arrays(2, n)), to_(arrays(2, n)) {
    for (const int d : {0, 1}) upload(from_, d, values_);
    CUDA_CHECK(cudaMallocHost(&staged_, std::max(n, 1) * sizeof(float)));
  }
  ~Copies() { cudaFreeHost(staged_); }
  Copies(const Copies&) = delete;

  /// Within device 0, for comparison.
  Timed within() {
    return row("within_device_0", 0, [this](cudaStream_t s) {
      CUDA_CHECK(
          cudaMemcpyAsync(to_[0].data(), from_[0].data(), bytes(), cudaMemcpyDeviceToDevice, s));
    });
  }
  Timed through_host() {
    return row("through_host", 1, [this](cudaStream_t s) {
      CUDA_CHECK(cudaMemcpyAsync(staged_, from_[0].data(), bytes(), cudaMemcpyDeviceToHost, s));
      CUDA_CHECK(cudaMemcpyAsync(to_[1].data(), staged_, bytes(), cudaMemcpyHostToDevice, s));
    });
  }
  Timed copy(const std::string& name) {
    return row(name, 1, [this](cudaStream_t s) {
      copy_between(to_[1].data(), 1, from_[0].data(), 0, n_, s);
    });
  }
  Timed both_ways() {
    Timed t = row("both_ways", 1, [this, team = std::make_shared<Team>(2)](cudaStream_t s) {
      team->fork(s);
      copy_between(to_[1].data(), 1, from_[0].data(), 0, n_, team->stream(0));
      copy_between(to_[0].data(), 0, from_[1].data(), 1, n_, team->stream(1));
      team->join(s);
    });
    t.row.work *= 2;
    return t;
  }
  /// A kernel on device 0 writes into device 1's memory, or reads from it.
  Timed kernel_writes() {
    return row("kernel_writes", 1, [this](cudaStream_t s) {
      CUDA_CHECK(launch_copy(n_, from_[0].data(), to_[1].data(), s));
    });
  }
  Timed kernel_reads() {
    return row("kernel_reads", 0, [this](cudaStream_t s) {
      CUDA_CHECK(launch_copy(n_, from_[1].data(), to_[0].data(), s));
    });
  }

 private:
  std::size_t bytes() const { return n_ * sizeof(float); }
  Timed row(const std::string& kernel, int to, std::function<void(cudaStream_t)> launch) {
    Variant v;
    v.kernel = kernel;
    v.shape = tilewise::with_commas(n_) + " floats";
    v.poison = [this] { poison(to_); };
    v.check = [this, to] { return compare(download(to_, to), values_); };
    v.recheck = v.check;
    v.work = static_cast<double>(bytes());
    return timed(std::move(v), 2, std::move(launch));
  }
  int n_;
  std::vector<float> values_;
  Arrays from_, to_;
  float* staged_ = nullptr;
};

// ---------------------------------------------------------------- all-reduce

/// n floats on each of p devices, and their sums.
class AllReduces {
 public:
  AllReduces(int p, int n, std::uint64_t seed) : sums_(p, n), team_(p), expected_(n) {
    for (int d = 0; d < p; ++d) {
      values_.push_back(integers(n, seed + d));
      for (int i = 0; i < n; ++i) expected_[i] += values_[d][i];
    }
  }
  Timed by_way_of_one() {
    Timed t = row("by_way_of_one", [this] { ::by_way_of_one(team_, sums_); });
    t.row.baseline = true;
    return t;
  }
  Timed ring() {
    return row("ring", [this] { ::ring(team_, sums_); });
  }
#ifndef TILEWISE_NO_NCCL
  Timed nccl() {
    return row(
        "ncclAllReduce",
        [this, &ranks = ranks_of(team_.size())] { ::all_reduce(team_, ranks, sums_); }, true);
  }
  /// Each device gets its part of the sums alone; each gets everybody's part. In place.
  Timed nccl_reduce_scatter() {
    return halves(
        "ncclReduceScatter",
        [this](const Ranks& ranks, std::size_t each, int r) {
          float* const x = sums_.x[r].data();
          return ncclReduceScatter(x, x + each * r, each, ncclFloat, ncclSum, ranks[r],
                                   team_.stream(r));
        },
        [this](int, std::size_t) { return expected_; });
  }
  Timed nccl_all_gather() {
    return halves(
        "ncclAllGather",
        [this](const Ranks& ranks, std::size_t each, int r) {
          float* const x = sums_.x[r].data();
          return ncclAllGather(x + each * r, x, each, ncclFloat, ranks[r], team_.stream(r));
        },
        [this](int, std::size_t each) {
          std::vector<float> all;
          for (int d = 0; d < team_.size(); ++d)
            all.insert(all.end(), values_[d].begin() + each * d,
                       values_[d].begin() + each * (d + 1));
          return all;
        });
  }
#endif

 private:
  /// What NCCL's tests call bus bandwidth: 2 (p - 1) / p of an array crosses each device's link, at
  /// the least, in each direction.
  Timed row(const std::string& kernel, std::function<void()> work, bool nccl = false) {
    const int p = team_.size();
    Variant v;
    v.kernel = kernel;
    v.shape = tilewise::with_commas(sums_.n) + " floats";
    v.poison = [this, p] {
      for (int d = 0; d < p; ++d) upload(sums_.x, d, values_[d]);
      poison(sums_.work);
    };
    v.check = [this, p] {
      return on_all(p, [this](int d) { return compare(download(sums_.x, d), expected_); });
    };
    // Not once more after timing: each call adds up what the one before has left.
    v.work = 2.0 * (p - 1) / p * sizeof(float) * sums_.n;
    if (tilewise::is_simulated()) v.poison();  // for the timeline
    return timed(
        std::move(v), p,
        [this, work](cudaStream_t s) {
          team_.fork(s);
          work();
          team_.join(s);
        },
        nccl);
  }
#ifndef TILEWISE_NO_NCCL
  /// Half of an all-reduce, of n rounded down to a multiple of p. expected(d, each): of device d, what
  /// stands in part d of a reduce-scatter, or everywhere of an all-gather.
  template <class Call, class Expected>
  Timed halves(const std::string& kernel, Call call, Expected expected) {
    const int p = team_.size();
    const std::size_t each = sums_.n / p;
    const Ranks& ranks = ranks_of(p);
    Timed t = row(
        kernel,
        [this, call, each, &ranks] { ranks.together([&](int r) { return call(ranks, each, r); }); },
        true);
    const bool gathers = kernel == "ncclAllGather";
    t.row.check = [this, p, each, expected, gathers] {
      return on_all(p, [&](int d) {
        const std::vector<float> got = download(sums_.x, d), right = expected(d, each);
        const std::size_t from = gathers ? 0 : each * d, to = gathers ? each * p : each * (d + 1);
        return compare({got.begin() + from, got.begin() + to},
                       {right.begin() + from, right.begin() + to});
      });
    };
    t.row.work /= 2;
    return t;
  }
#endif
  Sums sums_;
  Team team_;
  std::vector<std::vector<float>> values_;
  std::vector<float> expected_;
};

// ---------------------------------------------------------------- one sum of many numbers

/// n floats, shared out among p devices or all on device 0; every device is told their sum.
class BigSum {
 public:
  BigSum(int p, int n, std::uint64_t seed)
      : n_(n), team_(p), x_(arrays(p, 0)), total_(arrays(p, 1)) {
    const std::vector<float> values = integers(n, seed);
    expected_ = static_cast<float>(std::accumulate(values.begin(), values.end(), 0.0));
    for (int d = 0; d < p; ++d) {
      const OnDevice here(d);
      const Share mine = share(n, d, p);
      x_[d] = tilewise::DeviceBuffer<float>(mine.count());
      x_[d].upload({values.begin() + mine.begin, values.begin() + mine.end});
    }
    blocks_ = 8 * tilewise::device().sms;
  }
  Timed here_then_across(bool baseline) {
    const auto locally = [this] {
      for (int d = 0; d < team_.size(); ++d) {
        const OnDevice here(d);
        CUDA_CHECK(cudaMemsetAsync(total_[d].data(), 0, sizeof(float), team_.stream(d)));
        CUDA_CHECK(launch_sum(static_cast<int>(x_[d].size()), blocks_, x_[d].data(),
                              total_[d].data(), team_.stream(d)));
      }
    };
    if (team_.size() == 1) {
      Timed t = row("one_device", locally);
      t.row.baseline = baseline;
      return t;
    }
#ifndef TILEWISE_NO_NCCL
    return row(
        "here_then_across",
        [this, locally, &ranks = ranks_of(team_.size())] {
          locally();
          ranks.together([&](int r) {
            float* const total = total_[r].data();
            return ncclAllReduce(total, total, 1, ncclFloat, ncclSum, ranks[r], team_.stream(r));
          });
        },
        true);
#else
    return row("each_its_own", locally);
#endif
  }

 private:
  Timed row(const std::string& kernel, std::function<void()> work, bool nccl = false) {
    const int p = team_.size();
    Variant v;
    v.kernel = kernel;
    v.shape = tilewise::with_commas(n_) + " floats";
    v.poison = [this] { poison(total_); };
    v.check = [this, p] {
      return on_all(p, [this](int d) { return compare(download(total_, d), {expected_}); });
    };
    v.recheck = v.check;
    v.work = sizeof(float) * static_cast<double>(n_);
    return timed(
        std::move(v), p,
        [this, work](cudaStream_t s) {
          team_.fork(s);
          work();
          team_.join(s);
        },
        nccl);
  }
  int n_, blocks_ = 0;
  Team team_;
  Arrays x_, total_;
  float expected_ = 0;
};

// ---------------------------------------------------------------- a product

/// A and B of a product of small integers, and the check of C.
struct Factors {
  int m, n, k;
  std::vector<float> A, B;
  tilewise::ExactMatmulCheck check;
  Factors(int rows, int cols, int inner, std::uint64_t seed)
      : m(rows),
        n(cols),
        k(inner),
        A(integers(std::size_t(m) * k, seed)),
        B(integers(std::size_t(k) * n, seed + 1)),
        check(A, B, {std::size_t(m), std::size_t(n), std::size_t(k)}) {}
};

class Products {
 public:
  Products(int p, const Factors& factors)
      : factors_(factors), product_(p, factors.m, factors.n, factors.k), team_(p), copies_(p) {
    for (int d = 0; d < p; ++d) {
      const OnDevice here(d);
      const Share mine = share(factors.m, d, p);
      const auto a = factors.A.begin();
      product_.A[d].upload(
          {a + std::ptrdiff_t(mine.begin) * factors.k, a + std::ptrdiff_t(mine.end) * factors.k});
      product_.B[d].upload(factors.B);
    }
  }
  Timed one_device() {
    Timed t = rows_apart("one_device");
    t.row.baseline = true;
    return t;
  }
  /// Each device has its rows of C alone.
  Timed rows_apart(const std::string& name = "rows_apart") {
    Timed t = row(name, [this] { ::rows_apart(team_, product_); });
    t.row.check = [this] {
      std::vector<float> C;
      for (int d = 0; d < team_.size(); ++d) {
        const Share mine = share(product_.m, d, team_.size());
        const std::vector<float> all = download(product_.C, d);
        C.insert(C.end(), all.begin() + std::ptrdiff_t(mine.begin) * product_.n,
                 all.begin() + std::ptrdiff_t(mine.end) * product_.n);
      }
      return factors_.check.check(C);
    };
    t.row.recheck = t.row.check;
    return t;
  }
  Timed then_gather() {
    return row("then_gather", [this] { ::then_gather(team_, product_); });
  }
  Timed gather_in_chunks(int chunks) {
    return row("gather_in_chunks<" + std::to_string(chunks) + ">",
               [this, chunks] { ::gather_in_chunks(team_, copies_, product_, chunks); });
  }
  Timed gather_behind_tail(int tail) {
    return row("gather_behind_tail<" + std::to_string(tail) + ">",
               [this, tail] { ::gather_behind_tail(team_, copies_, product_, tail); });
  }
#ifndef TILEWISE_NO_NCCL
  Timed gather_in_chunks_nccl(int chunks) {
    return row(
        "gather_in_chunks_nccl<" + std::to_string(chunks) + ">",
        [this, chunks, &ranks = ranks_of(team_.size())] {
          ::gather_in_chunks(team_, copies_, ranks, product_, chunks);
        },
        true);
  }
#endif

 private:
  Timed row(const std::string& kernel, std::function<void()> work, bool nccl = false) {
    const int p = team_.size();
    Variant v;
    v.kernel = kernel;
    const auto [m, n, k] = std::tuple(factors_.m, factors_.n, factors_.k);
    v.shape = m == n && n == k
                  ? "m = n = k = " + std::to_string(m)
                  : tilewise::MatmulShape{std::size_t(m), std::size_t(n), std::size_t(k)}.text();
    v.poison = [this] { poison(product_.C); };
    v.check = [this, p] {
      return on_all(p, [this](int d) { return factors_.check.check(download(product_.C, d)); });
    };
    v.recheck = v.check;
    v.work = 2.0 * factors_.m * factors_.n * factors_.k;
    return timed(
        std::move(v), p,
        [this, work](cudaStream_t s) {
          team_.fork(s);
          copies_.fork(s);
          work();
          team_.join(s);
        },
        nccl);
  }
  const Factors& factors_;
  Product product_;
  Team team_, copies_;
};

// ---------------------------------------------------------------- heat

/// The first state of a plate, and the state after some steps.
struct Heat {
  int height, width, steps;
  std::vector<float> start, end;
  Heat(int rows, int cols, int times, std::uint64_t seed)
      : height(rows),
        width(cols),
        steps(times),
        start(tilewise::random_vector(std::size_t(rows) * cols, seed)) {
    end = start;
    std::vector<float> from = start;
    for (int s = 0; s < steps; ++s) {
      std::swap(from, end);
      for (int r = 1; r + 1 < height; ++r) {
        const float* const x = from.data() + std::size_t(r) * width;
        float* const y = end.data() + std::size_t(r) * width;
        for (int c = 1; c + 1 < width; ++c)
          y[c] = ((x[c - width] + x[c + width]) + (x[c - 1] + x[c + 1])) / 4;
      }
    }
  }
};

class Plates {
 public:
  Plates(int p, const Heat& heat)
      : heat_(heat), plate_(p, heat.height, heat.width), team_(p), outer_(p) {
    for (int d = 0; d < p; ++d) {
      const OnDevice here(d);
      const int rows = plate_.rows(d);
      const auto first =
          heat.start.begin() + std::ptrdiff_t(share(heat.height, d, p).begin) * heat.width;
      if (rows > 0)
        CUDA_CHECK(cudaMemcpy(plate_.start[d].data() + heat.width, &*first,
                              sizeof(float) * rows * heat.width, cudaMemcpyHostToDevice));
    }
  }
  Timed fetch_then_compute(bool baseline) {
    Timed t = row(team_.size() == 1 ? "one_device" : "fetch_then_compute",
                  [this] { ::fetch_then_compute(team_, plate_, heat_.steps); });
    t.row.baseline = baseline;
    return t;
  }
  Timed outer_rows_first() {
    return row("outer_rows_first",
               [this] { ::outer_rows_first(team_, outer_, plate_, heat_.steps); });
  }
#ifndef TILEWISE_NO_NCCL
  Timed send_then_compute() {
    return row(
        "send_then_compute",
        [this, &ranks = ranks_of(team_.size())] {
          ::send_then_compute(team_, ranks, plate_, heat_.steps);
        },
        true);
  }
#endif

 private:
  Timed row(const std::string& kernel, std::function<void()> work, bool nccl = false) {
    const int p = team_.size();
    Variant v;
    v.kernel = kernel;
    v.shape = tilewise::with_commas(heat_.height) + " x " + tilewise::with_commas(heat_.width);
    v.poison = [this] {
      poison(plate_.a);
      poison(plate_.b);
    };
    v.check = [this, p] {
      std::vector<float> got;
      Arrays& last = plate_.to(heat_.steps - 1);
      for (int d = 0; d < p; ++d) {
        const std::vector<float> all = download(last, d);
        got.insert(got.end(), all.begin() + heat_.width, all.end() - heat_.width);
      }
      return compare(got, heat_.end, heat_.height);
    };
    v.recheck = v.check;
    // A step reads every point and writes it.
    v.work = 2.0 * sizeof(float) * heat_.height * heat_.width * heat_.steps;
    return timed(
        std::move(v), p,
        [this, work](cudaStream_t s) {
          team_.fork(s);
          outer_.fork(s);
          work();
          team_.join(s);
        },
        nccl);
  }
  const Heat& heat_;
  Plate plate_;
  Team team_, outer_;
};

}  // namespace rows
