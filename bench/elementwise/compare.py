#!/usr/bin/env python3
"""Compares the elementwise ops with PyTorch's: compare.py ELEMENTWISE_BENCH [FILTER].

PyTorch writes into tensors allocated beforehand, without autograd. Gigabytes a second count every
tensor read or written once.
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from beside import ROUNDS, THREADS, in_turns, thimble_seconds, torch  # noqa: E402

SIZES = [1 << 16, 1 << 24]
ROW = 250
aten = torch.ops.aten

# Of x into y.
FORWARD = {
    "copy": lambda x, y: y.copy_(x),
    "abs": lambda x, y: torch.abs(x, out=y),
    "affine": lambda x, y: torch.mul(x, 1.0, out=y),
    "clip": lambda x, y: torch.clamp(x, 0.0, 1.0, out=y),
    "elu": lambda x, y: aten.elu.out(x, out=y),
    "exp": lambda x, y: torch.exp(x, out=y),
    "gelu": lambda x, y: aten.gelu.out(x, out=y),
    "gelu_tanh": lambda x, y: aten.gelu.out(x, approximate="tanh", out=y),
    "hard_swish": lambda x, y: aten.hardswish.out(x, out=y),
    "leaky_relu": lambda x, y: aten.leaky_relu.out(x, out=y),
    "log": lambda x, y: torch.log(x, out=y),
    "mish": lambda x, y: aten.mish.out(x, out=y),
    "neg": lambda x, y: torch.neg(x, out=y),
    "pow": lambda x, y: torch.pow(x, 2.0, out=y),
    "pow_1.7": lambda x, y: torch.pow(x, 1.7, out=y),
    "reciprocal": lambda x, y: torch.reciprocal(x, out=y),
    "relu": lambda x, y: torch.clamp_min(x, 0.0, out=y),
    "relu6": lambda x, y: aten.hardtanh.out(x, 0.0, 6.0, out=y),
    "rsqrt": lambda x, y: torch.rsqrt(x, out=y),
    "selu": lambda x, y: aten.elu.out(x, 1.6732632, 1.050701, out=y),
    "sigmoid": lambda x, y: torch.sigmoid(x, out=y),
    "softplus": lambda x, y: aten.softplus.out(x, out=y),
    "sqrt": lambda x, y: torch.sqrt(x, out=y),
    "square": lambda x, y: torch.square(x, out=y),
    "swish": lambda x, y: aten.silu.out(x, out=y),
    "tanh": lambda x, y: torch.tanh(x, out=y),
}

for op in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "erfc", "exp2",
           "expm1", "floor", "frac", "log10", "log1p", "log2", "logit", "round", "sign", "sin", "sinh",
           "tan", "trunc"):
    FORWARD[op] = lambda x, y, torch_op=getattr(torch, op): torch_op(x, out=y)

# These get positive numbers only.
POSITIVE = re.compile("log|r?sqrt|pow")

# From dy and x, or the result, to dx. Ops whose gradient is several ops in PyTorch are left out.
BACKWARD = {
    "elu_grad": lambda g, x, o: aten.elu_backward.grad_input(g, 1.0, 1.0, 1.0, True, x, grad_input=o),
    "gelu_grad": lambda g, x, o: aten.gelu_backward.grad_input(g, x, grad_input=o),
    "gelu_grad_tanh": lambda g, x, o: aten.gelu_backward.grad_input(
        g, x, approximate="tanh", grad_input=o),
    "hard_swish_grad": lambda g, x, o: aten.hardswish_backward.out(g, x, out=o),
    "leaky_relu_grad": lambda g, x, o: aten.leaky_relu_backward.grad_input(
        g, x, 0.01, True, grad_input=o),
    "mish_grad": lambda g, x, o: aten.mish_backward(g, x),
    "relu_grad": lambda g, x, o: aten.threshold_backward.grad_input(g, x, 0.0, grad_input=o),
    "relu6_grad": lambda g, x, o: aten.hardtanh_backward.grad_input(g, x, 0.0, 6.0, grad_input=o),
    "sigmoid_grad": lambda g, x, o: aten.sigmoid_backward.grad_input(g, x, grad_input=o),
    "softplus_grad": lambda g, x, o: aten.softplus_backward.grad_input(
        g, x, 1.0, 20.0, grad_input=o),
    "swish_grad": lambda g, x, o: aten.silu_backward.grad_input(g, x, grad_input=o),
    "tanh_grad": lambda g, x, o: aten.tanh_backward.grad_input(g, x, grad_input=o),
}


def random_tensor(shape, positive=False):
    x = torch.rand(shape) * 4 - 2
    return x.abs() + 0.01 if positive else x


def shapes_of(n):
    """How the second operand of a binary op broadcasts: both shapes."""
    return {"same": ((n,), (n,)), "number": ((n,), ()), "row": ((n // ROW, ROW), (ROW,)),
            "short_row": ((n // 10, 10), (10,)), "column": ((n // ROW, ROW), (n // ROW, 1)),
            "short_column": ((n // 10, 10), (n // 10, 1))}


def cases(n):
    """Name, bytes that must move, a function that makes the call."""
    for name, call in FORWARD.items():
        def make(name=name, call=call):
            x, y = random_tensor((n,), POSITIVE.match(name)), torch.empty(n)
            return lambda: call(x, y)
        yield name, 8 * n, make
    for name, call in BACKWARD.items():
        def make(call=call):
            g, x, o = random_tensor((n,)), random_tensor((n,)), torch.empty(n)
            return lambda: call(g, x, o)
        yield name, 12 * n, make
    for how, (shape_a, shape_b) in shapes_of(n).items():
        a, b = random_tensor(shape_a, True), random_tensor(shape_b, True)
        for name, call in (("add", torch.add), ("mul", torch.mul), ("div", torch.div),
                           ("pow_tensor", torch.pow)):
            if name == "pow_tensor" and how != "same":
                continue

            def make(call=call, a=a, b=b):
                y = torch.empty(a.shape)
                return lambda: call(a, b, out=y)
            yield f"{name}/{how}", 4 * (2 * a.numel() + b.numel()), make
        if how != "same":
            yield (f"sum_to/{how}", 4 * (a.numel() + b.numel()),
                   lambda a=a, b=b: lambda: a.sum_to_size(b.shape))


def main():
    bench, pattern = sys.argv[1], re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    torch.set_num_threads(THREADS)
    torch.set_grad_enabled(False)
    print(f"PyTorch {torch.__version__}, {THREADS} thread(s), fastest of {ROUNDS} rounds")
    for n in SIZES:
        print(f"\n| {n} elements | PyTorch, us | thimble, us | thimble, GB/s | times faster |")
        print("| --- | ---: | ---: | ---: | ---: |")
        for name, size, make in cases(n):
            if not pattern.search(name):
                continue
            peer, own = in_turns([make()],
                                 lambda: thimble_seconds(bench, f"{name}/{n}", 50, 0.001))
            print(f"| {name} | {peer * 1e6:.1f} | {own * 1e6:.1f} | {size / own * 1e-9:.1f} | "
                  f"{peer / own:.2f} |", flush=True)


if __name__ == "__main__":
    main()
