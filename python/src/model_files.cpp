// Model files: graph and weights in one safetensors file.
#include <nanobind/stl/shared_ptr.h>
#include <thimble/import.h>
#include <thimble/model_file.h>

#include "bindings.h"

namespace thimble::python {

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
        return from_file(path, [&] { return std::make_shared<Graph>(thimble::load_model(path)); });
      },
      nb::arg("path"));
  m.def(
      "import_quantized_json",
      [](const std::string& path) {
        return from_file(
            path, [&] { return std::make_shared<Graph>(thimble::import_quantized_json(path)); });
      },
      nb::arg("path"));
}

}  // namespace thimble::python
