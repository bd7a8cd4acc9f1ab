"""Runs a case through thimble and compares the results."""
import dataclasses
from collections.abc import Callable

import numpy as np

import thimble as tb
from cases import Array, Case, DataSet, Refused, data_sets

# The onnx package's own, with room below for sums that begin with another element.
RTOL, ATOL = 1e-3, 1e-5
# bf16 has 8 bits.
RTOL_BF16 = 1e-2


class Mismatch(Exception):
    """What differs, in one line."""


@dataclasses.dataclass
class Result:
    """What became of the cases of one operator."""

    operator: str
    cases: int = 0
    passed: int = 0
    refused: dict[str, int] = dataclasses.field(default_factory=dict)  # by reason
    failures: list[str] = dataclasses.field(default_factory=list)  # a line each

    @property
    def ran(self) -> int:
        return self.cases - sum(self.refused.values())


# What is known when importing: nothing; what is no floating point; all but the first input; all.
_KNOWN: tuple[Callable[[int, Array], bool], ...] = (
    lambda _, x: False,
    lambda _, x: x.dtype.kind != "f" and x.dtype.name != "bfloat16",
    lambda i, x: i > 0,
    lambda i, x: True,
)
# Refusals after which an import that knows more is tried.
_UNKNOWN = ("must be a constant", "must be known")


def _apply(case: Case, data: DataSet, known: dict[str, Array]) -> dict[str, Array]:
    given = {name: x for name, x in data.inputs.items() if name not in known}
    known = {name: x.astype(np.float32) if x.dtype.name == "bfloat16" else x
             for name, x in known.items()}
    names: list[str] = []

    def model(first: tb.Value, *values: tb.Value) -> list[tb.Value]:
        outputs = tb.apply_onnx(case.model, {**dict(zip(given, values)), **known}, graph=first.graph)
        names[:] = outputs
        return [tb.cast(y, "f32") if y.dtype == "bf16" else y for y in outputs.values()]

    # The first argument is there for models whose inputs are all known.
    return dict(zip(names, tb.jit(model)(np.zeros(1, np.float32), *given.values())))


def _reason(error: Exception, case: Case) -> str:
    """The importer's message without the file and the node that it names."""
    text = " ".join(str(error).split()).replace(f"[{case.model}] ", "")
    while text.startswith("node "):
        text = text.split(": ", 1)[1]
    return text.split("; got ", maxsplit=1)[0]


def _outputs(case: Case, data: DataSet) -> dict[str, Array]:
    first = ""
    for choose in _KNOWN:
        known = {name: x for i, (name, x) in enumerate(data.inputs.items()) if choose(i, x)}
        try:
            return _apply(case, data, known)
        except (RuntimeError, ValueError) as error:
            if type(error) not in (RuntimeError, ValueError):
                raise
            first = first or _reason(error, case)
            if not any(part in str(error) for part in _UNKNOWN):
                raise Refused(_reason(error, case)) from None
    raise Refused(first)


def compare(name: str, ours: Array, theirs: Array) -> None:
    rtol = RTOL
    if theirs.dtype.name == "bfloat16":
        theirs, rtol = theirs.astype(np.float32), RTOL_BF16
    if ours.shape != theirs.shape:
        raise Mismatch(f"{name}: shape {ours.shape}, expected {theirs.shape}")
    exact = theirs.dtype.kind in "iub"
    if exact != (ours.dtype.kind in "iub"):
        raise Mismatch(f"{name}: type {ours.dtype}, expected {theirs.dtype}")
    if exact:
        wrong = np.count_nonzero(ours.astype(np.int64) != theirs.astype(np.int64))
        if wrong:
            raise Mismatch(f"{name}: {wrong} of {theirs.size} numbers differ")
        return
    try:
        np.testing.assert_allclose(ours.astype(np.float64), theirs.astype(np.float64), rtol, ATOL)
    except AssertionError as error:
        raise Mismatch(f"{name}: {' '.join(str(error).split())[:160]}") from None


def run(case: Case) -> None:
    """Returns where all results agree; raises Refused or Mismatch."""
    for data in data_sets(case):
        ours = _outputs(case, data)
        for name, theirs in data.outputs.items():
            compare(name, ours[name], theirs)


def count(cases: list[Case]) -> list[Result]:
    """By operator, in the order of the cases."""
    results: dict[str, Result] = {}
    for case in cases:
        result = results.setdefault(case.key, Result(case.key))
        result.cases += 1
        try:
            run(case)
            result.passed += 1
        except Refused as refusal:
            reason = str(refusal)
            result.refused[reason] = result.refused.get(reason, 0) + 1
        except Exception as error:
            result.failures.append(f"{case.name}: {type(error).__name__}: {error}")
    return list(results.values())
