"""Seconds of a search of ours beside AdaNet's own, on Fashion-MNIST.

Usage: python scripts/peers/search.py [--json] [--rounds N] [--ticks N]      (./dev bench --peers search builds the rest first)

Both search three iterations of 1,000 ticks of 128 images. Each iteration trains two dense networks of width 128, one as deep as the newest
member and one a layer deeper, from one layer on, and an ensemble of each with learned weights. Processes take turns. Ours counts from the
start of the process, with its evaluations of the test data; AdaNet counts from the call of train, and does not evaluate. Nothing is said
unless both end at the same step and come to about the same accuracy. Processor seconds are of the same stretch, in all threads: on a busy
machine their ratio says more.
"""
import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = ROOT / "build" / "release" / "cli" / "troupe"
DATA = "/usr/share/datasets/fashion-mnist"
ITERATIONS, BATCH_SIZE, WIDTH, RATE, LAMBDA = 3, 128, 128, 0.001, 0.005
ACCURACY_TOLERANCE = 0.03
WANTED_RATIO = 6


def processor_seconds():
    """Those of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ours(ticks, folder):
    settings = {"search.generator.initial_num_layers": 1, "search.generator.layer_size": WIDTH, "search.generator.optimizer.rate": RATE,
                "search.ensemblers[0].optimizer.rate": RATE, "search.ensemblers[0].adanet_lambda": LAMBDA, "save_checkpoints_steps": ticks}
    command = [OURS, "search", "--config", ROOT / "examples/fashion_mnist_search.toml", "--model-dir", folder, "--data", DATA, "--json",
               "--max-iterations", str(ITERATIONS), "--max-iteration-steps", str(ticks), "--batch-size", str(BATCH_SIZE)]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    start, spent = time.perf_counter(), processor_seconds()
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    seconds, spent = time.perf_counter() - start, processor_seconds() - spent
    end = json.loads(output.splitlines()[-1])
    if end["event"] != "finished":
        raise RuntimeError(f"the search ends with {end}")
    return {"seconds": seconds, "processor_seconds": spent, "global_step": end["steps_run"], "accuracy": end["metrics"]["accuracy"],
            "iteration": end["search"]["iteration"]}


def adanets(ticks, folder):
    command = [sys.executable, "-B", ROOT / "scripts/peers/adanet_side.py", DATA, folder] + list(
        map(str, (ticks, ITERATIONS, BATCH_SIZE, WIDTH, RATE, LAMBDA)))
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if ended.returncode:
        raise RuntimeError(f"AdaNet's side ended with {ended.returncode}:\n{ended.stderr[-4000:]}")
    return json.loads(ended.stdout.splitlines()[-1])


def measure(ticks, rounds):
    """What each side tells of each round."""
    told = {ours: [], adanets: []}
    for n in range(rounds):
        for side in (ours, adanets) if n % 2 == 0 else (adanets, ours):
            with tempfile.TemporaryDirectory() as folder:
                told[side].append(side(ticks, f"{folder}/run"))
        mine, theirs = told[ours][-1], told[adanets][-1]
        if any(mine[key] != theirs[key] for key in ("global_step", "iteration")):
            raise RuntimeError(f"the searches end elsewhere: {mine} ours, {theirs} AdaNet's")
        if abs(mine["accuracy"] - theirs["accuracy"]) > ACCURACY_TOLERANCE:
            raise RuntimeError(f"the accuracy is {mine['accuracy']:.4f} ours and {theirs['accuracy']:.4f} AdaNet's")
    return told[ours], told[adanets]


def main():
    parser = argparse.ArgumentParser(prog="./dev bench --peers search")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ticks", type=int, default=1000)
    options = parser.parse_args()
    mine, theirs = measure(options.ticks, options.rounds)
    ratios, spent_ratios = ([b[key] / a[key] for a, b in zip(mine, theirs)] for key in ("seconds", "processor_seconds"))
    medians, spent, accuracies = ([statistics.median(r[key] for r in of_one) for of_one in (mine, theirs)]
                                  for key in ("seconds", "processor_seconds", "accuracy"))
    case = f"{ITERATIONS} x {options.ticks:,} ticks"
    if options.json:
        print(json.dumps({"bench": "search", "case": case, "unit": "s", "ours": medians[0], "reference": medians[1], "reference_name": "adanet",
                          "ratio": statistics.median(ratios), "ratio_min": min(ratios), "ratio_max": max(ratios),
                          "processor": spent[0], "reference_processor": spent[1], "processor_ratio": statistics.median(spent_ratios),
                          "accuracy": accuracies[0], "reference_accuracy": accuracies[1]}))
    else:
        print(f"search, {case}: {medians[0]:.2f} s, adanet {medians[1]:.2f} s, {statistics.median(ratios):.1f} times as fast "
              f"({min(ratios):.1f}, {max(ratios):.1f}); wanted {WANTED_RATIO} times\n"
              f"  processor {spent[0]:.2f} s, adanet {spent[1]:.2f} s, {statistics.median(spent_ratios):.1f} times"
              f"; accuracy {accuracies[0]:.4f}, adanet {accuracies[1]:.4f}")


if __name__ == "__main__":
    main()
