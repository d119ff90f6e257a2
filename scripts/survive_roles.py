"""Trains and evaluates as two processes while both are killed, and looks at what they leave (./dev survive --roles).

Usage: survive_roles.py --program TROUPE [--kills N] [--evaluator-kills N] [--seed N]

A chief trains scripts/fashion_mnist.toml with the rule, the best checkpoint and the exporters of examples/fashion_mnist.toml; an evaluator
evaluates what it commits. The chief gets SIGKILL N times and the evaluator N times, each once the chief has reached a drawn step, and is
started again at once; steps that are close end a process while it starts. Then both have to end by themselves, with status 0, and the
directory must have

  - each evaluated step at most once in the event files of each evaluation, and the last checkpoint in all of them
  - each exported checkpoint once, and an export of the last rule
  - the best of all evaluated checkpoints, whole, named by the newest one
"""
import argparse
import collections
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

from survive import ROOT, curves, events_of, read_events

LIMIT_S = 300
CLUSTER = {"chief": ["localhost:0"]}
EVALUATIONS = ("eval", "eval_train")


class Process:
    """One of the two, which may be killed and started again."""
    def __init__(self, options, work, task):
        self.task, self.log = task, work / f"{task}.jsonl"
        self.command = [options.program, "train", "--config", ROOT / "examples/fashion_mnist.toml", "--model-dir", "run", "--json",
                        "--set", "input.epochs=none", "--max-steps", str(options.steps), "--batch-size", "1024",
                        "--set", "save_checkpoints_steps=10", "--set", "log_step_count_steps=5"]
        self.environment = os.environ | {"TF_CONFIG": json.dumps({"cluster": CLUSTER, "task": {"type": task, "index": 0}})}
        self.work, self.starts = work, 0
        self.start()

    def start(self):
        self.starts += 1
        with open(self.log, "a") as log:
            self.running = subprocess.Popen(self.command, cwd=self.work, env=self.environment, stdout=log, stderr=subprocess.STDOUT)

    def kill(self):
        """False: it had ended before."""
        if self.running.poll() is not None:
            return False
        self.running.send_signal(signal.SIGKILL)
        self.running.wait()
        return True

    def await_step(self, step):
        """Waits until the training has reached that step, or the process has ended, at most LIMIT_S."""
        end = time.monotonic() + LIMIT_S
        while self.running.poll() is None and time.monotonic() < end:
            if max((event.get("global_step", 0) for event in self.events()), default=0) >= step:
                return
            time.sleep(0.005)

    def events(self):
        return events_of(self.log.read_text().splitlines(keepends=True))


def records(folder):
    """How often each (tag, step) is in the event files of a folder."""
    return collections.Counter((tag, step) for path in folder.glob("events.out.tfevents.*") for step, tag, _ in read_events(path) if tag)


def check(work, chief, evaluator):
    trouble, run = [], work / "run"
    for process in (chief, evaluator):
        if process.running.returncode != 0:
            trouble.append(f"the {process.task} ended with status {process.running.returncode}: {process.log.read_text()[-1000:]}")
    if trouble:
        return trouble
    last = chief.events()[-1]["global_step"]
    for name in EVALUATIONS:
        counts = records(run / name)
        trouble += [f"{name} has {n} records of {tag} at step {step}" for (tag, step), n in counts.items() if n > 1]
        if ("accuracy", last) not in counts:
            trouble.append(f"{name} lacks the last checkpoint, of step {last}")
    exported = collections.Counter(json.loads(path.read_text())["origin"]["global_step"] for path in run.glob("export/best/*/graph.json"))
    trouble += [f"step {step} was exported {n} times" for step, n in exported.items() if n > 1]
    if len(list(run.glob("export/final/*/manifest.json"))) != 1:
        trouble.append("there is not one final export")
    accuracies = {step: struct.unpack("<f", dict(value)[2])[0] for (tag, step), value in curves(run / "eval", []).items() if tag == "accuracy"}
    best = json.loads((run / "judged.json").read_text())["best"]["at"]["step"]
    greatest = min(step for step, value in accuracies.items() if value == max(accuracies.values()))
    if best != greatest or not (run / f"model.ckpt-{best}.manifest.json").exists():
        trouble.append(f"judged.json names step {best} as the best, and it is {greatest}")
    print(f"the job ended at step {last}; {len(accuracies)} checkpoints were evaluated, {sum(exported.values())} exported; the best is that of step {best}")
    return trouble


def main():
    parser = argparse.ArgumentParser(prog="./dev survive --roles", description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=int(os.environ.get("TROUPE_SURVIVE_KILLS", "3")), help="of the chief")
    parser.add_argument("--evaluator-kills", type=int, default=2)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("TROUPE_SURVIVE_SEED", "1")))
    options = parser.parse_args()
    options.program, options.steps = options.program.resolve(), 60 * options.kills
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="troupe-survive-") as folder:
        work = pathlib.Path(folder)
        evaluator, chief = Process(options, work, "evaluator"), Process(options, work, "chief")
        victims = [chief] * options.kills + [evaluator] * options.evaluator_kills
        draw.shuffle(victims)
        killed = collections.Counter()
        for step, victim in zip(sorted(draw.randrange(options.steps * 7 // 10) for _ in victims), victims):
            chief.await_step(step)
            time.sleep(draw.uniform(0, 0.05))
            if victim.kill():
                killed[victim.task] += 1
                victim.start()
        wanted = {"chief": options.kills, "evaluator": options.evaluator_kills}
        trouble = [f"the {task} was to be killed {n} times, and was killed {killed[task]}" for task, n in wanted.items() if killed[task] != n]
        for process in (chief, evaluator):
            try:
                process.running.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                trouble.append(f"the {process.task} did not end within {LIMIT_S} s")
        print(f"killed: the chief {killed['chief']} times, the evaluator {killed['evaluator']} times")
        trouble += check(work, chief, evaluator)
    print("\n".join(trouble) or "each commit was evaluated and exported at most once, the last one always, and the best is kept")
    return bool(trouble)


if __name__ == "__main__":
    sys.exit(main())
