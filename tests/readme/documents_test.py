"""The documents: how long they may be, that their links lead somewhere, and that tables of theirs have what the code has."""
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))
import format_prose  # noqa: E402
README_LINES_MAX = 120
GUIDE_LINES_MAX = 200
MADE = {"configure.md"}  # Pages that are made from tables, as long as these are.
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def documents(root):
    return sorted(path for path in root.glob("**/*.md") if path.relative_to(root).parts[0] not in ("build", "runs"))


def prose(text):
    """Pairs of a line and its number, without fenced blocks and without code between backquotes."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`[^`]*`", "", line)


def anchors(text):
    """What `#...` may say of a document: its headings as GitHub turns them into names."""
    found, seen = set(), collections.Counter()
    fenced = False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        heading = None if fenced else re.match(r"#+ +(.*)$", line)
        if heading:
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            found.add(f"{name}-{seen[name]}" if seen[name] else name)
            seen[name] += 1
    return found


def broken_links(root):
    """"PAGE:LINE: ..." for each link that leads nowhere."""
    found = []
    for document in documents(root):
        for number, line in prose(document.read_text()):
            for target in LINK.findall(line):
                if re.match(r"[a-z]+:", target):
                    continue  # Another site.
                path, _, anchor = target.partition("#")
                there = (document.parent / path) if path else document
                where = f"{document.relative_to(root)}:{number}"
                if not there.exists():
                    found.append(f"{where}: there is no {target}")
                elif anchor and there.suffix == ".md" and anchor not in anchors(there.read_text()):
                    found.append(f"{where}: {path or 'this page'} has no heading #{anchor}")
    return found


def too_long(root):
    """"PAGE: ..." for each page that has more lines than it may have."""
    limits = {root / "README.md": README_LINES_MAX}
    limits |= {page: GUIDE_LINES_MAX for page in (root / "docs" / "guide").glob("[a-z]*.md") if page.name not in MADE}
    lines = {page: page.read_text().count("\n") for page in limits}
    return [f"{page.relative_to(root)}: {lines[page]} lines, {limit} at most" for page, limit in sorted(limits.items()) if lines[page] > limit]


def first_column(text, heading):
    """The names between backquotes in the first column of the table below a heading."""
    section = text.split(f"\n{heading}\n", 1)[1].split("\n#", 1)[0]
    return re.findall(r"^\| `([a-z_]+)` \|", section, re.MULTILINE)


class Prose(unittest.TestCase):
    def test_no_line_of_prose_is_longer_than_100_columns(self):
        found = [f"{page.relative_to(ROOT)}:{line}" for page in documents(ROOT) for line in format_prose.too_long(page.read_text())]
        self.assertEqual(found, [], "./dev format wraps them")

    def test_a_paragraph_with_a_long_line_is_wrapped_and_nothing_else(self):
        long = "word " * 30 + "`a span of code that stays whole`"
        text = f"# {long}\n\n{long}\n\n- {long}\n  more\n- short\n\n| {long} |\n\n```\n{long}\n```\n"
        wrapped = format_prose.formatted(text)
        self.assertEqual(wrapped.split(), text.split())
        self.assertEqual(format_prose.too_long(wrapped), [])
        self.assertEqual(format_prose.formatted(wrapped), wrapped)
        self.assertIn(f"\n| {long} |\n\n```\n{long}\n```\n", wrapped)
        self.assertIn("\n- short\n", wrapped)
        self.assertIn("`a span of code that stays whole`", wrapped)
        self.assertTrue(all(line.startswith(("- word", "  ")) for line in wrapped.split("\n\n")[2].split("\n")[:-1]))

    def test_a_wrapped_line_does_not_begin_like_an_item(self):
        self.assertNotRegex(format_prose.formatted("w " * 49 + "- " + "w " * 9), r"(?m)^- ")


def formatter_of_the_tree():
    """Whether clang-format is there in the version whose output the tree is: Debian 12's."""
    if not shutil.which("clang-format"):
        return False
    said = subprocess.run(["clang-format", "--version"], capture_output=True, text=True, check=True).stdout
    return "version 14." in said


class Code(unittest.TestCase):
    @unittest.skipUnless(formatter_of_the_tree(), "clang-format 14 is not there")
    def test_the_formatter_would_change_no_file(self):
        checked = subprocess.run([ROOT / "dev", "format", "--check"], capture_output=True, text=True, cwd=ROOT)
        self.assertEqual(checked.returncode, 0, (checked.stdout + checked.stderr)[-4000:])

    @unittest.skipUnless(formatter_of_the_tree(), "clang-format 14 is not there")
    def test_a_line_that_is_too_long_or_astray_is_said(self):
        style = f"--style=file:{ROOT / '.clang-format'}"
        for wrong in ("int  x = 0;\n", "// " + "word " * 30 + "\n", "int f() {\n  return " + " + ".join(["value"] * 30) + ";\n}\n"):
            said = subprocess.run(["clang-format", style, "--dry-run", "--Werror"], input=wrong, capture_output=True, text=True)
            self.assertNotEqual(said.returncode, 0, wrong)


class Documents(unittest.TestCase):
    def test_every_link_leads_to_a_file_and_a_heading(self):
        self.assertEqual(broken_links(ROOT), [])

    def test_no_page_for_users_is_longer_than_it_may_be(self):
        self.assertEqual(too_long(ROOT), [])

    def test_what_the_rules_say_of_a_planted_violation(self):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            (root / "docs" / "guide").mkdir(parents=True)
            (root / "README.md").write_text("\n" * 121)
            (root / "docs" / "a.md").write_text("# One `two`: three\n## Same\n## Same\n[b](guide/b.md#x) [here](#same-1) [gone](#same-2)\n")
            (root / "docs" / "guide" / "b.md").write_text("```\n[not](a_link.md)\n# x\n```\n[a](../a.md#one-two-three) `[no](link)` "
                                                          "[web](https://example.org/x#y)\n[gone](c.md) [file](../../README.md)\n" + "\n" * 195)
            (root / "docs" / "guide" / "configure.md").write_text("\n" * 999)
            self.assertEqual(broken_links(root), ["docs/a.md:4: guide/b.md has no heading #x", "docs/a.md:4: this page has no heading #same-2",
                                                  "docs/guide/b.md:6: there is no c.md"])
            self.assertEqual(too_long(root), ["README.md: 121 lines, 120 at most", "docs/guide/b.md: 201 lines, 200 at most"])


class Tables(unittest.TestCase):
    def test_the_guide_says_of_every_category_of_errors_what_to_do(self):
        enum = re.search(r"enum class errc : uint8_t \{(.*?)\};", (ROOT / "include/troupe/error.hpp").read_text(), re.DOTALL)[1]
        categories = re.findall(r"^  ([a-z_]+)(?: = 1)?,", enum, re.MULTILINE)
        self.assertGreater(len(categories), 10)
        page = (ROOT / "docs/guide/operate.md").read_text()
        self.assertEqual(first_column(page, "## What each category of errors means"), categories)

    def test_the_guide_names_every_event_of_a_job(self):
        enum = re.search(r"enum class kind : uint8_t \{(.*?)\};", (ROOT / "include/troupe/hook.hpp").read_text(), re.DOTALL)[1]
        kinds = re.findall(r"[a-z_]+", enum)
        self.assertGreater(len(kinds), 5)
        page = (ROOT / "docs/guide/hooks.md").read_text()
        self.assertEqual(first_column(page, "## What a hook hears"), kinds)

    def test_the_documents_page_names_every_document(self):
        index = (ROOT / "docs/README.md").read_text()
        named = {target for _, line in prose(index) for target in LINK.findall(line)}
        there = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").glob("**/*.md")}
        missing = sorted(name for name in there - named - {"README.md"} if pathlib.Path(name).name[0].islower() or "/" not in name)
        self.assertEqual(missing, [])


if __name__ == "__main__":
    unittest.main()
