// Safetensors files.
#include <nanobind/stl/map.h>
#include <nanobind/stl/set.h>

#include <cstring>

#include "bindings.h"
#include "io/safetensors/safetensors.h"

namespace thimble::python {
namespace {

// bf16: the names of arrays that hold the bits of bf16.
void save(const std::string& path, const std::map<std::string, InputArray>& tensors,
          const std::set<std::string>& bf16, const std::map<std::string, std::string>& metadata) {
  std::vector<io::TensorView> views;
  for (const auto& [name, array] : tensors) {
    io::TensorView view;
    view.name = name;
    view.shape = shape_of(array);
    view.bytes = {static_cast<const std::byte*>(array.data()), array.nbytes()};
    view.dtype = bf16.contains(name) ? DType::bf16 : dtype_of(array.dtype(), name);
    views.push_back(std::move(view));
  }
  to_file(path, [&] { io::write_safetensors(path, views, metadata); });
}

nb::dict load(const std::string& path) {
  const io::Safetensors file = from_file(path, [&] { return io::Safetensors::read(path); });
  nb::dict tensors;
  for (const io::TensorView& t : file.tensors()) {
    // Copied: in the file, tensors need not lie as their type must.
    std::byte* data = nullptr;
    try {
      tensors[t.name.c_str()] = new_array(t.dtype, t.shape, &data);
    } catch (const nb::python_error&) {
      from_file(path, [&] {
        throw Error(path, "the tensor " + t.name + " of shape " + to_string(t.shape) +
                              " is larger than NumPy's arrays can be");
      });
    }
    std::memcpy(data, t.bytes.data(), t.bytes.size());
  }
  return tensors;
}

// Reads the header alone.
std::map<std::string, std::string> metadata(const std::string& path) {
  const auto none = [](std::string_view) { return false; };
  return from_file(path, [&] { return io::Safetensors::read(path, none).metadata(); });
}

}  // namespace

void bind_files(nb::module_& m) {
  m.def(
      "save_safetensors", &save, nb::arg("path"), nb::arg("tensors"), nb::arg("bf16"),
      nb::arg("metadata"),
      nb::sig(
          "def save_safetensors(path: str, tensors: dict[str, "
          "numpy.typing.NDArray[typing.Any]], bf16: set[str], metadata: dict[str, str]) -> None"));
  m.def("load_safetensors", &load, nb::arg("path"),
        nb::sig("def load_safetensors(path: str) -> dict[str, "
                "numpy.typing.NDArray[typing.Any]]"));
  m.def("safetensors_metadata", &metadata, nb::arg("path"));
}

}  // namespace thimble::python
