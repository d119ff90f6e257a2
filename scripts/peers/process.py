"""Processes that train and measure one of their variants on request (side.py): ours beside a peer's, in turns."""
import json
import os
import statistics
import subprocess

SECONDS = 0.7


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


def in_turns(sides, variants, rounds):
    """The rates of a variant of each side, round by round; each round begins with another side."""
    told = [[] for _ in sides]
    for n in range(rounds):
        order = range(len(sides)) if n % 2 == 0 else reversed(range(len(sides)))
        for i in order:
            told[i].append(sides[i].rate(variants[i], SECONDS))
    return told


def print_rates(bench, case, peer, ours, theirs, as_json):
    """The medians of both, and our rate as a multiple of the peer's in the same round: median, least, greatest."""
    ratios = [a / b for a, b in zip(ours, theirs)]
    medians, ratio = (statistics.median(ours), statistics.median(theirs)), statistics.median(ratios)
    if as_json:
        print(json.dumps({"bench": bench, "case": case, "unit": "steps/s", "ours": medians[0], "reference": medians[1], "reference_name": peer,
                          "ratio": ratio, "ratio_min": min(ratios), "ratio_max": max(ratios)}), flush=True)
    else:
        print(f"{bench}, {case}: {medians[0]:,.0f} steps/s, {peer} {medians[1]:,.0f}, {ratio:.2f} times as fast "
              f"({min(ratios):.2f}, {max(ratios):.2f})", flush=True)
