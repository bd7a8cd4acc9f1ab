// Models made ready for another training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/adapt.h>
#include <thimble/thimble.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "io/temporary_folder.h"
#include "ir/graph.h"

namespace thimble::test::adapt_test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const ir::ValueData& source(const Graph& graph, const std::string& name) {
  for (const ir::ValueData& data : graph.ir().values) {
    if (data.producer < 0 && *data.name == name) return data;
  }
  throw Error(name, "there is no such source");
}

// A network for 4x4 images, with weights, and neither label nor loss.
Graph network(const TemporaryFolder& folder) {
  Graph g;
  const Value x = g.input("x", {4, 4, 1});
  const Value h = relu(conv2d(x, {.channels = 6, .kernel = 3, .padding = 1, .name = "body"}));
  g.output("scores", dense(flatten(h), {.units = 10, .name = "head"}));
  save_model(g, folder / "m", 5);
  return load_model(folder / "m");
}

// Images that are brighter in one of four quarters, their class.
data::Dataset quarters(const std::string& label) {
  std::vector<float> images;
  std::vector<int32_t> classes;
  for (int i = 0; i < 256; ++i) {
    for (int p = 0; p < 16; ++p) {
      const int quarter = p / 8 * 2 + p % 4 / 2;
      images.push_back((quarter == i % 4 ? 1.0F : 0.0F) +
                       0.01F * static_cast<float>((i * 7 + p) % 13));
    }
    classes.push_back(i % 4);
  }
  return data::in_memory({{"x", {4, 4, 1}, DType::f32}, {label, {}, DType::i32}},
                         {Array(std::move(images)), Array(std::move(classes))});
}

TEST(adapt, keeps_what_moves_running_statistics) {
  const TemporaryFolder folder;
  Graph g;
  const Value h = batch_norm(g.input("x", {4, 4, 1}), {.name = "norm"});
  g.output("scores", dense(flatten(h), {.units = 4}));
  save_model(g, folder / "m", 5);
  const Graph made = adapt(load_model(folder / "m"), {.loss = "softmax_cross_entropy"});
  Trainer trainer(made, {.batch = 32});
  trainer.fit(quarters("label"), {.epochs = 1});
  trainer.save(folder / "c");
  EXPECT_NE(source(load_model(folder / "c"), "norm.running_mean").data->floats()[0], 0.0F);
}

TEST(adapt, gives_a_model_a_loss_classes_and_metrics) {
  const TemporaryFolder folder;
  const Graph from = network(folder);
  const Graph made = adapt(from, {.loss = "softmax_cross_entropy",
                                  .label = "quarter",
                                  .metrics = {"accuracy"},
                                  .classes = 4,
                                  .freeze = {"body.*"}});
  EXPECT_EQ(source(made, "head.weight").type.shape, (Shape{4, 96}));
  EXPECT_EQ(source(made, "head.bias").type.shape, (Shape{4}));
  EXPECT_EQ(source(made, "quarter").type.dtype, DType::i32);
  EXPECT_EQ(*source(made, "body.weight").data, *source(from, "body.weight").data);
  Trainer trainer(made, {.optimizer = SGD{.lr = 0.2}, .batch = 16});
  const data::Dataset data = quarters("quarter");
  trainer.fit(data, {.epochs = 10});
  EXPECT_GT(trainer.evaluate(data).metrics.at("accuracy"), 0.95);
  trainer.save_model(folder / "trained");
  const Graph trained = load_model(folder / "trained");
  EXPECT_EQ(*source(trained, "body.weight").data, *source(from, "body.weight").data);
}

TEST(adapt, judges_what_a_softmax_is_of_by_cross_entropy) {
  const TemporaryFolder folder;
  const auto loss_of = [&](bool has_softmax, const std::string& loss) {
    Graph g;
    const Value scores = dense(g.input("x", {3}), {.units = 4, .name = "head"});
    g.output("y", has_softmax ? softmax(scores) : scores);
    save_model(g, folder / "m", 5);
    const Graph made = adapt(load_model(folder / "m"), {.loss = loss});
    Evaluator evaluator(made);
    const data::Dataset data =
        data::in_memory({{"x", {3}, DType::f32}, {"label", {}, DType::i32}},
                        {Array({1.0F, -2.0F, 3.0F}), Array(std::vector<int32_t>{2})});
    return evaluator.evaluate(data).loss;
  };
  EXPECT_EQ(loss_of(true, "softmax_cross_entropy"), loss_of(false, "softmax_cross_entropy"));
}

TEST(adapt, trains_int8_models_with_new_classes) {
  const TemporaryFolder folder;
  const data::Dataset data = quarters("label");
  const Graph int8 =
      quantize_model(network(folder), data, {.int8_inputs = true, .int8_outputs = true}).graph;
  const Graph made = adapt(int8, {.loss = "softmax_cross_entropy",
                                  .metrics = {"accuracy"},
                                  .classes = 4,
                                  .f32_inputs = true,
                                  .trainable = {"*"}});
  EXPECT_EQ(source(made, "x").type.dtype, DType::f32);
  const ir::ValueData& weight = source(made, "head.weight");
  EXPECT_EQ(weight.type.dtype, DType::i8);
  EXPECT_EQ(weight.type.shape.elements(), 96 * 4);
  EXPECT_EQ(weight.type.quantization->scales.size(), 4U);
  // The real numbers are those of a new layer in f32, and have room to grow to four times as much.
  int largest = 0;
  for (const int8_t value : weight.data->as<int8_t>()) {
    largest = std::max(largest, std::abs(int{value}));
  }
  EXPECT_EQ(largest, 31);
  EXPECT_NEAR(31.0 * weight.type.quantization->scales[0], 1.0 / std::sqrt(96.0), 1e-6);
  EXPECT_EQ(*source(made, "body.weight").data, *source(int8, "body.weight").data);
  Trainer trainer(made, {.optimizer = SGD{.lr = 0.1}, .batch = 16});
  trainer.fit(data, {.epochs = 10});
  EXPECT_GT(trainer.evaluate(data).metrics.at("accuracy"), 0.9);
}

TEST(adapt, keeps_results_where_only_the_loss_changes) {
  const TemporaryFolder folder;
  const Graph from = network(folder);
  const Graph made = adapt(from, {.loss = "mse", .label = "wanted"});
  EXPECT_EQ(source(made, "wanted").type.dtype, DType::f32);
  const Array x(std::vector<float>(32, 0.5F), {2, 4, 4, 1});
  EXPECT_EQ(Predictor(from, 2).run({{"x", x}}).at("scores"),
            Predictor(made, 2).run({{"x", x}}).at("scores"));
}

TEST(adapt, leaves_out_the_old_loss_and_its_label) {
  Graph g = find_recipe("lenet5").build();
  const size_t nodes = g.ir().nodes.size();
  const Graph made = adapt(g, {.loss = "mse", .label = "wanted"});
  EXPECT_FALSE(made.ir().nodes.size() > nodes);
  EXPECT_TRUE(made.ir().metrics.empty());
  EXPECT_ANY_THROW((void)source(made, "digit"));
}

TEST(adapt, says_what_it_cannot_do) {
  const TemporaryFolder folder;
  const Graph g = network(folder);
  const auto error = [&](const AdaptOptions& options) {
    try {
      (void)adapt(g, options);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(error({.loss = "nothing"}), HasSubstr("there is no loss \"nothing\""));
  EXPECT_THAT(error({.loss = "relu"}), HasSubstr("a function of a result and a label"));
  EXPECT_THAT(error({.loss = "mse", .metrics = {"what"}}),
              HasSubstr("there is no metric \"what\""));
  EXPECT_THAT(error({.metrics = {"accuracy"}}), HasSubstr("metrics need a loss"));
  EXPECT_THAT(error({.output = "logits", .loss = "mse"}),
              HasSubstr("there is no output \"logits\"; the graph has \"scores\""));
  EXPECT_THAT(error({.freeze = {"nobody*"}}), HasSubstr("no parameter matches"));
  Graph plain;
  plain.output("y", relu(plain.input("x", {3})));
  EXPECT_THAT([&] { (void)adapt(plain, {.classes = 4}); },
              ThrowsMessage<Error>(HasSubstr("no layer before the output has weights")));
  Graph two;
  const Value x = two.input("x", {3});
  two.output("a", relu(x));
  two.output("b", exp(x));
  EXPECT_THAT(
      [&] { (void)adapt(two, {.loss = "mse"}); },
      ThrowsMessage<Error>(HasSubstr("the graph has 2 outputs; choose one of \"a\", \"b\"")));
}

}  // namespace
}  // namespace thimble::test::adapt_test
