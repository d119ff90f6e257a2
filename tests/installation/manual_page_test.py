"""groff formats the manual page without a warning, and shows what it has to."""
import re
import shutil
import subprocess
import sys
import unittest

PAGE = sys.argv.pop()


class Page(unittest.TestCase):
    def test_it_is_formatted_without_a_warning(self):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", PAGE], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        shown = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
        for part in ("NAME\n       troupe - trains, evaluates, exports and serves models", "troupe predict [DIR] [FLAG...]", "--set KEY=VALUE",
                     "  troupe train runs/longer --epochs 20\n", "run.save_checkpoints_secs", "[reduce_on_plateau]"):
            self.assertIn(part, shown)


if __name__ == "__main__":
    if not shutil.which("groff"):
        sys.exit("groff is missing: ./dev test installs it")
    unittest.main()
