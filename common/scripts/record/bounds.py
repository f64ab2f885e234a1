"""Bounds beside measured times: what record-bounds.py and update-results.py share."""
import statistics

from columns import blocks, markdown, number, time
from records import of_parts, record, recorded, runs_of


def key_of(program, row):
    """What tells a row from the others of its program, on the GPU and on the simulator alike."""
    return (program, row.get("part", ""), row.get("what", ""), row["kernel"], row.get("shape", ""), row.get("tile", 0),
            tuple(row.get("extra", {}).items()))


def pairs(gpu):
    """(row with its bound, measured ms) for all rows of docs/results/bounds-<gpu>.json that were timed."""
    measured = {key_of(program, row): row["time"]["median_ms"] for program, run in runs_of(gpu).items() for row in of_parts(run, [])
                if "time" in row}
    rows = record(f"bounds-{gpu}")["rows"]
    return [(row, measured[key_of(row["program"], row)]) for row in rows if key_of(row["program"], row) in measured]


def percent(share):
    return number(share, "percent")


def moved_by_dram(row, dram):
    """Bytes that DRAM moved for such a row, by what was recorded of one with fewer words; 0 when none was."""
    for name, value in row.get("extra", {}).items():
        for other in dram["rows"]:
            if other["kernel"] == row["kernel"] and other["what"] == f"{name} {value}":
                words = int(row["shape"].split()[0].replace(",", "")) // (int(value) if name == "stride" else 1)
                c = other["counters"]
                return words * (c["dram__bytes_read.sum"] + c["dram__bytes_write.sum"]) / other["words"]
    return 0


def remark(row, ms, rate, dram):
    """What is known of a row that is far above its bound. `rate`: of DRAM, bytes per second; `dram`: what was recorded of it."""
    bound, seconds = row["bound"], ms * 1e-3
    if bound["seconds"] >= 0.75 * seconds:
        return ""
    said = []
    distinct = sum(row["counts"].values())
    moved = moved_by_dram(row, dram)
    if moved > 1.1 * distinct:
        said.append(f"DRAM moves {moved / distinct:.1f} times the distinct sectors: {percent(moved / rate / seconds)}")
    elif "DRAM" in bound["all"] and distinct / rate >= 0.75 * seconds:
        said.append(f"DRAM, if L2 keeps nothing: {percent(distinct / rate / seconds)}")
    waiting = bound.get("in_flight", {})
    if "DRAM" in bound["all"] and waiting and waiting["bytes"] < waiting["dram_needs"]:
        said.append(f"one load per thread is {waiting['bytes']:,.0f} bytes in flight per SM, DRAM needs {waiting['dram_needs']:,.0f}")
    others = sorted(((s / seconds, part) for part, s in bound["all"].items() if part != bound["by"]), reverse=True)
    others = [f"{part} {percent(share)}" for share, part in others if share >= 0.25]
    if others:
        said.append("next: " + ", ".join(others[:2]))
    return "; ".join(said)


def tables(gpu):
    """A line for each program, and folded below it all its rows."""
    rate = 1e9 * record(gpu)["runs"][0]["machine"]["peak_bandwidth_gbs"]
    dram = record(f"dram-{gpu}") if recorded(f"dram-{gpu}") else {"rows": []}
    found = pairs(gpu)
    lines, folded = [], []
    for program in dict.fromkeys(row["program"] for row, _ in found):
        rows = [(row, ms) for row, ms in found if row["program"] == program]
        shares = [1e3 * row["bound"]["seconds"] / ms for row, ms in rows]
        lines.append([program, str(len(rows)), *(percent(of(shares)) for of in (min, statistics.median, max)),
                      str(sum(share >= 0.75 for share in shares))])
        cells = []
        for (row, ms), share in zip(rows, shares):
            which = [row["what"]] if "what" in row else []
            which += [f"tile {row['tile']}"] if "tile" in row else []
            which += [f"{name} {value}" for name, value in row.get("extra", {}).items() if value != "-"]
            cells.append([row.get("shape", ""), f"`{row['kernel']}`", ", ".join(which), time(1e3 * row["bound"]["seconds"]),
                          row["bound"]["by"], time(ms), percent(share), remark(row, ms, rate, dram)])
        titles = ["shape", "kernel", "", "at least", "of what part", "took", "share", "what else is known"]
        folded += ["<details>", f"<summary><b>{program}</b></summary>", "", markdown(titles, cells), "", "</details>", ""]
    file = record(f"bounds-{gpu}")
    sampled = [row for row, _ in found if "sample" in row]
    note = f"{file['gpu']}. Times: docs/results/{gpu}.json, medians. Bounds: docs/results/bounds-{gpu}.json, commit {file['commit']}"
    if sampled:
        note += f"; {len(sampled)} of {len(found)} rows were counted in {sampled[0]['sample']} blocks of each launch and scaled"
    titles = ["lesson", "kernels", "of the time: at least", "median", "at most", "75 % and more"]
    return blocks(markdown(titles, lines), f"{note}.", "\n".join(folded).rstrip())
