#!/usr/bin/env python3
"""Compares batch normalisation and pooling with PyTorch: compare_norm_pool.py NORM_POOL_BENCH [FILTER].

Settings as in compare.py.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from beside import compare_layers, torch  # noqa: E402


def norm_calls(layer):
    calls = {"/forward": [], "/backward": [], "/inference": []}
    channels = layer["c"]
    ones, zeros = torch.ones(channels), torch.zeros(channels)
    for memory in (torch.contiguous_format, torch.channels_last):
        x = torch.randn(layer["n"], channels, layer["h"], layer["w"]).to(memory_format=memory)

        def forward(x, training):
            return torch.native_batch_norm(x, ones, zeros, zeros, ones, training, 0.1, 1e-5)

        def backward(x, mean, rstd):
            return torch.ops.aten.native_batch_norm_backward(
                x, x, ones, zeros, ones, mean, rstd, True, 1e-5, [True] * 3)

        _, mean, rstd = forward(x, True)
        calls["/forward"].append(lambda x=x: forward(x, True))
        calls["/backward"].append(lambda x=x, m=mean, r=rstd: backward(x, m, r))
        calls["/inference"].append(lambda x=x: forward(x, False))
    return calls


def pool_calls(layer):
    names = ("/max/forward", "/max/backward", "/average/forward", "/average/backward")
    calls = {name: [] for name in names}
    sizes = [[layer["r"]] * 2, [layer["stride"]] * 2, [layer.get("pad", 0)] * 2]
    f = torch.nn.functional
    aten = torch.ops.aten
    for memory in (torch.contiguous_format, torch.channels_last):
        x = torch.randn(layer["n"], layer["c"], layer["h"], layer["w"]).to(memory_format=memory)
        y, index = f.max_pool2d(x, *sizes, return_indices=True)
        calls[names[0]].append(lambda x=x: f.max_pool2d(x, *sizes, return_indices=True))
        calls[names[1]].append(lambda x=x, y=y, i=index: aten.max_pool2d_with_indices_backward(
            y, x, *sizes, [1, 1], False, i))
        calls[names[2]].append(lambda x=x: f.avg_pool2d(x, *sizes))
        calls[names[3]].append(lambda x=x, y=y: aten.avg_pool2d_backward(
            y, x, *sizes, False, True, None))
    return calls


if __name__ == "__main__":
    compare_layers(json.loads((pathlib.Path(__file__).parent / "layers.json").read_text()),
                   {"batch_norm": norm_calls, "pool": pool_calls})
