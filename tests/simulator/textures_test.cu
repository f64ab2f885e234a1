// CUDA arrays, textures and surfaces. What filtering gives was read off an H100.
#include <cuda_runtime.h>

#include <cmath>
#include <vector>

#include "catch.hpp"
#include "expected_findings.hpp"
#include "on_device.hpp"

namespace {

__global__ void read_1d(cudaTextureObject_t t, const float* x, float* out) {
  out[threadIdx.x] = tex1D<float>(t, x[threadIdx.x]);
}
__global__ void read_2d(cudaTextureObject_t t, float2 at, float2 step, float* out) {
  const float i = float(threadIdx.x);
  out[threadIdx.x] = tex2D<float>(t, at.x + i * step.x, at.y + i * step.y);
}
__global__ void read_linear(cudaTextureObject_t t, int* out) {
  out[threadIdx.x] = tex1Dfetch<int>(t, int(threadIdx.x) - 1);
}
__global__ void add_one(cudaSurfaceObject_t s, int width, int height) {
  const int x = int(threadIdx.x), y = int(blockIdx.x);
  if (x >= width || y >= height) return;
  uchar4 pixel;
  surf2Dread(&pixel, s, x * 4, y);
  pixel.w += 1;
  surf2Dwrite(pixel, s, x * 4, y);
}
__global__ void read_surface_outside(cudaSurfaceObject_t s, float* out, bool clamps) {
  *out = clamps ? surf2Dread<float>(s, -4, 0, cudaBoundaryModeClamp) : surf2Dread<float>(s, -4, 0);
}

/// An array of floats that count from 0, and a texture of it.
class Counting {
 public:
  Counting(int width, int height, cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool normalized) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array_, &format, width, height, cudaArraySurfaceLoadStore);
    std::vector<float> numbers(std::size_t(width) * height);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = float(i);
    cudaMemcpy2DToArray(array_, 0, 0, numbers.data(), 4 * width, 4 * width, height, cudaMemcpyHostToDevice);
    cudaTextureDesc desc{};
    for (cudaTextureAddressMode& m : desc.addressMode) m = mode;
    desc.filterMode = filter;
    desc.normalizedCoords = normalized;
    const cudaResourceDesc resource = of_array();
    REQUIRE(cudaCreateTextureObject(&texture, &resource, &desc, nullptr) == cudaSuccess);
  }
  ~Counting() {
    cudaDestroyTextureObject(texture);
    cudaFreeArray(array_);
  }
  cudaResourceDesc of_array() const {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array_;
    return resource;
  }
  cudaTextureObject_t texture = 0;

 private:
  cudaArray_t array_ = nullptr;
};

std::vector<float> at(const Counting& counting, const std::vector<float>& x) {
  const tilewise::DeviceBuffer<float> in(x);
  tilewise::DeviceBuffer<float> out(x.size());
  read_1d<<<1, unsigned(x.size())>>>(counting.texture, in.data(), out.data());
  return out.to_host();
}

}  // namespace

TEST_CASE("A texture read between its elements, in each mode", "[textures]") {
  const std::vector<float> places = {-1.5f, 0, 0.49f, 0.5f, 1, 2.25f, 3.9f, 4, 5.75f};
  CHECK(at({4, 1, cudaAddressModeClamp, cudaFilterModePoint, false}, places) ==
        std::vector<float>{0, 0, 0, 0, 1, 2, 3, 3, 3});
  CHECK(at({4, 1, cudaAddressModeBorder, cudaFilterModePoint, false}, places) ==
        std::vector<float>{0, 0, 0, 0, 1, 2, 3, 0, 0});
  CHECK(at({4, 1, cudaAddressModeClamp, cudaFilterModeLinear, false}, places) ==
        std::vector<float>{0, 0, 0, 0, 0.5f, 1.75f, 3, 3, 3});
  // Wrapping and mirroring are for normalized coordinates; others are clamped.
  CHECK(at({4, 1, cudaAddressModeWrap, cudaFilterModePoint, false}, places) ==
        std::vector<float>{0, 0, 0, 0, 1, 2, 3, 3, 3});
  std::vector<float> normalized = places;
  for (float& x : normalized) x /= 4;
  CHECK(at({4, 1, cudaAddressModeWrap, cudaFilterModePoint, true}, normalized) ==
        std::vector<float>{2, 0, 0, 0, 1, 2, 3, 0, 1});
  CHECK(at({4, 1, cudaAddressModeMirror, cudaFilterModePoint, true}, normalized) ==
        std::vector<float>{1, 0, 0, 0, 1, 2, 3, 3, 2});
  CHECK(at({4, 1, cudaAddressModeWrap, cudaFilterModeLinear, true}, normalized) ==
        std::vector<float>{2, 1.5f, 9 / 256.0f, 0, 0.5f, 1.75f, 3 * 154 / 256.0f, 1.5f, 1.25f});
}

TEST_CASE("The weights of linear filtering have eight bits, in two dimensions, too", "[textures]") {
  const Counting counting(8, 8, cudaAddressModeClamp, cudaFilterModeLinear, false);
  tilewise::DeviceBuffer<float> out(4);
  read_2d<<<1, 4>>>(counting.texture, {2.49f, 2.715f}, {0.3f, 0.1f}, out.data());
  // 253 and 55 of 256: 1 + 253/256 + 8 (2 + 55/256), as 1/256 of the weighted whole numbers.
  CHECK(out.to_host()[0] == Approx(1 + 253 / 256.0 + 8 * (2 + 55 / 256.0)));
}

TEST_CASE("Linear memory as a texture: indices outside give zeros", "[textures]") {
  tilewise::DeviceBuffer<int> in(std::vector<int>{7, 8, 9});
  tilewise::DeviceBuffer<int> out(5);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = in.data();
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = 12;
  const cudaTextureDesc desc{};
  cudaTextureObject_t texture;
  REQUIRE(cudaCreateTextureObject(&texture, &resource, &desc, nullptr) == cudaSuccess);
  read_linear<<<1, 5>>>(texture, out.data());
  CHECK(out.to_host() == std::vector<int>{0, 7, 8, 9, 0});
  CHECK(cudaDestroyTextureObject(texture) == cudaSuccess);
}

TEST_CASE("Surfaces are read and written", "[textures]") {
  constexpr int width = 13, height = 5;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t array;
  REQUIRE(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore) == cudaSuccess);
  std::vector<uchar4> pixels(width * height, uchar4{1, 2, 3, 4});
  cudaMemcpy2DToArray(array, 0, 0, pixels.data(), 4 * width, 4 * width, height, cudaMemcpyHostToDevice);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  REQUIRE(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);
  add_one<<<height, 32>>>(surface, width, height);
  cudaMemcpy2DFromArray(pixels.data(), 4 * width, array, 0, 0, 4 * width, height, cudaMemcpyDeviceToHost);
  int right = 0;
  for (const uchar4& p : pixels) right += p.x == 1 && p.y == 2 && p.z == 3 && p.w == 5;
  CHECK(right == width * height);
  CHECK(cudaDestroySurfaceObject(surface) == cudaSuccess);
  CHECK(cudaFreeArray(array) == cudaSuccess);
}

__global__ void from_texture(float* out, cudaTextureObject_t texture, int n) {
  if (const int i = threadIdx.x; i < n) out[i] = tex2D<float>(texture, float(i) + 0.5f, 0.5f);
}

__global__ void onto_surface(cudaSurfaceObject_t surface, int n) {
  if (const int i = threadIdx.x; i < n) surf2Dwrite(float(10 * i), surface, i * int(sizeof(float)), 0);
}

TEST_CASE("Textures and surfaces live side by side", "[textures]") {
  constexpr int n = 8;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t arrays[2];
  cudaResourceDesc resources[2] = {};
  float first[n];
  for (int i = 0; i < n; ++i) first[i] = float(i);
  for (int a = 0; a < 2; ++a) {
    REQUIRE(cudaMallocArray(&arrays[a], &format, n, 1, cudaArraySurfaceLoadStore) == cudaSuccess);
    cudaMemcpy2DToArray(arrays[a], 0, 0, first, sizeof first, sizeof first, 1, cudaMemcpyHostToDevice);
    resources[a].resType = cudaResourceTypeArray;
    resources[a].res.array.array = arrays[a];
  }
  // The texture is made before the surface, and again after it.
  const cudaTextureDesc plain{};
  cudaTextureObject_t before, after;
  cudaSurfaceObject_t surface;
  REQUIRE(cudaCreateTextureObject(&before, &resources[0], &plain, nullptr) == cudaSuccess);
  REQUIRE(cudaCreateSurfaceObject(&surface, &resources[1]) == cudaSuccess);
  REQUIRE(cudaCreateTextureObject(&after, &resources[1], &plain, nullptr) == cudaSuccess);
  float* out;
  cudaMalloc(&out, 2 * sizeof first);
  onto_surface<<<1, 32>>>(surface, n);
  from_texture<<<1, 32>>>(out, before, n);
  from_texture<<<1, 32>>>(out + n, after, n);
  float have[2 * n];
  REQUIRE(cudaMemcpy(have, out, sizeof have, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int i = 0; i < n; ++i) {
    CHECK(have[i] == float(i));
    CHECK(have[n + i] == float(10 * i));
  }
  CHECK(cudaDestroySurfaceObject(surface) == cudaSuccess);
  CHECK(cudaDestroyTextureObject(before) == cudaSuccess);
  CHECK(cudaDestroyTextureObject(after) == cudaSuccess);
  cudaFree(out);
  for (const cudaArray_t array : arrays) CHECK(cudaFreeArray(array) == cudaSuccess);
}

TEST_CASE("Three dimensions: a box out of a pitched allocation, into an array and back", "[textures]") {
  constexpr int nx = 7, ny = 5, nz = 4;
  const cudaExtent extent = make_cudaExtent(nx * sizeof(float), ny, nz);
  std::vector<float> in(nx * ny * nz), out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = float(i);
  cudaPitchedPtr pitched;
  REQUIRE(cudaMalloc3D(&pitched, extent) == cudaSuccess);
  CHECK(pitched.pitch % 32 == 0);
  CHECK(pitched.ysize == ny);
  CHECK(cudaMemset3D(pitched, 0, extent) == cudaSuccess);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(in.data(), nx * sizeof(float), nx, ny);
  copy.dstPtr = pitched;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy) == cudaSuccess);

  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  REQUIRE(cudaMalloc3DArray(&array, &format, make_cudaExtent(nx, ny, nz)) == cudaSuccess);
  cudaMemcpy3DParms inner{};
  inner.srcPtr = pitched;
  inner.dstArray = array;
  inner.extent = make_cudaExtent(nx, ny, nz);  // in elements, since there is an array
  inner.kind = cudaMemcpyDeviceToDevice;
  CHECK(cudaMemcpy3D(&inner) == cudaSuccess);
  cudaMemcpy3DParms back{};
  back.srcArray = array;
  back.srcPos = make_cudaPos(1, 1, 1);
  back.dstPtr = make_cudaPitchedPtr(out.data(), nx * sizeof(float), nx, ny);
  back.extent = make_cudaExtent(nx - 1, ny - 1, nz - 1);
  back.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&back) == cudaSuccess);
  CHECK(out[0] == in[(1 * ny + 1) * nx + 1]);
  CHECK(out[(2 * ny + 3) * nx + 5] == in[(3 * ny + 4) * nx + 6]);
  back.extent.width = nx;  // beyond the array
  CHECK(cudaMemcpy3D(&back) == cudaErrorInvalidValue);
  cudaFree(pitched.ptr);
  cudaFreeArray(array);
}

TEST_CASE("Textures that cannot be", "[textures]") {
  const Counting counting(4, 1, cudaAddressModeClamp, cudaFilterModePoint, false);
  tilewise::DeviceBuffer<int> memory(64);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory.data();
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = 256;
  cudaTextureDesc desc{};
  cudaTextureObject_t texture;
  desc.filterMode = cudaFilterModeLinear;
  CHECK(cudaCreateTextureObject(&texture, &resource, &desc, nullptr) == cudaErrorInvalidFilterSetting);
  desc.filterMode = cudaFilterModePoint;
  desc.readMode = cudaReadModeNormalizedFloat;
  CHECK(cudaCreateTextureObject(&texture, &resource, &desc, nullptr) == cudaErrorInvalidNormSetting);
#ifdef TILEWISE_SIMULATOR
  CHECK(cudaDestroyTextureObject(99) == cudaErrorInvalidValue);  // an H100 says nothing
#endif
  const cudaChannelFormatDesc three{32, 32, 32, 0, cudaChannelFormatKindFloat};
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &three, 4) == cudaErrorInvalidChannelDescriptor);
  cudaGetLastError();
}

#ifdef TILEWISE_SIMULATOR
TEST_CASE("What is wrong with reads of textures is found", "[textures]") {
  ExpectedFindings findings;
  tilewise::DeviceBuffer<float> out(1);
  {
    const Counting counting(4, 1, cudaAddressModeClamp, cudaFilterModePoint, false);
    cudaSurfaceObject_t surface;
    const cudaResourceDesc resource = counting.of_array();
    REQUIRE(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);
    read_surface_outside<<<1, 1>>>(surface, out.data(), true);
    CHECK(findings.count() == 0);
    CHECK(out.to_host()[0] == 0);
    cudaDestroySurfaceObject(surface);
  }
  // An array that nobody has written.
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  cudaMallocArray(&array, &format, 8);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const cudaTextureDesc desc{};
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &resource, &desc, nullptr);
  read_2d<<<1, 1>>>(texture, {0, 0}, {1, 0}, out.data());
  CHECK(findings.count() == 1);
  cudaDestroyTextureObject(texture);
  cudaFreeArray(array);
}
#endif
