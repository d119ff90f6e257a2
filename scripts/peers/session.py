"""Runs a second of our session beside TensorFlow's MonitoredSession, around one training step of a network so small that only the way counts.

Usage: python scripts/peers/session.py [--json] [--rounds N]      (./dev bench --peers session builds the rest first)

Both make steps of the same network from the same values on the same batches, and come to the same loss before anything is measured. A run of
TensorFlow's is one step; ours makes as many as it is asked for, so that 1,000 steps are one run of ours and 1,000 of theirs. The processes take
turns of about a second on two processors.
"""
import argparse
import pathlib
import sys

from process import Side, in_turns, print_rates

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = ROOT / "build" / "release" / "tests" / "bench" / "session_side"
COMPARED_STEPS = 10
TOLERANCE = 1e-4
# Kinds of ours with those of TensorFlow's. One hook of theirs has the calls of our hooks and of our run hooks.
ROWS = {"run of 1": ("run", "run"), "run of 1, a hook": ("hook", "hook"), "run of 1, a run hook": ("run_hook", "hook"),
        "1,000 steps": ("runs_of_1000", "run")}


def measure(rounds):
    """Steps a second of each row in each round: ours, TensorFlow's."""
    sides = [Side([str(OURS), str(COMPARED_STEPS)], 2), Side([sys.executable, "-B", str(ROOT / "scripts/peers/session_side.py"), str(COMPARED_STEPS)], 2)]
    try:
        for side in sides:
            side.begin()
        losses = [loss for side in sides for loss in side.losses.values()]
        if not max(losses) - min(losses) <= TOLERANCE * max(losses):
            raise RuntimeError(f"after {COMPARED_STEPS} steps the losses are {sides[0].losses} ours and {sides[1].losses} TensorFlow's")
        return {row: in_turns(sides, variants, rounds) for row, variants in ROWS.items()}
    finally:
        for side in sides:
            side.end()


def main():
    parser = argparse.ArgumentParser(prog="./dev bench --peers session")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for row, (ours, theirs) in measure(options.rounds).items():
        print_rates("session", row, "tensorflow", ours, theirs, options.json)


if __name__ == "__main__":
    main()
