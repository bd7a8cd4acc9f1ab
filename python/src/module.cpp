// The module thimble._core: what the Python package is built on.
#include "bindings.h"

NB_MODULE(_core, m) {
  using namespace thimble::python;
  m.doc() = "The compiled part of thimble; use the package thimble.";
  bind_errors(m);
  bind_graph(m);
  bind_builders(m);
  bind_function(m);
  bind_schedule(m);
  bind_plan(m);
  bind_data(m);
  bind_trainer(m);
  bind_recipes(m);
  bind_files(m);
}
