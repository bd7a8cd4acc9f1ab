#!/usr/bin/env python3
"""Prints README's table of figures from the results of compare.py: one machine, one commit, means
over all seeds, and for every row the command that measures it again.

Usage: python readme.py FOLDER      (with results.json)
"""
import json
import pathlib
import statistics
import sys

MIB = 1 << 20
# The measure of a recipe, by the key of its last evaluation, and how a value is written.
MEASURES = {"accuracy": lambda value: f"{100 * value:.1f} %", "loss": lambda value: f"{value:.2f}"}


def spread(values, write):
    """A mean, and how far the seeds are from each other."""
    if len(values) == 1:
        return write(values[0])
    return f"{write(statistics.mean(values))} ({write(min(values))} to {write(max(values))})"


def row(name, result, data):
    runs = result["training"]
    tests = {side: [run[side]["epochs"][-1]["test"] for run in runs] for side in ("thimble", "torch")}
    measure = "accuracy" if "accuracy" in tests["torch"][0] else "loss"
    quality = ", ".join(spread([test[measure] for test in tests[side]], MEASURES[measure])
                        for side in ("thimble", "torch"))
    times = result["timing"]["1"]
    torch_ms = min(time["ms_fastest"] for side, time in times.items() if side != "thimble")
    ours = statistics.mean(run["thimble"]["planned_peak_bytes"] for run in runs)
    theirs = (result["memory"] or {}).get("peak_bytes")
    memory = f"{ours / MIB:.2f}, " + (f"{theirs / MIB:.2f}" if theirs else "not measured")
    cells = [f"{name}, {len(runs[0]['thimble']['epochs'])} epochs", f"{measure} {quality}",
             f"{times['thimble']['ms_fastest']:.2f}, {torch_ms:.2f}", memory,
             f"`./run bench --recipe {name}{data}`"]
    return "| " + " | ".join(cells) + " |"


def table(results):
    """The lines of the table, and the text above it."""
    machine, recipes = results["machine"], results["recipes"]
    seeds = {len(result["training"]) for result in recipes.values()}
    torch = next(iter(recipes.values()))["training"][0]["torch"]["torch"]
    data = " --data DIR" if "--data" in results["command"] else ""
    lines = [
        f"{machine['processor']}, {machine['cores']} cores, commit {results['commit']}, PyTorch {torch};"
        f" test results are means over {' or '.join(map(str, sorted(seeds)))} seeds (lowest to highest).",
        "",
        "| recipe | test result: thimble, PyTorch | ms per step: thimble, PyTorch "
        "| memory, MiB: thimble, PyTorch | command |",
        "| --- | ---: | ---: | ---: | --- |",
    ]
    return lines + [row(name, result, data) for name, result in recipes.items()]


def warnings(results):
    """Reasons against putting these figures into README."""
    cores = results["machine"]["cores"]
    busy = max(results["load_before"], results["load_after"])
    if results["quick"]:
        yield "a quick run: two epochs of one seed"
    if results["commit"].endswith("+"):
        yield "the working tree has changes that are not committed"
    if busy > cores / 2 + 1:
        yield f"other work ran on the machine: its load was {busy:.1f} on {cores} cores"


def main():
    results = json.loads((pathlib.Path(sys.argv[1]) / "results.json").read_text())
    print("\n".join(table(results)))
    for warning in warnings(results):
        print(f"readme: not for README: {warning}", file=sys.stderr)


if __name__ == "__main__":
    main()
