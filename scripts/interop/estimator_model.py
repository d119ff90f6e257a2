"""Two small models of TensorFlow's Estimator, and a checkpoint of every data type and of slices, made by TensorFlow itself.

Usage: python scripts/interop/estimator_model.py DIRECTORY      writes what tests/golden/tensorflow-v2 keeps (README.md there says which)
"""
import json
import os
import pathlib
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy
import tensorflow

ROWS, WIDTH, UNITS, CLASSES = 8, 4, 3, 3
FIRST, LAST = 6, 12
# One value of each type, and what its bytes are.
TYPES = ["float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
         "complex64", "complex128"]


def data():
    x = [[((i * 7 + j * 3) % 11) / 10 - 0.5 for j in range(WIDTH)] for i in range(ROWS)]
    return numpy.array(x, numpy.float32), numpy.array([i % CLASSES for i in range(ROWS)], numpy.int32)


def input_fn():
    """The same batch at every step, so that it does not matter where the data begin."""
    x, y = data()
    return tensorflow.data.Dataset.from_tensors(({"x": x}, y)).repeat()


def estimator(directory):
    v1 = tensorflow.compat.v1
    config = v1.estimator.RunConfig(model_dir=str(directory), tf_random_seed=7, save_checkpoints_steps=FIRST, keep_checkpoint_max=10)
    return v1.estimator.DNNClassifier(
        hidden_units=[UNITS], feature_columns=[v1.feature_column.numeric_column("x", shape=[WIDTH])], n_classes=CLASSES,
        optimizer=v1.train.AdamOptimizer(0.05), loss_reduction=v1.losses.Reduction.SUM_OVER_BATCH_SIZE, config=config)


def combined(directory):
    """With the optimizers that it has by default."""
    v1 = tensorflow.compat.v1
    config = v1.estimator.RunConfig(model_dir=str(directory), tf_random_seed=7, save_checkpoints_steps=FIRST, keep_checkpoint_max=10)
    columns = [v1.feature_column.numeric_column("x", shape=[WIDTH])]
    return v1.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=columns, dnn_feature_columns=columns, dnn_hidden_units=[UNITS], n_classes=CLASSES,
        loss_reduction=v1.losses.Reduction.SUM_OVER_BATCH_SIZE, config=config)


def values(prefix):
    """Every tensor of a checkpoint, as TensorFlow reads it."""
    reader = tensorflow.train.load_checkpoint(str(prefix))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def text_of(value):
    """Floats as the shortest text that reads back; texts as they are."""
    value = numpy.asarray(value)
    value = value.astype("float32") if str(value.dtype) == "bfloat16" else value
    return [item.decode() if isinstance(item, bytes) else item for item in value.ravel().tolist()]


def every_type():
    tensors = {}
    for name in TYPES:
        numbers = tensorflow.constant([0, 1, 2, 3, 5, 100], tensorflow.float32)
        tensors[f"types/{name}"] = tensorflow.reshape(tensorflow.cast(numbers, getattr(tensorflow, name)), [2, 3])
    tensors["texts"] = tensorflow.constant(["", "word", "größe", "x" * 300])
    tensors["empty"] = tensorflow.zeros([0, 4])
    tensors["scalar"] = tensorflow.constant(2.5)
    return tensors


def write_types(prefix):
    tensors = every_type()
    names, slices, data_of = list(tensors), [""] * len(tensors), list(tensors.values())
    whole = tensorflow.reshape(tensorflow.range(70, dtype=tensorflow.float32), [10, 7])
    for rows in ((0, 4), (4, 3), (7, 3)):  # A variable with a partitioner: three slices of its rows.
        names.append("sliced/rows")
        slices.append(f"10 7 {rows[0]},{rows[1]}:0,7")
        data_of.append(whole[rows[0]:rows[0] + rows[1]])
    for columns in ((0, 100), (100, 200)):  # Numbers of more than one byte in the slices' keys.
        names.append("sliced/columns")
        slices.append(f"2 300 0,2:{columns[0]},{columns[1]}")
        data_of.append(tensorflow.reshape(tensorflow.range(600), [2, 300])[:, columns[0]:columns[0] + columns[1]])
    for rows in ((0, 1), (1, 1)):  # "-" is the whole axis.
        names.append("sliced/whole_axis")
        slices.append(f"2 3 {rows[0]},{rows[1]}:-")
        data_of.append(tensorflow.constant([[1, 2, 3], [4, 5, 6]])[rows[0]:rows[0] + 1])
    tensorflow.raw_ops.SaveV2(prefix=str(prefix), tensor_names=names, shape_and_slices=slices, tensors=data_of)


def write_model(made, directory):
    """Trains it and keeps its checkpoints of two steps; the state file names the first."""
    work = directory / "work"
    made(work).train(input_fn, max_steps=LAST)
    kept = directory / made.__name__
    kept.mkdir(parents=True, exist_ok=True)
    for file in sorted(work.iterdir()):
        if file.name.startswith((f"model.ckpt-{FIRST}.", f"model.ckpt-{LAST}.")) and not file.name.endswith(".meta"):
            shutil.copy(file, kept / file.name)
    state = f'model_checkpoint_path: "model.ckpt-{FIRST}"\nall_model_checkpoint_paths: "model.ckpt-{FIRST}"\nall_model_checkpoint_paths: "model.ckpt-{LAST}"\n'
    (kept / "checkpoint").write_text(state)
    shutil.rmtree(work)


def main(directory):
    directory = pathlib.Path(directory)
    tensorflow.compat.v1.logging.set_verbosity(tensorflow.compat.v1.logging.ERROR)
    write_model(estimator, directory)
    write_model(combined, directory)
    write_types(directory / "types")
    shown = {name: text_of(value) for name, value in values(directory / "types").items() if value.dtype.kind not in "c"}
    for step in (FIRST, LAST):
        shown |= {f"{step}/{name}": text_of(value) for name, value in values(directory / "estimator" / f"model.ckpt-{step}").items()}
    (directory / "values.json").write_text(json.dumps(shown, indent=0, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
