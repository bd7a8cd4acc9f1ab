"""Compares thimble with PyTorch on the samples of PyTorch's own databases."""
import argparse
import importlib
import os
import pathlib
import sys
import warnings

import torch

import canaries
import cases
import coverage
import report
import trajectories
from registry import MODULES, OPS, OPTIMIZERS
from runner import Job, Result, run_all

# PyTorch's, about its own samples.
warnings.simplefilter("ignore")

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "parity.md"

# Adapters register themselves.
for path in sorted(HERE.glob("*.py")):
    if path.stem.startswith(("ops_", "modules_", "optimizers_")):
        importlib.import_module(path.stem)

# By kind: the adapters, the database's entries, what runs an adapter's samples.
DATABASES = {
    "op": (OPS, cases.OP_ENTRIES, cases.run_op),
    "module": (MODULES, cases.MODULE_ENTRIES, cases.run_module),
    "optimizer": (OPTIMIZERS, trajectories.OPTIMIZER_ENTRIES, trajectories.run_optimizer),
}


def all_jobs(only: list[str]) -> list[Job]:
    """In the databases' order; those whose name contains one of only."""
    return [
        Job(kind, adapters[name], run)
        for kind, (adapters, entries, run) in DATABASES.items()
        for name in entries
        if name in adapters and (not only or any(part in name for part in only))
    ]


def canary_problems(processes: int) -> list[str]:
    results = run_all(canaries.jobs(), processes, lambda result: None)
    return [f"the canary {r.ours[0]} was not caught" for r in results
            if not r.failures]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./run parity", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="NAME",
                        help="entries whose name contains NAME alone; may be given again")
    parser.add_argument("--write", action="store_true", help="write docs/parity.md")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                        help="processes at a time")
    parser.add_argument("--counts", metavar="FILE", type=pathlib.Path,
                        help="write what passed, failed and was refused, why, and what failed")
    options = parser.parse_args()
    if options.only and options.write:
        parser.error("--write needs all entries")
    return options


def write_counts(path: pathlib.Path, results: list[Result], problems: list[str]) -> None:
    passed, failed = sum(r.passed for r in results), sum(len(r.failures) for r in results)
    refusals = [reason for r in results for reason, n in r.refused.items() for _ in range(n)]
    lines = [f"{passed} {failed + len(problems)} {len(refusals)}"]
    lines += [f"refused: {reason}" for reason in refusals]
    lines += [f"failed: {r.kind} {r.name}" for r in results if r.failures]
    lines += [f"failed: {problem}" for problem in problems]
    path.write_text("\n".join(lines) + "\n")


def show(result: Result) -> None:
    for failure in result.failures[:5]:
        print(f"FAILED {result.kind} {result.name}: {failure}")
    if len(result.failures) > 5:
        print(f"FAILED {result.kind} {result.name}: and {len(result.failures) - 5} more")


def page_problems(results: list[Result], write: bool) -> list[str]:
    """Writes docs/parity.md, or says that it is out of date."""
    missing = {kind: coverage.not_offered(kind, adapters) for kind, (adapters, _, _) in DATABASES.items()}
    text = report.markdown(results, missing, torch.__version__.split("+")[0])
    if write:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        return ["docs/parity.md is out of date: ./run parity --write"]
    return []


def main() -> int:
    options = arguments()
    jobs = all_jobs(options.only)
    if not jobs:
        sys.exit(f"parity: no entry is named like {', '.join(options.only)}")
    sys.stdout.reconfigure(line_buffering=True)
    results = run_all(jobs, options.jobs, show)
    problems = canary_problems(options.jobs)
    adapters = [*OPS.values(), *MODULES.values(), *OPTIMIZERS.values()]
    if not options.only:
        for kind, (of_kind, entries, _) in DATABASES.items():
            problems += coverage.problems(kind, of_kind, entries)
        problems += coverage.unknown(adapters)
        problems += page_problems(results, options.write)
    print(report.table(results))
    if not options.only:
        print(f"without an entry in the databases: {', '.join(coverage.without_entry(adapters))}")
    for problem in problems:
        print(f"parity: {problem}")
    if options.counts:
        write_counts(options.counts, results, problems)
    return 1 if problems or any(result.failures for result in results) else 0


sys.exit(main())
