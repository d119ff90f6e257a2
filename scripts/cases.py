#!/usr/bin/env python3
"""Counts which of the numbered cases in tests/cases.txt have a test: one whose title carries the id in brackets.

    TEST_CASE("[EST-21] a resumed run lists the checkpoint it came from again")
    TEST_CASE("[ADA-22.1 three iterations] ...")
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TITLE = re.compile(r'\bTEST_CASE\w*\s*\((?:[^"()]*,)?\s*((?:"(?:[^"\\\n]|\\.)*"\s*)+)')
IDS = re.compile(r"\[((?:EST|DF|SUP|ADA)-[^\]]*)\]")
SPECS = {"EST": "estimator", "DF": "dataflow", "SUP": "supervision", "ADA": "adanet"}


def known_cases():
    cases = {}
    for number, line in enumerate((ROOT / "tests" / "cases.txt").read_text().split("\n"), 1):
        if line.strip() and not line.startswith("#"):
            name, bar, title = line.partition(" | ")
            if not bar or name in cases or name.split("-")[0] not in SPECS:
                sys.exit(f"tests/cases.txt:{number}: not a new 'ID | title'")
            cases[name] = title
    return cases


def tested_cases():
    """Pairs of (id, place) for every id in a title."""
    for path in sorted((ROOT / "tests").rglob("*.cpp")):
        text = path.read_text()
        for title in TITLE.finditer(text):
            place = f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, title.start()) + 1}"
            joined = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', title.group(1)))
            for ids in IDS.findall(joined):
                for name in ids.split(","):
                    yield name.strip(), place


def main():
    parser = argparse.ArgumentParser(description="Counts the numbered cases that have a test.")
    parser.add_argument("--covered", action="store_true", help="list the cases that have a test, and where")
    parser.add_argument("--missing", action="store_true", help="list the cases that have none")
    options = parser.parse_args()

    cases, places, unknown = known_cases(), {}, []
    for name, place in tested_cases():
        if name in cases:
            places.setdefault(name, []).append(place)
        else:
            unknown.append(f"{place}: there is no case {name}")
    for prefix, spec in SPECS.items():
        names = [name for name in cases if name.startswith(prefix + "-")]
        print(f"{spec:<12} {sum(name in places for name in names):>3} of {len(names)}")
        for name in names:
            if options.covered and name in places:
                print(f"  {name}: {cases[name]} ({', '.join(places[name])})")
            if options.missing and name not in places:
                print(f"  {name}: {cases[name]}")
    for line in unknown:
        print(line, file=sys.stderr)
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
