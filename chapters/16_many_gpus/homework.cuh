// The homework of chapter 16: what your functions are called, what they get and what they must do.
// You write the bodies in homework.cu. The page (README.md, "Homework") says what the two tasks are
// about, and has hints.
//
// Both functions get arrays of several devices: from[d] and streams[d] are of device d, and the lists
// of pointers themselves are the host's. They return while their work is still going on: the host
// waits for nothing. What they do with an array of device d comes after all that streams[d] has been
// given before, and before all that it is given later. A kernel reaches the memory of its own device
// only; what it needs of another one, you copy there. Which device is current when a function is
// called, isn't known, and which one is current afterwards doesn't matter. You may make streams and
// events of your own, in any number; when a function returns, it has destroyed what it made. Allocate
// nothing, and leave peer access as it is. Both functions may be called again and again, with any
// number of devices, and return the error of the first call that failed.
#pragma once

#include <cuda_runtime.h>

/// Core. `steps` steps of heat in a plate of height x width points. In one step every point becomes
/// (above + below + left + right + 4 itself) / 8. Where the plate ends, the neighbour that isn't there
/// is the point itself: no heat leaves the plate.
/// The rows are shared out: device d has rows d * height / devices to (d + 1) * height / devices - 1.
/// from, to, work: for each device an array with its rows, and room for one more row before them and
/// after them; a row has `width` floats. The plate is in from, in the device's own rows: these must
/// not change. After the last step it is in to, in its own rows. The rows before and after them, and
/// all of work, are to work in, and hold garbage before. No two arrays overlap.
/// devices is 1 to 8, height devices to 1,000,000, width and steps 1 to 1,000,000.
cudaError_t launch_heat(float* const* from, float* const* to, float* const* work, int height,
                        int width, int steps, int devices, const cudaStream_t* streams);

/// Stretch. Each device has n floats; afterwards each has the sums: x[d][i] becomes
/// x[0][i] + x[1][i] + ... + x[devices - 1][i], added up in any order, and in the end all devices have
/// the same bits.
/// x: n floats for each device. work: n more to work in, which hold garbage before. No two arrays
/// overlap. n is 0 to 1,000,000,000, and may be smaller than devices, which is 1 to 8.
cudaError_t launch_all_reduce(float* const* x, float* const* work, int n, int devices,
                              const cudaStream_t* streams);
