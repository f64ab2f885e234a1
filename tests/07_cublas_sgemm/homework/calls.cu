// The child's half of grading chapter 07: calls the submitted functions, and looks at the handle and the stream after.
// Runs in the process that student code runs in.
#include "homework.cuh"

#include "../../../common/grader/harness.hpp"
#ifdef TILEWISE_SIMULATOR
#include "tilewise_sim/library.hpp"
#include "tilewise_sim/report.hpp"
#endif

// Weak: a submission need not have all of them.
__attribute__((weak)) cublasStatus_t launch_linear(cublasHandle_t, const float*, const float*, const float*, float*,
                                                   int, int, int, cudaStream_t);
__attribute__((weak)) cublasStatus_t launch_head_scores(cublasHandle_t, const float*, const float*, float*, int, int,
                                                        int, int, cudaStream_t);
__attribute__((weak)) cublasStatus_t launch_distances(cublasHandle_t, const float*, const float*, float*, float*, int,
                                                      int, int, cudaStream_t);

namespace {

/// A handle on a stream that is not the one for the function to use. Made once: that takes long.
struct Library {
  cublasHandle_t handle = nullptr;
  cudaStream_t before = nullptr;
  bool made;

  Library()
      : made(cudaStreamCreateWithFlags(&before, cudaStreamNonBlocking) == cudaSuccess &&
             cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS) {}
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// The rules are named in reference.cpp.
  void judge(const HomeworkCase& c, cublasStatus_t status, [[maybe_unused]] std::uint64_t waits_before) const {
    cudaStream_t on = nullptr;
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
    cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
    const bool valid = cublasGetStream(handle, &on) == CUBLAS_STATUS_SUCCESS &&
                       cublasGetMathMode(handle, &math) == CUBLAS_STATUS_SUCCESS &&
                       cublasGetPointerMode(handle, &pointers) == CUBLAS_STATUS_SUCCESS;
    if (status != CUBLAS_STATUS_SUCCESS) c.broke(100 + static_cast<int>(status));
    if (!valid) return c.broke(3);
#ifdef TILEWISE_SIMULATOR
    if (const int failed = tilewise::sim::last_library_failure(); failed && status == CUBLAS_STATUS_SUCCESS)
      c.remark(200 + failed);
    const tilewise::sim::LibraryCall last = tilewise::sim::last_library_call();
    if (last.serial == 0) return;  // nothing was done: the result says enough
    if (last.stream != c.stream()) c.broke(1);
    if (last.handle != handle) c.broke(6);
    if (tilewise::sim::waits() != waits_before) c.broke(7);
#endif
    if (on != c.stream()) c.broke(2);
    if (math != CUBLAS_DEFAULT_MATH) c.broke(4);
    if (pointers != CUBLAS_POINTER_MODE_HOST) c.broke(5);
  }
};

/// The variable is neither the submission's nor on the heap, which is all that instrumented code may touch while a submission runs.
/// (It is none of the function's own: clang++ has those guarded by an atomic load, and leaves no atomic load uninstrumented.)
const Library* library_made = nullptr;
__attribute__((noinline, no_sanitize("thread"))) const Library& the_library() {
  if (library_made == nullptr) library_made = new Library;
  return *library_made;
}

}  // namespace

bool homework_call(const HomeworkCase& c, cudaError_t& error) {
  const Library& library = the_library();
  if (!library.made || cublasSetStream(library.handle, library.before) != CUBLAS_STATUS_SUCCESS)
    return error = cudaErrorInitializationError, true;
  std::uint64_t waits_before = 0;
#ifdef TILEWISE_SIMULATOR
  tilewise::sim::forget_library_failure();
  waits_before = tilewise::sim::waits();
#endif
  cublasStatus_t status;
  if (c.task == "linear" && launch_linear)
    status = launch_linear(library.handle, c[0], c[1], c[2], c[3], c.size(0), c.size(1), c.size(2), c.stream());
  else if (c.task == "head_scores" && launch_head_scores)
    status =
        launch_head_scores(library.handle, c[0], c[1], c[2], c.size(0), c.size(1), c.size(2), c.size(3), c.stream());
  else if (c.task == "distances" && launch_distances)
    status = launch_distances(library.handle, c[0], c[1], c[2], c[3], c.size(0), c.size(1), c.size(2), c.stream());
  else
    return false;
  library.judge(c, status, waits_before);
  return true;
}
