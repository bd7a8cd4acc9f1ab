#!/usr/bin/env python3
"""The memory of training with thimble and with PyTorch, beside the targets.

Usage: python memory_table.py --build DIR --out DIR [--recipe NAME]... [--rounds N] [--seconds S]
                              [--count-only] [--fused]
       python memory_table.py --out DIR --print          (the tables again, from memory.json)

Both sides train the recipe with its batch and its optimizer (Adam or AdamW, no running average of
the weights) on the same few samples, one thread, without a budget. Each reads a batch between two
steps, from samples that lie in memory and are not counted. PyTorch is eager, and its optimizer runs
by default one parameter at a time; --fused counts the fused one, too. Both take turns, each in a
process of its own. If thimble recomputes products without a budget, a step with an ample budget,
which does not, is measured as well.

memory.json and memory.md in the folder --out are written after every recipe. Recipes that are not
named stay in them, so an interrupted run can be finished by naming the others.
"""
import json
import pathlib

from compare import LARGE_RECIPES, RECIPES, Bench, arguments

MIB = 1 << 20
BATCHES = 4  # of samples; more would dominate the measurement
# PyTorch's whole process over thimble's, at least; thimble's allocated bytes over PyTorch's, at most.
PROCESS = {"vae": 30, "lenet5": 20, "mlp": 12, "mobilenetv2": 8, "lstm": 4, "unet_ddpm": 4,
           "resnet18": 3, "gpt": 2.5}
ALLOCATED = {"mobilenetv2": 0.45, "unet_ddpm": 0.55}
ALLOCATED_ELSE = 0.7
# MiB that PyTorch 1.13.1 with Adam allocates in addition to its import: given, not measured here.
GIVEN_MIB = {"vae": 1.66, "lenet5": 5.7, "mlp": 13.6, "mobilenetv2": 54.6, "lstm": 57.5,
             "unet_ddpm": 82.9, "resnet18": 306, "gpt": 315}
AMPLE = 1 << 40  # bytes; with such a budget only values of very little work are recomputed
COUNTED_STEPS = 20
COUNTED_SECONDS = 3  # at most: what is held is the same from the second step on
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
        counted = ["--steps", COUNTED_STEPS, "--seconds", COUNTED_SECONDS]
        result = {"thimble": [], "torch": [], "ample": []}
        self.note(f"{recipe}: counting thimble's")
        result["thimble_counted"] = self.thimble("memory", *ours, *counted, LD_PRELOAD=library)
        for optimizer in ["default", "fused"] if self.options.fused else ["default"]:
            self.note(f"{recipe}: counting PyTorch's, {optimizer} optimizer")
            result[f"torch_{optimizer}"] = self.torch("memory", *theirs, *counted, "--optimizer",
                                                      optimizer, LD_PRELOAD=library)
        ample = [*ours, "--memory-budget", AMPLE]
        planned = self.thimble("memory", *ample, "--plan")["planned_peak_bytes"]
        is_other = planned != result["thimble_counted"]["planned_peak_bytes"]
        for turn in range(0 if self.options.count_only else self.options.rounds):
            self.note(f"{recipe}: the whole process, round {turn + 1} of {self.options.rounds}")
            result["thimble"].append(self.thimble("memory", *ours, *timed))
            result["torch"].append(self.torch("time", *theirs, *timed, "--optimizer", "default"))
            if is_other:
                result["ample"].append(self.thimble("memory", *ample, *timed))
        pathlib.Path(samples).unlink()
        return result

    def run(self):
        path = pathlib.Path(self.path("memory.json"))
        results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if not self.options.print:
            for recipe in self.options.recipe or RECIPES + LARGE_RECIPES:
                results[recipe] = self.measure(recipe)
                path.write_text(json.dumps(results, indent=1), encoding="utf-8")
                pathlib.Path(self.path("memory.md")).write_text(tables(results), encoding="utf-8")
        print(tables(results))


def least(rounds, key):
    return min(answer[key] for answer in rounds)


def mib(size):
    return f"{size / MIB:.2f}" if size < 100 * MIB else f"{size / MIB:.1f}"


def milliseconds(ms):
    return f"{ms:.3g}" if ms < 100 else f"{ms:.0f}"


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
            f"{memory:.1f}", judged(str(PROCESS[recipe]), met), *map(milliseconds, times)]


def share_of(most, part, whole):
    return judged(f"{part / whole:.3f}", part / whole <= most)


def ample_row(recipe, result):
    peaks = [least(result[side], "planned_peak_bytes") for side in ("thimble", "ample")]
    times = [least(result[side], "ms_per_step") for side in ("thimble", "ample")]
    return [recipe, *map(mib, peaks), f"{peaks[0] / peaks[1]:.2f}",
            *map(milliseconds, times), f"{times[0] / times[1]:.2f}"]


def allocated_row(recipe, result):
    """All that each side allocates for the training itself, and the part for a step."""
    ours, theirs = result["thimble_counted"], result["torch_default"]
    most = ALLOCATED.get(recipe, ALLOCATED_ELSE)
    whole = ours["allocated_peak_bytes"]
    fused = result.get("torch_fused")
    return [recipe, mib(ours["planned_peak_bytes"]), mib(ours["allocated_training_bytes"]),
            mib(whole), mib(theirs["peak_bytes"]),
            f"{ours['planned_peak_bytes'] / theirs['peak_bytes']:.3f}",
            share_of(most, whole, theirs["peak_bytes"]), str(most),
            mib(fused["peak_bytes"]) if fused else "", f"{GIVEN_MIB[recipe]}",
            share_of(most, whole, GIVEN_MIB[recipe] * MIB),
            mib(theirs["allocated_peak_bytes"])]


def parts(side, peak):
    kept = [side["parameter_bytes"], side["state_bytes"], side["saved_bytes"]]
    return [mib(size) for size in [*kept, peak - sum(kept)]]


def parts_row(recipe, result):
    ours, theirs = result["thimble_counted"], result["torch_default"]
    pipeline = ours["measured_peak_bytes"] - ours["planned_peak_bytes"]
    beside = ours["allocated_training_bytes"] - ours["measured_peak_bytes"]
    return [recipe, *parts(ours, ours["planned_peak_bytes"]), mib(pipeline), mib(beside),
            mib(ours["allocated_compiling_bytes"] - ours["planned_peak_bytes"]),
            *parts(theirs, theirs["peak_bytes"]), mib(theirs["gradient_bytes"])]


def tables(results):
    timed = {recipe: result for recipe, result in results.items() if result["thimble"]}
    processes = table(
        ["recipe", "thimble, MiB", "PyTorch, MiB", "PyTorch / thimble", "at least",
         "thimble, ms a step", "PyTorch, ms a step"],
        [process_row(*item) for item in timed.items()])
    allocated = table(
        ["recipe", "thimble: planned", "all, training", "all, whole run", "PyTorch: a step",
         "planned / a step", "whole run / a step", "at most", "PyTorch fused: a step",
         "1.13.1, given", "whole run / 1.13.1", "PyTorch: all above its import"],
        [allocated_row(*item) for item in results.items()])
    spent = table(
        ["recipe", "thimble: parameters", "state", "activations saved", "else in the plan",
         "input pipeline", "graphs, plans, the rest", "beside the plan in the constructor",
         "PyTorch: parameters", "state", "activations saved", "else, gradients as far as they are there",
         "gradients between steps"],
        [parts_row(*item) for item in results.items()])
    ample = table(
        ["recipe", "planned, no budget", "an ample one", "no budget / ample",
         "ms a step, no budget", "an ample one", "no budget / ample"],
        [ample_row(*item) for item in timed.items() if item[1].get("ample")])
    return "\n".join([processes, allocated, ample, spent] if timed else [allocated, spent])


def main():
    parser = arguments(__doc__, rounds=1, build_required=False)
    parser.add_argument("--seconds", type=float, default=5, help="of each timing")
    parser.add_argument("--count-only", action="store_true", help="no timing, no whole processes")
    parser.add_argument("--fused", action="store_true", help="count the fused optimizer, too")
    parser.add_argument("--print", action="store_true", help="print what was measured before")
    options = parser.parse_args()
    if not options.print and not options.build:
        parser.error("--build is needed to measure")
    MemoryTable(options).run()


if __name__ == "__main__":
    main()
