#!/usr/bin/env python3
"""What training takes in memory, thimble's and PyTorch's, beside the targets.

Usage: python memory_table.py --build DIR --out DIR [--recipe NAME]... [--rounds N] [--seconds S]

Writes memory.json and memory.md into the folder --out. Both sides train the recipe with its batch
and its optimizer on the same few samples, one thread, without a budget; PyTorch eager, its optimizer
as PyTorch runs it on a processor unless told otherwise (one parameter at a time), and beside it the
fused one. Both take turns, each in a process of its own.
"""
import json
import pathlib

from compare import LARGE_RECIPES, RECIPES, Bench, arguments

MIB = 1 << 20
BATCHES = 4  # of samples: more would be measured instead of the training
# PyTorch's whole process over thimble's, at least; what thimble allocates over PyTorch's, at most.
PROCESS = {"vae": 30, "lenet5": 20, "mlp": 12, "mobilenetv2": 8, "lstm": 4, "unet_ddpm": 4,
           "resnet18": 3, "gpt": 2.5}
ALLOCATED = {"mobilenetv2": 0.45, "unet_ddpm": 0.55}
ALLOCATED_ELSE = 0.7
COUNTED_STEPS = 20
BATCH_SIZES = {"vae": 32, "lenet5": 64, "mlp": 64, "mobilenetv2": 8, "resnet18": 32, "lstm": 32,
               "gpt": 4, "unet_ddpm": 16}


class MemoryTable(Bench):
    def measure(self, recipe):
        samples = self.path(f"{recipe}_few.st")
        self.thimble("samples", recipe, *self.data, "--limit", BATCHES * BATCH_SIZES[recipe],
                     "--out", samples)
        library = self.counting_malloc()
        ours = [recipe, samples, "--threads", 1, "--no-average"]
        theirs = [recipe, samples, "-", "--threads", 1]
        timed = ["--steps", 1000, "--seconds", self.options.seconds]
        result = {"thimble": [], "torch": []}
        for turn in range(self.options.rounds):
            self.note(f"{recipe}: the whole process, round {turn + 1} of {self.options.rounds}")
            result["thimble"].append(self.thimble("memory", *ours, *timed))
            result["torch"].append(self.torch("time", *theirs, *timed, "--optimizer", "default"))
        self.note(f"{recipe}: counting")
        counted = ["--steps", COUNTED_STEPS, "--seconds", self.options.seconds]
        result["thimble_counted"] = self.thimble("memory", *ours, *counted, LD_PRELOAD=library)
        for optimizer in ["default", "fused"]:
            result[f"torch_{optimizer}"] = self.torch("memory", *theirs, *counted, "--optimizer",
                                                      optimizer, LD_PRELOAD=library)
        pathlib.Path(samples).unlink()
        return result

    def run(self):
        results = {recipe: self.measure(recipe)
                   for recipe in self.options.recipe or RECIPES + LARGE_RECIPES}
        pathlib.Path(self.path("memory.json")).write_text(json.dumps(results, indent=1),
                                                          encoding="utf-8")
        text = tables(results)
        pathlib.Path(self.path("memory.md")).write_text(text, encoding="utf-8")
        print(text)


def least(rounds, key):
    return min(answer[key] for answer in rounds)


def mib(size):
    return f"{size / MIB:.2f}" if size < 100 * MIB else f"{size / MIB:.1f}"


def judged(value, is_met):
    return f"{value} {'met' if is_met else '**missed**'}"


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def process_row(recipe, result):
    ours, theirs = result["thimble"], result["torch"]
    memory = least(theirs, "peak_rss_bytes") / least(ours, "peak_rss_bytes")
    times = [least(side, "ms_per_step") for side in (ours, theirs)]
    met = memory >= PROCESS[recipe] and times[0] <= times[1]
    return [recipe, mib(least(ours, "peak_rss_bytes")), mib(least(theirs, "peak_rss_bytes")),
            f"{memory:.1f}", judged(str(PROCESS[recipe]), met), *[f"{ms:.3g}" for ms in times]]


def allocated_row(recipe, result):
    ours, theirs = result["thimble_counted"], result["torch_default"]
    most = ALLOCATED.get(recipe, ALLOCATED_ELSE)
    share = ours["allocated_peak_bytes"] / theirs["peak_bytes"]
    fused = result["torch_fused"]["peak_bytes"]
    return [recipe, mib(ours["planned_peak_bytes"]), mib(ours["allocated_peak_bytes"]),
            mib(theirs["peak_bytes"]), f"{share:.2f}", judged(str(most), share <= most), mib(fused),
            f"{ours['allocated_peak_bytes'] / fused:.2f}", mib(theirs["allocated_peak_bytes"])]


def parts(side, peak):
    kept = [side["parameter_bytes"], side["state_bytes"], side["saved_bytes"]]
    return [mib(size) for size in [*kept, peak - sum(kept)]]


def parts_row(recipe, result):
    ours, theirs = result["thimble_counted"], result["torch_default"]
    beside = ours["allocated_peak_bytes"] - ours["planned_peak_bytes"]
    return [recipe, *parts(ours, ours["planned_peak_bytes"]), mib(beside),
            *parts(theirs, theirs["peak_bytes"]), mib(theirs["gradient_bytes"])]


def tables(results):
    processes = table(
        ["recipe", "thimble, MiB", "PyTorch, MiB", "PyTorch / thimble", "at least",
         "thimble, ms a step", "PyTorch, ms a step"],
        [process_row(*item) for item in results.items()])
    allocated = table(
        ["recipe", "thimble planned", "thimble, all it allocates", "PyTorch, a step", "share",
         "at most", "PyTorch fused", "share", "PyTorch, all above its import"],
        [allocated_row(*item) for item in results.items()])
    spent = table(
        ["recipe", "thimble: parameters", "state", "saved", "else in the plan", "beside the plan",
         "PyTorch: parameters", "state", "saved", "else", "gradients"],
        [parts_row(*item) for item in results.items()])
    return "\n".join([processes, allocated, spent])


def main():
    parser = arguments(__doc__, rounds=2)
    parser.add_argument("--seconds", type=float, default=10, help="of each timing")
    MemoryTable(parser.parse_args()).run()


if __name__ == "__main__":
    main()
