"""docs/tensorboard.png: TensorBoard in headless Chromium, showing a run."""
import io
import json
import logging
import subprocess
import tempfile
import urllib.parse

import PIL.Image
import tensorboard.default
import tensorboard.program

import program

PICTURE = program.ROOT / "docs" / "tensorboard.png"
BYTES_MAX, WIDTH, HEIGHT, COLOURS = 150_000, 1440, 960, 64
CARDS = [{"plugin": "scalars", "tag": tag} for tag in ("loss", "accuracy")]
CARDS += [{"plugin": "histograms", "tag": f"dnn/hiddenlayer_{layer}/kernel", "runId": "defaultExperimentId/."} for layer in (0, 1)]
SETTLED_MS = 60_000  # Milliseconds of the page's own clock, which Chromium lets run ahead.


def tensorboard_shows_the_run(checks, run):
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = tensorboard.program.TensorBoard(plugins=tensorboard.default.get_plugins())
    # Port 0: any that is free. The server ends with this process.
    server.configure(argv=["tensorboard", "--logdir", str(run), "--host", "127.0.0.1", "--port", "0", "--load_fast", "false"])
    query = urllib.parse.urlencode({"darkMode": "false", "forceSVG": "true", "smoothing": "0", "pinnedCards": json.dumps(CARDS)})
    url = f"{server.launch()}?{query}#timeseries"
    with tempfile.TemporaryDirectory() as directory:
        shot = f"{directory}/shot.png"
        done = subprocess.run(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={directory}/profile",
             f"--window-size={WIDTH},{HEIGHT}", f"--virtual-time-budget={SETTLED_MS}", f"--screenshot={shot}",
             url],
            capture_output=True, text=True, timeout=program.LIMIT_S)
        if done.returncode != 0:
            raise RuntimeError(f"chromium ended with {done.returncode}: {done.stderr.strip()[-500:]}")
        picture = PIL.Image.open(shot).convert("RGB")
    small = io.BytesIO()
    picture.quantize(COLOURS, dither=PIL.Image.Dither.NONE).save(small, "PNG", optimize=True)
    colours = len(set(picture.get_flattened_data() if hasattr(picture, "get_flattened_data") else picture.getdata()))
    if checks.check(len(small.getvalue()) <= BYTES_MAX and colours > 100, f"the screenshot shows more than an empty page in {BYTES_MAX} bytes or less",
                    f"{len(small.getvalue())} bytes, {colours} colours"):
        PICTURE.write_bytes(small.getvalue())
