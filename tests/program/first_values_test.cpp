// Initial values in program files.
#include <gmock/gmock.h>
#include <thimble/compiled_training.h>

#include <cmath>

#include "harness/error_of.h"
#include "io/temporary_folder.h"
#include "program/program_files.h"
#include "train/training_program.h"

namespace thimble::first_values_test {
namespace {

// A model whose last bias begins with this fourth element.
Graph model_with(float fourth) {
  Graph model = test::small_classifier();
  const std::vector<float> bias{0.0F, 1.0F, 0.0F, fourth, 0.0F};
  for (ir::ValueData& value : model.ir().values) {
    if (value.name == "last.bias") value.data = Array(bias, {5});
  }
  return model;
}

const TrainerOptions kOptions{.batch = 8, .threads = 1};

TEST(first_values, that_are_not_finite_are_not_compiled) {
  const auto error = [](float fourth) {
    return test::error_of([&] { (void)CompiledTraining(model_with(fourth), kOptions); });
  };
  EXPECT_EQ(error(2.0F), test::kNoError);
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    EXPECT_THAT(error(bad),
                testing::AllOf(testing::HasSubstr("[last.bias] begins with a value that is not"),
                               testing::HasSubstr("load a model file or weights")));
  }
}

TEST(first_values, of_a_file_that_are_not_finite_are_refused) {
  const auto error = [](float fourth) {
    const test::TemporaryFolder folder;
    CompiledTraining(model_with(1.0F), kOptions).save(folder / "a");
    train::TrainingProgram training = train::read_training(folder / "a");
    Graph changed = model_with(fourth);
    training.given = train::GivenValues(changed.ir());
    train::write_training(training, folder / "b");
    return test::error_of([&] { Trainer(CompiledTraining::load(folder / "b")); });
  };
  EXPECT_EQ(error(2.0F), test::kNoError);
  EXPECT_THAT(error(NAN),
              testing::HasSubstr("begins with a value of \"last.bias\" that is not finite"));
}

}  // namespace
}  // namespace thimble::first_values_test
