#!/usr/bin/env python3
"""Draws comments of the C++ sources for a review: each should be understood at the first reading.

Usage: draw_comments.py [N [SEED]]      (300 comments at seed 1 unless said)

A comment is a run of lines that hold nothing else, or what stands behind code. The draw depends on the seed and on the comments alone.
"""
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALONE = re.compile(r"\s*///?<?\s?(.*)")
BEHIND_CODE = re.compile(r"\S\s+///?<?\s?([^\"]*)$")
NO_SENTENCE = re.compile(r"-- .*--$|NOLINT|clang-format|^namespace|^$|^[}\])]")  # Rulers, instructions for tools, ends of blocks.


def comments(path):
    """Pairs of line number and text."""
    found, lines, first = [], [], 0
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n") + [""], 1):
        if alone := ALONE.fullmatch(line):
            first = first if lines else number
            lines.append(alone[1])
            continue
        if lines:
            found.append((first, " ".join(lines).strip()))
            lines = []
        if behind := BEHIND_CODE.search(line):
            found.append((number, behind[1].strip()))
    return [(number, text) for number, text in found if not NO_SENTENCE.search(text)]


def main():
    count, seed = [int(given) for given in sys.argv[1:]] + [300, 1][len(sys.argv) - 1:]
    files = subprocess.run(["git", "ls-files", "*.hpp", "*.cpp"], cwd=ROOT, text=True, capture_output=True, check=True).stdout.split()
    everything = [(name, number, text) for name in files for number, text in comments(ROOT / name)]
    drawn = random.Random(seed).sample(everything, min(count, len(everything)))
    for name, number, text in sorted(drawn):
        print(f"{name}:{number}: {text}")
    print(f"{len(drawn)} of {len(everything)} comments, seed {seed}", file=sys.stderr)


if __name__ == "__main__":
    main()
