"""tilewise.count(): runs a CUDA kernel on the simulator, in a process of its own."""
from __future__ import annotations

import json
import math
import os
import re
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from .arguments import ARRAY, SAME_AS, Argument, convert
from .compiler import Program, compile_kernel
from .errors import CrashError, FindingError, KernelTimeoutError, LaunchError
from .report import Report

DEVICES = ("v100", "t4", "a100", "rtx3090", "l4", "rtx4090", "h100", "h200", "b200")
_MOST_OUTPUT = 1 << 20  # bytes of what a kernel prints


def _sizes(name: str, value: Union[int, Sequence[int]]) -> List[int]:
    sizes = [value] if isinstance(value, int) else list(value)
    if not 1 <= len(sizes) <= 3 or not all(hasattr(s, "__index__") and not isinstance(s, bool) for s in sizes):
        raise TypeError(f"{name}: an integer, or one to three of them, is expected, not {value!r}")
    numbers = [int(s) for s in sizes] + [1] * (3 - len(sizes))
    if not all(0 < n < 2**31 for n in numbers):
        raise ValueError(f"{name}: every size has to be at least 1, and less than 2^31; it is {value!r}")
    return numbers


def count(source: str, *, kernel: Optional[str] = None, grid: Union[int, Sequence[int]], block: Union[int, Sequence[int]],
          args: Union[Sequence[Any], Mapping[str, Any]] = (), shared: int = 0, device: str = "h200", check: bool = False,
          timeout: float = 60.0, include: Sequence[str] = ()) -> Report:
    """Runs a CUDA C++ kernel on the simulator and returns what it asked memory for.

    source   CUDA C++ with at least one __global__ function; lines are counted from 1
    kernel   its name, with template arguments if it has some: "copy<float>"; needed when the source has several
    grid     blocks: an integer, or up to three (x, y, z)
    block    threads per block: the same
    args     a list in the order of the parameters, or a dict by their names. For pointers C-contiguous NumPy arrays, or what has
             the buffer protocol or DLPack on the CPU, of the type that the kernel's parameter points to; None is a null pointer.
             For values Python's or NumPy's numbers, tuples for float4 and kin, bytes for structs. Arrays are copied to simulated
             memory, and back when the kernel has finished, unless the parameter points to const
    shared   bytes of dynamic shared memory
    device   the simulated GPU, one of DEVICES
    check    True: findings raise FindingError
    timeout  seconds of processor time, rounded up; a kernel that takes longer raises KernelTimeoutError, on a busy machine after
             5 timeout + 30 s at the latest
    include  folders for #include "..."

    The kernel runs in a process of its own, so that whatever it does, Python goes on. What is compiled is kept for the next call.

    Raises TypeError, ValueError or OverflowError for an argument that doesn't fit, and the exceptions of tilewise.errors:
    CompileError, CompilerNotFoundError, LaunchError, KernelTimeoutError, CrashError, FindingError.
    """
    if not isinstance(source, str):
        raise TypeError(f"source: a string is expected, not {type(source).__name__}")
    blocks, threads = _sizes("grid", grid), _sizes("block", block)
    if device not in DEVICES:
        raise ValueError(f"device: the simulator knows {', '.join(DEVICES)}, not {device!r}")
    if not isinstance(shared, int) or not 0 <= shared < 2**31:
        raise ValueError(f"shared: a number of bytes is expected, not {shared!r}")
    if not (timeout > 0 and math.isfinite(timeout)):
        raise ValueError(f"timeout: a number of seconds above 0 is expected, not {timeout!r}")
    program = compile_kernel(source, kernel, include)
    arguments = convert(program.kernel, program.parameters, args)
    with tempfile.TemporaryDirectory(prefix="tilewise-") as folder:
        report = _run(program, arguments, source, blocks + threads, shared, device, timeout, Path(folder))
    if check and report.findings:
        raise FindingError(report)
    return report


def _write(arguments: List[Argument], path: Path) -> None:
    with open(path, "wb") as file:
        for a in arguments:
            size = a.same_as if a.form == SAME_AS else a.array.nbytes if a.array is not None else len(a.bytes)
            file.write(struct.pack("=QQ", a.form, size))
            if a.array is not None:
                file.write(a.array.tobytes())
            else:
                file.write(a.bytes)


def _read(arguments: List[Argument], path: Path) -> Tuple[str, str]:
    """The CUDA error's name and text; "" where the program wrote none. Fills the arrays if there is no error."""
    if not path.exists():
        return "", ""
    with open(path, "rb") as file:
        code, _, message = file.readline().decode().strip().partition(" ")
        written = [a.array for a in arguments if a.form == ARRAY and a.written and a.array is not None]
        data = [file.read(a.nbytes) for a in written] if code == "cudaSuccess" else []
        if any(len(d) != a.nbytes for d, a in zip(data, written)):
            return "", ""
        for array, bytes_ in zip(written, data):
            if array.nbytes:
                array.reshape(-1).view("u1")[:] = np.frombuffer(bytes_, dtype="u1")
    return code, message


def _run(program: Program, arguments: List[Argument], source: str, sizes: List[int], shared: int, device: str, timeout: float, folder: Path) -> Report:
    _write(arguments, folder / "in")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TILEWISE_")}
    environment.update(TILEWISE_REPORT=str(folder / "report"), TILEWISE_FINDINGS="warn", TILEWISE_DEVICE=device)
    command = [str(program.path), "run", str(folder / "in"), str(folder / "out"), *map(str, sizes), str(shared), str(max(1, math.ceil(timeout)))]
    late = f"the kernel {program.kernel} took longer than {timeout:g} s"
    with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
        child = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
        try:
            status = child.wait(5 * timeout + 30)  # before that it ends itself, by processor time, and says where it was
        except subprocess.TimeoutExpired:
            raise KernelTimeoutError(late) from None
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
    report: Optional[Report] = None
    if (folder / "report").exists():
        with open(folder / "stdout", "rb") as file:
            output = file.read(_MOST_OUTPUT).decode(errors="replace")
        # The name of a folder that is gone says nothing.
        records = json.loads(re.sub(r'[^\s"]*/new-[^\s"/]+/kernel\.cu', "kernel.cu", (folder / "report").read_text()))
        record = records[0]
        report = Report(record, source, [p.name for p in program.parameters], device, False, output)
        for f in report.findings:
            if f.kind in ("endless", "slow"):
                raise KernelTimeoutError(f"{late}: {f}")
    code, message = _read(arguments, folder / "out")
    if report is not None:
        report.finished = code == "cudaSuccess"
        if report.finished or report.findings:
            return report
    if code and code != "cudaSuccess":
        raise LaunchError(code, message)
    said = (folder / "stderr").read_text(errors="replace").strip()[-2000:]
    raise CrashError(f"the process of {program.kernel} ended with {status}" + (f": {said}" if said else ""))
