#!/usr/bin/env python3
"""Records the least time of every row that a GPU has measured, as the simulator counts it at the same size:

    cmake --preset sim && cmake --build --preset sim
    common/scripts/record/record-bounds.py [build/sim/bin] [nvidia-h200] [01_naive_matmul ...]

reads docs/results/<gpu>.json and writes docs/results/bounds-<gpu>.json: for each row what says which one it is, the bound, and
what each part of the GPU needs. With names of programs, only their rows are replaced. Products and loads from shared memory are
counted in SAMPLE blocks of each launch (--sample), since their billions of accesses would take hours; the rest is counted whole, and
not checked. About an hour on two cores. common/scripts/record/update-results.py then writes the tables of docs/bounds.md.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from bounds import key_of

root = pathlib.Path(__file__).resolve().parents[3]

SAMPLE, ALL = "16", "1000000000"
words = sys.argv[1:]
programs = pathlib.Path(words.pop(0) if words and "/" in words[0] else root / "build/sim/bin").resolve()
gpu = words.pop(0) if words and "_" not in words[0] else "nvidia-h200"
wanted = words


def joined(values):
    return ",".join(str(value) for value in dict.fromkeys(values))


def products(rows):
    """--m, --n, --k and --tile for the shapes of these rows."""
    shapes = list(dict.fromkeys(row["shape"] for row in rows))
    sides = [shape.split(" x ") for shape in shapes]
    tiles = joined(row["tile"] for row in rows if "tile" in row)
    return [word for option, at in (("--m", 0), ("--n", 1), ("--k", 2)) for word in (option, ",".join(s[at] for s in sides))], tiles


def runs_of(program, rows):
    """The arguments with which the simulator runs what the GPU ran: a list for each run."""
    part = lambda *names: [row for row in rows if row.get("part") in names]
    sampled = ["--sample", SAMPLE]
    if program == "08_roofline":
        roofline = part("roofline")
        if not roofline:
            return []
        count = int(float(roofline[0]["shape"].split()[0]) * 2**20 / 4)
        # DRAM binds those with few multiply-adds, so all of its sectors are counted; the others would take hours.
        fmas = list(dict.fromkeys(round(4 * row["intensity"]) for row in roofline))
        few, many = joined(f for f in fmas if f <= 16), joined(f for f in fmas if f > 16)
        at = lambda list_: ["--part", "roofline", "--n", str(count), "--fmas", list_]
        return [["--part", "vector_add", "--n", str(count)], at(few), [*at(many), *sampled]]
    if program in ("01_naive_matmul", "02_tiled_matmul"):
        sizes, tiles = products(rows)
        return [[*sizes, "--tile", tiles, *sampled]]
    if program == "03_padded_tiles":
        sides = part("walk")[0]["shape"].split(" x ")
        shape = ["--rows", sides[0], "--cols", sides[1]]
        windows = part("strides")
        rounds = int(windows[0]["shape"].split()[0]) // 32
        strides = lambda words: joined(row["extra"]["stride"] for row in windows if row["kernel"] == f"window_sums<{words}>")
        sizes, _ = products(part("matmul"))
        return [*(["--part", name, *shape] for name in ("walk", "widths", "narrow", "occupancy", "carveout")),
                ["--part", "strides", "--rounds", str(rounds), "--blocks", str(4 * sms), "--stride", strides("float"),
                 "--wide-stride", strides("float2"), *sampled],
                ["--part", "matmul", *sizes, *sampled]]
    if program == "04_transpose":
        sides = [shape.split(" x ") for shape in dict.fromkeys(row["shape"] for row in rows)]
        return [["--rows", r, "--cols", c] for r, c in sides]
    if program == "05_coalescing":
        count = part("copies")[0]["shape"].split()[0].replace(",", "")
        columns = part("sums")[0]["shape"].split(" x ")[1]
        sweeps = {"strides": "stride", "offsets": "offset"}
        return [["--n", count, "--cols", columns, "--part", name, *at] for name in dict.fromkeys(row["part"] for row in rows)
                for at in ([[f"--{name}", value] for value in dict.fromkeys(row["extra"][sweeps[name]] for row in part(name))]
                           if name in sweeps else [[]])]
    if program == "06_csr_spmv":
        matrices = dict.fromkeys((row["extra"]["matrix"], row["shape"].split(" x ")[0]) for row in rows)
        return [["--generate", kind, "--n", n] for kind, n in matrices]
    if program == "07_cublas_sgemm":
        sizes, _ = products(part("kernels"))
        return [["--part", "kernels", *sizes, *sampled]]
    if program in ("09_register_tiles", "10_wide_loads", "11_async_copies"):
        sizes, _ = products(rows)
        return [[*sizes, *sampled]]
    if program in LARGEST:
        sizes, _ = products([row for row in rows if int(row["shape"].split()[0]) <= LARGEST[program]])
        return [[*sizes, *sampled]]
    return []


# Square sizes up to which a program's bounds are recorded. Blocks of past_cublas depend on each other, so that all of them have to be
# run and not a sample: minutes at 2048, eight times as many at 4096.
LARGEST = {"12_past_cublas": 2048}


def run(program, arguments):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "rows.json"
        environment = {k: v for k, v in os.environ.items() if k not in ("TILEWISE_REPORT", "TILEWISE_SAMPLE")}
        environment["TILEWISE_DEVICE"] = device
        print(program, *arguments, file=sys.stderr, flush=True)
        subprocess.run([programs / program, *arguments, "--json", file], check=True, stdout=subprocess.DEVNULL, env=environment)
        return json.loads(file.read_text())


recorded = json.loads((root / f"docs/results/{gpu}.json").read_text())["runs"]
device = gpu.split("-")[-1]
sms = recorded[0]["machine"]["sms"]
target = root / f"docs/results/bounds-{gpu}.json"
known = json.loads(target.read_text())["rows"] if wanted and target.exists() else []
jobs = [(run["program"], arguments) for run in recorded if not wanted or run["program"] in wanted
        for arguments in runs_of(run["program"], [row for row in run["rows"] if row["status"] == "OK"])]
timed = {key_of(run["program"], row) for run in recorded for row in run["rows"] if "time" in row}


def bounds_of(job):
    """The rows of one run that were timed, with their bounds; and the commit of the program."""
    program, arguments = job
    sampled = "--sample" in arguments
    result = run(program, arguments if sampled else [*arguments, "--sample", ALL])
    rows = []
    for row in result["rows"]:
        if "bound" not in row or key_of(program, row) not in timed:
            continue
        kept = {name: row[name] for name in ("part", "what", "kernel", "shape", "tile", "block", "extra") if name in row}
        distinct = {name: row["counts"][name] for name in ("distinct_bytes_loaded", "distinct_bytes_stored")}
        rows.append({"program": program, **kept, "bound": row["bound"], "counts": distinct,
                     **({"sample": int(SAMPLE)} if sampled else {})})
    return rows, result["commit"]


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(bounds_of, jobs))
replaced = {program for program, _ in jobs}
rows = [row for row in known if row["program"] not in replaced] + [row for counted, _ in results for row in counted]
rows.sort(key=lambda row: row["program"])
lines = ",\n".join("  " + json.dumps(row) for row in rows)
target.write_text(f'{{\n "gpu": "{recorded[0]["machine"]["name"]}",\n "commit": "{results[0][1]}",\n "largest": {json.dumps(LARGEST)},\n "rows": [\n{lines}\n ]\n}}\n')
print(target.relative_to(root))
