"""Steps a second of two of our replicas beside DistributedDataParallel of torch on gloo, for the same network and rows of a batch.

Usage: python scripts/peers/replicas.py [--json] [--rounds N] [PART OF A ROW'S NAME]...      (./dev bench --peers replicas builds the rest first)

Each side has two processors, a replica on each: ours are threads of one process, torch's are two processes. torch's side begins with our
starting values and trains on our batches; nothing is measured unless it comes to the loss of our step. Ours is a whole job on data of its own.
The sides take turns of about a second.
"""
import argparse
import pathlib
import sys
import tempfile

from process import Side, in_turns, print_rates

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCHES = ROOT / "build" / "release" / "tests" / "bench"
ROWS = ["784-256-128-10 b128", "LeNet b64", "LSTM 2x128 b32 t32", "784-1024-1024-10 b256"]
COMPARED_STEPS = 10
TOLERANCE = 1e-3


def measure(row, rounds):
    """Steps a second in each round: ours, torch's."""
    with tempfile.TemporaryDirectory() as work:
        described = [row, "adam", "1", str(COMPARED_STEPS), f"{work}/start.safetensors"]
        step = Side([str(BENCHES / "train_step_side")] + described, 1)  # Writes the start, and says what loss is right.
        step.begin()
        step.end()
        sides = [Side([str(BENCHES / "replicas_side"), row], 2), Side([sys.executable, "-B", str(ROOT / "scripts/peers/ddp_side.py")] + described, 2)]
        try:
            for side in sides:
                side.begin()
            expected, reached = step.losses["ours"], sides[1].losses["torch-DDP"]
            if not abs(reached - expected) <= TOLERANCE * abs(expected):
                raise RuntimeError(f"{row}: after {COMPARED_STEPS} steps the loss is {reached:.7g} of torch and {expected:.7g} ours")
            return in_turns(sides, ("ours", "torch-DDP"), rounds)
        finally:
            for side in sides:
                side.end()


def main():
    parser = argparse.ArgumentParser(prog="./dev bench --peers replicas")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("rows", nargs="*")
    options = parser.parse_args()
    for row in ROWS:
        if options.rows and not any(part in row for part in options.rows):
            continue
        ours, theirs = measure(row, options.rounds)
        print_rates("replicas", row, "torch DDP", ours, theirs, options.json)


if __name__ == "__main__":
    main()
