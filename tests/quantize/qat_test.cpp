// Graphs for quantization-aware training, and the int8 graphs that are made of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/quantize.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/error_of.h"
#include "io/temporary_folder.h"
#include "quantize/filled.h"

namespace thimble::test::qat_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

int64_t count_of(const Graph& g, const std::string& op) {
  const std::vector<std::string> ops = ops_of(g);
  return std::count(ops.begin(), ops.end(), op);
}

// A network with everything that has an int8 form, but for what rounds otherwise (softmax).
Graph classifier(std::mt19937& random) {
  Graph g;
  Value y = mul(classifier_body(g), g.parameter("by", {6}, init::zeros()));
  y = relu(
      conv_transpose2d(y, {.channels = 6, .kernel = 2, .stride = 2, .groups = 2, .name = "up"}));
  classify(g, matmul(padded_mean(y), g.parameter("last", {6, 4}, init::zeros())));
  fill(g, random);
  return g;
}

// Noise, whose first two channels are brighter or not: one of four kinds.
data::Dataset labelled(int64_t count, std::mt19937& random) {
  std::vector<float> x = uniform(count * 192, -1.0, 1.0, random);
  std::vector<int32_t> kinds;
  for (int64_t i = 0; i < count; ++i) {
    const auto kind = static_cast<int32_t>(i % 4);
    kinds.push_back(kind);
    for (int64_t p = 0; p < 64; ++p) {
      const auto at = static_cast<size_t>(i * 192 + p * 3);
      if (kind % 2 == 1) x[at] += 1.0F;
      if (kind / 2 == 1) x[at + 1] += 1.0F;
    }
  }
  return data::in_memory({{"x", {8, 8, 3}}, {"kind", {}, DType::i32, true}},
                         {Array(std::move(x)), Array(kinds)});
}

// The output "y" for labelled samples.
Array outputs(const Graph& g, const data::Dataset& samples) {
  std::vector<float> x(static_cast<size_t>(samples.size() * 192));
  int32_t kind = 0;
  for (int64_t i = 0; i < samples.size(); ++i) {
    void* const to[] = {x.data() + i * 192, &kind};
    samples.read(i, to);
  }
  return Predictor(g, 4).run({{"x", Array(std::move(x))}}).at("y");
}

ir::ValueData& source_in(Graph& g, std::string_view name) {
  return const_cast<ir::ValueData&>(source_of(g, name));
}

template <class Change>
void change_sources(Graph& g, std::string_view end, const Change& change) {
  int64_t found = 0;
  for (ir::ValueData& data : g.ir().values) {
    if (data.producer >= 0 || !data.name->ends_with(end)) continue;
    std::vector<float> values = data.data->floats();
    for (float& value : values) value = change(value);
    data.data = Array(std::move(values), data.type.shape);
    ++found;
  }
  ASSERT_GT(found, 0) << end;
}

// As training leaves scales: any ratio near 1.
void train_ratios(Graph& g, std::mt19937& random) {
  std::uniform_real_distribution<float> draw(0.8F, 1.25F);
  change_sources(g, ".scale", [&](float) { return draw(random); });
}

TEST(prepare_qat, rounds_what_int8_layers_read_and_give) {
  std::mt19937 random(1);
  const Graph g = classifier(random);
  const QatModel made = prepare_qat(g, labelled(16, random));
  EXPECT_TRUE(made.float_layers.empty()) << made.float_layers[0].name;
  EXPECT_EQ(made.samples, 16);
  ir::verify(made.graph.ir());
  // Batch norms, dropout and clamps are gone.
  for (const char* op :
       {"batch_norm", "batch_norm_inference", "dropout", "relu", "relu6", "clip"}) {
    EXPECT_EQ(count_of(made.graph, op), 0) << op;
  }
  // The input, six weights, five biases, "by", and the results of: first, side, its pool, concat,
  // deep, +, clipped, *, up, mean, last. Max pool and pad move numbers alone.
  EXPECT_EQ(count_of(made.graph, "fake_quantize"), 1 + 6 + 5 + 1 + 11);
  // The pool has the scale of what it reads; biases have those of their layers.
  EXPECT_EQ(count_of(made.graph, "learned_scale"), 1 + 6 + 1 + 10);
  for (const char* name : {"x.scale", "first.weight.scale", "first.scale", "by.scale", "last.scale",
                           "concat_1.scale"}) {
    const ir::ValueData& scale = source_of(made.graph, name);
    EXPECT_EQ(scale.role, ir::Role::parameter) << name;
    EXPECT_TRUE(scale.trainable) << name;
    for (const float ratio : scale.data->floats()) EXPECT_EQ(ratio, 1.0F) << name;
  }
  EXPECT_EQ(source_of(made.graph, "first.weight.scale").type.shape, (Shape{8}));
  EXPECT_EQ(source_of(made.graph, "up.weight.scale").type.shape, (Shape{3}));
  EXPECT_EQ(source_of(made.graph, "last.scale").type.shape, (Shape{4}));  // of the weight
  EXPECT_EQ(source_of(made.graph, "x.scale_unit").role, ir::Role::constant);
}

// Before any training it computes what post-training quantization gives, but for the zero points,
// which are even.
TEST(prepare_qat, begins_as_post_training_quantization) {
  std::mt19937 random(2);
  const Graph g = classifier(random);
  const data::Dataset samples = labelled(16, random);
  const QatModel made = prepare_qat(g, samples);
  const QuantizedModel int8 = quantize_model(g, samples);
  const std::vector<float> wanted = outputs(int8.graph, samples).floats();
  const std::vector<float> got = outputs(made.graph, samples).floats();
  const double step = int8.layers.back().scale;
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(got[i]), static_cast<double>(wanted[i]), 6.0 * step);
  }
}

// The claim of the header. All sums of products are below 2^24 here: at most 108 taps of at most
// 255 * 127.
TEST(prepare_qat, gives_the_integers_of_int8_where_scales_are_powers_of_two) {
  std::mt19937 random(3);
  for (int i = 0; i < 4; ++i) {
    const Graph g = classifier(random);
    const data::Dataset samples = labelled(12, random);
    QatModel made = prepare_qat(g, samples, {.weight_bits = i % 2 == 0 ? 8 : 4});
    change_sources(made.graph, ".scale_unit",
                   [](float unit) { return std::exp2(std::round(std::log2(unit))); });
    const QuantizedModel int8 = quantize_model(made.graph, samples);
    EXPECT_TRUE(int8.float_layers.empty()) << int8.float_layers[0].name;
    ASSERT_EQ(int8.layers.size(), 13U);
    for (const QuantizedLayer& layer : int8.layers) {
      EXPECT_EQ(layer.sqnr_db, std::numeric_limits<double>::infinity()) << layer.name;
    }
    EXPECT_EQ(outputs(int8.graph, samples).floats(), outputs(made.graph, samples).floats());
    EXPECT_EQ(Evaluator(int8.graph).evaluate(samples).loss,
              Evaluator(made.graph).evaluate(samples).loss);
  }
}

// How a layer's results differ with scales of any kind.
struct Differences {
  int64_t results = 0;
  int64_t differ = 0;
  double most_steps = 0.0;
};

void add_differences(Differences& to, const Array& steps, const Array& of_int8,
                     const QuantizedModel& int8) {
  const std::vector<float> a = steps.floats();
  const std::vector<float> b = of_int8.floats();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const double miss = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    to.most_steps = std::max(to.most_steps, miss / int8.layers.back().scale);
    if (miss > 0.0) ++to.differ;
    ++to.results;
  }
}

// One layer, whose input is equal in both graphs.
TEST(prepare_qat, layers_differ_by_one_step_at_halves_alone) {
  using Build = Value (*)(Value x);
  const Build kLayers[] = {
      [](Value x) { return conv2d(x, {.channels = 16, .kernel = 3, .padding = 1}); },
      [](Value x) { return relu(depthwise_conv2d(x, {.kernel = 3})); },
      [](Value x) { return dense(flatten(x), {.units = 70}); },
      [](Value x) { return conv_transpose2d(x, {.channels = 5, .kernel = 3, .stride = 2}); },
  };
  std::mt19937 random(4);
  Differences all;
  for (int i = 0; i < 24; ++i) {
    Graph g;
    g.output("y", kLayers[i % 4](g.input("x", {8, 8, 6})));
    fill(g, random);
    const data::Dataset samples = samples_of({8, 8, 6}, 40, random);
    QatModel made = prepare_qat(g, samples);
    train_ratios(made.graph, random);
    const QuantizedModel int8 = quantize_model(made.graph, samples);
    add_differences(all, predicted(made.graph, samples), predicted(int8.graph, samples), int8);
  }
  EXPECT_GT(all.results, 400'000);
  EXPECT_LT(all.most_steps, 1.001);
  // A sum lies within 2^-16 of a half by chance: 255 steps, rounded to 24 bits a few times.
  EXPECT_LT(static_cast<double>(all.differ), 3e-4 * static_cast<double>(all.results));
  RecordProperty("differ", std::to_string(all.differ) + " of " + std::to_string(all.results));
}

// Sums and average pools of equal inputs are equal, whatever the scales; half of all means of two
// lie at a half.
TEST(prepare_qat, sums_and_average_pools_are_equal_with_any_scales) {
  std::mt19937 random(5);
  int compared = 0;
  for (int i = 0; i < 10; ++i) {
    Graph g;
    const Value x = g.input("x", {9, 8, 4});
    const Value w = g.parameter("w", {4, 1, 1, 4}, init::zeros());
    const Value y = conv2d(x, w, Value());
    const Pair window{i % 2 == 0 ? 2 : 3, i % 3 == 0 ? 1 : 2};
    g.output("y", average_pool2d(y + x, {.kernel = window}));
    fill(g, random);
    const data::Dataset samples = samples_of({9, 8, 4}, 30, random);
    QatModel made = prepare_qat(g, samples);
    train_ratios(made.graph, random);
    const QuantizedModel int8 = quantize_model(made.graph, samples);
    ASSERT_EQ(int8.layers.size(), 3U);
    if (std::isfinite(int8.layers[0].sqnr_db)) continue;  // the convolution differs by chance
    ++compared;
    EXPECT_EQ(predicted(int8.graph, samples).floats(), predicted(made.graph, samples).floats());
  }
  EXPECT_GE(compared, 5);
}

// Integer arithmetic of their own: results differ by few steps, whatever the scales.
TEST(prepare_qat, softmax_resizing_and_fixed_point_differ_by_few_steps) {
  struct Case {
    const char* name;
    Value (*build)(Value x);
    Requantization how;
  };
  const Case kCases[] = {
      {"softmax",
       [](Value x) {
         return softmax(dense(flatten(conv2d(x, {.channels = 4, .kernel = 3})), {.units = 12}));
       },
       Requantization::floating},
      {"bilinear",
       [](Value x) {
         return upsample2d(conv2d(x, {.channels = 4, .kernel = 3}),
                           {.scale = 2, .mode = Upsampling::bilinear});
       },
       Requantization::floating},
      {"fixed_point",
       [](Value x) {
         return average_pool2d(relu(conv2d(x, {.channels = 4, .kernel = 3})), {.kernel = 2});
       },
       Requantization::fixed_point},
  };
  std::mt19937 random(12);
  for (const Case& c : kCases) {
    Differences all;
    for (int i = 0; i < 3; ++i) {
      Graph g;
      g.output("y", c.build(g.input("x", {8, 8, 6})));
      fill(g, random);
      const data::Dataset samples = samples_of({8, 8, 6}, 40, random);
      QatModel made = prepare_qat(g, samples);
      train_ratios(made.graph, random);
      const QuantizedModel int8 = quantize_model(made.graph, samples, {.requantization = c.how});
      EXPECT_TRUE(int8.float_layers.empty()) << int8.float_layers[0].name;
      add_differences(all, predicted(made.graph, samples), predicted(int8.graph, samples), int8);
    }
    EXPECT_LT(all.most_steps, 1.001) << c.name;
    RecordProperty(c.name, std::to_string(all.differ) + " of " + std::to_string(all.results) +
                               ", " + std::to_string(all.most_steps) + " steps");
  }
}

TEST(prepare_qat, whole_networks_differ_in_few_results) {
  std::mt19937 random(6);
  Differences all;
  for (int i = 0; i < 6; ++i) {
    const Graph g = classifier(random);
    const data::Dataset samples = labelled(30, random);
    QatModel made = prepare_qat(g, samples);
    train_ratios(made.graph, random);
    const QuantizedModel int8 = quantize_model(made.graph, samples);
    add_differences(all, outputs(made.graph, samples), outputs(int8.graph, samples), int8);
  }
  EXPECT_LE(all.most_steps, 3.0);
  EXPECT_LT(static_cast<double>(all.differ), 0.05 * static_cast<double>(all.results));
  RecordProperty("differ", std::to_string(all.differ) + " of " + std::to_string(all.results));
}

TEST(prepare_qat, trains_weights_and_scales_with_any_optimizer) {
  std::mt19937 random(7);
  Graph g;
  Value y = relu(
      batch_norm(conv2d(g.input("x", {8, 8, 3}), {.channels = 6, .kernel = 3, .name = "first"})));
  y = dense(flatten(average_pool2d(y, {.kernel = 2})), {.units = 4, .name = "last"});
  g.output("y", y);
  g.minimize(softmax_cross_entropy(y, g.label("kind")));
  fill(g, random);
  const data::Dataset samples = labelled(64, random);
  const TemporaryFolder folder;
  save_model(prepare_qat(g, samples, {.weight_bits = 4}).graph, folder / "m.safetensors");
  for (const Optimizer& optimizer :
       {Optimizer(Adam{.lr = 5e-3}), Optimizer(SGD{.lr = 2e-3, .momentum = 0.9})}) {
    Trainer trainer(load_model(folder / "m.safetensors"),
                    {.optimizer = optimizer, .batch = 16, .seed = 1});
    const double before = trainer.evaluate(samples).loss;
    trainer.fit(samples, {.epochs = 20});
    EXPECT_LT(trainer.evaluate(samples).loss, 0.95 * before);
    for (const char* name : {"x.scale", "first.weight.scale", "last.weight.scale"}) {
      double moved = 0.0;
      for (const float ratio : trainer.parameter(name).floats()) {
        moved = std::max(moved, std::abs(static_cast<double>(ratio) - 1.0));
      }
      EXPECT_GT(moved, 1e-6) << name;
    }
    trainer.save_model(folder / "trained.safetensors");
    const Graph trained = load_model(folder / "trained.safetensors");
    const QuantizedModel int8 = quantize_model(trained, samples);
    EXPECT_TRUE(int8.float_layers.empty());
    Differences made;
    add_differences(made, outputs(trained, samples), outputs(int8.graph, samples), int8);
    EXPECT_LE(made.most_steps, 3.0);
    // Weights of 4 bits.
    for (const int64_t integer : source_of(int8.graph, "first.weight").data->integers()) {
      EXPECT_LE(std::abs(integer), 7);
    }
  }
}

TEST(prepare_qat, int8_at_both_ends) {
  std::mt19937 random(8);
  const data::Dataset samples = labelled(8, random);
  const QatModel made = prepare_qat(classifier(random), samples);
  const QuantizedModel int8 =
      quantize_model(made.graph, samples, {.int8_inputs = true, .int8_outputs = true});
  const ir::TensorType& input = source_of(int8.graph, "x").type;
  ASSERT_NE(input.quantization, nullptr);
  EXPECT_EQ(input.quantization->scales[0], source_of(made.graph, "x.scale_unit").data->floats()[0]);
  EXPECT_EQ(count_of(int8.graph, "quantize"), 0);
  EXPECT_EQ(count_of(int8.graph, "dequantize"), 1);  // for the loss
  EXPECT_EQ(int8.graph.ir().type(int8.graph.ir().outputs[0].second).dtype, DType::i8);
}

TEST(prepare_qat, layers_without_an_int8_form_stay_f32) {
  std::mt19937 random(9);
  Graph g;
  Value y = conv2d(g.input("x", {4, 4, 2}), {.channels = 3, .kernel = 3, .name = "first"});
  y = conv2d(gelu(y), {.channels = 2, .kernel = 1, .name = "second"});
  g.output("y", swish(y));
  fill(g, random);
  const data::Dataset samples = samples_of({4, 4, 2}, 8, random);
  const QatModel made = prepare_qat(g, samples);
  ASSERT_EQ(made.float_layers.size(), 2U);
  EXPECT_EQ(made.float_layers[0].op, "gelu");
  const QuantizedModel int8 = quantize_model(made.graph, samples);
  EXPECT_THAT(ops_of(int8.graph),
              ElementsAre("quantize", "quantized_conv2d", "dequantize", "gelu", "quantize",
                          "quantized_conv2d", "dequantize", "swish"));
  EXPECT_EQ(int8.float_layers.size(), 2U);
  // The weights keep their names.
  EXPECT_EQ(source_of(int8.graph, "first.weight").type.dtype, DType::i8);
}

// Their int8 forms round as the prepared graph does, but where f32 lies at a half.
TEST(prepare_qat, functions_differences_and_norms_become_int8) {
  std::mt19937 random(11);
  Graph g;
  const Value x = conv2d(g.input("x", {5, 5, 2}), {.channels = 3, .kernel = 3, .name = "first"});
  const Value left = sigmoid(x);
  const Value y = batch_norm(left - tanh(x));
  g.output("y", dense(flatten(y), {.units = 4, .name = "last"}));
  fill(g, random);
  const data::Dataset samples = samples_of({5, 5, 2}, 40, random);
  const QatModel made = prepare_qat(g, samples);
  EXPECT_TRUE(made.float_layers.empty());
  const QuantizedModel int8 = quantize_model(made.graph, samples);
  EXPECT_TRUE(int8.float_layers.empty());
  EXPECT_EQ(int8.layers.size(), 6U);
  for (const QuantizedLayer& layer : int8.layers) EXPECT_GT(layer.sqnr_db, 40.0) << layer.name;
}

TEST(prepare_qat, steps_that_int8_does_not_have_stay_f32_and_are_named) {
  std::mt19937 random(10);
  Graph g;
  const Value x = g.input("x", {6});
  const Value one = g.constant("one", {1}, {0.02F});
  const Value steps = fake_quantize(x, one);
  const Value w = g.parameter("w", {3, 6}, init::zeros());
  const Value a = matmul(steps, fake_quantize(w, one), Value(), {.transpose_b = true});
  const Value v = g.parameter("v", {3, 3}, init::zeros());
  const Value b = matmul(fake_quantize(a, one), fake_quantize(v, one, {.zero_point = 3}), Value(),
                         {.transpose_b = true});
  g.output("y", fake_quantize(b, one, {.low = -8, .high = 7}));
  fill(g, random);
  source_in(g, "one").data = Array(std::vector<float>{0.02F});
  const data::Dataset samples = samples_of({6}, 8, random);
  const QuantizedModel int8 = quantize_model(g, samples);
  ASSERT_EQ(int8.layers.size(), 1U);
  ASSERT_EQ(int8.float_layers.size(), 2U);
  EXPECT_EQ(int8.float_layers[0].reason, "the range of its result is not known");
  EXPECT_EQ(int8.float_layers[1].reason, "its steps are not those of int8");
  EXPECT_EQ(predicted(int8.graph, samples).floats(), predicted(g, samples).floats());
}

TEST(prepare_qat, refuses_what_it_cannot_prepare) {
  std::mt19937 random(11);
  const data::Dataset samples = samples_of({3}, 4, random);
  const auto preparing = [&](const Graph& g, const PrepareQatOptions& options = {}) {
    return error_of([&] { (void)prepare_qat(g, samples, options); });
  };
  Graph g;
  g.output("y", dense(g.input("x", {3}), {.units = 2}));
  EXPECT_THAT(preparing(g), HasSubstr("the graph has no values for it"));
  fill(g, random);
  EXPECT_THAT(preparing(g, {.weight_bits = 1}), HasSubstr("[weight_bits] expected 2 to 8, got 1"));
  EXPECT_THAT(preparing(g, {.weight_bits = 9}), HasSubstr("[weight_bits] expected 2 to 8, got 9"));
  EXPECT_THAT(preparing(g, {.samples = 0}), HasSubstr("[samples] expected 1 or more"));
  EXPECT_THAT(preparing(prepare_qat(g, samples).graph),
              HasSubstr("[prepare_qat] the graph is prepared already"));
  EXPECT_THAT(preparing(quantize_model(g, samples).graph),
              HasSubstr("[prepare_qat] the graph is quantized already"));
  Graph plain;
  plain.output("y", tanh(plain.input("x", {3})));
  EXPECT_THAT(preparing(plain), HasSubstr("[prepare_qat] no layer with weights has an int8 form"));
}

// A convolutional network for digits whose weights have 2 bits: -1, 0 or 1 times a scale.
TEST(prepare_qat, training_gets_back_what_few_bits_lose) {
  const data::Dataset samples = data::digits(1500, 1);
  const data::Dataset test = data::digits(500, 2, data::Split::test);
  Graph g;
  const Value image = g.input("image", {28, 28, 1});
  const Value digit = g.label("digit");
  Value x = relu(batch_norm(
      conv2d(image, {.channels = 8, .kernel = 5, .stride = 2, .padding = 2, .name = "conv1"})));
  x = relu(batch_norm(
      conv2d(x, {.channels = 16, .kernel = 3, .stride = 2, .padding = 1, .name = "conv2"})));
  x = relu(dense(flatten(x), {.units = 32, .name = "dense1"}));
  const Value logits = dense(x, {.units = 10, .name = "dense2"});
  g.minimize(softmax_cross_entropy(logits, digit));
  g.metric("accuracy", accuracy(logits, digit));
  g.output("y", logits);
  const TemporaryFolder folder;
  const auto accuracy_of = [&](const Graph& graph) {
    return Evaluator(graph, {.threads = 2}).evaluate(test).metrics.at("accuracy");
  };
  const auto trained = [&](const Graph& graph, int64_t epochs) {
    save_model(graph, folder / "a.safetensors", 1);
    Trainer trainer(load_model(folder / "a.safetensors"),
                    {.optimizer = Adam{.lr = 2e-3}, .batch = 32, .seed = 1, .threads = 2});
    trainer.fit(samples, {.epochs = epochs});
    trainer.save_model(folder / "b.safetensors");
    return load_model(folder / "b.safetensors");
  };
  const Graph f32 = trained(g, 4);
  const double wanted = accuracy_of(f32);
  const QatModel prepared = prepare_qat(f32, samples, {.weight_bits = 2, .samples = 128});
  const double lost = accuracy_of(prepared.graph);
  const Graph qat = trained(prepared.graph, 3);
  const double won = accuracy_of(qat);
  const QuantizedModel int8 = quantize_model(qat, samples, {.samples = 64});
  EXPECT_TRUE(int8.float_layers.empty());
  const double of_int8 = accuracy_of(int8.graph);
  RecordProperty("accuracies", "f32 " + std::to_string(wanted) + ", 2 bits " +
                                   std::to_string(lost) + ", trained " + std::to_string(won) +
                                   ", int8 " + std::to_string(of_int8));
  EXPECT_GT(wanted, 0.85);
  EXPECT_LT(lost, wanted - 0.05);
  EXPECT_GT(won, wanted - 0.02);
  EXPECT_NEAR(of_int8, won, 0.004);
}

}  // namespace
}  // namespace thimble::test::qat_test
