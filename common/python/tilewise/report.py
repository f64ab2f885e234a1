"""What the simulator counted in one launch."""
from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .svg import Picture, draw

_NAMES = {  # attribute: Nsight Compute's name
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_requests": "smsp__inst_executed_op_shared_ld.sum",
    "shared_load_wavefronts": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_requests": "smsp__inst_executed_op_shared_st.sum",
    "shared_store_wavefronts": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}
_DERIVED = ("shared_load_bank_conflicts", "shared_store_bank_conflicts", "flop_single", "flop_double", "dram_bytes_at_least")  # as the report calls them


@dataclass(frozen=True)
class Finding:
    """Something wrong with the kernel. `kind` is a short name that docs/findings.md explains; `line` is the source's, 0: unknown."""

    kind: str
    line: int
    text: str
    threads: str
    times: int
    file: str = "kernel.cu"

    def __str__(self) -> str:
        more = f" ({self.times - 1} more times)" if self.times > 1 else ""
        return f"{self.file}:{self.line}: {self.kind}: {self.text}{more}"


@dataclass(frozen=True)
class Line:
    """What one line of the source did to one kind of memory: all its requests, as written.

    requests: instructions of warps. sectors: of 32 bytes, in global memory. wavefronts: passes of shared memory. Those of the
    other memory are 0. `ideal` is the least of either with the same words side by side. `lanes` is the worst request: the
    bytes from `address`, the lowest one, to each lane's, None for a lane that takes no part.
    """

    file: str
    line: int
    source: str
    memory: str
    access: str
    bytes_per_thread: int
    requests: int
    sectors: int
    wavefronts: int
    ideal: int
    diagnosis: str
    address: int
    lanes: Tuple[Optional[int], ...]

    @property
    def per_request(self) -> float:
        """Sectors or wavefronts per request."""
        return (self.sectors + self.wavefronts) / self.requests if self.requests else 0.0


@dataclass(frozen=True)
class Occupancy:
    """What one multiprocessor (SM) holds at a time, if registers are no limit: those of an unknown kernel aren't known."""

    blocks_per_sm: int
    warps_per_sm: int
    limit: str


class Report:
    """The counts of one launch, as written in the source. print() shows them as a table; so does a notebook.

    kernel, grid, block, device      what was launched, and on which simulated GPU
    counters                         the counters, by Nsight Compute's names
    counters_as_compiled             the same after what nvcc moves and merges
    derived                          the simulator's own figures, as TILEWISE_REPORT has them
    bound                            the least time: "seconds", "by" (the busiest part), "all"
    lines, findings                  by line; what is wrong
    finished                         False: the kernel ended early, and the arrays are as they were
    output                           what the kernel printed
    """

    def __init__(self, record: Dict[str, Any], source: str, names: Sequence[str], device: str, finished: bool, output: str) -> None:
        text = source.splitlines()
        self._record = record
        self.kernel: str = record["kernel"]
        self.device = device
        self.grid: Tuple[int, ...] = tuple(record["grid"])
        self.block: Tuple[int, ...] = tuple(record["block"])
        self.shared_bytes: int = record["static_shared_bytes"] + record["dynamic_shared_bytes"]
        self.counters: Dict[str, int] = record["counters"]
        self.counters_as_compiled: Dict[str, int] = record["as_compiled"]
        self.derived: Dict[str, float] = record.get("derived", {})
        self.bound: Dict[str, Any] = record.get("bound", {})
        self.finished = finished
        self.output = output
        o = record.get("occupancy")
        self.occupancy = Occupancy(o["blocks_per_sm"], o["warps_per_sm"], o["limit"]) if o else None
        self.lines: List[Line] = []
        for row in record["lines"]:
            worst = row.get("worst_request", {"address": 0, "lanes": ""})
            number = row["line"]
            own = row["file"] == "kernel.cu" and 0 < number <= len(text)
            shared = row["memory"] == "shared"
            self.lines.append(Line(
                row["file"], number, text[number - 1].strip() if own else "", row["memory"], row["access"], row["bytes_per_thread"],
                row["instructions"], row.get("sectors", 0), row.get("wavefronts", 0) if shared else 0,
                row.get("wavefronts_ideal", 0) if shared else row.get("sectors_ideal", 0), row.get("diagnosis", ""), worst["address"],
                tuple(None if lane == "." else int(lane) for lane in worst["lanes"].split())))
        self.findings: List[Finding] = []
        for f in record["findings"]:
            if f.get("note", False) or f["kind"] == "leak":
                continue
            said = re.sub(r"device allocation made at [^,]*?tilewise_argument:(\d+)", lambda m: f"array {names[int(m.group(1)) - 1]!r}", f["message"])
            f["message"] = said
            self.findings.append(Finding(f["kind"], f["line"], said, f["threads"], f["times"], f["file"] or "kernel.cu"))

    def __getattr__(self, name: str) -> int:
        if name in _NAMES:
            return int(self.counters.get(_NAMES[name], 0))
        if name in _DERIVED:
            return int(self.derived.get(name, 0))
        raise AttributeError(f"Report has no {name!r}")

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *_NAMES, *_DERIVED]

    @property
    def sectors_per_load_request(self) -> float:
        """32-byte sectors per request that loads from global memory."""
        return float(self.derived.get("sectors_per_load_request", 0.0))

    @property
    def sectors_per_store_request(self) -> float:
        """The same for stores."""
        return float(self.derived.get("sectors_per_store_request", 0.0))

    def to_dict(self) -> Dict[str, Any]:
        """The launch's record as TILEWISE_REPORT writes it, for json.dump()."""
        return dict(self._record)

    def at(self, line: int) -> List[Line]:
        """The rows of one line of the source."""
        return [row for row in self.lines if row.line == line]

    def _rows(self) -> List[List[str]]:
        rows = [["line", "access", "requests", "per request", "ideal", "source"]]
        for l in self.lines:
            unit = {"global": " sectors", "shared": " wavefronts"}.get(l.memory, "")
            rows.append([str(l.line), f"{l.memory} {l.access}", f"{l.requests:,}", f"{l.per_request:.2f}{unit}" if unit else "-",
                         f"{l.ideal / l.requests:.2f}" if unit and l.requests else "-", l.source])
        return rows

    def _head(self) -> str:
        sizes = f"grid {self.grid}  block {self.block}"
        warps = f"  {self.occupancy.warps_per_sm} warps per SM" if self.occupancy else ""
        return f"{self.kernel}   {sizes}{warps}  {self.device}"

    def __str__(self) -> str:
        rows = self._rows()
        width = [max(len(row[i]) for row in rows) for i in range(6)]
        out = [self._head()]
        for row in rows:
            cells = [row[0].rjust(width[0]), row[1].ljust(width[1]), *(row[i].rjust(width[i]) for i in (2, 3, 4)), row[5]]
            out.append("  " + "  ".join(cells).rstrip())
        return "\n".join(out + [str(f) for f in self.findings] + ([] if self.finished else ["The kernel ended early."]))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        def row(cells: List[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"

        rows = self._rows()
        body = "".join(row(r, "td") for r in rows[1:])
        found = "".join(f"<li>{html.escape(str(f))}</li>" for f in self.findings)
        return f"<p>{html.escape(self._head())}</p><table>{row(rows[0], 'th')}{body}</table>" + (f"<ul>{found}</ul>" if found else "")

    def _worst(self, memory: str, line: Optional[int], access: Optional[str]) -> Line:
        found = [l for l in self.lines if l.memory == memory and l.lanes and line in (None, l.line) and access in (None, l.access)]
        if not found:
            where = "" if line is None else f" in line {line}"
            raise ValueError(f"line: there is no {access or 'access'} of {memory} memory{where}")
        return max(found, key=lambda l: l.per_request)

    def plot_sectors(self, line: Optional[int] = None, access: Optional[str] = None) -> Picture:
        """The worst request of a line: each lane, and the 32-byte sectors it touches. Without a line, of the worst one.

        `access` is "load", "store" or another that `lines` has. ValueError if there is none.
        """
        l = self._worst("global", line, access)
        touched = [(lane, (l.address + at + byte) // 32) for lane, at in enumerate(l.lanes) if at is not None
                   for byte in range(0, l.bytes_per_thread, min(4, l.bytes_per_thread))]
        edges = sorted(set(touched))
        sectors = sorted({s for _, s in edges})
        place = {s: i for i, s in enumerate(sectors)}
        return draw(f"line {l.line}: {html.escape(l.source)}", [f"+{s - sectors[0]}" for s in sectors], [(lane, place[s]) for lane, s in edges],
                    f"{len(sectors)} sectors of 32 bytes, numbered from the first one")

    def plot_banks(self, line: Optional[int] = None, access: Optional[str] = None) -> Picture:
        """The worst request of a line to shared memory: each lane, and its banks (4 bytes wide, 32 of them)."""
        l = self._worst("shared", line, access)
        edges = sorted({(lane, (l.address + at + byte) // 4 % 32) for lane, at in enumerate(l.lanes) if at is not None
                        for byte in range(0, l.bytes_per_thread, min(4, l.bytes_per_thread))})
        return draw(f"line {l.line}: {html.escape(l.source)}", [str(b) for b in range(32)], edges,
                    f"{len({b for _, b in edges})} banks; {l.per_request:g} wavefronts per request")
