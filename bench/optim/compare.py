#!/usr/bin/env python3
"""Compares the update kernels with PyTorch's: python compare.py UPDATES_BENCH.

Both sides take turns over several rounds and the fastest time of each counts, because other work on
the machine only ever slows one down. PyTorch runs its fused kernels, called without the Python of
torch.optim around them, where there are any, on tensors of the same sizes; the others run by
torch.optim. What PyTorch has not is shown beside infinity.
THIMBLE_BENCH_THREADS sets the threads of both (default 1).
"""
import json
import os
import subprocess
import sys
import time

THREADS = int(os.environ.get("THIMBLE_BENCH_THREADS", "1"))
os.environ["OMP_NUM_THREADS"] = str(THREADS)
import torch  # noqa: E402  (reads OMP_NUM_THREADS)

ROUNDS = 4
SECONDS_PER_ROUND = 0.2
SIZES = [1000, 100_000, 1_000_000, 10_000_000]


def fastest(call):
    """Seconds of the fastest call within a fixed time."""
    call()
    best, end = float("inf"), time.perf_counter() + SECONDS_PER_ROUND
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def adamw(n):
    param, grad, m, v = (torch.full((n,), 0.01 * (i + 1)) for i in range(4))
    step = torch.tensor(7.0)
    return lambda: torch._fused_adamw_(
        [param], [grad], [m], [v], [], [step], lr=1e-6, beta1=0.9, beta2=0.999,
        weight_decay=0.01, eps=1e-8, amsgrad=False, maximize=False)


def sgd_momentum(n):
    param, grad, buffer = (torch.full((n,), 0.01 * (i + 1)) for i in range(3))
    return lambda: torch._fused_sgd_(
        [param], [grad], [buffer], weight_decay=0.0, momentum=0.9, lr=1e-6, dampening=0.0,
        nesterov=False, maximize=False, is_first_step=False)


def by_optim(kind):
    def make(n):
        param = torch.nn.Parameter(torch.full((n // 100, 100), 0.01))
        param.grad = torch.full((n // 100, 100), 0.02)
        return kind([param], lr=1e-6).step
    return make


def clip(n):
    param = torch.nn.Parameter(torch.zeros(n))
    param.grad = torch.full((n,), 0.01)
    return lambda: torch.nn.utils.clip_grad_norm_([param], 1e9)


OPTIM = torch.optim
KERNELS = {
    "adamw": adamw, "sgd_momentum": sgd_momentum, "rmsprop": by_optim(OPTIM.RMSprop),
    "adagrad": by_optim(OPTIM.Adagrad), "adadelta": by_optim(OPTIM.Adadelta),
    "adamax": by_optim(OPTIM.Adamax), "nadam": by_optim(OPTIM.NAdam),
    "radam": by_optim(OPTIM.RAdam), "adafactor": by_optim(OPTIM.Adafactor),
    "adamw_8bit": None, "lion": None, "sign_sgd": None, "lars": None, "lamb": None, "clip": clip}


def thimble_seconds(bench, name):
    out = subprocess.run(
        [bench, f"--benchmark_filter=^{name}/real_time$", "--benchmark_format=json",
         "--benchmark_repetitions=20", "--benchmark_min_time=0.01",
         "--benchmark_report_aggregates_only=true"],
        check=True, capture_output=True, text=True).stdout
    rows = [r for r in json.loads(out)["benchmarks"] if r["aggregate_name"] == "min"]
    return rows[0]["real_time"] * 1e-9


def main():
    bench = sys.argv[1]
    torch.set_num_threads(THREADS)
    print(f"{THREADS} threads, fastest of {ROUNDS} rounds, nanoseconds an element")
    print(f"{'kernel':<14}{'elements':>12}{'thimble':>10}{'PyTorch':>10}{'ratio':>8}")
    for name, make in KERNELS.items():
        for n in SIZES:
            call = make(n) if make else None
            ours, theirs = float("inf"), float("inf")
            for _ in range(ROUNDS):
                ours = min(ours, thimble_seconds(bench, f"{name}/{n}"))
                theirs = min(theirs, fastest(call)) if call else theirs
            print(f"{name:<14}{n:>12}{ours / n * 1e9:>10.3f}{theirs / n * 1e9:>10.3f}"
                  f"{theirs / ours:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
