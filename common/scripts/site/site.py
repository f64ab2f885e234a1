#!/usr/bin/env python3
"""site.py HTML: makes the site of what Doxygen wrote to the folder HTML.

Doxygen writes content: the pages, and the reference of the common code. This puts each page into docs/theme/page.html
with the navigation, the contents of the page, previous and next; gives headings their places, and writes what the
search and the glossary's pop-ups read. Nothing here knows which chapters there are: folders and first lines say it.
"""
import html
import json
import math
import os
import re
import shutil
import string
import subprocess
import sys
from pathlib import Path

THEME = Path("docs/theme")
EXPLORERS = Path("docs/explorers")
PACKAGED = Path("/usr/share/doxygen-awesome-css/doxygen-awesome.css")

# What is no lesson, in the order of the navigation: (page, short title). A page that nobody listed comes under "Look up".
START = [("index", "Start here"), ("all", "All lessons on one page")]
PRACTICE = [("puzzles", "Puzzles"), ("your_kernel", "Your kernel"), ("from_python", "From Python"), ("homework", "Homework"), ("teaching", "For teachers")]
LOOK_UP = [("glossary", "Glossary"), ("findings", "Findings"), ("claims", "Claims"), ("bounds", "Bounds"), ("counters", "Counters"), ("another_gpu", "Another GPU"),
           ("topics", "Where is it?")]
REFERENCE = [("architecture", "How it is built"), ("simulator_cost", "What the simulator costs"),
             ("contributing", "Contributing"), ("chinese", "Chinese edition"), ("annotated", "Classes"), ("files", "Files")]

# What the frame of a Chinese page says. Pages that have no Chinese edition keep their English titles where nothing stands here.
CHINESE = {
    "Start here": "从这里开始", "All lessons on one page": "全部课程合为一页（英文）", "Lessons": "课程", "Practice": "练习", "Puzzles": "谜题",
    "Your kernel": "你自己的核函数", "From Python": "从 Python 使用", "Homework": "作业", "For teachers": "教师指南", "Look up": "查阅", "Glossary": "术语表", "Findings": "错误报告",
    "Claims": "流传的说法", "Bounds": "时间下限", "Counters": "计数", "Another GPU": "换一块 GPU", "Where is it?": "内容索引", "Reference": "参考", "How it is built": "工程结构",
    "What the simulator costs": "模拟器的开销", "Contributing": "参与贡献", "Chinese edition": "中文版", "Classes": "类", "Files": "文件",
    "deeper": "深入", "Previous": "上一页", "Next": "下一页", "Previous and next page": "上一页和下一页", "Previous and next": "上一页和下一页",
    "On this page": "本页内容", "Skip to the text": "跳到正文", "Menu": "菜单", "Search": "搜索", "Search all pages": "搜索所有页面",
    "Press / to search": "按 / 搜索", "Dark mode": "深色模式", "Search results": "搜索结果", "All pages": "所有页面",
}

COLUMNS = 120  # of code, in a window of 1280 pixels
PAPER_COLUMNS = 106  # of code in letters of 8 points, on A4

# Doxygen's lists of everything: the search finds it quicker, and no page of ours leads there.
SUPERFLUOUS = re.compile(r"^(functions|globals|classes|namespacemembers|hierarchy|pages|namespaces)(_.*)?$")


def plain(markup):
    """The text of HTML, on one line."""
    markup = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", markup, flags=re.S)
    # Only what ends a line separates words: <b>c</b>ode is one.
    markup = re.sub(r"</?(p|div|li|ul|ol|td|th|tr|table|h\d|pre|br|summary|details|dt|dd)\b[^>]*>", " ", markup)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", "", markup)).replace("​", "")).strip()


def slug(text, taken):
    """The anchor that GitHub gives a heading of this text."""
    base = re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text.lower())) or "section"
    name, count = base, 0
    while name in taken:
        count += 1
        name = f"{base}-{count}"
    taken.add(name)
    return name


def shortened(text, most):
    """Whole words of the text, at most so many characters."""
    if len(text) <= most:
        return text
    return text[: most - 1].rsplit(" ", 1)[0].rstrip(",;:") + " …"


class Page:
    """One page of the site: what Doxygen made of it, and what it is to readers."""

    def __init__(self, path, kinds):
        self.path = path
        self.name = path.stem
        text = path.read_text(encoding="utf-8")
        title = re.search(r'<div class="title">(.*?)</div>', text, re.S)
        body = re.search(r'<div class="contents">(.*)</div><!-- contents -->', text, re.S)
        if not body:
            body = re.search(r'<div class="contents">(.*)</div>\s*(?:</div><!-- PageDoc -->\s*)?<!-- the end of the content', text, re.S)
        if not title or not body:
            sys.exit(f"site.py: {path} is not as Doxygen writes pages: no title, or no contents")
        self.heading = re.sub(r'<div class="ingroups">.*', "", title.group(1), flags=re.S).strip()
        self.title = plain(self.heading)
        self.body = body.group(1).strip()
        self.source = kinds.get(self.name)  # the Markdown file, if there is one
        self.kind = self.kind_of()
        self.short = re.split("[:：]", self.title)[0]
        self.lang = "zh" if self.source is not None and self.source.name.endswith(".zh.md") else "en"
        self.other = None  # the same page in the other language
        self.number = ""
        self.contents = []  # (level, anchor, text)
        self.explorers = []  # their names

    def kind_of(self):
        if self.source is None:
            return "symbols"
        if self.source.parts[0] == "chapters":
            return "lesson" if self.source.name in ("README.md", "README.zh.md") else "deeper"
        name = self.name.removesuffix("_zh")
        if name in dict(START):
            return "start"
        if name in dict(PRACTICE):
            return "practice"
        return "reference" if name in dict(REFERENCE) else "look-up"

    def description(self):
        for paragraph in re.findall(r"<p ?>(.*?)</p>", self.body, re.S):
            text = plain(paragraph)
            if len(text) > 40:
                return shortened(text, 200) if self.lang == "en" else text[:100]
        return f"{self.title}, in Tilewise: CUDA memory, one lesson at a time."


def label_of(source):
    """The name that page-filter.sh gives the page of a Markdown file."""
    if source.name.endswith(".zh.md"):
        return label_of(source.with_name(source.name.replace(".zh.md", ".md"))) + "_zh"
    if source == Path("README.md"):
        return "index"
    if source.parts[0] == "chapters":
        topic = source.parts[1]
        return f"ch{topic}" if source.name == "README.md" else f"ch{topic}_{source.stem}"
    return source.stem.replace("-", "_").lower()


def sources():
    files = [Path("README.md"), Path("CONTRIBUTING.md"), *Path("docs").glob("*.md"), *Path("chapters").glob("*/*.md")]
    return {label_of(file): file for file in files}


# ---------------------------------------------------------------- content

def with_headings(page):
    """Headings one level down, for the title is the page's h1; with an anchor that survives an edit elsewhere."""
    taken = set(re.findall(r'\bid="([^"]+)"', page.body))
    headings = r"<h([1-6])( [^>]*)?>(.*?)</h\1>"
    # A section has one name in both languages, so that the switch between them stays in it.
    named = [anchor for _, anchor, _ in page.other.contents] if page.lang == "zh" and page.other else []
    highest = min((int(level) for level, _, _ in re.findall(headings, page.body, re.S)), default=1)  # h1 or h2, by Doxygen's version

    def heading(match):
        level, inner = int(match.group(1)) - highest + 2, match.group(3)
        own = re.search(r'<a class="anchor" id="(?!autotoc_)([^"]+)"', inner)
        inner = re.sub(r'<a class="anchor"[^>]*></a>\s*', "", inner).strip()
        text = plain(inner)
        at = len(page.contents)
        anchor = own.group(1) if own else named[at] if at < len(named) else slug(text, taken)
        page.contents.append((level, anchor, text))
        link = f'<a class="here" href="#{anchor}" aria-label="Link to: {html.escape(text)}">#</a>'
        return f'<h{level} id="{anchor}">{inner} {link}</h{level}>'

    return re.sub(headings, heading, page.body, flags=re.S)


def sizes_of(picture):
    """Width and height of an SVG, and the width at which its smallest text has 11 pixels."""
    text = picture.read_text(encoding="utf-8")
    view = re.search(r'viewBox="[\d.]+ [\d.]+ ([\d.]+) ([\d.]+)"', text)
    if not view:
        return None
    width, height = float(view.group(1)), float(view.group(2))
    fonts = re.findall(r'font-size(?:="|:)\s*([\d.]+)', text) + re.findall(r"font:[^;}]*?([\d.]+)px", text)
    smallest = min(map(float, fonts)) if fonts and "<text" in text else 0
    return round(width), round(height), math.ceil(width * 11 / smallest) if smallest else 0


def with_figures(body, folder):
    """Pictures at their size, so that text does not jump when they arrive. Where the window is narrow they scroll."""
    def figure(match):
        tag = match.group(0)
        src = re.search(r'src="([^"]+\.svg)"', tag)
        sizes = sizes_of(folder / src.group(1)) if src and (folder / src.group(1)).exists() else None
        if not sizes:
            return tag
        width, height, least = sizes
        alt = re.search(r'alt="([^"]*)"', tag)
        name = html.escape(shortened(html.unescape(alt.group(1)), 60)) if alt else src.group(1)
        tag = re.sub(r' (style|class)="[^"]*"', "", tag)  # Doxygen's
        tag = re.sub(r"\s*/?>$", f' width="{width}" height="{height}" style="--wide:{width}px;--least:{least}px">', tag)
        return (f'<span class="figure" data-scrolls="figure">{tag}</span>'
                f'<a class="enlarge" href="{src.group(1)}" aria-label="The picture alone: {name}">picture alone</a>')

    return re.sub(r'<p>(?=\s*<span class="figure")', '<p class="pictures">', re.sub(r"<img [^>]*>", figure, body))


def with_units(body):
    """A line doesn't end between 98 and %, nor between 12 and ms."""
    parts = re.split(r"(<pre\b.*?</pre>|<div class=\"fragment\">.*?</div><!-- fragment -->|<code\b.*?</code>|<[^>]*>)", body, flags=re.S)
    parts[::2] = [re.sub(r"(?<=\d)\s(%|[mµu]s|ns|[MG]Hz|[KMGT]B(?:/s)?)(?![\w/])", "\u00a0\\1", text) for text in parts[::2]]
    return "".join(parts)


def width_of(text):
    """In columns: a Chinese character takes two."""
    return sum(2 if ord(c) > 0x2e80 else 1 for c in text)


def with_tables(body):
    """Tables in an area that scrolls; code in them stays in one piece unless it is long."""
    def table(match):
        inner = match.group(1)
        if re.fullmatch(r"(previous\s+next|上一课\s+下一课)\s+.*", plain(inner)):
            return ""  # pages have these for GitHub; here the frame has them
        inner = re.sub(r"(<t[dh] [^>]*)>((?:(?!</t[dh]>).)*)(?=</t[dh]>)",
                       lambda cell: f"{cell[1]} data-text>{cell[2]}" if width_of(plain(cell[2])) > 50 else cell[0], inner, flags=re.S)
        inner = re.sub(r"<code>((?:(?!</code>).){40,})</code>", r'<code class="long">\1</code>', inner)
        head = re.match(r'\s*<tr class="markdownTableHead">.*?</tr>', inner, flags=re.S)
        if head:  # a browser repeats it on the next sheet of paper
            inner = f"<thead>{head[0].strip()}</thead><tbody>{inner[head.end():].strip()}</tbody>"
        short = " data-short" if inner.count("<tr") <= 14 else ""  # stays on one sheet of paper
        wide = " data-wide" if inner.count("<th ") >= 9 else ""  # has smaller letters there
        return f'<div class="table" data-scrolls="table"{short}{wide}><table class="markdownTable">{inner}</table></div>'

    body = re.sub(r'<th class="(\w+)"></th>', r'<td class="\1"></td>', body)  # an empty corner is no heading
    return re.sub(r'<table class="markdownTable">(.*?)</table>', table, body, flags=re.S)


def with_wrapped_lines(body):
    """Lines of code have at most 120 columns, and fit. What a program printed need not: such lines go on in the next.
    Paper has room for fewer, and gets smaller letters then."""
    def line(match):
        return '<div class="line wraps">' if len(plain_code(match.group(1))) > COLUMNS else match.group(0)[:18]

    def fragment(match):
        wide = any(PAPER_COLUMNS < len(plain_code(row)) for row in match.group(1).split("\n"))
        return '<div class="fragment wide">' + match.group(1) if wide else match.group(0)

    body = re.sub(r'<div class="fragment">(.*?)(?=</div><!-- fragment -->)', fragment, body, flags=re.S)
    body = re.sub(r'<div class="line">(?=(.*?)</div>)', line, body)
    return re.sub(r'<pre class="fragment">(?=(.*?)</pre>)',
                  lambda match: '<pre class="fragment wraps">'
                  if any(len(row) > COLUMNS for row in plain_code(match.group(1)).split("\n")) else match.group(0)[:22],
                  body, flags=re.S)


def without_false_links(body):
    """In code of a page Doxygen links a variable to what has its name elsewhere; what is ours has a namespace, or capitals."""
    return re.sub(r'<a class="code[^"]*" href="[^"]*">([a-z_]\w*)</a>', r"\1", body)


def without_marks(body):
    """Where a snippet holds a smaller one, Doxygen leaves the comments that mark it in the code."""
    return re.sub(r'<div class="line">\s*<span class="comment">// \[\w+\]</span></div>\n', "", body)


def plain_code(markup):
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


def with_puzzles(body, to):
    """Where a lesson lists its puzzles, each leads to its goal and code."""
    return re.sub(r"<li>(?:<p>)?<b>(\d\d)-(\d+)</b>",
                  lambda match: match.group(0).replace(
                      "<b>", f'<b class="puzzle-link" data-done-key="puzzle-{match.group(1)}-{match.group(2)}">'
                      f'<a href="{to}.html#puzzle-{match.group(1)}-{match.group(2)}">').replace("</b>", "</a></b>"), body)


def with_folds(body, page):
    """Puzzles have a place that one can link to: puzzles.html#puzzle-02-3."""
    def fold(match):
        number = re.match(r"(\d\d)-(\d+) ", plain(match.group(1)))
        if page.name not in ("puzzles", "puzzles_zh") or not number:
            return match.group(0)
        key = f"puzzle-{number.group(1)}-{number.group(2)}"
        return f'<details id="{key}" class="puzzle" data-done-key="{key}"><summary>{match.group(1)}</summary>'

    return re.sub(r"<details>\s*<summary>(.*?)</summary>", fold, body, flags=re.S)


EXPLORER = re.compile(r'<div class="explorer" data-explorer="([a-z]+)" data-state="([^"]*)"></div>')
WITHOUT_SCRIPT = "<p>With JavaScript you can change what is drawn here.</p>"
EXPLORER_DONE = re.compile(r'<section class="explorer" id="(explorer-[a-z]+)".*?<noscript>(.*?)</noscript></section>', re.S)


def still_of(name, page):
    """The picture of an explorer that has no script: of this lesson's own state, if there is one."""
    own = EXPLORERS / f"{name}-{page.source.parts[1][:2]}.svg" if page.source.parts[0] == "chapters" else EXPLORERS / "none"
    return own if own.exists() else EXPLORERS / f"{name}.svg"


def with_explorers(page):
    """Where a page has the place of an explorer: the section that its script fills, and a picture for readers without scripts."""
    def explorer(match):
        name, state = match.group(1), match.group(2)
        if not (EXPLORERS / f"{name}.js").exists():
            sys.exit(f"site.py: {page.source} asks for the explorer {name}, and there is no {EXPLORERS}/{name}.js")
        still, picture = still_of(name, page), ""
        if still.exists():
            said = re.search(r'aria-label="([^"]*)"', still.read_text(encoding="utf-8")).group(1)
            picture = f'<p><img src="explorers/{still.name}" alt="{said}"></p>'
        page.explorers.append(name)
        return (f'<section class="explorer" id="explorer-{name}" data-explorer="{name}" data-state="{html.escape(state)}"><noscript>{picture}'
                f"{WITHOUT_SCRIPT}</noscript></section>")

    return EXPLORER.sub(explorer, page.body)


def copy_explorers(folder):
    (folder / "explorers").mkdir(exist_ok=True)
    for file in sorted(EXPLORERS.iterdir()):
        if file.suffix in (".css", ".js", ".svg") and file.name != "stills.js":
            shutil.copy(file, folder / "explorers")


def scripts_of(page):
    """Scripts that only some pages need."""
    names = []
    if 'onclick="' in page.body:
        names += ["jquery.js", "dynsections.js"]
    if page.explorers:
        names += [f"explorers/{name}.js" for name in ["rules", "library", *dict.fromkeys(page.explorers)]]
    defer = lambda name: " defer" if name.startswith("explorers/") else ""
    return "".join(f'\n<script src="{name}"{defer(name)}></script>' for name in names)


def finished(page, folder):
    body = re.sub(r"<p >", "<p>", page.body)
    page.body = re.sub(r'<a class="anchor" id="(md_|autotoc_)[^"]*"></a>', "", body) if page.source is None else body
    # An icon that links to a file says which.
    page.body = re.sub(r'<a href="([^"]+)_source\.html">(?=<span class="icondoc">)', r'<a href="\1_source.html" aria-label="Source of \1">', page.body)
    if page.source is not None:
        page.body = with_headings(page)
        page.body = re.sub(r'<a class="anchor" id="(md_|autotoc_)[^"]*"></a>', "", page.body)
        page.body = without_marks(without_false_links(page.body))
        page.body = with_wrapped_lines(with_folds(with_puzzles(with_tables(page.body),
                                                             "puzzles_zh" if page.lang == "zh" else "puzzles"), page))
        page.body = with_explorers(page)
        page.body = with_units(page.body)
    page.body = with_figures(page.body, folder)
    if page.lang == "zh":
        page.body = page.body.replace("picture alone</a>", "单独看图</a>").replace('aria-label="The picture alone: ', 'aria-label="单独看图：')


# ---------------------------------------------------------------- navigation

def lessons_of(pages):
    """Lessons in order, each with its further pages."""
    chapters = {}
    for page in pages.values():
        if page.kind in ("lesson", "deeper"):
            chapters.setdefault(page.source.parts[1], []).append(page)
    order = [sorted(chapters[topic], key=lambda page: page.kind != "lesson") for topic in sorted(chapters)]
    for group in order:
        number = re.match(r"\d\d", group[0].source.parts[1])
        for page in group:
            page.number = number.group(0) if number else ""
    return order


def in_chinese(lessons, groups):
    """The same lessons and groups for Chinese pages: each page in Chinese that there is in Chinese."""
    own = lambda page: page.other or page

    def row(entries):
        return [(own(page), page.other.short if page.other and text == page.short else CHINESE.get(text, text)) for page, text in entries]

    return [[own(page) for page in group] for group in lessons], [(CHINESE.get(title, title), [row(entries) for entries in rows])
                                                                 for title, rows in groups]


def said(words, page):
    """Words of the frame in the page's language."""
    return CHINESE[words] if page.lang == "zh" else words


def switch(page):
    """The way to this page in the other language."""
    if not page.other:
        return ""
    lang, words = ("zh-CN", "中文") if page.lang == "en" else ("en", "English")
    return f'<a class="language" id="language" lang="{lang}" hreflang="{lang}" href="{page.other.name}.html">{words}</a>'


def groups_of(pages, lessons):
    """The navigation: (title, rows), and a row is a list of (page, text)."""
    listed = dict(START + PRACTICE + LOOK_UP + REFERENCE)
    others = [(name, page.short) for name, page in sorted(pages.items())
              if page.source is not None and page.lang == "en" and page.kind == "look-up" and name not in listed]

    def rows(entries):
        return [[(pages[name], text)] for name, text in entries if name in pages]

    def lesson(group):
        return [(group[0], group[0].short)] + [(page, page.source.stem) for page in group[1:]]

    return [("", rows(START)), ("Lessons", [lesson(group) for group in lessons]), ("Practice", rows(PRACTICE)),
            ("Look up", rows(LOOK_UP + others)), ("Reference", rows(REFERENCE))]


def navigation(groups, current):
    out = []
    for title, rows in groups:
        if title:
            out.append(f"<h2>{title}</h2>")
        out.append("<ul>")
        for row in rows:
            links = []
            for page, text in row:
                here = ' aria-current="page"' if page is current else ""
                aside = "" if page is row[0][0] else ' class="aside"'
                name = f' aria-label="{html.escape(row[0][1])}: {html.escape(text)}"' if aside else ""
                if page.other and current.lang == "en":  # site.js puts it here for readers who chose Chinese
                    short = CHINESE.get(text, page.other.short)
                    name += f' data-zh="{page.other.name}.html" data-zh-text="{html.escape(short)}"'
                links.append(f'<a href="{page.name}.html"{aside}{name}{here}>{html.escape(text)}</a>')
            within = contents(current, "within") if any(page is current for page, _ in row) else ""
            out.append(f"<li>{' '.join(links)}{within}</li>")
        out.append("</ul>")
    return "\n".join(out)


def neighbours(page, lessons, groups):
    """Previous and next: from lesson to lesson; within its group elsewhere."""
    start = groups[0][1][0][0][0]
    for at, group in enumerate(lessons):
        if page not in group:
            continue
        before = lessons[at - 1][0] if at else start
        after = lessons[at + 1][0] if at + 1 < len(lessons) else None
        return (before if page is group[0] else group[0]), after
    if page is start:
        return None, lessons[0][0] if lessons else None
    for _, rows in groups[2:]:  # not the lessons
        listed = [row[0][0] for row in rows]
        if page in listed:
            at = listed.index(page)
            return (listed[at - 1] if at else None), (listed[at + 1] if at + 1 < len(listed) else None)
    return None, None


def steps(of, pair, text_of, end):
    """Previous and next, in the header and at the page's end."""
    out = []
    for page, rel, word, before, after in ((pair[0], "prev", said("Previous", of), "‹ ", ""), (pair[1], "next", said("Next", of), "", " ›")):
        if page is None:
            out.append(f'<span class="{rel}"></span>')
            continue
        text = html.escape(text_of[page])
        inner = f"<small>{word}</small> {text}" if end else f'{before}<span>{text}</span>{after}'
        label = "" if end else f' aria-label="{word}: {text}" title="{word}: {text}"'
        out.append(f'<a class="{rel}" rel="{rel}" href="{page.name}.html"{label}>{inner}</a>')
    name, where = ("steps-end", said("Previous and next page", of)) if end else ("steps", said("Previous and next", of))
    return f'<nav class="{name}" aria-label="{where}">{"".join(out)}</nav>'


def contents(page, where):
    """What is on the page: beside it, in the navigation, or folded above it, as the window has room."""
    listed = [entry for entry in page.contents if entry[0] <= 3]
    if len(listed) > 40:
        listed = [entry for entry in listed if entry[0] == 2]
    if len(listed) < 2:
        return '<div class="page-contents"></div>' if where == "beside" else ""
    items = "".join(f'<li class="level-{level}"><a href="#{anchor}">{html.escape(text)}</a></li>'
                    for level, anchor, text in listed)
    if where == "within":
        return f'<ul class="within">{items}</ul>'
    words = said("On this page", page)
    if where == "above":
        return f'<details class="page-contents-small"><summary>{words}</summary><ul>{items}</ul></details>\n'
    return f'<nav class="page-contents" aria-label="{words}"><h2>{words}</h2><ul>{items}</ul></nav>'


# ---------------------------------------------------------------- search and glossary

PLACE = r'<a (?:class="anchor" )?id="([\w-]+)"[^>]*></a>'
TERM = re.compile(PLACE + r"\s*<b>(.*?)\.?</b>(.*?)(?=</p>|<a (?:class=\"anchor\" )?id=)", re.S)


def terms(page):
    """The glossary's entries: (anchor, the words, what they mean)."""
    for anchor, words, meaning in TERM.findall(page.body):
        yield anchor, plain(words).rstrip("."), plain(meaning)


def parts(page):
    """What the search finds of a page: (anchor, heading, HTML)."""
    edges = [(0, "", "")]
    pattern = r'<h[2-4] id="([^"]+)">(.*?) <a class="here".*?</h\d>'
    if page.name in ("puzzles", "puzzles_zh"):
        pattern = r'<details id="([^"]+)" class="puzzle" [^>]*><summary>(.*?)</summary>'
    edges += [(match.start(), match.group(1), plain(match.group(2))) for match in re.finditer(pattern, page.body, re.S)]
    for (begin, anchor, heading), end in zip(edges, [edge[0] for edge in edges[1:]] + [len(page.body)]):
        yield anchor, heading, page.body[begin:end]


def introduced(markup):
    """Words of the glossary that this text explains: they are in italics, and a link."""
    return sorted(set(re.findall(r'<em>\s*<a href="glossary\.html#([\w-]+)"', markup)))


def search_index(pages, lessons):
    """Rows [kind, page's title, heading, address, text, words explained] for search.js; "zh" after it for a Chinese page."""
    rows = []
    in_order = [page for group in lessons for page in group]
    in_order += [page for page in pages.values() if page not in in_order]
    for page in in_order:
        if page.kind == "symbols":
            rows += symbols(page)
        elif page.name == "glossary":
            rows += [["term", page.short, words, f"{page.name}.html#{anchor}", meaning, ""]
                     for anchor, words, meaning in terms(page)]
        else:
            for anchor, heading, markup in parts(page):
                text = plain(re.sub(r'<h[2-4] id=.*?</h\d>', "", markup, count=1, flags=re.S)) if heading else plain(markup)
                address = f"{page.name}.html" + (f"#{anchor}" if anchor else "")
                rows.append([page.kind, page.title, heading, address, text, " ".join(introduced(markup)), *(["zh"] if page.lang == "zh" else [])])
    return rows


def symbols(page):
    """Classes, and functions with a description of their own."""
    if page.name.endswith(("_source", "-members")) or page.name.startswith(("dir_", "annotated", "files")):
        return []
    name = re.sub(r" (Class|Struct|Namespace|File|Union).*", "", page.title)
    brief = re.search(r"<p>(.*?)(<a href|</p>)", page.body, re.S)
    out = [["symbol", "", name, f"{page.name}.html", plain(brief.group(1)) if brief else "", ""]]
    pattern = (r'<a id="([^"]+)" name="\1"></a>\s*<h2 class="memtitle"><span class="permalink">.*?</span>(.*?)</h2>'
               r'(?:.*?<div class="memdoc">(.*?)</div>)?')
    for anchor, title, text in re.findall(pattern, page.body, re.S):
        said = re.search(r"<p ?>(.*?)</p>", text, re.S)
        out.append(["symbol", name, re.sub(r"\s*\[\d+/\d+\]", "", plain(title)), f"{page.name}.html#{anchor}",
                    plain(said.group(1)) if said else "", ""])
    return out


# ---------------------------------------------------------------- all lessons on one page

def one_page(folder, lessons, kinds):
    """The page all.html: every lesson with what is deeper, for printing and for a browser's own search."""
    names = {page.name for group in lessons for page in group}
    parts_of_it = []
    for page in (page for group in lessons for page in group):
        # On paper an explorer is its picture.
        body = EXPLORER_DONE.sub(r"\2<!-- try \1 -->", page.body.replace(WITHOUT_SCRIPT, ""))
        body = re.sub(r'\bid="([^"]+)"', rf'id="{page.name}--\1"', body)
        body = re.sub(r'href="#([^"]+)"', rf'href="#{page.name}--\1"', body)
        body = re.sub(r'href="(\w+)\.html(?:#([^"]+))?"',
                      lambda match: match.group(0) if match.group(1) not in names else
                      f'href="#{match.group(1)}--{match.group(2)}"' if match.group(2) else f'href="#{match.group(1)}"', body)
        body = re.sub(r"<!-- try ([\w-]+) -->", rf'<p><a href="{page.name}.html#\1">Try it on its own page</a></p>', body)
        body = re.sub(r"<(/?)h([2-5])\b", lambda match: f"<{match.group(1)}h{int(match.group(2)) + 1}", body)
        title = page.heading if page.kind == "lesson" else f"{page.number} {page.heading}".strip()
        parts_of_it.append(f'<section><h2 id="{page.name}">{title}</h2>\n{body}</section>')
    path = folder / "all.html"
    path.write_text('<div class="title">All lessons on one page</div><div class="contents">'
                    "<p>Every lesson with what is deeper, to print or to search in at once.</p>"
                    + "\n".join(parts_of_it) + "</div><!-- contents -->", encoding="utf-8")
    page = Page(path, kinds)
    page.kind = "start"
    page.contents = [(2, part.name, plain(part.heading)) for group in lessons for part in group if part.kind == "lesson"]
    return page


def write_script(path, variable, value):
    """Data as a script, since a page that is opened from the file system may not fetch a file."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/").replace("\u2028", " ")
    path.write_text(f"window.{variable}={text};\n", encoding="utf-8")


# ---------------------------------------------------------------- all of it

def version():
    """The commit, and the day it was made; nothing outside a repository."""
    try:
        said = subprocess.run(["git", "log", "-1", "--format=%h of %cs"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f", commit {said.stdout.strip()}" if said.stdout.strip() else ""


def doxygen_version():
    try:
        return subprocess.run(["doxygen", "--version"], capture_output=True, text=True, check=True).stdout.split()[0]
    except (OSError, subprocess.CalledProcessError):
        return ""


def copy_theme(folder):
    """The styles, in the order in which pages name them."""
    styles = ["doxygen.css"]
    if PACKAGED.exists():
        shutil.copy(PACKAGED, folder)
        styles.append(PACKAGED.name)
    for file in sorted(THEME.iterdir()):
        if file.suffix in (".css", ".js", ".svg", ".png"):
            shutil.copy(file, folder)
    return "\n".join(f'<link rel="stylesheet" href="{name}">' for name in [*styles, "site.css"])


def main():
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print("usage: site.py HTML, the folder that Doxygen wrote", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    kinds = sources()
    copy_explorers(folder)
    pages = {}
    for path in sorted(folder.glob("*.html")):
        if SUPERFLUOUS.match(path.stem):
            path.unlink()
        else:
            pages[path.stem] = Page(path, kinds)
    for page in pages.values():
        if page.lang == "zh":
            page.other = pages[page.name.removesuffix("_zh")]
            page.other.other = page
    for page in sorted(pages.values(), key=lambda page: page.lang):  # English first: Chinese headings take its anchors
        finished(page, folder)

    lessons = lessons_of({name: page for name, page in pages.items() if page.lang == "en"})
    index = search_index(pages, lessons)  # without the page that repeats the others
    if lessons:
        pages["all"] = one_page(folder, lessons, kinds)
    groups = groups_of(pages, lessons)
    frames = {"en": (lessons, groups), "zh": in_chinese(lessons, groups)}
    text_of = {lang: {page: text for _, rows in frame[1] for row in rows for page, text in row if page is row[0][0]}
               for lang, frame in frames.items()}
    frame_text = (THEME / "page.html").read_text(encoding="utf-8")
    templates = {"en": string.Template(frame_text), "zh": string.Template(re.sub(
        r'(?<=>)([A-Z][\w ]+)(?=</)|(?<==")([A-Z][\w /]+)(?=")', lambda found: CHINESE.get(found.group(0), found.group(0)), frame_text))}
    styles, commit, doxygen = copy_theme(folder), version(), doxygen_version()
    address = os.environ.get("SITE_URL", "").rstrip("/")
    for page in pages.values():
        of_lang, template = frames[page.lang], templates[page.lang]
        pair = neighbours(page, *of_lang)
        title = page.title if page.name == "index" else f"{page.title} - Tilewise"
        card = ""
        if address:  # a card needs a full address, which only a published site has
            card = (f'<meta property="og:url" content="{address}/{page.name}.html">\n'
                    f'<meta property="og:image" content="{address}/card.png">\n'
                    '<meta name="twitter:card" content="summary_large_image">\n')
        page.path.write_text(template.substitute(
            title=html.escape(title), description=html.escape(page.description()), card=card,
            styles=styles + ('\n<link rel="stylesheet" href="explorers/explorers.css">' if page.explorers else ""),
            scripts=scripts_of(page),
            kind=page.kind, steps=steps(page, pair, text_of[page.lang], False), steps_end=steps(page, pair, text_of[page.lang], True),
            lang="zh-CN" if page.lang == "zh" else "en", switch=switch(page), nav=navigation(of_lang[1], page), heading=page.heading, contents_small=contents(page, "above"),
            contents=contents(page, "beside"), content=page.body, version=html.escape(commit), doxygen=doxygen,
            commit=f'<span class="commit">{html.escape(commit.split()[2])}</span>\n' if commit else ""),
            encoding="utf-8")
    write_script(folder / "search-index.js", "tilewiseSearchIndex", index)
    if "glossary" in pages:
        write_script(folder / "glossary-terms.js", "tilewiseGlossary",
                     {anchor: [words, re.sub(r"\s*→.*$", "", meaning)] for anchor, words, meaning in terms(pages["glossary"])})
    return 0


if __name__ == "__main__":
    sys.exit(main())
