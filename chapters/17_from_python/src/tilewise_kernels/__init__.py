"""Kernels of Tilewise's lessons for arrays of NumPy (on the simulator), PyTorch and CuPy (on a GPU).

    c = tilewise_kernels.tiled_matmul(a, b)

Nothing is copied. On a GPU a call puts the kernel into the current stream of the array's library and comes back before the
kernel has ended, as that library's own functions do.
"""
from __future__ import annotations

import importlib
import sys
from typing import Any, Dict, Optional, Protocol, Tuple, TypeVar, Union

from . import _module

MACHINE: str = _module.MACHINE  # "sim" or "gpu"

# DLPack's numbers of devices
CPU, GPU = 1, 2
PLACES = {CPU: "in the computer's memory", GPU: "on a GPU"}


class Array(Protocol):
    """What a function takes: anything that DLPack can describe."""

    @property
    def shape(self) -> Any: ...
    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __dlpack_device__(self, *args: Any, **kwargs: Any) -> Any: ...


A = TypeVar("A", bound=Array)
Stream = Union[int, Any, None]  # a number, or an object of PyTorch, CuPy, Numba or cuda-python


_libraries: Dict[type, str] = {}  # of the types that were here before


def _library(array: Any) -> str:
    """Whose array it is: "numpy", "torch", "cupy", or "" for any other's."""
    array_type = type(array)
    if array_type not in _libraries:
        roots = (base.__module__.partition(".")[0] for base in array_type.__mro__)
        _libraries[array_type] = next((root for root in roots if root in ("numpy", "torch", "cupy")), "")
    return _libraries[array_type]


# [stream]
def stream_handle(stream: Any) -> int:
    """The number that CUDA knows a stream by."""
    if isinstance(stream, int) and not isinstance(stream, bool):
        return stream
    if hasattr(stream, "__cuda_stream__"):  # the protocol that libraries agreed on
        return int(stream.__cuda_stream__()[1])
    for name in ("cuda_stream", "ptr"):  # PyTorch; CuPy
        if hasattr(stream, name):
            return int(getattr(stream, name))
    raise TypeError(f"stream: a number or an object with __cuda_stream__ is needed, not {type(stream).__name__}")


def _current_stream(array: Any) -> int:
    """The stream in which the array's library would start its own work now."""
    library = _library(array)
    if library == "torch" and array.is_cuda:
        return int(sys.modules["torch"].cuda.current_stream(array.device).cuda_stream)
    if library == "cupy":
        return int(sys.modules["cupy"].cuda.get_current_stream().ptr)
    return 0  # the default stream
# [stream]


class _Queue:
    """The stream of one call, and the library whose current stream it is, "" if it was given."""

    def __init__(self, stream: Any, array: Any) -> None:
        self.library = _library(array) if stream is None else ""
        self.stream = _current_stream(array) if stream is None else stream_handle(stream)


def _check_place(name: str, array: Any) -> bool:
    """True for an array in the computer's memory. Refuses what is no array, or where the kernels can't reach it."""
    if not hasattr(array, "__dlpack__"):
        raise TypeError(f"{name}: an array is needed (NumPy, PyTorch, CuPy: anything with __dlpack__), not {type(array).__name__}")
    if getattr(array, "requires_grad", False):
        raise ValueError(f"{name}: the tensor requires a gradient, and there is none here; x.detach() is the same memory without")
    place = int(array.__dlpack_device__()[0])
    if place != (CPU if MACHINE == "sim" else GPU):
        takes = "the simulator and takes arrays in the computer's memory" if MACHINE == "sim" else "a GPU and takes arrays that are there"
        raise ValueError(f"{name}: the array is {PLACES.get(place, f'on a device of type {place}')}, and this module was built for {takes}")
    return place == CPU


# [lend]
def _lend(name: str, array: Any, queue: _Queue) -> Any:
    """The array's note, for one call that goes into this queue."""
    if _check_place(name, array):
        return array  # nanobind asks it by itself
    if queue.library and _library(array) == queue.library:
        return array.__dlpack__(stream=-1)  # the same queue: there is nothing to wait for
    return array.__dlpack__(stream=queue.stream or 1)  # DLPack calls the default stream 1
# [lend]


def _empty(like: Any, shape: Tuple[int, ...]) -> Any:
    """A new array of the same library, on the same device: its memory comes from there, not from us."""
    library = _library(like)
    if library == "torch":
        return like.new_empty(shape)
    if library == "cupy":
        with like.device:
            return importlib.import_module("cupy").empty(shape, dtype=like.dtype)
    if library == "numpy":
        return importlib.import_module("numpy").empty(shape, dtype=like.dtype)
    raise TypeError(f"out: has to be given for arrays of type {type(like).__name__}")


def _matmul(launch: Any, a: A, b: A, out: Optional[A], stream: Stream) -> A:
    queue = _Queue(stream, a)
    lent_a, lent_b = _lend("a", a, queue), _lend("b", b, queue)
    if out is None:
        out = _empty(a, (*a.shape[:1], *b.shape[1:2]))
    launch(lent_a, lent_b, _lend("out", out, queue), queue.stream)
    return out


def naive_matmul(a: A, b: A, *, out: Optional[A] = None, stream: Stream = None) -> A:
    """a times b, one thread per element of the result: lesson 01.

    a: m x k, b: k x n, both float32 and C-contiguous. The result goes to `out`, m x n, or a new array of the same library.
    TypeError: no array, or not float32. ValueError: shape, order, device, a read-only or overlapping `out`.
    RuntimeError: what CUDA says of the launch.
    """
    return _matmul(_module.naive_matmul, a, b, out, stream)


def tiled_matmul(a: A, b: A, *, out: Optional[A] = None, stream: Stream = None) -> A:
    """a times b through tiles of 32 x 32 in shared memory: lesson 02. Everything else as naive_matmul()."""
    return _matmul(_module.tiled_matmul, a, b, out, stream)


def transpose(a: A, *, out: Optional[A] = None, stream: Stream = None) -> A:
    """The transpose of a matrix, in memory of its own: lesson 04. Errors as naive_matmul()."""
    queue = _Queue(stream, a)
    lent = _lend("a", a, queue)
    if out is None:
        out = _empty(a, tuple(a.shape[::-1]))
    _module.transpose(lent, _lend("out", out, queue), queue.stream)
    return out


def sum(x: A, *, out: Optional[A] = None, stream: Stream = None) -> A:
    """The sum of all elements, an array without dimensions: lesson 14's kernel with one launch. Errors as naive_matmul()."""
    queue = _Queue(stream, x)
    lent = _lend("x", x, queue)
    if out is None:
        out = _empty(x, ())
    _module.sum(lent, _lend("out", out, queue), queue.stream)
    return out


def nothing(stream: Stream = None) -> None:
    """Launches a kernel that does nothing: what a call costs."""
    _module.nothing(0 if stream is None else stream_handle(stream))


def address(array: Any) -> int:
    """Where the module sees the array's first element."""
    return _module.address(_lend("array", array, _Queue(None, array)))
