// The diffusion model: its size, its noise, and how it draws.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <algorithm>
#include <span>

#include "io/temporary_folder.h"

namespace thimble::unet_ddpm_test {
namespace {

const Recipe& recipe() { return find_recipe("unet_ddpm"); }

Trainer trainer(uint64_t seed, int64_t batch = 4) {
  return {recipe().build(),
          {.optimizer = recipe().optimizer(),
           .ema_decay = 0.5,
           .batch = batch,
           .seed = seed,
           .threads = 2}};
}

// A network that was trained for one step.
class UnetDdpm : public testing::Test {
 protected:
  UnetDdpm() {
    Trainer one = trainer(1);
    static_cast<void>(one.fit(data::digits(4, 1)));
    one.save(checkpoint_);
  }

  [[nodiscard]] std::vector<float> draw(const SampleOptions& options) const {
    return recipe().sample(checkpoint_, options).images.as<float>();
  }

  test::TemporaryFolder folder_;
  std::string checkpoint_ = folder_ / "checkpoint.safetensors";
};

TEST_F(UnetDdpm, draws_images_of_the_data_s_shape_and_range) {
  const Samples samples = recipe().sample(checkpoint_, {.count = 3, .seed = 7, .steps = 2});
  EXPECT_EQ(samples.image(), (Shape{28, 28, 1}));
  EXPECT_EQ(samples.images.dtype(), DType::f32);
  EXPECT_EQ(samples.images.shape(), (Shape{3, 28, 28, 1}));
  EXPECT_EQ(samples.classes, (std::vector<int64_t>{0, 1, 2}));  // the digits in turn
  const std::span<const float> pixels = samples.images.as<float>();
  EXPECT_GE(*std::min_element(pixels.begin(), pixels.end()), 0.0F);
  EXPECT_LE(*std::max_element(pixels.begin(), pixels.end()), 1.0F);
}

TEST_F(UnetDdpm, draws_the_same_for_a_seed_whatever_the_threads_and_the_count) {
  const std::vector<float> images = draw({.count = 3, .seed = 7, .steps = 2, .threads = 1});
  EXPECT_EQ(draw({.count = 3, .seed = 7, .steps = 2, .threads = 3}), images);
  const std::vector<float> more = draw({.count = 21, .seed = 7, .steps = 2});
  EXPECT_TRUE(std::equal(images.begin(), images.end(), more.begin()));
  EXPECT_NE(draw({.count = 3, .seed = 8, .steps = 2}), images);
}

TEST_F(UnetDdpm, reports_its_progress_and_can_be_stopped) {
  int64_t told = 0;
  const auto on_progress = [&](int64_t done, int64_t total) {
    EXPECT_EQ(done, ++told);
    EXPECT_EQ(total, 4);
  };
  EXPECT_FALSE(draw({.count = 1, .steps = 4, .on_progress = on_progress}).empty());
  EXPECT_EQ(told, 4);
  EXPECT_TRUE(draw({.count = 1, .steps = 4, .stop = [] { return true; }}).empty());
  const Samples stopped =
      recipe().sample(checkpoint_, {.count = 1, .steps = 4, .stop = [] { return true; }});
  EXPECT_EQ(stopped.images.shape(), (Shape{0, 28, 28, 1}));
}

TEST_F(UnetDdpm, refuses_more_steps_than_the_model_has) {
  EXPECT_THROW(static_cast<void>(draw({.count = 1, .steps = 1001})), Error);
}

TEST(unet_ddpm, has_the_parameters_of_its_twin) {
  const Trainer t = trainer(0);
  EXPECT_EQ(t.plan().parameter_bytes, 4 * 1552289);
}

// The noise of an evaluation depends neither on the training before it nor on the seed.
TEST(unet_ddpm, is_evaluated_with_the_same_noise_every_time) {
  const data::Dataset test = data::digits(8, 1, data::Split::test);
  Trainer first = trainer(1);
  static_cast<void>(first.fit(data::digits(8, 1)));
  const test::TemporaryFolder folder;
  first.save(folder / "c");
  Trainer second = trainer(2);
  second.load_weights(folder / "c");
  EXPECT_EQ(first.evaluate(test).loss, second.evaluate(test).loss);
  EXPECT_EQ(first.evaluate(test).loss, first.evaluate(test).loss);
  // The two batches of four get different noise, though their images are the same.
  const data::Dataset twice = test.subset({0, 1, 2, 3, 0, 1, 2, 3});
  const std::vector<float> noisy = first.predict(twice, "noisy").as<float>();
  EXPECT_FALSE(std::equal(noisy.begin(), noisy.begin() + 4 * 32 * 32, noisy.begin() + 4 * 32 * 32));
}

// Noise and times depend on the step's number, so a resumed run draws the same as one that never
// stopped.
TEST(unet_ddpm, resumes_with_the_same_bits) {
  const data::Dataset digits = data::digits(6, 1);
  Trainer whole = trainer(3, 2);
  static_cast<void>(whole.fit(digits, {.epochs = 2}));
  Trainer begun = trainer(3, 2);
  static_cast<void>(begun.fit(digits, {.epochs = 1}));
  const test::TemporaryFolder folder;
  begun.save(folder / "c");
  Trainer resumed = trainer(3, 2);
  resumed.resume(folder / "c");
  static_cast<void>(resumed.fit(digits, {.epochs = 1}));
  EXPECT_EQ(resumed.weights_sha256(), whole.weights_sha256());
}

}  // namespace
}  // namespace thimble::unet_ddpm_test
