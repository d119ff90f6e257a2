"""TFRecord files in both directions, with the package tfrecord and TensorBoard's reader of records."""
import gzip
import math
import pathlib
import zlib

import numpy
import tfrecord
from tensorboard.compat.tensorflow_stub import pywrap_tensorflow

import program

COMPRESS = {"none": bytes, "gzip": gzip.compress, "zlib": zlib.compress}
DECOMPRESS = {"none": bytes, "gzip": gzip.decompress, "zlib": zlib.decompress}


def tfrecord_reads_ours(checks, directory):
    """The examples that examples/record_file.cpp writes: for i from -5 to 999, i and its square, its root, and two strings."""
    for how in COMPRESS:
        path = directory / f"ours.tfrecord.{how}"
        program.example("record_file", "write", path, how)
        # tfrecord knows no zlib; Python's own module stands in for it.
        readable = path
        if how == "zlib":
            readable = directory / "ours.tfrecord.from_zlib"
            readable.write_bytes(zlib.decompress(path.read_bytes()))
        read = list(tfrecord.tfrecord_loader(str(readable), None, compression_type="gzip" if how == "gzip" else None))
        wrong = [f"record {number} is {found}" for number, found in enumerate(read) if not is_ours(number - 5, found)]
        wrong += [f"{len(read)} records"] * (len(read) != 1005)
        checks.none(wrong, f"tfrecord reads what record_file writes ({how})", f"{len(read)} examples")
        # tfrecord passes over checksums; TensorBoard's reader does not.
        plain = directory / f"ours.{how}.plain"
        plain.write_bytes(DECOMPRESS[how](path.read_bytes()))
        checks.check(count_checked(plain) == 1005, f"and TensorBoard's reader finds its checksums right ({how})", f"{count_checked(plain)} records")


def is_ours(i, found):
    root = numpy.sqrt(numpy.float32(abs(i)))
    return (sorted(found) == ["number", "root", "text"] and list(found["number"]) == [i, i * i] and list(found["root"]) == [root]
            and list(found["text"]) == [b"record %d" % i, b"\0\xff"])


def count_checked(path):
    reader = pywrap_tensorflow.PyRecordReader_New(str(path), 0, "")
    count = 0
    while True:
        try:
            reader.GetNext()
        except Exception as end:
            if type(end).__name__ == "OutOfRangeError":
                return count
            raise
        count += 1


def made_examples():
    """Values at the limits of each kind."""
    floats = [0.0, -0.0, 1.5, -1e-45, 3.4028234663852886e38, math.inf, -math.inf, math.nan]
    yield {"empty_text": ([b""], "byte"), "name": (["gr\u00fcn".encode()], "byte"), "gr\u00f6\u00dfe": ([1], "int")}
    yield {"integers": ([0, 1, -1, 2**63 - 1, -(2**63)], "int"), "floats": (floats, "float"), "strings": ([b"\0", bytes(range(256))], "byte")}
    for i in range(500):
        yield {"i": ([i] * (i % 7), "int"), "x": ([i / 3] * (i % 5), "float"), "s": ([b"s" * i], "byte")}


def shown(example):
    """As `record_file show` prints it; a kind without values is an empty list of that kind."""
    def of(values, kind):
        texts = {"int": str, "float": lambda x: f"{float(numpy.float32(x)):.9g}", "byte": bytes.hex}
        return f"{ {'int': 'int64', 'float': 'float', 'byte': 'bytes'}[kind]}[{','.join(texts[kind](value) for value in values)}]"
    return "".join(f"{name}={of(*example[name])} " for name in sorted(example, key=str.encode))


def record_file_reads_theirs(checks, directory):
    plain = directory / "theirs.tfrecord"
    writer = tfrecord.TFRecordWriter(str(plain))
    for example in made_examples():
        writer.write(example)
    writer.close()
    wanted = [shown(example) for example in made_examples()]
    for how, compress in COMPRESS.items():
        path = pathlib.Path(f"{plain}.{how}")
        path.write_bytes(compress(plain.read_bytes()))
        read = program.example("record_file", "show", path, how).splitlines()
        wrong = [f"'{a}' was read for '{b}'" for a, b in zip(read, wanted) if a != b] + [f"{len(read)} records"] * (len(read) != len(wanted))
        checks.none(wrong, f"record_file reads what tfrecord writes ({how})", f"{len(read)} examples")
