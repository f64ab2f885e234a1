#!/usr/bin/env python3
"""Fails on a lesson that is too long, uses a word of the glossary without a link to it, or speaks as lessons should not.

    tests/checks/check-lessons.py [PAGE...]          default: chapters/*/README.md, deeper.md and other pages there, and
                                                       for the voice also homework and the texts of programs
    tests/checks/check-lessons.py --link [PAGE...]   puts in the missing links

Length, of README.md alone: LIMITS below, outside of <details>, comments, and the strip between <!-- ladder ... --> and
<!-- /ladder -->. A line of code is one with something in it, in a fence or four blanks to the right.

Links: the first use of each term on a page leads to its entry in docs/glossary.md. Uses in headings, code, tables, summaries of
folds, quoted claims, what update-results.py writes, and other links do not count. The glossary says which words a term has:

    <a id="coalescing"></a>**Coalescing.** <!-- also: coalesced, uncoalesced -->  these words, and their plurals, too
    <a id="finding"></a>**Finding.** <!-- only: findings -->                      these alone; none at all for a word of every day
    <a id="grid"></a>**Grid.** <!-- not: points of a grid -->                     but not in these words

Case does not matter, but for words with a capital inside (DRAM, AoS). A longer term hides a shorter: a *bank conflict* is no *bank*.

Voice: VOICE below, in pages outside of code, in homework.cuh, homework.cu and puzzles, in the grader's texts, and in what programs print.

Rows, without PAGE: what names every lesson (README.md, docs/teaching.md, docs/topics.md, docs/homework.md, and the marker of puzzles) names each.

Exit codes: 0; 1 something is wrong; 2 bad arguments.
"""
import os
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
glossary = root / "docs/glossary.md"
LIMITS = {"words": 1500, "tables": 2, "code lines": 60}

# What lessons do not say, and why.
VOICE = [
    (r"\bnobody\b", "say who does what: 'nothing stops you', 'the simulator doesn't check'"),
    (r"\b(?:if|when|what|as|how|where|before|until|than|because) one "
     r"(?:can|may|must|might|could|should|would|wants?|needs?|gets?|meets?|sees?|asks?|has|does|pleases|likes)\b", "say you or we"),
    (r"\bthe begin of\b|\bthe begin\b(?=[,.])", "a beginning, or the start"),
    (r"\bso and so (?:many|much|long)\b", "name the number: a row is R units long"),
    (r"\bof which each\b", "two sentences, or 'each of them'"),
    (r"\bturned round\b", "say reversed, or transposed"),
    (r"\bno friend of\b", "say what it costs"),
    (r"\bfound in place\b", "say hit in the cache"),
    (r"\bfor all that\b", "say still"),
    (r"\bquite,? and none\b|\bnone can exceed\b", "say nothing can beat them"),
    (r"\bthe price of (?:a|one|an)\b", "a generalisation that our tables break: say what it costs, and where"),
    (r"\b(?:cache|L2|L1)(?:'s)? wish(?:es)?\b|\bwish(?:es)? (?:to|for) (?:L1|L2|the cache)\b|\bstates? a wish\b", "it is a hint"),
    (r"\bevict_(?:last|first)\b[^.]{0,40}\bkept\b|\bkept\b[^.]{0,40}\bevict_(?:last|first)\b", "say what the hint asks for"),
    (r"\b(?:first|second|third|another|one|each) look (?:at|over) (?:the )?(?:rows|matrix)\b|\blooks? over the rows\b", "it is a pass"),
    (r"\bdecides about\b", "decides, or says"),
    (r"\bwhoever\b", "say if you"),
    (r"\bthe one (?:of|who) which\b", "another language's order of words"),
    (r"\babout which (?:most|least|much)\b", "the optimisation that promises the most"),
    (r"\bin (?:its|their) place in most\b", "say that most texts give instead"),
    (r"\bmust be said\b|\bit is to be (?:seen|said|noted)\b", "say it"),
]

WORD = re.compile(r"[^\s]*[A-Za-z0-9][^\s]*")


def blank(found):
    """The same room, with nothing in it: places in the text stay what they are."""
    return re.sub(r"[^\n]", " ", found[0])


def blank_indented_code(text):
    """Lines four blanks to the right that stand after an empty line, and not in a list."""
    lines, after_empty, in_list = text.split("\n"), True, False
    code = 0
    for i, line in enumerate(lines):
        if not line.strip():
            after_empty = True
        elif line.startswith("    ") and after_empty and not in_list:
            lines[i] = " " * len(line)
            code += 1
        elif re.match(r"\s*(?:[-*+]|\d+\.)\s", line):
            in_list, after_empty = True, False
        else:
            in_list = in_list and line.startswith(" ")
            after_empty = False
    return "\n".join(lines), code


def without_folds(text):
    """Blanks <details> ... </details>, folds in folds too."""
    out, depth, at = [], 0, 0
    for tag in re.finditer(r"<(/?)details\b[^>]*>", text):
        piece = text[at:tag.start()]
        out.append(piece if depth == 0 else re.sub(r"[^\n]", " ", piece))
        depth = max(0, depth + (-1 if tag[1] else 1))
        out.append(" " * len(tag[0]))
        at = tag.end()
    return "".join(out) + text[at:]


def measure(text):
    """How many words, tables and lines of code a page has outside of folds."""
    text = re.sub(r"<!-- ladder\b.*?<!-- /ladder -->", blank, text, flags=re.S)
    text = re.sub(r"<!--.*?-->", blank, without_folds(text), flags=re.S)
    code = sum(bool(line.strip()) for fence in re.findall(r"^```[^\n]*\n(.*?)^```", text, re.S | re.M) for line in fence.split("\n"))
    text, indented = blank_indented_code(re.sub(r"^```.*?^```", blank, text, flags=re.S | re.M))
    tables = len(re.findall(r"^\|[ :|-]+\|$", text, re.M))
    text = re.sub(r"^\|.*$|<[^>]*>|^\\snippet.*$", blank, text, flags=re.M)
    text = re.sub(r"\]\([^)]*\)", blank, text)
    return {"words": len(WORD.findall(text)), "tables": tables, "code lines": code + indented}


class Terms:
    """The glossary's words, longest first, and the anchor of each."""

    def __init__(self):
        self.anchor_of, patterns = {}, []
        entry = re.compile(r'^<a id="([^"]+)"></a>\*\*(.+?)\.\*\*(?: <!-- (also|only|not):(.*?) ?-->)?', re.M)
        for anchor, names, kind, words in entry.findall(glossary.read_text()):
            forms = [] if kind == "only" else re.sub(r"`[^`]*`", "", names).split(",")
            others = [form.strip() for form in words.split(",") if form.strip()]
            if kind == "not":
                self.anchor_of.update(dict.fromkeys(others))
                others = []
            for form in [form.strip() for form in forms if form.strip()] + others:
                if not any(c.isupper() for c in form[1:]) and len(form) > 1:
                    form = form[0].lower() + form[1:]
                if form in self.anchor_of:
                    sys.exit(f"{glossary.name}: '{form}' belongs to {self.anchor_of[form]} and to {anchor}")
                self.anchor_of[form] = anchor
        for form in sorted(self.anchor_of, key=len, reverse=True):
            patterns.append(self.pattern(form))
        self.forms = sorted(self.anchor_of, key=len, reverse=True)
        self.regex = re.compile(r"(?<![\w/-])(?:" + "|".join(f"({p})" for p in patterns) + r")(?![\w/]|-\w)")

    @staticmethod
    def pattern(form):
        """A form and its plural; parts of it may stand in two lines, or have a hyphen between them."""
        plural = form[:-1] + "(?:y|ies)" if re.search(r"[^aeiou]y$", form) else \
            form + "(?:es)?" if re.search(r"(?:s|x|ch|sh)$", form) else form + "s?"
        plural = re.sub(r"[ -]", r"(?:-|[ ]|\\n[ ]{0,4})", plural.replace("'", "['’]"))
        return plural if any(c.isupper() for c in form) else f"(?i:{plural})"

    def uses(self, text):
        for hit in self.regex.finditer(text):
            anchor = self.anchor_of[self.forms[hit.lastindex - 1]]
            if anchor:
                yield hit.start(), hit.end(), anchor


def running_text(text):
    """The text in which words want links; everything else is blank."""
    text = re.sub(r"^```.*?^```", blank, text, flags=re.S | re.M)
    text = re.sub(r"<!-- ([a-z-]+)\b.*?<!-- /\1 -->", blank, text, flags=re.S)
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.S)
    text = re.sub(r"<summary>.*?</summary>", blank, text, flags=re.S)
    text = re.sub(r'<(?:img|a|/|b|code|p|sub|sup|details|br)\b[^>]*>', blank, text, flags=re.S)
    text, _ = blank_indented_code(text)
    text = re.sub(r"^(?:#|\||\\snippet).*$", blank, text, flags=re.M)
    text = re.sub(r"`[^`]*`", blank, text)
    text = re.sub(r"!?\[[^\]]*\]\([^)]*\)", blank, text)
    text = re.sub(r"\*\*Claim:\*\*\s+\"[^\"]*\"", blank, text)
    return re.sub(r"https?://\S+", blank, text)


def missing_links(text, terms):
    """The first use of each term that neither is a link nor comes after one: (start, end, anchor)."""
    linked = {}
    for link in re.finditer(r"\]\([^)\s]*glossary\.md#([\w-]+)\)", text):
        linked.setdefault(link[1], link.start())
    seen = set()
    for start, end, anchor in terms.uses(running_text(text)):
        if anchor in seen or linked.get(anchor, len(text)) < start:
            continue
        seen.add(anchor)
        yield start, end, anchor


def put_links_in(page, terms):
    text = page.read_text()
    to = os.path.relpath(glossary, page.resolve().parent)
    found = list(missing_links(text, terms))
    for start, end, anchor in reversed(found):
        text = f"{text[:start]}[{text[start:end]}]({to}#{anchor}){text[end:]}"
    if found:
        page.write_text(text)
    return len(found)


def spoken(path):
    """What people read of a file, at its place."""
    text = path.read_text()
    if path.suffix == ".md":
        text = re.sub(r"^```.*?^```", blank, text, flags=re.S | re.M)
        text = re.sub(r"<!--.*?-->|`[^`]*`", blank, text, flags=re.S)
        return re.sub(r"\*\*Claim:\*\*\s+\"[^\"]*\"", blank, text)  # what others say
    if path.name.startswith("homework.cu") or path.suffix == ".json" or path.parent.name == "puzzles":
        return text
    kept = [" "] * len(text)
    for string in re.finditer(r'^\s*#include[^\n]*|//[^\n]*|"((?:[^"\\\n]|\\.)*)"', text, re.M):
        if string[1] is not None:
            kept[string.start(1):string.end(1)] = string[1]
    return "".join(c if c == "\n" else k for c, k in zip(text, kept))


def voice_files():
    for pattern in ["chapters/*/*.md", "chapters/*/*.cu", "tests/*/puzzles/*.cu", "chapters/*/*.cuh", "chapters/*/*.hpp", "common/src/*.cpp",
                    "common/include/tilewise/*.hpp", "common/grader/*.cpp", "common/simulator/*/*.cpp", "common/tools/*.cpp",
                    "tests/*/homework/*.json", "tests/*/homework/reference.cpp"]:
        yield from sorted(root.glob(pattern))


def missing_rows():
    """What names every lesson, and lacks one: a sentence each."""
    readme, teaching, topics, homework = ((root / file).read_text() for file in ("README.md", "docs/teaching.md", "docs/topics.md", "docs/homework.md"))
    objectives, tasks = (teaching.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0] for title in ("Objectives", "The tasks"))
    graded = re.search(r"^Lessons .*? have tasks", homework, re.M)
    numbers = set()
    for first, last in re.findall(r"(\d\d)(?: to (\d\d))?", graded[0] if graded else ""):
        numbers.update(range(int(first), int(last or first) + 1))
    for lesson in sorted(root.glob("chapters/[0-9][0-9]_*/README.md")):
        name = lesson.parent.name
        row, link = f"| [{name[:2]}](../chapters/{name}/README.md) |", f"(../chapters/{name}/README.md)"
        has_homework, has_puzzles = (root / "tests" / name / "homework").is_dir(), (root / "tests" / name / "puzzles").is_dir()
        for fits, what in [(f"| `make {name[:2]}` |" in readme, "README.md: the table of lessons"),
                           (row in objectives, "docs/teaching.md: the table of objectives"),
                           (row in tasks or not has_homework, "docs/teaching.md: the table of tasks"),
                           (link in topics.split("\n## ", 1)[0], "docs/topics.md: the list of lessons at its head"),
                           (int(name[:2]) in numbers or not has_homework, "docs/homework.md: the first sentence"),
                           (f"<!-- puzzles {name} -->" in lesson.read_text() or not has_puzzles, f"chapters/{name}/README.md: the marker <!-- puzzles {name} -->")]:
            if not fits:
                yield f"{what} lacks {name}"


def name_of(path):
    path = path.resolve()
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def main():
    words = sys.argv[1:]
    link = "--link" in words
    pages = [pathlib.Path(word) for word in words if word != "--link"]
    for page in pages:
        if str(page).startswith("-") or not page.is_file():
            print(f"usage: check-lessons.py [--link] [PAGE...]; there is no page {page}", file=sys.stderr)
            return 2
    terms = Terms()
    lessons = pages or sorted(page for page in root.glob("chapters/*/*.md") if not page.name.endswith(".zh.md"))
    wrong = []

    if link:
        for page in lessons:
            count = put_links_in(page, terms)
            if count:
                print(f"{name_of(page)}: {count} links")

    print(f"{'lesson':44}" + "".join(f"{what:>12}" for what in LIMITS))
    for page in lessons:
        if not page.name.endswith("README.md") and page.parent.parent == root / "chapters":
            continue  # what stands beside a lesson may be long
        counts = measure(page.read_text())
        print(f"{name_of(page):44}" + "".join(f"{counts[what]:12,}" for what in LIMITS))
        wrong += [f"{name_of(page)}: {counts[what]:,} {what}, {counts[what] - most:,} more than {most:,}"
                  for what, most in LIMITS.items() if counts[what] > most]

    for page in lessons:
        text = page.read_text()
        wrong += [f"{name_of(page)}:{text.count(chr(10), 0, start) + 1}: '{' '.join(text[start:end].split())}' is the first on "
                  f"this page, and does not lead to glossary.md#{anchor}" for start, end, anchor in missing_links(text, terms)]

    for path in pages or voice_files():
        text = spoken(path)
        for pattern, reason in VOICE:
            wrong += [f"{name_of(path)}:{text.count(chr(10), 0, hit.start()) + 1}: '{' '.join(hit[0].split())}': {reason}"
                      for hit in re.finditer(pattern.replace(" ", r"\s+"), text, re.I)]

    if not pages:
        wrong += missing_rows()

    for line in wrong:
        print(line, file=sys.stderr)
    if wrong:
        print(f"{len(wrong)} in all. See the head of tests/checks/check-lessons.py; --link puts the links in.", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
