"""Lesson 17 on a GPU, measured with PyTorch: copies, calls, products, and beside them Numba, CuPy and PyTorch's own functions."""
from __future__ import annotations

import statistics
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch
import torch.utils.dlpack

import tilewise_kernels as tk
from table import Results, library

Call = Callable[[], Any]


def time_fields(seconds: Sequence[float], calls: int) -> Dict[str, Any]:
    q1, median, q3 = statistics.quantiles([1e3 * s for s in seconds], n=4, method="inclusive")
    return {"time": {"median_ms": median, "iqr_ms": q3 - q1, "q1_ms": q1, "q3_ms": q3, "min_ms": 1e3 * min(seconds), "max_ms": 1e3 * max(seconds),
                     "samples": len(seconds), "calls_per_sample": calls}}


def on_host(call: Call, calls: int = 100, samples: int = 50) -> List[float]:
    """Seconds until `call` comes back: means of `calls`, few enough that the queue never fills."""
    for _ in range(min(20, calls)):
        call()
    seconds = []
    for _ in range(samples):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        seconds.append((time.perf_counter() - begin) / calls)
    torch.cuda.synchronize()
    return seconds


def on_device(calls: Sequence[Call], samples: int = 15) -> List[List[float]]:
    """Seconds between two events around each call, in turns, so that all see the same clocks. The device is busy meanwhile: else
    the first event would be over before the call has put its kernel behind it. A call that returns a float has recorded its own."""
    for call in calls:
        call()
    seconds: List[List[float]] = [[] for _ in calls]
    for _ in range(samples):
        for call, of_call in zip(calls, seconds):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(2_000_000)  # clocks: a millisecond
            begin.record()
            own = call()
            end.record()
            end.synchronize()
            of_call.append(own if isinstance(own, float) else begin.elapsed_time(end) / 1e3)
    return seconds


# ---------------------------------------------------------------- nothing is copied
def run_copies(results: Results) -> None:
    results.begin_part("copies", "how long an array takes to be seen by the module, and what copies would take",
                       [("array", "", -22), ("shape", "", -16), ("what", "", -30), ("time", "us", 11), ("bytes apart", "", 11)])
    for n in (32, 16384):
        a = torch.ones(n, n, device="cuda")
        apart = tk.address(a) - a.data_ptr()
        shape = f"{n:,} x {n:,}"

        def row(kernel: str, what: str, seconds: List[float], calls: int, moved: Optional[int] = None) -> None:
            cells = ["torch.Tensor", shape, what, f"{1e6 * statistics.median(seconds):,.2f}", "-" if moved is None else f"{moved:,}"]
            results.row(cells, "OK" if not moved else "WRONG", kernel=kernel, shape=shape, **time_fields(seconds, calls))

        row("lend", "lent to the module", on_host(lambda: tk.address(a)), 100, apart)
        row("clone", "a copy on the GPU: clone()", on_device([a.clone])[0], 1)
        row("cpu", "a copy to the host: cpu()", on_host(a.cpu, 1, 5), 1)


# ---------------------------------------------------------------- what a call costs
def run_calls(results: Results) -> None:
    results.begin_part("calls", "until a call comes back; the kernel itself takes a microsecond or two",
                       [("kernel", "", -20), ("called by", "", -34), ("time", "us/call", 9), ("quartiles", "us/call", 13)])

    def row(shape: str, kernel: str, seconds: Sequence[float]) -> None:
        fields = time_fields(seconds, 100)
        t = fields["time"]
        results.row([shape, kernel, f"{1e3 * t['median_ms']:.2f}", f"{1e3 * t['q1_ms']:.2f} - {1e3 * t['q3_ms']:.2f}"], "OK",
                    kernel=kernel, shape=shape, **fields)

    none = "nothing"
    row(none, "C++", [library.seconds_per_launch(100, None) for _ in range(50)])
    row(none, "ctypes", on_host(lambda: library.launch_nothing(None)))
    row(none, "tilewise_kernels", on_host(lambda: tk.nothing(0)))
    x, y = torch.rand(32, 32, device="cuda"), torch.empty(32, 32, device="cuda")
    two = "32 x 32"
    rows: List[Tuple[str, Call]] = [
        ("tilewise_kernels, out and stream", lambda: tk.transpose(x, out=y, stream=0)),
        ("tilewise_kernels, out", lambda: tk.transpose(x, out=y)),
        ("tilewise_kernels", lambda: tk.transpose(x)),
        ("torch.neg, out", lambda: torch.neg(x, out=y)),
        ("torch.neg", lambda: torch.neg(x)),
        ("only current_stream()", lambda: torch.cuda.current_stream(x.device).cuda_stream),
        ("only x.__dlpack__(stream=1)", lambda: x.__dlpack__(stream=1)),
        ("only x.__dlpack__(stream=-1)", lambda: x.__dlpack__(stream=-1)),
        ("only x.__dlpack_device__()", lambda: x.__dlpack_device__()),
        ("only torch.utils.dlpack.to_dlpack(x)", lambda: torch.utils.dlpack.to_dlpack(x)),
    ]
    for kernel, call in rows:
        row(two, kernel, on_host(call))
    try:
        import cupy
        nothing = cupy.RawKernel('extern "C" __global__ void nothing() {}', "nothing")
        row(none, "CuPy RawKernel", on_host(lambda: nothing((1,), (1,), ())))
        turn = cupy.RawKernel('extern "C" __global__ void turn(const float* in, float* out) '
                              "{ out[threadIdx.x * 32 + threadIdx.y] = in[threadIdx.y * 32 + threadIdx.x]; }", "turn")
        u, v = cupy.from_dlpack(x), cupy.empty((32, 32), dtype=cupy.float32)
        row(two, "CuPy RawKernel", on_host(lambda: turn((1,), (32, 32), (u, v))))
        row(two, "tilewise_kernels, CuPy, out", on_host(lambda: tk.transpose(u, out=v)))
    except Exception as error:  # not there, or not for this driver
        results.row([none, "CuPy RawKernel"], "SKIP", str(error).splitlines()[0], kernel="CuPy RawKernel", shape=none)
    try:
        import numba_kernels
        row(none, "Numba", on_host(numba_kernels.call_nothing))
        row(two, "Numba", on_host(numba_kernels.caller_of_transpose(numba_kernels.as_numba(x), numba_kernels.as_numba(y))))
        row(two, "Numba, PyTorch's tensors", on_host(numba_kernels.caller_of_transpose(x, y)))
    except Exception as error:
        results.row([none, "Numba"], "SKIP", str(error).splitlines()[0], kernel="Numba", shape=none)


# ---------------------------------------------------------------- is a kernel slower when Python launches it?
PRODUCT = [("kernel", "", -49), ("shape", "m x n x k", -20), ("time", "ms", 8), ("rate", "GFLOP/s", 9), ("max error", "", 9), ("bound", "", 8)]


class Product:
    """c = a b on the device, with the double-precision result that all are held against."""

    def __init__(self, m: int, n: int, k: int) -> None:
        torch.manual_seed(1)
        self.a, self.b = (2 * torch.rand(*shape, device="cuda") - 1 for shape in ((m, k), (k, n)))
        self.m, self.n, self.k = m, n, k
        self.exact = self.a.double() @ self.b.double()
        eps = k * 2.0**-24
        self.bound = eps / (1 - eps) * (self.a.abs().double() @ self.b.abs().double())
        self.c = torch.empty(m, n, device="cuda")

    def run(self, results: Results, calls: Sequence[Tuple[str, Call]], samples: int) -> None:
        shape = f"{self.m} x {self.n} x {self.k}"
        verdicts = []
        for _, call in calls:
            self.c.fill_(float("nan"))
            call()
            error = (self.c.double() - self.exact).abs()
            verdicts.append((float(error.max()), bool((error <= self.bound).all())))  # a NaN is not <=
        for (kernel, _), (error, right), seconds in zip(calls, verdicts, on_device([c for _, c in calls], samples)):
            rate = 2e-9 * self.m * self.n * self.k / statistics.median(seconds)
            cells = [kernel, shape, f"{1e3 * statistics.median(seconds):.2f}" if right else "-", f"{rate:,.0f}" if right else "-",
                     f"{error:.1e}", f"{float(self.bound.max()):.1e}"]
            fields = {**time_fields(seconds, 1), "figure": {"value": rate, "unit": "GFLOP/s"}} if right else {}
            results.row(cells, "OK" if right else "WRONG", kernel=kernel, shape=shape,
                        error={"max": error, "bound": float(self.bound.max())}, **fields)


def run_matmul(results: Results) -> None:
    results.begin_part("matmul", "the same kernel, launched from C++ and from Python", PRODUCT)
    torch.backends.cuda.matmul.allow_tf32 = False
    p = Product(4096, 4096, 4096)
    pointers = (p.a.data_ptr(), p.b.data_ptr(), p.c.data_ptr())
    p.run(results, [("tiled_matmul from C++", lambda: library.seconds_per_tiled(*pointers, p.m, p.n, p.k, 1, None)),
                    ("tiled_matmul from Python", lambda: tk.tiled_matmul(p.a, p.b, out=p.c)),
                    ("naive_matmul from Python", lambda: tk.naive_matmul(p.a, p.b, out=p.c)),
                    ("torch.mm (cuBLAS)", lambda: torch.mm(p.a, p.b, out=p.c))], 15)


def run_numba(results: Results) -> None:
    results.begin_part("numba", "the product of the Numba tutorial: 6000 x 4800 times 4800 x 4000", PRODUCT)
    p = Product(6000, 4000, 4800)
    ours = [("naive_matmul", lambda: tk.naive_matmul(p.a, p.b, out=p.c)), ("tiled_matmul", lambda: tk.tiled_matmul(p.a, p.b, out=p.c))]
    try:
        import numba_kernels
        numba_kernels.call_nothing()
        kernels = numba_kernels.products(p.a, p.b, p.c)
    except Exception as error:  # not there, or not for this NumPy or this driver
        results.row(["Numba", ""], "SKIP", str(error).splitlines()[0], kernel="Numba", shape="6000 x 4000 x 4800")
        return p.run(results, ours, 9)
    for name, call in kernels:  # the first call compiles
        begin = time.perf_counter()
        call()
        torch.cuda.synchronize()
        first = time.perf_counter() - begin
        results.row([f"{name}, first call", f"{p.m} x {p.n} x {p.k}", f"{1e3 * first:,.0f}"], "OK", kernel=f"first: {name}",
                    shape=f"{p.m} x {p.n} x {p.k}", time={"median_ms": 1e3 * first, "samples": 1})
    p.run(results, [*kernels, *ours], 9)


def run(results: Results, parts: Sequence[str]) -> None:
    for part, work in (("copies", run_copies), ("calls", run_calls), ("matmul", run_matmul), ("numba", run_numba)):
        if part in parts:
            work(results)
