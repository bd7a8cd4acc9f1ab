// Errors of the library as Python's own.
#include "bindings.h"

namespace thimble::python {

void raise_file_error(const std::filesystem::path& path, const Error& error) {
  std::error_code ignored;
  if (path.empty() || std::filesystem::exists(path, ignored)) {
    throw std::runtime_error(error.what());
  }
  PyErr_SetString(PyExc_FileNotFoundError, error.what());
  throw nb::python_error();
}

void bind_errors(nb::module_& /*m*/) {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void* /*payload*/) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error& error) {
      // Errors are ValueErrors, except a loss that is not finite, which no argument causes.
      PyObject* const type = error.where() == "training" ? PyExc_RuntimeError : PyExc_ValueError;
      PyErr_SetString(type, error.what());
    }
  });
}

}  // namespace thimble::python
