// The text recipes: generating byte by byte computes the same as training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/data_text.h>
#include <thimble/thimble.h>

#include <cmath>
#include <limits>

#include "io/temporary_folder.h"
#include "recipes/text_sampling.h"

namespace thimble::text_models_test {
namespace {

// Sampling and training sum 256 or 384 products in float32, each in its own order.
constexpr double kTolerance = 1e-4;

class TextModels : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] const Recipe& recipe() const { return find_recipe(GetParam()); }

  // A checkpoint with initial weights large enough that the attention depends on earlier bytes.
  std::string checkpoint() {
    Trainer trainer(recipe().build(), {.batch = 1, .seed = 5, .threads = 2});
    for (const std::string& name : trainer.parameter_names()) {
      if (name.find("ln_") != std::string::npos) continue;
      std::vector<float> values = trainer.parameter(name).as<float>();
      for (float& value : values) value *= 2.0F;
      trainer.set_parameter(name, values);
    }
    std::string path = folder_ / "weights.safetensors";
    trainer.save(path);
    return path;
  }

  test::TemporaryFolder folder_;
};

// With temperature 0, every byte that sampling adds is the one with the highest score when the text
// so far is computed as a whole window.
TEST_P(TextModels, write_the_bytes_that_whole_windows_rank_first) {
  constexpr int64_t kPrompt = 20;
  constexpr int64_t kAdded = 12;
  const std::string weights = checkpoint();
  const std::string prompt = data::generated_text(kPrompt).text.substr(0, kPrompt);
  const Samples samples = recipe().sample(
      weights, {.count = 1, .prompt = prompt, .length = kAdded, .temperature = 0.0, .threads = 2});
  ASSERT_EQ(samples.texts.size(), 1U);
  EXPECT_EQ(samples.images.elements(), 0);
  EXPECT_THROW(static_cast<void>(samples.image()), Error);
  const std::string& text = samples.texts[0];
  ASSERT_EQ(text.size(), static_cast<size_t>(kPrompt + kAdded));
  EXPECT_EQ(text.substr(0, kPrompt), prompt);

  const int64_t window = recipe().data("", data::Split::test).fields()[0].shape[0];
  std::vector<int32_t> tokens(static_cast<size_t>(window), 0);
  for (size_t i = 0; i < text.size(); ++i) tokens[i] = static_cast<uint8_t>(text[i]);
  const data::Dataset one =
      data::in_memory({{"tokens", {window}, DType::i32}}, {std::move(tokens)});
  Trainer trainer(recipe().build(), {.batch = 1, .threads = 2});
  trainer.load_weights(weights);
  const std::vector<float> logits = trainer.predict(one, "logits").as<float>();
  for (int64_t i = kPrompt; i < kPrompt + kAdded; ++i) {
    const std::span<const float> scores =
        std::span(logits).subspan(static_cast<size_t>((i - 1) * 256), 256);
    const float best = *std::max_element(scores.begin(), scores.end());
    const float drawn = scores[static_cast<uint8_t>(text[static_cast<size_t>(i)])];
    EXPECT_NEAR(drawn, best, kTolerance * std::abs(best)) << "byte " << i;
    const float lowest = *std::min_element(scores.begin(), scores.end());
    EXPECT_GT(best - lowest, 100 * kTolerance * std::abs(best)) << "all scores are alike";
  }
}

TEST_P(TextModels, stop_when_told) {
  int64_t told = 0;
  std::string pieces;
  SampleOptions options{.count = 3, .prompt = "ab", .length = 50, .threads = 2};
  options.on_text = [&](int64_t number, std::string_view piece) {
    EXPECT_EQ(number, 0);
    pieces += piece;
  };
  options.stop = [&] { return ++told > 6; };
  const Samples samples = recipe().sample(checkpoint(), options);
  ASSERT_EQ(samples.texts.size(), 1U);
  EXPECT_LT(samples.texts[0].size(), 10U);
  EXPECT_EQ(samples.texts[0], pieces);
}

TEST_P(TextModels, offer_plain_next_bytes_as_data) {
  const data::Dataset train = recipe().data("", data::Split::train);
  EXPECT_EQ(train.fields()[0].name, "tokens");
  EXPECT_EQ(train.fields()[1].name, "next");
  EXPECT_GT(train.size(), 9 * recipe().data("", data::Split::test).size() - 10);
}

INSTANTIATE_TEST_SUITE_P(Recipes, TextModels, testing::Values("gpt", "lstm"),
                         [](const auto& info) { return std::string(info.param); });

// Once the context is full, the next byte is computed from its last half, which is read again.
TEST(gpt, continues_beyond_its_context) {
  const test::TemporaryFolder folder;
  const Recipe& recipe = find_recipe("gpt");
  const std::string weights = folder / "weights.safetensors";
  Trainer(recipe.build(), {.batch = 1, .seed = 5, .threads = 2}).save(weights);
  const std::string long_prompt = data::generated_text(1000).text.substr(0, 1000);
  const auto next = [&](const std::string& prompt, int64_t length) {
    const Samples samples = recipe.sample(
        weights, {.count = 1, .prompt = prompt, .length = length, .temperature = 0, .threads = 2});
    return samples.texts.at(0).substr(prompt.size());
  };
  EXPECT_EQ(next(long_prompt, 3), next(long_prompt.substr(1000 - 128), 3));
  // 128 of the prompt and 129 more: the last of them is written after reading again.
  const std::string all = next(long_prompt, 130);
  EXPECT_EQ(all.size(), 130U);
  EXPECT_EQ(all.substr(129), next((long_prompt + all.substr(0, 129)).substr(1129 - 128), 1));
}

struct BadOptions {
  const char* recipe;
  SampleOptions options;
  std::vector<const char*> said;
};

TEST(sample_options, without_effect_or_out_of_range_are_refused_by_name) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const BadOptions cases[] = {
      {"mlp", {}, {"mlp makes no samples", "images: unet_ddpm, vae", "texts: gpt, lstm"}},
      {"vae", {.prompt = "x"}, {"vae takes no prompt", "it takes count, seed, threads"}},
      {"vae", {.length = 256}, {"vae takes no length"}},
      {"vae", {.temperature = 1.0}, {"vae takes no temperature"}},
      {"vae", {.top_k = 3}, {"vae takes no top_k"}},
      {"vae", {.steps = 3}, {"vae takes no steps"}},
      {"gpt", {.steps = 3}, {"gpt takes no steps", "prompt, length, temperature, top_k"}},
      {"unet_ddpm", {.steps = 0}, {"steps must be from 1 to 1000, got 0"}},
      {"unet_ddpm", {.steps = 1001}, {"steps must be from 1 to 1000, got 1001"}},
      {"gpt", {.temperature = -1.0}, {"temperature must be", "0 or more", "-1"}},
      {"gpt", {.temperature = kNan}, {"temperature must be"}},
      {"gpt", {.temperature = kInfinity}, {"temperature must be"}},
      {"gpt", {.top_k = -3}, {"top_k must be from 1 to 256, got -3"}},
      {"gpt", {.top_k = 257}, {"top_k must be from 1 to 256, got 257"}},
      {"gpt", {.length = 0}, {"length must be from 1"}},
      {"gpt", {.length = INT64_MAX}, {"length must be from 1"}},
      {"gpt", {.count = 0}, {"count must be from 1 to 100000, got 0"}},
      {"gpt", {.count = INT64_MAX}, {"count must be from 1 to 100000"}},
      {"gpt", {.count = 100000, .length = 1 << 20}, {"100000 texts", "lower count or length"}},
      {"gpt", {.threads = -1}, {"threads must be from 0 to 1024, got -1"}},
  };
  for (const BadOptions& bad : cases) {
    try {
      static_cast<void>(find_recipe(bad.recipe).sample("no such file", bad.options));
      ADD_FAILURE() << bad.recipe << ": " << bad.said[0];
    } catch (const Error& error) {
      for (const char* part : bad.said) EXPECT_THAT(error.what(), testing::HasSubstr(part));
    }
  }
}

TEST(drawn_index, follows_the_scores) {
  using models::drawn_index;
  const float scores[] = {0.0F, std::log(2.0F), std::log(5.0F), -INFINITY, NAN};
  EXPECT_EQ(drawn_index(scores, 0.0, 0, 0.9), 2);
  EXPECT_EQ(drawn_index(scores, 1.0, 1, 0.9), 2);
  int counts[5] = {};
  for (int i = 0; i < 800; ++i) ++counts[drawn_index(scores, 1.0, 0, i / 800.0)];
  EXPECT_NEAR(counts[0], 100, 1);
  EXPECT_NEAR(counts[1], 200, 1);
  EXPECT_NEAR(counts[2], 500, 1);
  EXPECT_EQ(counts[3] + counts[4], 0);
  // Half the temperature squares the odds; of two kept, the third gets nothing.
  int cold[5] = {};
  for (int i = 0; i < 290; ++i) ++cold[drawn_index(scores, 0.5, 2, i / 290.0)];
  EXPECT_EQ(cold[0], 0);
  EXPECT_NEAR(cold[1], 40, 1);
  EXPECT_NEAR(cold[2], 250, 1);
  const float nothing[] = {NAN, NAN};
  EXPECT_LT(drawn_index(nothing, 1.0, 0, 0.5), 2);
}

}  // namespace
}  // namespace thimble::text_models_test
