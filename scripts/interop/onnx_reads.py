"""onnxruntime on the ONNX files that ours writes: the same outputs, to rounding, at several numbers of rows."""
import numpy
import onnxruntime
from safetensors.numpy import load_file

import program

WRITER = program.BUILD / "tests" / "interop" / "onnx_models"
TOLERANCE = 1e-5


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def largest_difference(ours, theirs):
    """max|a - b| as a part of max(1, max|b|)."""
    a, b = ours.astype(numpy.float64), theirs.astype(numpy.float64)
    return float(numpy.max(numpy.abs(a - b), initial=0) / max(1.0, numpy.max(numpy.abs(b), initial=0)))


def onnxruntime_runs_our_models(checks, directory):
    program.checked([str(WRITER), str(directory)])
    for path in sorted(directory.glob("*.onnx")):
        session = session_of(path)
        worst, wrong, rows = 0.0, [], []
        for given in sorted(directory.glob(f"{path.stem}-*.safetensors")):
            tensors = load_file(given)
            inputs = {name[3:]: value for name, value in tensors.items() if name.startswith("in/")}
            names = [output.name for output in session.get_outputs()]
            for name, value in zip(names, session.run(names, inputs)):
                ours = tensors.pop("out/" + name)
                if ours.dtype != value.dtype or ours.shape != value.shape:
                    wrong.append(f"{name} is {value.dtype}{list(value.shape)} there and {ours.dtype}{list(ours.shape)} here")
                    continue
                if ours.dtype.kind != "f" and not numpy.array_equal(ours, value):
                    wrong.append(f"{name} is {value.ravel()[:8]} there and {ours.ravel()[:8]} here")
                worst = max(worst, largest_difference(ours, value))
            wrong += [name for name in tensors if name.startswith("out/")]
            rows.append(given.stem.rsplit("-", 1)[1])
        checks.check(rows and not wrong and worst <= TOLERANCE, f"onnxruntime {onnxruntime.__version__} runs {path.stem} at {', '.join(sorted(rows, key=int))} rows",
                     "; ".join(wrong) or f"max|a-b| = {worst:.2e} of max(1, max|b|)")
