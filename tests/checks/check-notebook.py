#!/usr/bin/env python3
"""check-notebook.py [NOTEBOOK]: is docs/colab.ipynb a notebook (nbformat 4.5), without outputs, and do its cells run?

All code cells are run in order, in a folder in which tilewise/ is this repository; cells with the tag `gpu` only where
nvidia-smi lists a GPU. What IPython adds to Python and the notebook uses is translated: lines that begin with !, %cd,
{NAME} in them. Nothing but Python's standard library is needed. Files that cells leave behind are removed.
"""
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIMIT = 900  # seconds for one command


def fail(message):
    sys.exit(f"check-notebook: {message}")


def require(ok, message):
    if not ok:
        fail(message)


def check_form(notebook):
    """The fields of nbformat 4.5 that a notebook of Markdown and code has, and nothing else."""
    require(set(notebook) == {"cells", "metadata", "nbformat", "nbformat_minor"}, f"top-level fields {sorted(notebook)}")
    require((notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5), "not nbformat 4.5")
    require(notebook["metadata"].get("kernelspec", {}).get("name") == "python3", "no kernelspec python3")
    seen = set()
    for i, cell in enumerate(notebook["cells"]):
        name = f"cell {i} ({cell.get('id')})"
        fields = {"cell_type", "id", "metadata", "source"}
        if cell.get("cell_type") == "code":
            fields |= {"execution_count", "outputs"}
            require(cell.get("outputs") == [] and cell.get("execution_count") is None, f"{name} stores outputs")
        else:
            require(cell.get("cell_type") == "markdown", f"{name} is a {cell.get('cell_type')} cell")
        require(set(cell) == fields, f"{name} has the fields {sorted(cell)}")
        require(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", cell["id"]) is not None, f"{name}: no proper id")
        require(cell["id"] not in seen, f"{name}: the id is there twice")
        seen.add(cell["id"])
        require(isinstance(cell["source"], list) and all(isinstance(s, str) for s in cell["source"]), f"{name}: source")
        require(all(s.endswith("\n") for s in cell["source"][:-1]), f"{name}: a line without an end")
        require(len(cell["source"]) <= 12, f"{name} is long: {len(cell['source'])} lines")
        tags = cell["metadata"].get("tags", [])
        require(set(cell["metadata"]) <= {"tags"} and set(tags) <= {"gpu"}, f"{name}: metadata {cell['metadata']}")


def run_command(line, names):
    """`!line`: {NAME} is a Python variable's value; a failure is an error here, while in a notebook it is only seen."""
    line = re.sub(r"\{(\w+)\}", lambda m: str(names[m.group(1)]), line)
    result = subprocess.run(["bash", "-o", "pipefail", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            stdin=subprocess.DEVNULL, text=True, errors="replace", timeout=LIMIT)
    print(result.stdout, end="")
    require(result.returncode == 0, f"`{line}` ended with {result.returncode}:\n{result.stdout[-3000:]}")


def run_cell(source, names):
    """Python lines are run together; ! and % lines one by one."""
    python = []

    def flush():
        exec(compile("".join(python), "<cell>", "exec"), names)
        python.clear()

    for line in source:
        if line.startswith("!"):
            flush()
            run_command(line[1:].rstrip("\n"), names)
        elif line.startswith("%cd "):
            flush()
            os.chdir(line[4:].strip())
        elif line.startswith("%"):
            fail(f"{line.strip()}: this check does not know it")
        else:
            python.append(line)
    flush()


class Shown:
    """IPython.display.HTML: the page must be there."""

    def __init__(self, filename):
        with open(filename, encoding="utf-8") as page:
            require("<html" in page.read(), f"{filename} is no page")


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(root, "docs", "colab.ipynb")
    with open(path, encoding="utf-8") as stream:
        notebook = json.load(stream)
    check_form(notebook)
    has_gpu = subprocess.run("nvidia-smi -L 2>/dev/null | grep -q ^GPU", shell=True).returncode == 0
    display = types.ModuleType("IPython.display")
    display.HTML = Shown
    sys.modules["IPython"] = types.ModuleType("IPython")
    sys.modules["IPython.display"] = display
    for variable in ("ARGS", "FILE", "GPU", "MACHINE", "WATCH", "MAKEFLAGS", "MAKELEVEL"):
        os.environ.pop(variable, None)
    os.environ["TILEWISE_REPOSITORY"] = "file://" + root
    work = tempfile.mkdtemp()
    before = set(os.listdir(root))
    ran = left_out = 0
    try:
        code = [c for c in notebook["cells"] if c["cell_type"] == "code"]
        # Cloning, once; then the same folder name stands for this repository, so that nothing is built twice.
        os.chdir(work)
        names = {}
        with contextlib.redirect_stdout(sys.stderr):
            for cell in code[:2]:
                run_cell(cell["source"], names)
        require(os.path.exists("docs/homework.md"), "the clone is not this repository")
        os.chdir(work)
        shutil.rmtree("tilewise")
        os.symlink(root, "tilewise")
        names = {"__name__": "__main__"}
        for cell in code:
            if "gpu" in cell["metadata"].get("tags", []) and not has_gpu:
                print(f"--- {cell['id']}: needs a GPU, left out")
                left_out += 1
                continue
            print(f"--- {cell['id']}", flush=True)
            run_cell(cell["source"], names)
            ran += 1
    finally:
        os.chdir(root)
        for name in set(os.listdir(root)) - before:
            if name.endswith(".cu"):
                os.remove(os.path.join(root, name))
        shutil.rmtree(work)
    require(ran >= 8 and left_out + ran == len(code), f"only {ran} cells ran")
    print(f"{len(notebook['cells'])} cells, {ran} ran, {left_out} need a GPU")


main()
