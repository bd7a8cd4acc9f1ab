// Sparse updates: what a scheme trains, and what it costs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/import.h>
#include <thimble/thimble.h>

#include <cmath>

#include "harness/error_of.h"
#include "harness/given_data.h"
#include "io/safetensors/safetensors.h"
#include "io/temporary_folder.h"
#include "ir/graph.h"
#include "models/small_models.h"
#include "train/scheme.h"
#include "train/state.h"

namespace thimble::test::scheme_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Convolutions of several kinds with a skip connection: pointwise, 3 x 3, depthwise, transposed,
// and a dense layer.
Graph residual_network() {
  Graph g;
  const Value image = g.input("image", {8, 8, 2});
  const Value wanted = g.label("wanted", {3}, DType::f32);
  Value x = relu(conv2d(image, {.channels = 16, .kernel = 3, .padding = 1, .name = "stem"}));
  Value y = relu(conv2d(x, {.channels = 24, .kernel = 1, .name = "expand"}));
  y = relu(depthwise_conv2d(y, {.kernel = 3, .padding = 1, .name = "depthwise"}));
  y = conv2d(y, {.channels = 16, .kernel = 1, .name = "project"});
  x = x + y;
  x = relu(conv2d(x, {.channels = 6, .kernel = 3, .stride = 2, .padding = 1, .name = "down"}));
  x = relu(conv_transpose2d(x, {.channels = 4, .kernel = 2, .stride = 2, .name = "up"}));
  x = dense(flatten(x), {.units = 3, .name = "head"});
  const Value error = x - wanted;
  g.minimize(mean(error * error));
  g.output("guess", x);
  return g;
}

TrainerOptions options_of(const std::string& scheme, const Optimizer& optimizer = SGD{.lr = 0.01}) {
  TrainerOptions options{.optimizer = optimizer, .batch = 8, .seed = 3, .threads = 2};
  if (!scheme.empty()) options.scheme = UpdateScheme::parse(scheme);
  return options;
}

constexpr const char* kMixed =
    R"({"bias_last": 2, "weights": {"stem": [1], "expand": 0.25, "depthwise": [2, 5, 7, 20],
        "project": 0.5, "down": [0, 3, 15], "up": [1, 4], "head": 0.125}})";

// The elements of a tensor that a part consists of.
std::vector<size_t> places(const Shape& shape, const ir::TrainedPart& part) {
  std::vector<size_t> found;
  const train::Places along(shape, part.axis);
  for (size_t i = 0; i < static_cast<size_t>(shape.elements()); ++i) {
    const auto index = static_cast<int64_t>(along.at(i));
    if (part.indices.empty() ||
        std::find(part.indices.begin(), part.indices.end(), index) != part.indices.end()) {
      found.push_back(i);
    }
  }
  return found;
}

train::TrainedParameters trained_by(Trainer& trainer) {
  return train::trained_parameters(trainer.state().model, *trainer.options().scheme);
}

// Checks that gradients by a scheme are those of the whole training, bit for bit.
void expect_same_gradients(const Graph& graph, const std::string& scheme,
                           const data::Dataset& samples) {
  Trainer whole(graph, options_of(""));
  Trainer sparse(graph, options_of(scheme));
  const Gradients all = whole.gradients(samples);
  const Gradients some = sparse.gradients(samples);
  const train::TrainedParameters trained = trained_by(sparse);
  ASSERT_EQ(some.values.size(), trained.size());
  EXPECT_EQ(some.batch.loss, all.batch.loss);
  for (const auto& [name, part] : trained) {
    SCOPED_TRACE(name);
    const Array& gradient = all.values.at(name);
    const std::vector<float> wanted = gradient.floats();
    const std::vector<float> got = some.values.at(name).floats();
    const std::vector<size_t> at = places(gradient.shape(), part);
    ASSERT_EQ(got.size(), at.size());
    size_t differ = 0;
    for (size_t i = 0; i < at.size(); ++i) differ += got[i] == wanted[at[i]] ? 0 : 1;
    EXPECT_EQ(differ, 0U) << "of " << at.size();
  }
}

TEST(scheme, trains_its_parts_by_the_bits_of_the_whole_gradient) {
  expect_same_gradients(residual_network(), kMixed, small_data(8));
}

// Frozen values keep their bits; the others take the steps that the whole gradients ask for.
TEST(scheme, moves_its_parts_alone) {
  for (const Optimizer& optimizer :
       {Optimizer(SGD{.lr = 0.05}), Optimizer(SGD{.lr = 0.05, .momentum = 0.9}),
        Optimizer(Adam{.lr = 0.01, .weight_decay = 0.1}), Optimizer(AdamW{.lr = 0.01})}) {
    SCOPED_TRACE(optimizer.text());
    const Graph graph = residual_network();
    const data::Dataset samples = small_data(8);
    Trainer sparse(graph, options_of(kMixed, optimizer));
    Trainer whole(graph, options_of("", optimizer));
    OptimizerState state(
        optimizer,
        [&] {
          std::map<std::string, Shape> shapes;
          for (const std::string& name : whole.parameter_names()) {
            shapes[name] = whole.parameter(name).shape();
          }
          return shapes;
        }(),
        1);
    const train::TrainedParameters trained = trained_by(sparse);
    for (int step = 0; step < 3; ++step) {
      // The whole gradients at the sparse training's values, and the optimizer's step by them.
      OptimizerState::Values values;
      for (const std::string& name : whole.parameter_names()) {
        values[name] = sparse.parameter(name);
        whole.set_parameter(name, values[name]);
      }
      OptimizerState::Values moved = values;
      state.update(moved, whole.gradients(samples).values);
      sparse.step(samples);
      for (const auto& [name, before] : values) {
        SCOPED_TRACE(name);
        std::vector<float> wanted = before.floats();
        const std::vector<float> full = moved.at(name).floats();
        const auto part = trained.find(name);
        if (part != trained.end()) {
          for (const size_t at : places(before.shape(), part->second)) wanted[at] = full[at];
          EXPECT_NE(wanted, before.floats()) << "nothing moves";
        }
        EXPECT_EQ(sparse.parameter(name).floats(), wanted);
      }
    }
  }
}

TEST(scheme, keeps_gradients_state_and_activations_of_its_parts_alone) {
  const Graph graph = residual_network();
  const auto plan_of = [&](const char* scheme) {
    return plan_training(graph, options_of(scheme, Adam{}));
  };
  const Plan whole = plan_of("");
  EXPECT_EQ(whole.trained_parameters, whole.parameters);
  EXPECT_EQ(whole.read_only_bytes, 0);
  // 24 channels of 16: 4 of them, and 3 biases of the last layer.
  const Plan part = plan_of(R"({"bias_last": 1, "weights": {"project": [0, 1, 2, 3]}})");
  EXPECT_EQ(part.trained_parameters, 16 * 4 + 3);
  EXPECT_EQ(part.parameters, whole.parameters);
  EXPECT_EQ(part.state_bytes, 2 * 4 * (16 * 4 + 3));
  EXPECT_EQ(part.parameter_bytes, whole.parameter_bytes);
  EXPECT_EQ(part.read_only_bytes, whole.parameter_bytes - 4 * (16 * 24 + 3));
  EXPECT_LT(part.planned_peak_bytes, whole.planned_peak_bytes);
  const Plan all_channels = plan_of(R"({"bias_last": 1, "weights": {"project": 1}})");
  EXPECT_LT(part.planned_peak_bytes, all_channels.planned_peak_bytes);
  const Plan biases = plan_of(R"({"bias_last": 1})");
  EXPECT_LT(biases.arena_bytes, part.arena_bytes);
  // Nothing is computed before the layers that are trained.
  for (const PlanStep& step : biases.steps) {
    EXPECT_THAT(step.op, testing::Not(HasSubstr("input_grad")));
  }
  EXPECT_THAT(part.text(), AllOf(HasSubstr("trained: 67 of "), HasSubstr("sparse update")));
}

TEST(scheme, takes_what_its_plan_says_on_every_number_of_threads) {
  const Graph graph = residual_network();
  for (const int threads : {1, 2, 3}) {
    TrainerOptions options = options_of(kMixed);
    options.threads = threads;
    Trainer trainer(graph, options);
    const data::Dataset samples = small_data(16);
    const FitResult result = trainer.fit(samples, {.epochs = 1});
    const int64_t reading = result.input_pipeline_bytes - samples.bytes();
    EXPECT_EQ(result.measured_peak_bytes - reading, trainer.plan().planned_peak_bytes) << threads;
  }
}

TEST(scheme, has_the_same_bits_on_every_number_of_threads_and_in_every_budget) {
  const Graph graph = residual_network();
  TrainerOptions options = options_of(kMixed, Adam{.lr = 0.01});
  Trainer two(graph, options);
  two.fit(small_data(40), {.epochs = 2});
  options.threads = 1;
  options.memory_budget = plan_training(graph, options).nearest_feasible_bytes;
  Trainer one(graph, options);
  one.fit(small_data(40), {.epochs = 2});
  EXPECT_EQ(one.weights_sha256(), two.weights_sha256());
  EXPECT_LE(one.plan().planned_peak_bytes, two.plan().planned_peak_bytes);
}

TEST(scheme, resumes_with_the_same_bits) {
  const Graph graph = residual_network();
  const data::Dataset samples = small_data(40);
  const TemporaryFolder folder;
  const TrainerOptions options = options_of(kMixed, AdamW{.lr = 0.01});
  Trainer straight(graph, options);
  straight.fit(samples, {.epochs = 2});
  Trainer first(graph, options);
  first.fit(samples, {.epochs = 1});
  first.save(folder / "c.safetensors");
  Trainer resumed(graph, options);
  resumed.resume(folder / "c.safetensors");
  resumed.fit(samples, {.epochs = 2, .initial_epoch = 1});
  EXPECT_EQ(resumed.weights_sha256(), straight.weights_sha256());
  // Another scheme is another training.
  Trainer other(graph, options_of(R"({"weights": {"project": 0.5}})", AdamW{.lr = 0.01}));
  EXPECT_THAT(error_of([&] { other.resume(folder / "c.safetensors"); }),
              HasSubstr("scheme (on the command line --scheme)"));
  // A training of all loads the file: it has whole weights in their order.
  Trainer whole(graph, options_of(""));
  whole.load_weights(folder / "c.safetensors");
  EXPECT_EQ(whole.weights_sha256(), first.weights_sha256());
  // By weights of another kind the same scheme chooses other channels: the file's are taken.
  const UpdateScheme asked = UpdateScheme::parse(kMixed);
  EXPECT_EQ(train::continued(graph.ir(), asked, folder / "c.safetensors"), first.options().scheme);
  const UpdateScheme listed = UpdateScheme::parse(R"({"weights": {"project": [0]}})");
  EXPECT_EQ(train::continued(graph.ir(), listed, folder / "c.safetensors"), listed);
}

TEST(scheme, accumulates_clips_penalizes_and_averages) {
  const Graph graph = residual_network();
  TrainerOptions options = options_of(kMixed, SGD{.lr = 0.02, .momentum = 0.9});
  options.accumulate = 2;
  options.clip = GradientClip::by_global_norm(0.5);
  options.groups = {{.pattern = "project.weight", .l1 = 0.01, .l2 = 0.02}};
  options.ema_decay = 0.5;
  Trainer trainer(graph, options);
  const std::vector<float> frozen = trainer.parameter("stem.bias").floats();
  const std::vector<float> before = trainer.parameter("project.weight").floats();
  trainer.fit(small_data(64), {.epochs = 2});
  EXPECT_EQ(trainer.parameter("stem.bias").floats(), frozen);
  EXPECT_NE(trainer.parameter("project.weight").floats(), before);
  const TemporaryFolder folder;
  trainer.save_model(folder / "m.safetensors");
  EXPECT_EQ(load_model(folder / "m.safetensors").text(), graph.text());
}

TEST(scheme, chooses_the_channels_of_the_largest_weights) {
  Graph g;
  const Value x = g.input("x", {4});
  const Value y = matmul(x, g.parameter("w", {2, 4}, init::zeros()), {.transpose_b = true});
  g.minimize(mean(y * y));
  Trainer trainer(g, options_of(R"({"weights": {"w": 1}})"));
  trainer.set_parameter("w", Array(std::vector<float>{0, -3, 1, 2, 1, 1, 0, -2}, {2, 4}));
  const TemporaryFolder folder;
  trainer.save_model(folder / "m.safetensors");
  const Graph filled = load_model(folder / "m.safetensors");
  TrainerOptions options = options_of(R"({"weights": {"w": 0.5}})");
  EXPECT_THAT(Trainer(filled, options).options().scheme->weights.at("w").channels,
              ElementsAre(1, 3));
  // By contribution: the second feature is 0, so its weights have no gradient.
  options.scheme->choice = UpdateScheme::Choice::contribution;
  const data::Dataset samples =
      data::in_memory({{"x", {4}}}, {std::vector<float>{1, 0, 2, 1, 2, 0, 1, 1}});
  const UpdateScheme chosen = choose_channels(filled, options, samples);
  const std::vector<int64_t> channels = chosen.weights.at("w").channels;
  EXPECT_EQ(channels.size(), 2U);
  EXPECT_THAT(channels, testing::Not(testing::Contains(1)));
  EXPECT_THAT(error_of([&] { Trainer(filled, options); }), HasSubstr("call choose_channels"));
}

TEST(scheme, refuses_what_does_not_fit_the_model) {
  const Graph graph = residual_network();
  const auto error = [&](const char* scheme) {
    return error_of([&] { static_cast<void>(Trainer(graph, options_of(scheme))); });
  };
  EXPECT_THAT(error(R"({"weights": {"projekt": 1}})"),
              AllOf(HasSubstr("no layer \"projekt\""), HasSubstr("the nearest is \"project\"")));
  EXPECT_THAT(error(R"({"weights": {"stem": [0, 2]}})"),
              HasSubstr("\"stem\" has 2 input channels, 0 to 1, and no channel 2"));
  EXPECT_THAT(error(R"({"weights": {"stem": [1, 1]}})"), HasSubstr("channel 1 twice"));
  EXPECT_THAT(error(R"({"weights": {"stem": 0.25}})"),
              AllOf(HasSubstr("the ratio 0.25 of \"stem\" gives no channel"),
                    HasSubstr("write 0.5 or more")));
  EXPECT_THAT(error(R"({"bias_last": 8})"),
              HasSubstr("bias_last is 8, but only 7 layers of the model have a bias"));
  EXPECT_THAT(error(R"({"bias_last": 0, "weights": {}})"), HasSubstr("names nothing to train"));
  EXPECT_THAT(error(R"({"weights": {"stem": 1, "stem.weight": [0]}})"),
              HasSubstr("stem.weight stands there twice"));
  EXPECT_THAT(error(R"({"weights": {"stem.bias": 0.5}})"), HasSubstr("no input channels"));
  const auto by = [&](const Optimizer& optimizer) {
    return error_of([&] { static_cast<void>(Trainer(graph, options_of(kMixed, optimizer))); });
  };
  EXPECT_THAT(by(LAMB{}), AllOf(HasSubstr("lamb updates whole tensors alone"),
                                HasSubstr("take one of adam, adamw, sgd")));
  EXPECT_THAT(by(Adam{.state_bits = 8, .min_8bit_size = 1}), HasSubstr("set state_bits to 32"));
}

TEST(scheme, refuses_layers_without_weights_or_input_channels) {
  Graph g = small_network();
  const auto error = [&](const char* scheme) {
    return error_of([&] { static_cast<void>(Trainer(g, options_of(scheme))); });
  };
  EXPECT_THAT(error(R"({"weights": {"norm": 0.5}})"),
              AllOf(HasSubstr("norm.weight has no input channels"), HasSubstr("write 1")));
  Graph pooled;
  Value x = pooled.input("image", {8, 8, 2});
  x = max_pool2d(x, {.kernel = 2});
  x = dense(flatten(x), {.units = 1, .name = "head"});
  pooled.minimize(mean(x));
  EXPECT_THAT(
      error_of([&] {
        static_cast<void>(Trainer(pooled, options_of(R"({"weights": {"max_pool2d_1": 1}})")));
      }),
      HasSubstr("the layer \"max_pool2d_1\" (max_pool2d) has no weights"));
}

TEST(scheme, is_read_from_json) {
  const UpdateScheme scheme = UpdateScheme::parse(
      R"({"bias_last": 20, "weights": {"a": 0.25, "b": [3, 5, 8]}, "choice": "contribution"})");
  EXPECT_EQ(scheme.bias_last, 20);
  EXPECT_EQ(scheme.weights.at("a").ratio, 0.25);
  EXPECT_THAT(scheme.weights.at("b").channels, ElementsAre(3, 5, 8));
  EXPECT_EQ(UpdateScheme::parse(scheme.text()), scheme);
  const std::pair<const char*, const char*> wrong[] = {
      {"{", "is not JSON"},
      {"[]", "the scheme"},
      {R"({"bias": 1})", "bias"},
      {R"({"bias_last": -1})", "bias_last must be a whole number of layers"},
      {R"({"bias_last": 1.5})", "bias_last"},
      {R"({"weights": [1]})", "weights must be an object"},
      {R"({"weights": {"a": 0}})", "expected a ratio above 0"},
      {R"({"weights": {"a": 1.5}})", "expected a ratio above 0"},
      {R"({"weights": {"a": []}})", "or a list of channels"},
      {R"({"weights": {"a": [-1]}})", "numbers of channels, from 0 on"},
      {R"({"weights": {"a": "b"}})", "expected a ratio such as 0.25"},
      {R"({"choice": "best"})", "\"magnitude\" or \"contribution\""}};
  for (const auto& [text, expected] : wrong) {
    EXPECT_THAT(error_of([&, text = text] { (void)UpdateScheme::parse(text, "s.json"); }),
                AllOf(HasSubstr("s.json"), HasSubstr(expected)))
        << text;
  }
  EXPECT_THAT(error_of([] { (void)UpdateScheme::load("no/such.json"); }),
              HasSubstr("no/such.json"));
}

TEST(scheme, is_kept_in_a_program) {
  const Graph graph = residual_network();
  const data::Dataset samples = small_data(16);
  const TemporaryFolder folder;
  const TrainerOptions options = options_of(kMixed);
  const CompiledTraining compiled(graph, options, {.samples = 16});
  compiled.save(folder / "p.thimble");
  Trainer from_file(CompiledTraining::load(folder / "p.thimble"));
  Trainer direct(graph, options);
  EXPECT_EQ(from_file.options().scheme, direct.options().scheme);
  EXPECT_EQ(from_file.plan().trained_parameters, direct.plan().trained_parameters);
  EXPECT_EQ(from_file.plan().read_only_bytes, direct.plan().read_only_bytes);
  from_file.fit(samples, {.epochs = 2});
  direct.fit(samples, {.epochs = 2});
  EXPECT_EQ(from_file.weights_sha256(), direct.weights_sha256());
}

TEST(scheme, of_mixed_precision_trains_the_same_parts) {
  TrainerOptions options = options_of(kMixed);
  options.precision = DType::bf16;
  const Graph graph = residual_network();
  Trainer trainer(graph, options);
  const train::TrainedParameters trained = trained_by(trainer);
  const std::vector<float> before = trainer.parameter("down.weight").floats();
  trainer.fit(small_data(16), {.epochs = 1});
  const Array after = trainer.parameter("down.weight");
  std::vector<float> wanted = before;
  const std::vector<float> values = after.floats();
  for (const size_t at : places(after.shape(), trained.at("down.weight"))) wanted[at] = values[at];
  EXPECT_EQ(values, wanted);
  EXPECT_NE(values, before);
}

// --- int8 ---

// The network above on int8.
const Graph& int8_network() {
  static const Graph made = [] {
    const Graph graph = residual_network();
    Trainer trainer(graph, options_of(""));
    trainer.fit(small_data(64), {.epochs = 2});
    const TemporaryFolder folder;
    trainer.save_model(folder / "m.safetensors");
    return quantize_model(load_model(folder / "m.safetensors"), small_data(64), {.samples = 32})
        .graph;
  }();
  return made;
}

TEST(scheme, of_an_int8_network_has_the_bits_of_the_whole_gradient) {
  expect_same_gradients(int8_network(), kMixed, small_data(8));
}

std::vector<int64_t> whole_numbers(const Trainer& trainer, const std::string& name) {
  return trainer.parameter(name).integers();
}

// Changes are rounded by the random numbers that the whole training has, so that a step of it is
// equal in the part that is trained.
TEST(scheme, of_an_int8_network_moves_its_parts_as_the_whole_training_does) {
  for (const Optimizer& optimizer :
       {Optimizer(SGD{.lr = 0.05, .momentum = 0.9}), Optimizer(Adam{.lr = 0.3})}) {
    SCOPED_TRACE(optimizer.text());
    const data::Dataset samples = small_data(8);
    Trainer sparse(int8_network(), options_of(kMixed, optimizer));
    Trainer whole(int8_network(), options_of("", optimizer));
    const train::TrainedParameters trained = trained_by(sparse);
    std::map<std::string, std::vector<int64_t>> wanted;
    for (const std::string& name : sparse.parameter_names())
      wanted[name] = whole_numbers(sparse, name);
    const auto before = wanted;
    sparse.step(samples);
    whole.step(samples);
    size_t moved = 0;
    for (const auto& [name, part] : trained) {
      const std::vector<int64_t> full = whole_numbers(whole, name);
      for (const size_t at : places(sparse.parameter(name).shape(), part)) {
        wanted[name][at] = full[at];
        moved += full[at] != before.at(name)[at] ? 1 : 0;
      }
    }
    EXPECT_GT(moved, 10U);
    for (const auto& [name, values] : wanted)
      EXPECT_EQ(whole_numbers(sparse, name), values) << name;
    // Over further steps, what is frozen stays as it is.
    for (int step = 0; step < 3; ++step) sparse.step(samples);
    for (const auto& [name, values] : before) {
      std::vector<int64_t> now = whole_numbers(sparse, name);
      const auto part = trained.find(name);
      if (part != trained.end()) {
        for (const size_t at : places(sparse.parameter(name).shape(), part->second)) {
          now[at] = values[at];
        }
      }
      EXPECT_EQ(now, values) << name;
    }
  }
}

TEST(scheme, of_an_int8_network_keeps_the_trained_channels_of_activations) {
  const auto plan_of = [](const char* scheme) {
    return plan_training(int8_network(), options_of(scheme));
  };
  const Plan whole = plan_of("");
  const Plan part = plan_of(R"({"bias_last": 1, "weights": {"project": [0, 1, 2]}})");
  EXPECT_EQ(part.trained_parameters, 16 * 3 + 3);
  EXPECT_LT(part.planned_peak_bytes, whole.planned_peak_bytes);
  EXPECT_EQ(part.read_only_bytes, part.parameter_bytes - 16 * 24 - 3 * 4);
  const bool keeps_slices =
      std::any_of(part.buffers.begin(), part.buffers.end(), [](const auto& b) {
        return b.dtype == DType::i8 && b.shape == Shape{8, 8, 8, 3};
      });
  EXPECT_TRUE(keeps_slices);
}

// The scheme of Lin et al., 2022, for MCUNet, in their memory.
TEST(scheme, of_mcunet_fits_a_microcontroller) {
  const std::string file = test::given_mcunet();
  if (file.empty()) GTEST_SKIP() << test::kNeedsMcunet;
  Graph graph = import_quantized_json(file);
  const Value digit = graph.label("class");
  const Value logits = graph.ir().value(graph.ir().outputs.at(0).second);
  graph.minimize(softmax_cross_entropy(dequantize(logits), digit));
  TrainerOptions options{.optimizer = SGD{}, .batch = 1, .threads = 1};
  options.input_pipeline_bytes = 1;
  options.scheme = UpdateScheme::parse(
      R"({"bias_last": 20, "weights": {"v9_conv_0": 0.25, "v10_conv_0": 0.5, "v11_conv_0": 0.5}})");
  constexpr int64_t kBiases = 4442;  // of the convolutions 23 to 42
  for (const bool plain : {false, true}) {
    const CompiledTraining compiled(
        graph, options,
        {.samples = 1, .test_samples = 1, .predict = true, .reference_kernels = plain});
    const Plan& sparse = compiled.plan();
    EXPECT_EQ(sparse.trained_parameters, 144 * 12 + 192 * 24 + 240 * 24 + kBiases);
    // What changes; constants and frozen parameters lie in flash.
    const int64_t in_ram = sparse.arena_bytes + sparse.parameter_bytes - sparse.read_only_bytes;
    fmt::print("{}: arena {} B, with trained parameters {} B\n", plain ? "C kernels" : "host",
               sparse.arena_bytes, in_ram);
    // A stack of 6 KB makes 160,000 B of the C kernels, of which export-c writes a device's code.
    EXPECT_LE(in_ram, plain ? 154'000 : 300'000);
  }
}

}  // namespace
}  // namespace thimble::test::scheme_test
