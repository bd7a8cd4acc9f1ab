// Model files: graph and weights in one safetensors file.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>
#include <thimble/adapt.h>
#include <thimble/export.h>
#include <thimble/import.h>
#include <thimble/lora.h>
#include <thimble/model_file.h>

#include "bindings.h"
#include "import/formats.h"

namespace thimble::python {
namespace {

// A model file. Of another program's file the error says what reads it.
Graph own_model(const std::string& path) {
  try {
    return thimble::load_model(path);
  } catch (const Error&) {
    const std::filesystem::path file(path);
    std::error_code error;
    if (!std::filesystem::exists(file, error) || file.extension() == ".safetensors" ||
        importer::format_of(path) == nullptr) {
      throw;
    }
    throw Error(path,
                "is no model file of thimble but the model of another program; import_model reads "
                "it, and thimble import makes a model file of it");
  }
}

}  // namespace

void bind_model_files(nb::module_& m) {
  m.def(
      "save_model",
      [](const Graph& graph, const std::string& path, uint64_t seed) {
        to_file(path, [&] { thimble::save_model(graph, path, seed); });
      },
      nb::arg("graph"), nb::arg("path"), nb::arg("seed"));
  m.def(
      "load_model",
      [](const std::string& path) {
        return from_file(path, [&] { return std::make_shared<Graph>(own_model(path)); });
      },
      nb::arg("path"));
  m.def(
      "import_model",
      [](const std::string& path) {
        return from_file(path,
                         [&] { return std::make_shared<Graph>(thimble::import_model(path)); });
      },
      nb::arg("path"));
  m.def(
      "import_tflite",
      [](const std::string& path) {
        return from_file(path,
                         [&] { return std::make_shared<Graph>(thimble::import_tflite(path)); });
      },
      nb::arg("path"));
  m.def(
      "import_hugging_face",
      [](const std::string& path, int64_t tokens) {
        return from_file(path, [&] {
          return std::make_shared<Graph>(thimble::import_hugging_face(path, {.tokens = tokens}));
        });
      },
      nb::arg("path"), nb::arg("tokens"));
  m.def(
      "export_tflite",
      [](const Graph& graph, const std::string& path) {
        to_file(path, [&] { thimble::export_tflite(graph, path); });
      },
      nb::arg("graph"), nb::arg("path"));
  m.def(
      "export_onnx",
      [](const Graph& graph, const std::string& path) {
        to_file(path, [&] { thimble::export_onnx(graph, path); });
      },
      nb::arg("graph"), nb::arg("path"));
  m.def(
      "import_quantized_json",
      [](const std::string& path) {
        return from_file(
            path, [&] { return std::make_shared<Graph>(thimble::import_quantized_json(path)); });
      },
      nb::arg("path"));
  m.def(
      "add_lora",
      [](const Graph& graph, int64_t rank, double alpha, const std::vector<std::string>& targets) {
        return std::make_shared<Graph>(
            thimble::add_lora(graph, {.rank = rank, .alpha = alpha, .targets = targets}));
      },
      nb::arg("graph"), nb::arg("rank"), nb::arg("alpha"), nb::arg("targets"));
  m.def(
      "store_weights",
      [](const Graph& graph, const std::string& dtype) {
        for (const DType known : kDTypes) {
          if (dtype == to_string(known)) {
            return std::make_shared<Graph>(thimble::store_weights(graph, known));
          }
        }
        throw Error("store_weights", "there is no type " + dtype);
      },
      nb::arg("graph"), nb::arg("dtype"));
  m.def(
      "merge_lora",
      [](const Graph& graph) { return std::make_shared<Graph>(thimble::merge_lora(graph)); },
      nb::arg("graph"));
  m.def(
      "save_lora",
      [](const Graph& graph, const std::string& folder) {
        to_file(folder, [&] { thimble::save_lora(graph, folder); });
      },
      nb::arg("graph"), nb::arg("folder"));
  m.def(
      "load_lora",
      [](const Graph& graph, const std::string& folder) {
        return from_file(
            folder, [&] { return std::make_shared<Graph>(thimble::load_lora(graph, folder)); });
      },
      nb::arg("graph"), nb::arg("folder"));
  m.def(
      "adapt",
      [](const Graph& graph, const std::string& output, const std::string& loss,
         const std::string& label, const std::vector<std::string>& metrics, int64_t classes,
         uint64_t seed, bool f32_inputs, const std::vector<std::string>& freeze,
         const std::vector<std::string>& trainable) {
        return std::make_shared<Graph>(thimble::adapt(graph, {.output = output,
                                                              .loss = loss,
                                                              .label = label,
                                                              .metrics = metrics,
                                                              .classes = classes,
                                                              .seed = seed,
                                                              .f32_inputs = f32_inputs,
                                                              .freeze = freeze,
                                                              .trainable = trainable}));
      },
      nb::arg("graph"), nb::arg("output"), nb::arg("loss"), nb::arg("label"), nb::arg("metrics"),
      nb::arg("classes"), nb::arg("seed"), nb::arg("f32_inputs"), nb::arg("freeze"),
      nb::arg("trainable"));
}

}  // namespace thimble::python
