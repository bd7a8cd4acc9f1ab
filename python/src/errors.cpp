// Errors of the library as Python's own.
#include "bindings.h"

namespace thimble::python {

void bind_errors(nb::module_& /*m*/) {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void* /*payload*/) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error& error) {
      // A loss that is not finite is no argument's fault; everything else is.
      PyObject* const type = error.where() == "training" ? PyExc_RuntimeError : PyExc_ValueError;
      PyErr_SetString(type, error.what());
    }
  });
}

}  // namespace thimble::python
