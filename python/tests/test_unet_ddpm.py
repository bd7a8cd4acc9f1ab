"""The diffusion model beside PyTorch's, which bench/pytorch has."""

import importlib.util
import pathlib

import numpy as np
import pytest

import thimble as tb

TWIN = pathlib.Path(__file__).parents[2] / "bench" / "pytorch" / "unet_ddpm.py"


@pytest.fixture
def twin():
    torch = pytest.importorskip("torch")
    if not TWIN.exists():
        pytest.skip("there is no bench/pytorch beside the tests")
    spec = importlib.util.spec_from_file_location("unet_ddpm_twin", TWIN)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch.manual_seed(0)
    return module.Model().eval()


def test_a_pytorch_state_dict_computes_the_same_and_goes_round(twin, digits):
    torch = pytest.importorskip("torch")
    recipe = tb.recipes.unet_ddpm()
    trainer = recipe.trainer(batch=4, ema_decay=0.0, threads=2)
    theirs = twin.state_dict()
    trainer.load_state_dict(recipe.from_torch(theirs))
    back = recipe.to_torch(trainer.state_dict())
    assert back.keys() == theirs.keys()
    for name, tensor in theirs.items():
        np.testing.assert_array_equal(back[name], tensor.numpy())
    eight = {name: values[:8] for name, values in digits.items()}
    ours = trainer.predict(eight)
    noisy = torch.from_numpy(ours["noisy"]).permute(0, 3, 1, 2)
    with torch.no_grad():
        known = torch.from_numpy(eight["digit"]).long(), torch.from_numpy(ours["told"])
        v = twin.guess(noisy, torch.from_numpy(ours["time"]).long(), *known)
    np.testing.assert_allclose(
        ours["v"], v.numpy().transpose(0, 2, 3, 1), rtol=1e-4, atol=1e-4
    )
    # The more time, the less of the image is left.
    assert len(set(ours["time"])) > 1 and 0 <= ours["time"].min() <= ours["time"].max() < 1000


def test_it_draws_images(digits):
    recipe = tb.recipes.unet_ddpm()
    assert recipe.makes == "images" and recipe.ema_decay > 0 and recipe.sample_steps > 1
    trainer = recipe.trainer(batch=2, threads=2)
    trainer.fit({name: values[:2] for name, values in digits.items()})
    images = recipe.sample(trainer, count=2, steps=2)
    assert images.shape == (2, 28, 28, 1) and 0 <= images.min() <= images.max() <= 1
    np.testing.assert_array_equal(recipe.sample(trainer, count=1, steps=2), images[:1])
    with pytest.raises(ValueError, match="steps must be from 1 to 1000, got 1001"):
        recipe.sample(trainer, steps=1001)
