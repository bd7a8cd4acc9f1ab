"""Safetensors files, data sets, graphs."""

import json
import struct

import numpy as np
import pytest

import thimble as tb


def test_safetensors_are_the_formats_own(tmp_path, rng):
    tensors = {
        "b.weight": rng.normal(size=(3, 4)).astype(np.float32),
        "a": np.arange(5, dtype=np.int32),
        "half": np.ones((2, 1), np.float16),
        "bytes": np.arange(7, dtype=np.uint8),
        "one": np.float32(3),
        "wide": np.arange(3.0) / 3,
        "count": np.array(2**40),
        "mask": np.array([True, False, True]),
        "big_endian": np.arange(3, dtype=">f4"),
    }
    tb.save_safetensors(tmp_path / "t.safetensors", tensors, {"by": "test"})
    raw = (tmp_path / "t.safetensors").read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8 : 8 + length])
    metadata = header.pop("__metadata__")
    checksums = metadata.pop("checksums_of_tensors").split()
    assert len(checksums) == len(tensors) and len(metadata.pop("checksum_of_header")) == 16
    assert metadata == {"by": "test"}
    assert tb.safetensors_metadata(tmp_path / "t.safetensors") == {"by": "test"}
    assert header["b.weight"]["dtype"] == "F32" and header["b.weight"]["shape"] == [3, 4]
    start, end = header["a"]["data_offsets"]
    assert raw[8 + length + start : 8 + length + end] == tensors["a"].tobytes()
    loaded = tb.load_safetensors(tmp_path / "t.safetensors")
    assert loaded.keys() == tensors.keys()
    for name, array in loaded.items():
        np.testing.assert_array_equal(array, tensors[name])
        assert array.dtype == tensors[name].dtype.newbyteorder("=")
        array.flat[0] = 1  # a copy of its own, that may be written to


def test_a_flipped_bit_is_found(tmp_path):
    path = tmp_path / "t.safetensors"
    tb.save_safetensors(path, {"w": np.arange(100, dtype=np.float32)}, {"by": "test"})
    good = path.read_bytes()
    for bit in range(0, 8 * len(good), 61):
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bad)
        with pytest.raises(RuntimeError):
            tb.load_safetensors(path)


def written(path, tensors):
    """A file of (dtype, array) as others write it."""
    header, data = {}, b""
    for name, (dtype, array) in tensors.items():
        end = len(data) + array.nbytes
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), end]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def test_wide_numbers_of_others_are_read(tmp_path):
    path = tmp_path / "t.safetensors"
    tensors = {
        "bn.num_batches_tracked": ("I64", np.array(2**40 + 1)),
        "bn.weight": ("F64", np.array([[0.1, 0.2]])),
        "short": ("I16", np.array([-3, 4], np.int16)),
        "mask": ("BOOL", np.array([True, False])),
    }
    written(path, tensors)
    loaded = tb.load_safetensors(path)
    for name, (_, array) in tensors.items():
        assert loaded[name].dtype == array.dtype and loaded[name].shape == array.shape
        np.testing.assert_array_equal(loaded[name], array)
    assert tb.safetensors_metadata(path) == {}
    written(path, {"a": ("C64", np.zeros(2, np.complex64))})
    with pytest.raises(RuntimeError, match='tensor a: dtype "C64" is not supported'):
        tb.load_safetensors(path)
    written(path, {"a": ("F64", np.zeros(3, np.float32))})
    with pytest.raises(RuntimeError, match=r"tensor a: F64 \[3\] takes 24 bytes, data_offsets give it 12"):
        tb.load_safetensors(path)
    written(path, {"a": ("I64", np.zeros(0))})
    raw = path.read_bytes().replace(b"[0]", b"[%d]" % 2**59)
    path.write_bytes(struct.pack("<Q", len(raw) - 8) + raw[8:])
    with pytest.raises(RuntimeError, match=r"tensor a"):
        tb.load_safetensors(path)


def test_weights_of_pytorch_with_batch_norm_are_taken_from_its_files(tmp_path):
    torch = pytest.importorskip("torch")
    written_by = pytest.importorskip("safetensors.torch")
    recipe = tb.recipes.vae()
    trainer = recipe.trainer(seed=1)
    state = {name: torch.from_numpy(x) for name, x in recipe.to_torch(trainer.state_dict()).items()}
    state = {name: x.double() for name, x in state.items()}
    state["encoder.1.norm.num_batches_tracked"] = torch.tensor(7)
    written_by.save_file(state, tmp_path / "t.safetensors")
    other = recipe.trainer(seed=2)
    other.load_state_dict(recipe.from_torch(tb.load_safetensors(tmp_path / "t.safetensors")))
    assert other.weights_sha256() == trainer.weights_sha256()
    tb.save_safetensors(tmp_path / "ours", {"count": np.array(7), "half": np.array([0.5])})
    back = written_by.load_file(tmp_path / "ours")
    assert back["count"] == torch.tensor(7) and back["half"].dtype == torch.float64


@pytest.mark.parametrize(
    "tensors,metadata,message",
    [
        ({"a": "b"}, None, "a must be an array of numbers, got 'b'"),
        ({"a": None}, None, "a must be an array of numbers, got None"),
        ({"a": np.zeros(2, complex)}, None, "a must be an array of numbers"),
        ({3: np.zeros(2)}, None, "names must be a str, got 3"),
        ([np.zeros(2)], None, "tensors must be a dictionary of arrays"),
        ({"a": np.zeros(2)}, {"epochs": 3}, "metadata epochs must be a str, got 3"),
    ],
)
def test_what_no_file_holds_is_a_type_error(tmp_path, tensors, metadata, message):
    with pytest.raises(TypeError, match=r"^\[save_safetensors\] " + message):
        tb.save_safetensors(tmp_path / "t.safetensors", tensors, metadata)


def test_damaged_files_are_runtime_errors(tmp_path):
    path = tmp_path / "t.safetensors"
    tb.save_safetensors(path, {"a": np.zeros(100)})
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(RuntimeError, match=r"t\.safetensors"):
        tb.load_safetensors(path)


def test_metadata_are_read_without_the_arrays(tmp_path):
    path = tmp_path / "t.safetensors"
    size = 1 << 37  # beyond what is read into memory; the file is a hole
    tensors = {"a": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}
    header = json.dumps({"__metadata__": {"by": "test"}, **tensors}).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + size)
    assert tb.safetensors_metadata(path) == {"by": "test"}
    with pytest.raises(RuntimeError, match="its tensors take"):
        tb.load_safetensors(path)
    with path.open("r+b") as file:
        file.truncate(8 + len(header) + size - 1)
    with pytest.raises(RuntimeError, match=r"t\.safetensors"):
        tb.safetensors_metadata(path)


def test_missing_files_are_file_not_found_errors(tmp_path):
    missing = tmp_path / "none" / "t.safetensors"
    trainer = tb.recipes.mlp().trainer()
    for use in (tb.load_safetensors, tb.safetensors_metadata, trainer.resume, trainer.load_weights,
                trainer.save, lambda p: tb.save_safetensors(p, {}), tb.data.mnist, tb.data.cifar10,
                lambda p: tb.data.idx(p, p), lambda p: tb.Predictor(tb.recipes.mlp().graph, p)):
        with pytest.raises(FileNotFoundError, match="none"):
            use(missing)


def test_the_built_in_digits_are_arrays_too():
    train = tb.data.digits(100, seed=5)
    arrays = train.arrays()
    assert len(train) == 100
    assert train.fields == {"image": ("f32", (28, 28, 1)), "digit": ("i32", ())}
    assert arrays["image"].shape == (100, 28, 28, 1)
    assert arrays["image"].min() >= 0 and arrays["image"].max() <= 1
    assert sorted(set(arrays["digit"])) == list(range(10))
    few, rest = train.split(0.2, seed=1)
    assert (len(few), len(rest)) == (80, 20)
    np.testing.assert_array_equal(train.subset([3, 3]).arrays()["digit"], arrays["digit"][[3, 3]])
    np.testing.assert_array_equal(train.take(4).arrays()["image"], arrays["image"][:4])
    assert list(train.named(["x", "y"]).fields) == ["x", "y"]
    with pytest.raises(ValueError, match='expected "train" or "test"'):
        tb.data.digits(10, split="dev")


def test_built_in_colour_images_and_their_augmentation():
    shapes = tb.data.shapes(20, seed=5, split="test", side=24)
    arrays = shapes.arrays()
    assert shapes.fields == {"image": ("f32", (24, 24, 3)), "label": ("i32", ())}
    assert sorted(set(arrays["label"])) == list(range(10))
    for changed in (tb.data.augmented(shapes), tb.data.augmented(shapes, padding=2, flip=False)):
        np.testing.assert_array_equal(changed.arrays()["image"], arrays["image"])
    with pytest.raises(ValueError, match="side is 3"):
        tb.data.shapes(20, side=3)

    def loss_of(dataset):
        g = tb.Graph()
        image, label = g.input("image", (24, 24, 3)), g.label("label")
        offset = g.parameter("offset", (1,), tb.init.zeros())
        g.minimize(tb.mean(image) + tb.mean(offset) + 0.0 * tb.mean(tb.cast(label, "f32")))
        trainer = tb.Trainer(g, optimizer="sgd:lr=1e-6", batch=20)
        return trainer.fit(dataset, epochs=1).epochs[0].train.loss, trainer.evaluate(dataset).loss

    mean = arrays["image"].mean()
    plain, changed = loss_of(shapes), loss_of(tb.data.augmented(shapes))
    assert plain == pytest.approx((mean, mean), rel=1e-4)
    assert changed[1] == pytest.approx(mean, rel=1e-4)
    assert changed[0] < 0.95 * mean  # darker by the zeros around the images


def test_cifar10_is_read_from_its_binary_files(tmp_path):
    folder = tmp_path / "cifar-10-batches-bin"
    folder.mkdir()
    pixels = np.random.default_rng(0).integers(0, 256, (6, 3, 32, 32), np.uint8)
    for i, name in enumerate([f"data_batch_{n}.bin" for n in range(1, 6)] + ["test_batch.bin"]):
        (folder / name).write_bytes(bytes([i]) + pixels[i].tobytes())
    train = tb.data.cifar10(tmp_path).arrays()
    test = tb.data.cifar10(tmp_path, "test").arrays()
    assert train["label"].tolist() == [0, 1, 2, 3, 4] and test["label"].tolist() == [5]
    images = np.concatenate([train["image"], test["image"]])
    np.testing.assert_array_equal(images, pixels.transpose(0, 2, 3, 1) / np.float32(255))
    (folder / "test_batch.bin").write_bytes(bytes(3072))
    with pytest.raises(RuntimeError, match="not whole records"):
        tb.data.cifar10(tmp_path, "test")


def test_graphs_describe_themselves():
    g = tb.Graph()
    x = g.input("x", (6,))
    w = g.parameter("w", (6, 2), tb.init.he_normal())
    g.minimize(tb.mean(x @ w))
    assert "matmul" in g.text()
    assert "12 parameters" in g.summary() and repr(g) == g.summary()
    assert "w          [6, 2]  f32      48  trained" in g.summary(parameters=True)
    with pytest.raises(ValueError, match="loss already"):
        g.minimize(tb.mean(x))
    with pytest.raises(ValueError, match="x"):
        g.label("x")
    with pytest.raises(ValueError, match="negative"):
        g.input("y", (-1,))


def test_first_values_follow_their_rule():
    g = tb.Graph()
    x = g.input("x", (50,))
    y = tb.dense(x, units=40, name="d", weight_init=tb.init.normal(1.0, 0.1),
                 bias_init=tb.init.constant(3))
    g.minimize(tb.mean(y))
    parameters = tb.Trainer(g).parameters
    assert abs(parameters["d.weight"].mean() - 1) < 0.02
    assert (parameters["d.bias"] == 3).all()
    rule = tb.init.normal(1.0, 0.1)
    np.testing.assert_array_equal(parameters["d.weight"], rule.array((40, 50), name="d.weight"))
    assert (rule.array((40, 50), seed=1) != rule.array((40, 50))).any()
    with pytest.raises(ValueError, match="weight_init must be an initializer"):
        tb.dense(x, units=4, weight_init=0.5)


def test_text_is_windows_of_bytes(tmp_path):
    text, nats = tb.data.generated_text(5000, seed=3)
    assert len(text) >= 5000 and text.isascii() and 0.1 < nats < 0.3
    path = tmp_path / "story.txt"
    path.write_text(text, encoding="ascii")
    for train in (tb.data.text(path, 100), tb.data.text(tmp_path, 100)):
        arrays = train.arrays()
        assert train.fields == {"tokens": ("i32", (100,)), "next": ("i32", (100,))}
        assert bytes(arrays["tokens"].ravel().astype(np.uint8)) == text.encode()[: 100 * len(train)]
        np.testing.assert_array_equal(arrays["tokens"][:, 1:], arrays["next"][:, :-1])
    for same in (tb.data.text_of(text, 100), tb.data.text_of(text.encode(), 100)):
        np.testing.assert_array_equal(same.arrays()["tokens"], train.arrays()["tokens"])
    two = tb.data.text_of("\u00e9" * 9, window=4, stride=4).arrays()["tokens"][0]
    assert bytes(two.astype(np.uint8)) == "\u00e9\u00e9".encode()
    with pytest.raises(ValueError, match=r"\[text_of\] text must be str or bytes, got 3"):
        tb.data.text_of(3)
    with pytest.raises(ValueError, match=r"\[text\] windows of 0 bytes"):
        tb.data.text(path, window=0)
    test = tb.data.text_of(text.encode(), window=100, stride=50, split="test")
    assert bytes(test.arrays()["tokens"][1].astype(np.uint8)) in text.encode()[-600:]
    with pytest.raises(FileNotFoundError, match="no such file"):
        tb.data.text(tmp_path / "none.txt")
    with pytest.raises(ValueError, match="holds 3 bytes"):
        tb.data.text_of(b"abc")
