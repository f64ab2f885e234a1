// The homework of chapter 03: what your functions are called, what they get and what they must do.
// The bodies are in homework.cu. The page (README.md, "Homework") says what the three tasks are
// about and has hints.
//
// All work goes to `stream`, a queue of work for the GPU:
// kernel<<<blocks, threads, 0, stream>>>(...). Any will do. An array may begin at any multiple of 4
// bytes, and need not begin at one of 16; the records of the warm-up begin at one of 32.
#pragma once

#include <cuda_runtime.h>

/// Warm-up. y[i] = x[8 i] + x[8 i + 1] + ... + x[8 i + 7]: the sum of each record of eight words.
/// x: 8 n words, y: n words, in device memory; n >= 1, and x has less than 2^31 - 1024 words. All
/// words of x are finite, and they must not change. y holds garbage before.
/// Returns the error of the launch.
cudaError_t launch_record_sums(const float* x, float* y, int n, cudaStream_t stream = nullptr);

/// Core. The running sums of the rows, stored transposed:
/// out[c][r] = in[r][0] + in[r][1] + ... + in[r][c]. in: rows x cols, out: cols x rows, row-major
/// in device memory: in's element (r, c) is at in[r * cols + c], out's element (c, r) at
/// out[c * rows + r]. rows and cols are 1 to 65,535, none need be a multiple of anything, and
/// neither array has 2^31 elements. All elements of `in` are finite, and they must not change.
/// `out` holds garbage before. Returns the error of the launch.
cudaError_t launch_running_sums_turned(const float* in, float* out, int rows, int cols,
                                       cudaStream_t stream = nullptr);

/// Stretch. For each row, the sum of its values under each of 64 keys: sums[r][b] is the sum of
/// values[r][c] over those c for which keys[r][c] == b, and 0 where there are none.
/// No atomic updates, so that the same input gives the same bits on every run. And the wavefronts
/// of shared memory must not depend on the keys.
///
/// keys, values: rows x cols, sums: rows x 64, row-major in device memory; 0 <= key < 64. rows and
/// cols are 1 to 65,535, and no array has 2^31 elements. All values are finite; keys and values
/// must not change. sums holds garbage before. Returns the error of the launch.
cudaError_t launch_sums_by_key(const int* keys, const float* values, float* sums, int rows,
                               int cols, cudaStream_t stream = nullptr);
