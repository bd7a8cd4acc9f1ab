// Shared by the files of the module.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <thimble/data.h>
#include <thimble/error.h>
#include <thimble/graph.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "io/atomic_file.h"
#include "ir/graph.h"

namespace thimble::python {

namespace nb = nanobind;

// A value with its graph, which lives as long as any of its values.
struct PyValue {
  std::shared_ptr<Graph> owner;
  Value value;
};

// Array arguments: of any element type, contiguous, never written to.
using InputArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

// Element types between thimble and NumPy; throws Error for one that thimble has not.
nb::dlpack::dtype numpy_dtype(DType dtype);
DType dtype_of(nb::dlpack::dtype dtype, const std::string& where);
// "f32", "float32", a NumPy type or dtype. Throws Error.
DType dtype_from(nb::handle given, const std::string& where);

// A shape as Python sees it: the open batch is -1.
nb::tuple shape_tuple(const Shape& shape);
Shape shape_of(const InputArray& array);
// A shape from whole numbers; throws Error for a negative size.
Shape shape_from(const std::vector<int64_t>& dims, const std::string& where);

// Makes and reads arrays of NumPy's own class in fewer instructions than nb::ndarray.
class NumpyArrays {
 public:
  // Of a C-contiguous array of aligned elements in this machine's byte order, as long as it lives.
  struct Memory {
    nb::object shape_owner;
    std::byte* data;
    std::span<const Py_ssize_t> shape;
    nb::dlpack::dtype dtype;
    bool is_writable;
  };
  NumpyArrays();
  // False for anything else, subclasses included.
  [[nodiscard]] bool read(nb::handle given, Memory& memory) const;
  // dtype: NumPy's.
  [[nodiscard]] nb::object empty(const nb::tuple& shape, const nb::object& dtype) const;

 private:
  nb::object class_;      // numpy.ndarray
  nb::object interface_;  // "__array_struct__"
};
// NumPy's element type of arrays of this type.
nb::object numpy_dtype_object(DType dtype);

// A NumPy array of this type, and where its elements lie: of packed types a byte an element (an i4
// is an int8), to be filled by unpack.
nb::object new_array(DType dtype, const Shape& shape, std::byte** data);
nb::object new_array(nb::dlpack::dtype type, const Shape& shape, std::byte** data);
// A NumPy array over memory that `owner` keeps alive.
nb::object view_array(DType dtype, const Shape& shape, void* data, nb::handle owner);

// Copies elements of NumPy's form, a byte an element of a packed type, to thimble's and back.
void pack(DType dtype, std::byte* to, const void* from, int64_t count);
void unpack(DType dtype, std::byte* to, std::span<const std::byte> from, int64_t count);

// "train" or "test"; throws Error.
data::Split split_of(const std::string& name);

// UTF-8 of a str, or bytes as they are. Throws Error for anything else.
std::string bytes_of(nb::handle text, const char* where, const char* name);

// An error with a file: FileNotFoundError where there is none of that name, else RuntimeError.
[[noreturn]] void raise_file_error(const std::filesystem::path& path, const Error& error);

// Runs a function that reads a file or a folder, holding the GIL. name: used in errors of its other
// arguments.
template <class F>
auto from_file(const std::filesystem::path& path, F&& f, const char* name = nullptr) {
  try {
    return f();
  } catch (const Error& error) {
    if (name != nullptr && error.where() == name) throw;
    raise_file_error(path, error);
  }
}

// Runs a function that writes a file: FileNotFoundError where it cannot be opened because its
// folder is missing, else RuntimeError.
template <class F>
void to_file(const std::filesystem::path& path, F&& f) {
  try {
    f();
  } catch (const Error& error) {
    const bool is_unopened = error.message().starts_with(io::kCannotBeWritten);
    raise_file_error(is_unopened ? path.parent_path() : std::filesystem::path(), error);
  }
}

void bind_errors(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_builders(nb::module_& m);
void bind_function(nb::module_& m);
void bind_schedule(nb::module_& m);
void bind_plan(nb::module_& m);
void bind_data(nb::module_& m);
void bind_data_open(nb::module_& m);
void bind_reports(nb::module_& m);
void bind_trainer(nb::module_& m);
void bind_optimizers(nb::module_& m);
void bind_predictor(nb::module_& m);
void bind_recipes(nb::module_& m);
void bind_files(nb::module_& m);
void bind_model_files(nb::module_& m);
void bind_onnx(nb::module_& m);
void bind_tokenizer(nb::module_& m);
void bind_quantize(nb::module_& m);
void bind_scheme_search(nb::module_& m);

}  // namespace thimble::python
