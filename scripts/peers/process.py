"""A process that trains, and measures one of its variants on request (side.py)."""
import json
import os
import subprocess


class Side:
    """Pinned to the first `threads` processors, with the environment variables `held` beside this process's own."""

    def __init__(self, command, threads, held=None):
        environment = dict(os.environ, **(held or {}))
        pinned = ["taskset", "-c", ",".join(map(str, range(threads)))]
        self.process = subprocess.Popen(pinned + command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.losses = {}

    def begin(self):
        """Its variants, with the loss that each has reached."""
        self.losses = json.loads(self.answer())

    def rate(self, variant, seconds):
        print(variant, seconds, file=self.process.stdin, flush=True)
        return float(self.answer())

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(self.process.args)} ended with {self.process.wait()}")
        return line

    def end(self):
        self.process.stdin.close()
        self.process.wait()
