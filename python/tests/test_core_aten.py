"""PyTorch's core ATen operators in from_torch: values and gradients beside PyTorch's, and what is refused."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import thimble as tb
from thimble._aten import CONVERSIONS
from thimble._aten_refused import REFUSED, SIZES, WRITTEN_OTHERWISE
from thimble.pytorch import _LAYOUTS, _back

torch = pytest.importorskip("torch")
nn, functional = torch.nn, torch.nn.functional

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/guide/pytorch-modules.md"
SAMPLES = 3
VALUES = {"rtol": 1e-4, "atol": 2e-6}  # sums are in another order


def core_names() -> set[str]:
    """The operators that PyTorch tags as core, by name."""
    found = set()
    schemas = {schema.name for schema in torch._C._jit_get_all_schemas()} | set(torch._C._dispatch_get_all_op_names())
    for name in {each.removeprefix("aten::").split(".")[0] for each in schemas if each.startswith("aten::")}:
        packet = getattr(torch.ops.aten, name, None)
        if hasattr(packet, "overloads") and any(
                torch.Tag.core in getattr(packet, each).tags for each in packet.overloads()):
            found.add(name)
    return found


class Case(nn.Module):
    """A function of the input, plus a parameter so that it has a gradient, and of other parameters."""

    def __init__(self, function: Callable[..., Any], shape: tuple[int, ...], others: list[tuple[int, ...]]) -> None:
        super().__init__()
        self.function = function
        self.shift = nn.Parameter(torch.randn(shape) * 0.3)
        self.others = nn.ParameterList(nn.Parameter(torch.randn(other)) for other in others)

    def forward(self, x: Any) -> Any:
        return self.function(x + self.shift, *self.others)


def put(function: Callable[..., None]) -> Callable[..., Any]:
    """What a function that writes into its first argument leaves."""
    def run(x: Any, *others: Any) -> Any:
        y = x.clone()
        function(y, *others)
        return y
    return run


I, J = torch.tensor([2, 0, -1]), torch.tensor([1, 1, 3])
ROWS = torch.tensor([[0, 2, 1, 0], [2, 1, 0, 2]])
MASK = torch.tensor([[True, False, True, True], [False, True, False, True]])


def samples(x: Any) -> Any:
    return torch.arange(x.shape[0])


def reduced(reduce: str, keeps: bool) -> Callable[..., Any]:
    """Of [N, 3, 4] by indices [N, 2, 4] along axis 1."""
    return lambda x, p: x.scatter_reduce(
        1, ROWS.expand(x.shape[0], 2, 4), p.expand(x.shape[0], 2, 4), reduce, include_self=keeps)


def sampled(mode: str, padding: str, corners: bool) -> Callable[..., Any]:
    return lambda x, p: functional.grid_sample(
        x, 1.3 * torch.tanh(p).expand(x.shape[0], 4, 3, 2), mode=mode, padding_mode=padding, align_corners=corners)


def put_copy(y: Any, p: Any) -> None:
    y[:] = p


def put_all(y: Any, p: Any) -> None:
    y[:, I, J] = p


def put_adding(y: Any, p: Any) -> None:
    y.index_put_((torch.tensor([1, 1, 0]),), p, accumulate=True)


def put_between(y: Any, p: Any) -> None:
    y[:, I, :, torch.tensor([0, 1, 0])] = p[:, None]


def put_of_samples(y: Any, p: Any) -> None:
    y[samples(y), y[:, :, 0].argmax(1)] = p


def put_masked(y: Any) -> None:
    y[y > 0.4] = -2.0


def put_masked_rows(y: Any, p: Any) -> None:
    y[y[:, :, 0] > 0] = p


def put_masked_more(y: Any) -> None:
    y.index_put_((y > 0.4,), torch.tensor(0.5), accumulate=True)


# The operator: the function, the shape of a sample, shapes of other parameters.
CASES: dict[str, tuple[str, Callable[..., Any], tuple[int, ...], list[tuple[int, ...]]]] = {
    "sort": ("sort", lambda x: torch.sort(x, 1)[0] * torch.arange(5.0)[:, None], (5, 2), []),
    "sort_descending": ("sort", lambda x: torch.sort(x, -1, descending=True)[0] * torch.arange(5.0), (2, 5), []),
    "sort_places": ("sort", lambda x: torch.sort(x, 1)[1].float() + x, (5,), []),
    "atan2": ("atan2", lambda x, p: torch.atan2(x, p), (4, 3), [(3,)]),
    "trunc": ("trunc", lambda x: torch.trunc(3 * x) * x, (7,), []),
    "any": ("any", lambda x: (x > 0.5).any(1).float() + x[:, 0], (3, 2), []),
    "any_of_two": ("any", lambda x: torch.any(x > 1.5, dim=(1, 2), keepdim=True).float() + x, (3, 2), []),
    "all": ("any", lambda x: (~(x < 0.5).all(2)).float() + x[..., 0], (3, 2), []),
    "any_of_all": ("any", lambda x: (x > 0.5).any().float() + x, (3, 2), []),
    "copy": ("copy", lambda x, p: put(put_copy)(x, p) * x, (3, 2), [(2,)]),
    "fill": ("fill", lambda x: torch.ops.aten.fill(x, 2.5) * x, (3, 2), []),
    "scalar_tensor": ("scalar_tensor", lambda x: x * torch.scalar_tensor(2.5), (3,), []),
    "arange": ("arange", lambda x: x * torch.arange(1, 9, 3), (3,), []),
    "empty_strided": ("empty_strided", lambda x: x + torch.empty_strided((3,), (1,)).fill_(1.5), (3,), []),
    "diagonal": ("diagonal", lambda x: torch.diagonal(x, 1, 1, 2), (3, 5), []),
    "diagonal_below": ("diagonal", lambda x: torch.diagonal(x, -1, 3, 1), (3, 2, 4), []),
    "as_strided": ("as_strided", lambda x: torch.ops.aten.as_strided(x, (x.shape[0], 2, 3), (12, 4, 2), 1), (3, 4), []),
    "detach": ("detach", lambda x, p: x * p.detach() + (x * p).detach(), (3, 2), [(2,)]),
    "resize": ("as_strided", lambda x, p: x + p.detach().clone().resize_(2, 3), (2, 3), [(3, 4)]),
    "select_scatter": ("select_scatter", lambda x, p: torch.select_scatter(x, p.expand(x.shape[0], 2), 1, -1), (3, 2), [(2,)]),
    "slice_scatter": ("slice_scatter", lambda x, p: torch.slice_scatter(x, p.expand(x.shape[0], 2), 1, 1, 5, 2), (6,), [(2,)]),
    "index": ("index", lambda x: x[:, I, J], (3, 4), []),
    "index_table": ("index", lambda x: x[:, I[:, None], J[1:]] * 2, (3, 4), []),
    "index_apart": ("index", lambda x: x[:, I, :, torch.tensor([0, 1, 0])].transpose(0, 1), (3, 2, 2), []),
    "index_of_samples": ("index", lambda x: x[samples(x), x.argmax(1)], (5,), []),
    "index_of_rows": ("index", lambda x: x[samples(x)[:, None], x[:, :, 0].argsort(1)[:, :2]], (4, 3), []),
    "index_put": ("index_put", put(put_all), (3, 4), [(3,)]),
    "index_put_adding": ("index_put", lambda x, p, q: x + put(put_adding)(p, q), (3, 4), [(3, 4), (3, 4)]),
    "index_put_between": ("index_put", put(put_between), (3, 2, 2), [(3, 2)]),
    "index_put_of_samples": ("index_put", put(put_of_samples), (5, 2), [(2,)]),
    "index_put_masked": ("index_put", put(put_masked), (5,), []),
    "index_put_masked_rows": ("index_put", put(put_masked_rows), (4, 3), [(3,)]),
    "index_put_masked_more": ("index_put", put(put_masked_more), (5,), []),
    "scatter_value": ("scatter", lambda x: x.scatter(1, ROWS.expand(x.shape[0], 2, 4), 1.5), (3, 4), []),
    **{f"scatter_{reduce}_{keeps}": ("scatter_reduce", reduced(reduce, keeps), (3, 4), [(2, 4)])
       for reduce in ("sum", "mean", "prod", "amax", "amin") for keeps in (True, False)},
    "masked_scatter": ("masked_scatter", lambda x, p, q: x + p.masked_scatter(MASK, q), (2, 4), [(2, 4), (7,)]),
    **{f"cdist_{p}": ("_cdist_forward", lambda x, y, p=p: torch.cdist(x, y, p=p), (4, 3), [(5, 3)])
       for p in (0.0, 1.0, 2.0, 3.0, float("inf"))},
    **{f"pdist_{p}": ("_pdist_forward", lambda x, y, p=p: x * torch.pdist(y, p), (6,), [(4, 3)]) for p in (1.0, 2.0, 2.5)},
    **{f"grid_{mode}_{padding}_{corners}": ("grid_sampler_2d", sampled(mode, padding, corners), (2, 5, 6), [(4, 3, 2)])
       for mode in ("bilinear", "nearest", "bicubic") for padding in ("zeros", "border", "reflection")
       for corners in (True, False)},
    "col2im": ("col2im", lambda x: functional.fold(x, (5, 6), (3, 2), padding=1, stride=2), (12, 12), []),
    "col2im_wide": ("col2im", lambda x: functional.fold(x, (7, 5), 2, dilation=2), (8, 15), []),
}
# Of numbers that are known: PyTorch computes them before a conversion is asked.
COMPUTED = {"arange", "scalar_tensor", "empty_strided"}


def compared(ours: Any, theirs: Any, name: str) -> None:
    """Results may be channels last here."""
    if ours.shape != theirs.shape:
        ours = np.moveaxis(ours, -1, 1)
    np.testing.assert_allclose(ours, theirs, err_msg=name, **VALUES)


@pytest.mark.parametrize("name", CASES)
def test_it_computes_what_pytorch_computes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    operator, function, shape, others = CASES[name]
    torch.manual_seed(len(name))
    module, asked = Case(function, shape, others), []
    known = CONVERSIONS[operator]

    def recorded(c: Any) -> Any:
        asked.append(operator)
        return known(c)

    monkeypatch.setitem(CONVERSIONS, operator, recorded)
    graph = tb.from_torch(module, torch.randn(2, *shape))
    assert asked or operator in COMPUTED
    x = torch.randn(SAMPLES, *shape)
    fed = (x.movedim(1, -1) if operator == "grid_sampler_2d" else x).contiguous().numpy()
    wanted, label = module(x), torch.randn(module(x).shape)
    trainer = tb.Trainer(tb.adapt(graph, loss="mse", label="label"), batch=SAMPLES)
    shape_here = trainer._core.labels()["label"][1]
    if name != "any_of_all":  # one result that all samples share
        ours = tb.Predictor(graph, batch=SAMPLES).predict(fed)
        compared(ours, wanted.detach().numpy(), name)
    functional.mse_loss(wanted, label).backward()
    turned = label if tuple(shape_here) == tuple(label.shape[1:]) else label.movedim(1, -1)
    found = trainer.gradients({"x": fed, "label": turned.contiguous().numpy()})
    for key, parameter in module.named_parameters():
        theirs = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        layout = _LAYOUTS[module].get(key)
        if layout is None or layout[0] not in found:
            assert not theirs.any(), key
            continue
        np.testing.assert_allclose(_back(found, key, layout, parameter), theirs.numpy(), err_msg=f"{name}: {key}", **VALUES)


class Bags(nn.Module):
    def __init__(self, mode: str, more: str) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(7, 3, mode=mode, padding_idx=2 if more == "padding" else None)
        self.scale = nn.Parameter(torch.randn(4))
        self.is_scaled = more == "weights"

    def forward(self, x: Any) -> Any:
        return self.bag(x, per_sample_weights=self.scale.expand(x.shape[0], 4) if self.is_scaled else None)


def test_bags_of_unknown_sizes_are_refused() -> None:
    words = torch.tensor([[0, 2], [1, 1]])
    with pytest.raises(ValueError, match="the largest of a bag without a padding index"):
        tb.from_torch(Bags("max", "padding"), words)

    class Cut(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bag = nn.EmbeddingBag(7, 3)

        def forward(self, x: Any) -> Any:
            return self.bag(x.reshape(-1), x[:, 0])

    with pytest.raises(ValueError, match="a bag in each row; other bags have sizes that depend on the data"):
        tb.from_torch(Cut(), words)


@pytest.mark.parametrize("mode,more", [
    ("sum", ""), ("mean", ""), ("max", ""), ("sum", "weights"), ("sum", "padding"), ("mean", "padding")])
def test_bags_of_embeddings(mode: str, more: str) -> None:
    torch.manual_seed(1)
    module = Bags(mode, more)
    words = torch.tensor([[0, 2, 2, 6], [1, 1, 5, 3], [2, 2, 2, 2]])
    graph = tb.from_torch(module, words)
    wanted = module(words)
    np.testing.assert_allclose(
        tb.Predictor(graph, batch=3).predict(words.int().numpy()), wanted.detach().numpy(), **VALUES)
    wanted.square().mean().backward()
    trainer = tb.Trainer(tb.adapt(graph, loss="mse", label="label"), batch=3)
    found = trainer.gradients({"x": words.int().numpy(), "label": np.zeros((3, 3), np.float32)})
    np.testing.assert_allclose(found["bag.weight"], module.bag.weight.grad.numpy(), **VALUES)
    if more == "weights":
        np.testing.assert_allclose(found["scale"], module.scale.grad.numpy(), **VALUES)


@pytest.mark.parametrize("draw,mean,deviation", [
    (lambda x: torch.rand(x.shape), 0.5, 12**-0.5), (torch.rand_like, 0.5, 12**-0.5),
    (lambda x: torch.randn(x.shape), 0.0, 1.0), (torch.randn_like, 0.0, 1.0),
])
def test_random_numbers_are_drawn_anew(draw: Callable[[Any], Any], mean: float, deviation: float) -> None:
    class Noisy(nn.Module):
        def forward(self, x: Any) -> Any:
            return x + draw(x)

    made = tb.Predictor(tb.from_torch(Noisy(), torch.zeros(2, 1000)), batch=8).predict(np.zeros((8, 1000), np.float32))
    assert abs(made.mean() - mean) < 0.05 and abs(made.std() - deviation) < 0.05
    assert len(np.unique(made)) > 7000


class Refused(nn.Module):
    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


def gradient_of(name: str) -> Callable[[Any], Any]:
    """A forward that calls an operator of PyTorch's backward pass."""
    aten, ones = torch.ops.aten, torch.ones
    rows = torch.tensor([[0, 1]])
    mask = [True, True, True]
    calls: dict[str, Callable[[Any], Any]] = {
        "_adaptive_avg_pool2d_backward": lambda x: aten._adaptive_avg_pool2d_backward(x[:, :, :1, :1], x),
        "avg_pool2d_backward": lambda x: aten.avg_pool2d_backward(
            x[:, :, :2, :2], x, [2, 2], [2, 2], [0, 0], False, True, None),
        "convolution_backward": lambda x: aten.convolution_backward(
            x, x, ones(2, 2, 1, 1), [2], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, mask)[0],
        "embedding_dense_backward": lambda x: aten.embedding_dense_backward(x[:, :1, :2, 0], rows, 3, -1, False),
        "max_pool2d_with_indices_backward": lambda x: aten.max_pool2d_with_indices_backward(
            x[:, :, :2, :2], x, [2, 2], [2, 2], [0, 0], [1, 1], False,
            aten.max_pool2d_with_indices(x, [2, 2], [2, 2])[1]),
        "native_group_norm_backward": lambda x: aten.native_group_norm_backward(
            x, x, x[:, :1, 0, 0], x[:, :1, 0, 0], ones(2), x.shape[0], 2, 16, 1, mask)[0],
        "native_layer_norm_backward": lambda x: aten.native_layer_norm_backward(
            x, x, [4], x[..., :1], x[..., :1], ones(4), ones(4), mask)[0],
    }
    return calls[name]


def picked(x: Any) -> Any:
    return x * x.sum().item()


REFUSALS: dict[str, tuple[Callable[[Any], Any], str]] = {
    **{name: (gradient_of(name), reason) for name, reason in REFUSED.items() if name.endswith("_backward")},
    "_fft_r2c": (lambda x: torch.fft.rfft(x).real, "thimble has no complex numbers"),
    "_fft_c2r": (lambda x: torch.fft.irfft(x), "thimble has no complex numbers"),
    "_local_scalar_dense": (picked, "depends on the data"),
    "nonzero": (lambda x: x.sum() + torch.nonzero(x)[:, 0].sum(), "depends on the data"),
    "randperm": (lambda x: x[:, :, torch.randperm(4)], "no random permutations"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_a_reason(name: str) -> None:
    function, reason = REFUSALS[name]
    with pytest.raises(ValueError, match=rf"aten\.{name}\.default at test_core_aten\.py:\d+[^;]*: .*{re.escape(reason)}"):
        tb.from_torch(Refused(function), torch.randn(2, 2, 4, 4))


@pytest.mark.parametrize("function,reason", [
    (lambda x: torch.sort(x, 0)[0], "the samples of the open batch are not sorted"),
    (lambda x: x[torch.tensor([0, 1])] + x[:1], "samples of the open batch|dimension 0|batch"),
    (lambda x: x[x[:, 0, 0, 0].long()], "samples of the open batch are not taken by number"),
    (lambda x: x[x > 0].sum() + x, "depends on the data"),
    (lambda x: x + torch.arange(x.shape[0])[:, None, None, None], "numbers that count the samples of the open batch"),
    (lambda x: x.masked_scatter(x > 0, x * 2), "the samples of the open batch would take their values from one another"),
    (lambda x: torch.pdist(x.flatten(1)), "distances between the samples of the open batch"),
    (lambda x: torch.slice_scatter(x, x[:1], 0, 0, 1), "a part of the open batch"),
    (lambda x: torch.diagonal(x, 0, 0, 1), "a diagonal over the open batch"),
])
def test_what_mixes_samples_is_refused(function: Callable[[Any], Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        tb.from_torch(Refused(function), torch.randn(2, 2, 4, 4))


@pytest.mark.parametrize("function", [
    torch.trunc,
    *(lambda x, reduce=reduce, keeps=keeps: torch.scatter_reduce(
        x, 1, x.remainder(4), x * 2, reduce=reduce, include_self=keeps)
      for reduce in ("prod", "amax", "amin") for keeps in (True, False)),
])
def test_whole_numbers(function: Callable[[Any], Any]) -> None:
    x = torch.tensor([[-3, 2, 5, -7], [4, 4, 0, 1]])
    found = tb.Predictor(tb.from_torch(Refused(function), x), batch=2).predict(x.numpy())
    np.testing.assert_array_equal(found, function(x).numpy())


def test_the_page_says_how_many_there_are() -> None:
    core = core_names()
    refused = core & set(REFUSED)
    assert refused == set(REFUSED)
    converted = core & (set(CONVERSIONS) | set(SIZES) | set(WRITTEN_OTHERWISE))
    assert not refused & converted
    assert core == converted | refused, sorted(core - converted - refused)
    text = PAGE.read_text(encoding="utf-8")
    version = torch.__version__.split("+")[0].rsplit(".", 1)[0]
    said = re.search(r"PyTorch ([\d.]+) has (\d+)\s+core ATen operators, of which (\d+)\s+are converted\s+and (\d+)\s+refused", text)
    assert said is not None
    assert said.groups() == (version, str(len(core)), str(len(converted)), str(len(refused)))
    rows = dict(re.findall(r"^\| (`.*`) \| (.*) \|$", text, re.M))
    listed = {name: reason for names, reason in rows.items() for name in re.findall(r"`(\w+)`", names)}
    assert listed == REFUSED
