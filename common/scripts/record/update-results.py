#!/usr/bin/env python3
"""Writes result tables and code into the pages. For maintainers; nothing else needs Python.

    cmake --preset sim && cmake --build --preset sim && common/scripts/record/update-results.py [build/sim/bin]
    common/scripts/record/update-results.py --code     only code and pictures: a moment, and nothing has to be built
    common/scripts/record/update-results.py --check    changes nothing; exit code 1 if a page is not what it would be

Exit code 2: a lesson that a page shows isn't built.

A page says which run it shows, and everything up to the closing marker is replaced:

    <!-- results:sim 02_tiled_matmul --n 256 --tile 8,16,32 -->
    <!-- /results -->

Tables of a real GPU come from docs/results/<gpu>.json, which common/scripts/record/record-results.sh writes on that GPU:

    <!-- results:nvidia-h200 02_tiled_matmul -->
    <!-- /results -->

What caches and DRAM moved comes from docs/results/traffic-<gpu>.json, which common/scripts/record/record-traffic.sh writes:

    <!-- traffic:nvidia-h200 -->
    <!-- /traffic -->

and docs/results/dram-<gpu>.json from record-dram.sh; the words after the GPU choose kernels:

    <!-- dram:nvidia-h200 strided_read strided_write -->
    <!-- /dram -->

and what lesson 06's kernels ask L2 for from docs/results/spmv-<gpu>.json and record-spmv.sh:

    <!-- spmv:nvidia-h200 -->
    <!-- /spmv -->

What lesson 06's preprocessing takes: `sim` with arguments for what is counted, or a GPU for what was recorded, nothing if it was not:

    <!-- preprocess:sim --n 4096 -->
    <!-- preprocess:nvidia-h200 -->
    <!-- /preprocess -->

The least time of every row beside the measured one, from docs/results/bounds-<gpu>.json and record-bounds.py:

    <!-- bounds:nvidia-h200 -->
    <!-- /bounds -->

Pictures that common/scripts/record/plot-results.py drew go in likewise, as soon as there is docs/results/NAME.svg; the text is
for who cannot see it:

    <!-- plot:nvidia-h200-05-stride Share of a copy over the stride. -->
    <!-- /plot -->

Pictures that take the place of a long table are drawn from the records by common/scripts/record/pictures.py, into docs/results/<gpu>-NAME.svg:

    <!-- picture:nvidia-h200 04-transpose -->
    <!-- /picture -->

Single figures in the text, by their key in the rows (the best row of that key; `cycles`, `ns`, `GB/s`, `GFLOP/s`):

    <!-- figure:nvidia-h200 08_roofline shared cycles --><!-- /figure -->

Every other number in the text: a formula, and behind the colon how it is written. Formulas may use the functions of
`FORMULAS` below, each of one row (or list of rows) that program, part and key=value choose, and arithmetic:

    <!-- calc ms("01 kernel=naive_matmul_row_on_x shape=2048 tile=32") / ms("01 kernel=naive_matmul shape=2048 tile=32") : {:.1f} times --><!-- /calc -->
    <!-- calc 2 * 256**3 / 32 : {:,.0f} --><!-- /calc -->

tests/checks/check-numbers.py fails on a number with a unit that is written without one.

The README's table has a few rows of several lessons, those in SUMMARY below, and its picture the matrix products among them
(docs/results/nvidia-h200-matmul.svg, drawn here):

    <!-- summary:nvidia-h200 -->
    <!-- /summary -->
    <!-- ladder:nvidia-h200 -->
    <!-- /ladder -->

Each lesson's page has the strip of the kernels so far, which common/scripts/record/ladder.py makes, and whose rows the tour finds in
docs/results/ladder-<gpu>.json:

    <!-- ladder 02_tiled_matmul -->
    <!-- /ladder -->

A program with several tables calls them parts: `results:sim 03_padded_tiles --part strides` runs one of them, and
`results:nvidia-h200 03_padded_tiles strides` shows the recorded rows of one. Words with a = choose rows, for recorded
tables and behind a -- for simulated ones (_ for a blank in a key): `shape=4096` is a shape that begins with 4096,
`kernel=tiled_matmul` that kernel with whatever template arguments, `stride=1,2,32` three rows, `unprepared!=True` all but
those:

    <!-- results:nvidia-h200 02_tiled_matmul shape=4096 tile=16,32 -->
    <!-- results:sim 02_tiled_matmul --n 256 -- kernel=tiled_matmul -->

Code is the region of a file between two lines `// [tag]`. The site shows it by Doxygen's \\snippet (page-filter.sh),
GitHub what stands here. A line `\\snippet FILE TAG` in a page becomes:

    <!-- snippet: chapters/02_tiled_matmul/tiled_matmul.cuh tiled_matmul -->
    <!-- /snippet -->

Without a tag it is the whole file. In Python the lines are `# [tag]`. A line `<!-- plain-program -->` becomes a fold with the whole of
the chapter's plain.cu, or plain.py.

Who works when, as lesson 15 draws it on the simulator, of the rows that are named; and lesson 16, of a part of its and so many devices:

    <!-- drawn in_chunks<4,3> breadth_first<16,3> -->
    <!-- drawn 16 all_reduce 4 by_way_of_one ring -->
    <!-- /drawn -->

What a program printed, a file; of a program the lines between two empty ones, the first with that word in them; and what is new in a
program since another one, but for their first lines:

    <!-- file: tests/00_first_kernel/steps/no_guard.txt -->
    <!-- file: chapters/00_first_kernel/steps/03_threads.cu sqrt -->
    <!-- /file -->
    <!-- diff: chapters/00_first_kernel/steps/02_kernel.cu chapters/00_first_kernel/steps/03_threads.cu -->
    <!-- /diff -->

The puzzles of a chapter, a fold with a line for each, and all puzzles with the code that they begin with, from tests/*/puzzles:

    <!-- puzzles 02_tiled_matmul -->
    <!-- /puzzles -->
    <!-- all-puzzles -->
    <!-- /all-puzzles -->
"""
import difflib
import itertools
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

import bounds
import ladder as strip
import pictures

root = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(root / "common/scripts/site"))
import puzzles  # noqa: E402

options = [word for word in sys.argv[1:] if word.startswith("-")]
folders = [word for word in sys.argv[1:] if not word.startswith("-")]
if len(folders) > 1 or set(options) - {"--code", "--check"}:
    sys.exit("usage: update-results.py [--code] [--check] [build/sim/bin]")
programs = pathlib.Path(folders[0] if folders else root / "build/sim/bin").resolve()
region = re.compile(r"(<!-- results:sim (\S+) (.*?) -->\n).*?(<!-- /results -->)", re.S)


def built(program):
    """The path of a lesson program. A tree that was built in part hasn't got all of them."""
    if not (programs / program).is_file():
        print(f"{programs / program} isn't built: `make tour` builds all lessons", file=sys.stderr)
        sys.exit(2)
    return programs / program


def run(program, arguments):
    """The rows of one run. Stops when a result was wrong: no count is shown for that."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "rows.json"
        subprocess.run([built(program), *arguments, "--json", file], check=True, stdout=subprocess.DEVNULL)
        return json.loads(file.read_text())


def chosen(rows, filters):
    """The rows that all filters `key=value,value` let through. A value stands for what it is, and for what goes on with a
    blank, a < or a comma behind it."""
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


def moving_table(result):
    """For lessons that move data and compute nothing: what loads, stores and shared memory cost."""
    rows = result["rows"]
    extra = list(rows[0].get("extra", {}))
    tile = ["tile"] if not extra or any("tile" in row for row in rows) else []
    titles = ["shape", *tile, "kernel", *extra]
    named = len(titles)
    per = ["sectors per load", "sectors per store"] if extra else ["sectors per request"] * 2
    titles += ["load requests", per[0], "store requests", per[1], "shared wavefronts", "bank conflicts"]
    table = []
    for row in rows:
        cells = [row["shape"], *([str(row.get("tile", ""))] if tile else []), f"`{row['kernel']}`", *extra_cells(row)]
        if row["status"] != "OK":
            cells += [f"{row['status']}: {row['reason']}"] + [""] * 5
        else:
            c = row["counts"]
            for kind in ("load", "store"):
                requests = c[f"global_{kind}_requests"]
                cells += [f"{requests:,}", f"{c[f'global_{kind}_sectors'] / requests:.2f}"]
            cells += [f"{c['shared_load_wavefronts'] + c['shared_store_wavefronts']:,}", f"{c['shared_conflicts']:,}"]
        table.append(cells)
    # Lessons with columns of their own have several tables: what is the same in all rows of one is left out.
    shown = [k for k in range(len(titles)) if k < named or not extra or len({cells[k] for cells in table}) > 1]
    lines = ["| " + " | ".join(titles[k] for k in shown) + " |",
             "|---" + "|--:" * len(tile) + "|---" + "|--:" * (len(shown) - len(tile) - 2) + "|"]
    lines += ["| " + " | ".join(cells[k] for k in shown) + " |" for cells in table]
    return f"\n{result['machine']['name']}:\n\n" + "\n".join(filled(lines)) + "\n\n"


def extra_cells(row):
    """Columns that a lesson added of its own."""
    return [str(value) for value in row.get("extra", {}).values()]


def shared_table(result):
    """For tables about shared memory alone."""
    rows = result["rows"]
    titles = ["shape", "kernel", *rows[0].get("extra", {}), "shared loads", "wavefronts per load", "shared stores",
              "wavefronts per store", "bank conflicts"]
    lines = ["| " + " | ".join(titles) + " |", "|---|---" + "|--:" * (len(titles) - 2) + "|"]
    for row in rows:
        cells = [row["shape"], f"`{row['kernel']}`", *extra_cells(row)]
        if row["status"] != "OK":
            cells += [f"{row['status']}: {row['reason']}"] + [""] * 4
        else:
            c = row["counts"]
            for kind in ("load", "store"):
                requests = c[f"shared_{kind}s"]
                cells += [f"{requests:,}", f"{c[f'shared_{kind}_wavefronts'] / requests:.2f}" if requests else ""]
            cells += [f"{c['shared_conflicts']:,}"]
        lines.append("| " + " | ".join(cells) + " |")
    return f"\n{result['machine']['name']}:\n\n" + "\n".join(lines) + "\n\n"


def sectors_table(result):
    """For tables that hold the sectors of loads and stores against a formula."""
    rows = result["rows"]
    one_shape = len({row["shape"] for row in rows}) == 1
    shared = any(row["counts"]["shared_loads"] for row in rows if row["status"] == "OK")
    extra = list(rows[0].get("extra", {}))
    titles = ([] if one_shape else ["shape"]) + ["kernel", *extra]
    words = len(titles)
    for kind in ("load", "store"):
        titles += [f"{kind} requests", "sectors per request", "by formula"]
    titles += ["shared wavefronts", "bank conflicts"] if shared else []
    lines = ["| " + " | ".join(titles) + " |", "|---" * (words - len(extra)) + "|--:" * (len(titles) - words + len(extra)) + "|"]
    for row in rows:
        cells = ([] if one_shape else [row["shape"]]) + [f"`{row['kernel']}`", *extra_cells(row)]
        if row["status"] != "OK":
            cells += [f"{row['status']}: {row['reason']}"] + [""] * (len(titles) - words - 1)
        else:
            c, formula = row["counts"], row.get("formula", {})
            for kind in ("load", "store"):
                requests, sectors = c[f"global_{kind}_requests"], formula.get(f"{kind}_sectors")
                cells += [f"{requests:,}", f"{c[f'global_{kind}_sectors'] / requests:.2f}",
                          f"{sectors / requests:.2f}" if sectors else ""]
            if shared:
                cells += [f"{c['shared_load_wavefronts'] + c['shared_store_wavefronts']:,}", f"{c['shared_conflicts']:,}"]
        lines.append("| " + " | ".join(cells) + " |")
    shape = f", {rows[0]['shape']}" if one_shape else ""
    return f"\n{result['machine']['name']}{shape}:\n\n" + "\n".join(lines) + "\n\n"


def parts_table(result):
    """For programs whose rows say what they are about (chapter 08): what could be counted."""
    rows = result["rows"]
    walks = any("steps" in row for row in rows)
    intensity = any("intensity" in row for row in rows)
    titles = ["", "kernel", *(["steps"] if walks else []), "load requests", "sectors per request", "store requests",
              *(["FLOP", "FLOP per byte"] if intensity else ["shared wavefronts"])]
    lines = ["| " + " | ".join(titles) + " |", "|---|---" + "|--:" * (len(titles) - 2) + "|"]
    for row in rows:
        cells = [row["what"], f"`{row['kernel']}`" if row["kernel"] != "-" else ""]
        if row["status"] != "OK":
            cells += [f"{row['status']}: {row['reason']}"] + [""] * (len(titles) - 3)
        else:
            c = row["counts"]
            requests = c["global_load_requests"]
            cells += [f"{row.get('steps', 0):,.0f}"] if walks else []
            cells += [f"{requests:,}", f"{c['global_load_sectors'] / requests:.2f}" if requests else "",
                      f"{c['global_store_requests']:,}"]
            cells += ([f"{c['flops']:,}", f"{c['flops'] / (c['global_load_bytes'] + c['global_store_bytes']):.2f}"] if intensity
                      else [f"{c['shared_load_wavefronts'] + c['shared_store_wavefronts']:,}"])
        lines.append("| " + " | ".join(cells) + " |")
    return f"\n{result['machine']['name']}:\n\n" + "\n".join(lines) + "\n\n"


def errors_table(result):
    """For library calls alone, which the CPU computes on the simulator: results, but no counts."""
    rows = result["rows"]
    titles = ["shape", "call", *rows[0].get("extra", {}), "largest error", "its bound"]
    lines = ["| " + " | ".join(titles) + " |", "|---|---" + "|--:" * (len(titles) - 2) + "|"]
    for row in rows:
        cells = [row["shape"], f"`{row['kernel']}`", *extra_cells(row)]
        cells += [f"{row['error']['max']:.1e}", f"{row['error']['bound']:.1e}"]
        lines.append("| " + " | ".join(cells) + " |")
    return f"\n{result['machine']['name']}; the calls are computed by the simulator's own library:\n\n" + \
        "\n".join(lines) + "\n\n"


def sparse_table(result):
    """For sparse matrices: how many lanes of a warp take part in a load."""
    titles = ["matrix", "kernel", "load requests", "lanes at work", "sectors", "sectors per request", "shared wavefronts",
              "bank conflicts"]
    lines = ["| " + " | ".join(titles) + " |", "|---|---" + "|--:" * (len(titles) - 2) + "|"]
    for row in result["rows"]:
        cells = [row["extra"]["matrix"], f"`{row['kernel']}`"]
        if row["status"] != "OK":
            cells += [f"{row['status']}: {row['reason']}"] + [""] * (len(titles) - 3)
        else:
            c = row["counts"]
            requests, sectors = c["global_load_requests"], c["global_load_sectors"]
            cells += [f"{requests:,}", f"{row['lanes_at_work']:.1f}", f"{sectors:,}", f"{sectors / requests:.2f}"]
            cells += [f"{c['shared_load_wavefronts'] + c['shared_store_wavefronts']:,}", f"{c['shared_conflicts']:,}"]
        lines.append("| " + " | ".join(cells) + " |")
    return f"\n{result['machine']['name']}, {result['rows'][0]['shape']}, float:\n\n" + "\n".join(lines) + "\n\n"


def l1_table(result):
    """What a load request costs: sectors, and passes through L1's two stages."""
    extra = list(result["rows"][0].get("extra", {}))
    titles = ["shape", "kernel", *(extra or ["tile"]), "load requests", "sectors per request", "tag passes", "data passes"]
    lines = ["| " + " | ".join(titles) + " |", "|---|---" + "|--:" * (len(titles) - 2) + "|"]
    for row in result["rows"]:
        cells = [row["shape"], f"`{row['kernel']}`", *(extra_cells(row) if extra else [str(row["tile"])])]
        if row["status"] != "OK":
            cells += [f"{row['status']}: {row['reason']}", "", "", ""]
        else:
            c = row["counts"]
            cells.append(f"{c['global_load_requests']:,}")
            cells += [f"{c[f'global_load_{what}'] / c['global_load_requests']:.2f}" for what in ("sectors", "tag_passes", "data_passes")]
        lines.append("| " + " | ".join(cells) + " |")
    return f"\n{result['machine']['name']}:\n\n" + "\n".join(lines) + "\n\n"


def table(program, arguments):
    arguments, _, filters = f" {arguments}".partition(" -- ")
    result = run(program, arguments.split())
    result["rows"] = chosen(result["rows"], [word for word in filters.split() if "=" in word])
    if "matrix" in result["rows"][0].get("extra", {}):
        return sparse_table(result)
    if "what" in result["rows"][0]:
        return parts_table(result)
    if not any("counts" in row for row in result["rows"]):
        return errors_table(result)
    if "l1" in filters.split():
        return l1_table(result)
    if any("load_sectors" in row.get("formula", {}) for row in result["rows"]):
        return sectors_table(result)
    if result["rows"][0].get("about") == "shared":
        return shared_table(result)
    if result["rows"][0]["shape"].count(" x ") == 1:  # rows x columns, no product
        return moving_table(result)
    shared = any(row.get("shared_bytes") for row in result["rows"])
    titles = ["kernel", "tile", "load requests", "sectors", "sectors per request", "FLOP per byte", "DRAM bytes, at least"]
    titles += ["shared wavefronts", "bank conflicts"] if shared else []
    lines = ["| " + " | ".join(titles) + " |", "|---" + "|--:" * (len(titles) - 1) + "|"]
    for row in result["rows"]:
        cells = [f"`{row['kernel']}`", str(row.get("tile", ""))]
        if row["status"] != "OK":
            cells += [f"{row['status']}: {row['reason']}"] + [""] * (len(titles) - 3)
        elif "counts" not in row:  # no kernel, but a library that the CPU computed
            cells += ["not counted"] + [""] * (len(titles) - 3)
        else:
            c = row["counts"]
            m, n, k = (int(size) for size in row["shape"].split(" x "))
            requests, sectors = c["global_load_requests"], c["global_load_sectors"]
            flop_per_byte = 2 * m * n * k / (c["global_load_bytes"] + c["global_store_bytes"])
            cells += [f"{requests:,}", f"{sectors:,}", f"{sectors / requests:.2f}", f"{flop_per_byte:.2f}",
                      f"{c['dram_bytes_at_least']:,}"]
            if shared:
                wavefronts = c["shared_load_wavefronts"] + c["shared_store_wavefronts"]
                cells += [f"{wavefronts:,}", f"{c['shared_conflicts']:,}"]
        lines.append("| " + " | ".join(cells) + " |")
    shape, machine = result["rows"][0]["shape"], result["machine"]["name"]
    return f"\n{machine}, {shape}:\n\n" + "\n".join(filled(lines)) + "\n\n"


recorded_region = re.compile(r"(<!-- results:(?!sim )(\S+) (\S+)((?: \S+)*?) -->\n).*?(<!-- /results -->)", re.S)


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


def filled(lines):
    """A Markdown table without the columns that have nothing below their title."""
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
    kept = [column for column in range(len(rows[0])) if any(row[column] for row in rows[2:])]
    title, rule, *rows = [[row[column] for column in kept] for row in rows]
    return ["|" + "".join(f" {cell} |" if cell else " |" for cell in title), "|" + "|".join(rule) + "|",
            *("| " + " | ".join(row) + " |" for row in rows)]


def recorded_parts_table(run, rows):
    """For programs whose rows say what they are about (chapter 08): cycles, or rates, whichever a row has."""
    waits = [row for row in rows if "latency" in row]
    rates = [row for row in rows if "figure" in row]
    text = ""
    if rates:
        roofline = "intensity" in rates[0]
        lines = ["| | kernel | " + ("FLOP per byte" if roofline else "memory") + " | time | IQR | rate | of "
                 + ("measured roof" if roofline else "peak") + " |", "|---|---|--:|--:|--:|--:|--:|"]
        for row in rates:
            share = row["figure"].get("share_of_roof", row["figure"].get("share_of_peak"))
            lines.append(f"| {row['what']} | `{row['kernel']}` | "
                         + (f"{row['intensity']:.2f}" if roofline else row.get("shape", ""))
                         + f" | {row['time']['median_ms']:.3g} ms | {iqr(row)} | {row['figure']['value']:,.0f} {row['figure']['unit']} | "
                         + (f"{100 * share:.1f} % |" if share is not None else " |"))
        text += "\n" + "\n".join(filled(lines)) + "\n"
    if waits:
        lines = ["| | kernel | memory | cycles | ns |", "|---|---|--:|--:|--:|"]
        for row in waits:
            lines.append(f"| {row['what']} | `{row['kernel']}` | {row.get('shape', '')} | {row['latency']['cycles']:.1f} | "
                         f"{row['latency']['ns']:.1f} |")
        text += "\n" + "\n".join(filled(lines)) + "\n"
    said = f"\n{source_of(run)} Medians; every result was checked."
    if rates:
        said += f" {IQR}"
        if roofline:
            said += " The measured roof: the best rate of `fma_chains`, or the intensity times the rate of `copy_words`."
    return text + said + "\n\n"


drawn_region = re.compile(r"(<!-- drawn((?: \S+)+) -->\n).*?(<!-- /drawn -->)", re.S)


def who_works_when(words):
    """The lines of each kernel: its name, and who works when."""
    words = words.split()
    program, part, kernels = "15_streams_and_graphs", "overlap", words
    if words[0] == "16":
        program, part, kernels = "16_many_gpus", words[1], [f"{kernel}, {words[2]} devices" for kernel in words[3:]]
    said = subprocess.run([built(program), "--part", part], check=True, text=True, capture_output=True)
    lines = said.stdout.split("\n")
    blocks = ["\n".join(itertools.takewhile(bool, lines[lines.index(kernel):])) for kernel in kernels]
    return "\n```text\n" + "\n\n".join(blocks) + "\n```\n\n"


figure_region = re.compile(r"(<!-- figure:(\S+) (\S+) (\S+) (\S+) -->).*?(<!-- /figure -->)", re.S)


def recorded_run(gpu, program):
    file = root / f"docs/results/{gpu}.json"
    runs = json.loads(file.read_text())["runs"] if file.exists() else []
    return next((run for run in runs if run["program"] == program), None)


def recorded_figure(gpu, program, key, unit):
    """One number with its unit: "29.1 cycles", "4,256 GB/s"; "" when it was not recorded."""
    run = recorded_run(gpu, program)
    rows = [row for row in run["rows"] if row["status"] == "OK" and row.get("key") == key] if run else []
    if unit in ("cycles", "ns"):
        values = [row["latency"][unit] for row in rows if "latency" in row]
        return f"{min(values):.1f} {unit}" if values else ""
    values = [row["figure"]["value"] for row in rows if row.get("figure", {}).get("unit") == unit]
    return f"{max(values):,.0f} {unit}" if values else ""


calc_region = re.compile(r"(<!-- calc (.*?) : (\S*\{.*?\}.*?) -->).*?(<!-- /calc -->)", re.S)


def picked(words, gpu):
    """The recorded rows of "01 part kernel=... shape=...": chapter, parts, and what chosen() takes."""
    chapter, *words = words.split(" ")
    kernel = " ".join(words)
    words = re.findall(r"[^\s=]+=(?:(?! [^\s=(]+=).)+|\S+", kernel)  # values may hold blanks, and = in brackets
    file = json.loads((root / f"docs/results/{gpu}.json").read_text())
    run = next(run for run in file["runs"] if run["program"].startswith(chapter))
    parts = [word for word in words if "=" not in word]
    rows = [row for row in run["rows"] if row["status"] == "OK" and (not parts or row.get("part") in parts)]
    return run, chosen(rows, [word for word in words if "=" in word])


def one(words, gpu):
    run, rows = picked(words, gpu)
    exact = [row for row in rows if f"kernel={row['kernel']}" in words]  # transpose_vectorised, and not <rows>
    rows = [row for row in exact if not any(row["kernel"] in other["kernel"] != row["kernel"] for other in exact)] or rows
    if len(rows) != 1:
        sys.exit(f"{words}: {len(rows)} rows, there must be one")
    return run, rows[0]


def counter_rows(kind, gpu, words):
    file = json.loads((root / f"docs/results/{kind}-{gpu}.json").read_text())
    rows = chosen(file["rows"], re.findall(r"[^\s=]+=(?:(?! [^\s=]+=).)+", words))
    if len(rows) != 1:
        sys.exit(f"{kind} {words}: {len(rows)} rows, there must be one")
    return rows[0]


def exact_loop(kernel, gpu):
    file = json.loads((root / f"docs/results/loops-{gpu}.json").read_text())
    rows = [row for row in file["rows"] if row["kernel"] == kernel]
    if len(rows) != 1:
        sys.exit(f"loops {kernel}: {len(rows)} rows, there must be one")
    return rows[0]


def share_of_best(words, gpu="nvidia-h200"):
    run, row = one(words, gpu)
    best = next(key for key in row["speedup"] if key.startswith("best_"))
    share = compared(run, row, best)
    if share is None:
        sys.exit(f"{words}: the two were not timed in the same way")
    return share


def bound(words, gpu="nvidia-h200"):
    """The least time of a row, in ms: docs/results/bounds-<gpu>.json, from record-bounds.py."""
    run, row = one(words, gpu)
    key = bounds.key_of(run["program"], row)
    return next(1e3 * other["bound"]["seconds"] for other, _ in bounds.pairs(root, gpu) if bounds.key_of(other["program"], other) == key)


def speeds(other, gpu="nvidia-h200"):
    """How fast each row was on another GPU, of its speed on this one: of all rows that both records have,
    timed in the same way."""
    def times(name):
        return {(run["program"], row.get("part"), row["kernel"], row.get("tile"), row.get("shape"), json.dumps(row.get("extra", {}), sort_keys=True),
                 row["time"].get("graph"), row["time"].get("l2_flushed")): row["time"]["median_ms"]
                for run in json.loads((root / f"docs/results/{name}.json").read_text())["runs"] for row in run["rows"] if row["status"] == "OK" and "time" in row}
    here, there = times(gpu), times(other)
    return [here[key] / there[key] for key in here if key in there]


GPU = "nvidia-h200"
H100 = "nvidia-h100-80gb-hbm3"
FORMULAS = {
    "ms": lambda words, gpu=GPU: one(words, gpu)[1]["time"]["median_ms"],
    "iqr": lambda words, gpu=GPU: one(words, gpu)[1]["time"]["iqr_ms"],
    "rate": lambda words, gpu=GPU: one(words, gpu)[1]["figure"]["value"],  # GB/s or GFLOP/s, as the row says
    "of_peak": lambda words, gpu=GPU: one(words, gpu)[1]["figure"]["share_of_peak"],
    "bound": bound,  # of the time, at least
    "of_roof": lambda words, gpu=GPU: one(words, gpu)[1]["figure"]["share_of_roof"],
    "of_best": share_of_best,  # of the baseline; refused where the two were not timed alike
    "speedup": lambda words, key, gpu=GPU: compared(*one(words, gpu), key),
    "cycles": lambda words, gpu=GPU: one(words, gpu)[1]["latency"]["cycles"],
    "rates": lambda words, gpu=GPU: [row["figure"]["value"] for row in picked(words, gpu)[1]],
    "shares": lambda words, gpu=GPU: [row["speedup"]["best_copy"] for row in picked(words, gpu)[1]],
    "machine": lambda what, gpu=GPU: picked("08", gpu)[0]["machine"][what],
    "peak": lambda what, gpu=GPU: picked("08", gpu)[0]["machine"][f"peak_{what}"],
    # what Nsight Compute counted: traffic("n=2048 block=16 kernel=naive_matmul", "counter"), dram(...), spmv(...)
    "traffic": lambda words, counter, gpu=GPU: counter_rows("traffic", gpu, words)["counters"][counter],
    "dram": lambda words, counter, gpu=GPU: counter_rows("dram", gpu, words)["counters"][counter],
    "dram_words": lambda words, gpu=GPU: counter_rows("dram", gpu, words)["words"],
    "spmv": lambda words, counter, gpu=GPU: counter_rows("spmv", gpu, words)["counters"][counter],
    # what nvcc makes of a kernel's inner loop, by record-loops.py: loop("wide_loads<128,128,16,8,8>", "FFMA")
    "loop": lambda words, counter, gpu=GPU: exact_loop(words, gpu)["counters"][counter],
    # what Nsight Compute counted for lesson 13: tensor("part=16-bit shape=4096 kernel=wgmma_tiles", "cycles")
    "tensor": lambda words, counter, gpu=GPU: counter_rows("tensor", gpu, words)["counters"][counter],
    "error": lambda words, gpu=GPU: one(words, gpu)[1]["error"]["max"],
    "counted": lambda words, count: one(words, "simulated-" + GPU)[1]["counts"][count],
    "speeds": speeds,
    "h100": H100,
    "min": min, "max": max, "len": len, "sqrt": math.sqrt, "abs": abs,
}


def calculated(formula, written):
    """The formula's value as it is written: "{:.1f} times"; a list as its least and largest: "{:.0f} to {:.0f} %"."""
    try:
        value = eval(formula, {"__builtins__": {}, **FORMULAS})  # pages are ours
    except Exception as error:
        sys.exit(f"<!-- calc {formula} -->: {error}")
    return written.format(*value) if isinstance(value, (list, tuple)) else written.format(value)


def recorded_table(gpu, program, words):
    parts = [word for word in words.split() if "=" not in word]
    filters = [word for word in words.split() if "=" in word]
    run = recorded_run(gpu, program)
    if run is None:
        return "\nNot recorded yet.\n\n"
    rows = [row for row in run["rows"] if row["status"] == "OK" and (not parts or row.get("part") in parts)]
    if not rows:
        return "\nNot recorded yet.\n\n"
    rows = chosen(rows, filters)
    first = rows[0]
    if "what" in first:
        return recorded_parts_table(run, rows)
    moves = first["figure"]["unit"] == "GB/s"
    share = moves or any(row.get("speedup", {}).get("share") for row in rows)  # of the baseline, instead of speed-ups
    # speedup holds "same_block" and "best_<what the lesson compares with>"
    best = next((key for row in rows for key in row.get("speedup", {}) if key.startswith("best_")), "best_naive")
    extra = list(first.get("extra", {}))
    tiles = not extra or any("tile" in row for row in rows)
    spread = any("q1" in row.get("speedup", {}) for row in rows)
    titles = ["shape", *(["tile"] if tiles else []), "kernel", *extra, "time", "IQR", first["figure"]["unit"], "of peak"]
    titles += ["of " + best[5:]] if share else ["same block", best.replace("_", " ")]
    titles += ["quartiles"] if spread else []
    table = []
    for row in rows:
        ratio = lambda key: f"{compared(run, row, key):.2f} x" if compared(run, row, key) else ""
        cells = [row["shape"], *([str(row.get("tile", ""))] if tiles else []), f"`{row['kernel']}`", *extra_cells(row),
                 f"{row['time']['median_ms']:.3g} ms", iqr(row), f"{row['figure']['value']:,.0f}",
                 f"{100 * row['figure']['share_of_peak']:.1f} %" if "share_of_peak" in row["figure"] else ""]
        if share:
            of_best = compared(run, row, best)
            cells += [f"{100 * of_best:.1f} %" if of_best else ""]
        else:
            cells += [ratio("same_block"), ratio(best)]
        if spread:
            q = row.get("speedup", {})  # a row that is the baseline from here on: its turns were with the one before it
            cells += [f"{100 * q['q1']:.1f} to {100 * q['q3']:.1f}" if "q1" in q and q.get(best) != 1 else ""]
        table.append(cells)
    shown = [k for k in range(len(titles)) if any(cells[k] for cells in table)]  # no column that says nothing
    lines = ["| " + " | ".join(titles[k] for k in shown) + " |",
             "|" + "|".join("---" if titles[k] in ("shape", "kernel") else "--:" for k in shown) + "|"]
    lines += ["| " + " | ".join(cells[k] for k in shown) + " |" for cells in table]
    return "\n" + "\n".join(lines) + f"\n\n{caption(run, rows, best)}\n\n"


IQR = "IQR: third less first quartile of the times, of the median."


def iqr(row):
    return f"{100 * row['time']['iqr_ms'] / row['time']['median_ms']:.1f} %" if "iqr_ms" in row["time"] else ""


def hint(row):
    return row.get("extra", {}).get("L2 hint", "-")


def baseline(run, row, key):
    """The row that row's speedup[key] is measured by: of the same part, shape (and matrix), and the same hint to L2."""
    alike = [other for other in run["rows"] if other.get("speedup", {}).get(key) == 1 and hint(other) == hint(row)
             and other.get("part") == row.get("part")
             and all(other.get("extra", {}).get(k) == row.get("extra", {}).get(k) for k in ("matrix", "type"))]
    return next((other for other in alike if other["shape"] == row["shape"]), alike[-1] if len(alike) == 1 else None)


def compared(run, row, key):
    """row's speedup[key] if both sides were timed alike; else None. A graph does not compare with single launches, nor a
    warm L2 with an empty one; kernels with a hint to L2 are shares of the copy with that hint."""
    speedup = row.get("speedup", {})
    if key not in speedup:
        return None
    peers = [other for other in run["rows"] if other["shape"] == row["shape"] and hint(other) == hint(row)]
    if hint(row) != "-":  # recorded in turns with the copy without a hint, as was this group's copy
        return speedup[key] / max(other.get("speedup", {}).get(key, 0) for other in peers if other["kernel"].startswith("copy_"))
    if "q1" in speedup:  # a pair that was timed in one way
        return speedup[key]
    other = baseline(run, row, key)
    alike = other is None or all(row["time"].get(way) == other["time"].get(way) for way in ("graph", "l2_flushed"))
    return speedup[key] if alike else None


def names(rows):
    return ", ".join(dict.fromkeys(f"`{row['kernel']}`" for row in rows))


def caption(run, rows, best):
    """What holds of these rows, and of no others of the run."""
    said = [source_of(run), "Medians of kernel time; every result was checked first.", IQR]
    if any("q1" in row.get("speedup", {}) for row in rows):
        said.append("Quartiles: of the ratio, turn by turn, in %.")
    by = {"best_copy": "the copy", "best_cuSPARSE": "the better of cuSPARSE's algorithms above it, the last row of 100.0 %"}.get(best, best[5:])
    measured = [row for row in rows if best in row.get("speedup", {}) and row["speedup"][best] != 1]
    in_turns = [row for row in measured if row["speedup"].get("in_turns")]
    if in_turns:
        who = "Each kernel" if len(in_turns) == len(measured) else names(in_turns)
        said.append(f"{who} was timed in turns with {by}.")
    if len(in_turns) < len(measured):
        who = "The rows" if not in_turns else names([row for row in measured if row not in in_turns])
        said.append(f"{who} were timed one after the other, not in turns.")
    if any(hint(row) != "-" for row in rows):
        said.append("With a hint, *of copy* is of `copy_evict_last`, which has it, too.")
    ways = {"in a CUDA graph, with L2 as the call before left it": lambda t: t.get("graph"),
            "launched one by one, L2 emptied before each": lambda t: not t.get("graph") and t.get("l2_flushed"),
            "launched one by one, with L2 as the call before left it": lambda t: not t.get("graph") and not t.get("l2_flushed")}
    found = {way: [row for row in rows if fits(row["time"])] for way, fits in ways.items()}
    found = {way: some for way, some in found.items() if some}
    if len(found) == 1:
        said.append(f"Calls were {list(found)[0]}.")
    else:
        most = max(found, key=lambda way: len(found[way]))
        said += [f"{names_and_shapes(some, rows)}: {way}." for way, some in found.items() if way != most]
        said.append(f"The others: {most}.")
    if any(best in row.get("speedup", {}) and compared(run, row, best) is None for row in rows):
        said.append("Where the two were not timed in the same way, no ratio is shown.")
    return " ".join(said)


def names_and_shapes(some, rows):
    """Kernels, with their shapes where the same kernel has other rows, too."""
    kernels = {row["kernel"] for row in some}
    if any(row["kernel"] in kernels and row not in some for row in rows):
        shapes = list(dict.fromkeys(row["shape"] for row in some))
        whole = all(row in some for row in rows if row["shape"] in shapes)
        return ("All" if whole else names(some)) + " of " + ", ".join(shapes)
    return names(some)


bounds_region = re.compile(r"(<!-- bounds:(\S+) -->\n).*?(<!-- /bounds -->)", re.S)
dram_region = re.compile(r"(<!-- dram:(\S+) (.*?) -->\n).*?(<!-- /dram -->)", re.S)


def dram_table(gpu, kernels):
    """What L1 asked for and what DRAM moved, for each word that was wanted: docs/results/dram-<gpu>.json."""
    file = root / f"docs/results/dram-{gpu}.json"
    if not file.exists():
        return ""
    run = json.loads(file.read_text())
    lines = ["| kernel | | sectors per load | sectors per store | bytes from DRAM per word | bytes to DRAM per word |",
             "|---|---" + "|--:" * 4 + "|"]
    for row in run["rows"]:
        if row["kernel"].split("<")[0] not in kernels.split():
            continue
        c = row["counters"]
        sectors = [c[f"l1tex__t_sectors_pipe_lsu_mem_global_op_{kind}.sum"] /
                   c[f"l1tex__t_requests_pipe_lsu_mem_global_op_{kind}.sum"] for kind in ("ld", "st")]
        cells = [f"`{row['kernel']}`", row["what"], *(f"{value:.2f}" for value in sectors),
                 *(f"{c[f'dram__bytes_{way}.sum'] / row['words']:.1f}" for way in ("read", "write"))]
        lines.append("| " + " | ".join(cells) + " |")
    source = f"{run['gpu']}, CUDA {run['cuda']}, driver {run['driver']}; commit {run['commit']}. Nsight Compute, caches empty."
    return "\n" + "\n".join(lines) + f"\n\n{source}\n\n"


spmv_region = re.compile(r"(<!-- spmv:(\S+) -->\n).*?(<!-- /spmv -->)", re.S)


def spmv_table(gpu):
    """What L1 asked L2 for, and how busy L2 and DRAM were: docs/results/spmv-<gpu>.json, from record-spmv.sh."""
    file = root / f"docs/results/spmv-{gpu}.json"
    if not file.exists():
        return ""
    run = json.loads(file.read_text())
    lines = ["| matrix | kernel | L1 hits | requests to L2, millions | of L2's lookups | of DRAM | ms |", "|---|---" + "|--:" * 5 + "|"]
    time = lambda row: row["counters"]["gpu__time_duration.sum"]
    for row in run["rows"]:
        if time(row) > 10 * min(time(other) for other in run["rows"] if other["matrix"] == row["matrix"]):
            continue
        c = row["counters"]
        load = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld"
        lines.append(f"| {row['matrix']} | `{row['kernel']}` | {100 * c[f'{load}_lookup_hit.sum'] / c[f'{load}.sum']:.0f}% | "
                     f"{1e-6 * c['lts__t_requests_srcunit_tex.sum']:.1f} | "
                     f"{c['lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed']:.0f}% | "
                     f"{c['dram__throughput.avg.pct_of_peak_sustained_elapsed']:.0f}% | "
                     f"{1e-6 * c['gpu__time_duration.sum']:.3f} |")
    source = f"{run['gpu']}, CUDA {run['cuda']}, driver {run['driver']}; commit {run['commit']}. Nsight Compute, caches empty. " \
             "Kernels that take more than ten times as long as the best are left out."
    return "\n" + "\n".join(lines) + f"\n\n{source}\n\n"


loops_region = re.compile(r"(<!-- loops:(\S+) (\S+) -->\n).*?(<!-- /loops -->)", re.S)


def loops_table(gpu, program):
    """What nvcc made of a lesson's inner loops: docs/results/loops-<gpu>.json, from record-loops.py."""
    record = json.loads((root / f"docs/results/loops-{gpu}.json").read_text())
    if any("FFMA" not in row["counters"] for row in record["rows"] if row["program"] == program):
        return tensor_loops_table(record, program)
    lines = ["| kernel | instructions | multiply-adds | of all | loads from shared memory | registers |", "|---" + "|--:" * 5 + "|"]
    for row in record["rows"]:
        c = row["counters"]
        if row["program"] == program:
            lines.append(f"| `{row['kernel']}` | {c['instructions']:,} | {c['FFMA']:,} | {100 * c['FFMA'] / c['instructions']:.1f} % | "
                         f"{c['LDS']:,} | {c['registers']} |")
    return "\n" + "\n".join(lines) + f"\n\nInner loops in machine code for sm_90a, by nvcc {record['nvcc']}.\n\n"


def tensor_loops_table(record, program):
    """The same of kernels with WMMA: LDSM loads pieces of fragments from shared memory, LD is an ordinary load."""
    lines = ["| kernel | instructions | HMMA | LDSM | LD, LDS | registers |", "|---" + "|--:" * 5 + "|"]
    for row in record["rows"]:
        c = row["counters"]
        if row["program"] == program:
            lines.append(f"| `{row['kernel']}` | {c['instructions']:,} | {c['HMMA']:,} | {c['LDSM']:,} | {c['LD'] + c['LDS']:,} | {c['registers']} |")
    return "\n" + "\n".join(lines) + f"\n\nInner loops in machine code for sm_90a, by nvcc {record['nvcc']}.\n\n"


stalls_region = re.compile(r"(<!-- stalls:(\S+) (\S+) -->\n).*?(<!-- /stalls -->)", re.S)
STALLS = {"not chosen": ["not_selected"], "copies and loads": ["long_scoreboard", "lg_throttle"],
          "shared memory": ["short_scoreboard", "mio_throttle"], "barrier": ["barrier"],
          "dispatch": ["dispatch_stall", "math_pipe_throttle", "wait"], "no instruction": ["no_instruction"]}


def stalls_table(gpu, program):
    """What warps wait for: docs/results/stalls-<gpu>.json, from record-stalls.sh. Kernels of less than a tenth of the longest's time are
    left out."""
    record = json.loads((root / f"docs/results/stalls-{gpu}.json").read_text())
    time = lambda row: row["counters"]["gpu__time_duration.sum"]
    rows = [row for row in record["rows"] if row["program"] == program]
    rows = [row for row in rows if 10 * time(row) > max(map(time, rows))]
    lines = ["| size | kernel | ms | clocks that issue | " + " | ".join(STALLS) + " | read from DRAM |", "|--:|---" + "|--:" * (3 + len(STALLS)) + "|"]
    for row in rows:
        c = row["counters"]
        kernel = "cuBLAS" if "gemm" in row["kernel"] else f"`{row['kernel']}`"
        waits = (f"{sum(c[f'stalled {name}'] for name in names):.2f}" for names in STALLS.values())
        lines.append(f"| {row['shape'].split(' ')[0]} | {kernel} | {1e-6 * time(row):.2f} | "
                     f"{c['smsp__issue_active.avg.pct_of_peak_sustained_active']:.0f} % | " + " | ".join(waits) +
                     f" | {1e-9 * c['dram__bytes_read.sum']:.2f} GB |")
    return "\n" + "\n".join(lines) + f"\n\n{record['gpu']}, driver {record['driver']}, Nsight Compute. Waits: warps for each instruction issued.\n\n"


tensor_region = re.compile(r"(<!-- tensor:(\S+) -->\n).*?(<!-- /tensor -->)", re.S)


def tensor_table(gpu):
    """How busy the tensor cores are, and at which clock: docs/results/tensor-<gpu>.json, from record-tensor.py."""
    file = root / f"docs/results/tensor-{gpu}.json"
    if not file.exists():
        return ""
    record = json.loads(file.read_text())
    lines = ["| | size | kernel | ms | clock | tensor cores busy | from L2 to the SMs | read from DRAM |", "|---|--:|---|" + "--:|" * 5]
    for row in record["rows"]:
        c = row["counters"]
        ours = re.search("wmma|wgmma", row["kernel"])
        lines.append(f"| {row['part']} | {row['shape'].split(' ')[0]} | " + (f"`{row['kernel']}`" if ours else "the library's") +
                     f" | {1e-6 * c['ns']:.3g} | {1e3 * c['cycles'] / c['ns']:,.0f} MHz | {c['tensor cores, %']:.0f} % | "
                     f"{c['L2 to SM bytes'] / c['ns'] / 1e3:.1f} TB/s | {1e-9 * c['DRAM bytes read']:.2f} GB |")
    return "\n" + "\n".join(lines) + f"\n\n{record['gpu']}, driver {record['driver']}, commit {record['commit']}, Nsight Compute.\n\n"


preprocess_region = re.compile(r"(<!-- preprocess:(\S+)((?: \S+)*?) -->\n).*?(<!-- /preprocess -->)", re.S)


def counted_preprocess_table(arguments):
    """What the kernels of lesson 06's plan ask for, next to a product by the balanced kernel."""
    result = run("06_csr_spmv", arguments.split())
    lines = ["| matrix | plan, bytes | `spmv_cuts`: load requests | sectors | `spmv_row_stats`: load requests | sectors | "
             "both, of the sectors of one `spmv_balanced` |", "|---" + "|--:" * 6 + "|"]
    for row in result["rows"]:
        if "preprocess_counts" not in row:
            continue
        parts = [row["preprocess_counts"][name] for name in ("spmv_cuts", "spmv_row_stats")]
        cells = [f"{part[f'global_load_{what}']:,}" for part in parts for what in ("requests", "sectors")]
        share = sum(part["global_load_sectors"] for part in parts) / row["counts"]["global_load_sectors"]
        lines.append(f"| {row['extra']['matrix']} | {row['preprocess_bytes']:,} | " + " | ".join(cells) + f" | {100 * share:.1f} % |")
    shape = result["rows"][0]["shape"]
    return f"\n{result['machine']['name']}, {shape}, float:\n\n" + "\n".join(lines) + "\n\n"


def preprocess_table(gpu):
    """What preprocessing took and when it pays: from lesson 06's rows in docs/results/<gpu>.json; nothing without them."""
    run = recorded_run(gpu, "06_csr_spmv")
    rows = [row for row in run["rows"] if row["status"] == "OK" and "preprocess_seconds" in row] if run else []
    if not rows:
        return ""
    lines = ["| matrix | product | prepared by | memory | it takes | of it `spmv_row_stats` | one product | pays against `spmv_scalar` "
             "after | against cuSPARSE unprepared after |", "|---|---|---" + "|--:" * 6 + "|"]
    pays = lambda value: f"{value:,}" if isinstance(value, int) else value
    for row in rows:
        stats = row.get("preprocess_parts", {}).get("spmv_row_stats_seconds")
        lines.append(f"| {row['extra']['matrix']} | `{row['kernel']}` | `{row['preprocess_by']}` | {row['preprocess_bytes']:,} bytes | "
                     f"{1e3 * row['preprocess_seconds']:.3g} ms | {f'{1e3 * stats:.3g} ms' if stats else ''} | "
                     f"{row['time']['median_ms']:.3g} ms | {pays(row['break_even'].get('spmv_scalar', ''))} | "
                     f"{pays(row['break_even'].get('cusparse_unprepared', ''))} |")
    source = source_of(run) + f" {rows[0]['extra']['type']}. Medians. Preprocessing by the host's clock, from the call until the device "              "has done it; products and `spmv_row_stats` by the device's. The last two columns are products; cuSPARSE unprepared is the faster "              "of its two algorithms without `cusparseSpMV_preprocess()`."
    return "\n" + "\n".join(lines) + f"\n\n{source}\n\n"


traffic_region = re.compile(r"(<!-- traffic:(\S+)((?: \S+)*?) -->\n).*?(<!-- /traffic -->)", re.S)


def traffic_table(gpu, filters):
    """What L1, L2 and DRAM moved: docs/results/traffic-<gpu>.json, from common/scripts/record/record-traffic.sh."""
    file = root / f"docs/results/traffic-{gpu}.json"
    if not file.exists():
        return ""
    recorded = json.loads(file.read_text())
    columns = [
        ("L1 requests", lambda c: f"{c['l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum']:,}"),
        ("L1 sectors", lambda c: f"{c['l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum']:,}"),
        ("found in L1", lambda c: f"{100 * c['l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum'] / c['l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum']:.1f} %"),
        ("tag passes per request", lambda c: f"{c['l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum'] / c['l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum']:.2f}"),
        ("data passes per request", lambda c: f"{1 + c['l1tex__data_bank_conflicts_pipe_lsu.sum'] / c['l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum']:.2f}"),
        ("from L2, MB", lambda c: f"{32e-6 * c['lts__t_sectors_srcunit_tex_op_read.sum']:,.2f}"),
        ("from DRAM, MB", lambda c: f"{1e-6 * c['dram__bytes_read.sum']:,.2f}"),
        ("time, ms", lambda c: f"{1e-6 * c['gpu__time_duration.sum']:.3g}"),
    ]

    def cell(of, counters):
        try:
            return of(counters)
        except KeyError:  # a counter that this GPU does not have
            return ""

    rows = chosen(recorded["rows"], filters.split())
    cells = [[cell(of, row["counters"]) for _, of in columns] for row in rows]
    shown = [i for i in range(len(columns)) if any(line[i] for line in cells)]
    lines = ["| M = N | K | block | kernel | " + " | ".join(columns[i][0] for i in shown) + " |",
             "|--:|--:|--:|---" + "|--:" * len(shown) + "|"]
    for row, line in zip(rows, cells):
        lines.append(f"| {row['n']:,} | {row['k']:,} | {row['block']} | `{row['kernel']}` | " + " | ".join(line[i] for i in shown) + " |")
    return "\n" + "\n".join(lines) + f"\n\n{recorded['gpu']}, driver {recorded['driver']}, CUDA {recorded['cuda']}, commit " \
           f"{recorded['commit']}; Nsight Compute, caches emptied before each kernel. 1 MB is 1,000,000 bytes.\n\n"


plot_region = re.compile(r"(<!-- plot:(\S+) (.*?) -->\n).*?(<!-- /plot -->)", re.S)


def plot(name, text):
    if not (root / f"docs/results/{name}.svg").exists():
        return ""
    return f'\n<img src="../../docs/results/{name}.svg" alt="{text}">\n\n'


summary_region = re.compile(r"(<!-- summary:(\S+) -->\n).*?(<!-- /summary -->)", re.S)

# Of the README's table: program, kernel, tile, shape, and what the row shows.
SUMMARY = [
    ("01_naive_matmul", "naive_matmul_row_on_x", 32, "4096 x 4096 x 4096", "threadIdx.x counts rows"),
    ("01_naive_matmul", "naive_matmul_row_on_x", 32, "4096 x 4096 x 4097", "the same, K = 4097 instead of 4096"),
    ("01_naive_matmul", "naive_matmul", 32, "4096 x 4096 x 4096", "threadIdx.x counts columns"),
    ("02_tiled_matmul", "tiled_matmul", 32, "4096 x 4096 x 4096", "tiles in shared memory"),
    ("02_tiled_matmul", "tiled_matmul_rectangular<64,64,16>", None, "4096 x 4096 x 4096", "16 elements per thread"),
    ("09_register_tiles", "register_tiles<128,128,16,8,8>", None, "4096 x 4096 x 4096", "64 elements per thread, in registers"),
    ("10_wide_loads", "wide_loads<64,128,16,8,8>", None, "4096 x 4096 x 4096", "16 bytes per load"),
    ("11_async_copies", "async_tiles<128,128,32,8,8,3>", None, "4096 x 4096 x 4096", "asynchronous copies, three stages"),
    ("12_past_cublas", "past_cublas<128,128,16,16,8,2,2,3,8>", None, "4096 x 4096 x 4096", "warp tiles, work shared out at the end"),
    ("07_cublas_sgemm", "CUBLAS_DEFAULT_MATH", None, "4096 x 4096 x 4096", "cuBLAS, FP32"),
    ("13_tensor_cores", "wgmma_3xtf32<4, 8>", None, "4096 x 4096 x 4096", "the same floats on tensor cores, in three products"),
    ("13_tensor_cores", "wgmma_persistent<4, 16>", None, "4096 x 4096 x 4096", "16-bit numbers on tensor cores"),
    ("04_transpose", "cudaMemcpyAsync", None, "16384 x 16384", "a copy, by the driver"),
    ("04_transpose", "transpose_strided_write", None, "16384 x 16384", "a transpose, strided writes"),
    ("04_transpose", "transpose_tile", 32, "16384 x 16384", "through a tile, with bank conflicts"),
    ("04_transpose", "transpose_padded", 32, "16384 x 16384", "without"),
    ("04_transpose", "transpose_vectorised", 64, "16384 x 16384", "16 bytes at a time, both ways"),
    ("04_transpose", "cublasSgeam", None, "16384 x 16384", "a library's transpose"),
    ("04_transpose", "copy_evict_last", None, "16384 x 16384", "a copy whose loads say evict_last"),
    ("04_transpose", "transpose_vectorised<evict_last>", 64, "16384 x 16384", "a transpose with the same hint"),
]


def summary_table(gpu):
    lines = ["| | kernel | tile | shape | time | rate |", "|---|---|--:|---|--:|--:|"]
    for program, kernel, tile, shape, what in SUMMARY:
        run = recorded_run(gpu, program)
        wanted = {"kernel": kernel, "tile": tile, "shape": shape, "status": "OK"}
        for row in [row for row in run["rows"] if all(row.get(k) == v for k, v in wanted.items())][:1] if run else []:
            lines.append(f"| {what} | `{kernel}` | {tile or ''} | {shape} | {row['time']['median_ms']:.3g} ms | "
                         f"{row['figure']['value']:,.0f} {row['figure']['unit']} |")
    return "\n" + "\n".join(lines) + f"\n\nMedians; [docs/results/{gpu}.json](docs/results/{gpu}.json) has all rows, and says when and from which commit.\n\n" if len(lines) > 2 else ""


ladder_region = re.compile(r"(<!-- ladder:(\S+) -->\n).*?(<!-- /ladder -->)", re.S)
LADDER_STYLE = """<style>
    .page { fill: #fdfdfb; stroke: #c9c9c4 }
    .bar { fill: #2f7fd1 } .library { fill: #8b98a5 } .line { stroke: #57606a; stroke-width: 1.2; stroke-dasharray: 4 4 }
    text { fill: #1f2328; font: 14px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif }
    .small { font-size: 12px } .title { font-weight: 600 } .end { text-anchor: end } .mid { text-anchor: middle }
    @media (prefers-color-scheme: dark) {
      .page { fill: #1b1f24; stroke: #444c56 }
      .bar { fill: #4b9bea } .library { fill: #6e7781 } .line { stroke: #adbac7 }
      text { fill: #e6edf3 }
    }
  </style>"""


def ladder(gpu):
    """The matrix products of SUMMARY as bars. Returns the picture's text and the words for who cannot see it."""
    bars = []
    for program, kernel, tile, shape, what in SUMMARY:
        if program.startswith("13"):  # tensor cores: the bars of FP32 units would be too short to read
            continue
        run = recorded_run(gpu, program)
        wanted = {"kernel": kernel, "tile": tile, "shape": shape, "status": "OK"}
        rows = [row for row in run["rows"] if all(row.get(k) == v for k, v in wanted.items())] if run else []
        if rows and rows[0]["figure"]["unit"] == "GFLOP/s":
            bars.append((f"{program[:2]}  {what}", rows[0]["figure"]["value"], shape, "cublas" in program))
    machine = recorded_run(gpu, SUMMARY[0][0])["machine"]
    name, peak = machine["name"], machine["peak_fp32_gflops"]
    ways = "no one two three four five six seven eight nine ten eleven twelve".split()[len(bars)]
    left, right, top, step = 350, 700, 72, 30  # labels of 14 pixels fit in any usual font
    height = top + step * len(bars) + 46
    x = lambda value: left + (right - left) * value / peak
    words = f"GFLOP/s of matrix products on an {name}: " + "; ".join(f"{label[4:]}, {value:,.0f}" for label, value, *_ in bars)
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" width="760" height="{height}" role="img" '
           'aria-labelledby="t">', f'  <title id="t">{words}.</title>', "  " + LADDER_STYLE,
           f'  <rect class="page" x="0.5" y="0.5" width="759" height="{height - 1}" rx="10"/>',
           f'  <text x="24" y="32" class="title">One matrix product in {ways} ways: {bars[0][2].replace(" x ", " × ")} floats on an '
           f'{name}, GFLOP/s</text>']
    for k, (label, value, _, library) in enumerate(bars):
        y = top + step * k
        svg += [f'  <text x="24" y="{y + 15}">{label}</text>',
                f'  <rect class="{"library" if library else "bar"}" x="{left}" y="{y}" width="{x(value) - left:.1f}" height="20" rx="3"/>',
                f'  <text x="{x(value) + 8:.1f}" y="{y + 15}" class="small">{value:,.0f}</text>']
    end = top + step * len(bars)
    svg += [f'  <line class="line" x1="{right}" y1="{top - 12}" x2="{right}" y2="{end}"/>',
            f'  <text x="{right}" y="{end + 18}" class="small mid">peak {peak:,.0f}</text>',
            f'  <text x="24" y="{end + 18}" class="small">The number in front is the chapter.</text>', "</svg>", ""]
    return "\n".join(svg), words


picture_region = re.compile(r"(<!-- picture:(\S+) (\S+) -->\n).*?(<!-- /picture -->)", re.S)
strip_region = re.compile(r"(<!-- ladder (\S+) -->\n).*?(<!-- /ladder -->)", re.S)
plain_line = re.compile(r"^<!-- plain-program -->$", re.M)
snippet_region = re.compile(r"^(<!-- snippet: (\S+)(?: (\S+))? -->\n).*?^(<!-- /snippet -->)", re.S | re.M)
snippet_line = re.compile(r"^\\snippet (\S+) (\S+)$", re.M)


def code(file, tag):
    """What stands between the two lines // [tag], in Python # [tag], moved to the left margin, or everything; without the tags of
    smaller regions."""
    lines = (root / file).read_text().split("\n")
    comment = "#" if file.endswith(".py") else "//"
    ends = [k for k, line in enumerate(lines) if line.strip() == f"{comment} [{tag}]"] if tag else [-1, len(lines)]
    if len(ends) != 2:
        sys.exit(f"{file}: {len(ends)} lines {comment} [{tag}], there must be two")
    inside = [line for line in lines[ends[0] + 1:ends[1]] if not re.fullmatch(comment + r" \[\w+\]", line.strip())]
    language = "python" if file.endswith(".py") else "cpp" if file.endswith("pp") else "cuda"
    return f"\n```{language}\n" + textwrap.dedent("\n".join(inside)).strip("\n") + "\n```\n\n"


def plain_program(page):
    """The fold with the page's chapter's plain.cu or plain.py; its code is a snippet without a tag."""
    file = page.parent.relative_to(root) / "plain.cu"
    if not (root / file).exists():
        file = file.with_suffix(".py")
    return f"<details>\n<summary>The whole program: {file.name}</summary>\n\n<!-- snippet: {file} -->\n<!-- /snippet -->\n\n</details>"


file_region = re.compile(r"^(<!-- file: (\S+)(?: (\S+))? -->\n).*?^(<!-- /file -->)", re.S | re.M)
diff_region = re.compile(r"^(<!-- diff: (\S+) (\S+) -->\n).*?^(<!-- /diff -->)", re.S | re.M)


def lines_of(file, word):
    """A file, or the first of its groups of lines that has the word in it. What a program printed has no language."""
    text = (root / file).read_text()
    if word:
        text = next((group for group in text.split("\n\n") if word in group), None) or sys.exit(f"{file} has no {word}")
    language = {".cu": "cuda", ".cuh": "cuda", ".cpp": "cpp", ".hpp": "cpp"}.get(pathlib.Path(file).suffix, "")
    return f"\n```{language}\n" + text.rstrip("\n") + "\n```\n\n"


puzzles_region = re.compile(r"^(<!-- puzzles (\S+) -->\n).*?^(<!-- /puzzles -->)", re.S | re.M)
all_puzzles_region = re.compile(r"^(<!-- all-puzzles -->\n).*?^(<!-- /all-puzzles -->)", re.S | re.M)


def difference(old, new):
    """The lines that went (-) and came (+)."""
    lines = [(root / file).read_text().split("\n")[1:] for file in (old, new)]
    changes = list(difflib.unified_diff(*lines, n=0, lineterm=""))[3:]
    return "\n```diff\n" + "\n".join(" ..." if line.startswith("@@") else line for line in changes) + "\n```\n\n"


stale = []


def drawn(file, text):
    """Remembers a picture that isn't what the records say now, and writes it unless that is only to be checked."""
    if not file.exists() or file.read_text() != text:
        stale.append(file.relative_to(root))
        if "--check" not in options:
            file.write_text(text)


def picture_on(page, gpu, name):
    """A picture from the records, as it stands on a page."""
    text, words = pictures.picture(root, gpu, name)
    file = root / f"docs/results/{gpu}-{name}.svg"
    drawn(file, text)
    return f'\n<img src="{os.path.relpath(root, page.parent)}/{file.relative_to(root)}" alt="{pictures.escaped(words)}">\n\n'


if "--code" not in options:
    steps, file = json.dumps(strip.steps(root, GPU), indent=1) + "\n", root / f"docs/results/ladder-{GPU}.json"
    if not file.exists() or file.read_text() != steps:
        stale.append(file.relative_to(root))
        if "--check" not in options:
            file.write_text(steps)
for page in [root / "README.md", *sorted(root.glob("chapters/*/*.md")), *sorted(root.glob("docs/*.md"))]:
    old = page.read_text()
    new = snippet_line.sub(r"<!-- snippet: \1 \2 -->\n<!-- /snippet -->", old)
    new = plain_line.sub(lambda found: plain_program(page), new)
    new = snippet_region.sub(lambda found: found[1] + code(found[2], found[3]) + found[4], new)
    new = file_region.sub(lambda found: found[1] + lines_of(found[2], found[3]) + found[4], new)
    new = diff_region.sub(lambda found: found[1] + difference(found[2], found[3]) + found[4], new)
    new = puzzles_region.sub(lambda found: found[1] + puzzles.listed(root, found[2]) + found[3], new)
    new = picture_region.sub(lambda found: found[1] + picture_on(page, found[2], found[3]) + found[4], new)
    new = all_puzzles_region.sub(lambda found: found[1] + puzzles.all_of_them(root) + found[2], new)
    if "--code" not in options:
        new = drawn_region.sub(lambda found: found[1] + who_works_when(found[2]) + found[3], new)
        new = region.sub(lambda found: found[1] + table(found[2], found[3]) + found[4], new)
        new = recorded_region.sub(lambda found: found[1] + recorded_table(found[2], found[3], found[4]) + found[5], new)
        new = figure_region.sub(lambda found: found[1] + recorded_figure(*found.group(2, 3, 4, 5)) + found[6], new)
        new = calc_region.sub(lambda found: found[1] + calculated(found[2], found[3]) + found[4], new)
        new = bounds_region.sub(lambda found: found[1] + bounds.tables(root, found[2]) + found[3], new)
        new = dram_region.sub(lambda found: found[1] + dram_table(found[2], found[3]) + found[4], new)
        new = loops_region.sub(lambda found: found[1] + loops_table(found[2], found[3]) + found[4], new)
        new = stalls_region.sub(lambda found: found[1] + stalls_table(found[2], found[3]) + found[4], new)
        new = tensor_region.sub(lambda found: found[1] + tensor_table(found[2]) + found[3], new)
        new = spmv_region.sub(lambda found: found[1] + spmv_table(found[2]) + found[3], new)
        new = preprocess_region.sub(
            lambda found: found[1] + (counted_preprocess_table(found[3]) if found[2] == "sim" else preprocess_table(found[2])) + found[4], new)
        new = traffic_region.sub(lambda found: found[1] + traffic_table(found[2], found[3]) + found[4], new)
        new = summary_region.sub(lambda found: found[1] + summary_table(found[2]) + found[3], new)
        new = strip_region.sub(lambda found: found[1] + strip.strip(root, GPU, found[2]) + found[3], new)
        new = plot_region.sub(lambda found: found[1] + plot(found[2], found[3]) + found[4], new)
        for found in ladder_region.finditer(new):
            picture, (text, words) = root / f"docs/results/{found[2]}-matmul.svg", ladder(found[2])
            drawn(picture, text)
            new = new.replace(found[0], f'{found[1]}\n<img src="{picture.relative_to(root)}" alt="{words}">\n\n{found[3]}')
    if new == old:
        continue
    stale.append(page.relative_to(root))
    if "--check" not in options:
        page.write_text(new)
        print("updated", page.relative_to(root))
if stale and "--check" in options:
    print("not up to date:", *stale, "- run common/scripts/record/update-results.py", file=sys.stderr)
    sys.exit(1)
