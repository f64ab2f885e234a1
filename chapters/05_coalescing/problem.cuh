// What lesson 05 works on, and how results are checked. Plumbing; the lesson is in coalescing.cuh
// and model.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "coalescing.cuh"
#include "model.hpp"
#include "tilewise/lesson.hpp"

constexpr size_t kLargestOffset = 1023;

/// What the command line asks for.
struct Wanted {
  std::vector<std::int64_t> sizes = {tilewise::is_simulated() ? 1 << 16 : 1 << 28};
  std::vector<std::int64_t> strides = {1, 2, 3, 4, 8, 16, 32};
  std::vector<std::int64_t> offsets = {0, 1, 2, 4, 8, 31};
  std::vector<std::int64_t> widths = {1};
  std::int64_t cols = tilewise::is_simulated() ? 128 : 8192;
  std::string part = "all";
  std::uint64_t seed = 1;

  void parse(tilewise::Options& options, int argc, const char* const* argv) {
    bool full = false;
    options.add("--n", sizes,
                "Words of the arrays; up to 4194304 on the simulator without --sample",
                {128, std::int64_t{1} << 32});
    options.add("--cols", cols, "Columns of the matrix, which has n / 4 words", {1, 1 << 20});
    options.add("--strides", strides, "Words from one lane's word to the next lane's", {1, 128});
    options.add("--offsets", offsets, "Words before the first one that is moved",
                {0, kLargestOffset});
    options.add("--width", widths, "Floats per lane in the sweeps: 1, 2 or 4", {1, 4});
    options.add("--part", part, "Which part of the lesson to run",
                {"all", "copies", "strides", "offsets", "sweeps", "particles", "sums", "gathers"});
    options.add_flag("--full", full, "Every stride to 64 and every offset to 31");
    options.parse(argc, argv);
    if (std::count(widths.begin(), widths.end(), 3) > 0)
      options.refuse("--width 3: no such word; allowed are 1, 2, 4");
    for (const std::int64_t n : sizes)
      if (tilewise::is_simulated() && tilewise::sampled_blocks() == 0 && n > 1 << 22)
        options.refuse("--n " + std::to_string(n) +
                       ": too much for the simulator, which takes up to 4194304; --sample 32 " +
                       "counts 32 blocks of each launch in place of all");
    seed = options.seed();
    if (!full) return;
    strides.resize(64);
    offsets.resize(32);
    std::iota(strides.begin(), strides.end(), 1);
    std::iota(offsets.begin(), offsets.end(), 0);
  }

  bool operator()(const std::string& name) const {
    return part == "all" || part == name ||
           (part == "sweeps" && (name == "strides" || name == "offsets"));
  }
  bool sweeps() const { return (*this)("strides") || (*this)("offsets"); }

  /// Whether there is memory for all parts with arrays of n words; a SKIP row if not.
  bool fit(tilewise::Lesson& lesson, size_t n) const {
    const size_t widest = sweeps() ? *std::max_element(widths.begin(), widths.end()) : 1;
    const double bytes =
        8.0 * static_cast<double>(n) + 8.0 * static_cast<double>((n + kLargestOffset) * widest);
    if (bytes <= static_cast<double>(tilewise::free_device_memory())) return true;
    lesson.skip(tilewise::with_commas(n) + " words", "all", 0,
                "needs " + tilewise::bytes_text(bytes) + " of device memory");
    return false;
  }
};

/// Tables of this lesson, each row in turns with the copy. There are many rows, and 0.1 s of
/// samples is steady enough; `shared` is for kernels that use shared memory.
inline tilewise::LessonStyle style(const char* swept = "", bool shared = false) {
  tilewise::LessonStyle s{
      .figure = tilewise::Figure::bytes, .baseline_name = "copy", .counted_work = 1 << 26};
  s.quantity = *swept == 0 && !shared ? tilewise::Quantity::requests : tilewise::Quantity::sectors;
  s.show_tile = false;
  s.show_shared = shared;
  s.exact = true;  // or has its bounds checked, which is said below the table
  s.in_turns = true;
  if (*swept != 0)
    s.extra = {
        {swept, "", std::string(swept) == "order" ? 17u : 6u, std::string(swept) == "order"}};
  s.by_formula = true;
  s.l1 = std::string(swept) == "stride" || std::string(swept) == "offset";
  s.min_seconds = 0.1;
  return s;
}

/// The row of a sweep over arrays of n words.
inline tilewise::Variant swept(tilewise::Variant v, size_t n, size_t value) {
  v.shape = tilewise::with_commas(n) + " words";
  v.extra = {std::to_string(value)};
  return v;
}

/// The word at a position of every input that is only moved: a float in [1, 2) with 23 random bits,
/// computed from the position alone. So the device makes inputs of gigabytes and checks the
/// results.
__host__ __device__ inline unsigned word_at(size_t position, size_t seed) {
  // SplitMix64, as tilewise::Random
  size_t z = (position + (seed << 40) + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return 0x3f800000u | static_cast<unsigned>(z >> 41);
}

/// What a kernel moves: `count` words of `bytes` bytes, word i from in_offset + i * in_stride to
/// the same of `out`.
struct Pattern {
  size_t count = 0;
  size_t bytes = 4;  // of a word: 4, 8 or 16
  size_t in_stride = 1, in_offset = 0;
  size_t out_stride = 1, out_offset = 0;
};

/// The bits that 4-byte word `at` of the output must have; what is not written must still be
/// poison.
__host__ __device__ inline unsigned expected_word(size_t at, size_t seed, const Pattern& p) {
  const size_t pieces = p.bytes / 4;
  // wraps round in front of the offset: a large number
  const size_t word = at / pieces - p.out_offset;
  const size_t i = word / p.out_stride;
  if (word % p.out_stride != 0 || i >= p.count) return 0xFFFFFFFFu;
  return word_at((p.in_offset + i * p.in_stride) * pieces + at % pieces, seed);
}

__global__ void fill_words(unsigned* words, size_t size, size_t seed) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < size) words[i] = word_at(i, seed);
}

/// result[0]: how many of `size` words are not what they must be; result[1]: the first of them.
__global__ void find_wrong_words(const unsigned* out, size_t size, size_t seed, Pattern p,
                                 unsigned long long* result) {
  const size_t at = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= size || out[at] == expected_word(at, seed, p)) return;
  atomicAdd(&result[0], 1ull);
  atomicMin(&result[1], static_cast<unsigned long long>(at));
}

template <class Word>
std::string name_of() {
  return sizeof(Word) == 4 ? "<float>" : sizeof(Word) == 8 ? "<float2>" : "<float4>";
}

/// An input and an output of `floats` floats each, for kernels that only move words.
class Moves {
 public:
  Moves(size_t floats, size_t seed) : seed_(seed), in_(floats), out_(floats) {
    if (tilewise::sampled_blocks() != 0) return;  // nothing is checked
    fill_words<<<coalescing_blocks(floats, 256), 256>>>(reinterpret_cast<unsigned*>(in_.data()),
                                                        floats, seed);
    CUDA_CHECK(cudaGetLastError());
  }

  template <class Word = float>
  const Word* in() const {
    return reinterpret_cast<const Word*>(in_.data());
  }
  template <class Word = float>
  Word* out() {
    return reinterpret_cast<Word*>(out_.data());
  }
  void poison() { out_.poison(); }
  size_t seed() const { return seed_; }

  /// Every word of the output, those that must not be written too.
  tilewise::Comparison check(const Pattern& pattern) {
    const std::vector<unsigned long long> none = {0, ~0ull};
    tilewise::DeviceBuffer<unsigned long long> result(none);
    tilewise::run_unwatched([&] {
      find_wrong_words<<<coalescing_blocks(out_.size(), 256), 256>>>(
          reinterpret_cast<const unsigned*>(out_.data()), out_.size(), seed_, pattern,
          result.data());
    });
    CUDA_CHECK(cudaGetLastError());
    const std::vector<unsigned long long> found = result.to_host();
    tilewise::Comparison comparison;
    comparison.method = "words that are moved and those that must stay, each exactly";
    comparison.checked = out_.size();
    comparison.wrong = found[0];
    comparison.ok = found[0] == 0;
    if (!comparison.ok) {
      float got = 0, expected = 0;
      const unsigned bits = expected_word(found[1], seed_, pattern);
      CUDA_CHECK(cudaMemcpy(&got, out_.data() + found[1], sizeof(got), cudaMemcpyDeviceToHost));
      std::memcpy(&expected, &bits, sizeof(expected));
      comparison.first_wrong = {0, found[1], got, expected, INFINITY, 0};
    }
    return comparison;
  }

  /// A row of the table: `launch` moves `pattern.count` Words, with that stride or offset if it
  /// takes one.
  template <class Word, class Launch, class... Parameter>
  tilewise::Variant variant(const std::string& kernel, Pattern pattern, Launch launch,
                            Parameter... stride_or_offset) {
    pattern.bytes = sizeof(Word);
    tilewise::Variant v;
    v.kernel = kernel;
    v.shape = tilewise::with_commas(pattern.count * pattern.bytes / 4) + " floats";
    v.block = dim3(256);
    v.launch = [=, this](cudaStream_t stream) {
      CUDA_CHECK(launch(in<Word>(), out<Word>(), pattern.count, stride_or_offset..., stream));
    };
    v.poison = [this] { poison(); };
    v.check = v.recheck = [this, pattern] { return check(pattern); };
    // each word is read once and written once
    v.work = 2.0 * static_cast<double>(pattern.count * pattern.bytes);
    const auto [count, bytes, in_stride, in_offset, out_stride, out_offset] = pattern;
    v.predicted_load_sectors =
        static_cast<double>(sectors_of_words(count, bytes, in_stride, in_offset));
    v.predicted_store_sectors =
        static_cast<double>(sectors_of_words(count, bytes, out_stride, out_offset));
    v.working_set =
        static_cast<size_t>(32 * (v.predicted_load_sectors + v.predicted_store_sectors));
    return v;
  }

  /// The driver's own copy of n floats, which all others are a share of.
  tilewise::Variant baseline(size_t n) {
    const auto copy = [](const float* in, float* out, size_t count, cudaStream_t stream) {
      return cudaMemcpyAsync(out, in, count * sizeof(float), cudaMemcpyDeviceToDevice, stream);
    };
    tilewise::Variant v = variant<float>("cudaMemcpyAsync", {n}, copy);
    v.baseline = true;
    return v;
  }

 private:
  size_t seed_;
  tilewise::DeviceBuffer<float> in_, out_;
};

/// Particles as an array of structures and as a structure of arrays.
class Particles {
 public:
  static constexpr float kStep = 0.01f;

  Particles(size_t count, const tilewise::Options& options)
      : aos_(tilewise::random_vector(8 * count, options.seed(), options.data())),
        got_(aos_.size()),
        in_aos_(aos_),
        out_(aos_.size()) {
    std::vector<float> soa(aos_.size());
    for (size_t i = 0; i < aos_.size(); ++i) soa[i % 8 * count + i / 8] = aos_[i];
    in_soa_ = tilewise::DeviceBuffer<float>(soa);
  }

  size_t count() const { return aos_.size() / 8; }
  const Particle* in_aos() const { return reinterpret_cast<const Particle*>(in_aos_.data()); }
  const float* in_soa() const { return in_soa_.data(); }
  Particle* out_aos() { return reinterpret_cast<Particle*>(out_.data()); }
  float* out_soa() { return out_.data(); }
  void poison() { out_.poison(); }

  /// Every field of every particle, against FP64 and within what rounding can do.
  tilewise::Comparison check(bool soa) {
    out_.download(got_);
    tilewise::Comparison comparison;
    comparison.method = "particles and sums against FP64 within rounding-error bounds";
    const double dt = kStep;
    for (size_t i = 0; i < count(); ++i) {
      const float* p = &aos_[8 * i];
      for (size_t field = 0; field < 8; ++field) {
        double expected = p[field], bound = 0;  // the drag stays as it is
        if (field < 4) {
          const double change = field == 3 ? dt : dt * p[4 + field];
          bound = tilewise::error_bound(2, std::abs(expected) + std::abs(change));
          expected += change;
        } else if (field < 7) {
          expected *= p[7];
          bound = tilewise::error_bound(1, std::abs(expected));
        }
        const double got = got_[soa ? field * count() + i : 8 * i + field];
        ++comparison.checked;
        if (tilewise::element_ok(got, expected, bound)) continue;
        if (comparison.wrong++ == 0)
          comparison.first_wrong = {i, field, got, expected, std::abs(got - expected), bound};
        comparison.ok = false;
      }
    }
    return comparison;
  }

  /// `sectors`: of the loads, by formula; the stores are the loads' mirror image.
  template <class Word, class Launch>
  tilewise::Variant variant(const std::string& kernel, size_t sectors, const Word* in, Word* out,
                            Launch launch) {
    const bool soa = std::is_same_v<Word, float>;
    tilewise::Variant v;
    v.kernel = kernel;
    v.shape = tilewise::with_commas(count()) + " particles";
    v.block = dim3(256);
    v.launch = [=, this](cudaStream_t stream) {
      CUDA_CHECK(launch(in, out, count(), kStep, stream));
    };
    v.poison = [this] { poison(); };
    v.check = [this, soa] { return check(soa); };
    if (kernel == "particles_shared")
      v.recheck = v.check;  // the one whose threads wait for one another
    v.work = 2.0 * static_cast<double>(out_.bytes());
    v.working_set = 2 * out_.bytes();
    v.predicted_load_sectors = v.predicted_store_sectors = static_cast<double>(sectors);
    return v;
  }

 private:
  std::vector<float> aos_, got_;
  tilewise::DeviceBuffer<float> in_aos_, in_soa_, out_;
};

/// A matrix, and the FP64 sums of its rows and columns.
class Matrix {
 public:
  Matrix(int rows, int cols, const tilewise::Options& options)
      : rows_(rows),
        cols_(cols),
        row_sums_(rows),
        row_bounds_(rows),
        column_sums_(cols),
        column_bounds_(cols) {
    const std::vector<float> in = tilewise::random_vector(static_cast<size_t>(rows) * cols,
                                                          options.seed() + 1, options.data());
    for (size_t row = 0; row < row_sums_.size(); ++row) {
      for (size_t col = 0; col < column_sums_.size(); ++col) {
        const double word = in[row * column_sums_.size() + col];
        row_sums_[row] += word;
        row_bounds_[row] += std::abs(word);
        column_sums_[col] += word;
        column_bounds_[col] += std::abs(word);
      }
    }
    for (double& bound : row_bounds_) bound = tilewise::error_bound(cols, bound);
    for (double& bound : column_bounds_) bound = tilewise::error_bound(rows, bound);
    in_ = tilewise::DeviceBuffer<float>(in);
    out_ = tilewise::DeviceBuffer<float>(std::max(rows, cols));
  }

  using Launch = cudaError_t (*)(const float*, float*, int, int, cudaStream_t);

  /// `stride`: words between what neighbouring lanes read: 1 or the length of a row.
  tilewise::Variant variant(const std::string& kernel, bool of_rows, size_t stride, dim3 block,
                            Launch launch, bool a_warp_each = false) {
    tilewise::Variant v;
    v.kernel = kernel;
    v.shape = std::to_string(rows_) + " x " + std::to_string(cols_);
    v.block = block;
    v.launch = [=, this](cudaStream_t stream) {
      CUDA_CHECK(launch(in_.data(), out_.data(), rows_, cols_, stream));
    };
    v.poison = [this] { out_.poison(); };
    v.check = v.recheck = [this, of_rows] {
      std::vector<float> got = out_.to_host();
      got.resize(of_rows ? rows_ : cols_);
      tilewise::Comparison comparison =
          of_rows ? tilewise::compare(std::span<const float>(got), row_sums_, row_bounds_, rows_, 1)
                  : tilewise::compare(std::span<const float>(got), column_sums_, column_bounds_, 1,
                                      cols_);
      comparison.method = "particles and sums against FP64 within rounding-error bounds";
      return comparison;
    };
    // each word is read once
    v.work = static_cast<double>(in_.bytes()) + 4.0 * (of_rows ? rows_ : cols_);
    v.working_set = in_.bytes();
    // The sums of 32 threads lie side by side; a warp's sum is alone.
    const size_t sums = of_rows ? rows_ : cols_;
    v.predicted_store_sectors =
        static_cast<double>(a_warp_each ? sums : sectors_of_words(sums, 4, 1));
    // Other rows begin anywhere in a sector, and warps are short of lanes.
    if (rows_ % 32 == 0 && cols_ % 32 == 0)
      v.predicted_load_sectors = static_cast<double>(sectors_of_words(in_.size(), 4, stride));
    return v;
  }

 private:
  int rows_, cols_;
  std::vector<double> row_sums_, row_bounds_, column_sums_, column_bounds_;
  tilewise::DeviceBuffer<float> in_, out_;
};

/// A permutation of 0 .. count - 1 that leaves every word in its block of `block` words; 1:
/// everything where it was.
inline std::vector<unsigned> shuffled_within(size_t count, size_t block, size_t seed) {
  std::vector<unsigned> index(count);
  std::iota(index.begin(), index.end(), 0u);
  tilewise::Random random(seed);
  for (size_t begin = 0; begin < count; begin += block) {
    for (size_t left = std::min(block, count - begin); left > 1; --left)  // Fisher and Yates
      std::swap(index[begin + left - 1], index[begin + random.below(left)]);
  }
  return index;
}

/// Any word any number of times.
inline std::vector<unsigned> random_index(size_t count, size_t seed) {
  std::vector<unsigned> index(count);
  tilewise::Random random(seed);
  for (unsigned& i : index) i = static_cast<unsigned>(random.below(count));
  return index;
}

/// Distinct sectors of each 32 of these positions, all together.
inline std::uint64_t sectors_of_index(const std::vector<unsigned>& index) {
  std::uint64_t total = 0;
  std::array<unsigned, 32> sector;
  for (size_t begin = 0; begin < index.size(); begin += 32) {
    const size_t lanes = std::min<size_t>(32, index.size() - begin);
    for (size_t lane = 0; lane < lanes; ++lane) sector[lane] = index[begin + lane] / 8;
    std::sort(sector.begin(), sector.begin() + lanes);
    total += std::unique(sector.begin(), sector.begin() + lanes) - sector.begin();
  }
  return total;
}

/// An index on the device, and the words that must come of it.
class Gather {
 public:
  Gather(std::vector<unsigned> index, Moves& moves)
      : index_(std::move(index)),
        got_(index_.size()),
        device_index_(index_),
        moves_(moves),
        out_(index_.size()) {}

  tilewise::Variant variant(const std::string& order) {
    tilewise::Variant v;
    v.kernel = "gather";
    v.extra = {order};
    v.shape = tilewise::with_commas(index_.size()) + " floats";
    v.block = dim3(256);
    v.launch = [this](cudaStream_t stream) {
      CUDA_CHECK(
          launch_gather(moves_.in(), device_index_.data(), out_.data(), index_.size(), stream));
    };
    v.poison = [this] { out_.poison(); };
    v.check = [this] { return check(); };
    // the index and the word are read, the word is written
    v.work = 12.0 * static_cast<double>(index_.size());
    v.working_set = 3 * out_.bytes();
    if (tilewise::is_simulated()) {  // sorting takes longer than gathering
      const std::uint64_t ordered = sectors_of_words(index_.size(), 4, 1);
      v.predicted_load_sectors = static_cast<double>(ordered + sectors_of_index(index_));
      v.predicted_store_sectors = static_cast<double>(ordered);
    }
    return v;
  }

 private:
  tilewise::Comparison check() {
    out_.download(got_);
    tilewise::Comparison comparison;
    comparison.method = "words that are moved and those that must stay, each exactly";
    for (size_t i = 0; i < index_.size(); ++i) {
      unsigned bits;
      std::memcpy(&bits, &got_[i], sizeof(bits));
      const unsigned expected = word_at(index_[i], moves_.seed());
      ++comparison.checked;
      if (bits == expected) continue;
      float value;
      std::memcpy(&value, &expected, sizeof(value));
      if (comparison.wrong++ == 0) comparison.first_wrong = {0, i, got_[i], value, INFINITY, 0};
      comparison.ok = false;
    }
    return comparison;
  }

  std::vector<unsigned> index_;
  std::vector<float> got_;
  tilewise::DeviceBuffer<unsigned> device_index_;
  Moves& moves_;
  tilewise::DeviceBuffer<float> out_;
};
