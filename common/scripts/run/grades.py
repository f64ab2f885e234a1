#!/usr/bin/env python3
"""Puts the scores of a class into the file that Canvas or Moodle takes.

  grades.py canvas TABLE.csv EXPORT.csv "Homework 02 (12345)"
  grades.py moodle TABLE.csv WORKSHEET.csv

TABLE.csv is what `grade NN --class DIR --csv TABLE.csv` wrote. EXPORT.csv is the gradebook as Canvas exports it, and WORKSHEET.csv the
grading worksheet of the assignment as Moodle hands it out: both name the students in the columns that the import asks for. What
goes to standard output is to be imported: Canvas's columns Student, ID, SIS User ID, SIS Login ID and Section with the assignment's; all
of Moodle's with Grade filled in. Who isn't in the table keeps what the gradebook has. Students who could not be graded get no grade.

Who is who? The names of what was handed in have it, as the platforms' own downloads name files: Canvas lastfirst_ID_NUMBER_homework.cu
(lastfirst_LATE_ID_... when late), Moodle "First Last_NUMBER_assignsubmission_file". Else the name must be the student's login, e-mail address, ID number or
full name. Exit code 2, with a line for each, when a submission in the table is no student's or two students'.
"""
import csv
import re
import sys


def fail(message):
    print(f"grades.py: {message}", file=sys.stderr)
    sys.exit(2)


def read(path):
    try:
        with open(path, newline="", encoding="utf-8-sig") as stream:
            rows = list(csv.reader(stream))
    except (OSError, UnicodeDecodeError) as error:
        fail(f"cannot read {path}: {error}")
    if not rows:
        fail(f"{path} is empty")
    return rows


def column(head, name, path):
    plain = [h.strip().lower() for h in head]  # Moodle has written Maximum Grade and Maximum grade
    if name.strip().lower() not in plain:
        fail(f'{path} has no column "{name}"; it has: {", ".join(head)}')
    return plain.index(name.strip().lower())


def cell(row, at):
    return row[at].strip() if at < len(row) else ""


def scores(path):
    """(name, score or None) of each line of the grader's table."""
    rows = read(path)
    student, score = (column(rows[0], name, path) for name in ("student", "score"))
    try:
        return [(cell(r, student), float(cell(r, score)) if cell(r, score) else None) for r in rows[1:] if r]
    except ValueError as error:
        fail(f"{path}: {error}")


def words(text):
    """A name without what differs between platforms: case, order, and what is no letter."""
    return " ".join(sorted(re.findall(r"\w+", text.lower())))


def match(table, people, numbers_in):
    """{index of a person: score}. people: for each, the platform's number and all other names."""
    found, problems = {}, []
    for name, score in table:
        plain = name.removeprefix("'").removesuffix("/").removesuffix(".cu")
        number = numbers_in(plain)
        who = [i for i, (own, _) in enumerate(people) if own and own in number]
        if not who:
            who = [i for i, (_, names) in enumerate(people) if words(plain) in {words(n) for n in names if n}]
        if len(who) != 1:
            problems.append(f"{name} {f'is {len(who)} people' if who else 'is not'} in the gradebook")
        elif who[0] in found:
            problems.append(f"{name} and another line of the table are the same student")
        else:
            found[who[0]] = score
    if problems:
        fail("\n".join(problems))
    return found


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def canvas(table, path, assignment):
    rows = read(path)
    head = rows[0]
    fixed = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    # Schools without SIS have no column for it.
    columns = [c for c in fixed if c in head]
    for name in ("Student", "ID", "Section"):
        column(head, name, path)
    place = {name: head.index(name) for name in columns}
    mine = column(head, assignment, path)
    # Rows without an ID are none of a student's: "Points Possible", and notes of Canvas's such as "Manual Posting".
    students = [r for r in rows[1:] if cell(r, place["ID"]).isdigit()]
    possible = next((cell(r, mine) for r in rows[1:] if cell(r, place["Student"]) == "Points Possible"), "")
    try:
        points = float(possible)
    except ValueError:
        fail(f'{path}: the row "Points Possible" has no number for {assignment}')
    people = [(cell(r, place["ID"]), [cell(r, place[c]) for c in columns if c not in ("ID", "Section")]) for r in students]
    found = match(table, people, lambda name: re.findall(r"^[^_]+_(?:LATE_)?(\d+)_\d+(?:_|$)", name))
    out = csv.writer(sys.stdout)
    out.writerow(columns + [assignment])
    out.writerow(["    Points Possible"] + [""] * (len(columns) - 1) + [number(points)])
    for i, row in enumerate(students):
        score = found.get(i)
        out.writerow([cell(row, place[c]) for c in columns] + [cell(row, mine) if score is None else number(score / 100 * points)])


def moodle(table, path):
    rows = read(path)
    head = rows[0]
    identifier, full, grade, most = (column(head, n, path) for n in ("Identifier", "Full name", "Grade", "Maximum grade"))
    others = [head.index(n) for n in ("Email address", "ID number", "Username") if n in head]
    students = [r for r in rows[1:] if r]
    people = []
    for r in students:
        numbers = re.findall(r"\d+$", cell(r, identifier))  # "Participant 1234"
        if not numbers:
            fail(f"{path}: the identifier {cell(r, identifier)!r} has no number")
        people.append((numbers[0], [cell(r, at) for at in [full, *others]]))
    found = match(table, people, lambda name: re.findall(r"_(\d+)_assignsubmission", name))
    out = csv.writer(sys.stdout)
    out.writerow(head)
    for i, row in enumerate(students):
        score = found.get(i)
        if score is not None:
            try:
                row[grade] = number(score / 100 * float(cell(row, most).replace(",", ".")))
            except ValueError:
                fail(f"{path}: the maximum grade {cell(row, most)!r} is no number")
        out.writerow(row)


def main():
    arguments = sys.argv[1:]
    if arguments in (["-h"], ["--help"]):
        print(__doc__)
    elif len(arguments) == 4 and arguments[0] == "canvas":
        canvas(scores(arguments[1]), arguments[2], arguments[3])
    elif len(arguments) == 3 and arguments[0] == "moodle":
        moodle(scores(arguments[1]), arguments[2])
    else:
        print(__doc__, file=sys.stderr)
        sys.exit(2)


main()
