"""The recipes of text, beside what somebody would write in PyTorch."""

import importlib
import pathlib

import numpy as np
import pytest

import thimble as tb
from thimble._torch_weights import TorchWeights

ROOT = pathlib.Path(__file__).resolve().parents[2]

STEPS = {"gpt": 256, "lstm": 64}


def nano_gpt():
    """nanoGPT's modules under its names, the last layer tied to the token table."""
    torch = pytest.importorskip("torch")
    nn, f = torch.nn, torch.nn.functional

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.c_attn, self.c_proj = nn.Linear(384, 3 * 384), nn.Linear(384, 384)
            self.register_buffer("bias", torch.ones(256, 256).tril().view(1, 1, 256, 256))

        def forward(self, x):
            n, t, c = x.shape
            q, k, v = (y.view(n, t, 6, 64).transpose(1, 2) for y in self.c_attn(x).split(384, 2))
            scores = (q @ k.transpose(-2, -1)) / 8
            scores = scores.masked_fill(self.bias[:, :, :t, :t] == 0, float("-inf"))
            y = f.softmax(scores, -1) @ v
            return self.c_proj(y.transpose(1, 2).reshape(n, t, c))

    class Mlp(nn.Module):
        def __init__(self):
            super().__init__()
            self.c_fc, self.c_proj = nn.Linear(384, 1536), nn.Linear(1536, 384)

        def forward(self, x):
            return self.c_proj(f.gelu(self.c_fc(x)))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(384), nn.LayerNorm(384)
            self.attn, self.mlp = Attention(), Mlp()

        def forward(self, x):
            x = x + self.attn(self.ln_1(x))
            return x + self.mlp(self.ln_2(x))

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.transformer = nn.ModuleDict(
                {
                    "wte": nn.Embedding(256, 384),
                    "wpe": nn.Embedding(256, 384),
                    "h": nn.ModuleList(Block() for _ in range(6)),
                    "ln_f": nn.LayerNorm(384),
                }
            )
            self.lm_head = nn.Linear(384, 256, bias=False)
            self.lm_head.weight = self.transformer["wte"].weight

        def forward(self, tokens):
            parts = self.transformer
            x = parts["wte"](tokens) + parts["wpe"](torch.arange(tokens.shape[1]))
            for block in parts["h"]:
                x = block(x)
            return self.lm_head(parts["ln_f"](x))

    return Gpt()


def character_lstm():
    torch = pytest.importorskip("torch")
    nn = torch.nn

    class CharacterLstm(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(256, 256)
            self.lstm = nn.LSTM(256, 256, 2, batch_first=True)
            self.head = nn.Linear(256, 256)

        def forward(self, tokens):
            return self.head(self.lstm(self.embedding(tokens))[0])

    return CharacterLstm()


TWINS = {"gpt": nano_gpt, "lstm": character_lstm}


@pytest.fixture(params=TWINS)
def recipe(request):
    return getattr(tb.recipes, request.param)()


@pytest.fixture
def windows(recipe):
    return tb.data.text_of(tb.data.generated_text(2000)[0], STEPS[recipe.name]).take(2)


def theirs(model, windows):
    import torch

    with torch.no_grad():
        tokens = torch.from_numpy(windows.arrays()["tokens"]).long()
        return model.eval()(tokens).numpy()


def test_a_model_exported_to_pytorch_computes_the_same(recipe, windows):
    model = TWINS[recipe.name]()
    trainer = recipe.trainer(seed=3, batch=2)
    trainer.fit(windows)
    import torch

    exported = {k: torch.from_numpy(v) for k, v in recipe.to_torch(trainer.state_dict()).items()}
    missing, unexpected = model.load_state_dict(exported, strict=False)
    assert not unexpected and all(name.endswith(".attn.bias") for name in missing)
    np.testing.assert_allclose(
        trainer.predict(windows, "logits"), theirs(model, windows), rtol=1e-3, atol=1e-3
    )


def test_a_pytorch_state_dict_can_be_taken(recipe, windows):
    model = TWINS[recipe.name]()
    trainer = recipe.trainer(batch=2)
    trainer.load_state_dict(recipe.from_torch(model.state_dict()))
    np.testing.assert_allclose(
        trainer.predict(windows, "logits"), theirs(model, windows), rtol=1e-3, atol=1e-3
    )


def test_the_twins_of_the_benchmarks_take_every_weight(recipe, windows, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.syspath_prepend(ROOT / "bench/pytorch")
    model = importlib.import_module(recipe.name).Model()
    trainer = recipe.trainer(seed=3, batch=2)
    state = recipe.to_torch(trainer.state_dict())
    model.load_state_dict({name: torch.from_numpy(x) for name, x in state.items()})
    border = importlib.import_module("border")
    ours = border.weights_of(model)
    assert ours.keys() == trainer.state_dict().keys()
    border.load_weights(model, ours)
    arrays = windows.arrays()
    loss, _ = model(*(torch.from_numpy(arrays[name]).long() for name in ("tokens", "next")))
    assert loss.item() == pytest.approx(trainer.evaluate(windows).loss, rel=1e-4)


def test_layouts_go_round(recipe):
    state = recipe.trainer(seed=3, batch=1).state_dict()
    back = recipe.from_torch(recipe.to_torch(state))
    assert back.keys() == state.keys()
    for key, array in state.items():
        np.testing.assert_array_equal(back[key], array)


def test_tied_weights_must_be_equal():
    recipe = tb.recipes.gpt()
    state = recipe.to_torch(recipe.trainer(batch=1).state_dict())
    head = state.pop("lm_head.weight")
    assert recipe.from_torch(state).keys() == recipe.from_torch({**state, "lm_head.weight": head}).keys()
    alone = {name: x for name, x in state.items() if name != "transformer.wte.weight"}
    taken = recipe.from_torch({**alone, "lm_head.weight": head})
    np.testing.assert_array_equal(taken["transformer.wte.weight"], head)
    state["lm_head.weight"] = head + 1
    with pytest.raises(ValueError, match=r"lm_head.weight differs from transformer.wte.weight"):
        recipe.from_torch(state)


def test_one_dimensional_convolutions_turn_too():
    weights = TorchWeights({"conv.weight": (2, 4, 3)}, {}, {}, ())
    ours = {"conv.weight": np.arange(24.0).reshape(2, 4, 3)}  # [out, k, in]
    there = weights.to_torch(ours)["conv.weight"]
    np.testing.assert_array_equal(there, ours["conv.weight"].transpose(0, 2, 1))
    np.testing.assert_array_equal(
        weights.from_torch({"conv.weight": there})["conv.weight"], ours["conv.weight"]
    )


def test_they_bring_text_and_write_some(tmp_path):
    recipe = tb.recipes.lstm()
    assert recipe.makes == "texts"
    train, test = recipe.data(), recipe.data(split="test")
    assert train.fields == {"tokens": ("i32", (64,)), "next": ("i32", (64,))}
    assert len(train) > 8 * len(test)
    trainer = recipe.trainer(seed=1)
    trainer.fit(train.take(320))
    loss = trainer.evaluate(test.take(32))
    assert loss.metrics["bits_per_byte"] == pytest.approx(loss.loss / np.log(2), rel=1e-4)
    assert loss.loss < 4.0  # log 256 = 5.5 before
    one, two = recipe.sample(trainer, count=2, prompt="The ", length=20, temperature=0.5, top_k=9)
    assert one.startswith(b"The ") and len(one) == 24 and one != two
    trainer.save(tmp_path / "c.safetensors")
    options = {"length": 20, "temperature": 0.5, "top_k": 9}
    assert recipe.sample(tmp_path / "c.safetensors", prompt=b"The ", **options) == [one]
    # Bytes that are no UTF-8 come back as they are.
    (text,) = recipe.sample(trainer, prompt=b"\xff\x00\xe2", length=3)
    assert text.startswith(b"\xff\x00\xe2") and len(text) == 6
    (text,) = recipe.sample(trainer, prompt=None, length=3)
    assert len(text) == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"temperature": -1}, "temperature must be a finite number of 0 or more, got -1"),
        ({"temperature": float("nan")}, "temperature must be"),
        ({"top_k": -3}, "top_k must be from 1 to 256, got -3"),
        ({"length": 0}, "length must be from 1"),
        ({"count": 0}, "count must be from 1 to 100000, got 0"),
        ({"count": 100000, "length": 1 << 20}, "lower count or length"),
        ({"seed": -1}, "seed must be 0 or more, got -1"),
        ({"steps": 5}, "lstm takes no steps; it takes count, seed, prompt"),
    ],
)
def test_sample_says_which_option_is_wrong(options, said):
    with pytest.raises(ValueError, match=said) as error:
        tb.recipes.lstm().sample("none.safetensors", **options)
    assert "recipe_sample" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"temperature": "hot"}, r"\[sample\] temperature must be a number, got 'hot'"),
        ({"length": 1.5}, "length must be a whole number, got 1.5"),
        ({"count": True}, "count must be a whole number, got True"),
        ({"prompt": 5}, "prompt must be str or bytes, got 5"),
    ],
)
def test_sample_says_which_option_is_of_another_type(options, said):
    with pytest.raises(TypeError, match=said):
        tb.recipes.lstm().sample("none.safetensors", **options)


def test_sample_names_what_the_user_gave():
    recipe = tb.recipes.lstm()
    with pytest.raises(ValueError, match=r"^\[weights\] the tensor"):
        recipe.sample({"other": np.zeros(3, np.float32)})
    with pytest.raises(TypeError, match="weights must be a checkpoint's path, .* got int"):
        recipe.sample(5)
