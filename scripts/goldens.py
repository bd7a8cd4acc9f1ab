#!/usr/bin/env python3
"""Writes tests/goldens/<op>.json: PyTorch's results, which our ops are compared with.

Usage: python scripts/goldens.py [op ...]     these ops, or all that name PyTorch's function
Needs PyTorch (the files were made with 2.13, on the CPU). Deterministic.

src/ops/<op>/golden.py declares CASES, a list of
    dict(name="stride_2", attrs={"stride": 2}, inputs=[...], torch=lambda x, w: ...)
op      the op or builder function, if its name is not that of the folder
attrs   attributes by their names; those left out keep their defaults
inputs  {"shape": [2, 3], "low": -1, "high": 1}   random numbers, or integers with "dtype": "i32"
        {"values": [[1, 2], [3, 4]]}              given numbers, possibly with "dtype"
        None                                      an optional input left out
torch   a function of the inputs, in our layout; returns one tensor or a tuple. Outputs and inputs
        without a gradient have none in the file.

An op of one tensor needs no golden.py if its op.cpp names PyTorch's function (.torch = "...") and its
.domain, or has kCases with these. The points are then those of the file, or some of the domain if there is
no file yet.

It may also declare EXAMPLES, the tensors that the op's example reads, where their shapes do not follow from
the inputs or a common name. python/tests/test_ops.py runs the example with them:
    EXAMPLES = {"einsum": {"x": (32, 32), "weight": {"shape": (32, 8), "batch": False}}}
A shape is that of a sample; "dtype": "i32" or "i8", of one scale; "batch": False is for a tensor without a
batch, like a parameter.

Everything is computed in double precision from numbers that float32 holds exactly.
"""
import importlib.util
import json
import math
import pathlib
import re
import sys
import zlib

import torch

ROOT = pathlib.Path(__file__).parent.parent
OPS, GOLDENS = ROOT / "src/ops", ROOT / "tests/goldens"
DTYPES = {"f32": torch.float64, "i32": torch.int32, "u32": torch.int64, "u8": torch.uint8,
          "i8": torch.int8}
NAMES = {torch.float64: "f32", torch.int32: "i32", torch.int64: "i32", torch.uint8: "u8",
         torch.int8: "i8"}


def number(value):
    """A number as JSON can hold it, short."""
    if isinstance(value, int):
        return value
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    short = float(f"{value:.9g}")
    return int(short) if short == int(short) and abs(short) < 1e9 else short


def tensor(values):
    values = values.detach()
    return {"dtype": NAMES[values.dtype], "shape": list(values.shape),
            "values": [number(v) for v in values.flatten().tolist()]}


def make_input(spec, generator):
    if spec is None:
        return None
    dtype = spec.get("dtype", "f32")
    if "values" in spec:
        values = torch.tensor(spec["values"], dtype=torch.float64)
        values = values.reshape(spec.get("shape", values.shape))
    else:
        low, high = spec.get("low", -1), spec.get("high", 1)
        unit = torch.rand(spec["shape"], generator=generator, dtype=torch.float64)
        values = low + (high - low) * unit if dtype == "f32" else low + (high - low + 1) * unit
        # Multiples of 1/64 are exact and short.
        values = torch.round(values * 64) / 64 if dtype == "f32" else values.floor()
    if dtype == "f32":
        return values.to(torch.float32).to(torch.float64).requires_grad_()
    return values.to(DTYPES[dtype])


def make_cotangent(output):
    """Weights of both signs that are short and exact in float32."""
    i = torch.arange(output.numel(), dtype=torch.float64)
    return ((i * 7 + 3) % 11 - 5).reshape(output.shape) / 8


def run(op, case):
    seed = zlib.crc32(f"{op}/{case['name']}".encode())
    generator = torch.Generator().manual_seed(seed)
    inputs = [make_input(spec, generator) for spec in case["inputs"]]
    outputs = case["torch"](*inputs)
    outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    cotangents = [make_cotangent(y) if y.requires_grad else None for y in outputs]
    leaves = [x for x in inputs if x is not None and x.requires_grad]
    target = sum((y * c).sum() for y, c in zip(outputs, cotangents) if c is not None)
    grads = {}
    if torch.is_tensor(target) and target.requires_grad:
        found = torch.autograd.grad(target, leaves, allow_unused=True)
        grads = {id(x): g for x, g in zip(leaves, found) if g is not None}

    def optional(values):
        return None if values is None else tensor(values)

    return {"name": case["name"], "op": case.get("op", op), "attrs": case["attrs"],
            "inputs": [optional(x) for x in inputs], "outputs": [tensor(y) for y in outputs],
            "cotangents": [optional(c) for c in cotangents],
            "gradients": [optional(grads.get(id(x))) for x in inputs]}


DOMAIN = re.compile(r"\.domain = \{(?:\.low = )?([-+.e\d]+), (?:\.high = )?([-+.e\d]+)")


def points(op, case, text):
    """The input that the file has for this case, or points of the domain that the text names."""
    path = GOLDENS / f"{op}.json"
    for before in json.loads(path.read_text()) if path.exists() else []:
        if before["name"] == case:
            known = before["inputs"][0]
            return {"shape": known["shape"], "values": [float(v) for v in known["values"]]}
    low, high = map(float, DOMAIN.search(text).groups())
    return {"values": [round((low + (high - low) * i / 12) * 64) / 64 for i in range(13)]}


def of_text(expression):
    """The function of x that a Python expression of torch and x describes."""
    code = compile(expression if "(" in expression else expression + "(x)", "torch", "eval")

    def run(x):
        names = {name: getattr(torch, name) for name in code.co_names if hasattr(torch, name)}
        y = eval(code, names, {"x": x})
        slope = torch.autograd.grad(y.sum(), x, retain_graph=True)[0]
        return y if slope.any() else y.detach()  # a gradient of 0 is none

    return run


def defined(op):
    """The cases of an op whose definition says what PyTorch computes; None where it does not."""
    text = (OPS / op / "op.cpp").read_text()
    table = re.search(r"ir::TestCase kCases\[\] = \{\n(.*?)\n\};", text, re.DOTALL)
    samples = re.split(r"\n    \{", "\n" + table[1]) if table else [text]
    cases = []
    for sample in samples:
        expression = re.search(r'\.torch = "(.+?)"', sample)
        if not expression or not DOMAIN.search(text):
            continue
        name = re.search(r'\.name = "(\w+)"', sample) if table else None
        attrs = re.search(r'\.attrs = R"\((.*?)\)"', sample)
        case = name[1] if name else "points"
        cases.append(dict(name=case, attrs=json.loads(attrs[1]) if attrs else {},
                          inputs=[points(op, case, sample)], torch=of_text(expression[1])))
    return cases or None


def load(path):
    spec = importlib.util.spec_from_file_location("golden", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, "CASES", [])


def main():
    sys.dont_write_bytecode = True
    torch.set_default_dtype(torch.float64)
    wanted = sys.argv[1:] or sorted(p.parent.name for p in OPS.glob("*/op.cpp"))
    for op in wanted:
        source = OPS / op / "golden.py"
        declared = load(source) if source.exists() else defined(op)
        if declared is None:
            if sys.argv[1:]:
                sys.exit(f"{op}: has neither a golden.py nor PyTorch's function in its op.cpp")
            continue
        cases = [json.dumps(run(op, case), allow_nan=False) for case in declared]
        text = "[\n" + ",\n".join(cases) + "\n]\n"
        (GOLDENS / f"{op}.json").write_text(text)
        print(f"{op}: {len(cases)} cases, {len(text)} bytes")


if __name__ == "__main__":
    main()
