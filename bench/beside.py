"""What the comparisons of kernels with PyTorch share.

Both sides take turns over several rounds and the fastest time of each counts, because other work on
the machine only ever slows one down. THIMBLE_BENCH_THREADS sets the threads of both (default 1),
THIMBLE_BENCH_ROUNDS the rounds (default 4).
"""
import json
import os
import re
import subprocess
import sys
import time

THREADS = int(os.environ.get("THIMBLE_BENCH_THREADS", "1"))
os.environ["OMP_NUM_THREADS"] = str(THREADS)
import torch  # noqa: E402  (reads OMP_NUM_THREADS)

ROUNDS = int(os.environ.get("THIMBLE_BENCH_ROUNDS", "4"))
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def fastest(call, seconds=0.1):
    """Seconds of the fastest call within a fixed time."""
    call()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def thimble_seconds(bench, name, repetitions=40, min_time=0.002):
    """Seconds of the fastest of many short runs of a benchmark, or, where it tells, of its calls."""
    out = subprocess.run(
        [bench, f"--benchmark_filter=^{re.escape(name)}/real_time$", "--benchmark_format=json",
         f"--benchmark_repetitions={repetitions}", f"--benchmark_min_time={min_time}",
         "--benchmark_report_aggregates_only=true"],
        check=True, capture_output=True, text=True).stdout
    row = next(r for r in json.loads(out)["benchmarks"] if r["aggregate_name"] == "min")
    return row.get("fastest") or row["real_time"] * SECONDS[row["time_unit"]]


def in_turns(calls, own):
    """Seconds of PyTorch, the fastest of its calls, and of thimble by own()."""
    peer, ours = float("inf"), float("inf")
    for _ in range(ROUNDS):
        peer = min([peer, *(fastest(call) for call in calls)])
        ours = min(ours, own())
    return peer, ours


def compare_layers(layers, kinds, operations=None):
    """Prints a table: BENCH [FILTER] of the command line on the layers, {kind: list}.

    kinds: of each kind the function that turns a layer into {suffix of the name: calls of PyTorch}.
    operations(kind, layer): floating-point operations of a call, for a column GFLOP/s.
    """
    bench, pattern = sys.argv[1], re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    torch.set_num_threads(THREADS)
    torch.set_grad_enabled(False)
    speed = " GFLOP/s |" if operations else ""
    print(f"PyTorch {torch.__version__}, {THREADS} thread(s); microseconds, fastest of {ROUNDS} rounds")
    print(f"| layer | PyTorch, us | thimble, us |{speed} times faster |")
    print("| --- | ---: | ---: | ---: |" + (" ---: |" if operations else ""))
    for kind, make in kinds.items():
        for layer in layers[kind]:
            for suffix, calls in make(layer).items():
                name = layer["name"] + suffix
                if not pattern.search(name):
                    continue
                peer, own = in_turns(calls, lambda name=name: thimble_seconds(bench, name))
                if operations:
                    speed = f" {operations(kind, layer) / own / 1e9:.0f} |"
                print(f"| {name} | {peer * 1e6:.1f} | {own * 1e6:.1f} |{speed} {peer / own:.2f} |",
                      flush=True)
