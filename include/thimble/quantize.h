// A trained f32 network as a network of int8: after training, or trained for it.
#pragma once

#include <thimble/data.h>
#include <thimble/graph.h>
#include <thimble/requantization.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace thimble {

// How the range of an activation is chosen from its values on sample data.
enum class Calibration : uint8_t {
  minmax,      // from the least to the largest value
  percentile,  // without the same share of values at either end
  mse,         // the part of minmax whose int8 numbers have the least mean square error
};

struct QuantizeModelOptions {
  Calibration calibration = Calibration::minmax;
  double percentile = 99.99;  // values inside the range, in percent; above 50, at most 100
  int64_t samples = 256;      // samples to calibrate with: the first ones
  int64_t batch = 8;          // samples computed at once
  Requantization requantization = Requantization::floating;
  bool int8_inputs = false;   // inputs of f32 become inputs of int8
  bool int8_outputs = false;  // outputs of int8 layers are int8
  int threads = 1;            // 0: one per processor; the result is the same
  // Called after each batch, in samples: data are read twice or, unless by minmax, three times.
  std::function<void(int64_t done, int64_t total)> on_progress;
};

// A layer that computes on int8.
struct QuantizedLayer {
  std::string name;
  std::string op;  // on int8
  double scale = 1.0;
  int64_t zero_point = 0;
  // 10 log10(sum of y^2 / sum of (y - y8)^2) over the samples, where y is the layer's result in f32
  // and y8 what its int8 result stands for, all layers before it on int8, too. Infinite where
  // equal.
  double sqnr_db = 0.0;
};

// A layer that stays f32, and why.
struct FloatLayer {
  std::string name;
  std::string op;
  std::string reason;
};

struct QuantizedModel {
  Graph graph;            // with its weights
  Graph with_f32_inputs;  // the same, for data sets that have these; of equal results
  std::vector<QuantizedLayer> layers;
  std::vector<FloatLayer> float_layers;
  int64_t samples = 0;  // that it was calibrated with
};

// Quantizes a graph with trained weights (load_model, load_weights). Batch norms are folded into
// the weights before them, clamps (relu, relu6, clip ...) into the bounds of the result before
// them. Weights: symmetric int8, one scale per output channel; activations: int8 with one scale and
// zero point, chosen from the data; biases int32. Of a graph that prepare_qat made, scales and zero
// points are those that it was trained with, and the data only measure the layers. Layers without
// an int8 form stay f32 between dequantize and quantize; so do loss and metrics. data: has the
// graph's inputs by name; labels are not read. The result is a function of graph, data and options
// alone. Source: Jacob et al., "Quantization and Training of Neural Networks for Efficient
// Integer-Arithmetic-Only Inference", 2018. Throws Error where options are out of range, the graph
// has no values for a parameter, is quantized already or has no layer with an int8 form, and where
// the data do not fit or make an activation that is not finite.
[[nodiscard]] QuantizedModel quantize_model(const Graph& graph, const data::Dataset& data,
                                            const QuantizeModelOptions& options = {});

struct PrepareQatOptions {
  // Of weights: integers from -(2^(bits - 1) - 1) to 2^(bits - 1) - 1; 2 to 8. They are stored as
  // int8.
  int weight_bits = 8;
  // As in QuantizeModelOptions: how the scales at the start are chosen.
  Calibration calibration = Calibration::minmax;
  double percentile = 99.99;
  int64_t samples = 256;
  int64_t batch = 8;
  int threads = 1;
  std::function<void(int64_t done, int64_t total)> on_progress;
};

struct QatModel {
  Graph graph;  // of f32, with its weights
  std::vector<FloatLayer> float_layers;
  int64_t samples = 0;  // that it was calibrated with
};

// Prepares a trained graph for quantization-aware training: an f32 graph that computes what the
// int8 graph will compute, and trains. Batch norms are folded and dropout is left out, as in
// quantize_model; weights, biases and the results of layers that will be on int8 are rounded to the
// steps of their integers (fake_quantize); clamps are the bounds of the integers. The scales, one
// per output channel of a weight and one per activation, are parameters ("conv1.weight.scale",
// relative to the calibrated scale: 1 at the start); zero points stay as calibrated, and are even.
// Any optimizer trains the graph; quantize_model then makes the int8 graph of it. Where all sums of
// products are below 2^24 and scales are powers of two, both compute the same integers; else layers
// with weights, products and means may differ by one step where a sum lies at a half between two
// integers, up to the rounding of f32. Requantization::fixed_point, softmax and bilinear upsampling
// round otherwise, by a step. Source: Esser et al., "Learned Step Size Quantization",
// ICLR 2020. Throws Error as quantize_model does, and for a graph that is prepared already.
[[nodiscard]] QatModel prepare_qat(const Graph& graph, const data::Dataset& data,
                                   const PrepareQatOptions& options = {});

}  // namespace thimble
