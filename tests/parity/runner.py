"""Runs adapters on all their samples, each adapter in a process of its own: one that crashes or hangs
is a failure and takes nothing with it."""
import dataclasses
import multiprocessing
import time
import traceback
from collections.abc import Callable, Iterable
from multiprocessing.connection import wait
from typing import Any

import torch

import thimble as tb
from registry import REASONS, Adapter, Refused

# Of one adapter's samples together.
MOST_SECONDS = 300


@dataclasses.dataclass
class Result:
    """What became of one adapter's samples."""

    kind: str  # op, module or optimizer
    name: str
    ours: tuple[str, ...]
    samples: int = 0
    passed: int = 0
    refused: dict[str, int] = dataclasses.field(default_factory=dict)  # by reason
    failures: list[str] = dataclasses.field(default_factory=list)  # a line each
    seconds: float = 0

    @property
    def ran(self) -> int:
        return self.samples - sum(self.refused.values())


@dataclasses.dataclass
class Job:
    """An adapter and how its samples are run: run(adapter) yields functions, one a sample."""

    kind: str
    adapter: Adapter
    run: Callable[[Adapter], Iterable[Callable[[], None]]]


def _reason(error: BaseException) -> str:
    at = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{at.filename.rsplit('/', 1)[-1]}:{at.lineno}"
    return f"{type(error).__name__}: {' '.join(str(error).split())} ({where})"


def count(job: Job) -> Result:
    """Runs a job's samples here."""
    result = Result(job.kind, job.adapter.name, job.adapter.ours)
    start = time.monotonic()
    samples = iter(job.run(job.adapter))
    while True:
        try:
            sample = next(samples, None)
        except Exception as error:  # PyTorch could not make it
            result.samples += 1
            result.failures.append(f"no sample {result.samples - 1}: {_reason(error)}")
            break
        if sample is None:
            break
        result.samples += 1
        try:
            sample()
            result.passed += 1
        except Refused as refusal:
            if refusal.reason in REASONS:
                result.refused[refusal.reason] = result.refused.get(refusal.reason, 0) + 1
            else:
                result.failures.append(f"refused without a reason of the list: {refusal.reason}")
        except Exception as error:
            result.failures.append(f"sample {result.samples - 1}: {_reason(error)}")
    result.seconds = time.monotonic() - start
    return result


def _work(job: Job, pipe: Any) -> None:
    torch.set_num_threads(1)
    tb.set_num_threads(1)
    pipe.send(count(job))


def run_all(jobs: list[Job], processes: int, done: Callable[[Result], None]) -> list[Result]:
    """The results in the order of the jobs; done hears of each as it ends."""
    context = multiprocessing.get_context("fork")
    results: dict[int, Result] = {}
    waiting = list(enumerate(jobs))
    running: dict[Any, tuple[int, Job, Any, float]] = {}  # by the pipe's end

    def finish(pipe: Any, failure: str) -> None:
        number, job, process, _ = running.pop(pipe)
        try:
            result = pipe.recv() if pipe.poll() else None
        except EOFError:
            result = None
        if result is None:
            process.kill()
            process.join()
            result = Result(job.kind, job.adapter.name, job.adapter.ours, samples=1)
            result.failures.append(failure or f"its process ended with code {process.exitcode}")
        process.join()
        results[number] = result
        done(result)

    while waiting or running:
        while waiting and len(running) < processes:
            number, job = waiting.pop(0)
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(job, theirs))
            process.start()
            theirs.close()
            running[ours] = number, job, process, time.monotonic()
        for pipe in wait(list(running), timeout=1):
            finish(pipe, "")
        for pipe, (_, _, _, start) in list(running.items()):
            if time.monotonic() - start > MOST_SECONDS:
                finish(pipe, f"took longer than {MOST_SECONDS} s")
    return [results[i] for i in range(len(jobs))]
