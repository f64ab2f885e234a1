// Several devices: TILEWISE_DEVICES. What is wrong with programs that use them is in findings/devices.cu; here is what calls answer.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "catch.hpp"
#include "tilewise_sim/report.hpp"
#include "workplace.hpp"

namespace {

/// Runs a program that ends well and prints `output` on a machine with so many devices.
void prints_on(int devices, const std::string& output, const std::string& source) {
  const Workplace workplace;
  const Outcome compiled = workplace.compile(workplace.write(source));
  CHECK(compiled.text.empty());
  REQUIRE(compiled.status == 0);
  const Outcome ran = workplace.run_app("TILEWISE_DEVICES=" + std::to_string(devices));
  CHECK(ran.text == output);
  CHECK(ran.status == 0);
}

/// `main` prints what each call in SAY() gives. p0 and p1 are memory of devices 0 and 1, s0 and s1 streams, e0 and e1 events;
/// device 1 is the current one.
std::string on_two(const std::string& main) {
  return R"(#include <cstdio>
#define SAY(call) std::printf("%s\n", cudaGetErrorName(call)), cudaGetLastError()
__device__ int number = 7;
__constant__ int fixed = 3;
__global__ void put(int* p, int value) { *p = value; }
__global__ void get(const int* p, int* q) { *q = *p; }
__global__ void count(int* p) { number += fixed; *p = number; }
int main() {
  int *p0, *p1, host = 0;
  cudaStream_t s0, s1;
  cudaEvent_t e0, e1;
  cudaSetDevice(0);
  cudaMalloc(&p0, 4096), cudaMemset(p0, 0, 4096), cudaStreamCreate(&s0), cudaEventCreate(&e0);
  cudaDeviceSynchronize();
  cudaSetDevice(1);
  cudaMalloc(&p1, 4096), cudaMemset(p1, 0, 4096), cudaStreamCreate(&s1), cudaEventCreate(&e1);
)" + main +
         R"(
  cudaStreamDestroy(s0), cudaStreamDestroy(s1), cudaEventDestroy(e0), cudaEventDestroy(e1);
  cudaFree(p0), cudaFree(p1);
  return 0 * host;
})";
}

}  // namespace

TEST_CASE("TILEWISE_DEVICES: a wrong value ends the program before it begins", "[devices]") {
  const Workplace workplace;
  REQUIRE(workplace
              .compile(workplace.write(R"(#include <cstdio>
int main() { int n = 0; cudaGetDeviceCount(&n); std::printf("%d\n", n); return cudaDeviceSynchronize(); })"))
              .status == 0);
  for (const std::string value : {"0", "9", "-1", "abc", "2x", "08", "1.0"}) {
    const Outcome ran = workplace.run_app("TILEWISE_DEVICES=" + value);
    CHECK(ran.status == 2);
    CHECK(ran.text == "TILEWISE_DEVICES '" + value + "': not a number of devices; allowed are 1 to 8\n");
  }
  CHECK(workplace.run_app("TILEWISE_DEVICES=").text == "1\n");
  CHECK(workplace.run_app("").text == "1\n");
  CHECK(workplace.run_app("TILEWISE_DEVICES=8").text == "8\n");
}

TEST_CASE("Devices of one kind have places on the bus and identities of their own", "[devices]") {
  prints_on(3, "0 NVIDIA 0000:00:00.0 0\n1 NVIDIA 0000:01:00.0 1\n2 NVIDIA 0000:02:00.0 2\ndifferent\n",
            R"(#include <cstdio>
#include <cstring>
int main() {
  cudaDeviceProp prop[3];
  for (int d = 0; d < 3; ++d) {
    char id[32];
    int back = -1;
    cudaGetDeviceProperties(&prop[d], d);
    cudaDeviceGetPCIBusId(id, sizeof id, d);
    cudaDeviceGetByPCIBusId(&back, id);
    std::printf("%d %.6s %s %d\n", prop[d].pciBusID, std::strstr(prop[d].name, "NVIDIA"), id, back);
  }
  std::puts(std::memcmp(&prop[0].uuid, &prop[1].uuid, 16) && std::memcmp(&prop[1].uuid, &prop[2].uuid, 16) ? "different"
                                                                                                        : "alike");
})");
}

TEST_CASE("Each host thread has its current device, and a wrong one leaves it", "[devices]") {
  prints_on(2, "0 cudaErrorInvalidDevice 0 cudaSuccess 1 0\n", R"(#include <cstdio>
#include <thread>
int current() { int d = -1; cudaGetDevice(&d); return d; }
int main() {
  std::printf("%d ", current());
  std::printf("%s ", cudaGetErrorName(cudaSetDevice(2)));
  std::printf("%d ", current());
  std::printf("%s ", cudaGetErrorName(cudaSetDevice(1)));
  std::printf("%d ", current());
  std::thread([] { std::printf("%d\n", current()); }).join();
})");
}

TEST_CASE("Peer access is given one way, once, and not to oneself", "[devices]") {
  prints_on(
      2,
      "0 1 1\ncudaErrorInvalidDevice\ncudaErrorPeerAccessUnsupported\ncudaErrorInvalidDevice\ncudaErrorInvalidValue\n"
      "cudaErrorPeerAccessNotEnabled\ncudaSuccess\ncudaErrorPeerAccessAlreadyEnabled\ncudaSuccess\ncudaSuccess\n"
      "cudaSuccess\ncudaErrorPeerAccessNotEnabled\ncudaErrorPeerAccessNotEnabled\n",
      on_two(R"(
  int can[3] = {9, 9, 9};
  for (int i = 0; i < 3; ++i) cudaDeviceCanAccessPeer(&can[i], i / 2, i % 2);
  std::printf("%d %d %d\n", can[0], can[1], can[2]);
  SAY(cudaDeviceCanAccessPeer(can, 0, 2));
  SAY(cudaDeviceEnablePeerAccess(1, 0));
  SAY(cudaDeviceEnablePeerAccess(2, 0));
  SAY(cudaDeviceEnablePeerAccess(0, 1));
  SAY(cudaDeviceDisablePeerAccess(0));
  SAY(cudaDeviceEnablePeerAccess(0, 0));
  SAY(cudaDeviceEnablePeerAccess(0, 0));
  get<<<1, 1>>>(p0, p1);
  SAY(cudaDeviceSynchronize());
  cudaSetDevice(0);
  SAY(cudaDeviceEnablePeerAccess(1, 0));
  cudaSetDevice(1);
  SAY(cudaDeviceDisablePeerAccess(0));
  SAY(cudaDeviceDisablePeerAccess(0));
  SAY(cudaDeviceDisablePeerAccess(1));)"));
}

TEST_CASE("Launches, records and times belong to a device; copies, waits and queries do not mind", "[devices]") {
  prints_on(2,
            "cudaErrorInvalidResourceHandle\ncudaErrorInvalidResourceHandle\ncudaErrorInvalidResourceHandle\n"
            "cudaErrorInvalidResourceHandle\ncudaErrorInvalidResourceHandle\ncudaSuccess\ncudaSuccess\ncudaSuccess\n"
            "cudaSuccess\ncudaSuccess\ncudaErrorInvalidResourceHandle\ncudaSuccess\ncudaSuccess\ncudaSuccess\n"
            "cudaSuccess\ncudaSuccess\n5\n",
            on_two(R"(
  put<<<1, 1, 0, s0>>>(p0, 1);
  SAY(cudaGetLastError());
  int value = 1;
  void* arguments[] = {&p0, &value};
  SAY(cudaLaunchKernel(put, dim3(1), dim3(1), arguments, 0, s0));
  SAY(cudaEventRecord(e0, s1));
  SAY(cudaEventRecord(e1, s0));
  SAY(cudaEventRecord(e0));
  SAY(cudaEventRecord(e0, s0));
  SAY(cudaEventRecord(e1, s1));
  SAY(cudaStreamWaitEvent(s1, e0, 0));
  SAY(cudaEventQuery(e0));
  SAY(cudaEventSynchronize(e0));
  float ms;
  SAY(cudaEventElapsedTime(&ms, e0, e1));
  host = 5;
  SAY(cudaMemcpyAsync(p0, &host, 4, cudaMemcpyHostToDevice, s0));
  SAY(cudaMemsetAsync(p0 + 8, 0, 4, s0));
  SAY(cudaStreamSynchronize(s0));
  SAY(cudaMemcpyPeer(p1, 1, p0, 0, 4));
  SAY(cudaMemcpyAsync(&host, p1, 4, cudaMemcpyDefault, s1));
  std::printf("%d\n", host);)"));
}

TEST_CASE("Copies between devices need no access, but devices that exist", "[devices]") {
  prints_on(2, "cudaErrorInvalidDevice\ncudaErrorInvalidDevice\ncudaSuccess\ncudaSuccess\ncudaSuccess\n42 42\n",
            on_two(R"(
  SAY(cudaMemcpyPeer(p1, 2, p0, 0, 4));
  SAY(cudaMemcpyPeerAsync(p1, 1, p0, -1, 4, s1));
  cudaSetDevice(0);
  put<<<1, 1>>>(p0, 42);
  SAY(cudaMemcpyPeer(p1, 1, p0, 0, 4));
  SAY(cudaMemcpy(p1 + 1, p0, 4, cudaMemcpyDeviceToDevice));
  int both[2];
  SAY(cudaMemcpy(both, p1, 8, cudaMemcpyDefault));
  std::printf("%d %d\n", both[0], both[1]);)"));
}

TEST_CASE("Memory belongs to a device: attributes, free bytes, allocations in a stream", "[devices]") {
  prints_on(2, "0 1 1 1\n0 1\n1048576 0\n0\n", on_two(R"(
  cudaPointerAttributes of;
  int *pinned, *managed, *q;
  cudaMallocHost(&pinned, 4), cudaMallocManaged(&managed, 4);
  for (int* p : {p0 + 5, p1, pinned, managed}) {
    cudaPointerGetAttributes(&of, p);
    std::printf("%d%c", of.device, p == managed ? '\n' : ' ');
  }
  void *n0, *n1;
  cudaGetSymbolAddress(&n1, number), cudaSetDevice(0), cudaGetSymbolAddress(&n0, number), cudaSetDevice(1);
  for (void* p : {n0, n1}) {
    cudaPointerGetAttributes(&of, p);
    std::printf("%d%c", of.device, p == n1 ? '\n' : ' ');
  }
  size_t before[2], after[2], total;
  for (int d = 0; d < 2; ++d) cudaSetDevice(d), cudaMemGetInfo(&before[d], &total);
  cudaMallocAsync(&q, 1 << 20, s0);
  for (int d = 0; d < 2; ++d) cudaSetDevice(d), cudaMemGetInfo(&after[d], &total);
  std::printf("%zu %zu\n", before[0] - after[0], before[1] - after[1]);
  cudaPointerGetAttributes(&of, q);
  std::printf("%d\n", of.device);
  cudaFreeAsync(q, s0), cudaFree(managed), cudaFreeHost(pinned);)"));
}

TEST_CASE("Each device has its own copy of a variable", "[devices]") {
  prints_on(2, "10 13 10\n7 100\n107 100 4\n", on_two(R"(
  const auto counted = [](int device, int* p) {
    int result;
    cudaSetDevice(device);
    count<<<1, 1>>>(p);
    cudaMemcpy(&result, p, 4, cudaMemcpyDefault);
    return result;
  };
  const int first = counted(0, p0), second = counted(0, p0);
  std::printf("%d %d %d\n", first, second, counted(1, p1));
  int seven = 7, hundred = 100, four = 4, back[3];
  cudaSetDevice(0), cudaMemcpyToSymbol(number, &hundred, 4);
  cudaSetDevice(1), cudaMemcpyToSymbol(number, &seven, 4);
  cudaMemcpyFromSymbol(&back[0], number, 4), cudaSetDevice(0), cudaMemcpyFromSymbol(&back[1], number, 4);
  std::printf("%d %d\n", back[0], back[1]);
  cudaSetDevice(1);
  cudaMemcpyToSymbol(number, &hundred, 4), cudaMemcpyToSymbol(fixed, &seven, 4);  // of device 1
  int* address;
  cudaSetDevice(0), cudaGetSymbolAddress((void**)&address, number), cudaMemcpyToSymbol(fixed, &four, 4);
  cudaMemcpyFromSymbol(&back[2], fixed, 4);
  std::printf("%d ", counted(1, p1));
  cudaSetDevice(0), put<<<1, 1>>>(address, 100), cudaMemcpyFromSymbol(&back[1], number, 4);
  std::printf("%d %d\n", back[1], back[2]);)"));
}

TEST_CASE("What cudaFuncSetAttribute allows a kernel, it allows on one device", "[devices]") {
  prints_on(2, "cudaSuccess cudaErrorInvalidValue\n", R"(#include <cstdio>
__global__ void k(float* p) { extern __shared__ float s[]; s[0] = 1; *p = s[0]; }
int main() {
  const char* said[2];
  cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  for (int d = 0; d < 2; ++d) {
    float* p;
    cudaSetDevice(d), cudaMalloc(&p, 4);
    k<<<1, 1, 65536>>>(p);
    said[d] = cudaGetErrorName(cudaGetLastError());
    cudaFree(p);
  }
  std::printf("%s %s\n", said[0], said[1]);
})");
}

TEST_CASE("An error on one device is answered by all, and its reset cures them", "[devices]") {
  const Workplace workplace;
  REQUIRE(workplace
              .compile(workplace.write(on_two(R"(
  get<<<1, 1>>>(p0, p1);
  SAY(cudaDeviceSynchronize());
  SAY(cudaMemset(p1, 0, 4));
  cudaSetDevice(0);
  put<<<1, 1>>>(p0, 1);
  SAY(cudaDeviceSynchronize());
  cudaSetDevice(1);
  SAY(cudaDeviceReset());
  SAY(cudaMalloc(&p1, 4));
  cudaStreamCreate(&s1), cudaEventCreate(&e1);
  put<<<1, 1>>>(p1, 1);
  SAY(cudaDeviceSynchronize());
  cudaSetDevice(0);
  SAY(cudaMemcpy(&host, p0, 4, cudaMemcpyDefault));)")))
              .status == 0);
  const Outcome ran = workplace.run_app("TILEWISE_DEVICES=2 TILEWISE_FINDINGS=warn");
  CHECK(
      ran.text.ends_with("cudaErrorIllegalAddress\ncudaErrorIllegalAddress\ncudaErrorIllegalAddress\ncudaSuccess\ncudaS"
                         "uccess\ncudaSuccess\n"
                         "cudaSuccess\n"));
  const Outcome said = workplace.run_app("TILEWISE_DEVICES=2");
  CHECK(said.status == 1);
  CHECK(
      said.text.find("program.cu:6: peer-access: this thread runs on device 1 and reads element 0 of the 1,024-element "
                     "(4-byte) device allocation on device 0 made at ") != std::string::npos);
  CHECK(said.text.find("call cudaDeviceEnablePeerAccess(0, 0) while device 1 is the current one") != std::string::npos);
}

TEST_CASE("A graph's nodes stay on their devices, and go with them", "[devices][graphs]") {
  prints_on(2,
            "cudaSuccess\n5\ncudaErrorGraphExecUpdateFailure 5\ncudaSuccess\n6\ncudaSuccess\ncudaErrorInvalidValue\n"
            "cudaErrorInvalidValue\n",
            on_two(R"(
  const auto captured = [](int device, cudaStream_t stream, int* p, int value) {
    cudaGraph_t graph;
    cudaSetDevice(device);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    put<<<1, 1, 0, stream>>>(p, value);
    cudaStreamEndCapture(stream, &graph);
    return graph;
  };
  cudaGraphExec_t ready;
  cudaGraph_t on0 = captured(0, s0, p0, 5), on1 = captured(1, s1, p1, 6);
  cudaGraphInstantiate(&ready, on0, 0);
  SAY(cudaGraphLaunch(ready, s1));
  cudaMemcpyAsync(&host, p0, 4, cudaMemcpyDefault, s1);
  std::printf("%d\n", host);
  cudaGraphExecUpdateResultInfo info;
  const cudaError_t updated = cudaGraphExecUpdate(ready, on1, &info);
  std::printf("%s %d\n", cudaGetErrorName(updated), int(info.result));
  cudaGraphExec_t other;
  cudaGraphInstantiate(&other, on1, 0);
  SAY(cudaGraphLaunch(other, s0));
  cudaMemcpyAsync(&host, p1, 4, cudaMemcpyDefault, s0);
  std::printf("%d\n", host);
  cudaDeviceReset();  // of device 1
  SAY(cudaGraphLaunch(ready, s0));
  SAY(cudaGraphLaunch(other, s0));
  SAY(cudaGraphDestroy(on1));
  cudaGraphExecDestroy(ready), cudaGraphDestroy(on0), cudaStreamSynchronize(s0);
  s1 = nullptr, e1 = nullptr, p1 = nullptr;)"));
}

TEST_CASE("A report names the device of each launch, if there are several", "[devices][report]") {
  const Workplace workplace;
  REQUIRE(workplace
              .compile(workplace.write(R"(
__global__ void k(int* p) { p[threadIdx.x] = 1; }
int main() {
  int count = 0;
  cudaGetDeviceCount(&count);
  for (int d = 0; d < count; ++d) {
    int* p;
    cudaSetDevice(d), cudaMalloc(&p, 256);
    k<<<1, 64>>>(p);
    cudaDeviceSynchronize(), cudaFree(p);
  }
})"))
              .status == 0);
  for (const int devices : {1, 3}) {
    const std::string file = workplace.path("report.json");
    REQUIRE(workplace.run_app("TILEWISE_REPORT='" + file + "' TILEWISE_DEVICES=" + std::to_string(devices)).status ==
            0);
    std::ifstream stream(file);
    const auto report = nlohmann::json::parse(stream);
    REQUIRE(report.size() == static_cast<std::size_t>(devices));
    CHECK(report[0].count("device") == (devices > 1));
    if (devices > 1) CHECK(report[2].at("device") == 2);
    for (const auto& launch : report) CHECK(launch.at("counters") == report[0].at("counters"));
  }
}

TEST_CASE("On a timeline each device has engines of its own", "[devices][timeline]") {
  prints_on(2, "1000 2\n1000 2\n2000 2\n", R"(#include <cstdio>
#include "tilewise_sim/report.hpp"
namespace sim = tilewise::sim;
int main() {
  char *pinned, *x[2];
  cudaStream_t s[2];
  cudaMallocHost(&pinned, 2000);
  for (int d = 0; d < 2; ++d) cudaSetDevice(d), cudaMalloc(&x[d], 2000), cudaStreamCreate(&s[d]);
  const auto said = [] {
    for (int d = 0; d < 2; ++d) cudaSetDevice(d), cudaDeviceSynchronize();
    const sim::Timeline t = sim::end_timeline();
    std::printf("%g %zu\n", t.length, t.pieces.size());
  };
  sim::begin_timeline(1);  // to both at once
  for (int d = 0; d < 2; ++d) cudaMemcpyAsync(x[d], pinned + 1000 * d, 1000, cudaMemcpyHostToDevice, s[d]);
  said();
  sim::begin_timeline(1);  // from each to the other
  for (int d = 0; d < 2; ++d) cudaMemcpyPeerAsync(x[1 - d] + 1000, 1 - d, x[d], d, 1000, s[d]);
  said();
  sim::begin_timeline(1);  // two from one
  cudaMemcpyPeerAsync(x[1], 1, x[0], 0, 1000, s[0]), cudaMemcpyPeerAsync(x[1] + 1000, 1, x[0], 0, 1000, s[1]);
  said();
  for (int d = 0; d < 2; ++d) cudaStreamDestroy(s[d]), cudaFree(x[d]);
  cudaFreeHost(pinned);
})");
}

TEST_CASE("Programs for several devices run: halos by peer access, a ring of copies, a thread for each",
          "[.all][devices][programs]") {
  for (const int n : {1, 2, 5, 8}) {
    const std::string gpus = std::to_string(n), environment = "TILEWISE_DEVICES=" + gpus;
    INFO(environment);
    runs("multi_gpu_halo", gpus + " GPUs, 3001 cells, 9 steps: right\n", "", environment);
    runs("multi_gpu_ring", "all-reduce over " + gpus + " ranks: right\n", "", environment);
    runs("multi_gpu_threads", gpus + " workers: PASSED\n", "", environment);
  }
}

TEST_CASE("Copies between devices in three dimensions are refused", "[devices]") {
  refuses("program.cu:1: error: the simulator does not support cudaMemcpy3DPeerParms: use cudaMemcpyPeer, or",
          "int main() { cudaMemcpy3DPeerParms p = {}; return cudaMemcpy3DPeer(&p); }\n");
}
