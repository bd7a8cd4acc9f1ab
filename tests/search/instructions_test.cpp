// The instruction model, and schemes within a limit of instructions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/import.h>
#include <thimble/instruction_model.h>
#include <thimble/quantize.h>
#include <thimble/recipes.h>
#include <thimble/thimble.h>

#include <algorithm>

#include "harness/given_data.h"
#include "io/temporary_folder.h"
#include "ir/graph.h"

namespace thimble::test::instructions_test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Graph network() {
  Graph g;
  const Value image = g.input("image", {28, 28, 1});
  Value h = relu(conv2d(image, {.channels = 4, .kernel = 5, .stride = 3, .name = "c1"}));
  h = relu(conv2d(h, {.channels = 8, .kernel = 3, .stride = 2, .name = "c2"}));
  const Value logits = dense(flatten(h), {.units = 10, .name = "d1"});
  g.minimize(softmax_cross_entropy(logits, g.label("digit")));
  return g;
}

TrainerOptions options(const UpdateScheme& scheme, int64_t batch = 1) {
  TrainerOptions made{.optimizer = SGD{.lr = 0.1}, .batch = batch};
  made.scheme = scheme;
  return made;
}

const UpdateScheme kLast{.bias_last = 1, .weights = {{"d1", {}}}};
const UpdateScheme kHalf{.bias_last = 2, .weights = {{"d1", {}}, {"c2", {.ratio = 0.5}}}};
const UpdateScheme kAll{.bias_last = 3, .weights = {{"d1", {}}, {"c2", {}}, {"c1", {}}}};

TEST(instruction_model, sums_what_its_ops_take) {
  for (const Core core : {Core::cortex_m4, Core::cortex_m7, Core::cortex_m55}) {
    const StepInstructions step = predict_instructions(network(), options(kAll), core);
    double sum = 0.0;
    double products = 0.0;
    for (const OpInstructions& one : step.ops) {
      EXPECT_GT(one.instructions, 0.0) << one.op;
      sum += one.instructions;
      for (const OpInstructions::Work& work : one.work) {
        if (work.kind == OpInstructions::Kind::f32_products) products += work.units;
      }
    }
    EXPECT_DOUBLE_EQ(step.total(), sum);
    // Three times the forward pass, without the gradient of the image.
    constexpr double kFirst = 8 * 8 * 4 * 25;
    constexpr double kOthers = 3 * 3 * 8 * 9 * 4 + 3 * 3 * 8 * 10;
    EXPECT_DOUBLE_EQ(products, 2 * kFirst + 3 * kOthers);
  }
}

TEST(instruction_model, grows_with_what_is_trained_and_with_the_batch) {
  for (const Core core : {Core::cortex_m4, Core::cortex_m7, Core::cortex_m55}) {
    const auto total = [&](const UpdateScheme& scheme, int64_t batch = 1) {
      return predict_instructions(network(), options(scheme, batch), core).total();
    };
    EXPECT_LT(total(kLast), total(kHalf));
    EXPECT_LT(total(kHalf), total(kAll));
    // By as much for each sample; updates are of the whole batch.
    const double two = total(kHalf, 4) - total(kHalf, 2);
    EXPECT_GT(two, 0.0);
    EXPECT_NEAR(total(kHalf, 8) - total(kHalf, 4), 2.0 * two, 1e-6 * two);
    EXPECT_LT(total(kHalf, 8), 4.0 * total(kHalf, 2));
  }
}

// Instructions of a step in QEMU on Cortex-M4, M7 and M55, in millions, as
// bench/quality/instructions.py counts them.
struct Counted {
  UpdateScheme scheme;
  Optimizer optimizer;
  double millions[3];
  DType error_type = DType::f32;
};
constexpr double kTolerance = 0.2;

void expect_counted(const Graph& graph, const Counted& counted) {
  TrainerOptions training{
      .optimizer = counted.optimizer, .batch = 1, .error_type = counted.error_type};
  if (!counted.scheme.weights.empty()) training.scheme = counted.scheme;
  for (const Core core : {Core::cortex_m4, Core::cortex_m7, Core::cortex_m55}) {
    const double wanted = counted.millions[static_cast<size_t>(core)];
    EXPECT_NEAR(predict_instructions(graph, training, core).total() / 1e6, wanted,
                kTolerance * wanted)
        << counted.scheme.text() << " on core " << static_cast<int>(core);
  }
}

Graph quantized_recipe(const char* name) {
  const TemporaryFolder folder;
  Trainer(find_recipe(name).build(), {.seed = 1}).save_model(folder / "f32");
  return quantize_model(load_model(folder / "f32"), data::digits(8, 1), {.samples = 8}).graph;
}

// The weights say nothing of the work, except gradients that are 0.
TEST(instruction_model, is_close_to_counts_of_small_networks) {
  const Graph lenet5 = quantized_recipe("lenet5");
  expect_counted(lenet5, {{}, SGD{}, {15.03, 15.04, 9.92}});
  const UpdateScheme conv2{.bias_last = 4, .weights = {{"conv2", {}}}};
  expect_counted(lenet5, {conv2, Adam{}, {3.04, 3.05, 2.23}});
  const UpdateScheme dense{.bias_last = 3,
                           .weights = {{"dense3", {}}, {"dense2", {.ratio = 0.125}}}};
  expect_counted(quantized_recipe("mlp"), {dense, SGD{}, {13.22, 13.21, 7.94}});
}

TEST(instruction_model, is_close_to_counts_of_mcunet) {
  const std::string file = test::given_mcunet();
  if (file.empty()) GTEST_SKIP() << test::kNeedsMcunet;
  Graph graph = import_quantized_json(file);
  const Value logits = graph.ir().value(graph.ir().outputs.at(0).second);
  graph.minimize(softmax_cross_entropy(dequantize(logits), graph.label("class")));
  const UpdateScheme scheme = UpdateScheme::parse(
      R"({"bias_last": 20, "weights": {"v9_conv_0": 0.25, "v10_conv_0": 0.5, "v11_conv_0": 0.5}})");
  expect_counted(graph, {scheme, SGD{}, {48.73, 49.01, 19.54}});
  expect_counted(graph, {scheme, SGD{}, {72.07, 72.03, 39.23}, DType::i8});
}

// What each part adds, made up.
Contributions contributions() {
  Contributions made{.metric = "accuracy", .last_layer = "d1", .base = 0.5};
  made.biases = {{.last = 2, .score = 0.55}, {.last = 3, .score = 0.57}};
  made.weights = {{.layer = "c1", .ratio = 1.0, .biases = 3, .score = 0.6},
                  {.layer = "c2", .ratio = 0.5, .biases = 2, .score = 0.58},
                  {.layer = "c2", .ratio = 1.0, .biases = 2, .score = 0.62}};
  return made;
}

TEST(instruction_model, limits_the_search_of_a_scheme) {
  const Contributions parts = contributions();
  const Graph graph = network();
  struct One {
    int64_t bytes;
    double instructions;
    double gain;
  };
  std::vector<One> all;
  for (const int64_t biases : {1, 2, 3}) {
    for (const double c1 : {0.0, 1.0}) {
      for (const double c2 : {0.0, 0.5, 1.0}) {
        UpdateScheme scheme{.bias_last = biases, .weights = {{"d1", {}}}};
        if (c1 > 0.0) scheme.weights["c1"].ratio = c1;
        if (c2 > 0.0) scheme.weights["c2"].ratio = c2;
        const double gain = (biases == 2   ? 0.05
                             : biases == 3 ? 0.07
                                           : 0.0) +
                            (c1 > 0.0 ? 0.6 - 0.57 : 0.0) +
                            (c2 == 0.5   ? 0.58 - 0.55
                             : c2 == 1.0 ? 0.62 - 0.55
                                         : 0.0);
        const TrainerOptions training = options(scheme);
        all.push_back({plan_training(graph, training).planned_peak_bytes,
                       predict_instructions(graph, training, Core::cortex_m7).total(), gain});
      }
    }
  }
  SchemeSearchOptions search{.training = options(kLast)};
  // Training more may lower a peak by the alignment of a few buffers, which the search does not
  // follow.
  constexpr int64_t kAlignment = 128;
  size_t differ = 0;
  for (size_t i = 0; i < all.size(); i += 5) {
    for (size_t j = 0; j < all.size(); j += 3) {
      const One& memory = all[i];
      const One& work = all[j];
      search.memory_budget = memory.bytes + kAlignment;
      const InstructionLimit limit{Core::cortex_m7, work.instructions};
      double best = 0.0;
      double within_less = 0.0;
      double without = 0.0;
      for (const One& one : all) {
        if (one.bytes > search.memory_budget) continue;
        without = std::max(without, one.gain);
        if (one.instructions > limit.instructions) continue;
        best = std::max(best, one.gain);
        if (one.bytes <= memory.bytes) within_less = std::max(within_less, one.gain);
      }
      differ += best < without ? 1 : 0;
      const FoundScheme found = search_scheme(graph, parts, search, limit);
      EXPECT_TRUE(found.is_best);
      EXPECT_LE(found.bytes, search.memory_budget);
      EXPECT_LE(predict_instructions(graph, options(found.scheme), Core::cortex_m7).total(),
                limit.instructions);
      EXPECT_LE(found.gain, best + 1e-12);
      EXPECT_GE(found.gain, within_less - 1e-12);
    }
  }
  EXPECT_GT(differ, 4U);  // the limit decides
  search.memory_budget = 1 << 20;
  EXPECT_THAT(
      [&] {
        (void)search_scheme(graph, parts, search, {Core::cortex_m7, 1000.0});
      },
      ThrowsMessage<Error>(HasSubstr("d1 alone takes")));
}

}  // namespace
}  // namespace thimble::test::instructions_test
