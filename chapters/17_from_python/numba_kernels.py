"""The same products in Python that Numba compiles. The first two are as a Numba tutorial has them, with its mistakes in the guards
mended: the row is on x, and `0.0` is a double. The others have the column on x and a float32 sum."""
from __future__ import annotations

from typing import Any, Callable, List, Tuple

import numpy as np

if not hasattr(np, "row_stack"):  # gone from NumPy 2.5; numba-cuda 0.30 asks for it when it compiles its first kernel
    np.row_stack = np.vstack  # type: ignore[attr-defined]
from numba import config, cuda, float32  # noqa: E402

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # one block is what we want to launch
T = 16


@cuda.jit
def nothing():
    pass


@cuda.jit
def turn(x, y):
    y[cuda.threadIdx.x, cuda.threadIdx.y] = x[cuda.threadIdx.y, cuda.threadIdx.x]


@cuda.jit
def naive_row_on_x(a, b, c):
    row, col = cuda.grid(2)
    if row >= c.shape[0] or col >= c.shape[1]:
        return
    total = 0.0
    for k in range(a.shape[1]):
        total += a[row, k] * b[k, col]
    c[row, col] = total


@cuda.jit
def tiled_row_on_x(a, b, c):
    s, t = cuda.shared.array((T, T), float32), cuda.shared.array((T, T), float32)
    row, col = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = 0.0
    for k0 in range(0, a.shape[1], T):
        s[x, y] = a[row, k0 + y] if row < a.shape[0] and k0 + y < a.shape[1] else float32(0)
        t[x, y] = b[k0 + x, col] if k0 + x < b.shape[0] and col < b.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(T):
            total += s[x, k] * t[k, y]
        cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total


@cuda.jit
def naive(a, b, c):
    col, row = cuda.grid(2)
    if row >= c.shape[0] or col >= c.shape[1]:
        return
    total = float32(0)
    for k in range(a.shape[1]):
        total += a[row, k] * b[k, col]
    c[row, col] = total


# [numba_tiled]
@cuda.jit
def tiled(a, b, c):
    s, t = cuda.shared.array((T, T), float32), cuda.shared.array((T, T), float32)
    col, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for k0 in range(0, a.shape[1], T):
        s[y, x] = a[row, k0 + x] if row < a.shape[0] and k0 + x < a.shape[1] else float32(0)
        t[y, x] = b[k0 + y, col] if k0 + y < b.shape[0] and col < b.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(T):
            total += s[y, k] * t[k, x]
        cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total
# [numba_tiled]


def as_numba(tensor: Any) -> Any:
    """The same memory as Numba's array."""
    return cuda.as_cuda_array(tensor)


def call_nothing() -> None:
    nothing[1, 1]()


def caller_of_transpose(x: Any, y: Any) -> Callable[[], Any]:
    return lambda: turn[1, (32, 32)](x, y)


def products(a: Any, b: Any, c: Any) -> List[Tuple[str, Callable[[], Any]]]:
    """Names and calls, on arrays that have the CUDA array interface, such as PyTorch's."""
    u, v, w = as_numba(a), as_numba(b), as_numba(c)
    rows, columns = (int(np.ceil(n / T)) for n in c.shape)

    def call(kernel: Any, grid: Tuple[int, int]) -> Callable[[], Any]:
        return lambda: kernel[grid, (T, T)](u, v, w)

    return [("Numba, row on x, 0.0", call(naive_row_on_x, (rows, columns))),
            ("Numba, tiles, row on x, 0.0", call(tiled_row_on_x, (rows, columns))),
            ("Numba, column on x, float32(0)", call(naive, (columns, rows))),
            ("Numba, tiles, column on x, float32(0)", call(tiled, (columns, rows)))]
