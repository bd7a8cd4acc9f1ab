// Sequences whose rows are computed call by call, against inference on whole sequences.
#include <gtest/gtest.h>
#include <model.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ml_train/small_model.h"

namespace thimble::test::ml_train_test {
namespace {

using ml::train::createLayer;
using ml::train::createModel;
using ml::train::createOptimizer;
using ml::train::ExecutionMode;
using ml::train::ModelType;

constexpr size_t kRows = 6;
constexpr size_t kSequences = 2;
// Sums of products in another order.
constexpr double kRowTolerance = 1e-5;

using Layers = std::vector<std::pair<std::string, std::string>>;

// A decoder as in LLaMA: rotary positions, root mean square norms, a gated hidden layer.
Layers decoder(const std::string& attention) {
  return {{"embedding", "name=words|in_dim=7|out_dim=8"},
          {"rmsnorm", "name=norm1"},
          {"multi_head_attention", "name=mixed|input_layers=norm1,norm1,norm1|" + attention},
          {"addition", "name=sum1|input_layers=words,mixed"},
          {"rmsnorm", "name=norm2"},
          {"fully_connected", "name=gate|unit=12|input_layers=norm2"},
          {"fully_connected", "name=up|unit=12|input_layers=norm2"},
          {"swiglu", "name=both|input_layers=gate,up"},
          {"fully_connected", "name=down|unit=8"},
          {"addition", "name=sum2|input_layers=sum1,down"},
          {"fully_connected", "name=scores|unit=7|activation=softmax"}};
}

std::unique_ptr<ml::train::Model> network(const std::string& input, const Layers& layers,
                                          ExecutionMode mode) {
  auto model = createModel(ModelType::NEURAL_NET, {"threads=1", "loss=cross", "batch_size=2"});
  model->addLayer(createLayer("input", {"name=in", "input_shape=" + input}));
  for (const auto& [type, properties] : layers) model->addLayer(createLayer(type, {properties}));
  model->setOptimizer(createOptimizer("sgd", {"learning_rate=0.5"}));
  EXPECT_EQ(model->compile(mode), 0);
  EXPECT_EQ(model->initialize(mode), 0);
  return model;
}

// Computes all rows by calls of these numbers of rows, and compares them with inference on the
// whole sequences. in_width, out_width: numbers of a row.
void expect_rows_of_inference(ml::train::Model& model, const std::vector<float>& input,
                              size_t in_width, size_t out_width,
                              const std::vector<unsigned int>& calls) {
  std::vector<float> all = input;
  const float* const inferred = model.inference(kSequences, {all.data()})[0];
  const std::vector<float> wanted(inferred, inferred + kSequences * kRows * out_width);
  unsigned int from = 0;
  for (const unsigned int count : calls) {
    const unsigned int to = from + count;
    // The first rows of each sequence are the new ones; what is behind them is not read.
    std::vector<float> rows(input.size(), std::nanf(""));
    for (size_t n = 0; n < kSequences; ++n) {
      std::copy_n(input.data() + (n * kRows + from) * in_width, count * in_width,
                  rows.data() + n * kRows * in_width);
    }
    const float* const now =
        model.incremental_inference(kSequences, {rows.data()}, {}, kRows, from, to, true)[0];
    for (size_t n = 0; n < kSequences; ++n)
      for (size_t i = 0; i < count * out_width; ++i) {
        ASSERT_NEAR(now[n * kRows * out_width + i], wanted[(n * kRows + from) * out_width + i],
                    kRowTolerance)
            << "sequence " << n << ", rows from " << from << ", number " << i;
      }
    const std::unique_ptr<float[]> last(
        model.incremental_inference(kSequences, {rows.data()}, {}, kRows, from, to)[0]);
    for (size_t n = 0; n < kSequences; ++n)
      for (size_t i = 0; i < out_width; ++i) {
        ASSERT_NEAR(last[n * out_width + i], wanted[(n * kRows + to - 1) * out_width + i],
                    kRowTolerance);
      }
    from = to;
  }
}

const std::vector<float> kWords{3, 1, 6, 0, 2, 5, 4, 4, 1, 3, 0, 6};

TEST(ml_train_incremental, equals_inference_of_a_decoder) {
  const Layers layers = decoder("num_heads=2|causal_mask=true|rotary_base=10000");
  auto model = network("1:1:6", layers, ExecutionMode::INFERENCE);
  for (const std::vector<unsigned int>& calls :
       {std::vector<unsigned int>{6}, {1, 1, 1, 1, 1, 1}, {3, 1, 2}}) {
    expect_rows_of_inference(*model, kWords, 1, 7, calls);
  }
  // New weights count from the next beginning on.
  const std::vector<float> other = numbers(7 * 8, 5.0);
  std::vector<float> copy = other;
  layer_of(*model, "words")->setWeights({copy.data()});
  expect_rows_of_inference(*model, kWords, 1, 7, {2, 4});
}

TEST(ml_train_incremental, equals_inference_of_sums_of_positions) {
  auto model = network("1:6:4",
                       {{"positional_encoding", "name=p|max_timestep=6"},
                        {"layer_normalization", "name=n|axis=3"},
                        {"attention", "causal_mask=true|input_layers=n,n"},
                        {"fully_connected", "unit=3|activation=softmax"}},
                       ExecutionMode::INFERENCE);
  expect_rows_of_inference(*model, numbers(kSequences * kRows * 4, 1.0), 4, 3, {2, 1, 3});
}

TEST(ml_train_incremental, has_the_weights_that_were_trained) {
  const Layers layers = decoder("num_heads=2|causal_mask=true");
  auto model = network("1:1:6", layers, ExecutionMode::TRAIN);
  expect_rows_of_inference(*model, kWords, 1, 7, {4, 2});
  Samples samples{.inputs = {kWords}, .labels = {numbers(2 * 6 * 7, 1.0, 0.5, 0.5)}, .count = 2};
  trained(*model, samples);
  expect_rows_of_inference(*model, kWords, 1, 7, {4, 2});
  trained(*model, samples, {"epochs=2", "continue_train=true"});
  expect_rows_of_inference(*model, kWords, 1, 7, {4, 2});
}

TEST(ml_train_incremental, says_what_cannot_be_computed_by_rows) {
  const auto error = [](const Layers& layers, unsigned int from, unsigned int to) {
    auto model = network("1:6:4", layers, ExecutionMode::INFERENCE);
    std::vector<float> input(24, 0.0F);
    return message_of(
        [&] { model->incremental_inference(1, {input.data()}, {}, 6, from, to, true); });
  };
  const Layers plain{{"attention", "name=a|causal_mask=true|input_layers=in,in"}};
  const Layers free{{"attention", "name=a|input_layers=in,in"}};
  const Layers many{{"multi_head_attention", "name=a|input_layers=in,in,in"}};
  const Layers recurrent{{"lstm", "name=l|unit=4"}};
  EXPECT_EQ(error(plain, 0, 6), "");
  EXPECT_NE(error(plain, 0, 7).find("at most 6"), std::string::npos);
  EXPECT_NE(error(plain, 0, 0).find("got 0 and 0"), std::string::npos);
  EXPECT_NE(error(plain, 2, 3).find("begins with from 0"), std::string::npos);
  EXPECT_NE(error(free, 0, 1).find("set causal_mask"), std::string::npos);
  EXPECT_NE(error(many, 0, 1).find("set causal_mask"), std::string::npos);
  EXPECT_NE(error(recurrent, 0, 1).find("[lstm l]"), std::string::npos);
  auto model = network("1:6:4", plain, ExecutionMode::INFERENCE);
  std::vector<float> input(24, 0.0F);
  model->incremental_inference(1, {input.data()}, {}, 6, 0, 2, true);
  EXPECT_NE(message_of([&] {
              model->incremental_inference(1, {input.data()}, {}, 6, 3, 4, true);
            }).find("were not computed yet"),
            std::string::npos);
}

}  // namespace
}  // namespace thimble::test::ml_train_test
