// The homework of chapter 15: what your functions are called, what they get and what they must do.
// You write the bodies in homework.cu. The page (README.md, "Homework") says what the two tasks are
// about, and has hints.
//
// Both functions return while their work is still going on: the host waits for nothing. What they do
// comes after all that `stream` has been given before, and before all that it is given later. You
// may make streams and events of your own, in any number; when a function returns, it has destroyed
// what it made. Allocate nothing. Both functions may be called again and again, and return the error
// of the first call that failed.
#pragma once

#include <cuda_runtime.h>

/// Core. out[i] = (in[i - 1] + 2 in[i] + in[i + 1]) / 4. At the ends the neighbour that isn't there
/// is the element itself: in[0] stands for in[-1], and in[n - 1] for in[n].
/// in, out: n floats each in pinned memory of the host; n is 0 to 1,000,000,000. They don't overlap,
/// and in must not change. Work in `stream` brings in and takes out away, so your host code touches
/// neither: cudaMemcpyAsync does, and kernels work in device memory alone.
/// device: `room` floats of device memory to work in; they hold garbage before. room is 64 to 2^30,
/// and mostly far too small for all of in.
cudaError_t launch_filter(const float* in, float* out, int n, float* device, int room,
                          cudaStream_t stream = nullptr);

/// Stretch. `steps` steps of a cellular automaton on a ring of n words (rule 30, in each of 32 bits):
/// in one step, every word becomes left ^ (itself | right). The kernel of one step is there; each
/// step is a launch of it, and you say how the host asks for so many.
/// from: n ints, which must not change. to: n ints, for the state after the last step. work: n more
/// to work in. to and work hold garbage before. All are device memory, and no two of them overlap.
/// n is 1 to 1,000,000,000, and steps 1 to 1,000,000.
cudaError_t launch_rule_30(const int* from, int* to, int* work, int n, int steps,
                           cudaStream_t stream = nullptr);
