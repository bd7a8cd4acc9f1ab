#!/usr/bin/env python3
"""Makes report.md and report.html from the results of compare.py and prints a short table.

Usage: python report.py FOLDER      (with results.json; kernels.txt and others are added as they are)
"""
import base64
import html
import json
import pathlib
import sys

import charts

MIB = 1 << 20
# Outputs of the other comparisons of ./run bench, and their titles.
OTHERS = {"kernels.txt": "Kernels", "norm_pool.txt": "Batch norm and pooling",
          "updates.txt": "Optimizer updates", "data.txt": "Reading data"}


class Table:
    def __init__(self, title, head, note=""):
        self.title, self.head, self.note, self.rows = title, head, note, []

    def add(self, *cells):
        self.rows.append([str(cell) for cell in cells])

    def markdown(self):
        lines = [f"## {self.title}", ""]
        if self.note:
            lines += [self.note, ""]
        lines += ["| " + " | ".join(row) + " |"
                  for row in [self.head, ["---"] + ["---:"] * (len(self.head) - 1), *self.rows]]
        return "\n".join(lines) + "\n"

    def html(self):
        # Words are aligned left, numbers right.
        words = [any(row[i][:1].isalpha() for row in self.rows) for i in range(len(self.head))]

        def row(cells, tag):
            return "<tr>" + "".join(
                f"<{tag}{' class=word' if word else ''}>{html.escape(cell)}</{tag}>"
                for cell, word in zip(cells, words)) + "</tr>"
        note = f"<p>{html.escape(self.note)}</p>" if self.note else ""
        return (f"<h2>{html.escape(self.title)}</h2>{note}<div class=wide><table><thead>"
                f"{row(self.head, 'th')}</thead><tbody>"
                + "".join(row(cells, "td") for cells in self.rows) + "</tbody></table></div>")

    def text(self):
        rows = [self.head, *self.rows]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self.head))]
        lines = ["  ".join(cell.ljust(w) if i == 0 else cell.rjust(w)
                           for i, (cell, w) in enumerate(zip(row, widths))) for row in rows]
        return "\n".join([self.title, *lines])


def time_table(recipes):
    table = Table("Time of a training step",
                  ["recipe", "threads", "PyTorch's best", "thimble, ms", "PyTorch, ms",
                   "times faster", "fastest: thimble", "PyTorch", "times faster"],
                  "Median of a step without the making of its batch, warm-up left out: the lowest of "
                  "the rounds taken in turns. The fastest single step is what other work on the "
                  "machine disturbs least. PyTorch has fused optimizers and the best of eager, "
                  "channels_last, compile and, on several threads, passive waiting.")
    for name, result in recipes.items():
        for threads, times in result["timing"].items():
            sides = {side: time for side, time in times.items() if side != "thimble"}
            if not sides:
                table.add(name, threads, "none ran", f"{times['thimble']['ms']:.3f}", *[""] * 5)
                continue
            cells = []
            for key in ("ms", "ms_fastest"):
                ours, theirs = times["thimble"][key], min(time[key] for time in sides.values())
                cells += [f"{ours:.3f}", f"{theirs:.3f}", f"{theirs / ours:.2f}"]
            table.add(name, threads, min(sides, key=lambda side: sides[side]["ms"]), *cells)
    return table


def quality_table(recipes):
    table = Table("What is learnt", ["recipe, seed", "epochs", "measure", "thimble", "PyTorch",
                                     "difference"],
                  "After full training from the same weights, in the same order of samples. For the "
                  "vae each side draws its own noise; the score is the Inception Score of generated "
                  "images, both sides judged by one classifier that thimble trained.")
    for name, result in recipes.items():
        for run in result["training"]:
            sides = [run["thimble"], run["torch"]]
            label = f"{name}, {run['seed']}"
            epochs = len(sides[0]["epochs"])
            last = [side["epochs"][-1] for side in sides]
            rows = [("training loss", [side["train"]["loss"] for side in last]),
                    ("test loss", [side["test"]["loss"] for side in last])]
            if "accuracy" in last[1]["test"]:
                rows.append(("test accuracy", [side["test"]["accuracy"] for side in last]))
            if "inception_score" in sides[0]:
                rows.append(("Inception Score", [side["inception_score"] for side in sides]))
            for measure, (ours, theirs) in rows:
                table.add(label, epochs, measure, f"{ours:.5g}", f"{theirs:.5g}",
                          f"{100 * (ours / theirs - 1):+.2f} %")
    return table


def memory_table(recipes):
    table = Table("Memory", ["recipe", "measure", "thimble, MiB", "PyTorch, MiB", "ratio"],
                  "The step alone: thimble's planned peak (parameters, state, activations, "
                  "workspaces) beside what PyTorch's tensors hold between steps plus what it takes "
                  "from malloc during one. The process: peak resident memory of the full training, "
                  "samples included; what importing torch takes is shown apart.")
    for name, result in recipes.items():
        run = result["training"][0]
        ours, theirs = run["thimble"], run["torch"]
        step = (result["memory"] or {}).get("peak_bytes")
        rows = [("process, peak", ours["peak_rss_bytes"], theirs["peak_rss_bytes"]),
                ("process above import torch", ours["peak_rss_bytes"],
                 theirs["peak_rss_bytes"] - theirs["import_bytes"])]
        if step:
            rows.insert(0, ("step", ours["planned_peak_bytes"], step))
        for measure, a, b in rows:
            table.add(name, measure, f"{a / MIB:.2f}", f"{b / MIB:.2f}", f"{b / a:.2f}")
    return table


def agreement_table(recipes):
    table = Table("Some steps from equal weights, batches and noise",
                  ["recipe, seed", "steps", "to PyTorch float32", "to PyTorch double",
                   "PyTorch float32 to double", "within 1e-4"],
                  "Norm of the difference over the norm, for the array that differs most, running "
                  "statistics included. A ReLU whose input is zero but for rounding goes one way or "
                  "the other, and Adam divides even the smallest gradient by its size: now and then "
                  "one of the three computations parts from the other two.")
    for name, result in recipes.items():
        for seed, run in enumerate(result["agreement"]):
            cells = [f"{run[key]['difference']:.1e}"
                     for key in ("to_float32", "to_double", "pytorch_to_itself")]
            within = [word for key, word in (("to_float32", "float32"), ("to_double", "double"))
                      if run[key]["difference"] <= run["tolerance"]]
            table.add(f"{name}, {seed}", run["steps"], *cells, " and ".join(within) or "neither")
    return table


def datasets(recipes):
    """The recipes of each data set."""
    names = {}
    for name, result in recipes.items():
        samples = result["samples"]
        data = (f"{samples['data']}, {samples['train']} training and {samples['test']} test "
                "samples")
        names.setdefault(data, []).append(name)
    return names


def heading(results):
    machine = results["machine"]
    torch = next(iter(results["recipes"].values()))["training"][0]["torch"]["torch"]
    busy = max(results["load_before"], results["load_after"])
    lines = [f"{machine['processor']}, {machine['cores']} cores, {machine['system']}. "
             f"PyTorch {torch}. Command: {results['command']}."]
    for data, names in datasets(results["recipes"]).items():
        lines.append(f"{', '.join(names)}: {data}.")
    if busy > machine["cores"] / 2 + 1:
        lines.append(f"Other work ran on the machine: its load was {busy:.1f} on "
                     f"{machine['cores']} cores. Times on several threads mean little then.")
    return lines


def page(results, tables, folder):
    parts = [f"<p>{html.escape(line)}</p>" for line in heading(results)]
    parts += [tables[0].html(), tables[1].html()]
    parts += [charts.losses(name, result["training"][0])
              for name, result in results["recipes"].items()]
    pictures = [(folder / f"drawn_{side}.png", title)
                for side, title in (("thimble", "thimble"), ("torch", "PyTorch"))]
    if "vae" in results["recipes"] and all(path.exists() for path, _ in pictures):
        parts.append("<h2>Generated images</h2><div class=pair>")
        parts += [f"<figure><img alt='digits drawn by {title}' src='data:image/png;base64,"
                  f"{base64.b64encode(path.read_bytes()).decode()}'><figcaption>{title}"
                  "</figcaption></figure>" for path, title in pictures]
        parts.append("</div>")
    parts += [table.html() for table in tables[2:]]
    for file, title in OTHERS.items():
        if (folder / file).exists():
            parts.append(f"<h2>{title}</h2><div class=wide><pre>"
                         f"{html.escape((folder / file).read_text())}</pre></div>")
    return charts.PAGE.replace("CONTENT", "\n".join(parts))


def main():
    folder = pathlib.Path(sys.argv[1])
    results = json.loads((folder / "results.json").read_text())
    recipes = results["recipes"]
    tables = [time_table(recipes), quality_table(recipes), memory_table(recipes),
              agreement_table(recipes)]
    markdown = ["# thimble beside PyTorch", "", *heading(results), ""]
    markdown += [table.markdown() for table in tables]
    for file, title in OTHERS.items():
        if (folder / file).exists():
            markdown += [f"## {title}", "", (folder / file).read_text()]
    (folder / "report.md").write_text("\n".join(markdown))
    (folder / "report.html").write_text(page(results, tables, folder))
    print("\n".join(heading(results)))
    for table in tables:
        print("\n" + table.text())


if __name__ == "__main__":
    main()
