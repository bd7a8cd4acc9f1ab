#include "quantize/observe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "passes/passes.h"
#include "quantize/fold.h"
#include "train/given_values.h"

namespace thimble::quantizing {
namespace {

void require_finite(const ir::Graph& graph, int id, std::span<const float> values,
                    const char* where) {
  if (std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); })) return;
  const ir::Node* const producer = graph.producer_of(id);
  throw Error(where,
              fmt::format("{} is not finite for a sample; look for NaN in the data and the "
                          "weights",
                          producer == nullptr ? "the input " + graph.data(id).name
                                              : fmt::format("a result of {}", producer->op->name)));
}

}  // namespace

void check_options(const QuantizeModelOptions& options) {
  const auto require = [](bool holds, const char* name, const std::string& expected) {
    if (!holds) throw Error(name, "expected " + expected);
  };
  require(options.percentile > 50.0 && options.percentile <= 100.0, "percentile",
          fmt::format("a number above 50 and at most 100, got {}", options.percentile));
  require(options.samples >= 1, "samples", fmt::format("1 or more, got {}", options.samples));
  require(options.batch >= 1, "batch", fmt::format("1 or more, got {}", options.batch));
  require(options.threads >= 0, "threads", fmt::format("0 or more, got {}", options.threads));
}

void check_graph(const ir::Graph& graph, const char* where) {
  for (const ir::ValueData& data : graph.values) {
    if (data.type.quantization == nullptr) continue;
    throw Error(where, fmt::format("the graph is quantized already: {} is {}; take the graph of "
                                   "f32 that it was made from",
                                   data.producer < 0 ? *data.name : std::string("a value"),
                                   to_string(data.type)));
  }
  ir::Graph copy = graph;
  train::GivenValues(copy).require_all(graph);
}

ir::Graph folded(const ir::Graph& graph) {
  const ir::Graph inference =
      passes::remove_dead_code(passes::specialize(graph, ir::Phase::inference));
  return passes::remove_dead_code(fold_scalings(inference));
}

std::map<int, Range> observed_ranges(const ir::Graph& graph, const std::vector<int>& values,
                                     const Samples& samples, const QuantizeModelOptions& options,
                                     Progress& progress, const char* where) {
  Probe probe(graph, values, options.batch, options.threads);
  std::vector<Range> ranges(values.size());
  samples.for_each([&](const Inputs& inputs, int64_t count) {
    const std::vector<Array> computed = probe.run(inputs);
    for (size_t i = 0; i < values.size(); ++i) {
      require_finite(graph, values[i], computed[i].as<float>(), where);
      ranges[i] = joined(ranges[i], computed[i].as<float>());
    }
    progress.add(count);
  });
  if (options.calibration != Calibration::minmax) {
    std::vector<Histogram> histograms(ranges.begin(), ranges.end());
    samples.for_each([&](const Inputs& inputs, int64_t count) {
      const std::vector<Array> computed = probe.run(inputs);
      for (size_t i = 0; i < values.size(); ++i) histograms[i].add(computed[i].as<float>());
      progress.add(count);
    });
    for (size_t i = 0; i < values.size(); ++i) {
      ranges[i] = options.calibration == Calibration::mse
                      ? histograms[i].least_error()
                      : histograms[i].percentile(options.percentile);
    }
  }
  std::map<int, Range> by_value;
  for (size_t i = 0; i < values.size(); ++i) by_value[values[i]] = ranges[i];
  return by_value;
}

}  // namespace thimble::quantizing
