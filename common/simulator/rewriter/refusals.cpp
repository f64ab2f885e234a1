// What the simulator cannot do, and says so.
#include "rewriting.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "libraries.hpp"

namespace tilewise::sim {
namespace {

/// What to do in place of a function of the runtime API that the simulator lacks, by how its name begins; else null.
const char* missing_function(std::string_view name) {
  static constexpr std::pair<std::string_view, const char*> kMissing[] = {
      {"cudaDestroyExternal", "copy to the host"},
      {"cudaEventRecordWithFlags",
       "use cudaEventRecord; in place of cudaEventRecordExternal, which in a capture makes a node that records the "
       "event in each launch of the graph, add one after cudaStreamEndCapture by cudaGraphAddEventRecordNode"},
      {"cudaExternalMemory", "copy to the host"},
      {"cudaGetDriverEntryPoint", "call the runtime's own functions"},
      {"cudaImportExternal", "copy to the host"},
      {"cudaLibrary", "compile the kernels with the program"},
      {"cudaMemDiscard", "leave it out"},
      {"cudaMemGetDefaultMemPool", "use cudaMallocAsync alone"},
      {"cudaMemGetMemPool", "use cudaMallocAsync alone"},
      {"cudaMemPoolExport", "use one process"},
      {"cudaMemPoolImport", "use one process"},
      {"cudaMemPrefetchBatchAsync", "use cudaMemPrefetchAsync"},
      {"cudaMemRangeGetAttribute", "use cudaPointerGetAttributes"},
      {"cudaMemSetMemPool", "use cudaMallocAsync alone"},
      {"cudaMemcpyBatchAsync", "use cudaMemcpyAsync for each copy"},
      {"cudaOccupancyMaxActiveClusters", "there are no clusters"},
      {"cudaOccupancyMaxPotentialClusterSize", "there are no clusters"},
      {"cudaStreamBeginCaptureToGraph", "use cudaStreamBeginCapture"},
      {"cudaStreamGetCaptureInfo", "use cudaStreamIsCapturing"},
      {"cudaStreamGetDevice", "use cudaGetDevice where the stream is made"},
      {"cudaStreamGetId", "give your streams numbers of your own"},
      {"cudaStreamUpdateCaptureDependencies", "order captured streams by events"},
      {"cudaThreadExchangeStreamCaptureMode", "give cudaStreamBeginCapture the mode"},
      {"cudaUserObject", "destroy the object after the graph"}};
  for (const auto& [begin, instead] : kMissing)
    if (name.starts_with(begin)) return instead;
  return nullptr;
}

/// Attributes of a launch with which a kernel does something else, or starts at another time.
bool changes_kernels(std::string_view text) {
  for (const std::string_view attribute : {"Cluster", "Programmatic", "LaunchCompletionEvent", "DeviceUpdatable",
                                           "PreferredCluster", "Cooperative", "NvlinkUtil"})
    if (text.substr(std::string_view("cudaLaunchAttribute").size()).starts_with(attribute)) return true;
  return false;
}

/// What nvcc names in place of a function for a warp without a mask, gone since compute capability 7.0.
const char* without_mask(std::string_view text) {
  static constexpr std::pair<std::string_view, const char*> kGone[] = {
      {"__shfl", "__shfl_sync"},         {"__shfl_up", "__shfl_up_sync"}, {"__shfl_down", "__shfl_down_sync"},
      {"__shfl_xor", "__shfl_xor_sync"}, {"__any", "__any_sync"},         {"__all", "__all_sync"},
      {"__ballot", "__ballot_sync"}};
  for (const auto& [name, now] : kGone)
    if (text == name) return now;
  return nullptr;
}

bool is_known_graph_name(std::string_view text) {
  static constexpr std::string_view kKnown[] = {
      "cudaGraphAddChildGraphNode",
      "cudaGraphAddDependencies",
      "cudaGraphAddEmptyNode",
      "cudaGraphAddEventRecordNode",
      "cudaGraphAddEventWaitNode",
      "cudaGraphAddHostNode",
      "cudaGraphAddKernelNode",
      "cudaGraphAddMemAllocNode",
      "cudaGraphAddMemFreeNode",
      "cudaGraphAddMemcpyNode",
      "cudaGraphAddMemcpyNode1D",
      "cudaGraphAddMemsetNode",
      "cudaGraphChildGraphNodeGetGraph",
      "cudaGraphClone",
      "cudaGraphCreate",
      "cudaGraphDestroy",
      "cudaGraphDestroyNode",
      "cudaGraphEdgeData",
      "cudaGraphEventRecordNodeGetEvent",
      "cudaGraphEventRecordNodeSetEvent",
      "cudaGraphEventWaitNodeGetEvent",
      "cudaGraphEventWaitNodeSetEvent",
      "cudaGraphExecChildGraphNodeSetParams",
      "cudaGraphExecDestroy",
      "cudaGraphExecEventRecordNodeSetEvent",
      "cudaGraphExecEventWaitNodeSetEvent",
      "cudaGraphExecHostNodeSetParams",
      "cudaGraphExecKernelNodeSetParams",
      "cudaGraphExecMemcpyNodeSetParams",
      "cudaGraphExecMemcpyNodeSetParams1D",
      "cudaGraphExecMemsetNodeSetParams",
      "cudaGraphExecUpdate",
      "cudaGraphExecUpdateError",
      "cudaGraphExecUpdateErrorFunctionChanged",
      "cudaGraphExecUpdateErrorNodeTypeChanged",
      "cudaGraphExecUpdateErrorNotSupported",
      "cudaGraphExecUpdateErrorParametersChanged",
      "cudaGraphExecUpdateErrorTopologyChanged",
      "cudaGraphExecUpdateResult",
      "cudaGraphExecUpdateResultInfo",
      "cudaGraphExecUpdateSuccess",
      "cudaGraphExec_t",
      "cudaGraphGetEdges",
      "cudaGraphGetNodes",
      "cudaGraphGetRootNodes",
      "cudaGraphHostNodeGetParams",
      "cudaGraphHostNodeSetParams",
      "cudaGraphInstantiate",
      "cudaGraphInstantiateFlagAutoFreeOnLaunch",
      "cudaGraphInstantiateFlags",
      "cudaGraphInstantiateWithFlags",
      "cudaGraphKernelNodeGetParams",
      "cudaGraphKernelNodeSetParams",
      "cudaGraphLaunch",
      "cudaGraphMemAllocNodeGetParams",
      "cudaGraphMemAttrReservedMemCurrent",
      "cudaGraphMemAttrReservedMemHigh",
      "cudaGraphMemAttrUsedMemCurrent",
      "cudaGraphMemAttrUsedMemHigh",
      "cudaGraphMemAttributeType",
      "cudaGraphMemFreeNodeGetParams",
      "cudaGraphMemcpyNodeGetParams",
      "cudaGraphMemcpyNodeSetParams",
      "cudaGraphMemcpyNodeSetParams1D",
      "cudaGraphMemsetNodeGetParams",
      "cudaGraphMemsetNodeSetParams",
      "cudaGraphNodeFindInClone",
      "cudaGraphNodeGetDependencies",
      "cudaGraphNodeGetDependentNodes",
      "cudaGraphNodeGetEnabled",
      "cudaGraphNodeGetType",
      "cudaGraphNodeSetEnabled",
      "cudaGraphNodeType",
      "cudaGraphNodeTypeEmpty",
      "cudaGraphNodeTypeEventRecord",
      "cudaGraphNodeTypeGraph",
      "cudaGraphNodeTypeHost",
      "cudaGraphNodeTypeKernel",
      "cudaGraphNodeTypeMemAlloc",
      "cudaGraphNodeTypeMemFree",
      "cudaGraphNodeTypeMemcpy",
      "cudaGraphNodeTypeMemset",
      "cudaGraphNodeTypeWaitEvent",
      "cudaGraphNode_t",
      "cudaGraphRemoveDependencies",
      "cudaGraphUpload",
      "cudaGraph_t",
  };
  return std::find(std::begin(kKnown), std::end(kKnown), text) != std::end(kKnown);
}

/// Those with a level of detail, gradients, or four neighbours at once; layers of cubemaps.
bool is_missing_texture_function(std::string_view text) {
  static constexpr std::string_view kMissing[] = {
      "tex1DGrad",        "tex1DLayeredGrad",       "tex1DLayeredLod",    "tex1DLod",         "tex2DGrad",
      "tex2DLayeredGrad", "tex2DLayeredLod",        "tex2DLod",           "tex2Dgather",      "tex3DGrad",
      "tex3DLod",         "texCubemapGrad",         "texCubemapLayered",  "texCubemapLod",    "surf1DLayeredread",
      "surfCubemapread",  "surfCubemapLayeredread", "surf1DLayeredwrite", "surfCubemapwrite", "surfCubemapLayeredwrite",
  };
  return std::find(std::begin(kMissing), std::end(kMissing), text) != std::end(kMissing);
}

}  // namespace

/// Whether a header whose name begins so is among the program's.
bool Rewriter::includes(std::string_view header) {
  if (included_.empty()) {
    for (const std::string& file : source_.files) {
      // The folder `include/` of the simulator (`include/tilewise_simulator/` where it is installed), of the toolkit or of a library.
      std::string_view name = file;
      for (std::string_view folder : {"include/", "tilewise_simulator/"})
        if (const std::size_t at = name.rfind(folder); at != std::string_view::npos)
          name.remove_prefix(at + folder.size());
      included_.emplace_back(name);
    }
    included_.push_back("");  // asked for
  }
  return std::any_of(included_.begin(), included_.end(),
                     [&](const std::string& file) { return file.starts_with(header); });
}

/// A name of a library that the simulator lacks, in a program that includes its header.
bool Rewriter::refuse_library(std::size_t i) {
  const std::string_view text = syntax_.text(i);
  for (const Library& library : kMissingNamespaces) {
    if (text != library.prefix || !includes(library.header)) continue;
    if (!syntax_.is(i + 1, "::") && !(i > 0 && syntax_.is(i - 1, "namespace"))) continue;
    unsupported(i, library.name,
                library.prefix == "thrust" ? "install them (apt-get install libthrust-dev)"
                                           : "write the kernel, or use what the simulator has");
    return true;
  }
  if (std::find(std::begin(kThereNevertheless), std::end(kThereNevertheless), text) != std::end(kThereNevertheless))
    return false;
  for (const Library& library : kMissingLibraries) {
    if (!text.starts_with(library.prefix)) continue;
    const char next = text.size() > library.prefix.size() ? text[library.prefix.size()] : 'A';
    const bool of_library = std::isupper(static_cast<unsigned char>(next)) ||
                            std::isdigit(static_cast<unsigned char>(next)) || next == '_' || library.prefix == "npp" ||
                            library.prefix == "CUdevice";
    if (!of_library || !includes(library.header) || functions_.count(text) || struct_names_.count(text)) continue;
    unsupported(i, std::string(library.name) + " (" + std::string(text) + ")",
                "leave it out where TILEWISE_SIMULATOR is defined");
    return true;
  }
  return false;
}

void Rewriter::refuse_unsupported(std::size_t i) {
  std::string_view text = syntax_.text(i);
  if (i > 0 && syntax_.is_any(i - 1, {".", "->"})) return;
  if ((text == "asm" || text == "__asm__" || text == "__asm") && side_[i] != kHost) {
    if (!is_empty_asm(i)) rewrite_asm(i);
    return;
  }
  static constexpr std::string_view kNoReferences = "use a cudaTextureObject_t or cudaSurfaceObject_t";
  if (text.starts_with("cudaGraphics")) {
    unsupported(i, "graphics interoperability (" + std::string(text) + ")", "copy to the host and draw from there");
  } else if (refuse_library(i)) {
    // said
  } else if (text.starts_with("cudaGraph") && !is_known_graph_name(text) && functions_.count(text) == 0) {
    unsupported(i, "this part of CUDA graphs (" + std::string(text) + ")",
                "there are nodes for kernels, copies, fills, memory, host functions, events and child graphs");
  } else if (text.find("Mipmapped") != std::string_view::npos && text.starts_with("cuda")) {
    unsupported(i, "mipmaps (" + std::string(text) + ")", "make a texture of a CUDA array");
  } else if (text.starts_with("cudaBindTexture") || text.starts_with("cudaBindSurface")) {
    unsupported(i, "texture and surface references (CUDA 12 removed them)", kNoReferences);
  } else if (text == "texture" && syntax_.is(i + 1, "<") && syntax_.scope_of(i) == ScopeKind::name_space &&
             syntax_.starts_statement(i)) {
    unsupported(i, "texture references (CUDA 12 removed them)", kNoReferences);
  } else if (side_[i] != kHost && is_missing_texture_function(text) && syntax_.is_any(i + 1, {"(", "<"}) &&
             !syntax_.is(i - 1, "::") && functions_.count(text) == 0) {
    unsupported(i, "this function of textures (" + std::string(text) + ")",
                "use tex1D to tex3D and their like for layers");
  } else if (text.starts_with("cudaIpc")) {
    unsupported(i, "memory shared between processes", "use one process");
  } else if (text.starts_with("cudaMemcpy3DPeer")) {
    unsupported(i, std::string(text), "use cudaMemcpyPeer, or cudaMemcpy3D");
  } else if (homework_ && side_[i] == kDevice && ((text == "malloc" && syntax_.is(i + 1, "(")) || allocates(i))) {
    error(i, "memory allocated in device code is not part of the homework: allocate it on the host with cudaMalloc");
  } else if (text.starts_with("cudaLaunchAttribute") && changes_kernels(text)) {
    unsupported(i, "this attribute of a launch (" + std::string(text) + ")",
                "leave it out of cudaLaunchConfig_t's attrs; there are no clusters");
  } else if (const char* now = without_mask(text); now && side_[i] != kHost && syntax_.is(i + 1, "(") &&
                                                   functions_.count(text) == 0 && !syntax_.is(i - 1, "::")) {
    error(i, std::string(text) + "() is not valid on compute_70 and above, and should be replaced with " + now + "()");
  } else if (text == "cuTensorMapEncodeTiled" || text == "CUtensorMap") {
    error(i, "TMA (" + std::string(text) + ") needs a GPU of compute capability 9.0; the simulator does not have it");
  } else if (const char* instead = missing_function(text); instead && syntax_.is(i + 1, "(")) {
    unsupported(i, std::string(text) + "()", instead);
  } else if ((text == "this_multi_grid" && calls_group_function(i)) ||
             text == "cudaLaunchCooperativeKernelMultiDevice") {
    error(i, "CUDA 13 has removed grids of several devices (" + std::string(text) +
                 "): launch on each device, and let the host wait for all");
  } else if (text == "cudaDeviceSynchronize" && side_[i] == kDevice && syntax_.is(i + 1, "(")) {
    error(i,
          "cudaDeviceSynchronize() in device code: CUDA 12 and later don't have it for compute capability 9.0, and "
          "nvcc "
          "refuses it; what is to come after the children can be a tail launch (cudaStreamTailLaunch)");
  } else if (text == "__pipeline_arrive_on") {
    unsupported(i, "__pipeline_arrive_on()", "wait with __pipeline_wait_prior() and call __syncthreads()");
  } else if ((text == "inclusive_scan_update" || text == "exclusive_scan_update") && calls_group_function(i) &&
             includes("cooperative_groups/scan.h")) {
    unsupported(i, "cooperative_groups::" + std::string(text), "call the scan without _update, and atomicAdd()");
  }
}

/// A call of a function of cooperative groups, which is found by its argument's type, too: `cg::f(`, `f(`.
bool Rewriter::calls_group_function(std::size_t i) const {
  if (i < 2 || !syntax_.is_any(i + 1, {"(", "<"}) || functions_.count(syntax_.text(i))) return false;
  if (syntax_.is(i - 1, "::")) return !syntax_.is_any(i - 2, {"cuda", "std"});
  return side_[i] != kHost && !declares(i);
}

/// `new T`, but not `new (place) T`.
bool Rewriter::allocates(std::size_t i) const {
  return syntax_.is(i, "new") && !syntax_.is(i + 1, "(") && !(i > 0 && syntax_.is(i - 1, "operator"));
}

}  // namespace tilewise::sim
