"""Modules of PyTorch as graphs: trained two steps on both sides, with equal losses and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import thimble as tb

torch = pytest.importorskip("torch")
nn, functional = torch.nn, torch.nn.functional

# Sums are added up in another order than PyTorch's, over two steps.
LOSS = {"rtol": 2e-5, "atol": 1e-6}
WEIGHTS = {"rtol": 1e-3, "atol": 2e-5}


class Block(nn.Module):
    """ResNet's: two convolutions beside the input, which a third fits where sizes change."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: Any) -> Any:
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        y += x if self.downsample is None else self.downsample(x)
        return self.relu(y)


class ResNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = nn.Sequential(Block(8, 8, 1), Block(8, 16, 2))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(16, 5)

    def forward(self, x: Any) -> Any:
        x = self.maxpool(torch.relu_(self.bn1(self.conv1(x))))
        return self.fc(torch.flatten(self.avgpool(self.layer1(x)), 1))


class Inverted(nn.Module):
    """MobileNet's: wide, depthwise, narrow."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        wide = 2 * inputs
        self.adds = stride == 1 and inputs == outputs
        self.conv = nn.Sequential(
            nn.Conv2d(inputs, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(inplace=True),
            nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.Hardswish(),
            nn.Conv2d(wide, outputs, 1, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: Any) -> Any:
        return x + self.conv(x) if self.adds else self.conv(x)


class MobileNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6(), Inverted(8, 8, 1), Inverted(8, 12, 2))
        # The whole image, so that the rows of the first matrix follow the layout.
        self.classifier = nn.Sequential(nn.Dropout(0.0), nn.Linear(12 * 4 * 4, 10), nn.SiLU(), nn.Linear(10, 5))

    def forward(self, x: Any) -> Any:
        return self.classifier(self.features(x).flatten(1))


class ViT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 16, 4, 4)
        self.token = nn.Parameter(torch.randn(1, 1, 16))
        self.positions = nn.Parameter(torch.randn(1, 17, 16) * 0.1)
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(
                16, 2, 32, dropout=0.0, activation="gelu", batch_first=True, norm_first=True), 2,
            enable_nested_tensor=False)
        self.norm = nn.LayerNorm(16)
        self.head = nn.Linear(16, 5)

    def forward(self, x: Any) -> Any:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.positions
        return self.head(self.norm(self.encoder(x))[:, 0])


class Attention(nn.Module):
    """GPT-2's, written out: a mask in a buffer, heads from one product."""

    def __init__(self, width: int, heads: int, length: int) -> None:
        super().__init__()
        self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.heads = heads
        self.register_buffer("mask", torch.tril(torch.ones(length, length)).view(1, 1, length, length))

    def forward(self, x: Any) -> Any:
        b, t, c = x.size()
        q, k, v = self.attend(x).split(c, dim=2)
        q, k, v = (each.view(b, t, self.heads, c // self.heads).transpose(1, 2) for each in (q, k, v))
        weights = (q @ k.transpose(-2, -1)) / (c // self.heads) ** 0.5
        weights = weights.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
        y = functional.softmax(weights, dim=-1) @ v
        return self.project(y.transpose(1, 2).contiguous().view(b, t, c))


class GPT(nn.Module):
    """Two layers, the second attending by PyTorch's own function; the head is the table of tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(11, 16), nn.Embedding(8, 16)
        self.norms = nn.ModuleList(nn.LayerNorm(16) for _ in range(4))
        self.attention = Attention(16, 2, 8)
        self.mixed, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.mlps = nn.ModuleList(
            nn.Sequential(nn.Linear(16, 32), nn.GELU(approximate="tanh"), nn.Linear(32, 16)) for _ in range(2))
        self.head = nn.Linear(16, 11, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids: Any) -> Any:
        b, t = ids.shape
        x = self.tokens(ids) + self.places(torch.arange(t, device=ids.device))
        x = x + self.attention(self.norms[0](x))
        x = x + self.mlps[0](self.norms[1](x))
        q, k, v = self.mixed(self.norms[2](x)).view(b, t, 3, 2, 8).permute(2, 0, 3, 1, 4).unbind(0)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, 16))
        return {"logits": self.head(self.norms[3](x + self.mlps[1](x)))}


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(13, 6, padding_idx=0)
        self.lstm = nn.LSTM(6, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.tags = nn.Linear(10, 4)

    def forward(self, words: Any) -> Any:
        return self.tags(self.lstm(self.words(words))[0])


def images(count: int) -> Any:
    return torch.randn(count, 3, 16, 16)


def last(x: Any) -> Any:
    """Images as thimble has them."""
    return x.movedim(1, -1).contiguous() if x.dim() == 4 else x


CASES = {
    "ResNet": (ResNet, images, (5, ())),
    "MobileNet": (MobileNet, images, (5, ())),
    "ViT": (ViT, images, (5, ())),
    "GPT": (GPT, lambda n: torch.randint(0, 11, (n, 8)), (11, (8,))),
    "Tagger": (Tagger, lambda n: torch.randint(0, 13, (n, 7)), (4, (7,))),
}


def first(y: Any) -> Any:
    return next(iter(y.values())) if isinstance(y, dict) else y


@pytest.mark.parametrize("name", CASES)
def test_two_steps_are_those_of_pytorch(name: str) -> None:
    kind, inputs, (classes, places) = CASES[name]
    torch.manual_seed(3)
    module, example = kind().eval(), inputs(1)
    graph = tb.from_torch(module, example)
    assert not module.training
    trainer = tb.Trainer(
        tb.adapt(graph, loss="softmax_cross_entropy", label="label"), optimizer=tb.SGD(lr=0.1), batch=6, threads=1)
    other = kind()
    other.load_state_dict(module.state_dict())
    other.train()
    optimizer = torch.optim.SGD(other.parameters(), lr=0.1)
    source = next(iter(trainer._core.inputs()))
    for _ in range(2):
        x, label = inputs(6), torch.randint(0, classes, (6, *places))
        loss = functional.cross_entropy(first(other(x)).reshape(-1, classes), label.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ours = trainer.step({source: last(x).numpy(), "label": label.numpy().astype(np.int32)}).loss
        np.testing.assert_allclose(ours, loss.item(), **LOSS)
    tb.to_torch(trainer, module)
    for key, tensor in other.state_dict().items():
        if not key.endswith("num_batches_tracked"):
            np.testing.assert_allclose(module.state_dict()[key].numpy(), tensor.numpy(), **WEIGHTS, err_msg=key)
    x = inputs(4)
    wanted = first(module.eval()(x)).detach().numpy()
    np.testing.assert_allclose(trainer.predict({source: last(x).numpy()}), wanted, rtol=1e-4, atol=1e-5)


def test_what_a_module_has_stays() -> None:
    module = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Dropout(0.5), nn.Conv2d(4, 4, 1))
    module[1].eval()  # in a module that trains: frozen statistics
    module[3].weight.requires_grad_(False)
    graph = tb.from_torch(module, (images(1),))
    text = graph.text()
    assert "dropout(" in text and "batch_norm_inference(" in text and "transpose(" not in text
    assert module.training and not module[1].training
    trainer = tb.Trainer(tb.adapt(graph, loss="mse", label="y"), optimizer=tb.SGD(lr=0.1), batch=2)
    before = module[3].weight.detach().clone()
    trainer.step({"input": numbers(2, 16, 16, 3), "y": numbers(2, 14, 14, 4)})
    tb.to_torch(trainer, module)
    assert torch.equal(module[3].weight, before)
    assert float(module[1].running_mean.abs().max()) == 0.0
    assert float(module[1].bias.detach().abs().max()) > 0.0


class Operators(nn.Module):
    """One result for each form of each operator that is no layer of the models above."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("order", torch.tensor([2, 0, 1]))
        self.layers = nn.ModuleDict({
            "prelu": nn.PReLU(4), "group": nn.GroupNorm(2, 4), "instance": nn.InstanceNorm2d(4, affine=True),
            "rms": nn.RMSNorm(6), "up": nn.ConvTranspose2d(4, 3, 3, 2, 1, output_padding=1), "glu": nn.GLU(1),
            "shuffle": nn.PixelShuffle(2), "unshuffle": nn.PixelUnshuffle(2),
            "average": nn.AvgPool2d(3, 2, 1, count_include_pad=False), "adaptive": nn.AdaptiveAvgPool2d(3),
            "nearest": nn.Upsample(scale_factor=2), "bilinear": nn.Upsample(size=(9, 7), mode="bilinear"),
            "reflect": nn.ReflectionPad2d((1, 0, 2, 1)), "zeros": nn.ZeroPad2d((1, 0, 2, 1)),
        })
        self.gru = nn.GRU(6, 3, batch_first=True)
        self.rnn = nn.RNN(6, 3)
        self.batch = nn.BatchNorm1d(4, affine=False)

    def forward(self, x: Any) -> Any:  # [N, 4, 6, 6]
        y: dict[str, Any] = {name: layer(x) for name, layer in self.layers.items()}
        row = x[:, 0]  # [N, 6, 6]
        for name in ("elu", "selu", "celu", "gelu", "silu", "mish", "softplus", "hardswish", "hardsigmoid", "relu6",
                     "leaky_relu", "logsigmoid", "hardtanh"):
            y[name] = getattr(functional, name)(x)
        for name in ("exp", "sin", "cos", "tanh", "erf", "floor", "ceil", "round", "sign", "abs", "neg", "square",
                     "sigmoid", "expm1", "atan", "sinh"):
            y[name] = getattr(torch, name)(x)
        for name in ("log", "sqrt", "rsqrt", "log1p", "log2", "reciprocal"):
            y[name] = getattr(torch, name)(x.abs() + 0.5)
        y["alpha"] = torch.add(x, x * 2, alpha=3) - torch.rsub(x, 1.0) / 2
        y["powers"] = x**2 + (x.abs() + 0.1) ** 1.5 + torch.maximum(x, x.flip(2)) * torch.minimum(x, 1 - x)
        y["where"] = torch.where((x > 0) & ~(x >= 1), x, -x) + (x != 0).float() + torch.clamp(x, min=-0.5)
        y["division"] = torch.div(x * 5, 2, rounding_mode="floor") + torch.remainder(x, 0.7) + torch.fmod(x, 0.7)
        y["reductions"] = x.sum((2, 3)) + x.mean(dim=(2, 3)) + x.amax((2, 3)) + x.amin((2, 3))
        y["moments"] = x.var((2, 3)) + x.std((2, 3), unbiased=False) + torch.logsumexp(x, (2, 3))
        y["norm"] = functional.normalize(x, dim=1) + torch.linalg.vector_norm(x, dim=1, keepdim=True)
        y["largest"] = x.max(dim=2)[0] + x.argmax(3).float() + x.topk(2, dim=2)[0].sum(2)
        y["running"] = x.cumsum(2) + x.prod(dim=3, keepdim=True)
        y["softmax"] = functional.softmax(x, 1) + functional.log_softmax(x, 2)
        y["parts"] = torch.cat([part * (i + 1) for i, part in enumerate(x.chunk(3, dim=2))], dim=1)
        y["stack"] = torch.stack(x.unbind(1), dim=2)[:, 1:5:2].squeeze(1).unsqueeze(2)
        y["moves"] = torch.roll(x, (1, -2), (2, 3)).repeat(1, 1, 2, 1).transpose(1, 3).flip(1)
        y["index"] = x[:, self.order] + x.index_select(1, self.order) + torch.gather(x, 1, x.argmax(1, keepdim=True))
        y["triangles"] = torch.tril(row) - torch.triu(row, 1) + torch.ones(6, 6).tril()
        y["masked"] = row.masked_fill(row > 1, 0.0) + torch.zeros_like(row) + torch.full_like(row, 2.0)
        y["products"] = torch.einsum("nij,nkj->nik", row, row) @ row + torch.bmm(row, row)
        y["biased"] = torch.addmm(self.layers["rms"].weight, row[:, 0], torch.ones(6, 6), alpha=2.0)
        y["attention"] = functional.scaled_dot_product_attention(x, x, x, torch.ones(6, 6).tril().bool())
        y["one_head"] = functional.scaled_dot_product_attention(row, row, row, scale=0.3)
        y["gru"] = self.gru(row)[1][0]
        y["rnn"] = self.rnn(row.transpose(0, 1))[0].transpose(0, 1)
        y["batch"] = self.batch(x.mean(3))
        y["one_hot"] = functional.one_hot(x.argmax(1), 4).float()
        return y


def test_operators_compute_the_same() -> None:
    torch.manual_seed(2)
    module = Operators()
    graph = tb.from_torch(module, torch.randn(1, 4, 6, 6))
    x = torch.randn(3, 4, 6, 6)
    with torch.no_grad():
        wanted = module.eval()(x)
    made = tb.Predictor(graph, batch=3).predict(last(x).numpy())
    assert set(made) == set(wanted)
    for name, theirs in wanted.items():
        ours = made[name]
        turned = np.moveaxis(ours, -1, 1)  # images are channels last
        is_turned = theirs.dim() >= 3 and turned.shape == tuple(theirs.shape) and np.allclose(
            turned, theirs.numpy(), rtol=1e-4, atol=2e-5)
        if is_turned:
            continue
        np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-4, atol=2e-5, err_msg=name)


def numbers(*shape: int) -> Any:
    return np.random.default_rng(1).normal(size=shape).astype(np.float32)


def test_weights_go_back_from_a_file(tmp_path: Any) -> None:
    torch.manual_seed(1)
    module = nn.Sequential(nn.Conv1d(2, 3, 2), nn.Flatten(), nn.Linear(9, 2))
    tb.save_model(tb.from_torch(module, torch.zeros(1, 2, 4)), tmp_path / "m.safetensors")
    other = nn.Sequential(nn.Conv1d(2, 3, 2), nn.Flatten(), nn.Linear(9, 2))
    with pytest.raises(ValueError, match="was not given to from_torch"):
        tb.to_torch(tmp_path / "m.safetensors", other)
    tb.to_torch(tmp_path / "m.safetensors", other, torch.zeros(1, 2, 4))
    for mine, theirs in zip(module.parameters(), other.parameters()):
        assert torch.equal(mine, theirs)
    replaced = tb.adapt(tb.from_torch(module, torch.zeros(1, 2, 4)), classes=5)
    with pytest.raises(ValueError, match=r"2.weight has shape \[5, 9\] in the model"):
        tb.to_torch(replaced, module)


class Fixed(nn.Module):
    def forward(self, x: Any) -> Any:
        return x.view(2, -1)


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: Any) -> Any:
        self.total += x.mean(0)
        return x + self.total


class Unknown(nn.Module):
    def forward(self, x: Any) -> Any:
        return torch.fft.rfft(x).real + torch.linalg.det(x[:, None, :1])[:, None]


@pytest.mark.parametrize("module,message", [
    (Fixed(), r"aten\.view\.default at test_from_torch\.py:\d+: .reshape. shape .2, 3. has another number"),
    (Counting(), "forward changes the buffer total"),
    (Unknown(), r"aten\.\w*fft\w*\.default at test_from_torch\.py:\d+"),
], ids=["batch", "buffer", "operator"])
def test_what_is_not_imported_is_named(module: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tb.from_torch(module, torch.randn(2, 3))


def test_arguments_are_checked() -> None:
    with pytest.raises(TypeError, match="torch.nn.Module"):
        tb.from_torch("m")
    with pytest.raises(ValueError, match="an example is missing"):
        tb.from_torch(nn.Linear(1, 1))
    with pytest.raises(TypeError, match="the example does not fit forward: too many positional arguments"):
        tb.from_torch(nn.Linear(1, 1), (torch.zeros(2, 1), torch.zeros(2, 1)))


class Keywords(nn.Module):
    """What callers name, as the models of transformers take it."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(3, 2)

    def forward(self, *rows: Any, **named: Any) -> Any:
        y = self.dense(rows[0] if rows else named["x"])
        return y * named["gate"] if "gate" in named else y - named.get("shift", 0.5)


@pytest.mark.parametrize("example,kwargs,names", [
    ({"x": 3}, None, ["x"]),
    ({"x": 3, "gate": 2}, None, ["x", "gate"]),
    ((3,), {"gate": 2}, ["rows_0", "gate"]),
    (3, {"shift": 2.0}, ["rows_0"]),
    (None, {"gate": 2, "x": 3}, ["gate", "x"]),
])
def test_keywords_of_a_forward_that_takes_any(example: Any, kwargs: Any, names: list[str]) -> None:
    module = Keywords()

    def filled(sizes: Any) -> Any:
        return torch.utils._pytree.tree_map(lambda n: torch.randn(1, n) if isinstance(n, int) else n, sizes)

    graph = tb.from_torch(module, filled(example), filled(kwargs))
    assert "forward" not in vars(module)
    trainer = tb.Trainer(tb.adapt(graph, loss="mse"), optimizer=tb.SGD(lr=0.1), batch=4)
    data = {name: torch.randn(4, 2 if name == "gate" else 3) for name in names}
    rows = [x for name, x in data.items() if name == "rows_0"]
    named = {name: x for name, x in data.items() if name != "rows_0"}
    settings = {name: x for name, x in (kwargs or {}).items() if isinstance(x, float)}
    y = torch.randn(4, 2)
    loss = functional.mse_loss(module(*rows, **named, **settings), y)
    loss.backward()
    found = trainer.step({**{name: x.numpy() for name, x in data.items()}, "label": y.numpy()}).loss
    np.testing.assert_allclose(found, loss.item(), **LOSS)
    tb.to_torch(trainer, fresh := Keywords(), filled(example), filled(kwargs))
    expected = module.dense.weight - 0.1 * module.dense.weight.grad
    np.testing.assert_allclose(fresh.dense.weight.detach(), expected.detach(), **WEIGHTS)


class InPlace(nn.Module):
    """The end of torchvision's EfficientNet: dropout in place, of a view."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 6)
        self.drop = nn.Dropout(0.5, inplace=True)
        self.last = nn.Linear(6, 2)

    def forward(self, x: Any) -> Any:
        y = torch.relu_(self.first(x)).reshape(x.shape[0], 2, 3)
        return self.last(self.drop(torch.flatten(y, 1)))


class ReadAgain(InPlace):
    def forward(self, x: Any) -> Any:
        y = self.first(x)
        self.drop(y.view(-1, 6))
        return self.last(y)  # which dropout changed


class ReadInPieces(InPlace):
    def forward(self, x: Any) -> Any:
        a, b = (torch.cat([x, x], 1) * 2.0).chunk(2, 1)
        self.drop(a)
        return self.first(a + b)


def test_dropout_in_place_is_dropout() -> None:
    module, x = InPlace(), torch.randn(64, 4)
    graph = tb.from_torch(module, x)
    assert "dropout" in graph.summary()
    with torch.no_grad():
        expected = module.eval()(x)
    np.testing.assert_allclose(tb.Predictor(graph).predict(x.numpy()), expected.numpy(), rtol=1e-5, atol=1e-6)
    trainer = tb.Trainer(tb.adapt(graph, loss="mse"), optimizer=tb.SGD(lr=0.0), batch=64)
    losses = {trainer.step({"x": x.numpy(), "label": expected.numpy()}).loss for _ in range(3)}
    assert len(losses) == 3 and min(losses) > 0
    with pytest.raises(ValueError, match="bernoulli.* but no masks that forward draws itself"):
        tb.from_torch(ReadAgain(), x)
    with pytest.raises(ValueError, match="bernoulli.* but no masks that forward draws itself"):
        tb.from_torch(ReadInPieces(), x)


@pytest.mark.parametrize("join", [torch.bitwise_and, torch.bitwise_or, torch.bitwise_xor, torch.mul, torch.add,
                                  torch.maximum, torch.minimum, torch.logical_and])
def test_masks_joined_by_any_operator_are_masks(join: Any) -> None:
    class Masked(nn.Module):
        def forward(self, q: Any, ids: Any) -> Any:
            first, second = ids[:, None, :, None], ids[:, None, None, :]
            mask = join(first >= second, second < 2)
            return functional.scaled_dot_product_attention(q, q, q, mask), mask

    q, ids = torch.randn(3, 2, 4, 5), torch.randint(0, 3, (3, 4))
    ids[:, 0] = 1
    expected, mask = Masked()(q, ids)
    found = tb.Predictor(tb.from_torch(Masked(), (q, ids)), batch=3).predict({"q": q.numpy(), "ids": ids.numpy()})
    np.testing.assert_array_equal(found["output_1"], mask)
    rows = mask.any(-1, keepdim=True).expand_as(expected).numpy()  # the others are NaN in PyTorch
    np.testing.assert_allclose(found["output_0"][rows], expected.numpy()[rows], rtol=1e-5, atol=1e-6)


def test_keywords_that_do_not_fit() -> None:
    x = torch.zeros(2, 3)
    with pytest.raises(TypeError, match="leave out kwargs, or give a tuple"):
        tb.from_torch(Keywords(), {"x": x}, {"gate": x})
    with pytest.raises(TypeError, match="kwargs must be a dictionary of forward's keywords, got list"):
        tb.from_torch(Keywords(), x, [x])
    with pytest.raises(TypeError, match="missing a required argument: 'input'; a dictionary is taken as keywords"):
        tb.from_torch(nn.Linear(3, 1), {})
    with pytest.raises(TypeError, match="unexpected keyword argument 'gate'"):
        tb.from_torch(nn.Linear(3, 1), x, {"gate": x})

    class Nothing(nn.Module):
        def forward(self) -> Any:
            return torch.zeros(2)

    with pytest.raises(TypeError, match="the example does not fit forward"):
        tb.from_torch(Nothing(), {"x": x})


def test_any_number_of_inputs() -> None:
    class Sum(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.dense = nn.Linear(3, 2)

        def forward(self, x: Any, *others: Any) -> Any:
            return self.dense(x) - others[0] * others[1]

    module, (x, y, z) = Sum(), (torch.randn(2, size) for size in (3, 2, 2))
    graph = tb.from_torch(module, (x, y, z))
    found = tb.Predictor(graph, batch=2).predict(
        {"x": x.numpy(), "others_0": y.numpy(), "others_1": z.numpy()})
    np.testing.assert_allclose(found, module(x, y, z).detach().numpy(), rtol=1e-5, atol=1e-6)
