#!/usr/bin/env python3
"""check-gradescope.py RESULTS.JSON: is this what Gradescope's autograder specification describes?

Checks every field, its type, and that nothing is there that the specification does not have; prints "SCORE of MAX, N tests".
The specification: https://gradescope-autograders.readthedocs.io/en/latest/specs/
"""
import json
import math
import sys

VISIBILITY = {"hidden", "after_due_date", "after_published", "visible"}
FORMATS = {"text", "html", "simple_format", "md", "ansi"}


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def text(value):
    return isinstance(value, str)


TOP = {
    "score": number,
    "execution_time": number,
    "output": text,
    "output_format": FORMATS.__contains__,
    "test_output_format": FORMATS.__contains__,
    "test_name_format": FORMATS.__contains__,
    "visibility": VISIBILITY.__contains__,
    "stdout_visibility": VISIBILITY.__contains__,
    "extra_data": lambda v: isinstance(v, dict),
    "tests": lambda v: isinstance(v, list),
    "leaderboard": lambda v: isinstance(v, list),
}
TEST = {
    "score": number,
    "max_score": number,
    "status": {"passed", "failed"}.__contains__,
    "name": text,
    "name_format": FORMATS.__contains__,
    "number": text,
    "output": text,
    "output_format": FORMATS.__contains__,
    "tags": lambda v: isinstance(v, list) and all(map(text, v)),
    "visibility": VISIBILITY.__contains__,
    "extra_data": lambda v: isinstance(v, dict),
}


def check(where, value, fields):
    if not isinstance(value, dict):
        sys.exit(f"{where} is not an object")
    for key, content in value.items():
        if key not in fields:
            sys.exit(f"{where}: there is no field {key!r}")
        if not fields[key](content):
            sys.exit(f"{where}: {key!r} must not be {content!r:.80}")


def main():
    with open(sys.argv[1], encoding="utf-8") as stream:  # anything but UTF-8 is an error
        results = json.load(stream, parse_constant=lambda word: sys.exit(f"{word} is not JSON"))
    check("results", results, TOP)
    tests = results.get("tests", [])
    for i, test in enumerate(tests):
        check(f"test {i}", test, TEST)
        if "score" not in test and "score" not in results:
            sys.exit(f"test {i} has no score, and neither have the results")
        if test.get("score", 0) > test.get("max_score", math.inf) + 1e-9:
            sys.exit(f"test {i} gives more than its maximum")
    if "score" not in results and not tests:
        sys.exit("there must be a score or tests")
    most = sum(t.get("max_score", 0) for t in tests)
    given = sum(t.get("score", 0) for t in tests)
    if tests and "score" in results and abs(given - results["score"]) > 1e-6:
        sys.exit(f"the tests add up to {given}, but the score is {results['score']}")
    print(f"{results.get('score', given):g} of {most:g}, {len(tests)} tests")


main()
