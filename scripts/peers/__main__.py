"""Training steps a second of ours, torch and JAX on the same models, data and starting values.

Usage: python scripts/peers [--json] [--threads 1|2] [PART OF A ROW'S NAME]...      (./dev bench --peers builds the rest first)

For each row three processes stand by, and take turns of about a second, round after round. Each one first trains some steps from
the same start on the same batches; nothing is measured unless they all come to the same loss.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = ROOT / "build" / "release" / "tests" / "bench" / "train_step_side"
COMPARED_STEPS = 10
TOLERANCE = 1e-3
ROUNDS, SECONDS = 5, 0.7


class Side:
    """A process that trains one row with one or several variants, and measures one on request."""

    def __init__(self, command, threads):
        self.name = command[-1] if command[0] != str(OURS) else "ours"
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), TORCHINDUCTOR_CACHE_DIR=str(ROOT / "build" / "peers" / "inductor"))
        environment["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1" if threads == 1 else ""
        pinned = ["taskset", "-c", ",".join(map(str, range(threads)))]
        self.process = subprocess.Popen(pinned + command, cwd=ROOT, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
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


def measure(row, rule, threads):
    """Rates of each variant, one for each round, ours first."""
    with tempfile.TemporaryDirectory() as work:
        start = pathlib.Path(work) / "start.safetensors"
        described = [row, rule, str(threads), str(COMPARED_STEPS), str(start)]
        sides = [Side([str(OURS)] + described, threads)]
        try:
            sides[0].begin()  # Ours writes the starting values for the others.
            for script in ("torch_side.py", "jax_side.py"):
                sides.append(Side([sys.executable, "-B", str(ROOT / "scripts" / "peers" / script)] + described, threads))
                sides[-1].begin()
            expected = sides[0].losses["ours"]
            for side in sides:
                for variant, loss in side.losses.items():
                    if not abs(loss - expected) <= TOLERANCE * abs(expected):
                        raise RuntimeError(f"{row}, {rule}: after {COMPARED_STEPS} steps the loss is {loss:.7g} of {variant} and {expected:.7g} ours")
            rates = {variant: [] for side in sides for variant in side.losses}
            for _ in range(ROUNDS):
                for side in sides:
                    for variant in side.losses:
                        rates[variant].append(side.rate(variant, SECONDS))
        finally:
            for side in sides:
                side.end()
    return rates


def summary(rates):
    """Medians, and the ratio of ours to the fastest peer in each round."""
    medians = {variant: statistics.median(of_one) for variant, of_one in rates.items()}
    fastest = max((v for v in medians if v != "ours"), key=medians.get)
    ratios = [a / b for a, b in zip(rates["ours"], rates[fastest])]
    return medians, fastest, statistics.median(ratios), min(ratios), max(ratios)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench --peers")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--threads", type=int, choices=(1, 2), action="append")
    parser.add_argument("rows", nargs="*")
    options = parser.parse_args()
    listed = subprocess.run([str(OURS)], check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()
    for threads in options.threads or (1, 2):
        for row in listed:
            if options.rows and not any(part in row for part in options.rows):
                continue
            for rule in ("momentum", "adam"):
                medians, fastest, ratio, least, greatest = summary(measure(row, rule, threads))
                if options.json:
                    print(json.dumps({"bench": "peers", "case": row, "optimizer": rule, "threads": threads, "unit": "steps/s", **medians,
                                      "reference_name": fastest, "ratio": ratio, "ratio_min": least, "ratio_max": greatest}), flush=True)
                else:
                    print(f"{row}, {rule}, {threads} thread{'s' if threads > 1 else ''}: ratio {ratio:.3f} ({least:.3f}, {greatest:.3f}) to {fastest}")
                    print("  " + "  ".join(f"{variant} {rate:.5g}" for variant, rate in medians.items()), flush=True)


if __name__ == "__main__":
    main()
