// The homework of chapter 04: what your functions are called, what they get and what they must do.
// You write the bodies in homework.cu. The page (README.md, "Homework") says what the three tasks
// are about and has hints.
//
// Your kernels move words and compute nothing with them: each word arrives with all its bits. All
// work goes to `stream`, which may be any stream; callers may leave it out, and get the default
// stream. An array may begin at any multiple of 4 bytes, and need not begin at one of 16.
#pragma once

#include <cuda_runtime.h>

/// Warm-up. B is A turned clockwise by 90 degrees: B[j][rows - 1 - i] = A[i][j]. The top row of A
/// becomes the rightmost column of B.
/// A: rows x cols, B: cols x rows, row-major in device memory; any 1 <= rows, cols <= 65535 with
/// less than 2^31 elements. A must not change. B holds garbage before.
/// Returns the error of the launch.
cudaError_t launch_rotate(const float* A, float* B, int rows, int cols,
                          cudaStream_t stream = nullptr);

/// Core. A becomes its own transpose in place: A[i][j] and A[j][i] swap. Read every word once and
/// write it once; there is no second matrix.
/// A: n x n, row-major in device memory; any n >= 1 with less than 2^31 elements.
/// Returns the error of the launch.
cudaError_t launch_transpose_in_place(float* A, int n, cudaStream_t stream = nullptr);

/// Stretch. Images whose pixels are tuples of channels (red, green, blue) become images of one
/// plane per channel: out[b][c][p] = in[b][p][c]. Deep learning calls the two layouts NHWC and
/// NCHW, with p running over H * W. in: images x pixels x channels, out:
/// images x channels x pixels, in device memory, each with the last index running fastest.
/// 1 <= images <= 1000, 1 <= pixels <= 1,000,000, 1 <= channels <= 256; less than 2^31 elements.
/// `in` must not change.
/// Returns the error of the launch.
cudaError_t launch_nhwc_to_nchw(const float* in, float* out, int images, int pixels, int channels,
                                cudaStream_t stream = nullptr);
