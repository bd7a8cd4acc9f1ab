#include <gtest/gtest.h>
#include <thimble/compiled_training.h>
#include <thimble/data_loader.h>
#include <thimble/error.h>
#include <thimble/ops.h>
#include <thimble/recipes.h>
#include <thimble/trainer.h>

#include <algorithm>
#include <utility>

#include "exec/swap_file.h"
#include "io/temporary_folder.h"
#include "memory/allocation_count.h"
#include "models/nearest_budget.h"
#include "models/small_models.h"
#include "train/compile.h"
#include "train/pipeline_bytes.h"
#include "train/runner.h"
#include "train/state.h"

namespace thimble::memory_test {
namespace {

// Aligned bytes of a pool of one thread.
int64_t sizeof_pool() {
  const int64_t before = test::aligned_bytes_held();
  const parallel::ThreadPool pool(1);
  return test::aligned_bytes_held() - before;
}

TEST(memory, a_step_allocates_nothing) {
  const Graph model = test::small_network();
  train::Runner runner(2);
  runner.add({0, 16}, train::training_graph(model.ir(), {}, 16, train::StepKind::update));
  runner.seal();
  runner.store().initialize(1);
  exec::Session& session = *runner.at({0, 16}).session;
  static_cast<void>(session.run());
  const int64_t before = test::allocations();
  for (int i = 0; i < 10; ++i) static_cast<void>(session.run());
  EXPECT_EQ(test::allocations(), before);
}

// Cheap copies matter because a planner holds a dozen of them.
TEST(memory, copies_of_a_graph_share_names_shapes_and_constants) {
  constexpr int64_t kOfValue = 144;  // bytes: a value itself, and the deque's share
  constexpr int64_t kOfNode = 192;   // and its two lists
  ir::Graph graph = train::training_graph(find_recipe("mobilenetv2").build().ir(), {}, 8,
                                          train::StepKind::update);
  graph.values[0].data = Array(DType::f32, {1'000'000});
  const int64_t before = test::bytes_held();
  const ir::Graph copy = graph;
  EXPECT_LT(test::bytes_held() - before, static_cast<int64_t>(copy.values.size()) * kOfValue +
                                             static_cast<int64_t>(copy.nodes.size()) * kOfNode);
}

TEST(memory, a_step_of_tiled_updates_allocates_nothing) {
  Graph model;
  const Value x = relu(dense(model.input("x", {300}), {.units = 700}));
  model.minimize(mean(square(dense(x, {.units = 3}))));
  for (const int threads : {1, 2}) {
    train::Runner runner(threads);
    runner.add({0, 4}, train::training_graph(model.ir(), {}, 4, train::StepKind::update));
    runner.seal();
    runner.store().initialize(1);
    exec::Session& session = *runner.at({0, 4}).session;
    const auto& steps = runner.at({0, 4}).program->plan().steps;
    ASSERT_TRUE(std::any_of(steps.begin(), steps.end(),
                            [](const PlanStep& step) { return step.op == "tiled adamw_update"; }));
    const int64_t before = test::allocations();
    for (int i = 0; i < 10; ++i) static_cast<void>(session.run());
    EXPECT_EQ(test::allocations(), before);
  }
}

TEST(memory, the_counter_counts) {
  const int64_t before = test::allocations();
  ::operator delete(::operator new(1));  // the compiler may drop a new expression
  EXPECT_EQ(test::allocations(), before + 1);
}

TEST(memory, fitting_allocates_nothing_per_step) {
  const data::Dataset dataset = test::small_data(64);
  for (const int prefetch : {0, 1, 2}) {
    Trainer trainer(test::small_network(), {.batch = 16, .threads = 1});
    std::vector<int64_t> counts;
    counts.reserve(100);
    FitOptions options{.epochs = 8, .prefetch = prefetch};
    options.on_step = [&](const StepReport&) { counts.push_back(test::allocations()); };
    trainer.fit(dataset, options);
    ASSERT_EQ(counts.size(), 32U);
    for (size_t i = 1; i < counts.size(); ++i) {
      if (i % 4 == 0) continue;  // an epoch's end may allocate: its report
      EXPECT_EQ(counts[i], counts[i - 1]) << "step " << i;
    }
  }
}

// Memory of a training besides tensors: graphs, plans, calls. Takes the least of several runs of
// vae, so the measure is as strict as possible.
TEST(memory, a_training_holds_little_beside_the_plan) {
  constexpr int64_t kMost = 200 << 10;
  const Recipe& recipe = find_recipe("vae");
  const data::Dataset dataset = recipe.data("", data::Split::train).take(64);
  { const Trainer warm(test::small_network(), {.batch = 4, .threads = 1}); }  // tables of ops
  const int64_t before = test::bytes_held();
  test::watch_peak();
  Trainer trainer(recipe.build(), {.optimizer = recipe.optimizer(), .batch = 32, .threads = 1});
  trainer.fit(dataset, {.epochs = 2, .prefetch = 0});
  EXPECT_LT(test::peak_bytes() - before, trainer.plan().planned_peak_bytes + kMost);
}

// The numbers of a confusion matrix, from which a score of an epoch is computed.
TEST(memory, sums_of_a_large_metric_take_what_is_set_aside) {
  constexpr int64_t kClasses = 600;
  constexpr int64_t kOther = 512 << 10;  // the evaluation's program, samples
  Graph model;
  const Value scores = dense(model.input("x", {2}), {.units = kClasses});
  const Value label = model.label("y");
  model.minimize(softmax_cross_entropy(scores, label));
  model.metric("f1", f1_score(scores, label));
  const data::Dataset rows =
      data::in_memory({{"x", {2}}, {"y", {}, DType::i32, true}},
                      {std::vector<float>(12, 0.5F), std::vector<int32_t>(6, 1)});
  Trainer trainer(model, {.batch = 3, .threads = 1});
  const int64_t before = test::bytes_held();
  test::watch_peak();
  trainer.fit(rows, {.epochs = 1, .validation = rows});
  const int64_t grown = test::peak_bytes() - before;
  EXPECT_LE(grown, train::sums_bytes(trainer.state().model) + kOther);
  EXPECT_GE(grown, train::sums_bytes(trainer.state().model) / 2);
}

TEST(memory, a_moved_graph_is_not_copied) {
  const auto held_for = [](bool moves) {
    test::watch_peak();
    Graph graph = find_recipe("lenet5").build();
    const int64_t graph_held = test::bytes_held();
    const TrainerOptions options{.batch = 4, .threads = 1};
    const Trainer trainer = moves ? Trainer(std::move(graph), options) : Trainer(graph, options);
    return test::bytes_held() - graph_held;
  };
  held_for(false);  // later programs come from the cache
  EXPECT_LT(held_for(true), held_for(false));
}

TEST(memory, a_loader_allocates_nothing_once_it_runs) {
  for (const int prefetch : {0, 2}) {
    data::Loader loader(test::small_data(60), {.batch = 8, .prefetch = prefetch});
    loader.start(0);
    ASSERT_NE(loader.next(), nullptr);
    const int64_t before = test::allocations();
    for (int64_t epoch = 0; epoch < 5; ++epoch) {
      loader.start(epoch);
      while (loader.next() != nullptr) {
      }
    }
    EXPECT_EQ(test::allocations(), before) << "prefetch " << prefetch;
  }
}

// Each case has its own batch size, because constants of an earlier compilation would be in the
// cache.
TEST(memory, the_planned_peak_is_what_a_trainer_holds) {
  int64_t batch = 20;
  for (const int64_t accumulate : {1, 3}) {
    for (const int threads : {1, 3}) {
      // The pool's bookkeeping is no tensor memory, but is aligned too.
      int64_t before = test::aligned_bytes_held();
      const auto pool = std::make_unique<parallel::ThreadPool>(threads);
      const int64_t pool_bytes = test::aligned_bytes_held() - before;
      before = test::aligned_bytes_held() + pool_bytes;
      const Trainer trainer(test::small_network(),
                            {.batch = ++batch, .accumulate = accumulate, .threads = threads});
      EXPECT_EQ(test::aligned_bytes_held() - before, trainer.plan().planned_peak_bytes);
    }
  }
}

TEST(memory, swapping_allocates_its_staging_and_nothing_later) {
  constexpr int64_t kBytes = 300'000;
  const std::vector<std::byte> data(kBytes);
  std::vector<std::byte> found(kBytes);
  for (const exec::SwapEngine engine : {exec::SwapEngine::automatic, exec::SwapEngine::blocking}) {
    for (const int64_t buffer_bytes : {16 << 10, 256 << 10}) {
      const exec::SwapOptions options{.buffer_bytes = buffer_bytes, .engine = engine};
      const int64_t held = test::aligned_bytes_held();
      exec::SwapFile file("", {kBytes, kBytes}, options);
      EXPECT_EQ(test::aligned_bytes_held() - held, exec::SwapFile::staging_bytes(options));
      const int64_t before = test::allocations();
      for (int step = 0; step < 5; ++step) {
        file.start_write(step % 2, data.data(), kBytes);
        file.start_read(step % 2, found.data(), kBytes);
        ASSERT_TRUE(file.wait(step % 2)) << file.error();
      }
      file.start_write(0, data.data(), kBytes + 1);
      EXPECT_FALSE(file.wait(0));
      EXPECT_EQ(test::allocations(), before);
    }
  }
}

// Compares the library's own count with that of the allocator.
TEST(memory, the_measured_peak_is_what_was_held_at_once) {
  // The first trainer measures the speed of the machine.
  const Trainer first(test::small_network(), {.batch = 16, .threads = 1});
  const data::Dataset dataset = test::small_data(70);  // its last batches are smaller
  int64_t batch = 26;                                  // see above
  for (const bool validates : {false, true}) {
    for (const int64_t accumulate : {1, 3}) {
      // One thread: a pool's bookkeeping is aligned, too.
      test::watch_peak();
      const int64_t before = test::aligned_bytes_held();
      Trainer trainer(test::small_network(),
                      {.batch = ++batch, .accumulate = accumulate, .threads = 1});
      FitOptions options{.epochs = 2};
      if (validates) options.validation = dataset;
      const FitResult result = trainer.fit(dataset, options);
      const int64_t order = 2 * dataset.size();  // a plain vector
      const int64_t pool = sizeof_pool();
      EXPECT_EQ(result.measured_peak_bytes, test::peak_aligned_bytes() - before - pool + order);
      EXPECT_LE(result.measured_peak_bytes, test::peak_bytes());
    }
  }
}

TEST(memory, the_measured_peak_keeps_the_budget) {
  const data::Dataset dataset = test::small_data(70);
  const Plan plan = plan_training(test::small_network(), {.batch = 16, .threads = 1});
  // Of the programs for smaller last batches, one constant each.
  constexpr int64_t kConstants = 128;
  const int64_t budget = kConstants + plan.planned_peak_bytes +
                         train::pipeline_bytes(test::small_network().ir(), {.batch = 16});
  Trainer trainer(test::small_network(), {.batch = 16, .memory_budget = budget, .threads = 1});
  const FitResult result = trainer.fit(dataset, {.validation = dataset});
  EXPECT_LE(result.measured_peak_bytes, budget);
}

TEST(memory, a_checkpoint_is_written_and_read_without_a_copy_of_its_tensors) {
  Graph model;
  const Value x = model.input("x", {512});
  const Value logits = dense(x, {.units = 512, .name = "dense"});
  model.minimize(softmax_cross_entropy(logits, model.label("y")));
  const test::TemporaryFolder folder;
  const std::string path = folder / "checkpoint";
  Trainer trainer(model, {.batch = 2, .threads = 1});
  constexpr int64_t kSome = 128 << 10;  // the weights alone take 1 MiB, with their state 3
  const auto takes = [](const auto& action) {
    test::watch_peak();
    const int64_t before = test::bytes_held();
    action();
    return test::peak_bytes() - before;
  };
  EXPECT_LT(takes([&] { trainer.save(path); }), kSome);
  const std::string weights = trainer.weights_sha256();
  trainer.set_parameter("dense.weight", std::vector<float>(512 * 512, 1.0F));
  EXPECT_LT(takes([&] { trainer.resume(path); }), kSome);
  EXPECT_EQ(trainer.weights_sha256(), weights);
  trainer.set_parameter("dense.weight", std::vector<float>(512 * 512, 1.0F));
  EXPECT_LT(takes([&] { trainer.load_weights(path); }), kSome);
  EXPECT_EQ(trainer.weights_sha256(), weights);
}

// A constant of the model that the programs read, of 4 MiB, beside a small model.
TEST(memory, a_program_file_is_read_in_parts_and_its_constants_lie_in_memory_once) {
  constexpr int64_t kRows = int64_t{1} << 16;
  constexpr int64_t kColumns = 16;
  constexpr int64_t kBytes = kRows * kColumns * 4;
  const test::TemporaryFolder folder;
  {
    Graph model;
    const Value x = model.input("x", {kColumns});
    std::vector<float> numbers(static_cast<size_t>(kRows * kColumns));
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 97);
    const Value table = model.constant("table", Array(numbers, {kRows, kColumns}));
    const Value hidden = add(dense(x, {.units = kColumns}), mean(table, {.axes = {0}}));
    model.minimize(softmax_cross_entropy(hidden, model.label("y")));
    CompiledTraining(model, {.batch = 2, .threads = 1}).save(folder / "step.thimble");
  }
  const int64_t before = test::bytes_held();
  test::watch_peak();
  Trainer trainer(CompiledTraining::load(folder / "step.thimble"));
  trainer.save(folder / "weights.safetensors");
  EXPECT_GE(test::peak_bytes() - before, kBytes);
  EXPECT_LT(test::peak_bytes() - before, kBytes + kBytes / 8);
}

// Of a step of more than 2,000 kernels.
TEST(memory, a_long_program_takes_no_more_than_its_plan) {
  constexpr int kLayers = 340;
  const test::TemporaryFolder folder;
  Graph model;
  Value hidden = model.input("x", {8});
  for (int i = 0; i < kLayers; ++i) hidden = relu(dense(hidden, {.units = 8}));
  model.minimize(softmax_cross_entropy(hidden, model.label("y")));
  const CompiledTraining compiled(model, {.optimizer = Adam{}, .batch = 2, .threads = 1});
  compiled.save(folder / "step.thimble");
  const Plan& plan = compiled.plan();
  const int64_t sum = plan.planned_peak_bytes + plan.input_pipeline_bytes + plan.reserved_bytes;
  const int64_t before = test::bytes_held();
  test::watch_peak();
  Trainer trainer(CompiledTraining::load(folder / "step.thimble"));
  trainer.save(folder / "weights.safetensors");
  const int64_t taken = test::peak_bytes() - before;
  EXPECT_LE(taken, sum);
  EXPECT_GT(taken, sum - plan.reserved_bytes / 2);  // the tables are most of what is set aside
}

TEST(memory, the_high_water_mark_is_exact) {
  test::watch_peak();
  const int64_t before = test::bytes_held();
  ::operator delete(::operator new(1000));
  ::operator delete (::operator new (300, std::align_val_t{64}), std::align_val_t{64});
  EXPECT_EQ(test::bytes_held(), before);
  EXPECT_EQ(test::peak_bytes(), before + 1000);
  EXPECT_EQ(test::peak_aligned_bytes(), test::aligned_bytes_held() + 300);
}

TEST(memory, refuses_a_budget_that_is_too_small_and_names_one_that_works) {
  const Graph model = test::small_network();
  const Plan free = Trainer(model, {.batch = 16}).plan();
  const int64_t wanted = free.planned_peak_bytes + free.input_pipeline_bytes + free.reserved_bytes;
  EXPECT_NO_THROW(Trainer(model, {.batch = 16, .memory_budget = wanted}));
  const int64_t needed = test::nearest_budget(model, {.batch = 16});
  EXPECT_LE(needed, wanted);
  const Trainer trainer(model, {.batch = 16, .memory_budget = needed});
  EXPECT_LE(trainer.plan().planned_peak_bytes + trainer.plan().input_pipeline_bytes, needed);
  EXPECT_THROW(Trainer(model, {.batch = 16, .memory_budget = needed - 1}), Error);
}

}  // namespace
}  // namespace thimble::memory_test
