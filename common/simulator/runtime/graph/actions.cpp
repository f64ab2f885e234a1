#include "runtime/graph/actions.hpp"

#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "base/devices.hpp"
#include "runtime/api.hpp"

namespace tilewise::sim::graph {

Action launch_action(LaunchConfig config, void (*thread)(void*), const void* context, std::size_t bytes,
                     const void* site) {
  std::shared_ptr<void> copy(::operator new (bytes, std::align_val_t{64}),
                             [](void* p) { ::operator delete (p, std::align_val_t{64}); });
  std::memcpy(copy.get(), context, bytes);
  return [config, thread, copy, bytes, site](cudaStream_t stream) mutable {
    config.stream = stream;
    return run_launch(config, thread, copy.get(), {static_cast<const char*>(copy.get()), bytes}, site);
  };
}

cudaError_t kernel_action(const cudaKernelNodeParams& parameters, const void* site, Action& action, Parameters* kept) {
  if (parameters.func == nullptr) return cudaErrorInvalidDeviceFunction;
  const std::size_t* sizes = parameter_sizes_of(parameters.func);
  if (sizes == nullptr) unsupported("a graph's kernel node for a template kernel (capture a launch of it instead)");
  if (*sizes != 0 && parameters.kernelParams == nullptr) return cudaErrorInvalidValue;
  auto call = std::make_shared<KernelCall>(KernelCall{parameters.func, {}, {}, parameters});
  for (std::size_t i = 0; sizes[i] != 0; ++i) {
    const auto* bytes = static_cast<const unsigned char*>(parameters.kernelParams[i]);
    call->arguments.emplace_back(bytes, bytes + sizes[i]);
  }
  for (auto& argument : call->arguments) call->pointers.push_back(argument.data());
  call->parameters.kernelParams = call->pointers.data();
  const LaunchConfig config(parameters.gridDim, parameters.blockDim, parameters.sharedMemBytes);
  if (const cudaError_t error = check_launch_config(config)) return error;
  action = [call, config, site](cudaStream_t stream) {
    std::vector<void*> pointers = call->pointers;
    LaunchConfig here = config;
    here.stream = stream;
    return run_kernel(call->kernel, here, pointers.data(), site);
  };
  if (kept != nullptr) *kept = call;
  return cudaSuccess;
}

cudaError_t copy_action(const cudaMemcpy3DParms& parameters, void* site, Action& action) {
  const cudaMemcpy3DParms p = parameters;
  if ((p.srcArray != nullptr) == (p.srcPtr.ptr != nullptr) || (p.dstArray != nullptr) == (p.dstPtr.ptr != nullptr))
    return cudaErrorInvalidValue;
  action = [=](cudaStream_t stream) { return copy_3d({"a graph's copy", site, stream, true}, p); };
  return cudaSuccess;
}

cudaMemcpy3DParms in_one_run(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(const_cast<void*>(from), bytes, bytes, 1);
  p.dstPtr = make_cudaPitchedPtr(to, bytes, bytes, 1);
  p.extent = make_cudaExtent(bytes, 1, 1);
  p.kind = kind;
  return p;
}

cudaError_t fill_action(const cudaMemsetParams& parameters, void* site, Action& action) {
  const cudaMemsetParams p = parameters;
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) return cudaErrorInvalidValue;
  action = [=](cudaStream_t stream) {
    return fill({"a graph's fill", site, stream, true}, p.dst, p.pitch, p.value, p.width * p.elementSize, p.height,
                p.elementSize);
  };
  return cudaSuccess;
}

cudaError_t host_action(const cudaHostNodeParams& parameters, Action& action) {
  const cudaHostNodeParams p = parameters;
  if (p.fn == nullptr) return cudaErrorInvalidValue;
  action = [=](cudaStream_t stream) { return cudaLaunchHostFunc(stream, p.fn, p.userData); };
  return cudaSuccess;
}

cudaError_t allocation_action(std::size_t bytes, int device, void* site, void*& pointer, Action& action) {
  const OnDevice there(device);
  pointer = reserve_for_graph(bytes);
  if (pointer == nullptr) return cudaErrorMemoryAllocation;
  const std::shared_ptr<NodeMemory> memory(new NodeMemory{pointer, bytes});
  action = [=](cudaStream_t stream) { return allocate_for_graph(memory->pointer, memory->bytes, stream, site); };
  return cudaSuccess;
}

Action free_action(void* pointer, void* site) {
  return [=](cudaStream_t stream) { return free_in_stream("a graph's free", pointer, stream, site); };
}

Action event_action(cudaEvent_t event, cudaGraphNodeType type) {
  if (type == cudaGraphNodeTypeEventRecord) return [=](cudaStream_t stream) { return cudaEventRecord(event, stream); };
  return [=](cudaStream_t stream) { return cudaStreamWaitEvent(stream, event, 0); };
}

}  // namespace tilewise::sim::graph
