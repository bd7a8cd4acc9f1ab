#!/usr/bin/env python3
"""PyTorch's side of the comparison; compare.py calls it. Prints one JSON object.

Usage: python train.py train  RECIPE SAMPLES START [--seed N] [--images FILE]
       python train.py time   RECIPE SAMPLES START --steps N [--variant V]
       python train.py memory RECIPE SAMPLES START      (with count_malloc.so in LD_PRELOAD)

SAMPLES and START come from twin_bench: the samples of both splits; first weights and the order in
which the epochs visit the samples. --threads N sets the threads, 0 being one per processor.
Variants: eager, channels_last, compile.
"""
import argparse
import ctypes
import gc
import json
import math
import os
import resource
import statistics
import time


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


import torch  # noqa: E402

IMPORT_BYTES = resident_bytes()  # what torch takes before it does anything

import border  # noqa: E402

WARM_UP_STEPS = 50  # a quarter of few steps
GENERATED = 2000


class Split:
    """The samples of one split: bytes, made numbers a batch at a time."""

    def __init__(self, arrays, metadata, name):
        stored = border.names(metadata, "bytes")
        self.fields = [(border.field_to_torch(arrays[f"{name}.{field}"]), field in stored)
                       for field in border.names(metadata, "fields")]

    def __len__(self):
        return len(self.fields[0][0])

    def batch(self, indices):
        return [field[indices].float().div_(255) if is_bytes else field[indices]
                for field, is_bytes in self.fields]


class Means:
    """Loss and, of models that count hits, accuracy over samples."""

    def __init__(self):
        self.count, self.loss, self.hits = 0, 0.0, 0

    def add(self, count, loss, hits):
        self.count += count
        self.loss += loss * count
        self.hits = None if hits is None else self.hits + hits

    def answer(self):
        means = {"loss": self.loss / self.count}
        if self.hits is not None:
            means["accuracy"] = self.hits / self.count
        return means


class Training:
    def __init__(self, options):
        arrays, metadata = border.read(options.samples)
        start, _ = border.read(options.start)
        self.train = Split(arrays, metadata, "train")
        self.test = Split(arrays, metadata, "test")
        self.order = torch.from_numpy(start["order"]).long()
        module = border.recipe(options.recipe)
        self.model = module.Model()
        border.load_weights(self.model, border.part(start, "weights."))
        self.format = torch.contiguous_format
        if options.variant == "channels_last":
            self.format = torch.channels_last
            self.model.to(memory_format=self.format)
        self.optimizer = module.optimizer(self.model.parameters())
        self.steps_per_epoch = -(-len(self.train) // self.model.batch)
        self.schedule = module.schedule(self.optimizer, self.steps_per_epoch * len(self.order))
        self.run = torch.compile(self.model) if options.variant == "compile" else self.model
        self.step_ms = []

    def batches(self, split, order):
        for indices in order.split(self.model.batch):
            yield [field.contiguous(memory_format=self.format) if field.ndim == 4 else field
                   for field in split.batch(indices)]

    def step(self, fields):
        """One step, timed without the making of the batch; the loss and the hits."""
        begin = time.perf_counter()
        self.optimizer.zero_grad()
        loss, hits = self.run(*fields)
        loss.backward()
        self.optimizer.step()
        if self.schedule:
            self.schedule.step()
        value = loss.item()
        if len(fields[0]) == self.model.batch:  # a last batch of fewer samples is no step to time
            self.step_ms.append(1e3 * (time.perf_counter() - begin))
        return value, None if hits is None else hits.item()

    def steps(self, count, seconds=math.inf):
        """Some steps of the training, epoch after epoch; fewer where the time is over."""
        end = math.inf
        while True:
            for order in self.order:
                for fields in self.batches(self.train, order):
                    if count == 0 or time.perf_counter() > end:
                        return
                    self.step(fields)
                    count -= 1
                    end = min(end, time.perf_counter() + seconds)  # the first step may compile

    def evaluate(self):
        self.model.eval()
        means = Means()
        with torch.no_grad():
            for fields in self.batches(self.test, torch.arange(len(self.test))):
                loss, hits = self.model(*fields)
                means.add(len(fields[0]), loss.item(), None if hits is None else hits.item())
        self.model.train()
        return means.answer()

    def epochs(self):
        for order in self.order:
            means = Means()
            for fields in self.batches(self.train, order):
                means.add(len(fields[0]), *self.step(fields))
            yield {"train": means.answer(), "test": self.evaluate()}

    def times(self):
        times = self.step_ms
        times = times[min(WARM_UP_STEPS, len(times) // 4):]
        return {"ms_per_step": statistics.median(times), "ms_fastest": min(times)}


def count_malloc(what):
    function = getattr(ctypes.CDLL(None), f"count_malloc_{what}")
    function.restype = ctypes.c_long
    return function()


def train(training, options):
    answer = {"epochs": list(training.epochs()), **training.times(),
              "import_bytes": IMPORT_BYTES,
              "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
    if options.images:
        from safetensors.torch import save_file
        training.model.eval()
        with torch.no_grad():
            save_file({"images": training.model.draw(GENERATED).contiguous()}, options.images)
    return answer


def memory(training, seconds):
    """The most memory of a step: the tensors that stand between steps, and what malloc hands out
    on top during one. Caches and code that libraries keep are left out."""
    training.steps(WARM_UP_STEPS, seconds)
    standing = list(training.model.state_dict().values())
    standing += [parameter.grad for parameter in training.model.parameters()]
    for state in training.optimizer.state.values():
        standing += [value for value in state.values() if torch.is_tensor(value)]
    standing_bytes = sum(tensor.nbytes for tensor in standing)
    del standing
    gc.collect()
    count_malloc("reset_peak")
    live = count_malloc("live")
    training.steps(WARM_UP_STEPS, seconds)
    return {"peak_bytes": standing_bytes + count_malloc("peak") - live}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["train", "time", "memory"])
    parser.add_argument("recipe")
    parser.add_argument("samples")
    parser.add_argument("start")
    parser.add_argument("--seed", type=int, default=0, help="of the noise")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=5, help="end a timing sooner")
    parser.add_argument("--variant", choices=["eager", "channels_last", "compile"], default="eager")
    parser.add_argument("--images", help="file for generated images")
    options = parser.parse_args()
    torch.set_num_threads(options.threads or len(os.sched_getaffinity(0)))
    torch.manual_seed(options.seed)
    training = Training(options)
    if options.command == "train":
        answer = train(training, options)
    elif options.command == "time":
        training.steps(options.steps, options.seconds)
        answer = training.times()
    else:
        answer = memory(training, options.seconds)
    print(json.dumps({"torch": torch.__version__, **answer}))


if __name__ == "__main__":
    main()
