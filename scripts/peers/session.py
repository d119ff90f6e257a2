"""Runs a second of our session beside TensorFlow's MonitoredSession, around one training step of a network so small that only the way counts.

Usage: python scripts/peers/session.py [--json] [--rounds N]      (./dev bench --peers session builds the rest first)

Both make steps of the same network from the same values on the same batches, and come to the same loss before anything is measured. A run of
TensorFlow's is one step; ours makes as many as it is asked for, so that 1,000 steps are one run of ours and 1,000 of theirs. The processes take
turns of about a second on two processors.
"""
import argparse
import json
import pathlib
import statistics
import sys

from process import Side

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = ROOT / "build" / "release" / "tests" / "bench" / "session_side"
COMPARED_STEPS = 10
TOLERANCE = 1e-4
SECONDS = 0.7
# Kinds of ours with those of TensorFlow's. One hook of theirs has the calls of our hooks and of our run hooks.
ROWS = {"run of 1": ("run", "run"), "run of 1, a hook": ("hook", "hook"), "run of 1, a run hook": ("run_hook", "hook"),
        "1,000 steps": ("runs_of_1000", "run")}


def measure(rounds):
    """Steps a second of each row in each round: ours, TensorFlow's."""
    told = {row: ([], []) for row in ROWS}
    sides = [Side([str(OURS), str(COMPARED_STEPS)], 2), Side([sys.executable, "-B", str(ROOT / "scripts/peers/session_side.py"), str(COMPARED_STEPS)], 2)]
    try:
        for side in sides:
            side.begin()
        losses = [loss for side in sides for loss in side.losses.values()]
        if max(losses) - min(losses) > TOLERANCE * max(losses):
            raise RuntimeError(f"after {COMPARED_STEPS} steps the losses are {sides[0].losses} ours and {sides[1].losses} TensorFlow's")
        for n in range(rounds):
            for row, kinds in ROWS.items():
                for i in (0, 1) if n % 2 == 0 else (1, 0):
                    told[row][i].append(sides[i].rate(kinds[i], SECONDS))
    finally:
        for side in sides:
            side.end()
    return told


def main():
    parser = argparse.ArgumentParser(prog="./dev bench --peers session")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for row, (ours, theirs) in measure(options.rounds).items():
        ratios = [a / b for a, b in zip(ours, theirs)]
        medians = statistics.median(ours), statistics.median(theirs)
        if options.json:
            print(json.dumps({"bench": "session", "case": row, "unit": "steps/s", "ours": medians[0], "reference": medians[1],
                              "reference_name": "tensorflow", "ratio": statistics.median(ratios), "ratio_min": min(ratios), "ratio_max": max(ratios)}))
        else:
            print(f"session, {row}: {medians[0]:,.0f} steps/s, tensorflow {medians[1]:,.0f}, {statistics.median(ratios):.1f} times as fast "
                  f"({min(ratios):.1f}, {max(ratios):.1f})")


if __name__ == "__main__":
    main()
