#!/usr/bin/env python3
"""Compares the ops of ops.json with PyTorch: compare_layers.py LAYERS_BENCH [name ...].

Both sides run on THIMBLE_BENCH_THREADS threads (1); the fastest of many runs counts. PyTorch gets
images and volumes in both layouts, channels-last as views of NHWC tensors and channels-first, and the
faster one counts.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import torch
from torch.nn import functional as F

SECONDS = 0.5
THREADS = int(os.environ.get("THIMBLE_BENCH_THREADS", "1"))


# Views of tensors with the channels last as those that PyTorch's functions take.
VIEWS = {"nchw": lambda x: x.permute(0, 3, 1, 2), "ncdhw": lambda x: x.permute(0, 4, 1, 2, 3),
         "columns": lambda x: x.transpose(1, 2)}


def make(spec):
    low, high = spec.get("low", -1), spec.get("high", 1)
    if spec.get("dtype", "f32") == "f32":
        return (low + (high - low) * torch.rand(spec["shape"])).requires_grad_()
    dtype = torch.uint8 if spec["dtype"] == "u8" else torch.int32
    return torch.randint(low, high + 1, spec["shape"], dtype=dtype)


def microseconds(call):
    best, runs, begin = float("inf"), 0, time.perf_counter()
    while runs < 5 or time.perf_counter() - begin < SECONDS:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
        runs += 1
    return best * 1e6


def time_calls(call, tensors):
    with torch.no_grad():
        times = {"forward": microseconds(call)}
    y = call()
    leaves = [t for t in tensors if t.requires_grad]
    if y.requires_grad:
        dy = torch.randn_like(y)
        times["backward"] = microseconds(
            lambda: torch.autograd.grad(y, leaves, dy, retain_graph=True))
    return times


def peer_times(layer):
    tensors = dict(zip("xgb", map(make, layer["inputs"])))
    call = f"lambda: {layer['torch']}"
    names = {"torch": torch, "F": F}
    times = time_calls(eval(call, names | VIEWS | tensors), tensors.values())
    viewed = re.findall(r"\b(nchw|ncdhw|columns)\((\w)\)", call)
    if not viewed:
        return times
    for view, name in viewed:
        tensors[name] = VIEWS[view](tensors[name].detach()).contiguous().requires_grad_()
    as_they_are = {view: lambda x: x for view in VIEWS}
    others = time_calls(eval(call, names | as_they_are | tensors), tensors.values())
    return {what: min(times[what], others[what]) for what in times}


def main():
    bench, wanted = sys.argv[1], sys.argv[2:]
    torch.set_num_threads(THREADS)
    print(f"PyTorch {torch.__version__}, {THREADS} thread(s); microseconds, fastest of many runs")
    print("| op | PyTorch, us | thimble, us | times faster |")
    print("| --- | ---: | ---: | ---: |")
    for layer in json.loads((pathlib.Path(__file__).parent / "ops.json").read_text()):
        name = layer["name"]
        if wanted and name not in wanted:
            continue
        own = json.loads(subprocess.check_output([bench, name]))[name]
        for what, peer in peer_times(layer).items():
            if what in own:
                print(f"| {name} {what} | {peer:.1f} | {own[what]:.1f} | {peer / own[what]:.2f} |",
                      flush=True)


if __name__ == "__main__":
    main()
