#include <thimble/quantize.h>

#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "passes/passes.h"
#include "quantize/convert.h"
#include "quantize/fake_nodes.h"
#include "quantize/observe.h"
#include "quantize/samples.h"

namespace thimble {
namespace {

using quantizing::ActivationScale;
using quantizing::Converted;
using quantizing::Inputs;
using quantizing::Probe;
using quantizing::Progress;
using quantizing::Samples;

constexpr const char* kWhere = "quantize_model";

// The scales that the nodes of a prepared graph (prepare_qat) round to.
std::map<int, ActivationScale> trained_scales(const ir::Graph& graph,
                                              const QuantizeModelOptions& options) {
  std::map<int, ActivationScale> scales;
  for (const ir::Node& node : graph.nodes) {
    const auto fake = quantizing::fake_node(graph, node);
    if (!fake || !fake->is_int8_activation()) continue;
    const ActivationScale made{fake->scales[0], static_cast<int32_t>(fake->steps.zero_point)};
    scales[node.outputs[0]] = made;
    if (options.int8_inputs && graph.data(fake->x).role == ir::Role::input) scales[fake->x] = made;
  }
  return scales;
}

// Signal and error of each layer.
void measure(const ir::Graph& graph, Converted& made, const Samples& samples,
             const QuantizeModelOptions& options, Progress& progress) {
  std::vector<int> of_f32;
  std::vector<int> of_int8;
  for (const auto& layer : made.layers) {
    of_f32.push_back(layer.from);
    of_int8.push_back(layer.to);
  }
  Probe wanted(graph, of_f32, options.batch, options.threads);
  Probe got(made.graph, of_int8, options.batch, options.threads);
  std::vector<double> signal(of_f32.size(), 0.0);
  std::vector<double> noise(of_f32.size(), 0.0);
  samples.for_each([&](const Inputs& inputs, int64_t count) {
    const std::vector<Array> y = wanted.run(inputs);
    const std::vector<Array> y8 = got.run(inputs);
    for (size_t i = 0; i < y.size(); ++i) {
      const std::span<const float> a = y[i].as<float>();
      const std::span<const float> b = y8[i].as<float>();
      for (size_t j = 0; j < a.size(); ++j) {
        const auto value = static_cast<double>(a[j]);
        const double miss = value - static_cast<double>(b[j]);
        signal[i] += value * value;
        noise[i] += miss * miss;
      }
    }
    progress.add(count);
  });
  for (size_t i = 0; i < made.layers.size(); ++i) {
    made.layers[i].layer.sqnr_db = noise[i] == 0.0 ? std::numeric_limits<double>::infinity()
                                                   : 10.0 * std::log10(signal[i] / noise[i]);
  }
}

}  // namespace

QuantizedModel quantize_model(const Graph& given, const data::Dataset& data,
                              const QuantizeModelOptions& options) {
  quantizing::check_options(options);
  quantizing::check_graph(given.ir(), kWhere);
  const ir::Graph graph = quantizing::folded(given.ir());
  const quantizing::Outline outline = quantizing::outline_of(graph);
  const Samples samples(graph, data, options.samples, options.batch);
  const bool is_trained = quantizing::is_prepared(graph);
  Progress progress(options, 1 + (is_trained ? 0 : quantizing::passes_of(options)),
                    samples.count());
  QuantizeModelOptions of_f32 = options;
  of_f32.int8_inputs = false;  // both graphs are measured with the same inputs
  std::map<int, ActivationScale> scales;
  if (is_trained) {
    scales = trained_scales(graph, of_f32);
  } else {
    for (const auto& [id, range] :
         quantizing::observed_ranges(graph, outline.observed, samples, options, progress, kWhere)) {
      scales[id] = quantizing::scale_of(range);
    }
  }
  Converted made = convert(graph, outline, scales, of_f32);
  quantizing::require_weighted(made, kWhere);
  measure(graph, made, samples, options, progress);
  QuantizedModel result;
  result.samples = samples.count();
  for (quantizing::ConvertedLayer& layer : made.layers) {
    result.layers.push_back(std::move(layer.layer));
  }
  result.float_layers = std::move(made.float_layers);
  result.with_f32_inputs.ir() = passes::remove_dead_code(made.graph);
  if (options.int8_inputs) {
    if (is_trained) scales = trained_scales(graph, options);
    made = convert(graph, outline, scales, options);
  }
  result.graph.ir() = passes::remove_dead_code(made.graph);
  return result;
}

}  // namespace thimble
