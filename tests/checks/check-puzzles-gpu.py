#!/usr/bin/env python3
"""Compiles starter and solution of every puzzle with nvcc and runs them on this machine's GPU.

A solution must pass. A starter must fail, unless it is wrong in the simulator's terms only: one to improve or predict, or one
whose .attempts file says "gpu: starter may pass". Needs nvcc, a GPU and Python 3; nothing of a build. A puzzle that says
"Devices: 4" is compiled everywhere, and run where there are so many GPUs; else it is skipped, and a line says so.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent.parent


def changes_of(attempts, wanted):
    """The replacements of a section, [(removed, added), ...], each a list of lines."""
    changes, section, last = [], "", ""
    for line in attempts.read_text().splitlines():
        if line.startswith("# "):
            section = line[2:]
        elif section == wanted and line.startswith("-"):
            if last != "-":
                changes.append(([], []))
            changes[-1][0].append(line[1:].rstrip())
        elif section == wanted and line.startswith("+"):
            changes[-1][1].append(line[1:].rstrip())
        last = line[:1]
    return changes


def changed(lines, changes):
    places = []
    for removed, added in changes:
        at = [i for i in range(len(lines)) if lines[i : i + len(removed)] == removed]
        if len(at) != 1:
            sys.exit(f"{removed[0]!r} is there {len(at)} times, not once")
        places.append((at[0], len(removed), added))
    for at, count, added in sorted(places, reverse=True):
        lines = lines[:at] + added + lines[at + count :]
    return lines


def gpus():
    """How many GPUs a program finds here, as far as nvidia-smi and CUDA_VISIBLE_DEVICES say; 0 where nobody does."""
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout.splitlines()
    except OSError:
        return 0
    here = sum(line.startswith("GPU ") for line in listed)
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return here if visible is None else min(here, len([word for word in visible.split(",") if word.strip()]))


def programs():
    """(name, source, what it must do, how many GPUs it needs) of each: "pass", "fail", or "any"."""
    for original in sorted(root.glob("tests/*/puzzles/[0-9]*.cu")):
        text = original.read_text()
        attempts = original.with_suffix(".attempts")
        kind = re.search(r"^// Kind: (\w+)", text, re.M).group(1)
        devices = re.search(r"^// Devices: (\d)", text, re.M)
        devices = int(devices.group(1)) if devices else 1
        free = kind in ("improve", "predict") or "gpu: starter may pass" in attempts.read_text().splitlines()
        name = f"{original.parent.parent.name[:2]}-{int(original.name[:2])}"
        lines = [line.rstrip() for line in text.splitlines()]
        yield name + "-starter", lines, "any" if free else "fail", devices
        yield name + "-solution", changed(lines, changes_of(attempts, "solution")), "pass", devices


def tried(program, nvcc, options, folder):
    """(name, complaint, why it was skipped) of one program; no complaint where it does what it must."""
    name, lines, must, devices = program
    source, binary = folder / f"{name}.cu", folder / name
    source.write_text("\n".join(lines) + "\n")
    libraries = ["-l" + library for library in ("cublas", "cusparse", "nccl") if library in source.read_text()]
    command = [nvcc, "-std=c++20", "--expt-relaxed-constexpr", "--extended-lambda", *options.nvcc.split(), f"-I{root}/common/include",
               str(source), "-o", str(binary), *libraries]
    compiled = subprocess.run(command, capture_output=True, text=True)
    if compiled.returncode != 0:  # a starter may be one that does not
        error = next((line for line in compiled.stderr.splitlines() if "error" in line), compiled.stderr)
        if "nccl.h: No such file" in error:  # no part of the CUDA Toolkit
            return name, "", "NCCL is not installed here"
        return name, "" if must == "fail" and "error" in error else f"does not compile: {error[:200]}", ""
    if options.compile_only:
        return name, "", ""
    if 1 < devices > options.gpus:
        return name, "", f"it compiles, and needs {devices} GPUs; here {'is' if options.gpus == 1 else 'are'} {options.gpus}"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TILEWISE_")}
    try:
        ran = subprocess.run([str(binary)], capture_output=True, text=True, timeout=30, env=environment)
        code, said = ran.returncode, (ran.stdout + ran.stderr).strip()[:200]
    except subprocess.TimeoutExpired:
        code, said = 124, "it did not end within 30 s"
    binary.unlink()
    good = must == "any" or (code == 0) == (must == "pass")
    return name, "" if good else f"must {must}, and ends with exit code {code}: {said}", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="so many at a time")
    parser.add_argument("--nvcc", default="-arch=native", help="options for nvcc, --nvcc=-arch=sm_90a")
    parser.add_argument("--compile-only", action="store_true", help="run nothing; needs no GPU")
    parser.add_argument("puzzles", nargs="*", help="chapters or puzzles, 00 03-2; all when not given")
    options = parser.parse_args()
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not pathlib.Path(nvcc).exists():
        sys.exit("check-puzzles-gpu.py needs nvcc, which is neither on PATH nor in /usr/local/cuda/bin")
    chosen = [p for p in programs()
              if not options.puzzles or any(p[0].startswith(word + "-") for word in options.puzzles)]
    options.gpus = gpus()
    bad = skipped = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, complaint, skip in pool.map(lambda p: tried(p, nvcc, options, pathlib.Path(folder)), chosen):
            bad += complaint != ""
            skipped += skip != ""
            print(f"FAIL  {name}: {complaint}" if complaint else f"skip  {name}: {skip}" if skip else f"ok    {name}", flush=True)
    print(f"{len(chosen)} programs, {bad} not as expected" + (f", {skipped} skipped" if skipped else ""))
    return 1 if bad or not chosen else 0


sys.exit(main())
