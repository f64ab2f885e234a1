// What thrust::system_error says of an error of CUDA's.
#ifndef TILEWISE_THRUST_ERROR
#define TILEWISE_THRUST_ERROR

#include <cuda_runtime_api.h>
#include <thrust/system/error_code.h>
#include <thrust/system/system_error.h>

#include <string>

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cuda {
namespace detail {

class category final : public error_category {
 public:
  const char* name() const override { return "cuda"; }
  std::string message(int error) const override {
    const auto code = static_cast<cudaError_t>(error);
    return std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code);
  }
};

}  // namespace detail
}  // namespace cuda

inline const error_category& cuda_category() {
  static const cuda::detail::category category;
  return category;
}

}  // namespace system

using system::cuda_category;
THRUST_NAMESPACE_END

#endif
