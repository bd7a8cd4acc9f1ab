// Programs added to a training: they fit into its memory, or nothing changes.
#include "train/runner.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <thimble/thimble.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <new>

#include "harness/error_of.h"
#include "io/temporary_folder.h"
#include "models/nearest_budget.h"
#include "train/compile.h"

namespace thimble::train::runner_test {
namespace {

using test::error_of;

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool kThreadSanitizer = false;
#endif

constexpr ProgramKey kSmall{0, 2};
constexpr ProgramKey kLarge{0, 1024};

Graph deep_network() {
  Graph graph;
  Value x = graph.input("x", {16});
  for (int layer = 0; layer < 6; ++layer) x = tanh(dense(x, {.units = 128}));
  graph.minimize(softmax_cross_entropy(dense(x, {.units = 10}), graph.label("class")));
  return graph;
}

ir::Graph step_of(int64_t batch) {
  return training_graph(deep_network().ir(), {.batch = batch}, batch, StepKind::update);
}

plan::Budget all_in_the_file() {
  plan::Budget budget;
  budget.bytes = 1;
  budget.swap = Swap::always;
  budget.least_staging_bytes = exec::SwapFile::staging_bytes(Runner::swap_options(kSwapPage));
  return budget;
}

// A runner with one program, and one that needs larger slots in the swap file.
class Growing {
 public:
  Growing() {
    runner.add(kSmall, step_of(kSmall.batch), all_in_the_file());
    runner.seal(folder.path());
    runner.store().initialize(1);
  }
  void grow(const std::function<void()>& refuse = {}) {
    plan::Budget budget = all_in_the_file();
    budget.in_file = runner.at(kSmall).program->in_file();
    runner.extend(kLarge, step_of(kLarge.batch), budget, refuse);
  }
  [[nodiscard]] std::vector<std::vector<std::byte>> stored() {
    std::vector<std::vector<std::byte>> all;
    for (const exec::Store::Entry& entry : runner.store().entries()) {
      const std::span<const std::byte> bytes = runner.store().read(entry);
      all.emplace_back(bytes.begin(), bytes.end());
    }
    return all;
  }
  // The runner still works and holds the first program alone.
  void expect_as_before(const std::vector<std::vector<std::byte>>& contents) {
    EXPECT_EQ(runner.find(kLarge), nullptr);
    Runnable* const small = runner.find(kSmall);
    ASSERT_NE(small, nullptr);
    ASSERT_NE(small->session, nullptr);
    EXPECT_TRUE(stored() == contents);
    EXPECT_TRUE(small->session->run());
  }

  test::TemporaryFolder folder;
  Runner runner{1};
};

TEST(runner, a_larger_swap_file_takes_over_the_contents_of_the_old_one) {
  Growing growing;
  const int64_t old_bytes = growing.runner.swap_file()->file_bytes();
  const auto contents = growing.stored();
  growing.grow();
  EXPECT_GT(growing.runner.swap_file()->file_bytes(), old_bytes);
  EXPECT_TRUE(growing.stored() == contents);
  EXPECT_TRUE(growing.runner.find(kLarge)->session->run());
}

TEST(runner, is_unchanged_if_the_disk_takes_no_larger_file) {
  Growing growing;
  const auto contents = growing.stored();
  std::filesystem::remove_all(growing.folder.path());
  EXPECT_NE(error_of([&] { growing.grow(); }), test::kNoError);
  growing.expect_as_before(contents);
}

TEST(runner, is_unchanged_if_a_program_is_refused) {
  Growing growing;
  const auto contents = growing.stored();
  const int64_t arena = growing.runner.plan(kSmall).arena_bytes;
  const std::string error = error_of([&] {
    growing.grow([&] {
      EXPECT_GT(growing.runner.plan(kSmall).arena_bytes, arena);
      throw Error("test", "not this one");
    });
  });
  EXPECT_EQ(error, "[test] not this one");
  EXPECT_EQ(growing.runner.plan(kSmall).arena_bytes, arena);
  growing.expect_as_before(contents);
}

TEST(runner, counts_the_transfers_of_all_its_files) {
  Growing growing;
  ASSERT_TRUE(growing.runner.find(kSmall)->session->run());
  const exec::SwapCounters before = growing.runner.swap_counters();
  EXPECT_GT(before.read_bytes, 0);
  EXPECT_GT(before.written_bytes, 0);
  growing.grow();
  const exec::SwapCounters after = growing.runner.swap_counters();
  // The new file has the contents of the old one.
  EXPECT_GT(after.read_bytes, before.read_bytes);
  EXPECT_EQ(after.read_bytes - before.read_bytes, after.written_bytes - before.written_bytes);
}

// Classifies digits; predictions also return an image with this number of pixels a side.
Graph with_wide_output(int64_t side) {
  Graph graph;
  const Value image = graph.input("image", {28, 28, 1});
  const Value logits = dense(relu(dense(flatten(image), {.units = 64})), {.units = 10});
  graph.minimize(softmax_cross_entropy(logits, graph.label("digit")));
  graph.output("logits", logits);
  graph.output("wide", upsample2d(image, {.size = Pair(side)}));
  return graph;
}

data::Dataset digits() { return data::digits(16, 1); }

// While it lives, the process can map no more than this number of further bytes.
class AddressLimit {
 public:
  explicit AddressLimit(rlim_t more) {
    EXPECT_EQ(::getrlimit(RLIMIT_AS, &before_), 0);
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit limit{pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + more,
                       before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  }
  ~AddressLimit() { ::setrlimit(RLIMIT_AS, &before_); }
  AddressLimit(const AddressLimit&) = delete;
  AddressLimit& operator=(const AddressLimit&) = delete;

 private:
  rlimit before_{};
};

TEST(trainer, goes_on_if_there_is_no_memory_to_predict) {
  if (THIMBLE_ADDRESS_SANITIZER || kThreadSanitizer) {
    GTEST_SKIP() << "the sanitizer ends the process";
  }
  if (!std::filesystem::exists("/proc/self/statm")) GTEST_SKIP() << "needs /proc";
  const auto trained = [](bool predicts) {
    Trainer trainer(with_wide_output(4096), {.batch = 8, .threads = 1});  // 512 MiB
    trainer.fit(digits(), {.epochs = 1});
    if (predicts) {
      const AddressLimit limit(256 << 20);
      EXPECT_THROW(static_cast<void>(trainer.predict(digits(), "logits")), std::bad_alloc);
      EXPECT_EQ(trainer.evaluate(digits()).samples, 16);
    }
    trainer.fit(digits());
    return trainer.weights_sha256();
  };
  EXPECT_EQ(trained(true), trained(false));
}

TEST(trainer, refuses_to_predict_beyond_its_budget_and_goes_on) {
  const Graph graph = with_wide_output(256);
  const auto options = [](int64_t budget) {
    return TrainerOptions{.batch = 8, .memory_budget = budget, .swap = Swap::never, .threads = 1};
  };
  const int64_t least = test::nearest_budget(graph, options(0));
  ASSERT_GT(least, 0);
  Trainer free(graph, options(0));
  free.fit(digits(), {.epochs = 1});
  const Array logits = free.predict(digits(), "logits");
  free.fit(digits());

  Trainer tight(graph, options(least));
  tight.fit(digits(), {.epochs = 1});
  const Plan before = tight.plan();
  const std::string error = error_of([&] { static_cast<void>(tight.predict(digits(), "logits")); });
  EXPECT_NE(error.find("[memory budget] predicting"), std::string::npos) << error;
  EXPECT_EQ(tight.plan().planned_peak_bytes, before.planned_peak_bytes);
  EXPECT_TRUE(tight.plan().fits);
  const FitResult fit = tight.fit(digits());
  EXPECT_LE(fit.measured_peak_bytes, least);
  EXPECT_EQ(tight.weights_sha256(), free.weights_sha256());

  const size_t at = error.find_first_of("0123456789", error.find("budget that works"));
  ASSERT_NE(at, std::string::npos) << error;
  const int64_t enough = std::stoll(error.substr(at));
  for (const int64_t budget : {enough - 1, enough}) {
    Trainer roomy(graph, options(budget));
    roomy.fit(digits(), {.epochs = 1});
    if (budget < enough) {
      EXPECT_THROW(static_cast<void>(roomy.predict(digits(), "logits")), Error);
      continue;
    }
    EXPECT_EQ(roomy.predict(digits(), "logits"), logits);
    EXPECT_TRUE(roomy.plan().fits);
    EXPECT_LE(roomy.fit(digits()).measured_peak_bytes, budget);
    EXPECT_EQ(roomy.weights_sha256(), free.weights_sha256());
  }
}

TEST(trainer, names_a_budget_that_predicts_with_a_swap_file) {
  const Graph graph = with_wide_output(256);
  TrainerOptions options{.batch = 8, .threads = 1};
  Trainer free(graph, options);
  free.fit(digits(), {.epochs = 1});
  const Array logits = free.predict(digits(), "logits");

  options.swap = Swap::always;
  options.memory_budget = test::nearest_budget(graph, options);
  Trainer tight(graph, options);
  tight.fit(digits(), {.epochs = 1});
  const std::string error = error_of([&] { static_cast<void>(tight.predict(digits(), "logits")); });
  const size_t at = error.find_first_of("0123456789", error.find("budget that works"));
  ASSERT_NE(at, std::string::npos) << error;
  options.memory_budget = std::stoll(error.substr(at));
  Trainer roomy(graph, options);
  roomy.fit(digits(), {.epochs = 1});
  EXPECT_EQ(roomy.predict(digits(), "logits"), logits);
  EXPECT_TRUE(roomy.plan().fits);
}

TEST(trainer, predicts_from_parameters_that_the_loss_does_not_read) {
  Graph graph;
  const Value image = flatten(graph.input("image", {28, 28, 1}));
  const Value hidden = dense(image, {.units = 10, .name = "used"});
  graph.output("logits", hidden);
  graph.output("more", dense(hidden, {.units = 3, .name = "unused"}));
  graph.minimize(softmax_cross_entropy(hidden, graph.label("class")));
  Trainer trainer(graph, {.batch = 8, .threads = 1});
  trainer.fit(digits(), {.epochs = 1});
  const Array first = trainer.parameter("unused.weight");
  EXPECT_EQ(trainer.predict(digits(), "more").shape(), (Shape{16, 3}));
  trainer.fit(digits());
  EXPECT_EQ(trainer.parameter("unused.weight"), first);
  EXPECT_EQ(trainer.evaluate(digits()).samples, 16);
}

// Each batch size has its own constants.
TEST(trainer, evaluates_and_trains_last_batches_of_every_size_within_the_least_budget) {
  const Recipe& recipe = find_recipe("vae");
  TrainerOptions options{.batch = 8, .swap = Swap::never, .threads = 1};
  options.memory_budget = test::nearest_budget(recipe.build(), options);
  const auto trained = [&](const TrainerOptions& of) {
    Trainer trainer(recipe.build(), of);
    std::vector<double> losses;
    FitResult fit;
    for (int64_t rest = 1; rest < 8; ++rest) {
      const data::Dataset data = recipe.data("", data::Split::train).take(8 + rest);
      fit = trainer.fit(data, {.epochs = 1});
      losses.push_back(trainer.evaluate(data).loss);
    }
    if (of.memory_budget > 0) {
      EXPECT_LE(fit.measured_peak_bytes, of.memory_budget);
      EXPECT_TRUE(trainer.plan().fits);
    }
    return losses;
  };
  const std::vector<double> tight = trained(options);
  options.memory_budget = 0;
  EXPECT_EQ(tight, trained(options));
}

TEST(trainer, counts_the_swapping_of_its_steps_and_not_of_validation) {
  const Graph graph = find_recipe("mlp").build();
  const data::Dataset data = find_recipe("mlp").data("", data::Split::train).take(8);
  TrainerOptions options{.batch = 4, .swap = Swap::always, .threads = 1};
  options.memory_budget = test::nearest_budget(graph, options);
  Trainer trainer(graph, options);
  double busy_ms = 0.0;
  double stall_ms = 0.0;
  double expected_ms = 0.0;
  FitOptions fit_options{.epochs = 2, .validation = data.take(7)};
  fit_options.on_step = [&](const StepReport& step) {
    EXPECT_GT(step.swap_busy_ms, 0.0);
    EXPECT_LE(step.swap_stall_ms, step.milliseconds);
    busy_ms += step.swap_busy_ms;
    stall_ms += step.swap_stall_ms;
    expected_ms += step.swap_expected_stall_ms;
    EXPECT_LE(step.swap_expected_stall_ms, step.swap_busy_ms);
  };
  const FitResult fit = trainer.fit(data, fit_options);
  const Plan plan = trainer.plan();
  EXPECT_GT(fit.swap_stall_ms, 0.0);  // the smallest plan leaves no memory to read ahead into
  EXPECT_NEAR(busy_ms, fit.swap_busy_ms, 1e-9 * busy_ms);
  EXPECT_NEAR(stall_ms, fit.swap_stall_ms, 1e-9 * stall_ms);
  EXPECT_GT(expected_ms, 0.0);
  EXPECT_NEAR(expected_ms, fit.swap_expected_stall_ms, 1e-9 * expected_ms);
  EXPECT_EQ(fit.swap_read_bytes, 4 * plan.swap_read_bytes);
  EXPECT_EQ(fit.swap_written_bytes, 4 * plan.swap_written_bytes);
}

// A step that fills this budget leaves too little memory for the other programs.
TEST(trainer, keeps_every_budget_above_the_nearest_with_programs_beside_the_step) {
  const Graph graph = find_recipe("lenet5").build();
  const data::Dataset data = find_recipe("lenet5").data("", data::Split::train).take(18);
  TrainerOptions options{.batch = 8, .swap = Swap::always, .threads = 1};
  options.accumulate = 2;
  const int64_t nearest = test::nearest_budget(graph, options);
  for (const int64_t more : {0, 20'000, 40'000, 80'000}) {
    options.memory_budget = nearest + more;
    Trainer trainer(graph, options);
    EXPECT_TRUE(trainer.plan().fits);
    const FitResult fit = trainer.fit(data, {.epochs = 1, .validation = data.take(7)});
    EXPECT_LE(fit.measured_peak_bytes, options.memory_budget);
  }
}

}  // namespace
}  // namespace thimble::train::runner_test
