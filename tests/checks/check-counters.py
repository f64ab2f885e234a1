#!/usr/bin/env python3
"""check-counters.py: docs/counters.md names each counter and each derived figure of the simulator's reports, once, and no other."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
table = (ROOT / "common/simulator/include/tilewise_sim/report.hpp").read_text(encoding="utf-8")
report = (ROOT / "common/simulator/model/report.cpp").read_text(encoding="utf-8")
page = (ROOT / "docs/counters.md").read_text(encoding="utf-8")

counters = re.findall(r'\{"([a-z0-9_.]+)",\s*&Counters::', table)
function = re.search(r"^Json derived_json\(.*?^}", report, re.M | re.S)
derived = re.findall(r'(?:\{|derived\[)"([a-z0-9_]+)"', function[0]) if function else []
named = [name for line in re.findall(r"^- (.*?):", page, re.M | re.S) for name in re.findall(r"`([a-z0-9_.]+)`", line)]
named += re.findall(r", and `([a-z_]+)` what", page)

wrong = [f"docs/counters.md does not name {name}" for name in counters + derived if name not in named]
wrong += [f"docs/counters.md names {name}, which no report has" for name in named if name not in counters + derived]
wrong += [f"docs/counters.md names {name} twice" for name in sorted(set(named)) if named.count(name) > 1]
if len(counters) < 20 or len(derived) < 10:
    wrong.append(f"only {len(counters)} counters and {len(derived)} derived figures were found in the sources")
print("\n".join(wrong) if wrong else f"{len(counters)} counters and {len(derived)} derived figures, each with its line")
sys.exit(1 if wrong else 0)
