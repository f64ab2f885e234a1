// Objects with virtual functions: a kernel makes them in place, since their tables must be the device's own.
#include <cstdio>
#include <new>

class Shape {
 public:
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
  __device__ virtual void grow(float) {}
};
class Square : public Shape {
 public:
  __device__ explicit Square(float side) : side_(side) {}
  __device__ float area() const override { return side_ * side_; }
  __device__ void grow(float by) override { side_ += by; }

 protected:
  float side_;
};
class Oblong final : public Square {
 public:
  __device__ Oblong(float a, float b, int* destroyed) : Square(a), other_(b), destroyed_(destroyed) {}
  __device__ ~Oblong() override { atomicAdd(destroyed_, 1); }
  __device__ float area() const override { return side_ * other_; }

 private:
  float other_;
  int* destroyed_;
};

constexpr size_t kRoom = sizeof(Oblong) > sizeof(Square) ? sizeof(Oblong) : sizeof(Square);

__global__ void construct(char* room, Shape** shapes, int* destroyed, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  void* place = room + i * kRoom;
  shapes[i] = i % 3 == 0 ? static_cast<Shape*>(new (place) Oblong(i, 2, destroyed)) : new (place) Square(i);
}
__global__ void measure(Shape* const* shapes, float* areas, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  shapes[i]->grow(0.5f);
  areas[i] = shapes[i]->area();
}
__global__ void destroy(Shape** shapes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) shapes[i]->~Shape();
}

int main() {
  const int n = 509;
  char* room;
  Shape** shapes;
  float* areas;
  int* destroyed;
  cudaMalloc(&room, n * kRoom), cudaMalloc(&shapes, n * sizeof(Shape*));
  cudaMallocManaged(&areas, n * sizeof(float)), cudaMallocManaged(&destroyed, sizeof(int));
  *destroyed = 0;
  construct<<<4, 128>>>(room, shapes, destroyed, n);
  measure<<<4, 128>>>(shapes, areas, n);
  destroy<<<4, 128>>>(shapes, n);
  int wrong = cudaDeviceSynchronize() != cudaSuccess || *destroyed != (n + 2) / 3;
  for (int i = 0; i < n; ++i) wrong += areas[i] != (i + 0.5f) * (i % 3 == 0 ? 2 : i + 0.5f);
  cudaFree(room), cudaFree(shapes), cudaFree(areas), cudaFree(destroyed);
  std::puts(wrong ? "wrong" : "right");
}
