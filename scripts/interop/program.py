"""The built program, as a process."""
import json
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
WORK = ROOT / "build" / "interop"
CONFIG = ROOT / "scripts" / "fashion_mnist.toml"
LIMIT_S = 300


def command(name, *flags):
    return [str(BUILD / "cli" / "troupe"), name, *map(str, flags)]


def output(name, *flags):
    """Standard output of a command that has to succeed."""
    return checked(command(name, *flags))


def example(name, *arguments):
    return checked([str(BUILD / "examples" / name), *map(str, arguments)])


def checked(line):
    done = subprocess.run(line, cwd=ROOT, text=True, capture_output=True, timeout=LIMIT_S)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(line)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def inspect(path, *flags):
    return json.loads(output("inspect", path, "--json", *flags))


def checkpoints(model_dir):
    """Prefixes, the oldest first."""
    return [pathlib.Path(model_dir) / f"model.ckpt-{checkpoint['step']}" for checkpoint in inspect(model_dir)["checkpoints"]]


def fresh(name):
    """An empty directory of that name."""
    directory = WORK / name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    return directory


def settings(model_dir, steps, **more):
    """Flags of a short run of a small network; `more` are keys of the configuration."""
    keys = {"hidden_units": "[64,32]", "log_step_count_steps": 25, **more}
    flags = ["--config", CONFIG, "--model-dir", model_dir, "--max-steps", steps]
    for key, value in keys.items():
        flags += ["--set", f"{key}={value}"]
    return flags
