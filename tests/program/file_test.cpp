// Program files: what is written is read, trains to the same bits, and nothing else is accepted.
#include <gmock/gmock.h>
#include <thimble/compiled_training.h>
#include <thimble/model_file.h>
#include <thimble/recipes.h>
#include <thimble/trainer.h>

#include <fstream>
#include <functional>
#include <random>
#include <sstream>

#include "fuzz/bounded_run.h"
#include "fuzz/bounded_training.h"
#include "harness/error_of.h"
#include "io/temporary_folder.h"
#include "program/check.h"
#include "program/program_files.h"
#include "train/state.h"
#include "train/training_program.h"

namespace thimble::program_file_test {
namespace {

using test::error_of;

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

data::Dataset images(int64_t count) {
  std::vector<float> pixels(static_cast<size_t>(count * 36));
  std::vector<int32_t> digits(static_cast<size_t>(count));
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<float>((i * 37) % 101) / 101.0F;
  for (size_t i = 0; i < digits.size(); ++i) digits[i] = static_cast<int32_t>(i * 7 % 5);
  return data::in_memory({{"image", {6, 6, 1}}, {"digit", {}, DType::i32, true}}, {pixels, digits});
}

std::vector<TrainerOptions> all_options() {
  const TrainerOptions plain{.optimizer = AdamW{.lr = 3e-3}, .batch = 8, .seed = 3, .threads = 1};
  std::vector<TrainerOptions> all{plain};
  all.push_back(plain);
  all.back().threads = 2;
  all.back().ema_decay = 0.9;
  all.back().clip = GradientClip::by_global_norm(1.0);
  all.back().schedule = Schedule::parse("warmup:steps=2/cosine:decay_steps=20", 3e-3, 0);
  all.push_back(plain);
  all.back().optimizer = SGD{.lr = 0.05, .momentum = 0.9};
  all.back().accumulate = 2;
  all.back().groups = {{.pattern = "conv.*", .frozen = true},
                       {.pattern = "last.*", .lr_scale = 0.5}};
  all.push_back(plain);
  all.back().micro_batches = 3;
  all.push_back(plain);
  all.back().memory_budget = 2'000'000;
  all.back().swap = Swap::always;
  all.push_back(plain);
  all.back().precision = DType::bf16;
  all.push_back(plain);
  all.back().objectives = {
      {.loss = "squares", .parameters = "last.*", .optimizer = SGD{.lr = 0.1}}};
  return all;
}

TEST(program_file, trains_to_the_same_bits_without_the_graph) {
  const test::TemporaryFolder folder;
  for (size_t i = 0; const TrainerOptions& options : all_options()) {
    SCOPED_TRACE(++i);
    const data::Dataset train = images(21);
    const data::Dataset validation = images(11);
    const FitOptions fit{.epochs = 2, .validation = validation};
    Trainer whole(test::small_classifier(), options);
    const FitResult wanted = whole.fit(train, fit);

    const std::string path = folder / "step.thimble";
    const CompiledTraining compiled(test::small_classifier(), options,
                                    {.samples = 21, .test_samples = 11, .predict = true});
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

// The model with given initial values.
Graph trained_before() {
  const test::TemporaryFolder folder;
  Trainer before(test::small_classifier(), {.batch = 8, .seed = 9, .threads = 1});
  before.fit(images(16));
  before.save_model(folder / "model");
  return load_model(folder / "model");
}

TEST(program_file, begins_with_the_weights_that_the_graph_has) {
  const test::TemporaryFolder folder;
  const Graph model = trained_before();
  for (const size_t i : {0U, 1U, 4U}) {  // with averages of weights, and with parameters in a file
    SCOPED_TRACE(i);
    const TrainerOptions options = all_options()[i];
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

// The error of reading a file after a change.
std::string error_after(const TrainerOptions& options,
                        const std::function<void(train::TrainingProgram&)>& change) {
  const test::TemporaryFolder folder;
  CompiledTraining(test::small_classifier(), options, {.samples = 21}).save(folder / "a");
  train::TrainingProgram training = train::read_training(folder / "a");
  change(training);
  return error_of([&] {
    train::write_training(training, folder / "b");
    (void)CompiledTraining::load(folder / "b");
  });
}

TEST(program_file, that_takes_more_memory_than_it_says_is_refused) {
  const auto& first = [](train::TrainingProgram& t) -> program::Program& {
    return t.programs.begin()->second;
  };
  for (const size_t i : {0U, 1U, 4U}) {
    SCOPED_TRACE(i);
    const TrainerOptions options = all_options()[i];
    EXPECT_EQ(error_after(options, [](auto&) {}), test::kNoError);
    for (const int64_t more : {int64_t{1} << 24, int64_t{1} << 40}) {
      EXPECT_THAT(error_after(options, [&](auto& t) { first(t).arena_bytes = more; }),
                  testing::HasSubstr("but its plan says"));
      EXPECT_THAT(error_after(options, [&](auto& t) { first(t).staging_bytes = more; }),
                  testing::HasSubstr("but its plan says"));
    }
    EXPECT_THAT(
        error_after(options, [](auto& t) { t.options.memory_budget = t.plan.planned_peak_bytes; }),
        testing::HasSubstr("memory budget is"));
    EXPECT_THAT(error_after(options,
                            [&](auto& t) {
                              first(t).arena_bytes = int64_t{1} << 30;
                              t.plan.planned_peak_bytes = int64_t{1} << 31;
                              t.options.memory_budget = 2'000'000;
                            }),
                testing::HasSubstr("memory budget is"));
  }
}

TEST(program_file, that_counts_out_of_range_is_refused) {
  const TrainerOptions options = all_options()[0];
  const auto error = [&](const auto& change) { return error_after(options, change); };
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
  const auto error_with = [](const std::string& name) {
    return error_after(all_options()[0], [&](train::TrainingProgram& t) {
      for (auto& [key, program] : t.programs) program.stored[0].name = name;
    });
  };
  EXPECT_THAT(error_with("a\nb"), testing::HasSubstr("has a control character at byte 1"));
  EXPECT_THAT(error_with("\xff"), testing::HasSubstr("is no UTF-8"));
  EXPECT_THAT(error_with(""), testing::HasSubstr("is empty"));
  EXPECT_THAT(error_with("__metadata__"), testing::HasSubstr("is reserved"));
  EXPECT_THAT(error_after(all_options()[0],
                          [](train::TrainingProgram& t) { t.name = std::string(2 << 20, 'a'); }),
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

class damaged : public testing::Test {
 protected:
  void SetUp() override {
    const test::TemporaryFolder folder;
    const TrainerOptions options = all_options()[option()];
    CompiledTraining(trained_before(), options, {.samples = 9}).save(folder / "a");
    bytes_ = contents(folder / "a");
  }
  [[nodiscard]] virtual size_t option() const { return 4; }
  static std::string error(const std::string& bytes) {
    return error_of([&] { (void)train::parse_training("step.thimble", bytes); });
  }
  std::string bytes_;
};

TEST_F(damaged, every_flipped_bit_and_every_cut_is_found) {
  ASSERT_EQ(error(bytes_), "no error");
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    std::string changed = bytes_;
    const size_t at = random() % changed.size();
    changed[at] = static_cast<char>(changed[at] ^ (1 << random() % 8));
    const std::string message = error(changed);
    // Padding between sections means nothing.
    if (message == "no error") {
      EXPECT_EQ(bytes_[at], '\0');
    } else {
      EXPECT_THAT(message, testing::HasSubstr("step.thimble"));
    }
  }
  for (int i = 0; i < 50; ++i)
    EXPECT_NE(error(bytes_.substr(0, random() % bytes_.size())), "no error");
  EXPECT_THAT(error("no such file"), testing::HasSubstr("is no program file"));
  std::string version = bytes_;
  version[8] = 9;
  EXPECT_THAT(error(version), testing::HasSubstr("version 9"));
}

// Files of a program that swaps, and of one without a swap file.
class damaged_with_right_checksums : public damaged, public testing::WithParamInterface<size_t> {
 protected:
  [[nodiscard]] size_t option() const override { return GetParam(); }
  // A word outside of the initial values, which are most of the file and may have any contents.
  [[nodiscard]] size_t place_to_change(std::mt19937& random) const {
    constexpr size_t kValues = 3;  // that section
    const size_t entry = test::kTableAt + kValues * test::kEntryBytes;
    const uint64_t first = test::word_at(bytes_, entry + 8);
    const uint64_t last = first + test::word_at(bytes_, entry + 16);
    for (;;) {
      const size_t at = random() % (bytes_.size() / 8) * 8;
      if (at < first || at >= last) return at;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(options, damaged_with_right_checksums, testing::Values(0, 1, 2, 4, 5));

// Whether a training runs a step to its end. One may end by an Error, as of a loss that is not
// finite.
bool trains(train::TrainingProgram training) {
  try {
    return test::train_bounded(std::move(training));
  } catch (const Error&) {
    return false;
  }
}

// The contents of such a file are checked, so it runs within its memory or is refused.
TEST_P(damaged_with_right_checksums, is_refused_or_runs_within_its_memory) {
  ASSERT_EQ(error(test::with_checksums(bytes_)), "no error");
  std::mt19937 random(2);
  int refused = 0;
  int ran = 0;
  int trained = 0;
  for (int i = 0; i < 300; ++i) {
    std::string changed = bytes_;
    const size_t at = place_to_change(random);
    const uint64_t values[] = {0,
                               1,
                               random(),
                               test::word_at(changed, at) + 64,
                               ~uint64_t{0},
                               uint64_t{1} << 40,
                               test::word_at(changed, at) - 1};
    test::set_word(changed, at, values[random() % 7]);
    try {
      train::TrainingProgram training =
          train::parse_training("step.thimble", test::with_checksums(changed));
      for (const auto& [key, program] : training.programs) {
        EXPECT_EQ(program::error_of(program), "");
        ran += test::run_bounded(program) ? 1 : 0;
      }
      trained += trains(std::move(training)) ? 1 : 0;
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), "step.thimble") << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
  if (GetParam() != 4) {
    EXPECT_GT(ran, 0);
    EXPECT_GT(trained, 0);
  }
}

TEST_P(damaged_with_right_checksums, of_which_a_section_is_cut_short_is_refused) {
  const uint64_t sections = test::word_at(bytes_, test::kSectionCountAt);
  ASSERT_GE(sections, 5U);
  for (uint64_t i = 0; i < sections; ++i) {
    const size_t size_at = test::kTableAt + i * test::kEntryBytes + 16;
    const uint64_t size = test::word_at(bytes_, size_at);
    for (const uint64_t left : {uint64_t{0}, uint64_t{8}, size / 2, size - 8, size - 1}) {
      if (left >= size) continue;
      std::string cut = bytes_;
      test::set_word(cut, size_at, left);
      EXPECT_THAT(error(test::with_checksums(cut)), testing::HasSubstr("step.thimble"))
          << "section " << i << ": " << left << " of " << size;
    }
  }
}

}  // namespace
}  // namespace thimble::program_file_test
