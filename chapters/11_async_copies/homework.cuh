// The homework of chapter 11: what your functions are called, what they get and what they must do.
// You write the bodies in homework.cu. The page (README.md, "Your turn") says what the two tasks
// are about, and has hints.
//
// All arrays are device memory and begin at multiples of 16 bytes. All numbers are finite. All work
// goes to `stream`, which may be any stream. Where `stream` is the default one, callers may leave
// it out.
#pragma once

#include <cuda_runtime.h>

/// Warm-up. How well a pattern fits at each place of a recording: score[s] is the sum of
/// pattern[i] * x[s + i] over all i from 0 to length - 1.
/// pattern: length words; score: `positions` words, which hold garbage before;
/// x: positions + length - 1 words. positions and length are 1 to 2^24. x and pattern must not
/// change. Returns the error of the launch.
cudaError_t launch_match(const float* x, const float* pattern, float* score, int positions,
                         int length, cudaStream_t stream = nullptr);

/// Core. Each pixel becomes the mean of the 3 x 3 pixels around it: out[r][c] is a ninth of the sum
/// of in[i][j] for i from r - 1 to r + 1 and j from c - 1 to c + 1. What lies outside of the
/// picture counts as 0. in, out: rows x cols, row-major: pixel (r, c) is at [r * cols + c]. rows
/// and cols are 1 to 65,535, and a picture has less than 2^31 pixels. `in` must not change, and
/// `out` holds garbage before. Returns the error of the launch.
cudaError_t launch_blur(const float* in, float* out, int rows, int cols,
                        cudaStream_t stream = nullptr);
