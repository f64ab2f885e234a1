#!/usr/bin/env python3
"""Records `make learn` as an animated picture for the README: the first three puzzles, each tried wrong once, then solved.

    common/scripts/record/record-learn.py            writes docs/learn.svg; needs tmux, and build/sim/bin/learn, which `make learn` builds
    common/scripts/record/record-learn.py --check    is docs/learn.svg what the puzzles are now? Needs nothing but Python 3

The program really runs, on a copy of the puzzles, in a terminal of 80 columns; tmux says what is on its screen. What is typed is in
tests/NN_topic/puzzles/*.attempts. Only the pauses are ours: each screen stays long enough to be read.

Exit codes: 0; 1 the picture is not what the puzzles are now, or the program did not say what it should; 2 something is missing.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml
from xml.sax.saxutils import escape

root = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(root / "common/scripts/site"))
import puzzles  # noqa: E402

picture = root / "docs/learn.svg"
CHAPTER = "00_first_kernel"
# The attempt at each puzzle that fails first; the picture's alt text in README.md tells of it.
WRONG = ["counts from 0, so one fewer", "the numbers the other way round", "all three numbers"]
LARGEST = 300_000  # bytes
COLUMNS, ROWS = 80, 24
CELL, LINE, SIZE, MARGIN = 8.4, 18, 14, 16  # a character's width, a line's height, the type's size, what is left at the sides
READ, TYPE = 4, 2  # seconds for a screen that is new, and for a line that is typed
STILL = 2  # which screen is shown where nothing moves: what is said of the first wrong attempt


def die(code, message):
    print(f"record-learn.py: {message}", file=sys.stderr)
    sys.exit(code)


# ---- the puzzles, and what is typed


class Attempt:
    """One section of an .attempts file whose change is one line for another."""

    def __init__(self, file, heading):
        sections = dict(part.split("\n", 1) for part in re.split(r"^# ", file.read_text(), flags=re.M) if part)
        if heading not in sections:
            die(2, f'{file.relative_to(root)} has no "# {heading}": choose another attempt, in WRONG')
        section = sections[heading]
        self.says = re.findall(r"^says: (.*)", section, re.M)
        old, new = re.findall(r"^-(.*)", section, re.M), re.findall(r"^\+(.*)", section, re.M)
        if len(old) != 1 or len(new) != 1:
            die(2, f'{file.relative_to(root)}: "# {heading}" changes more than a line: choose another attempt, in WRONG')
        self.old, self.new = old[0], new[0]


class Step:
    """What is to be seen of one screen: what is done, the line in the editor, and the texts that the program shows."""

    def __init__(self, puzzle, action, before, line, says, seconds):
        self.puzzle, self.action, self.before, self.line, self.says, self.seconds = puzzle, action, before, line, says, seconds

    def editor(self):
        """The line that changes, between its neighbours, with numbers: lists of (column, text, class)."""
        start = self.puzzle.lines.index(self.puzzle.solution.old)
        rows = []
        for i in (start - 1, start, start + 1):
            text = self.line if i == start else self.puzzle.lines[i]
            text = text if len(text) <= COLUMNS - 5 else text[: COLUMNS - 8] + "..."
            begin, end = changed(self.before, text) if i == start else (0, 0)
            rows.append([(0, f"{i + 1:3}", "dim"), (5, text[:begin], ""), (5 + begin, text[begin:end], "typed"), (5 + end, text[end:], "")])
        return rows


def changed(before, after):
    """Which characters of `after` are new; (0, 0) where nothing is. Comments don't count."""
    before, after = before.partition("//")[0].rstrip(), after.partition("//")[0].rstrip()
    begin = len(os.path.commonprefix([before, after]))
    left = min(len(before), len(after)) - begin
    end = min(len(os.path.commonprefix([before[::-1], after[::-1]])), left)
    return (begin, len(after) - end) if before != after else (0, 0)


def first_puzzles():
    found = puzzles.of_chapter(root, CHAPTER)[: len(WRONG)]
    for puzzle, wrong in zip(found, WRONG):
        original = root / "tests" / CHAPTER / "puzzles" / puzzle.name
        text = original.read_text()
        notice = re.search(r"^// Notice: (.*(?:\n// (?!\w+: ).*)*)", text, re.M)[1]
        puzzle.lines = text.split("\n")
        puzzle.notice = " ".join(notice.replace("\n// ", " ").split())
        attempts = original.with_suffix(".attempts")
        puzzle.wrong, puzzle.solution = Attempt(attempts, f"wrong: {wrong}"), Attempt(attempts, "solution")
        if puzzle.wrong.old != puzzle.solution.old:
            die(2, f'{puzzle.id}, "{wrong}": not the line that the solution changes: choose another attempt, in WRONG')
    return found


def steps_of(puzzle, first):
    """Five screens: as it is, an attempt typed, judged, the solution typed, judged."""
    starter, wrong, solution = puzzle.solution.old, puzzle.wrong.new, puzzle.solution.new
    head = [f"{puzzle.id} {puzzle.title}", puzzle.goal, f"puzzles/{puzzle.name}"]
    judged, solved = [*puzzle.wrong.says, "Waiting for the file"], ["Solved.", puzzle.notice]
    return [
        Step(puzzle, "you start it" if first else "you press n", starter, starter, [*head, "As it is now:"], READ),
        Step(puzzle, "you change a line", starter, wrong, [*head, "As it is now:"], TYPE),
        Step(puzzle, "you save", starter, wrong, [*head, *judged], READ),
        Step(puzzle, "you change it again", wrong, solution, [*head, *judged], TYPE),
        Step(puzzle, "you save", wrong, solution, [*head, *solved], READ),
    ]


def all_steps():
    return [step for i, puzzle in enumerate(first_puzzles()) for step in steps_of(puzzle, i == 0)]


# ---- the run


def squeezed(text):
    """Without blanks and line ends: screens break lines, and pictures cut them into runs."""
    return re.sub(r"\s+", "", text)


def without_looks(screen):
    return re.sub(r"\x1b\[[\d;]*m", "", screen)


class Terminal:
    def __init__(self, command, environment):
        self.tmux = ["tmux", "-L", f"record-{os.getpid()}", "-f", "/dev/null"]
        self.call("new-session", "-d", "-s", "learn", "-x", str(COLUMNS), "-y", str(ROWS), *command, environment=environment)

    def call(self, *arguments, environment=None):
        return subprocess.run([*self.tmux, *arguments], env=environment, check=True, capture_output=True, text=True).stdout

    def press(self, key):
        self.call("send-keys", "-t", "learn", key)

    def shows(self, texts, seconds=60):
        """The screen, with its colours, once it has these texts and stays as it is."""
        end, last = time.monotonic() + seconds, None
        while True:
            screen = self.call("capture-pane", "-e", "-p", "-t", "learn")
            plain = squeezed(without_looks(screen))
            if screen == last and all(squeezed(text) in plain for text in texts):
                return screen
            if time.monotonic() > end:
                die(1, f"the screen does not show {texts}:\n{without_looks(screen)}")
            last = screen
            time.sleep(0.1)

    def close(self):
        subprocess.run([*self.tmux, "kill-server"], capture_output=True, check=False)


def record(steps):
    """The screen of each step."""
    learn = root / "build/sim/bin/learn"
    if not shutil.which("tmux"):
        die(2, "needs tmux; on Debian: sudo apt-get install tmux")
    if not learn.exists():
        die(2, "build/sim/bin/learn is not there; `make learn` builds it")
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TMUX")}
    with tempfile.TemporaryDirectory() as copy:
        for folder in root.glob("tests/*/puzzles"):
            for place in ("tests", "chapters"):
                shutil.copytree(folder, pathlib.Path(copy) / place / folder.parent.name / "puzzles")
        terminal = Terminal([str(learn), "--root", copy], environment)
        try:
            screens = []
            for step in steps:
                if step.action == "you press n":
                    terminal.press("n")
                if step.action == "you save":
                    file = pathlib.Path(copy) / "chapters" / CHAPTER / "puzzles" / step.puzzle.name
                    file.write_text("\n".join(step.puzzle.lines).replace(step.puzzle.solution.old, step.line))
                screens.append(terminal.shows(step.says))
            return screens
        finally:
            terminal.close()


# ---- the picture

STYLE = """
  .page, .bar { fill: #fdfdfb; stroke: #c9c9c4 } .bar { fill: #eceef1 }
  text { fill: #1f2328; font: 14px ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace }
  .dim { fill: #57606a } .bold { font-weight: 700 } .good { fill: #1a7f37; font-weight: 700 }
  .typed { fill: #b35900; font-weight: 700 } .you { fill: #b35900 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #1b1f24; stroke: #444c56 } .bar { fill: #2d333b; stroke: #444c56 }
    text { fill: #e6edf3 }
    .dim { fill: #9da7b3 } .good { fill: #46b877 }
    .typed, .you { fill: #f0a03c }
  }
"""


def look_of(codes):
    return "good" if "32" in codes else "bold" if "1" in codes else "dim" if "2" in codes else ""


def runs_of(screen):
    """Each line of a terminal's screen as runs of one look, (column, text, class)."""
    rows, look = [], ""
    for line in screen.rstrip().split("\n"):
        runs, column = [], 0
        for part in re.split(r"(\x1b\[[\d;]*m)", line):
            if part.startswith("\x1b"):
                codes = part[2:-1].split(";")
                look = look_of(codes) if codes[0] in ("", "0") or not set(codes) <= {"39", "49"} else look
                continue
            runs.append((column, part, look))
            column += len(part)
        rows.append(runs)
    return rows


def drawn(runs, y):
    """One line, cut where blanks are. textLength keeps the columns in place, whatever the font's width."""
    return [f'<text x="{MARGIN + (column + found.start()) * CELL:.1f}" y="{y}" textLength="{len(found[0]) * CELL:.1f}" '
            f'lengthAdjust="spacingAndGlyphs"' + (f' class="{look}"' if look else "") + f">{escape(found[0])}</text>"
            for column, text, look in runs for found in re.finditer(r"\S+(?: \S+)*", text)]


def right(text, look):
    return COLUMNS - len(text), text, look


def svg(steps, screens):
    rows = [runs_of(screen) for screen in screens]
    highest = max(len(r) for r in rows)
    bar = LINE + 10
    editor = bar + 8 + highest * LINE + 12  # where the editor begins
    width, height = round(2 * MARGIN + COLUMNS * CELL), editor + bar + 8 + 3 * LINE + 12
    total, begin = sum(step.seconds for step in steps), 0
    frames, moves = [], []
    for i, (step, screen) in enumerate(zip(steps, rows)):
        end = begin + step.seconds
        key, opens = step.action == "you press n", step.action == "you start it"
        above = [(0, "$ make learn", "bold")] + ([right(step.action, "you")] if key or opens else [])
        below = [(0, f"the editor: {step.puzzle.name}", "bold")] + ([] if key or opens else [right(step.action, "you")])
        lines = drawn(above, LINE + 1)
        for row, runs in enumerate(screen):
            lines += drawn(runs, bar + 8 + row * LINE + SIZE)
        lines += drawn(below, editor + LINE + 1)
        for row, runs in enumerate(step.editor()):
            lines += drawn(runs, editor + bar + 8 + row * LINE + SIZE)
        frames.append(f'<g class="frame" id="f{i}">\n' + "\n".join(lines) + "\n</g>")
        moves.append(f"    #f{i} {{ animation-name: m{i} }} @keyframes m{i} {{ "
                     + ("" if i == 0 else "0% { visibility: hidden } ") + f"{100 * begin / total:.2f}% {{ visibility: visible }} "
                     + ("" if end == total else f"{100 * end / total:.2f}%, 100% {{ visibility: hidden }} ") + "}")
        begin = end
    names = [f"{step.puzzle.id} {step.puzzle.title}" for step in steps[::5]]
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-labelledby="t d">
<title id="t">make learn: the first {len(names)} puzzles are solved</title>
<desc id="d">A terminal, and below it one line of the file that is edited. {escape("; ".join(names))}: of each, the screen says what is wrong, \
a line is changed and saved, the screen says what is still wrong and where, the line is changed again, and the puzzle is solved. A real run; \
the pauses are for reading. common/scripts/record/record-learn.py made it.</desc>
<style>{STYLE}  .frame {{ visibility: hidden }} #f{STILL} {{ visibility: visible }}
  @media (prefers-reduced-motion: no-preference) {{
    .frame {{ animation: {total}s step-end infinite }}
{chr(10).join(moves)}
  }}
</style>
<rect class="page" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="6"/>
<rect class="bar" x="0.5" y="0.5" width="{width - 1}" height="{bar - 1}" rx="6"/>
<rect class="bar" x="0.5" y="{editor + 0.5}" width="{width - 1}" height="{bar - 1}"/>
{chr(10).join(frames)}
</svg>
"""


# ---- the check


def faults(file):
    """What is wrong with the picture, for the puzzles as they are."""
    if not file.exists():
        return ["it is not there"]
    found = [] if file.stat().st_size < LARGEST else [f"it has {file.stat().st_size:,} bytes; fewer than {LARGEST:,} are wanted"]
    try:
        frames = [squeezed("".join(frame.itertext())) for frame in xml.parse(file).iter("{http://www.w3.org/2000/svg}g")]
    except xml.ParseError as error:
        return found + [f"it is no XML: {error}"]
    steps = all_steps()
    if len(frames) != len(steps):
        return found + [f"it has {len(frames)} screens, not {len(steps)}"]
    for i, (step, frame) in enumerate(zip(steps, frames)):
        code = ["".join(text for _, text, _ in row) for row in step.editor()]
        found += [f"screen {i}, {step.puzzle.id}, lacks: {text}" for text in [*step.says, *code] if squeezed(text) not in frame]
    return found


def main():
    parser = argparse.ArgumentParser(description="Records make learn as docs/learn.svg.")
    parser.add_argument("--check", action="store_true", help="is docs/learn.svg what the puzzles are now?")
    arguments = parser.parse_args()
    if not arguments.check:
        steps = all_steps()
        picture.write_text(svg(steps, record(steps)))
    found = faults(picture)
    if found:
        die(1, "docs/learn.svg is not what the puzzles are now: run common/scripts/record/record-learn.py\n  " + "\n  ".join(found))
    print(f"docs/learn.svg: {len(all_steps())} screens, {picture.stat().st_size:,} bytes, as the puzzles are now")


main()
