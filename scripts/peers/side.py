"""The common part of the peers' processes: reads our starting values, and answers the driver."""
import json
import sys
import time

BATCHES = 16


class Task:
    """One row: its name, its rule, the starting values by our names, and the batches."""

    def __init__(self):
        from safetensors.numpy import load_file  # Only sides with files of ours have it.

        self.row, self.rule, threads, steps, path = sys.argv[1:]
        self.threads, self.steps = int(threads), int(steps)
        tensors = load_file(path)
        self.x = [tensors.pop(f"batch {i}/x") for i in range(BATCHES)]
        self.y = [tensors.pop(f"batch {i}/y") for i in range(BATCHES)]
        self.variables = tensors


def serve(steps, variants):
    """`variants`: by name, a function that does n steps and returns the last loss, and its least number of steps. Prints the loss of each
    after the first steps, then for each line "variant seconds" the steps a second over about that time."""
    real = {}
    losses = {}
    for name, (run, _) in variants.items():
        losses[name] = float(run(steps))
    sys.stdout.write(json.dumps(losses) + "\n")
    sys.stdout.flush()
    for line in sys.stdin:
        name, seconds = line.split()
        run, granule = variants[name]
        if name not in real:
            real[name] = warmed(run, granule)
        n = max(1, round(real[name] * float(seconds) / granule)) * granule
        start = time.perf_counter()
        run(n)
        real[name] = n / (time.perf_counter() - start)
        print(real[name], flush=True)


def warmed(run, granule):
    """Steps a second, roughly, once everything is compiled and allocated."""
    run(granule)
    n = granule
    while True:
        start = time.perf_counter()
        run(n)
        took = time.perf_counter() - start
        if took > 0.1:
            return n / took
        n *= 2
