"""The naive matrix multiplication on Numba's CUDA simulator, for common/scripts/record/measure-simulator.sh: N."""

import os
import resource
import sys

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

import numpy as np  # noqa: E402
from numba import cuda  # noqa: E402


@cuda.jit
def naive_matmul(A, B, C):
    col, row = cuda.grid(2)
    if row >= C.shape[0] or col >= C.shape[1]:
        return
    total = np.float32(0)
    for k in range(A.shape[1]):
        total += A[row, k] * B[k, col]
    C[row, col] = total


n = int(sys.argv[1])
A = np.random.default_rng(1).random((n, n), dtype=np.float32)
device_a, device_c = cuda.to_device(A), cuda.device_array((n, n), dtype=np.float32)
before = resource.getrusage(resource.RUSAGE_SELF)
naive_matmul[((n + 15) // 16, (n + 15) // 16), (16, 16)](device_a, device_a, device_c)
cuda.synchronize()
after = resource.getrusage(resource.RUSAGE_SELF)
assert np.allclose(device_c.copy_to_host(), A @ A, rtol=1e-4)
print(f"{after.ru_utime - before.ru_utime:.2f} {after.ru_maxrss}")  # user seconds of the launch, peak KiB
