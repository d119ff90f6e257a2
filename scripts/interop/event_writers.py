"""Event files as TensorFlow's, TensorBoard's and torch's writers make them, and what `troupe inspect` says of them.

Usage: python scripts/interop/event_writers.py DIRECTORY      (writes the files that tests/golden/events keeps; needs TensorFlow for two of them)

torch.utils.tensorboard and tensorboardX are one writer's code: tensorboardX stands in for torch, which is too large to install here.
"""
import importlib.util
import pathlib
import sys

import numpy

WALL = 1.7e9  # Of every event, where a writer takes it.


def framed(path, events):
    """TensorBoard's own record writer, so that the framing is theirs too."""
    from tensorboard.summary.writer.record_writer import RecordWriter

    with open(path, "wb") as file:
        writer = RecordWriter(file)
        for event in events:
            writer.write(event.SerializeToString())
        writer.flush()
    return path


def has_tensorflow():
    return importlib.util.find_spec("tensorflow") is not None


# What TensorBoard's plugins write by version 1 of their makers, which need TensorFlow. tests/golden/events has a file of them.
VERSION_1 = ("v1/scalar/scalar_summary", "v1/table/text_summary", "pr/pr_curves")


def tensorboard_events(path):
    """Summaries of TensorBoard's plugins in TensorFlow 2's form, as tf.summary makes them."""
    from tensorboard.compat.proto import event_pb2, graph_pb2, summary_pb2
    from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2, summary_v2 as hparams
    from tensorboard.plugins.histogram import summary_v2 as histograms
    from tensorboard.plugins.pr_curve import summary as pr_curves
    from tensorboard.plugins.scalar import summary as scalars_v1, summary_v2 as scalars
    from tensorboard.plugins.text import summary as texts_v1, summary_v2 as texts

    def event(step, graph_def=None, summary=None):
        made = event_pb2.Event(wall_time=WALL + step, step=step)
        if graph_def:
            made.graph_def = graph_def
        else:  # Where TensorFlow is installed, the plugins make its messages.
            made.summary.ParseFromString(summary.SerializeToString())
        return made

    numbers = numpy.arange(10, dtype=numpy.float64)
    graph = graph_pb2.GraphDef()
    graph.node.add(name="x", op="Placeholder")
    graph.node.add(name="y", op="Identity", input=["x"])
    events = [event_pb2.Event(wall_time=WALL, file_version="brain.Event:2"), event(0, graph_def=graph.SerializeToString())]
    for step in (1, 2):
        made = [scalars.scalar_pb("v2/scalar", step / 4), histograms.histogram_pb("v2/histogram", numbers * step, buckets=5), texts.text_pb("v2/text", "said")]
        if has_tensorflow():
            made += [scalars_v1.pb("v1/scalar", step / 4), texts_v1.pb("v1/table", numpy.array([["a", "b"], ["c", "d"]])),
                     pr_curves.raw_data_pb("pr", *([numpy.array([1.0, 0.5])] * 2 + [numpy.array([0.0, 0.5])] * 2 + [numpy.array([1.0, 0.5])] * 2),
                                           num_thresholds=2)]
        events += [event(step, summary=one) for one in made]
    rate = hparams.HParam("rate")
    events.append(event(0, summary=hparams.hparams_config_pb([rate], [hparams.Metric("v2/scalar")])))
    events.append(event(0, summary=hparams.hparams_pb({rate: 0.5, "rule": "adam", "shuffle": True})))
    # The plugin's own maker of this message needs TensorFlow.
    ended = plugin_data_pb2.HParamsPluginData(session_end_info=plugin_data_pb2.SessionEndInfo(status=api_pb2.STATUS_SUCCESS, end_time_secs=WALL))
    events.append(event(0, summary=summary_pb2.Summary(value=[summary_pb2.Summary.Value(
        tag=metadata.SESSION_END_INFO_TAG, tensor=metadata.NULL_TENSOR, metadata=metadata.create_summary_metadata(ended))])))
    events.append(event(3, summary=summary_pb2.Summary(value=[summary_pb2.Summary.Value(
        tag="v1/gif", image=summary_pb2.Summary.Image(height=3, width=4, colorspace=3, encoded_image_string=b"GIF89a"))])))
    return framed(path, events)


TENSORBOARD = {"v2/scalar": ("scalar", 2), "v1/scalar/scalar_summary": ("scalar", 2), "v2/histogram": ("histogram", 2), "v2/text": ("text", 2), "v1/table/text_summary": ("texts", 2),
               "pr/pr_curves": ("tensor", 2), "_hparams_/experiment": ("other", 1), "_hparams_/session_start_info": ("other", 1),
               "_hparams_/session_end_info": ("other", 1), "v1/gif": ("other", 1)}


def torch_events(directory):
    from tensorboardX import SummaryWriter

    writer = SummaryWriter(str(directory), write_to_disk=True)
    numbers = numpy.arange(10, dtype=numpy.float32)
    for step in (1, 2):
        writer.add_scalar("scalar", step / 4, step, walltime=WALL)
        writer.add_scalar("new/scalar", step / 4, step, walltime=WALL, summary_description="described")
        writer.add_histogram("histogram", numbers * step, step, walltime=WALL)
        writer.add_image("image", numpy.full((3, 4, 5), 100, dtype=numpy.uint8), step, walltime=WALL)
        writer.add_text("text", "said", step, walltime=WALL)
        writer.add_pr_curve("pr", numpy.array([0, 1, 1, 0]), numpy.array([0.1, 0.9, 0.6, 0.3]), step, num_thresholds=5, walltime=WALL)
    writer.close()
    return max(pathlib.Path(directory).glob("*tfevents*"))


TORCH = {"scalar": ("scalar", 2), "new/scalar": ("scalar", 2), "histogram": ("histogram", 2), "image": ("image", 2), "text/text_summary": ("text", 2), "pr": ("tensor", 2)}


def tensorflow_events(directory, version):
    """The writer of TensorFlow itself: version 2's summaries, or version 1's with a graph."""
    import tensorflow as tf

    directory = str(directory)
    if version == 2:
        writer = tf.summary.create_file_writer(directory)
        with writer.as_default():
            for step in (1, 2):
                tf.summary.scalar("scalar", step / 4, step)
                tf.summary.histogram("histogram", tf.range(10, dtype=tf.float32) * step, step, buckets=5)
                tf.summary.image("images", tf.zeros([2, 3, 4, 1]), step)
                tf.summary.text("text", "said", step)
                tf.summary.text("table", [["a", "b"], ["c", "d"]], step)
                tf.summary.write("half", tf.constant(1.5, tf.float16), step)
                tf.summary.write("strings", tf.constant(["a", "b"]), step)
        writer.close()
    else:
        with tf.Graph().as_default() as graph:
            v1 = tf.compat.v1
            v1.summary.scalar("scalar", tf.constant(0.5))
            v1.summary.histogram("histogram", tf.range(10, dtype=tf.float32))
            v1.summary.image("image", tf.zeros([1, 3, 4, 1]))
            v1.summary.text("table", tf.constant([["a", "b"], ["c", "d"]]))
            v1.summary.tensor_summary("raw", tf.constant([1, 2, 3], tf.int64))
            v1.summary.audio("audio", tf.zeros([1, 100]), 8000)
            merged = v1.summary.merge_all()
            with v1.Session() as session, v1.summary.FileWriter(directory, graph) as writer:
                for step in (1, 2):
                    writer.add_summary(session.run(merged), step)
                writer.add_run_metadata(v1.RunMetadata(), "step 2", 2)
    return max(pathlib.Path(directory).glob("*tfevents*"))


TENSORFLOW_2 = {"scalar": ("scalar", 2), "histogram": ("histogram", 2), "images": ("image", 4), "text": ("text", 2), "table": ("texts", 2), "half": ("scalar", 2),
                "strings": ("texts", 2)}
TENSORFLOW_1 = {"scalar": ("scalar", 2), "histogram": ("histogram", 2), "image/image/0": ("image", 2), "table": ("texts", 2), "raw": ("tensor", 2),
                "audio/audio/0": ("other", 2)}


def differences(shown, wanted):
    """What an inspection lacks of `wanted`, {tag: (kind, count)}."""
    found = {(tag["tag"], tag["kind"]): tag["count"] for tag in shown["tags"]}
    wrong = [f"{tag}: no {kind}" for tag, (kind, _) in wanted.items() if (tag, kind) not in found]
    wrong += [f"{tag}: {found[tag, kind]} of {count}" for tag, (kind, count) in wanted.items() if found.get((tag, kind), count) != count]
    return wrong + [f"damaged: {damage['reason']}" for damage in shown["damages"]]


def inspect_reads_other_writers(checks, directory):
    import program

    plugins = {tag: what for tag, what in TENSORBOARD.items() if has_tensorflow() or tag not in VERSION_1}
    for name, path, wanted in (("TensorBoard's plugins", tensorboard_events(directory / "events.out.tfevents.1.plugins"), plugins),
                               ("torch's writer", torch_events(directory / "torch"), TORCH)):
        checks.none(differences(program.inspect(path), wanted), f"inspect names every tag of a file of {name}", f"{len(wanted)} tags")


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    made = {}
    for name, make in (("plugins", lambda: tensorboard_events(target / "made")), ("torch", lambda: torch_events(target / "t")),
                       ("tensorflow1", lambda: tensorflow_events(target / "1", 1)), ("tensorflow2", lambda: tensorflow_events(target / "2", 2))):
        try:
            made[name] = make().read_bytes()
        except ImportError as missing:
            print(f"{name}: {missing}", file=sys.stderr)
    for name, content in made.items():
        (target / f"{name}.tfevents").write_bytes(content)
        print(name, len(content))
