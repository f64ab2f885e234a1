#!/usr/bin/env python3
"""check-docker.py STAGE SYSTEM: runs the steps of one stage of the Dockerfile without Docker, as root, in SYSTEM, the root folder of a
system that stands for the stage's base image, such as debootstrap makes it:

  debootstrap --variant=minbase bookworm /tmp/debian12 && tests/checks/check-docker.py tilewise /tmp/debian12

What git knows of this repository is what COPY copies. SYSTEM is changed, as the image would be. It knows ARG, ENV, WORKDIR, COPY, RUN
and CMD, and stops at anything else. Exit code 1 when a step fails.
"""
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def steps(stage):
    """(instruction, rest) of the stage's lines."""
    text = re.sub(r"\\\n", " ", re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.M))
    inside = False
    for line in filter(None, map(str.strip, text.splitlines())):
        instruction, rest = line.split(None, 1)
        if instruction == "FROM":
            inside = rest.endswith(f" AS {stage}")
        elif inside:
            yield instruction, rest


def copy(source, target):
    """COPY . TARGET"""
    if source != ".":
        sys.exit(f"check-docker.py: COPY {source} is not known, only COPY .")
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True, capture_output=True)
    for name in filter(None, names.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def main():
    if len(sys.argv) != 3 or not (Path(sys.argv[2]) / "bin/sh").exists():
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    stage, system = sys.argv[1], Path(sys.argv[2]).resolve()
    todo = list(steps(stage))
    if not todo:
        sys.exit(f"check-docker.py: the Dockerfile has no stage {stage}")
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
    environment |= {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    folder = "/"
    shutil.copy("/etc/resolv.conf", system / "etc/resolv.conf")
    for mounted in ("proc", "dev"):
        subprocess.run(["mount", "--rbind", "--make-rslave", f"/{mounted}", system / mounted], check=True)
    try:
        for instruction, rest in todo:
            started = time.time()
            if instruction in ("ENV", "ARG"):
                name, value = rest.split("=", 1)
                environment[name] = value
            elif instruction == "WORKDIR":
                folder = rest
                (system / folder[1:]).mkdir(parents=True, exist_ok=True)
            elif instruction == "COPY":
                source, target = rest.split()
                copy(source, system / os.path.normpath(os.path.join(folder, target))[1:])
            elif instruction == "RUN":
                code = subprocess.run(["chroot", system, "/bin/sh", "-c", f'cd "{folder}" && {rest}'], env=environment).returncode
                if code != 0:
                    print(f"FAIL  RUN {rest}: exit code {code}")
                    sys.exit(1)
            elif instruction != "CMD":
                sys.exit(f"check-docker.py: {instruction} is not known")
            print(f"ok    {instruction} {rest}   {time.time() - started:.0f} s", flush=True)
    finally:
        for mounted in ("dev", "proc"):
            subprocess.run(["umount", "-R", "-l", system / mounted], check=False)


main()
