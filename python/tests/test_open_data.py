"""Data sets from files for a given model, of files that NumPy and the standard library write."""

import struct
import wave
import zlib

import numpy as np
import pytest

import thimble as tb


@pytest.fixture
def graph():
    g = tb.Graph()
    image, digit = g.input("image", (4, 4, 1)), g.label("digit")
    g.minimize(tb.softmax_cross_entropy(tb.dense(tb.flatten(image), units=3), digit))
    return g


@pytest.fixture
def arrays(rng):
    return {
        "image": rng.normal(size=(10, 4, 4, 1)).astype(np.float32),
        "digit": rng.integers(0, 3, size=10),
    }


def assert_same(dataset, arrays):
    read = dataset.arrays()
    np.testing.assert_array_equal(read["image"], arrays["image"].astype(np.float32))
    np.testing.assert_array_equal(read["digit"], arrays["digit"])
    assert read["digit"].dtype == np.int32


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_as_numpy_writes_it(tmp_path, graph, arrays, save):
    save(tmp_path / "a.npz", **arrays)
    assert_same(tb.data.open(tmp_path / "a.npz", graph), arrays)
    train, test = (tb.data.open(tmp_path / "a.npz", graph, part) for part in ("train", "test"))
    assert (len(train), len(test)) == (8, 2)
    save(tmp_path / "b.npz", x_train=arrays["image"], y_train=arrays["digit"], x_test=arrays["image"][:3],
         y_test=arrays["digit"][:3])
    assert_same(tb.data.open(tmp_path / "b.npz", graph, "train"), arrays)
    assert len(tb.data.open(tmp_path / "b.npz", graph, "test")) == 3
    with pytest.raises(RuntimeError, match="has a training and a test part"):
        tb.data.open(tmp_path / "b.npz", graph)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", ">f8", "i1", "i2", "i4", "i8", "u2", "u4", "u8", "?"])
def test_npy_of_every_type(tmp_path, dtype):
    values = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
    np.save(tmp_path / "x.npy", values)
    read = tb.data.open(tmp_path / "x.npy", {"x": ("f32", (2,))}).arrays()["x"]
    np.testing.assert_array_equal(read, values.astype(np.float32))
    if np.dtype(dtype).kind != "f":
        for wanted in ("i8", "i16", "i32", "i64", "u8", "u32"):
            read = tb.data.open(tmp_path / "x.npy", {"x": (wanted, (2,))}).arrays()["x"]
            np.testing.assert_array_equal(read, values.astype(read.dtype))
    else:
        with pytest.raises(RuntimeError, match='the input "x" takes i32'):
            tb.data.open(tmp_path / "x.npy", {"x": ("i32", (2,))})


def test_files_by_name(tmp_path, graph, arrays):
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    assert_same(tb.data.open(tmp_path, graph), arrays)
    both = f"{tmp_path}/image.npy,{tmp_path}/digit.npy"
    assert_same(tb.data.open(both, graph), arrays)
    tb.save_safetensors(tmp_path / "a.safetensors", arrays)
    assert_same(tb.data.open(tmp_path / "a.safetensors", graph), arrays)
    with pytest.raises(FileNotFoundError, match="none.npy"):
        tb.data.open(f"{tmp_path}/image.npy,digit={tmp_path}/none.npy", graph)
    with pytest.raises(FileNotFoundError, match="no such file"):
        tb.data.open(tmp_path / "none.npz", graph)
    with pytest.raises(ValueError, match="validation split"):
        tb.data.open(tmp_path, graph, "test", validation_split=0)


def test_stratified(tmp_path, graph):
    digit = np.repeat([0, 1], [36, 4]).astype(np.int32)
    np.savez(tmp_path / "a.npz", image=np.zeros((40, 4, 4, 1), np.float32), digit=digit)
    test = tb.data.open(tmp_path / "a.npz", graph, "test", validation_split=0.25, stratified=True, seed=5)
    assert np.bincount(test.arrays()["digit"]).tolist() == [9, 1]
    with pytest.raises(ValueError, match="stratified split. of .* has no classes to follow"):
        tb.data.open(tmp_path / "a.npz", {"image": ("f32", (4, 4, 1))}, "test", stratified=True)


def test_csv_as_numpy_writes_it(tmp_path, graph, arrays):
    table = np.hstack([arrays["image"].reshape(10, 16), arrays["digit"][:, None]])
    names = ",".join([f"image_{i}" for i in range(16)] + ["digit"])
    np.savetxt(tmp_path / "a.csv", table, fmt=["%.9g"] * 16 + ["%d"], delimiter=",", header=names, comments="")
    assert_same(tb.data.open(tmp_path / "a.csv", graph), arrays)


def write_png(path, pixels):
    """[height, width, 3] bytes, each row with another one of PNG's filters."""
    height, width, _ = pixels.shape
    rows = b""
    for y, row in enumerate(pixels.astype(int)):
        above = pixels[y - 1].astype(int) if y else np.zeros_like(row)
        left = np.vstack([np.zeros((1, 3), int), row[:-1]])
        predicted = [0 * row, left, above, (left + above) // 2][y % 4]
        rows += bytes([y % 4]) + ((row - predicted) % 256).astype(np.uint8).tobytes()

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    )


def test_a_folder_of_images_trains_a_classifier(tmp_path, rng):
    pictures = rng.integers(0, 256, size=(12, 8, 8, 3)).astype(np.uint8)
    for i, picture in enumerate(pictures):
        write_png(tmp_path / f"class_{i % 3}" / f"{i:02}.png", picture)
    order = [i for c in range(3) for i in range(c, 12, 3)]
    g = tb.Graph()
    image, kind = g.input("image", (8, 8, 3)), g.label("kind")
    g.minimize(tb.softmax_cross_entropy(tb.dense(tb.flatten(image), units=3), kind))
    dataset = tb.data.open(tmp_path, g)
    read = dataset.arrays()
    np.testing.assert_allclose(read["image"], pictures[order] / np.float32(255), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(read["kind"], [0] * 4 + [1] * 4 + [2] * 4)
    mean, deviation = [0.5, 0.4, 0.3], [0.2]
    normal = tb.data.open(tmp_path, g, mean=mean, deviation=deviation).arrays()["image"]
    np.testing.assert_allclose(normal, (pictures[order] / 255 - mean) / 0.2, rtol=0, atol=2e-6)
    small = tb.data.open(tmp_path, {"image": ("u8", (2, 4, 3))}, fit="stretch").arrays()["image"]
    assert small.shape == (12, 2, 4, 3) and small.dtype == np.uint8
    trainer = tb.Trainer(g, optimizer=tb.SGD(lr=0.1), batch=4)
    first = trainer.evaluate(dataset).loss
    trainer.fit(dataset, epochs=5)
    assert trainer.evaluate(dataset).loss < first
    with pytest.raises(ValueError, match='expected "crop" or "stretch", got "pad"'):
        tb.data.open(tmp_path, g, fit="pad")
    (tmp_path / "class_1" / "notes.txt").write_text("not an image")
    with pytest.raises(RuntimeError, match="notes.txt. is of another kind"):
        tb.data.open(tmp_path, g)


def test_a_folder_of_sounds(tmp_path):
    for word, pitch in (("high", 2000), ("low", 500)):
        (tmp_path / word).mkdir()
        for i in range(2):
            samples = np.sin(2 * np.pi * pitch * np.arange(800) / 8000 + i) * 16000
            with wave.open(str(tmp_path / word / f"{i}.wav"), "wb") as file:
                file.setparams((1, 2, 8000, 0, "NONE", ""))
                file.writeframes(samples.astype("<i2").tobytes())
    fields = {"sound": ("f32", (1000,))}
    read = tb.data.open(tmp_path, fields, labels={"word": ("i32", ())}).arrays()
    np.testing.assert_array_equal(read["word"], [0, 0, 1, 1])
    expected = (np.sin(2 * np.pi * 500 * np.arange(800) / 8000 + 1) * 16000).astype(np.int16) / 32768
    np.testing.assert_array_equal(read["sound"][3, :800], expected.astype(np.float32))
    assert not read["sound"][:, 800:].any()
    faster = tb.data.open(tmp_path, fields, sample_rate=16000).arrays()["sound"]
    again = np.sin(2 * np.pi * 500 * np.arange(1000) / 16000 + 1) * 16000 / 32768
    np.testing.assert_allclose(faster[3, 50:950], again[50:950], rtol=0, atol=2e-3)  # the filter's ripple


def test_what_is_asked_for_is_checked(tmp_path, graph):
    with pytest.raises(ValueError, match="expected a pair"):
        tb.data.open(tmp_path, {"x": 3})
    with pytest.raises(ValueError, match="expected a Graph, or fields"):
        tb.data.open(tmp_path, 3)
    with pytest.raises(ValueError, match="a graph has its own labels"):
        tb.data.open(tmp_path, graph, labels={})
    with pytest.raises(RuntimeError, match="holds no data that can be read"):
        tb.data.open(tmp_path, graph)


def test_a_stratified_split_keeps_the_shares_of_classes():
    digits = tb.data.digits(200, seed=1).subset([i for i in range(200) if i % 10 < 7])
    training, validation = digits.stratified_split("digit", 0.2, seed=3)
    every, some = (np.bincount(d.arrays()["digit"], minlength=10) for d in (digits, validation))
    np.testing.assert_array_equal(some, np.round(every * 0.2))
    assert len(training) + len(validation) == len(digits)
    with pytest.raises(ValueError, match="no field with one whole number a sample"):
        digits.stratified_split("image", 0.2)
