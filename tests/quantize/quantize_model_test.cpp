// Quantized graphs against the graphs of f32 that they are made from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/quantize.h>

#include <algorithm>
#include <limits>
#include <set>

#include "harness/error_of.h"
#include "io/temporary_folder.h"
#include "quantize/filled.h"

namespace thimble::test::quantize_model_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> layer_ops(const QuantizedModel& made) {
  std::vector<std::string> ops;
  for (const QuantizedLayer& layer : made.layers) ops.push_back(layer.op);
  return ops;
}

int64_t count_of(const QuantizedModel& made, const std::string& op) {
  const std::vector<std::string> ops = layer_ops(made);
  return std::count(ops.begin(), ops.end(), op);
}

void set(Graph& g, const std::string& source, std::vector<float> values) {
  for (ir::ValueData& data : g.ir().values) {
    if (*data.name == source) data.data = Array(std::move(values), data.type.shape);
  }
}

double largest_miss(const Array& a, const Array& b) {
  const std::vector<float> x = a.floats();
  const std::vector<float> y = b.floats();
  EXPECT_EQ(x.size(), y.size());
  double most = 0.0;
  for (size_t i = 0; i < x.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
  }
  return most;
}

// A random network and, layer by layer, what bounds the error of its int8 form.
class RandomNetwork {
 public:
  explicit RandomNetwork(std::mt19937& random) : random_(random) {
    Value x = graph_.input("x", {8, 8, 3});
    const int layers = draw(2, 5);
    for (int i = 0; i < layers; ++i) x = add_layer(x);
    kinds_.push_back(Kind::weights);
    graph_.output("y", dense(flatten(x), {.units = 5, .name = next_name()}));
    fill(graph_, random_);
  }

  const Graph& graph() const { return graph_; }

  // The largest error of the output. Every layer adds the rounding of its weights, bias and result
  // to what its input's error becomes; clamping to a range that holds the exact value adds no more
  // than the shift of the range by the rounding of the zero point.
  double bound(const QuantizedModel& made, double input_scale) const {
    double error = input_scale;  // half of it by rounding, half by the zero point
    double scale = input_scale;
    size_t weighted = 0;
    EXPECT_EQ(made.layers.size(), kinds_.size());
    for (size_t i = 0; i < kinds_.size(); ++i) {
      const double out = made.layers[i].scale;
      switch (kinds_[i]) {
        case Kind::weights:
          error = of_weights(weighted++, error, scale) + out;
          break;
        case Kind::mean:
          error += out;
          break;
        case Kind::moves:
          break;
        case Kind::doubles:
          error = 2.0 * error + out;
          break;
      }
      scale = out;
    }
    return error;
  }

 private:
  enum class Kind { weights, mean, moves, doubles };

  int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  std::string next_name() {
    names_.push_back("layer" + std::to_string(names_.size()));
    return names_.back();
  }

  Value add_layer(Value x) {
    const int64_t channels = x.shape()[3];
    const int64_t window = x.shape()[1] > 2 ? 2 : 1;
    switch (kinds_.empty() ? 4 : draw(0, 5)) {  // moves of f32 stay f32: weights come first
      case 0:
        kinds_.push_back(Kind::moves);
        return max_pool2d(x, {.kernel = window});
      case 1:
        kinds_.push_back(Kind::mean);
        return average_pool2d(x, {.kernel = window});
      case 2:
        kinds_.push_back(Kind::doubles);
        return relu(x + x);
      case 3:
        kinds_.push_back(Kind::weights);
        return relu6(depthwise_conv2d(x, {.kernel = 3, .padding = 1, .name = next_name()}));
      default:
        break;
    }
    kinds_.push_back(Kind::weights);
    const Value y = conv2d(x, {.channels = channels + draw(0, 4),
                               .kernel = draw(0, 1) == 0 ? 1 : 3,
                               .padding = 1,
                               .name = next_name()});
    return draw(0, 1) == 0 ? relu(y) : y;
  }

  double of_weights(size_t number, double error, double scale) const {
    const ir::ValueData& weight = source_of(graph_, names_[number] + ".weight");
    const std::vector<float> w = weight.data->floats();
    const size_t taps = w.size() / static_cast<size_t>(weight.type.shape[0]);
    double most = 0.0;
    for (size_t k = 0; k < w.size() / taps; ++k) {
      double sum = 0.0;
      double largest = 0.0;
      for (size_t i = 0; i < taps; ++i) {
        const double size = std::abs(static_cast<double>(w[k * taps + i]));
        sum += size;
        largest = std::max(largest, size);
      }
      const double unit = largest / 127.0;
      // Inputs are at most 255 steps from their zero point.
      most = std::max(most, sum * error + static_cast<double>(taps) * unit / 2.0 * 255.0 * scale +
                                scale * unit / 2.0);
    }
    return most;
  }

  std::mt19937& random_;
  Graph graph_;
  std::vector<Kind> kinds_;
  std::vector<std::string> names_;
};

TEST(quantize_model, errors_of_random_networks_are_bounded_by_their_scales) {
  std::mt19937 random(24);
  for (int i = 0; i < 25; ++i) {
    const RandomNetwork network(random);
    const data::Dataset samples = samples_of({8, 8, 3}, 8, random);
    for (const Requantization how : {Requantization::floating, Requantization::fixed_point}) {
      const QuantizedModel made = quantize_model(network.graph(), samples, {.requantization = how});
      EXPECT_TRUE(made.float_layers.empty()) << made.float_layers[0].reason;
      const double miss =
          largest_miss(predicted(network.graph(), samples), predicted(made.graph, samples));
      EXPECT_LE(miss, network.bound(made, 2.0 / 255.0)) << network.graph().text();
      // Far above chance: no layer has a wrong scale or zero point.
      for (const QuantizedLayer& layer : made.layers) {
        EXPECT_GT(layer.sqnr_db, 22.0) << layer.name << "\n" << network.graph().text();
      }
    }
  }
}

// A network with everything that has an int8 form.
Graph classifier(std::mt19937& random) {
  Graph g;
  const Value logits = dense(padded_mean(classifier_body(g)), {.units = 4, .name = "last"});
  classify(g, logits);
  g.output("p", softmax(logits));
  fill(g, random);
  return g;
}

data::Dataset labelled(int64_t count, std::mt19937& random) {
  std::vector<int32_t> kinds;
  for (int64_t i = 0; i < count; ++i) kinds.push_back(static_cast<int32_t>(i % 4));
  return data::in_memory({{"x", {8, 8, 3}}, {"kind", {}, DType::i32, true}},
                         {Array(uniform(count * 192, -1.0, 1.0, random)), Array(kinds)});
}

TEST(quantize_model, every_layer_of_a_classifier_is_int8) {
  std::mt19937 random(1);
  const Graph g = classifier(random);
  const data::Dataset samples = labelled(16, random);
  const QuantizedModel made = quantize_model(g, samples);
  EXPECT_TRUE(made.float_layers.empty()) << made.float_layers[0].name;
  EXPECT_EQ(made.samples, 16);
  EXPECT_THAT(layer_ops(made), ElementsAre("quantized_conv2d", "max_pool2d", "quantized_conv2d",
                                           "quantized_average_pool2d", "concat", "quantized_conv2d",
                                           "quantized_add", "quantized_conv2d", "pad",
                                           "quantized_mean", "quantized_dense", "softmax"));
  EXPECT_EQ(made.layers[0].name, "first");
  EXPECT_EQ(made.layers[0].zero_point, -128);
  for (const QuantizedLayer& layer : made.layers) EXPECT_GT(layer.sqnr_db, 20.0) << layer.name;
  const std::vector<std::string> ops = ops_of(made.graph);
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "quantize"), 1);
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "dequantize"), 2);
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "requantize"), 2);
  // Loss and metrics are still there.
  Evaluator f32(g);
  Evaluator int8(made.graph);
  EXPECT_NEAR(int8.evaluate(samples).loss, f32.evaluate(samples).loss, 0.05);
}

// What clamps and clips is the range of the result.
TEST(quantize_model, a_clamp_is_the_range_of_the_layer_before_it) {
  std::mt19937 random(2);
  const QuantizedModel made = quantize_model(classifier(random), labelled(16, random));
  const QuantizedLayer& clipped = made.layers[7];
  EXPECT_EQ(clipped.name, "clipped");
  EXPECT_NEAR(clipped.scale, 0.8 / 255.0, 1e-6);
  EXPECT_EQ(clipped.zero_point, 0);
}

TEST(quantize_model, a_model_file_keeps_it) {
  std::mt19937 random(3);
  const data::Dataset samples = labelled(8, random);
  const QuantizedModel made = quantize_model(classifier(random), samples);
  const TemporaryFolder folder;
  save_model(made.graph, folder / "m.safetensors");
  const Graph read = load_model(folder / "m.safetensors");
  EXPECT_EQ(read.text(), made.graph.text());
  EXPECT_EQ(Evaluator(read).evaluate(samples).loss, Evaluator(made.graph).evaluate(samples).loss);
  EXPECT_THAT(error_of([&] { (void)quantize_model(read, samples); }),
              HasSubstr("the graph is quantized already"));
}

TEST(quantize_model, inputs_and_outputs_are_int8_on_request) {
  std::mt19937 random(4);
  const Graph g = classifier(random);
  const data::Dataset samples = labelled(4, random);
  const QuantizedModel f32 = quantize_model(g, samples);
  const QuantizedModel made =
      quantize_model(g, samples, {.int8_inputs = true, .int8_outputs = true});
  const ir::TensorType& input = source_of(made.graph, "x").type;
  ASSERT_NE(input.quantization, nullptr);
  EXPECT_EQ(input.dtype, DType::i8);
  const float scale = input.quantization->scales[0];
  const int32_t zero =
      input.quantization->zero_points.empty() ? 0 : input.quantization->zero_points[0];
  std::vector<float> x(192);
  std::vector<int8_t> integers;
  int32_t kind = 0;
  void* const to[] = {x.data(), &kind};
  samples.read(0, to);
  for (const float value : x) {
    integers.push_back(static_cast<int8_t>(
        std::clamp(std::nearbyint(value / scale) + static_cast<float>(zero), -128.0F, 127.0F)));
  }
  const Array y = Predictor(made.graph).run({{"x", Array(integers)}}).at("y");
  EXPECT_EQ(y.dtype(), DType::i8);
  const Array wanted = Predictor(f32.graph).run({{"x", Array(x)}}).at("y");
  const QuantizedLayer& last = made.layers[made.layers.size() - 2];
  std::vector<float> stands_for;
  for (const int64_t integer : y.integers()) {
    stands_for.push_back(static_cast<float>(last.scale) *
                         static_cast<float>(integer - last.zero_point));
  }
  EXPECT_EQ(stands_for, wanted.floats());
  EXPECT_EQ(Evaluator(made.with_f32_inputs).evaluate(samples).loss,
            Evaluator(f32.graph).evaluate(samples).loss);
}

TEST(quantize_model, layers_without_an_int8_form_stay_f32_and_are_named) {
  std::mt19937 random(5);
  Graph g;
  Value y = conv2d(g.input("x", {4, 4, 2}), {.channels = 3, .kernel = 3, .name = "first"});
  y = conv2d(gelu(y), {.channels = 2, .kernel = 1, .name = "second"});
  g.output("y", swish(y));
  fill(g, random);
  const data::Dataset samples = samples_of({4, 4, 2}, 8, random);
  const QuantizedModel made = quantize_model(g, samples);
  ASSERT_EQ(made.float_layers.size(), 2U);
  EXPECT_EQ(made.float_layers[0].op, "gelu");
  EXPECT_EQ(made.float_layers[0].reason, "it has no int8 form");
  EXPECT_EQ(made.float_layers[1].op, "swish");
  EXPECT_THAT(ops_of(made.graph),
              ElementsAre("quantize", "quantized_conv2d", "dequantize", "gelu", "quantize",
                          "quantized_conv2d", "dequantize", "swish"));
  EXPECT_LT(largest_miss(predicted(g, samples), predicted(made.graph, samples)), 0.02);
}

// A matrix that is not transposed, a constant that is added, a product of two activations.
TEST(quantize_model, takes_matrices_and_constants_in_any_order) {
  std::mt19937 random(6);
  Graph g;
  const Value x = g.input("x", {6});
  const Value y = relu(matmul(x, g.parameter("w", {6, 9}, init::zeros())));
  const Value z = mul(y, g.parameter("by", {9}, init::zeros())) + y;
  g.output("y", dense(z, {.units = 3}));
  fill(g, random);
  const data::Dataset samples = samples_of({6}, 40, random);
  const QuantizedModel made = quantize_model(g, samples);
  EXPECT_THAT(layer_ops(made),
              ElementsAre("quantized_dense", "quantized_mul", "quantized_add", "quantized_dense"));
  EXPECT_EQ(source_of(made.graph, "w").type.shape, (Shape{9, 6}));
  EXPECT_EQ(source_of(made.graph, "by").type.dtype, DType::i8);
  for (const QuantizedLayer& layer : made.layers) EXPECT_GT(layer.sqnr_db, 30.0) << layer.name;
}

TEST(quantize_model, differences_and_functions_are_int8_in_both_conventions) {
  std::mt19937 random(8);
  Graph g;
  const Value x = conv2d(g.input("x", {5, 5, 3}), {.channels = 4, .kernel = 3});
  const Value left = sigmoid(x);
  g.output("y", left - tanh(x));
  fill(g, random);
  const data::Dataset samples = samples_of({5, 5, 3}, 40, random);
  for (const Requantization how : {Requantization::floating, Requantization::fixed_point}) {
    const QuantizedModel made = quantize_model(g, samples, {.requantization = how});
    EXPECT_TRUE(made.float_layers.empty());
    EXPECT_THAT(layer_ops(made), ElementsAre("quantized_conv2d", "quantized_sigmoid",
                                             "quantized_tanh", "quantized_sub"));
    for (const QuantizedLayer& layer : made.layers) EXPECT_GT(layer.sqnr_db, 30.0) << layer.name;
  }
}

// Of images, and of features, whose channels differ in their ranges by a factor of thousands.
TEST(quantize_model, a_batch_norm_that_stands_alone_has_a_scale_for_each_channel) {
  for (const Shape& sample : {Shape{6, 5, 3}, Shape{7, 3}, Shape{3}}) {
    std::mt19937 random(9);
    Graph g;
    g.output("y", relu(batch_norm(g.input("x", sample))));
    fill(g, random);
    set(g, "batch_norm_1.weight", {0.001F, -3.0F, 0.5F});
    const data::Dataset samples = samples_of(sample, 40, random);
    for (const Requantization how : {Requantization::floating, Requantization::fixed_point}) {
      const QuantizedModel made = quantize_model(g, samples, {.requantization = how});
      // Features become images of one pixel while they are f32.
      for (const FloatLayer& layer : made.float_layers) EXPECT_EQ(layer.op, "reshape");
      EXPECT_EQ(count_of(made, "quantized_conv2d"), 1);
      EXPECT_GT(made.layers.back().sqnr_db, 25.0);
    }
  }
}

// Groups share the scales of weights; each output channel has a bias and a range of its own.
TEST(quantize_model, a_transposed_convolution_in_groups_is_int8) {
  for (const bool norm : {false, true}) {
    std::mt19937 random(10);
    Graph g;
    const ConvTranspose2dOptions options{
        .channels = 6, .kernel = 3, .stride = 2, .groups = 2, .name = "up"};
    const Value y = conv_transpose2d(g.input("x", {4, 5, 4}), options);
    g.output("y", relu(norm ? batch_norm(y) : y));
    fill(g, random);
    set(g, "up.bias", {3.0F, -2.0F, 0.5F, -4.0F, 0.25F, 1.0F});
    const data::Dataset samples = samples_of({4, 5, 4}, 40, random);
    for (const Requantization how : {Requantization::floating, Requantization::fixed_point}) {
      const QuantizedModel made = quantize_model(g, samples, {.requantization = how});
      EXPECT_TRUE(made.float_layers.empty());
      EXPECT_EQ(made.layers[0].op, "quantized_conv_transpose2d");
      EXPECT_EQ(count_of(made, "quantized_conv2d"), norm ? 1 : 0);
      for (const QuantizedLayer& layer : made.layers) EXPECT_GT(layer.sqnr_db, 30.0) << layer.name;
    }
  }
}

TEST(quantize_model, calibrations_differ_in_their_ranges) {
  std::mt19937 random(7);
  Graph g;
  g.output("y", dense(g.input("x", {6}), {.units = 3, .name = "layer"}));
  fill(g, random);
  std::vector<float> x = uniform(6 * 500, -1.0, 1.0, random);
  x[17] = 30.0F;
  const data::Dataset samples = data::in_memory({{"x", {6}}}, {Array(std::move(x))});
  const auto scale_of_input = [&](Calibration calibration) {
    const QuantizedModel made = quantize_model(
        g, samples, {.calibration = calibration, .percentile = 99.0, .samples = 500});
    return made.graph.ir().type(made.graph.ir().nodes[0].outputs[0]).quantization->scales[0];
  };
  EXPECT_NEAR(scale_of_input(Calibration::minmax), 31.0 / 255.0, 1e-3);
  EXPECT_NEAR(scale_of_input(Calibration::percentile), 2.0 / 255.0, 3e-4);
  const float mse = scale_of_input(Calibration::mse);
  EXPECT_LT(mse, 31.0F / 255.0F);
  EXPECT_GT(mse, 2.0F / 255.0F);
}

TEST(quantize_model, threads_and_batch_change_nothing) {
  std::mt19937 random(8);
  const Graph g = classifier(random);
  const data::Dataset samples = labelled(13, random);
  const auto made = [&](int64_t batch, int threads) {
    return quantize_model(g, samples,
                          {.calibration = Calibration::mse, .batch = batch, .threads = threads});
  };
  const QuantizedModel one = made(1, 1);
  for (const QuantizedModel& other : {made(5, 2), made(13, 1)}) {
    EXPECT_EQ(other.graph.text(), one.graph.text());
    for (size_t i = 0; i < one.layers.size(); ++i) {
      EXPECT_DOUBLE_EQ(other.layers[i].sqnr_db, one.layers[i].sqnr_db);
    }
  }
}

TEST(quantize_model, tells_how_far_it_is) {
  std::mt19937 random(9);
  const Graph g = classifier(random);
  std::vector<std::pair<int64_t, int64_t>> said;
  (void)quantize_model(
      g, labelled(10, random),
      {.batch = 4, .on_progress = [&](int64_t a, int64_t b) { said.emplace_back(a, b); }});
  EXPECT_THAT(said, ElementsAre(std::pair(4, 20), std::pair(8, 20), std::pair(10, 20),
                                std::pair(14, 20), std::pair(18, 20), std::pair(20, 20)));
}

TEST(quantize_model, refuses_what_it_cannot_quantize) {
  std::mt19937 random(10);
  const auto quantizing = [&](const Graph& g, const data::Dataset& samples,
                              const QuantizeModelOptions& options = {}) {
    return error_of([&] { (void)quantize_model(g, samples, options); });
  };
  const data::Dataset samples = samples_of({3}, 4, random);
  Graph plain;
  plain.output("y", gelu(plain.input("x", {3})));
  EXPECT_THAT(quantizing(plain, samples),
              HasSubstr("nothing to quantize; gelu_1 (gelu): it has no int8 form"));
  Graph g;
  g.output("y", dense(g.input("x", {3}), {.units = 2}));
  EXPECT_THAT(quantizing(g, samples), HasSubstr("the graph has no values for it"));
  fill(g, random);
  EXPECT_THAT(quantizing(g, samples.named({"z"})), HasSubstr("[x] the data have no field"));
  EXPECT_THAT(quantizing(g, samples_of({4}, 4, random)), HasSubstr("for the input f32[3]"));
  EXPECT_THAT(quantizing(g, samples, {.percentile = 50.0}), HasSubstr("[percentile] expected"));
  EXPECT_THAT(quantizing(g, samples, {.samples = 0}), HasSubstr("[samples] expected 1 or more"));
  EXPECT_THAT(quantizing(g, samples, {.batch = 0}), HasSubstr("[batch] expected 1 or more"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(quantizing(g, data::in_memory({{"x", {3}}}, {Array({0.0F, nan, 1.0F})})),
              HasSubstr("the input x is not finite"));
}

}  // namespace
}  // namespace thimble::test::quantize_model_test
