#!/usr/bin/env python3
"""Runs the commands of README.md and of the guide, and compares their output with these pages, or writes it there.

Usage: readme.py --program build/MODE/cli/troupe [--check] [PAGE...]      (./dev readme builds what the pages run first)

Without PAGE all pages are run: README.md and docs/guide/*.md (a page's name begins with a small letter). What is wrong is said with page and line.
Pages do not depend on each other: the commands of a page run in its own folder, in the order of the page. In that folder are the repository's
examples/ and build/MODE, as build/release; `troupe` is on the PATH, and `./dev run` is what it is in the repository once everything is built.

Every fenced block of a page is of one of these kinds, and anything else is an error:
  ```console   lines `$ COMMAND`, each followed by what it prints (standard output, then standard error). `> ` begins a further line of a command.
               A command has to exit with 0.
               `troupe serve ... &` answers until the last command of the page has run; what it prints first is shown. It listens on a port
               that is free, and so do commands that say 8501; what is shown says 8501. The folder itself is shown as /home/me/project.
               For a command that names pkg-config the library is installed first, and pkg-config finds only that.
  quoted       `<!-- quoted: FILE -->` stands in the line above: the text of that file between the lines that end in
               `README begins` and `README ends`; of a .md file its first fenced block. `<!-- quoted: FILE NAME -->`: between `NAME begins` and
               `NAME ends`, or the whole file where NAME is `whole`. Indentation that all lines have is left out.
  ```sh        commands that are shown without output; those that begin with ./dev have to be commands of it.

`<!-- before: COMMAND -->` in a line of its own runs COMMAND in the page's folder before the first command of the page, and shows nothing. Pages
that begin with the same commands share one run of them: each gets a copy of the folder.

A page shows … for what no second run prints (see PASSING): dates, seconds, rates, the numbers of exports, names of event files.
Two outputs are the same if they are so line by line once what else differs from run to run is made alike: see VARYING. A number with a
decimal point that is left then may differ by 5 % or 0.02, because processors round differently. Progress lines come with the clock,
not with the step: it is compared only whether there are any.
"""
import argparse
import difflib
import itertools
import os
import pathlib
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT_S = 120  # Limit of each command.
PORT = "8501"  # The one of `troupe serve`.
FOLDER = "/home/me/project"  # What is shown for the folder of a page.

# What no second run prints, on any machine: pages show … in its place.
PASSING = [
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"), "… UTC"),
    (re.compile(r"events\.out\.tfevents\.\d+\.[^\s:]+?(?=\.description\b|[\s:]|$)", re.MULTILINE), "events.out.tfevents.…"),
    (re.compile(r"(?<![\w.])1[789]\d{8}(?![\w.])"), "…"),  # The second in which an export was made.
    (re.compile(r"\b(in|after) \d+(\.\d+)? s\b"), r"\1 … s"),
    (re.compile(r"\b\d+(\.\d+)? (steps|results)/s\b"), r"… \2/s"),
    (re.compile(r"\bETA [\d:]+"), "ETA …"),
]
VARYING = [
    (re.compile(r"\b\d+(\.\d+)? ([kMG]B|bytes)\b"), "<size>"),  # Sizes vary: manifests and event files hold times and the host's name.
    (re.compile(r"(?<![.\w])[0-9a-f]{8}\b"), "<checksum>"),
    (re.compile(r"^(  (?:global_step|examples)/sec .*) \S+$"), r"\1 <rate>"),
    (re.compile(r"\bcpu_level +\S+"), "cpu_level <level>"),
    (re.compile(r"^(  \S.*?)(?:  +\d+(?:\.\d+)?)+  +(?:\d\.\d{3}|-)$"), r"\1  <counts>  <recall>"),  # A row of a class table.
    (re.compile(r"lowest recall .*$"), "lowest recall <classes>"),
    (re.compile(r" {2,}"), "  "),  # The width of a column depends on its contents.
]
PROGRESS = re.compile(r"^step \d+(/\d+  \d+%)?(  … steps/s)?  loss \S+(  [a-z_/]+ \S+)?(  ETA …)?$")
EVALUATED = re.compile(r"^evaluated step \d+\b")
DECIMAL = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?|-?\d+e[-+]?\d+")
QUOTED = re.compile(r"^<!-- quoted: (\S+)(?: (\S+))? -->$")
BEFORE = re.compile(r"^<!-- before: (.+) -->$", re.MULTILINE)
COMMAND = re.compile(r"^\$ (.*(?:\n> .*)*)\n?", re.MULTILINE)


class Trouble(Exception):
    """A page that cannot be run to its end, at a line if that is known."""

    def __init__(self, text, line=None):
        super().__init__(text)
        self.line = line


def pages():
    return [ROOT / "README.md"] + sorted((ROOT / "docs" / "guide").glob("[a-z]*.md"))


def lasting(output):
    """The output as a page shows it."""
    for pattern, shown in PASSING:
        output = pattern.sub(shown, output)
    return output


def made_alike(output):
    """Lines without the parts that vary, and whether there was a progress line."""
    lines = lasting(output).rstrip("\n").split("\n")
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


def quoted(name, region=None):
    path = ROOT / name
    if not path.is_file():
        raise Trouble(f"there is no {name} to quote")
    lines = path.read_text().split("\n")
    if region == "whole":
        return "\n".join(lines).strip("\n")
    marks = ("```", "```") if path.suffix == ".md" else (f"{region or 'README'} begins", f"{region or 'README'} ends")
    begins = [i for i, line in enumerate(lines) if line.endswith(marks[0])]
    ends = [i for i, line in enumerate(lines) if line.endswith(marks[1]) and begins and i > begins[0]]
    if not ends:
        raise Trouble(f"{name} has no lines '{marks[0]}' and '{marks[1]}'")
    return textwrap.dedent("\n".join(lines[begins[0] + 1:ends[0]])).strip("\n")


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return str(any_port.getsockname()[1])


class Place:
    """The folder that the commands of one page run in, and the servers that they have started."""

    def __init__(self, directory, program, start=None):
        """`start`: a folder whose files are there from the beginning."""
        self.servers = []
        self.port = free_port()
        self.program = pathlib.Path(program)
        self.directory = pathlib.Path(directory).resolve()
        if start:
            shutil.copytree(start, self.directory, symlinks=True, dirs_exist_ok=True)
        tools = self.directory / ".tools"
        if not tools.exists():
            self.furnish(tools)
        # What pages compile is taken from the cache when it was compiled before.
        self.environment = {**os.environ, "PATH": f"{tools}:/usr/lib/ccache:{os.environ['PATH']}",
                            "CCACHE_BASEDIR": str(self.directory), "CCACHE_NOHASHDIR": "1"}

    def furnish(self, tools):
        tools.mkdir()
        (tools / "troupe").symlink_to(self.program)
        (self.directory / "examples").symlink_to(ROOT / "examples")
        (self.directory / "build").mkdir()
        (self.directory / "build" / "release").symlink_to(self.program.parent.parent)
        command = re.search(r'exec build/release/cli/troupe (.*) "\$@"', (ROOT / "dev").read_text())
        if not command:
            raise Trouble("dev runs something else than build/release/cli/troupe")
        dev = self.directory / "dev"
        dev.write_text(f'#!/bin/sh\n[ "$1" = run ] || exit 64\nshift\nexec troupe {command[1]} "$@"\n')
        dev.chmod(dev.stat().st_mode | stat.S_IXUSR)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.kill()
            server.communicate()

    def install(self):
        """Installs what is built, apart from the page's folder, so that pkg-config finds nothing else."""
        root = self.directory / ".tools" / "installed"
        if not root.exists():
            done = subprocess.run(["meson", "install", "-C", self.program.parent.parent, "--no-rebuild", "--quiet", "--destdir", root], text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S)
            if done.returncode != 0:
                raise Trouble(f"the library cannot be installed: {done.stdout.strip()} {done.stderr.strip()}")
        found = sorted(root.glob("**/pkgconfig"))
        if not found:
            raise Trouble("the library is installed without a file for pkg-config")
        self.environment.update({"PKG_CONFIG_PATH": str(found[0]), "PKG_CONFIG_SYSROOT_DIR": str(root), "LD_LIBRARY_PATH": str(found[0].parent)})

    def run(self, command):
        serving = re.fullmatch(r"(troupe serve .*) &", command)
        if serving:
            return self.serve(serving[1])
        if "pkg-config" in command:
            self.install()
        try:
            done = subprocess.run(["bash", "-c", re.sub(rf"\b{PORT}\b", self.port, command)], cwd=self.directory, env=self.environment,
                                  text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired as late:
            raise Trouble(f"`{command}` has not ended after {LIMIT_S} s") from late
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
        return re.sub(rf"\b{self.port}\b", PORT, output).replace(str(self.directory), FOLDER)


class Preparations:
    """Folders in which the commands of `before` have run, by these commands: pages that begin alike share one."""

    def __init__(self, directory, program):
        self.directory, self.program, self.made = pathlib.Path(directory), program, {}

    def folder(self, commands):
        if not commands:
            return None
        if commands not in self.made:
            folder = self.directory / str(len(self.made))
            folder.mkdir()
            with Place(folder, self.program) as place:
                for command in commands:
                    place.run(command)
            self.made[commands] = folder
        return self.made[commands]


def rerun(block, line, place, complaints):
    """The block, whose first line is `line`, with the current output of its commands; output that agrees with the old one stays as it was."""
    parts = COMMAND.split(block + "\n")
    if parts[0].strip() or len(parts) < 3:
        raise Trouble("a console block does not begin with `$ COMMAND`", line)
    text = ""
    for written, shown in zip(parts[1::2], parts[2::2]):
        try:
            printed = place.run(written.replace("\n> ", "\n"))
        except Trouble as trouble:
            raise Trouble(str(trouble), line) from trouble
        wrong = differences(shown, printed)
        if wrong:
            complaints.append((line, f"`{written}` prints something else:\n" + "\n".join("    " + one for one in wrong)))
        elif shown != lasting(shown):
            complaints.append((line, f"`{written}`: the page shows times, rates or numbers of one run, in place of …"))
        text += f"$ {written}\n{lasting(printed if wrong else shown)}".rstrip("\n") + "\n"
        line += written.count("\n") + 1 + shown.count("\n")
    return text.rstrip("\n")


def requote(name, region, block, line, complaints):
    try:
        text = quoted(name, region)
    except Trouble as trouble:
        raise Trouble(str(trouble), line) from trouble
    if text != block:
        complaints.append((line, f"the block quoted from {name} is not what it has"))
    return text


def check_shell(block, line):
    known = set(re.findall(r"^dev_([a-z]+)\(\)", (ROOT / "dev").read_text(), re.MULTILINE))
    for name in re.findall(r"^\./dev (\S+)", block, re.MULTILINE):
        if name not in known:
            raise Trouble(f"there is no ./dev {name}", line)


def renewed(text, place):
    """The page as it should be, and the differences of the present one, each with its line."""
    complaints, lines, out = [], text.split("\n"), []
    count = len(lines)
    while lines:
        line = lines.pop(0)
        out.append(line)
        if not line.startswith("```"):
            continue
        first = count - len(lines) + 1  # Of the block, counted from 1.
        if "```" not in lines:
            raise Trouble(f"the block that begins with {line} does not end", first - 1)
        end = lines.index("```")
        block, lines = "\n".join(lines[:end]), lines[end:]
        source = QUOTED.match(out[-2]) if len(out) > 1 else None
        if source:
            block = requote(source[1], source[2], block, first, complaints)
        elif line == "```console":
            block = rerun(block, first, place, complaints)
        elif line == "```sh":
            check_shell(block, first)
        else:
            raise Trouble(f"a block that begins with {line} is neither console, nor sh, nor quoted", first - 1)
        out += block.split("\n") + [lines.pop(0)]
    return "\n".join(out), complaints


def run_page(page, program, preparations, check):
    """Prints what is wrong with a page, and renews it unless it is only to be checked. Returns whether it is wrong now."""
    text = page.read_text()
    name = page.relative_to(ROOT) if page.is_relative_to(ROOT) else page
    try:
        with tempfile.TemporaryDirectory() as directory:
            start = preparations.folder(tuple(BEFORE.findall(text)))
            with Place(directory, program, start) as place:
                new, complaints = renewed(text, place)
    except Trouble as trouble:
        print(f"{name}:{trouble.line or 1}: {trouble}", flush=True)
        return True
    for line, complaint in complaints:
        print(f"{name}:{line}: {complaint}", flush=True)
    if not check and new != text:
        page.write_text(new)
    return check and bool(complaints)


def main():
    parser = argparse.ArgumentParser(description="Compares README.md and the guide with what their commands print, or renews them.")
    parser.add_argument("--program", required=True, type=pathlib.Path, help="the built troupe")
    parser.add_argument("--check", action="store_true", help="only say what differs")
    parser.add_argument("page", nargs="*", type=pathlib.Path, help="README.md or a page of docs/guide/; all of them unless given")
    options = parser.parse_args()
    for page in options.page:
        if not page.is_file():
            parser.error(f"there is no page {page}")
    program = options.program.resolve()
    with tempfile.TemporaryDirectory() as directory:
        preparations = Preparations(directory, program)
        wrong = [run_page(page.resolve(), program, preparations, options.check) for page in options.page or pages()]
    return 1 if any(wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
