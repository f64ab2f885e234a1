// Code of the host, which a kernel can't run: functions whose addresses host code has taken, and virtual functions of objects that it has
// made. On an H100 the wrong ones end with errors 716 and 700, and the right ones give these results.
#include <new>

#include "cases.hpp"

typedef int (*Operation)(int);

__host__ __device__ int twice(int x) { return 2 * x; }
int of_the_host(int x) { return 3 * x; }

__device__ Operation chosen;
__device__ Operation twice_on_device = twice;
__managed__ Operation shared_choice;

struct Shape {
  int side = 5;
  __host__ __device__ virtual int area() const { return side; }
  __host__ __device__ virtual ~Shape() {}
};
struct Square : Shape {
  __host__ __device__ int area() const override { return side * side; }
};
// A virtual function of the second base: the object is there not where the whole one begins.
struct Named {
  int name = 7;
  __host__ __device__ virtual int named() const { return name; }
};
struct NamedSquare : Square, Named {
  __host__ __device__ int named() const override { return name + side; }
};
struct Large {
  int numbers[8];
};
struct Source {
  __host__ __device__ virtual Large all() const { return {{1, 2, 3}}; }
};

__global__ void apply(Operation operation, int* out) {
  *out = operation(21);  // finding: host-code functions_address, host-code hosts_own_function
}
__global__ void apply_chosen(int* out) {
  *out = chosen(21);  // finding: host-code address_in_a_variable
}
__global__ void measure(const Shape* shape, int* out) {
  *out = shape->area();  // finding: host-code managed_object, host-code copied_object, host-code made_again_by_host
}
__global__ void measure_copy(Square square, int* out) {
  const Shape* shape = &square;
  *out = shape->area();  // finding: host-code object_by_value
}
__global__ void tell(const Named* named, int* out) {
  *out = named->named();  // finding: host-code second_base
}
__global__ void all_of(const Source* source, int* out) {
  *out = source->all().numbers[2];  // finding: host-code returns_a_struct
}
__global__ void make_square(void* place) { new (place) Square; }
template <class T>
__global__ void make_at(void* place) {
  new (place) T;
}
__global__ void measure_itself(Square square, int* out) { *out = square.Square::area(); }
__global__ void choose(Operation* to) { *to = twice; }
__global__ void on_heap(Shape** shape) { *shape = new Square; }
__global__ void remove(Shape* shape) { delete shape; }
__global__ void local_object(int* out) {
  Square square;
  const Shape* shape = &square;
  *out = shape->area();
}

static int is(int wanted, int* out) {
  int value = -1;
  const cudaError_t error = cudaMemcpy(&value, out, sizeof value, cudaMemcpyDefault);
  cudaFree(out);
  return error == cudaSuccess && value == wanted ? 0 : 3;
}
static int ends_with(cudaError_t error, int* out) {
  const bool as_wanted = cudaDeviceSynchronize() == error;
  cudaFree(out);
  return as_wanted ? 0 : 3;
}
template <class T>
static T* managed(int bytes = sizeof(T)) {
  T* p = nullptr;
  cudaMallocManaged(&p, bytes);
  return p;
}
template <class T>
static T* copied(const T& object) {
  T* p = nullptr;
  cudaMalloc(&p, sizeof object);
  cudaMemcpy(static_cast<void*>(p), &object, sizeof object, cudaMemcpyHostToDevice);
  return p;
}

CASE(functions_address) { int* o = zeros<int>(1); apply<<<1, 1>>>(twice, o); return cudaDeviceSynchronize() != cudaSuccess ? 0 : 3; }
CASE(hosts_own_function) { int* o = zeros<int>(1); apply<<<1, 1>>>(of_the_host, o); return cudaDeviceSynchronize() != cudaSuccess ? 0 : 3; }
CASE(address_in_a_variable) {
  Operation operation = twice;
  cudaMemcpyToSymbol(chosen, &operation, sizeof operation);
  int* o = zeros<int>(1);
  apply_chosen<<<1, 1>>>(o);
  return cudaDeviceSynchronize() != cudaSuccess ? 0 : 3;
}
CASE(functions_address_right) {
  Operation operation = nullptr;
  cudaMemcpyFromSymbol(&operation, twice_on_device, sizeof operation);
  int* o = zeros<int>(1);
  apply<<<1, 1>>>(operation, o);
  return is(42, o);
}
CASE(address_in_a_variable_right) {
  Operation operation = nullptr;
  cudaMemcpyFromSymbol(&operation, twice_on_device, sizeof operation);
  cudaMemcpyToSymbol(chosen, &operation, sizeof operation);
  int* o = zeros<int>(1);
  apply_chosen<<<1, 1>>>(o);
  return is(42, o);
}
CASE(hosts_own_function_right) {  // the host reads it there, and no copy is made
  Operation* operation = managed<Operation>();
  choose<<<1, 1>>>(operation);
  cudaDeviceSynchronize();
  int* o = zeros<int>(1);
  apply<<<1, 1>>>(*operation, o);
  const int result = is(42, o);
  return finish(operation) + result;
}
CASE(address_in_a_managed_variable_right) {
  Operation* there = nullptr;
  cudaGetSymbolAddress(reinterpret_cast<void**>(&there), shared_choice);
  choose<<<1, 1>>>(there);
  cudaDeviceSynchronize();
  int* o = zeros<int>(1);
  apply<<<1, 1>>>(shared_choice, o);
  return is(42, o);
}
CASE(managed_object) {
  Shape* shape = new (managed<Square>()) Square;
  int* o = zeros<int>(1);
  measure<<<1, 1>>>(shape, o);
  return ends_with(cudaErrorIllegalAddress, o);
}
CASE(copied_object) {
  int* o = zeros<int>(1);
  measure<<<1, 1>>>(copied(Square()), o);
  return ends_with(cudaErrorIllegalAddress, o);
}
CASE(made_again_by_host) {
  Square* square = managed<Square>();
  make_square<<<1, 1>>>(square);
  cudaDeviceSynchronize();
  new (square) Square;
  int* o = zeros<int>(1);
  measure<<<1, 1>>>(square, o);
  return ends_with(cudaErrorIllegalAddress, o);
}
CASE(object_by_value) { int* o = zeros<int>(1); measure_copy<<<1, 1>>>(Square(), o); return ends_with(cudaErrorIllegalAddress, o); }
CASE(object_by_value_right) { int* o = zeros<int>(1); measure_itself<<<1, 1>>>(Square(), o); return is(25, o); }
CASE(second_base) {
  int* o = zeros<int>(1);
  tell<<<1, 1>>>(copied(NamedSquare()), o);
  return ends_with(cudaErrorIllegalAddress, o);
}
CASE(returns_a_struct) {
  int* o = zeros<int>(1);
  all_of<<<1, 1>>>(copied(Source()), o);
  return ends_with(cudaErrorIllegalAddress, o);
}
CASE(made_again_by_host_right) {
  Square* square = new (managed<Square>()) Square;
  make_square<<<1, 1>>>(square);
  int* o = zeros<int>(1);
  measure<<<1, 1>>>(square, o);
  const int result = is(25, o);
  return finish(square) + result;
}
CASE(second_base_right) {
  NamedSquare* object = zeros<NamedSquare>(1);
  make_at<NamedSquare><<<1, 1>>>(object);
  int* o = zeros<int>(1);
  tell<<<1, 1>>>(object, o);
  const int result = is(12, o);
  return finish(object) + result;
}
CASE(returns_a_struct_right) {
  Source* source = zeros<Source>(1);
  make_at<Source><<<1, 1>>>(source);
  int* o = zeros<int>(1);
  all_of<<<1, 1>>>(source, o);
  const int result = is(3, o);
  return finish(source) + result;
}
CASE(managed_object_right) {
  Square* square = managed<Square>();
  make_square<<<1, 1>>>(square);
  int* o = zeros<int>(1);
  measure<<<1, 1>>>(square, o);
  const int result = is(25, o);
  return finish(square) + result;
}
CASE(copied_object_right) {  // and the object is made anew where it has been copied to
  Square* square = copied(Square());
  make_square<<<1, 1>>>(square);
  int* o = zeros<int>(1);
  measure<<<1, 1>>>(square, o);
  const int result = is(25, o);
  return finish(square) + result;
}
CASE(object_on_heap_right) {
  Shape **where = zeros<Shape*>(1), *shape = nullptr;
  on_heap<<<1, 1>>>(where);
  cudaMemcpy(&shape, where, sizeof shape, cudaMemcpyDeviceToHost);
  int* o = zeros<int>(1);
  measure<<<1, 1>>>(shape, o);
  remove<<<1, 1>>>(shape);
  const int result = is(25, o);
  return finish(where) + result;
}
CASE(object_in_a_thread_right) { int* o = zeros<int>(1); local_object<<<1, 1>>>(o); return is(25, o); }
CASE(object_that_went_home_right) {  // the device's object, copied to the host and to another place on the device
  Square *square = zeros<Square>(1), *other = zeros<Square>(1);
  make_square<<<1, 1>>>(square);
  alignas(Square) unsigned char bytes[sizeof(Square)];
  cudaMemcpy(bytes, static_cast<void*>(square), sizeof bytes, cudaMemcpyDeviceToHost);
  cudaMemcpy(static_cast<void*>(other), bytes, sizeof bytes, cudaMemcpyHostToDevice);
  int* o = zeros<int>(1);
  measure<<<1, 1>>>(other, o);
  const int result = is(25, o);
  return finish(square, other) + result;
}
CASE(object_that_is_not_called_right) {  // the host's object gives its numbers to a kernel, and no function
  Square* square = new (managed<Square>()) Square;
  square->side = 3;
  int* o = zeros<int>(1);
  cudaMemcpy(o, &square->side, sizeof(int), cudaMemcpyDefault);
  const int result = is(3, o);
  return finish(square) + result;
}
