"""The records in docs/results: which rows are meant, and how two of them compare."""
import functools
import json
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[3]
GPU = "nvidia-h200"


def recorded(name):
    return (root / f"docs/results/{name}.json").exists()


@functools.cache
def record(name):
    return json.loads((root / f"docs/results/{name}.json").read_text())


def runs_of(name):
    """A record's runs, by program; none without the record."""
    return {run["program"]: run for run in record(name)["runs"]} if recorded(name) else {}


def recorded_run(gpu, program):
    return runs_of(gpu).get(program)


def chosen(rows, filters):
    """The rows that all filters `key=value,value` let through. A value stands for what it is, and for what goes on with a
    blank, a < or a comma after it."""
    def text(row, key):
        extra = row.get("extra", {})
        return str(extra.get(key, extra.get(key.replace("_", " "), row.get(key, ""))))

    def fits(row, word):
        key, values = word.split("=", 1)
        is_value = text(row, key.rstrip("!"))
        found = any(is_value == v or re.match(re.escape(v) + "[ <,]", is_value) for v in re.split(r",(?![^<]*>)", values))
        return found != key.endswith("!")

    rows = [row for row in rows if all(fits(row, word) for word in filters)]
    if filters and not rows:
        sys.exit(f"no row is {' '.join(filters)}")
    return rows


def parts_and_filters(words):
    """Words without and with a =."""
    return [word for word in words if "=" not in word], [word for word in words if "=" in word]


def split(words):
    """"part kernel=tiled_matmul<32, 1> shape=4096" in its words: values may hold blanks, and = in brackets."""
    return re.findall(r"[^\s=]+=(?:(?! [^\s=(]+=).)+|\S+", words)


def of_parts(run, parts):
    """The rows that are right, of some of a program's parts or of all; none without a run."""
    return [row for row in (run["rows"] if run else []) if row["status"] == "OK" and (not parts or row.get("part") in parts)]


def picked(words, gpu):
    """The recorded rows of "01 part kernel=... shape=...": chapter, parts, and what chosen() takes."""
    chapter, _, words = words.partition(" ")
    run = next(run for run in record(gpu)["runs"] if run["program"].startswith(chapter))
    parts, filters = parts_and_filters(split(words))
    return run, chosen(of_parts(run, parts), filters)


def only(rows, words):
    if len(rows) != 1:
        sys.exit(f"{words}: {len(rows)} rows, there must be one")
    return rows[0]


def one(words, gpu):
    run, rows = picked(words, gpu)
    exact = [row for row in rows if f"kernel={row['kernel']}" in words]  # transpose_vectorised, and not <rows>
    return run, only([row for row in exact if not any(row["kernel"] in other["kernel"] != row["kernel"] for other in exact)] or rows, words)


def hint(row):
    return row.get("extra", {}).get("L2 hint", "-")


def alike(row, other):
    """True when both were timed in one way: a graph does not compare with single launches, nor a warm L2 with an empty one."""
    return all(row["time"].get(way) == other["time"].get(way) for way in ("graph", "l2_flushed"))


def baseline(run, row, key):
    """The row that row's speedup[key] is measured by: of the same part, shape (and matrix), and the same hint to L2."""
    peers = [other for other in run["rows"] if other.get("speedup", {}).get(key) == 1 and hint(other) == hint(row)
             and other.get("part") == row.get("part")
             and all(other.get("extra", {}).get(k) == row.get("extra", {}).get(k) for k in ("matrix", "type"))]
    return next((other for other in peers if other["shape"] == row["shape"]), peers[-1] if len(peers) == 1 else None)


def compared(run, row, key):
    """row's speedup[key] if both sides were timed alike; else None. Kernels with a hint to L2 are shares of the copy with that hint."""
    speedup = row.get("speedup", {})
    if key not in speedup:
        return None
    peers = [other for other in run["rows"] if other["shape"] == row["shape"] and hint(other) == hint(row)]
    if hint(row) != "-":  # recorded in turns with the copy without a hint, as was this group's copy
        return speedup[key] / max(other.get("speedup", {}).get(key, 0) for other in peers if other["kernel"].startswith("copy_"))
    if "q1" in speedup:  # a pair that was timed in one way
        return speedup[key]
    other = baseline(run, row, key)
    return speedup[key] if other is None or alike(row, other) else None


def clock_of(run):
    """"1980 MHz" or "1950 to 1980 MHz": the SMs' clock while the rows were timed. At the start of a program, when it asks for
    the machine's clock, a GPU may still be asleep."""
    times = [row["time"] for row in run["rows"] if "sm_clock_min_mhz" in row.get("time", {})]
    clocks = [t[f"sm_clock_{which}_mhz"] for t in times for which in ("min", "max")]
    if not clocks:  # chapter 08 measures it: cycles over nanoseconds
        waits = sorted(1000 * row["latency"]["cycles"] / row["latency"]["ns"] for row in run["rows"] if row.get("latency", {}).get("ns"))
        clocks = waits[len(waits) // 2:][:1] or [run["machine"]["sm_clock_mhz"]]
    low, high = round(min(clocks)), round(max(clocks))
    return f"{low} MHz" if low == high else f"{low} to {high} MHz"


def source_of(run):
    m = run["machine"]
    return f"{m['name']}, CUDA {m['cuda_runtime']}, driver {m['driver']}, SM clock {clock_of(run)}; " \
           f"{run['date'][:10]}, commit {run['commit']}."
