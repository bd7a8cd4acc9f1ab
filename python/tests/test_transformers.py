"""Hugging Face models and LoRA beside PyTorch; skipped where torch, transformers or peft are not installed."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import thimble as tb

RANDOM = np.random.default_rng(5)
STEPS = 3
SETTINGS = dict(vocab_size=31, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
                num_key_value_heads=2, max_position_embeddings=32)


def text_of(rows: int) -> tuple[np.ndarray, np.ndarray]:
    text = RANDOM.integers(0, 31, (rows, 9)).astype(np.int32)
    return text[:, :-1].copy(), text[:, 1:].copy()


def network(folder: pathlib.Path) -> tb.Graph:
    g = tb.Graph()
    h = tb.tanh(tb.dense(g.input("x", (6,)), units=5, name="up"))
    g.output("y", tb.dense(h, units=3, name="down"))
    tb.save_model(g, folder / "m.safetensors", seed=3)
    return tb.load_model(folder / "m.safetensors")


def test_gradients_of_adapters_are_those_of_torch(tmp_path: pathlib.Path) -> None:
    torch = pytest.importorskip("torch")
    graph = tb.adapt(tb.add_lora(network(tmp_path), rank=2, alpha=3, targets=["up", "down"]), loss="mse")
    trainer = tb.Trainer(graph, optimizer=tb.AdamW(lr=0.1), batch=4)
    x, y = RANDOM.normal(size=(4, 6)).astype(np.float32), RANDOM.normal(size=(4, 3)).astype(np.float32)
    for _ in range(3):  # then lora_B is not 0 any more
        trainer.step({"x": x, "label": y})
    found = trainer.gradients({"x": x, "label": y})
    p = {name: torch.tensor(w, requires_grad=".lora_" in name) for name, w in trainer.state_dict().items()}

    def layer(name: str, value: torch.Tensor) -> torch.Tensor:
        low = value @ p[f"{name}.lora_A.weight"].T @ p[f"{name}.lora_B.weight"].T
        return value @ p[f"{name}.weight"].T + p[f"{name}.bias"] + 1.5 * low

    torch.nn.functional.mse_loss(layer("down", torch.tanh(layer("up", torch.tensor(x)))), torch.tensor(y)).backward()
    assert sorted(found) == sorted(name for name in p if ".lora_" in name)
    for name, gradient in found.items():
        np.testing.assert_allclose(gradient, p[name].grad.numpy(), atol=1e-5, rtol=1e-4)


def test_adapters_come_back(tmp_path: pathlib.Path) -> None:
    graph = network(tmp_path)
    trainer = tb.Trainer(tb.adapt(tb.add_lora(graph, rank=2, targets=["up"]), loss="mse"), batch=4)
    x = RANDOM.normal(size=(8, 6)).astype(np.float32)
    trainer.fit({"x": x, "label": np.ones((8, 3), np.float32)}, epochs=3)
    expected = trainer.predict({"x": x})
    tb.save_lora(trainer, tmp_path / "adapter")
    for again in (tb.merge_lora(trainer), tb.load_lora(graph, tmp_path / "adapter")):
        np.testing.assert_allclose(tb.Predictor(again, batch=8).predict(x), expected, atol=1e-6)
    with pytest.raises(ValueError, match="no adapters"):
        tb.merge_lora(graph)
    with pytest.raises(TypeError, match="targets must be a list of strings"):
        tb.add_lora(graph, targets="up")
    with pytest.raises(RuntimeError, match="adapter_config.json"):
        tb.load_lora(graph, tmp_path)


def test_state_dicts_come_back_strictly(tmp_path: pathlib.Path) -> None:
    def trainer_of(alpha: float) -> tb.Trainer:
        graph = tb.add_lora(network(tmp_path), rank=2, alpha=alpha, targets=["up", "down"])
        return tb.Trainer(tb.adapt(graph, loss="mse"), batch=4)

    trainer = trainer_of(4)
    x = RANDOM.normal(size=(8, 6)).astype(np.float32)
    trainer.fit({"x": x, "label": np.ones((8, 3), np.float32)}, epochs=3)
    expected = trainer.predict({"x": x})
    tb.save_model(trainer, tmp_path / "m2.safetensors")
    tb.save_safetensors(tmp_path / "s.safetensors", trainer.state_dict())
    of_model = tb.load_safetensors(tmp_path / "m2.safetensors")
    assert "up.lora_scale" in of_model  # beside the parameters
    for state in (trainer.state_dict(), tb.load_safetensors(tmp_path / "s.safetensors"), of_model):
        again = trainer_of(4)
        assert not np.array_equal(again.predict({"x": x}), expected)
        again.load_state_dict(state)
        np.testing.assert_array_equal(again.predict({"x": x}), expected)
        tb.Predictor(tb.load_model(tmp_path / "m2.safetensors")).load_state_dict(state)
    other = trainer_of(6)
    with pytest.raises(ValueError, match="up.lora_scale is a constant, which has other numbers in the model"):
        other.load_state_dict(of_model)
    other.load_state_dict(of_model, strict=False)
    with pytest.raises(ValueError, match="missing: none; unexpected: up.lora_rank$"):
        other.load_state_dict({**trainer.state_dict(), "up.lora_rank": np.ones(1, np.float32)})


def test_models_of_peft_come_in_and_go_back_as_modules(tmp_path: pathlib.Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    peft = pytest.importorskip("peft")
    torch.manual_seed(1)
    model = peft.get_peft_model(transformers.LlamaForCausalLM(transformers.LlamaConfig(**SETTINGS)),
                                peft.LoraConfig(r=3, lora_alpha=5, target_modules=["q_proj", "down_proj"]))
    ids, following = text_of(4)
    example = {"input_ids": torch.tensor(ids, dtype=torch.long), "use_cache": False}  # PEFT takes them as **kwargs
    graph = tb.adapt(tb.from_torch(model, kwargs=example), loss="softmax_cross_entropy", label="next")
    trainer = tb.Trainer(graph, optimizer=tb.SGD(lr=0.5), batch=4)
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.5)
    for _ in range(STEPS):
        found = trainer.step({"input_ids": ids, "next": following}).loss
        logits = model(**example).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), torch.tensor(following, dtype=torch.long).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert found == pytest.approx(loss.item(), rel=2e-6)
    trainer.load_state_dict(trainer.state_dict())
    tb.save_model(trainer, tmp_path / "m.safetensors")
    trainer.load_state_dict(tb.load_safetensors(tmp_path / "m.safetensors"))
    trained = {name: p.detach().clone() for name, p in model.named_parameters()}
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
    tb.to_torch(trainer, model)
    for name, p in model.named_parameters():
        torch.testing.assert_close(p.detach(), trained[name], rtol=1e-3, atol=2e-5)


def test_stored_weights_are_rounded(tmp_path: pathlib.Path) -> None:
    graph = network(tmp_path)
    x = RANDOM.normal(size=(8, 6)).astype(np.float32)
    expected = tb.Predictor(graph, batch=8).predict(x)
    for dtype, tolerance in (("bf16", 0.02), ("f16", 0.003), ("i8", 0.02), ("i4", 0.3)):
        stored = tb.store_weights(graph, dtype)
        found = tb.Predictor(stored, batch=8).predict(x)
        tb.save_model(stored, tmp_path / f"{dtype}.safetensors")
        for again in (tb.Predictor(tb.load_model(tmp_path / f"{dtype}.safetensors"), batch=8),
                      tb.Predictor(stored, tmp_path / f"{dtype}.safetensors", batch=8)):
            np.testing.assert_array_equal(again.predict(x), found)
        np.testing.assert_allclose(found, expected, atol=tolerance)
        assert not np.array_equal(found, expected)
    with pytest.raises(ValueError, match="expected bf16, f16, i8 or i4"):
        tb.store_weights(graph, "f32")


def test_tokens_that_a_stored_table_lacks_are_named(tmp_path: pathlib.Path) -> None:
    g = tb.Graph()
    h = tb.embedding(g.input("ids", (3,), "i32"), embeddings=5, width=4, name="words")
    g.output("y", tb.dense(h, units=2, name="down"))
    tb.save_model(g, tmp_path / "m.safetensors")
    for dtype in ("bf16", "f16", "i8", "i4"):
        stored = tb.store_weights(tb.load_model(tmp_path / "m.safetensors"), dtype)
        trainer = tb.Trainer(tb.adapt(tb.add_lora(stored, rank=2, targets=["down"]), loss="mse"), batch=2)
        batch = {"ids": np.array([[0, 1, 4], [2, 5, 1]], np.int32), "label": np.zeros((2, 3, 2), np.float32)}
        with pytest.raises(ValueError, match=r"\[ids\] holds 5 in sample 2 .*embedding takes 0 to 4"):
            trainer.step(batch)
        assert np.isnan(trainer.predict({"ids": batch["ids"]})[1, 1]).all()


def test_fine_tuning_takes_the_steps_of_transformers(tmp_path: pathlib.Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(1)
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**SETTINGS))
    model.save_pretrained(tmp_path)
    graph = tb.adapt(tb.import_hugging_face(tmp_path, tokens=8), loss="softmax_cross_entropy", label="next")
    trainer = tb.Trainer(graph, optimizer=tb.AdamW(lr=1e-3, weight_decay=0.01), batch=4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    for _ in range(STEPS):
        ids, following = text_of(4)
        found = trainer.step({"input_ids": ids, "next": following}).loss
        logits = model(input_ids=torch.tensor(ids, dtype=torch.long)).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), torch.tensor(following, dtype=torch.long).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert found == pytest.approx(loss.item(), rel=2e-6)


def test_adapters_take_the_steps_of_peft(tmp_path: pathlib.Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    peft = pytest.importorskip("peft")
    torch.manual_seed(1)
    base = transformers.LlamaForCausalLM(transformers.LlamaConfig(**SETTINGS))
    base.save_pretrained(tmp_path)
    model = peft.get_peft_model(base, peft.LoraConfig(r=3, lora_alpha=5, target_modules=["q_proj", "down_proj"]))
    model.save_pretrained(tmp_path / "first")
    graph = tb.load_lora(tb.import_hugging_face(tmp_path, tokens=8), tmp_path / "first")
    trainer = tb.Trainer(tb.adapt(graph, loss="softmax_cross_entropy", label="next"), optimizer=tb.SGD(lr=0.5), batch=4)
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.5)
    for _ in range(STEPS):
        ids, following = text_of(4)
        found = trainer.step({"input_ids": ids, "next": following}).loss
        logits = model(input_ids=torch.tensor(ids, dtype=torch.long)).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), torch.tensor(following, dtype=torch.long).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert found == pytest.approx(loss.item(), rel=2e-6)
    # And back: PEFT reads what was trained here.
    tb.save_lora(trainer, tmp_path / "second")
    fresh = transformers.LlamaForCausalLM.from_pretrained(tmp_path)
    again = peft.PeftModel.from_pretrained(fresh, tmp_path / "second")
    ids, _ = text_of(4)
    with torch.no_grad():
        expected = again(input_ids=torch.tensor(ids, dtype=torch.long)).logits.numpy()
    np.testing.assert_allclose(trainer.predict({"input_ids": ids}), expected, atol=1e-5)
