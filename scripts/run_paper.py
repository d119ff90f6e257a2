"""Compares AdaNet, as its paper has it, with logistic regression and tuned networks on pairs of Fashion-MNIST, and prints the table.

Usage: run_paper.py --program ADANET_PAPER [--results FILE] [--jobs N] [--folds N] [PAIR...]      (./dev paper builds the program first)

Each pair and fold is a run of the program, `--jobs` of them side by side. What they print is kept in the file of results, so that a
comparison that was interrupted goes on: delete the file to begin anew. The exit status is 1 unless AdaNet is above logistic regression in
each row, and in at most one row further below the tuned networks than the spread over the folds.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

PAIRS = ["T-shirt-shirt", "pullover-coat", "pullover-shirt", "coat-shirt", "sneaker-ankle boot"]
METHODS = {"adanet": "AdaNet", "cvx": "AdaNet.CVX", "logistic": "logistic regression", "network": "tuned network"}


def known_results(path):
    """The lines of a file of results by (pair, fold, method), without those of folds that were interrupted."""
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    found = {(one["pair"], one["fold"], one["method"]): one for one in lines}
    whole = {(pair, fold) for pair, fold, _ in found if all((pair, fold, method) in found for method in METHODS)}
    return {key: one for key, one in found.items() if key[:2] in whole}


def compare(options, pair, fold):
    """The lines of a run of the program."""
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run([options.program, "--pair", pair, "--fold", str(fold), "--folds", str(options.folds), "--work", work],
                              text=True, capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"{pair}, fold {fold}: status {done.returncode}:\n{done.stderr or done.stdout}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def run_all(options):
    results = known_results(options.results)
    wanted = [(pair, fold) for fold in range(options.folds) for pair in options.pairs if (pair, fold, "adanet") not in results]
    options.results.parent.mkdir(parents=True, exist_ok=True)
    options.results.write_text("".join(json.dumps(one) + "\n" for one in results.values()))
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, options.results.open("a") as file:
        runs = {pool.submit(compare, options, *one): one for one in wanted}
        for count, run in enumerate(concurrent.futures.as_completed(runs), 1):
            lines = run.result()
            for one in lines:
                results[one["pair"], one["fold"], one["method"]] = one
                file.write(json.dumps(one) + "\n")
            file.flush()
            print(f"{count} of {len(wanted)} after {(time.monotonic() - began) / 60:.1f} min: {runs[run][0]}, fold {runs[run][1]}: "
                  + ", ".join(f"{METHODS[one['method']]} {one['test']:.4f}" for one in lines), file=sys.stderr, flush=True)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path("build/paper.jsonl"), help="build/paper.jsonl unless said")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs side by side; the number of processors unless said")
    parser.add_argument("--folds", type=int, default=3, help="how many (3)")
    parser.add_argument("pairs", nargs="*", metavar="PAIR", help=", ".join(PAIRS) + "; all unless said")
    options = parser.parse_args()
    options.program = options.program.resolve()
    options.pairs = options.pairs or PAIRS
    if unknown := set(options.pairs) - set(PAIRS):
        parser.error(f"there is no pair {', '.join(sorted(unknown))}: they are {', '.join(PAIRS)}")
    if options.folds < 2 or options.jobs < 1:
        parser.error(f"--folds must be at least 2 and --jobs at least 1, not {options.folds} and {options.jobs}")
    results = run_all(options)

    wrong, below = [], []
    print("| pair | " + " | ".join(METHODS.values()) + " |\n| --- |" + " --- |" * len(METHODS))
    for pair in options.pairs:
        tests = {method: [results[pair, fold, method]["test"] for fold in range(options.folds)] for method in METHODS}
        mean = {method: statistics.fmean(all_folds) for method, all_folds in tests.items()}
        print(f"| {pair} | " + " | ".join(f"{mean[method]:.4f} ± {statistics.stdev(tests[method]):.4f}" for method in METHODS) + " |")
        if mean["adanet"] <= mean["logistic"]:
            wrong.append(f"{pair}: AdaNet is not above logistic regression")
        if mean["adanet"] < mean["network"] - statistics.stdev(tests["adanet"]):
            below.append(pair)
    if len(below) > 1:
        wrong.append("AdaNet is further below the tuned networks than the spread over the folds on " + ", ".join(below))
    seconds = sum(one["seconds"] for one in results.values())
    networks = sum(one["trained"] for key, one in results.items() if key[2] == "network")
    print(f"{networks} networks and as many subnetworks were trained; all runs together took {seconds / 60:.1f} min", file=sys.stderr)
    for what in wrong:
        print(what, file=sys.stderr)
    sys.exit(1 if wrong else 0)


main()
