"""Compiles a kernel's source with simcc, and keeps the program, since the next call is often the same.

Environment: TILEWISE_CXX, the C++ compiler; TILEWISE_CACHE, the folder for compiled kernels; TILEWISE_SIMCC, another simcc.
"""
from __future__ import annotations

import atexit
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .errors import CompileError, CompilerNotFoundError

_HERE = Path(__file__).resolve().parent
_KEPT = 256  # programs in the cache, about 1 MB each
_FLAGS = ["-std=c++20", "-g1"]
_unshared: List[str] = []  # a cache for this process alone


@dataclass(frozen=True)
class Parameter:
    """A kernel's parameter. `kind`, `bytes` and `count` are of what it points to, or of its value: float 16 4 is a float4."""

    name: str
    declaration: str
    passed: str  # pointer, value or reference
    written: bool
    kind: str
    bytes: int
    count: int


@dataclass(frozen=True)
class Program:
    path: Path
    kernel: str
    parameters: Tuple[Parameter, ...]


@dataclass(frozen=True)
class Listed:
    line: int
    is_template: bool
    name: str
    parameters: Tuple[Tuple[str, str], ...]  # name, declaration


def simcc() -> str:
    return os.environ.get("TILEWISE_SIMCC") or str(_HERE / "simulator" / "bin" / "simcc")


def find_compiler() -> str:
    """The C++ compiler: TILEWISE_CXX, or g++, or clang++."""
    chosen = os.environ.get("TILEWISE_CXX")
    for name in [chosen] if chosen else ["g++", "clang++"]:
        found = shutil.which(name)
        if found:
            return found
    tried = f"TILEWISE_CXX is {chosen!r}, which is not here" if chosen else "neither g++ nor clang++ is here"
    raise CompilerNotFoundError(
        f"Kernels are compiled by a C++20 compiler, and {tried}. Install one: apt-get install g++ (Debian, Ubuntu), "
        "dnf install gcc-c++ (Fedora), xcode-select --install (macOS)."
    )


def cache_folder() -> Path:
    """TILEWISE_CACHE, or tilewise in the user's cache folder, or one for this process where that can't be written."""
    if _unshared:
        return Path(_unshared[0])
    named = os.environ.get("TILEWISE_CACHE")
    folder = Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tilewise"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        _unshared.append(tempfile.mkdtemp(prefix="tilewise-"))
        atexit.register(shutil.rmtree, _unshared[0], ignore_errors=True)
        return Path(_unshared[0])


def _identity(path: str) -> List[Any]:
    real = os.path.realpath(path)
    state = os.stat(real)
    return [real, state.st_size, state.st_mtime_ns]


def _run(command: Sequence[str], folder: Path, cxx: str) -> Tuple[int, str, str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TILEWISE_")}
    environment.update(TILEWISE_CXX=cxx, LC_ALL="C")
    done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace")
    return done.returncode, done.stdout, done.stderr


def _prelude(cache: Path, cxx: str, key: str) -> List[str]:
    """What every kernel includes, compiled once: g++ then takes half the time."""
    folder = cache / ("prelude-" + key)
    if not (folder / "prelude.h").exists():
        made = Path(tempfile.mkdtemp(prefix="new-", dir=cache))
        status, _, _ = _run([simcc(), *_FLAGS, "--make-prelude", str(folder)], made, cxx)
        shutil.rmtree(made, ignore_errors=True)
        if status != 0:
            shutil.rmtree(folder, ignore_errors=True)
            return []
    return ["--prelude", str(folder)]


def _list(text: str) -> List[Listed]:
    kernels = []
    for row in text.splitlines():
        line, kind, name, *rest = row.split("\t")
        kernels.append(Listed(int(line), kind == "template", name, tuple(zip(rest[::2], rest[1::2]))))
    return kernels


def choose(kernels: Sequence[Listed], wanted: Optional[str]) -> Tuple[str, Listed]:
    """The kernel's name as C++ wants it, and what is known of it."""
    if not kernels:
        raise ValueError("source: there is no __global__ function in it")
    names = ", ".join(k.name + ("<...>" if k.is_template else "") for k in kernels)
    if wanted is None:
        if len(kernels) > 1:
            raise ValueError(f"kernel: the source has several; say which: {names}")
        if kernels[0].is_template:
            raise ValueError(f"kernel: {kernels[0].name} is a template; say with which arguments: kernel=\"{kernels[0].name}<float>\"")
        return kernels[0].name, kernels[0]
    bare = wanted.split("<")[0].strip()
    for listed in kernels:
        if listed.name == bare or listed.name.endswith("::" + bare):
            if listed.is_template != ("<" in wanted):
                raise ValueError(f"kernel: {bare} is {'a' if listed.is_template else 'no'} template"
                                 + (f"; say with which arguments: kernel=\"{bare}<float>\"" if listed.is_template else ""))
            return listed.name + wanted[len(wanted.split("<")[0]):], listed
    raise ValueError(f"kernel: the source has no kernel {wanted!r}; it has {names}")


def _call(name: str, parameters: int) -> str:
    """The rest of the program, after the kernel's source. The lines of "tilewise_argument" allocate the arrays."""
    lines = ["", '#line 1 "tilewise_call"', "#include <call.cuh>",
             "template <class... P, std::size_t... I>",
             "void tilewise_launch(void (*)(P...), std::index_sequence<I...>, tilewise_call::Argument* a, dim3 grid, dim3 block, std::size_t shared) {",
             f"  if (shared > 48 * 1024) cudaFuncSetAttribute((const void*)&{name}, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);",
             f"  {name}<<<grid, block, shared>>>(tilewise_call::get<P>(a[I])...);", "}",
             "int main(int argc, char** argv) {",
             "  const auto allocate = []([[maybe_unused]] tilewise_call::Argument* a) {", "    cudaError_t e = cudaSuccess;",
             '#line 1 "tilewise_argument"']
    for i in range(parameters):
        lines.append(f"    if (e == cudaSuccess && a[{i}].form == tilewise_call::Form::array) e = cudaMalloc(&a[{i}].device, a[{i}].bytes);")
    lines += ['#line 20 "tilewise_call"', "    return e;", "  };",
              f"  return tilewise_call::main_program(&{name}, argc, argv, allocate,",
              "      [](tilewise_call::Argument* a, dim3 grid, dim3 block, std::size_t shared) {",
              f"        tilewise_launch(&{name}, std::make_index_sequence<{parameters}>(), a, grid, block, shared); }});", "}", ""]
    return "\n".join(lines)


def _compiler_said(text: str, folder: Path) -> str:
    """With lines and no columns: those are of the C++ that simcc makes of a line, which is longer."""
    text = text.replace(str(folder) + "/", "")
    text = re.sub(r"^(kernel\.cu:\d+):\d+:", r"\1:", text, flags=re.M)
    text = re.sub(r"^ *\|.*\n?", "", text, flags=re.M)
    return "\n".join(line for line in text.splitlines() if line.strip()).strip()


def _dependencies(file: Path, folder: Path) -> List[List[Any]]:
    text = file.read_text().replace("\\\n", " ") if file.exists() else ""
    names = [n.replace("\\ ", " ") for n in re.split(r"(?<!\\)\s+", text.split(":", 1)[-1].strip()) if n]
    found = [(folder / n) for n in names]
    return [_identity(str(p)) for p in found if p.exists() and folder not in p.parents and p.name != "call.cuh"]


def _unchanged(files: Sequence[Sequence[Any]]) -> bool:
    try:
        return all(_identity(f[0]) == list(f) for f in files)
    except OSError:
        return False


def _prune(cache: Path) -> None:
    programs = sorted((p for p in cache.glob("kernel-*")), key=lambda p: p.stat().st_mtime)
    for old in programs[:-_KEPT]:
        shutil.rmtree(old, ignore_errors=True)


def _program(folder: Path) -> Optional[Program]:
    try:
        known: Dict[str, Any] = json.loads((folder / "program.json").read_text())
        if not _unchanged(known["files"]):
            shutil.rmtree(folder, ignore_errors=True)
            return None
        os.utime(folder)
    except (OSError, ValueError, KeyError):
        return None
    return Program(folder / "program", known["kernel"], tuple(Parameter(**p) for p in known["parameters"]))


def compile_kernel(source: str, kernel: Optional[str], include: Sequence[str]) -> Program:
    """The program that calls this kernel: from the cache, or compiled in about a second."""
    cxx = find_compiler()
    cache = cache_folder()
    tools = json.dumps([_identity(cxx), _identity(simcc()), (_HERE / "call.cuh").read_text(), _FLAGS])
    tools_key = hashlib.sha256(tools.encode()).hexdigest()[:16]
    include = [os.path.abspath(folder) for folder in include]
    key = hashlib.sha256(json.dumps([tools, source, kernel, include]).encode()).hexdigest()[:32]
    kept = cache / ("kernel-" + key)
    found = _program(kept)
    if found:
        return found
    folder = Path(tempfile.mkdtemp(prefix="new-", dir=cache)).resolve()
    try:
        options = _FLAGS + _prelude(cache, cxx, tools_key) + ["-I" + str(_HERE)] + ["-I" + f for f in include]
        (folder / "kernel.cu").write_text(source, encoding="utf-8")
        status, listed, said = _run([simcc(), *options, "--kernels", "kernel.cu"], folder, cxx)
        if status != 0:
            raise CompileError(_compiler_said(said, folder))
        if not listed:  # a bracket that never closes hides a kernel, too
            status, _, said = _run([simcc(), *options, "-w", "-c", "kernel.cu", "-o", "kernel.o"], folder, cxx)
            if status != 0:
                raise CompileError(_compiler_said(said, folder))
        name, chosen = choose(_list(listed), kernel)
        # The kernel's own messages come from its source alone, those of the call from both.
        (folder / "call.cu").write_text('#line 1 "kernel.cu"\n' + source + _call(name, len(chosen.parameters)), encoding="utf-8")
        status, _, said = _run([simcc(), *options, "-w", "-MMD", "-MF", "files", "call.cu", "-o", "program"], folder, cxx)
        if status != 0:
            alone, _, of_source = _run([simcc(), *options, "-w", "-c", "kernel.cu", "-o", "kernel.o"], folder, cxx)
            raise CompileError(_compiler_said(of_source if alone != 0 else said, folder))
        types = subprocess.run([str(folder / "program"), "types"], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
        parameters: List[Parameter] = []
        for (parameter, declaration), row in zip(chosen.parameters, types):
            passed, constness, kind, size, count = row.split()
            parameters.append(Parameter(parameter or f"number {len(parameters)}", declaration, passed, constness == "mutable", kind, int(size), int(count)))
        known = {"kernel": name, "parameters": [vars(p) for p in parameters], "files": _dependencies(folder / "files", folder)}
        (folder / "program.json").write_text(json.dumps(known))
        try:
            folder.rename(kept)
        except OSError:  # another process was quicker
            if not _program(kept):
                raise
        _prune(cache)
        return Program(kept / "program", name, tuple(parameters))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
