// Safetensors files.
#include <nanobind/stl/map.h>

#include <cstring>

#include "bindings.h"
#include "io/safetensors/safetensors.h"

namespace thimble::python {
namespace {

void save(const std::string& path, const std::map<std::string, InputArray>& tensors,
          const std::map<std::string, std::string>& metadata) {
  std::vector<io::TensorView> views;
  for (const auto& [name, array] : tensors) {
    const DType dtype = dtype_of(array.dtype(), name);
    if (dtype == DType::boolean) throw Error(name, "safetensors files hold no booleans here");
    const Shape shape = shape_of(array);
    views.push_back({name,
                     dtype,
                     shape,
                     {static_cast<const std::byte*>(array.data()),
                      static_cast<size_t>(size_bytes(dtype, shape))}});
  }
  as_runtime_error([&] { io::write_safetensors(path, views, metadata); });
}

nb::object load(const std::string& path, bool with_metadata) {
  const io::Safetensors file = as_runtime_error([&] { return io::Safetensors::read(path); });
  nb::dict tensors;
  for (const io::TensorView& t : file.tensors()) {
    // Copied: in the file, tensors need not lie as their type must.
    std::byte* data = nullptr;
    tensors[t.name.c_str()] = new_array(t.dtype, t.shape, &data);
    std::memcpy(data, t.bytes.data(), t.bytes.size());
  }
  if (!with_metadata) return tensors;
  return nb::make_tuple(tensors, nb::cast(file.metadata()));
}

}  // namespace

void bind_files(nb::module_& m) {
  m.def("save_safetensors", &save, nb::arg("path"), nb::arg("tensors"), nb::arg("metadata"),
        nb::sig("def save_safetensors(path: str, tensors: dict[str, "
                "numpy.typing.NDArray[typing.Any]], metadata: dict[str, str]) -> None"));
  m.def("load_safetensors", &load, nb::arg("path"), nb::arg("with_metadata"),
        nb::sig("def load_safetensors(path: str, with_metadata: bool) -> typing.Any"));
}

}  // namespace thimble::python
