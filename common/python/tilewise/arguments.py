"""Python values as a kernel's arguments: what a parameter takes, and the sentence when it doesn't."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from .compiler import Parameter

VALUE, ARRAY, SAME_AS, NULL = range(4)


@dataclass
class Argument:
    form: int
    bytes: bytes = b""  # of a value
    array: Optional["np.ndarray[Any, Any]"] = None
    same_as: int = 0
    written: bool = False


def _element(p: Parameter) -> Optional["np.dtype[Any]"]:
    """The NumPy type of one number; None for void and structs."""
    size = p.bytes // p.count
    letter = {"float": "f", "half": "f", "int": "i", "uint": "u", "char": "i", "bfloat16": "u"}.get(p.kind)
    if p.kind == "bool":
        return np.dtype(bool)
    return np.dtype(f"{letter}{size}") if letter else None


def _expected(p: Parameter) -> str:
    """What the parameter takes, in words."""
    element = _element(p)
    if p.passed == "value":
        if element is None:
            return f"{p.bytes} bytes"
        what = {"float": "a number", "half": "a number", "bool": "a bool"}.get(p.kind, "an integer")
        return f"{what} ({element.name})" if p.count == 1 else f"a tuple of {p.count} numbers ({element.name})"
    if p.kind == "void":
        return "an array"
    if element is None:
        return f"an array whose elements have {p.bytes} bytes"
    return f"an array of {element.name}" + (f" with a multiple of {p.count} elements" if p.count > 1 else "")


def _refuse(p: Parameter, got: str) -> TypeError:
    return TypeError(f"{p.name}: the kernel's parameter `{p.declaration}` takes {_expected(p)}, not {got}")


def _described(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    return type(value).__name__ if not isinstance(value, np.generic) else f"numpy.{type(value).__name__}"


def as_array(p: Parameter, value: Any) -> "np.ndarray[Any, Any]":
    """A NumPy array of the same memory: of ndarrays, whatever has the buffer protocol, and DLPack on the CPU."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, (np.generic, int, float, complex, str)) or value is None:
        raise _refuse(p, _described(value))
    try:
        return np.asarray(memoryview(value))
    except TypeError:
        pass
    if hasattr(value, "__dlpack__"):
        device = value.__dlpack_device__() if hasattr(value, "__dlpack_device__") else (1, 0)
        if int(device[0]) != 1:
            raise ValueError(f"{p.name}: the array is on another device (DLPack type {int(device[0])}); the simulator takes arrays in host memory")
        return np.asarray(np.from_dlpack(value))
    raise _refuse(p, _described(value))


def _fits(p: Parameter, array: "np.ndarray[Any, Any]") -> bool:
    element = _element(p)
    if p.kind == "void":
        return not array.dtype.hasobject
    if element is None:
        return not array.dtype.hasobject and array.dtype.itemsize == p.bytes
    given = array.dtype
    if p.kind == "char" and given.kind in "iuS" and given.itemsize == 1:
        return True
    if p.kind == "bfloat16" and given.name == "bfloat16":
        return True
    if p.kind == "float" and p.count == 2 and given == np.dtype(f"c{p.bytes}"):
        return True
    return bool(given == element)


def _pointer(p: Parameter, value: Any) -> Argument:
    if value is None:
        return Argument(NULL)
    array = as_array(p, value)
    if not _fits(p, array):
        raise _refuse(p, f"an array of {array.dtype}")
    if array.nbytes % p.bytes != 0:
        raise ValueError(f"{p.name}: the kernel's parameter `{p.declaration}` takes {_expected(p)}, and there are {array.size}")
    if not array.flags.c_contiguous:
        raise ValueError(f"{p.name}: the array has to be C-contiguous; numpy.ascontiguousarray() makes such a copy")
    if p.written and not array.flags.writeable:
        raise ValueError(f"{p.name}: the array is read-only, and the kernel's parameter `{p.declaration}` may write it")
    return Argument(ARRAY, array=array, written=p.written)


def _number(p: Parameter, element: "np.dtype[Any]", value: Any) -> bytes:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    is_bool = isinstance(value, (bool, np.bool_))
    is_int = is_bool or isinstance(value, (int, np.integer))
    if p.kind in ("float", "half"):
        if is_bool or not (is_int or isinstance(value, (float, np.floating))):
            raise _refuse(p, _described(value))
        with np.errstate(over="ignore"):
            number = np.array(value, dtype=np.float64).astype(element)
        if math.isfinite(value) and not np.isfinite(number):
            raise OverflowError(f"{p.name}: {value} doesn't fit {element.name}")
        return bytes(number.tobytes())
    if p.kind == "bfloat16":
        raise TypeError(f"{p.name}: a bfloat16 by value isn't supported; take a float")
    if p.kind == "bool":
        if not is_bool:
            raise _refuse(p, _described(value))
        return bytes([bool(value)])
    if not is_int:
        raise _refuse(p, _described(value))
    limits = np.iinfo(element)
    if not limits.min <= int(value) <= limits.max:
        raise OverflowError(f"{p.name}: {value} doesn't fit {element.name}, which goes from {limits.min} to {limits.max}")
    return bytes(np.array(int(value), dtype=element).tobytes())


def _value(p: Parameter, value: Any) -> Argument:
    element = _element(p)
    if element is None or p.kind == "pointer":
        raw = value.tobytes() if isinstance(value, (np.ndarray, np.void)) else value
        if p.kind != "struct" or not isinstance(raw, (bytes, bytearray)):
            raise _refuse(p, _described(value))
        if len(raw) != p.bytes:
            raise ValueError(f"{p.name}: the kernel's parameter `{p.declaration}` has {p.bytes} bytes, and {len(raw)} were given")
        return Argument(VALUE, bytes(raw))
    if p.count == 1:
        return Argument(VALUE, _number(p, element, value))
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__") or len(value) != p.count:
        raise _refuse(p, _described(value))
    packed = b"".join(_number(p, element, v) for v in value)
    return Argument(VALUE, packed.ljust(p.bytes, b"\0"))


def _place(array: "np.ndarray[Any, Any]") -> Tuple[int, int]:
    first = int(array.__array_interface__["data"][0])
    return first, first + array.nbytes


def convert(kernel: str, parameters: Sequence[Parameter], args: Union[Sequence[Any], Mapping[str, Any]]) -> List[Argument]:
    """One Argument for each parameter. `args` are in order, or a mapping from the parameters' names."""
    names = [p.name for p in parameters]
    wanted = f"{kernel} takes {len(names)} argument{'' if len(names) == 1 else 's'} ({', '.join(names)})"
    if isinstance(args, Mapping):
        wrong = [str(n) for n in args if n not in names] + [n for n in names if n not in args]
        if wrong:
            raise TypeError(f"args: {wanted}; too many or missing: {', '.join(wrong)}")
        values = [args[n] for n in names]
    else:
        if isinstance(args, (np.ndarray, str, bytes)):
            raise TypeError("args: a list of arguments, or a dict from names to arguments, is expected")
        values = list(args)
        if len(values) != len(parameters):
            raise TypeError(f"args: {wanted}, and {len(values)} were given")
    result: List[Argument] = []
    for p, value in zip(parameters, values):
        if p.passed == "reference":
            raise TypeError(f"{p.name}: the kernel's parameter `{p.declaration}` can't be passed to a kernel")
        if p.passed == "pointer" and p.kind in ("pointer", "reference"):
            raise TypeError(f"{p.name}: `{p.declaration}` is a pointer to pointers, which arrays can't be")
        argument = _pointer(p, value) if p.passed == "pointer" else _value(p, value)
        if argument.array is not None and argument.array.nbytes:
            for i, other in enumerate(result):
                if other.array is None or not (other.written or argument.written):
                    continue
                mine, theirs = _place(argument.array), _place(other.array)
                if mine == theirs:  # the kernel gets one array twice
                    other.written = other.written or argument.written
                    argument = Argument(SAME_AS, same_as=i)
                    break
                if mine[0] < theirs[1] and theirs[0] < mine[1]:
                    raise ValueError(f"{p.name}: the array overlaps {names[i]}'s, and one of them may be written; pass the same array, or a copy")
        result.append(argument)
    return result
