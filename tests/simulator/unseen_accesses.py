#!/usr/bin/env python3
"""Proves of CUDA sources that the simulator sees every access: unseen_accesses.py [--simcc SIMCC] [options] FILE.cu...

g++ prints its intermediate form after it has put in the calls that the simulator listens to. In it, every statement of
device code that touches memory other than a local variable must follow such a call; and no function that is called may take a
struct out of memory as its argument, or leave its result there, since g++ has no call for those. Prints what it finds and
ends with 1 then. Options are passed to simcc.
"""
import os
import re
import subprocess
import sys
import tempfile

LOCATION = re.compile(r"\[(?P<file>[^][]*?):(?P<line>\d+):\d+\] ?")
HEADER = re.compile(r"^;; Function (.*) \(")
SSA = re.compile(r"[\w$.]*_\d+(\(D\))?$")
MEMORY = re.compile(r"\*[A-Za-z_][\w$.]*(?:\(D\))?|->|\bMEM\b|\bTARGET_MEM_REF\b")
HOOK = re.compile(r"__builtin___tsan_\w*(?:read|write|vptr_update)\w* ?\((.*)\)|__tsan_\w*(?:read|write|atomic)")
CALL = re.compile(r"^(?:(?P<lhs>.+?) = )?(?P<callee>[^=\"]+?) \((?P<args>.*)\)(?: \[[a-z ]+\])*;$")


def device_lines(simcc, source, options):
    """Lines of device code, by file: simcc --device-lines says."""
    said = subprocess.run([simcc, *options, "--device-lines", source], capture_output=True, text=True)
    if said.returncode != 0:
        sys.exit(said.stderr)
    lines = set()
    for row in said.stdout.splitlines():
        name, first, last = row.rsplit(":", 2)
        lines.update((os.path.realpath(name), n) for n in range(int(first), int(last) + 1))
    return lines


def split_arguments(text):
    parts, depth, begin = [], 0, 0
    for at, c in enumerate(text):
        depth += c in "([{<"
        depth -= c in ")]}>" and text[at - 1] != "-"
        if c == "," and depth == 0:
            parts.append(text[begin:at].strip())
            begin = at + 1
    return parts + [text[begin:].strip()]


def in_memory(operand, local):
    """Whether the operand is a value in memory that other threads may see."""
    operand = operand.strip()
    if operand.startswith(("&", '"')) or not operand:
        return False
    if MEMORY.search(operand):
        known = re.match(r".*\bMEM\b.*?&([A-Za-z_][\w$.]*)", operand)  # after a cast to a reference, too: (T &)&x
        return not (known and known.group(1) in local)
    base = re.match(r"(?:VIEW_CONVERT_EXPR<[^>]*>\()?([A-Za-z_][\w$]*(?:\.\d+)?)(?=[.\[]|$)", operand)
    if not base or SSA.match(operand.split(" ")[0]) or operand[0].isdigit():
        return False
    return base.group(1) not in local and not base.group(1).startswith(("D.", "_", "tw_"))


def check(source, dump, device):
    found = []
    local, pending, place, head, header = set(), False, None, True, ""
    for line in dump:
        if HEADER.match(line):
            local, pending, place, head, header = {"<retval>"}, False, None, True, ""
            continue
        if head:  # the function's parameters and variables, until its first statements
            head = not line.startswith("  <bb")
            plain = LOCATION.sub("", line).strip()
            if line.startswith("  ") and plain.endswith(";"):
                local.update(re.findall(r"([A-Za-z_][\w$]*(?:\.\d+)?)(?:\[[^]]*\])*(?: \[value-expr.*)?;$", plain))
            else:
                header += plain
                local.update(re.findall(r"([A-Za-z_][\w$]*)(?=[,)])", header))
            continue
        tags = list(LOCATION.finditer(line))
        if tags:
            place = (tags[0].group("file"), int(tags[0].group("line")))
        statement = LOCATION.sub("", line).strip()
        if not statement.endswith(";") or statement.startswith(("#", "//", "<", "goto", "if", "return")):
            continue
        if HOOK.search(statement):
            pending = True
            continue
        if not place or (os.path.realpath(place[0]), place[1]) not in device:
            pending = False
            continue
        call = CALL.match(statement)
        unseen = []
        is_cast = call and re.search(r"= \([\w :*&<>]+\) ", statement)
        if call and not is_cast and not call.group("callee").startswith(("__builtin", ".", "(")):
            if call.group("lhs") and in_memory(call.group("lhs"), local):
                unseen.append("a store of what a call returns")
            if any(in_memory(a, local) and not a.isidentifier() for a in split_arguments(call.group("args"))):
                unseen.append("a load of a call's argument")
        elif " = " in statement and not pending and "{CLOBBER" not in statement:
            left, right = statement.rstrip(";").split(" = ", 1)
            if in_memory(left, local):
                unseen.append("a store")
            if not right.startswith("&") and not re.match(r"[\w.:]+ \(", right) and in_memory(right, local):
                unseen.append("a load")
        for what in unseen:
            found.append(f"{place[0]}:{place[1]}: {what} that the simulator doesn't see: {statement}")
        pending = False
    return sorted(set(found))


def main():
    arguments = sys.argv[1:]
    simcc = "simcc"
    if arguments[:1] == ["--simcc"]:
        simcc = arguments[1]
        arguments = arguments[2:]
    sources = [a for a in arguments if a.endswith(".cu")]
    options = [a for a in arguments if not a.endswith(".cu")]
    if not sources:
        print(__doc__.strip().splitlines()[0], file=sys.stderr)
        sys.exit(2)
    all_found = []
    for source in sources:
        device = device_lines(simcc, source, options)
        with tempfile.TemporaryDirectory() as folder:
            dump = os.path.join(folder, "dump")
            compiled = subprocess.run(
                [simcc, "--cxx=g++", *options, "-w", "-c", source, "-o", os.path.join(folder, "o"),
                 "-fdump-tree-tsan-lineno=" + dump], capture_output=True, text=True)
            if compiled.returncode != 0:
                sys.exit(compiled.stderr)
            with open(dump, errors="replace") as lines:
                all_found += check(source, lines, device)
    print("\n".join(all_found) if all_found else f"every access of {len(sources)} files is seen")
    sys.exit(1 if all_found else 0)


if __name__ == "__main__":
    main()
