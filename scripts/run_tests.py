#!/usr/bin/env python3
"""Runs the test programs of one or more build directories and counts their test cases.

Usage: run_tests.py MODE... [--all] [--filter TEXT]      (./dev test builds build/MODE first)

The last line is `N passed, N failed, N skipped`, over all modes. A case that FILTER leaves out is not counted; one marked
skip() counts as skipped. A program that crashes, hangs, leaks or races counts as one more failed case.
"""
import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUPPORT = ROOT / "tests" / "support"
LIMIT_S = 120  # Limit of each program; `timeout:` in meson.build sets a longer one.
SLOWER = {"asan": 5, "tsan": 10, "coverage": 2, "debug": 3}  # How many times slower a mode may be.
# With --all in a release build: seeds of the random faults (500 otherwise) with time, and of several groups (300 each), for how long memory has to stay
# level (6 s), and how often nodes are ended and processes killed (3). All orders of three messages are tried, and not
# one of twenty. Planted faults are looked for, and not only played from kept seeds.
THOROUGH = {"TROUPE_FAULT_SEEDS": "20000", "TROUPE_TIMED_SEEDS": "20000", "TROUPE_GROUP_SEEDS": "20000", "TROUPE_GROWTH_SEEDS": "20000",
            "TROUPE_SEARCH_SEEDS": "5000", "TROUPE_SESSION_SEEDS": "20000", "TROUPE_PROCESS_SEEDS": "5000",
            "TROUPE_PATIENCE_SECONDS": "60", "TROUPE_SURVIVE_KILLS": "20",
            "TROUPE_ORDERS_EVERY": "1", "TROUPE_PLANT": "all"}
SHOWN_LINES_MAX = 400
SUMMARY = re.compile(r"^\[doctest\] test cases:\s*(\d+) \|\s*(\d+) passed \|\s*(\d+) failed", re.MULTILINE)


def sanitizer_environment(mode):
    # handle_*=2: the sanitizer keeps its signal handlers, since its report says more than doctest's.
    if mode == "fuzz":
        return {"UBSAN_OPTIONS": "print_stacktrace=1"}
    if mode == "asan":
        own = "handle_segv=2:handle_sigbus=2:handle_sigfpe=2:handle_sigill=2"
        return {
            "ASAN_OPTIONS": f"{own}:detect_stack_use_after_return=1:strict_string_checks=1",
            "LSAN_OPTIONS": f"suppressions={SUPPORT}/lsan.supp:print_suppressions=1",
            "UBSAN_OPTIONS": "print_stacktrace=1",
        }
    if mode == "tsan":
        # Otherwise a process goes on with its other threads for a second after _exit, and what a signal has ended is still written.
        return {"TSAN_OPTIONS": f"suppressions={SUPPORT}/tsan.supp:print_suppressions=1:exitcode=66:second_deadlock_stack=1:"
                                "handle_segv=2:handle_sigbus=2:atexit_sleep_ms=0"}
    return {}


@dataclasses.dataclass
class Result:
    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    trouble: str = ""  # Why a program failed beyond its failed cases.
    output: str = ""


class Program:
    def __init__(self, mode, entry, thorough):
        self.mode = mode
        self.name = entry["name"]
        self.parallel = entry.get("is_parallel", True)
        self.doctest = not any(suite.split(":")[-1] == "program" for suite in entry["suite"])
        self.limit_s = max(LIMIT_S, entry["timeout"]) * SLOWER.get(mode, 1)
        self.directory = entry["workdir"] or str(ROOT / "build" / mode)
        self.environment = {**os.environ, **entry["env"], **sanitizer_environment(mode)}
        if thorough and mode == "release":
            self.environment = {**THOROUGH, **self.environment}
        # The thread sanitizer of GCC 12 does not start under the wide address randomisation of newer kernels.
        fixed_addresses = ["setarch", os.uname().machine, "-R"] if mode == "tsan" and shutil.which("setarch") else []
        self.command = fixed_addresses + entry["cmd"]

    def execute(self, arguments, limit_s):
        """Returns (exit status or None when it ran past its limit, output). Leaves no child behind."""
        process = subprocess.Popen(self.command + arguments, cwd=self.directory, env=self.environment, text=True, errors="replace",
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        status = None
        try:
            output, _ = process.communicate(timeout=limit_s)
            status = process.returncode
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)  # doctest answers with the name of the running case.
            try:
                output, _ = process.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, _ = process.communicate()
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return status, output

    def run(self, pattern):
        result = Result(self.name)
        start = time.monotonic()
        if self.doctest:
            self.run_doctest(result, pattern)
        elif not pattern or pattern.lower() in self.name.lower():
            status, result.output = self.execute([], self.limit_s)
            result.passed, result.skipped = int(status == 0), int(status == 77)
            if status not in (0, 77):
                result.failed, result.trouble = 1, self.ending(status)
        result.seconds = time.monotonic() - start
        return result

    def run_doctest(self, result, pattern):
        # A backslash keeps doctest from taking a comma as the start of another filter.
        filters = ["--test-case=*" + re.sub(r"([\\,])", r"\\\1", pattern) + "*"] if pattern else []
        status, listing = self.execute(["--reporters=xml", "--list-test-cases", "--no-skip=true"] + filters, LIMIT_S)
        try:
            cases = xml.etree.ElementTree.fromstring(listing[listing.index("<?xml"):listing.index("</doctest>") + 10]).findall("TestCase")
        except (ValueError, xml.etree.ElementTree.ParseError):
            result.failed, result.trouble, result.output = 1, "does not list its cases: " + self.ending(status), listing
            return
        result.skipped = sum(case.get("skipped") == "true" for case in cases)
        if len(cases) == result.skipped:
            return
        status, result.output = self.execute(["--no-colors=true"] + filters, self.limit_s)
        summaries = SUMMARY.findall(result.output)
        if summaries:
            _, result.passed, result.failed = map(int, summaries[-1])
        if status is None or not summaries or (status != 0 and result.failed == 0):
            result.failed = max(result.failed, 1)  # If doctest could still report, it has counted the running case.
            result.trouble = self.ending(status)

    def ending(self, status):
        if status is None:
            return f"ran past its limit of {self.limit_s} s"
        if status < 0:
            return f"crashed with {signal.Signals(-status).name}"
        return f"ended with exit status {status}"


def shown(output):
    lines = output.rstrip("\n").split("\n")
    if len(lines) > SHOWN_LINES_MAX:
        cut = len(lines) - SHOWN_LINES_MAX
        lines = lines[:SHOWN_LINES_MAX // 4] + [f"... {cut} lines left out ..."] + lines[-(SHOWN_LINES_MAX * 3 // 4):]
    return "\n".join("    " + line for line in lines)


def report(mode, result):
    counts = f"{result.passed} passed"
    counts += f", {result.failed} FAILED" if result.failed else ""
    counts += f", {result.skipped} skipped" if result.skipped else ""
    counts += f": {result.trouble}" if result.trouble else ""
    print(f"  {mode:<8} {result.name:<20} {result.seconds:7.2f} s  {counts}", flush=True)
    if result.failed:
        print(shown(result.output), flush=True)


def suppressions_used(outputs):
    """How often each line of a suppression file matched, from what the sanitizers print at exit."""
    used = {}
    for output in outputs:
        for count, rule in re.findall(r"^\s*(\d+) ((?:race|thread|mutex|signal|deadlock|called_from_lib|race_top):\S+)", output, re.MULTILINE):
            used[rule] = used.get(rule, 0) + int(count)
        for table in re.findall(r"Suppressions used:\n\s*count\s+bytes template\n((?:\s*\d+\s+\d+ .*\n)+)", output):
            for count, rule in re.findall(r"(\d+)\s+\d+ (.*)", table):
                used["leak:" + rule] = used.get("leak:" + rule, 0) + int(count)
    return used


def suppression_lines(name):
    text = (SUPPORT / name).read_text()
    return [line.strip() for line in text.split("\n") if line.strip() and not line.startswith("#")]


def report_suppressions(mode, results):
    files = {"asan": ["lsan.supp"], "tsan": ["tsan.supp"]}.get(mode, [])
    used = suppressions_used(result.output for result in results)
    for name in files:
        for rule in suppression_lines(name):
            print(f"  {name}: {rule} matched {used.get(rule, 0)} times")


def programs_of(mode, thorough):
    build = ROOT / "build" / mode
    listing = subprocess.run(["meson", "introspect", "--tests", str(build)], check=True, capture_output=True, text=True).stdout
    return [Program(mode, entry, thorough) for entry in json.loads(listing)]


def run_modes(modes, pattern, thorough):
    """The programs of all modes in one queue, those that may take longest first: no core waits for the last one of a mode."""
    programs = [program for mode in modes for program in programs_of(mode, thorough)]
    results = []

    def note(program, result):
        results.append((program.mode, result))
        if result.passed + result.failed + result.skipped:
            report(program.mode, result)

    with concurrent.futures.ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
        running = {pool.submit(p.run, pattern): p for p in sorted(programs, key=lambda p: -p.limit_s) if p.parallel}
        for future in concurrent.futures.as_completed(running):
            note(running[future], future.result())
    for program in programs:
        if not program.parallel:
            note(program, program.run(pattern))
    for mode in modes:
        report_suppressions(mode, [result for of, result in results if of == mode])
    return [result for _, result in results]


def main():
    parser = argparse.ArgumentParser(description="Runs the test programs of build/MODE and counts their cases.")
    parser.add_argument("modes", nargs="+", metavar="MODE")
    parser.add_argument("--all", action="store_true", help="as many seeds as a night has time for")
    parser.add_argument("--filter", default="", help="only test cases whose title contains this")
    options = parser.parse_args()
    results = run_modes(options.modes, options.filter, options.all)
    passed, failed, skipped = (sum(getattr(r, what) for r in results) for what in ("passed", "failed", "skipped"))
    if passed + failed == 0:
        print("no test ran" if skipped or not options.filter else f"no test case has '{options.filter}' in its title")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
