#!/usr/bin/env python3
"""Puts one lesson's run into the record of a GPU, in place of the one that is there:

    build/gpu/bin/10_wide_loads --json part.json
    common/scripts/record/replace-record.py docs/results/nvidia-h200.json part.json [COMMIT]

The runs stay in the order of the lessons. A run on another GPU than the record's is refused. COMMIT: what the run is to name, where
the machine that made it had no git.
"""
import json
import sys


def as_text(run):
    """A row in a line: it can be read, and a changed row is a changed line."""
    head = json.dumps({key: value for key, value in run.items() if key != "rows"}, indent=1, ensure_ascii=False)
    rows = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in run["rows"])
    return f'{head[:-2]},\n "rows": [\n{rows}\n ]\n}}'


if len(sys.argv) not in (3, 4):
    sys.exit(__doc__)
target, part = sys.argv[1:3]
record, run = json.load(open(target)), json.load(open(part))
gpu = record["runs"][0]["machine"]["name"]
if run["machine"]["name"] != gpu:
    print(f"{part} was run on {run['machine']['name']}, {target} is of {gpu}", file=sys.stderr)
    sys.exit(2)
words = run["command_line"].split()
if "--json" in words:
    words[words.index("--json") + 1] = "part.json"
run["command_line"] = " ".join([run["program"], *words[1:]])
if len(sys.argv) == 4:
    run["commit"] = sys.argv[3]
runs = [known for known in record["runs"] if known["program"] != run["program"]] + [run]
runs.sort(key=lambda known: known["program"])
text = "\n,\n".join(map(as_text, runs))
open(target, "w").write(f'{{"runs": [\n{text}\n]}}\n')
print(f"{target}: {run['program']}, {len(run['rows'])} rows")
