// A batch computed as micro-batches gives the results of the whole batch, or is refused.
#include "train/micro_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/ops.h>
#include <thimble/recipes.h>
#include <thimble/trainer.h>

#include <cmath>

#include "harness/error_of.h"
#include "io/temporary_folder.h"
#include "models/nearest_budget.h"
#include "models/small_models.h"
#include "train/state.h"

namespace thimble::train::micro_batches_test {
namespace {

using test::error_of;
using testing::HasSubstr;

constexpr int64_t kSamples = 23;
constexpr int64_t kBatch = 10;  // the last one has 3

std::vector<float> numbers(int64_t count) {
  std::vector<float> all;
  for (int64_t i = 0; i < count; ++i) {
    all.push_back(std::sin(0.7F + 1.3F * static_cast<float>(i * i % 1009)));
  }
  return all;
}

std::vector<int32_t> classes(int64_t count, int64_t end) {
  std::vector<int32_t> all;
  for (int64_t i = 0; i < count; ++i) all.push_back(static_cast<int32_t>(i * i % 11 % end));
  return all;
}

// Samples of 5 inputs, 3 targets, and one of 3 classes.
data::Dataset rows(std::vector<int32_t> labels = classes(kSamples, 3)) {
  return data::in_memory(
      {{"x", {5}}, {"wanted", {3}, DType::f32, true}, {"class", {}, DType::i32, true}},
      {numbers(kSamples * 5), numbers(kSamples * 3), std::move(labels)});
}

// Four tokens of 6, and as many classes of them.
data::Dataset tokens() {
  return data::in_memory({{"token", {4}, DType::i32}, {"next", {4}, DType::i32, true}},
                         {classes(kSamples * 4, 6), classes(kSamples * 4, 5)});
}

struct Model {
  const char* name;
  Graph (*build)();
  data::Dataset (*data)();
};

// Odd numbers of elements a sample: parts begin in the middle of blocks of random words.
Graph with_dropout() {
  Graph g;
  const Value label = g.label("class");
  Value h = dropout(relu(dense(g.input("x", {5}), {.units = 7})), {.p = 0.4});
  h = dropout(layer_norm(dense(h, {.units = 3})), {.p = 0.2});
  g.minimize(softmax_cross_entropy(h, label));
  g.metric("accuracy", accuracy(h, label));
  return g;
}

// A variational autoencoder, and noise on its input.
Graph autoencoder() {
  Graph g;
  const Value x = g.input("x", {5});
  const Value noisy = x + random_normal(x, {.stddev = 0.1}) * random_uniform(x, {.low = 0.5});
  const Value h = tanh(dense(noisy, {.units = 6}));
  const Value mean_of = dense(h, {.units = 3});
  const Value spread = dense(h, {.units = 3});
  const Value out = dense(relu(dense(reparametrize(mean_of, spread), {.units = 6})), {.units = 5});
  const Value fit = binary_cross_entropy_with_logits(out, sigmoid(x), {Reduction::batch_mean});
  const Value two = g.constant("two", {}, {2.0F});
  g.minimize(fit / two + gaussian_kl(mean_of, spread, {Reduction::batch_mean}) * two);
  return g;
}

Graph attention() {
  Graph g;
  const Value token = g.input("token", {4}, DType::i32);
  const Value label = g.label("next", {4});
  Value h = embedding(token, {.embeddings = 6, .width = 8});
  const Value heads = reshape(rms_norm(h), {-1, 4, 2, 4});
  const Value seen =
      scaled_dot_product_attention(heads, heads, heads, {.causal = true, .dropout = 0.3});
  h = h + reshape(seen, {-1, 4, 8});
  const Value logits = dense(gelu(dense(h, {.units = 9})), {.units = 5});
  g.minimize(softmax_cross_entropy(logits, label));
  g.metric("accuracy", accuracy(logits, label));
  return g;
}

Graph recurrent() {
  Graph g;
  const Value h = embedding(g.input("token", {4}, DType::i32), {.embeddings = 6, .width = 5});
  const Value y = lstm(h, {}, {}, {.units = 7, .layers = 2, .dropout = 0.2}).y;
  g.minimize(softmax_cross_entropy(dense(y, {.units = 5}), g.label("next", {4})));
  return g;
}

constexpr Model kModels[] = {{"dropout", with_dropout, [] { return rows(); }},
                             {"autoencoder", autoencoder, [] { return rows(); }},
                             {"attention", attention, tokens},
                             {"recurrent", recurrent, tokens}};

struct Trained {
  std::vector<double> losses;  // of every step
  Evaluation epoch;
  Evaluation evaluated;
  std::vector<float> weights;
};

Trained trained(const Graph& graph, const data::Dataset& dataset, const TrainerOptions& options) {
  Trainer trainer(graph, options);
  Trained result;
  const FitResult fit =
      trainer.fit(dataset, {.epochs = 4, .on_step = [&](const StepReport& report) {
                              result.losses.push_back(report.loss);
                            }});
  EXPECT_EQ(fit.steps, 4 * ((kSamples + options.batch - 1) / options.batch));
  result.epoch = fit.epochs.back().train;
  result.evaluated = trainer.evaluate(dataset);
  for (const std::string& name : trainer.parameter_names()) {
    for (const float weight : trainer.parameter(name).as<float>()) result.weights.push_back(weight);
  }
  return result;
}

// Sums are taken in another order, so f32 rounding differs and grows as training continues.
constexpr double kRoundings = 2e-5;

void expect_close(const Evaluation& got, const Evaluation& wanted) {
  EXPECT_NEAR(got.loss, wanted.loss, kRoundings);
  EXPECT_EQ(got.samples, wanted.samples);
  for (const auto& [name, value] : wanted.metrics) EXPECT_NEAR(got.metrics.at(name), value, 1e-6);
}

void expect_close(const Trained& got, const Trained& wanted) {
  ASSERT_EQ(got.losses.size(), wanted.losses.size());
  for (size_t i = 0; i < got.losses.size(); ++i) {
    EXPECT_NEAR(got.losses[i], wanted.losses[i], kRoundings) << "step " << i;
  }
  expect_close(got.epoch, wanted.epoch);
  expect_close(got.evaluated, wanted.evaluated);
  ASSERT_EQ(got.weights.size(), wanted.weights.size());
  for (size_t i = 0; i < got.weights.size(); ++i) {
    EXPECT_NEAR(got.weights[i], wanted.weights[i], kRoundings) << "weight " << i;
  }
}

// SGD, because Adam divides small gradients by their own size, which enlarges their rounding.
TrainerOptions options(int64_t parts = 1, int64_t accumulate = 1) {
  return {.optimizer = SGD{.lr = 0.05, .momentum = 0.9},
          .clip = GradientClip::by_global_norm(1.0),
          .batch = kBatch,
          .accumulate = accumulate,
          .micro_batches = parts,
          .seed = 11,
          .threads = 2};
}

// Why the trainer refuses; empty where it does not.
std::string refused(const Graph& graph, TrainerOptions wanted = options(2)) {
  const std::string why = why_not_micro_batches(graph.ir(), wanted);
  const std::string error = error_of([&] { Trainer(graph, wanted); });
  EXPECT_THAT(error, HasSubstr(why.empty() ? "no error" : why));
  return why;
}

class micro_batches : public testing::TestWithParam<Model> {};

TEST_P(micro_batches, train_as_the_whole_batch_does) {
  const Graph graph = GetParam().build();
  const data::Dataset dataset = GetParam().data();
  const Trained whole = trained(graph, dataset, options());
  for (const int64_t parts : {2, 3, 5, 10}) {
    SCOPED_TRACE(parts);
    expect_close(trained(graph, dataset, options(parts)), whole);
  }
}

TEST_P(micro_batches, go_together_with_accumulation_over_steps) {
  const Graph graph = GetParam().build();
  const data::Dataset dataset = GetParam().data();
  const Trained whole = trained(graph, dataset, options(1, 4));
  for (const int64_t parts : {2, 3}) {
    SCOPED_TRACE(parts);
    expect_close(trained(graph, dataset, options(parts, 4)), whole);
  }
}

INSTANTIATE_TEST_SUITE_P(models, micro_batches, testing::ValuesIn(kModels),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(micro_batches, of_recipes_train_as_the_whole_batch_does) {
  for (const char* name : {"lenet5", "mlp", "lstm", "unet_ddpm"}) {
    SCOPED_TRACE(name);
    const Recipe& recipe = find_recipe(name);
    TrainerOptions wanted = options();
    wanted.batch = 4;
    const auto after = [&](int64_t parts) {
      wanted.micro_batches = parts;
      Trainer trainer(recipe.build(), wanted);
      return trainer.fit(recipe.data("", data::Split::train).take(9), {.epochs = 1})
          .epochs.back()
          .train.loss;
    };
    EXPECT_NEAR(after(3), after(1), kRoundings);
  }
}

TEST(micro_batches, never_compile_the_full_batch) {
  Trainer trainer(with_dropout(), options(3));
  trainer.fit(rows(), {.epochs = 1, .validation = rows()});
  static_cast<void>(trainer.evaluate(rows()));
  for (const ProgramKind kind :
       {ProgramKind::update, ProgramKind::accumulate, ProgramKind::finish, ProgramKind::evaluate}) {
    for (int64_t size = 5; size <= kBatch; ++size) {
      EXPECT_EQ(trainer.state().runner.find({static_cast<int>(kind), size}), nullptr);
    }
  }
}

TEST(micro_batches, need_the_memory_of_a_part) {
  const auto plan_of = [](int64_t batch, int64_t parts) {
    TrainerOptions wanted = options(parts);
    wanted.batch = batch;
    return Trainer(find_recipe("lenet5").build(), wanted).plan();
  };
  const Plan whole = plan_of(64, 1);
  const Plan parts = plan_of(64, 8);
  EXPECT_EQ(whole.micro_batches, 1);
  EXPECT_EQ(parts.micro_batches, 8);
  EXPECT_EQ(parts.batch, 64);
  EXPECT_LT(parts.activation_peak_bytes, whole.activation_peak_bytes / 4);
  EXPECT_EQ(plan_of(10, 6).micro_batches, 5);  // of two samples each
}

TEST(micro_batches, need_no_more_once_training_runs) {
  Trainer trainer(with_dropout(), options(4));
  const Plan before = trainer.plan();
  trainer.fit(rows().take(kBatch * 2), {.epochs = 1});
  EXPECT_EQ(trainer.plan().planned_peak_bytes, before.planned_peak_bytes);
}

TEST(micro_batches, may_change_where_a_run_resumes) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "c.safetensors";
  for (const int64_t accumulate : {1, 4}) {
    const Trained straight = trained(with_dropout(), rows(), options(1, accumulate));
    Trainer first(with_dropout(), options(1, accumulate));
    first.fit(rows(),
              {.epochs = 4, .checkpoint = path, .stop = [&] { return first.steps() == 5; }});
    for (const int64_t parts : {1, 3}) {
      Trainer second(with_dropout(), options(parts, accumulate));
      second.resume(path);
      const FitResult rest = second.fit(rows(), {.epochs = 4, .initial_epoch = second.epochs()});
      EXPECT_NEAR(rest.epochs.back().train.loss, straight.epoch.loss, kRoundings);
    }
  }
  Trainer parts(with_dropout(), options(3));
  parts.fit(rows(), {.epochs = 1, .checkpoint = path});
  Trainer whole(with_dropout(), options());
  whole.resume(path);
  EXPECT_EQ(whole.weights_sha256(), parts.weights_sha256());
}

// With another number, split batch norms have other statistics, which is another training.
TEST(micro_batches, may_not_change_if_batch_norms_are_split) {
  const test::TemporaryFolder folder;
  const auto trainer = [](int64_t parts) {
    TrainerOptions wanted = options(parts);
    wanted.split_batch_norm = true;
    return Trainer(test::small_network(), wanted);
  };
  trainer(2).save(folder / "c");
  EXPECT_EQ(error_of([&] { trainer(2).resume(folder / "c"); }), test::kNoError);
  EXPECT_THAT(error_of([&] { trainer(5).resume(folder / "c"); }),
              HasSubstr("made with split_batch_norm \"micro-batches of 5\", this run has "
                        "\"micro-batches of 2\""));
  EXPECT_THAT(error_of([&] { trainer(1).resume(folder / "c"); }), HasSubstr("has \"off\""));
}

// The same bits with the same number of parts, whatever the threads, and after a stop.
TEST(micro_batches, give_the_same_bits_for_the_same_number) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "c.safetensors";
  const auto hash_of = [&](int threads, bool stops) {
    TrainerOptions wanted = options(3);
    wanted.threads = threads;
    Trainer trainer(attention(), wanted);
    if (stops) {
      trainer.fit(tokens(),
                  {.epochs = 3, .checkpoint = path, .stop = [&] { return trainer.steps() == 4; }});
      Trainer next(attention(), wanted);
      next.resume(path);
      next.fit(tokens(), {.epochs = 3, .initial_epoch = next.epochs()});
      return next.weights_sha256();
    }
    trainer.fit(tokens(), {.epochs = 3});
    return trainer.weights_sha256();
  };
  const std::string hash = hash_of(1, false);
  EXPECT_EQ(hash_of(4, false), hash);
  EXPECT_EQ(hash_of(2, true), hash);
}

TEST(micro_batches, keep_their_bits_with_a_budget_and_swap) {
  const auto hash_of = [](int64_t budget, Swap swap) {
    TrainerOptions wanted = options(3, 2);
    wanted.optimizer = AdamW{.lr = 1e-3};
    wanted.memory_budget = budget;
    wanted.swap = swap;
    Trainer trainer(find_recipe("lenet5").build(), wanted);
    EXPECT_LE(trainer.plan().planned_peak_bytes, budget > 0 ? budget : INT64_MAX);
    trainer.fit(find_recipe("lenet5").data("", data::Split::train).take(kSamples), {.epochs = 2});
    return trainer.weights_sha256();
  };
  TrainerOptions wanted = options(3, 2);
  wanted.optimizer = AdamW{.lr = 1e-3};
  const std::string free = hash_of(0, Swap::never);
  for (const Swap swap : {Swap::never, Swap::always}) {
    wanted.swap = swap;
    EXPECT_EQ(hash_of(test::nearest_budget(find_recipe("lenet5").build(), wanted), swap), free);
  }
}

// Some batch norms cannot take the variance of a micro-batch of one sample.
TEST(micro_batches, are_as_small_as_the_model_allows) {
  Graph g;
  const Value x = g.input("x", {5});
  Value h = relu(batch_norm(dense(x, {.units = 64})));
  h = relu(batch_norm(dense(h, {.units = 64})));
  g.minimize(mse(dense(h, {.units = 3}), g.label("wanted", {3}, DType::f32)));
  TrainerOptions wanted = options(0);
  wanted.batch = 8;
  wanted.split_batch_norm = true;
  wanted.memory_budget = 1;
  EXPECT_LT(plan_training(g, wanted).micro_batches, 8);
  wanted.memory_budget = 0;
  wanted.micro_batches = 8;
  EXPECT_THAT(refused(g, wanted), HasSubstr("batch_norm"));
}

TEST(micro_batches, forget_the_gradients_of_a_step_that_failed) {
  // The last sample of the first batch is bad; without it training goes on as if it had not been.
  std::vector<float> bad = numbers(kBatch * 5);
  bad.back() = NAN;
  const auto of = [](const std::vector<float>& x) {
    return data::in_memory({{"x", {5}}, {"class", {}, DType::i32, true}}, {x, classes(kBatch, 3)});
  };
  Trainer trainer(with_dropout(), options(5));
  const std::string before = trainer.weights_sha256();
  EXPECT_THAT(error_of([&] { trainer.fit(of(bad), {.epochs = 1, .shuffle = false}); }),
              HasSubstr("not finite at step 1"));
  EXPECT_EQ(trainer.weights_sha256(), before);
  trainer.fit(of(numbers(kBatch * 5)), {.epochs = 1, .shuffle = false});
  Trainer other(with_dropout(), options(5));
  other.fit(of(numbers(kBatch * 5)), {.epochs = 1, .shuffle = false});
  EXPECT_EQ(trainer.weights_sha256(), other.weights_sha256());
}

// A model of dense x, whose loss is made of that and the label "wanted".
Graph model_of(Value (*loss)(Graph& g, Value guess, Value wanted)) {
  Graph g;
  const Value guess = dense(g.input("x", {5}), {.units = 3});
  g.minimize(loss(g, guess, g.label("wanted", {3}, DType::f32)));
  return g;
}

TEST(micro_batches, are_refused_with_batch_norm_unless_it_may_be_split) {
  EXPECT_THAT(refused(test::small_network()),
              HasSubstr("batch_norm of norm works with statistics of the whole batch"));
  EXPECT_THAT(refused(test::small_network()), HasSubstr("--split-batch-norm"));
  EXPECT_THAT(refused(find_recipe("vae").build()), HasSubstr("batch_norm of encoder"));
  TrainerOptions split = options(2);
  split.split_batch_norm = true;
  EXPECT_EQ(refused(test::small_network(), split), "");
  Trainer trainer(test::small_network(), split);
  const data::Dataset dataset = test::small_data(40);
  const double before = trainer.evaluate(dataset).loss;
  trainer.fit(dataset, {.epochs = 5});
  EXPECT_LT(trainer.evaluate(dataset).loss, before);
}

TEST(micro_batches, are_refused_if_the_loss_is_no_mean) {
  EXPECT_THAT(refused(model_of([](Graph&, Value guess, Value wanted) {
                return mse(guess, wanted, {Reduction::sum});
              })),
              HasSubstr("no mean"));
  EXPECT_THAT(
      refused(model_of([](Graph&, Value guess, Value wanted) { return sqrt(mse(guess, wanted)); })),
      HasSubstr("sqrt"));
  EXPECT_THAT(refused(model_of([](Graph&, Value guess, Value wanted) {
                const Value error = mse(guess, wanted);
                return error * error;
              })),
              HasSubstr("mul"));
  EXPECT_THAT(refused(model_of([](Graph&, Value guess, Value wanted) {
                return mean(guess * softmax(wanted, {.axis = 0}));
              })),
              HasSubstr("softmax"));
  EXPECT_THAT(refused(model_of([](Graph&, Value guess, Value wanted) {
                return mean(softmax(matmul(guess, wanted, {.transpose_b = true})));
              })),
              HasSubstr("matmul"));
  EXPECT_THAT(refused(model_of([](Graph&, Value guess, Value wanted) {
                return mean(abs(guess - mean(wanted, {.axes = {0}})));
              })),
              HasSubstr("sub"));
}

TEST(micro_batches, are_allowed_for_means_of_means) {
  EXPECT_EQ(refused(model_of([](Graph& g, Value guess, Value wanted) {
              const Value half = g.constant("half", {}, {0.5F});
              const Value weight = g.parameter("weight", {}, init::ones());
              return half * mse(guess, wanted) - weight * mae(guess, wanted) / half +
                     weight * weight;
            })),
            "");
  EXPECT_EQ(refused(model_of([](Graph&, Value guess, Value wanted) {
              return mean(mean(abs(transpose(reshape(guess - wanted, {-1, 3, 1}), {0, 2, 1})),
                               {.axes = {0, 1}}));
            })),
            "");
}

TEST(micro_batches, are_refused_with_weights_of_classes) {
  Graph g;
  const Value logits = dense(g.input("x", {5}), {.units = 3});
  const Value weight = g.constant("weight", {3}, {1.0F, 2.0F, 3.0F});
  g.minimize(softmax_cross_entropy(logits, g.label("class"), weight, {}));
  EXPECT_THAT(refused(g), HasSubstr("without weights of classes"));
}

TEST(micro_batches, are_refused_if_labels_are_ignored) {
  std::vector<int32_t> labels = classes(kSamples, 3);
  labels[4] = -100;
  Trainer trainer(with_dropout(), options(2));
  const std::string error = error_of([&] { trainer.fit(rows(labels), {.shuffle = false}); });
  EXPECT_THAT(error, HasSubstr("[class] holds -100 in sample 5 of batch 1"));
  Trainer whole(with_dropout(), options());
  whole.fit(rows(labels), {.shuffle = false});
}

TEST(micro_batches, are_refused_if_noise_has_no_batch_dimension) {
  Graph g;
  const Value x = g.input("x", {5});
  const Value w = g.parameter("w", {5, 3}, init::ones());
  g.minimize(mse(matmul(x, dropout(w)), g.label("wanted", {3}, DType::f32)));
  EXPECT_THAT(refused(g), HasSubstr("draws random numbers of shape [5, 3]"));
}

TEST(micro_batches, are_refused_with_sparse_gradients) {
  Graph g;
  const Value h =
      embedding(g.input("token", {4}, DType::i32), {.embeddings = 6, .width = 5, .sparse = true});
  g.minimize(mean(h * h));
  TrainerOptions wanted = options(2);
  wanted.optimizer = SGD{.lr = 0.1};
  wanted.clip = {};
  EXPECT_THAT(refused(g, wanted), HasSubstr("has a sparse gradient, but accumulation"));
}

TEST(micro_batches, are_no_more_than_samples) {
  EXPECT_THAT(error_of([] { Trainer(with_dropout(), options(11)); }),
              HasSubstr("expected 1 to the 10 samples of a batch"));
  EXPECT_THAT(error_of([] { Trainer(with_dropout(), options(-1)); }), HasSubstr("got -1"));
}

// An error of a wrong group does not speak of micro-batches.
TEST(micro_batches, leave_other_errors_as_they_are) {
  TrainerOptions wanted = options(2);
  wanted.groups = {{.pattern = "no such thing"}};
  EXPECT_THAT(error_of([&] { Trainer(with_dropout(), wanted); }),
              HasSubstr("[parameter group no such thing]"));
}

}  // namespace
}  // namespace thimble::train::micro_batches_test
