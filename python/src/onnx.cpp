// ONNX models.
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <thimble/import.h>

#include "bindings.h"
#include "import/onnx/onnx.h"

namespace thimble::python {
namespace {

using importer::onnx::Tensor;

Tensor tensor_of(const InputArray& array) {
  const DType dtype = dtype_of(array.dtype(), "apply_onnx");
  const Shape shape = shape_of(array);
  std::vector<std::byte> bytes(static_cast<size_t>(size_bytes(dtype, shape)));
  if (!bytes.empty()) pack(dtype, bytes.data(), array.data(), shape.elements());
  const Array values = Array::of_bytes(dtype, shape, std::move(bytes));
  const bool is_bool = dtype == DType::boolean;
  return {is_bool ? values.cast(DType::u8) : values, is_bool};
}

}  // namespace

void bind_onnx(nb::module_& m) {
  m.def(
      "import_onnx",
      [](const std::string& path, const std::map<std::string, int64_t>& dims, bool keep_layout) {
        return from_file(path, [&] {
          return std::make_shared<Graph>(
              thimble::import_onnx(path, {.dims = dims, .keep_layout = keep_layout}));
        });
      },
      nb::arg("path"), nb::arg("dims"), nb::arg("keep_layout"));
  m.def(
      "apply_onnx",
      [](const std::string& path, const std::shared_ptr<Graph>& owner,
         const std::map<std::string, PyValue>& values,
         const std::map<std::string, InputArray>& arrays) {
        std::map<std::string, Value> given;
        for (const auto& [name, value] : values) given[name] = value.value;
        std::map<std::string, Tensor> known;
        for (const auto& [name, array] : arrays) known[name] = tensor_of(array);
        return from_file(path, [&] {
          const auto model = importer::onnx::read_model(path);
          nb::dict results;
          for (const auto& [name, value] :
               importer::onnx::apply(path, model, owner->ir(), given, known)) {
            results[name.c_str()] = PyValue{owner, value};
          }
          return results;
        });
      },
      nb::arg("path"), nb::arg("graph"), nb::arg("values"), nb::arg("arrays"));
}

}  // namespace thimble::python
