#!/usr/bin/env python3
"""record-loops.py [--check]: what nvcc makes of the inner loops of the matrix products from lesson 09 on, read off their
machine code for sm_90a, into docs/results/loops-nvidia-h200.json: instructions of the loop, how many of them are
multiply-adds (FFMA, or HMMA on tensor cores; loops around wgmma, which runs beside them, are left out), how many load from and store to shared memory and how wide, FFMAs whose three operands lie in one
of the two register banks, and the kernel's registers and bytes of spills. --check compares instead of writing.
Needs nvcc, cuobjdump (both of the CUDA Toolkit) and c++filt; no GPU."""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[3]
target = root / "docs/results/loops-nvidia-h200.json"
PROGRAMS = ["09_register_tiles", "10_wide_loads", "11_async_copies", "12_past_cublas", "13_tensor_cores"]
TENSOR = ("HMMA",)
MULTIPLY = re.compile(r"\b(FFMA|HMMA)\b")
FFMA = re.compile(r"FFMA R\d+, R(\d+)(?:\.reuse)?, R(\d+)(?:\.reuse)?, R(\d+)(?:\.reuse)?")


def command(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True)


def short(mangled):
    """"wide_loads<64,128,16,8,8>" of a kernel's mangled name, ", word by word" with it where ALIGNED is false."""
    name = command("c++filt", mangled).stdout.strip().removeprefix("void ")
    name = re.split(r"\((?!bool\)|int\))", name)[0].replace(" ", "")
    aligned = re.search(r",(true|false|\(bool\)[01])>$", name)
    if not aligned:
        return name
    return name[: aligned.start()] + (">" if aligned[1] in ("true", "(bool)1") else ">, word by word")


def loop_of(code):
    """The instructions of the loop with most multiply-adds: from where a branch leads back to, up to that branch."""
    best = []
    places = {address: i for i, (address, _) in enumerate(code)}
    for i, (address, text) in enumerate(code):
        back = re.search(r"\bBRA\b.*0x([0-9a-f]+)", text)
        if back and int(back[1], 16) < address and int(back[1], 16) in places:
            loop = [text for _, text in code[places[int(back[1], 16)] : i + 1]]
            if sum(bool(MULTIPLY.search(text)) for text in loop) > sum(bool(MULTIPLY.search(text)) for text in best):
                best = loop
    return best


def row(program, kernel, code, registers, spills):
    loop = [re.sub(r"^@!?U?P[0-9T]+ +", "", text) for text in loop_of(code)]
    kinds = collections.Counter(text.split(" ")[0] for text in loop)
    starting = lambda kind: sum(n for name, n in kinds.items() if name.split(".")[0] == kind)
    wide = lambda kind: sum(n for name, n in kinds.items() if name.split(".")[0] == kind and ".128" in name)
    banks = [{int(register) % 2 for register in found.groups()} for found in map(FFMA.match, loop) if found]
    counters = {"instructions": len(loop), "FFMA": starting("FFMA"), "FFMA one bank": sum(len(bank) == 1 for bank in banks)}
    for kind in ("LDG", "LDS", "STS"):
        counters |= {kind: starting(kind), f"{kind} 16 bytes": wide(kind)}
    tensor = {kind: starting(kind) for kind in TENSOR if starting(kind)}
    if tensor:
        counters = {"instructions": len(loop), **tensor, "LD": starting("LD"), "LDS": starting("LDS"), "LDSM": starting("LDSM")}
    return {"program": program, "kernel": kernel, "counters": {**counters, "registers": registers, "spills": spills}}


rows = []
with tempfile.TemporaryDirectory() as folder:
    for program in PROGRAMS:
        cubin = pathlib.Path(folder) / "kernels.cubin"
        own = re.search(rf"^add_chapter\({program} .*NVCC_OPTIONS ([^)]*)\)", (root / "CMakeLists.txt").read_text(), re.M)
        log = command("nvcc", "-std=c++20", *(own[1].split() if own else []), "-O3", "--expt-relaxed-constexpr", "-gencode=arch=compute_90a,code=sm_90a",
                      f"-I{root}/common/include", "-Xptxas", "-v", "-cubin", "-o", cubin, root / f"chapters/{program}/main.cu").stderr
        used = {}
        for part in log.split("Compiling entry function '")[1:]:
            used[part.split("'")[0]] = [int(re.search(pattern, part)[1]) for pattern in (r"Used (\d+) reg", r"(\d+) bytes spill stores")]
        for part in command("cuobjdump", "-sass", cubin).stdout.split("Function : ")[1:]:
            mangled = part.split()[0]
            kernel = short(mangled)
            found = re.findall(r"/\*([0-9a-f]{4,6})\*/\s+(.*?) *;", part)
            sources = "".join(file.read_text() for file in sorted((root / f"chapters/{program}").glob("*.cuh")))
            if re.search(rf"\b{kernel.split('<')[0]}\(const ", sources):
                rows.append(row(program, kernel, [(int(address, 16), text) for address, text in found], *used[mangled]))
rows = [row for row in rows if any(row["counters"].get(kind) for kind in ("FFMA", *TENSOR))]  # not what only moves data
rows.sort(key=lambda row: (row["program"], row["kernel"]))
version = re.search(r"release .*, V([\d.]*)", command("nvcc", "--version").stdout)[1]
text = '{\n "nvcc": "' + version + '",\n "rows": [\n' + ",\n".join("  " + json.dumps(row) for row in rows) + "\n ]\n}\n"
if "--check" in sys.argv[1:]:
    if target.read_text() != text:
        sys.exit(f"record-loops: {target.relative_to(root)} is not what nvcc {version} makes now; run common/scripts/record/record-loops.py")
    print(f"{len(rows)} loops as recorded")
else:
    target.write_text(text)
    print(f"{len(rows)} loops, nvcc {version}: {target.relative_to(root)}")
