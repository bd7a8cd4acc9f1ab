#include "train/pipeline_bytes.h"

#include <gmock/gmock.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>

#include "models/nearest_budget.h"
#include "train/batch_stream.h"
#include "train/fit.h"

namespace thimble::pipeline_bytes_test {
namespace {

using ::testing::HasSubstr;

Graph two_inputs() {
  Graph g;
  const Value x = g.input("x", {5});
  const Value logits = dense(x, {.units = 3, .name = "dense"});
  g.minimize(softmax_cross_entropy(logits, g.label("y")));
  return g;
}

data::Dataset rows(int64_t count) {
  return data::in_memory({{"x", {5}}, {"y", {}, DType::i32, true}},
                         {std::vector<float>(static_cast<size_t>(5 * count), 0.5F),
                          std::vector<int32_t>(static_cast<size_t>(count), 1)});
}

// A batch of 7: 140 bytes of x and 28 of y, each rounded up to 64.
constexpr int64_t kBatchBytes = 192 + 64;

TEST(pipeline_bytes, is_two_batches_unless_told) {
  const Graph model = two_inputs();
  EXPECT_EQ(train::pipeline_bytes(model.ir(), {.batch = 7}), 2 * kBatchBytes);
  EXPECT_EQ(train::pipeline_bytes(model.ir(), {.batch = 7, .input_pipeline_bytes = 99}), 99);
  EXPECT_THROW(static_cast<void>(
                   train::pipeline_bytes(model.ir(), {.batch = 7, .input_pipeline_bytes = -1})),
               Error);
}

TEST(pipeline_bytes, a_stream_reads_ahead_as_far_as_they_go) {
  const int64_t held = rows(100).bytes();
  for (const int64_t batches : {0, 1, 2, 3, 4}) {
    train::LoaderStream stream(rows(100), {.batch = 7, .prefetch = 2});
    stream.keep_to(batches * kBatchBytes + 200);  // the order of 100 samples
    // If there is no room for two batches, one in use and one read ahead, no batch is kept.
    const int64_t kept = batches < 2 ? 0 : std::min<int64_t>(batches, 3);
    EXPECT_EQ(stream.bytes() - held, kept * kBatchBytes + 200);
    EXPECT_EQ(stream.is_direct(), kept == 0);
    stream.start(0, 0);
    int64_t read = 0;
    while (stream.next() != nullptr) ++read;
    EXPECT_EQ(read, 15);
    EXPECT_EQ(stream.batches(), 15);
  }
}

// Three bits of each sample fill a byte while they are read, whether there is room to read ahead.
TEST(pipeline_bytes, samples_of_bool_read_directly_count) {
  const data::Dataset masks =
      data::in_memory({{"mask", {3}, DType::boolean}, {"byte", {8}, DType::boolean}},
                      {Array(DType::boolean, {100, 3}), Array(DType::boolean, {100, 8})});
  train::LoaderStream stream(masks, {.batch = 7, .shuffle = false, .prefetch = 0});
  EXPECT_EQ(stream.bytes() - masks.bytes(), 7);
  stream.keep_to(7);
  EXPECT_THROW(stream.keep_to(6), Error);
  Graph model;
  const Value mask = model.input("mask", {3}, DType::boolean);
  model.output("mask", cast(mask, DType::f32) + model.input("number", {3}));
  EXPECT_EQ(train::unpacked_bytes(model.ir(), 7), 7);
}

TEST(pipeline_bytes, sums_of_metrics_of_many_values_count) {
  const auto model = [](int64_t classes) {
    Graph graph;
    const Value scores = dense(graph.input("x", {5}), {.units = classes});
    const Value label = graph.label("y");
    graph.minimize(softmax_cross_entropy(scores, label));
    graph.metric("f1", f1_score(scores, label));
    graph.metric("accuracy", accuracy(scores, label));
    return graph;
  };
  constexpr int64_t kBytes = 40 * 40 * 5 * 8;  // of the numbers of a confusion matrix
  TrainerOptions options{.batch = 7, .threads = 1};
  options.memory_budget = test::nearest_budget(model(40), options);
  Trainer trainer(model(40), options);
  const Plan plan = trainer.plan();
  EXPECT_GE(plan.reserved_bytes, kBytes);
  EXPECT_LE(plan.planned_peak_bytes + plan.input_pipeline_bytes + plan.reserved_bytes,
            options.memory_budget);
  const FitResult result = trainer.fit(rows(20), {.epochs = 1, .validation = rows(9)});
  EXPECT_GE(result.measured_peak_bytes, plan.planned_peak_bytes + kBytes);
  EXPECT_LE(result.measured_peak_bytes, options.memory_budget);
}

TEST(pipeline_bytes, too_few_are_refused_with_what_is_needed) {
  train::LoaderStream stream(rows(100), {.batch = 7});
  try {
    stream.keep_to(199);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("Set input_pipeline_bytes to 200 or more"));
  }
}

TEST(pipeline_bytes, a_stream_released_begins_again_where_it_is_told) {
  train::LoaderStream stream(rows(20), {.batch = 7});
  stream.start(0, 0);
  ASSERT_NE(stream.next(), nullptr);
  stream.release();
  EXPECT_EQ(stream.next(), nullptr);
  stream.start(1, 2);
  const data::Batch* batch = stream.next();
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(batch->number, 2);
}

TEST(pipeline_bytes, fit_reads_ahead_as_far_as_the_budget_goes) {
  constexpr int64_t kLeast = 200;
  TrainerOptions options{.batch = 7, .input_pipeline_bytes = kLeast, .threads = 1};
  const int64_t least = test::nearest_budget(two_inputs(), options);
  const auto reads = [&](int64_t budget) {
    options.memory_budget = budget;
    Trainer trainer(two_inputs(), options);
    const FitResult result =
        trainer.fit(rows(100), {.epochs = 2, .validation = rows(30), .prefetch = 5});
    if (budget > 0) {
      EXPECT_LE(result.measured_peak_bytes, budget);
    }
    return result.input_pipeline_bytes - rows(100).bytes();
  };
  EXPECT_EQ(reads(0), 6 * kBatchBytes + 200);
  EXPECT_EQ(reads(least + 100 * kBatchBytes), 6 * kBatchBytes + 200);
  EXPECT_GE(reads(least), kLeast);
  EXPECT_LT(reads(least), 6 * kBatchBytes + 200);
  options.input_pipeline_bytes = 1;
  options.memory_budget = 0;
  EXPECT_THROW(reads(test::nearest_budget(two_inputs(), options)), Error);
}

}  // namespace
}  // namespace thimble::pipeline_bytes_test
