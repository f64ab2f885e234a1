// The homework of chapter 00: what your functions are called, what they get and what they must do.
// The bodies are in homework.cu. The page (README.md, "Your turn") says what the two tasks are
// about and has hints.
//
// `stream` is a queue of work for the device. Pass it on as the fourth argument of each launch,
// after a 0: kernel<<<blocks, threads, 0, stream>>>(...). Where it is the default one, callers may
// leave it out.
//
// An array may begin at any multiple of 4 bytes, and need not begin at one of 16.
#pragma once

#include <cuda_runtime.h>

/// Warm-up. out[i] = 1 - in[i] for 0 <= i < n: the negative of a picture.
/// in, out: n pixels in device memory, n from 1 to 16,777,216. in must not change; out holds
/// garbage before. Returns the error of the launch.
cudaError_t launch_negative(const float* in, float* out, int n, cudaStream_t stream = nullptr);

/// Core. Left becomes right: pixel (x, y) of out is pixel (width - 1 - x, y) of in. Pixel (x, y) of
/// a picture is at [y * width + x].
/// in, out: width x height pixels in device memory, which do not overlap; width and height are 1 to
/// 65,535, and their product is below 2^31. in must not change; out holds garbage before. Returns
/// the error of the launch.
cudaError_t launch_mirror(const float* in, float* out, int width, int height,
                          cudaStream_t stream = nullptr);
