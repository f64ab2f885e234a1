#!/usr/bin/env python3
"""Draws what a program recorded, as SVG. For maintainers; needs Python 3 and gnuplot, which nothing else does.

    common/scripts/record/plot-results.py FILE.json [FOLDER]
    common/scripts/record/plot-results.py --check     are the pictures in docs/results those of the records? Exit code 1 if one isn't,
                                               77 without gnuplot, or with another version than they were drawn with

FILE.json is what record-results.sh wrote (docs/results/nvidia-h200-05-sweeps.json), or a program with --json. The pictures go to
FOLDER (default: where the file lies) and are named after the machine: nvidia-h200-05-stride.svg. From a GPU they show
the share of a copy that is reached, from the simulator the sectors of a request, each beside what the formula says; and,
from a GPU only, the roofline that lesson 08 measured: nvidia-h200-08-roofline.svg.
They have no background, and follow the reader's light or dark mode.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COLOURS = ["#2f7fd1", "#e08a1e", "#2f9e5b", "#8b5fbf"]  # readable on white and on black
INK = "#6b7785"  # replaced by a class, see finish()


def curves(runs, program, part, swept):
    """{kernel: {stride: row}} of all recorded runs; a later run replaces what an earlier one said."""
    found = {}
    for run in runs:
        for row in run["rows"] if run["program"] == program else []:
            if row.get("part") == part and row["status"] == "OK":
                found.setdefault(row["kernel"], {})[int(row["extra"][swept])] = row
    return found


def word_bytes(kernel):
    return 4 * int(re.search(r"<float(\d?)>", kernel)[1] or 1)


def words_text(kernel):
    return f"{kernel.split('<')[0]}, {word_bytes(kernel)} bytes"


def share_of_copy(row):
    return 100 * row["speedup"]["best_copy"]


def share_by_sectors(row):
    """What a copy would reach if only sectors cost anything: words that are wanted / words that travel."""
    wanted = row["figure"]["value"] * 1e9 * row["time"]["median_ms"] * 1e-3  # bytes
    return 100 * wanted / (32 * (row["formula"]["load_sectors"] + row["formula"]["store_sectors"]))


def sectors_per_load(row):
    return row["counts"]["global_load_sectors"] / row["counts"]["global_load_requests"]


def formula_per_load(row):
    return row["formula"]["load_sectors"] / row["counts"]["global_load_requests"]


def block(points):
    return "".join(f"{x} {y:.6g}\n" for x, y in points) + "e\n"


def draw(path, title, description, x_title, y_title, settings, lines):
    """lines: (name, style, points). Names without a text are not in the key."""
    plots = ", ".join(f"'-' using 1:2 with {style} " + (f"title '{name}'" if name else "notitle")
                      for name, style, _ in lines)
    script = f"""set terminal svg size 760,400 dynamic noenhanced font 'system-ui,13'
set border 3 linecolor rgb '{INK}'
set xtics nomirror textcolor rgb '{INK}'
set ytics nomirror textcolor rgb '{INK}'
set grid ytics linecolor rgb '{INK}' linewidth 0.3
set key textcolor rgb '{INK}' samplen 2
set xlabel '{x_title}' textcolor rgb '{INK}'
set ylabel '{y_title}' textcolor rgb '{INK}'
{settings}
plot {plots}
""" + "".join(block(points) for _, _, points in lines)
    done = subprocess.run(["gnuplot"], input=script, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"gnuplot: {done.stderr.strip()}")
    path.write_text(finish(done.stdout, title, description))
    return [path]


def finish(svg, title, description):
    """No background, the text's colour from a style sheet that knows dark mode, and words for who cannot see it."""
    rgb = [int(INK[i:i + 2], 16) for i in (1, 3, 5)]
    svg = re.sub(r"<rect x=\"0\" y=\"0\" width=\"\d+\" height=\"\d+\" fill=\"#ffffff\"/>\n", "", svg)
    ink = re.compile(rf"(stroke|fill)=(['\"])rgb\({rgb[0]}, ?{rgb[1]}, ?{rgb[2]}\)\2")

    def classes(tag):
        names = [f"ink-{attribute}" for attribute, _ in ink.findall(tag[0])]
        if not names:
            return tag[0]
        names += re.findall(r"class=\"([^\"]*)\"", tag[0])
        rest = re.sub(r"\s*class=\"[^\"]*\"", "", ink.sub("", tag[0]))
        return re.sub(r"^<(\w+)", f"<\\1 class=\"{' '.join(names)}\"", rest)

    svg = re.sub(r"<\w[^>]*>", classes, svg)
    svg = re.sub(r"font-family=\"[^\"]*\"", "", svg)
    svg = re.sub(r"<filter.*?</filter>\s*", "", svg, flags=re.S)
    svg = re.sub(r"<desc>.*?</desc>", f"<desc>{description}</desc>", svg, flags=re.S)
    svg = svg.replace("<title>Gnuplot</title>", f"<title>{title}</title>")
    style = """<style>
  text { font-family: system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif }
  .ink-fill { fill: #57606a } .ink-stroke { stroke: #57606a }
  @media (prefers-color-scheme: dark) { .ink-fill { fill: #adbac7 } .ink-stroke { stroke: #adbac7 } }
</style>
"""
    svg = svg.replace("<g id=\"gnuplot_canvas\">", f"<!-- {version()} -->\n" + style + "<g id=\"gnuplot_canvas\">")
    return re.sub(r"[ \t]+\n", "\n", svg)


def sweep(runs, folder, part, swept, settings):
    """One picture of a sweep of lesson 05; none if no run has it."""
    found = curves(runs, "05_coalescing", part, swept)
    if not found:
        return []
    machine = runs[0]["machine"]
    slug = re.sub(r"[^a-z0-9]+", "-", machine["name"].lower())
    lines = []
    if machine["simulated"]:
        shown = [kernel for kernel in found if kernel.startswith(("strided_read", "shifted_read"))]
        for colour, kernel in zip(COLOURS, shown):
            at = sorted(found[kernel].items())
            lines.append(("", f"lines linecolor rgb '{colour}' linewidth 1.5",
                          [(x, formula_per_load(row)) for x, row in at]))
            lines.append((words_text(kernel), f"points linecolor rgb '{colour}' pointtype 7 pointsize 0.45",
                          [(x, sectors_per_load(row)) for x, row in at]))
        y_title, top = "sectors per request", 34
        title = f"{machine['name']}: sectors per request by {swept}; dots are counted, lines by formula"
    else:
        first = [kernel for kernel in found if word_bytes(kernel) == 4]
        wide = [kernel for kernel in found if kernel in ("strided_copy<float4>", "shifted_read<float4>")]
        for colour, kernel in zip(COLOURS, first + wide):
            at = sorted(found[kernel].items())
            lines.append((words_text(kernel), f"linespoints linecolor rgb '{colour}' linewidth 1.8 pointtype 7 pointsize 0.4",
                          [(x, share_of_copy(row)) for x, row in at]))
            lines.append(("", f"lines linecolor rgb '{colour}' linewidth 1 dashtype 3",
                          [(x, share_by_sectors(row)) for x, row in at]))
        y_title, top = "wanted bytes per second, % of a copy", 105
        title = f"{machine['name']}: share of a copy by {swept}; dotted: what the sectors alone would allow"
    best = {name: max(points, key=lambda p: p[1]) for name, _, points in lines if name}
    worst = {name: min(points, key=lambda p: p[1]) for name, _, points in lines if name}
    description = "; ".join(f"{name}: from {best[name][1]:.0f} at {best[name][0]} to {worst[name][1]:.0f} at {worst[name][0]}"
                            for name in best)
    return draw(folder / f"{slug}-05-{swept}.svg", title, f"{y_title}. {description}", f"{swept}, in words", y_title,
         f"{settings}\nset yrange [0:{top}]", lines)


def timed(runs, program, **wanted):
    """The rows of one lesson that were timed on a GPU, and are what is wanted."""
    rows = [row for run in runs if run["program"] == program and not run["machine"]["simulated"] for row in run["rows"]]
    of = lambda row, key: row.get(key, row.get("extra", {}).get(key))
    return [row for row in rows if row["status"] == "OK" and "figure" in row and all(of(row, k) == v for k, v in wanted.items())]


def matrix_products(runs):
    """FLOP per byte, if each word of A, B and C moves once, and GFLOP/s: products of 4096 x 4096 x 4096."""
    n, shape = 4096, "4096 x 4096 x 4096"
    rows = timed(runs, "01_naive_matmul", shape=shape, tile=32) + timed(runs, "07_cublas_sgemm", shape=shape, part="kernels") + \
        timed(runs, "09_register_tiles", shape=shape)
    return [(2 * n**3 / (3 * 4 * n**2), row["figure"]["value"]) for row in rows]


def sparse_product(runs):
    """The same for a cube's points, tied to the 26 around them: the lesson's GB/s, and what its nonzeros are per byte."""
    found = []
    for row in timed(runs, "06_csr_spmv", kernel="spmv_unrolled<4>", matrix="stencil3d", type="float"):
        rows = int(row["shape"].split()[0])
        nonzeros = (3 * round(rows ** (1 / 3)) - 2) ** 3
        intensity = 2 * nonzeros / (8 * nonzeros + 4 * (rows + 1) + 8 * rows)  # values and columns; row_ptr; x and y
        found.append((intensity, intensity * row["figure"]["value"]))
    return found


def roofline(runs, folder):
    """What lesson 08 reached at which arithmetic intensity, below what its own ceilings allow; none without a run on a GPU."""
    lessons, runs = runs, [run for run in runs if run["program"] == "08_roofline" and not run["machine"]["simulated"]]
    if not runs:
        return []
    machine = runs[-1]["machine"]
    rows = [row for row in runs[-1]["rows"] if row["status"] == "OK" and "figure" in row]
    best = lambda key: max((row["figure"]["value"] for row in rows if row.get("key") == key), default=0)
    points = sorted((row["intensity"], row["figure"]["value"]) for row in rows if row.get("part") == "roofline")
    flops, copied, added = best("fma"), best("dram_copy"), best("vector_add")
    if not (points and flops and copied):
        return []
    products, sparse = matrix_products(lessons), sparse_product(lessons)
    low, high = 0.05, 1.6 * max(intensity for intensity, _ in points + products)
    roof = lambda peak, bandwidth: [(low, low * bandwidth), (peak / bandwidth, peak), (high, peak)]
    peak, bandwidth, balance = machine["peak_fp32_gflops"], machine["peak_bandwidth_gbs"], flops / copied
    lines = [(f"theoretical peaks: {peak:,.0f} GFLOP/s, {bandwidth:,.0f} GB/s",
              f"lines linecolor rgb '{INK}' linewidth 1 dashtype 3", roof(peak, bandwidth)),
             (f"measured ceilings: {flops:,.0f} GFLOP/s, {copied:,.0f} GB/s copied",
              f"lines linecolor rgb '{COLOURS[0]}' linewidth 1.8", roof(flops, copied)),
             (f"balance: {balance:.1f} FLOP per byte", f"lines linecolor rgb '{COLOURS[3]}' linewidth 1 dashtype 2",
              [(balance, flops / 20), (balance, flops)]),  # down to the key
             ("kernel fma_per_element", f"points linecolor rgb '{COLOURS[1]}' pointtype 7 pointsize 0.7", points)]
    if added:  # one addition for 12 bytes
        lines.append(("kernel vector_add", f"points linecolor rgb '{COLOURS[2]}' pointtype 9 pointsize 0.9", [(1 / 12, added / 12)]))
    if sparse:
        lines.append(("sparse product, spmv_unrolled<4> on stencil3d", f"points linecolor rgb '{COLOURS[3]}' pointtype 5 pointsize 0.7", sparse))
    if products:
        lines.append(("matrix products of lessons 01 to 09, 4096", f"points linecolor rgb '{COLOURS[0]}' pointtype 13 pointsize 1", products))
    slug = re.sub(r"[^a-z0-9]+", "-", machine["name"].lower())
    return draw(folder / f"{slug}-08-roofline.svg", f"{machine['name']}: what is reached at which arithmetic intensity",
         f"GFLOP/s over FLOP per byte of DRAM, both logarithmic. The measured points follow {copied:,.0f} GB/s up to the balance "
         f"of {balance:.1f} FLOP per byte and stay near {flops:,.0f} GFLOP/s from there on.",
         "arithmetic intensity, FLOP per byte of DRAM", "GFLOP/s",
         f"set logscale xy\nset xrange [{low}:{high}]\nset yrange [{low * copied / 2}:{1.8 * peak}]\nset format xy '%g'\n"
         f"set grid xtics\nset key at graph 0.94, graph 0.04 right bottom", lines)


def version():
    return subprocess.run(["gnuplot", "--version"], capture_output=True, text=True, check=True).stdout.strip()


def check():
    """Draws all pictures again, elsewhere, and compares."""
    results = pathlib.Path(__file__).resolve().parents[3] / "docs/results"
    stale = []
    with tempfile.TemporaryDirectory() as folder:
        for file in [*results.glob("*-05-sweeps.json"), *(results / f"{gpu.name[7:]}" for gpu in results.glob("bounds-*.json"))]:
            pictures_of(json.loads(file.read_text()), pathlib.Path(folder))
        for new in sorted(pathlib.Path(folder).glob("*.svg")):
            old = results / new.name
            drawn_by = re.search(r"<!-- (gnuplot .*?) -->", old.read_text()) if old.exists() else None
            if drawn_by and drawn_by[1] != version():
                print(f"{old.name} was drawn by {drawn_by[1]}, and here is {version()}")
                return 77
            if not old.exists() or old.read_text() != new.read_text():
                stale.append(new.name)
    if stale:
        print("not those of the records:", *stale, "- run common/scripts/record/plot-results.py", file=sys.stderr)
    return 1 if stale else 0


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-") and sys.argv[1:] != ["--check"]:
        print("usage: plot-results.py FILE.json [FOLDER], or plot-results.py --check", file=sys.stderr)
        return 2
    if not shutil.which("gnuplot"):
        print("plot-results: gnuplot is not here (Debian, Ubuntu: apt-get install gnuplot-nox)", file=sys.stderr)
        return 77
    if sys.argv[1] == "--check":
        return check()
    file = pathlib.Path(sys.argv[1])
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else file.parent
    folder.mkdir(parents=True, exist_ok=True)
    drawn = pictures_of(json.loads(file.read_text()), folder)
    for picture in drawn:
        print(picture)
    if not drawn:
        print(f"plot-results: {file} has no sweep of lesson 05 (05_coalescing --part sweeps --full --json FILE) and no "
              "measured roofline of lesson 08 (08_roofline --json FILE)", file=sys.stderr)
        return 1
    return 0


def pictures_of(recorded, folder):
    """Draws what a program wrote, or of all lessons the roofline: their sweeps are short. Returns the pictures' files."""
    if "runs" in recorded:
        return roofline(recorded["runs"], folder)
    runs = [recorded]
    simulated = runs[0]["machine"]["simulated"]
    height = "set ytics (0, 4, 8, 16, 32)" if simulated else ""
    drawn = sweep(runs, folder, "strides", "stride",
          f"set logscale x 2\nset xrange [0.95:70]\nset xtics (1, 2, 4, 8, 16, 32, 64)\n{height}\n"
          + ("set key bottom right" if simulated else "set key top right"))
    drawn += sweep(runs, folder, "offsets", "offset",
          f"set xrange [-0.5:31.5]\nset xtics 0, 4\n{height}\n"
          + ("set key top right" if simulated else "set key bottom right"))
    return drawn + roofline(runs, folder)


if __name__ == "__main__":
    sys.exit(main())
