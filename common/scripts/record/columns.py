"""The columns of common/include/tilewise/columns.inc as pages show them, and the one writer of Markdown tables."""
import dataclasses
import pathlib
import re
import sys

LIST = pathlib.Path(__file__).resolve().parents[2] / "include/tilewise/columns.inc"
FORMS = {"whole": "{:,.0f}", "tenths": "{:.1f}", "hundredths": "{:.2f}", "percent": "{:.1f} %", "times": "{:.2f} x", "error": "{:.1e}"}
TEXT = {"", "shape", "kernel", "call", "matrix", "product", "prepared by", "lesson", "of what part", "what else is known", "binds"}


@dataclasses.dataclass(frozen=True)
class Column:
    name: str
    words: str  # its title on pages
    unit: str
    of: str  # where a row has it: "counts.flops"
    per: str  # what that is divided by: another place, a number, or ""
    as_: str


def listed():
    """Column by name. A line there that isn't understood is an error, not a column less."""
    found = {}
    for line in LIST.read_text().split("\n"):
        if line.startswith("TILEWISE_COLUMN"):
            parts = re.fullmatch(r'TILEWISE_COLUMN\((\w+), *' + r'"([^"]*)", *' * 3 + r'\d+, *' + r'"([^"]*)", *' * 2 + r"(\w+)\)", line)
            name, words, _, unit, of, per, as_ = parts.groups() if parts else sys.exit(f"{LIST}: cannot read {line}")
            found[name] = Column(name, words, unit, of, per, as_)
    return found


COLUMNS = listed()


def column(name):
    return COLUMNS.get(name) or sys.exit(f"{LIST} has no column {name}")


def at(row, place):
    """What a row has at a place such as "counts.flops"; None if nothing."""
    for key in place.split("."):
        row = row.get(key) if isinstance(row, dict) else None
    return row


def number(value, as_, unit=""):
    """A number as pages write it: with its unit, since there is no line of units below the titles."""
    if as_ == "digits":
        return f"{value:.3g} {unit}" if unit else f"{value:,.0f}"
    return FORMS[as_].format(100 * value if as_ == "percent" else value)


def time(ms):
    return f"{ms:.3g} ms" if ms >= 1e-3 else f"{1e3 * ms:.3g} us"


def written(row, name):
    """A row's cell in a column; "" where it hasn't got the value, or nothing to divide it by."""
    c = column(name)
    value = at(row, c.of)
    per = 1 if not c.per else float(c.per) if c.per.isdigit() else at(row, c.per)
    if value is None or not per:
        return ""
    if c.as_ == "text":
        return str(value)
    return f"{time(1e3 * value)} {row['bound']['by']}" if c.as_ == "least" else number(value / per, c.as_, c.unit)


def shown(entry):
    """(title, how a row fills it) of a column's name, a title and a name, or a title and a function."""
    title, of = entry if isinstance(entry, tuple) else (column(entry).words, entry)
    return title, of if callable(of) else lambda row: written(row, of)


def markdown(titles, rows, text=TEXT):
    """A table of cells. Columns with a title in `text` are aligned left, numbers right."""
    head = "".join(f" {title} |" if title else " |" for title in titles)
    rule = "|".join("---" if title in text else "--:" for title in titles)
    return "\n".join([f"|{head}", f"|{rule}|", *("| " + " | ".join(row) + " |" for row in rows)])


def without_blank(titles, rows, text=TEXT):
    """The same without columns that have nothing below their title."""
    kept = [k for k in range(len(titles)) if any(row[k] for row in rows)]
    return markdown([titles[k] for k in kept], [[row[k] for k in kept] for row in rows], text)


def table(entries, rows, text=TEXT):
    """A table of what shown() takes; a column that no row fills is left out."""
    columns = [shown(entry) for entry in entries]
    return without_blank([title for title, _ in columns], [[fill(row) for _, fill in columns] for row in rows], text)


def blocks(*texts):
    """Paragraphs and tables, as they go between two markers."""
    return "\n" + "\n\n".join(texts) + "\n\n"
