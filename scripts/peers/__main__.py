"""Training steps a second of ours, torch and JAX on the same models, data and starting values.

Usage: python scripts/peers [--json] [--threads 1|2] [--vectors avx2] [PART OF A ROW'S NAME]...      (./dev bench --peers builds the rest first)

With --vectors avx2 all sides are held to AVX2, as on a processor without AVX-512. The shares are of the limit that the multiply-add units
of the threads' cores set, which a loop on registers measures in the same rounds with vectors of the same width.

For each row three processes stand by, and take turns of about a second, round after round. Each one first trains some steps from
the same start on the same batches; nothing is measured unless they all come to the same loss.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from process import Side

ROOT = pathlib.Path(__file__).resolve().parents[2]
OURS = ROOT / "build" / "release" / "tests" / "bench" / "train_step_side"
COMPARED_STEPS = 10
TOLERANCE = 1e-3
ROUNDS, SECONDS, LIMIT_SECONDS = 5, 0.7, 0.1
WANTED_RATIO, WANTED_SHARE = 1.05, 0.92  # With AVX2 one of them.
# What holds each library to AVX2: ours, XLA, torch's own kernels, its oneDNN and its MKL. torch_side.py tells its compiler. XLA's flag is for
# the code that XLA makes itself; YNNPACK, which it calls for products, goes by the processor alone (a profile shows dot_fp32_..._avx512 whatever
# the flag), so that its products are left to oneDNN.
AVX2 = {"TROUPE_VECTORS": "avx2", "XLA_FLAGS": "--xla_cpu_max_isa=AVX2 --xla_cpu_experimental_ynn_fusion_type=",
        "ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2"}


def settings(threads, held):
    """The environment variables of a side."""
    one = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1" if threads == 1 else ""
    flags = " ".join(filter(None, (held.get("XLA_FLAGS"), one)))  # XLA reads no further than the word without dashes.
    return {"OMP_NUM_THREADS": str(threads), "TORCHINDUCTOR_CACHE_DIR": str(ROOT / "build" / "peers" / "inductor"), **held, "XLA_FLAGS": flags}


def measure(row, rule, threads, held):
    """Rates of each variant, one for each round, ours first; and the limit's."""
    with tempfile.TemporaryDirectory() as work:
        start = pathlib.Path(work) / "start.safetensors"
        described = [row, rule, str(threads), str(COMPARED_STEPS), str(start)]
        sides = [Side([str(OURS)] + described, threads, settings(threads, held))]
        try:
            sides[0].begin()  # Ours writes the starting values for the others.
            for script in ("torch_side.py", "jax_side.py"):
                sides.append(Side([sys.executable, "-B", str(ROOT / "scripts" / "peers" / script)] + described, threads, settings(threads, held)))
                sides[-1].begin()
            expected = sides[0].losses["ours"]
            for side in sides:
                for variant, loss in side.losses.items():
                    if not abs(loss - expected) <= TOLERANCE * abs(expected):
                        raise RuntimeError(f"{row}, {rule}: after {COMPARED_STEPS} steps the loss is {loss:.7g} of {variant} and {expected:.7g} ours")
            rates = {variant: [] for side in sides for variant in side.losses}
            limits = []
            for _ in range(ROUNDS):
                limits.append(threads * sides[0].rate("limit", LIMIT_SECONDS))
                for side in sides:
                    for variant in side.losses:
                        rates[variant].append(side.rate(variant, SECONDS))
        finally:
            for side in sides:
                side.end()
    return rates, limits


def summary(rates, limits):
    """Medians, the ratio of ours to the fastest peer in each round, and each one's share of the limit."""
    medians = {variant: statistics.median(of_one) for variant, of_one in rates.items()}
    fastest = max((v for v in medians if v != "ours"), key=medians.get)
    ratios = [a / b for a, b in zip(rates["ours"], rates[fastest])]
    shares = {variant: statistics.median(rate / limit for rate, limit in zip(of_one, limits)) for variant, of_one in rates.items()}
    return medians, fastest, statistics.median(ratios), min(ratios), max(ratios), shares


def main():
    parser = argparse.ArgumentParser(prog="./dev bench --peers")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--threads", type=int, choices=(1, 2), action="append")
    parser.add_argument("--vectors", choices=("avx2",))
    parser.add_argument("rows", nargs="*")
    options = parser.parse_args()
    held = AVX2 if options.vectors else {}
    listed = subprocess.run([str(OURS)], check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()
    for threads in options.threads or (1, 2):
        for row in listed:
            if options.rows and not any(part in row for part in options.rows):
                continue
            for rule in ("momentum", "adam"):
                medians, fastest, ratio, least, greatest, shares = summary(*measure(row, rule, threads, held))
                reached = ratio >= WANTED_RATIO or shares["ours"] >= WANTED_SHARE
                if options.json:
                    print(json.dumps({"bench": "peers", "case": row, "optimizer": rule, "threads": threads, "vectors": options.vectors,
                                      "unit": "steps/s", **medians, "reference_name": fastest, "ratio": ratio, "ratio_min": least, "ratio_max": greatest,
                                      "share": shares["ours"], "reference_share": shares[fastest]}), flush=True)
                else:
                    print(f"{row}, {rule}, {threads} thread{'s' if threads > 1 else ''}: ratio {ratio:.3f} ({least:.3f}, {greatest:.3f}) to {fastest}"
                          f"; {shares['ours']:.2f} of the limit, {fastest} {shares[fastest]:.2f}"
                          + (f"; wanted {WANTED_RATIO} or {WANTED_SHARE} of the limit" if options.vectors and threads == 1 and not reached else ""))
                    print("  " + "  ".join(f"{variant} {rate:.5g}" for variant, rate in medians.items()), flush=True)


if __name__ == "__main__":
    main()
