"""Trains a short job, and has other programs read its files: a line for each check, then `N passed, N failed`.

Usage: python scripts/interop [--screenshot]      (./dev interop builds the program and the environment first)
"""
import argparse
import logging
import sys

import checkpoints_read
import descriptions_read
import event_writers
import killed_runs
import onnx_reads
import predictions_read
import program
import records_read
import screenshot
import tensorboard_reads
from checks import Checks

STEPS, SUMMARY, SAVE = 2000, 50, 250


def main():
    parser = argparse.ArgumentParser(prog="./dev interop")
    parser.add_argument("--screenshot", action="store_true", help="also make docs/tensorboard.png anew")
    options = parser.parse_args()

    logging.getLogger("tensorboard").setLevel(logging.ERROR)  # It logs every START that it obeys.
    run, work = program.fresh("run"), program.fresh("files")
    flags = program.settings(run, STEPS, save_summary_steps=SUMMARY, save_checkpoints_steps=SAVE)
    program.output("train", *flags)
    evaluated = list(range(SAVE, STEPS + 1, SAVE))
    checks = Checks()
    checks.stage(tensorboard_reads.tensorboard_reads_scalars, run)
    checks.stage(tensorboard_reads.tensorboard_reads_histograms, run)
    checks.stage(tensorboard_reads.tensorboard_reads_evaluations, run, evaluated)
    checks.stage(tensorboard_reads.tensorboard_reads_notes, run, [0] + evaluated)
    checks.stage(descriptions_read.tensorboard_reads_hyperparameters, run)
    checks.stage(descriptions_read.tensorboard_reads_the_graph, run)
    checks.stage(descriptions_read.a_directory_describes_itself, run)
    checks.stage(event_writers.inspect_reads_other_writers, work)
    checks.stage(checkpoints_read.safetensors_reads_checkpoints, run)
    checks.stage(records_read.tfrecord_reads_ours, work)
    checks.stage(records_read.record_file_reads_theirs, work)
    checks.stage(predictions_read.numpy_reads_predictions, flags, work)
    checks.stage(onnx_reads.onnxruntime_runs_our_models, program.fresh("onnx"))
    checks.stage(killed_runs.killed_runs_make_one_curve)
    if options.screenshot:
        checks.stage(screenshot.tensorboard_shows_a_run, STEPS, save_summary_steps=SUMMARY, save_checkpoints_steps=SAVE)
    print(f"{checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed or not checks.passed else 0


if __name__ == "__main__":
    sys.exit(main())
