// Initial values of parameters.
#pragma once

#include "bindings.h"

namespace thimble::python {

// The class Initializer and its factory functions.
void bind_initializers(nb::module_& m);

}  // namespace thimble::python
