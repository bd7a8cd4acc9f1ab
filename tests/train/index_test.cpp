// Indices and labels in the data that the model has nothing for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>

namespace thimble {
namespace {

using testing::HasSubstr;

constexpr int64_t kSamples = 8;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

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

// What is not looked up goes wrong as before.
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
}  // namespace thimble
