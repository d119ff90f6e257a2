"""What a model directory says of its run: TensorBoard on its hyperparameters and its graph, and commands that need no configuration."""
import json
import pathlib

from tensorboard.backend.event_processing import data_provider, event_accumulator, plugin_event_multiplexer
from tensorboard.compat.proto import graph_pb2
from tensorboard.context import RequestContext
from tensorboard.data import provider as provider_types
from tensorboard.plugins.hparams import api_pb2, backend_context, list_session_groups, metadata

import program


def multiplexer(model_dir):
    # As with --logdir above the model directory: the plugin does not find "eval" beside a session named ".".
    return plugin_event_multiplexer.EventMultiplexer({"run": str(model_dir), "run/eval": str(pathlib.Path(model_dir) / "eval")}).Reload()


def tensorboard_reads_hyperparameters(checks, model_dir):
    """As the plugin's own server does: the experiment, and the session with its values and metrics."""
    provider = data_provider.MultiplexerDataProvider(multiplexer(model_dir), str(model_dir))
    context = backend_context.Context(type("TBContext", (), {"data_provider": provider, "logdir": str(model_dir)})())
    request = RequestContext()
    experiment = context.experiment_from_metadata(request, "", True, context.hparams_metadata(request, ""),
                                                  provider_types.ListHyperparametersResult(hyperparameters=[], session_groups=[]))
    names = sorted(info.name for info in experiment.hparam_infos)
    checks.check({"model.hidden_units", "optimizer.rate", "optimizer.name", "input.batch_size", "run.seed"} <= set(names),
                 "TensorBoard's plugin lists the hyperparameters of the run", f"{len(names)} of them")
    metrics = sorted((info.name.group, info.name.tag) for info in experiment.metric_infos)
    checks.check(metrics == [("", "loss"), ("eval", "accuracy"), ("eval", "average_loss"), ("eval", "loss")], "and the metrics of training and evaluation",
                 f"{metrics}")
    wanted = api_pb2.ListSessionGroupsRequest(start_index=0, slice_size=10, col_params=[api_pb2.ColParams(metric=info.name) for info in experiment.metric_infos],
                                              allowed_statuses=[api_pb2.STATUS_SUCCESS])
    groups = list_session_groups.Handler(request, context, "", wanted).run().session_groups
    checks.check(len(groups) == 1, "and one session, which ended well", f"{len(groups)} sessions")
    values = dict(groups[0].hparams) if groups else {}
    checks.check("optimizer.rate" in values and abs(values["optimizer.rate"].number_value - 0.001) < 1e-12, "whose rate is a number", f"{values.get('optimizer.rate')}".strip())
    shown = {(value.name.group, value.name.tag): value.value for value in groups[0].metric_values} if groups else {}
    last = program.inspect(model_dir)["evaluations"]["eval"]["accuracy"]
    checks.check(abs(shown.get(("eval", "accuracy"), -1) - last) < 1e-6, "and whose accuracy is that of the last evaluation", f"{last}")
    tags = [tag["tag"] for path in pathlib.Path(model_dir).glob("*.description") for tag in program.inspect(path)["tags"]]
    checks.check(sorted(tags) == sorted([metadata.EXPERIMENT_TAG, metadata.SESSION_START_INFO_TAG, metadata.SESSION_END_INFO_TAG]), "under the plugin's own tags")


def tensorboard_reads_the_graph(checks, model_dir):
    read = event_accumulator.EventAccumulator(str(model_dir)).Reload()
    graph = read.Graph()
    checks.check(isinstance(graph, graph_pb2.GraphDef) and len(graph.node) > 10, "TensorBoard reads the graph", f"{len(graph.node)} nodes")
    names = {node.name for node in graph.node}
    dangling = [f"{node.name} has the input {name}" for node in graph.node for name in node.input if name not in names]
    checks.none(dangling + [f"{len(names)} names"] * (len(names) != len(graph.node)), "its names are unique, and each input is a node", f"{len(names)} names")
    kernels = {node.name: [dim.size for dim in node.attr["_output_shapes"].list.shape[0].dim] for node in graph.node if node.op == "variable"}
    stored = {tensor["name"]: tensor["shape"] for tensor in program.inspect(program.checkpoints(model_dir)[-1])["tensors"]}
    wrong = [f"{name} is {shape}, stored as {stored.get(name)}" for name, shape in kernels.items() if stored.get(name) != shape]
    checks.none(wrong + ["no variable"] * (not kernels), "its variables have the shapes of the checkpoint", f"{len(kernels)} variables")


def a_directory_describes_itself(checks, model_dir):
    told = json.loads(program.output("evaluate", model_dir, "--json").splitlines()[-1])
    shown = program.inspect(model_dir)["evaluations"]["eval"]
    checks.check(told["event"] == "finished" and abs(told["metrics"]["accuracy"] - shown["accuracy"]) < 1e-6,
                 "evaluate needs nothing but the directory", f"accuracy {told['metrics']['accuracy']}")
    lines = program.output("predict", model_dir, "--limit", 3).splitlines()
    checks.check(len(lines) == 4, "nor does predict", f"{len(lines) - 1} results")
