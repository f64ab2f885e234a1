// The homework of chapter 14: what your functions are called, what they get and what they must do.
// You write the bodies in homework.cu. The page (README.md, "Homework") says what the two tasks are
// about, and has hints.
//
// All arrays are device memory, and no two of them overlap. What isn't a result must not change.
// All work goes to `stream`, which may be any stream. An array may begin at any multiple of 4
// bytes, and need not begin at one of 16. Both functions may be called again and again, and return
// the error of the first call that failed.
#pragma once

#include <cuda_runtime.h>

/// Core. The least and the largest of n numbers, and how many there are. A NaN is no number: it is
/// left out of all three. x: n elements, n is 0 to 2^31 - 1; elements may be infinite. 0 and -0 are
/// the same. range: two words, the least in range[0] and the largest in range[1]. count: one word.
/// All three hold garbage before. Where there is no number, because n is 0 or all elements are NaN,
/// the least is infinity, the largest -infinity, and the count 0. However the blocks are timed, all
/// results are the same. parts: 1,024 words, and part_counts: 512 words, to work in; they hold
/// garbage before. That is a least, a largest and a count for each of 512 blocks: more aren't
/// needed. What is asked for at a time counts, too: 16 bytes, where the address allows it.
/// arrived: a counter, to work with. It is 0 before, and must be 0 again when the work is done.
cudaError_t launch_min_max_count(const float* x, int n, float* range, int* count, float* parts,
                                 int* part_counts, int* arrived, cudaStream_t stream = nullptr);

/// Stretch. For each row of A, the logarithm of the sum of its elements' exponentials:
/// L[i] = log(exp(A[i][0]) + ... + exp(A[i][N - 1])). The elements may be so large that
/// exp(A[i][j]) is no float any more, and so small that it is 0: L[i] must be right all the same.
/// An element may be -infinity: exp of that is 0. Where all elements of a row are, L[i] is
/// -infinity. No element is infinity or NaN.
/// A: M x N, row-major without gaps; M is 1 to 100,000,000 and N 1 to 100,000. M * N may be larger
/// than 2^31. L: M elements; it holds garbage before.
/// L[i] may be off by what rounding makes of about 6 N additions and products: deeper.md beside
/// this file has the bound.
cudaError_t launch_row_log_sum_exp(const float* A, float* L, int M, int N,
                                   cudaStream_t stream = nullptr);
