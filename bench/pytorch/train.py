#!/usr/bin/env python3
"""PyTorch's side of the comparison; compare.py calls it. Prints one JSON object.

Usage: python train.py train  RECIPE SAMPLES START [--seed N] [--images FILE]
       python train.py time   RECIPE SAMPLES START --steps N [--variant V]
       python train.py memory RECIPE SAMPLES START      (with count_malloc.so in LD_PRELOAD)

SAMPLES and START come from twin_bench: the samples of both splits; first weights and the order in
which the epochs visit the samples. START may be - for a timing or a measure of memory: then the first
weights are PyTorch's own and the samples are taken in their order. --threads N sets the threads, 0
being one per processor.
Variants: eager, channels_last, compile. With --optimizer default PyTorch chooses how an optimizer
loops over the parameters: on a processor one at a time, each operation by itself.
"""
import argparse
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
import held  # noqa: E402
import segments  # noqa: E402

WARM_UP_STEPS = 50  # if there are few steps, a quarter of them
GENERATED = 2000


class Split:
    """The samples of one split, stored as bytes and converted to numbers one batch at a time."""

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
        self.train = Split(arrays, metadata, "train")
        self.test = Split(arrays, metadata, "test")
        del arrays
        if options.command == "memory":
            held.count_malloc("reset_peak")
            self.bytes_before = held.count_malloc("live")
        module = border.recipe(options.recipe)
        self.model = module.Model()
        if options.start == "-":
            self.order = torch.arange(len(self.train)).repeat(options.steps, 1)
        else:
            start, _ = border.read(options.start)
            self.order = torch.from_numpy(start["order"]).long()
            border.load_weights(self.model, border.part(start, "weights."))
            del start
        segments.apply(options.recipe, self.model, options.segments)
        self.format = torch.contiguous_format
        if options.variant == "channels_last":
            self.format = torch.channels_last
            self.model.to(memory_format=self.format)
        self.optimizer = module.optimizer(self.model.parameters())
        if options.optimizer == "default":
            for group in self.optimizer.param_groups:
                group["fused"] = None
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
        if len(fields[0]) == self.model.batch:  # a smaller last batch is not timed
            self.step_ms.append(1e3 * (time.perf_counter() - begin))
        return value, None if hits is None else hits.item()

    def steps(self, count, seconds=math.inf):
        """Some steps of the training, epoch after epoch; fewer if the time is over."""
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


def peak_rss_bytes():
    """Peak resident bytes. getrusage is not used, because its figure is at least that of the parent
    process."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM:"))


def train(training, options):
    answer = {"epochs": list(training.epochs()), **training.times(),
              "import_bytes": IMPORT_BYTES,
              "peak_rss_bytes": peak_rss_bytes()}
    if options.images:
        from safetensors.torch import save_file
        training.model.eval()
        with torch.no_grad():
            save_file({"images": training.model.draw(GENERATED).contiguous()}, options.images)
    return answer


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
    parser.add_argument("--optimizer", choices=["fused", "default"], default="fused")
    parser.add_argument("--segments", type=int, default=0,
                        help="segments of the model that keep only their input; 0: none")
    parser.add_argument("--images", help="file for generated images")
    options = parser.parse_args()
    torch.set_num_threads(options.threads or len(os.sched_getaffinity(0)))
    torch.manual_seed(options.seed)
    training = Training(options)
    if options.command == "train":
        answer = train(training, options)
    elif options.command == "time":
        training.steps(options.steps, options.seconds)
        answer = {**training.times(), "import_bytes": IMPORT_BYTES,
                  "peak_rss_bytes": peak_rss_bytes()}
    else:
        answer = held.memory(training, training.bytes_before, options.seconds)
    print(json.dumps({"torch": torch.__version__, **answer}))


if __name__ == "__main__":
    main()
