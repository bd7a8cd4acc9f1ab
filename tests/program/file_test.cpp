// Program files: what is written is read, trains to the same bits, and nothing else is accepted.
#include <gmock/gmock.h>
#include <thimble/compiled_training.h>
#include <thimble/model_file.h>
#include <thimble/trainer.h>

#include <functional>

#include "harness/error_of.h"
#include "io/temporary_folder.h"
#include "program/program_files.h"
#include "train/state.h"
#include "train/training_program.h"

namespace thimble::program_file_test {
namespace {

using test::all_options;
using test::contents;
using test::error_of;
using test::images;
using test::in_least_budget;
using test::trained_before;

TEST(program_file, trains_to_the_same_bits_without_the_graph) {
  const test::TemporaryFolder folder;
  const CompileFor compiled_for{.samples = 21, .test_samples = 11, .predict = true};
  for (size_t i = 0; const TrainerOptions& each : all_options()) {
    SCOPED_TRACE(++i);
    const TrainerOptions options = in_least_budget(each, compiled_for);
    const data::Dataset train = images(21);
    const data::Dataset validation = images(11);
    const FitOptions fit{.epochs = 2, .validation = validation};
    Trainer whole(test::small_classifier(), options);
    const FitResult wanted = whole.fit(train, fit);

    const std::string path = folder / "step.thimble";
    const CompiledTraining compiled(test::small_classifier(), options, compiled_for);
    compiled.save(path);
    CompiledTraining loaded = CompiledTraining::load(path);
    EXPECT_EQ(loaded.plan().planned_peak_bytes, compiled.plan().planned_peak_bytes);
    EXPECT_EQ(loaded.options().optimizer, options.optimizer);
    Trainer trainer(std::move(loaded));
    EXPECT_TRUE(trainer.state().model.nodes.empty());
    const FitResult result = trainer.fit(train, fit);
    EXPECT_EQ(trainer.weights_sha256(), whole.weights_sha256());
    EXPECT_EQ(result.epochs[1].validation->loss, wanted.epochs[1].validation->loss);
    EXPECT_EQ(result.epochs[1].train.metrics, wanted.epochs[1].train.metrics);
    EXPECT_EQ(trainer.predict(validation, "probabilities"),
              whole.predict(validation, "probabilities"));
    if (options.memory_budget > 0) {
      EXPECT_LE(result.measured_peak_bytes, options.memory_budget);
      EXPECT_GT(result.swap_read_bytes, 0);
    }

    // Each trainer reads the checkpoints of the other.
    trainer.save(folder / "checkpoint");
    Trainer other(test::small_classifier(), options);
    other.resume(folder / "checkpoint");
    EXPECT_EQ(other.weights_sha256(), whole.weights_sha256());
    whole.save(folder / "checkpoint");
    trainer.resume(folder / "checkpoint");
    EXPECT_EQ(trainer.steps(), whole.steps());
  }
}

TEST(program_file, begins_with_the_weights_that_the_graph_has) {
  const test::TemporaryFolder folder;
  const Graph model = trained_before();
  for (const size_t i : {0U, 1U, 4U}) {  // with averages of weights, and with parameters in a file
    SCOPED_TRACE(i);
    const TrainerOptions options = in_least_budget(all_options()[i], {.samples = 21});
    Trainer whole(model, options);
    CompiledTraining(model, options, {.samples = 21}).save(folder / "a");
    CompiledTraining::load(folder / "a").save(folder / "b");
    EXPECT_EQ(contents(folder / "a"), contents(folder / "b"));
    Trainer trainer(CompiledTraining::load(folder / "a"));
    EXPECT_EQ(trainer.weights_sha256(), whole.weights_sha256());
    EXPECT_NE(trainer.weights_sha256(),
              Trainer(test::small_classifier(), options).weights_sha256());
    whole.fit(images(21));
    trainer.fit(images(21));
    EXPECT_EQ(trainer.weights_sha256(), whole.weights_sha256());
  }
}

TEST(program_file, that_is_changed_after_it_was_opened_is_refused) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "a";
  CompiledTraining(trained_before(), all_options()[0]).save(path);
  CompiledTraining opened = CompiledTraining::load(path);
  std::string bytes = contents(path);
  bytes[bytes.size() * 3 / 4] ^= 1;  // most of the file is weights
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_THAT(error_of([&] { Trainer(std::move(opened)); }),
              testing::HasSubstr("was changed since"));
}

TEST(program_file, writes_checkpoints_and_model_files_that_hold_the_graph) {
  const test::TemporaryFolder folder;
  const Graph model = test::small_classifier();
  for (const size_t i : {0U, 1U, 5U}) {  // plain, with averages, and of another precision
    SCOPED_TRACE(i);
    const TrainerOptions options = all_options()[i];
    CompiledTraining(model, options, {.samples = 16}).save(folder / "a");
    Trainer trainer(CompiledTraining::load(folder / "a"));
    Trainer whole(model, options);
    trainer.fit(images(16));
    whole.fit(images(16));
    trainer.save(folder / "checkpoint");
    EXPECT_EQ(load_graph(folder / "checkpoint").text(), model.text());
    trainer.save_model(folder / "of_program");
    whole.save_model(folder / "of_graph");
    EXPECT_EQ(contents(folder / "of_program"), contents(folder / "of_graph"));
  }
}

TEST(program_file, is_the_same_after_a_round_trip) {
  const test::TemporaryFolder folder;
  CompiledTraining(test::small_classifier(), all_options()[0], {.samples = 21}).save(folder / "a");
  CompiledTraining::load(folder / "a").save(folder / "b");
  EXPECT_EQ(contents(folder / "a"), contents(folder / "b"));
}

// A file, compiled once for all changes.
class Compiled {
 public:
  explicit Compiled(const TrainerOptions& options) {
    CompiledTraining(test::small_classifier(), options, {.samples = 21}).save(folder_ / "a");
  }

  // The error of reading it after a change.
  [[nodiscard]] std::string error_after(
      const std::function<void(train::TrainingProgram&)>& change) const {
    train::TrainingProgram training = train::read_training(folder_ / "a");
    change(training);
    return error_of([&] {
      train::write_training(training, folder_ / "b");
      (void)CompiledTraining::load(folder_ / "b");
    });
  }

 private:
  test::TemporaryFolder folder_;
};

std::string error_after(const TrainerOptions& options,
                        const std::function<void(train::TrainingProgram&)>& change) {
  return Compiled(options).error_after(change);
}

TEST(program_file, that_takes_more_memory_than_it_says_is_refused) {
  const auto& first = [](train::TrainingProgram& t) -> program::Program& {
    return t.programs.begin()->second;
  };
  for (const size_t i : {0U, 1U, 4U}) {
    SCOPED_TRACE(i);
    const Compiled file(in_least_budget(all_options()[i], {.samples = 21}));
    EXPECT_EQ(file.error_after([](auto&) {}), test::kNoError);
    for (const int64_t more : {int64_t{1} << 24, int64_t{1} << 40}) {
      EXPECT_THAT(file.error_after([&](auto& t) { first(t).arena_bytes = more; }),
                  testing::HasSubstr("but its plan says"));
      EXPECT_THAT(file.error_after([&](auto& t) { first(t).staging_bytes = more; }),
                  testing::HasSubstr("but its plan says"));
    }
    EXPECT_THAT(
        file.error_after([](auto& t) { t.options.memory_budget = t.plan.planned_peak_bytes; }),
        testing::HasSubstr("memory budget is"));
    EXPECT_THAT(file.error_after([&](auto& t) {
      first(t).arena_bytes = int64_t{1} << 30;
      t.plan.planned_peak_bytes = int64_t{1} << 31;
      t.options.memory_budget = 2'000'000;
    }),
                testing::HasSubstr("memory budget is"));
  }
}

TEST(program_file, that_counts_out_of_range_is_refused) {
  const Compiled file(all_options()[0]);
  const auto error = [&](const auto& change) { return file.error_after(change); };
  using Training = train::TrainingProgram;
  EXPECT_THAT(error([](Training& t) { t.epochs = -1; }), testing::HasSubstr("epochs at byte"));
  EXPECT_THAT(error([](Training& t) { t.epochs = INT64_MAX; }),
              testing::HasSubstr("epochs at byte"));
  EXPECT_THAT(error([](Training& t) { t.micro_batch_size = 0; }),
              testing::HasSubstr("of a micro-batch"));
  EXPECT_THAT(error([](Training& t) { t.options.batch = 0; }), testing::HasSubstr("batch at byte"));
  EXPECT_THAT(error([](Training& t) { t.options.accumulate = 0; }),
              testing::HasSubstr("accumulated steps"));
  EXPECT_THAT(error([](Training& t) {
                t.interface.values[0].type.shape = {kBatch, kBatch, 1 << 10};
                t.options.batch = 1 << 20;
              }),
              testing::HasSubstr("is too large for a batch"));
}

TEST(program_file, with_names_that_no_checkpoint_could_hold_is_refused) {
  const Compiled file(all_options()[0]);
  const auto error_with = [&](const std::string& name) {
    return file.error_after([&](train::TrainingProgram& t) {
      for (auto& [key, program] : t.programs) program.stored[0].name = name;
    });
  };
  EXPECT_THAT(error_with("a\nb"), testing::HasSubstr("has a control character at byte 1"));
  EXPECT_THAT(error_with("\xff"), testing::HasSubstr("is no UTF-8"));
  EXPECT_THAT(error_with(""), testing::HasSubstr("is empty"));
  EXPECT_THAT(error_with("__metadata__"), testing::HasSubstr("is reserved"));
  EXPECT_THAT(
      file.error_after([](train::TrainingProgram& t) { t.name = std::string(2 << 20, 'a'); }),
      testing::HasSubstr("is longer than a program file holds"));
}

// A parameter in a swap file that does not exist would be read through a null pointer.
TEST(program_file, whose_swap_file_has_no_slots_is_refused) {
  EXPECT_THAT(error_after(all_options()[0],
                          [](train::TrainingProgram& t) {
                            for (auto& [key, program] : t.programs) {
                              program.in_file.insert("unread");
                            }
                          }),
              testing::HasSubstr("has no slots"));
}

TEST(program_file, without_its_metrics_is_refused) {
  EXPECT_THAT(error_after(all_options()[0],
                          [](train::TrainingProgram& t) {
                            for (auto& [key, program] : t.programs) program.metrics.clear();
                          }),
              testing::HasSubstr("not all metrics"));
}

// Its gradient cuts off what was padded, up to the ends of axes.
TEST(program_file, holds_the_gradient_of_a_constant_pad) {
  const test::TemporaryFolder folder;
  Graph model;
  const Value x = model.input("image", {6, 6, 1});
  const Value y = dense(pad(dense(x, {.units = 3}), {{0, 0, 0, 0}, {0, 1, 0, 2}}), {.units = 1});
  model.minimize(softmax_cross_entropy(dense(flatten(y), {.units = 5}), model.label("digit")));
  CompiledTraining(model, all_options()[0]).save(folder / "a");
  Trainer trainer(CompiledTraining::load(folder / "a"));
  Trainer whole(model, all_options()[0]);
  trainer.fit(images(16));
  whole.fit(images(16));
  EXPECT_EQ(trainer.weights_sha256(), whole.weights_sha256());
}

TEST(program_file, refuses_the_average_of_a_parameter_that_is_none) {
  const test::TemporaryFolder folder;
  TrainerOptions options = all_options()[0];
  options.ema_decay = 0.5;
  CompiledTraining(test::small_classifier(), options).save(folder / "a");
  train::TrainingProgram training = train::read_training(folder / "a");
  for (auto& [key, program] : training.programs) {
    for (program::Stored& stored : program.stored) {
      if (stored.name == "last.bias.ema") stored.average_of = "last.weight";
    }
  }
  train::write_training(training, folder / "b");
  EXPECT_THAT(error_of([&] { (void)train::read_training(folder / "b"); }),
              testing::HasSubstr("last.bias.ema is the average of \"last.weight\", which is no"));
}

TEST(program_file, refuses_an_average_that_is_no_state_and_values_of_two_roles) {
  TrainerOptions options = all_options()[0];
  options.ema_decay = 0.5;
  const auto with_role = [&](const char* name, ir::Role role, bool everywhere) {
    const test::TemporaryFolder folder;
    CompiledTraining(test::small_classifier(), options).save(folder / "a");
    train::TrainingProgram training = train::read_training(folder / "a");
    for (auto& [key, program] : training.programs) {
      for (program::Stored& stored : program.stored) {
        if (stored.name != name) continue;
        stored.role = role;
        if (!everywhere) break;
      }
      if (!everywhere) break;
    }
    train::write_training(training, folder / "b");
    return error_of([&] { (void)train::read_training(folder / "b"); });
  };
  EXPECT_THAT(with_role("last.bias.ema", ir::Role::parameter, true),
              testing::HasSubstr("or it is itself no state"));
  EXPECT_THAT(with_role("last.bias", ir::Role::state, true),
              testing::HasSubstr("which is no parameter of its type"));
  EXPECT_THAT(with_role("last.bias.ema", ir::Role::parameter, false),
              testing::HasSubstr("last.bias.ema has two types or roles"));
}

TEST(program_file, whose_tables_do_not_fit_its_budget_is_refused) {
  const std::string error = error_after(all_options()[0], [](train::TrainingProgram& t) {
    t.options.memory_budget = t.plan.planned_peak_bytes + t.plan.input_pipeline_bytes + 1000;
    t.plan.reserved_bytes = 0;
  });
  EXPECT_THAT(error, testing::HasSubstr("the tables of its programs, but its memory budget is"));
}

TEST(program_file, finds_too_few_test_samples_before_the_first_step) {
  Trainer trainer(CompiledTraining(test::small_classifier(), all_options()[0]));
  EXPECT_THAT(error_of([&] { trainer.fit(images(16), {.validation = images(3)}); }),
              testing::HasSubstr("--test-samples"));
  EXPECT_EQ(trainer.steps(), 0);
}

TEST(program_file, refuses_batches_that_it_has_no_program_for) {
  const test::TemporaryFolder folder;
  CompiledTraining(test::small_classifier(), all_options()[0]).save(folder / "a");
  Trainer trainer(CompiledTraining::load(folder / "a"));
  EXPECT_NO_THROW(trainer.fit(images(16), {.validation = images(8)}));
  EXPECT_THAT(error_of([&] { trainer.fit(images(17)); }),
              testing::AllOf(testing::HasSubstr("1 samples"), testing::HasSubstr("--samples")));
  EXPECT_THAT(error_of([&] { (void)trainer.evaluate(images(9)); }),
              testing::HasSubstr("--test-samples"));
  EXPECT_THAT(error_of([&] { (void)trainer.predict(images(8), "probabilities"); }),
              testing::HasSubstr("--predict"));
  EXPECT_NO_THROW(trainer.fit(images(8)));
}

TEST(program_file, names_an_invalid_index_as_the_graph_would) {
  const test::TemporaryFolder folder;
  CompiledTraining(test::small_classifier(), all_options()[0]).save(folder / "a");
  Trainer trainer(CompiledTraining::load(folder / "a"));
  Trainer whole(test::small_classifier(), all_options()[0]);
  std::vector<int32_t> digits(8, 1);
  digits[3] = 9;
  const data::Dataset bad = data::in_memory({{"image", {6, 6, 1}}, {"digit", {}, DType::i32, true}},
                                            {std::vector<float>(8 * 36, 0.5F), digits});
  const std::string message = error_of([&] { trainer.fit(bad); });
  EXPECT_THAT(message, testing::HasSubstr("takes 0 to 4"));
  EXPECT_EQ(message, error_of([&] { whole.fit(bad); }));
}

TEST(program_file, cannot_hold_a_schedule_that_is_a_function) {
  const test::TemporaryFolder folder;
  TrainerOptions options = all_options()[0];
  options.schedule = Schedule::lambda([](int64_t) { return 0.1; });
  const CompiledTraining compiled(test::small_classifier(), options);
  EXPECT_THAT(error_of([&] { compiled.save(folder / "a"); }), testing::HasSubstr("is a function"));
}

}  // namespace
}  // namespace thimble::program_file_test
