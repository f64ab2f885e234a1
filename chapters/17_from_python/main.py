"""Lesson 17: kernels called from Python. Are they right, does anything get copied, what does a call cost, and is a kernel slower
when Python has launched it? On the simulator with NumPy's arrays, on a GPU with PyTorch's (or CuPy's, for the first question)."""
from __future__ import annotations

import argparse
import math
import sys
from typing import Any, Callable, Dict, List, NoReturn, Sequence

import numpy as np

import tilewise_kernels as tk
from table import Results, counted

SIM = tk.MACHINE == "sim"
EPS = 2.0**-24  # unit roundoff of float32
PARTS = ("right", "copies", "calls", "matmul", "numba")


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        print(f"17_from_python: {message} (--help lists the options)", file=sys.stderr)
        raise SystemExit(2)


def sizes(text: str) -> List[int]:
    for word in text.split(","):
        if not word.isascii() or not word.isdigit() or int(word) > 8192:
            raise argparse.ArgumentTypeError(f"{word!r}: allowed are 0 to 8192, a list with commas")
    return [int(word) for word in text.split(",")]


def empty(*shape: int) -> Any:
    """A matrix where the kernels work; on the simulator NumPy's, beginning at a multiple of 256 bytes, as cudaMalloc's memory does."""
    if SIM:
        room = np.empty(math.prod(shape) * 4 + 256, dtype=np.uint8)
        skip = -room.__array_interface__["data"][0] % 256
        return room[skip:skip + math.prod(shape) * 4].view(np.float32).reshape(shape)
    return to_device(np.empty(shape, dtype=np.float32))


def to_device(array: Any) -> Any:
    """The same numbers where the kernels work: the one copy that there is, and it's ours."""
    if SIM:
        copy = empty(*array.shape)
        copy[...] = array
        return copy
    try:
        import torch
        return torch.from_numpy(array).cuda()
    except ImportError:
        import cupy
        return cupy.asarray(array)


def to_host(array: Any) -> Any:
    return array if SIM else array.cpu().numpy() if hasattr(array, "cpu") else array.get()


def gamma(additions: float) -> float:
    return additions * EPS / (1 - additions * EPS)


def judged(result: Any, exact: Any, bound: Any) -> Any:
    """The largest error, its bound, and the verdict. A NaN is no number below a bound."""
    error = np.abs(result.astype(np.float64) - exact)
    right = result.shape == exact.shape and bool(np.all(error <= bound))
    worst = [float(np.max(x, initial=0.0)) for x in (error, np.broadcast_to(bound, error.shape))]
    return worst[0], worst[1], "OK" if right else "WRONG"


def check(results: Results, name: str, shape: str, call: Callable[[], Any], exact: Any, bound: Any) -> None:
    result, counts = counted(call)
    error, limit, status = judged(to_host(result), exact, bound)
    cells = [name, shape]
    fields: Dict[str, Any] = {"error": {"max": error, "bound": limit}}
    if SIM:
        loads, stores = counts["global_load_requests"], counts["global_store_requests"]
        cells += [f"{loads:,}", f"{counts['global_load_sectors'] / max(loads, 1):.2f}",
                  f"{stores:,}", f"{counts['global_store_sectors'] / max(stores, 1):.2f}",
                  f"{counts['shared_wavefronts']:,}"]
        fields["counts"] = counts
    results.row([*cells, f"{error:.1e}", f"{limit:.1e}"], status, **fields)


def run_right(results: Results, wanted: Sequence[int], seed: int) -> None:
    counts = [("load requests", "warp instr.", 13), ("sectors", "/request", 8), ("store requests", "warp instr.", 14),
              ("sectors", "/request", 8), ("shared", "wavefronts", 10)] if SIM else []
    results.begin_part("right", "every function beside NumPy in double precision",
                       [("function", "", -14), ("shape", "", -18), *counts, ("max error", "", 9), ("bound", "", 8)])
    random = np.random.default_rng(seed)

    def uniform(*shape: int) -> Any:
        return random.uniform(-1, 1, shape).astype(np.float32)

    for n in wanted:
        m, k = n // 2 + 1, n + 3  # no two alike
        a, b, z = uniform(m, k), uniform(k, n), uniform(n * 37)
        exact, bound = a.astype(np.float64) @ b, gamma(k) * (np.abs(a).astype(np.float64) @ np.abs(b))
        x, y, s = to_device(a), to_device(b), to_device(z)
        c, t, total = empty(m, n), empty(n, k), empty()
        shape = f"{m} x {n} x {k}"
        check(results, "naive_matmul", shape, lambda: tk.naive_matmul(x, y, out=c), exact, bound)
        check(results, "tiled_matmul", shape, lambda: tk.tiled_matmul(x, y, out=c), exact, bound)
        check(results, "transpose", f"{k} x {n}", lambda: tk.transpose(y, out=t), b.T, 0)
        check(results, "sum", f"{n * 37:,}", lambda: tk.sum(s, out=total), np.sum(z, dtype=np.float64),
              gamma(64 + n * 37 / 2**19) * np.sum(np.abs(z), dtype=np.float64))


def main() -> int:
    parser = Parser(prog="17_from_python", description="Kernels of C++, called from Python: right, without a copy, and what a call costs")
    parser.add_argument("--n", type=sizes, default=[1, 31, 100] if SIM else [1, 31, 100, 1000, 2048], help="Sizes, 0 to 8192 (default %(default)s)")
    parser.add_argument("--part", choices=("all", *PARTS), default="all", help="Which part of the lesson to run")
    parser.add_argument("--seed", type=int, default=1, help="Seed of the random inputs")
    parser.add_argument("--no-time", action="store_true", help="Check only, time nothing (on the simulator nothing is timed anyway)")
    parser.add_argument("--json", default="", help="Write the results to this file")
    options = parser.parse_args()
    results = Results(options.seed)
    device = results.run["machine"]
    print(f"{device['name']}, compute capability {device['compute_capability']}, {device['sms']} SMs; Python {sys.version.split()[0]}")
    if SIM:
        print("No GPU: a time would mean nothing, so the table shows what the hardware would do, counted.")
    parts = PARTS if options.part == "all" else (options.part,)
    if "right" in parts:
        run_right(results, options.n, options.seed)
    if SIM:
        import on_simulator
        if "copies" in parts:
            on_simulator.run_copies(results)
    elif not options.no_time:
        try:
            import on_gpu
        except ImportError as error:  # PyTorch, whose events and streams measure
            print(f"\nNothing is timed: {error}")
        else:
            on_gpu.run(results, parts)
    return results.finish(options.json)


if __name__ == "__main__":
    raise SystemExit(main())
