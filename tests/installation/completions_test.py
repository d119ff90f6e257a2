"""A shell completes command lines of the program with the script that `troupe completions SHELL` prints.

Usage: completions_test.py SHELL PROGRAM
"""
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
SHELL = sys.argv.pop()
LIMIT_S = 60
# What is typed before the key of completion, and what stands there after it. In fish the same is asked of `complete -C`.
LINES = [
    ("troupe ev", "troupe evaluate "),
    ("troupe train --max", "troupe train --max-steps "),
    ("troupe predict --format n", "troupe predict --format npy "),
    ("troupe train --set run.rep", "troupe train --set run.replicas="),
    ("troupe train --set evaluate.when=b", "troupe train --set evaluate.when=beside"),
    ("troupe checkpoints ver", "troupe checkpoints verify "),
    ("troupe train --config job.t", "troupe train --config job.toml"),
    ("troupe evaluate ru", "troupe evaluate runs"),
]


class Terminal:
    """An interactive shell whose lines are typed and read."""

    def __init__(self, command, directory, environment):
        self.read_so_far = ""
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.chdir(directory)
            os.execvpe(command[0], command, environment)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait_for(self, text):
        """Reads until the text appears; what was read before it."""
        until = time.monotonic() + LIMIT_S
        while text not in self.shown():
            if not select.select([self.terminal], [], [], max(0, until - time.monotonic()))[0]:
                raise AssertionError(f"{SHELL} does not show {text!r}, but {self.shown()!r}")
            try:
                self.read_so_far += os.read(self.terminal, 4096).decode(errors="replace")
            except OSError:
                raise AssertionError(f"{SHELL} has ended, and shows {self.shown()!r}") from None
        self.read_so_far = ""

    def shown(self):
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|\r|\x07", "", self.read_so_far)

    def end(self):
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        os.close(self.terminal)


class Completions(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.place = pathlib.Path(self.directory.name)
        (self.place / "bin").mkdir()
        (self.place / "bin/troupe").symlink_to(PROGRAM)
        (self.place / "work/runs").mkdir(parents=True)
        (self.place / "work/job.toml").touch()
        (self.place / "work/rubbish").touch()  # No directory.
        self.environment = {"PATH": f"{self.place}/bin:{os.environ['PATH']}", "HOME": str(self.place), "TERM": "dumb", "PS1": "> ",
                            "LC_ALL": "C.UTF-8"}

    def tearDown(self):
        self.directory.cleanup()

    def completed_in(self, command, preparation):
        shell = Terminal(command, self.place / "work", self.environment)
        try:
            shell.type(preparation + "; echo rea''dy\n")
            shell.wait_for("ready\n")
            for typed, completed in LINES:
                with self.subTest(typed):
                    shell.type(typed + "\t")
                    shell.wait_for(completed)
                shell.type("\x15")  # Ctrl-U: the line is empty again.
        finally:
            shell.end()

    @unittest.skipUnless(SHELL == "bash", "of bash")
    def test_bash_completes(self):
        self.completed_in(["bash", "--norc", "--noprofile", "-i"], "source <(troupe completions bash)")

    @unittest.skipUnless(SHELL == "zsh", "of zsh")
    def test_zsh_completes(self):
        self.completed_in(["zsh", "-f", "-i"], "autoload -Uz compinit && compinit -D -u && source <(troupe completions zsh)")

    @unittest.skipUnless(SHELL == "zsh", "of zsh")
    def test_zsh_completes_with_the_script_as_an_installed_function(self):
        functions = self.place / "functions"
        functions.mkdir()
        (functions / "_troupe").write_text(self.script())
        self.completed_in(["zsh", "-f", "-i"], f"fpath=({functions} $fpath) && autoload -Uz compinit && compinit -D -u")

    @unittest.skipUnless(SHELL == "fish", "of fish")
    def test_fish_completes(self):
        for typed, completed in LINES:
            asked = f"troupe completions fish | source; complete -C '{typed}'"
            done = subprocess.run(["fish", "--no-config", "-c", asked], cwd=self.place / "work", env=self.environment, check=True, capture_output=True,
                                  text=True, timeout=LIMIT_S)
            words = [line.split("\t")[0].rstrip("/") for line in done.stdout.splitlines()]
            self.assertIn(completed.split()[-1], words, typed)
            self.assertNotIn("rubbish", words)

    def script(self):
        return subprocess.run([PROGRAM, "completions", SHELL], check=True, capture_output=True, text=True).stdout

    def test_the_shell_finds_no_error_in_the_script(self):
        done = subprocess.run([SHELL, "-n"], input=self.script(), capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_another_shell_is_an_error_that_names_those_there_are(self):
        done = subprocess.run([PROGRAM, "completions", "bsh"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("completions takes bash, zsh or fish, not bsh; did you mean bash?", done.stderr)


if __name__ == "__main__":
    if not shutil.which(SHELL):
        sys.exit(f"{SHELL} is missing: ./dev test installs it")
    unittest.main(argv=sys.argv[:1])
