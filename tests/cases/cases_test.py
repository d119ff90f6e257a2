"""The rules by which scripts/cases.py reads the list of cases and counts."""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import cases  # noqa: E402

LIST = """# A comment.
EST-1 | defaults

EST-2 | triggers | adapted: by other means
DF-1 | signals | waived: there are none
ADA-22.1 one step | a single step
"""


def source(*titles):
    return "\n".join(f'TEST_CASE("{title}") {{}}' for title in titles)


class Lists(unittest.TestCase):
    def refused(self, line, complaint):
        with self.assertRaisesRegex(cases.Trouble, complaint):
            cases.listed(LIST + line)

    def test_a_line_has_an_id_a_title_and_perhaps_a_third_column(self):
        read = cases.listed(LIST)
        self.assertEqual(list(read), ["EST-1", "EST-2", "DF-1", "ADA-22.1 one step"])
        self.assertEqual((read["EST-1"].title, read["EST-1"].kind), ("defaults", ""))
        self.assertEqual((read["EST-2"].kind, read["EST-2"].note), ("adapted", "by other means"))
        self.assertEqual((read["DF-1"].kind, read["DF-1"].note), ("waived", "there are none"))

    def test_a_third_column_is_a_known_word_a_colon_and_a_reason(self):
        for column in ["adapted", "adapted:", "adapted: ", "adapted : x", "waived - x", "Waived: x", "skipped: x", ""]:
            self.refused(f"EST-3 | title | {column}", "cases.txt:7: the third column of EST-3")

    def test_other_lines_are_refused_with_their_number(self):
        self.refused("EST-3", "cases.txt:7: not 'ID")
        self.refused("EST-3 | ", "cases.txt:7: not 'ID")
        self.refused("EST-3 | title | waived: why | more", "cases.txt:7: not 'ID")
        self.refused("NEW-3 | title", "cases.txt:7: not 'ID")
        self.refused("EST-1 | again", "cases.txt:7: EST-1 is listed twice")


class Titles(unittest.TestCase):
    def test_ids_are_found_in_titles_with_or_without_a_fixture_over_lines_and_several_at_once(self):
        text = ('\nTEST_CASE("[EST-1] a") {}\nTEST_CASE_FIXTURE(simulation, "[EST-2, DF-1] b") {}\nTEST_CASE("[ADA-22.1 one step] c, "\n'
                '          "and [SUP-9]") {}\n// TEST_CASE of [EST-4]\nCHECK(text == "[EST-5]");\n')
        self.assertEqual(list(cases.carried(text)), [("EST-1", 2), ("EST-2", 3), ("DF-1", 3), ("ADA-22.1 one step", 4), ("SUP-9", 4)])

    def test_an_id_that_is_not_listed_is_wrong(self):
        self.assertEqual(cases.put(cases.listed(LIST), "a.cpp", source("x", "[EST-9] y")), ["a.cpp:2: there is no case EST-9"])

    def test_an_id_that_is_waived_is_wrong(self):
        wrong = cases.put(cases.listed(LIST), "a.cpp", source("[DF-1] x"))
        self.assertEqual(wrong, ["a.cpp:1: DF-1 is waived (there are none); a test under its id says otherwise"])


class Counts(unittest.TestCase):
    def counted(self, *titles, shown=()):
        read = cases.listed(LIST)
        self.assertEqual(cases.put(read, "a.cpp", source(*titles)), [])
        return cases.report(read, shown)

    def test_each_case_counts_once_as_what_it_is(self):
        lines = self.counted("[EST-1] x", "[EST-1] y", "[EST-2] z")
        self.assertEqual(lines[0], "estimator      1 tested    1 adapted    0 waived    0 missing  of 2")
        self.assertEqual(lines[1], "dataflow       0 tested    0 adapted    1 waived    0 missing  of 1")
        self.assertEqual(lines[-1], "all            1 tested    1 adapted    1 waived    1 missing  of 4")

    def test_an_adapted_case_without_a_test_is_missing(self):
        self.assertEqual(self.counted()[0], "estimator      0 tested    0 adapted    0 waived    2 missing  of 2")

    def test_lists_say_where_a_case_is_tested_and_what_its_third_column_says(self):
        lines = self.counted("[EST-2] x", shown={"adapted", "waived", "missing"})
        self.assertIn("  EST-1: defaults", lines)
        self.assertIn("  EST-2: triggers | adapted: by other means (a.cpp:1)", lines)
        self.assertIn("  DF-1: signals | waived: there are none", lines)
        self.assertNotIn("  EST-1: defaults", self.counted("[EST-1] x", shown={"missing"}))


if __name__ == "__main__":
    unittest.main()
