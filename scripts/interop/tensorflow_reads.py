"""./dev interop --tensorflow: a real Estimator's model directory is shown, converted and written back, and TensorFlow reads and goes on
from what we write: a line for each check, then `N passed, N failed`.

Usage: python scripts/interop/tensorflow_reads.py      (./dev interop --tensorflow builds the program and the environment first)
"""
import base64
import json
import pathlib
import shutil
import sys

import numpy

import estimator_model
import program
from checks import Checks

TOLERANCE = 1e-6
# Of steps that begin with powers of beta to the last digit or one beside it: 1e-7 of 1 - beta2^6 = 0.007 are 7e-6 of each update.
GOES_ON_TOLERANCE = 1e-5


def differing(ours, theirs):
    """Names of tensors that are not the same bytes."""
    wrong = sorted(set(ours) ^ set(theirs))
    for name in set(ours) & set(theirs):
        a, b = numpy.asarray(ours[name]), numpy.asarray(theirs[name])
        if a.dtype != b.dtype or a.shape != b.shape or a.tobytes() != b.tobytes():
            wrong.append(name)
    return wrong


def shown_values(prefix):
    """As `troupe inspect --values` has them; types that numpy lacks as bytes."""
    tensors = {}
    for t in program.inspect(prefix, "--values")["tensors"]:
        if t["dtype"] != "string":
            kind = {"boolean": "bool", "bfloat16": "uint16"}.get(t["dtype"], t["dtype"])
            tensors[t["name"]] = numpy.frombuffer(base64.b64decode(t["base64"]), kind).reshape(t["shape"])
    return tensors


def estimator_is_shown(checks, directory):
    report = program.inspect(directory)
    checks.none([c for c in report["checkpoints"] if not c["whole"]], "inspect shows an Estimator's model directory and finds nothing damaged",
                f"{len(report['checkpoints'])} checkpoints")
    for prefix in (directory / f"model.ckpt-{step}" for step in (estimator_model.FIRST, estimator_model.LAST)):
        checks.none(differing(shown_values(prefix), estimator_model.values(prefix)), f"inspect shows {prefix.name} bit for bit as TensorFlow reads it")


def types_are_shown(checks, prefix):
    theirs = {}
    for name, value in estimator_model.values(prefix).items():
        if value.dtype != object:
            theirs[name] = value.view(numpy.uint16) if str(value.dtype) == "bfloat16" else value
    checks.none(differing(shown_values(prefix), theirs), "inspect shows every data type and slices put together", f"{len(theirs)} tensors")


def round_trip(checks, directory, work):
    """To Troupe and back: TensorFlow reads the same tensors, and its Estimator goes on from them as from its own."""
    report = json.loads(program.output("convert", directory, work / "mine", "--json"))
    left = {item["name"] for item in report["left"]}
    checks.check({name.rsplit("/", 1)[-1] for name in left} == {"beta1_power", "beta2_power"}, "all but the powers of beta is converted", f"left: {', '.join(sorted(left))}")
    program.output("convert", work / "mine", work / "back", "--like", directory)
    own = estimator_model.values(directory / f"model.ckpt-{estimator_model.FIRST}")
    back = estimator_model.values(work / "back" / f"model.ckpt-{estimator_model.FIRST}")
    powers = {name: (own.pop(name), back.pop(name)) for name in left}
    checks.none(differing(own, back), "written back, TensorFlow reads the same names and bits", f"{len(back)} tensors")
    checks.none([name for name, (a, b) in powers.items() if abs(a - b) > TOLERANCE], "the powers of beta are those of the Estimator",
                ", ".join(f"{name} {a:.7f} and {b:.7f}" for name, (a, b) in sorted(powers.items())))
    # Beside its own checkpoint on this machine: TensorFlow's sums differ between processors.
    own_run = work / "own"
    own_run.mkdir()
    for path in directory.glob(f"model.ckpt-{estimator_model.FIRST}.*"):
        shutil.copy(path, own_run)
    (own_run / "checkpoint").write_text(f'model_checkpoint_path: "model.ckpt-{estimator_model.FIRST}"\n')
    for run in (own_run, work / "back"):
        estimator_model.estimator(run).train(estimator_model.input_fn, max_steps=estimator_model.LAST)
    wanted, ours = (estimator_model.values(run / f"model.ckpt-{estimator_model.LAST}") for run in (own_run, work / "back"))
    far = max(float(numpy.max(numpy.abs(wanted[name].astype("float64") - ours[name]))) for name in wanted)
    checks.check(far <= GOES_ON_TOLERANCE, f"an Estimator goes on from it to step {estimator_model.LAST} as from its own checkpoint", f"differs by {far:.1e} at most")


def trained_run_is_read(checks, work):
    run = work / "run"
    program.output("train", *program.settings(run, 100, save_checkpoints_steps=100))
    program.output("convert", run, work / "run_there")
    prefix = program.checkpoints(run)[-1]
    theirs = {name: value for name, value in estimator_model.values(work / "run_there" / prefix.name).items() if not name.startswith("beta")}
    checks.none(differing(shown_values(prefix), theirs), "TensorFlow reads a trained run bit for bit, slots too", f"{len(theirs)} tensors")


def main():
    work = program.fresh("tensorflow_files")
    made = pathlib.Path(work) / "made"
    checks = Checks()
    estimator_model.main(made)
    checks.stage(estimator_is_shown, made / "estimator")
    checks.stage(types_are_shown, made / "types")
    checks.stage(round_trip, made / "estimator", work)
    checks.stage(trained_run_is_read, work)
    shutil.rmtree(made, ignore_errors=True)
    print(f"{checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed or not checks.passed else 0


if __name__ == "__main__":
    sys.exit(main())
