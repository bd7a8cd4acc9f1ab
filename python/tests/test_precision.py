"""Mixed precision beside PyTorch's autocast."""

import numpy as np
import pytest

import thimble as tb

STEPS = 10
RATE = 0.1


def model():
    graph = tb.Graph()
    x = graph.input("x", (16,))
    target = graph.label("target")
    for i in range(4):
        x = tb.relu(tb.dense(x, units=32, name=f"layer{i}"))
    logits = tb.dense(x, units=5, name="last")
    graph.minimize(tb.softmax_cross_entropy(logits, target))
    graph.output("logits", logits)
    return graph


def trainer(precision):
    return tb.Trainer(
        model(), optimizer=tb.SGD(lr=RATE), batch=64, precision=precision, seed=4, threads=1
    )


def batches():
    random = np.random.default_rng(0)
    x = random.normal(size=(64 * STEPS, 16)).astype(np.float32)
    return x, (np.abs(x[:, :5]).argmax(axis=1)).astype(np.int32)


def test_training_differs_from_float32_as_pytorchs_autocast_does():
    torch = pytest.importorskip("torch")
    x, target = batches()
    start = trainer("f32").state_dict()

    def ours(precision):
        mine = trainer(precision)
        mine.load_state_dict(start)
        mine.fit((x, target), epochs=1, shuffle=False)
        return {name: array.astype(np.float64) for name, array in mine.state_dict().items()}

    def theirs(autocast):
        weights = {n: torch.tensor(a, requires_grad=True) for n, a in start.items()}
        for at in range(0, len(x), 64):
            given = torch.tensor(x[at : at + 64])
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
                for i in range(4):
                    given = torch.relu(
                        torch.nn.functional.linear(
                            given, weights[f"layer{i}.weight"], weights[f"layer{i}.bias"]
                        )
                    )
                logits = torch.nn.functional.linear(
                    given, weights["last.weight"], weights["last.bias"]
                )
                loss = torch.nn.functional.cross_entropy(
                    logits.float(), torch.tensor(target[at : at + 64], dtype=torch.int64)
                )
            loss.backward()
            with torch.no_grad():
                for weight in weights.values():
                    weight -= RATE * weight.grad
                    weight.grad = None
        return {n: w.detach().numpy().astype(np.float64) for n, w in weights.items()}

    full, half = theirs(False), theirs(True)
    mine_full, mine = ours("f32"), ours("bf16")
    for name, array in full.items():
        # Both round what is stored between ops to 8 bits of mantissa, PyTorch weights, too: ours
        # must be no further from float32 than PyTorch's is, but for chance.
        allowed = 2.0 * np.linalg.norm(half[name] - array)
        assert np.linalg.norm(mine[name] - array) <= allowed, name
        assert np.linalg.norm(mine_full[name] - array) < 0.01 * allowed, name
        assert np.linalg.norm(mine[name] - array) > 0.0, name


def scaled_model():
    """A model whose gradients are large: they are sums over the batch."""
    graph = tb.Graph()
    x = graph.input("x", (16,))
    target = graph.label("target", (5,), "f32")
    x = tb.relu(tb.dense(x, units=32, name="first"))
    y = tb.dense(x, units=5, name="last")
    graph.minimize(tb.sum(tb.square(y - target)))
    return graph


def test_f16_scales_and_skips_as_pytorchs_grad_scaler_does():
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(1)
    x = random.normal(size=(64, 16)).astype(np.float32)
    target = random.normal(size=(64, 5)).astype(np.float32)
    rate, first_scale, interval, steps = 1e-3, 2.0**16, 4, 30
    mine = tb.Trainer(
        scaled_model(), optimizer=tb.Adam(lr=rate), batch=64, precision="f16", seed=4, threads=1,
        loss_scale=first_scale, loss_scale_interval=interval,
    )
    start = mine.state_dict()
    weights = {n: torch.tensor(a, requires_grad=True) for n, a in start.items()}
    optimizer = torch.optim.Adam(weights.values(), lr=rate)
    scaler = torch.amp.GradScaler("cpu", init_scale=first_scale, growth_interval=interval)

    # f16 is what is stored between two ops; within an op numbers are float32.
    def rounded(given):
        return given.half().float()

    class Stored(torch.autograd.Function):
        """Rounds a value, and its gradient on the way back."""

        @staticmethod
        def forward(ctx, value):
            return rounded(value)

        @staticmethod
        def backward(ctx, gradient):
            return rounded(gradient)

    class Weight(torch.autograd.Function):
        """A float32 parameter, whose gradient is stored in f16."""

        @staticmethod
        def forward(ctx, value):
            return value.clone()

        @staticmethod
        def backward(ctx, gradient):
            return rounded(gradient)

    def linear(given, name):
        weight, bias = Weight.apply(weights[name + ".weight"]), Weight.apply(weights[name + ".bias"])
        return Stored.apply(torch.nn.functional.linear(given, weight, bias))

    theirs, ours = [], []
    for _ in range(steps):
        mine.step({"x": x, "target": target})
        ours.append(mine.loss_scale)
        optimizer.zero_grad()
        hidden = Stored.apply(torch.relu(linear(Stored.apply(torch.tensor(x)), "first")))
        loss = ((linear(hidden, "last") - torch.tensor(target)) ** 2).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        theirs.append(scaler.get_scale())
    assert ours == theirs
    assert 0 < mine.skipped_updates < steps
    assert max(ours[i + 1] / ours[i] for i in range(steps - 1)) == 2.0
    for name, array in mine.state_dict().items():
        moved = np.linalg.norm(weights[name].detach().numpy() - start[name])
        apart = np.linalg.norm(weights[name].detach().numpy() - array)
        # The order of sums differs, so that a rounded number may be its neighbour.
        assert apart < 0.02 * moved, name


def test_results_tell_the_scale_and_skipped_updates():
    x, target = batches()
    half = tb.Trainer(model(), batch=64, precision="f16", loss_scale=2.0**30, threads=1)
    reports = []

    class Watch(tb.Callback):
        def on_step(self, report):
            reports.append((report.loss_scale, report.skipped))

    result = half.fit((x, target), callbacks=[Watch()])
    assert reports[0] == (2.0**29, True)
    assert result.skipped_updates == half.skipped_updates == sum(s for _, s in reports) > 0
    assert result.loss_scale == half.loss_scale == reports[-1][0]
    with pytest.raises(ValueError, match=r"\[loss_scaling\] does nothing with the precision f32"):
        tb.Trainer(model(), loss_scale=2.0)
    with pytest.raises(ValueError, match=r"\[loss_scaling\] initial must be above 0"):
        tb.Trainer(model(), precision="f16", loss_scale=0.0)


def test_16_bits_take_less_memory():
    def deep():
        graph = tb.Graph()
        x = graph.input("x", (256,))
        for i in range(16):
            x = tb.gelu(tb.dense(x, units=256, name=f"layer{i}"))
        graph.minimize(tb.mean(tb.square(x)))
        return graph

    def peak(precision):
        return tb.plan_training(deep(), batch=512, precision=precision).arena_bytes

    assert peak("bf16") < 0.875 * peak("f32")
    assert peak("f16") < 0.875 * peak("f32")
    with pytest.raises(ValueError, match=r'\[precision\] must be "f32", "bf16" or "f16"'):
        trainer("f64")
