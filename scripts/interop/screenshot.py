"""docs/tensorboard.png: pages of TensorBoard in headless Chromium that show a run."""
import io
import json
import logging
import pathlib
import subprocess
import tempfile
import urllib.parse

import PIL.Image
import tensorboard.default
import tensorboard.program

import program

PICTURE = program.ROOT / "docs" / "tensorboard.png"
RUN = "fashion-mnist"
BYTES_MAX, WIDTH, HEIGHT, COLOURS = 250_000, 1200, 880, 64
CARDS = [{"plugin": "scalars", "tag": tag} for tag in ("loss", "accuracy")]
# Training beside the evaluation, the confusion matrix, the graph and the hyperparameters.
PAGES = (
    ("timeseries", {"pinnedCards": json.dumps(CARDS), "smoothing": "0"}),
    ("images", {}),
    (f"graphs&run={RUN}", {}),
    ("hparams", {}),
)
SETTLED_MS = 60_000  # Milliseconds of the page's own clock, which Chromium lets run ahead.


def page(url, directory):
    shot = directory / "shot.png"
    shot.unlink(missing_ok=True)
    done = subprocess.run(
        ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={directory}/profile",
         f"--window-size={WIDTH},{HEIGHT}", f"--virtual-time-budget={SETTLED_MS}", f"--screenshot={shot}", url],
        capture_output=True, text=True, timeout=program.LIMIT_S)
    if done.returncode != 0:
        raise RuntimeError(f"chromium ended with {done.returncode} at {url}: {done.stderr.strip()[-500:]}")
    return PIL.Image.open(shot).convert("RGB")


def colours_of(picture):
    return len(set(picture.get_flattened_data() if hasattr(picture, "get_flattened_data") else picture.getdata()))


def tensorboard_shows_a_run(checks, steps, **settings):
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    # The page of hyperparameters finds evaluations where the log directory is that above the run's. Paths are shown as they are given.
    runs = program.fresh("shown").relative_to(program.ROOT)
    program.output("train", *program.settings(runs / RUN, steps, **settings))
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        server = tensorboard.program.TensorBoard(plugins=tensorboard.default.get_plugins())
        # Port 0: any that is free. The server ends with this process.
        server.configure(argv=["tensorboard", "--logdir", str(runs), "--host", "127.0.0.1", "--port", "0", "--load_fast", "false"])
        base = server.launch()
        pages = [page(f"{base}?{urllib.parse.urlencode({'darkMode': 'false', 'forceSVG': 'true', **query})}#{tab}", directory) for tab, query in PAGES]
    for (tab, _), one in zip(PAGES, pages):
        checks.check(colours_of(one) > 100, f"the page of {tab.split('&')[0]} shows more than an empty one", f"{colours_of(one)} colours")
    picture = PIL.Image.new("RGB", (2 * WIDTH, 2 * HEIGHT))
    for i, one in enumerate(pages):
        picture.paste(one, (i % 2 * WIDTH, i // 2 * HEIGHT))
    picture = picture.resize((WIDTH * 3 // 2, HEIGHT * 3 // 2), PIL.Image.Resampling.LANCZOS)
    small = io.BytesIO()
    picture.quantize(COLOURS, dither=PIL.Image.Dither.NONE).save(small, "PNG", optimize=True)
    if checks.check(len(small.getvalue()) <= BYTES_MAX, f"the picture has {BYTES_MAX} bytes or less", f"{len(small.getvalue())} bytes"):
        PICTURE.write_bytes(small.getvalue())
