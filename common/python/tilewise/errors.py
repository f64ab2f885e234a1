"""What can go wrong, as exceptions. All are TilewiseError."""
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .report import Report

__all__ = ["CompileError", "CompilerNotFoundError", "CrashError", "FindingError", "KernelTimeoutError", "LaunchError", "TilewiseError"]


class TilewiseError(Exception):
    """Base of all of Tilewise's own exceptions. Wrong arguments are TypeError, ValueError and OverflowError, as usual."""


class CompilerNotFoundError(TilewiseError):
    """There is no C++ compiler to compile the kernel with; the message says what to install."""


class CompileError(TilewiseError):
    """The kernel doesn't compile, or uses what the simulator doesn't support. Lines are those of the string, from 1 on."""


class LaunchError(TilewiseError):
    """CUDA refused the launch, or the kernel ended with an error that is no finding. `code` is the CUDA error's name."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class KernelTimeoutError(TilewiseError, TimeoutError):
    """The kernel took longer than `timeout` seconds. The arrays are as they were."""


class CrashError(TilewiseError):
    """The process that ran the kernel died, and no finding says why. The arrays are as they were."""


class FindingError(TilewiseError):
    """With check=True: the kernel has findings. `report` is the Report, with all of them."""

    def __init__(self, report: Report) -> None:
        super().__init__("\n".join(str(f) for f in report.findings))
        self.report = report
