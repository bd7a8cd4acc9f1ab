// The module thimble._core, on which the Python package is built.
#include "bindings.h"

NB_MODULE(_core, m) {
  using namespace thimble::python;
  // When the interpreter ends, other modules may still hold objects of this one; that is no leak.
  nanobind::set_leak_warnings(false);
  m.attr("version") = THIMBLE_VERSION;
  m.doc() = "The compiled part of thimble; use the package thimble.";
  bind_errors(m);
  bind_graph(m);
  bind_builders(m);
  bind_function(m);
  bind_schedule(m);
  bind_plan(m);
  bind_data(m);
  bind_data_open(m);
  bind_reports(m);
  bind_trainer(m);
  bind_optimizers(m);
  bind_predictor(m);
  bind_recipes(m);
  bind_files(m);
  bind_model_files(m);
  bind_onnx(m);
  bind_tokenizer(m);
  bind_quantize(m);
  bind_scheme_search(m);
}
