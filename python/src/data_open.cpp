// Data sets from files for a given model.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <thimble/data_open.h>

#include <algorithm>
#include <array>
#include <optional>

#include "bindings.h"

namespace thimble::python {
namespace {

using Numbers = std::vector<double>;

// The first file of "a.npy,y=b.npy" that does not exist; where all do, the folder they stand in.
std::filesystem::path missing_of(const std::string& path) {
  std::error_code ignored;
  if (path.find(',') == std::string::npos && path.find('=') == std::string::npos) return path;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find(',', begin), path.size());
    std::string part = path.substr(begin, end - begin);
    if (!std::filesystem::exists(part, ignored)) part = part.substr(part.find('=') + 1);
    if (!std::filesystem::exists(part, ignored)) return part;
    begin = end + 1;
  }
  return ".";
}

template <class Choice>
Choice choice_of(const char* where, const std::string& text,
                 std::initializer_list<std::pair<const char*, Choice>> choices) {
  std::string names;
  for (const auto& [name, choice] : choices) {
    if (text == name) return choice;
    names += std::string(names.empty() ? "\"" : " or \"") + name + "\"";
  }
  throw Error(where, "expected " + names + ", got \"" + text + "\"");
}

// {"image": ("f32", (28, 28, 1))}, as Dataset.fields gives it.
std::vector<data::Field> fields_from(const nb::dict& given, bool is_label) {
  std::vector<data::Field> fields;
  for (const auto& [key, value] : given) {
    const std::string name = nb::cast<std::string>(key);
    nb::tuple type;
    if (!nb::try_cast(value, type) || type.size() != 2) {
      throw Error(name, "expected a pair (dtype, shape)");
    }
    std::vector<int64_t> dims;
    if (!nb::try_cast(type[1], dims)) throw Error(name, "expected a pair (dtype, shape)");
    fields.push_back({name, shape_from(dims, name), dtype_from(type[0], name), is_label});
  }
  return fields;
}

std::vector<data::Field> wanted_from(const nb::object& model,
                                     const std::optional<nb::dict>& labels) {
  if (nb::isinstance<Graph>(model)) {
    if (labels) throw Error("open", "a graph has its own labels; give labels with fields alone");
    return data::fields_of(nb::cast<const Graph&>(model));
  }
  nb::dict inputs;
  if (!nb::try_cast(model, inputs)) {
    throw Error("open", "expected a Graph, or fields as {\"image\": (\"f32\", (28, 28, 1))}");
  }
  std::vector<data::Field> fields = fields_from(inputs, false);
  if (labels) {
    const std::vector<data::Field> more = fields_from(*labels, true);
    fields.insert(fields.end(), more.begin(), more.end());
  }
  return fields;
}

data::Dataset open_path(const std::string& path, const std::vector<data::Field>& wanted,
                        const data::OpenOptions& options) {
  constexpr std::array kOptions = {"image options", "sound options", "sample rate",
                                   "validation split", "stratified split"};
  try {
    const nb::gil_scoped_release release;
    return data::open(path, wanted, options);
  } catch (const Error& error) {
    if (std::find(kOptions.begin(), kOptions.end(), error.where()) != kOptions.end()) throw;
    raise_file_error(missing_of(path), error);
  }
}

}  // namespace

void bind_data_open(nb::module_& m) {
  m.def(
      "open",
      [](const std::filesystem::path& path, const nb::object& model,
         const std::optional<std::string>& split, const std::optional<nb::dict>& labels,
         double validation_split, bool stratified, uint64_t seed, const std::string& fit,
         const Numbers& mean, const Numbers& deviation, int64_t sample_rate,
         const std::string& window) {
        using Fit = data::ImageOptions::Fit;
        using Window = data::SoundOptions::Window;
        data::OpenOptions options;
        if (split) options.split = split_of(*split);
        options.validation_split = validation_split;
        options.stratified = stratified;
        options.seed = seed;
        options.image.fit =
            choice_of<Fit>("fit", fit, {{"crop", Fit::crop}, {"stretch", Fit::stretch}});
        options.image.mean = mean;
        options.image.deviation = deviation;
        options.sound.sample_rate = sample_rate;
        options.sound.window = choice_of<Window>(
            "window", window, {{"start", Window::start}, {"middle", Window::middle}});
        return open_path(path.string(), wanted_from(model, labels), options);
      },
      nb::arg("path"), nb::arg("model"), nb::arg("split") = nb::none(), nb::kw_only(),
      nb::arg("labels") = nb::none(), nb::arg("validation_split") = 0.2,
      nb::arg("stratified") = false, nb::arg("seed") = 0, nb::arg("fit") = "crop",
      nb::arg("mean") = Numbers(), nb::arg("deviation") = Numbers(), nb::arg("sample_rate") = 0,
      nb::arg("window") = "start",
      nb::sig(
          "def open(path: str | os.PathLike[str], model: Graph | dict[str, tuple[str, "
          "collections.abc.Sequence[int]]], split: str | None = None, *, labels: dict[str, "
          "tuple[str, collections.abc.Sequence[int]]] | None = None, validation_split: float = "
          "0.2, stratified: bool = False, seed: int = 0, fit: str = \"crop\", mean: "
          "collections.abc.Sequence[float] = [], "
          "deviation: collections.abc.Sequence[float] = [], sample_rate: int = 0, window: str = "
          "\"start\") -> Dataset"),
      "The inputs and labels of a model, read from any path: .npz, .npy, safetensors and CSV by "
      "the names of its "
      "inputs and labels, IDX, text, folders of images (PNG, JPEG) or sounds (WAV) with a folder a "
      "class or a table labels.csv. model: a graph, or its inputs as Dataset.fields gives them, "
      "and its labels likewise as labels. split: \"train\" or \"test\", None for all of a path "
      "without parts; one without a test part is divided by validation_split and seed; "
      "stratified: with this share of every class, at least one sample of each (images are decoded "
      "for it). fit (\"crop\" or \"stretch\"), "
      "mean and deviation (of values in 0..1, one for all channels or one each): images. "
      "sample_rate "
      "(Hz), window (\"start\" or \"middle\"): sounds. docs/guide/data.md says what is read from "
      "where.");
}

}  // namespace thimble::python
