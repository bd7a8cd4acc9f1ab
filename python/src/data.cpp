// Data sets.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <thimble/data_split.h>
#include <thimble/data_text.h>

#include <cstring>

#include "array_batches.h"
#include "bindings.h"

namespace thimble::python {
namespace {

// A data set over arrays of Python.
class ArraySource final : public data::Source {
 public:
  explicit ArraySource(std::shared_ptr<const ArrayTable> table) : table_(std::move(table)) {}
  [[nodiscard]] int64_t size() const override { return table_->size(); }
  [[nodiscard]] const std::vector<data::Field>& fields() const override { return table_->fields(); }
  void read(int64_t index, std::span<void* const> out) const override {
    for (size_t f = 0; f < out.size(); ++f) {
      std::memcpy(out[f], table_->row(f, index), static_cast<size_t>(table_->row_bytes(f)));
    }
  }

 private:
  std::shared_ptr<const ArrayTable> table_;
};

// Every sample, one array a field.
nb::dict arrays_of(const data::Dataset& dataset) {
  nb::dict arrays;
  std::vector<std::byte*> rows;
  std::vector<std::vector<std::byte>> samples;  // as thimble holds them
  for (const data::Field& field : dataset.fields()) {
    std::vector<int64_t> dims = field.shape.dims();
    dims.insert(dims.begin(), dataset.size());
    std::byte* data = nullptr;
    arrays[field.name.c_str()] = new_array(field.dtype, Shape(dims), &data);
    rows.push_back(data);
    samples.emplace_back(static_cast<size_t>(size_bytes(field.dtype, field.shape)));
  }
  const nb::gil_scoped_release release;
  std::vector<void*> out(rows.size());
  for (int64_t i = 0; i < dataset.size(); ++i) {
    for (size_t f = 0; f < rows.size(); ++f) out[f] = samples[f].data();
    dataset.read(i, out);
    for (size_t f = 0; f < rows.size(); ++f) {
      const data::Field& field = dataset.fields()[f];
      const int64_t each = field.shape.elements();
      const int64_t bytes = is_packed(field.dtype) ? each : size_bytes(field.dtype, field.shape);
      unpack(field.dtype, rows[f] + i * bytes, samples[f], each);
    }
  }
  return arrays;
}

void bind_dataset(nb::module_& m) {
  nb::class_<data::Dataset>(m, "Dataset",
                            "Samples of named fields: immutable, cheap to copy. The functions of "
                            "thimble.data return it; trainers take it.")
      .def("__len__", &data::Dataset::size)
      .def_prop_ro(
          "fields",
          [](const data::Dataset& d) {
            nb::dict fields;
            for (const data::Field& f : d.fields()) {
              fields[f.name.c_str()] = nb::make_tuple(to_string(f.dtype), shape_tuple(f.shape));
            }
            return fields;
          },
          nb::sig("def fields(self) -> dict[str, tuple[str, tuple[int, ...]]]"),
          "Element type and shape of one sample, by the field's name.")
      .def("arrays", &arrays_of,
           nb::sig("def arrays(self) -> dict[str, numpy.typing.NDArray[typing.Any]]"),
           "All samples as NumPy arrays, by the field's name.")
      .def("take", &data::Dataset::take, nb::arg("n"), "The first n samples.")
      .def("subset", &data::Dataset::subset, nb::arg("indices"),
           "The named samples in the given order.")
      .def("split", &data::Dataset::split, nb::arg("validation_fraction"), nb::arg("seed") = 0,
           "(training set, validation set): disjoint, drawn by seed.")
      .def(
          "stratified_split",
          [](const data::Dataset& self, const std::string& label, double validation_fraction,
             uint64_t seed) {
            return data::stratified_split(self, label, validation_fraction, seed);
          },
          nb::arg("label"), nb::arg("validation_fraction"), nb::arg("seed") = 0,
          "The same with the same share of every class in both. label: the field of the classes.")
      .def("named", &data::Dataset::named, nb::arg("names"),
           "The same samples under other field names.")
      .def("__repr__", [](const data::Dataset& d) {
        std::string text = "<thimble.Dataset of " + std::to_string(d.size()) + " samples:";
        for (const data::Field& f : d.fields()) {
          text += " " + f.name + " " + to_string(f.dtype) + to_string(f.shape);
        }
        return text + ">";
      });
}

void bind_array_table(nb::module_& m) {
  nb::class_<ArrayTable>(m, "ArrayTable")
      .def(nb::init<const std::vector<std::string>&, const std::vector<InputArray>&,
                    const std::vector<bool>&, const std::vector<std::string>&>(),
           nb::arg("names"), nb::arg("arrays"), nb::arg("is_label"), nb::arg("dtypes"),
           nb::sig("def __init__(self, names: collections.abc.Sequence[str], arrays: "
                   "collections.abc.Sequence[numpy.typing.NDArray[typing.Any]], is_label: "
                   "collections.abc.Sequence[bool], dtypes: collections.abc.Sequence[str]) -> "
                   "None"))
      .def("dataset", [](std::shared_ptr<ArrayTable> table) {
        return data::Dataset(std::make_shared<ArraySource>(std::move(table)));
      });
}

void bind_images(nb::module_& m) {
  m.def(
      "digits",
      [](int64_t count, uint64_t seed, const std::string& split) {
        return data::digits(count, seed, split_of(split));
      },
      nb::arg("count"), nb::arg("seed") = 0, nb::arg("split") = "train",
      "The built-in digits: handwriting drawn by strokes, no file needed. Fields: image f32 "
      "[28, 28, 1] in 0..1, digit i32. Sample i depends on (seed, split, i) alone.");
  m.def(
      "shapes",
      [](int64_t count, uint64_t seed, const std::string& split, int64_t side) {
        return data::shapes(count, seed, split_of(split), side);
      },
      nb::arg("count"), nb::arg("seed") = 0, nb::arg("split") = "train", nb::arg("side") = 32,
      "Built-in colour images of ten classes, painted when they are read: disc, ring, triangle, "
      "square, star, cross, crescent, or something striped, checked or dotted. Fields: image f32 "
      "[side, side, 3] in 0..1, label i32. Sample i depends on (seed, split, i, side) alone.");
  m.def(
      "augmented",
      [](const data::Dataset& dataset, int64_t padding, bool flip) {
        return data::augmented(dataset, {.padding = padding, .flip = flip});
      },
      nb::arg("dataset"), nb::arg("padding") = 4, nb::arg("flip") = true,
      "The same samples, changed at random whenever they are trained on, never when they are "
      "evaluated: every image is padded with zeros and cropped at random and, with flip, mirrored "
      "half of the time. What is drawn depends on (seed, epoch, sample) alone.");
  m.def("resized", &data::resized, nb::arg("dataset"), nb::arg("height"), nb::arg("width"),
        "The images in another size: bilinear, as torch.nn.functional.interpolate does it.");
}

void bind_image_files(nb::module_& m) {
  m.def(
      "cifar10",
      [](const std::filesystem::path& dir, const std::string& split) {
        const data::Split part = split_of(split);
        return from_file(dir, [&] { return data::cifar10(dir.string(), part); });
      },
      nb::arg("dir"), nb::arg("split") = "train",
      "CIFAR-10's binary version: data_batch_1.bin to data_batch_5.bin and test_batch.bin, in dir "
      "or dir/cifar-10-batches-bin. Fields: image f32 [32, 32, 3] in 0..1, label i32.");
  m.def(
      "mnist",
      [](const std::filesystem::path& dir, const std::string& split) {
        const data::Split part = split_of(split);
        return from_file(dir, [&] { return data::mnist(dir.string(), part); });
      },
      nb::arg("dir"), nb::arg("split") = "train",
      "MNIST or a set in its format: the four usual IDX files, plain or .gz, in dir or dir/mnist.");
  m.def(
      "idx",
      [](const std::filesystem::path& images, const std::filesystem::path& labels) {
        const auto& missing = std::filesystem::exists(images) ? labels : images;
        return from_file(missing, [&] { return data::idx(images.string(), labels.string()); });
      },
      nb::arg("images_path"), nb::arg("labels_path"),
      "A pair of IDX files, plain or gzip. Fields: image f32, digit i32.");
}

void bind_text(nb::module_& m) {
  m.def(
      "text",
      [](const std::filesystem::path& path, int64_t window, int64_t stride,
         const std::string& split) {
        const data::Split part = split_of(split);
        return from_file(
            path,
            [&] { return data::text(path.string(), {.window = window, .stride = stride}, part); },
            "text");
      },
      nb::arg("path"), nb::arg("window") = 256, nb::arg("stride") = 0, nb::arg("split") = "train",
      "Windows of the bytes of any file, or of the files *.txt of a folder. Fields: tokens i32 "
      "[window], next i32 [window], the byte after each. stride: from one window to the next, 0 "
      "for window. The test set is the last tenth.");
  m.def(
      "text_of",
      [](const nb::object& text, int64_t window, int64_t stride, const std::string& split) {
        return data::text_of(bytes_of(text, "text_of", "text"),
                             {.window = window, .stride = stride}, split_of(split));
      },
      nb::arg("text"), nb::arg("window") = 256, nb::arg("stride") = 0, nb::arg("split") = "train",
      nb::sig("def text_of(text: str | bytes, window: int = 256, stride: int = 0, split: str = "
              "\"train\") -> Dataset"),
      "The same for a text in memory: a str, of which the bytes in UTF-8 count, or bytes.");
  m.def(
      "generated_text",
      [](int64_t size, uint64_t seed) {
        data::GeneratedText made = data::generated_text(size, seed);
        return nb::make_tuple(std::move(made.text), made.nats_per_byte);
      },
      nb::arg("size"), nb::arg("seed") = 0,
      nb::sig("def generated_text(size: int, seed: int = 0) -> tuple[str, float]"),
      "The built-in text, at least that many bytes, and its entropy in nats per byte: no model can "
      "have a smaller loss.");
}

}  // namespace

data::Split split_of(const std::string& name) {
  if (name == "train") return data::Split::train;
  if (name == "test") return data::Split::test;
  throw Error("split", "expected \"train\" or \"test\", got \"" + name + "\"");
}

std::string bytes_of(nb::handle text, const char* where, const char* name) {
  if (PyBytes_Check(text.ptr())) {
    return {PyBytes_AS_STRING(text.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(text.ptr()))};
  }
  if (!PyUnicode_Check(text.ptr())) {
    throw Error(where, std::string(name) + " must be str or bytes, got " + nb::repr(text).c_str());
  }
  Py_ssize_t size = 0;
  const char* const data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (data == nullptr) throw nb::python_error();
  return {data, static_cast<size_t>(size)};
}

void bind_data(nb::module_& m) {
  bind_dataset(m);
  bind_array_table(m);
  bind_images(m);
  bind_image_files(m);
  bind_text(m);
}

}  // namespace thimble::python
