#!/usr/bin/env python3
"""embed_pages.py OUTPUT PAGE...: writes a C++ source with the text of each Markdown page, for `troupe help TOPIC`.

The name of a page is that of its file, its title the text of its first heading.
"""
import pathlib
import re
import sys


def literal(text):
    assert ")page\"" not in text
    return f'R"page({text})page"'


def row(path):
    text = path.read_text(encoding="utf-8")
    title = re.match(r"# (.+)\n", text)
    if not title:
        sys.exit(f"{path}: its first line must be a heading: # TITLE")
    return f"  {{{literal(path.stem)}, {literal(title[1])},\n   {literal(text)}}},\n"


output, *pages = map(pathlib.Path, sys.argv[1:])
output.write_text(f"""// Made by scripts/embed_pages.py from the pages of docs/guide.
#include "cli/reference/guide_pages.hpp"

namespace troupe::cli {{

std::span<const guide_page> guide_pages() {{
  static constexpr guide_page all[] = {{
{"".join(map(row, pages))}  }};
  return all;
}}

}}  // namespace troupe::cli
""", encoding="utf-8")
