# A matrix product from Python with Python's own ctypes: the whole program, with nothing installed.
#   nvcc -std=c++20 -shared -cudart shared -Xcompiler -fPIC launchers.cu -o libplain.so && python3 plain.py
#   (without a GPU: simcc instead of nvcc)
import ctypes
import pathlib
import sys

library = ctypes.CDLL(str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "libplain.so").resolve()))
library.launch_tiled.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int] * 3 + [ctypes.c_void_p]
library.cudaMalloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
library.cudaMemcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
library.cudaFree.argtypes = [ctypes.c_void_p]
library.error_text.restype = ctypes.c_char_p


def check(error):
    if error:
        sys.exit(f"plain.py: {library.error_text(error).decode()}")


def to_device(numbers):
    """A copy on the device: its address."""
    host, address = (ctypes.c_float * len(numbers))(*numbers), ctypes.c_void_p()
    check(library.cudaMalloc(ctypes.byref(address), ctypes.sizeof(host)))
    check(library.cudaMemcpy(address, host, ctypes.sizeof(host), 1))  # 1: host to device
    return address


m, n, k = 33, 17, 50  # ragged: the last tiles are not full
a = [float((i * 7 + 3) % 11 - 5) for i in range(m * k)]  # whole numbers: the sums are exact
b = [float((i * 5 + 1) % 13 - 6) for i in range(k * n)]
x, y, z = to_device(a), to_device(b), to_device([float("nan")] * (m * n))
check(library.launch_tiled(x, y, z, m, n, k, None))  # puts the kernel into the queue ...
c = (ctypes.c_float * (m * n))()
check(library.cudaMemcpy(c, z, ctypes.sizeof(c), 2))  # ... and this waits for it. 2: device to host
for address in (x, y, z):
    check(library.cudaFree(address))

expected = [sum(a[i * k + p] * b[p * n + j] for p in range(k)) for i in range(m) for j in range(n)]
wrong = sum(got != wanted for got, wanted in zip(c, expected))
print(f"{'WRONG' if wrong else 'right'}: {wrong} wrong elements of {m} x {n}")
sys.exit(1 if wrong else 0)
