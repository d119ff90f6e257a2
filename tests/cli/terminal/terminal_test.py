"""The program under a terminal of a given size: what it prints fits. Usage: terminal_test.py PROGRAM"""
import fcntl
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

PROGRAM = os.path.abspath(sys.argv.pop())
PATIENCE_S = 60  # Without a byte for so long a program is taken to hang.
CONFIG = """
[model]
hidden_units = [16]
classes = 10
vocabulary = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]
confusion_matrix = true
[input]
data = "data"
batch_size = 32
[run]
model_dir = "model"
seed = 3
save_checkpoints_steps = 8
log_step_count_steps = 4
[evaluate]
batch_size = 32
throttle_secs = 0
"""


def write_images(directory, name, count):
    """Images that are told apart by the place of a bright band, in the format of Fashion-MNIST."""
    labels = bytes(i * 7 % 10 for i in range(count))
    pixels = b"".join(bytes(200 if p // 78 == label else (i * 31 + p * 17) % 40 for p in range(784))
                      for i, label in enumerate(labels))
    (directory / f"{name}-images-idx3-ubyte").write_bytes(struct.pack(">4I", 0x803, count, 28, 28) + pixels)
    (directory / f"{name}-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 0x801, count) + labels)


class Terminal:
    """The program in a terminal of its own, whose Ctrl-C reaches it as it does from a keyboard."""

    def __init__(self, directory, columns, arguments, environment):
        self.output = b""
        self.child, self.keyboard = pty.fork()
        if self.child == 0:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
                os.chdir(directory)
                os.execve(PROGRAM, [PROGRAM, *arguments], environment)
            finally:
                os._exit(127)

    def read_some(self):
        if not select.select([self.keyboard], [], [], PATIENCE_S)[0]:
            os.kill(self.child, 9)
            raise AssertionError(f"silent for {PATIENCE_S} s after {self.output!r}")
        try:
            more = os.read(self.keyboard, 65536)
        except OSError:  # The other end is closed.
            more = b""
        self.output += more
        return bool(more)

    def wait_for(self, text):
        while text not in self.output:
            if not self.read_some():
                raise AssertionError(f"ended without {text!r}: {self.output!r}")

    def press(self, key):
        os.write(self.keyboard, key)

    def finish(self):
        while self.read_some():
            pass
        _, status = os.waitpid(self.child, 0)
        os.close(self.keyboard)
        return os.waitstatus_to_exitcode(status)


def lines_on(output):
    """What has stood in each line of the terminal: the lines that remain, and those that were drawn over."""
    text = output.decode().replace("\x1b[K", "").replace("\r\n", "\n")
    remaining = [line.rpartition("\r")[2] for line in text.split("\n")]
    return remaining, [shown for line in text.split("\n") for shown in line.split("\r")]


class ProgramUnderATerminal(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.directory = pathlib.Path(holder.name)
        (self.directory / "data").mkdir()
        write_images(self.directory / "data", "train", 256)
        write_images(self.directory / "data", "t10k", 64)
        (self.directory / "small.toml").write_text(CONFIG)

    def environment(self, more):
        kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        return {**kept, "TERM": "xterm", **more}

    def start(self, columns, *arguments, **more):
        return Terminal(self.directory, columns, arguments, self.environment(more))

    def show(self, columns, *arguments, **more):
        """The exit status and the lines that remain. No line, drawn over or not, is wider than the window."""
        terminal = self.start(columns, *arguments, **more)
        status = terminal.finish()
        remaining, shown = lines_on(terminal.output)
        width = int(more.get("COLUMNS", columns)) if more.get("COLUMNS", "1").isdigit() else columns
        for line in shown:
            self.assertLessEqual(len(line), width, terminal.output)
        return status, remaining

    def piped(self, *arguments, **more):
        return subprocess.run([PROGRAM, *arguments], cwd=self.directory, env=self.environment(more), text=True,
                              capture_output=True, timeout=PATIENCE_S)

    def test_a_narrow_window_has_evaluations_of_one_line_and_the_five_lowest_in_place_of_a_table(self):
        status, lines = self.show(40, "train", "--config", "small.toml", "--max-steps", "16")
        self.assertEqual(status, 0)
        evaluated = [line for line in lines if line.startswith("evaluated")]
        self.assertEqual([line[:17] for line in evaluated], ["evaluated step 8:", "evaluated step 16"])
        for line in evaluated:
            self.assertRegex(line, r"^evaluated step \d+: accuracy [\d.]+(, loss [\d.]+)?$")
            self.assertFalse(lines[lines.index(line) + 1].startswith(" "))
        result = " ".join(" ".join(lines).split())
        self.assertRegex(result, r"finished at step 16, 16 steps in [\d.]+ s: "
                                 r"accuracy [\d.]+, average_loss [\d.]+, loss [\d.]+ "
                                 r"confusion_matrix \[10, 10\]: lowest recall ([\w/-]+( boot)? [\d.]+,? ?){5}$")

    def test_a_wide_window_has_whole_evaluations_and_the_table(self):
        status, lines = self.show(150, "train", "--config", "small.toml", "--max-steps", "8")
        self.assertEqual(status, 0)
        evaluated = [line for line in lines if line.startswith("evaluated")]
        self.assertEqual(len(evaluated), 1)
        self.assertRegex(evaluated[0], r"^evaluated step 8: accuracy [\d.]+, average_loss [\d.]+, loss [\d.]+; "
                                       r"lowest recall ([\w/-]+( boot)? [\d.]+(, )?){3}$")
        table = lines.index("confusion_matrix: labels in rows, predictions in columns")
        self.assertEqual(lines[table + 1].split()[:3], ["T-shirt/top", "Trouser", "Pullover"])
        self.assertTrue(lines[table + 1].endswith("  Ankle boot  recall"))
        self.assertTrue(lines[table + 11].startswith("  Ankle boot  "))

    def test_an_error_is_wrapped_at_words(self):
        wrong = ("train", "--config", "small.toml", "--set", "optimizer.rate=fast", "--max-steps", "8")
        status, lines = self.show(30, *wrong)
        self.assertEqual(status, 2)
        whole = self.piped(*wrong).stderr
        self.assertGreater(max(map(len, whole.splitlines())), 30)
        self.assertEqual(" ".join(lines).split(), whole.split())
        self.assertTrue(lines[0].startswith("error: "))
        self.assertTrue(lines[1].startswith("  "))

    def test_COLUMNS_is_the_width_and_what_is_no_number_is_warned_of_once(self):
        _, lines = self.show(150, "train", "--config", "small.toml", "--max-steps", "8", COLUMNS="40")
        self.assertIn("confusion_matrix [10, 10]: lowest recall", " ".join(" ".join(lines).split()))
        _, lines = self.show(150, "evaluate", "--config", "small.toml", COLUMNS="wide")
        warnings = [line for line in lines if line.startswith("warning: ")]
        self.assertEqual(warnings, ["warning: COLUMNS, the width of the window, must be a whole number of at least 1, "
                                    "not 'wide'; it is ignored"])
        self.assertIn("confusion_matrix: labels in rows, predictions in columns", lines)

    def test_elsewhere_lines_stay_whole_whatever_COLUMNS_is(self):
        told = self.piped("train", "--config", "small.toml", "--max-steps", "8", COLUMNS="20")
        self.assertEqual(told.stderr, "")
        self.assertRegex(told.stdout, r"\nevaluated step 8: accuracy [\d.]+, average_loss [\d.]+, loss [\d.]+; low.*\n")
        self.assertRegex(told.stdout, r"\nfinished at step 8, 8 steps in .* s: accuracy .*\n"
                                      r"confusion_matrix: labels in rows, predictions in columns\n")
        wrong = self.piped("train", "--config", "small.toml", "--set", "optimizer.rate=fast", COLUMNS="wide")
        self.assertRegex(wrong.stderr, r"^error: .*\n")
        self.assertNotIn("warning: ", wrong.stderr)

    def test_json_lines_stay_whole_in_a_terminal(self):
        terminal = self.start(20, "evaluate", "--config", "small.toml", "--json", "--set", "run.model_dir=none")
        self.assertEqual(terminal.finish(), 2)
        self.assertIn(b'{"event":"failed","category":"invalid_argument",', terminal.output)

    def test_a_first_interrupt_says_what_it_waits_for_and_the_job_ends_saved(self):
        terminal = self.start(60, "train", "--config", "small.toml", "--max-steps", "100000000",
                              "--set", "run.save_checkpoints_steps=100000000")
        terminal.wait_for(b"loss ")
        terminal.press(b"\x03")
        terminal.wait_for(b"program at once")
        self.assertEqual(terminal.finish(), 130)
        remaining, shown = lines_on(terminal.output)
        said = " ".join(" ".join(remaining).split())
        self.assertRegex(said, r"stopping by SIGINT once this is done: saving the state of step \d+ or of one soon "
                               r"after; .*the last calls of hooks a second signal ends the program at once; "
                               r"(the last state that is saved is that of step 0|this run has saved nothing yet) ")
        stopped = re.search(r"stopped by SIGINT at step (\d+), .* saved as model/model\.ckpt-(\d+): the same", said)
        self.assertTrue(stopped, said)
        self.assertEqual(stopped[1], stopped[2])
        self.assertGreater(int(stopped[1]), 0)
        for line in shown:
            self.assertLessEqual(len(line.removesuffix("^C")), 60)


if __name__ == "__main__":
    unittest.main()
