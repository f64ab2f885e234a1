// The homework of chapter 05: what your functions are called, what they get and what they must do. The bodies are in
// homework.cu. The page (README.md, "Homework") says what the three tasks are about and has hints.
//
// All work goes to `stream`, which may be any stream. Where `stream` is the default one, callers may leave it out.
#pragma once

#include <cuda_runtime.h>

/// Warm-up. z[i] = a * x[i] + y[i] for 0 <= i < n. The 512 threads of homework.cu are enough for any n; another number of
/// threads, or one that grows with n, is as good.
/// x, y and z are device memory, n >= 1 elements each, n <= 2^28. x and y must not change. z holds garbage before.
/// Returns the error of the launch.
cudaError_t launch_axpy(float a, const float* x, const float* y, float* z, int n, cudaStream_t stream = nullptr);

/// Core. An image of half the height and half the width: out[i][j] is the mean of in[2i][2j], in[2i][2j+1],
/// in[2i+1][2j] and in[2i+1][2j+1]. In an image with an odd number of rows or columns the last one is left out.
/// in: rows x cols, out: (rows / 2) x (cols / 2), rounded down, row-major in device memory; 1 <= rows, cols <= 65535, less
/// than 2^31 elements. Where `out` has no element there is nothing to do, which is no error. `in` must not change. `out`
/// holds garbage before.
/// Returns the error of the launch.
cudaError_t launch_halve(const float* in, float* out, int rows, int cols, cudaStream_t stream = nullptr);

/// Stretch. to[k] = from[k], with all its bits, for 0 <= k < n, by loads and stores of 16 bytes, wherever the two parts
/// begin: `from` and `to` are multiples of 4 bytes, and neither needs to be a multiple of 16.
/// They lie in different arrays in device memory; 1 <= n <= 2^28. No word may be written but to[0] to to[n - 1], not even
/// with what is there already, and none read from behind from[n - 1]. Before from[0] at most three words may be read, to
/// the next multiple of 16 bytes: cudaMalloc begins arrays at such places, so they are part of the same array.
/// Returns the error of the launch.
cudaError_t launch_copy_part(const float* from, float* to, int n, cudaStream_t stream = nullptr);
