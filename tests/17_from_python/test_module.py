"""The module on ragged sizes, and everything that it has to refuse: one clear exception each, and the result untouched."""
from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import tilewise_kernels as tk

SIM = tk.MACHINE == "sim"
EPS = 2.0**-24
MATMULS = [tk.naive_matmul, tk.tiled_matmul]


def bound(a: Any, b: Any) -> Any:
    k = a.shape[1] * EPS
    return k / (1 - k) * (np.abs(a).astype(float) @ np.abs(b))


@pytest.mark.parametrize("matmul", MATMULS)
@pytest.mark.parametrize("m, n, k", [*itertools.product([1, 31, 33], repeat=3), (64, 32, 96), (2, 67, 129)])
def test_products_are_right(library: Any, floats: Any, matmul: Any, m: int, n: int, k: int) -> None:
    a, b = floats(m, k), floats(k, n)
    c = library.numpy(matmul(library.array(a), library.array(b)))
    assert c.shape == (m, n) and c.dtype == np.float32
    assert (np.abs(c - a.astype(float) @ b) <= bound(a, b)).all()


@pytest.mark.parametrize("matmul", MATMULS)
@pytest.mark.parametrize("m, n, k", [(0, 3, 4), (3, 0, 4), (0, 0, 0)])
def test_products_without_elements(library: Any, floats: Any, matmul: Any, m: int, n: int, k: int) -> None:
    assert library.numpy(matmul(library.array(floats(m, k)), library.array(floats(k, n)))).shape == (m, n)


@pytest.mark.parametrize("matmul", MATMULS)
def test_a_product_over_nothing_is_zero(library: Any, floats: Any, matmul: Any) -> None:
    out = library.array(floats(3, 4))
    assert (library.numpy(matmul(library.array(floats(3, 0)), library.array(floats(0, 4)), out=out)) == 0).all()


@pytest.mark.parametrize("rows, columns", [(1, 1), (1, 37), (37, 1), (33, 65), (0, 5), (5, 0)])
def test_transposes_are_right(library: Any, floats: Any, rows: int, columns: int) -> None:
    a = floats(rows, columns)
    assert np.array_equal(library.numpy(tk.transpose(library.array(a))), a.T)


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (1000,), (8193,), (100, 103), (3, 5, 7), ()])
def test_sums_are_right(library: Any, floats: Any, shape: Any) -> None:
    x = np.asarray(floats(*shape))
    total = library.numpy(tk.sum(library.array(x)))
    assert total.shape == ()
    assert abs(float(total) - x.astype(float).sum()) <= 100 * EPS * np.abs(x).sum()


def test_nan_and_infinity_come_through(library: Any, floats: Any) -> None:
    a = floats(5, 5)
    a[2, 3] = np.nan
    c = library.numpy(tk.tiled_matmul(library.array(a), library.array(np.eye(5, dtype=np.float32))))
    assert np.isnan(c[2]).all() and not np.isnan(np.delete(c, 2, 0)).any()


def test_the_result_goes_to_out(library: Any, floats: Any) -> None:
    a, b, out = (library.array(floats(20, 20)) for _ in range(3))
    assert tk.tiled_matmul(a, b, out=out) is out
    assert np.array_equal(library.numpy(out), library.numpy(tk.tiled_matmul(a, b)))


def test_an_array_may_be_given_twice(library: Any, floats: Any) -> None:
    a = floats(33, 33)
    x = library.array(a)
    assert (np.abs(library.numpy(tk.tiled_matmul(x, x)) - a.astype(float) @ a) <= bound(a, a)).all()


def test_nothing_is_copied(library: Any, floats: Any) -> None:
    a = library.array(floats(40, 30))
    for view in (a, a[3:], a[7:9], a.reshape(30, 40), a[5:6, 3:20]):
        assert tk.address(view) == library.address(view)


def test_rows_of_a_larger_array_are_read_and_written_in_place(library: Any, floats: Any) -> None:
    all_rows, a, b = floats(9, 6), floats(4, 5), floats(5, 6)
    x = library.array(all_rows)
    tk.naive_matmul(library.array(a), library.array(b), out=x[3:7])
    now = library.numpy(x)
    assert np.array_equal(now[:3], all_rows[:3]) and np.array_equal(now[7:], all_rows[7:])
    assert (np.abs(now[3:7] - a.astype(float) @ b) <= bound(a, b)).all()


# ---------------------------------------------------------------- what is refused
def refuses(error: Any, message: str, call: Any, *arguments: Any, **named: Any) -> None:
    with pytest.raises(error, match=message) as caught:
        call(*arguments, **named)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("what, kind", [([[1.0]], "list"), (None, "NoneType"), (1.5, "float"), ("text", "str"), (b"bytes", "bytes")])
def test_what_is_no_array(library: Any, floats: Any, what: Any, kind: str) -> None:
    x = library.array(floats(1, 1))
    for matmul in MATMULS:
        refuses(TypeError, f"^a: an array is needed .*, not {kind}$", matmul, what, x)
        refuses(TypeError, f"^b: an array is needed .*, not {kind}$", matmul, x, what)
    if what is not None:
        refuses(TypeError, f"^out: an array is needed .*, not {kind}$", tk.transpose, x, out=what)
    refuses(TypeError, f"^x: an array is needed .*, not {kind}$", tk.sum, what)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "uint8", "int64", "bool", "complex64"])
def test_wrong_types(library: Any, dtype: str) -> None:
    right, wrong = library.array(np.ones((4, 4), np.float32)), library.array(np.ones((4, 4), dtype))
    refuses(TypeError, f"^a: float32 is needed, not {dtype}$", tk.tiled_matmul, wrong, right)
    refuses(TypeError, f"^b: float32 is needed, not {dtype}$", tk.tiled_matmul, right, wrong)
    refuses(TypeError, f"^out: float32 is needed, not {dtype}$", tk.tiled_matmul, right, right, out=wrong)
    refuses(TypeError, f"^x: float32 is needed, not {dtype}$", tk.sum, wrong)


def test_wrong_shapes(library: Any, floats: Any) -> None:
    a, b, line, cube = (library.array(floats(*shape)) for shape in ((3, 4), (5, 6), (4,), (2, 3, 4)))
    refuses(ValueError, "^a has 4 columns, and b 5 rows$", tk.tiled_matmul, a, b)
    refuses(ValueError, r"^a: 2 dimensions are needed, and the shape is \(4,\)$", tk.tiled_matmul, line, b)
    refuses(ValueError, r"^b: 2 dimensions are needed, and the shape is \(2, 3, 4\)$", tk.naive_matmul, a, cube)
    refuses(ValueError, r"^a: 2 dimensions are needed, and the shape is \(4,\)$", tk.transpose, line)
    refuses(ValueError, r"^out: the shape has to be \(4, 3\), and it is \(3, 4\)$", tk.transpose, a, out=library.array(floats(3, 4)))
    refuses(ValueError, r"^out: the shape has to be \(\), and it is \(4,\)$", tk.sum, a, out=line)


def test_arrays_that_are_not_contiguous(library: Any, floats: Any) -> None:
    a = library.array(floats(6, 8))
    for view, strides in ((a[:, ::2], r"\(8, 2\)"), (a.T, r"\(1, 8\)"), (a[:, :3], r"\(8, 1\)"), (a[::2], r"\(16, 1\)")):
        refuses(ValueError, f"^a: the elements have to lie one after the other.* strides are {strides} elements$", tk.transpose, view)
        refuses(ValueError, "^x: .*C-contiguous", tk.sum, view)
    refuses(ValueError, "^out: .*C-contiguous", tk.transpose, a, out=library.array(floats(6, 8)).T)


def test_results_that_overlap_an_operand(library: Any, floats: Any) -> None:
    a = library.array(floats(8, 4))
    refuses(ValueError, "^out: the array overlaps a,", tk.transpose, a[:4], out=a[3:7])
    refuses(ValueError, "^out: the array overlaps b,", tk.tiled_matmul, library.array(floats(4, 4)), a[:4], out=a[3:7])
    tk.transpose(a[:4], out=a[4:])  # side by side is fine


def test_what_cuda_refuses_is_an_exception_and_the_next_call_works(library: Any, floats: Any) -> None:
    tall = library.array(np.empty((65535 * 32 + 1, 0), np.float32))  # one block too many in y
    # CUDA 13 calls it an invalid value, as an H200 showed
    refuses(RuntimeError, r"^matmul: invalid (configuration argument \(cudaErrorInvalidConfiguration|argument \(cudaErrorInvalidValue)\)$",
            tk.tiled_matmul, tall, library.array(np.empty((0, 1), np.float32)))
    x = floats(5)
    assert abs(float(library.numpy(tk.sum(library.array(x)))) - x.astype(float).sum()) < 1e-6


@pytest.mark.parametrize("stream", ["default", 1.5, True, object()])
def test_what_is_no_stream(library: Any, floats: Any, stream: Any) -> None:
    refuses(TypeError, "^stream: a number or an object with __cuda_stream__ is needed, not ", tk.sum, library.array(floats(3)), stream=stream)


def test_streams_are_numbers_and_objects() -> None:
    class Protocol:
        def __cuda_stream__(self) -> Any:
            return 0, 7

    class Torch:
        cuda_stream = 8

    class Cupy:
        ptr = 9

    assert [tk.stream_handle(s) for s in (5, Protocol(), Torch(), Cupy())] == [5, 7, 8, 9]


def test_a_refused_call_leaves_the_result_alone(library: Any, floats: Any) -> None:
    values = floats(3, 3)
    out = library.array(values)
    refuses(ValueError, "columns", tk.tiled_matmul, library.array(floats(3, 4)), library.array(floats(5, 3)), out=out)
    assert np.array_equal(library.numpy(out), values)


def test_threads_may_call_at_once(library: Any, floats: Any) -> None:
    a = floats(40, 40)
    x, results = library.array(a), [None] * 4

    def work(i: int) -> None:
        results[i] = library.numpy(tk.tiled_matmul(x, x))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(r is not None and (np.abs(r - a.astype(float) @ a) <= bound(a, a)).all() for r in results)


# ---------------------------------------------------------------- the simulator alone
@pytest.mark.skipif(not SIM, reason="PyTorch's and CuPy's arrays are never read-only")
def test_read_only_arrays_can_be_read_and_not_written(floats: Any) -> None:
    a = floats(5, 6)
    a.flags.writeable = False
    assert np.array_equal(tk.transpose(a), a.T)
    out = floats(6, 5)
    out.flags.writeable = False
    refuses(ValueError, "^out: the array is read-only", tk.transpose, a, out=out)


@pytest.mark.skipif(not SIM, reason="on a GPU a stream's handle is an address, and a wrong one may be anything")
def test_the_stream_reaches_the_launch(floats: Any) -> None:
    x = floats(3)
    for _ in range(2):
        refuses(RuntimeError, "^sum: invalid resource handle", tk.sum, x, stream=12345)
        assert abs(float(tk.sum(x)) - x.astype(float).sum()) < 1e-6  # the error was that call's, not this one's


def test_an_array_in_the_wrong_place_is_refused(library: Any, floats: Any) -> None:
    class Elsewhere:
        """Looks like an array of a GPU to the simulator's module, and like NumPy's to a GPU's."""

        shape = (1, 1)

        def __dlpack_device__(self) -> Any:
            return (2 if SIM else 1), 0

        def __dlpack__(self, **_: Any) -> Any:
            raise AssertionError("is not asked")

    where = "on a GPU" if SIM else "in the computer's memory"
    right = library.array(floats(1, 1))
    refuses(ValueError, f"^a: the array is {where}, and this module was built for ", tk.transpose, Elsewhere())
    refuses(ValueError, f"^b: the array is {where}, ", tk.tiled_matmul, right, Elsewhere())
    refuses(ValueError, f"^out: the array is {where}, ", tk.tiled_matmul, right, right, out=Elsewhere())


@pytest.mark.skipif(not SIM, reason="reports are the simulator's")
def test_a_report_names_the_lines_of_kernels_that_are_in_a_library() -> None:
    program = "import numpy as np, tilewise_kernels as tk; a = np.ones((40, 40), np.float32); tk.tiled_matmul(a, a)"
    ran = subprocess.run([sys.executable, "-c", program], env={**os.environ, "TILEWISE_REPORT": "-"}, capture_output=True, text=True)
    assert ran.returncode == 0
    for words in ("void tiled_matmul<32>(", "02_tiled_matmul/tiled_matmul.cuh", "sum += As[ty][k] * Bs[k][tx];"):
        assert words in ran.stderr
