"""The strip that every lesson's page and the tour's report carry: the kernels so far, on the way to the library.

update-results.py writes it into pages, between `<!-- ladder NN_topic -->` and `<!-- /ladder -->`, and its rows into
docs/results/ladder-<gpu>.json, which the tour reads. All numbers are from docs/results: times and rates from <gpu>.json,
what binds a kernel from bounds-<gpu>.json, sectors from simulated-<gpu>.json. A lesson that wasn't recorded has no row.
"""
import re
import sys
import textwrap

import bounds
import columns
from records import alike, record, root, runs_of

SHAPE = "4096 x 4096 x 4096"
LIBRARY = "cublasSgemm"

# Matrix products of SHAPE: lesson, what it is, and the recorded row: program, kernel, tile. Without a kernel it's the
# program's fastest that is neither the library's nor an earlier lesson's.
PRODUCTS = [
    ("01", "threadIdx.x counts rows", "01_naive_matmul", "naive_matmul_row_on_x", 32),
    ("01", "threadIdx.x counts columns", "01_naive_matmul", "naive_matmul", 32),
    ("02", "tiles in shared memory", "02_tiled_matmul", "tiled_matmul", 32),
    ("03", "the same tiles, padded", "07_cublas_sgemm", "tiled_matmul_padded<32, 1>", 32),
    ("09", "8 elements per thread", "09_register_tiles", "column_tiles<64,64,8,8>", 0),
    ("09", "64 elements per thread", "09_register_tiles", "register_tiles<128,128,16,8,8>", 0),
    ("10", "loads of 16 bytes", "10_wide_loads", None, 0),
    ("11", "asynchronous copies", "11_async_copies", None, 0),
    ("12", "past the library", "12_past_cublas", None, 0),
    ("07", "cuBLAS, NVIDIA's library", "07_cublas_sgemm", LIBRARY, 0),
]

# What moves data, each lesson's best: lesson, what it is, program, kernel, and what else its row says.
MOVERS = [
    ("03", "running sums along rows", "03_padded_tiles", "running_sums_padded", {"part": "walk"}),
    ("04", "transpose", "04_transpose", "transpose_vectorised", {"shape": "16384 x 16384"}),
    ("05", "copy", "05_coalescing", "copy_one_word<float4>", {"part": "copies"}),
    ("06", "regular sparse matrix times vector", "06_csr_spmv", "spmv_unrolled<4>", {"matrix": "stencil3d"}),
]


# Parts of a GPU, in words; docs/bounds.md has their rates.
PARTS = {"L1 data": "L1's banks", "L1 tags": "L1's tags", "load/store": "load/store unit", "issue": "issue slots",
         "FP32": "multiply-adds"}


def fits(row, wanted):
    return row["status"] == "OK" and all(row.get(key, row.get("extra", {}).get(key)) == value for key, value in wanted.items())


def only(rows, what):
    if not rows:
        sys.exit(f"the ladder has no row {what}: see common/scripts/record/ladder.py")
    return rows[0]


class Bounds:
    def __init__(self, gpu):
        self.rows = {bounds.key_of(row["program"], row): row["bound"] for row in record(f"bounds-{gpu}")["rows"]}

    def add_to(self, step, program, row):
        """What binds the row, and which share of its time that explains."""
        bound = self.rows.get(bounds.key_of(program, row))
        if bound:
            step["binds"], step["binds_share"] = PARTS.get(bound["by"], bound["by"]), 1e3 * bound["seconds"] / row["time"]["median_ms"]
        return bound


def products(runs, bound_of):
    if "07_cublas_sgemm" not in runs:
        return []
    wanted = {"kernel": LIBRARY, "shape": SHAPE, "part": "kernels"}
    library = only([row for row in runs["07_cublas_sgemm"]["rows"] if fits(row, wanted)], wanted)
    steps = []
    for lesson, what, program, kernel, tile in PRODUCTS:
        if program not in runs:
            continue
        if kernel == LIBRARY:
            rows = [library]
        elif kernel:
            rows = [row for row in runs[program]["rows"] if fits(row, {"shape": SHAPE, "kernel": kernel}) and row.get("tile", 0) == tile]
        else:
            known = {LIBRARY} | {row["kernel"] for other in runs if other < program for row in runs[other]["rows"]}
            rows = [row for row in runs[program]["rows"] if fits(row, {"shape": SHAPE}) and row["kernel"] not in known]
        row = only(sorted(rows, key=lambda row: -row["figure"]["value"]), f"{program} {kernel or ''} {SHAPE}")
        step = {"lesson": lesson, "kernel": row["kernel"] + (f"<{tile}>" if kernel == "tiled_matmul" else ""), "what": what,
                "rate": row["figure"]["value"], "unit": row["figure"]["unit"]}
        if row["speedup"].get("in_turns") and "best_cuBLAS" in row["speedup"]:
            step["share"] = row["speedup"]["best_cuBLAS"]  # with the library in the same run
        elif alike(row, library):
            step["share"] = row["figure"]["value"] / library["figure"]["value"]
        if bound := bound_of.add_to(step, program, row):
            # L1 makes one pass a clock and SM, and 128 FP32 lanes the multiply-adds of four warps.
            step["count"] = bound["all"]["L1 data"] / bound["all"]["FP32"] / 4
        steps.append(step)
    return steps


def movers(runs, counted, bound_of):
    steps = []
    for lesson, what, program, kernel, wanted in MOVERS:
        if program not in runs or "05_coalescing" not in runs:
            continue
        row = only([row for row in runs[program]["rows"] if fits(row, {"kernel": kernel, **wanted})], f"{program} {kernel}")
        copies = [row for row in runs["05_coalescing"]["rows"] if row["kernel"].startswith("cudaMemcpy")]
        step = {"lesson": lesson, "kernel": kernel, "what": what, "rate": row["figure"]["value"], "unit": row["figure"]["unit"],
                "share": row["speedup"].get("best_copy", row["figure"]["value"] / only(copies, "cudaMemcpy")["figure"]["value"])}
        bound_of.add_to(step, program, row)
        # The simulator's sizes are others; of its rows the first.
        wanted = {key: value for key, value in wanted.items() if key != "shape"}
        counts = only([row for row in counted[program]["rows"] if fits(row, {"kernel": kernel, **wanted})], kernel)["counts"]
        step["count"] = 32 * (counts["global_load_sectors"] + counts["global_store_sectors"]) / \
            (counts["distinct_bytes_loaded"] + counts["distinct_bytes_stored"])
        steps.append(step)
    return steps


def steps(gpu):
    """What docs/results/ladder-<gpu>.json holds: `share` of the library's or of a copy's rate, `count` as notes say."""
    runs, bound_of = runs_of(gpu), Bounds(gpu)
    machine = next(iter(runs.values()))["machine"]["name"]
    return {"gpu": machine, "shape": SHAPE,
            "products": {"of": "of cuBLAS", "count": "L1 passes", "steps": products(runs, bound_of)},
            "movers": {"of": "of a copy", "count": "sectors", "steps": movers(runs, runs_of(f"simulated-{gpu}"), bound_of)},
            "notes": {"products": "L1 passes: through L1's banks, for each multiply-add of a warp. Lessons 01 and 02 ran without cuBLAS: their share is of 07's run.",
                      "movers": "Sectors: those that are asked for, for each one that has to be moved. Each lesson has a copy in its own "
                                "run; 06, which has none, is compared with 05's.",
                      "binds": "Binds: the part of the GPU that this work keeps busy the longest, and the share of the measured time that it needs. "
                               "(DRAM: without what L2 may have had before, and may still hold after.)"}}


def percent(share):
    return f"{100 * share:.0f} %"


def row_of(step, bold):
    cells = [step["lesson"], f"{step['rate']:,.0f}", percent(step["share"]) if "share" in step else "",
             f"{step['count']:.2f}" if "count" in step else "",
             f"{step['binds']}, {percent(step['binds_share'])}" if "binds" in step else ""]
    cells = [f"**{cell}**" if bold and cell else cell for cell in cells]
    cells.insert(1, f"`{step['kernel']}`")  # Doxygen 1.9.4 has no bold code
    return cells


def title_of(page):
    title = re.search(r"^# (.*?)(?: \{#.*\})?$", page.read_text(), re.M)[1]
    return re.sub(r"^\d\d:? ", "", title)


def strip(gpu, chapter):
    """The strip for chapters/CHAPTER's pages. This lesson's own numbers answer its questions: they are in the fold."""
    all_steps = steps(gpu)
    number = chapter[:2]
    kind = "movers" if number in ("04", "05", "06") else "products"
    group = all_steps[kind]
    so_far = [step for step in group["steps"] if step["lesson"] <= number or step["kernel"] == LIBRARY]
    chapters = sorted(folder.name for folder in (root / "chapters").iterdir() if (folder / "README.md").exists())
    after = [name for name in chapters if name > chapter]
    following = f"Next: [{after[0][:2]} {title_of(root / 'chapters' / after[0] / 'README.md')}](../{after[0]}/README.md)." if after else ""
    what = f"products of {SHAPE} floats" if kind == "products" else "what moves data"
    own = any(step["lesson"] == number for step in so_far)
    if all(step["kernel"] == LIBRARY for step in so_far) and not own:
        return f"\nFrom lesson 01 on, every page shows the kernels so far beside NVIDIA's library.\n{following}\n\n"
    known = []
    for step in so_far:
        if step["lesson"] == number:
            known.append(f"**{number} {step['what']}: this lesson**")
        elif "share" in step:
            known.append(f"{step['lesson']} {step['what']} {percent(step['share'])}")
    intro = f"**Kernels so far**, {what} on an {all_steps['gpu']}, in % {group['of']}'s speed: " + "; ".join(known) + "."
    summary = "In numbers, and what binds each kernel" + (" (with this lesson's: predict first)" if own else "")
    table = columns.markdown(["", "kernel", so_far[0]["unit"], group["of"], group["count"], "binds"],
                             [row_of(step, step["lesson"] == number) for step in so_far])
    note = f"{all_steps['notes'][kind]} {all_steps['notes']['binds']} More: [bounds](../../docs/bounds.md)."
    wrapped = lambda text: textwrap.wrap(text, 80, break_on_hyphens=False)
    # A link stays on one line.
    return "\n" + "\n".join([*wrapped(intro), *([following] if following else []), "", "<details>", f"<summary>{summary}</summary>", "",
                             table, "", *wrapped(note), "", "</details>"]) + "\n\n"
