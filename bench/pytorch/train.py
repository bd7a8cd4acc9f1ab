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

WARM_UP_STEPS = 50
TIMED_SECONDS = 5
GENERATED = 2000


class Split:
    """The samples of one split: bytes, made numbers a batch at a time."""

    def __init__(self, arrays, name):
        self.images = border.images_to_torch(arrays[f"{name}.images"])
        self.labels = torch.from_numpy(arrays[f"{name}.labels"]).long()

    def __len__(self):
        return len(self.labels)

    def batch(self, indices):
        return self.images[indices].float().div_(255), self.labels[indices]


class Training:
    def __init__(self, options):
        arrays, _ = border.read(options.samples)
        start, _ = border.read(options.start)
        self.train, self.test = Split(arrays, "train"), Split(arrays, "test")
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
            images, labels = split.batch(indices)
            yield images.contiguous(memory_format=self.format), labels

    def step(self, images, labels):
        """One step, timed without the making of the batch; the loss and the hits."""
        begin = time.perf_counter()
        self.optimizer.zero_grad()
        loss, hits = self.run(images, labels)
        loss.backward()
        self.optimizer.step()
        if self.schedule:
            self.schedule.step()
        value = loss.item()
        if len(labels) == self.model.batch:  # a last batch of fewer samples is no step to time
            self.step_ms.append(1e3 * (time.perf_counter() - begin))
        return value, 0 if hits is None else hits.item()

    def steps(self, count, seconds=math.inf):
        """Some steps of the training, epoch after epoch; fewer where the time is over."""
        end = math.inf
        while True:
            for order in self.order:
                for images, labels in self.batches(self.train, order):
                    if count == 0 or time.perf_counter() > end:
                        return
                    self.step(images, labels)
                    count -= 1
                    end = min(end, time.perf_counter() + seconds)  # the first step may compile

    def evaluate(self):
        self.model.eval()
        loss_sum = hit_sum = 0.0
        with torch.no_grad():
            for images, labels in self.batches(self.test, torch.arange(len(self.test))):
                loss, hits = self.model(images, labels)
                loss_sum += loss.item() * len(labels)
                hit_sum += 0 if hits is None else hits.item()
        self.model.train()
        return self.means(loss_sum, hit_sum, len(self.test))

    def means(self, loss_sum, hit_sum, count):
        means = {"loss": loss_sum / count}
        if not hasattr(self.model, "draw"):
            means["accuracy"] = hit_sum / count
        return means

    def epochs(self):
        for order in self.order:
            loss_sum = hit_sum = 0.0
            for images, labels in self.batches(self.train, order):
                loss, hits = self.step(images, labels)
                loss_sum += loss * len(labels)
                hit_sum += hits
            yield {"train": self.means(loss_sum, hit_sum, len(order)), "test": self.evaluate()}

    def times(self):
        times = self.step_ms
        times = times[WARM_UP_STEPS:] if len(times) > 2 * WARM_UP_STEPS else times
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


def memory(training):
    """The most memory of a step: the tensors that stand between steps, and what malloc hands out
    on top during one. Caches and code that libraries keep are left out."""
    training.steps(WARM_UP_STEPS)
    standing = list(training.model.state_dict().values())
    standing += [parameter.grad for parameter in training.model.parameters()]
    for state in training.optimizer.state.values():
        standing += [value for value in state.values() if torch.is_tensor(value)]
    standing_bytes = sum(tensor.nbytes for tensor in standing)
    del standing
    gc.collect()
    count_malloc("reset_peak")
    live = count_malloc("live")
    training.steps(WARM_UP_STEPS)
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
    parser.add_argument("--variant", choices=["eager", "channels_last", "compile"], default="eager")
    parser.add_argument("--images", help="file for generated images")
    options = parser.parse_args()
    torch.set_num_threads(options.threads or len(os.sched_getaffinity(0)))
    torch.manual_seed(options.seed)
    training = Training(options)
    if options.command == "train":
        answer = train(training, options)
    elif options.command == "time":
        training.steps(options.steps, TIMED_SECONDS)
        answer = training.times()
    else:
        answer = memory(training)
    print(json.dumps({"torch": torch.__version__, **answer}))


if __name__ == "__main__":
    main()
