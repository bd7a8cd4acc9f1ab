// Metrics computed from all samples of an epoch together, whatever the batches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/metrics.h>
#include <thimble/ops.h>
#include <thimble/optimizers.h>
#include <thimble/trainer.h>

#include <cmath>

#include "harness/error_of.h"
#include "io/temporary_folder.h"

namespace thimble::train::epoch_metrics_test {
namespace {

using test::error_of;
using testing::HasSubstr;

constexpr int64_t kSamples = 23;
constexpr int64_t kClasses = 3;
// Shares are summed up in float32.
constexpr double kRounding = 1e-6;

std::vector<float> scores() {
  std::vector<float> all;
  for (int64_t i = 0; i < kSamples * kClasses; ++i) {
    all.push_back(std::sin(0.7F + 1.3F * static_cast<float>(i * i % 1009)));
  }
  return all;
}

// The second class is rare, so that means over batches differ from the score of all.
std::vector<int32_t> labels() {
  std::vector<int32_t> all;
  for (int64_t i = 0; i < kSamples; ++i) all.push_back(i % 9 == 4 ? 1 : i % 2 == 0 ? 0 : 2);
  return all;
}

data::Dataset samples() {
  return data::in_memory({{"x", {kClasses}}, {"class", {}, DType::i32, true}},
                         {scores(), labels()});
}

// A model whose scores are its input.
Graph model() {
  Graph g;
  const Value x = g.input("x", {kClasses});
  const Value label = g.label("class");
  const Value logits = x * g.parameter("scale", {kClasses}, init::constant(1.0));
  g.minimize(softmax_cross_entropy(logits, label));
  g.metric("macro", f1_score(logits, label));
  g.metric("rare", recall_score(logits, label, {.average = ClassAverage::binary}));
  g.metric("precision", precision_score(logits, label, {.average = ClassAverage::weighted}));
  g.metric("accuracy", accuracy(logits, label));
  return g;
}

metrics::ConfusionMatrix expected() {
  metrics::ConfusionMatrix matrix(kClasses);
  matrix.add_scores(labels(), Array(scores(), {kSamples, kClasses}));
  return matrix;
}

void expect_scores(const Evaluation& found) {
  const metrics::ConfusionMatrix matrix = expected();
  EXPECT_EQ(found.samples, kSamples);
  EXPECT_NEAR(found.metrics.at("macro"), metrics::f1(matrix), kRounding);
  EXPECT_NEAR(found.metrics.at("rare"), metrics::recall(matrix, ClassAverage::binary), kRounding);
  EXPECT_NEAR(found.metrics.at("precision"), metrics::precision(matrix, ClassAverage::weighted),
              kRounding);
  EXPECT_NEAR(found.metrics.at("accuracy"), metrics::accuracy(matrix), kRounding);
}

TEST(epoch_metrics, do_not_depend_on_the_batches) {
  for (const int64_t batch : {1, 4, 10, 23, 30}) {
    SCOPED_TRACE(batch);
    expect_scores(Trainer(model(), {.batch = batch}).evaluate(samples()));
  }
  expect_scores(Trainer(model(), {.batch = 10, .micro_batches = 3}).evaluate(samples()));
}

TEST(epoch_metrics, are_no_means_over_batches) {
  double sum = 0.0;
  const std::vector<int32_t> all_labels = labels();
  const std::vector<float> all_scores = scores();
  for (size_t i = 0; i + 4 <= all_labels.size(); i += 4) {
    metrics::ConfusionMatrix matrix(kClasses);
    matrix.add_scores(
        Array::view(std::span(all_labels).subspan(i, 4), {4}),
        Array::view(std::span(all_scores).subspan(kClasses * i, 4 * kClasses), {4, kClasses}));
    sum += metrics::f1(matrix);
  }
  EXPECT_GT(std::abs(sum / 5 - metrics::f1(expected())), 0.01);
}

TEST(epoch_metrics, of_a_training_epoch_go_on_after_a_stop) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "stopped.safetensors";
  const TrainerOptions still{.optimizer = SGD{.lr = 0.0}, .batch = 4};
  Trainer stopped(model(), still);
  int64_t steps = 0;
  static_cast<void>(
      stopped.fit(samples(), {.checkpoint = file, .stop = [&] { return ++steps > 2; }}));
  Trainer resumed(model(), still);
  resumed.resume(file);
  EXPECT_GT(resumed.steps(), 0);
  const FitResult result = resumed.fit(samples(), {.epochs = 1});
  ASSERT_EQ(result.epochs.size(), 1U);
  expect_scores(result.epochs[0].train);
}

TEST(epoch_metrics, cannot_be_inputs_of_ops) {
  Graph g;
  const Value x = g.input("x", {kClasses});
  const Value label = g.label("class");
  const Value logits = x * g.parameter("scale", {kClasses}, init::constant(1.0));
  g.minimize(softmax_cross_entropy(logits, label));
  g.metric("error", 1.0 - f1_score(logits, label));
  EXPECT_THAT(error_of([&] { Trainer trainer(std::move(g), {}); }),
              HasSubstr("make the score itself a metric"));
}

}  // namespace
}  // namespace thimble::train::epoch_metrics_test
