"""`./dev run`, `./dev install` and `./dev package` build one target each: whatever is installed, and whatever the program loads on use, has to
belong to it."""
import json
import pathlib
import re
import subprocess
import sys
import unittest

PROGRAM, INSTALLATION = "cli/troupe", "installation"
BUILD = pathlib.Path(sys.argv.pop())


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def built_for(target):
    """Whatever ninja makes for the target; -t inputs leaves out what an alias names."""
    named = re.findall(r"^ {4}(?:\|+ )?(\S+)$", output("ninja", "-C", str(BUILD), "-t", "query", target).split("\n  outputs:")[0], re.MULTILINE)
    return set(named).union(*(output("ninja", "-C", str(BUILD), "-t", "inputs", each).splitlines() for each in named))


class Target(unittest.TestCase):
    def test_what_is_installed_is_built_for_the_installation(self):
        built_for_it = built_for(INSTALLATION)
        installed = json.loads(output("meson", "introspect", "--installed", str(BUILD)))
        built = [pathlib.Path(path).relative_to(BUILD) for path in installed if path.startswith(f"{BUILD}/")]
        names = {path.name for path in built}
        self.assertLessEqual({"troupe", "libtroupe_http.so", "troupe.pc", "TroupeConfig.cmake", "_troupe", "troupe.1"}, names)
        by_configuration = {".pc", ".cmake"}  # Made when the build is configured.
        late = [str(path) for path in built if path.suffix not in by_configuration and str(path) not in built_for_it]
        self.assertEqual(late, [])

    def test_what_the_program_loads_is_built_with_it(self):
        self.assertIn("modules/libtroupe_http.so", built_for(PROGRAM))

    def test_dev_runs_and_installs_these_targets(self):
        dev = (pathlib.Path(__file__).resolve().parents[2] / "dev").read_text()
        for function, target in (("dev_run", PROGRAM), ("dev_install", INSTALLATION), ("dev_package", INSTALLATION)):
            body = dev[dev.index(f"\n{function}()"):]
            self.assertIn(f"compile release {target} ", body[:body.index("\n}\n")], function)


if __name__ == "__main__":
    unittest.main()
