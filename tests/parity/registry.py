"""What adapters are: for each name of PyTorch's databases a function that computes the same with
thimble, from arguments in PyTorch's layout.

    @op("nn.functional.leaky_relu", ours="leaky_relu")
    def leaky_relu(x, negative_slope=0.01, inplace=False):
        return tb.leaky_relu(x, slope=negative_slope)

The function is given what PyTorch's sample holds, its tensors as thimble Values (i32 for int64, u8 for
bool), and returns Values in PyTorch's layout. It raises Refused(REASON) for what thimble does not do on
purpose; whatever else it raises is a failure.
"""
import dataclasses
from collections.abc import Callable
from typing import Any

# What thimble refuses on purpose, and why. Nothing else may be refused.
COMPLEX = "complex numbers: tensors are real"
FLOAT64 = "double precision: thimble computes in float32"
VALUE_SHAPES = "the shape of the result depends on values: shapes are fixed when compiling"
VALUE_PLACES = "where a slice starts depends on values: slices are fixed when compiling"
RANDOM = "random: thimble's own generator draws other numbers"
PACKED = "packed sequences: layers take padded ones and their lengths"
PRODUCTS = "products of what shares a place: scatter replaces or adds"
REASONS = [COMPLEX, FLOAT64, VALUE_SHAPES, VALUE_PLACES, RANDOM, PACKED, PRODUCTS]


class Refused(Exception):
    """A sample that thimble refuses on purpose; its reason is one of REASONS."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


@dataclasses.dataclass
class Adapter:
    name: str  # of PyTorch's entry; a variant's name follows a slash: "max/binary"
    ours: tuple[str, ...]  # thimble's functions (or methods of Value) that do it
    call: Callable[..., Any]
    times: float  # of the tolerance, where sums are long
    training: bool  # whether dropout drops and batch_norm takes the statistics of the batch
    outputs: Callable[[Any], Any] | None  # what of PyTorch's result is compared; None: all
    gradients: bool  # whether gradients are compared, too
    # Changes what PyTorch and thimble are given: (args, kwargs) after the first argument.
    sample: Callable[[Any, Any], tuple[Any, Any]] | None = None


OPS: dict[str, Adapter] = {}
MODULES: dict[str, Adapter] = {}
OPTIMIZERS: dict[str, Adapter] = {}

# Beyond this a wrong digit in the third place would pass.
MOST_TIMES = 100


def _register(table: dict[str, Adapter], names: Any, ours: str, **settings: Any) -> Any:
    def add(call: Callable[..., Any]) -> Callable[..., Any]:
        for name in (names,) if isinstance(names, str) else names:
            assert name not in table, f"two adapters for {name}"
            table[name] = Adapter(name, tuple(ours.split()), call, **settings)
        return call

    assert 1 <= settings["times"] <= MOST_TIMES
    return add


def op(names: str | list[str], ours: str, *, times: float = 1, training: bool = True,
       outputs: Callable[[Any], Any] | None = None, gradients: bool = True,
       sample: Callable[[Any, Any], tuple[Any, Any]] | None = None) -> Any:
    """Registers call(input, *args, **kwargs) for entries of op_db.

    ours: names of thimble's functions, separated by spaces. times: see Adapter.
    outputs: picks from PyTorch's result what is compared. gradients: False where PyTorch's gradient is
        arbitrary; say why beside it. sample: see Adapter; say why beside it.
    """
    return _register(OPS, names, ours, times=times, training=training, outputs=outputs,
                     gradients=gradients, sample=sample)


def module(names: str | list[str], ours: str, *, times: float = 1,
           outputs: Callable[[Any], Any] | None = None, gradients: bool = True) -> Any:
    """Registers call(module, weights, *args, **kwargs) for entries of module_db.

    module: PyTorch's module, for its settings (module.stride); module.training says whether it trains.
    weights: its parameters and buffers as Values, by their names. Their gradients are compared, too.
    """
    return _register(MODULES, names, ours, times=times, training=True, outputs=outputs,
                     gradients=gradients)


def optimizer(names: str | list[str], ours: str, *, times: float = 1) -> Any:
    """Registers call(**settings of torch.optim's optimizer), which returns thimble's, for entries of
    optim_db."""
    return _register(OPTIMIZERS, names, ours, times=times, training=True, outputs=None,
                     gradients=False)
