"""safetensors, numpy and crc32c on the checkpoints of a run."""
import base64
import pathlib

import crc32c
import numpy
import safetensors

import program


def safetensors_reads_checkpoints(checks, model_dir):
    for prefix in program.checkpoints(model_dir):
        shown = program.inspect(prefix, "--values")
        wrong, tensors = compare(pathlib.Path(model_dir), shown)
        checks.none(wrong, f"safetensors reads model.ckpt-{shown['step']} bit for bit as inspect shows it, checksums too", f"{tensors} tensors")


def compare(model_dir, shown):
    wrong, seen = [], set()
    for shard in sorted(name for name in shown["files"] if name.endswith(".safetensors")):
        with safetensors.safe_open(str(model_dir / shard), framework="np") as file:
            seen |= set(file.keys())
            for tensor in (t for t in shown["tensors"] if t["file"] == shard):
                read = file.get_tensor(tensor["name"])
                if str(read.dtype) != tensor["dtype"] or list(read.shape) != tensor["shape"]:
                    wrong.append(f"{tensor['name']} is {read.dtype}{list(read.shape)}, shown as {tensor['dtype']}{tensor['shape']}")
                if numpy.ascontiguousarray(read).tobytes() != base64.b64decode(tensor["base64"]):
                    wrong.append(f"{tensor['name']} differs in its bytes")
                if f"{crc32c.crc32c(numpy.ascontiguousarray(read).tobytes()):08x}" != tensor["crc32c"]:
                    wrong.append(f"{tensor['name']} has another CRC-32C")
    names = {tensor["name"] for tensor in shown["tensors"]}
    if seen != names:
        wrong.append(f"only one of the two has {sorted(seen ^ names)}")
    return wrong, len(seen)
