#!/usr/bin/env python3
"""Compares the update kernels with PyTorch's: python compare.py UPDATES_BENCH.

Both sides take turns over several rounds and the fastest time of each counts, because other work on
the machine only ever slows one down. PyTorch runs its fused kernels, called without the Python of
torch.optim around them, on tensors of the same sizes; RMSProp has none and runs by torch.optim.
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


def sgd(n):
    param, grad, buffer = (torch.full((n,), 0.01 * (i + 1)) for i in range(3))
    return lambda: torch._fused_sgd_(
        [param], [grad], [buffer], weight_decay=0.0, momentum=0.9, lr=1e-6, dampening=0.0,
        nesterov=False, maximize=False, is_first_step=False)


def rmsprop(n):
    param = torch.nn.Parameter(torch.full((n,), 0.01))
    param.grad = torch.full((n,), 0.02)
    return torch.optim.RMSprop([param], lr=1e-6).step


def clip(n):
    param = torch.nn.Parameter(torch.zeros(n))
    param.grad = torch.full((n,), 0.01)
    return lambda: torch.nn.utils.clip_grad_norm_([param], 1e9)


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
    print(f"{'kernel':<10}{'elements':>12}{'thimble':>10}{'PyTorch':>10}{'ratio':>8}")
    for name, make in (("adamw", adamw), ("sgd", sgd), ("rmsprop", rmsprop), ("clip", clip)):
        for n in SIZES:
            call = make(n)
            ours, theirs = float("inf"), float("inf")
            for _ in range(ROUNDS):
                ours = min(ours, thimble_seconds(bench, f"{name}/{n}"))
                theirs = min(theirs, fastest(call))
            print(f"{name:<10}{n:>12}{ours / n * 1e9:>10.3f}{theirs / n * 1e9:>10.3f}"
                  f"{theirs / ours:>8.2f}")


if __name__ == "__main__":
    main()
