"""Measures models of other programs in thimble beside those programs, one thread each. Both sides take turns.

usage: python bench/models/imported.py interpreter MODEL.tflite...    inference beside TensorFlow Lite's interpreter
       python bench/models/imported.py onnx THIMBLE FOLDER [--mb 100] import of a large ONNX file: time, peak of the process
       python bench/models/imported.py train MODEL [--batch 8]        a step of a module of bench/pytorch that from_torch read:
                                                                     time, and the memory that is allocated above the imports

THIMBLE: the program. MODEL: mobilenetv2 or resnet18. The Python package must be on PYTHONPATH. interpreter needs
ai-edge-litert, onnx needs onnx, train needs torch.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

for each in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[each] = "1"
import numpy as np  # noqa: E402  (reads them)

Call = Callable[[], Any]
PYTORCH = pathlib.Path(__file__).resolve().parents[1] / "pytorch"
SIZES = {"mobilenetv2": (3, 96, 96), "resnet18": (3, 32, 32)}  # of an image
MEMORY_STEPS = 4  # gradients and states exist from the second step on


def in_turns(calls: dict[str, Call], rounds: int, seconds: float) -> dict[str, float]:
    """Milliseconds of the fastest call of each: other work on the machine only ever slows one down."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            call()
            end = time.perf_counter() + seconds
            while time.perf_counter() < end:
                start = time.perf_counter()
                call()
                best[name] = min(best[name], 1000 * (time.perf_counter() - start))
    return best


def interpreter(options: argparse.Namespace) -> None:
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    import thimble as tb

    def of(path: str, resolver: OpResolverType, x: dict[str, Any]) -> tuple[Call, Any]:
        lite = Interpreter(path, num_threads=1, experimental_op_resolver_type=resolver)
        lite.allocate_tensors()
        given, result = lite.get_input_details()[0], lite.get_output_details()[0]
        if "x" not in x:
            random = np.random.default_rng(0)
            x["x"] = random.integers(-128, 128, given["shape"]).astype(given["dtype"])

        def call() -> Any:
            lite.set_tensor(given["index"], x["x"])
            lite.invoke()
            return lite.get_tensor(result["index"])

        return call, call()

    for path in options.models:
        x: dict[str, Any] = {}
        xnnpack, _ = of(path, OpResolverType.AUTO, x)
        kernels, wanted = of(path, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES, x)
        predictor = tb.Predictor(tb.import_tflite(path), batch=1, threads=1)
        ours = predictor.predict(x["x"])
        out = np.empty_like(ours)
        best = in_turns({"thimble": lambda: predictor.predict(x["x"]),
                         "thimble_out": lambda: predictor.predict(x["x"], out=out),
                         "xnnpack": xnnpack, "kernels": kernels}, options.rounds, 0.3)
        differs = int(np.max(np.abs(ours.astype(int) - wanted.astype(int))))
        print(json.dumps({"model": pathlib.Path(path).stem, "ms": {k: round(v, 4) for k, v in best.items()},
                          "steps_apart": differs}))


def write_onnx(path: pathlib.Path, megabytes: float) -> None:
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    width = 512
    layers = max(1, round(megabytes * 1e6 / (4 * 9 * width * width)))
    random = np.random.default_rng(1)
    nodes, constants, x = [], [], "x"
    for i in range(layers):
        channels = 3 if i == 0 else width
        constants.append(numpy_helper.from_array(random.normal(size=(width, channels, 3, 3)).astype("f4"), f"w{i}"))
        constants.append(numpy_helper.from_array(np.zeros(width, "f4"), f"b{i}"))
        nodes.append(helper.make_node("Conv", [x, f"w{i}", f"b{i}"], [f"c{i}"], pads=[1, 1, 1, 1], strides=[2 if i < 3 else 1] * 2))
        nodes.append(helper.make_node("Relu", [f"c{i}"], [f"r{i}"]))
        x = f"r{i}"
    nodes.append(helper.make_node("GlobalAveragePool", [x], ["y"]))
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "large", [info("x", TensorProto.FLOAT, ["n", 3, 64, 64])],
                              [info("y", TensorProto.FLOAT, ["n", width, 1, 1])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


def onnx_import(options: argparse.Namespace) -> None:
    options.folder.mkdir(parents=True, exist_ok=True)
    file, model = options.folder / "large.onnx", options.folder / "large.safetensors"
    # In a process of its own: a child begins with the memory of its parent, which counts for its peak.
    writer = multiprocessing.Process(target=write_onnx, args=(file, options.mb))
    writer.start()
    writer.join()
    seconds, peak = float("inf"), 0
    for _ in range(options.rounds):
        start = time.perf_counter()
        child = subprocess.Popen([options.program, "import", file, "-o", model], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        if status != 0:
            sys.exit("thimble import failed")
        seconds = min(seconds, time.perf_counter() - start)
        peak = 1024 * usage.ru_maxrss
    print(json.dumps({"file_bytes": file.stat().st_size, "seconds": round(seconds, 3), "peak_rss_bytes": peak}))


def batch_of(options: argparse.Namespace) -> tuple[Any, Any]:
    random = np.random.default_rng(1)
    x = random.normal(size=(options.batch, *SIZES[options.model])).astype(np.float32)
    return x, random.integers(0, 10, options.batch)


def our_step(graph: Any, options: argparse.Namespace) -> tuple[Call, Any]:
    import thimble as tb

    x, labels = batch_of(options)
    trainer = tb.Trainer(graph, optimizer=tb.SGD(lr=0.01), batch=options.batch, threads=1)
    samples = {"x": np.ascontiguousarray(np.transpose(x, (0, 2, 3, 1))), "label": labels.astype(np.int32)}
    return lambda: trainer.step(samples), trainer


def torch_module(model: str) -> Any:
    import torch

    class Scores(torch.nn.Module):
        """The module's forward is the loss; this one's gives the scores."""

        def __init__(self) -> None:
            super().__init__()
            self.model = importlib.import_module(model).Model()

        def forward(self, x: Any) -> Any:
            return self.model.logits(x)

    return Scores()


def torch_step(module: Any, options: argparse.Namespace, channels_last: bool) -> Call:
    import torch

    x, labels = batch_of(options)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.01)
    images, digits = torch.from_numpy(x), torch.from_numpy(labels)
    if channels_last:
        images = images.contiguous(memory_format=torch.channels_last)
    module.train()

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(module(images), digits).backward()
        optimizer.step()

    return step


def peak(options: argparse.Namespace) -> None:
    """What a few steps allocate above the imports, in a process of its own with count_malloc.so preloaded."""
    counted = ctypes.CDLL(None)
    counted.count_malloc_live.restype = counted.count_malloc_peak.restype = ctypes.c_long
    if options.side == "thimble":
        import thimble as tb

        counted.count_malloc_reset_peak()  # imports hold more for a while
        before = counted.count_malloc_live()
        step, _ = our_step(tb.load_model(options.file), options)
    else:
        sys.path.insert(0, str(PYTORCH))
        import torch

        torch.set_num_threads(1)
        importlib.import_module(options.model)
        counted.count_malloc_reset_peak()  # imports hold more for a while
        before = counted.count_malloc_live()
        step = torch_step(torch_module(options.model), options, options.side == "pytorch_channels_last")
    for _ in range(MEMORY_STEPS):
        step()
    print(counted.count_malloc_peak() - before)


def peaks(graph: Any, options: argparse.Namespace) -> dict[str, int]:
    import thimble as tb

    with tempfile.TemporaryDirectory() as folder:
        library, file = f"{folder}/count_malloc.so", f"{folder}/m.safetensors"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, PYTORCH / "count_malloc.c"], check=True)
        tb.save_model(graph, file)
        words = ["--model", options.model, "--batch", str(options.batch), "--file", file]
        return {side: int(subprocess.run([sys.executable, __file__, "peak", side, *words], check=True, text=True,
                                         stdout=subprocess.PIPE, env={**os.environ, "LD_PRELOAD": library}).stdout)
                for side in ("thimble", "pytorch", "pytorch_channels_last")}


def train(options: argparse.Namespace) -> None:
    sys.path.insert(0, str(PYTORCH))
    import torch

    import thimble as tb

    torch.set_num_threads(1)
    module = torch_module(options.model)
    graph = tb.from_torch(module, torch.zeros(1, *SIZES[options.model]))
    graph = tb.adapt(graph, loss="softmax_cross_entropy", label="label")
    allocated = peaks(graph, options)
    step, trainer = our_step(graph, options)
    best = in_turns({"thimble": step, "pytorch": torch_step(module, options, False),
                     "pytorch_channels_last": torch_step(module, options, True)}, options.rounds, options.seconds)
    print(json.dumps({"model": options.model, "batch": options.batch, "ms": {k: round(v, 3) for k, v in best.items()},
                      "allocated_peak_bytes": allocated,
                      "planned_peak_bytes": trainer.plan().planned_peak_bytes}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("interpreter")
    one.add_argument("models", nargs="+")
    one.set_defaults(run=interpreter)
    two = commands.add_parser("onnx")
    two.add_argument("program")
    two.add_argument("folder", type=pathlib.Path)
    two.add_argument("--mb", type=float, default=100.0)
    two.set_defaults(run=onnx_import)
    three = commands.add_parser("train")
    three.add_argument("model", choices=SIZES)
    three.add_argument("--batch", type=int, default=8)
    three.add_argument("--seconds", type=float, default=2.0)
    three.set_defaults(run=train)
    four = commands.add_parser("peak")  # what train runs
    four.add_argument("side")
    four.add_argument("--model", choices=SIZES)
    four.add_argument("--batch", type=int)
    four.add_argument("--file")
    four.set_defaults(run=peak)
    for command in (one, two, three):
        command.add_argument("--rounds", type=int, default=6)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
