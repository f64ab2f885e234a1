// cuFFT on the CPU: each plan's transforms, one dimension after another, by Eigen's copy of kissfft, in double precision.
#include "cufftXt.h"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <numeric>
#include <type_traits>
#include <unsupported/Eigen/FFT>
#include <utility>
#include <vector>

#include "runtime/api.hpp"
#include "runtime/library.hpp"

namespace tilewise::sim {
namespace {

using library::Call;
using library::Region;
using Index = std::int64_t;
using Complex = std::complex<double>;

constexpr int kMostDimensions = 3;

/// How the elements of all transforms lie in memory, in elements.
struct Layout {
  Index extents[kMostDimensions] = {1, 1, 1};  ///< of one transform, the last dimension's elements side by side
  Index strides[kMostDimensions] = {};
  Index batch = 1, distance = 0;  ///< from one transform to the next

  Index at(Index transform, Index x, Index y, Index z) const {
    return transform * distance + x * strides[0] + y * strides[1] + z * strides[2];
  }
};

struct Plan {
  bool made = false;
  cufftType type = CUFFT_C2C;
  Index n[kMostDimensions] = {1, 1, 1};  ///< filled from the front with ones
  Index batch = 1;
  bool advanced = false;  ///< with strides of the program's own
  Layout in, out;
  cudaStream_t stream = nullptr;

  Index size() const { return n[0] * n[1] * n[2]; }
};

/// Plans by their handles, which count from 1. Never destroyed: programs destroy plans in destructors of static objects.
std::vector<std::unique_ptr<Plan>>& plans() {
  static auto* all = new std::vector<std::unique_ptr<Plan>>(1);
  return *all;
}

template <class F>
cufftResult with_plan(cufftHandle handle, const F& f) {
  const DeviceLock lock(device_mutex());
  const auto number = static_cast<std::size_t>(handle);
  if (handle <= 0 || number >= plans().size() || !plans()[number]) return CUFFT_INVALID_PLAN;
  return f(*plans()[number]);
}

bool from_real(cufftType type) { return type == CUFFT_R2C || type == CUFFT_D2Z; }
bool to_real(cufftType type) { return type == CUFFT_C2R || type == CUFFT_Z2D; }
bool is_double(cufftType type) { return type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D; }

bool is_type(cufftType type) {
  const auto all = {CUFFT_R2C, CUFFT_C2R, CUFFT_C2C, CUFFT_D2Z, CUFFT_Z2D, CUFFT_Z2Z};
  return std::find(all.begin(), all.end(), type) != all.end();
}

/// Lengths of the last dimension in memory: of real numbers, complex ones are half as many and one more.
Index last_length(const Plan& plan, bool real) {
  const bool halved = !real && (from_real(plan.type) || to_real(plan.type));
  return halved ? plan.n[2] / 2 + 1 : plan.n[2];
}

Layout layout(const Plan& plan, bool real, const Index* rows, Index stride, Index distance) {
  Layout l;
  std::copy(plan.n, plan.n + 3, l.extents);
  l.extents[2] = last_length(plan, real);
  l.batch = plan.batch;
  l.strides[2] = stride;
  l.strides[1] = rows[2] * stride;
  l.strides[0] = rows[1] * l.strides[1];
  l.distance = distance;
  return l;
}

/// Side by side, without gaps; `padded`: rows of real numbers that have room for the complex ones, in place.
Layout packed(const Plan& plan, bool real, bool padded) {
  const Index last = padded ? 2 * (plan.n[2] / 2 + 1) : last_length(plan, real);
  const Index rows[] = {plan.n[0], plan.n[1], last};
  return layout(plan, real, rows, 1, plan.n[0] * plan.n[1] * last);
}

/// What the program says of one side of cufftPlanMany.
template <class Int>
struct Embedding {
  const Int* rows;
  Int stride, distance;
};

template <class Int>
cufftResult make(Plan& plan, int rank, const Int* n, Embedding<Int> in, Embedding<Int> out, cufftType type, Int batch) {
  if (plan.made) return CUFFT_INVALID_PLAN;
  if (!is_type(type)) return CUFFT_INVALID_TYPE;
  if (rank < 1 || rank > kMostDimensions) return CUFFT_INVALID_VALUE;
  if (n == nullptr) return CUFFT_INVALID_VALUE;
  if (batch < 1 || std::any_of(n, n + rank, [](Int length) { return length < 1; })) return CUFFT_INVALID_SIZE;
  Plan made;
  made.type = type;
  made.stream = plan.stream;
  made.batch = batch;
  std::copy(n, n + rank, made.n + kMostDimensions - rank);
  made.advanced = in.rows != nullptr && out.rows != nullptr;
  if (made.advanced) {
    const auto side = [&](const Embedding<Int>& e, bool real, Layout& to) {
      Index rows[] = {1, 1, 1};
      std::copy(e.rows, e.rows + rank, rows + kMostDimensions - rank);
      if (e.stride < 1 || e.distance < 0 || std::any_of(rows + 1, rows + 3, [](Index r) { return r < 1; }))
        return false;
      to = layout(made, real, rows, e.stride, e.distance);
      return true;
    };
    if (!side(in, from_real(type), made.in) || !side(out, to_real(type), made.out)) return CUFFT_INVALID_VALUE;
  }
  made.made = true;
  plan = made;
  return CUFFT_SUCCESS;
}

cufftResult make(Plan& plan, std::initializer_list<int> n, cufftType type, int batch) {
  const Embedding<int> none{nullptr, 1, 0};
  return make(plan, static_cast<int>(n.size()), n.begin(), none, none, type, batch);
}

std::size_t work_size(const Plan& plan) {
  return static_cast<std::size_t>(plan.size() * plan.batch) * (is_double(plan.type) ? 16 : 8);
}

/// Makes the plan of a handle, and says how large its work area is.
template <class Make>
cufftResult make_plan(cufftHandle handle, std::size_t* size, const Make& make_it) {
  if (sticky_error() != cudaSuccess) return CUFFT_SETUP_FAILED;
  return with_plan(handle, [&](Plan& plan) {
    if (const cufftResult status = make_it(plan)) return status;
    if (size != nullptr) *size = work_size(plan);
    return CUFFT_SUCCESS;
  });
}

/// The same of a plan that is nobody's.
template <class Make>
cufftResult estimate(std::size_t* size, const Make& make_it) {
  if (size == nullptr) return CUFFT_INVALID_VALUE;
  Plan plan;
  if (const cufftResult status = make_it(plan)) return status;
  *size = work_size(plan);
  return CUFFT_SUCCESS;
}

/// cufftPlan...: a handle with its plan.
template <class Make>
cufftResult create(cufftHandle* handle, const Make& make_it) {
  if (handle == nullptr) return CUFFT_INVALID_PLAN;
  if (const cufftResult status = cufftCreate(handle)) return status;
  const cufftResult status = make_plan(*handle, nullptr, make_it);
  if (status != CUFFT_SUCCESS) cufftDestroy(*handle), *handle = 0;
  return status;
}

// ---------------------------------------------------------------- memory

/// Calls f(offset of the first element, region) for parts that cover the layout's elements: few and large ones.
template <class F>
bool for_each_part(const Layout& l, std::size_t element_bytes, const F& f) {
  std::vector<std::pair<Index, Index>> loops;  // stride and count, from the smallest stride on
  for (int i = 0; i < kMostDimensions; ++i)
    if (l.extents[i] > 1) loops.emplace_back(l.strides[i], l.extents[i]);
  if (l.batch > 1) loops.emplace_back(l.distance, l.batch);
  std::sort(loops.begin(), loops.end());
  if (loops.empty() || loops[0].first != 1) loops.insert(loops.begin(), {1, 1});
  for (std::size_t i = 1; i < loops.size();) {
    if (loops[i].first == loops[i - 1].first * loops[i - 1].second) {
      loops[i - 1].second *= loops[i].second;
      loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  while (loops.size() < 4) loops.emplace_back(1, 1);
  const Region region{element_bytes, loops[0].second, loops[1].second, loops[1].first, false};
  for (Index i = 0; i < loops[3].second; ++i)
    for (Index j = 0; j < loops[2].second; ++j)
      if (!f(i * loops[3].first + j * loops[2].first, region)) return false;
  return true;
}

template <class T>
Complex value_of(const T& element) {
  if constexpr (std::is_floating_point_v<T>)
    return element;
  else
    return {element.x, element.y};
}

template <class T>
void set(T& element, const Complex& value) {
  if constexpr (std::is_floating_point_v<T>) {
    element = static_cast<T>(value.real());
  } else {
    element.x = static_cast<decltype(element.x)>(value.real());
    element.y = static_cast<decltype(element.y)>(value.imag());
  }
}

// ---------------------------------------------------------------- transforms

/// Along one dimension of a packed array of n[0] x n[1] x n[2].
void transform_along(std::vector<Complex>& all, const Index (&n)[3], int dimension, bool inverse) {
  const Index length = n[dimension];
  if (length == 1) return;
  const Index stride = dimension == 0 ? n[1] * n[2] : dimension == 1 ? n[2] : 1;
  static Eigen::FFT<double> fft(Eigen::FFT<double>::impl_type(), Eigen::FFT<double>::Unscaled);
  std::vector<Complex> line(static_cast<std::size_t>(length)), result(line.size());
  for (Index first = 0; first < n[0] * n[1] * n[2]; ++first) {
    if (first / stride % length != 0) continue;  // not the first of its line
    for (Index i = 0; i < length; ++i)
      line[static_cast<std::size_t>(i)] = all[static_cast<std::size_t>(first + i * stride)];
    if (inverse)
      fft.inv(result.data(), line.data(), length);
    else
      fft.fwd(result.data(), line.data(), length);
    for (Index i = 0; i < length; ++i)
      all[static_cast<std::size_t>(first + i * stride)] = result[static_cast<std::size_t>(i)];
  }
}

/// One transform's input; of a half that stands for all, the other half, too.
template <class In>
std::vector<Complex> gathered(const Plan& plan, const Layout& layout, Index transform, const In* in) {
  const auto& n = plan.n;
  const Index stored = layout.extents[2];
  std::vector<Complex> all;
  all.reserve(static_cast<std::size_t>(plan.size()));
  for (Index x = 0; x < n[0]; ++x)
    for (Index y = 0; y < n[1]; ++y)
      for (Index z = 0; z < n[2]; ++z)
        all.push_back(
            z < stored ? value_of(in[layout.at(transform, x, y, z)])
                       : std::conj(value_of(in[layout.at(transform, (n[0] - x) % n[0], (n[1] - y) % n[1], n[2] - z)])));
  return all;
}

template <class In, class Out>
void transform_all(const Plan& plan, const Layout& in_layout, const Layout& out_layout, const In* in, Out* out,
                   bool inverse) {
  std::vector<std::vector<Complex>> all;  // read before anything is written: they may overlap
  for (Index t = 0; t < plan.batch; ++t) all.push_back(gathered(plan, in_layout, t, in));
  for (Index t = 0; t < plan.batch; ++t) {
    std::vector<Complex>& values = all[static_cast<std::size_t>(t)];
    for (int d = 0; d < kMostDimensions; ++d) transform_along(values, plan.n, d, inverse);
    const auto& e = out_layout.extents;
    for (Index x = 0; x < e[0]; ++x)
      for (Index y = 0; y < e[1]; ++y)
        for (Index z = 0; z < e[2]; ++z)
          set(out[out_layout.at(t, x, y, z)], values[static_cast<std::size_t>((x * plan.n[1] + y) * plan.n[2] + z)]);
  }
}

template <class In, class Out>
cufftResult execute(const char* function, void* site, cufftHandle handle, cufftType type, In* in, Out* out,
                    bool inverse) {
  return with_plan(handle, [&](Plan& plan) {
    if (!plan.made || plan.type != type) return plan.made ? CUFFT_INVALID_TYPE : CUFFT_INVALID_PLAN;
    if (in == nullptr || out == nullptr) return CUFFT_INVALID_VALUE;
    const bool in_place = static_cast<const void*>(in) == static_cast<const void*>(out);
    const Layout in_layout = plan.advanced ? plan.in : packed(plan, from_real(type), in_place && from_real(type));
    const Layout out_layout = plan.advanced ? plan.out : packed(plan, to_real(type), in_place && to_real(type));
    const auto work = [=](Call& call, const Plan& plan) {
      const bool good =
          for_each_part(in_layout, sizeof(In),
                        [&](Index at, const Region& r) { return call.readable("the input", in + at, r); }) &&
          for_each_part(out_layout, sizeof(Out),
                        [&](Index at, const Region& r) { return call.fits("the output", out + at, r); });
      if (!good) return false;
      if (!memory::has_addresses_only()) transform_all(plan, in_layout, out_layout, in, out, inverse);
      for_each_part(out_layout, sizeof(Out), [&](Index at, const Region& r) {
        call.wrote(out + at, r);
        return true;
      });
      return true;
    };
    if (library::is_captured(plan.stream)) {
      const auto as_now = [=, now = plan](Call& call) { return work(call, now); };
      return library::capture(function, plan.stream, site, &plan, as_now) ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
    }
    Call call(function, plan.stream, site);
    if (!call.ready() || !work(call, plan)) return CUFFT_EXEC_FAILED;
    call.done(&plan);
    return CUFFT_SUCCESS;
  });
}

bool is_direction(int direction) { return direction == CUFFT_FORWARD || direction == CUFFT_INVERSE; }

}  // namespace
}  // namespace tilewise::sim

using namespace tilewise::sim;

// ---------------------------------------------------------------- plans

cufftResult cufftCreate(cufftHandle* plan) {
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  if (sticky_error() != cudaSuccess) return CUFFT_SETUP_FAILED;
  const DeviceLock lock(device_mutex());
  plans().push_back(std::make_unique<Plan>());
  *plan = static_cast<cufftHandle>(plans().size()) - 1;
  return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle plan) {
  return with_plan(plan, [=](Plan&) {
    plans()[static_cast<std::size_t>(plan)].reset();
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch) {
  return create(plan, [=](Plan& p) { return make(p, {nx}, type, batch); });
}
cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
  return create(plan, [=](Plan& p) { return make(p, {nx, ny}, type, 1); });
}
cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
  return create(plan, [=](Plan& p) { return make(p, {nx, ny, nz}, type, 1); });
}
cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                          int ostride, int odist, cufftType type, int batch) {
  return create(plan, [=](Plan& p) {
    return make<int>(p, rank, n, {inembed, istride, idist}, {onembed, ostride, odist}, type, batch);
  });
}

cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* workSize) {
  return make_plan(plan, workSize, [=](Plan& p) { return make(p, {nx}, type, batch); });
}
cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* workSize) {
  return make_plan(plan, workSize, [=](Plan& p) { return make(p, {nx, ny}, type, 1); });
}
cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* workSize) {
  return make_plan(plan, workSize, [=](Plan& p) { return make(p, {nx, ny, nz}, type, 1); });
}
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                              int ostride, int odist, cufftType type, int batch, size_t* workSize) {
  return make_plan(plan, workSize, [=](Plan& p) {
    return make<int>(p, rank, n, {inembed, istride, idist}, {onembed, ostride, odist}, type, batch);
  });
}
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long int* n, long long int* inembed,
                                long long int istride, long long int idist, long long int* onembed,
                                long long int ostride, long long int odist, cufftType type, long long int batch,
                                size_t* workSize) {
  return make_plan(plan, workSize, [=](Plan& p) {
    return make<long long>(p, rank, n, {inembed, istride, idist}, {onembed, ostride, odist}, type, batch);
  });
}

// ---------------------------------------------------------------- work areas

cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t* workSize) {
  return estimate(workSize, [=](Plan& p) { return make(p, {nx}, type, batch); });
}
cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t* workSize) {
  return estimate(workSize, [=](Plan& p) { return make(p, {nx, ny}, type, 1); });
}
cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t* workSize) {
  return estimate(workSize, [=](Plan& p) { return make(p, {nx, ny, nz}, type, 1); });
}
cufftResult cufftEstimateMany(int rank, int* n, int* inembed, int istride, int idist, int* onembed, int ostride,
                              int odist, cufftType type, int batch, size_t* workSize) {
  return estimate(workSize, [=](Plan& p) {
    return make<int>(p, rank, n, {inembed, istride, idist}, {onembed, ostride, odist}, type, batch);
  });
}
cufftResult cufftGetSize1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* workSize) {
  return with_plan(plan, [=](Plan&) { return cufftEstimate1d(nx, type, batch, workSize); });
}
cufftResult cufftGetSize2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* workSize) {
  return with_plan(plan, [=](Plan&) { return cufftEstimate2d(nx, ny, type, workSize); });
}
cufftResult cufftGetSize3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* workSize) {
  return with_plan(plan, [=](Plan&) { return cufftEstimate3d(nx, ny, nz, type, workSize); });
}
cufftResult cufftGetSizeMany(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                             int ostride, int odist, cufftType type, int batch, size_t* workSize) {
  return with_plan(plan, [=](Plan&) {
    return cufftEstimateMany(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, workSize);
  });
}
cufftResult cufftGetSize(cufftHandle plan, size_t* workSize) {
  return with_plan(plan, [=](Plan& p) {
    if (workSize == nullptr) return CUFFT_INVALID_VALUE;
    *workSize = p.made ? work_size(p) : 0;
    return CUFFT_SUCCESS;
  });
}
cufftResult cufftSetWorkArea(cufftHandle plan, void*) {
  return with_plan(plan, [](Plan&) { return CUFFT_SUCCESS; });
}
cufftResult cufftSetAutoAllocation(cufftHandle plan, int) {
  return with_plan(plan, [](Plan&) { return CUFFT_SUCCESS; });
}

// ---------------------------------------------------------------- transforms

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* idata, cufftComplex* odata, int direction) {
  if (!is_direction(direction)) return CUFFT_INVALID_VALUE;
  return execute("cufftExecC2C", TILEWISE_CALLER, plan, CUFFT_C2C, idata, odata, direction == CUFFT_INVERSE);
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* idata, cufftComplex* odata) {
  return execute("cufftExecR2C", TILEWISE_CALLER, plan, CUFFT_R2C, idata, odata, false);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* idata, cufftReal* odata) {
  return execute("cufftExecC2R", TILEWISE_CALLER, plan, CUFFT_C2R, idata, odata, true);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* idata, cufftDoubleComplex* odata, int direction) {
  if (!is_direction(direction)) return CUFFT_INVALID_VALUE;
  return execute("cufftExecZ2Z", TILEWISE_CALLER, plan, CUFFT_Z2Z, idata, odata, direction == CUFFT_INVERSE);
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* idata, cufftDoubleComplex* odata) {
  return execute("cufftExecD2Z", TILEWISE_CALLER, plan, CUFFT_D2Z, idata, odata, false);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* idata, cufftDoubleReal* odata) {
  return execute("cufftExecZ2D", TILEWISE_CALLER, plan, CUFFT_Z2D, idata, odata, true);
}

cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long int* n, long long int* inembed,
                                long long int istride, long long int idist, cudaDataType inputtype,
                                long long int* onembed, long long int ostride, long long int odist,
                                cudaDataType outputtype, long long int batch, size_t* workSize, cudaDataType) {
  struct Known {
    cudaDataType in, out;
    cufftType type;
  };
  constexpr Known kTypes[] = {{CUDA_C_32F, CUDA_C_32F, CUFFT_C2C}, {CUDA_R_32F, CUDA_C_32F, CUFFT_R2C},
                              {CUDA_C_32F, CUDA_R_32F, CUFFT_C2R}, {CUDA_C_64F, CUDA_C_64F, CUFFT_Z2Z},
                              {CUDA_R_64F, CUDA_C_64F, CUFFT_D2Z}, {CUDA_C_64F, CUDA_R_64F, CUFFT_Z2D}};
  for (const auto& [in, out, type] : kTypes)
    if (in == inputtype && out == outputtype)
      return cufftMakePlanMany64(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch,
                                 workSize);
  library::not_supported("cufftXtMakePlanMany", "these types: there are single and double precision");
  return CUFFT_NOT_SUPPORTED;
}

cufftResult cufftXtExec(cufftHandle plan, void* input, void* output, int direction) {
  void* const site = TILEWISE_CALLER;
  cufftType type{};
  if (const cufftResult status = with_plan(plan, [&](Plan& p) { return type = p.type, CUFFT_SUCCESS; })) return status;
  const bool inverse = direction == CUFFT_INVERSE;
  const auto run = [&](auto* in, auto* out, bool backwards) {
    return execute("cufftXtExec", site, plan, type, in, out, backwards);
  };
  auto *c_in = static_cast<cufftComplex*>(input), *c_out = static_cast<cufftComplex*>(output);
  auto *z_in = static_cast<cufftDoubleComplex*>(input), *z_out = static_cast<cufftDoubleComplex*>(output);
  switch (type) {
    case CUFFT_R2C:
      return run(static_cast<float*>(input), c_out, false);
    case CUFFT_C2R:
      return run(c_in, static_cast<float*>(output), true);
    case CUFFT_D2Z:
      return run(static_cast<double*>(input), z_out, false);
    case CUFFT_Z2D:
      return run(z_in, static_cast<double*>(output), true);
    case CUFFT_Z2Z:
      return is_direction(direction) ? run(z_in, z_out, inverse) : CUFFT_INVALID_VALUE;
    case CUFFT_C2C:
      break;
  }
  return is_direction(direction) ? run(c_in, c_out, inverse) : CUFFT_INVALID_VALUE;
}

cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  return with_plan(plan, [=](Plan& p) {
    if (!is_stream(stream)) return CUFFT_INVALID_VALUE;
    p.stream = stream;
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftGetVersion(int* version) {
  if (version == nullptr) return CUFFT_INVALID_VALUE;
  *version = CUFFT_VERSION;
  return CUFFT_SUCCESS;
}
cufftResult cufftGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) return CUFFT_INVALID_VALUE;
  const int numbers[] = {CUFFT_VER_MAJOR, CUFFT_VER_MINOR, CUFFT_VER_PATCH};
  *value = numbers[type];
  return CUFFT_SUCCESS;
}
