#!/usr/bin/env python3
"""thimble and PyTorch side by side: the same models from the same weights on the same samples.

Usage: python compare.py --build DIR --out DIR [--recipe NAME] [--data DIR] [--quick]

Writes results.json into the folder --out, which report.py makes pages of. Both sides take turns, so
that other work on the machine hits both; of the rounds of a timing the fastest median counts.
"""
import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
RECIPES = ["vae", "lenet5", "mlp"]
# These are compared only if named: one seed, trained on all processors. The step that is compared is
# one of plain SGD of rate 1, which shows the gradient. Adam makes full steps from gradients that are
# only rounding error, and the error grows with every step of a deep network with batch norm.
LARGE_RECIPES = ["mobilenetv2", "resnet18", "lstm", "gpt", "unet_ddpm"]
# An allocator that keeps its memory: giving it back every step costs PyTorch time.
KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": "1073741824", "MALLOC_MMAP_THRESHOLD_": "33554432"}
TIMED_STEPS = 300
TIMED_SECONDS = {False: 5, True: 20}  # at most; of a large recipe
PATIENCE_SECONDS = 180
SAMPLE_COUNT = 2000
CLASSIFIER_EPOCHS = 3


class Bench:
    def __init__(self, options):
        self.options = options
        self.out = pathlib.Path(options.out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.bin = pathlib.Path(options.build) / "bin"
        self.data = ["--data", options.data] if options.data else []
        self.threads = [1] + [n for n in [len(os.sched_getaffinity(0))] if n > 1]

    def path(self, name):
        return str(self.out / name)

    def call(self, command, may_fail=False, **environment):
        """The JSON object that a program prints as its last line; None if it may fail and does, or
        takes too long for a timing."""
        try:
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                                  env={**os.environ, **environment}, check=False,
                                  timeout=PATIENCE_SECONDS if may_fail else None)
        except subprocess.TimeoutExpired:
            self.note(f"given up after {PATIENCE_SECONDS} s: {' '.join(map(str, command[1:]))}")
            return None
        if done.returncode != 0 and not may_fail:
            raise SystemExit(f"{' '.join(map(str, command))}\nended with {done.returncode}:\n"
                             f"{done.stderr[-2000:]}")
        if done.returncode < 0 or (done.returncode != 0 and not done.stdout.strip()):
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            self.note(f"ended with {done.returncode}: {last}")
        lines = done.stdout.strip().splitlines()
        return json.loads(lines[-1]) if lines and lines[-1].startswith("{") else None

    def thimble(self, *words, **environment):
        return self.call([self.bin / "twin_bench", *words], **environment)

    def torch(self, *words, may_fail=False, **environment):
        return self.call([sys.executable, HERE / "train.py", *words], may_fail=may_fail, **environment)

    def note(self, text):
        print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)

    def run(self):
        quick = self.options.quick
        results = {"machine": machine(), "commit": commit(), "quick": quick, "recipes": {},
                   "command": "./run bench" + (" --quick" if quick else "")
                              + (" --data DIR" if self.data else ""),
                   "load_before": os.getloadavg()[0]}
        for recipe in self.options.recipe or RECIPES:
            self.note(f"{recipe}: writing the samples")
            samples = self.thimble("samples", recipe, *self.data, "--out", self.path("samples.st"))
            results["recipes"][recipe] = {
                "samples": samples,
                "agreement": self.agreement(recipe), **self.training(recipe),
                "timing": self.timing(recipe), "memory": self.memory(recipe)}
        results["load_after"] = os.getloadavg()[0]
        pathlib.Path(self.path("results.json")).write_text(json.dumps(results, indent=1) + "\n")

    def agreement(self, recipe):
        """Some steps from equal weights, on equal batches and noise."""
        runs = []
        for seed in range(1 if recipe in LARGE_RECIPES else 2 if self.options.quick else 5):
            self.note(f"{recipe}: equal steps, seed {seed}")
            few = ["--plain-sgd", "--steps", 1] if recipe in LARGE_RECIPES else []
            self.thimble("steps", recipe, *self.data, *few, "--seed", seed,
                         "--out", self.path("steps.st"))
            runs.append(self.call([sys.executable, HERE / "agree.py", recipe, self.path("steps.st")],
                                  may_fail=True))
        pathlib.Path(self.path("steps.st")).unlink()
        return runs

    def training(self, recipe):
        """Full training, several seeds on one thread each: last epochs are noisy."""
        epochs = ["--epochs", 2] if self.options.quick else []
        is_large = recipe in LARGE_RECIPES
        seeds = range(1 if self.options.quick or is_large else 3)
        threads = ["--threads", self.threads[-1] if is_large else 1]
        runs = []
        for seed in seeds:
            self.note(f"{recipe}: training both, seed {seed}")
            common = [recipe, *self.data, *epochs, "--seed", seed]
            start, weights = self.path("start.st"), self.path(f"{recipe}.st")
            images = self.path("drawn.st") if recipe == "vae" else None
            self.thimble("start", *common, "--out", start)
            ours = self.thimble("train", *common, *threads, "--out", weights)
            theirs = self.torch("train", recipe, self.path("samples.st"), start, *threads,
                                "--seed", seed, *(["--images", images] if images else []))
            if images:
                self.score(ours, theirs, weights, images, seed)
            runs.append({"seed": seed, "thimble": ours, "torch": theirs})
        return {"training": runs}

    def score(self, ours, theirs, weights, images, seed):
        """The inception score of both sides' generated images, by one classifier of thimble's."""
        classifier = self.path("classifier.st")
        if seed == 0:
            self.thimble("train", "lenet5", *self.data, "--epochs", CLASSIFIER_EPOCHS,
                         "--out", classifier)
        ours.update(self.thimble("score", classifier, "--vae", weights, "--samples", SAMPLE_COUNT,
                                 "--seed", seed, "--picture", self.path("drawn_thimble.png")))
        theirs.update(self.thimble("score", classifier, "--images", images,
                                   "--picture", self.path("drawn_torch.png")))

    def timing(self, recipe):
        """Milliseconds a step by threads: thimble's, and PyTorch's in each of its variants."""
        variants = ["eager", "compile"] + ([] if recipe == "mlp" else ["channels_last"])
        rounds = 1 if self.options.quick else self.options.rounds
        times = {}
        for threads in self.threads:
            fastest = {}
            for turn in range(rounds):
                self.note(f"{recipe}: timing, {threads} threads, round {turn + 1} of {rounds}")
                common = ["--steps", TIMED_STEPS, "--threads", threads,
                          "--seconds", TIMED_SECONDS[recipe in LARGE_RECIPES]]
                sides = [("thimble", self.thimble("time", recipe, *self.data, *common))]
                for variant in variants + (["passive"] if threads > 1 else []):
                    # Threads sleep between loops, which is better if other programs use the cores.
                    policy = {"OMP_WAIT_POLICY": "passive"} if variant == "passive" else {}
                    sides.append((variant, self.torch(
                        "time", recipe, self.path("samples.st"), self.path("start.st"), *common,
                        "--variant", "eager" if variant == "passive" else variant, may_fail=True,
                        OMP_NUM_THREADS=str(threads), **policy, **KEEP_MEMORY)))
                for side, answer in sides:
                    if answer:
                        fastest.setdefault(side, []).append(answer)
            times[str(threads)] = {
                side: {"ms": min(answer["ms_per_step"] for answer in answers),
                       "ms_fastest": min(answer["ms_fastest"] for answer in answers),
                       "rounds": [answer["ms_per_step"] for answer in answers]}
                for side, answers in fastest.items()}
        return times

    def counting_malloc(self):
        """The library to preload, which counts; None where it cannot be built."""
        library = self.path("count_malloc.so")
        if not pathlib.Path(library).exists():
            built = subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library,
                                    HERE / "count_malloc.c"], check=False)
            if built.returncode != 0:
                return None
        return library

    def memory(self, recipe):
        """What PyTorch holds in a step in addition to its import, from a counting malloc."""
        library = self.counting_malloc()
        if library is None:
            return None
        self.note(f"{recipe}: counting PyTorch's memory")
        return self.torch("memory", recipe, self.path("samples.st"), self.path("start.st"),
                          "--threads", 1, may_fail=True, LD_PRELOAD=library)


def commit():
    """The commit that is measured; + where the working tree differs from it."""
    def git(*words):
        return subprocess.run(["git", "-C", str(HERE), *words], capture_output=True, text=True,
                              check=False).stdout.strip()
    changed = git("status", "--porcelain", "--untracked-files=no")
    return (git("rev-parse", "--short", "HEAD") or "unknown") + ("+" if changed else "")


def machine():
    model = "unknown processor"
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii").splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return {"processor": model, "cores": len(os.sched_getaffinity(0)),
            "system": f"{platform.system()} {platform.machine()}"}


def arguments(description, rounds, build_required=True):
    """A parser with the options of every comparison. rounds: their default number."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=build_required, default="",
                        help="build folder of thimble")
    parser.add_argument("--out", required=True)
    parser.add_argument("--recipe", action="append", choices=RECIPES + LARGE_RECIPES)
    parser.add_argument("--data", default="", help="real data; none: the recipes' built-in data")
    parser.add_argument("--rounds", type=int, default=rounds, help="of each timing")
    return parser


def main():
    parser = arguments(__doc__, rounds=3)
    parser.add_argument("--quick", action="store_true", help="two epochs, one round")
    Bench(parser.parse_args()).run()


if __name__ == "__main__":
    main()
