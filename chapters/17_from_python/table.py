"""Tables and JSON in the form of the other lessons' (common/src/table.cpp, results.cpp)."""
from __future__ import annotations

import ctypes
import datetime
import json
import os
import pathlib
import subprocess
import sys
from typing import Any, Dict, List, Sequence, Tuple

import tilewise_kernels

library = ctypes.CDLL(str(pathlib.Path(tilewise_kernels.__file__).parent / "libtilewise_kernels.so"))
library.seconds_per_launch.restype = library.seconds_per_tiled.restype = ctypes.c_double
library.seconds_per_launch.argtypes = [ctypes.c_int, ctypes.c_void_p]
library.seconds_per_tiled.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int] * 4 + [ctypes.c_void_p]
library.launch_nothing.argtypes = [ctypes.c_void_p]

COUNTS = ("global_load_requests", "global_load_sectors", "global_store_requests", "global_store_sectors",
          "shared_load_wavefronts", "shared_store_wavefronts", "shared_conflicts")


def counted(call: Any) -> Tuple[Any, Dict[str, int]]:
    """What `call` returns, and what the simulator counted meanwhile."""
    counts = (ctypes.c_ulonglong * len(COUNTS))()
    library.begin_counting()
    result = call()
    library.end_counting(counts)
    named = dict(zip(COUNTS, counts))
    return result, {**named, "shared_wavefronts": named["shared_load_wavefronts"] + named["shared_store_wavefronts"]}


def machine() -> Dict[str, Any]:
    name, numbers = ctypes.create_string_buffer(256), (ctypes.c_longlong * 9)()
    error = library.describe_device(name, 256, numbers)
    if error:
        raise RuntimeError(f"there is no device (CUDA error {error})")
    major, minor, sms, memory, l2, clock, memory_clock, runtime, driver = numbers
    versions = [f"{v // 1000}.{v % 1000 // 10}" for v in (runtime, driver)]
    return {"name": name.value.decode(), "simulated": tilewise_kernels.MACHINE == "sim", "compute_capability": f"{major}.{minor}",
            "sms": sms, "memory_bytes": memory, "l2_bytes": l2, "max_sm_clock_mhz": clock / 1e3,
            "max_memory_clock_mhz": memory_clock / 1e3, "cuda_runtime": versions[0], "cuda_driver": versions[1]}


def commit() -> str:
    if "TILEWISE_COMMIT" in os.environ:
        return os.environ["TILEWISE_COMMIT"]
    here = pathlib.Path(__file__).parent
    try:
        asked = subprocess.run(["git", "-C", str(here), "describe", "--always", "--dirty"], capture_output=True, text=True)
    except OSError:  # there is no git
        return ""
    return asked.stdout.strip()


class Results:
    """Rows as they come: on the screen and, at the end, in a file."""

    def __init__(self, seed: int) -> None:
        self.run: Dict[str, Any] = {
            "program": "17_from_python", "command_line": " ".join(["17_from_python", *sys.argv[1:]]),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": commit(), "seed": seed,
            "data": "uniform", "repeat": 0, "machine": machine(), "tables": {"all": {"title": "", "quantity": "time"}}}
        self.rows: List[Dict[str, Any]] = []
        self.widths: List[int] = []
        self.part = ""

    def begin_part(self, part: str, title: str, columns: Sequence[Tuple[str, str, int]]) -> None:
        """A table. A column: heading, unit, and how wide it is; less than 0: text, which is aligned left."""
        self.part = part
        self.run["tables"][part] = {"title": title, "quantity": "time"}
        self.widths = [w for _, _, w in columns]
        print(f"\n{part}: {title}")
        print("  ".join(self.cell(c[0], c[2]) for c in columns) + "  status")
        print("  ".join(self.cell(c[1], c[2]) for c in columns).rstrip())
        print("-" * (sum(abs(w) + 2 for w in self.widths) + 6), flush=True)

    @staticmethod
    def cell(text: str, width: int) -> str:
        return text.ljust(-width) if width < 0 else text.rjust(width)

    def row(self, cells: Sequence[str], status: str, reason: str = "", **fields: Any) -> None:
        padded = list(cells) + ["-"] * (len(self.widths) - len(cells))
        print("  ".join(self.cell(c, w) for c, w in zip(padded, self.widths)) + f"  {status}" + (f": {reason}" if reason else ""),
              flush=True)
        row = {"part": self.part, "kernel": fields.pop("kernel", cells[0]), "shape": fields.pop("shape", cells[1]), "status": status}
        if reason:
            row["reason"] = reason
        self.rows.append({**row, **fields})

    def finish(self, json_file: str) -> int:
        number = {s: sum(r["status"] == s for r in self.rows) for s in ("OK", "WRONG", "SKIP")}
        print(f"\n{number['OK']} right, {number['WRONG']} wrong, {number['SKIP']} skipped")
        if json_file:
            in_place = os.path.exists(json_file) and not os.path.isfile(json_file)  # a device or a pipe stays one
            name = json_file if in_place else json_file + ".part"
            with open(name, "w", encoding="utf-8") as file:
                json.dump({**self.run, "rows": self.rows}, file, indent=2)
                file.write("\n")
            if not in_place:
                os.replace(name, json_file)
        return 1 if number["WRONG"] else 0
