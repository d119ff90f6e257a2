#!/usr/bin/env python3
"""Measures this tree beside another commit of it: ./dev bench --beside COMMIT [--rounds N] NAME...

The commit is built in a separate work tree, build/beside/HASH. Then processes of both alternate, so that other load on the
machine affects both. A row is a value that a benchmark prints as `ours`; its ratio is this tree's value divided by the commit's,
inverted for times and sizes: above 1 is better. `inference` is the latency of a call of an exported model. Each row of it and of
train_step is measured by several pairs of processes that plan once and take turns: where memory lies stays the same for the life
of a process and changes a rate by several per cent.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TURN_S = "0.2"  # Seconds for one row of train_step.
RULES = ["momentum", "adam"]
SIDES = {"train_step": "train_step_side", "inference": "inference_side"}  # Benchmarks that are a process for each row.
INFERENCE_BATCHES = [1, 128]
INFERENCE_S = 0.2  # Seconds of a turn of inference.
PAIRS = 7  # Pairs of processes for one row of train_step.


def build(tree, names):
    """Builds these benchmarks for release in `tree`; returns their paths."""
    directory = tree / "build" / "release"
    if not (directory / "build.ninja").exists():
        subprocess.run(["meson", "setup", str(directory), str(tree), "--buildtype=release"], check=True, stdout=subprocess.DEVNULL)
    targets = ["tests/bench/" + (SIDES.get(n) or "bench_" + n) for n in names]
    environment = {**os.environ, "CCACHE_BASEDIR": str(tree)}
    subprocess.run(["ninja", "-C", str(directory), *targets], check=True, stdout=sys.stderr, env=environment)
    return directory / "tests" / "bench"


def work_tree(commit):
    name = subprocess.run(["git", "rev-parse", "--short=12", commit + "^{commit}"], cwd=ROOT, check=True, capture_output=True, text=True)
    tree = ROOT / "build" / "beside" / name.stdout.strip()
    if not tree.exists():
        subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(tree), commit], cwd=ROOT, check=True)
    return tree


def alternating(round_number):
    """The order of a round: 0 is the commit, 1 this tree; the first alternates."""
    return (0, 1) if round_number % 2 == 0 else (1, 0)


def whole_runs(programs, rounds):
    """{(row, unit): ([the commit's], [ours])} of benchmarks that are processes of their own. Ctrl-C ends it with what there is."""
    rows = {}
    try:
        for n in range(rounds):
            for side in alternating(n):
                output = subprocess.run([programs[side], "--json"], check=True, capture_output=True, text=True).stdout
                for line in map(json.loads, filter(None, output.splitlines())):
                    rows.setdefault((f"{line['bench']} {line['case']}", line["unit"]), ([], []))[side].append(line["ours"])
    except KeyboardInterrupt:
        print(f"interrupted in round {n + 1} of {rounds}; the rows are of those before it", file=sys.stderr, flush=True)
    return rows


class Side:
    """One process of train_step_side, which has planned a row."""

    def __init__(self, program, row, rule, file):
        self.process = subprocess.Popen([program, row, rule, "1", "20", file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def rate(self):
        self.process.stdin.write(f"ours {TURN_S}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def turns(programs, rounds):
    rows = {}
    names = subprocess.run([programs[1]], check=True, capture_output=True, text=True).stdout.splitlines()
    with tempfile.TemporaryDirectory() as directory:
        for row in names:
            for rule in RULES:
                rates = ([], [])
                for pair in range(min(PAIRS, rounds)):
                    sides = [Side(p, row, rule, os.path.join(directory, "start")) for p in programs]
                    for side in sides:
                        side.rate()
                    for n in range(pair, rounds, PAIRS):
                        for i in alternating(n):
                            rates[i].append(sides[i].rate())
                    for side in sides:
                        side.end()
                rows[f"train_step {row} {rule}", "steps/s"] = rates
                show(f"train_step {row} {rule}", "steps/s", rates)
    return rows


class Caller:
    """One process of inference_side, which has opened an export."""

    def __init__(self, program, row, batch, place):
        os.mkdir(place)
        self.process = subprocess.Popen([program, row, str(batch), place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()
        self.median_of(20)
        self.calls = max(20, int(INFERENCE_S / self.median_of(20)))

    def median_of(self, calls):
        self.process.stdin.write(f"{calls}\n")
        self.process.stdin.flush()
        return statistics.median(json.loads(self.process.stdout.readline()))

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def latencies(programs, rounds):
    """Medians of the seconds of a call; each model with each number of rows."""
    rows = {}
    for row in subprocess.run([programs[1]], check=True, capture_output=True, text=True).stdout.splitlines():
        for batch in INFERENCE_BATCHES:
            times = ([], [])
            for pair in range(min(PAIRS, rounds)):
                with tempfile.TemporaryDirectory() as directory:
                    sides = [Caller(p, row, batch, os.path.join(directory, str(i))) for i, p in enumerate(programs)]
                    for n in range(pair, rounds, PAIRS):
                        for i in alternating(n):
                            times[i].append(1e6 * sides[i].median_of(sides[i].calls))
                    for side in sides:
                        side.end()
            rows[f"inference {row} b{batch}", "us"] = times
            show(f"inference {row} b{batch}", "us", times)
    return rows


def ratios_of(unit, rates):
    more_is_better = "/s" in unit
    return [b / a if more_is_better else a / b for a, b in zip(*rates) if a > 0 and b > 0]


def show(row, unit, rates):
    ratios = ratios_of(unit, rates)
    if ratios:
        print(f"{row:<52} {unit:<9} {statistics.median(rates[0]):12.6g} {statistics.median(rates[1]):12.6g}  "
              f"{statistics.median(ratios):.3f} ({min(ratios):.3f}, {max(ratios):.3f})", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench --beside", description="Measures this tree beside another commit of it.")
    parser.add_argument("commit")
    parser.add_argument("names", nargs="+", metavar="NAME", help="benchmarks that both have; ./dev bench lists ours")
    parser.add_argument("--rounds", type=int, default=21)
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds must be at least 1, not {options.rounds}")
    places = [build(work_tree(options.commit), options.names), build(ROOT, options.names)]
    print(f"{'row':<52} {'unit':<9} {options.commit[:12]:>12} {'this tree':>12}  ratio (min, max), {options.rounds} rounds", flush=True)
    medians = []
    for name in options.names:
        if name == "train_step":
            rows = turns([str(p / SIDES[name]) for p in places], options.rounds)
        elif name == "inference":
            rows = latencies([str(p / SIDES[name]) for p in places], options.rounds)
        else:
            rows = whole_runs([str(p / ("bench_" + name)) for p in places], options.rounds)
            for (row, unit), rates in rows.items():
                show(row, unit, rates)
        medians += [statistics.median(r) for (_, unit), rates in rows.items() if (r := ratios_of(unit, rates))]
    print(f"geometric mean of {len(medians)} rows: {math.exp(statistics.fmean(map(math.log, medians))):.3f}")


if __name__ == "__main__":
    main()
