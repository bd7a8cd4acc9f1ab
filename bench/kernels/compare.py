#!/usr/bin/env python3
"""Compares the kernels with PyTorch, layer by layer: python compare.py KERNELS_BENCH [FILTER].

PyTorch gets its best settings: one OpenMP pool, gradients of convolutions by their own operator (no
autograd around them), outputs allocated beforehand where it can, and the faster of channels_last and
contiguous memory.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from beside import compare_layers, torch  # noqa: E402


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


def operations(kind, layer):
    if kind == "matmul":
        return 2 * layer["m"] * layer["n"] * layer["k"]
    out = (layer["h"] + 2 * layer["pad"] - layer["r"]) // layer.get("stride", 1) + 1
    return (2 * layer["n"] * out * out * layer["k"] * layer["r"] ** 2 * layer["c"]
            // layer.get("groups", 1))


if __name__ == "__main__":
    compare_layers(json.loads((pathlib.Path(__file__).parent / "layers.json").read_text()),
                   {"matmul": matmul_calls, "conv": conv_calls}, operations)
