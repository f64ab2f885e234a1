#!/usr/bin/env python3
"""Puts a folder of made programs through programs.py, one for each class of its table, and looks at where each is counted; then what
it refuses. An nvcc that is made for this refuses the one file that says so."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "common/scripts/run/programs.py"
SECONDS = "20"

KERNEL = "__global__ void k(int* p) { p[threadIdx.x] = threadIdx.x; }\n"
COPY = "#include <cassert>\n#include <cstdio>\n" + KERNEL + (
    "int main() { int* p; int h[4]; cudaMalloc(&p, 16); k<<<1, 4>>>(p); cudaMemcpy(h, p, 16, cudaMemcpyDeviceToHost); cudaFree(p);\n"
)
# What isn't the result: a time, the program's path, the device's name, and the simulator's note of a leak.
PRINTED = COPY.replace("main()", "main(int, char** argv)").replace(" cudaFree(p);", "") + (
    'cudaDeviceProp prop; cudaGetDeviceProperties(&prop, 0);\n'
    'printf("%s on %s\\nsum %.4f\\ntime: %d ms\\n", argv[0], prop.name, h[3] / 3.0, h[3]); }\n'
)
PROGRAMS = {
    "right/plain.cu": ("right", COPY + 'printf("%d\\n", h[3]); }\n'),
    "right/no_failure.cu": ("right", COPY + 'printf("0 failed, mismatches: 0\\n"); }\n'),
    "right/recorded.cu": ("right", PRINTED),
    "right/comment.cu": (None, KERNEL + "// int main() {}\n"),
    "findings/bounds.cu": ("finding", KERNEL + "int main() { int* p; cudaMalloc(&p, 4); k<<<1, 4>>>(p); cudaFree(p); }\n"),
    "findings/aborts.cu": (
        "finding",
        KERNEL + "#include <cassert>\nint main() { int* p; cudaMalloc(&p, 4); k<<<1, 4>>>(p); assert(p == nullptr); }\n",
    ),
    "wrong/asserts.cu": ("wrong", COPY + "assert(h[3] == 4); }\n"),
    "errors/no_file.cu": ("ends with an error", COPY + 'printf("failed to open data.bin\\n"); return 1; }\n'),
    "wrong/says.cu": ("wrong", COPY + 'printf("Test FAILED\\n"); }\n'),
    "wrong/recorded.cu": ("wrong", COPY + 'printf("sum %.4f\\n", h[3] / 2.0); }\n'),
    "errors/usage.cu": ("ends with an error", COPY + 'printf("usage: give me a file\\n"); return 3; }\n'),
    "refused/said.cu": ("unsupported, said", "#include <cusolverDn.h>\ncusolverDnHandle_t h;\nint main() {}\n"),
    "refused/unsaid.cu": ("unsupported, unsaid", "int main() { nowhere(); }\n"),
    "refused/nvcc.cu": ("nvcc refuses", "int main() { refused_by_nvcc(); }\n"),
    "ends/crash.cu": ("crash", "#include <cstdlib>\nint main() { abort(); }\n"),
    "ends/hang.cu": ("hang", "#include <unistd.h>\nint main() { for (;;) pause(); }\n"),
    "ends/slow.cu": ("too slow", "int main() { for (volatile int i = 0; i >= 0;) i = 1; }\n"),
    "several/main.cu": ("right", '#include "part.cuh"\nvoid other();\nint main() { other(); part(); }\n'),
    "several/other.cpp": (None, "void other() {}\n"),
    "several/part.cuh": (None, '#include "body.cu"\n'),
    "several/body.cu": (None, "inline void part() {}\n"),
}
RECORDED = {"right/recorded.out": "/home/me/recorded on NVIDIA H200\nsum 1.0001\ntime: 7 ms\n", "wrong/recorded.out": "sum 1.6\n"}


def write(folder, files):
    for name, text in files.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def run(words, path=""):
    return subprocess.run([SCRIPT, *words], capture_output=True, text=True, env={**os.environ, "PATH": path + os.environ["PATH"]})


def check_classes(folder):
    write(folder / "programs", {name: text for name, (_, text) in PROGRAMS.items()})
    write(folder / "recorded", RECORDED)
    write(folder / "bin", {"nvcc": '#!/bin/sh\nfor last; do :; done\ncase "$*" in *nvcc.cu*) exit 1 ;; esac\n'})
    (folder / "bin/nvcc").chmod(0o755)
    words = [folder / "programs", "-j", "2", "--timeout", SECONDS, "--recorded", folder / "recorded", "--json", folder / "all.json"]
    ended = run(words, f"{folder / 'bin'}:")
    print(ended.stdout, ended.stderr)
    assert ended.returncode == 1, ended.returncode
    found = {r["program"]: r["class"] for r in json.loads((folder / "all.json").read_text())}
    expected = {name: kind for name, (kind, _) in PROGRAMS.items() if kind}
    assert found == expected, {n: (found.get(n), expected.get(n)) for n in found | expected if found.get(n) != expected.get(n)}
    rows = {line[:20].strip(): line[20:].split() for line in ended.stdout.splitlines()}
    assert rows["programs"][-1] == str(len(expected)), rows["programs"]
    assert rows["right"][-1] == str(sum(kind == "right" for kind in expected.values())), rows["right"]
    assert "\n1 file without a main() and in no program, left out: right/comment.cu\n" in ended.stdout
    assert f"[{len(expected)}/{len(expected)}]" in ended.stdout


def check_refusals(folder):
    (folder / "empty").mkdir()
    write(folder / "none", {"part.cu": KERNEL})
    for words, said in (
        ([folder / "nowhere"], "there is no folder"),
        ([folder / "empty"], "no .cu file is in"),
        ([folder / "none"], "has a main()"),
        ([folder / "programs", "-j", "0"], "-j 0"),
        ([folder / "programs", "--timeout", "-1"], "not above 0"),
        ([folder / "programs", "--timeout", "x"], "allowed are numbers of seconds"),
        ([folder / "programs", "--json", folder / "nowhere/x.json"], "no folder for"),
        ([], "FOLDER"),
    ):
        ended = run(words)
        assert ended.returncode == 2 and said.lower() in ended.stderr.lower() and not ended.stdout, (words, ended)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_classes(Path(folder))
        check_refusals(Path(folder))


main()
