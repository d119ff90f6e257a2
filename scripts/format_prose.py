#!/usr/bin/env python3
"""Wraps the paragraphs of the Markdown pages at 100 columns.

Usage: format_prose.py [--check] [PAGE...]      (all pages that git keeps, unless given)

A paragraph, or an item of a list, that has a longer line is wrapped anew; all others stay as they are, and so do code,
tables, headings and comments. What stands in backticks is not broken. --check only says which lines are too long.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS_MAX = 100
ITEM = re.compile(r"(\s*)([-*]|\d+\.) +")
# A code span with its neighbours is one word, as is everything else without a space.
WORD = re.compile(r"(?:`[^`]*`|[^\s`])+|`")


def is_prose(line):
    return bool(line.strip()) and not re.match(r"\s*(\||#|<!--|!\[)", line) and not line.startswith("    ")


def paragraphs(text):
    """Pairs of the first line's index and the lines of each paragraph or item."""
    found, current, first, fenced, comment = [], [], 0, False, False
    for index, line in enumerate(text.split("\n") + [""]):
        opens = line.lstrip().startswith("```")
        fenced ^= opens
        comment = comment or line.lstrip().startswith("<!--")
        prose = not (fenced or opens or comment) and (is_prose(line) or (bool(current) and bool(line.strip())
                                                                         and not re.match(r"\s*(\||#|<!--)", line)))
        comment = comment and "-->" not in line
        if current and (not prose or ITEM.match(line)):
            found.append((first, current))
            current = []
        if prose:
            first = first if current else index
            current.append(line)
    return found


def wrapped(lines):
    item = ITEM.match(lines[0])
    indent = " " * (len(item[0]) if item else len(lines[0]) - len(lines[0].lstrip()))
    words = []
    for word in WORD.findall("\n".join([lines[0][len(item[0]):] if item else lines[0]] + lines[1:])):
        if words and re.fullmatch(r"[-*+]|\d+\.|[#>].*", word):  # Would begin an item, a heading or a quotation at the start of a line.
            word = words.pop() + " " + word
        words.append(word)
    out = [item[0] if item else indent]
    for word in (" ".join(w.split()) for w in words):
        if out[-1].strip() and len(out[-1]) + 1 + len(word) > COLUMNS_MAX and not (item and out[-1] == item[0]):
            out.append(indent)
        out[-1] += word if out[-1] in (indent, item and item[0]) else " " + word
    return out


def formatted(text):
    lines = text.split("\n")
    for first, paragraph in reversed(paragraphs(text)):
        if any(len(line) > COLUMNS_MAX for line in paragraph):
            lines[first:first + len(paragraph)] = wrapped(paragraph)
    return "\n".join(lines)


def too_long(text):
    """Numbers, from 1, of the lines that are too long and could be broken."""
    return [first + at + 1 for first, paragraph in paragraphs(text) for at, line in enumerate(paragraph)
            if len(line) > COLUMNS_MAX and len(WORD.findall(ITEM.sub("", line))) > 1]


def pages():
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, text=True, capture_output=True, check=True)
    return [ROOT / name for name in listed.stdout.split()]


def main():
    parser = argparse.ArgumentParser(description="Wraps the paragraphs of Markdown pages at 100 columns.")
    parser.add_argument("--check", action="store_true", help="only say which lines are too long")
    parser.add_argument("page", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    wrong = False
    for page in options.page or pages():
        text = page.read_text(encoding="utf-8")
        if options.check:
            for line in too_long(text):
                print(f"{page}:{line}: more than {COLUMNS_MAX} columns")
                wrong = True
        elif (new := formatted(text)) != text:
            page.write_text(new, encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
