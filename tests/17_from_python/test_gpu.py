"""On a GPU: the call goes into the caller's stream, comes back before the kernel has run, and copies nothing."""
from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import tilewise_kernels as tk

pytestmark = pytest.mark.skipif(tk.MACHINE == "sim", reason="needs a GPU")


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


LONG = 200_000_000  # clocks: a tenth of a second


@pytest.mark.parametrize("given", ["current", "object", "number"])
def test_a_call_waits_for_what_its_stream_has_to_do(torch: Any, given: str) -> None:
    """In the stream, the operand is written late. A kernel in the default stream would not wait, and read what was there before."""
    a, eye = torch.zeros(64, 64, device="cuda"), torch.eye(64, device="cuda")
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    out = torch.empty(64, 64, device="cuda")
    with torch.cuda.stream(side):
        torch.cuda._sleep(LONG)
        a.fill_(7)
        if given == "current":
            tk.tiled_matmul(a, eye, out=out)
    if given != "current":
        tk.tiled_matmul(a, eye, out=out, stream=side if given == "object" else side.cuda_stream)
    torch.cuda.synchronize()
    assert (out == 7).all()


def test_the_default_stream_does_not_wait_for_it(torch: Any) -> None:
    """The twin of the test above: it must fail where the stream is wrong."""
    a, eye, out = torch.zeros(64, 64, device="cuda"), torch.eye(64, device="cuda"), torch.empty(64, 64, device="cuda")
    tk.tiled_matmul(a, eye, out=out)  # so that the kernel is loaded by now
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(LONG)
        a.fill_(7)
    from tilewise_kernels import _module
    _module.tiled_matmul(a.__dlpack__(stream=-1), eye.__dlpack__(stream=-1), out.__dlpack__(stream=-1), 0)
    torch.cuda.default_stream().synchronize()
    assert (out == 0).all()
    torch.cuda.synchronize()


def test_a_call_waits_for_the_stream_that_its_array_comes_from(torch: Any) -> None:
    """DLPack's own part: the library makes our stream wait for its current one."""
    a, eye, out = torch.zeros(64, 64, device="cuda"), torch.eye(64, device="cuda"), torch.empty(64, 64, device="cuda")
    producer, ours = torch.cuda.Stream(), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(producer):
        torch.cuda._sleep(LONG)
        a.fill_(7)
        tk.tiled_matmul(a, eye, out=out, stream=ours)
    ours.synchronize()
    assert (out == 7).all()


def test_a_call_comes_back_before_the_kernel_has_run(torch: Any) -> None:
    a, out = torch.ones(64, 64, device="cuda"), torch.empty(64, 64, device="cuda")
    tk.transpose(a, out=out)
    torch.cuda.synchronize()
    torch.cuda._sleep(10 * LONG)
    begin = time.perf_counter()
    tk.transpose(a, out=out)
    back = time.perf_counter() - begin
    torch.cuda.synchronize()
    assert back < 0.1 * (time.perf_counter() - begin)


def test_a_large_array_is_lent_at_once_and_no_memory_is_taken(torch: Any) -> None:
    a = torch.ones(1 << 28, device="cuda")  # 1 GiB
    torch.cuda.synchronize()
    before, begin = torch.cuda.memory_allocated(), time.perf_counter()
    assert tk.address(a) == a.data_ptr()
    assert time.perf_counter() - begin < 1e-3 and torch.cuda.memory_allocated() == before
    assert abs(float(tk.sum(a)) - (1 << 28)) < 1e3


def test_arrays_are_given_back(torch: Any) -> None:
    a = torch.ones(1 << 26, device="cuda")
    with_it = torch.cuda.memory_allocated()
    for _ in range(100):
        tk.sum(a)
    del a
    assert torch.cuda.memory_allocated() <= with_it - (1 << 28)


def test_a_call_can_be_captured_in_a_graph(torch: Any) -> None:
    a, eye, out = torch.ones(64, 64, device="cuda"), torch.eye(64, device="cuda"), torch.zeros(64, 64, device="cuda")
    tk.tiled_matmul(a, eye, out=out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        tk.tiled_matmul(a, eye, out=out)
    a.fill_(3)
    out.zero_()
    graph.replay()
    torch.cuda.synchronize()
    assert (out == 3).all()


def test_tensors_that_require_a_gradient_are_refused(torch: Any) -> None:
    with pytest.raises(ValueError, match="^a: the tensor requires a gradient"):
        tk.transpose(torch.ones(2, 2, device="cuda", requires_grad=True))


def test_cupy_streams_are_respected() -> None:
    cupy = pytest.importorskip("cupy")
    slow = cupy.RawKernel('extern "C" __global__ void slow(long long clocks) { long long end = clock64() + clocks; while (clock64() < end) {} }', "slow")
    slow((1,), (1,), (np.int64(1),))
    a, eye = cupy.zeros((64, 64), cupy.float32), cupy.eye(64, dtype=cupy.float32)
    cupy.cuda.Device().synchronize()
    with cupy.cuda.Stream(non_blocking=True) as side:
        slow((1,), (1,), (np.int64(LONG),))
        a.fill(7)
        out = tk.tiled_matmul(a, eye)
    side.synchronize()
    assert (out == 7).all()


def test_two_gpus() -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one GPU")
    a, b = torch.ones(4, 4, device="cuda:0"), torch.ones(4, 4, device="cuda:1")
    with pytest.raises(ValueError, match="^b: the array is on GPU 1, and a on GPU 0$"):
        tk.tiled_matmul(a, b)
    assert (tk.tiled_matmul(b, b) == 4).all() and torch.cuda.current_device() == 0
