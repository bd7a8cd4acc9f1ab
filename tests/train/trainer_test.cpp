#include <fmt/format.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>
#include <thimble/predictor.h>
#include <thimble/trainer.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "harness/error_of.h"
#include "io/safetensors/safetensors.h"
#include "io/temporary_folder.h"
#include "models/small_models.h"

namespace thimble::trainer_test {
namespace {

using test::error_of;

TrainerOptions options(int threads = 1) {
  return {.optimizer = AdamW{.lr = 1e-2}, .batch = 16, .seed = 5, .threads = threads};
}

TEST(trainer, learns) {
  const data::Dataset dataset = test::small_data(200);
  Trainer trainer(test::small_network(), options());
  const double before = trainer.evaluate(dataset).loss;
  const FitResult result = trainer.fit(dataset, {.epochs = 20});
  EXPECT_EQ(result.epochs.size(), 20U);
  EXPECT_EQ(result.steps, 20 * 13);
  EXPECT_LT(trainer.evaluate(dataset).loss, 0.3 * before);
}

TEST(trainer, gives_the_same_bits_on_one_two_and_four_threads) {
  const data::Dataset dataset = test::small_data(100);
  std::string hash;
  for (const int threads : {1, 2, 4}) {
    Trainer trainer(test::small_network(), options(threads));
    trainer.fit(dataset, {.epochs = 3});
    if (hash.empty()) hash = trainer.weights_sha256();
    EXPECT_EQ(trainer.weights_sha256(), hash) << threads;
  }
}

TEST(trainer, depends_on_the_seed) {
  TrainerOptions other = options();
  other.seed = 6;
  EXPECT_NE(Trainer(test::small_network(), options()).weights_sha256(),
            Trainer(test::small_network(), other).weights_sha256());
}

TEST(trainer, trains_a_partial_last_batch_as_its_own_size) {
  const data::Dataset dataset = test::small_data(21);
  std::vector<int64_t> batches;
  Trainer trainer(test::small_network(), options());
  const FitResult result = trainer.fit(dataset, {.epochs = 2});
  EXPECT_EQ(result.steps, 4);
  EXPECT_EQ(result.epochs[0].train.samples, 21);
  EXPECT_EQ(trainer.evaluate(dataset).samples, 21);
}

// The mean over samples does not depend on the batch size.
TEST(trainer, weighs_a_partial_batch_by_its_samples) {
  const data::Dataset dataset = test::small_data(21);
  TrainerOptions whole = options();
  whole.batch = 21;
  EXPECT_NEAR(Trainer(test::small_network(), options()).evaluate(dataset).loss,
              Trainer(test::small_network(), whole).evaluate(dataset).loss, 1e-6);
}

// Stops after `steps` steps, saves, continues in a new trainer, and compares with a run that never
// stopped.
void expect_resume_is_exact(int64_t steps, int64_t accumulate,
                            const Optimizer& optimizer = options().optimizer) {
  const test::TemporaryFolder folder;
  const data::Dataset dataset = test::small_data(100);
  TrainerOptions wanted = options();
  wanted.accumulate = accumulate;
  wanted.optimizer = optimizer;
  Trainer straight(test::small_network(), wanted);
  const FitResult whole = straight.fit(dataset, {.epochs = 4});

  Trainer first(test::small_network(), wanted);
  const FitResult part =
      first.fit(dataset, {.epochs = 4, .checkpoint = folder / "c.safetensors", .stop = [&] {
                            return first.steps() == steps;
                          }});
  EXPECT_EQ(part.end, FitResult::End::stopped);
  Trainer second(test::small_network(), wanted);
  second.resume(folder / "c.safetensors");
  const FitResult rest = second.fit(dataset, {.epochs = 4, .initial_epoch = second.epochs()});
  EXPECT_EQ(second.weights_sha256(), straight.weights_sha256());
  EXPECT_EQ(second.steps(), straight.steps());
  EXPECT_EQ(rest.epochs.back().train.loss, whole.epochs.back().train.loss);
  EXPECT_EQ(rest.epochs.front().train.loss,
            whole.epochs[whole.epochs.size() - rest.epochs.size()].train.loss);
}

TEST(trainer, resumes_to_the_same_bits) {
  for (const int64_t steps : {1, 7, 9, 14, 27}) expect_resume_is_exact(steps, 1);
}

TEST(trainer, resumes_every_optimizer_to_the_same_bits) {
  for (const std::string& name : Optimizer::names()) {
    SCOPED_TRACE(name);
    expect_resume_is_exact(9, 1, Optimizer::parse(name).with_learning_rate(1e-3));
  }
}

TrainerOptions eight_bits(int threads = 1) {
  TrainerOptions wanted = options(threads);
  wanted.optimizer = AdamW{.lr = 1e-2, .state_bits = 8, .min_8bit_size = 1};
  return wanted;
}

TEST(trainer, learns_with_moments_of_8_bits) {
  const data::Dataset dataset = test::small_data(200);
  Trainer whole(test::small_network(), options());
  Trainer coded(test::small_network(), eight_bits());
  whole.fit(dataset, {.epochs = 20});
  coded.fit(dataset, {.epochs = 20});
  EXPECT_NE(coded.weights_sha256(), whole.weights_sha256());
  const double loss = whole.evaluate(dataset).loss;
  EXPECT_NEAR(coded.evaluate(dataset).loss, loss, 0.2 * loss);
}

TEST(trainer, says_what_moments_of_8_bits_save) {
  const Plan whole = Trainer(test::small_network(), options()).plan();
  const Plan coded = Trainer(test::small_network(), eight_bits()).plan();
  EXPECT_EQ(whole.saved_state_bytes, 0);
  EXPECT_EQ(coded.saved_state_bytes, whole.state_bytes - coded.state_bytes);
  // Beside the moments only the statistics of the batch norm are states: two times five numbers.
  EXPECT_LT(static_cast<double>(coded.state_bytes - 40),
            0.3 * static_cast<double>(whole.state_bytes - 40));
  EXPECT_NE(coded.text().find("saved by keeping 8 bits"), std::string::npos);
}

TEST(trainer, resumes_moments_of_8_bits_to_the_same_bits) {
  expect_resume_is_exact(9, 1, eight_bits().optimizer);
}

TEST(trainer, gives_the_same_bits_of_8_bit_moments_on_many_threads) {
  const data::Dataset dataset = test::small_data(100);
  Trainer one(test::small_network(), eight_bits());
  Trainer four(test::small_network(), eight_bits(4));
  one.fit(dataset, {.epochs = 3});
  four.fit(dataset, {.epochs = 3});
  EXPECT_EQ(one.weights_sha256(), four.weights_sha256());
}

// The loss of a network that cannot learn is constant: the rate falls, and a resumed run continues
// with the state of the schedule.
TEST(trainer, resumes_a_schedule_that_watches_the_loss) {
  const test::TemporaryFolder folder;
  const data::Dataset dataset = test::small_data(40);
  TrainerOptions wanted = options();
  wanted.schedule =
      Schedule::reduce_on_plateau({.lr = 1e-2, .factor = 0.5, .patience = 1, .threshold = 0.5});
  const auto rates = [](const FitResult& result) {
    std::vector<double> all;
    for (const EpochReport& report : result.epochs) all.push_back(report.learning_rate);
    return all;
  };
  Trainer straight(test::small_network(), wanted);
  const std::vector<double> whole = rates(straight.fit(dataset, {.epochs = 9}));
  EXPECT_EQ(whole.front(), 1e-2);
  EXPECT_LE(whole.back(), 2.5e-3);

  Trainer first(test::small_network(), wanted);
  std::vector<double> parts =
      rates(first.fit(dataset, {.epochs = 4, .checkpoint = folder / "c.safetensors"}));
  Trainer second(test::small_network(), wanted);
  second.resume(folder / "c.safetensors");
  for (const double rate : rates(second.fit(dataset, {.epochs = 9, .initial_epoch = 4})))
    parts.push_back(rate);
  EXPECT_EQ(parts, whole);
  EXPECT_EQ(second.weights_sha256(), straight.weights_sha256());
}

TEST(trainer, refuses_a_schedule_that_watches_an_unknown_metric) {
  TrainerOptions wanted = options();
  wanted.schedule = Schedule::reduce_on_plateau({.lr = 1e-2, .metric = "accuracy"});
  EXPECT_NE(error_of([&] { Trainer(test::small_network(), wanted); }).find("accuracy"),
            std::string::npos);
}

TEST(trainer, evaluates_averages_of_the_weights) {
  const test::TemporaryFolder folder;
  const data::Dataset dataset = test::small_data(40);
  TrainerOptions wanted = options();
  wanted.ema_decay = 0.9;
  Trainer trainer(test::small_network(), wanted);
  const double before = trainer.evaluate(dataset).loss;
  EXPECT_EQ(before, Trainer(test::small_network(), options()).evaluate(dataset).loss);
  trainer.fit(dataset, {.epochs = 3});
  const double averaged = trainer.evaluate(dataset).loss;
  EXPECT_NE(averaged, before);

  // The same weights and averages by hand.
  Trainer plain(test::small_network(), options());
  plain.fit(dataset, {.epochs = 3});
  EXPECT_EQ(plain.weights_sha256(), trainer.weights_sha256());
  EXPECT_NE(plain.evaluate(dataset).loss, averaged);
  for (const std::string& name : trainer.parameter_names()) {
    plain.set_parameter(name, trainer.parameter(name + ".ema"));
  }
  EXPECT_EQ(plain.evaluate(dataset).loss, averaged);
  EXPECT_EQ(plain.predict(dataset, "guess"), trainer.predict(dataset, "guess"));

  // A checkpoint holds them, for weights alone too.
  trainer.save(folder / "c");
  Trainer resumed(test::small_network(), wanted);
  resumed.resume(folder / "c");
  EXPECT_EQ(resumed.evaluate(dataset).loss, averaged);
  Trainer loaded(test::small_network(), options());
  loaded.load_weights(folder / "c");
  EXPECT_EQ(loaded.evaluate(dataset).loss, averaged);
  trainer.fit(dataset, {.epochs = 2});
  resumed.fit(dataset, {.epochs = 2});
  EXPECT_EQ(resumed.evaluate(dataset).loss, trainer.evaluate(dataset).loss);
}

TEST(trainer, keeps_averages_of_parameters_that_are_set) {
  TrainerOptions wanted = options();
  wanted.ema_decay = 0.9;
  Trainer trainer(test::small_network(), wanted);
  trainer.set_parameter("dense.bias", {1.0F, 2.0F, 3.0F});
  EXPECT_EQ(trainer.parameter("dense.bias.ema"), (Array{1.0F, 2.0F, 3.0F}));
}

TEST(trainer, resumes_in_the_middle_of_an_accumulation) { expect_resume_is_exact(10, 3); }

TEST(trainer, refuses_to_resume_with_other_settings) {
  const test::TemporaryFolder folder;
  Trainer(test::small_network(), options()).save(folder / "c");
  TrainerOptions other = options();
  other.batch = 8;
  Trainer trainer(test::small_network(), other);
  const std::string hash = trainer.weights_sha256();
  EXPECT_NE(error_of([&] { trainer.resume(folder / "c"); }).find("made with batch \""),
            std::string::npos);
  EXPECT_EQ(trainer.weights_sha256(), hash);
}

// Each changes the result of a training, so a checkpoint is resumed with the same setting alone.
TEST(trainer, names_the_setting_in_which_a_resumed_run_differs) {
  const test::TemporaryFolder folder;
  using Change = void (*)(TrainerOptions&);
  struct Case {
    Change saved;
    Change resumed;
    std::string said;
  };
  const Change nothing = [](TrainerOptions&) {};
  const Case cases[] = {
      {nothing, [](TrainerOptions& o) { o.saved_activations = DType::bf16; },
       "made with saved_activations \"f32\", this run has \"bf16\""},
      {[](TrainerOptions& o) { o.clip = GradientClip::by_global_norm(1.5); }, nothing,
       "(on the command line --clip-norm) \"global_norm 1.5\", this run has \"none\""},
      {[](TrainerOptions& o) { o.clip = GradientClip::by_value(1); },
       [](TrainerOptions& o) { o.clip = GradientClip::by_tensor_norm(1); },
       "\"value 1\", this run has \"tensor_norm 1\""},
      {[](TrainerOptions& o) { o.groups = {{.pattern = "conv.*", .frozen = true}}; }, nothing,
       "made with groups (on the command line --freeze) \"conv.* frozen\", this run has \"none\""},
      {[](TrainerOptions& o) { o.clip = GradientClip::by_value(1); },
       [](TrainerOptions& o) {
         o.clip = GradientClip::by_value(1);
         o.groups = {{.pattern = "conv.*", .lr_scale = 0.5, .clip_limit = 2}};
       },
       "\"none\", this run has \"conv.* lr_scale=0.5 clip_limit=2\""},
  };
  for (const auto& [saved, resumed, said] : cases) {
    TrainerOptions before = options();
    TrainerOptions after = options();
    saved(before);
    resumed(after);
    Trainer(test::small_network(), before).save(folder / "c");
    Trainer trainer(test::small_network(), after);
    const std::string error = error_of([&] { trainer.resume(folder / "c"); });
    EXPECT_NE(error.find(said), std::string::npos) << error;
    EXPECT_EQ(error_of([&] { Trainer(test::small_network(), before).resume(folder / "c"); }),
              test::kNoError);
  }
}

// The checkpoint is from a version that did not store these settings.
TEST(trainer, resumes_from_a_checkpoint_that_lacks_later_settings) {
  const test::TemporaryFolder folder;
  TrainerOptions clipped = options();
  clipped.clip = GradientClip::by_value(1.0);
  Trainer trainer(test::small_network(), clipped);
  trainer.save(folder / "new");
  const io::Safetensors file = io::Safetensors::read(folder / "new");
  io::Metadata metadata = file.metadata();
  for (const char* key : {"clip", "groups", "saved_activations", "split_batch_norm",
                          "quantization_aware_scaling", "integer_rounding", "error_type"}) {
    EXPECT_EQ(metadata.erase(key), 1U) << key;
  }
  io::write_safetensors(folder / "old", file.tensors(), metadata);
  EXPECT_EQ(error_of([&] { trainer.resume(folder / "old"); }), test::kNoError);
}

TEST(trainer, names_a_checkpoint_that_is_missing_or_cut_off) {
  const test::TemporaryFolder folder;
  Trainer trainer(test::small_network(), options());
  EXPECT_NE(error_of([&] { trainer.resume(folder / "none"); }).find("no such file"),
            std::string::npos);
  trainer.save(folder / "c");
  std::filesystem::resize_file(folder / "c", 100);
  EXPECT_NE(error_of([&] { trainer.resume(folder / "c"); }).find("truncated"), std::string::npos);
}

TEST(trainer, refuses_a_checkpoint_that_is_not_finite) {
  const test::TemporaryFolder folder;
  Trainer bad(test::small_network(), options());
  bad.set_parameter("dense.bias", {1.0F, std::numeric_limits<float>::quiet_NaN(), 2.0F});
  bad.save(folder / "c");
  Trainer trainer(test::small_network(), options());
  const std::string hash = trainer.weights_sha256();
  for (const std::string& what : {error_of([&] { trainer.resume(folder / "c"); }),
                                  error_of([&] { trainer.load_weights(folder / "c"); })}) {
    EXPECT_NE(what.find("dense.bias holds nan at element 1"), std::string::npos) << what;
  }
  EXPECT_EQ(trainer.weights_sha256(), hash);
}

TEST(trainer, takes_any_number_of_epochs) {
  Trainer trainer(test::small_network(), options());
  const FitResult result =
      trainer.fit(test::small_data(16), {.epochs = std::numeric_limits<int64_t>::max(),
                                         .stop = [&] { return trainer.steps() == 2; }});
  EXPECT_EQ(result.end, FitResult::End::stopped);
}

TEST(trainer, says_where_a_checkpoint_cannot_be_written) {
  Trainer trainer(test::small_network(), options());
  EXPECT_NE(error_of([&] { trainer.save("/no/such/folder/c"); }).find("/no/such/folder/c"),
            std::string::npos);
}

TEST(trainer, stops_at_a_loss_that_is_not_finite_and_names_the_first_bad_value) {
  const data::Dataset good = test::small_data(16);
  std::vector<float> images(16 * 128, 0.5F);
  images[300] = std::numeric_limits<float>::quiet_NaN();
  const data::Dataset bad = data::in_memory(good.fields(), {images, std::vector<float>(48, 0.0F)});
  Trainer trainer(test::small_network(), options());
  const std::string hash = trainer.weights_sha256();
  const std::string what = error_of([&] { trainer.fit(bad); });
  EXPECT_NE(what.find("step 1"), std::string::npos) << what;
  EXPECT_NE(what.find("input image"), std::string::npos) << what;
  EXPECT_EQ(trainer.weights_sha256(), hash);
}

// The last update of an epoch may overflow: its result is not saved.
TEST(trainer, saves_no_weights_that_are_not_finite) {
  const test::TemporaryFolder folder;
  TrainerOptions fast = options();
  fast.optimizer = SGD{.lr = 1e38};
  Trainer trainer(test::small_network(), fast);
  trainer.set_parameter("dense.bias", {100.0F, 100.0F, 100.0F});  // gradients of about 66
  const std::string what =
      error_of([&] { trainer.fit(test::small_data(16), {.checkpoint = folder / "c"}); });
  EXPECT_NE(what.find("step 1 (epoch 1) left parameter"), std::string::npos) << what;
  EXPECT_FALSE(std::filesystem::exists(folder / "c"));
}

TEST(trainer, names_the_parameter_that_went_bad) {
  Trainer trainer(test::small_network(), options());
  std::vector<float> bias = trainer.parameter("dense.bias").as<float>();
  bias[1] = std::numeric_limits<float>::infinity();
  trainer.set_parameter("dense.bias", bias);
  const std::string what = error_of([&] { trainer.fit(test::small_data(16)); });
  EXPECT_NE(what.find("parameter dense.bias"), std::string::npos) << what;
}

TEST(trainer, stops_early_without_gain) {
  TrainerOptions still = options();
  still.optimizer = SGD{.lr = 0.0};
  Graph model = test::small_network();
  Trainer trainer(model, still);
  const FitResult result = trainer.fit(
      test::small_data(32), {.epochs = 50, .validation = test::small_data(16), .patience = 3});
  EXPECT_EQ(result.end, FitResult::End::early);
  EXPECT_LT(result.epochs.size(), 50U);
}

TEST(trainer, keeps_the_best_checkpoint) {
  const test::TemporaryFolder folder;
  const data::Dataset dataset = test::small_data(64);
  Trainer trainer(test::small_network(), options());
  double best = std::numeric_limits<double>::infinity();
  trainer.fit(dataset, {.epochs = 6,
                        .validation = dataset,
                        .best_checkpoint = folder / "best",
                        .on_epoch = [&](const EpochReport& report) {
                          EXPECT_EQ(report.is_best, report.validation->loss < best);
                          best = std::min(best, report.validation->loss);
                        }});
  Trainer loaded(test::small_network(), options());
  loaded.load_weights(folder / "best");
  EXPECT_EQ(loaded.evaluate(dataset).loss, best);
}

TEST(trainer, leaves_frozen_parameters_alone) {
  Graph model = test::small_network();
  EXPECT_EQ(model.freeze("conv.*"), 2);
  Trainer trainer(model, options());
  const Array weight = trainer.parameter("conv.weight");
  const Array free = trainer.parameter("dense.weight");
  trainer.fit(test::small_data(64));
  EXPECT_EQ(trainer.parameter("conv.weight"), weight);
  EXPECT_NE(trainer.parameter("dense.weight"), free);
}

TEST(trainer, predicts_every_sample) {
  const data::Dataset dataset = test::small_data(21);
  Trainer trainer(test::small_network(), options());
  EXPECT_EQ(trainer.predict(dataset, "guess").elements(), 63);
  EXPECT_NE(error_of([&] { static_cast<void>(trainer.predict(dataset, "other")); }).find("other"),
            std::string::npos);
}

TEST(trainer, refuses_to_predict_outputs_without_a_part_for_each_sample) {
  Graph g;
  const Value x = g.input("image", {8, 8, 2});
  const Value flat = reshape(x, {-1, 128});
  const Value y = dense(flat, {.units = 3});
  g.minimize(mean(square(y)));
  g.output("rows", y);
  g.output("mean", mean(y, {.axes = {0}, .keepdims = true}));
  g.output("alike", matmul(flat, flat, {.transpose_b = true}));
  const data::Dataset dataset = test::small_data(21);
  Trainer trainer(g, options());
  EXPECT_EQ(trainer.predict(dataset, "rows").elements(), 63);
  for (const char* const output : {"mean", "alike"}) {
    const std::string what = error_of([&] { static_cast<void>(trainer.predict(dataset, output)); });
    EXPECT_NE(what.find(fmt::format("the output \"{}\"", output)), std::string::npos) << what;
  }
  const test::TemporaryFolder folder;
  trainer.save(folder / "c");
  const std::string what = error_of([&] { Predictor(g, folder / "c"); });
  EXPECT_NE(what.find("the output \"mean\""), std::string::npos) << what;
}

TEST(trainer, says_what_to_do_if_another_data_set_is_too_small_to_go_on) {
  Trainer trainer(test::small_network(), options());
  int steps = 0;
  trainer.fit(test::small_data(64), {.epochs = 2, .stop = [&] { return ++steps == 3; }});
  const std::string what = error_of([&] { trainer.fit(test::small_data(8), {.epochs = 2}); });
  EXPECT_NE(what.find("after 3 batches, but an epoch of this data set has 1"), std::string::npos)
      << what;
  EXPECT_NE(what.find("load_weights"), std::string::npos) << what;
  EXPECT_NO_THROW(trainer.fit(test::small_data(64), {.epochs = 2}));
}

TEST(trainer, refuses_a_negative_number_of_threads) {
  const std::string what = error_of([] { Trainer(test::small_network(), {.threads = -1}); });
  EXPECT_NE(what.find("[threads] expected 1 or more"), std::string::npos) << what;
}

TEST(trainer, says_which_field_does_not_fit) {
  const data::Dataset wrong =
      data::in_memory({{"image", {4, 4, 2}}, {"wanted", {3}, DType::f32, true}},
                      {std::vector<float>(32), std::vector<float>(3)});
  Trainer trainer(test::small_network(), options());
  const std::string what = error_of([&] { trainer.fit(wrong); });
  EXPECT_NE(what.find("[8, 8, 2]"), std::string::npos) << what;
  EXPECT_NE(what.find("[4, 4, 2]"), std::string::npos) << what;
}

TEST(predictor, agrees_with_the_trainer) {
  const test::TemporaryFolder folder;
  const data::Dataset dataset = test::small_data(21);
  Trainer trainer(test::small_network(), options());
  trainer.fit(dataset);
  trainer.save(folder / "c");
  std::vector<float> images;
  std::vector<float> image(128);
  float wanted[3];
  for (int64_t i = 0; i < dataset.size(); ++i) {
    void* const fields[] = {image.data(), wanted};
    dataset.read(i, fields);
    images.insert(images.end(), image.begin(), image.end());
  }
  Predictor predictor(test::small_network(), folder / "c", 16);
  EXPECT_EQ(predictor.run({{"image", images}}).at("guess"), trainer.predict(dataset, "guess"));
  EXPECT_NE(error_of([&] { static_cast<void>(predictor.run({})); }).find("missing"),
            std::string::npos);
  images.pop_back();
  EXPECT_NE(error_of([&] {
              static_cast<void>(predictor.run({{"image", images}}));
            }).find("give whole samples"),
            std::string::npos);
}

}  // namespace
}  // namespace thimble::trainer_test
