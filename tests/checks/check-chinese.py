#!/usr/bin/env python3
"""Lists what of the Chinese edition has fallen behind the English pages, and fails on what would break a page.

    tests/checks/check-chinese.py [PAGE.zh.md...]       default: all, and docs/chinese/puzzles-*.md
    tests/checks/check-chinese.py --stamp PAGE...       the page says now what the English page does: write the hash of that
    tests/checks/check-chinese.py --links               links to English pages that have a Chinese edition lead there

Errors: a placeholder that names no block or more than one; a section, or a puzzle's hint, that is missing or one too many.
Warnings: English prose that changed after the Chinese was written (recorded tables and computed values don't count); a block
that the Chinese page leaves out; a computed value whose formula the English page doesn't have; lines that break a paragraph.

Exit codes: 0, with warnings or without; 1 errors; 2 bad arguments.
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common/scripts/site"))
import chinese  # noqa: E402
from chinese import ROOT, STAMP  # noqa: E402

HAN = "[\u3001-\u303f\u4e00-\u9fff\uff00-\uffef]"


def pages():
    return sorted([*ROOT.glob("chapters/*/*.zh.md"), *ROOT.glob("docs/*.zh.md"), *ROOT.glob("docs/chinese/puzzles-*.md")])


def chapter_of(page):
    """Of a file of puzzles' texts; nothing for a page."""
    found = re.fullmatch(r"puzzles-(\d\d_\w+)\.md", page.name)
    return found and found[1]


def hash_now(page):
    chapter = chapter_of(page)
    return chinese.puzzles_hash(chapter) if chapter else chinese.hash_of(chinese.english_of(page).read_text(encoding="utf-8"))


def formulas(text):
    """What computed values are made of, without the words around the figure."""
    return [re.sub(r" : .*", "", opening, flags=re.S) for opening, _, _ in chinese.CALC.findall(text) if not opening.startswith("<!-- derived")]


def check_puzzles(page, text, errors):
    there, here = chinese.puzzles_in_english(chapter_of(page)), chinese.puzzles_in(text)
    for id_, (title, _, hints) in there.items():
        if id_ not in here:
            errors.append(f"puzzle {id_}, {title}, is missing")
        elif not here[id_][1]:
            errors.append(f"puzzle {id_} has no goal")
        elif len(here[id_][2]) != len(hints):
            errors.append(f"puzzle {id_} has {len(here[id_][2])} hints, and {len(hints)} in English")
    errors += [f"there is no puzzle {id_}" for id_ in here if id_ not in there]


def check_page(page, text, errors, warnings):
    english = chinese.english_of(page)
    if not english.exists():
        errors.append(f"there is no {english.name}")
        return
    original = english.read_text(encoding="utf-8")
    there, used = chinese.blocks(original), set()
    for line in text.split("\n"):
        asked = chinese.PLACEHOLDER.match(line)
        if asked is None:
            if "<!-- same:" in line:
                errors.append(f"a placeholder stands alone in its line: {line.strip()[:60]}")
            continue
        found = chinese.named(asked[1], there)
        if len(found) != 1:
            errors.append(f"`{asked[1]}` names {len(found) or 'no'} block{'s' if len(found) > 1 else ''} of the English page")
        used.update(map(id, found))
    warnings += [f"leaves out a block: <!-- same: {chinese.name_of(block, there)} -->" for block in there if id(block) not in used]

    ours, theirs = chinese.headings(text), chinese.headings(original)
    if [level for level, _ in ours] != [level for level, _ in theirs]:
        at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a[0] != b[0]), min(len(ours), len(theirs)))
        place = f'from "{theirs[at][1]}" on' if at < len(theirs) else f'"{ours[at][1]}" is one too many'
        errors.append(f"{len(ours)} headings, and {len(theirs)} in English: they differ {place}")
    folds = text.count("<details>"), sum(piece.count("<details>") for piece in chinese.pieces(original) if isinstance(piece, str))
    if folds[0] != folds[1]:
        warnings.append(f"{folds[0]} folds, and {folds[1]} in English")
    known = set(formulas(original))
    warnings += [f"a formula that the English page doesn't have: {formula[:80]}" for formula in formulas(text) if formula not in known]
    for opening, _, _ in chinese.CALC.findall(text):
        if re.search(r" : [^{]*\s[^{]*\{", opening):
            errors.append(f"no blank may stand before the {{ of a computed value, or it stays as it is: {opening[-40:]}")
    for first, second in re.findall(rf"^(?![#<|]| *[-*] | *\d+\. )(.*{HAN})\n(?![#<|]| *[-*] | *\d+\. )({HAN}.*)$", text, re.M):
        warnings.append(f"a paragraph is one line (a line break becomes a blank): {first[-12:]} / {second[:12]}")
    links = [link for link in re.findall(r"\]\(([^)#\s:]+\.md)\)", text) if not link.endswith(".zh.md")]
    for link in dict.fromkeys(links):
        if chinese.chinese_of(page.parent / link).exists() and (page.parent / link).resolve() != english.resolve():
            warnings.append(f"{link} has a Chinese edition: check-chinese.py --links leads there")


def mend_links():
    for page in pages():
        text = page.read_text(encoding="utf-8")
        begin = text.find("\n# ")
        new = text[:begin] + re.sub(
            r"(\]\()([^)#\s:]+)\.md\)",
            lambda found: f"{found[1]}{found[2]}.zh.md)" if not found[2].endswith(".zh") and (page.parent / f"{found[2]}.zh.md").exists() else found[0],
            text[begin:])
        if new != text:
            page.write_text(new, encoding="utf-8")
            print("updated", page.relative_to(ROOT))


def stamp(page):
    text = page.read_text(encoding="utf-8")
    line = f"<!-- english: {hash_now(page)} -->"
    if STAMP.search(text):
        text = STAMP.sub(line, text, count=1)
    else:
        first, _, rest = text.partition("\n")
        text = f"{line}\n{text}" if chapter_of(page) else f"{first}\n\n{line}\n{rest}"
    page.write_text(text, encoding="utf-8")


def main():
    arguments = sys.argv[1:]
    if arguments == ["--links"]:
        mend_links()
        return 0
    stamping = arguments[:1] == ["--stamp"]
    chosen = [Path(name).resolve() for name in arguments[stamping:]]
    for page in chosen:
        if not page.is_file() or not (page.name.endswith(".zh.md") or chapter_of(page)):
            print(f"check-chinese.py: {page} is no page of the Chinese edition", file=sys.stderr)
            return 2
    if stamping:
        if not chosen:
            print("usage: check-chinese.py --stamp PAGE...", file=sys.stderr)
            return 2
        for page in chosen:
            stamp(page)
        return 0

    wrong = warned = 0
    all_pages = chosen or pages()
    for page in all_pages:
        text, errors, warnings = page.read_text(encoding="utf-8"), [], []
        if chapter_of(page):
            check_puzzles(page, text, errors)
        else:
            check_page(page, text, errors, warnings)
        stamped = STAMP.search(text)
        if not stamped:
            warnings.append("says nothing of the English that it was written from: --stamp writes it")
        elif (chapter_of(page) or chinese.english_of(page).exists()) and stamped[1] != hash_now(page):
            warnings.append("the English text has changed after this one was written")
        name = page.relative_to(ROOT) if page.is_relative_to(ROOT) else page
        for kind, words in (("error", errors), ("warning", warnings)):
            for word in words:
                print(f"{name}: {kind}: {word}")
        wrong += len(errors)
        warned += len(warnings)
    if not chosen:
        lessons = sorted([*ROOT.glob("chapters/*/README.md"), *ROOT.glob("chapters/*/deeper.md")])
        missing = [page for page in lessons if not chinese.chinese_of(page).exists()]
        if missing:
            print(f"Not in Chinese yet: {' '.join(str(page.relative_to(ROOT)) for page in missing)}")
    print(f"{len(all_pages)} Chinese pages, {wrong} errors, {warned} warnings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
