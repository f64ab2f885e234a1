// Calls one kernel on arrays that come in a file: what tilewise.count() puts after a kernel's source and compiles with it.
//
//   program types                                        prints a line for each parameter of the kernel
//   program run IN OUT gx gy gz bx by bz shared seconds  reads arguments from IN, launches, writes what the arrays hold to OUT
//
// IN: for each parameter two numbers of 8 bytes, its Form and a size in bytes (of same_as: which argument), and then these bytes.
// OUT: a line with the CUDA error's name and its text; after "cudaSuccess" the bytes of each array that the kernel may write.
#pragma once

#include <cuda_runtime.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

namespace tilewise::sim {
void prepare_to_end();
void watch_program(int seconds);  // runtime/watchdog.hpp
}  // namespace tilewise::sim

namespace tilewise_call {

enum class Form : std::uint64_t { value, array, same_as, null };

struct Argument {
  Form form = Form::null;
  std::uint64_t bytes = 0;  // same_as: the number of the argument
  unsigned char* host = nullptr;
  void* device = nullptr;
};

template <class T>
struct Element {
  static constexpr const char* kind() {
    if constexpr (std::is_void_v<T>)
      return "void";
    else if constexpr (std::is_same_v<T, bool>)
      return "bool";
    else if constexpr (std::is_same_v<T, char>)
      return "char";
    else if constexpr (std::is_enum_v<T>)
      return Element<std::underlying_type_t<T>>::kind();
    else if constexpr (std::is_floating_point_v<T>)
      return "float";
    else if constexpr (std::is_integral_v<T>)
      return std::is_signed_v<T> ? "int" : "uint";
    else if constexpr (std::is_pointer_v<T> || std::is_member_pointer_v<T>)
      return "pointer";
    else
      return "struct";
  }
  static constexpr int kCount = 1;
};
#ifdef __CUDA_FP16_H__
template <>
struct Element<__half> {
  static constexpr const char* kind() { return "half"; }
  static constexpr int kCount = 1;
};
#endif
#ifdef __CUDA_BF16_H__
template <>
struct Element<__nv_bfloat16> {
  static constexpr const char* kind() { return "bfloat16"; }
  static constexpr int kCount = 1;
};
#endif
#define TILEWISE_VECTOR(name, member, count)                                \
  template <>                                                               \
  struct Element<name> {                                                    \
    static constexpr const char* kind() { return Element<member>::kind(); } \
    static constexpr int kCount = count;                                    \
  };
#define TILEWISE_VECTORS(name, member) \
  TILEWISE_VECTOR(name##1, member, 1)  \
  TILEWISE_VECTOR(name##2, member, 2)  \
  TILEWISE_VECTOR(name##3, member, 3)  \
  TILEWISE_VECTOR(name##4, member, 4)
TILEWISE_VECTORS(char, signed char)
TILEWISE_VECTORS(uchar, unsigned char)
TILEWISE_VECTORS(short, short)
TILEWISE_VECTORS(ushort, unsigned short)
TILEWISE_VECTORS(int, int)
TILEWISE_VECTORS(uint, unsigned)
TILEWISE_VECTORS(longlong, long long)
TILEWISE_VECTORS(ulonglong, unsigned long long)
TILEWISE_VECTORS(float, float)
TILEWISE_VECTORS(double, double)
#undef TILEWISE_VECTORS
#undef TILEWISE_VECTOR

/// "pointer const float 16 4": how it is passed, whether it may be written, and what it is made of: kind, bytes, how many.
template <class P>
void print_type() {
  using Pointee = std::remove_all_extents_t<std::remove_pointer_t<P>>;
  using T = std::remove_cv_t<Pointee>;
  const char* passed = std::is_reference_v<P> ? "reference" : std::is_pointer_v<P> ? "pointer" : "value";
  std::size_t bytes = 1;
  if constexpr (!std::is_void_v<T> && !std::is_reference_v<P> && !std::is_function_v<T>) bytes = sizeof(T);
  if constexpr (std::is_reference_v<P> || std::is_function_v<T>) {
    std::printf("reference mutable struct 1 1\n");
  } else {
    std::printf("%s %s %s %zu %d\n", passed, std::is_const_v<Pointee> ? "const" : "mutable", Element<T>::kind(), bytes,
                Element<T>::kCount);
  }
}

template <class P>
P get(const Argument& a) {
  if constexpr (std::is_pointer_v<P>) {
    return (P)a.device;
  } else {
    alignas(P) unsigned char bytes[sizeof(P)];
    std::memcpy(bytes, a.host, sizeof(P));
    return *reinterpret_cast<P*>(bytes);
  }
}

template <class P>
constexpr bool is_written =
    std::is_pointer_v<P> && !std::is_const_v<std::remove_all_extents_t<std::remove_pointer_t<P>>>;

[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "tilewise.count: %s\n", what);
  std::_Exit(3);
}

inline void read_arguments(const char* path, Argument* all, std::size_t count) {
  std::FILE* file = std::fopen(path, "rb");
  if (!file) fail("the arguments cannot be read");
  for (std::size_t i = 0; i < count; ++i) {
    Argument& a = all[i];
    if (std::fread(&a.form, 8, 1, file) != 1 || std::fread(&a.bytes, 8, 1, file) != 1) fail("arguments are missing");
    if (a.form == Form::same_as || a.form == Form::null) continue;
    a.host = static_cast<unsigned char*>(std::malloc(a.bytes + 1));
    if (!a.host || std::fread(a.host, 1, a.bytes, file) != a.bytes) fail("no memory for an argument");
  }
  std::fclose(file);
}

/// `allocate` calls cudaMalloc for each array, each in a line of its own that findings name. `launch` launches.
template <class... P, class Allocate, class Launch>
int main_program(void (*)(P...), int argc, char** argv, Allocate allocate, Launch launch) {
  constexpr std::size_t kCount = sizeof...(P);
  if (argc == 2 && std::strcmp(argv[1], "types") == 0) {
    (print_type<P>(), ...);
    return 0;
  }
  if (argc != 12) fail("is called by Python");
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  Argument all[kCount + 1];
  read_arguments(argv[2], all, kCount);
  const auto number = [&](int i) { return static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10)); };
  cudaError_t error = allocate(all);
  for (std::size_t i = 0; i < kCount && error == cudaSuccess; ++i) {
    if (all[i].form == Form::array && all[i].bytes != 0)
      error = cudaMemcpy(all[i].device, all[i].host, all[i].bytes, cudaMemcpyHostToDevice);
    if (all[i].form == Form::same_as) all[i].device = all[all[i].bytes].device;
  }
  if (error == cudaSuccess) {
    tilewise::sim::prepare_to_end();
    tilewise::sim::watch_program(static_cast<int>(number(11)));
    launch(all, dim3(number(4), number(5), number(6)), dim3(number(7), number(8), number(9)), std::size_t{number(10)});
    error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
  }
  std::fflush(stdout);
  std::FILE* file = std::fopen(argv[3], "wb");
  if (!file) fail("the results cannot be written");
  bool written[] = {is_written<P>..., false};
  for (std::size_t i = 0; i < kCount; ++i) {
    if (all[i].form == Form::same_as && written[i]) written[all[i].bytes] = true;
  }
  for (std::size_t i = 0; i < kCount && error == cudaSuccess; ++i) {
    if (written[i] && all[i].form == Form::array && all[i].bytes != 0)
      error = cudaMemcpy(all[i].host, all[i].device, all[i].bytes, cudaMemcpyDeviceToHost);
  }
  std::fprintf(file, "%s %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
  for (std::size_t i = 0; i < kCount && error == cudaSuccess; ++i) {
    if (written[i] && all[i].form == Form::array && std::fwrite(all[i].host, 1, all[i].bytes, file) != all[i].bytes)
      fail("the results cannot be written");
  }
  if (std::fclose(file) != 0) fail("the results cannot be written");
  for (std::size_t i = 0; i < kCount; ++i) {
    if (all[i].form == Form::array) cudaFree(all[i].device);
    std::free(all[i].host);
  }
  return 0;
}

}  // namespace tilewise_call
