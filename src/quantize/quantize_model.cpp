#include <fmt/format.h>
#include <thimble/quantize.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "passes/passes.h"
#include "quantize/convert.h"
#include "quantize/fold.h"
#include "quantize/samples.h"
#include "train/given_values.h"

namespace thimble {
namespace {

using quantizing::Converted;
using quantizing::Histogram;
using quantizing::Inputs;
using quantizing::Probe;
using quantizing::Range;
using quantizing::Samples;

constexpr const char* kWhere = "quantize_model";

void check(const QuantizeModelOptions& options) {
  const auto require = [](bool holds, const char* name, const std::string& expected) {
    if (!holds) throw Error(name, "expected " + expected);
  };
  require(options.percentile > 50.0 && options.percentile <= 100.0, "percentile",
          fmt::format("a number above 50 and at most 100, got {}", options.percentile));
  require(options.samples >= 1, "samples", fmt::format("1 or more, got {}", options.samples));
  require(options.batch >= 1, "batch", fmt::format("1 or more, got {}", options.batch));
  require(options.threads >= 0, "threads", fmt::format("0 or more, got {}", options.threads));
}

void check(const ir::Graph& graph) {
  for (const ir::ValueData& data : graph.values) {
    if (data.type.quantization == nullptr) continue;
    throw Error(kWhere, fmt::format("the graph is quantized already: {} is {}; take the graph of "
                                    "f32 that it was made from",
                                    data.producer < 0 ? *data.name : std::string("a value"),
                                    to_string(data.type)));
  }
  ir::Graph copy = graph;
  train::GivenValues(copy).require_all(graph);
}

// Says how many samples were read of all that will be.
class Progress {
 public:
  Progress(const QuantizeModelOptions& options, int64_t passes, int64_t samples)
      : say_(options.on_progress), total_(passes * samples) {}
  void add(int64_t samples) {
    done_ += samples;
    if (say_) say_(done_, total_);
  }

 private:
  const std::function<void(int64_t, int64_t)>& say_;
  int64_t total_;
  int64_t done_ = 0;
};

void require_finite(const ir::Graph& graph, int id, std::span<const float> values) {
  if (std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); })) return;
  const int producer = graph.data(id).producer;
  throw Error(
      kWhere,
      fmt::format("{} is not finite for a sample; look for NaN in the data and the "
                  "weights",
                  producer < 0 ? "the input " + graph.data(id).name
                               : fmt::format("a result of {}",
                                             graph.nodes[static_cast<size_t>(producer)].op->name)));
}

std::map<int, Range> observed_ranges(const ir::Graph& graph, const std::vector<int>& values,
                                     const Samples& samples, const QuantizeModelOptions& options,
                                     Progress& progress) {
  Probe probe(graph, values, options.batch, options.threads);
  std::vector<Range> ranges(values.size());
  samples.for_each([&](const Inputs& inputs, int64_t count) {
    const std::vector<Array> computed = probe.run(inputs);
    for (size_t i = 0; i < values.size(); ++i) {
      require_finite(graph, values[i], computed[i].as<float>());
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

ir::Graph prepared(const ir::Graph& graph) {
  const ir::Graph inference =
      passes::remove_dead_code(passes::specialize(graph, ir::Phase::inference));
  return passes::remove_dead_code(quantizing::fold_scalings(inference));
}

}  // namespace

QuantizedModel quantize_model(const Graph& given, const data::Dataset& data,
                              const QuantizeModelOptions& options) {
  check(options);
  check(given.ir());
  const ir::Graph graph = prepared(given.ir());
  const quantizing::Outline outline = quantizing::outline_of(graph);
  const Samples samples(graph, data, options.samples, options.batch);
  Progress progress(options, options.calibration == Calibration::minmax ? 2 : 3, samples.count());
  const auto ranges = observed_ranges(graph, outline.observed, samples, options, progress);
  QuantizeModelOptions of_f32 = options;
  of_f32.int8_inputs = false;  // both graphs are measured with the same inputs
  Converted made = convert(graph, outline, ranges, of_f32);
  if (made.weighted == 0) {
    std::string why;
    for (const FloatLayer& layer : made.float_layers) {
      if (why.empty()) why = fmt::format("; {} ({}): {}", layer.name, layer.op, layer.reason);
    }
    throw Error(kWhere,
                "no layer with weights has an int8 form: there is nothing to quantize" + why);
  }
  measure(graph, made, samples, options, progress);
  QuantizedModel result;
  result.samples = samples.count();
  for (quantizing::ConvertedLayer& layer : made.layers) {
    result.layers.push_back(std::move(layer.layer));
  }
  result.float_layers = std::move(made.float_layers);
  result.with_f32_inputs.ir() = passes::remove_dead_code(made.graph);
  if (options.int8_inputs) made = convert(graph, outline, ranges, options);
  result.graph.ir() = passes::remove_dead_code(made.graph);
  return result;
}

}  // namespace thimble
