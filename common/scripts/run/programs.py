#!/usr/bin/env python3
"""programs.py FOLDER [options] [-- COMPILER OPTIONS]: puts every CUDA program of a folder through the simulator, and prints how many are what.

A folder with one main() is one program of all its sources, but for those that another one includes; else each .cu file with a main() is a
program. Each is compiled by simcc, with -std=c++17 where no options stand after --, and run in its own folder without arguments and without
input. What becomes of it:

  right                the program ends with exit code 0 and says nothing against itself
  finding              the simulator has findings: a person has to say whether they are true
  wrong                its output isn't the recorded one (--recorded), or the program itself says FAILED or the like
  ends with an error   an exit code that isn't 0 and no word why: perhaps it wants arguments or files
  unsupported, said    the simulator refuses it, and names what it lacks
  unsupported, unsaid  it can't be compiled, and nothing says that the simulator lacks something
  crash                a signal ended it, or the compiler
  hang                 the time is over, and it didn't compute
  too slow             the time is over, and it did
  nvcc refuses         what simcc refuses, nvcc refuses too, where there is an nvcc

Exit code 1 if a program is in a class that the simulator may be to blame for without saying so (wrong, unsaid, crash, hang), 2 for arguments that make no sense.
"""
import argparse
import concurrent.futures
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CLASSES = (
    "right",
    "finding",
    "wrong",
    "ends with an error",
    "unsupported, said",
    "unsupported, unsaid",
    "crash",
    "hang",
    "too slow",
    "nvcc refuses",
)
BLAMED = {"wrong", "unsupported, unsaid", "crash", "hang"}
SOURCES = {".cu", ".cpp", ".cc", ".cxx"}
# What programs are linked with, so that nvcc refuses none for want of an option.
LIBRARIES = ("cublas", "cublasLt", "cufft", "curand", "cusolver", "cusparse", "nvrtc", "nccl", "cuda", "cudadevrt")

SAID = re.compile(r"[^\n]*(?:the (?:Tilewise )?simulator does not support|(?:is|are) not supported|needs a GPU of compute capability)[^\n]*")
# "x.cu:12: out-of-bounds: ...", then where in the grid; a program that a signal ends doesn't come to the count.
FINDING = re.compile(r"^tilewise: \d+ findings?\b|^[^\n]*: [a-z-]+: [^\n]*\n    in [^\n]*, block \(", re.M)
FIRST_FINDING = re.compile(r"([^\s/]+:\d+: (?!note|error|warning)[a-z-]+): ", re.M)
ASSERTION = re.compile(r"^.*Assertion .* failed.*$", re.M)
AGAINST_ITSELF = re.compile(
    r"\b(?:FAILED|FAIL|failed|Failed|FAILURE|mismatch(?:es)?|Mismatch(?:es)?|(?:do(?:es)?n't|do(?:es)? not) match|incorrect|Incorrect|INCORRECT)\b"
)
# What a program lacks here is no fault of its result.
MISSING = re.compile(r"open display|(?:cannot|can't|failed to|Failed to|Error opening|could not|Could not|unable to|Unable to) (?:open|find|load|read)|No such file|invalid device ordinal", re.I)
NOT_AGAINST = re.compile(r"\b(?:0|no|No|without|not|never|if) (?:tests? |errors? )?$|= *$", re.M)
OWN_NOTE = re.compile(r"^tilewise: |: note: [a-z-]+: ")
CLOCK = re.compile(r"\b(?:[mun]?s|[mu]?sec(?:onds?)?|[GMT]?B/s|[GT]?FLOPS?(?:/s)?|Hz|time|Time|speedup)\b", re.I)


def fail(message):
    print(f"programs.py: {message}", file=sys.stderr)
    sys.exit(2)


# ---------------------------------------------------------------- which programs there are


def plain(path):
    """A source's text without comments."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return re.sub(r'("(?:\\.|[^"\\\n])*")|/\*.*?\*/|//[^\n]*', lambda m: m.group(1) or " ", text, flags=re.S)


def included(texts):
    """The names of the sources that another source includes."""
    return {Path(name).name for text in texts for name in re.findall(r'#\s*include\s*[<"]([^">]+)[">]', text)}


def programs_of(folder):
    """[(name, [source ...])] of the files that lie in this folder itself, and the files that are part of none."""
    texts = {f: plain(f) for f in sorted(folder.iterdir()) if f.suffix in SOURCES and f.is_file()}
    if not any(f.suffix == ".cu" for f in texts):
        return [], []
    headers = included(texts.values())
    own = [f for f in texts if f.name not in headers]
    mains = [f for f in own if re.search(r"\bmain\s*\(", texts[f])]
    if len(mains) == 1:
        return [(mains[0], own)], []
    return [(f, [f]) for f in mains if f.suffix == ".cu"], [f for f in own if f not in mains]


def find_programs(root):
    folders = sorted({f.parent for f in root.rglob("*.cu")})
    if not folders:
        fail(f"no .cu file is in {root}")
    found, left_out = [], []
    for folder in folders:
        programs, others = programs_of(folder)
        found += programs
        left_out += others
    if not found:
        fail(f"no .cu file in {root} has a main()")
    return found, left_out


def without_main(files, root, most=5):
    """The line that names the files that are part of no program."""
    names = ", ".join(str(f.relative_to(root)) for f in files[:most])
    more = f" and {len(files) - most} more" if len(files) > most else ""
    return f"{len(files)} file{'s'[: len(files) > 1]} without a main() and in no program, left out: {names}{more}"


# ---------------------------------------------------------------- one command


class Ended:
    """What became of a command: its exit code (negative: a signal), what it said, whether the time was over, the seconds it computed."""

    def __init__(self, code, text, late, computed):
        self.code, self.text, self.late, self.computed = code, text, late, computed


def computed_by(pid):
    """Seconds of processor time of a process, 0 where that isn't known."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0


RUNNING = set()  # processes, each the first of a group


def kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)  # what it has left behind, too
    except ProcessLookupError:
        pass


def stop(number, _):
    for process in list(RUNNING):
        kill_group(process)
    os._exit(128 + number)


def run(command, folder, seconds, environment=None):
    limit = lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True, preexec_fn=limit, env=environment
        )
        RUNNING.add(process)
        late, computed = False, 0.0
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            late, computed = True, computed_by(process.pid)
        kill_group(process)
        process.wait()
        RUNNING.discard(process)
        said.seek(0)
        return Ended(process.returncode, said.read(4 << 20).decode("utf-8", "replace"), late, computed)


def first(pattern, text, group=0):
    match = pattern.search(text)
    return match.group(group).strip()[:160] if match else ""


def first_error(text):
    return first(re.compile(r"^.*(?:error|undefined reference).*$", re.M), text) or text.strip()[:160]


# ---------------------------------------------------------------- judging one program


class Judge:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.nvcc = None if options.no_nvcc else shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
        self.environment = {k: v for k, v in os.environ.items() if k not in ("TILEWISE_REPORT", "TILEWISE_FINDINGS", "TILEWISE_SAMPLE")}

    def nvcc_refuses(self, sources, app):
        libraries = Path(self.nvcc).resolve().parents[1] / "lib64"
        there = [f"-l{n}" for n in LIBRARIES if any(libraries.glob(f"**/lib{n}.*"))]
        command = [self.nvcc, "-arch=sm_90", "-rdc=true", *self.options.words, "-o", app, *map(str, sources), f"-L{libraries}/stubs", *there]
        return run(command, None, self.options.timeout).code != 0

    def uncompiled(self, made, sources, app):
        if made.late:
            return "too slow" if made.computed > 0 else "hang", "the compiler"
        if made.code < 0 or made.code > 128:
            return "crash", "the compiler"
        if self.nvcc and self.nvcc_refuses(sources, app):
            return "nvcc refuses", first_error(made.text)
        said = first(SAID, made.text)
        return ("unsupported, said", said) if said else ("unsupported, unsaid", first_error(made.text))

    def ran(self, ended, recorded):
        if FINDING.search(ended.text):
            return "finding", first(FIRST_FINDING, ended.text, 1)
        if ended.code != 0 and (said := first(SAID, ended.text)):
            return "unsupported, said", said
        if ended.late:
            busy = ended.computed > 0.05 * self.options.timeout
            return ("too slow" if busy else "hang"), f"{ended.computed:.0f} s of processor time"
        if ended.code < 0 and (against := first(ASSERTION, ended.text)):
            return "wrong", against
        if ended.code < 0:
            return "crash", signal.Signals(-ended.code).name
        if recorded is not None:
            difference = differs(recorded, ended.text)
            return ("wrong", difference) if difference else ("right", "as recorded")
        against = says_against_itself(ended.text)
        if against and not MISSING.search(ended.text):
            return "wrong", against
        return ("right", "") if ended.code == 0 else ("ends with an error", f"exit code {ended.code}: {last_line(ended.text)}")

    def judge(self, name, sources):
        started = time.monotonic()
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            app = str(Path(folder) / name.stem)  # which a program may print
            made = run([self.options.simcc, *self.options.words, "-o", app, *map(str, sources)], None, self.options.timeout)
            if made.code != 0 or made.late:
                kind, why = self.uncompiled(made, sources, app)
            else:
                kind, why = self.ran(run([app], name.parent, self.options.timeout, self.environment), self.recorded(name))
        return {"program": str(name.relative_to(self.options.folder)), "class": kind, "why": why, "seconds": round(time.monotonic() - started, 1)}

    def recorded(self, name):
        """What a GPU printed: RECORDED/path/of/program.out; None where there is none."""
        if not self.options.recorded:
            return None
        path = self.options.recorded / name.relative_to(self.options.folder).with_suffix(".out")
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None


def last_line(text):
    lines = [l for l in text.splitlines() if l.strip()]
    return lines[-1].strip()[:120] if lines else ""


def says_against_itself(text):
    """The first line in which a program says that its result is wrong."""
    for line in text.splitlines():
        for match in AGAINST_ITSELF.finditer(line):
            if not NOT_AGAINST.search(line[: match.start()]) and not re.match(r"\s*[:=]\s*0\b", line[match.end() :]):
                return line.strip()[:160]
    return ""


def words_of(text):
    """The words of each line that has no time or rate in it, which no two runs share, and isn't the simulator's own. Of a file's path the last
    part; the simulated device is that of its name."""
    lines = [line for line in text.splitlines() if line.strip() and not CLOCK.search(line) and not OWN_NOTE.search(line)]
    return [[w.rpartition("/")[2] if w.startswith(("/", "./")) else w for w in line.replace("Simulated NVIDIA", "NVIDIA").split()] for line in lines]


def same(a, b):
    if a == b:
        return True
    try:
        return abs(float(a) - float(b)) <= 1e-3 * max(abs(float(a)), abs(float(b)))
    except ValueError:
        return False


def differs(recorded, text):
    """The first line that differs from the recorded one, by more than a thousandth where it is a number."""
    want, have = words_of(recorded), words_of(text)
    for i in range(max(len(want), len(have))):
        a, b = (lines[i] if i < len(lines) else [] for lines in (want, have))
        if len(a) != len(b) or not all(map(same, a, b)):
            return f"recorded: {' '.join(a)[:70]} | here: {' '.join(b)[:70]}"
    return ""


# ---------------------------------------------------------------- all of them


class Progress:
    def __init__(self, all_of_them):
        self.lock, self.done, self.all = threading.Lock(), 0, all_of_them

    def __call__(self, result):
        with self.lock:
            self.done += 1
            print(f"[{self.done}/{self.all}] {result['class']}: {result['program']}" + (f": {result['why']}" if result["why"] else ""), flush=True)


def judge_all(options, programs):
    progress = Progress(len(programs))
    with tempfile.TemporaryDirectory(prefix="tilewise_programs_") as work:
        judge = Judge(options, work)

        def one(program):
            result = judge.judge(*program)
            progress(result)
            return result

        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            return list(pool.map(one, programs))


def table(results):
    """A row for each class, a column for each folder below the one that was given."""
    source = lambda r: Path(r["program"]).parts[0] if len(Path(r["program"]).parts) > 1 else "."
    sources = sorted({source(r) for r in results})
    sources = sources if 1 < len(sources) <= 12 else []
    rows = [["", *sources, "all"]]
    for kind in CLASSES:
        own = [r for r in results if r["class"] == kind]
        rows.append([kind, *(str(sum(source(r) == s for r in own)) for s in sources), str(len(own))])
    rows.append(["programs", *(str(sum(source(r) == s for r in results)) for s in sources), str(len(results))])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(c.rjust(w) if i else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip() for row in rows)


def positive(text):
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not value > 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not above 0; allowed are numbers of seconds, as 20 or 0.5")
    return value


def arguments(words):
    """The options; after "--" come the compiler's."""
    end = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(prog="programs.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--timeout", type=positive, default=120, metavar="SECONDS", help="for compiling a program, and for running it; 120")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="programs at a time; as many as processors")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write class, reason and seconds of each program")
    parser.add_argument("--recorded", type=Path, metavar="FOLDER", help="what a GPU printed: FOLDER/path/of/program.out")
    parser.add_argument("--simcc", default=str(ROOT / "build/sim/bin/simcc"), help=argparse.SUPPRESS)
    parser.add_argument("--no-nvcc", action="store_true", help="don't ask nvcc about what simcc refuses")
    options = parser.parse_args(words[:end])
    options.words = words[end + 1 :] or ["-std=c++17"]
    return options


def checked(options):
    options.folder = options.folder.resolve()
    if not options.folder.is_dir():
        fail(f"there is no folder {options.folder}")
    if options.recorded and not options.recorded.is_dir():
        fail(f"there is no folder {options.recorded}")
    if options.jobs < 1:
        fail(f"-j {options.jobs} is not above 0")
    if not shutil.which(options.simcc):
        fail(f"there is no simcc at {options.simcc}; make programs builds it")
    if options.json and not options.json.resolve().parent.is_dir():
        fail(f"there is no folder for {options.json}")
    return options


def main():
    options = checked(arguments(sys.argv[1:]))
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    programs, left_out = find_programs(options.folder)
    results = judge_all(options, programs)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    print("\n" + table(results))
    if left_out:
        print("\n" + without_main(left_out, options.folder))
    sys.exit(1 if any(r["class"] in BLAMED for r in results) else 0)


if __name__ == "__main__":
    main()
