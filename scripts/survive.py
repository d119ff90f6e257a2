"""Trains scripts/fashion_mnist.toml while its nodes are ended and its process is killed, and compares with an undisturbed run.

Usage: survive.py --program TROUPE --planted DIRECTORY [--kills N] [--steps N] [--seed N]      (./dev survive builds both first)
       survive.py --program TROUPE --search [--kills N] [--steps N] [--seed N]                 (./dev survive --search)

TROUPE is the program as it is. DIRECTORY has a libtroupe with planted faults (words/planted.hpp), which ends replicas, infeeds and
readers at the steps that the environment names. Three runs follow each other:

  undisturbed   with the library as it is
  ended         in one process, whose replica, infeed and reader are ended N times, each at a drawn step
  killed        its nodes are ended as well, and its process gets SIGKILL N times, at drawn steps; the last process ends by itself

The second and the third have to leave the parameters, slots, positions, books and evaluations of the first, byte for byte, and event
files with one value for each step. A process that is killed between a commit and its evaluation leaves that evaluation out, as the next
one does not evaluate the checkpoint that it goes on from; the last evaluation is always there.

With --search it searches ensembles, as examples/fashion_mnist_search.toml says, in three iterations of 15 ticks for each kill. It does so twice: its
iterations are won by averages, then by an evaluation. Each time three runs follow each other:

  undisturbed   on all processors
  pinned        on one processor
  killed        its process gets SIGKILL N times, some milliseconds after it told of drawn states, and once in each growth of the search

The second and the third have to leave what is said above, and the same architectures, marks of specs, result and predictions.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = ("replica/0", "infeed/0", "infeed/0.reads")
SAVE_STEPS, EVAL_BATCHES, LIMIT_S = 5, 2, 300
ITERATIONS, SEARCH_SAVE_STEPS = 3, 20
SAVE_S, GROWTH_S = 0.05, 0.05  # About as long as SEARCH_SAVE_STEPS ticks, and a growth, take.
BATCH_SIZE = 1024  # Steps that take some milliseconds, so that a signal comes before the end.


# -- running --------------------------------------------------------------------------------

class Runs:
    command = ["train", "--config", ROOT / "scripts/fashion_mnist.toml", "--batch-size", str(BATCH_SIZE)]
    settings = {"save_checkpoints_steps": SAVE_STEPS, "recovery_first_delay_secs": 0, "recovery_attempts_max": 100}

    def __init__(self, options, work):
        self.options, self.work = options, work

    def start(self, name, ends=None):
        settings = self.settings | {"save_summary_steps": 1, "log_step_count_steps": 1, "evaluate.steps": EVAL_BATCHES, "evaluate.throttle_secs": 0}
        folder = self.work / name  # The same relative path in each run: event files name checkpoints by it.
        folder.mkdir(exist_ok=True)
        command = [self.options.program, *self.command, "--model-dir", "run", "--max-steps", str(self.options.steps), "--json"]
        for key, value in settings.items():
            command += ["--set", f"{key}={value}"]
        if name == "pinned":
            command = ["taskset", "-c", "0", *command]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("TROUPE_PLANTED")}
        if ends is not None:
            environment |= {"LD_LIBRARY_PATH": str(self.options.planted), "TROUPE_PLANTED_ENDS": " ".join(ends)}
        return subprocess.Popen(command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def to_the_end(self, name, ends=None):
        process = self.start(name, ends)
        try:
            output, _ = process.communicate(timeout=LIMIT_S)
        finally:
            process.kill()
        if process.returncode != 0:
            raise SystemExit(f"the run '{name}' ended with status {process.returncode}:\n{output[-4000:]}")
        return events_of(output.splitlines(keepends=True))

    def killed_at(self, name, step, ends=None, told=("progress", "saved"), after_s=0.0):
        """The events of a process that gets SIGKILL `after_s` after it tells of `step`, and whether that came before its end."""
        process = self.start(name, ends)
        lines = []
        with process:
            for line in process.stdout:
                lines.append(line)
                if any(e["event"] in told and e["global_step"] >= step for e in events_of([line])):
                    try:
                        process.wait(after_s)
                    except subprocess.TimeoutExpired:
                        process.send_signal(signal.SIGKILL)
                    lines += process.stdout.readlines()
                    break
        return events_of(lines), process.returncode == -signal.SIGKILL


class SearchRuns(Runs):
    """`by`: what wins an iteration, average or evaluation."""
    def __init__(self, options, work, by):
        super().__init__(options, work)
        self.command = ["search", "--config", ROOT / "examples/fashion_mnist_search.toml", "--max-iterations", str(ITERATIONS),
                        "--max-iteration-steps", str(options.steps // ITERATIONS)]
        self.settings = {"save_checkpoints_steps": SEARCH_SAVE_STEPS, "search.choose.by": by}
        if by == "evaluation":
            self.settings["search.choose.steps"] = EVAL_BATCHES

    def predictions(self, name):
        return subprocess.run([self.options.program, "predict", "run", "--quiet"], cwd=self.work / name, check=True, stdout=subprocess.PIPE).stdout


def events_of(lines):
    """A kill may tear the last line."""
    return [json.loads(line) for line in lines if line.startswith('{"event"') and line.endswith("}\n")]


# -- what is left behind ---------------------------------------------------------------------

def state(directory, name):
    """The files of a checkpoint, without the time at which it was written."""
    manifest = json.loads((directory / f"{name}.manifest.json").read_text())
    for changing in ("wall_time", "manifest_crc32c"):  # The checksum is the manifest's own.
        manifest.pop(changing, None)
    return {file["name"]: (directory / file["name"]).read_bytes() for file in manifest["files"]}, manifest


def varint(data, at):
    value, shift = 0, 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return value, at


def fields(data):
    """(number, value) for each field of a protobuf message; the value is bytes, or a number of a varint."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        size = {1: 8, 5: 4}.get(key & 7, 0)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            if key & 7 == 2:
                size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def read_events(path):
    """(step, tag, value) for each value of an event file, and (step, None, None) for a START, which withdraws what follows it."""
    data, at = path.read_bytes(), 0
    while at + 12 <= len(data):
        size = struct.unpack_from("<Q", data, at)[0]
        event = data[at + 12:at + 12 + size]
        if len(event) < size:
            return  # A kill may tear the last record.
        at += 16 + size
        step = next((value for number, value in fields(event) if number == 2), 0)
        for number, value in fields(event):
            if number == 7 and any(n == 1 and v == 1 for n, v in fields(value)):
                yield step, None, None
            elif number == 5:
                for part in (v for n, v in fields(value) if n == 1):
                    entries = list(fields(part))
                    tag = next(v for n, v in entries if n == 1).decode()
                    if tag not in ("global_step/sec", "examples/sec") and not tag.startswith("_hparams_/"):  # Rates, and times of sessions.
                        yield step, tag, tuple((n, v) for n, v in entries if n != 1)


def curves(directory, trouble):
    """{(tag, step): value} over all event files of a directory."""
    found = {}
    for path in sorted(directory.glob("events.out.tfevents.*"), key=lambda p: (p.name.split(".")[3], p.stat().st_mtime_ns)):
        own = set()
        for step, tag, value in read_events(path):
            if tag is None:
                found = {key: v for key, v in found.items() if key[1] < step}
                continue
            if (tag, step) in own:
                trouble.append(f"{path.name} has two values of {tag} at step {step}")
            own.add((tag, step))
            found[tag, step] = value
    return found


def derived_files(directory):
    """What a search writes of its books: architectures, and marks of specs that have stopped."""
    return {str(path.relative_to(directory)): path.read_bytes() for place in ("architecture-*.json", "train_manager/*/*.json")
            for path in directory.glob(place)}


def event_folders(directory):
    return {path.parent.relative_to(directory) for path in directory.rglob("events.out.tfevents.*")}


def differences(whole, other, checkpoint, steps, evaluations, other_evaluations, not_evaluated):
    """What of `other` is not as in `whole`, but for evaluations of the steps `not_evaluated`, which may be missing."""
    trouble = []
    (files, manifest), (other_files, other_manifest) = state(whole, checkpoint), state(other, checkpoint)
    trouble += [f"{name} differs" for name in sorted(files.keys() | other_files.keys()) if files.get(name) != other_files.get(name)]
    trouble += [f"'{key}' of the manifest differs" for key in manifest | other_manifest if manifest.get(key) != other_manifest.get(key)]
    derived, other_derived = derived_files(whole), derived_files(other)
    trouble += [f"{name} differs" for name in sorted(derived.keys() | other_derived.keys()) if derived.get(name) != other_derived.get(name)]
    if evaluations != other_evaluations:
        trouble.append(f"evaluations are {other_evaluations} in place of {evaluations}")
    for folder in sorted(event_folders(whole) | event_folders(other)):
        wanted, found = curves(whole / folder, trouble), curves(other / folder, trouble)
        trouble += [f"events in {folder}: {tag} of step {step} differs" for tag, step in sorted(wanted.keys() | found.keys())
                    if wanted.get((tag, step)) != found.get((tag, step))
                    and not (folder.name == "eval" and step in not_evaluated and (tag, step) not in found)]
    if len([1 for tag, _ in curves(other, []) if tag == "loss"]) != steps:
        trouble.append("the curve of the loss does not have each step once")
    return trouble


def evaluations_of(events, earlier=None):
    """The metrics of each evaluated step; one that is made again has to be the same."""
    all_of = dict(earlier or {})
    for e in events:
        if e["event"] == "evaluated" and all_of.setdefault(e["global_step"], e["metrics"]) != e["metrics"]:
            raise SystemExit(f"the evaluation of step {e['global_step']} has other metrics when it is made again")
    return all_of


# -- the three runs --------------------------------------------------------------------------

def draw_ends(draw, kills, steps):
    """So many ends, one in each stretch of the training, of one kind after the other."""
    stretch = steps / kills
    return [f"{KINDS[k % 3]}@{min(steps - 1, int((k + draw.random()) * stretch))}" for k in range(kills)]


def ended_in(events):
    """The planted ends that were told as the cause of a recovery, or beside it."""
    text = " ".join(e["message"] for e in events if e["event"] == "recovering")
    return {word.rstrip(";,:)") for word in text.split() if "@" in word and word.split("@")[0] in KINDS}


def survive(runs):
    o, draw = runs.options, random.Random(runs.options.seed)
    evaluations = evaluations_of(runs.to_the_end("undisturbed"))
    trouble = []

    def compare(name, found, not_evaluated=()):
        trouble.extend(f"{name}: {text}" for text in differences(runs.work / "undisturbed/run", runs.work / name / "run", f"model.ckpt-{o.steps}",
                                                                 o.steps, evaluations, found, not_evaluated))

    ends = draw_ends(draw, o.kills, o.steps)
    events = runs.to_the_end("ended", ends)
    causes = ended_in(events)
    recoveries = sum(e["event"] == "recovered" for e in events)
    print(f"ended: {len(causes)} of {len(ends)} ends were causes of {recoveries} recoveries: {' '.join(ends)}", flush=True)
    for kind in KINDS[:o.kills]:
        if not any(cause.startswith(kind + "@") for cause in causes):
            trouble.append(f"ended: no {kind} was")
    compare("ended", evaluations_of(events))

    kills, found, places, gone_on_from = 0, {}, [], set()
    stretch = 0.8 * o.steps / o.kills
    for k in range(o.kills + 1):
        step = int((k + draw.random()) * stretch)
        if k == o.kills:
            events = runs.to_the_end("killed", [])
        else:
            events, killed = runs.killed_at("killed", step, draw_ends(draw, 1 + o.kills // 4, o.steps))
            kills += killed
            places.append(str(step))
        found = evaluations_of(events, found)
        gone_on_from |= {e["global_step"] for e in events if e["event"] == "started"}
    print(f"killed: {kills} processes of {o.kills}, at the steps {' '.join(places)}", flush=True)
    if kills < o.kills:
        trouble.append(f"killed: {o.kills - kills} processes had ended before")
    # What a killed process had told last may not have been read; its event files have it.
    compare("killed", evaluations | found, gone_on_from - {o.steps})
    return trouble


def survive_search(runs):
    o, draw, trouble = runs.options, random.Random(runs.options.seed), []
    by = runs.settings["search.choose.by"]
    whole = runs.to_the_end("undisturbed")
    checkpoint, predictions = f"model.ckpt-{o.steps}-iteration-{ITERATIONS - 1}", runs.predictions("undisturbed")
    evaluations = evaluations_of(whole)

    def compare(name, events, found, not_evaluated=()):
        told = differences(runs.work / "undisturbed/run", runs.work / name / "run", checkpoint, o.steps, evaluations, found, not_evaluated)
        if events[-1]["search"] != whole[-1]["search"]:
            told.append(f"the result is {events[-1]['search']} in place of {whole[-1]['search']}")
        if runs.predictions(name) != predictions:
            told.append("predictions differ")
        trouble.extend(f"{name}, by {by}: {text}" for text in told)

    events = runs.to_the_end("pinned")
    compare("pinned", events, evaluations_of(events))

    stretch = 0.8 * o.steps / o.kills
    kills, found, places, gone_on_from = 0, {}, [], set()
    for k in range(o.kills):
        ends = [end for end in range(o.steps // ITERATIONS, o.steps, o.steps // ITERATIONS) if int(k * stretch) < end <= int((k + 1) * stretch)]
        if ends:
            step, told, after_s = ends[0], draw.choice([("saved",), ("chosen",)]), draw.uniform(0, GROWTH_S)
        else:
            step, told, after_s = int((k + draw.random()) * stretch), ("progress", "saved"), draw.uniform(0, SAVE_S)
        events, killed = runs.killed_at("killed", step, None, told, after_s)
        kills += killed
        places.append(f"{' '.join(told) + ' ' if ends else ''}{step} + {1000 * after_s:.0f} ms")
        found = evaluations_of(events, found)
        gone_on_from |= {e["global_step"] for e in events if e["event"] == "started"}
    events = runs.to_the_end("killed")
    gone_on_from |= {e["global_step"] for e in events if e["event"] == "started"}
    print(f"killed, by {by}: {kills} processes of {o.kills}, at the states {', '.join(places)}", flush=True)
    if kills < o.kills:
        trouble.append(f"killed, by {by}: {o.kills - kills} processes had ended before")
    compare("killed", events, evaluations | evaluations_of(events, found), gone_on_from - {o.steps})
    return trouble


def in_new_folder(play):
    work = pathlib.Path(tempfile.mkdtemp(prefix="troupe-survive-"))
    try:
        return play(work)
    finally:
        shutil.rmtree(work)


def main():
    parser = argparse.ArgumentParser(prog="./dev survive", description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--planted", type=pathlib.Path, help="the folder of a libtroupe with planted faults")
    parser.add_argument("--search", action="store_true", help="search, in place of training one model")
    parser.add_argument("--kills", type=int, default=int(os.environ.get("TROUPE_SURVIVE_KILLS", "3")), help="ends of nodes, and kills of processes")
    parser.add_argument("--steps", type=int, default=0, help="12 for each kill, 45 of a search, unless said")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("TROUPE_SURVIVE_SEED", "1")))
    options = parser.parse_args()
    if options.kills < 1:
        parser.error("--kills is at least 1")
    if options.search == (options.planted is not None):
        parser.error("either --planted or --search")
    options.program = options.program.resolve()
    options.steps = options.steps or (45 if options.search else 12) * options.kills
    if options.search:
        if options.steps % ITERATIONS:
            parser.error(f"--steps {options.steps} is no multiple of {ITERATIONS}, the number of iterations")
        trouble = []
        for by in ("average", "evaluation"):
            trouble += in_new_folder(lambda work, by=by: survive_search(SearchRuns(options, work, by)))
    else:
        options.planted = options.planted.resolve()
        trouble = in_new_folder(lambda work: survive(Runs(options, work)))
    same = "parameters, slots, positions" + (", evaluations, architectures and predictions" if options.search else " and evaluations")
    print("\n".join(trouble) or f"the {same} are those of an undisturbed run, after {options.steps} steps")
    return bool(trouble)


if __name__ == "__main__":
    sys.exit(main())
