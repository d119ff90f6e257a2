"""numpy on the arrays of `troupe predict --format npy`."""
import json

import numpy

import program

KEYS = "class_ids,probabilities"


def numpy_reads_predictions(checks, flags, directory):
    arrays = directory / "predictions"
    program.output("predict", *flags, "--format", "npy", "--keys", KEYS, "--output", arrays)
    lines = [json.loads(line) for line in program.output("predict", *flags, "--format", "jsonl", "--keys", KEYS).splitlines()]
    checks.check(sorted(path.name for path in arrays.iterdir()) == ["class_ids.npy", "probabilities.npy"], "predict writes a file for each key")
    for name in KEYS.split(","):
        read = numpy.load(arrays / f"{name}.npy", allow_pickle=False)
        wanted = numpy.array([line[name] for line in lines], dtype=read.dtype)
        checks.check(read.shape == wanted.shape and read.tobytes() == wanted.tobytes(), f"numpy loads {name}.npy, bit for bit the jsonl output",
                     f"{read.dtype}{list(read.shape)}")
