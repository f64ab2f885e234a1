#!/usr/bin/env python3
"""Makes the slides of all lessons in a temporary folder and looks at them: each lesson must give at least five, among them one with
each of the page's pictures and one with each piece of code, as the page has it; nothing of Markdown may be left, and nothing
may be fetched from elsewhere."""
import html.parser
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Slides(html.parser.HTMLParser):
    """Counts sections; collects pictures' descriptions, code and text."""

    def __init__(self):
        super().__init__()
        self.count, self.alts, self.code, self.text, self.open, self.inside = 0, [], [], [], [], ""

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in ("img", "meta", "br"):
            self.open.append(tag)
        self.count += tag == "section"
        if tag == "img":
            self.alts.append(attributes["alt"])
            assert attributes["src"].startswith("data:image/svg+xml;base64,"), attributes["src"][:60]
        if tag == "pre":
            self.inside = attributes["class"].split()[0]
            self.code.append((self.inside, ""))
        assert tag != "link" and "href" not in attributes, "something is fetched from elsewhere"

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data):
        if "pre" in self.open:
            self.code[-1] = (self.code[-1][0], self.code[-1][1] + data)
        elif "code" not in self.open and "style" not in self.open and "script" not in self.open:
            self.text.append(data)


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ROOT / "common/scripts/run/slides.py"], check=True, stdout=subprocess.DEVNULL, env={**os.environ, "OUT": folder})
        pages = sorted(ROOT.glob("chapters/[0-9][0-9]_*/README.md"))
        for page in pages:
            problems, slides = [], Slides()
            try:
                slides.feed((Path(folder) / f"{page.parent.name[:2]}.html").read_text(encoding="utf-8"))
            except AssertionError as error:
                problems.append(str(error))
            open_text = re.sub(r"<details>.*?</details>", "", re.sub(r"<!-- (ladder|puzzles) .*?<!-- /\1 -->", "", page.read_text(encoding="utf-8"), flags=re.S), flags=re.S)
            if slides.count < 5:
                problems.append(f"{slides.count} slides")
            figures = re.findall(r'^<img src="[^"]*" alt="([^"]*)"', open_text, re.M)
            kernels = re.findall(r"^```(?:cuda|cpp|python)\n(.*?)\n```", open_text, re.M | re.S)
            if not figures or not kernels:
                problems.append("the page shows no picture or no code")
            problems += [f"no slide has the picture: {alt}" for alt in figures if alt not in slides.alts]
            shown = [code for kind, code in slides.code if kind == "kernel"]
            problems += [f"no slide has the code: {code.splitlines()[0]}" for code in kernels if code not in shown]
            rest = " ".join(slides.text)
            problems += [f"Markdown is left: {rest[max(m.start() - 30, 0):m.end() + 30]}" for m in re.finditer(r"\]\(|<!--|\*\*|\\snippet|<img|###", rest)]
            failures += len(problems)
            print(f"{'FAIL' if problems else 'ok  '}  {page.parent.name}: {slides.count} slides, {len(figures)} pictures, {len(kernels)} pieces of code")
            for problem in problems:
                print("      " + problem)
    sys.exit(1 if failures else 0)


main()
