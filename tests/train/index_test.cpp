// Indices and labels in the data that are out of the model's range.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>

#include "harness/error_of.h"

namespace thimble::index_test {
namespace {

using test::error_of;
using testing::HasSubstr;

constexpr int64_t kSamples = 8;

// Two tokens of a table of 5 rows, three classes; ignore_index -1.
Graph model() {
  Graph g;
  const Value tokens = g.input("tokens", {2}, DType::i32);
  const Value x = embedding(reshape(tokens, {-1}), {.embeddings = 5, .width = 4});
  const Value logits = dense(reshape(x, {-1, 8}), {.units = 3});
  g.minimize(softmax_cross_entropy(logits, g.label("kind"), {.ignore_index = -1}));
  return g;
}

// Valid samples, but for one token and one label.
data::Dataset samples(int64_t token_at, int32_t token, int64_t kind_at, int32_t kind) {
  std::vector<int32_t> tokens(2 * kSamples, 4);
  std::vector<int32_t> kinds(kSamples, 2);
  tokens[static_cast<size_t>(token_at)] = token;
  kinds[static_cast<size_t>(kind_at)] = kind;
  return data::in_memory({{"tokens", {2}, DType::i32}, {"kind", {}, DType::i32, true}},
                         {std::move(tokens), std::move(kinds)});
}

std::string error_of_training(const data::Dataset& dataset) {
  Trainer trainer(model(), {.batch = 4, .threads = 1});
  const std::string before = trainer.weights_sha256();
  std::string said = error_of([&] { trainer.fit(dataset, {.epochs = 1, .shuffle = false}); });
  const bool trained = trainer.weights_sha256() != before;
  EXPECT_EQ(trained, said == "no error" || said.find("batch 2") != std::string::npos) << said;
  return said;
}

TEST(training_indices, out_of_range_are_named_with_sample_op_and_range) {
  EXPECT_THAT(error_of_training(samples(5, 5, 0, 0)),
              AllOf(HasSubstr("[tokens] holds 5 in sample 3 of batch 1, element 1"),
                    HasSubstr("embedding takes 0 to 4."), HasSubstr("step 1 (epoch 1)")));
  EXPECT_THAT(error_of_training(samples(0, -1, 0, 0)), HasSubstr("[tokens] holds -1 in sample 1"));
  EXPECT_THAT(error_of_training(samples(0, 0, 6, 3)),
              AllOf(HasSubstr("[kind] holds 3 in sample 3 of batch 2;"),
                    HasSubstr("softmax_cross_entropy takes 0 to 2, and -1, which it ignores")));
}

TEST(training_indices, that_the_loss_ignores_are_trained_on) {
  EXPECT_EQ(error_of_training(samples(0, 0, 6, -1)), "no error");
}

TEST(training_indices, out_of_range_are_named_in_evaluation_too) {
  Trainer trainer(model(), {.batch = 4, .threads = 1});
  EXPECT_THAT(error_of([&] { static_cast<void>(trainer.evaluate(samples(0, 0, 7, 9))); }),
              HasSubstr("[kind] holds 9 in sample 4 of batch 2"));
}

TEST(training_indices, of_gather_and_index_select_are_named) {
  for (const bool select : {false, true}) {
    Graph g;
    const Value at = g.input("at", {}, DType::i32);
    const Value table = g.parameter("table", {6, 1}, init::normal(0.0, 1.0));
    const Value columns = dense(g.input("x", {1}), {.units = 6});
    const Value found =
        select ? index_select(table, at) : gather(columns, reshape(at, {-1, 1}), {.axis = 1});
    g.minimize(mean(found * found));
    Trainer trainer(g, {.batch = 4, .threads = 1});
    const data::Dataset dataset =
        data::in_memory({{"at", {}, DType::i32}, {"x", {1}}},
                        {std::vector<int32_t>{0, 5, 6, 1}, std::vector<float>(4, 1.0F)});
    EXPECT_THAT(error_of([&] { trainer.fit(dataset, {.epochs = 1, .shuffle = false}); }),
                AllOf(HasSubstr("[at] holds 6 in sample 3 of batch 1"),
                      HasSubstr(select ? "index_select takes 0 to 5" : "gather takes 0 to 5")));
  }
}

TEST(training_indices, of_losses_are_named_by_the_function_called) {
  const auto error = [](const std::function<Value(Value x, Value t)>& loss, int32_t label,
                        int64_t width) {
    Graph g;
    const Value x = dense(g.input("x", {1}), {.units = 4 * width});
    g.minimize(loss(reshape(x, {-1, width, 4}),
                    g.label("t", width == 1 ? Shape{} : Shape{width}, DType::i32)));
    Trainer trainer(g, {.batch = 2, .threads = 1});
    std::vector<int32_t> labels(static_cast<size_t>(2 * width), 1);
    labels.back() = label;
    const Shape sample = width == 1 ? Shape{} : Shape{width};
    const data::Dataset dataset =
        data::in_memory({{"x", {1}}, {"t", sample, DType::i32, true}},
                        {std::vector<float>{1.0F, 2.0F}, std::move(labels)});
    return error_of([&] { trainer.fit(dataset, {.epochs = 1, .shuffle = false}); });
  };
  const auto rows = [](Value x) { return reshape(x, {-1, 4}); };
  EXPECT_THAT(error([&](Value x, Value t) { return nll(log_softmax(rows(x)), t); }, 4, 1),
              HasSubstr("[t] holds 4 in sample 2 of batch 1; nll takes 0 to 3, and -100"));
  EXPECT_THAT(error([&](Value x, Value t) { return multi_margin(rows(x), t); }, 7, 1),
              HasSubstr("[t] holds 7 in sample 2 of batch 1; multi_margin takes 0 to 3."));
  EXPECT_THAT(error([](Value x, Value t) { return ctc(x, t, {}, {}); }, 4, 3),
              AllOf(HasSubstr("[t] holds 4 in sample 2 of batch 1, element 2"),
                    HasSubstr("ctc takes 0 to 3.")));
  EXPECT_THAT(error(
                  [](Value x, Value t) {
                    const Value scores = reshape(slice(x, 1, 0, 1), {-1, 4});
                    return multilabel_margin(scores, t);
                  },
                  4, 4),
              HasSubstr("the loss is not finite"));
}

// A loss that is not finite for another reason keeps its message.
TEST(training_indices, are_not_blamed_for_other_losses_that_are_not_finite) {
  Graph g;
  const Value x = g.input("x", {1});
  g.minimize(mean(g.parameter("w", {1}, init::ones()) * x));
  Trainer trainer(g, {.batch = 1, .threads = 1});
  const data::Dataset dataset = data::in_memory({{"x", {1}}}, {std::vector<float>{HUGE_VALF}});
  EXPECT_THAT(error_of([&] { trainer.fit(dataset, {.epochs = 1}); }),
              HasSubstr("the first value that went bad is input x"));
}

}  // namespace
}  // namespace thimble::index_test
