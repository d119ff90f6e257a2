"""Event files after SIGKILL, and the curve that TensorBoard shows for several processes.

What has to hold, with a summary every 10 steps and a checkpoint every 200:
- after a kill, TensorBoard reads every file up to its last whole record and raises nothing;
- what had been summarised up to the newest checkpoint is in a file, since no later run writes it again;
- a run that goes on makes a new file, whose START is one step behind that checkpoint, and leaves the others alone;
- in the end the curves are those of a run that nobody killed: each point once, with the same value. Only steps per second
  has no point where a run begins, as it has none at step 10.
"""
import json
import pathlib
import signal
import subprocess

from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader
from tensorboard.backend.event_processing import plugin_event_accumulator
from tensorboard.util import tensor_util

import program
import tensorboard_reads

END, SUMMARY, SAVE = 2300, 10, 200
# The moment at which a commit is reported, when its summaries may still be in memory; and any moment between two
# reports.
MOMENTS = (("saved", 600), ("progress", 1725))


def flags(model_dir):
    return program.settings(model_dir, END, save_summary_steps=SUMMARY, save_checkpoints_steps=SAVE, **{"evaluate.when": "never"})


def run_until(model_dir, moment, step):
    """Kills the run at the first such event of that step or a later one. False where it ended before."""
    running = subprocess.Popen(program.command("train", *flags(model_dir), "--json"), cwd=program.ROOT, text=True, stdout=subprocess.PIPE)
    with running:
        for line in running.stdout:
            event = json.loads(line)
            if event["event"] == moment and event["global_step"] >= step:
                running.send_signal(signal.SIGKILL)
                break
    return running.returncode == -signal.SIGKILL


def points(directory):
    """Every curve: {tag: [(step, value or counts)]}."""
    read = tensorboard_reads.curves(directory)
    found = {tag: [(p.step, p.value) for p in read.Scalars(tag)] for tag in read.Tags()["scalars"]}
    found |= {tag: [(p.step, tuple(p.histogram_value.bucket)) for p in read.Histograms(tag)] for tag in read.Tags()["histograms"]}
    return found


def points_of_server(directory, tag):
    """The same for one scalar, as the server returns it."""
    read = plugin_event_accumulator.EventAccumulator(str(directory), size_guidance={"tensors": 0}).Reload()
    return [(p.step, tensor_util.make_ndarray(p.tensor_proto).item()) for p in read.Tensors(tag)]


def differences(found, wanted):
    wrong = [f"no curve {tag}" for tag in sorted(wanted.keys() - found.keys())]
    for tag in sorted(found.keys() & wanted.keys()):
        steps, wanted_steps = [p[0] for p in found[tag]], [p[0] for p in wanted[tag]]
        if steps != wanted_steps:
            wrong.append(f"{tag}: missing {sorted(set(wanted_steps) - set(steps))[:5]}, more {sorted(set(steps) - set(wanted_steps))[:5]}, "
                         f"{len(steps) - len(set(steps))} twice")
        elif found[tag] != wanted[tag]:
            wrong.append(f"{tag}: another value at step {next(a[0] for a, b in zip(found[tag], wanted[tag]) if a != b)}")
    return wrong


def killed_runs_make_one_curve(checks):
    whole, killed = program.fresh("whole"), program.fresh("killed")
    program.output("train", *flags(whole))
    wanted = points(whole)
    begins, earlier = [0], {}
    for number, (moment, step) in enumerate(MOMENTS + (("finished", END),)):
        last = number == len(MOMENTS)
        if last:
            program.output("train", *flags(killed))
        else:
            checks.check(run_until(killed, moment, step), f"run {number + 1} is killed when it says '{moment}' of step {step} or later")
        files = tensorboard_reads.event_files(killed)
        checks.none(list(filter(None, map(tensorboard_reads.unreadable, files))), f"TensorBoard reads every event file after run {number + 1}",
                    f"{len(files)} files")
        changed = [path for path, content in earlier.items() if pathlib.Path(path).read_bytes() != content]
        checks.check(len(files) == number + 1 and not changed, f"run {number + 1} writes a file of its own and leaves those of earlier runs alone")
        earlier = {path: pathlib.Path(path).read_bytes() for path in files}
        commit = program.inspect(killed)["newest"]
        begins.append(commit)
        checks.none(differences({"loss": [p for p in points(killed).get("loss", []) if p[0] <= commit]},
                                {"loss": [p for p in wanted["loss"] if p[0] <= commit]}),
                    f"after run {number + 1} every summary up to its newest checkpoint is in the files", f"step {commit}")
    starts = [event.step for path in tensorboard_reads.event_files(killed) for event in LegacyEventFileLoader(path).Load()
              if event.HasField("session_log") and event.session_log.status == 1]
    checks.check(starts == [commit + 1 for commit in begins[:-1]], "each run's START is one step behind the checkpoint it began from", f"{starts}")

    found = points(killed)
    no_rate = {begin + SUMMARY for begin in begins[:-1]}
    every = list(range(SUMMARY, END + 1, SUMMARY))
    rate = [step for step, _ in found.pop("global_step/sec")]
    del wanted["global_step/sec"]
    examples = [step for step, _ in found.pop("examples/sec")]
    del wanted["examples/sec"]
    checks.check(examples == rate, "examples per second are there wherever steps per second are")
    checks.check([step for step, _ in found["loss"]] == every, f"loss has every {SUMMARY}th step up to {END} once", f"{len(found['loss'])} points")
    checks.none(differences(found, wanted), "every curve is that of a run that nobody killed, value for value", f"{len(found)} curves")
    checks.check(rate == [step for step in every if step not in no_rate], "steps per second lacks the first point of each run and no other")
    checks.check(points_of_server(killed, "loss") == wanted["loss"], "TensorBoard's server has the same loss")
