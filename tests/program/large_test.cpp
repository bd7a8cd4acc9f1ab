// Large program files take time in proportion to their size: were every name or constant looked for
// in a row, reading this one would take minutes.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <thimble/compiled_training.h>

#include <cstring>
#include <memory>
#include <string>

#include "harness/error_of.h"
#include "io/temporary_folder.h"
#include "models/nearest_budget.h"
#include "program/program_files.h"
#include "train/state.h"
#include "train/training_program.h"

namespace thimble::large_program_test {
namespace {

constexpr int64_t kMany = 120'000;

std::string numbered(const char* name, int64_t i) { return fmt::format("{}{:06}", name, i); }

// A label of the model, which the program reads, with two checks of its numbers.
void add_label(train::TrainingProgram& training, program::Program& program, int64_t i) {
  const std::string name = numbered("label", i);
  ir::ValueData label;
  label.name = name;
  label.type = {DType::i32, {kBatch}};
  label.role = ir::Role::label;
  training.interface.values.push_back(label);
  training.indices.push_back({.source = name, .op = "test", .size = 5, .ignored = {}});
  training.ignored_labels.push_back({name, -1});
  program.tensors.push_back({.name = name,
                             .type = {DType::i32, {training.micro_batch_size}},
                             .role = ir::Role::label,
                             .is_source = true});
}

// A state that no call reads. Where it stays in memory, it is an output of the step.
void add_state(train::TrainingProgram& training, program::Program& program, const char* named,
               int64_t i) {
  const std::string name = numbered(named, i);
  ir::ValueData state;
  state.name = name;
  state.type = {DType::f32, {1}};
  state.role = ir::Role::state;
  training.interface.values.push_back(state);
  program.tensors.push_back({.name = name,
                             .type = state.type,
                             .role = state.role,
                             .is_source = true,
                             .place = program::Place::stored,
                             .at = static_cast<int64_t>(program.stored.size())});
  program.stored.push_back({.name = name, .role = state.role, .type = state.type});
}

// A constant of the model that a program has, too: all are of one size.
void add_constant(train::TrainingProgram& training, program::Program& program, int64_t i) {
  const std::string name = numbered("number", i);
  const auto contents = std::make_shared<int64_t>(i);
  training.model.constants.emplace_back(name, Array(std::vector<int64_t>{i}, {}));
  program.tensors.push_back({.name = name,
                             .type = {DType::i64, {}},
                             .role = ir::Role::constant,
                             .is_source = true,
                             .place = program::Place::constant,
                             .at = static_cast<int64_t>(program.constants.size())});
  program.constants.emplace_back(contents, reinterpret_cast<const std::byte*>(contents.get()));
}

TEST(large_program, is_read_in_time_that_grows_with_its_size) {
  const test::TemporaryFolder folder;
  TrainerOptions options{.batch = 8, .memory_budget = 1, .swap = Swap::always, .threads = 1};
  options.memory_budget = test::named_budget(
      test::error_of([&] { (void)CompiledTraining(test::small_classifier(), options); }));
  CompiledTraining(test::small_classifier(), options).save(folder / "a");
  train::TrainingProgram training = train::read_training(folder / "a");
  const train::ProgramKey main = train::key_of(train::ProgramKind::update, 8);
  std::erase_if(training.programs, [&](const auto& program) { return program.first != main; });
  program::Program& program = training.programs.at(main);
  ASSERT_FALSE(program.slot_bytes.empty());
  training.options.memory_budget = 0;
  training.plan.planned_peak_bytes = int64_t{1} << 40;
  for (int64_t i = 0; i < kMany; ++i) {
    add_label(training, program, i);
    add_constant(training, program, i);
    add_state(training, program, "zero", i);
    add_state(training, program, "kept", i);
    program.outputs.emplace_back(numbered("kept", i), static_cast<int>(program.tensors.size()) - 1);
  }
  // The last slots are of parameters and states that no call moves.
  for (int64_t i = 0; i < kMany; ++i) {
    program.in_file.insert(numbered("zero", i));
    program.slot_bytes.push_back(4096);
  }
  train::write_training(training, folder / "b");
  const train::TrainingProgram read = train::read_training(folder / "b");
  EXPECT_EQ(read.indices.size(), training.indices.size());
  ASSERT_EQ(read.model.constants.size(), training.model.constants.size());
  EXPECT_EQ(read.model.constants.back().second, training.model.constants.back().second);
  EXPECT_TRUE(read.model.constants.back().second.is_view());  // it lies in memory once

  // The last name is looked at as the first is.
  program.tensors[program.tensors.size() - 4].name = "of nothing";
  train::write_training(training, folder / "c");
  EXPECT_NE(test::error_of([&] { (void)train::read_training(folder / "c"); }), test::kNoError);
}

}  // namespace
}  // namespace thimble::large_program_test
