"""The node cases of the onnx package: models of one operator, or of what it is made of, with inputs and
results."""
import dataclasses
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

Array = NDArray[Any]

ROOT = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"

# Element types that thimble lacks, for tensors of inputs and results.
_OFFERED = {
    onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16,
    onnx.TensorProto.INT8, onnx.TensorProto.INT16, onnx.TensorProto.INT32, onnx.TensorProto.INT64,
    onnx.TensorProto.UINT8, onnx.TensorProto.UINT32, onnx.TensorProto.BOOL,
}


class Refused(Exception):
    """Why thimble does not run a case, in a few words."""


@dataclasses.dataclass
class Case:
    """A folder of the package."""

    name: str
    model: pathlib.Path
    operator: str  # whose case it is
    expanded: bool  # the operator is replaced by its definition

    @property
    def key(self) -> str:
        return f"{self.operator} as its definition" if self.expanded else self.operator


@dataclasses.dataclass
class DataSet:
    """The inputs and results of one run, by name."""

    inputs: dict[str, Array]
    outputs: dict[str, Array]


def _tensor(path: pathlib.Path, info: onnx.ValueInfoProto) -> Array:
    kind = info.type.WhichOneof("value")
    if kind != "tensor_type":
        raise Refused("values that are no tensors (sequences, optional values)")
    elements = info.type.tensor_type.elem_type
    if elements not in _OFFERED:
        name = onnx.TensorProto.DataType.Name(elements).lower()
        raise Refused(f"tensors of {name.replace('double', 'float64')}")
    return numpy_helper.to_array(onnx.load_tensor(str(path)))


def data_sets(case: Case) -> Iterator[DataSet]:
    """Raises Refused."""
    graph = onnx.load(str(case.model)).graph
    if any(node.op_type.startswith("Random") for node in graph.node):
        raise Refused("random numbers, which no two programs share")
    for folder in sorted(case.model.parent.glob("test_data_set_*")):
        made = []
        for kind, infos in (("input", graph.input), ("output", graph.output)):
            made.append({info.name: _tensor(folder / f"{kind}_{i}.pb", info)
                         for i, info in enumerate(infos)
                         if (folder / f"{kind}_{i}.pb").exists() or not info.name})
        yield DataSet(*made)


def _short(folder: pathlib.Path) -> str:
    return folder.name.removeprefix("test_")


def all_cases() -> list[Case]:
    """By operator, then by name. A case whose operator was replaced by its definition belongs to the
    operator of the case that it was made from."""
    folders = [folder for folder in sorted(ROOT.iterdir()) if (folder / "model.onnx").exists()]
    nodes = {_short(folder): onnx.load(str(folder / "model.onnx")).graph.node for folder in folders}
    cases = []
    for folder in folders:
        name = _short(folder)
        origin = name.split("_expanded")[0]
        expanded = origin != name and origin in nodes
        of = nodes[origin if expanded else name]
        # Beside the operator some cases have constants, or what makes an optional value.
        main = [node for node in of if node.op_type != "Constant"] or list(of)
        operator = main[-1].op_type if name.startswith("test_optional") else main[0].op_type
        domain = main[0].domain
        cases.append(Case(name, folder / "model.onnx",
                          f"{domain}.{operator}" if domain else operator, expanded))
    return sorted(cases, key=lambda case: (case.operator.lower(), case.expanded, case.name))
