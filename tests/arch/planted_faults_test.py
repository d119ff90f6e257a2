"""Faults are planted in one library of the tests, and in no other (words/planted.hpp).

Usage: planted_faults_test.py ROOT PLANTED LIBRARY...     PLANTED has the faults, and each trace of them must be found there.
"""
import pathlib
import re
import subprocess
import sys

TEXTS = (b"TROUPE_PLANTED_ENDS", b"a planted end")
SYMBOL = re.compile(r".*\btroupe::(?:chosen_fault|planted|ends_here)\b.*")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def traces(library):
    """Names and texts of planted faults in a library; an archive may be thin, so that its members are files beside it."""
    paths = [pathlib.Path(library)]
    if library.endswith(".a"):
        members = [pathlib.Path(name) for name in output_of("ar", "t", library).split()]
        paths += [path for path in (m if m.exists() else paths[0].parent / m for m in members) if path.exists()]
    symbols = {line.split(" ", 2)[-1] for line in output_of("nm", "-C", library).splitlines() if SYMBOL.match(line)}
    content = b"".join(path.read_bytes() for path in paths)
    return sorted(symbols) + [text.decode() for text in TEXTS if text in content]


def main():
    root, planted, *libraries = sys.argv[1:]
    trouble = []
    found = traces(planted)
    for wanted in ("chosen_fault", "ends_here", *(text.decode() for text in TEXTS)):
        if not any(wanted in trace for trace in found):
            trouble.append(f"{planted} has planted faults, and {wanted} was not found in it")
    members = output_of("ar", "t", planted)
    for folder in ("actors", "pipeline", "storage", "compute", "input", "messages", "words", "estimator"):
        for source in sorted((pathlib.Path(root) / folder).rglob("*.[ch]pp")):
            if '#include "words/planted.hpp"' not in source.read_text():
                continue
            if source.suffix == ".hpp":
                trouble.append(f"{source} includes words/planted.hpp: a header would mean different things in different sources")
            elif source.name + ".o" not in members:
                trouble.append(f"{source} has planted faults, and is not in tests/pipeline/planted/meson.build")
    for library in libraries:
        trouble += [f"{library} has {trace}" for trace in traces(library)]
    print("\n".join(trouble) or f"{len(libraries)} libraries without planted faults, and one with them")
    return bool(trouble)


if __name__ == "__main__":
    sys.exit(main())
