"""The shipped models, and their weights in PyTorch's layout."""

import pathlib
import re

import numpy as np
import pytest

import thimble as tb

NAMES = ["vae", "lenet5", "mlp"]


def torch_model(name):
    """The recipe's model in PyTorch, with modules named as the recipe's layers."""
    torch = pytest.importorskip("torch")
    nn, f = torch.nn, torch.nn.functional

    class LeNet5(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
            self.conv2 = nn.Conv2d(6, 16, 5)
            self.dense1, self.dense2 = nn.Linear(400, 120), nn.Linear(120, 84)
            self.dense3 = nn.Linear(84, 10)

        def forward(self, x):
            x = f.max_pool2d(f.relu(self.conv1(x)), 2)
            x = f.max_pool2d(f.relu(self.conv2(x)), 2).flatten(1)
            return self.dense3(f.relu(self.dense2(f.relu(self.dense1(x)))))

    class Mlp(nn.Module):
        def __init__(self):
            super().__init__()
            self.dense1, self.dense2 = nn.Linear(784, 512), nn.Linear(512, 512)
            self.dense3 = nn.Linear(512, 10)

        def forward(self, x):
            return self.dense3(f.relu(self.dense2(f.relu(self.dense1(x.flatten(1))))))

    def block(conv, channels):
        return nn.ModuleDict({"conv": conv, "norm": nn.BatchNorm2d(channels)})

    class Vae(nn.Module):
        def __init__(self):
            super().__init__()
            conv = lambda i, o: nn.Conv2d(i, o, 3, 2, 1, bias=False)  # noqa: E731
            up = lambda i, o: nn.ConvTranspose2d(i, o, 4, 2, 1, bias=False)  # noqa: E731
            self.encoder = nn.ModuleDict({"1": block(conv(1, 4), 4), "2": block(conv(4, 8), 8)})
            self.mean, self.logvar = nn.Linear(392, 16), nn.Linear(392, 16)
            self.decoder = nn.ModuleDict(
                {"dense": nn.Linear(16, 392), "1": block(up(8, 4), 4), "2": block(up(4, 1), 1)}
            )

        def forward(self, x):
            for part in self.encoder.values():
                x = f.relu(part["norm"](part["conv"](x)))
            z = self.mean(x.flatten(1))
            x = f.relu(self.decoder["dense"](z)).reshape(-1, 8, 7, 7)
            x = f.relu(self.decoder["1"]["norm"](self.decoder["1"]["conv"](x)))
            return torch.sigmoid(self.decoder["2"]["norm"](self.decoder["2"]["conv"](x)))

    return {"lenet5": LeNet5, "mlp": Mlp, "vae": Vae}[name]()


OUTPUT = {"lenet5": "logits", "mlp": "logits", "vae": "reconstruction"}


@pytest.mark.parametrize("name", NAMES)
def test_layouts_go_round(name):
    recipe = getattr(tb.recipes, name)()
    state = recipe.trainer(seed=3).state_dict()
    there = recipe.to_torch(state)
    back = recipe.from_torch(there)
    assert back.keys() == state.keys()
    assert any((there[k].shape != state[k].shape) for k in state) or name == "mlp"
    for key, array in state.items():
        np.testing.assert_array_equal(back[key], array)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_exported_to_pytorch_computes_the_same(name, digits):
    torch = pytest.importorskip("torch")
    recipe = tb.recipes.recipe(name)
    trainer = recipe.trainer(seed=3)
    trainer.fit(digits["image"] if name == "vae" else digits)
    model = torch_model(name)
    exported = {k: torch.from_numpy(v) for k, v in recipe.to_torch(trainer.state_dict()).items()}
    missing, unexpected = model.load_state_dict(exported, strict=False)
    assert not unexpected and all(k.endswith("num_batches_tracked") for k in missing)
    image = digits["image"][:16]
    with torch.no_grad():
        theirs = model.eval()(torch.from_numpy(image).permute(0, 3, 1, 2)).numpy()
    if theirs.ndim == 4:
        theirs = theirs.transpose(0, 2, 3, 1)
    np.testing.assert_allclose(trainer.predict(image, OUTPUT[name]), theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_a_pytorch_state_dict_can_be_taken(name, digits):
    torch = pytest.importorskip("torch")
    recipe = tb.recipes.recipe(name)
    torch.manual_seed(0)
    model = torch_model(name).eval()
    trainer = recipe.trainer()
    trainer.load_state_dict(recipe.from_torch(model.state_dict()))
    image = digits["image"][:16]
    with torch.no_grad():
        theirs = model(torch.from_numpy(image).permute(0, 3, 1, 2)).numpy()
    if theirs.ndim == 4:
        theirs = theirs.transpose(0, 2, 3, 1)
    np.testing.assert_allclose(trainer.predict(image, OUTPUT[name]), theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("where", ["to_torch", "from_torch"])
def test_names_and_shapes_that_do_not_fit_are_one_error(where):
    recipe = tb.recipes.lenet5()
    state = recipe.trainer().state_dict()
    if where == "from_torch":
        state = recipe.to_torch(state)
    state["dense9.weight"] = state.pop("dense2.weight")
    state["conv1.bias"] = np.zeros(7)
    state["dense1.weight"] = state["dense1.weight"][:, :9]
    message = (
        rf"\[{where}\] missing: dense2.weight \[84, 120\]; unexpected: dense9.weight; of another "
        r"shape: (?=.*dense1.weight must be \[120, 400\], got \[120, 9\]).*conv1.bias must be \[6\]"
    )
    with pytest.raises(ValueError, match=message):
        getattr(recipe, where)(state)


def test_the_module_shows_its_recipes_alone():
    public = dir(tb.recipes)
    assert set(public) == {"Recipe", "names", "recipe", *tb.recipes.names()}
    for name in tb.recipes.names():
        make = getattr(tb.recipes, name)
        assert make.__name__ == name and tb.recipes.recipe(name).doc in make.__doc__
    source = pathlib.Path(tb.recipes.__file__).parent
    for file in source.glob("*.py"):
        assert not re.search(r"[\"'](gpt|vae|lenet5|resnet18)[\"']", file.read_text()), file


def test_recipes_bring_settings_that_can_be_replaced():
    recipe = tb.recipes.vae()
    assert set(tb.recipes.names()) >= set(NAMES)
    assert recipe.batch == 32 and recipe.latent == 16
    assert recipe.schedule(100).at(0) == pytest.approx(recipe.lr)
    assert recipe.trainer(batch=8).plan().batch == 8
    assert "image" in recipe.decoder().text()
    with pytest.raises(ValueError, match="no decoder"):
        tb.recipes.mlp().decoder()
    with pytest.raises(AttributeError, match="there are .*mlp"):
        tb.recipes.gpt9()
    with pytest.raises(ValueError, match="mlp"):
        tb.recipes.recipe("gpt9")


def test_a_predictor_runs_a_part_of_a_trained_model(digits, tmp_path):
    recipe = tb.recipes.vae()
    trainer = recipe.trainer(seed=1)
    trainer.fit(digits["image"])
    trainer.save(tmp_path / "c.safetensors")
    mean = trainer.predict(digits["image"][:40], "mean")
    reconstructed = trainer.predict(digits["image"][:40], "reconstruction")
    for weights in (trainer, trainer.state_dict(), tmp_path / "c.safetensors"):
        decoder = tb.Predictor(recipe.decoder(), weights, batch=16)
        images = decoder.predict({"z": mean})
        assert images.shape == (40, 28, 28, 1)
        np.testing.assert_allclose(images, reconstructed, atol=1e-5)
        np.testing.assert_array_equal(decoder.predict([mean[:3], mean[3:20]]), images[:20])
    assert decoder.plan().batch == 16
    with pytest.raises(ValueError, match="the weights lack decoder.dense.weight"):
        tb.Predictor(recipe.decoder(), {})
    with pytest.raises(ValueError, match="no output 'mean'; there are image"):
        decoder.predict(mean, "mean")


def test_a_recipe_draws_samples(digits, tmp_path):
    recipe = tb.recipes.vae()
    assert recipe.makes == "images"
    trainer = recipe.trainer(seed=1, ema_decay=0.5)
    trainer.fit(digits["image"])
    trainer.save(tmp_path / "c.safetensors")
    images = recipe.sample(trainer, count=5, seed=7)
    assert images.shape == (5, 28, 28, 1) and 0 <= images.min() < images.max() <= 1
    np.testing.assert_array_equal(
        recipe.sample(tmp_path / "c.safetensors", count=5, seed=7, threads=1), images
    )
    # A dictionary holds the weights themselves, not their averages.
    assert not np.array_equal(recipe.sample(trainer.state_dict(), count=5, seed=7), images)
    assert not np.array_equal(recipe.sample(trainer, count=5, seed=8), images)
    with pytest.raises(ValueError, match="makes no samples"):
        tb.recipes.mlp().sample(trainer)
    with pytest.raises(ValueError, match="count"):
        recipe.sample(trainer, count=0)


def test_a_recipe_brings_its_data(tmp_path):
    recipe = tb.recipes.lenet5()
    assert len(recipe.data()) == 10000 and len(recipe.data(split="test")) == 2000
    assert recipe.data().fields == tb.data.digits(1).fields
    assert "MNIST" in recipe.data_doc
    with pytest.raises(RuntimeError, match="train-images-idx3-ubyte"):
        recipe.data(tmp_path)
    with pytest.raises(ValueError, match="valid"):
        recipe.data(split="valid")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        recipe.data(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        tb.recipes.vae().sample(tmp_path / "nowhere")
    with pytest.raises(TypeError, match=r"\[recipe\] name must be a str, got 3"):
        tb.recipes.recipe(3)


def test_the_vae_learns(digits):
    recipe = tb.recipes.vae()
    trainer = recipe.trainer(schedule=recipe.schedule(40))
    before = trainer.evaluate(digits["image"])
    trainer.fit(digits["image"], epochs=5)
    after = trainer.evaluate(digits["image"])
    assert after.loss < 0.8 * before.loss
    assert after.metrics.keys() == {"reconstruction", "kl"}
