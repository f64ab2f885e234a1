"""Tilewise from Python: what a CUDA kernel asks memory for, counted on the CPU.

    import numpy as np, tilewise
    x, y = np.arange(32, dtype=np.float32), np.zeros(32, dtype=np.float32)
    print(tilewise.count("__global__ void copy(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }", grid=1, block=32, args=[x, y]))
"""
from .counting import DEVICES, count
from .errors import CompileError, CompilerNotFoundError, CrashError, FindingError, KernelTimeoutError, LaunchError, TilewiseError
from .report import Finding, Line, Occupancy, Report
from .svg import Picture

__all__ = ["DEVICES", "CompileError", "CompilerNotFoundError", "CrashError", "Finding", "FindingError", "KernelTimeoutError", "LaunchError",
           "Line", "Occupancy", "Picture", "Report", "TilewiseError", "count"]
