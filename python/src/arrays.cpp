// Element types, shapes and memory between thimble and NumPy.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "bindings.h"
#include "io/safetensors/safetensors.h"

namespace thimble::python {
namespace {

struct TypeName {
  DType dtype;
  const char* numpy;
  nb::dlpack::dtype code;
};

constexpr uint8_t code(nb::dlpack::dtype_code c) { return static_cast<uint8_t>(c); }

const TypeName kTypes[] = {
    {DType::f32, "float32", {code(nb::dlpack::dtype_code::Float), 32, 1}},
    {DType::i32, "int32", {code(nb::dlpack::dtype_code::Int), 32, 1}},
    {DType::i8, "int8", {code(nb::dlpack::dtype_code::Int), 8, 1}},
    {DType::u8, "uint8", {code(nb::dlpack::dtype_code::UInt), 8, 1}},
    {DType::u32, "uint32", {code(nb::dlpack::dtype_code::UInt), 32, 1}},
    {DType::boolean, "bool", {code(nb::dlpack::dtype_code::Bool), 8, 1}},
    {DType::f16, "float16", {code(nb::dlpack::dtype_code::Float), 16, 1}},
    {DType::bf16, "bfloat16", {code(nb::dlpack::dtype_code::Bfloat), 16, 1}},
    {DType::f64, "float64", {code(nb::dlpack::dtype_code::Float), 64, 1}},
    {DType::i64, "int64", {code(nb::dlpack::dtype_code::Int), 64, 1}},
    {DType::i16, "int16", {code(nb::dlpack::dtype_code::Int), 16, 1}},
};

}  // namespace

nb::dlpack::dtype numpy_dtype(DType dtype) {
  if (dtype == DType::i4) return numpy_dtype(DType::i8);
  for (const TypeName& type : kTypes) {
    // NumPy has no bfloat16: to it, they are their bits.
    if (type.dtype == dtype && dtype != DType::bf16) return type.code;
  }
  return {code(nb::dlpack::dtype_code::UInt), 16, 1};
}

DType dtype_of(nb::dlpack::dtype dtype, const std::string& where) {
  for (const TypeName& type : kTypes) {
    if (type.code == dtype) return type.dtype;
  }
  throw Error(where,
              "arrays of this element type are not taken; convert to float64, float32, float16, "
              "int64, int32, int16, int8, uint32, uint8 or bool");
}

DType dtype_from(nb::handle given, const std::string& where) {
  std::string name;
  if (nb::isinstance<nb::str>(given)) {
    name = nb::cast<std::string>(given);
  } else {
    const std::string text = nb::str(given).c_str();
    const std::string of_torch = "torch.";
    name = text.starts_with(of_torch)
               ? text.substr(of_torch.size())
               : nb::cast<std::string>(
                     nb::module_::import_("numpy").attr("dtype")(given).attr("name"));
  }
  if (name == to_string(DType::i4)) return DType::i4;  // NumPy has none
  std::string names = "\"i4\"";
  for (const TypeName& type : kTypes) {
    if (name == type.numpy || name == to_string(type.dtype)) return type.dtype;
    names += fmt::format(", \"{}\"", type.numpy);
  }
  throw Error(where, fmt::format("there is no element type \"{}\"; known: {}", name, names));
}

nb::tuple shape_tuple(const Shape& shape) {
  nb::list dims;
  for (const int64_t dim : shape.dims()) dims.append(dim == kBatch ? -1 : dim);
  return nb::tuple(dims);
}

Shape shape_of(const InputArray& array) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < array.ndim(); ++i) dims.push_back(static_cast<int64_t>(array.shape(i)));
  return Shape(std::move(dims));
}

Shape shape_from(const std::vector<int64_t>& dims, const std::string& where) {
  for (const int64_t dim : dims) {
    if (dim < 0) throw Error(where, "a shape has no negative sizes, got " + to_string(Shape(dims)));
  }
  return Shape(dims);
}

namespace {

// The array as one of bfloat16, if that is what it holds.
nb::object as_held(DType dtype, nb::object array) {
  return dtype == DType::bf16 ? array.attr("view")(numpy_dtype_object(dtype)) : array;
}

nb::object array_over(nb::dlpack::dtype type, const Shape& shape, void* data, nb::handle owner) {
  std::vector<size_t> dims(shape.dims().begin(), shape.dims().end());
  const nb::ndarray<nb::numpy> array(data, dims.size(), dims.data(), owner, nullptr, type);
  return nb::cast(array);
}

// What NumPy's array interface gives in its C form, `__array_struct__`.
struct ArrayInterface {
  int two;
  int rank;
  char kind;  // as in NumPy's type strings
  int item_bytes;
  int flags;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  void* data;
  PyObject* description;
};

nb::dlpack::dtype dtype_of_kind(char kind, int bytes) {
  using Code = nb::dlpack::dtype_code;
  if (kind == 'V' && bytes == 2) return numpy_dtype(DType::bf16);
  const Code code = kind == 'f'   ? Code::Float
                    : kind == 'i' ? Code::Int
                    : kind == 'u' ? Code::UInt
                    : kind == 'b' ? Code::Bool
                                  : Code::Complex;  // thimble has none of the others
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(bytes < 32 ? 8 * bytes : 0), 1};
}

}  // namespace

NumpyArrays::NumpyArrays()
    : class_(nb::module_::import_("numpy").attr("ndarray")),
      interface_(nb::steal(PyUnicode_InternFromString("__array_struct__"))) {}

bool NumpyArrays::read(nb::handle given, Memory& memory) const {
  constexpr int kContiguous = 0x1;
  constexpr int kAligned = 0x100;
  constexpr int kNative = 0x200;
  constexpr int kWritable = 0x400;
  constexpr int kNeeded = kContiguous | kAligned | kNative;
  if (reinterpret_cast<PyObject*>(Py_TYPE(given.ptr())) != class_.ptr()) return false;
  nb::object capsule = nb::steal(PyObject_GetAttr(given.ptr(), interface_.ptr()));
  if (!capsule.is_valid()) nb::raise_python_error();
  const auto* const array =
      static_cast<const ArrayInterface*>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (array == nullptr) nb::raise_python_error();
  if ((array->flags & kNeeded) != kNeeded) return false;
  memory = {std::move(capsule),
            static_cast<std::byte*>(array->data),
            {array->shape, static_cast<size_t>(array->rank)},
            dtype_of_kind(array->kind, array->item_bytes),
            (array->flags & kWritable) != 0};
  return true;
}

nb::object NumpyArrays::empty(const nb::tuple& shape, const nb::object& dtype) const {
  PyObject* const arguments[] = {shape.ptr(), dtype.ptr()};
  PyObject* const made = PyObject_Vectorcall(class_.ptr(), arguments, 2, nullptr);
  if (made == nullptr) nb::raise_python_error();
  return nb::steal(made);
}

nb::object numpy_dtype_object(DType dtype) {
  if (dtype == DType::bf16) return nb::module_::import_("thimble._arrays").attr("bfloat16")();
  const nb::dlpack::dtype wanted = numpy_dtype(dtype);
  const char* name = "";
  for (const TypeName& type : kTypes) {
    if (type.code == wanted) name = type.numpy;
  }
  return nb::module_::import_("numpy").attr("dtype")(name);
}

nb::object new_array(nb::dlpack::dtype type, const Shape& shape, std::byte** data) {
  const size_t bytes = static_cast<size_t>(shape.elements()) * type.bits / 8;
  auto* const memory = new std::byte[std::max<size_t>(bytes, 1)];
  nb::capsule owner(memory, [](void* p) noexcept { delete[] static_cast<std::byte*>(p); });
  *data = memory;
  return array_over(type, shape, memory, owner);
}

nb::object new_array(DType dtype, const Shape& shape, std::byte** data) {
  return as_held(dtype, new_array(numpy_dtype(dtype), shape, data));
}

nb::object view_array(DType dtype, const Shape& shape, void* data, nb::handle owner) {
  return as_held(dtype, array_over(numpy_dtype(dtype), shape, data, owner));
}

void pack(DType dtype, std::byte* to, const void* from, int64_t count) {
  const auto* const bytes = static_cast<const std::byte*>(from);
  if (!is_packed(dtype)) {
    std::memcpy(to, from, static_cast<size_t>(size_bytes(dtype, {count})));
    return;
  }
  const auto all = io::packed("array", dtype, {count}, {bytes, static_cast<size_t>(count)});
  std::copy(all.begin(), all.end(), to);
}

void unpack(DType dtype, std::byte* to, std::span<const std::byte> from, int64_t count) {
  if (!is_packed(dtype)) {
    std::copy(from.begin(), from.end(), to);
    return;
  }
  const auto all = io::unpacked(dtype, {count}, from);
  std::copy(all.begin(), all.end(), to);
}

}  // namespace thimble::python
