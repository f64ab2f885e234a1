"""The puzzles of `make learn`, as pages show them: a list in each chapter's README, and docs/puzzles.md with all of them.

update-results.py writes both. Everything comes from the originals, tests/NN_topic/puzzles/*.cu, and not from the copies in
chapters/, which learners edit. common/learn/puzzle.cpp has the whole format; pages need a title, a goal, the kind, the minutes,
and the code above the check.
"""
import html
import re

CHECK = "// ---- The check."


class Puzzle:
    """What pages say of one puzzle."""

    def __init__(self, chapter, number, file):
        lines = file.read_text().split("\n")
        check = next(i for i, line in enumerate(lines) if line.startswith(CHECK))
        top = next(i for i, line in enumerate(lines) if not line.startswith("//"))
        tail = "\n".join(lines[check:])
        self.chapter = chapter
        self.id = f"{chapter[:2]}-{number}"
        self.name = file.name
        self.title = lines[0].removeprefix("//").strip()
        self.goal = " ".join(line.removeprefix("//").strip() for line in lines[1:top]).partition("Goal: ")[2].strip()
        self.kind = re.search(r"^// Kind: (\w+)", tail, re.M)[1]
        self.minutes = int(re.search(r"^// Minutes: (\d+)", tail, re.M)[1])
        self.code = "\n".join(lines[top:check]).strip("\n")


def of_chapter(root, chapter):
    """The puzzles of 02_tiled_matmul, in the order in which they should be done."""
    files = sorted((root / "tests" / chapter / "puzzles").glob("*.cu"))
    return [Puzzle(chapter, int(file.name.partition("_")[0]), file) for file in files]


def chapters(root):
    return [folder.name for folder in sorted((root / "chapters").iterdir()) if (root / "tests" / folder.name / "puzzles").is_dir()]


def marked_up(text):
    """Plain words as Markdown: what looks like code becomes code, if it isn't yet."""
    parts = re.split(r"(`[^`]*`)", text)
    code = re.compile(r"[\w:&]*(?:\w+\[[^\]]*\]|__\w+|\w+\(\)|<<<.*?>>>|\w+_\w+)(?:\[[^\]]*\]|\([^()\s]*\))*")
    parts[::2] = [code.sub(r"`\g<0>`", part).replace("*", r"\*").replace("<", "&lt;") for part in parts[::2]]
    return "".join(re.sub(r"`([^`]*)`", lambda found: found[0].replace(r"\*", "*").replace("&lt;", "<"), part) for part in parts)


def total(puzzles):
    minutes = sum(puzzle.minutes for puzzle in puzzles)
    return f"{len(puzzles)} small puzzle{'s' if len(puzzles) != 1 else ''}, {minutes} minutes in all"


def listed(root, chapter):
    """The fold below a chapter's "Your turn"; nothing where a chapter has no puzzles."""
    puzzles = of_chapter(root, chapter)
    if not puzzles:
        return ""
    lines = ["", "<details>", f"<summary>Begin with {total(puzzles)}: make learn</summary>", "",
             "    make learn           # from the first that you haven't solved; judges whenever you save",
             f"    make puzzle-{puzzles[0].id:<8} # this one, once", ""]
    lines += [f"- **{puzzle.id}** [{puzzle.title}](puzzles/{puzzle.name}), {puzzle.kind}, {puzzle.minutes} min. {marked_up(puzzle.goal)}"
              for puzzle in puzzles]
    lines += ["", f"[The code that each begins with](../../docs/puzzles.md#puzzles-{chapter[:2]})", "", "</details>", ""]
    return "\n".join(lines) + "\n"


def all_of_them(root):
    """docs/puzzles.md: for each chapter its puzzles, a fold with goal and code for each."""
    lines = []
    for chapter in chapters(root):
        puzzles = of_chapter(root, chapter)
        heading = (root / "chapters" / chapter / "README.md").read_text().partition("# ")[2].partition("\n")[0]
        lines += ["", f'<a id="puzzles-{chapter[:2]}"></a>', "", f"## {heading}", "",
                  f"{total(puzzles)}, with [the lesson](../chapters/{chapter}/README.md).", ""]
        for puzzle in puzzles:
            title = html.escape(puzzle.title, quote=False)
            lines += ["<details>", f"<summary>{puzzle.id} {title}: {puzzle.kind}, {puzzle.minutes} min</summary>", "",
                      marked_up(puzzle.goal), "", "```cuda", puzzle.code, "```", "",
                      f"`make puzzle-{puzzle.id}` judges [{puzzle.name}](../chapters/{chapter}/puzzles/{puzzle.name}).", "", "</details>"]
    return "\n".join(lines) + "\n\n"
