// The homework of chapter 05: what your functions are called, what they get and what they must do.
// You write the bodies in homework.cu. The page (README.md, "Homework") says what the three tasks
// are about and has hints.
//
// All work goes to `stream`, which may be any stream; callers may leave it out, and get the default
// stream. Arrays begin at multiples of 16 bytes, as those of cudaMalloc do; only the parts of the
// stretch may begin anywhere.
#pragma once

#include <cuda_runtime.h>

/// Warm-up. z[i] = a * x[i] + y[i] for 0 <= i < n. The 512 threads of homework.cu are enough for
/// any n; you may also launch another number, or one that grows with n.
/// x, y and z are device memory, n >= 1 elements each, n <= 2^28. x and y must not change. z holds
/// garbage before. Returns the error of the launch.
cudaError_t launch_axpy(float a, const float* x, const float* y, float* z, int n,
                        cudaStream_t stream = nullptr);

/// Core. An image of half the height and half the width: out[i][j] is the mean of in[2i][2j],
/// in[2i][2j+1], in[2i+1][2j] and in[2i+1][2j+1]. If the number of rows or columns is odd, leave
/// out the last one. in: rows x cols, out: (rows / 2) x (cols / 2), rounded down, row-major in
/// device memory; 1 <= rows, cols <= 65535, less than 2^31 elements. If `out` has no element there
/// is nothing to do, and that is not an error. `in` must not change. `out` holds garbage before.
/// Returns the error of the launch.
cudaError_t launch_halve(const float* in, float* out, int rows, int cols,
                         cudaStream_t stream = nullptr);

/// Stretch. to[k] = from[k], with all its bits, for 0 <= k < n, by loads and stores of 16 bytes,
/// wherever the two parts start: `from` and `to` are multiples of 4 bytes, and need not be
/// multiples of 16. They lie in different arrays in device memory; 1 <= n <= 2^28. Write to[0] to
/// to[n - 1] and no other word, not even with the value it already has, and read nothing after
/// from[n - 1]. Before from[0] you may read at most three words, back to the multiple of 16 bytes:
/// cudaMalloc starts arrays at such addresses, so they are part of the same array. Returns the
/// error of the launch.
cudaError_t launch_copy_part(const float* from, float* to, int n, cudaStream_t stream = nullptr);
