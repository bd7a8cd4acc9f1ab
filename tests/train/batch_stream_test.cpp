#include "train/batch_stream.h"

#include <gtest/gtest.h>
#include <thimble/ops.h>

#include "train/fit.h"

namespace thimble {
namespace {

Graph classifier() {
  Graph g;
  const Value x = g.input("features", {2});
  const Value logits = dense(x, {.units = 2, .name = "dense"});
  g.minimize(softmax_cross_entropy(logits, g.label("label")));
  return g;
}

data::Dataset samples() {
  return data::in_memory({{"features", {2}}, {"label", {}, DType::i32, true}},
                         {std::vector<float>{1, 2, -1, 0, 3, 1, 0, 1, 2, 2, 1, 0},
                          std::vector<int32_t>{0, 1, 0, 1, 1, 0}});
}

// The same batch again and again, of a size of its own.
class Repeating final : public train::BatchStream {
 public:
  explicit Repeating(int64_t count) {
    batch_.count = count;
    batch_.fields = {values_.data(), labels_.data()};
  }
  const std::vector<data::Field>& fields() const override { return fields_; }
  int64_t samples() const override { return 0; }
  int64_t batches() const override { return 0; }
  void start(int64_t, int64_t) override { left_ = 3; }
  const data::Batch* next() override { return left_-- > 0 ? &batch_ : nullptr; }
  int64_t bytes() const override { return 0; }

 private:
  std::vector<data::Field> fields_{{"features", {2}}, {"label", {}, DType::i32, true}};
  std::vector<float> values_ = std::vector<float>(16, 1.0F);
  std::vector<int32_t> labels_ = std::vector<int32_t>(8, 1);
  data::Batch batch_;
  int left_ = 0;
};

TEST(batch_stream, of_a_data_set_trains_as_the_data_set) {
  Trainer a(classifier(), {.batch = 2});
  Trainer b(classifier(), {.batch = 2});
  a.fit(samples(), {.epochs = 2});
  train::LoaderStream stream(samples(), {.batch = 2});
  train::fit(b.state(), stream, {.epochs = 2}, {});
  EXPECT_EQ(a.weights_sha256(), b.weights_sha256());
}

TEST(batch_stream, of_unknown_length_trains_to_its_end) {
  Trainer trainer(classifier(), {.batch = 4});
  Repeating stream(3);
  const FitResult result = train::fit(trainer.state(), stream, {.epochs = 2}, {});
  EXPECT_EQ(result.steps, 6);
  EXPECT_EQ(result.epochs.at(1).train.samples, 9);
}

TEST(batch_stream, refuses_batches_beyond_the_plan_and_empty_ones) {
  Trainer trainer(classifier(), {.batch = 4});
  for (const int64_t count : {5, 0}) {
    Repeating stream(count);
    EXPECT_THROW(train::fit(trainer.state(), stream, {.epochs = 1}, {}), Error);
    EXPECT_THROW(trainer.state().evaluate(stream), Error);
  }
}

TEST(batch_stream, may_be_stopped_between_epochs) {
  Trainer trainer(classifier(), {.batch = 4});
  Repeating stream(4);
  bool stop = false;
  const FitOptions options{.epochs = 5,
                           .on_epoch = [&](const EpochReport&) { stop = true; },
                           .stop = [&] { return stop; }};
  const FitResult result = train::fit(trainer.state(), stream, options, {});
  EXPECT_EQ(result.steps, 3);
  EXPECT_EQ(result.end, FitResult::End::stopped);
}

}  // namespace
}  // namespace thimble
