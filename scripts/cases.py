#!/usr/bin/env python3
"""Counts the numbered cases in tests/cases.txt by outcome: tested, adapted, waived or missing.

A test covers a case by a title that carries its id in brackets:

    TEST_CASE("[EST-21] a resumed run lists the checkpoint it came from again")
    TEST_CASE("[ADA-22.1 three iterations] ...")

A line of the list is `ID | title`, and may go on with ` | adapted: how` or ` | waived: why`. An adapted case counts as adapted once
it has a test, and is missing until then. A waived one has no test: it cannot hold here, and says why.
"""
import argparse
import dataclasses
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TITLE = re.compile(r'\bTEST_CASE\w*\s*\((?:[^"()]*,)?\s*((?:"(?:[^"\\\n]|\\.)*"\s*)+)')
IDS = re.compile(r"\[((?:EST|DF|SUP|ADA|MET)-[^\]]*)\]")
SPECS = {"EST": "estimator", "DF": "dataflow", "SUP": "supervision", "ADA": "adanet", "MET": "metrics"}
NOTE = re.compile(r"(adapted|waived): (\S.*)")
OUTCOMES = ("tested", "adapted", "waived", "missing")


class Trouble(Exception):
    pass


@dataclasses.dataclass
class Case:
    title: str
    kind: str = ""  # "adapted" or "waived".
    note: str = ""  # How, or why.
    places: list = dataclasses.field(default_factory=list)  # Tests, as file:line.

    @property
    def outcome(self):
        if self.kind == "waived":
            return "waived"
        if not self.places:
            return "missing"
        return self.kind or "tested"


def listed(text):
    """The cases of a list by id, in its order."""
    cases = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, *columns = line.split(" | ")
        if len(columns) not in (1, 2) or name.split("-")[0] not in SPECS or not columns[0].strip():
            raise Trouble(f"tests/cases.txt:{number}: not 'ID | title' or 'ID | title | adapted: how' or '... | waived: why'")
        if name in cases:
            raise Trouble(f"tests/cases.txt:{number}: {name} is listed twice")
        cases[name] = Case(columns[0])
        if len(columns) == 2:
            note = NOTE.fullmatch(columns[1])
            if not note:
                raise Trouble(f"tests/cases.txt:{number}: the third column of {name} is neither 'adapted: how' nor 'waived: why', "
                              f"but '{columns[1]}'")
            cases[name].kind, cases[name].note = note.groups()
    return cases


def carried(text):
    """Pairs of (id, line) for every id in a title of a test source."""
    for title in TITLE.finditer(text):
        joined = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', title.group(1)))
        for ids in IDS.findall(joined):
            for name in ids.split(","):
                yield name.strip(), text.count("\n", 0, title.start()) + 1


def put(cases, source, text):
    """Adds the titles of one test source to their cases; returns their errors."""
    wrong = []
    for name, line in carried(text):
        place = f"{source}:{line}"
        if name not in cases:
            wrong.append(f"{place}: there is no case {name}")
        elif cases[name].kind == "waived":
            wrong.append(f"{place}: {name} is waived ({cases[name].note}); a test under its id says otherwise")
        else:
            cases[name].places.append(place)
    return wrong


def report(cases, shown=()):
    """The counts of each list as lines, each with its cases whose outcome is among `shown`."""
    lines = []
    width = max(len(spec) for spec in SPECS.values())
    for prefix, spec in [*SPECS.items(), ("", "all")]:
        of_spec = {name: case for name, case in cases.items() if name.startswith(prefix)}
        counts = {outcome: sum(case.outcome == outcome for case in of_spec.values()) for outcome in OUTCOMES}
        lines.append(f"{spec:<{width}}  " + "  ".join(f"{counts[outcome]:>3} {outcome}" for outcome in OUTCOMES) + f"  of {len(of_spec)}")
        if not prefix:
            break
        for name, case in of_spec.items():
            if case.outcome in shown:
                lines.append(f"  {name}: {case.title}" + (f" | {case.kind}: {case.note}" if case.kind else "")
                             + (f" ({', '.join(case.places)})" if case.places else ""))
    return lines


def main():
    parser = argparse.ArgumentParser(description="Counts the numbered cases that are tested, adapted, waived and missing.")
    parser.add_argument("--covered", action="store_true", help="list the cases that have a test, and where")
    for outcome, which in [("adapted", "those tested in another form than worded, and how"), ("waived", "those that cannot hold here, and why"),
                           ("missing", "those that have no test yet")]:
        parser.add_argument(f"--{outcome}", action="store_true", help=f"list {which}")
    options = parser.parse_args()

    try:
        cases = listed((ROOT / "tests" / "cases.txt").read_text())
    except Trouble as trouble:
        sys.exit(str(trouble))
    wrong = []
    for path in sorted((ROOT / "tests").rglob("*.cpp")):
        wrong += put(cases, path.relative_to(ROOT), path.read_text())
    shown = {outcome for outcome in OUTCOMES[1:] if getattr(options, outcome)} | ({"tested", "adapted"} if options.covered else set())
    print("\n".join(report(cases, shown)))
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
