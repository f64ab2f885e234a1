#!/usr/bin/env python3
"""What Nsight Compute counts for the kernels of lesson 13, written to docs/results/tensor-<gpu>.json:

    common/scripts/record/record-tensor.py build/gpu/bin/13_tensor_cores 4096 8192 > docs/results/tensor-nvidia-h200.json

For each square size and kernel: nanoseconds and cycles under the profiler, which give the clock; in how many of 100 cycles the tensor
cores worked; bytes from DRAM and from L2 to the SMs. Of the library's kernels (it tries several) only the fastest. Needs ncu and the
right to read counters.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import subprocess
import sys

METRICS = {
    "gpu__time_duration.sum": "ns",
    "gpc__cycles_elapsed.max": "cycles",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed": "tensor cores, %",
    "dram__bytes_read.sum": "DRAM bytes read",
    "l1tex__m_xbar2l1tex_read_bytes.sum": "L2 to SM bytes",
}
OURS = "wmma|wgmma"
LIBRARY = "nvjet|gemm|cutlass"


def counted(program, part, size):
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(METRICS),
               "--kernel-name", f"regex:{OURS}|{LIBRARY}", program, "--part", part, "--n", str(size), "--no-time"]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    begin = next((i for i, line in enumerate(output) if line.startswith('"ID"')), None)
    if begin is None:
        sys.exit("ncu gave no counters:\n" + "\n".join(output[-20:]))
    rows = {}
    library = []
    for line in csv.DictReader(output[begin:]):
        if not line["ID"]:
            continue  # the row of units
        kernel = re.sub(r"\(int\)|void | ", "", line["Kernel Name"].split("(")[0] if "<" not in line["Kernel Name"] else
                        re.sub(r">\(.*", ">", line["Kernel Name"]))
        counters = {name: float(line[metric].replace(",", "")) for metric, name in METRICS.items()}
        row = {"part": part, "shape": f"{size} x {size} x {size}", "kernel": kernel, "counters": counters}
        if re.search(OURS, kernel):
            rows.setdefault(kernel, row)  # a lesson launches each kernel more than once
        else:
            library.append(row)
    return sorted(library, key=lambda row: row["counters"]["ns"])[:1] + list(rows.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("sizes", type=int, nargs="+")
    arguments = parser.parse_args()
    machine = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True,
                             check=True).stdout.splitlines()[0].split(", ")
    commit = os.environ.get("TILEWISE_COMMIT") or subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True,
                                                                 text=True).stdout.strip()
    rows = [row for size in arguments.sizes for part in ("16-bit", "tf32", "fp32")
            for row in counted(str(arguments.program), part, size)]
    json.dump({"gpu": machine[0], "driver": machine[1], "commit": commit, "rows": rows}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
