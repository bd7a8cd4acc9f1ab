#!/usr/bin/env python3
"""Compares the update kernels with PyTorch's: python compare.py UPDATES_BENCH.

PyTorch runs its fused kernels if it has any, called without the Python of torch.optim around them, on
tensors of the same sizes; the others run by torch.optim. For updates that PyTorch lacks its time is
shown as infinity.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from beside import ROUNDS, THREADS, in_turns, thimble_seconds, torch  # noqa: E402

SIZES = [1000, 100_000, 1_000_000, 10_000_000]


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


def main():
    bench = sys.argv[1]
    torch.set_num_threads(THREADS)
    print(f"{THREADS} threads, fastest of {ROUNDS} rounds, nanoseconds an element")
    print(f"{'kernel':<14}{'elements':>12}{'thimble':>10}{'PyTorch':>10}{'ratio':>8}")
    for name, make in KERNELS.items():
        for n in SIZES:
            theirs, ours = in_turns([make(n)] if make else [],
                                    lambda: thimble_seconds(bench, f"{name}/{n}", 20, 0.01))
            print(f"{name:<14}{n:>12}{ours / n * 1e9:>10.3f}{theirs / n * 1e9:>10.3f}"
                  f"{theirs / ours:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
