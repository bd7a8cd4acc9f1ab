#!/usr/bin/env python3
"""Peak memory against the time of a step: thimble under memory budgets, PyTorch with checkpoints.

Usage: python peak_time.py --build DIR --out DIR [--recipe NAME]... [--rounds N] [--seconds S]
       python peak_time.py --out DIR --draw          (only the picture, from peak_time.json)

Writes peak_time.json and peak_time.svg into the folder --out and prints a table and whether the
criteria are met. Budgets go from the peak of a step with an ample one down to the smallest that
works, by recomputation alone and with a swap file. One thread; every point is a process of its
own. In each round all points take their turn, and the fastest of a point's medians counts. Peaks
are planned, and measured by counting malloc; held.py measures PyTorch's. Times are relative to
thimble's step with an ample budget. Activations are relative to the arena of a step without
recomputation: even an ample budget recomputes values that cost next to nothing, and a step without
a budget also some products. Times of the file and waits are medians over the steps, each by itself.
A predicted wait is near if it is right to a fifth of itself or a hundredth of the step. If the wait
that the plan gives for the measured time of the file is near, but the predicted one is not, the disk
has changed and the plan is not to blame.
"""
import argparse
import json
import math
import pathlib

import charts
import segments
from compare import KEEP_MEMORY, Bench
from memory_table import AMPLE, BATCH_SIZES, BATCHES, COUNTED_STEPS, MIB, mib, milliseconds, table

RECIPES = list(segments.BLOCKS)
BUDGETS = 8
# Fraction of the activations, to two digits, and the time allowed for it.
RECOMPUTED = [(0.5, 1.2), (0.25, 1.4)]
ROUNDING = 0.004
COMPUTED_AGAIN = {"cheap recomputation", "recomputation"}
SWAPPED_TO = 1 / 3  # of the whole peak
STALL_ERROR, HIDDEN = 0.2, 0.7
UNNOTICED = 0.01  # share of a step; a smaller error of a predicted stall does not matter
# From the process whose steps were timed, because each process measures the swap file.
TIMED = ["ms_per_step", "swap_stall_ms", "swap_busy_ms", "predicted_busy_ms", "predicted_stall_ms",
         "expected_stall_ms", "swap_bytes"]


class PeakTime(Bench):
    def plan(self, recipe, budget, swap):
        return self.thimble("memory", recipe, "--plan", "--threads", 1, "--no-average",
                            "--memory-budget", budget, "--swap", swap, *self.swap_dir())

    def swap_dir(self):
        return ["--swap-dir", self.options.swap_dir] if self.options.swap_dir else []

    def budgets(self, recipe, swap, whole):
        """Budgets from below the peak of an ample one to the smallest, and those of the criteria."""
        smallest = self.plan(recipe, 1, swap)
        least = smallest["nearest_feasible_bytes"]
        reading = least - smallest["planned_peak_bytes"]  # of samples, which a budget counts
        most = whole["planned_peak_bytes"] + reading
        asked = {most + (least - most) * i // (BUDGETS - 1) for i in range(1, BUDGETS)}
        kept = most - whole["arena_bytes"]
        asked |= {kept + int((share + ROUNDING) * keeping_arena_bytes(whole))
                  for share, _ in RECOMPUTED}
        if swap != "never":
            asked.add(int(SWAPPED_TO * (most - reading)) + reading)
        return sorted((budget for budget in asked if least <= budget < most), reverse=True)

    def points(self, recipe):
        whole = self.plan(recipe, AMPLE, "never")
        points = [{"side": "thimble", "swap": "never", "budget": budget} for budget in (AMPLE, 0)]
        for swap in ["never", "automatic"]:
            points += [{"side": "thimble", "swap": swap, "budget": budget}
                       for budget in self.budgets(recipe, swap, whole)
                       if swap == "never" or self.plan(recipe, budget, swap)["swap_planned_bytes"]]
        return points + [{"side": "torch", "segments": count}
                         for count in [0, *segments.choices(recipe)]]

    def run_point(self, recipe, samples, point, *words, **environment):
        if point["side"] == "thimble":
            return self.thimble("memory", recipe, samples, "--threads", 1, "--no-average",
                                "--memory-budget", point["budget"], "--swap", point["swap"],
                                *self.swap_dir(), *words, **environment)
        command = "memory" if environment else "time"
        return self.torch(command, recipe, samples, "-", "--threads", 1, "--segments",
                          point["segments"], "--optimizer", "default", *words, **environment,
                          **({} if environment else KEEP_MEMORY))

    def measure(self, recipe):
        samples = self.path(f"{recipe}_few.st")
        self.thimble("samples", recipe, *self.data, "--limit", BATCHES * BATCH_SIZES[recipe],
                     "--out", samples)
        points = self.points(recipe)
        library = self.counting_malloc()
        seconds = ["--seconds", self.options.seconds]
        for i, point in enumerate(points):
            self.note(f"{recipe}: counting, point {i + 1} of {len(points)}")
            point.update(self.run_point(recipe, samples, point, "--steps", COUNTED_STEPS, *seconds,
                                        LD_PRELOAD=library))
            point["rounds"] = []
        for turn in range(self.options.rounds):
            self.note(f"{recipe}: round {turn + 1} of {self.options.rounds}")
            for point in points:
                answer = self.run_point(recipe, samples, point, "--steps", 1000, *seconds)
                if not point["rounds"] or answer["ms_per_step"] < min(point["rounds"]):
                    point.update({key: answer[key] for key in TIMED if key in answer})
                point["rounds"].append(answer["ms_per_step"])
        pathlib.Path(samples).unlink()
        return points

    def run(self):
        path = pathlib.Path(self.path("peak_time.json"))
        if self.options.draw:
            results = json.loads(path.read_text(encoding="utf-8"))
        else:
            results = {recipe: self.measure(recipe) for recipe in self.options.recipe or RECIPES}
            path.write_text(json.dumps(results, indent=1), encoding="utf-8")
        picture = charts.peaks({name: curves(points) for name, points in results.items()})
        pathlib.Path(self.path("peak_time.svg")).write_text(picture, encoding="utf-8")
        for name, points in results.items():
            print(f"### {name}\n\n{rows(points)}")
            for line in criteria(points):
                print(f"{name}: {line}")
            print()


def first(points):
    return points[0]


def peak(point):
    return point["planned_peak_bytes"] if point["side"] == "thimble" else point["peak_bytes"]


def measured(point):
    return point["allocated_peak_bytes"] if point["side"] == "thimble" else point["peak_bytes"]


def share_of_time(points, point):
    return point["ms_per_step"] / first(points)["ms_per_step"]


def keeping_arena_bytes(plan):
    """Bytes of the arena of the step without recomputation."""
    return plan["arena_bytes"] + sum(strategy["saved_bytes"] for strategy in plan["strategies"]
                                     if strategy["name"] in COMPUTED_AGAIN)


def share_of_activations(points, point):
    return point["arena_bytes"] / keeping_arena_bytes(first(points))


def uses_swap(point):
    return point.get("swap_bytes", 0) > 0


def of(points, swap):
    """thimble's points of one kind, that of an ample budget first."""
    return [point for point in points if point["side"] == "thimble" and
            (point["swap"] == swap or point["budget"] == AMPLE)]


def curves(points):
    """Name -> [(MiB, share of time)], for the picture."""
    def line(chosen):
        return [(measured(point) / MIB, share_of_time(points, point)) for point in chosen]
    found = {"thimble, recomputation": line(of(points, "never"))}
    if any(uses_swap(point) for point in points):
        found["thimble, with a swap file"] = line(of(points, "automatic"))
    found["PyTorch, checkpoints"] = line([p for p in points if p["side"] == "torch"])
    return found


def is_tight(point):
    return point.get("budget") not in (None, AMPLE, 0)


def named(point, usual):
    """usual: strategies of an ample budget."""
    if point["side"] == "torch":
        return f"PyTorch, {point['segments']} segments" if point["segments"] else "PyTorch, eager"
    if not is_tight(point):
        return "ample budget" if point["budget"] else "no budget"
    names = [strategy["name"] for strategy in point["strategies"]
             if strategy["name"] not in usual]
    return ", ".join(names) or "no more than with an ample one"


def rows(points):
    lines = []
    usual = {strategy["name"] for strategy in first(points)["strategies"]}
    for point in points:
        ours = point["side"] == "thimble"
        lines.append([
            named(point, usual), mib(point["budget"]) if is_tight(point) else "",
            mib(peak(point)), mib(measured(point)),
            f"{share_of_activations(points, point):.2f}" if ours else "",
            milliseconds(point["ms_per_step"]), f"{share_of_time(points, point):.2f}",
            *["; ".join(map(milliseconds, times(point))) if uses_swap(point) else ""
              for times in (busy_times, stall_times)],
            f"{hidden(point):.0%}" if uses_swap(point) else ""])
    return table(["what", "budget, MiB", "peak", "measured", "activations", "ms a step", "time",
                  "file busy, predicted; measured, ms",
                  "stall, predicted; by the file's time; measured, ms", "hidden"],
                 lines)


def busy_times(point):
    return [point["predicted_busy_ms"], point["swap_busy_ms"]]


def stall_times(point):
    """The wait: predicted; given by the plan for the measured time of the file (unknown in older
    files); measured."""
    return [point["predicted_stall_ms"], point.get("expected_stall_ms", float("nan")),
            point["swap_stall_ms"]]


def hidden(point):
    """The share of the transfers' time in which the step computed."""
    return 1 - point["swap_stall_ms"] / max(point["swap_busy_ms"], point["swap_stall_ms"])


def met(is_met):
    return "met" if is_met else "NOT MET"


def criteria(points):
    recomputed = of(points, "never")
    for share, most in RECOMPUTED:
        within = [p for p in recomputed if share_of_activations(points, p) <= share + ROUNDING]
        if not within:
            least = min(share_of_activations(points, p) for p in recomputed)
            yield f"activations at {share} by recomputation: NOT MET, least is {least:.2f}"
            continue
        times = min(share_of_time(points, p) for p in within)
        yield (f"activations at {share} by recomputation in {times:.2f} times the time, at most "
               f"{most}: {met(times <= most)}")
    swapped = of(points, "automatic")
    least = min(map(peak, swapped)) / peak(first(points))
    yield f"with a swap file down to {least:.2f} of the peak, at most 0.33: {met(least <= 0.334)}"
    for point in filter(uses_swap, swapped):
        yield stall(point)


def stall(point):
    predicted, expected, taken = stall_times(point)
    transfer = point["swap_busy_ms"]
    computing = point["ms_per_step"] - taken
    most = max(STALL_ERROR * taken, UNNOTICED * point["ms_per_step"])
    share = hidden(point)
    by_file = ("" if math.isnan(expected) else
               f", by which the plan waits {milliseconds(expected)} ms, "
               f"{'as near' if abs(expected - taken) <= most else 'not as near'}")
    text = (f"budget {mib(point['budget'])} MiB: stall predicted {milliseconds(predicted)}, "
            f"measured {milliseconds(taken)} ms: {met(abs(predicted - taken) <= most)}; the file "
            f"took {transfer / point['predicted_busy_ms']:.2f} of the time predicted{by_file}; of "
            f"{milliseconds(transfer)} ms of transfer {share:.0%} hidden")
    return text + (f": {met(share >= HIDDEN)}" if computing >= transfer else
                   f", {milliseconds(computing)} ms of computing do not suffice")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=".", help="build folder of thimble")
    parser.add_argument("--out", required=True)
    parser.add_argument("--recipe", action="append", choices=RECIPES)
    parser.add_argument("--data", default="", help="real data; none: the recipes' built-in data")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10, help="of each point in each round")
    parser.add_argument("--swap-dir", default="", help="folder of the swap file")
    parser.add_argument("--draw", action="store_true", help="draw what was measured before")
    PeakTime(parser.parse_args()).run()


if __name__ == "__main__":
    main()
