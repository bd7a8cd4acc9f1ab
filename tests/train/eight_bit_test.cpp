// Moments of 8 bits in a real model.
#include <gtest/gtest.h>
#include <thimble/recipes.h>
#include <thimble/trainer.h>

namespace thimble::eight_bit_test {
namespace {

TEST(eight_bit_moments, train_the_vae_to_nearly_the_same_loss) {
  constexpr double kNearly = 0.01;
  const data::Dataset train = data::digits(1024, 1);
  const data::Dataset test = data::digits(256, 1, data::Split::test);
  const auto loss = [&](const AdamW& optimizer) {
    Trainer trainer(find_recipe("vae").build(), {.optimizer = optimizer, .batch = 32, .seed = 1});
    const double before = trainer.evaluate(test).loss;
    trainer.fit(train, {.epochs = 2});
    const double after = trainer.evaluate(test).loss;
    EXPECT_LT(after, 0.7 * before);
    return after;
  };
  const double whole = loss({.lr = 1e-2});
  const double coded = loss({.lr = 1e-2, .state_bits = 8, .min_8bit_size = 1});
  EXPECT_NE(coded, whole);
  EXPECT_NEAR(coded, whole, kNearly * whole);
}

}  // namespace
}  // namespace thimble::eight_bit_test
