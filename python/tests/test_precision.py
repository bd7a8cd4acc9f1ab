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


def test_bf16_takes_less_memory_and_f16_is_refused():
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
    with pytest.raises(ValueError, match=r'\[precision\] must be "f32" or "bf16"'):
        trainer("f16")
