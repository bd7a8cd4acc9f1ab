// Initial values in program files.
#include <gmock/gmock.h>
#include <thimble/compiled_training.h>

#include <cmath>

#include "harness/error_of.h"
#include "io/temporary_folder.h"
#include "program/program_files.h"

namespace thimble::first_values_test {
namespace {

TEST(first_values, that_are_not_finite_are_refused) {
  const auto error = [](float fourth) {
    const test::TemporaryFolder folder;
    Graph model = test::small_classifier();
    const std::vector<float> bias{0.0F, 1.0F, 0.0F, fourth, 0.0F};
    for (ir::ValueData& value : model.ir().values) {
      if (value.name == "last.bias") value.data = Array(bias, {5});
    }
    CompiledTraining(model, {.batch = 8, .threads = 1}).save(folder / "a");
    return test::error_of([&] { Trainer(CompiledTraining::load(folder / "a")); });
  };
  EXPECT_EQ(error(2.0F), test::kNoError);
  EXPECT_THAT(error(NAN),
              testing::HasSubstr("begins with a value of \"last.bias\" that is not finite"));
}

}  // namespace
}  // namespace thimble::first_values_test
