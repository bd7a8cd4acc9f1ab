"""Writes the files that the fuzzers of programs, checkpoints, Hugging Face and ONNX models, tokenizers and training in two
stages begin with, in tests/fuzz/seeds/: program/, checkpoint/, hugging_face/, onnx/, tokenizer/, micro/ and wof/. Those of
programs and checkpoints are made anew where the version of the program format changes (src/program/sections.cpp), and
where checkpoints have other entries; micro/ where that of src/micro/program_file.h does.
usage: scripts/fuzz_seeds.py [THIMBLE]     with the Python package of this version installed; THIMBLE: the program
[build/release/bin/thimble]"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import thimble as tb

SEEDS = Path(__file__).resolve().parent.parent / "tests/fuzz/seeds"


def conv() -> tb.Graph:
    """A convolution, dropout and a dense layer."""
    graph = tb.Graph()
    x = tb.relu(tb.conv2d(graph.input("image", (4, 4, 1)), channels=2, kernel=3))
    x = tb.dense(tb.flatten(tb.dropout(x, p=0.2)), units=3)
    graph.minimize(tb.softmax_cross_entropy(x, graph.label("digit")))
    return graph


def dense() -> tb.Graph:
    """A score that holds for all samples of an epoch together."""
    graph = tb.Graph()
    x = tb.dense(graph.input("x", (3,)), units=2)
    y = graph.label("y")
    graph.minimize(tb.softmax_cross_entropy(x, y))
    graph.metric("f1", tb.f1_score(x, y))
    return graph


def swap() -> tb.Graph:
    """Weights that wait in a swap file."""
    graph = tb.Graph()
    x = graph.input("x", (64,))
    for units in (256, 256):
        x = tb.relu(tb.dense(x, units=units))
    graph.minimize(tb.softmax_cross_entropy(tb.dense(x, units=3), graph.label("y")))
    return graph


def words() -> tb.Graph:
    """Rows of a table."""
    graph = tb.Graph()
    x = tb.embedding(graph.input("words", (3,), dtype="i32"), embeddings=5, width=2)
    x = tb.dense(tb.flatten(x), units=3)
    graph.minimize(tb.softmax_cross_entropy(x, graph.label("digit")))
    return graph


def least_budget(graph: tb.Graph, path: Path, **options: object) -> int:
    """The budget that a refusal names: there the step swaps."""
    try:
        tb.compile_program(graph, path, memory_budget=1, **options)
    except ValueError as error:
        return int(re.search(r"budget that works: (\d+)", str(error))[1])
    raise AssertionError("a budget of one byte was kept")


def without_checksums(file: bytes) -> bytes:
    """A safetensors file that is read without comparison, so that changed bytes are read, too."""
    length = int.from_bytes(file[:8], "little")
    header = json.loads(file[8 : 8 + length])
    for entry in ("checksums_of_tensors", "checksum_of_header"):
        del header["__metadata__"][entry]
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + file[8 + length :]


def write_checkpoints(folder: Path) -> None:
    """Checkpoints of the model in tests/fuzz/checkpoint_model.h."""
    graph = tb.Graph()
    error = tb.dense(graph.input("x", (2,)), units=1, name="d") - graph.label("y", (1,), dtype="f32")
    graph.minimize(tb.mean(error * error))
    graph.metric("error", tb.mean(tb.abs(error)))
    trainer = tb.Trainer(graph, optimizer=tb.SGD(lr=0.01, momentum=0.9), batch=2, threads=1)
    trainer.fit({"x": np.arange(1.0, 7.0).reshape(3, 2), "y": np.arange(1.0, 4.0)[:, None]}, epochs=1)
    trainer.save(folder / "checksums")
    whole = (folder / "checksums").read_bytes()
    (folder / "one_epoch").write_bytes(without_checksums(whole))


def write_packed_weights(folder: Path) -> None:
    """The model of tests/fuzz/fuzz_packed_weights.cpp."""
    folder.mkdir(exist_ok=True)
    graph = tb.Graph()
    h = graph.input("x", (4,)) @ graph.parameter("up.weight", (4, 4), tb.init.ones())
    graph.output("y", tb.dense(h, units=3, name="down"))
    tb.save_model(graph, folder / "plain")
    tb.save_model(tb.store_weights(tb.load_model(folder / "plain"), "i4"), folder / "checksums")
    (folder / "plain").unlink()
    whole = (folder / "checksums").read_bytes()
    (folder / "without_checksums").write_bytes(without_checksums(whole))


def hugging_face(model_type: str, shapes: dict[str, tuple[int, ...]], **settings: object) -> bytes:
    """config.json and, behind a byte of 0, a safetensors file of zeros."""
    config = {"model_type": model_type, "vocab_size": 3, "hidden_size": 2, "num_attention_heads": 1,
              "num_hidden_layers": 1, "intermediate_size": 2} | settings
    return with_zeros(config, shapes)


def with_zeros(config: dict[str, object], shapes: dict[str, tuple[int, ...]]) -> bytes:
    """The configuration and, behind a byte of 0, a safetensors file of zeros of these shapes."""
    header, at = {}, 0
    for name, shape in shapes.items():
        size = 2 * int(np.prod(shape))
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    file = len(text).to_bytes(8, "little") + text + bytes(at)
    return json.dumps(config, separators=(",", ":")).encode() + b"\0" + file


def layers(before: str, weights: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Weights of these shapes, each with a bias."""
    shapes = {}
    for name, shape in weights.items():
        shapes |= {f"{before}{name}.weight": shape, f"{before}{name}.bias": shape[:1]}
    return shapes


def write_hugging_face(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    norm, square = (2,), (2, 2)
    shapes = {"wte.weight": (3, 2), "wpe.weight": (4, 2)} | layers("", {"ln_f": norm})
    shapes |= layers("h.0.", {"ln_1": norm, "ln_2": norm, "attn.c_proj": square, "mlp.c_fc": square, "mlp.c_proj": square})
    shapes |= {"h.0.attn.c_attn.weight": (2, 6), "h.0.attn.c_attn.bias": (6,)}
    (folder / "gpt2").write_bytes(hugging_face("gpt2", shapes, n_inner=2, n_positions=4))
    shapes = {"embed_tokens.weight": (3, 2), "norm.weight": norm, "lm_head.weight": (3, 2)}
    shapes |= {f"layers.0.{name}.weight": norm for name in ("input_layernorm", "post_attention_layernorm")}
    for name in ("self_attn.q", "self_attn.k", "self_attn.v", "self_attn.o", "mlp.gate", "mlp.up", "mlp.down"):
        shapes[f"layers.0.{name}_proj.weight"] = square
    rope = {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4}
    (folder / "llama").write_bytes(hugging_face("llama", shapes, rope_parameters=rope))
    block = {"intermediate.dense": square, "output.dense": square, "attention.output.dense": square}
    shapes = layers("encoder.layer.0.attention.self.", {"query": square, "key": square, "value": square})
    shapes |= layers("encoder.layer.0.", block | {"attention.output.LayerNorm": norm, "output.LayerNorm": norm})
    shapes |= layers("embeddings.", {"LayerNorm": norm}) | layers("pooler.", {"dense": square})
    for name, rows in (("word", 3), ("token_type", 2), ("position", 4)):
        shapes[f"embeddings.{name}_embeddings.weight"] = (rows, 2)
    (folder / "bert").write_bytes(hugging_face("bert", shapes, max_position_embeddings=4))
    shapes = layers("encoder.layer.0.attention.attention.", {"query": square, "key": square, "value": square})
    shapes |= layers("encoder.layer.0.", block | {"layernorm_before": norm, "layernorm_after": norm})
    shapes |= layers("", {"layernorm": norm, "classifier": square})
    shapes |= {"embeddings.cls_token": (1, 1, 2), "embeddings.position_embeddings": (1, 2, 2),
               "embeddings.patch_embeddings.projection.weight": (2, 3, 2, 2),
               "embeddings.patch_embeddings.projection.bias": (2,)}
    (folder / "vit").write_bytes(hugging_face("vit", shapes, image_size=2, patch_size=2,
                                              architectures=["ViTForImageClassification"]))
    # Of the network of fuzz_hugging_face.cpp.
    shapes = {"base_model.model.block.up.lora_A.weight": (1, 3), "base_model.model.block.up.lora_B.weight": (2, 1),
              "base_model.model.block.down.lora_A.weight": (1, 2), "base_model.model.block.down.lora_B.weight": (2, 1)}
    lora = {"peft_type": "LORA", "r": 1, "lora_alpha": 2, "bias": "none", "fan_in_fan_out": False,
            "target_modules": ["block.up", "block.down"], "use_rslora": False, "modules_to_save": None}
    (folder / "lora").write_bytes(with_zeros(lora, shapes))
    index = {"metadata": {"total_size": 4}, "weight_map": {"a": "1.safetensors", "b": "2.safetensors"}}
    (folder / "index").write_text(json.dumps(index))


def write_two_stages(thimble: str) -> None:
    """A small model's program, weights and rest (fuzz_micro.cpp), and the latter two alone (fuzz_wof.cpp).
    wof/options_left_out is one that the fuzzer found: its convolution names a type of options that it leaves out."""
    graph = tb.Graph()
    x = tb.relu(tb.conv2d(graph.input("image", (6, 6, 1)), channels=2, kernel=3))
    graph.output("scores", tb.dense(tb.flatten(tb.max_pool2d(x, kernel=2)), units=3))
    graph.minimize(tb.mean(tb.dense(graph.input("unused", (1,)), units=1)))
    with tempfile.TemporaryDirectory() as folder:
        tb.export_tflite(tb.Trainer(graph, batch=1), f"{folder}/m.circle")
        command = [thimble, "configure", f"{folder}/m.circle", "--loss", "softmax_cross_entropy", "--metric", "accuracy",
                   "--optimizer", "momentum", "--out", folder]
        subprocess.run(command, check=True)
        files = [(Path(folder) / name).read_bytes() for name in ("program.bin", "weights.wof", "model.circle")]
    sizes = [len(file).to_bytes(4, "little") for file in files]
    for name, contents in (("micro", sizes[:2] + files), ("wof", sizes[1:2] + files[1:])):
        (SEEDS / name).mkdir(exist_ok=True)
        (SEEDS / name / "conv").write_bytes(b"".join(contents))


def write_tokenizers(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    vocabulary = {"a": 0, "b": 1, "\u0120": 2, "ab": 3, "\u0120ab": 4, "1": 5}
    tokenizer = {"added_tokens": [{"id": 6, "content": "<x>", "special": True}], "normalizer": None,
                 "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True},
                 "model": {"type": "BPE", "vocab": vocabulary, "merges": ["a b", "\u0120 ab"]}}
    (folder / "gpt2").write_text(json.dumps(tokenizer))
    words = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
             r"\s+(?!\S)|\s+")
    tokenizer["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": words}, "behavior": "Isolated", "invert": False},
        {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}]}
    tokenizer["model"] |= {"ignore_merges": True, "merges": [["a", "b"]]}
    (folder / "llama3").write_bytes(json.dumps(tokenizer).encode() + b"\0ab<x> 1111 AB's\r\n  ab")


def field(number: int, value: int | str | bytes) -> bytes:
    """A field of a protobuf message: an integer, or a text or message with its size."""
    def varint(x: int) -> bytes:
        x &= (1 << 64) - 1
        return bytes([x]) if x < 128 else bytes([x & 127 | 128]) + varint(x >> 7)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def quantized_onnx() -> bytes:
    """A model of operators on integers, images [N, 1, 3, 3] to 2 scores."""
    def tensor(name: str, values: list[float] | list[int], kind: str, shape: tuple[int, ...] = ()) -> bytes:
        number = {"f4": 1, "u1": 2, "i1": 3, "i4": 6}[kind]
        dims = b"".join(field(1, dim) for dim in shape)
        return field(5, dims + field(2, number) + field(8, name) + field(9, np.array(values, kind).tobytes()))

    def node(op: str, inputs: str, output: str, domain: str = "", attributes: bytes = b"") -> bytes:
        names = b"".join(field(1, name) for name in inputs.split())
        return field(1, names + field(2, output) + field(4, op) + attributes + (field(7, domain) if domain else b""))

    def info(name: str, shape: tuple[int, ...]) -> bytes:
        dims = field(1, field(2, "n")) + b"".join(field(1, field(1, dim)) for dim in shape)
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))

    transposed = field(5, field(1, "transB") + field(3, 1) + field(20, 2))
    graph = b"".join([
        node("QuantizeLinear", "x s z", "q"),
        node("QLinearConv", "q s z w sw zw s z b", "c"),
        node("MaxPool", "c", "p", attributes=field(5, field(1, "kernel_shape") + field(8, 2) + field(8, 2) + field(20, 7))),
        node("QLinearAdd", "p s z p s z s z", "a", "com.microsoft"),
        node("Flatten", "a", "f"),
        node("QGemm", "f s z m s zw b s z", "g", "com.microsoft", transposed),
        node("DequantizeLinear", "g s z", "y"),
        field(2, "m"),
        tensor("s", [0.5], "f4"), tensor("z", [128], "u1"), tensor("sw", [0.25, 0.5], "f4", (2,)), tensor("zw", [0], "i1"),
        tensor("w", list(range(8)), "i1", (2, 1, 2, 2)), tensor("b", [1, -1], "i4", (2,)),
        tensor("m", [3, -2, 1, 5], "i1", (2, 2)),
        field(11, info("x", (1, 3, 3))), field(12, info("y", (2,))),
    ])
    opsets = field(8, field(1, "") + field(2, 17)) + field(8, field(1, "com.microsoft") + field(2, 1))
    return field(1, 8) + opsets + field(7, graph)


def write_onnx(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "operators_on_integers").write_bytes(quantized_onnx())
    graph = tb.import_onnx(folder / "operators_on_integers")  # it is one
    made = tb.quantize_model(graph, {"x": np.ones((2, 3, 3, 1), np.float32)})
    tb.export_onnx(made.graph, folder / "int8")
    graph = tb.Graph()
    x = tb.batch_norm(tb.conv2d(graph.input("image", (4, 4, 1)), channels=2, kernel=3))
    graph.output("y", tb.softmax(tb.dense(tb.flatten(tb.relu(x)), units=3)))
    tb.export_onnx(tb.Trainer(tb.adapt(graph, loss="mse", label="z"), batch=1), folder / "conv")
    graph = tb.Graph()
    graph.output("y", tb.lstm(graph.input("x", (3, 2)), units=2)[0])
    tb.export_onnx(tb.Trainer(tb.adapt(graph, loss="mse", label="z"), batch=1), folder / "lstm")


def main() -> None:
    write_onnx(SEEDS / "onnx")
    write_two_stages(sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/thimble")
    write_tokenizers(SEEDS / "tokenizer")
    write_hugging_face(SEEDS / "hugging_face")
    write_checkpoints(SEEDS / "checkpoint")
    write_packed_weights(SEEDS / "packed_weights")
    options = {"batch": 2, "threads": 1, "seed": 1}
    for graph, more in (
        (conv, {"optimizer": "sgd:lr=0.1"}),
        (dense, {"optimizer": "sgd:lr=0.1,momentum=0.9", "samples": 3}),
        (swap, {"optimizer": "sgd:lr=0.1", "swap": "always"}),
        (words, {"optimizer": "adamw:lr=0.1", "samples": 3}),
    ):
        path = SEEDS / "program" / graph.__name__
        settings = options | more
        if "swap" in more:
            settings["memory_budget"] = least_budget(graph(), path, **settings)
        tb.compile_program(graph(), path, **settings)


if __name__ == "__main__":
    main()
