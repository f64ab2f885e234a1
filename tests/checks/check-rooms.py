#!/usr/bin/env python3
"""check-rooms.py [--arrows]: the folders of common/ include each other in one direction only, as ARROWS says; docs/architecture.md has the
reasons. Counts includes that go from one room to another; --arrows lists how many go where. And at the top lies what TOP names, and nothing that
somebody left there. The last line is "N passed, N failed, N skipped"."""
import collections
import re
import subprocess
import sys
from pathlib import Path

COMMON = Path(__file__).resolve().parents[2] / "common"
TOP = {".ci", ".clang-format", ".dockerignore", ".editorconfig", ".github", ".gitignore", "CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md",
       "Dockerfile", "LICENSE", "Makefile", "README.md", "chapters", "common", "docs", "pyproject.toml", "tests"}
ARROWS = {  # what a room may include, besides itself
    "include": {"simulator/include"},
    "src": {"include", "simulator/include"},
    "tools": {"include", "simulator/include"},
    "python": {"include", "simulator/include"},
    "simulator/include": set(),
    "simulator/base": {"simulator/include"},
    "simulator/model": {"simulator/base", "simulator/include"},
    "simulator/runtime": {"simulator/model", "simulator/base", "simulator/include"},
    "simulator/libraries": {"simulator/runtime", "simulator/base", "simulator/include"},
    "simulator/rewriter": {"simulator", "simulator/base"},
    "simulator/simcc": {"simulator/rewriter", "simulator"},
    "simulator": set(),  # installation.hpp: where the programs find things
    "grader": {"include", "simulator", "simulator/include", "simulator/base", "simulator/runtime", "simulator/rewriter"},
    "learn": {"include", "grader", "simulator/include"},
}
# Where a name in an #include may be, besides the file's own folder.
FOLDERS = [COMMON / folder for folder in ("simulator", "simulator/rewriter", "simulator/simcc", "simulator/include", "include", "grader", "learn", "src", ".")]


def room_of(path):
    parts = path.relative_to(COMMON).parts
    return "/".join(parts[:2]) if parts[0] == "simulator" and len(parts) > 2 else parts[0]


def included_files(source):
    for line in re.finditer(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', source.read_text(encoding="utf-8"), re.M):
        found = next((folder / line[1] for folder in [source.parent, *FOLDERS] if (folder / line[1]).is_file()), None)
        if found is not None:
            yield line[1], found.resolve()


def left_at_the_top():
    """What git keeps at the top and TOP doesn't name; nothing where there is no git."""
    listed = subprocess.run(["git", "ls-files"], cwd=COMMON.parent, capture_output=True, text=True, check=False)
    return sorted({name.split("/")[0] for name in listed.stdout.splitlines()} - TOP)


def main():
    arrows, failures = collections.Counter(), []
    failures += [f"FAIL  {name} lies at the top: TOP in check-rooms.py names what may" for name in left_at_the_top()]
    for source in sorted(COMMON.rglob("*")):
        if source.suffix not in {".cpp", ".hpp", ".h", ".cuh", ".cu"}:
            continue
        for name, target in included_files(source):
            here, there = room_of(source), room_of(target)
            if here == there:
                continue
            arrows[here, there] += 1
            if there not in ARROWS.get(here, set()):
                failures.append(f"FAIL  {source.relative_to(COMMON.parent)} includes {name}: {here}/ may not know {there}/")
    if "--arrows" in sys.argv[1:]:
        for (here, there), count in sorted(arrows.items()):
            print(f"{here:22} {there:22} {count:4}")
    print(*failures, sep="\n", end="\n" if failures else "")
    print(f"{sum(arrows.values()) - sum(' includes ' in failure for failure in failures)} passed, {len(failures)} failed, 0 skipped")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
