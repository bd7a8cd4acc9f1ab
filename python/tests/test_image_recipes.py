"""The recipes that classify colour images, beside their twins in PyTorch of bench/pytorch."""

import importlib.util
import pathlib

import numpy as np
import pytest

import thimble as tb

TWINS = pathlib.Path(__file__).parents[2] / "bench" / "pytorch"
SIDES = {"mobilenetv2": 96, "resnet18": 32}


def twin(name):
    pytest.importorskip("torch")
    path = TWINS / f"{name}.py"
    if not path.exists():
        pytest.skip("bench/pytorch is not here")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Model()


def logits_of(model, images):
    import torch

    with torch.no_grad():
        return model.eval().logits(torch.from_numpy(images).permute(0, 3, 1, 2)).numpy()


@pytest.fixture(params=SIDES)
def recipe(request):
    return getattr(tb.recipes, request.param)()


@pytest.fixture
def images(recipe):
    return tb.data.shapes(8, seed=3, side=SIDES[recipe.name])


def test_layouts_go_round(recipe):
    state = recipe.trainer(seed=3, batch=2).state_dict()
    there = recipe.to_torch(state)
    back = recipe.from_torch(there)
    assert back.keys() == state.keys()
    for key, array in state.items():
        np.testing.assert_array_equal(back[key], array)


def test_a_model_exported_to_pytorch_computes_the_same(recipe, images):
    model = twin(recipe.name)
    trainer = recipe.trainer(seed=3, batch=8)
    trainer.fit(images)
    import torch

    exported = {k: torch.from_numpy(v) for k, v in recipe.to_torch(trainer.state_dict()).items()}
    missing, unexpected = model.load_state_dict(exported, strict=False)
    assert not unexpected and all(k.endswith("num_batches_tracked") for k in missing)
    theirs = logits_of(model, images.arrays()["image"])
    np.testing.assert_allclose(trainer.predict(images, "logits"), theirs, rtol=1e-3, atol=1e-3)


def test_a_pytorch_state_dict_can_be_taken(recipe, images):
    model = twin(recipe.name)
    trainer = recipe.trainer(batch=8)
    trainer.load_state_dict(recipe.from_torch(model.state_dict()))
    theirs = logits_of(model, images.arrays()["image"])
    np.testing.assert_allclose(trainer.predict(images, "logits"), theirs, rtol=1e-3, atol=1e-3)


def test_they_bring_data_of_ten_classes(recipe):
    train, test = recipe.data(), recipe.data(split="test")
    side = SIDES[recipe.name]
    assert train.fields == {"image": ("f32", (side, side, 3)), "label": ("i32", ())}
    assert train.fields == test.fields and len(train) > len(test) >= 500


def test_data_that_are_missing_are_named_without_options_of_the_command_line(tmp_path):
    with pytest.raises(RuntimeError, match="data_batch_1.bin. not found; tried") as error:
        tb.recipes.resnet18().data(tmp_path)
    assert "--data" not in str(error.value)
