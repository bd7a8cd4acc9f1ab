#!/usr/bin/env python3
"""Compares attention and recurrent layers with PyTorch: compare_sequence.py SEQUENCE_BENCH [FILTER].

Settings as in compare.py. "training" of a recurrent layer is its forward pass and the gradients of
all its parameters.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from beside import compare_layers, torch  # noqa: E402


def attention_calls(layer):
    n, t, h, d = (layer[key] for key in "nthd")
    q = torch.randn(n, h, t, d)
    k, v = (torch.randn(n, layer.get("g", h), t, d).repeat_interleave(h // layer.get("g", h), 1)
            for _ in range(2))
    causal = layer.get("causal", False)
    flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    y, lse = flash(q, k, v, 0.0, causal)
    backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
    return {"/forward": [lambda: flash(q, k, v, 0.0, causal)],
            "/backward": [lambda: backward(y, q, k, v, y, lse, 0.0, causal)]}


def recurrent_calls(layer):
    kind = torch.nn.LSTM if layer["kind"] == "lstm" else torch.nn.GRU
    model = kind(layer["features"], layer["units"], layer["layers"], batch_first=True)
    x = torch.rand(layer["n"], layer["t"], layer["features"]) - 0.5

    def train():
        with torch.enable_grad():
            y, *_ = model(x)
            torch.autograd.grad((y * y).mean(), list(model.parameters()))

    return {"/forward": [lambda: model(x)], "/training": [train]}


if __name__ == "__main__":
    compare_layers(json.loads((pathlib.Path(__file__).parent / "layers.json").read_text()),
                   {"attention": attention_calls, "recurrent": recurrent_calls})
