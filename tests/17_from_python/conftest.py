"""The library whose arrays the tests use: NumPy on the simulator; on a GPU PyTorch and CuPy, as far as they are there."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewise_kernels as tk

SIM = tk.MACHINE == "sim"


class Library:
    """What the tests need of an array library."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.module = pytest.importorskip(name)

    def array(self, values: Any) -> Any:
        if self.name == "torch":
            return self.module.from_numpy(np.ascontiguousarray(values)).cuda()
        return np.array(values) if self.name == "numpy" else self.module.asarray(values)

    def numpy(self, array: Any) -> Any:
        return {"numpy": lambda: array, "torch": lambda: array.cpu().numpy(), "cupy": lambda: array.get()}[self.name]()

    def address(self, array: Any) -> int:
        return int(array.data_ptr() if self.name == "torch" else array.data.ptr if self.name == "cupy" else array.__array_interface__["data"][0])


@pytest.fixture(params=["numpy"] if SIM else ["torch", "cupy"])
def library(request: Any) -> Library:
    return Library(request.param)


@pytest.fixture
def floats() -> Any:
    random = np.random.default_rng(17)
    return lambda *shape: random.uniform(-1, 1, shape).astype(np.float32)
