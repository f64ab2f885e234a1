"""Numbers in the text of pages: single figures of a record, and what a formula makes of several."""
import json
import math
import sys

import bounds
from records import GPU, chosen, compared, of_parts, one, only, picked, record, recorded_run, split


def recorded_figure(gpu, program, key, unit):
    """One number with its unit: "29.1 cycles", "4,256 GB/s"; "" when it was not recorded."""
    rows = [row for row in of_parts(recorded_run(gpu, program), []) if row.get("key") == key]
    if unit in ("cycles", "ns"):
        values = [row["latency"][unit] for row in rows if "latency" in row]
        return f"{min(values):.1f} {unit}" if values else ""
    values = [row["figure"]["value"] for row in rows if row.get("figure", {}).get("unit") == unit]
    return f"{max(values):,.0f} {unit}" if values else ""


def share_of_best(words, gpu=GPU):
    run, row = one(words, gpu)
    best = next(key for key in row["speedup"] if key.startswith("best_"))
    share = compared(run, row, best)
    if share is None:
        sys.exit(f"{words}: the two were not timed in the same way")
    return share


def bound(words, gpu=GPU):
    """The least time of a row, in ms: docs/results/bounds-<gpu>.json, from record-bounds.py."""
    run, row = one(words, gpu)
    key = bounds.key_of(run["program"], row)
    return next(1e3 * other["bound"]["seconds"] for other, _ in bounds.pairs(gpu) if bounds.key_of(other["program"], other) == key)


def speeds(other, gpu=GPU):
    """How fast each row was on another GPU, of its speed on this one: of all rows that both records have,
    timed in the same way."""
    def times(name):
        rows = [(run["program"], row) for run in record(name)["runs"] for row in of_parts(run, []) if "time" in row]
        return {(program, *(row.get(key) for key in ("part", "kernel", "tile", "shape")), json.dumps(row.get("extra", {}), sort_keys=True),
                 row["time"].get("graph"), row["time"].get("l2_flushed")): row["time"]["median_ms"] for program, row in rows}
    here, there = times(gpu), times(other)
    return [here[key] / there[key] for key in here if key in there]


def counter_row(kind, words, gpu=GPU):
    return only(chosen(record(f"{kind}-{gpu}")["rows"], split(words)), f"{kind} {words}")


def counter_of(kind):
    return lambda words, counter, gpu=GPU: counter_row(kind, words, gpu)["counters"][counter]


def loop(kernel, counter, gpu=GPU):
    return only([row for row in record(f"loops-{gpu}")["rows"] if row["kernel"] == kernel], f"loops {kernel}")["counters"][counter]


def of_row(*keys):
    """The formula that looks up one row, and in it one key after the other."""
    def value(words, gpu=GPU):
        found = one(words, gpu)[1]
        for key in keys:
            found = found[key]
        return found
    return value


FORMULAS = {
    "ms": of_row("time", "median_ms"),
    "iqr": of_row("time", "iqr_ms"),
    "rate": of_row("figure", "value"),  # GB/s or GFLOP/s, as the row says
    "of_peak": of_row("figure", "share_of_peak"),
    "bound": bound,  # of the time, at least
    "of_roof": of_row("figure", "share_of_roof"),
    "of_best": share_of_best,  # of the baseline; refused where the two were not timed alike
    "speedup": lambda words, key, gpu=GPU: compared(*one(words, gpu), key),
    "cycles": of_row("latency", "cycles"),
    "rates": lambda words, gpu=GPU: [row["figure"]["value"] for row in picked(words, gpu)[1]],
    "shares": lambda words, gpu=GPU: [row["speedup"]["best_copy"] for row in picked(words, gpu)[1]],
    "machine": lambda what, gpu=GPU: picked("08", gpu)[0]["machine"][what],
    "peak": lambda what, gpu=GPU: picked("08", gpu)[0]["machine"][f"peak_{what}"],
    # what Nsight Compute counted: traffic("n=2048 block=16 kernel=naive_matmul", "counter")
    **{kind: counter_of(kind) for kind in ("traffic", "dram", "spmv", "tensor")},
    "dram_words": lambda words, gpu=GPU: counter_row("dram", words, gpu)["words"],
    # what nvcc makes of a kernel's inner loop, by record-loops.py: loop("wide_loads<128,128,16,8,8>", "FFMA")
    "loop": loop,
    "error": of_row("error", "max"),
    "counted": lambda words, count: one(words, "simulated-" + GPU)[1]["counts"][count],
    "speeds": speeds,
    "h100": "nvidia-h100-80gb-hbm3",
    "min": min, "max": max, "len": len, "sqrt": math.sqrt, "abs": abs,
}


def calculated(formula, written):
    """The formula's value as it is written: "{:.1f} times"; a list as its least and largest: "{:.0f} to {:.0f} %"."""
    try:
        value = eval(formula, {"__builtins__": {}, **FORMULAS})  # pages are ours
    except Exception as error:
        sys.exit(f"<!-- calc {formula} -->: {error}")
    return written.format(*value) if isinstance(value, (list, tuple)) else written.format(value)
