// malloc, free, new and delete in kernels. Holds on a GPU and on the simulator.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "catch.hpp"
#include "on_device.hpp"

namespace {

struct Shape {
  int id;
  __device__ explicit Shape(int id) : id(id) {}
  __device__ virtual ~Shape() {}
  __device__ virtual int corners() const { return 0; }
};

struct Polygon : Shape {
  int* points;
  int count;
  __device__ Polygon(int id, int count) : Shape(id), points(new int[count]), count(count) {
    for (int i = 0; i < count; ++i) points[i] = id;
  }
  __device__ ~Polygon() override { delete[] points; }
  __device__ int corners() const override { return count + points[count - 1]; }
};

struct Counts {
  int* ended = nullptr;
  __device__ ~Counts() {
    if (ended != nullptr) atomicAdd(ended, 1);
  }
};

struct alignas(32) Wide {
  double values[4];
};

// What one kernel puts there, another one reads, and a third one deletes.
__global__ void make(Shape** shapes) {
  const int i = static_cast<int>(threadIdx.x);
  shapes[i] = i % 2 == 0 ? new Polygon(i, 3 + i) : new Shape(i);
}
__global__ void read(int* out, Shape** shapes) { out[threadIdx.x] = shapes[threadIdx.x]->corners(); }
__global__ void end(Shape** shapes) { delete shapes[threadIdx.x]; }

__global__ void arrays(int* out) {
  Counts* several = new Counts[5];
  Counts* one = new Counts;
  for (int i = 0; i < 5; ++i) several[i].ended = out;
  one->ended = out;
  delete[] several;
  delete one;
  Counts* const none = nullptr;
  delete none;
  delete[] none;
  free(nullptr);
}

// A list, built by one thread and taken apart by it.
__global__ void list(int* out, int n) {
  struct Node {
    Node* next;
    int value;
  };
  Node* first = nullptr;
  for (int i = 0; i < n; ++i) first = new Node{first, i};
  int sum = 0;
  while (first != nullptr) {
    Node* next = first->next;
    sum += first->value;
    delete first;
    first = next;
  }
  out[0] = sum;
}

__global__ void alignments(int* out) {
  void* bytes = std::malloc(3);
  Wide* wide = new Wide;
  out[0] = static_cast<int>(reinterpret_cast<std::uintptr_t>(bytes) % 16);
  wide->values[3] = 1;
  out[1] = static_cast<int>(wide->values[3]);
  std::free(bytes);
  delete wide;
}

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

// Pieces of a megabyte until there are no more; each has the address of the one before in it.
__global__ void fill_the_heap(int* out) {
  int count = 0;
  void** last = nullptr;
  for (void** piece; (piece = static_cast<void**>(malloc(kMegabyte))) != nullptr; ++count) {
    *piece = last;
    last = piece;
  }
  out[0] = count;
  while (last != nullptr) {
    void* next = *last;
    free(last);
    last = static_cast<void**>(next);
  }
  void* again = malloc(kMegabyte);
  out[1] = again != nullptr;
  free(again);
}

}  // namespace

TEST_CASE("objects on the device's heap outlive the kernel that made them") {
  tilewise::DeviceBuffer<Shape*> shapes(32);
  make<<<1, 32>>>(shapes.data());
  CUDA_CHECK_LAUNCH();
  const auto corners = on_device<int>(1, 32, 32, read, shapes.data());
  for (int i = 0; i < 32; ++i) REQUIRE(corners[i] == (i % 2 == 0 ? 3 + i + i : 0));
  end<<<1, 32>>>(shapes.data());
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}

TEST_CASE("delete calls the destructors of all elements") {
  tilewise::DeviceBuffer<int> ended(std::vector<int>{0});
  arrays<<<1, 4>>>(ended.data());
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(ended.to_host()[0] == 24);
}

TEST_CASE("a list on the heap") { CHECK(on_device<int>(1, 1, 1, list, 1000)[0] == 999 * 1000 / 2); }

TEST_CASE("what malloc gives is aligned to 16 bytes") {
  const auto out = on_device<int>(1, 1, 2, alignments);
  CHECK(out[0] == 0);
  CHECK(out[1] == 1);
}

TEST_CASE("the heap has as much as the limit says, and null is what comes then") {
  std::size_t limit = 0;
  CUDA_CHECK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  CHECK(limit == 8 * kMegabyte);
  const auto out = on_device<int>(1, 1, 2, fill_the_heap);
  CHECK(out[0] >= 6);  // a GPU keeps some of it for itself
  CHECK(out[0] <= 8);
  CHECK(out[1] == 1);
}
