// cuRAND's host API on the CPU: XORWOW and Philox4x32-10. Which generator's which word becomes which element was found by comparing with
// cuRAND 10.4 on an H100 (tests/simulator/random/).
#include "curand.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "runtime/api.hpp"
#include "runtime/library.hpp"
#include "tilewise_device/random.hpp"

namespace tilewise::sim {
namespace {

using library::Call;
using library::Region;

/// The words that an element is made of, and which of the two it is that they make.
struct Drawn {
  std::array<std::uint32_t, 4> words;
  int which = 0;
};

/// Where the words of a generator come from.
class Source {
 public:
  virtual ~Source() = default;
  /// For the next element: so many words, or twice as many for it and another one.
  virtual Drawn draw(int words, bool in_pairs) = 0;
};

/// 4,096 subsequences take turns, one for each element or pair.
class XorwowSource : public Source {
 public:
  XorwowSource(std::uint64_t seed, std::uint64_t offset) : turn_(offset % kSubsequences) {
    random::Xorwow start = random::Xorwow::start(seed, 0, 0);
    for (std::size_t k = 0; k < kSubsequences; ++k) {
      random::Xorwow x = start;
      x.skip(offset / kSubsequences + (k < turn_ ? 1 : 0));
      all_.push_back(x);
      start.skip_subsequences(1);
    }
  }
  Drawn draw(int words, bool in_pairs) override {
    if (in_pairs && pair_.which == 1) {
      pair_.which = 0;
      return {pair_.words, 1};
    }
    Drawn drawn{};
    for (int i = 0; i < (in_pairs ? 2 * words : words); ++i) drawn.words[std::size_t(i)] = all_[turn_].next();
    turn_ = (turn_ + 1) % kSubsequences;
    if (in_pairs) pair_ = {drawn.words, 1};
    return drawn;
  }

 private:
  static constexpr std::size_t kSubsequences = 4096;
  std::size_t turn_;
  std::vector<random::Xorwow> all_;
  Drawn pair_{};  ///< which: 1 when its second element has not been asked for yet
};

/// 65,536 subsequences take turns, with four elements each: of one block of four words, or of two for doubles.
class PhiloxSource : public Source {
 public:
  PhiloxSource(std::uint64_t seed, std::uint64_t offset) : seed_(seed), at_(offset), blocks_(kSubsequences) {
    const std::uint64_t fours = offset / 4;
    for (std::uint64_t k = 0; k < kSubsequences; ++k)
      blocks_[k] = fours / kSubsequences + (k < fours % kSubsequences ? 1 : 0);
  }
  Drawn draw(int words, bool in_pairs) override {
    const std::uint64_t subsequence = at_ / 4 % kSubsequences;
    const int element = int(at_ % 4), first = element * words;  // of four or eight words
    const auto block = compute(subsequence, blocks_[subsequence] + std::uint64_t(first / 4));
    Drawn drawn{block, 0};
    if (in_pairs) {
      drawn.which = element % 2;
      if (words == 1 && element >= 2) drawn.words = {block[2], block[3]};
    } else {
      for (int i = 0; i < words; ++i) drawn.words[std::size_t(i)] = block[std::size_t(first % 4 + i)];
    }
    if (element == 3) blocks_[subsequence] += std::uint64_t(words);
    ++at_;
    return drawn;
  }

 private:
  static constexpr std::uint64_t kSubsequences = 65536;

  std::array<std::uint32_t, 4> compute(std::uint64_t subsequence, std::uint64_t block) const {
    const auto w = random::philox({std::uint32_t(block), std::uint32_t(block >> 32), std::uint32_t(subsequence), 0},
                                  std::uint32_t(seed_), std::uint32_t(seed_ >> 32));
    return {w.x, w.y, w.z, w.w};
  }
  std::uint64_t seed_, at_;
  std::vector<std::uint64_t> blocks_;  ///< how many each has used
};

}  // namespace
}  // namespace tilewise::sim

struct curandGenerator_st {
  curandRngType_t type;
  bool for_host;
  cudaStream_t stream = nullptr;
  std::uint64_t seed = 0, offset = 0;
  std::unique_ptr<tilewise::sim::Source> source = nullptr;  ///< null until numbers are asked for
};

namespace tilewise::sim {
namespace {

/// Never destroyed: programs destroy generators in destructors of their own static objects.
std::vector<std::unique_ptr<curandGenerator_st>>& generators() {
  static auto* all = new std::vector<std::unique_ptr<curandGenerator_st>>;
  return *all;
}

template <class F>
curandStatus_t with_generator(curandGenerator_t generator, const F& f) {
  const DeviceLock lock(device_mutex());
  const auto& all = generators();
  if (std::none_of(all.begin(), all.end(), [=](const auto& g) { return g.get() == generator; }))
    return CURAND_STATUS_NOT_INITIALIZED;
  return f(*generator);
}

std::unique_ptr<Source> source_of(const curandGenerator_st& g) {
  if (g.type == CURAND_RNG_PSEUDO_PHILOX4_32_10) return std::make_unique<PhiloxSource>(g.seed, g.offset);
  return std::make_unique<XorwowSource>(g.seed, g.offset);
}

curandStatus_t create(curandGenerator_t* generator, curandRngType_t type, bool for_host) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
      break;
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_QUASI_DEFAULT:
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
      library::not_supported("curandCreateGenerator", "this type of generator: there are XORWOW and Philox4_32_10");
      return CURAND_STATUS_TYPE_ERROR;
    default:
      return CURAND_STATUS_TYPE_ERROR;
  }
  if (sticky_error() != cudaSuccess) return CURAND_STATUS_INITIALIZATION_FAILED;
  const DeviceLock lock(device_mutex());
  generators().push_back(std::make_unique<curandGenerator_st>(curandGenerator_st{type, for_host}));
  *generator = generators().back().get();
  return CURAND_STATUS_SUCCESS;
}

/// Fills `out` with n elements, each made by make() of so many words, or of a pair's.
template <class T, class Make>
curandStatus_t generate(const char* function, void* site, curandGenerator_t generator, T* out, std::size_t n, int words,
                        bool in_pairs, const Make& make) {
  return with_generator(generator, [&](curandGenerator_st& g) {
    if (in_pairs && n % 2 != 0 && g.type != CURAND_RNG_PSEUDO_PHILOX4_32_10) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    if (n == 0) return CURAND_STATUS_SUCCESS;
    std::optional<Call> call;
    const Region region = library::vector(static_cast<std::int64_t>(n), 1, sizeof(T));
    if (!g.for_host) {
      call.emplace(function, g.stream, site);
      if (!call->ready() || !call->fits("the output", out, region)) return CURAND_STATUS_LAUNCH_FAILURE;
    }
    if (!g.source) g.source = source_of(g);
    for (std::size_t i = 0; i < n; ++i) out[i] = make(g.source->draw(words, in_pairs));
    if (call) {
      call->wrote(out, region);
      call->done(&g);
    }
    return CURAND_STATUS_SUCCESS;
  });
}

template <class T>
T normal_of(const Drawn& drawn) {
  const auto& w = drawn.words;
  if constexpr (std::is_same_v<T, float>) {
    const auto pair = random::normal(w[0], w[1]);
    return drawn.which == 0 ? pair.first : pair.second;
  } else {
    const auto pair = random::normal(w[0], w[1], w[2], w[3]);
    return drawn.which == 0 ? pair.first : pair.second;
  }
}

/// Normally distributed numbers, or their exponentials.
template <class T>
curandStatus_t generate_normal(const char* function, void* site, curandGenerator_t generator, T* out, std::size_t n,
                               T mean, T stddev, bool log) {
  return generate(function, site, generator, out, n, sizeof(T) / sizeof(float), true, [=](const Drawn& drawn) {
    const T x = mean + stddev * normal_of<T>(drawn);
    return log ? std::exp(x) : x;
  });
}

}  // namespace
}  // namespace tilewise::sim

using namespace tilewise::sim;

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t rng_type) {
  return create(generator, rng_type, false);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t rng_type) {
  return create(generator, rng_type, true);
}
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  return with_generator(generator, [=](curandGenerator_st&) {
    auto& all = generators();
    all.erase(std::find_if(all.begin(), all.end(), [=](const auto& g) { return g.get() == generator; }));
    return CURAND_STATUS_SUCCESS;
  });
}

curandStatus_t curandGetVersion(int* version) {
  if (version == nullptr) return CURAND_STATUS_OUT_OF_RANGE;
  *version = CURAND_VERSION;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) return CURAND_STATUS_OUT_OF_RANGE;
  const int numbers[] = {CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH};
  *value = numbers[type];
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  return with_generator(generator, [=](curandGenerator_st& g) {
    if (!is_stream(stream)) return CURAND_STATUS_LAUNCH_FAILURE;
    g.stream = stream;
    return CURAND_STATUS_SUCCESS;
  });
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  return with_generator(generator, [=](curandGenerator_st& g) {
    g.seed = seed;
    g.source.reset();
    return CURAND_STATUS_SUCCESS;
  });
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  return with_generator(generator, [=](curandGenerator_st& g) {
    g.offset = offset;
    g.source.reset();
    return CURAND_STATUS_SUCCESS;
  });
}
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
  return with_generator(generator, [=](curandGenerator_st&) {
    if (order == CURAND_ORDERING_PSEUDO_SEEDED) {
      library::not_supported("curandSetGeneratorOrdering", "CURAND_ORDERING_PSEUDO_SEEDED");
      return CURAND_STATUS_OUT_OF_RANGE;
    }
    return order >= CURAND_ORDERING_PSEUDO_BEST && order <= CURAND_ORDERING_PSEUDO_DYNAMIC ? CURAND_STATUS_SUCCESS
                                                                                           : CURAND_STATUS_OUT_OF_RANGE;
  });
}
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return with_generator(generator, [=](curandGenerator_st&) { return CURAND_STATUS_SUCCESS; });
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* out, size_t n) {
  return generate("curandGenerate", TILEWISE_CALLER, generator, out, n, 1, false,
                  [](const Drawn& drawn) { return drawn.words[0]; });
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* out, size_t n) {
  return generate("curandGenerateUniform", TILEWISE_CALLER, generator, out, n, 1, false,
                  [](const Drawn& drawn) { return random::uniform(drawn.words[0]); });
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* out, size_t n) {
  return generate("curandGenerateUniformDouble", TILEWISE_CALLER, generator, out, n, 2, false,
                  [](const Drawn& drawn) { return random::uniform(drawn.words[0], drawn.words[1]); });
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* out, size_t n, float mean, float stddev) {
  return generate_normal("curandGenerateNormal", TILEWISE_CALLER, generator, out, n, mean, stddev, false);
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* out, size_t n, double mean,
                                          double stddev) {
  return generate_normal("curandGenerateNormalDouble", TILEWISE_CALLER, generator, out, n, mean, stddev, false);
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* out, size_t n, float mean, float stddev) {
  return generate_normal("curandGenerateLogNormal", TILEWISE_CALLER, generator, out, n, mean, stddev, true);
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* out, size_t n, double mean,
                                             double stddev) {
  return generate_normal("curandGenerateLogNormalDouble", TILEWISE_CALLER, generator, out, n, mean, stddev, true);
}
