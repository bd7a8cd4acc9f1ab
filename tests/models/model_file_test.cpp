// Model files of the recipes and of small models: saving and loading changes no bit.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <limits>

#include "harness/error_of.h"
#include "io/atomic_file.h"
#include "io/safetensors/safetensors.h"
#include "io/temporary_folder.h"
#include "ir/graph.h"
#include "models/small_models.h"

namespace thimble::model_file_test {
namespace {

using test::error_of;
using Losses = std::vector<double>;

TrainerOptions options(const Recipe& recipe) {
  return {.optimizer = recipe.optimizer(),
          .ema_decay = recipe.ema_decay,
          .batch = 2,
          .seed = 3,
          .threads = 1};
}

// Trains for so many more steps and returns their losses.
Losses train(Trainer& trainer, const data::Dataset& data, int64_t steps) {
  Losses losses;
  FitOptions fit{.epochs = 1};
  fit.on_step = [&](const StepReport& step) { losses.push_back(step.loss); };
  fit.stop = [&] { return static_cast<int64_t>(losses.size()) == steps; };
  trainer.fit(data, fit);
  return losses;
}

class of_recipes : public testing::TestWithParam<const char*> {};

// A training is saved after two steps and continued by a trainer that has only the file.
TEST_P(of_recipes, training_continues_from_a_file_alone_with_the_same_losses) {
  const Recipe& recipe = find_recipe(GetParam());
  const test::TemporaryFolder folder;
  const data::Dataset data = recipe.data("", data::Split::train).take(12);
  Losses whole;
  {
    Trainer trainer(recipe.build(), options(recipe));
    whole = train(trainer, data, 4);
  }
  {
    Trainer trainer(recipe.build(), options(recipe));
    train(trainer, data, 2);
    trainer.save(folder / "c");
  }
  Graph graph = load_graph(folder / "c");
  EXPECT_EQ(graph.text(), recipe.build().text());
  EXPECT_EQ(graph.summary(), recipe.build().summary());
  Trainer trainer(std::move(graph), options(recipe));
  trainer.resume(folder / "c");
  const Losses rest = train(trainer, data, 2);
  ASSERT_EQ(whole.size(), 4U);
  EXPECT_EQ(rest, Losses(whole.begin() + 2, whole.end()));
}

// A model file holds the saved weights, and a new training with them gives the same results.
TEST_P(of_recipes, a_model_file_begins_a_training_with_its_weights) {
  const Recipe& recipe = find_recipe(GetParam());
  const test::TemporaryFolder folder;
  const data::Dataset data = recipe.data("", data::Split::train).take(12);
  Trainer first(recipe.build(), options(recipe));
  train(first, data, 2);
  first.save(folder / "checkpoint");
  first.save_model(folder / "model");
  Trainer wanted(recipe.build(), options(recipe));
  wanted.load_weights(folder / "checkpoint");
  Trainer read(load_model(folder / "model"), options(recipe));
  EXPECT_EQ(read.weights_sha256(), wanted.weights_sha256());
  EXPECT_EQ(train(read, data, 2), train(wanted, data, 2));
  // A checkpoint serves as well, and a copy of a model file has its bytes.
  Trainer of_checkpoint(load_model(folder / "checkpoint"), options(recipe));
  EXPECT_EQ(train(of_checkpoint, data, 2).size(), 2U);
  EXPECT_EQ(of_checkpoint.weights_sha256(), read.weights_sha256());
  save_model(load_model(folder / "model"), folder / "copy");
  EXPECT_EQ(io::read_file(folder / "copy", 1 << 30), io::read_file(folder / "model", 1 << 30));
}

INSTANTIATE_TEST_SUITE_P(recipe, of_recipes,
                         testing::Values("gpt", "lenet5", "lstm", "mlp", "mobilenetv2", "resnet18",
                                         "unet_ddpm", "vae"),
                         [](const auto& info) { return std::string(info.param); });

TrainerOptions small_options() {
  return {.optimizer = AdamW{.lr = 1e-2}, .batch = 8, .seed = 5, .threads = 1};
}

TEST(model_file, of_a_graph_has_the_first_weights_of_a_seed) {
  const test::TemporaryFolder folder;
  save_model(test::small_network(), folder / "m", 5);
  const Trainer read(load_model(folder / "m"), {.seed = 99});
  EXPECT_EQ(read.weights_sha256(), Trainer(test::small_network(), {.seed = 5}).weights_sha256());
  EXPECT_NE(read.weights_sha256(), Trainer(test::small_network(), {.seed = 99}).weights_sha256());
}

TEST(model_file, holds_averages_in_the_place_of_averaged_weights) {
  const test::TemporaryFolder folder;
  TrainerOptions averaged = small_options();
  averaged.ema_decay = 0.9;
  Trainer trainer(test::small_network(), averaged);
  const data::Dataset data = test::small_data(64);
  trainer.fit(data, {.epochs = 2});
  trainer.save_model(folder / "m");
  trainer.save(folder / "c");
  const double wanted = trainer.evaluate(data).loss;
  EXPECT_EQ(Trainer(load_model(folder / "m"), small_options()).evaluate(data).loss, wanted);
  EXPECT_EQ(Trainer(load_model(folder / "c"), small_options()).evaluate(data).loss, wanted);
  EXPECT_EQ(io::Safetensors::read(folder / "m").find("dense.weight.average"), nullptr);
}

// The casts of mixed precision belong to the trainer, not to the model.
TEST(model_file, holds_the_graph_as_it_was_described) {
  const test::TemporaryFolder folder;
  TrainerOptions mixed = small_options();
  mixed.precision = DType::bf16;
  const data::Dataset data = test::small_data(64);
  Trainer trainer(test::small_network(), mixed);
  train(trainer, data, 2);
  trainer.save(folder / "c");
  trainer.save_model(folder / "m");
  EXPECT_EQ(load_graph(folder / "m").text(), test::small_network().text());
  Trainer resumed(load_graph(folder / "c"), mixed);
  resumed.resume(folder / "c");
  EXPECT_EQ(train(resumed, data, 2), train(trainer, data, 2));
}

// Values that the loss does not read: of an auxiliary head, and of every type.
TEST(model_file, holds_what_the_loss_does_not_read) {
  const test::TemporaryFolder folder;
  Graph g;
  const Value x = g.input("x", {2});
  const Value unread = g.parameter("unread", {3}, init::uniform(-1.0, 1.0));
  const Value whole = g.parameter("whole", {3}, init::constant(5.0), DType::i8);
  g.parameter("alone", {2}, init::constant(0.25), DType::f64);
  g.output("aux", dense(x, {.units = 3, .name = "aux"}) + unread + cast(whole, {DType::f32}));
  g.minimize(mean(dense(x, {.units = 1, .name = "head"})));
  const data::Dataset data = data::in_memory({{"x", {2}}}, {{1, 2, 3, 4, 5, 6, 7, 8}});
  for (const DType precision : {DType::f32, DType::bf16}) {
    const TrainerOptions options{.batch = 2, .precision = precision, .seed = 5, .threads = 1};
    Trainer trainer(g, options);
    train(trainer, data, 2);
    trainer.save(folder / "c");
    trainer.save_model(folder / "m");
    const Array aux = trainer.predict(data, "aux");
    EXPECT_EQ(Trainer(load_model(folder / "m"), options).predict(data, "aux").floats(),
              aux.floats());
    EXPECT_EQ(Trainer(load_model(folder / "c"), options).predict(data, "aux").floats(),
              aux.floats());
    Trainer resumed(load_graph(folder / "c"), options);
    resumed.resume(folder / "c");
    EXPECT_EQ(resumed.weights_sha256(), trainer.weights_sha256());
    EXPECT_EQ(trainer.parameter("alone").dtype(), DType::f64);
  }
}

TEST(model_file, gives_a_predictor_its_model_in_three_ways) {
  const test::TemporaryFolder folder;
  Trainer trainer(test::small_network(), small_options());
  trainer.fit(test::small_data(64), {.epochs = 1});
  trainer.save_model(folder / "m");
  const std::map<std::string, Array> inputs{{"image", std::vector<float>(3 * 128, 0.25F)}};
  const Array wanted = Predictor(test::small_network(), folder / "m").run(inputs).at("guess");
  EXPECT_EQ(Predictor(folder / "m", 2).run(inputs).at("guess"), wanted);
  EXPECT_EQ(Predictor(load_model(folder / "m")).run(inputs).at("guess"), wanted);
  const std::string error = error_of([&] { Predictor(load_graph(folder / "m"), 1); });
  EXPECT_NE(error.find("the graph has no values for it"), std::string::npos) << error;
}

// Constants, integers, quantized weights and frozen parameters.
TEST(model_file, keeps_every_type_of_values) {
  const test::TemporaryFolder folder;
  Graph g;
  const Value x = g.input("x", {4});
  const Value table = g.constant("table", Array(std::vector<int64_t>{7, -1, 1LL << 40, 3}));
  const Value flags =
      g.constant("flags", Array::of_bytes(DType::boolean, {4}, {std::byte{0b0110}}));
  const Value fours =
      g.constant("fours", Array::of_bytes(DType::i4, {3}, {std::byte{0xF8}, std::byte{0x07}}));
  const Value bytes =
      g.constant("bytes", Array(std::vector<int8_t>{1, -2, 3}),
                 {.scales = {0.5F, 0.25F, 0.1F}, .zero_points = {0, 1, -1}, .axis = 0});
  const Value halves = g.parameter("halves", {5}, init::ones(), DType::f16);
  const Value scale = g.parameter("scale", {4}, init::uniform(-1.0, 1.0));
  for (const auto& [name, value] : std::map<std::string, Value>{{"table", table},
                                                                {"flags", flags},
                                                                {"fours", fours},
                                                                {"bytes", bytes},
                                                                {"halves", halves}}) {
    g.output(name, value);
  }
  const Value y = x * scale;
  g.minimize(mean(y * y));
  save_model(g, folder / "m");
  const Graph read = load_model(folder / "m");
  EXPECT_EQ(read.text(), g.text());
  for (size_t id = 0; id < g.ir().values.size(); ++id) {
    const ir::ValueData& a = read.ir().values[id];
    const ir::ValueData& b = g.ir().values[id];
    EXPECT_EQ(a.type, b.type) << *b.name;
    if (b.role == ir::Role::constant) {
      EXPECT_EQ(*a.data, *b.data) << *b.name;
    }
  }
  save_model(read, folder / "again");
  EXPECT_EQ(io::read_file(folder / "again", 1 << 20), io::read_file(folder / "m", 1 << 20));
}

TEST(model_file, can_be_extended) {
  const test::TemporaryFolder folder;
  Graph original = test::small_network();
  save_model(original, folder / "m");
  Graph read = load_model(folder / "m");
  for (Graph* const g : {&original, &read}) {
    const Value image = g->ir().find_source("image");
    g->output("more", dense(flatten(image), {.units = 2}));
  }
  EXPECT_EQ(read.text(), original.text());
}

TEST(model_file, names_the_file_and_what_is_wrong) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "m";
  EXPECT_NE(error_of([&] { static_cast<void>(load_graph(path)); }).find("no such file"),
            std::string::npos);
  const auto written = [&](const io::Metadata& metadata,
                           const std::vector<io::TensorView>& tensors) {
    io::write_safetensors(path, tensors, metadata);
    return error_of([&] { static_cast<void>(load_model(path)); });
  };
  const auto holds = [&](const std::string& error, const std::string& words) {
    EXPECT_NE(error.find(words), std::string::npos) << error;
    EXPECT_NE(error.find(path), std::string::npos) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  };
  holds(written({}, {}), "holds weights and no graph, so it is no model file");
  holds(written({{"graph", "{"}}, {}), "the graph is not JSON");
  holds(written({{"graph", "{}"}}, {}), "graph: the field version is missing");

  save_model(test::small_network(), folder / "good");
  const io::Safetensors good = io::Safetensors::read(folder / "good");
  std::vector<io::TensorView> tensors(good.tensors().begin(), good.tensors().end());
  tensors.pop_back();
  const std::string missing = good.tensors().back().name;
  holds(written(good.metadata(), tensors), "the tensor " + missing + " is missing");
  tensors = {good.tensors().begin(), good.tensors().end()};
  const float bad = std::numeric_limits<float>::infinity();
  for (io::TensorView& tensor : tensors) {
    if (tensor.name != "dense.bias") continue;
    tensor.shape = {1};
    tensor.bytes = std::as_bytes(std::span(&bad, 1));
  }
  holds(written(good.metadata(), tensors), "the tensor dense.bias is f32[1], the model has f32[3]");

  Trainer trainer(test::small_network(), small_options());
  const std::string error = error_of([&] { trainer.resume(folder / "good"); });
  EXPECT_NE(error.find("is a model file and holds no state of a training"), std::string::npos)
      << error;
}

}  // namespace
}  // namespace thimble::model_file_test
