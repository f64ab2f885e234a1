#!/usr/bin/env python3
"""check-includes.py: each source in common/ compiles alone, and each header of the tools, too: they include what they use. Builds compile
many sources as one file, which hides what is missing. Counts files; the last line is "N passed, N failed, N skipped"."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("simulator", "grader", "learn", "src")


def compile_commands(folder):
    """What compiles each source of common/, as a list of words without its output."""
    configure = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DTILEWISE_MACHINE=sim", "-DCMAKE_BUILD_TYPE=Release", "-DTILEWISE_TOGETHER=OFF"]
    done = subprocess.run(configure + ["-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"check-includes.py: cmake does not configure:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    commands = {}
    for entry in json.loads((folder / "compile_commands.json").read_text(encoding="utf-8")):
        source = Path(entry["file"])
        if not any(source.is_relative_to(ROOT / "common" / room) for room in ROOMS):
            continue
        words, kept = iter(shlex.split(entry["command"])), []
        for word in words:
            if word in ("-o", "-c"):
                next(words)
            else:
                kept.append(word)
        commands.setdefault(source, kept + ["-fsyntax-only", "-O0"])
    return commands


def headers_of(commands):
    """Each header beside a source, with the words that compile a source of its folder. One that a source includes first stands alone with it."""
    headers, seen = {}, set()
    for source, words in commands.items():
        first = re.search(r'^#include ["<](.*)[">]', source.read_text(encoding="utf-8"), re.M)
        if first and Path(first[1]).name == source.stem + ".hpp":
            seen.add(source.with_suffix(".hpp"))
        for header in source.parent.glob("*.hpp"):
            headers.setdefault(header, words)
    return {header: words for header, words in headers.items() if header not in seen}


def failure(job, folder):
    path, words = job
    if path.suffix == ".hpp":  # twice: it guards itself
        including = folder / (str(path.relative_to(ROOT)).replace("/", "_") + ".cpp")
        including.write_text(f'#include "{path}"\n#include "{path}"\n', encoding="utf-8")
    else:
        including = path
    done = subprocess.run(words + [str(including)], cwd=folder, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"FAIL  {path.relative_to(ROOT)} does not compile alone:\n{done.stderr[:2000]}"


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    commands = compile_commands(folder)
    jobs = [*commands.items(), *headers_of(commands).items()]
    if len(commands) < 50:
        sys.exit(f"check-includes.py: only {len(commands)} sources were found")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = [f for f in pool.map(lambda job: failure(job, folder), jobs) if f]
print("\n".join(failures))
print(f"{len(jobs) - len(failures)} passed, {len(failures)} failed, 0 skipped")
sys.exit(1 if failures else 0)
