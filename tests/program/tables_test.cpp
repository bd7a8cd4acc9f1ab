// The tables of programs and what else a trainer of them holds count in the memory of the plan.
#include <gtest/gtest.h>
#include <thimble/compiled_training.h>
#include <thimble/ops.h>

#include "harness/error_of.h"
#include "io/temporary_folder.h"
#include "models/nearest_budget.h"
#include "program/program_files.h"
#include "train/program_tables.h"
#include "train/training_program.h"

namespace thimble::program_tables_test {
namespace {

// A constant that was folded away is kept for the files that a trainer writes.
TEST(program_tables, count_constants_that_no_program_reads) {
  constexpr int64_t kRows = 1 << 16;
  const auto reserved = [](int64_t rows) {
    Graph model;
    const Value x = model.input("x", {4});
    const std::vector<float> numbers(static_cast<size_t>(rows * 4), 0.5F);
    const Value table = model.constant("table", Array(numbers, {rows, 4}));
    const Value hidden = add(dense(x, {.units = 4}), mean(table));
    model.minimize(softmax_cross_entropy(hidden, model.label("y")));
    const test::TemporaryFolder folder;
    const CompiledTraining compiled(model, {.batch = 2, .threads = 1});
    compiled.save(folder / "a");
    const train::TrainingProgram loaded = train::read_training(folder / "a");
    EXPECT_EQ(loaded.tables_bytes, train::held_tables_bytes(loaded));
    EXPECT_LE(loaded.tables_bytes, compiled.plan().reserved_bytes);
    return compiled.plan().reserved_bytes;
  };
  EXPECT_GE(reserved(kRows) - reserved(1), (kRows - 1) * 16);
}

// The first refusal names a budget that holds the tables of the programs, too.
TEST(program_tables, count_in_the_budget_that_a_refusal_names) {
  for (const Swap swap : {Swap::never, Swap::automatic, Swap::always}) {
    for (const int64_t micro_batches : {1, 0}) {
      TrainerOptions options{.batch = 8, .memory_budget = 1, .threads = 1};
      options.swap = swap;
      options.micro_batches = micro_batches;
      const CompileFor data{.samples = 21, .test_samples = 11, .predict = true};
      const std::string said =
          test::error_of([&] { CompiledTraining(test::small_classifier(), options, data); });
      options.memory_budget = test::named_budget(said);
      ASSERT_GT(options.memory_budget, 1) << said;
      const CompiledTraining compiled(test::small_classifier(), options, data);
      const Plan& plan = compiled.plan();
      EXPECT_LE(plan.planned_peak_bytes + plan.input_pipeline_bytes + plan.reserved_bytes,
                options.memory_budget);
      EXPECT_GT(plan.reserved_bytes, 64 << 10);  // the tables
    }
  }
}

}  // namespace
}  // namespace thimble::program_tables_test
