#!/usr/bin/env python3
"""How far thimble's float32 and PyTorch's are from double precision, op by op, in a training of gpt.

Usage: PYTHONPATH=BUILD/python python bench/pytorch/rounding.py [STEPS]

After STEPS steps of training (5), PyTorch computes the next step in double precision. Of its first and last
block, every op's inputs and incoming gradients are rounded to float32. thimble and PyTorch compute the op and
its gradients from them, and PyTorch once more in double precision. Printed: the norm of the difference
from double precision over the norm, of thimble and of PyTorch, and the first over the second.
"""
import sys

import border
import gpt
import numpy as np
import thimble as tb
import torch
from torch import nn
from torch.nn import functional as F


class Recorder:
    """The inputs and incoming gradients of functions and modules, in the order of their calls."""

    def __init__(self):
        self.calls = {}

    def add(self, name, inputs, result):
        call = {"inputs": [x.detach() for x in inputs], "dy": None}
        result.register_hook(lambda dy: call.update(dy=dy.detach()))
        self.calls.setdefault(name, []).append(call)
        return result

    def function(self, name, function):
        return lambda *inputs, **options: self.add(name, inputs, function(*inputs, **options))

    def modules(self, model):
        for name, module in model.named_modules():
            if isinstance(module, (nn.Linear, nn.LayerNorm)):
                module.register_forward_hook(
                    lambda _, inputs, result, name=name: self.add(name, inputs, result))


def recorded(steps):
    """The model in double precision, and what its ops were given in a step after so many."""
    recipe = tb.recipes.Recipe("gpt")
    trainer = recipe.trainer(batch=1, seed=0, threads=1)
    samples = recipe.data().arrays()
    batches = [{name: values[i:i + 1] for name, values in samples.items()} for i in range(steps + 1)]
    for batch in batches[:-1]:
        trainer.step(batch)
    model = gpt.Model()
    border.load_weights(model, {name: np.array(x) for name, x in trainer.state_dict().items()})
    model.double().train()
    recorder = Recorder()
    recorder.modules(model)
    names = ["scaled_dot_product_attention", "gelu", "cross_entropy"]
    kept = {name: getattr(F, name) for name in names}
    for name, function in kept.items():
        setattr(F, name, recorder.function(name, function))
    loss, _ = model(*[border.field_to_torch(np.ascontiguousarray(x)) for x in batches[-1].values()])
    loss.backward()
    for name, function in kept.items():
        setattr(F, name, function)
    return model, recorder.calls


def rounded(tensor):
    return np.ascontiguousarray(tensor.detach().float().numpy())


def by_torch(function, inputs, dy, dtype):
    """The result and the gradients of the inputs."""
    leaves = [torch.from_numpy(x).to(dtype).requires_grad_() for x in inputs]
    result = function(*leaves)
    result.backward(torch.from_numpy(dy).to(dtype).reshape(result.shape))
    return [result.detach().numpy(), *(x.grad.numpy() for x in leaves)]


def by_thimble(function, inputs, dy):
    _, gradients = tb.value_and_grad(lambda x, dy: tb.sum(function(*x) * dy))(list(inputs), dy)
    return [np.asarray(function(*inputs)), *(np.asarray(dx) for dx in gradients)]


def compare(name, ours, theirs, inputs, dy, names):
    double = by_torch(theirs, inputs, dy, torch.float64)
    single = by_torch(theirs, inputs, dy, torch.float32)
    apart = [[np.linalg.norm(x.astype(np.float64) - exact) / np.linalg.norm(exact)
              for x, exact in zip(side, double)] for side in (by_thimble(ours, inputs, dy), single)]
    print(f"{name:29s}", "  ".join(f"{what} {a:.1e} {b:.1e} {a / b:4.2f}"
                                   for what, a, b in zip(names, *apart)), flush=True)


def compare_block(model, calls, number):
    modules = dict(model.named_modules())
    block = f"transformer.h.{number}."
    for part in ("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj", "ln_1", "ln_2"):
        module, call = modules[block + part], calls[block + part][0]
        inputs = [rounded(call["inputs"][0])[0], rounded(module.weight), rounded(module.bias)]
        ours, theirs = (
            (lambda x, w, b: tb.matmul(x, w, b, transpose_b=True), F.linear)
            if isinstance(module, nn.Linear) else
            (tb.layer_norm, lambda x, w, b: F.layer_norm(x, (gpt.WIDTH,), w, b)))
        compare(block[-2:] + part, ours, theirs, inputs, rounded(call["dy"])[0], ["y", "dx", "dw", "db"])
    call = calls["gelu"][number]
    compare(block[-2:] + "gelu", tb.gelu, F.gelu, [rounded(call["inputs"][0])], rounded(call["dy"]),
            ["y", "dx"])

    def attention(*qkv):
        y = F.scaled_dot_product_attention(*(x.transpose(1, 2) for x in qkv), is_causal=True)
        return y.transpose(1, 2)

    call = calls["scaled_dot_product_attention"][number]
    compare(block[-2:] + "attention",
            lambda q, k, v: tb.scaled_dot_product_attention(q, k, v, causal=True), attention,
            [rounded(x.transpose(1, 2)) for x in call["inputs"]], rounded(call["dy"].transpose(1, 2)),
            ["y", "dq", "dk", "dv"])


def main():
    torch.set_num_threads(1)
    model, calls = recorded(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    for number in (0, gpt.LAYERS - 1):
        compare_block(model, calls, number)
    call = calls["lm_head"][0]
    compare("lm_head", lambda x, w: tb.matmul(x, w, transpose_b=True), F.linear,
            [rounded(call["inputs"][0])[0], rounded(model.lm_head.weight)], rounded(call["dy"])[0],
            ["y", "dx", "dw"])
    logits, labels = calls["cross_entropy"][0]["inputs"]
    indices = labels.numpy().astype(np.int32)
    compare("cross_entropy", lambda x: tb.softmax_cross_entropy(x, indices),
            lambda x: F.cross_entropy(x, labels), [rounded(logits)], np.ones((), np.float32), ["y", "dx"])


if __name__ == "__main__":
    main()
