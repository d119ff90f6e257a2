"""`./dev run` and `./dev install` build one target: whatever is installed, and whatever the program loads on use, has to belong to it."""
import json
import pathlib
import subprocess
import sys
import unittest

PROGRAM = "cli/troupe"
BUILD = pathlib.Path(sys.argv.pop())


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Target(unittest.TestCase):
    def test_what_is_installed_is_built_with_the_program(self):
        built_with_it = set(output("ninja", "-C", str(BUILD), "-t", "inputs", PROGRAM).splitlines()) | {PROGRAM}
        installed = json.loads(output("meson", "introspect", "--installed", str(BUILD)))
        built = [pathlib.Path(path).relative_to(BUILD) for path in installed if path.startswith(f"{BUILD}/")]
        names = {path.name for path in built}
        self.assertLessEqual({"troupe", "libtroupe_http.so", "troupe.pc"}, names)
        by_configuration = {"meson-private"}  # Made when the build is configured.
        late = [str(path) for path in built if path.parts[0] not in by_configuration and str(path) not in built_with_it]
        self.assertEqual(late, [])

    def test_dev_runs_and_installs_that_target(self):
        dev = (pathlib.Path(__file__).resolve().parents[2] / "dev").read_text()
        for function in ("dev_run", "dev_install"):
            body = dev[dev.index(f"\n{function}()"):]
            self.assertIn(f"compile release {PROGRAM} ", body[:body.index("\n}\n")], function)


if __name__ == "__main__":
    unittest.main()
