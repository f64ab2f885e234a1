#!/usr/bin/env python3
"""slides.py [NN ...]: makes build/slides/NN.html of the lessons' pages, all of them when none is named; OUT=folder elsewhere.

Slides for each heading of the page: the first sentences of its paragraphs, its pictures, its commands; Predict's question on one slide and the answers,
folded on the page, on the next; each piece of a kernel that the page shows on a slide of its own. One file without anything around it:
open it in a browser, go on with the arrow keys or Page Down, print it (to PDF, too). Exit code 2 for a lesson that isn't there.
"""
import base64
import html
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# No slides: what learners do by themselves, and where they go next.
LEFT_OUT = {"Homework", "Next", "Where your own code has this", "Where your own code would have this"}

STYLE = """
  @page { size: 1280px 720px; margin: 0 }
  * { box-sizing: border-box }
  html { scroll-snap-type: y mandatory; font: 26px/1.4 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: #1f2328; background: #fff }
  body { margin: 0 }
  section { height: 100vh; min-height: 0; padding: 3vh 5vw 6vh; scroll-snap-align: start; break-after: page; overflow: hidden;
            display: flex; flex-direction: column; justify-content: center; gap: 1.6vh; position: relative }
  section > * { margin: 0; max-width: 100% }
  section > footer { position: absolute; bottom: 2vh; left: 5vw; right: 5vw; font-size: 0.55em; color: #57606a; display: flex; justify-content: space-between }
  h1 { font-size: 2em; line-height: 1.15 } h2 { font-size: 1.35em; line-height: 1.2; color: #14539a }
  img { max-height: 62vh; max-width: 100%; object-fit: contain; margin: 0 auto; min-height: 0 }
  pre { background: #f4f5f6; padding: 1.2vh 1.4vw; border-radius: 6px; overflow: hidden; font: 0.72em/1.35 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace }
  code { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 0.9em }
  pre code { font-size: 1em }
  ul, ol { padding-left: 1.2em } li { margin: 0.5vh 0 }
  table { border-collapse: collapse; font-size: 0.6em; align-self: flex-start } th, td { padding: 0.3em 0.7em; border-bottom: 1px solid #d0d7de; text-align: left }
  .answer h2::after { content: ": the answer" }
  @media print { section { height: 720px } html { font-size: 24px } img { max-height: 430px } }
"""

# Arrow keys go from slide to slide; without scripts the page scrolls.
SCRIPT = """
  addEventListener('keydown', e => {
    const by = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, ' ': 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 }[e.key];
    if (!by) return;
    e.preventDefault();
    const all = [...document.querySelectorAll('section')], here = Math.round(scrollY / innerHeight);
    all[Math.max(0, Math.min(all.length - 1, here + by))].scrollIntoView();
  });
"""


def inline(text):
    """One paragraph's Markdown as HTML: code, bold, italics; links are only their words."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"</?(?:sup|sub|a|span)\b[^>]*>", "", text))
    kept = []

    def keep(match):
        kept.append(match.group(1))
        return f"\0{len(kept) - 1}\0"

    text = html.escape(html.unescape(re.sub(r"`([^`]+)`", keep, text)), quote=False)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text, flags=re.S)
    text = re.sub(r"\*(?!\s)(.+?)\*", r"<i>\1</i>", text, flags=re.S)
    return re.sub("\0(\\d+)\0", lambda m: f"<code>{html.escape(kept[int(m.group(1))])}</code>", " ".join(text.split()))


def blocks(text):
    """(kind, content) of each piece of a page: code, command, image, table, list, fold, paragraph. What is generated only to be
    looked up, such as the ladder and the puzzles, is left out."""
    text = re.sub(r"<!-- (ladder|puzzles) .*?<!-- /\1 -->", "", text, flags=re.S)
    lines, i, found = text.split("\n"), 0, []
    while i < len(lines):
        line = lines[i]
        if not line.strip() or line.lstrip().startswith("<!--") and line.rstrip().endswith("-->"):
            i += 1
        elif line.startswith("```"):
            end = next(j for j in range(i + 1, len(lines)) if lines[j].startswith("```"))
            found.append(("code" if line[3:].strip() in ("cuda", "cpp", "python") else "text", "\n".join(lines[i + 1 : end])))
            i = end + 1
        elif line.startswith("<details"):
            depth, end = 0, i
            while True:
                depth += lines[end].count("<details") - lines[end].count("</details>")
                end += 1
                if depth == 0:
                    break
            found.append(("fold", "\n".join(lines[i + 1 : end - 1])))
            i = end
        else:
            end = i + line.startswith("### ")
            while not line.startswith("### ") and end < len(lines) and lines[end].strip() and not lines[end].startswith(("```", "<details")):
                end += 1
            piece = lines[i:end]
            if piece[0].startswith("    "):
                found.append(("text", "\n".join(l[4:] for l in piece)))
            elif piece[0].startswith("<img"):
                found.append(("image", " ".join(piece)))
            elif piece[0].startswith("|"):
                found.append(("table", "\n".join(piece)))
            elif re.match(r"(-|\d+\.) ", piece[0]):
                found.append(("list", "\n".join(piece)))
            else:
                found.append(("paragraph", "\n".join(piece)))
            i = end
    return found


def pre(code, kind):
    rows = code.split("\n")
    # As large as fits: a line is 1.35 of its type's height, a character 0.61.
    size = f"min(0.72em, {76 / 1.35 / len(rows):.2f}vh, {86 / 0.61 / max(map(len, rows)):.2f}vw)"
    return f'<pre class="{kind}" style="font-size: {size}"><code>{html.escape(code, quote=False)}</code></pre>'


def image(tag, folder):
    source = folder / re.search(r'src="([^"]+)"', tag).group(1)
    alt = html.escape(html.unescape(re.search(r'alt="([^"]*)"', tag).group(1)))
    data = base64.b64encode(source.read_bytes()).decode()
    return f'<img class="figure" src="data:image/svg+xml;base64,{data}" alt="{alt}">'


def items(text):
    """The entries of a list, each with its first sentences only."""
    entries = re.split(r"\n(?=(?:-|\d+\.) )", text)
    return [shortened(re.sub(r"^(-|\d+\.) ", "", e)) for e in entries]


def shortened(text, most=260):
    """Whole sentences of the text, at most so many characters of them, but one at least."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = " ".join(re.sub(r"\]\([^)]*\)", "](x)", text).split())
    kept = ""
    for sentence in re.split(r"(?<=[.?!:])(?=\s+[A-Z`*\[(])", text):
        if kept and len(kept) + len(sentence) > most:
            break
        kept += sentence
    return kept


def table(text):
    rows = [[c.strip() for c in line.strip().strip("|").split("|")] for line in text.split("\n")]
    body = "".join("<tr>" + "".join(f"<td>{inline(c)}</td>" for c in row) + "</tr>" for row in rows[2:14])
    return "<table><tr>" + "".join(f"<th>{inline(c)}</th>" for c in rows[0]) + f"</tr>{body}</table>"


class Section:
    """The slides of one section of the page: a list of (class, inner HTML)."""

    FULL = 620  # characters of text on a slide

    def __init__(self, heading, text, folder):
        self.heading, self.folder, self.slides, self.words, self.weight = heading, folder, [], [], 0
        for kind, content in blocks(text):
            self.add(kind, content)
        self.end_words()

    def put(self, kind, inner):
        self.slides.append((kind, f"<h2>{inline(self.heading)}</h2>{inner}"))

    def end_words(self):
        if self.words:
            self.put("words", "".join(self.words))
        self.words, self.weight = [], 0

    def say(self, inner, weight):
        if self.weight + weight > self.FULL:
            self.end_words()
        self.words.append(inner)
        self.weight += weight

    def add(self, kind, content):
        if kind == "code":
            self.end_words()
            self.put("kernel", pre(content, "kernel"))
        elif kind == "image":
            self.end_words()
            self.put("picture", image(content, self.folder))
        elif kind == "text":
            rows = content.split("\n")
            if len(rows) > 12:
                self.end_words()
                self.put("words", pre(content, "command"))
            else:
                self.say(pre(content, "command"), 55 * len(rows))
        elif kind == "list":
            entries = items(content)
            while entries:
                some = []
                while entries and sum(map(len, some)) < self.FULL - 260:
                    some.append(entries.pop(0))
                self.say("<ul>" + "".join(f"<li>{inline(e)}</li>" for e in some) + "</ul>", sum(map(len, some)))
        elif kind == "paragraph" and content.startswith("### "):
            self.end_words()
            self.heading = content[4:]
        elif kind == "paragraph":
            words = shortened(content, 420)
            self.say(f"<p>{inline(words)}</p>", len(words))
        elif kind == "fold" and self.heading.startswith("Predict"):
            inside = blocks(re.sub(r"<summary>.*?</summary>", "", content, flags=re.S))
            answer = [f"<p>{inline(shortened(c))}</p>" for k, c in inside if k == "paragraph"][:2]
            answer += [table(c) for k, c in inside if k == "table"][:1]
            self.end_words()
            self.put("answer", "".join(answer))


def deck(chapter):
    page = (chapter / "README.md").read_text(encoding="utf-8")
    title = re.match(r"# (.*)", page).group(1)
    parts = re.split(r"^## (.*)\n", page, flags=re.M)
    opening = [f"<p>{inline(c)}</p>" for k, c in blocks(parts[0].split("\n", 1)[1]) if k == "paragraph"][:2]
    slides = [("title", f"<h1>{inline(title)}</h1>" + "".join(opening))]
    for heading, text in zip(parts[1::2], parts[2::2]):
        if heading not in LEFT_OUT:
            slides += Section(heading, text, chapter).slides
    name = inline(title)
    sections = "\n".join(
        f'<section class="{kind}">\n{inner}\n<footer><span>Tilewise, {name}</span><span>{i} / {len(slides)}</span></footer>\n</section>'
        for i, (kind, inner) in enumerate(slides, 1)
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.unescape(re.sub('<[^>]*>', '', name))}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{sections}\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    ), len(slides)


def main():
    chapters = sorted(p.parent for p in ROOT.glob("chapters/[0-9][0-9]_*/README.md"))
    wanted = sys.argv[1:]
    for word in wanted:
        if not any(word in (c.name, c.name[:2]) for c in chapters):
            print(f"slides.py: there is no lesson {word}; there are: {' '.join(c.name for c in chapters)}", file=sys.stderr)
            sys.exit(2)
    out = Path(os.environ.get("OUT") or ROOT / "build/slides")
    out.mkdir(parents=True, exist_ok=True)
    for chapter in chapters:
        if wanted and not any(word in (chapter.name, chapter.name[:2]) for word in wanted):
            continue
        text, count = deck(chapter)
        (out / f"{chapter.name[:2]}.html").write_text(text, encoding="utf-8")
        print(f"{out / chapter.name[:2]}.html: {count} slides")


main()
