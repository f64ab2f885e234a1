// cuRAND's host API, as far as the simulator has it: XORWOW and Philox4x32-10 into device memory, the numbers that a GPU gives (uniform
// ones to the bit). The CPU computes (libraries/curand.cpp); the calls, their checks and their status codes are cuRAND's. Comments say
// where the simulator differs. Functions that are not here are named below: calling one is a compile-time error.
#pragma once
#define CURAND_H_  // programs ask for it

#include <cstddef>

#include "cuda_runtime_api.h"
#include "library_types.h"
#include "tilewise_device/not_supported.hpp"

// The version that this follows.
#define CURAND_VER_MAJOR 10
#define CURAND_VER_MINOR 4
#define CURAND_VER_PATCH 0
#define CURAND_VERSION (CURAND_VER_MAJOR * 1000 + CURAND_VER_MINOR * 100 + CURAND_VER_PATCH)

typedef struct curandGenerator_st* curandGenerator_t;

/// LAUNCH_FAILURE here also means: the call was refused since a pointer is wrong, and a finding says which one.
typedef enum curandStatus {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999,
} curandStatus_t;

/// Creating one of the others gives TYPE_ERROR here, and says so.
typedef enum curandRngType {
  CURAND_RNG_TEST = 0,
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
  CURAND_RNG_QUASI_DEFAULT = 200,
  CURAND_RNG_QUASI_SOBOL32 = 201,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
  CURAND_RNG_QUASI_SOBOL64 = 203,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204,
} curandRngType_t;

/// All the same for these generators, but SEEDED, which is refused.
typedef enum curandOrdering {
  CURAND_ORDERING_PSEUDO_BEST = 100,
  CURAND_ORDERING_PSEUDO_DEFAULT = 101,
  CURAND_ORDERING_PSEUDO_SEEDED = 102,
  CURAND_ORDERING_PSEUDO_LEGACY = 103,
  CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
  CURAND_ORDERING_QUASI_DEFAULT = 201,
} curandOrdering_t;

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t rng_type);
/// Numbers go to the host's memory.
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t rng_type);
curandStatus_t curandDestroyGenerator(curandGenerator_t generator);
curandStatus_t curandGetVersion(int* version);
curandStatus_t curandGetProperty(libraryPropertyType type, int* value);
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream);
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed);
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset);
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order);
curandStatus_t curandGenerateSeeds(curandGenerator_t generator);

/// n 32-bit words.
curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* out, size_t n);
/// n numbers above 0, at most 1.
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* out, size_t n);
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* out, size_t n);
/// With XORWOW n must be even.
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* out, size_t n, float mean, float stddev);
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* out, size_t n, double mean,
                                          double stddev);
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* out, size_t n, float mean, float stddev);
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* out, size_t n, double mean,
                                             double stddev);

}  // extern "C"

TILEWISE_NOT_SUPPORTED(curandGenerateLongLong);
TILEWISE_NOT_SUPPORTED(curandGeneratePoisson);
TILEWISE_NOT_SUPPORTED(curandGenerateBinomial);
TILEWISE_NOT_SUPPORTED(curandCreatePoissonDistribution);
TILEWISE_NOT_SUPPORTED(curandDestroyDistribution);
TILEWISE_NOT_SUPPORTED(curandSetQuasiRandomGeneratorDimensions);
TILEWISE_NOT_SUPPORTED(curandGetDirectionVectors32);
TILEWISE_NOT_SUPPORTED(curandGetDirectionVectors64);
TILEWISE_NOT_SUPPORTED(curandGetScrambleConstants32);
TILEWISE_NOT_SUPPORTED(curandGetScrambleConstants64);
TILEWISE_NOT_SUPPORTED(curandMakeMTGP32Constants);
TILEWISE_NOT_SUPPORTED(curandMakeMTGP32KernelState);
