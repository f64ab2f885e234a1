#!/usr/bin/env python3
"""check-findings.py: docs/findings.md has a row for each code that the simulator or the grader gives, and no other, and none twice."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(f for room in ("simulator", "grader") for f in (ROOT / "common" / room).rglob("*") if f.suffix in {".cpp", ".hpp", ".h"})
CODE = r'"([a-z]+(?:-[a-z]+)*)"'
# Where a code is given: `f.code = a ? "this" : "that";`, or the first argument of what makes or reports a finding.
ASSIGNED = re.compile(r"\.code = ([^;]*);")
FIRST_ARGUMENT = re.compile(r"\b(?:report_finding|finding_of|end_launch_for|report_here|refuse|Finding|host_finding)\s*[({]\s*((?:[^;,]*?\?\s*)?" + CODE + r"(?:\s*:\s*" + CODE + r")?)\s*,")
SAID = re.compile(r'"([a-z]+-[a-z]+): ')  # the grader's own, which are text


def given(text):
    """The codes that a source gives."""
    text = re.sub(r'\bvalue\("[^)]*\)', "", text)  # a field of JSON
    places = ASSIGNED.findall(text) + [m[0] for m in FIRST_ARGUMENT.findall(text)]
    return {code for place in places for code in re.findall(CODE, place)} | set(SAID.findall(text))


def rows(page):
    """The codes in the first cell of each row."""
    cells = re.findall(r"^\|((?: *`[a-z-]+`,?)+) *\|", page, re.M)
    return [code for cell in cells for code in re.findall(r"`([a-z-]+)`", cell)]


texts = [f.read_text(encoding="utf-8") for f in SOURCES]
in_code = set().union(*map(given, texts))
literals = in_code | {code for text in texts for code in re.findall(CODE, text)}
in_page = rows((ROOT / "docs/findings.md").read_text(encoding="utf-8"))

wrong = [f"{code}: the code gives it, and docs/findings.md has no row for it" for code in sorted(in_code - set(in_page))]
wrong += [f"{code}: docs/findings.md has a row, and nothing in common/ gives it" for code in sorted(set(in_page) - literals)]
wrong += [f"{code}: docs/findings.md has {in_page.count(code)} rows for it" for code in sorted({c for c in in_page if in_page.count(c) > 1})]
if len(in_code) < 40:
    wrong.append(f"only {len(in_code)} codes were found in common/: this check no longer sees how codes are given")
print("\n".join(wrong) or f"{len(in_page)} codes of findings, a row for each")
sys.exit(bool(wrong))
