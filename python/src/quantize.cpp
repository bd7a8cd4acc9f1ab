// Quantization of trained models, and models that are trained for it.
#include <nanobind/stl/function.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <thimble/quantize.h>

#include "array_batches.h"
#include "bindings.h"
#include "model.h"

namespace thimble::python {
namespace {

template <class T, size_t n>
T chosen(const char* where, const std::string& text,
         const std::pair<const char*, T> (&choices)[n]) {
  std::string names;
  for (const auto& [name, value] : choices) {
    if (text == name) return value;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  throw Error(where, "expected one of " + names + ", got \"" + text + "\"");
}

constexpr std::pair<const char*, Calibration> kCalibrations[] = {
    {"minmax", Calibration::minmax},
    {"percentile", Calibration::percentile},
    {"mse", Calibration::mse}};
constexpr std::pair<const char*, Requantization> kRequantizations[] = {
    {"float", Requantization::floating}, {"fixed_point", Requantization::fixed_point}};

nb::list on_f32(const std::vector<FloatLayer>& layers) {
  nb::list made;
  for (const FloatLayer& layer : layers) {
    made.append(nb::make_tuple(layer.name, layer.op, layer.reason));
  }
  return made;
}

// The graph, its layers (name, op, scale, zero point, SQNR) and those of f32 (name, op, reason).
nb::tuple quantized(const Graph& graph, const data::Dataset& dataset,
                    const std::string& calibration, double percentile, int64_t samples,
                    int64_t batch, const std::string& requantization, bool int8_inputs,
                    bool int8_outputs, int threads) {
  QuantizeModelOptions options{
      .calibration = chosen("calibration", calibration, kCalibrations),
      .percentile = percentile,
      .samples = samples,
      .batch = batch,
      .requantization = chosen("requantization", requantization, kRequantizations),
      .int8_inputs = int8_inputs,
      .int8_outputs = int8_outputs,
      .threads = threads,
      .on_progress = [](int64_t, int64_t) { check_signals(); }};
  std::shared_ptr<Graph> made_graph;
  std::vector<QuantizedLayer> layers;
  std::vector<FloatLayer> float_layers;
  {
    const nb::gil_scoped_release release;
    QuantizedModel made = quantize_model(graph, dataset, options);
    made_graph = std::make_shared<Graph>(std::move(made.graph));
    layers = std::move(made.layers);
    float_layers = std::move(made.float_layers);
  }
  nb::list on_int8;
  for (const QuantizedLayer& layer : layers) {
    on_int8.append(
        nb::make_tuple(layer.name, layer.op, layer.scale, layer.zero_point, layer.sqnr_db));
  }
  return nb::make_tuple(made_graph, on_int8, on_f32(float_layers));
}

// The graph and its layers of f32 (name, op, reason).
nb::tuple prepared(const Graph& graph, const data::Dataset& dataset, int weight_bits,
                   const std::string& calibration, double percentile, int64_t samples,
                   int64_t batch, int threads) {
  PrepareQatOptions options{.weight_bits = weight_bits,
                            .calibration = chosen("calibration", calibration, kCalibrations),
                            .percentile = percentile,
                            .samples = samples,
                            .batch = batch,
                            .threads = threads,
                            .on_progress = [](int64_t, int64_t) { check_signals(); }};
  std::shared_ptr<Graph> made_graph;
  std::vector<FloatLayer> float_layers;
  {
    const nb::gil_scoped_release release;
    QatModel made = prepare_qat(graph, dataset, options);
    made_graph = std::make_shared<Graph>(std::move(made.graph));
    float_layers = std::move(made.float_layers);
  }
  return nb::make_tuple(made_graph, on_f32(float_layers));
}

}  // namespace

void bind_quantize(nb::module_& m) {
  m.def("quantize_model", &quantized, nb::arg("graph"), nb::arg("data"), nb::arg("calibration"),
        nb::arg("percentile"), nb::arg("samples"), nb::arg("batch"), nb::arg("requantization"),
        nb::arg("int8_inputs"), nb::arg("int8_outputs"), nb::arg("threads"),
        nb::sig("def quantize_model(graph: Graph, data: Dataset, calibration: str, percentile: "
                "float, samples: int, batch: int, requantization: str, int8_inputs: bool, "
                "int8_outputs: bool, threads: int) -> tuple[Graph, list[tuple[str, str, float, "
                "int, float]], list[tuple[str, str, str]]]"));
  m.def("prepare_qat", &prepared, nb::arg("graph"), nb::arg("data"), nb::arg("weight_bits"),
        nb::arg("calibration"), nb::arg("percentile"), nb::arg("samples"), nb::arg("batch"),
        nb::arg("threads"),
        nb::sig("def prepare_qat(graph: Graph, data: Dataset, weight_bits: int, calibration: str, "
                "percentile: float, samples: int, batch: int, threads: int) -> tuple[Graph, "
                "list[tuple[str, str, str]]]"));
  m.def(
      "graph_inputs", [](const Graph& graph) { return model_sources(graph.ir(), ir::Role::input); },
      nb::arg("graph"),
      nb::sig("def graph_inputs(graph: Graph) -> dict[str, tuple[str, tuple[int, ...]]]"));
  m.def(
      "graph_labels", [](const Graph& graph) { return model_sources(graph.ir(), ir::Role::label); },
      nb::arg("graph"),
      nb::sig("def graph_labels(graph: Graph) -> dict[str, tuple[str, tuple[int, ...]]]"));
}

}  // namespace thimble::python
