#!/usr/bin/env python3
"""Fails on a number with a unit in a lesson's text that says nothing of where it comes from.

    tests/checks/check-numbers.py [PAGE...]     default: chapters/*/*.md

A number may stand
- in what update-results.py writes: tables, code, <!-- figure ... -->, <!-- calc FORMULA : FORMAT -->3.4x<!-- /calc -->;
- in code, and in what a **Claim:** "..." quotes;
- between <!-- derived: where from, or the formula in words --> and <!-- /derived -->;
- in a worked formula of numbers that computes: "32 lanes x 4 bytes = 128 bytes";
- in tests/checks/numbers.allow, a line `page | text | reason` for a text with the number in it; page may be *.
What is asked of homework (after "## Homework": sectors, requests, wavefronts, bytes, numbers in words) is left alone.

Exit codes: 0; 1 a number has no source, a formula does not compute, or a line of numbers.allow is of no use.
"""
import fnmatch
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
allow_file = root / "tests/checks/numbers.allow"

NUMBER = r"(?<![\w.,])\d[\d,]*(?:\.\d+)?"
WORD = r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|sixteen|twenty|thirty|forty|fifty|hundred|thousand)"
MEASURED = r"(?:x(?![\w(])(?!\s*\d)|times\b|-?fold\b|%|per ?cent\b|[GTMk]B/s|[GTM]FLOP/s|ms\b|us\b|µs|ns\b|seconds?\b|cycles?\b|" \
           r"clocks?\b|[MG]B\b|[MG]Hz\b)"
COUNTED = r"(?:sectors?\b|wavefronts?\b|passes\b|pass\b|requests?\b|bytes?\b|KB\b|lines?\b)"
BETWEEN = r"(?:\s|-)?(?:and a half |or \w+ )?(?:\w+[ -])?"  # "3.4x", "16 KB", "eight-way", "three and a half times", "24 64-byte"
PATTERNS = [
    (True, re.compile(rf"{NUMBER}(?:\s|-)?{MEASURED}")),
    (False, re.compile(rf"{WORD}{BETWEEN}{MEASURED}", re.I)),
    (True, re.compile(r"\b(?:twice|half|an? (?:third|quarter|fifth|sixth|eighth|tenth|twelfth)) "
                      r"(?:as (?:fast|slow|long)|(?:of )?(?:the|its) (?:time|speed|rate|bandwidth))\b", re.I)),
    (False, re.compile(rf"{NUMBER}\s{COUNTED}")),  # not "4-byte words"
]

TERM = r"\(*\d[\d,]*(?:\.\d+)?[²³⁶⁹]?(?:\s(?!x\s)[a-zA-Zµ]{2,}){0,3}\)*"
OPERATOR = r"(?:\s*[·×*/+−-]\s*|\s+x\s)"  # more than one blank where a link was
SUM = rf"{TERM}(?:{OPERATOR}{TERM})*"
FORMULA = re.compile(rf"(?<![\w.]){TERM}(?:{OPERATOR}{TERM})+\s*=\s*{SUM}(?:\s*=\s*{SUM})*")

GENERATED = re.compile(r"<!-- (results|traffic|dram|spmv|loops|stalls|tensor|preprocess|plot|picture|figure|summary|ladder|puzzles|snippet|calc|derived)\b.*?<!-- /\1 -->", re.S)


def blank(found):
    """The same room, with nothing in it: places in the text stay what they are."""
    return re.sub(r"[^\n]", " ", found[0])


def prose(text):
    text = re.sub(r"^```.*?^```", blank, text, flags=re.S | re.M)
    text = GENERATED.sub(lambda found: "§" + blank(found)[1:], text)
    text = re.sub(r"^ {4,}.*$", blank, text, flags=re.M)
    text = re.sub(r"<!--.*?-->|<(?:img|a|details|summary|/|b|code)[^>]*>", blank, text, flags=re.S)
    text = re.sub(r"`[^`]*`", blank, text)
    text = re.sub(r'(?<=\*\*Claim:\*\* )"[^"]*"', blank, text)  # what others say
    text = re.sub(r"\[([^\[\]]*)\]\([^)]*\)", lambda link: link[1] + blank(link)[len(link[1]):], text)
    text = re.sub(r"\]\([^)]*\)", blank, text)
    return text.replace("\n", " ").replace("**", "  ")


def value(term):
    """What a side of a formula is; None if that cannot be said."""
    term = re.sub(r"\s+x\s", " * ", term)
    term = re.sub(r"(?<=\d)[²³⁶⁹]", lambda power: "**" + "0123456789"["⁰¹²³⁴⁵⁶⁷⁸⁹".index(power[0])], term)
    term = re.sub(r"[a-zA-Zµ,]+", "", term).replace("·", "*").replace("×", "*").replace("−", "-")
    while term.count(")") > term.count("("):  # of the sentence
        term = term[:term.rindex(")")] + term[term.rindex(")") + 1:]
    while term.count("(") > term.count(")"):
        term = term[:term.index("(")] + term[term.index("(") + 1:]
    if not re.fullmatch(r"[\d.\s*/+()-]+", term):
        return None
    try:
        return eval(term, {"__builtins__": {}})  # digits and operators alone
    except (SyntaxError, ZeroDivisionError):
        return None


def computes(formula):
    sides = [value(side) for side in formula.split("=")]
    if None in sides or 0 in sides:
        return False
    # 0.00308 s are 3.08 ms, 16,384 bytes 16 KB: sides may be powers of 1,000 or 1,024 apart. The last side is rounded.
    units = [base**k for base in (1000.0, 1024.0) for k in range(-4, 5)]
    return all(any(abs(sides[0] / side * unit - 1) < 0.01 for unit in units) for side in sides[1:])


def allowed():
    entries = []
    for number, line in enumerate(allow_file.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != 3 or not all(parts):
            sys.exit(f"{allow_file.name}:{number}: not `page | text | reason`")
        entries.append((number, *parts))
    return entries


def check(path, name, entries, used):
    whole = path.read_text()
    text = prose(whole)
    found = []
    exempt = []
    for formula in FORMULA.finditer(text):
        if computes(formula[0]):
            exempt.append(formula.span())
        else:
            found.append((formula.start(), f"does not compute: {formula[0]}"))
    for number, page, words, _ in entries:
        if not fnmatch.fnmatch(name, page):
            continue
        for place in re.finditer(r"\s+".join(re.escape(word) for word in words.split()), text):
            exempt.append((*place.span(), number))
    homework = re.search(r"^## Homework$", whole, re.M)
    homework = homework.start() if homework else len(whole)
    for strict, pattern in PATTERNS:
        for hit in pattern.finditer(text):
            if not strict and hit.start() > homework:
                continue
            inside = [span for span in exempt if span[0] <= hit.start() and hit.end() <= span[1]]
            used.update(span[2] for span in inside if len(span) == 3)
            if not inside:
                around = " ".join(text[max(0, hit.start() - 40):hit.end() + 30].split())
                found.append((hit.start(), f"{' '.join(hit[0].split())}: ... {around} ..."))
    for place, what in sorted(set(found)):
        print(f"{name}:{whole.count(chr(10), 0, place) + 1}: {what}")
    return len(found)


def main():
    pages = [pathlib.Path(page).resolve() for page in sys.argv[1:]]
    entries, used = allowed(), set()
    wrong = sum(check(page, str(page.relative_to(root)) if page.is_relative_to(root) else page.name, entries, used)
                for page in pages or sorted(page for page in root.glob("chapters/*/*.md") if not page.name.endswith(".zh.md")))
    if not pages:
        for number, page, words, _ in entries:
            if number not in used:
                print(f"{allow_file.relative_to(root)}:{number}: nothing is allowed by it: {page} | {words}")
                wrong += 1
    if wrong:
        print(f"{wrong} numbers without a source. See the head of tests/checks/check-numbers.py.", file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main())
