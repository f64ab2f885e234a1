"""Lesson 17 without a GPU: NumPy's own memory is what the kernels read and write."""
from __future__ import annotations

import numpy as np

import tilewise_kernels as tk
from table import Results


def run_copies(results: Results) -> None:
    results.begin_part("copies", "where the module sees the array, and where NumPy has it",
                       [("array", "", -22), ("shape", "", -14), ("bytes apart", "", 11), ("bytes copied", "", 12)])
    a = np.ones((1000, 1000), dtype=np.float32)
    views = {"a": a, "a[1:]": a[1:], "a[500:, :1]": a[500:, :1], "a.reshape(100, 10000)": a.reshape(100, 10000)}
    for name, view in views.items():
        apart = tk.address(view) - a.__array_interface__["data"][0]
        own = view.__array_interface__["data"][0] - a.__array_interface__["data"][0]
        results.row([name, f"{view.shape[0]} x {view.shape[1]}", f"{apart:,}", "0" if apart == own else "all"],
                    "OK" if apart == own else "WRONG", extra={"bytes apart": f"{apart:,}"})
