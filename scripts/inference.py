"""Latency of a call of an exported model, beside onnxruntime on the ONNX file of the same export; one thread each.

Usage: python scripts/inference.py [--json] [--rounds N]      (./dev bench --inference builds the rest first)

Both sides call the same model on the same rows in turn, round after round: ours in a process of its own, onnxruntime in this one by
`InferenceSession.run`, as its users call it from Python, whose binding is part of its time. A row's ratio is ours to theirs of the median
latency of a round; less is better.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[1]
OURS = ROOT / "build" / "release" / "tests" / "bench" / "inference_side"
ROWS = (("10-16-2", 1, 0.3), ("784-256-128-10", 1, 0.8), ("784-256-128-10", 128, 1.0), ("LeNet", 1, 1.0))
SECONDS, WARM_CALLS = 0.3, 20


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


class Ours:
    def __init__(self, row, rows, directory):
        command = [str(OURS), row, str(rows), str(directory)]
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(self.process.args)} ended with {self.process.wait()}")
        return line

    def times(self, calls):
        print(calls, file=self.process.stdin, flush=True)
        return json.loads(self.answer())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Theirs:
    def __init__(self, rows, directory):
        self.session = session_of(directory / "model.onnx")
        given = self.session.get_inputs()[0]
        x = numpy.fromfile(directory / "x.f32", dtype=numpy.float32).reshape([rows] + given.shape[1:])
        self.inputs = {given.name: x}

    def times(self, calls):
        run, inputs, clock = self.session.run, self.inputs, time.perf_counter
        all_times = []
        for _ in range(calls):
            start = clock()
            run(None, inputs)
            all_times.append(clock() - start)
        return all_times


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def measure(row, rows, rounds):
    with tempfile.TemporaryDirectory() as work:
        sides = [Ours(row, rows, pathlib.Path(work)), None]
        try:
            sides[1] = Theirs(rows, pathlib.Path(work))
            calls = []
            for side in sides:
                side.times(WARM_CALLS)
                calls.append(max(50, int(SECONDS / statistics.median(side.times(WARM_CALLS)))))
            p50, p99 = ([], []), ([], [])
            for turn in range(rounds):
                for i in (0, 1) if turn % 2 == 0 else (1, 0):
                    times = sides[i].times(calls[i])
                    p50[i].append(percentile(times, 0.5))
                    p99[i].append(percentile(times, 0.99))
        finally:
            sides[0].end()
    ratios = [ours / theirs for ours, theirs in zip(*p50)]
    return {"ours_p50_us": 1e6 * statistics.median(p50[0]), "theirs_p50_us": 1e6 * statistics.median(p50[1]),
            "ours_p99_us": 1e6 * statistics.median(p99[0]), "theirs_p99_us": 1e6 * statistics.median(p99[1]),
            "ratio": statistics.median(ratios), "ratio_min": min(ratios), "ratio_max": max(ratios)}


def main():
    parser = argparse.ArgumentParser(prog="./dev bench --inference")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    for row, rows, wanted in ROWS:
        found = measure(row, rows, options.rounds)
        if options.json:
            print(json.dumps({"bench": "inference", "case": f"{row} b{rows}", "unit": "us", "reference_name": f"onnxruntime {onnxruntime.__version__}",
                              "wanted": wanted, **found}), flush=True)
        else:
            print(f"{row} b{rows}: p50 {found['ours_p50_us']:.1f} us, onnxruntime {onnxruntime.__version__} {found['theirs_p50_us']:.1f} us: "
                  f"ratio {found['ratio']:.3f} ({found['ratio_min']:.3f}, {found['ratio_max']:.3f}), wanted {wanted}; "
                  f"p99 {found['ours_p99_us']:.1f} us and {found['theirs_p99_us']:.1f} us", flush=True)


if __name__ == "__main__":
    main()
