#!/usr/bin/env python3
"""Runs the commands of README.md, and compares their output with the README, or writes it there.

Usage: readme.py --program build/MODE/cli/troupe [--check]      (./dev readme builds the program first)

Every fenced block of the README is of one of these kinds, and anything else is an error:
  ```console   lines `$ COMMAND`, each followed by what it prints (standard output, then standard error). All of them run in one
               temporary directory, in the order of the README, with the repository's examples/ in it and `troupe` on the PATH.
               There, `./dev run` is what it is in the repository once everything is built. A command has to exit with 0.
               `troupe serve ... &` answers until the last command has run; what it prints first is shown. It listens on a port that is
               free, and so do commands that say 8501; what is shown says 8501.
  quoted       `<!-- quoted: FILE -->` stands in the line above: the text of that file between the lines that end in
               `README begins` and `README ends`; of a .md file its first fenced block.
  ```sh        commands that are shown without output; those that begin with ./dev have to be commands of it.

Two outputs are the same if they are so line by line once what differs from run to run is made alike: see VARYING. A number with a
decimal point that is left then may differ by 5 % or 0.02, because processors round differently. Progress lines come with the clock,
not with the step: it is compared only whether there are any.
"""
import argparse
import difflib
import itertools
import os
import pathlib
import re
import socket
import stat
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT_S = 120  # Limit of each command.
PORT = "8501"  # The one of `troupe serve`.

VARYING = [
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"), "<time>"),
    (re.compile(r"events\.out\.tfevents\.\d+\.[^\s:]+"), "events.out.tfevents.<time>.<host>"),
    (re.compile(r"(?<![\w.])1[789]\d{8}(?![\w.])"), "<export>"),  # The second in which it was made.
    (re.compile(r"\bin \d+(\.\d+)? s\b"), "in <seconds> s"),
    (re.compile(r"\b\d+(\.\d+)? (steps|results)/s\b"), r"<rate> \2/s"),
    (re.compile(r"\b\d+(\.\d+)? ([kMG]B|bytes)\b"), "<size>"),  # Sizes vary: manifests and event files hold times and the host's name.
    (re.compile(r"(?<![.\w])[0-9a-f]{8}\b"), "<checksum>"),
    (re.compile(r"^(  global_step/sec .*) \S+$"), r"\1 <rate>"),
    (re.compile(r"\bcpu_level +\S+"), "cpu_level <level>"),
    (re.compile(r"^(  \S.*?)(?:  +\d+(?:\.\d+)?)+  +(?:\d\.\d{3}|-)$"), r"\1  <counts>  <recall>"),  # A row of a class table.
    (re.compile(r"lowest recall .*$"), "lowest recall <classes>"),
    (re.compile(r" {2,}"), "  "),  # The width of a column depends on its contents.
]
PROGRESS = re.compile(r"^step \d+(/\d+  \d+%)?(  [\d.]+ steps/s)?  loss \S+(  [a-z_/]+ \S+)?(  ETA [\d:]+)?$")
EVALUATED = re.compile(r"^evaluated step \d+\b")
DECIMAL = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?|-?\d+e[-+]?\d+")
QUOTED = re.compile(r"^<!-- quoted: (\S+) -->$")


class Trouble(Exception):
    pass


def made_alike(output):
    """Lines without the parts that vary, and whether there was a progress line."""
    lines = output.rstrip("\n").split("\n")
    kept = [line for line in lines if not PROGRESS.match(line)]
    # Evaluations of one state end in any order: their lines are sorted.
    state = lambda line: (EVALUATED.match(line) or [line])[0]  # noqa: E731
    kept = [line for text, run in itertools.groupby(kept, state) for line in (sorted(run) if EVALUATED.match(text) else run)]
    for pattern, placeholder in VARYING:
        kept = [pattern.sub(placeholder, line) for line in kept]
    return kept, len(kept) < len(lines)


def lines_agree(shown, printed):
    if DECIMAL.sub("#", shown) != DECIMAL.sub("#", printed):
        return False
    pairs = zip(map(float, DECIMAL.findall(shown)), map(float, DECIMAL.findall(printed)))
    return all(abs(a - b) <= max(0.02, 0.05 * abs(b)) for a, b in pairs)


def differences(shown, printed):
    """Lines of a diff; none where both are equal."""
    (shown, shown_progress), (printed, printed_progress) = made_alike(shown), made_alike(printed)
    if shown_progress != printed_progress:
        return [f"{'-' if shown_progress else '+'} lines of progress"]
    if len(shown) == len(printed) and all(map(lines_agree, shown, printed)):
        return []
    return list(difflib.unified_diff(shown, printed, "shown", "printed", n=1, lineterm=""))


def quoted(name):
    path = ROOT / name
    lines = path.read_text().split("\n")
    marks = ("```", "```") if path.suffix == ".md" else ("README begins", "README ends")
    begins = [i for i, line in enumerate(lines) if line.endswith(marks[0])]
    ends = [i for i, line in enumerate(lines) if line.endswith(marks[1]) and begins and i > begins[0]]
    if not ends:
        raise Trouble(f"{name} has no lines '{marks[0]}' and '{marks[1]}'")
    return "\n".join(lines[begins[0] + 1:ends[0]]).strip("\n")


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return str(any_port.getsockname()[1])


class Place:
    """The directory that the commands run in, and the servers that they have started."""

    def __init__(self, directory, program):
        self.servers = []
        self.port = free_port()
        self.directory = pathlib.Path(directory)
        tools = self.directory / ".tools"
        tools.mkdir()
        (tools / "troupe").symlink_to(program)
        (self.directory / "examples").symlink_to(ROOT / "examples")
        command = re.search(r'exec build/release/cli/troupe (.*) "\$@"', (ROOT / "dev").read_text())
        if not command:
            raise Trouble("dev runs something else than build/release/cli/troupe")
        dev = self.directory / "dev"
        dev.write_text(f'#!/bin/sh\n[ "$1" = run ] || exit 64\nshift\nexec troupe {command[1]} "$@"\n')
        dev.chmod(dev.stat().st_mode | stat.S_IXUSR)
        self.environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.kill()
            server.communicate()

    def run(self, command):
        serving = re.fullmatch(r"(troupe serve .*) &", command)
        if serving:
            return self.serve(serving[1])
        done = subprocess.run(["bash", "-c", re.sub(rf"\b{PORT}\b", self.port, command)], cwd=self.directory, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S)
        if done.returncode != 0:
            raise Trouble(f"`{command}` exits with {done.returncode}: {done.stderr.strip()}")
        return self.shown(done.stdout + done.stderr)

    def serve(self, command):
        """The first line of a server, which tells that it answers."""
        server = subprocess.Popen(["bash", "-c", f"exec {command} --port {self.port}"], cwd=self.directory, env=self.environment, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.servers.append(server)
        limit = threading.Timer(LIMIT_S, server.kill)
        limit.start()
        line = server.stdout.readline()
        limit.cancel()
        if self.port not in line:
            raise Trouble(f"`{command}` does not serve: {line.strip()}")
        return self.shown(line)

    def shown(self, output):
        return re.sub(rf"\b{self.port}\b", PORT, output)


def rerun(block, place, complaints):
    """The block with the current output of its commands; output that agrees with the old one stays as it was."""
    parts = re.split(r"^\$ (.*)\n?", block + "\n", flags=re.MULTILINE)
    if parts[0].strip() or len(parts) < 3:
        raise Trouble("a console block does not begin with `$ COMMAND`")
    text = ""
    for command, shown in zip(parts[1::2], parts[2::2]):
        printed = place.run(command)
        wrong = differences(shown, printed)
        if wrong:
            complaints.append(f"`{command}` prints something else:\n" + "\n".join("    " + line for line in wrong))
        text += f"$ {command}\n{printed if wrong else shown}".rstrip("\n") + "\n"
    return text.rstrip("\n")


def requote(name, block, complaints):
    text = quoted(name)
    if text != block:
        complaints.append(f"the block quoted from {name} is not what it has")
    return text


def check_shell(block):
    known = set(re.findall(r"^dev_([a-z]+)\(\)", (ROOT / "dev").read_text(), re.MULTILINE))
    for name in re.findall(r"^\./dev (\S+)", block, re.MULTILINE):
        if name not in known:
            raise Trouble(f"there is no ./dev {name}")


def renewed(text, place):
    """The README as it should be, and the differences of the present one."""
    complaints, lines, out = [], text.split("\n"), []
    while lines:
        line = lines.pop(0)
        out.append(line)
        if not line.startswith("```"):
            continue
        if "```" not in lines:
            raise Trouble(f"the block that begins with {line} does not end")
        end = lines.index("```")
        block, lines = "\n".join(lines[:end]), lines[end:]
        source = QUOTED.match(out[-2]) if len(out) > 1 else None
        if source:
            block = requote(source[1], block, complaints)
        elif line == "```console":
            block = rerun(block, place, complaints)
        elif line == "```sh":
            check_shell(block)
        else:
            raise Trouble(f"a block that begins with {line} is neither console, nor sh, nor quoted")
        out += block.split("\n") + [lines.pop(0)]
    return "\n".join(out), complaints


def main():
    parser = argparse.ArgumentParser(description="Compares README.md with what its commands print, or renews it.")
    parser.add_argument("--program", required=True, type=pathlib.Path, help="the built troupe")
    parser.add_argument("--check", action="store_true", help="only say what differs")
    options = parser.parse_args()
    readme = ROOT / "README.md"
    with tempfile.TemporaryDirectory() as directory:
        try:
            with Place(directory, options.program.resolve()) as place:
                text, complaints = renewed(readme.read_text(), place)
        except (Trouble, subprocess.TimeoutExpired) as trouble:
            sys.exit(f"README.md: {trouble}")
    for complaint in complaints:
        print(f"README.md: {complaint}")
    if options.check:
        return 1 if complaints else 0
    readme.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
