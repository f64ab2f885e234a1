"""The tables of results on pages: of a run on the simulator, and of recorded ones. Which columns they have is here, what those are in
columns.inc."""
from columns import blocks, number, shown, table, without_blank, written
from records import chosen, compared, hint, of_parts, parts_and_filters, recorded_run, source_of

IQR = "IQR: third minus first quartile of the times, as a share of the median."


# ---------------------------------------------------------------- what tells the rows of a table from each other

def kernel(row):
    return f"`{row['kernel']}`" if row["kernel"] != "-" else ""


NAMES = {"what": ("", lambda row: row["what"]),
         "shape": ("shape", lambda row: row["shape"]), "tile": ("tile", lambda row: str(row.get("tile", ""))),
         "kernel": ("kernel", kernel), "call": ("call", kernel), "matrix": ("matrix", lambda row: row["extra"]["matrix"])}


def naming(words, rows):
    """The columns of these NAMES; `extra` stands for all that a lesson added of its own."""
    extra = [(name, lambda row, name=name: str(row["extra"][name])) for name in rows[0].get("extra", {})]
    return [entry for word in words.split() for entry in (extra if word == "extra" else [NAMES[word]])]


# ---------------------------------------------------------------- of a run on the simulator

PER_LOAD, PER_STORE = ("sectors per request", "sectors_per_load"), ("sectors per request", "sectors_per_store")
SHARED = ["shared_wavefronts", "conflicts"]  # left out where no row uses shared memory
# Kinds of tables: what names their rows, and what was counted. A shape in brackets stands above the table if all rows have the same.
KINDS = {
    "sparse": ("(shape) matrix kernel", ["load_requests", "lanes_at_work", "load_sectors", PER_LOAD, *SHARED]),
    "parts": ("what kernel", ["steps", "load_requests", PER_LOAD, "store_requests", "shared_wavefronts"]),
    "roofline": ("what kernel", ["load_requests", PER_LOAD, "store_requests", "flops", "intensity"]),
    "errors": ("shape call extra", ["error", "bound"]),
    "l1": ("shape kernel extra tile", ["load_requests", PER_LOAD, "tag_passes_per_load", "data_passes_per_load"]),
    "sectors": ("(shape) kernel extra", ["load_requests", PER_LOAD, "load_formula", "store_requests", PER_STORE, "store_formula", *SHARED]),
    "shared": ("shape kernel extra", ["shared_loads", "wavefronts_per_load", "shared_stores", "wavefronts_per_store", "conflicts"]),
    "moving": ("shape tile kernel extra", ["load_requests", "sectors_per_load", "store_requests", "sectors_per_store", *SHARED]),
    "product": ("(shape) kernel tile", ["load_requests", "load_sectors", PER_LOAD, "intensity", "dram_bytes", *SHARED]),
}
REMARKS = {"sparse": ", float", "errors": "; the calls are computed by the simulator's own library"}


def kind_of(rows, words):
    first = rows[0]
    if "matrix" in first.get("extra", {}):
        return "sparse"
    if "what" in first:  # a program whose rows say what they are about: chapter 08
        return "roofline" if any("intensity" in row for row in rows) else "parts"
    if not any("counts" in row for row in rows):  # library calls alone, which the CPU computes
        return "errors"
    if "l1" in words:
        return "l1"
    if any("load_sectors" in row.get("formula", {}) for row in rows):
        return "sectors"
    if first.get("about") == "shared":
        return "shared"
    return "moving" if first["shape"].count(" x ") == 1 else "product"  # rows x columns, or M x N x K


def counted_cells(row, columns):
    """What was counted of a row, or in the first cell why nothing was."""
    cells = [fill(row) for _, fill in columns]
    if row["status"] != "OK":
        return [f"{row['status']}: {row['reason']}"] + [""] * (len(cells) - 1)
    return cells if any(cells) else ["not counted"] + [""] * (len(cells) - 1)  # no kernel, but a library that the CPU computed


def counted_table(result, words):
    """A run on the simulator. Words with a = choose rows; `l1` asks for passes through L1's stages."""
    _, filters = parts_and_filters(words)
    rows = chosen(result["rows"], filters)
    kind = kind_of(rows, words)
    names, counts = KINDS[kind]
    above = "(shape)" in names and len({row["shape"] for row in rows}) == 1
    names = naming(names.replace("(shape)", "" if above else "shape"), rows)
    shared = any(row.get("counts", {}).get("shared_wavefronts") for row in rows)
    counts = [shown(entry) for entry in counts if shared or entry not in SHARED]
    counts = [(title, fill) for title, fill in counts if any(map(fill, rows))] or counts[:1]
    cells = [[fill(row) for _, fill in names] + counted_cells(row, counts) for row in rows]
    if kind == "moving":  # lessons that move data have several tables: what is the same in all rows of one is left out
        same = [k for k in range(len(names), len(cells[0])) if len({line[k] for line in cells}) == 1]
        cells = [["" if k in same else cell for k, cell in enumerate(line)] for line in cells]
    caption = result["machine"]["name"] + (f", {rows[0]['shape']}" if above else "") + REMARKS.get(kind, "") + ":"
    return blocks(caption, without_blank([title for title, _ in names + counts], cells))


def counted_preprocess_table(result):
    """What the kernels of lesson 06's plan ask for, next to a product by the balanced kernel."""
    parts = ["spmv_cuts", "spmv_row_stats"]
    count = lambda part, what: lambda row: f"{row['preprocess_counts'][part][f'global_load_{what}']:,}"
    both = lambda row: sum(row["preprocess_counts"][part]["global_load_sectors"] for part in parts) / row["counts"]["global_load_sectors"]
    return blocks(f"{result['machine']['name']}, {result['rows'][0]['shape']}, float:", table([
        NAMES["matrix"], ("plan, bytes", lambda row: f"{row['preprocess_bytes']:,}"),
        *(entry for part in parts
          for entry in ((f"`{part}`: load requests", count(part, "requests")), ("sectors", count(part, "sectors")))),
        ("both, of the sectors of one `spmv_balanced`", lambda row: number(both(row), "percent")),
    ], [row for row in result["rows"] if "preprocess_counts" in row]))


# ---------------------------------------------------------------- recorded

def rate(row):
    return f"{written(row, 'rate')} {row['figure']['unit']}"


def recorded_parts_table(run, rows):
    """For programs whose rows say what they are about (chapter 08): cycles, or rates, whichever a row has."""
    waits = [row for row in rows if "latency" in row]
    rates = [row for row in rows if "figure" in row]
    roofline = rates and "intensity" in rates[0]
    of = ["intensity", "of_roof"] if roofline else ["memory", "of_peak"]
    said = [f"{source_of(run)} Medians; every result was checked.", *([IQR] if rates else [])]
    if roofline:
        said.append("The measured roof: the best rate of `fma_chains`, or the intensity times the rate of `copy_words`.")
    tables = [(rates, [of[0], "time", "iqr", ("rate", rate), of[1]]), (waits, ["memory", "cycles", "nanoseconds"])]
    return blocks(*(table(naming("what kernel", some) + entries, some) for some, entries in tables if some), " ".join(said))


def recorded_table(gpu, program, words):
    parts, filters = parts_and_filters(words.split())
    run = recorded_run(gpu, program)
    rows = of_parts(run, parts)
    if not rows:
        return blocks("Not recorded yet.")
    rows = chosen(rows, filters)
    if "what" in rows[0]:
        return recorded_parts_table(run, rows)
    # speedup holds "same_block" and "best_<what the lesson compares with>"
    best = next((key for row in rows for key in row.get("speedup", {}) if key.startswith("best_")), "best_naive")
    unit = rows[0]["figure"]["unit"]
    entries = naming("shape tile kernel extra", rows) + ["time", "iqr", (unit, "rate"), "of_peak", *speedups(run, rows, best, unit)]
    return blocks(table(entries, rows, text=["shape", "kernel"]), caption(run, rows, best))


def speedups(run, rows, best, unit):
    """How rows compare: as a share of the baseline where they move data or say so, else as speed-ups; and its quartiles."""
    def ratio(key, as_):
        return lambda row: number(compared(run, row, key), as_) if compared(run, row, key) else ""

    def quartiles(row):
        q = row.get("speedup", {})  # a row that is the baseline from here on: its turns were with the one before it
        return f"{100 * q['q1']:.1f} to {100 * q['q3']:.1f}" if "q1" in q and q.get(best) != 1 else ""

    share = unit == "GB/s" or any(row.get("speedup", {}).get("share") for row in rows)
    ratios = [("of " + best[5:], ratio(best, "percent"))] if share else \
        [("same block", ratio("same_block", "times")), (best.replace("_", " "), ratio(best, "times"))]
    return [*ratios, ("quartiles", quartiles)]


def names(rows):
    return ", ".join(dict.fromkeys(f"`{row['kernel']}`" for row in rows))


def names_and_shapes(some, rows):
    """Kernels, with their shapes where the same kernel has other rows, too, and with what else tells those apart."""
    kernels = {row["kernel"] for row in some}
    if not any(row["kernel"] in kernels and row not in some for row in rows):
        return names(some)
    shapes = list(dict.fromkeys(row["shape"] for row in some))
    if all(row in some for row in rows if row["shape"] in shapes):
        return "All of " + ", ".join(shapes)
    return ", ".join(dict.fromkeys(name_and_shape(row, some, rows) for row in some))


def name_and_shape(row, some, rows):
    """`kernel`, or `kernel` of 44 x 14, or `kernel` of 44 x 14 (threads 32): as much as it takes to mean none but rows of `some`."""
    others = [other for other in rows if other["kernel"] == row["kernel"] and other not in some]
    if not others:
        return f"`{row['kernel']}`"
    extra = ", ".join(f"{name} {value}" for name, value in row.get("extra", {}).items() if value != "-")
    return f"`{row['kernel']}` of {row['shape']}" + (f" ({extra})" if extra and any(other["shape"] == row["shape"] for other in others) else "")


def caption(run, rows, best):
    """What holds of these rows, and of no others of the run."""
    said = [source_of(run), "Medians of kernel time; every result was checked first.", IQR]
    if any("q1" in row.get("speedup", {}) for row in rows):
        said.append("Quartiles: of the ratio, turn by turn, in %.")
    said += turns(rows, best)
    if any(hint(row) != "-" for row in rows):
        said.append("With a hint, *of copy* is of `copy_evict_last`, which has it, too.")
    said += calls(rows)
    if any(best in row.get("speedup", {}) and compared(run, row, best) is None for row in rows):
        said.append("Where the two were not timed in the same way, no ratio is shown.")
    return " ".join(said)


def turns(rows, best):
    """Which rows were timed in turns with the baseline."""
    by = {"best_copy": "the copy", "best_unpadded": "the unpadded kernel", "best_library": "the library",
          "best_cuSPARSE": "the better of cuSPARSE's algorithms above it, the last row of 100.0 %"}
    measured = [row for row in rows if best in row.get("speedup", {}) and row["speedup"][best] != 1]
    in_turns = [row for row in measured if row["speedup"].get("in_turns")]
    others = [row for row in measured if row not in in_turns]
    alone = any(row.get("speedup", {}).get(best) == 1 for row in rows)
    said = [f"{names(in_turns) if others else 'Each kernel'} was timed in turns with {by.get(best, best[5:])}"
            f"{'; ratios are of those turns, the row of 100.0 % was timed alone' if alone else ''}."] if in_turns else []
    return said + ([f"{names(others) if in_turns else 'The rows'} were timed one after the other, not in turns."] if others else [])


def calls(rows):
    """How the calls that were timed were made: what most rows have in common, and before that the others."""
    ways = {"in a CUDA graph, with L2 as the call before left it": lambda t: t.get("graph"),
            "launched one by one, L2 emptied before each": lambda t: not t.get("graph") and t.get("l2_flushed"),
            "launched one by one, with L2 as the call before left it": lambda t: not t.get("graph") and not t.get("l2_flushed")}
    found = {way: [row for row in rows if fits(row["time"])] for way, fits in ways.items()}
    found = {way: some for way, some in found.items() if some}
    if len(found) == 1:
        return [f"Calls were {list(found)[0]}."]
    most = max(found, key=lambda way: len(found[way]))
    return [*(f"{names_and_shapes(some, rows)}: {way}." for way, some in found.items() if way != most), f"The others: {most}."]


def preprocess_table(gpu):
    """What preprocessing took and when it pays: from lesson 06's rows in docs/results/<gpu>.json; nothing without them."""
    run = recorded_run(gpu, "06_csr_spmv")
    rows = [row for row in of_parts(run, []) if "preprocess_seconds" in row]
    if not rows:
        return ""
    pays = lambda value: f"{value:,}" if isinstance(value, int) else value
    ms = lambda seconds: f"{1e3 * seconds:.3g} ms" if seconds else ""
    return blocks(table([
        NAMES["matrix"], ("product", kernel), ("prepared by", lambda row: f"`{row['preprocess_by']}`"),
        ("memory", lambda row: f"{row['preprocess_bytes']:,} bytes"), ("it takes", lambda row: ms(row["preprocess_seconds"])),
        ("of it `spmv_row_stats`", lambda row: ms(row.get("preprocess_parts", {}).get("spmv_row_stats_seconds"))),
        ("one product", "time"), ("pays against `spmv_scalar` after", lambda row: pays(row["break_even"].get("spmv_scalar", ""))),
        ("against cuSPARSE unprepared after", lambda row: pays(row["break_even"].get("cusparse_unprepared", ""))),
    ], rows), f"{source_of(run)} {rows[0]['extra']['type']}. Medians. Preprocessing by the host's clock, from the call until the device "
        "has done it; products and `spmv_row_stats` by the device's. The last two columns are products; cuSPARSE unprepared is the faster "
        "of its two algorithms without `cusparseSpMV_preprocess()`.")
