// How fit counts epochs.
#include <gtest/gtest.h>
#include <thimble/trainer.h>

#include "harness/error_of.h"
#include "models/small_models.h"

namespace thimble::epochs_test {
namespace {

using test::error_of;

TrainerOptions options() {
  return {.optimizer = AdamW{.lr = 1e-2}, .batch = 16, .seed = 5, .threads = 1};
}

// As Keras counts them.
TEST(epochs, trains_epochs_more_than_before_and_counts_on_from_an_initial_epoch) {
  const data::Dataset dataset = test::small_data(16);
  const auto numbers = [](const FitResult& result) {
    std::vector<int64_t> all;
    for (const EpochReport& report : result.epochs) all.push_back(report.epoch);
    return all;
  };
  Trainer trainer(test::small_network(), options());
  EXPECT_EQ(numbers(trainer.fit(dataset, {.epochs = 3})), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(numbers(trainer.fit(dataset, {.epochs = 2})), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(trainer.epochs(), 5);
  EXPECT_EQ(numbers(trainer.fit(dataset, {.epochs = 7, .initial_epoch = trainer.epochs()})),
            (std::vector<int64_t>{5, 6}));
  for (const int64_t done : {7, 9}) {  // nothing is left
    EXPECT_TRUE(trainer.fit(dataset, {.epochs = 7, .initial_epoch = done}).epochs.empty());
  }
  Trainer straight(test::small_network(), options());
  straight.fit(dataset, {.epochs = 7});
  EXPECT_EQ(trainer.weights_sha256(), straight.weights_sha256());
  const std::string what = error_of([&] { trainer.fit(dataset, {.initial_epoch = -1}); });
  EXPECT_NE(what.find("[initial_epoch] expected 0 or more, got -1"), std::string::npos) << what;
}

// The stopped epoch counts as one.
TEST(epochs, ends_a_stopped_epoch_first) {
  const data::Dataset dataset = test::small_data(64);
  Trainer trainer(test::small_network(), options());
  const int64_t steps = trainer.fit(dataset).steps;
  trainer.fit(dataset, {.epochs = 2, .stop = [&] { return trainer.steps() == steps + 1; }});
  EXPECT_EQ(trainer.epochs(), 1);
  trainer.fit(dataset, {.epochs = 2});
  EXPECT_EQ(trainer.epochs(), 3);
  EXPECT_EQ(trainer.steps(), 3 * steps);
}

}  // namespace
}  // namespace thimble::epochs_test
