"""TensorBoard's own readers on the event files of a run."""
import pathlib

from tensorboard.backend.event_processing import event_accumulator, io_wrapper, plugin_event_accumulator
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader, RawEventFileLoader
from tensorboard.util import tensor_util

import program

POINTS_MIN = 10
SCALARS = ("loss", "learning_rate", "global_step/sec", "examples/sec")
METRICS = ("accuracy", "average_loss", "loss")


def event_files(directory):
    """Those of summaries: the file that describes the run has its own stage."""
    return sorted(str(path) for path in pathlib.Path(directory).iterdir()
                  if io_wrapper.IsSummaryEventsFile(path.name) and not path.name.endswith(".description"))


def curves(directory):
    """A directory as TensorBoard reads it: every file in the order of names, nothing thinned out."""
    return event_accumulator.EventAccumulator(str(directory), size_guidance={"scalars": 0, "histograms": 0}).Reload()


def steps_wrong(points):
    """Adjacent events whose steps do not increase."""
    return [f"step {b.step} follows {a.step}" for a, b in zip(points, points[1:]) if b.step <= a.step]


def trainable(model_dir):
    """Sizes of variables by name, without the step and slots."""
    newest = program.checkpoints(model_dir)[-1]
    tensors = {}
    for tensor in program.inspect(newest)["tensors"]:
        size = 1
        for extent in tensor["shape"]:
            size *= extent
        tensors[tensor["name"]] = size
    return {name: size for name, size in tensors.items()
            if name != "global_step" and not any(name.startswith(other + "/") for other in tensors)}


def tensorboard_reads_scalars(checks, model_dir):
    read = curves(model_dir)
    for tag in SCALARS:
        points = read.Scalars(tag) if tag in read.Tags()["scalars"] else []
        first_and_last = f", {points[0].step} to {points[-1].step}" if points else ""
        checks.check(len(points) >= POINTS_MIN and not steps_wrong(points),
                     f"{tag} has {POINTS_MIN} points or more at rising steps", f"{len(points)} points{first_and_last}")


def tensorboard_reads_histograms(checks, model_dir):
    read = curves(model_dir)
    sizes = trainable(model_dir)
    checks.check(sorted(read.Tags()["histograms"]) == sorted(sizes), "every trainable variable has a histogram, and nothing else has",
                 f"{len(sizes)} variables")
    for name in sorted(set(sizes) & set(read.Tags()["histograms"])):
        points = read.Histograms(name)
        wrong = [f"step {p.step}: {sum(p.histogram_value.bucket):g} counted, num {p.histogram_value.num:g}" for p in points
                 if not sum(p.histogram_value.bucket) == p.histogram_value.num == sizes[name]]
        wrong += [f"step {p.step}: limits do not rise" for p in points
                  if sorted(set(p.histogram_value.bucket_limit)) != list(p.histogram_value.bucket_limit)]
        wrong += [f"{len(points)} points"] * (len(points) < POINTS_MIN) + steps_wrong(points)
        checks.none(wrong, f"the buckets of {name} add up to its {sizes[name]} values", f"at each of {len(points)} steps")


def tensorboard_reads_evaluations(checks, model_dir, evaluated):
    read = curves(pathlib.Path(model_dir) / "eval")
    for tag in METRICS:
        steps = [point.step for point in read.Scalars(tag)] if tag in read.Tags()["scalars"] else []
        checks.check(steps == evaluated, f"eval/ has {tag} of every evaluation", f"steps {steps}")
    # Only the accumulator of TensorBoard's server supports plugins, and so texts.
    server = plugin_event_accumulator.EventAccumulator(str(pathlib.Path(model_dir) / "eval")).Reload()
    said = server.Tensors("checkpoint_path") if "checkpoint_path" in server.Tags()["tensors"] else []
    texts = [[value.decode() for value in tensor_util.make_ndarray(point.tensor_proto).flat] for point in said]
    wanted = [[str(pathlib.Path(model_dir) / f"model.ckpt-{step}")] for step in evaluated]
    checks.check(texts == wanted, "eval/ has checkpoint_path as a text at every evaluation", f"the last is {texts[-1:]}")
    plugin = server.SummaryMetadata("checkpoint_path").plugin_data.plugin_name if said else None
    checks.check(plugin == "text", "checkpoint_path is for the text plugin", f"plugin {plugin}")


def tensorboard_reads_notes(checks, model_dir, saved):
    """The notes as text: START, then a CHECKPOINT for each save."""
    notes, versions = [], []
    for path in event_files(model_dir):
        for number, event in enumerate(LegacyEventFileLoader(path).Load()):
            if number == 0:
                versions.append(event.file_version)
            if event.HasField("session_log"):
                notes.append((event.session_log.status, event.step))
    checks.check(versions == ["brain.Event:2"], "the first event is the version", f"{versions}")
    checks.check(notes == [(1, 1)] + [(3, step) for step in saved], "START comes first, then a CHECKPOINT for each save", f"{notes}")


def unreadable(path):
    """The exception of TensorBoard's reader before the end of a file, or None. Half a record at the end raises none."""
    try:
        for _ in RawEventFileLoader(path).Load():
            pass
        for _ in LegacyEventFileLoader(path).Load():
            pass
    except Exception as trouble:  # Any exception is the finding.
        return f"{path}: {type(trouble).__name__}: {trouble}"
    return None
