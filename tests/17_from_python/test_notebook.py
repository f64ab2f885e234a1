"""The notebook runs from top to bottom, and stores no outputs. Its cells are plain Python."""
from __future__ import annotations

import ast
import json
import pathlib
from typing import Any, Dict

import tilewise_kernels as tk

NOTEBOOK = pathlib.Path(__file__).parents[2] / "chapters/17_from_python/from_python.ipynb"


def test_the_notebook_runs() -> None:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 6 and len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    names: Dict[str, Any] = {"__name__": "__main__"}
    for cell in cells:
        assert cell["outputs"] == [] and cell["execution_count"] is None, f"{cell['id']} stores outputs"
        exec(compile(ast.parse("".join(cell["source"]), cell["id"]), cell["id"], "exec"), names)
    assert names["tk"] is tk and names["result"].shape == (50, 33)
