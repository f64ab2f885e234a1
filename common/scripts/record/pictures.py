"""Pictures of recorded results, for pages that would show a long table otherwise.

update-results.py writes them to docs/results/<gpu>-NAME.svg, and between `<!-- picture:<gpu> NAME -->` and `<!-- /picture -->` in a
page; with --check it says which are not those of now. They are drawn here, so that the check needs nothing but Python.
All are 455 wide with text of 17 pixels: readable on a phone without scrolling, in a fold as well. They follow dark mode, as the lessons' figures do.
"""
import math
import re
import statistics

import bounds
from records import runs_of

WIDTH, SIZE, LEFT = 455, 17, 16
SHAPES = ["circle", "square", "diamond", "triangle", "ring", "cross"]  # beside the colour, for who sees few of them
STYLE = """<style>
    .page { fill: #fdfdfb; stroke: #c9c9c4 } .grid { stroke: #d5d8dc } .axis { stroke: #57606a; stroke-width: 1.2 }
    .mark { stroke: #57606a; stroke-width: 1.4; stroke-dasharray: 5 4 } .lead { stroke: #8b98a5; stroke-width: 1 }
    .c0 { --c: #2f7fd1 } .c1 { --c: #c8700a } .c2 { --c: #23864a } .c3 { --c: #8b5fbf } .c4 { --c: #c9372c } .c5 { --c: #6e7781 }
    .bar, .dot { fill: var(--c) } .line, .ring { stroke: var(--c); stroke-width: 2.2; fill: none } .faint { fill-opacity: .45 }
    text { fill: #1f2328; font: 17px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif }
    .title { font-weight: 600 } .soft { fill: #57606a } .end { text-anchor: end } .mid { text-anchor: middle }
    @media (prefers-color-scheme: dark) {
      .page { fill: #1b1f24; stroke: #444c56 } .grid { stroke: #373e47 } .axis, .mark { stroke: #adbac7 } .lead { stroke: #6e7781 }
      .c0 { --c: #4b9bea } .c1 { --c: #f0a03c } .c2 { --c: #46b877 } .c3 { --c: #a685d6 } .c4 { --c: #f0685e } .c5 { --c: #8b98a5 }
      text { fill: #e6edf3 } .soft { fill: #adbac7 }
    }
  </style>"""


# ---------------------------------------------------------------- drawing

def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def width_of(text):
    """Pixels that the text needs at most, with DejaVu Sans, the widest of the usual fonts."""
    kinds = [("ilj.,:;|'! ()[]", 0.4), ("ftrI-/", 0.48), ("mwMW%@", 0.97), ("<>=+", 0.84)]
    of = lambda c: next((width for letters, width in kinds if c in letters), 0.74 if c.isupper() else 0.64)
    return SIZE * sum(map(of, text))


def wrapped(text, room):
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if width_of(longer) * 1.06 <= room:  # titles are bold
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


class Drawing:
    """A card with a title; what is drawn goes below `at`."""

    def __init__(self, title):
        self.parts, self.at = [], 10
        for line in wrapped(title, WIDTH - 2 * LEFT):
            self.at += 23
            self.text(LEFT, self.at, line, "title")
        self.at += 14

    def add(self, part):
        self.parts.append("  " + part)

    def text(self, x, y, words, kind=""):
        self.add(f'<text x="{x:.4g}" y="{y:.4g}"' + (f' class="{kind}"' if kind else "") + f">{escaped(words)}</text>")

    def line(self, x1, y1, x2, y2, kind):
        self.add(f'<line class="{kind}" x1="{x1:.4g}" y1="{y1:.4g}" x2="{x2:.4g}" y2="{y2:.4g}"/>')

    def note(self, words):
        for line in wrapped(words, WIDTH - 2 * LEFT):
            self.at += 22
            self.text(LEFT, self.at, line, "soft")

    def point(self, x, y, series, faint=""):
        shape = SHAPES[(series + 2 * (series // 6)) % 6]  # from the seventh on a colour has another shape
        kind = f"dot c{series % 6}{faint}"
        if shape == "circle":
            self.add(f'<circle class="{kind}" cx="{x:.4g}" cy="{y:.4g}" r="5"/>')
        elif shape == "ring":
            self.add(f'<circle class="ring c{series % 6}" cx="{x:.4g}" cy="{y:.4g}" r="4.5"/>')
        elif shape == "square":
            self.add(f'<rect class="{kind}" x="{x - 4.5:.4g}" y="{y - 4.5:.4g}" width="9" height="9"/>')
        elif shape == "cross":
            self.add(f'<path class="ring c{series % 6}" d="M{x - 4.5:.4g},{y - 4.5:.4g} l9,9 m-9,0 l9,-9"/>')
        else:
            path = "m0,-6.5 l6.5,6.5 l-6.5,6.5 l-6.5,-6.5z" if shape == "diamond" else "m0,-6.5 l6,11 h-12z"
            self.add(f'<path class="{kind}" d="M{x:.4g},{y:.4g} {path}"/>')

    def legend(self, names):
        """What the points mean, in as many columns as there is room for."""
        step = max(map(width_of, names)) + 34
        columns = max(1, int((WIDTH - 2 * LEFT) // step))
        for k, name in enumerate(names):
            x, y = LEFT + k % columns * (WIDTH - 2 * LEFT) / columns, self.at + 10 + k // columns * 24
            self.point(x + 6, y - 1, k)
            self.text(x + 20, y + 5, name)
        self.at += 24 * -(-len(names) // columns) + 8

    def svg(self, words):
        height = round(self.at + 16)
        head = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
                'aria-labelledby="t">', f'  <title id="t">{escaped(words)}</title>', "  " + STYLE,
                f'  <rect class="page" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="10"/>']
        return "\n".join([*head, *self.parts, "</svg>", ""])


def percent(share):
    return f"{100 * share:.1f} %" if share < 0.9995 else f"{100 * share:.0f} %"


def bars(title, rows, written, note=""):
    """rows: (label, value, series). The label stands above its bar, so that long names have room."""
    drawing = Drawing(title)
    room = WIDTH - 2 * LEFT - 8 - max(width_of(written(value)) for _, value, _ in rows)
    largest = max(value for _, value, _ in rows)
    for label, value, series in rows:
        drawing.at += 45
        drawing.text(LEFT, drawing.at - 18, label)
        length = max(1, room * value / largest)
        drawing.add(f'<rect class="bar c{series}" x="{LEFT}" y="{drawing.at - 11:.4g}" width="{length:.4g}" height="13" rx="2"/>')
        drawing.text(LEFT + length + 8, drawing.at + 1, written(value))
    drawing.at += 8
    if note:
        drawing.note(note)
    return drawing


def apart(wanted, step, low, high):
    """Places as near to the wanted ones as may be, `step` apart."""
    order = sorted(range(len(wanted)), key=lambda k: wanted[k])
    places = [wanted[k] for k in order]
    for _ in range(200):
        for k in range(len(places) - 1):
            over = step - (places[k + 1] - places[k])
            if over > 0.01:
                places[k] -= over / 2
                places[k + 1] += over / 2
        places = [min(max(place, low + step * k), high - step * (len(places) - 1 - k)) for k, place in enumerate(places)]
    return dict(zip(order, places))


def curves(title, xs, x_title, series, top, ticks, note=""):
    """series: (label, [(x, share)]); x one of xs, evenly apart. Labels stand at the right, led to by a line."""
    drawing = Drawing(title)
    labels = max(width_of(label) for label, _ in series) + 30
    left, right, head, foot = LEFT + 58, WIDTH - LEFT - labels, drawing.at + 14, drawing.at + 14 + max(260, 24 * len(series))
    x_of = lambda x: left + 14 + (right - left - 28) * xs.index(x) / max(1, len(xs) - 1)
    y_of = lambda y: foot - (foot - head) * y / top
    for tick in ticks:
        drawing.line(left, y_of(tick), right, y_of(tick), "mark" if tick == 1 else "grid")
        drawing.text(left - 8, y_of(tick) + 6, f"{100 * tick:.0f} %", "end")
    drawing.line(left, foot, right, foot, "axis")
    for k, x in enumerate(xs):
        drawing.line(x_of(x), foot, x_of(x), foot + 5, "axis")
        if width_of("16384") + 8 <= (x_of(xs[-1]) - x_of(xs[0])) / max(1, len(xs) - 1) or k % 2 == (len(xs) - 1) % 2:
            drawing.text(x_of(x), foot + 24, str(x), "mid")
    drawing.text((left + right) / 2, foot + 48, x_title, "mid soft")
    places = apart([y_of(points[-1][1]) for _, points in series], 23, head, foot)
    for k, (label, points) in enumerate(series):
        at = [(x_of(x), y_of(y)) for x, y in points]
        drawing.add(f'<polyline class="line c{k % 6}" points="' + " ".join(f"{x:.4g},{y:.4g}" for x, y in at) + '"/>')
        drawing.line(at[-1][0] + 7, at[-1][1], right + 6, places[k], "lead")
        for x, y in at:
            drawing.point(x, y, k)
        drawing.text(right + 12, places[k] + 6, label)
    drawing.at = foot + 52
    if note:
        drawing.note(note)
    return drawing


def strips(title, rows, names, x_title, x_of_share, ticks, note="", faint="", middle=False):
    """rows: (label, [(series, share)]): each a line with points. x_of_share: 0 .. 1, from left to right."""
    drawing = Drawing(title)
    if names:
        drawing.legend(names)
    left, right = LEFT + 12, WIDTH - LEFT - 18
    x_of = lambda share: left + (right - left) * x_of_share(share)
    top = drawing.at
    drawing.at += 8
    body = len(drawing.parts)
    for label, points in rows:
        drawing.at += 50
        drawing.text(LEFT, drawing.at - 24, label)
        drawing.line(left - 12, drawing.at - 6, right + 18, drawing.at - 6, "lead")
        for k, (series, share) in enumerate(points):
            drawing.point(x_of(share), drawing.at - 6 + (k % 3 - 1) * (4 if faint else 0), series, faint)
        if middle:
            shares = sorted(share for _, share in points)
            x = x_of((shares[len(shares) // 2] + shares[(len(shares) - 1) // 2]) / 2)
            drawing.line(x, drawing.at - 17, x, drawing.at + 5, "axis")
    foot = drawing.at + 10
    grid = Drawing("")
    grid.parts = []
    for share, words in ticks:
        grid.line(x_of(share), top + 6, x_of(share), foot, "mark" if share == 1 else "grid")
        drawing.text(x_of(share), foot + 18, words, "mid")
    drawing.parts[body:body] = grid.parts  # below the points
    drawing.text((left + right) / 2, foot + 42, x_title, "mid soft")
    drawing.at = foot + 46
    if note:
        drawing.note(note)
    return drawing


# ---------------------------------------------------------------- what is recorded

class Records:
    def __init__(self, gpu):
        self.gpu, self.runs, self.counted = gpu, runs_of(gpu), runs_of(f"simulated-{gpu}")
        self.machine = next(iter(self.runs.values()))["machine"]["name"]

    def rows(self, program, **wanted):
        of = lambda row, key: row.get(key, row.get("extra", {}).get(key))
        return [row for row in self.runs[program]["rows"]
                if row["status"] == "OK" and "time" in row and all(of(row, key) == value for key, value in wanted.items())]


def without_arguments(kernel):
    return kernel.split("<")[0]


def in_words(pairs, written=percent):
    return "; ".join(f"{name} {written(value)}" for name, value in pairs)


# ---------------------------------------------------------------- products of matrices

def own_kernels(records):
    """{kernel: lesson}: the first lesson whose record has the kernel; libraries belong to none."""
    lesson = {}
    for program in sorted(records.runs):
        for row in records.rows(program):
            if not re.match("cu(blas|sparse|da)|sgemm_|CUBLAS", row["kernel"]):
                lesson.setdefault(without_arguments(row["kernel"]), program[:2])
    return lesson


def shares_of_cublas(records):
    """{lesson and kernel's group: {n: share}} of square products, the fastest of a lesson's own kernels at each size. Only what was
    timed in turns with cuBLAS counts."""
    lesson, found = own_kernels(records), {}
    for program in records.runs:
        for row in records.rows(program):
            n = row.get("shape", "").split(" x ")
            share = row.get("speedup", {}).get("best_cuBLAS")
            if len(set(n)) != 1 or len(n) != 3 or share is None or not row["speedup"].get("in_turns") or row["kernel"].startswith("cublas"):
                continue
            kernel = without_arguments(row["kernel"])
            if kernel not in lesson:
                continue
            group = (lesson[kernel], kernel.endswith("row_on_x"))
            at = found.setdefault(group, {})
            at[int(n[0])] = max(share, at.get(int(n[0]), 0))
    return found


STEPS = {("01", True): "01 rows on x", ("01", False): "01 naive", ("02", False): "02 tiles", ("03", False): "03 padded",
         ("09", False): "09 registers", ("10", False): "10 wide loads", ("11", False): "11 async", ("12", False): "12 past cuBLAS"}
SIZES = [512, 1024, 2048, 4096, 8192, 16384]


def steps(records, lessons, title, top):
    shares = shares_of_cublas(records)
    series = []
    for group, name in STEPS.items():
        points = [(n, shares.get(group, {})[n]) for n in SIZES if n in shares.get(group, {})]
        if group[0] in lessons and points:
            series.append((name, points))
    xs = [n for n in SIZES if any(n == x for _, points in series for x, _ in points)]
    words = f"{title}: " + "; ".join(f"{name} {percent(points[0][1])} at {points[0][0]}, {percent(points[-1][1])} at {points[-1][0]}"
                                     for name, points in series)
    ticks = [tick for tick in (0, 0.25, 0.5, 0.75, 1, 1.25) if tick <= top]
    note = f"{records.machine}. Each lesson's fastest kernel at each size, timed in turns with cuBLAS."
    return curves(title, xs, "rows = columns = K", series, top, ticks, note), words


def ladder(records):
    return steps(records, [group[0] for group in STEPS], "Share of cuBLAS's speed, by the matrices' size", 1.33)


def first_steps(records):
    return steps(records, ["01", "02", "03"], "Lessons 01 to 03: share of cuBLAS's speed, by the matrices' size", 1.0)


def past_cublas(records):
    kinds = {"past_cublas": "shared out", "sliced_tiles<64": "slices 64 x 128", "sliced_tiles<32": "slices 32 x 64"}
    series = []
    for begin, name in kinds.items():
        at = {}
        for row in records.rows("12_past_cublas"):
            n = row["shape"].split(" x ")
            if row["kernel"].startswith(begin) and int(n[0]) in SIZES:
                at[int(n[0])] = max(row["speedup"]["best_cuBLAS"], at.get(int(n[0]), 0))
        series.append((name, sorted(at.items())))
    title = "Lesson 12's kernels: share of cuBLAS's speed, by the matrices' size"
    words = f"{title}: " + "; ".join(f"{name} " + ", ".join(f"{percent(share)} at {n}" for n, share in points) for name, points in series)
    note = f"{records.machine}. past_cublas, which shares out the last tiles: the fastest of its three; and sliced_tiles."
    return curves(title, SIZES, "rows = columns = K", series, 1.33, (0, 0.25, 0.5, 0.75, 1, 1.25), note), words


def tensor_cores(records):
    rows = [row for row in records.rows("13_tensor_cores", part="16-bit") if not row["kernel"].startswith("cublas")]
    series = {}
    for row in rows:
        n = int(row["shape"].split(" ")[0])
        if len(set(row["shape"].split(" x "))) == 1:
            series.setdefault(without_arguments(row["kernel"]), []).append((n, row["speedup"]["best_cuBLASLt"]))
    series = [(name, sorted(points)) for name, points in series.items()]
    xs = sorted({n for _, points in series for n, _ in points})
    title = "bfloat16 on tensor cores: share of cuBLASLt's speed"
    words = f"{title}: " + "; ".join(f"{name} " + ", ".join(f"{percent(share)} at {n}" for n, share in points) for name, points in series)
    return curves(title, xs, "rows = columns = K", series, 1.1, (0, 0.25, 0.5, 0.75, 1), f"{records.machine}, timed in turns."), words


def at_4096(records):
    """Lesson 07's kernels beside the library."""
    rows = [row for row in records.rows("07_cublas_sgemm", part="kernels", shape="4096 x 4096 x 4096")]
    rows = [(row["kernel"], row["speedup"]["best_cuBLAS"], 5 if row["kernel"].startswith(("cublas", "sgemm")) else 0) for row in rows]
    title = "4096 x 4096 x 4096 floats: share of cuBLAS's speed"
    return bars(title, rows, percent, note=f"{records.machine}. Grey: calls of the library."), f"{title}: {in_words((name, share) for name, share, _ in rows)}"


def tiles(records):
    rows = []
    for tile in (8, 16, 32):
        for kernel, name, series in (("naive_matmul", "naive, blocks of", 5), ("tiled_matmul", "tiles of", 0)):
            row = records.rows("02_tiled_matmul", kernel=kernel, tile=tile, shape="4096 x 4096 x 4096")[0]
            rows.append((f"{name} {tile} x {tile}", row["time"]["median_ms"], series))
    title = "One product of 4096 x 4096 x 4096 floats: milliseconds"
    written = lambda ms: f"{ms:.1f} ms"
    return bars(title, rows, written, note=f"{records.machine}. Shorter is faster."), f"{title}: {in_words(((name, ms) for name, ms, _ in rows), written)}"


# ---------------------------------------------------------------- what moves data

def transpose(records):
    rows, begun = [], {"copy": 5, "cudaMemcpy": 5, "transpose_strided": 1, "transpose": 0}
    for row in records.rows("04_transpose", shape="16384 x 16384"):
        if row["extra"]["L2 hint"] != "-" or row.get("tile") == 16 or re.search("swizzled|Sgeam|<rows>", row["kernel"]):
            continue
        series = next(series for begin, series in begun.items() if row["kernel"].startswith(begin))
        rows.append((row["kernel"], row["speedup"]["best_copy"], series))
    title = "16384 x 16384 floats: share of a copy's speed"
    note = f"{records.machine}. Grey: copies; orange: one side strided; blue: through shared memory."
    return bars(title, rows, percent, note), f"{title}: {in_words((name, share) for name, share, _ in rows)}"


def passes(records):
    """What the simulator counts, and how long it took: shared memory makes a pass a clock."""
    counted = {(row["kernel"], row["extra"]["stride"]): row["counts"]["shared_load_wavefronts"] / row["counts"]["shared_loads"]
               for row in records.counted["03_padded_tiles"]["rows"] if row.get("part") == "strides" and row["status"] == "OK"}
    names = ["window_sums<float>", "window_sums<float2>", "window_sums<float4>"]
    points = []
    for row in records.rows("03_padded_tiles", part="strides"):
        if (row["kernel"], row["extra"]["stride"]) in counted:
            points.append((names.index(row["kernel"]), counted[row["kernel"], row["extra"]["stride"]], row["time"]["median_ms"]))
    one = records.rows("03_padded_tiles", part="strides", kernel=names[0], stride="1")[0]
    pass_ms = one["time"]["median_ms"] * one["figure"]["share_of_peak"]  # if every clock had its pass
    title = "Time over passes of shared memory for each load, at all strides"
    drawing = Drawing(title)
    drawing.legend([re.sub(r".*<(.*)>", r"\1", name) for name in names])
    left, right, head, foot = LEFT + 72, WIDTH - LEFT - 12, drawing.at + 10, drawing.at + 310
    low, high = 0.8, 40
    x_of = lambda count: left + (right - left) * math.log(count / low) / math.log(high / low)
    y_of = lambda ms: foot - (foot - head) * math.log(ms / (low * pass_ms)) / math.log(high / low)
    for tick in (1, 2, 4, 8, 16, 32):
        drawing.line(x_of(tick), head, x_of(tick), foot, "grid")
        drawing.text(x_of(tick), foot + 22, str(tick), "mid")
    for ms in (0.25, 0.5, 1, 2, 4, 8):
        drawing.line(left, y_of(ms), right, y_of(ms), "grid")
        drawing.text(left - 8, y_of(ms) + 6, f"{ms:g} ms", "end")
    drawing.line(x_of(low), y_of(low * pass_ms), x_of(high), y_of(high * pass_ms), "mark")
    drawing.line(left, foot, right, foot, "axis")
    for series, count, ms in points:
        drawing.point(x_of(count), y_of(ms), series, " faint")
    drawing.text((left + right) / 2, foot + 46, "passes that the simulator counts", "mid soft")
    drawing.at = foot + 50
    drawing.note(f"{records.machine}, {len(points)} runs. Dashed: one pass in every clock, which nothing can beat.")
    return drawing, f"{title}: {len(points)} points, and all lie on or just above the line of one pass per clock, from " \
                    f"{min(ms for _, _, ms in points):.2f} ms at one pass to {max(ms for _, _, ms in points):.2f} ms at 32."


LANES = [("spmv_scalar", "a thread per row"), ("spmv_vector", "lanes per row"), ("spmv_vector<32>", "a warp per row"),
         ("spmv_unrolled", "8 loads ahead"), ("spmv_balanced", "equal shares")]


def spmv(records, matrices):
    kinds = [kind for kind, _ in LANES]
    rows, words = [], []
    for matrix in matrices or dict.fromkeys(row["extra"]["matrix"] for row in records.rows("06_csr_spmv")):
        points = []
        for row in records.rows("06_csr_spmv", matrix=matrix):
            kernel = row["kernel"] if row["kernel"] == "spmv_vector<32>" else without_arguments(row["kernel"])
            if kernel in kinds:
                points.append((kinds.index(kernel), row["speedup"]["best_cuSPARSE"]))
        rows.append((matrix, points))
        words.append(f"{matrix}: " + in_words((LANES[series][1], share) for series, share in points))
    title = "Sparse matrix times vector: share of cuSPARSE's speed"
    x_of = lambda share: math.log(share / 0.0015) / math.log(2 / 0.0015)
    ticks = [(0.002, "0.2 %"), (0.01, "1 %"), (0.1, "10 %"), (1, "100 %")]
    note = f"{records.machine}, floats. Each step to the right is ten times as fast; dashed: cuSPARSE."
    return strips(title, rows, [name for _, name in LANES], "share of cuSPARSE, logarithmic", x_of, ticks, note), f"{title}. {'. '.join(words)}"


# ---------------------------------------------------------------- bounds

def shares_of_bounds(records):
    rows = {}
    for row, ms in bounds.pairs(records.gpu):
        rows.setdefault(row["program"], []).append((0, 1e3 * row["bound"]["seconds"] / ms))
    median = lambda points: statistics.median(share for _, share in points)
    title = "Least time by the bound, as a share of the measured time"
    words = f"{title}: a point for each kernel and size, by lesson. Medians: {in_words((program, median(points)) for program, points in rows.items())}. No point is above 100 %."
    ticks = [(0, "0"), (0.25, "25 %"), (0.5, "50 %"), (0.75, "75 %"), (1, "100 %")]
    note = f"{records.machine}. A point for each kernel and size; the upright stroke is the median."
    return strips(title, list(rows.items()), [], "share of the measured time", lambda share: share, ticks, note, " faint", True), words


PICTURES = {
    "02-tiles": tiles, "03-passes": passes, "04-transpose": transpose,
    "06-three": lambda records: spmv(records, ["stencil2d", "zipf", "uniform"]), "06-matrices": lambda records: spmv(records, None),
    "07-share": at_4096, "07-sizes": first_steps, "12-ladder": ladder, "12-sizes": past_cublas, "13-sizes": tensor_cores,
    "bounds": shares_of_bounds,
}


def picture(gpu, name):
    """The picture's SVG, and the words for who cannot see it."""
    drawing, words = PICTURES[name](Records(gpu))
    words = words.rstrip(".") + "."
    return drawing.svg(words), words
