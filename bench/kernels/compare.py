#!/usr/bin/env python3
"""Compares the kernels with PyTorch, layer by layer: python compare.py KERNELS_BENCH [FILTER].

Both sides take turns over several rounds and the fastest time of each counts, because other work on
the machine only ever slows one down. PyTorch gets its best settings: one OpenMP pool, gradients of
convolutions by their own operator (no autograd around them), outputs allocated beforehand where it
can, and the faster of channels_last and contiguous memory.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

THREADS = int(os.environ.get("THIMBLE_BENCH_THREADS", "1"))
os.environ["OMP_NUM_THREADS"] = str(THREADS)
import torch  # noqa: E402  (reads OMP_NUM_THREADS)

ROUNDS = 4
SECONDS_PER_ROUND = 0.1


def fastest(call):
    """Seconds of the fastest call within a fixed time."""
    call()
    best, end = float("inf"), time.perf_counter() + SECONDS_PER_ROUND
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def matmul_calls(layer):
    m, n, k = layer["m"], layer["n"], layer["k"]
    a = torch.randn(k, m).t() if layer.get("transpose_a") else torch.randn(m, k)
    b = torch.randn(n, k).t() if layer.get("transpose_b") else torch.randn(k, n)
    y = torch.empty(m, n)
    return {"": [lambda: torch.mm(a, b, out=y)]}


def conv_calls(layer):
    calls = {"/forward": [], "/data": [], "/weights": []}
    stride, pad, groups = layer.get("stride", 1), layer["pad"], layer.get("groups", 1)
    transposed = bool(layer.get("transposed"))
    for memory in (torch.contiguous_format, torch.channels_last):
        x = torch.randn(layer["n"], layer["c"], layer["h"], layer["w"])
        w = torch.randn(layer["k"], layer["c"] // groups, layer["r"], layer["r"])
        y = torch.nn.functional.conv2d(x, w, None, stride, pad, 1, groups)
        x, w, y = (t.to(memory_format=memory) for t in (x, w, y))
        if transposed:
            x, y = y, x

        def run(x, w, transposed=transposed):
            f = torch.nn.functional.conv_transpose2d if transposed else torch.nn.functional.conv2d
            return f(x, w, None, stride, pad, groups=groups)

        def back(mask, x, w, y):
            return torch.ops.aten.convolution_backward(
                y, x, w, None, [stride] * 2, [pad] * 2, [1, 1], transposed, [0, 0], groups, mask)

        calls["/forward"].append(lambda x=x, w=w: run(x, w))
        calls["/data"].append(lambda x=x, w=w, y=y: back([True, False, False], x, w, y))
        calls["/weights"].append(lambda x=x, w=w, y=y: back([False, True, False], x, w, y))
    return calls


def thimble_seconds(bench, name):
    out = subprocess.run(
        [bench, f"--benchmark_filter=^{re.escape(name)}/real_time$", "--benchmark_format=json",
         "--benchmark_repetitions=40", "--benchmark_min_time=0.002",
         "--benchmark_report_aggregates_only=true"],
        check=True, capture_output=True, text=True).stdout
    rows = [r for r in json.loads(out)["benchmarks"] if r["aggregate_name"] == "min"]
    return rows[0]["real_time"] * 1e-6


def main():
    bench, pattern = sys.argv[1], re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    torch.set_num_threads(THREADS)
    torch.set_grad_enabled(False)
    layers = json.loads((pathlib.Path(__file__).parent / "layers.json").read_text())
    print(f"PyTorch {torch.__version__}, {THREADS} thread(s); microseconds, fastest of {ROUNDS} rounds")
    print("| layer | PyTorch, us | thimble, us | GFLOP/s | times faster |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for kind, make in (("matmul", matmul_calls), ("conv", conv_calls)):
        for layer in layers[kind]:
            for suffix, calls in make(layer).items():
                name = layer["name"] + suffix
                if not pattern.search(name):
                    continue
                peer, own = float("inf"), float("inf")
                for _ in range(ROUNDS):
                    peer = min(peer, *(fastest(call) for call in calls))
                    own = min(own, thimble_seconds(bench, name))
                print(f"| {name} | {peer * 1e6:.1f} | {own * 1e6:.1f} | "
                      f"{operations(kind, layer) / own / 1e9:.0f} | {peer / own:.2f} |", flush=True)


def operations(kind, layer):
    if kind == "matmul":
        return 2 * layer["m"] * layer["n"] * layer["k"]
    out = (layer["h"] + 2 * layer["pad"] - layer["r"]) // layer.get("stride", 1) + 1
    return (2 * layer["n"] * out * out * layer["k"] * layer["r"] ** 2 * layer["c"]
            // layer.get("groups", 1))


if __name__ == "__main__":
    main()
