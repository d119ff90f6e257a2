"""Runs the tutorials of AdaNet, examples/tutorials/*.toml, and compares their accuracy on the test images with that of AdaNet 0.9.

Usage: run_tutorials.py --program TROUPE [--seeds N] [--first SEED] [NAME...]      (./dev tutorials builds the program first)

For each tutorial and each seed it prints the accuracy of the winner and the seconds of the search, then the means. The exit status is 1
unless each mean is at least that of AdaNet less 0.005, the means are in the order of the tutorials, and the convolutions are better than
the linear network in every seed.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# In the order of their accuracies, which are means over seeds of the notebooks' settings: adanet/examples/tutorials.
ADANET = {"linear": 0.841, "simple_dnn": 0.856, "simple_cnn": 0.902}
SLACK, LIMIT_S = 0.005, 600


def run(options, command, name, model_dir, *more):
    """The last JSON line of a command."""
    done = subprocess.run([options.program, command, "--config", ROOT / f"examples/tutorials/{name}.toml", "--model-dir", model_dir, "--json",
                           *more], text=True, capture_output=True, timeout=LIMIT_S)
    if done.returncode != 0:
        sys.exit(f"troupe {command} of {name} ended with status {done.returncode}:\n{done.stderr or done.stdout}")
    return json.loads(done.stdout.splitlines()[-1])


def accuracy_of(options, name, seed, work):
    model_dir = pathlib.Path(work) / f"{name}-{seed}"
    began = time.monotonic()
    found = run(options, "search", name, model_dir, "--set", f"run.seed={seed}")
    seconds = time.monotonic() - began
    accuracy = run(options, "evaluate", name, model_dir)["metrics"]["accuracy"]
    members = ", ".join(f"t{m['iteration']}_{m['builder']}" for m in found["search"]["winner"]["members"])
    print(f"{name:11} seed {seed}  {accuracy:.4f}  {seconds:5.1f} s  {members}", flush=True)
    return accuracy


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--seeds", type=int, default=5, help="how many (5)")
    parser.add_argument("--first", type=int, default=42, help="the first of them (42)")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ADANET) + "; all unless said")
    options = parser.parse_args()
    options.program = options.program.resolve()
    if unknown := set(options.names) - set(ADANET):
        parser.error(f"there is no tutorial {', '.join(sorted(unknown))}: they are {', '.join(ADANET)}")
    if options.seeds < 1:
        parser.error(f"--seeds must be at least 1, not {options.seeds}")
    seeds = range(options.first, options.first + options.seeds)
    found = {}
    with tempfile.TemporaryDirectory() as work:
        for name in ADANET:
            if not options.names or name in options.names:
                found[name] = [accuracy_of(options, name, seed, work) for seed in seeds]
    means = {name: statistics.fmean(all_seeds) for name, all_seeds in found.items()}
    wrong = [f"{name} is below {ADANET[name] - SLACK:.3f}" for name, mean in means.items() if mean < ADANET[name] - SLACK]
    if list(means.values()) != sorted(means.values()):
        wrong.append("the means are not in the order " + " < ".join(means))
    if {"linear", "simple_cnn"} <= set(found):
        wrong += [f"seed {seed}: linear is not below simple_cnn"
                  for seed, linear, cnn in zip(seeds, found["linear"], found["simple_cnn"]) if linear >= cnn]
    for name, mean in means.items():
        spread = f" ± {statistics.stdev(found[name]):.4f}" if len(seeds) > 1 else ""
        print(f"{name:11} mean     {mean:.4f}{spread}, AdaNet {ADANET[name]:.3f}")
    for what in wrong:
        print(what, file=sys.stderr)
    sys.exit(1 if wrong else 0)


main()
